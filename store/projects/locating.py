"""Turn the answer of the resolver into the location of a memory, and note where a project is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from shlex import quote
from shutil import copyfileobj

from store.base.errors import NoMemoryHere, NotFound
from store.base.location import (
    DATABASE_FILE,
    MEMORANDA_FOLDER,
    Location,
    backup_folder,
    data_folder,
)
from store.base.state_files import replace_whole_file
from store.git.checkout import read_remotes
from store.git.process import capture_git_output
from store.projects import registry
from store.projects.registry import MOST_KEPT, Place, Project
from store.projects.resolver import (
    ASK,
    NEW,
    OFF,
    PERSONAL,
    REFUSE,
    USE,
    Answer,
    Seen,
    find_choice,
    look,
    new_answer,
    project_name,
    resolve,
    stray_files,
)

KINDS = {USE: "project", NEW: "new-project", PERSONAL: "personal"}


def locate(
    option: str | None, environ: Mapping[str, str], cwd: str, client: str = "", session: str = ""
) -> Location:
    """Return the memory for a command run in `cwd`, or for an agent's session: what the option names, else the
    variable, else what the folder has. Where that is to be asked about, refused or turned off, the location has a
    `problem`, and opening it raises that."""
    if option:
        return _locate_named_file(option, cwd, "option", "named by --db")
    if variable := environ.get("MEMORANDA_DB"):
        return _locate_named_file(variable, cwd, "environment", "named by $MEMORANDA_DB")
    seen = look(cwd, os.path.expanduser("~"))
    return location_of(seen, resolve(seen, registry.read_session(client, session)))


def locate_memory(text: str, cwd: str) -> tuple[Location, str]:
    """Return the memory of a folder or a memory file, and the folder it is used from. Raise NotFound if there is
    none: opening a memory elsewhere never creates a file."""
    path = os.path.abspath(os.path.join(cwd, os.path.expanduser(text)))
    is_folder = os.path.isdir(path)
    location = locate(None, {}, path) if is_folder else locate(path, {}, cwd)
    folder = path if is_folder else location.project or cwd
    if not os.path.lexists(location.path):
        raise NotFound(
            f"There is no memory at {path}.", "Name a project's folder or a memory file; open --new starts one."
        )
    return location, folder


def choose_own_memory(cwd: str) -> Location:
    """Return where the memory of the folder's repository is or begins; outside of one, that of the folder itself. Where
    it was to be asked, or chosen otherwise before, that is the choice from now on."""
    seen = look(cwd, os.path.expanduser("~"))
    answer = resolve(seen) if seen.checkout is not None else None
    if answer is not None and (answer.outcome in (USE, NEW) or (answer.outcome == REFUSE and not answer.project)):
        return location_of(seen, answer)
    while (before := find_choice(seen))[0]:
        registry.save_choice(*before[1:], "")
    if answer is None:
        place = Place(root=seen.cwd)
        answer = resolve(seen)
        if answer.place != place:
            answer = new_answer(place, "a new memory for this folder")
        return location_of(seen, answer)
    # its file is gone, with all backups
    if answer.outcome == REFUSE:
        registry.delete_project(answer.project)
    if resolve(seen).outcome not in (USE, NEW):
        registry.save_choice(_choice_key(seen)[0], "", registry.OWN)
    seen = look(cwd, seen.home)
    return location_of(seen, resolve(seen))


def choose_memory(cwd: str, choice: str) -> Location:
    """Store which memory the person chose for a folder: PERSONAL, OFF, or that of the project around it, or of another
    one, named by a folder of it or by its name; return it. Raise NotFound where there is no such project."""
    seen = look(cwd, os.path.expanduser("~"))
    if choice not in (registry.PERSONAL, registry.OFF):
        folder = os.path.realpath(os.path.join(cwd, os.path.expanduser(choice)))
        outer = seen.outer.checkout if seen.outer is not None else None
        around = outer is not None and folder == outer.root
        choice = registry.OUTER if around else _find_project(folder, choice).id
    registry.save_choice(*_choice_key(seen), choice)
    seen = look(cwd, seen.home)
    return location_of(seen, resolve(seen))


def _find_project(folder: str, name: str) -> Project:
    """Return the project that a folder is of, or that a name or an id names."""
    answer = resolve(look(folder, os.path.expanduser("~"))) if os.path.isdir(folder) else None
    named = answer.project if answer is not None and answer.outcome == USE else name
    if (found := registry.read_project(named)) is not None:
        return found
    same = [one for one in registry.list_projects() if one.name == name]
    if len(same) != 1:
        raise NotFound(
            f"{len(same) or 'No'} known projects are called “{name}”.",
            "Name a folder of it, or open it there once.",
        )
    return same[0]


def _choice_key(seen: Seen) -> tuple[str, str]:
    """Return the key and the folder under which a choice is stored: by the repository's mark, which stays with it when
    it is moved; in a copy, and where no mark can be written, by its common git directory."""
    checkout = seen.checkout
    if checkout is None or checkout.problem:
        return (checkout.root if checkout is not None else seen.cwd), seen.folder
    if seen.twins:
        return checkout.common, seen.folder
    mark = seen.mark or f"r-{os.urandom(8).hex()}"
    if not seen.mark:
        if not registry.write_mark(checkout.common, mark):
            return checkout.common, seen.folder
        registry.save_place(mark, checkout.common)
    return mark, seen.folder


def location_of(seen: Seen, answer: Answer) -> Location:
    """Return an answer as a location."""
    if answer.outcome not in KINDS:
        found = Location(os.path.join(data_folder(), "none", DATABASE_FILE), answer.outcome, _sentence(answer.why))
        found.problem = NoMemoryHere(found.reason, _next_step(answer), answer.outcome)
        return found
    root = None
    if answer.outcome != PERSONAL:
        root = os.path.join(answer.place.root, answer.place.folder).rstrip(os.sep) if answer.place.root else None
        root = root or (seen.checkout.root if seen.checkout is not None else seen.cwd)
    found = Location(answer.path, KINDS[answer.outcome], answer.why, root)
    found.project_id, found.place, found.notes = answer.project, answer.place, list(answer.notes)
    found.branch, found.worktree, found.folder = answer.branch, answer.worktree, answer.folder
    found.strays = stray_files(seen)
    if seen.checkout is not None and seen.checkout.common == answer.place.common:
        found.git = seen.checkout.git
    return found


def _sentence(why: str) -> str:
    return f"{why[:1].upper()}{why[1:]}."


def _next_step(answer: Answer) -> str:
    """Return what a person can do."""
    if answer.outcome == OFF:
        return "memoranda open --new turns it on again."
    if answer.outcome != ASK:
        return answer.mend
    words = {registry.OWN: "--new", registry.PERSONAL: "--personal"}
    options = []
    for what, choice in answer.options:
        project = registry.read_project(choice)
        roots = [answer.place.root] if project is None else [one.root for one in project.places if one.root]
        folder = next(iter(roots), choice)
        options.append(f"memoranda open {words.get(choice) or f'--with {quote(folder)}'} ({what})")
    return f"Choose once: {', '.join(options)}."


def keep_strays(location: Location) -> list[str]:
    """Copy the memories that lie in worktrees, and would go with them, beside the project's backups; return what to say
    of those that were copied now."""
    copied = [path for path in location.strays if _copy_stray(path, backup_folder(location.path))]
    says = "{} is a memory of its own, and is not used any more. To bring it home: memoranda import {}"
    return [says.format(path, quote(path)) for path in copied]


def note_project(location: Location) -> None:
    """Note where a project is that this installation did not know yet, or not there, and mark its repository. Its first
    commits are noted too, by which a clone of it is recognised."""
    place = Place(*location.place)
    if location.kind not in ("project", "new-project") or not place.keys:
        return
    known = registry.read_project(location.project_id)
    mark = registry.read_mark(place.common) if place.common else registry.read_folder_mark(place.root)
    marked = bool(place.folder) or mark == location.project_id
    if known is not None and place in known.places and marked and known.path == location.path:
        return
    if known is None:
        id = location.project_id or registry.id_for_new(place)
        known = Project(id, project_name(place), location.path)
        if place.common and not place.folder:
            known = known._replace(
                commits=_first_commits(place.common), addresses=tuple(read_remotes(place.common))
            )
    location.project_id = known.id
    if known.path != location.path:
        # moved with its checkout
        with suppress(OSError):
            os.renames(backup_folder(known.path), backup_folder(location.path))
    places = tuple(dict.fromkeys((*known.places, place)))
    registry.save_project(known._replace(path=location.path, places=places))
    if not place.common:
        registry.write_folder_mark(place.root, known.id)
    elif not place.folder:
        for folder, choice in registry.read_choices(mark).folders.items() if mark else ():
            registry.save_choice(known.id, folder, choice)
        registry.write_mark(place.common, known.id)


def _copy_stray(path: str, folder: str) -> bool:
    """Copy a memory that lies in a worktree, with its log; return False if that was done, or the disk refuses it."""
    name = f"worktree-{sha256(os.fsencode(path)).hexdigest()[:8]}.db"
    # the log first: the file without it is a copy that is not done yet
    if os.path.lexists(os.path.join(folder, name)):
        return False
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        for ending in ("-wal", "") if os.path.exists(f"{path}-wal") else ("",):
            copy = os.path.join(folder, f"{name}{ending}")
            with open(f"{path}{ending}", "rb") as source, replace_whole_file(copy) as target:
                copyfileobj(source, target)
    except OSError:
        return False
    return True


def _first_commits(common: str) -> tuple[str, ...]:
    """Return the first commits of a repository; none of a shallow one, whose first ones are not."""
    if os.path.exists(os.path.join(common, "shallow")):
        return ()
    found = capture_git_output(common, f"--git-dir={common}", "rev-list", "--max-parents=0", "HEAD")
    return tuple(found.split()[:MOST_KEPT])


def _locate_named_file(path: str, cwd: str, kind: str, reason: str) -> Location:
    """Return the location of a file that an option or a variable names; its project is the folder around
    `.memoranda`, or that of the project whose memory it is."""
    full = os.path.abspath(os.path.join(cwd, os.path.expanduser(path)))
    folder = os.path.dirname(full)
    if os.path.basename(folder) == MEMORANDA_FOLDER:
        return Location(full, kind, reason, os.path.dirname(folder))
    known = registry.find_project_of(full)
    return Location(full, kind, reason, known.folder if known is not None else None)
