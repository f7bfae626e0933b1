"""Files in which other programs keep their state, read whenever something happens: iterations, phases, events.

What such a file means is data: one table in TOML for each, ours in `state_files/`, a person's own in the folder
`state-files` beside their configuration. Files are looked at as strangers' work: small, plain, inside the project.
"""

import json
import os
import stat
from hashlib import sha256

from store.config.configuration import captures
from store.config.files import user_path
from store.database.database import Transaction
from store.database.values import Json, Verbatim
from store.memory import Memory
from store.records.timeline.iterations import active

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OURS = os.path.join(os.path.dirname(__file__), "state_files")
THEIRS = "state-files"  # beside the person's configuration
KEY = "state_file."  # of `meta`: what was seen of a file last
LARGEST = 1_000_000  # bytes of such a file
MOST = 200  # phases
ALFRED = ".claude/alfred-dev-state.json"


def follow(memory: Memory, project: str, actor: str) -> int | None:
    """Take in what every file of state that is known says, if it says anything new; the iteration it is about, of the
    last one that did."""
    found: int | None = None
    for table in tables(project):
        try:
            found = capture(memory, project, table, actor) or found
        except (KeyError, TypeError, ValueError, AttributeError):
            continue  # a table that is not one
    return found


def tables(project: str) -> "list[dict[str, Any]]":
    """Return the tables of the files that may be there: cheap where none is."""
    paths = []
    if os.path.lexists(os.path.join(project, ALFRED)):
        paths.append(os.path.join(OURS, "alfred-dev.toml"))
    folder = os.path.join(os.path.dirname(user_path()), THEIRS)
    try:
        paths += sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".toml"))
    except OSError:
        pass
    if not paths:
        return []
    import tomllib

    found = []
    for path in paths:
        try:
            with open(path, "rb") as file:
                found.append(tomllib.load(file))
        except (OSError, ValueError):
            continue
    return found


def capture(memory: Memory, project: str, table: "dict[str, Any]", actor: str) -> int | None:
    """Take in what one file of state says, as its `table` maps it; the iteration, None if there was nothing new.

    With no iteration active one is started; each phase is an event once; when the work is over the iteration is
    completed. Work that was completed and is still listed opens none again.
    """
    if not captures(memory.config, "events"):
        return None
    raw = _raw(project, str(table["file"]))
    if raw is None:
        return None
    meta, digest = KEY + sha256(str(table["file"]).encode()).hexdigest()[:16], sha256(raw).hexdigest()
    seen = _seen(memory.database.value("SELECT value FROM meta WHERE key = ?", (meta,)))
    if seen.get("digest") == digest:
        return None
    try:
        state = json.loads(raw)
    except (ValueError, RecursionError):
        return None  # half written, perhaps
    if not isinstance(state, dict) or not all(isinstance(state.get(name), str) for name in table["needs"]):
        return None
    mapping = table["iteration"]
    identity = sha256(json.dumps([state.get(name) for name in mapping["known_by"]]).encode()).hexdigest()
    over = state.get(mapping["state"]) == mapping["completed"]
    with memory.database.write(actor, "state file") as write:
        number = None
        if not (over and identity in seen.get("done", ())):
            number = _iteration(write, table, state)
            phases = _phases(write, table, state, number)
            if over:
                _complete(write, table, state, number, phases)
        done = [*seen.get("done", ())[-20:], *([identity] if over and number else [])]
        write.execute(
            "INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
            (Verbatim(meta), Verbatim(json.dumps({"digest": digest, "done": done}))),
        )
    return number


def _iteration(write: Transaction, table: "dict[str, Any]", state: "dict[str, Any]") -> int:
    """Return the iteration that is active; start one if there is none."""
    number = active(write)
    if number is not None:
        return number
    mapping = table["iteration"]
    number = write.insert(
        "iterations",
        command=_text(state.get(mapping["command"])).strip() or "feature",
        description=_text(state.get(mapping["description"])).strip(),
        started_at=Verbatim(write.at),
        origin=write.actor,
    )
    _log(write, number, table["started"]["event"], "", _payload(table["started"]["payload"], state))
    return number


def _phases(write: Transaction, table: "dict[str, Any]", state: "dict[str, Any]", number: int) -> list[object]:
    """Log each phase the first time that it is in the file; return all of them."""
    mapping = table["phase"]
    listed = state.get(mapping["list"])
    phases = [one for one in listed if isinstance(one, dict | str)][:MOST] if isinstance(listed, list) else []
    known = {
        phase
        for (phase,) in write.rows(
            "SELECT phase FROM events WHERE iteration_id = ? AND event_type = ?", (number, mapping["event"])
        )
    }
    for one in phases:
        phase = one if isinstance(one, dict) else {mapping["name"]: one}
        name = _text(phase.get(mapping["name"])).strip()
        if name and name not in known:
            _log(write, number, mapping["event"], name, _payload(mapping["payload"], phase))
            known.add(name)
    return list(phases)


def _complete(
    write: Transaction, table: "dict[str, Any]", state: "dict[str, Any]", number: int, phases: list[object]
) -> None:
    artifacts = state.get(table["iteration"]["artifacts"])
    write.execute(
        "UPDATE iterations SET status = ?, completed_at = ?, phases_completed = ?, artifacts = ? WHERE id = ?",
        (
            Verbatim("completed"),
            Verbatim(write.at),
            Json(phases),
            Json(artifacts if isinstance(artifacts, list) else []),
            number,
        ),
    )
    payload = _payload(table["over"]["payload"], state) | {table["over"]["count"]: len(phases)}
    _log(write, number, table["over"]["event"], "", payload)


def _log(write: Transaction, number: int, event: str, phase: str, payload: object) -> None:
    write.insert(
        "events",
        iteration_id=number,
        event_type=event,
        phase=phase,
        payload=Json(payload),
        created_at=Verbatim(write.at),
        origin=write.actor,
    )


def _payload(names: "dict[str, str]", values: "dict[str, Any]") -> "dict[str, Any]":
    return {name: values[of] for name, of in names.items() if values.get(of) is not None}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _seen(value: str | None) -> "dict[str, Any]":
    try:
        found = json.loads(value or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _raw(project: str, name: str) -> bytes | None:
    """Return the bytes of a plain, small file inside the project's folder; None for any other."""
    path = os.path.join(project, name)
    base = os.path.join(os.path.realpath(project), "")
    if not os.path.realpath(path).startswith(base):
        return None
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            return None
        return os.read(handle, LARGEST + 1)
    except OSError:
        return None
    finally:
        os.close(handle)
