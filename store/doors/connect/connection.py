"""Connect a client and disconnect it: plan the changes, make them, and restore what was there.

What was there before is kept with what this installation owns (`store/base/installation.py`), private, until the client
is disconnected. A file that is still as we left it gets its bytes back; in one that others changed meanwhile their
changes stay, and ours go; where that cannot be, it is said and the file stays as it is.
"""

import difflib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from store.base import installation
from store.doors.clients import client as clients
from store.doors.clients.client import LINE, LOCAL, SCOPES, SET, USER, WHOLE, Client, ConfigEdit, Place
from store.doors.clients.registry import CLIENTS
from store.doors.connect import config_edit
from store.doors.connect.config_edit import InTheWay
from store.git.process import GitError, run

KIND = "connections"
LARGEST = 300_000  # bytes of a configuration file that we change
CONTEXT = 3  # lines around a change
PLUGIN_PACKAGE = "@opencode-ai/plugin"  # what OpenCode installs for plugins


@dataclass(slots=True)
class FileChange:
    """What becomes of one file: its text `before` and `after`, None where there is none. `alone`: see `ConfigEdit`."""

    file: str
    before: str | None
    after: str | None
    edits: list[ConfigEdit] = field(default_factory=list)
    alone: bool = False

    @property
    def diff(self) -> list[str]:
        """Return the change as a unified diff. Of a file that is the client's own, only the lines around the change."""
        return [
            line.rstrip("\n")
            for line in difflib.unified_diff(
                (self.before or "").splitlines(),
                (self.after or "").splitlines(),
                "/dev/null" if self.before is None else self.file,
                "/dev/null" if self.after is None else self.file,
                n=1 if self.alone else CONTEXT,
                lineterm="",
            )
        ]


@dataclass(slots=True)
class ConnectionPlan:
    """What connecting or disconnecting a client in a place changes, and what is in the way of it."""

    client: Client
    place: Place
    changes: list[FileChange] = field(default_factory=list)
    in_the_way: list[str] = field(default_factory=list)

    @property
    def nothing(self) -> bool:
        return not self.changes and not self.in_the_way


def plan(client: Client, place: Place) -> ConnectionPlan:
    """Return what connects a client in a place; no changes where it is connected already."""
    found = ConnectionPlan(client, place)
    record = _record(client, place)
    edits = client.edits(place)
    for file, its in _by_file(edits).items():
        try:
            if place.scope == LOCAL and not its[0].alone and (why := _of_the_team(place.root, file)):
                raise InTheWay(why)
            before = _text(file)
            text = before or ""
            if len(text) > LARGEST and not its[0].alone:
                raise InTheWay(f"{file} is larger than a file of settings is.")
            if its[0].form == WHOLE and before not in (None, its[0].value) and file not in record:
                raise InTheWay(f"{file} is there and was not written by us.")
            for edit in its:
                text = config_edit.apply(text, edit, lambda entry: clients.is_ours(entry, client.name))
            if text != before:
                found.changes.append(FileChange(file, before, text, its, its[0].alone))
        except (InTheWay, OSError) as error:
            found.in_the_way.append(_sentence(file, error))
    if place.scope == LOCAL and not found.in_the_way:
        found.changes += _excluded(place.root, [file for file, its in _by_file(edits).items() if not its[0].alone])
    return found


def connect(found: ConnectionPlan) -> None:
    """Make the changes of a plan, each file whole, and keep what was there. Raise InTheWay; nothing is changed then
    that is not kept."""
    client, place = found.client, found.place
    record = _record(client, place)
    for change in found.changes:
        kept = record.get(change.file)
        record[change.file] = _kept(change) if kept is None else _grown(kept, change)
    _keep(client, place, record)
    for change in found.changes:
        _write(change)


def unplan(client: Client, place: Place) -> ConnectionPlan:
    """Return what disconnects a client in a place."""
    found = ConnectionPlan(client, place)
    for file, kept in _record(client, place).items():
        try:
            now = _text(file)
            if now is None:
                continue
            after = _restored(client, file, kept, now)
            if after != now:
                found.changes.append(FileChange(file, now, after, alone=bool(kept["alone"])))
        except (InTheWay, OSError) as error:
            found.in_the_way.append(_sentence(file, error))
    return found


def disconnect(found: ConnectionPlan) -> None:
    """Make the changes of such a plan. What is in the way stays, and so does its record. Raise InTheWay."""
    record = _record(found.client, found.place)
    stays = {file: kept for file, kept in record.items() if any(file in says for says in found.in_the_way)}
    for change in found.changes:
        _write(change)
        if change.after is None:
            for folder in reversed(record[change.file]["folders"]):
                if not _removed(folder, found.client):
                    break
    _keep(found.client, found.place, stays)


def _removed(folder: str, client: Client) -> bool:
    """Remove a folder that we made, if it holds nothing but what its client installed there; return whether it is
    gone."""
    import shutil

    try:
        left = os.listdir(folder)
        if left and not (set(left) <= set(client.installs) and _untouched(folder)):
            return False
        for name in left:
            path = os.path.join(folder, name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
        os.rmdir(folder)
    except OSError:
        return False
    return True


def _untouched(folder: str) -> bool:
    """Return whether the packages in a folder are a client's own: its one plugin package, and nothing that a person
    added."""
    try:
        with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
            saved = json.load(file)
    except (OSError, ValueError):
        return False
    return isinstance(saved, dict) and set(saved) == {"dependencies"} and set(saved["dependencies"]) == {PLUGIN_PACKAGE}


def connected(root: str, home: str, environ: Mapping[str, str]) -> Iterator[tuple[Client, Place]]:
    """Yield every client that was connected for this folder or for this person, with its place."""
    for name in CLIENTS:
        for scope in SCOPES:
            place = Place(scope, root, home, environ, ())
            saved = _saved(name, place)
            if command := saved.get("command"):
                hook = tuple(saved.get("hook", ()))
                yield CLIENTS[name], Place(scope, root, home, environ, tuple(command), hook)


def everywhere(home: str, environ: Mapping[str, str]) -> Iterator[tuple[Client, Place]]:
    """Yield every client that was connected on this machine, for any folder, with its place; the last one first, since
    two may have changed one file."""

    def written(name: str) -> int:
        try:
            return os.stat(os.path.join(installation.folder(), name)).st_mtime_ns
        except OSError:
            return 0

    for name in sorted(installation.names(KIND), key=written, reverse=True):
        saved = _read(name)
        client, scope, where = saved.get("client"), saved.get("scope"), saved.get("where")
        if client in CLIENTS and scope in SCOPES and isinstance(where, str):
            root, home_then = ("", where) if scope == USER else (where, home)
            command, hook = tuple(saved.get("command", ())), tuple(saved.get("hook", ()))
            yield CLIENTS[client], Place(scope, root, home_then, environ, command, hook)


# what is kept


def _name(client: str, place: Place) -> str:
    where = place.home if place.scope == USER else place.root
    return installation.name_of(KIND, os.path.join(where, f"{client}.{place.scope}"))


def _saved(client: str, place: Place) -> dict[str, Any]:
    return _read(_name(client, place))


def _read(name: str) -> dict[str, Any]:
    try:
        found = json.loads(installation.read(name) or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _record(client: Client, place: Place) -> dict[str, dict[str, Any]]:
    files: dict[str, dict[str, Any]] = _saved(client.name, place).get("files", {})
    return files


def _keep(client: Client, place: Place, files: dict[str, dict[str, Any]]) -> None:
    name = _name(client.name, place)
    if not files:
        installation.drop(name)
        return
    where = place.home if place.scope == USER else place.root
    kept: dict[str, Any] = {"client": client.name, "scope": place.scope, "where": where, "files": files}
    kept |= {"command": place.command, "hook": place.hook}
    text = json.dumps(kept, ensure_ascii=False)  # unescaped, so that a search for purged words finds it
    if len(text.encode()) > installation.LARGEST:
        raise InTheWay(f"The files of {client.title} are larger together than can be kept as they were.")
    if not installation.keep(name, text):
        raise InTheWay(f"What was there before could not be kept: {installation.trouble()}")


def _kept(change: FileChange) -> dict[str, Any]:
    """Return what is kept of a change, to take it back."""
    text = change.before or ""
    return {
        "alone": change.alone,
        "before": None if change.alone else change.before,
        "after": None if change.alone else change.after,
        "there": change.before is not None,
        "folders": _to_be_made(change.file),
        "edits": [
            [
                *(edit.form, list(edit.path), edit.value),
                config_edit.value_at(text, edit) if edit.form == SET else None,
                config_edit.missing(text, edit),
            ]
            for edit in change.edits
        ],
    }


def _grown(kept: dict[str, Any], change: FileChange) -> dict[str, Any]:
    """Return what is kept when a file that was changed by us is changed again: what was there before the first change
    stays, as far as it is known."""
    old = {(form, tuple(path)): (before, made) for form, path, _, before, made in kept["edits"]}
    new = _kept(change)
    for one in new["edits"]:
        if known := old.get((one[0], tuple(one[1]))):
            one[3:] = known
    if not change.alone and change.before is not None and kept["after"] == change.before:
        new["before"], new["there"] = kept["before"], kept["there"]
    elif not change.alone:
        new["before"] = None  # others changed it since: only our own edits are known
        new["there"] = kept["there"]
    new["folders"] = kept["folders"]
    return new


def _restored(client: Client, file: str, kept: dict[str, Any], now: str) -> str | None:
    """Return what a file becomes without us; None if it goes. Raise InTheWay."""
    before: str | None = kept["before"]
    after: str | None = kept["after"]
    if not kept["alone"] and now == after and (before is not None or not kept["there"]):
        return before
    text = now
    for form, path, value, stood, made in reversed(kept["edits"]):
        edit = ConfigEdit(file, form, tuple(path), value)
        text = config_edit.take_out(text, edit, lambda entry: clients.is_ours(entry, client.name), stood, made)
    if not kept["there"] and _empty(file, text):
        return None
    if before is not None and after is not None:
        mixed = config_edit.merged(after, before, now)
        if mixed is not None and _same(file, mixed, text):
            return mixed
    return text


def _empty(file: str, text: str) -> bool:
    if not text.strip():
        return True
    if not file.endswith((".json", ".jsonc", ".toml")) or "//" in text.replace("https://", ""):
        return False
    settings = config_edit.says(text, file)
    return isinstance(settings, dict) and set(settings) <= {"$schema"}  # which OpenCode adds to a file that lacks it


def _same(file: str, one: str, other: str) -> bool:
    if not file.endswith((".json", ".jsonc", ".toml")):
        return one == other
    try:
        return bool(config_edit.says(one, file) == config_edit.says(other, file))
    except InTheWay:
        return False


# files


def _by_file(edits: list[ConfigEdit]) -> dict[str, list[ConfigEdit]]:
    found: dict[str, list[ConfigEdit]] = {}
    for edit in edits:
        found.setdefault(edit.file, []).append(edit)
    return found


def _text(file: str) -> str | None:
    """Return the text of a file, None if there is none. Raise InTheWay, OSError."""
    try:
        with open(os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as opened:
            status = os.fstat(opened.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InTheWay(f"{file} is not a plain file.")
            if status.st_uid != os.getuid():
                raise InTheWay(f"{file} belongs to another user.")
            raw = opened.read()
    except FileNotFoundError:
        return None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise InTheWay(f"{file} is not UTF-8 text.") from None


def _write(change: FileChange) -> None:
    """Give a file its text, whole, if it still has the one that was looked at. Raise InTheWay."""
    path = os.path.realpath(change.file)  # those who keep their settings elsewhere link them
    try:
        if change.alone:
            change.before = _again(change)
        elif _text(path) != change.before:
            raise InTheWay(f"{change.file} was changed meanwhile. Try again.")
        if change.after is None:
            os.unlink(path)
            return
        folder = os.path.dirname(path)
        os.makedirs(folder, exist_ok=True)
        try:
            mode = stat.S_IMODE(os.stat(path).st_mode)
        except FileNotFoundError:
            mode = 0o600 if change.alone else 0o644
        part = f"{path}.{os.urandom(4).hex()}.part"
        handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with open(handle, "wb") as file:
                os.fchmod(handle, mode)
                file.write(change.after.encode("utf-8"))
                file.flush()
                os.fsync(handle)
            os.replace(part, path)
        except BaseException:
            os.unlink(part)
            raise
    except OSError as error:
        raise InTheWay(_sentence(change.file, error)) from None


def _again(change: FileChange) -> str | None:
    """Return a file that its client writes all the time, read again just before it is replaced, and changed as it is
    now."""
    now = _text(os.path.realpath(change.file))
    if now != change.before and change.edits:
        text = now or ""
        for edit in change.edits:
            text = config_edit.apply(text, edit, lambda entry: False)
        change.after = text
    elif now != change.before:
        raise InTheWay(f"{change.file} was changed meanwhile. Try again.")
    return now


def _to_be_made(file: str) -> list[str]:
    """Return the folders that are missing on the way to a file, the outermost first."""
    folder, missing = os.path.dirname(file), list[str]()
    while folder and not os.path.isdir(folder):
        missing.insert(0, folder)
        folder = os.path.dirname(folder)
    return missing


def _of_the_team(root: str, file: str) -> str:
    """Return why a file is not one person's alone; empty if it is: git tracks it."""
    if not file.startswith(os.path.join(root, "")):
        return ""
    try:
        with run(root, "ls-files", "--error-unmatch", "--", os.path.relpath(file, root)) as child:
            if child.process.wait():
                return ""
    except GitError:
        return ""
    return f"{file} is kept in git, so it is the team's. Say --project to change it for all, or --user for you."


def _excluded(root: str, files: list[str]) -> list[FileChange]:
    """Return the change that keeps files of one person out of everybody's git: lines of `.git/info/exclude`."""
    inside = [os.path.relpath(file, root) for file in files if file.startswith(os.path.join(root, ""))]
    try:
        with run(root, "check-ignore", "--no-index", "--", *inside) as child:
            ignored = child.output.read().decode("utf-8", "surrogateescape").splitlines()
            child.check(accepted=(0, 1))
        with run(root, "rev-parse", "--show-prefix", "--git-path", "info/exclude") as child:
            prefix, path = child.output.read().decode("utf-8", "surrogateescape").split("\n")[:2]
            child.check()
    except (GitError, ValueError):
        return []
    file = os.path.join(root, path)
    lines = [ConfigEdit(file, LINE, (), f"/{prefix}{name}") for name in inside if name not in ignored]
    try:
        before = _text(file)
    except (InTheWay, OSError):
        return []
    text = before or ""
    for edit in lines:
        text = config_edit.apply(text, edit, lambda entry: False)
    return [FileChange(file, before, text, lines)] if text != (before or "") else []


def _sentence(file: str, error: Exception) -> str:
    why = getattr(error, "strerror", error)
    return str(error) if isinstance(error, InTheWay) else f"{file} cannot be changed: {why}."
