"""Connect a client and disconnect it: plan the changes, make them, and restore what was there.

What was there before is kept with what this installation owns (`store/base/state_files.py`), private, until the client
is disconnected. A file that is still as we left it gets its bytes back; in one that others changed meanwhile their
changes stay, and ours go; where that cannot be, it is said and the file stays as it is.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from platformdirs import user_cache_path

from store.base import state_files
from store.base.errors import Unsupported
from store.base.hook_resident import end_resident
from store.base.location import MEMORANDA_FOLDER, Location, checkout_root
from store.base.models import select_fields
from store.base.runtime import open_at_once
from store.base.state_files import (
    delete_state,
    last_state_problem,
    list_known_memories,
    list_state_names,
    read_state,
    state_folder,
    state_name_of,
    write_state,
)
from store.doors import memoranda_hook
from store.doors.client import (
    CLIENTS,
    CONNECTION_NAME,
    CONNECTION_SCOPES,
    EDIT_LINE,
    EDIT_SET,
    EDIT_WHOLE,
    SCOPE_LOCAL,
    SCOPE_USER,
    AgentClient,
    ClientPlace,
    ConfigEdit,
    is_our_hook,
    runs_hook,
)
from store.doors.config_edit import (
    EditBlocked,
    apply_edit,
    count_missing_parents,
    get_value_at,
    merge_both_changes,
    parse_config,
    revert_edit,
)
from store.doors.git_hooks import (
    GIT_HOOKS,
    has_wanted_git_hooks,
    list_installed_hooks,
    uninstall_git_hooks,
    write_whole_file,
)
from store.git.checkout import is_tracked_by_git
from store.git.process import GitError, read_chunks, run_git
from store.git.repository import split_lines
from store.projects.registry import list_marks
from store.purge.file_eraser import guard_path, has_kept_versions, require_sealed_texts
from store.text.display import visible
from store.upkeep.checks import NOTE, OK, Finding

# Ask a client itself whether it sees our server and runs our hooks.

# a client may take thirty to give a server up; OpenCode fetches packages at its first start
CLIENT_SECONDS = 120.0
CLIENT_OK, CLIENT_WAITS, CLIENT_FAILED, CLIENT_ABSENT = "ok", "waits", "failed", "absent"
_COLOUR_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# what clients put before a server that failed
_FAILURE_MARKS = {"✗", "✘"}
_WAITING_WORDS = ("Pending approval", "Disabled", "untrusted")


class ClientReport(NamedTuple):
    """How a client sees us: `state` is ok, waits (for the person), failed or absent; `says` is that in a sentence."""

    state: str
    says: str


def find_client_program(client: AgentClient, place: ClientPlace) -> str:
    """Return where the client's program is; empty if it is not installed here."""
    return shutil.which(client.program, path=place.environ.get("PATH", "")) or ""


def ask_client(client: AgentClient, place: ClientPlace) -> list[ClientReport]:
    """Return what a client reports about our server, and about our hooks if it does."""
    found = find_client_program(client, place)
    if found and client.name == "codex":
        return _report_codex(found, place)
    if not found:
        says = f"{client.title} is not installed here: there is no `{client.program}` on PATH."
        return [ClientReport(CLIENT_ABSENT, says)]
    output = _run_client([found, *client.health.words], place)
    lines = [line.strip() for line in (output or "").splitlines()]
    about = next((line for line in lines if client.health.line in line), "")
    state, says = CLIENT_FAILED, f"{client.title} sees the server, and it does not answer: {about}"
    if output is None:
        says = f"`{client.program} {' '.join(client.health.words)}` did not answer."
    elif not about:
        says = f"{client.title} does not see the server {CONNECTION_NAME}."
    elif any(word in about for word in client.health.good) and not _FAILURE_MARKS & set(about):
        state, says = CLIENT_OK, f"{client.title} sees the server and it answers."
    elif any(word in about for word in _WAITING_WORDS):
        state, says = CLIENT_WAITS, f"{client.title} sees the server, and waits for your approval: {about}"
    return [ClientReport(state, says)]


def _run_client(words: list[str], place: ClientPlace) -> str | None:
    """Return what a command of a client prints; None if it cannot be run or takes too long."""
    try:
        done = subprocess.run(
            words,
            cwd=place.root,
            env={**place.environ, "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=CLIENT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _COLOUR_CODES.sub("", done.stdout.decode("utf-8", "replace"))


def _report_codex(found: str, place: ClientPlace) -> list[ClientReport]:
    """Return what Codex's server for editors says: its list of servers checks nothing."""
    answers = _ask_codex(found, place)
    if answers is None:
        return [ClientReport(CLIENT_FAILED, "`codex app-server` did not answer.")]
    servers, hooks = answers
    ours = next((one for one in servers if one.get("name") == CONNECTION_NAME), None)
    if ours is not None and ours.get("toolsError"):
        server = CLIENT_FAILED, f"Codex sees the server, and it does not answer: {ours['toolsError']}"
    elif ours is not None:
        server = CLIENT_OK, "Codex sees the server and it answers."
    elif CONNECTION_NAME in (
        _run_client([found, "mcp", "list"], place) or ""
    ):  # a project's is listed, not started
        server = CLIENT_OK, "Codex sees the server in this project."
    else:
        says = "Codex does not see the server here: it reads a project's .codex once the project is trusted."
        server = CLIENT_WAITS, says
    own = [hook for hook in hooks if runs_hook(str(hook.get("command", "")), "codex")]
    trusted = CLIENT_OK, f"Codex trusts our {len(own)} hooks."
    if not own or any(hook.get("trustStatus") != "trusted" for hook in own):
        trusted = CLIENT_WAITS, "Codex runs no hook of ours until you trust them: type /hooks in `codex`."
    return [ClientReport(*server), ClientReport(*trusted)]


def _ask_codex(found: str, place: ClientPlace) -> tuple[list[dict[str, Any]], list[dict[str, Any]]] | None:
    """Return (servers, hooks) as `codex app-server` lists them; None if it does not answer."""
    asked = (
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": CONNECTION_NAME, "version": "1"}}},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [os.path.realpath(place.root)]}},
        {"id": 3, "method": "mcpServerStatus/list", "params": {}},
    )
    try:
        child = subprocess.Popen(
            [found, "app-server"],
            cwd=place.root,
            env=dict(place.environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None
    answers: dict[int, Any] = {}
    until = time.monotonic() + CLIENT_SECONDS
    try:
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in asked))
        child.stdin.flush()
        for line in split_lines(read_chunks(child.stdout, lambda: time.monotonic() > until)):
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict) and isinstance(message.get("id"), int):
                answers[message["id"]] = message.get("result") or {}
                if {2, 3} <= answers.keys():
                    break
    except OSError:
        return None
    finally:
        child.kill()
        child.communicate()
    if not {2, 3} <= answers.keys():
        return None
    hooks = [hook for folder in answers[2].get("data", ()) for hook in folder.get("hooks", ())]
    return list(answers[3].get("data", ())), hooks


CONNECTION_KIND = "connections"
# bytes of a configuration file that we change
MAX_CONFIG_CHARACTERS = 300_000
# lines around a change
DIFF_CONTEXT = 3
# what OpenCode installs for plugins
PLUGIN_PACKAGE = "@opencode-ai/plugin"


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
                n=1 if self.alone else DIFF_CONTEXT,
                lineterm="",
            )
        ]


@dataclass(slots=True)
class ConnectionPlan:
    """What connecting or disconnecting a client in a place changes, and what is in the way of it."""

    client: AgentClient
    place: ClientPlace
    changes: list[FileChange] = field(default_factory=list)
    in_the_way: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not self.changes and not self.in_the_way

    @property
    def diff(self) -> list[str]:
        """The differences of all files that it changes, in lines."""
        return [visible(line) for change in self.changes for line in change.diff]

    def as_dict(self, dry_run: bool) -> dict[str, object]:
        return {
            "agent": self.client.name,
            "scope": self.place.scope,
            "dry_run": dry_run,
            "changed": [select_fields(change, "file", "diff") for change in self.changes],
            "in_the_way": self.in_the_way,
        }


def plan_connection(client: AgentClient, place: ClientPlace) -> ConnectionPlan:
    """Return what connects a client in a place; no changes where it is connected already."""
    found = ConnectionPlan(client, place)
    record = _saved_files(client, place)
    edits: dict[str, list[ConfigEdit]] = {}
    for edit in client.edits(place):
        edits.setdefault(edit.file, []).append(edit)
    for file, its in edits.items():
        try:
            if place.scope == SCOPE_LOCAL and not its[0].alone and (why := _why_shared(place.root, file)):
                raise EditBlocked(why)
            before = _read_config_text(file)
            text = before or ""
            if len(text) > MAX_CONFIG_CHARACTERS and not its[0].alone:
                raise EditBlocked(f"{file} is larger than a file of settings is.")
            if its[0].form == EDIT_WHOLE and before not in (None, its[0].value) and file not in record:
                raise EditBlocked(f"{file} is there and was not written by us.")
            for edit in its:
                text = apply_edit(text, edit, lambda entry: is_our_hook(entry, client.name))
            if text != before:
                found.changes.append(FileChange(file, before, text, its, its[0].alone))
        except (EditBlocked, OSError) as error:
            found.in_the_way.append(_error_sentence(file, error))
    if place.scope == SCOPE_LOCAL and not found.in_the_way:
        found.changes += _exclude_from_git(place.root, [file for file, its in edits.items() if not its[0].alone])
    return found


def apply_connection(found: ConnectionPlan) -> None:
    """Make the changes of a plan, each file whole, and keep what was there. Raise EditBlocked; nothing is changed
    then that is not kept."""
    client, place = found.client, found.place
    record = _saved_files(client, place)
    for change in found.changes:
        kept = record.get(change.file)
        record[change.file] = _describe_change(change) if kept is None else _merge_saved_change(kept, change)
    _save_files(client, place, record)
    for change in found.changes:
        _write_change(change)


def plan_disconnection(client: AgentClient, place: ClientPlace) -> ConnectionPlan:
    """Return what disconnects a client in a place."""
    found = ConnectionPlan(client, place)
    for file, kept in _saved_files(client, place).items():
        try:
            now = _read_config_text(file)
            if now is None:
                continue
            after = _restore_text(client, file, kept, now)
            if after != now:
                found.changes.append(FileChange(file, now, after, alone=bool(kept["alone"])))
        except (EditBlocked, OSError) as error:
            found.in_the_way.append(_error_sentence(file, error))
    return found


def apply_disconnection(found: ConnectionPlan) -> None:
    """Make the changes of such a plan. What is in the way stays, and so does its record. Raise EditBlocked."""
    record = _saved_files(found.client, found.place)
    stays = {file: kept for file, kept in record.items() if any(file in says for says in found.in_the_way)}
    for change in found.changes:
        _write_change(change)
        if change.after is None:
            for folder in reversed(record[change.file]["folders"]):
                if not _remove_folder(folder, found.client):
                    break
    _save_files(found.client, found.place, stays)


def _remove_folder(folder: str, client: AgentClient) -> bool:
    """Remove a folder that we made, if it holds nothing but what its client installed there; return whether it is
    gone."""
    try:
        left = os.listdir(folder)
        if left and not (set(left) <= set(client.installs) and _has_only_plugin(folder)):
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


def _has_only_plugin(folder: str) -> bool:
    """Return whether the packages in a folder are a client's own: its one plugin package, and nothing that a person
    added."""
    try:
        with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
            saved = json.load(file)
    except (OSError, ValueError):
        return False
    return (
        isinstance(saved, dict)
        and set(saved) == {"dependencies"}
        and set(saved["dependencies"]) == {PLUGIN_PACKAGE}
    )


def list_connected(root: str, home: str, environ: Mapping[str, str]) -> Iterator[tuple[AgentClient, ClientPlace]]:
    """Yield every client that was connected for this folder or for this person, with its place."""
    for name in CLIENTS:
        for scope in CONNECTION_SCOPES:
            place = ClientPlace(scope, root, home, environ, ())
            saved = _read_saved(_record_name(name, place))
            if command := saved.get("command"):
                hook = tuple(saved.get("hook", ()))
                yield CLIENTS[name], ClientPlace(scope, root, home, environ, tuple(command), hook)


def list_all_connected(home: str, environ: Mapping[str, str]) -> Iterator[tuple[AgentClient, ClientPlace]]:
    """Yield every client that was connected on this machine, for any folder, with its place; the last one first, since
    two may have changed one file."""

    def written(name: str) -> int:
        try:
            return os.stat(os.path.join(state_folder(), name)).st_mtime_ns
        except OSError:
            return 0

    for name in sorted(list_state_names(CONNECTION_KIND), key=written, reverse=True):
        saved = _read_saved(name)
        client, scope, where = saved.get("client"), saved.get("scope"), saved.get("where")
        if client in CLIENTS and scope in CONNECTION_SCOPES and isinstance(where, str):
            root, home_then = ("", where) if scope == SCOPE_USER else (where, home)
            command, hook = tuple(saved.get("command", ())), tuple(saved.get("hook", ()))
            yield CLIENTS[client], ClientPlace(scope, root, home_then, environ, command, hook)


# what is kept


def _record_name(client: str, place: ClientPlace) -> str:
    """Return the name of the private file that keeps the record of a connection."""
    where = place.home if place.scope == SCOPE_USER else place.root
    return state_name_of(CONNECTION_KIND, os.path.join(where, f"{client}.{place.scope}"))


def _read_saved(name: str) -> dict[str, Any]:
    """Return a saved record by its file's name; empty where it cannot be read."""
    try:
        found = json.loads(read_state(name) or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _saved_files(client: AgentClient, place: ClientPlace) -> dict[str, dict[str, Any]]:
    """Return what is kept of each file that a connection changed."""
    files: dict[str, dict[str, Any]] = _read_saved(_record_name(client.name, place)).get("files", {})
    return files


def _save_files(client: AgentClient, place: ClientPlace, files: dict[str, dict[str, Any]]) -> None:
    """Save what is kept of each file; delete the record if nothing is left. Raise EditBlocked."""
    name = _record_name(client.name, place)
    if not files:
        delete_state(name)
        return
    where = place.home if place.scope == SCOPE_USER else place.root
    kept: dict[str, Any] = {"client": client.name, "scope": place.scope, "where": where, "files": files}
    kept |= {"command": place.command, "hook": place.hook}
    # unescaped, so that a search for purged words finds it
    text = json.dumps(kept, ensure_ascii=False)
    if len(text.encode()) > state_files.MAX_STATE_BYTES:
        raise EditBlocked(f"The files of {client.title} are larger together than can be kept as they were.")
    if not write_state(name, text):
        raise EditBlocked(f"What was there before could not be kept: {last_state_problem()}")


def _describe_change(change: FileChange) -> dict[str, Any]:
    """Return what is kept of a change, to take it back."""
    text = change.before or ""
    return {
        "alone": change.alone,
        "before": None if change.alone else change.before,
        "after": None if change.alone else change.after,
        "there": change.before is not None,
        "folders": _missing_folders(change.file),
        "edits": [
            [
                *(edit.form, list(edit.path), edit.value),
                get_value_at(text, edit) if edit.form == EDIT_SET else None,
                count_missing_parents(text, edit),
            ]
            for edit in change.edits
        ],
    }


def _merge_saved_change(kept: dict[str, Any], change: FileChange) -> dict[str, Any]:
    """Return what is kept when a file that was changed by us is changed again: what was there before the first change
    stays, as far as it is known."""
    old = {(form, tuple(path)): (before, made) for form, path, _, before, made in kept["edits"]}
    new = _describe_change(change)
    for one in new["edits"]:
        if known := old.get((one[0], tuple(one[1]))):
            one[3:] = known
    if not change.alone and change.before is not None and kept["after"] == change.before:
        new["before"], new["there"] = kept["before"], kept["there"]
    elif not change.alone:
        # others changed it since: only our own edits are known
        new["before"] = None
        new["there"] = kept["there"]
    new["folders"] = kept["folders"]
    return new


def _restore_text(client: AgentClient, file: str, kept: dict[str, Any], now: str) -> str | None:
    """Return what a file becomes without us; None if it goes. Raise EditBlocked."""
    before: str | None = kept["before"]
    after: str | None = kept["after"]
    if not kept["alone"] and now == after and (before is not None or not kept["there"]):
        return before
    text = now
    for form, path, value, stood, made in reversed(kept["edits"]):
        edit = ConfigEdit(file, form, tuple(path), value)
        text = revert_edit(text, edit, lambda entry: is_our_hook(entry, client.name), stood, made)
    if not kept["there"] and _is_empty_config(file, text):
        return None
    if before is not None and after is not None:
        mixed = merge_both_changes(after, before, now)
        if mixed is not None and _is_same_config(file, mixed, text):
            return mixed
    return text


def _is_empty_config(file: str, text: str) -> bool:
    """Tell whether a configuration file says nothing."""
    if not text.strip():
        return True
    if not file.endswith((".json", ".jsonc", ".toml")) or "//" in text.replace("https://", ""):
        return False
    settings = parse_config(text, file)
    return isinstance(settings, dict) and set(settings) <= {
        "$schema"
    }  # which OpenCode adds to a file that lacks it


def _is_same_config(file: str, one: str, other: str) -> bool:
    """Tell whether two texts of a configuration file say the same."""
    if not file.endswith((".json", ".jsonc", ".toml")):
        return one == other
    try:
        return bool(parse_config(one, file) == parse_config(other, file))
    except EditBlocked:
        return False


# files


def _read_config_text(file: str) -> str | None:
    """Return the text of a file, None if there is none. Raise EditBlocked, OSError."""
    try:
        with open(file, "rb", opener=open_at_once) as opened:
            status = os.fstat(opened.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise EditBlocked(f"{file} is not a plain file.")
            if status.st_uid != os.getuid():
                raise EditBlocked(f"{file} belongs to another user.")
            raw = opened.read()
    except FileNotFoundError:
        return None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise EditBlocked(f"{file} is not UTF-8 text.") from None


def _write_change(change: FileChange) -> None:
    """Give a file its text, whole, if it still has the text that was looked at. Raise EditBlocked."""
    # those who keep their settings elsewhere link them
    path = os.path.realpath(change.file)
    try:
        if change.alone:
            change.before = _reapply_change(change)
        elif _read_config_text(path) != change.before:
            raise EditBlocked(f"{change.file} was changed meanwhile. Try again.")
        if change.after is None:
            os.unlink(path)
            return
        try:
            mode = stat.S_IMODE(os.stat(path).st_mode)
        except FileNotFoundError:
            mode = 0o600 if change.alone else 0o644
        write_whole_file(path, change.after, mode)
    except OSError as error:
        raise EditBlocked(_error_sentence(change.file, error)) from None


def _reapply_change(change: FileChange) -> str | None:
    """Return a file that its client writes all the time, read again just before it is replaced, and changed as it is
    now."""
    now = _read_config_text(os.path.realpath(change.file))
    if now != change.before and change.edits:
        text = now or ""
        for edit in change.edits:
            text = apply_edit(text, edit, lambda entry: False)
        change.after = text
    elif now != change.before:
        raise EditBlocked(f"{change.file} was changed meanwhile. Try again.")
    return now


def _missing_folders(file: str) -> list[str]:
    """Return the folders that are missing on the way to a file, the outermost first."""
    folder, missing = os.path.dirname(file), list[str]()
    while folder and not os.path.isdir(folder):
        missing.insert(0, folder)
        folder = os.path.dirname(folder)
    return missing


def _why_shared(root: str, file: str) -> str:
    """Return why a file is not one person's alone; empty if it is: git tracks it."""
    if not file.startswith(os.path.join(root, "")) or not is_tracked_by_git(file):
        return ""
    return f"{file} is kept in git, so it is the team's. Say --project to change it for all, or --user for you."


def _exclude_from_git(root: str, files: list[str]) -> list[FileChange]:
    """Return the change that keeps files of one person out of everybody's git: lines of `.git/info/exclude`."""
    inside = [os.path.relpath(file, root) for file in files if file.startswith(os.path.join(root, ""))]
    try:
        with run_git(root, "check-ignore", "--no-index", "--", *inside) as child:
            ignored = child.output.read().decode("utf-8", "surrogateescape").splitlines()
            child.check_exit(accepted=(0, 1))
        with run_git(root, "rev-parse", "--show-prefix", "--git-path", "info/exclude") as child:
            prefix, path = child.output.read().decode("utf-8", "surrogateescape").split("\n")[:2]
            child.check_exit()
    except (GitError, ValueError):
        return []
    file = os.path.join(root, path)
    lines = [ConfigEdit(file, EDIT_LINE, (), f"/{prefix}{name}") for name in inside if name not in ignored]
    try:
        before = _read_config_text(file)
    except (EditBlocked, OSError):
        return []
    text = before or ""
    for edit in lines:
        text = apply_edit(text, edit, lambda entry: False)
    return [FileChange(file, before, text, lines)] if text != (before or "") else []


def _error_sentence(file: str, error: Exception) -> str:
    """Return what is in the way of changing a file, as a sentence."""
    why = getattr(error, "strerror", error)
    return str(error) if isinstance(error, EditBlocked) else f"{file} cannot be changed: {why}."


# The doctor's look at agents: of each that was connected, whether its files are as we left them, and whether it sees
# the memory.


def examine_agents(
    location: Location, cwd: str, home: str, environ: Mapping[str, str], quick: bool
) -> Iterator[Finding]:
    """Return what is found of every connected agent, for the project of a memory or a folder; `quick` asks no agent
    itself."""
    root = location.project or checkout_root(cwd) or os.path.abspath(cwd)
    for client, place in list_connected(root, home, environ):
        again = f"connect {client.name}" + ("" if place.scope == SCOPE_LOCAL else f" --{place.scope}")
        plan = plan_connection(client, place)
        trouble, step = "", f"memoranda {again}"
        if plan.in_the_way:
            trouble, step = " ".join(plan.in_the_way), f"Then: memoranda {again}"
        elif plan.changes:
            files = ", ".join(change.file for change in plan.changes)
            trouble = f"{client.title} was connected, and what connects it is not in {files} any more."
        elif gone := _removed_connection_note(place):
            trouble = f"{client.title} starts {gone}, which is not there any more."
        elif place.hook and not os.path.samefile(place.hook[1], memoranda_hook.__file__):
            trouble = f"{client.title} runs {place.hook[1]} at each event, which is another installation's."
        if trouble:
            yield Finding(client.name, NOTE, trouble, step, again)
        elif quick:
            yield Finding(client.name, OK, f"{client.title} is connected.")
        else:
            for seen in ask_client(client, place._replace(environ=environ)):
                yield Finding(client.name, OK if seen.state == CLIENT_OK else NOTE, seen.says)
    checkout = checkout_root(root)
    if checkout and has_wanted_git_hooks(checkout):
        hooks = list_installed_hooks(checkout)
        if missing := [hook for hook in GIT_HOOKS if hook not in hooks]:
            says = f"Ours is not in {' and '.join(missing)} any more."
            yield Finding("git", NOTE, says, "memoranda connect git", "connect git")
        else:
            yield Finding("git", OK, "Git's hooks tell of each commit.")


def _removed_connection_note(place: ClientPlace) -> str:
    """Return the program that a client starts and that is not there any more; empty if all is."""
    for program in (place.command[0], *place.hook[:1]):
        if os.path.isabs(program) and not os.access(program, os.X_OK):
            return program
    return "".join(file for file in place.hook[1:] if not os.path.isfile(file))


# What this installation wrote outside of memories, anywhere on this machine, and how it is taken back.


@dataclass(slots=True)
class Removal:
    """What would be taken back: connected agents, `checkouts` with our lines in their git hooks, the `marks` of
    repositories, the versions that guard keeps (a path, empty without), and `folders` of ours. `memories` stay."""

    connections: list[ConnectionPlan] = field(default_factory=list)
    checkouts: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    guard: str = ""
    folders: list[str] = field(default_factory=list)
    memories: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not (self.connections or self.checkouts or self.marks or self.guard or self.folders)

    def describe(self) -> list[str]:
        """Return a line for each thing that would be removed."""
        lines = []
        for plan in self.connections:
            where = "you" if plan.place.scope == SCOPE_USER else plan.place.root
            lines.append(f"agent  {plan.client.title}, {visible(where)}")
            lines += [f"       {visible(change.file)}" for change in plan.changes]
            lines += [f"  !    {visible(says)}" for says in plan.in_the_way]
        lines += [f"hooks  git, {visible(root)}" for root in self.checkouts]
        lines += [f"mark   {visible(path)}" for path in self.marks]
        if self.guard:
            kept = f"every version that it kept, {visible(self.guard)}"
            lines.append(f"guard  {kept}: no change before now can be put back")
        return [*lines, *(f"state  {visible(folder)}" for folder in self.folders)]

    def as_dict(self) -> dict[str, object]:
        connections = [
            {
                "agent": one.client.name,
                "scope": one.place.scope,
                "files": [change.file for change in one.changes],
            }
            for one in self.connections
        ]
        return {
            "agents": connections,
            **select_fields(self, "checkouts", "marks", "guard", "folders", "memories"),
        }


def find_installed_parts(home: str, environ: Mapping[str, str]) -> Removal:
    """Find what this installation wrote outside of memories; nothing is changed."""
    found = Removal()
    for client, place in list_all_connected(home, environ):
        found.connections.append(plan_disconnection(client, place))
    paths = [Path(one.path) for one in list_known_memories()]
    found.memories = sorted(str(path) for path in paths if path.exists() and path.parent.name != "backups")
    roots = {str(path.parent.parent) for path in paths if path.parent.name == MEMORANDA_FOLDER}
    found.checkouts = sorted(root for root in roots if os.path.isdir(root) and list_installed_hooks(root))
    found.marks = list_marks()
    found.guard = guard_path() if has_kept_versions() else ""
    # that were fetched
    models = str(user_cache_path("memoranda", appauthor=False))
    found.folders = [folder for folder in (state_folder(), models) if os.path.isdir(folder)]
    return found


def remove_installed_parts(found: Removal) -> list[str]:
    """Take back what was found; return what could not be taken back, a sentence each. What is known of a
    connection stays then, so that it can be taken back later."""
    troubles = []
    for seen in found.connections:
        # again: several may have changed one file
        plan = plan_disconnection(seen.client, seen.place)
        try:
            apply_disconnection(plan)
            troubles += plan.in_the_way
        except (EditBlocked, OSError) as error:
            troubles.append(f"{plan.client.title}: {error}")
    for root in found.checkouts:
        try:
            done = uninstall_git_hooks(root)
        except OSError as error:
            troubles.append(f"{root}: {error.strerror}.")
        else:
            troubles += [one.says for one in done if one.state == "refused"]
    if troubles:
        return troubles
    if found.guard:
        try:
            require_sealed_texts().delete()
        except Unsupported as error:
            return [f"{found.guard} cannot be deleted: {error}"]
    end_resident()
    for path in (*found.marks, *found.folders):
        try:
            shutil.rmtree(path) if path in found.folders else os.unlink(path)
        except OSError as error:
            troubles.append(f"{path} cannot be removed: {error.strerror}.")
    return troubles
