"""Decide which memory a folder has: one of six answers, and nothing else decides. No process is started.

`look` reads what lies at the folder, `resolve` applies the rules to it, in their order: what the person turned off, the
memory that the session began with, what the person chose, a memory folder at hand, the repository, the personal memory.
No rule that cannot decide falls through to another memory: it asks, or refuses with the step that mends it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from shlex import quote
from typing import NamedTuple

from store.base.location import (
    DATABASE_FILE,
    MEMORANDA_FOLDER,
    is_own_folder,
    list_backup_files,
    memory_folder_name,
    personal_memory_path,
    projects_folder,
)
from store.git.checkout import (
    Checkout,
    find_checkout,
    find_objects,
    find_other_system,
    folders_above,
    list_worktree_roots,
    read_remotes,
)
from store.projects import registry
from store.projects.memory_folders import (
    MARKED,
    MEMORY,
    ONLY_BACKUPS,
    MemoryFolder,
    list_memory_folders,
    read_memory_folder,
)
from store.projects.registry import Place, Project

USE, NEW, ASK, REFUSE, PERSONAL, OFF = "use", "new", "ask", "refuse", "personal", "off"
# linked worktrees that are searched for memories from before
MOST_WORKTREES = 200
NOBODY_CHOSE = ("a memory of its own", registry.OWN)


class Seen(NamedTuple):
    """What lies at a folder. `cwd` is the nearest folder that is there; `gone` whether that is another one. `outer` is
    what is around the checkout, if that is another repository's; `folders` the memory folders that count, `strays`
    those in linked worktrees; `folder` is `cwd` below the checkout's root. `mark` is this installation's, `twins` are
    other repositories that bear it; `foreign` says that another installation's is there, `planted` that the folder is
    this person's, and the checkout around it somebody else's."""

    cwd: str
    home: str
    checkout: Checkout | None = None
    outer: Seen | None = None
    folders: Sequence[MemoryFolder] = ()
    strays: Sequence[MemoryFolder] = ()
    folder: str = ""
    gone: bool = False
    mark: str = ""
    twins: Sequence[str] = ()
    other: tuple[str, str] | None = None
    foreign: bool = False
    planted: bool = False


class Answer(NamedTuple):
    """Which memory a folder has. `outcome` is USE, NEW, ASK, REFUSE, PERSONAL or OFF, `why` a sentence without its full
    stop. `path` is the memory's file, `project` the id under which this installation knows it, `place` where the
    project is. `options` are what can be chosen, each with the choice to store; `mend` is the step that repairs a
    refusal. `branch`, `worktree` and `folder` say where in the project it was asked."""

    outcome: str
    why: str
    path: str = ""
    project: str = ""
    place: Place = Place()
    options: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    mend: str = ""
    branch: str = ""
    worktree: str = ""
    folder: str = ""


def look(cwd: str, home: str) -> Seen:
    """Read what lies at a folder and above it; the folder may be gone, a link, anything."""
    wanted = os.path.abspath(cwd)
    there = next(
        folder for folder in folders_above(wanted) if os.path.isdir(folder) or os.path.dirname(folder) == folder
    )
    here, home = os.path.realpath(there), os.path.realpath(home)
    checkout = find_checkout(here)
    if checkout is None:
        folders, _ = list_memory_folders(here, None)
        other = find_other_system(here, home)
        return Seen(here, home, folders=folders, gone=there != wanted, other=other)
    inside = _is_within(here, checkout.root) and (checkout.kind == "bare" or not _is_within(here, checkout.git))
    start = here if inside or checkout.problem else checkout.root
    folders, strays = list_memory_folders(start, checkout)
    common = checkout.common
    mark = registry.read_mark(common)
    if common and not mark and checkout.kind != "worktree":
        roots = list_worktree_roots(common)[:MOST_WORKTREES]
        strays = [one for root in roots if (one := read_memory_folder(root)) is not None and one.state == MEMORY]
    return Seen(
        start,
        home,
        checkout,
        _look_around(checkout, mark, home),
        folders,
        strays,
        _below(start, checkout.root),
        there != wanted,
        mark,
        _twins(common, mark) if mark else (),
        foreign=bool(common) and not mark and registry.is_marked_by_others(common),
        planted=is_own_folder(start) and not is_own_folder(checkout.root),
    )


def _look_around(checkout: Checkout, mark: str, home: str) -> Seen | None:
    """Return what is around a checkout, if that is another repository's, unless the checkout's own memory is known."""
    parent = os.path.dirname(checkout.root)
    chosen = any(registry.read_choices(key).folders for key in (checkout.common, mark) if key)
    if parent == checkout.root or (not chosen and registry.read_project(mark) is not None):
        return None
    around = look(parent, home)
    return around if around.checkout is not None and around.checkout.common != checkout.common else None


def _twins(common: str, mark: str) -> list[str]:
    """Return the other repositories that bear the same mark: where the project was known to be, and is still."""
    known = registry.read_project(mark)
    before = [place.common for place in known.places] if known is not None else []
    return [
        one
        for one in dict.fromkeys((*before, registry.read_choices(mark).place))
        if one and one != common and registry.read_mark(one) == mark and not _is_same_file(one, common)
    ]


def resolve(seen: Seen, bound: str = "") -> Answer:
    """Return which memory a folder has, for a session that is `bound` to a project, or to the personal memory."""
    answer = _decide(seen, bound)
    # of one with backups: opening it names them
    if answer.outcome == USE and not os.path.lexists(answer.path) and not list_backup_files(answer.path):
        mend = "Bring it back from a backup, or begin another: memoranda open --new."
        answer = answer._replace(outcome=REFUSE, why=f"the memory is gone from {answer.path}", mend=mend)
    checkout, project = seen.checkout, registry.read_project(answer.project)
    elsewhere = project is not None and checkout is not None and not project.is_in(checkout.common)
    if checkout is None or answer.folder or (elsewhere and answer.place.common != checkout.common):
        return answer
    return answer._replace(branch=checkout.branch, worktree=checkout.worktree, folder=seen.folder)


def _decide(seen: Seen, bound: str) -> Answer:
    """Return the answer of the first rule that applies."""
    checkout, (choice, key, folder) = seen.checkout, find_choice(seen)
    where = os.path.join(checkout.root, folder).rstrip(os.sep) if checkout is not None else key
    if choice == registry.OFF:
        return Answer(OFF, f"you turned memory off for {where}")
    project = registry.read_project(bound)
    if bound == registry.PERSONAL:
        notes = ["the folder is a project's"] if checkout is not None else []
        return _personal("this session began with it", notes)
    if project is not None and os.path.lexists(project.path):
        part = checkout is not None and project.is_in(checkout.common)
        notes = [] if part else ["the folder is no part of it"]
        return _use(project, "this session began with it", notes)
    if seen.gone and checkout is None:
        return Answer(REFUSE, "the folder is gone", mend="Go to a folder that is there.")
    answer = _by_choice(seen, choice, key, folder) or _by_memory_folder(seen)
    return answer or (_by_repository(seen, checkout) if checkout is not None else _without_git(seen))


# what the person chose


def find_choice(seen: Seen) -> tuple[str, str, str]:
    """Return (what was chosen for the nearest folder, the key under which it is stored, the folder below that)."""
    checkout = seen.checkout
    if checkout is None:
        keys = list(folders_above(seen.cwd))
    else:
        keys = [checkout.root] if checkout.problem else [key for key in (checkout.common, seen.mark) if key]
    chosen = {key: folders for key in keys if (folders := registry.read_choices(key).folders)}
    parts = seen.folder.split(os.sep) if seen.folder else []
    for length in range(len(parts), -1, -1):
        folder = "/".join(parts[:length])
        for key, folders in chosen.items():
            if choice := folders.get(folder):
                return choice, key, folder
    return "", "", ""


def _by_choice(seen: Seen, choice: str, key: str, folder: str) -> Answer | None:
    """Return what the person chose for the folder or the nearest one above it, in whichever checkout."""
    checkout = seen.checkout
    if choice == registry.PERSONAL:
        return _personal("you chose it for this folder")
    if choice == registry.OUTER:
        if seen.outer is None or seen.outer.checkout is None:
            return None
        around = resolve(seen.outer)
        below = os.path.relpath(seen.cwd, seen.outer.checkout.root)
        return around._replace(folder=below, why=f"{around.why}: this is a part of it, as you chose")
    if choice == registry.OWN:
        place = Place(root=key)
        if checkout is not None and not checkout.problem:
            place = Place(checkout.common, checkout.main or checkout.root, folder)
        if known := registry.find_project_at(place):
            return _use(known, "its folder has a memory of its own, as you chose")
        return new_answer(place, "it is to have a memory of its own, as you chose")
    if not choice:
        return None
    project = registry.read_project(choice)
    if project is None:
        why = "the memory that you chose for this folder is not known any more"
        return Answer(REFUSE, why, mend="Choose another: memoranda open --with PROJECT, or --new.")
    moved = (
        checkout is not None and key == seen.mark and registry.read_choices(key).place not in ("", checkout.common)
    )
    if moved and (seen.twins or _has_other_history(seen, project)):
        return _ask("it bears the mark of a repository that has a memory", [project])
    return _use(project, "you chose it for this folder")


# a memory folder at hand


def _by_memory_folder(seen: Seen) -> Answer | None:
    """Return the memory of the nearest memory folder; one that cannot be used ends the search."""
    checkout = seen.checkout
    known = _project_of(seen, checkout) if checkout is not None else None
    notes = _stray_notes(seen)
    for one in seen.folders:
        path = os.path.join(one.folder, MEMORANDA_FOLDER, DATABASE_FILE)
        if one.problem:
            return Answer(REFUSE, one.problem, mend="Nothing was read or written there. Repair it, or remove it.")
        place = Place(root=one.folder)
        if checkout is not None:
            root = checkout.main or checkout.root
            place = Place(checkout.common, root, _below(one.folder, root))
        if one.state == MARKED:
            return _by_folder_mark(one, place)
        if one.state == ONLY_BACKUPS:
            return Answer(USE, f"the memory of {one.folder}, of which backups are left", path, place=place)
        if one.state == MEMORY and not _is_utf8(path):
            why = "the folder's name is no UTF-8, and a memory in it cannot be opened"
            return Answer(REFUSE, why, mend="Rename the folder.")
        moved_out = known is not None and _is_within(known.path, projects_folder()) and os.path.lexists(known.path)
        if one.state == MEMORY and moved_out and _is_whole(one, checkout):
            notes.append(f"a second memory lies in {one.folder}")
        elif one.state == MEMORY:
            project = registry.find_project_at(place)
            if (project is None or project.path != path) and known is not None and _is_whole(one, checkout):
                # moved with its checkout
                project = known if not os.path.lexists(known.path) else None
            id = project.id if project is not None and (project is known or project.path == path) else ""
            return Answer(USE, f"the memory in {one.folder}", path, id, place, notes=notes)
    return None


def _stray_notes(seen: Seen) -> list[str]:
    """Return what is to be known of memories that earlier builds began in linked worktrees, and how each comes home."""
    says = "a memory from before lies in a worktree; this brings it home: memoranda import {}"
    return [says.format(quote(path)) for path in stray_files(seen)]


def stray_files(seen: Seen) -> list[str]:
    """Return the memory files of earlier builds in linked worktrees that are seen from a folder."""
    found = (one.folder for one in seen.strays if one.state == MEMORY)
    return [os.path.join(folder, MEMORANDA_FOLDER, DATABASE_FILE) for folder in found]


def _by_folder_mark(one: MemoryFolder, place: Place) -> Answer:
    """Return the memory that a folder's mark names, unless the folder is a copy of the one that is known."""
    project = registry.read_project(one.id)
    if project is None:
        why = f"{one.folder} is marked for a memory that is not known any more"
        return Answer(REFUSE, why, mend="Begin another: memoranda open --new.")
    roots = [known.root for known in project.places if known.root and not known.folder]
    if one.folder in roots:
        return _use(project, f"the memory of {one.folder}", place=place)
    for root in roots:
        if registry.read_folder_mark(root) == one.id and not _is_same_file(root, one.folder):
            return _ask(f"it is a copy of {root}", [project])
    return _use(project, "the project was moved here", place=place)


def _is_whole(one: MemoryFolder, checkout: Checkout | None) -> bool:
    return checkout is not None and one.folder == (checkout.main or checkout.root)


# the repository


def _by_repository(seen: Seen, checkout: Checkout) -> Answer:
    """Return the memory of a repository: by its mark, then by its place; where neither is known, what to ask."""
    if checkout.problem:
        return Answer(REFUSE, checkout.problem, mend=checkout.mend)
    known = _project_of(seen, checkout)
    if checkout.root == seen.home and known is None:
        return _personal("your home folder is a checkout, and has no memory of its own")
    if checkout.kind == "separate" and (answer := _by_pair(seen, checkout, known)) is not None:
        return answer
    place = Place(checkout.common, checkout.root if checkout.kind == "separate" else checkout.main)
    notes = _stray_notes(seen)
    if known is not None:
        return _by_known(seen, checkout, known, place, notes)
    return _by_outer(seen, checkout) or _by_likeness(seen, checkout, place, notes)


def _by_known(seen: Seen, checkout: Checkout, known: Project, place: Place, notes: Sequence[str]) -> Answer:
    """Return the memory of a known project, unless it may be a copy, or another project at its place."""
    if known.is_in(checkout.common) or not any(one.common for one in known.places):
        # without the mark a clone of something else may lie there now
        if not seen.mark and _has_other_history(seen, known):
            return new_answer(place, "another repository was here before", [f"its memory is kept: {known.name}"])
        why = f"this is the worktree {checkout.worktree}" if checkout.worktree else "the memory of this repository"
        return _use(known, why, notes, place)
    if seen.twins:
        return _ask(f"it is a copy of {os.path.dirname(seen.twins[0])}", [known])
    if _has_other_history(seen, known):
        return _ask(f"it bears the mark of {known.name}, and has another history", [known])
    return _use(known, "the project was moved here", notes, place)


def _by_pair(seen: Seen, checkout: Checkout, known: Project | None) -> Answer | None:
    """Return what to do where a git directory elsewhere is known, and this folder is not: a pointer proves nothing."""
    if known is None or any((one.common, one.root) == (checkout.common, checkout.root) for one in known.places):
        return None
    roots = [one.root for one in known.places if one.common == checkout.common and one.root]
    if not any(os.path.lexists(os.path.join(root, ".git")) for root in roots):
        return _ask(f"the checkout that {checkout.common} had before is gone", [known])
    why = f"{checkout.root} says that its repository is {checkout.common}, which is another folder's"
    return Answer(REFUSE, why, mend=f"Remove {os.path.join(checkout.root, '.git')}, if it came with the folder.")


def _by_outer(seen: Seen, checkout: Checkout) -> Answer | None:
    """Return what to ask of a repository inside a project that has a memory."""
    outer = seen.outer
    if outer is None or outer.checkout is None or outer.checkout.root == seen.home:
        return None
    around = resolve(outer)
    if around.outcome != USE:
        return None
    what = "a submodule of" if checkout.kind == "submodule" else "a repository inside"
    place = Place(root=outer.checkout.root)
    options = ((f"a part of {os.path.basename(around.place.root)}", registry.OUTER), NOBODY_CHOSE)
    return Answer(ASK, f"it is {what} a project that has a memory", place=place, options=options)


def _by_likeness(seen: Seen, checkout: Checkout, place: Place, notes: Sequence[str]) -> Answer:
    """Return a new memory, unless the repository has the history or the address of a project that has one."""
    projects, addresses = list(registry.list_projects()), set(read_remotes(checkout.common))
    here = find_objects(checkout.common, (commit for one in projects for commit in one.commits))
    same = [one for one in projects if addresses & set(one.addresses) or here & set(one.commits)]
    if same:
        return _ask("it has the history or the address of a project that has a memory", same)
    if seen.planted:
        options = (("a memory for all of it", registry.OWN), ("your personal memory", registry.PERSONAL))
        return Answer(ASK, f"{checkout.root} is somebody else's", options=options)
    if seen.foreign:
        notes = [*notes, "another installation has a memory of this project"]
    return new_answer(place, "a new memory for this repository", notes)


def _without_git(seen: Seen) -> Answer:
    """Return the personal memory, unless a project is or was here."""
    for folder in folders_above(seen.cwd):
        was = registry.find_project_at(Place(root=folder))
        here = [one for one in was.places if one.root == folder] if was is not None else []
        if was is not None and any(one.common for one in here):
            return _ask(f"{folder} was a repository that has a memory, and is none now", [was])
        if was is not None and here:
            # without its mark it may be another folder
            gone = not os.path.lexists(was.path)
            return _use(was, f"the memory of {folder}") if gone else _ask(f"{folder} had a memory before", [was])
    if seen.other is not None:
        options = (NOBODY_CHOSE, ("your personal memory", registry.PERSONAL))
        return Answer(ASK, f"{seen.other[1]} is a checkout of {seen.other[0]}", options=options)
    return _personal("this is no project's folder")


def _project_of(seen: Seen, checkout: Checkout) -> Project | None:
    """Return the project of a whole repository: by its mark, then by its place, then by what its folder was before
    `git init`."""
    found = registry.read_project(seen.mark) or registry.find_project_at(Place(checkout.common))
    if found is None and (found := registry.find_project_at(Place(root=checkout.root))) is not None:
        return found if any(not one.common and one.root == checkout.root for one in found.places) else None
    return found


def _has_other_history(seen: Seen, project: Project) -> bool:
    """Tell whether a repository has none of a project's first commits, and none of its addresses."""
    if seen.checkout is None or not project.commits:
        return False
    common = seen.checkout.common
    return not find_objects(common, project.commits) and not set(read_remotes(common)) & set(project.addresses)


# answers


def _use(project: Project, why: str, notes: Iterable[str] = (), place: Place | None = None) -> Answer:
    where = place or next(iter(project.places), Place())
    return Answer(USE, why, project.path, project.id, where, notes=list(notes))


def _personal(why: str, notes: Sequence[str] = ()) -> Answer:
    return Answer(PERSONAL, f"your personal memory: {why}", personal_memory_path(), notes=notes)


def _ask(why: str, projects: Iterable[Project]) -> Answer:
    options = [(f"the memory of {one.name}", one.id) for one in projects]
    return Answer(ASK, why, options=[*options, NOBODY_CHOSE])


def new_answer(place: Place, why: str, notes: Sequence[str] = ()) -> Answer:
    """Return where a memory begins: in the person's data folder, where no removal of a checkout reaches it."""
    id = registry.id_for_new(place)
    path = os.path.join(projects_folder(), memory_folder_name(project_name(place), id), DATABASE_FILE)
    if os.path.lexists(path):
        return Answer(USE, f"the memory that began at {place.root or place.common}", path, id, place, notes=notes)
    return Answer(NEW, why, path, id, place, notes=notes)


def project_name(place: Place) -> str:
    """Return the name of the project at a place: that of its folder, or of its bare repository."""
    named = os.path.join(place.root or place.common, place.folder).rstrip(os.sep)
    return os.path.basename(named).removesuffix(".git").lstrip(".") or "project"


def _below(folder: str, root: str) -> str:
    """Return a folder as it is called below a root; empty for the root."""
    return "" if folder == root else os.path.relpath(folder, root)


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


def _is_same_file(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
