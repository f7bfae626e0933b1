"""What each event does to the memory, and the text that its agent is sent."""

from __future__ import annotations

import json
import os
import time
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from threading import Thread
from typing import Any

from store.base.citations import cite
from store.base.errors import Busy, MemorandaError, Purged
from store.base.location import checkout_root
from store.base.runtime import read_plain_file, start_detached
from store.base.vocabulary import PERSON_ORIGIN
from store.config.configuration import may_capture, user_settings_path
from store.conversations.hook_spool import append_act
from store.conversations.sessions import Sessions, end_session
from store.conversations.turns import LONGEST_TURN, NewTurn, claim_same_turn, clean_session_name, insert_turns
from store.database.database import Transaction
from store.database.tombstones import refuse_purged
from store.database.values import Verbatim, clean_text
from store.doors.agent_log import Pack, log_injection, note_agent_call, note_agent_session, note_cited_records
from store.doors.git_hooks import record_head_commit
from store.doors.hook_events import (
    EVENT_COMPACT,
    EVENT_END,
    EVENT_PROMPT,
    EVENT_START,
    EVENT_STOP,
    EVENT_TOOL,
    TASK_TOOLS,
    Caller,
    HookEvent,
    read_window_use,
    strip_fences,
    strip_prompt,
)
from store.doors.pack import (
    WARM,
    AskByMeaning,
    build_prompt_pack,
    build_start_pack,
    merge_recalled,
    recall_by_words,
    words_of,
)
from store.doors.trust import POLICY_OFF, get_write_policy
from store.embedding.vectors import Vectors
from store.memory import Memory
from store.records.workflow import (
    active_iteration_id,
    finish_iteration,
    insert_event,
    insert_iteration,
    insert_task,
)
from store.text.words import reduce_to_one_line
from store.upkeep.session_flush import flush_session

# The list of tasks that an agent keeps for itself, as the tasks of its session.
#
# Each change of the list is one step of history, so that it is undone as one. What a person changed or took away since
# stays as they left it: a list that comes again says nothing new about it.

# tool → (where its list is, what an entry calls its text); a whole list each time
LIST_TOOLS = {
    "TodoWrite": ("todos", "content"),
    "todowrite": ("todos", "content"),
    "update_plan": ("plan", "step"),
    "write_todos": ("todos", "description"),
}
# Claude Code's newer tools
SINGLE_TASK_TOOLS = ("TaskCreate", "TaskUpdate")
_STATUS_OF_CLIENT = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "done",
    "done": "done",
    "cancelled": "",
    "deleted": "",
}
# entries of a list
MAX_TASK_ENTRIES = 200
# characters of one
MAX_TASK_TEXT = 500


@dataclass(slots=True, eq=False, repr=False)
class TaskEntry:
    """One entry: its `text` (empty where only its number is given), its `status`, empty for one that goes (None where
    it stays as it is), and the client's own number for it, empty where it has none."""

    text: str
    status: str | None
    number: str = ""


def parse_task_entries(event: HookEvent) -> list[TaskEntry]:
    """Return what an event says of the list."""
    if event.tool in LIST_TOOLS:
        place, name = LIST_TOOLS[event.tool]
        listed = event.tool_input.get(place)
        found = (
            [_parse_entry(entry, name) for entry in listed[:MAX_TASK_ENTRIES]] if isinstance(listed, list) else []
        )
        return [item for item in found if item is not None]
    status = event.tool_input.get("status")
    known = _STATUS_OF_CLIENT.get(status) if isinstance(status, str) else None
    text = _clean_task_text(event.tool_input.get("subject"))
    if event.tool == "TaskCreate":
        task = event.tool_response.get("task") if isinstance(event.tool_response, dict) else None
        number = str(task.get("id", "")) if isinstance(task, dict) else ""
        return [TaskEntry(text, "pending", number[:40])] if text and number else []
    task_id = event.tool_input.get("taskId")
    return [TaskEntry(text, known, str(task_id)[:40])] if isinstance(task_id, str | int) else []


def follow_task_list(write: Transaction, event: HookEvent, listed: list[TaskEntry]) -> list[str]:
    """Bring the session's tasks to what the agent's list says, inside a transaction; return the citations of what
    changed."""
    # a list may say the same twice: "Run the tests"
    known: dict[str, list[tuple[Any, ...]]] = {}
    for number, stored, *task in write.rows(
        "SELECT a.number, a.said, a.task, t.text, t.status, t.updated_at, a.seen FROM agent_tasks AS a"
        " LEFT JOIN tasks AS t ON t.id = a.task WHERE a.session = ? ORDER BY a.task",
        (clean_text(event.session),),
    ):
        known.setdefault(number or stored, []).append(tuple(task))
    changed: list[str] = []
    for item in listed:
        old = _take_task(known.get(item.number or item.text, []), item.status)
        if old is None:
            if item.text and item.status:
                changed += _add_task(write, event, item)
        else:
            changed += _update_task(write, item, *old)
    # what is not in a whole list any more, and was not done
    if event.tool in LIST_TOOLS:
        for key, tasks in known.items():
            for task, text, status, updated, seen in tasks:
                if text is not None and status != "done":
                    changed += _update_task(write, TaskEntry("", "", key), task, text, status, updated, seen)
    if changed:
        write.reason = f"task list {' '.join(changed[:10])}"
    return changed


def _take_task(tasks: list[tuple[Any, ...]], status: str | None) -> tuple[Any, ...] | None:
    """Take the task that an entry means from tasks of equal text: a task in its state, else a task that is not
    done, else the first."""
    if not tasks:
        return None
    rank = [0 if one[2] == status else 1 if one[2] != "done" else 2 for one in tasks]
    return tasks.pop(rank.index(min(rank)))


def _add_task(write: Transaction, event: HookEvent, item: TaskEntry) -> list[str]:
    """Add a task for an entry; return its citation, none where its text was purged."""
    try:
        refuse_purged(write, item.text, again=False)
    except Purged:
        return []
    number = insert_task(write, item.text, item.status or "", active_iteration_id(write))
    write.insert(
        "agent_tasks",
        session=event.session,
        number=Verbatim(item.number),
        said=item.text,
        task=number,
        seen=write.at,
    )
    return [cite("task", number)]


def _update_task(
    write: Transaction,
    item: TaskEntry,
    task: int,
    text: Any,
    status: Any,
    updated: Any,
    seen: str,
) -> list[str]:
    """Let a task follow its entry, unless somebody else changed it since, or took it away."""
    if text is None or updated != seen:
        return []
    if item.status == "":
        write.execute("DELETE FROM tasks WHERE id = ?", (task,))
        write.execute("DELETE FROM agent_tasks WHERE task = ?", (task,))
        return [cite("task", task)]
    wanted = item.status or status
    words = item.text or text
    if (wanted, words) == (status, text):
        return []
    write.execute(
        "UPDATE tasks SET status = ?, text = ?, updated_at = ? WHERE id = ?",
        (Verbatim(wanted), words, write.at, task),
    )
    write.execute("UPDATE agent_tasks SET seen = ? WHERE task = ?", (write.at, task))
    return [cite("task", task)]


def _parse_entry(entry: object, name: str) -> TaskEntry | None:
    """Return an entry of a list; None for a value that is no entry."""
    if not isinstance(entry, dict):
        return None
    text, status = _clean_task_text(entry.get(name)), entry.get("status")
    known = _STATUS_OF_CLIENT.get(status, "pending") if isinstance(status, str) else "pending"
    return TaskEntry(text, known) if text else None


def _clean_task_text(text: object) -> str:
    """Return a task's text as it is kept: redacted and on one line, so that it is known again."""
    return clean_text(reduce_to_one_line(text))[:MAX_TASK_TEXT].strip() if isinstance(text, str) else ""


# Files in which other programs keep their state, read whenever something happens: iterations, phases, events.
#
# What such a file means is data: one table in TOML for each, ours in `state_files/`, a person's own in the folder
# `state-files` beside their configuration. Files are looked at as strangers' work: small, plain, inside the project.

OWN_TABLES_FOLDER = os.path.join(os.path.dirname(__file__), "state_files")
# beside the person's configuration
USER_TABLES_FOLDER = "state-files"
# of `meta`: what was seen of a file last
SEEN_FILE_KEY = "state_file."
# bytes of such a file
MAX_STATE_FILE_BYTES = 1_000_000
MAX_PHASES = 200  # phases
ALFRED_STATE_FILE = ".claude/alfred-dev-state.json"


def follow_state_files(memory: Memory, project: str, actor: str) -> int | None:
    """Take in what every file of state that is known says, if it says anything new; the iteration it is about, of the
    last one that did."""
    found: int | None = None
    for table in load_state_tables(project):
        # a table that is not one
        with suppress(KeyError, TypeError, ValueError, AttributeError):
            found = capture_state_file(memory, project, table, actor) or found
    return found


def load_state_tables(project: str) -> list[dict[str, Any]]:
    """Return the tables of the files that may be there: cheap where none is."""
    paths = []
    if os.path.lexists(os.path.join(project, ALFRED_STATE_FILE)):
        paths.append(os.path.join(OWN_TABLES_FOLDER, "alfred-dev.toml"))
    folder = os.path.join(os.path.dirname(user_settings_path()), USER_TABLES_FOLDER)
    with suppress(OSError):
        paths += sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".toml"))
    found = []
    for path in paths:
        with suppress(OSError, ValueError), open(path, "rb") as file:
            found.append(tomllib.load(file))
    return found


def capture_state_file(memory: Memory, project: str, table: dict[str, Any], actor: str) -> int | None:
    """Take in what one file of state says, as its `table` maps it; the iteration, None if there was nothing new.

    A piece of work has one iteration, known by the file's entry in `meta`. Each phase is an event once; when the work
    is over the iteration is completed. One that has ended, whoever ended it, is not opened again.
    """
    if not may_capture(memory.config, "events"):
        return None
    path = os.path.join(project, str(table["file"]))
    inside = os.path.realpath(path).startswith(os.path.join(os.path.realpath(project), ""))
    raw = read_plain_file(path, MAX_STATE_FILE_BYTES + 1) if inside else b""
    if not raw or len(raw) > MAX_STATE_FILE_BYTES:
        return None
    meta, digest = SEEN_FILE_KEY + sha256(str(table["file"]).encode()).hexdigest()[:16], sha256(raw).hexdigest()
    seen = _parse_seen(memory.database.get_meta(meta))
    if seen["digest"] == digest:
        return None
    try:
        state = json.loads(raw)
    except (ValueError, RecursionError):
        # half written, perhaps
        return None
    if not isinstance(state, dict) or not all(isinstance(state.get(name), str) for name in table["needs"]):
        return None
    mapping = table["iteration"]
    identity = sha256(json.dumps([state.get(name) for name in mapping["known_by"]]).encode()).hexdigest()
    over = state.get(mapping["state"]) == mapping["completed"]
    with memory.database.write(actor, "state file") as write:
        number = _find_or_start_iteration(write, table, state, identity, seen)
        if number is not None:
            seen["of"] = {**dict(list(seen["of"].items())[-20:]), identity: number}
            phases = _log_phases(write, table, state, number)
            if over:
                _complete_iteration(write, table, state, number, phases)
        write.set_meta(meta, json.dumps({"digest": digest, "of": seen["of"]}))
    return number


def _find_or_start_iteration(
    write: Transaction, table: dict[str, Any], state: dict[str, Any], identity: str, seen: dict[str, Any]
) -> int | None:
    """Return the iteration of a piece of work: the one that it had before, None if that has ended; else one of the same
    work that a person began, or a new one."""
    mapping, before = table["iteration"], json.dumps(list(seen["of"].values()))
    if (number := seen["of"].get(identity)) is not None:
        status = write.first("SELECT status FROM iterations WHERE id = ?", (number,))
        return int(number) if status == "active" else None
    # the file holds other work now: what it opened before was left
    write.execute(
        "UPDATE iterations SET status = 'abandoned', completed_at = ?"
        " WHERE status = 'active' AND origin <> ?"
        " AND id IN (SELECT value FROM json_each(?))",
        (write.at, PERSON_ORIGIN, Verbatim(before)),
    )
    command = _text_or_empty(state.get(mapping["command"])).strip() or "feature"
    about = _text_or_empty(state.get(mapping["description"])).strip()
    for number, *theirs in write.rows(
        "SELECT id, command, description FROM iterations WHERE status = 'active' AND origin IN (?, ?)",
        # what an earlier version opened for a file is not in its entry
        (PERSON_ORIGIN, write.actor if seen["older"] else PERSON_ORIGIN),
    ):
        if _is_same_work((command, about), theirs):
            return int(number)
    number = insert_iteration(write, command, about)
    insert_event(write, number, table["started"]["event"], "", _map_payload(table["started"]["payload"], state))
    return number


def _is_same_work(one: Sequence[str], other: Sequence[str]) -> bool:
    """Tell whether two (command, description) are evidently the same work: one kind, and no description or half of its
    longer words."""
    mine, theirs = ({word for word in text.casefold().split() if len(word) > 3} for _, text in (one, other))
    alike = not mine or not theirs or 2 * len(mine & theirs) >= min(len(mine), len(theirs))
    return alike and one[0].casefold() == other[0].casefold()


def _log_phases(write: Transaction, table: dict[str, Any], state: dict[str, Any], number: int) -> list[object]:
    """Log each phase the first time that it is in the file; return all of them."""
    mapping = table["phase"]
    listed = state.get(mapping["list"])
    phases = (
        [one for one in listed if isinstance(one, dict | str)][:MAX_PHASES] if isinstance(listed, list) else []
    )
    known = set(
        write.column(
            "SELECT phase FROM events WHERE iteration_id = ? AND event_type = ?", (number, mapping["event"])
        )
    )
    for one in phases:
        phase = one if isinstance(one, dict) else {mapping["name"]: one}
        name = _text_or_empty(phase.get(mapping["name"])).strip()
        if name and name not in known:
            insert_event(write, number, mapping["event"], name, _map_payload(mapping["payload"], phase))
            known.add(name)
    return list(phases)


def _complete_iteration(
    write: Transaction, table: dict[str, Any], state: dict[str, Any], number: int, phases: list[object]
) -> None:
    """Complete an iteration: its phases, its artifacts, and the event that says so."""
    artifacts = state.get(table["iteration"]["artifacts"])
    finish_iteration(write, number, "completed", phases, artifacts if isinstance(artifacts, list) else [])
    payload = _map_payload(table["over"]["payload"], state) | {table["over"]["count"]: len(phases)}
    insert_event(write, number, table["over"]["event"], "", payload)


def _map_payload(names: dict[str, str], values: dict[str, Any]) -> dict[str, Any]:
    """Return the payload of an event: the values that the table maps, by their names in it."""
    return {name: values[of] for name, of in names.items() if values.get(of) is not None}


def _text_or_empty(value: object) -> str:
    """Return a value if it is a text, else an empty text."""
    return value if isinstance(value, str) else ""


def _parse_seen(value: str) -> dict[str, Any]:
    """Return what was seen of a file last, from its entry in `meta`: its `digest`, and `of` each piece of work the
    number of its iteration, 0 for one that ended in an `older` version's entry."""
    try:
        found = json.loads(value or "{}")
    except ValueError:
        found = {}
    found = found if isinstance(found, dict) else {}
    of = dict.fromkeys(found.get("done", ()), 0) | found.get("of", {})
    return {"digest": found.get("digest"), "of": of, "older": bool(found) and "of" not in found}


# per cent of its window from which Gemini may really compact: it reports a compaction before every request
MIN_COMPACT_USE = 45
# of learning, before a compaction
COMPACT_LEARN_SECONDS = 0.5


def handle_event(memory: Memory, event: HookEvent, caller: Caller, ask: AskByMeaning | None = None) -> str:
    """Do what an event asks for; return the text that is to be put into the agent's context, empty for none.
    `ask` is where the resident answers what is relevant to a prompt."""
    started = time.perf_counter()
    if event.kind == EVENT_START:
        text = _handle_start(memory, event, caller, started, ask)
    elif event.kind == EVENT_PROMPT:
        text = _handle_prompt(memory, event, caller, started, ask)
    else:
        text = ""
        {
            EVENT_TOOL: _handle_tool,
            EVENT_COMPACT: _handle_compact,
            EVENT_STOP: _handle_stop,
            EVENT_END: _handle_end,
        }[event.kind](memory, event, caller, started)
    _follow_state_files(memory, event)
    return text


def _handle_start(
    memory: Memory, event: HookEvent, caller: Caller, started: float, ask: AskByMeaning | None
) -> str:
    """Begin a session, or go on with it; return what an agent should know of the memory."""
    if event.inner:
        return ""
    made = build_start_pack(memory, event.client, event.session, source=event.source or "startup")
    try:
        with memory.database.write(_actor_of(event), "session start", event.key) as write:
            if write.earlier_answer is not None:
                return ""
            note_agent_session(write, event.session, event.client, event.model)
            Sessions(memory.database).start_session(write, event.session, event.cwd)
            kept = log_injection(write, event.client, event.session, made) if made.text else 0
            _note_event(write, event, started, made.tokens, reads=made.citations)
            write.store_answer(kept)
    except Busy:
        return ""
    start_background(memory, event, caller)
    if ask is not None and memory.config["agents.recall"] and Vectors(memory.database).serving:
        # nobody waits for this one: it loads the model before the first prompt
        ask(memory.location, WARM)
    return made.text


def _handle_prompt(
    memory: Memory, event: HookEvent, caller: Caller, started: float, ask: AskByMeaning | None
) -> str:
    """Keep what the person says as a turn, at once; add the relevant records."""
    text = strip_prompt(event.client, event.text)
    if event.inner or not text:
        return ""
    made = _recall_pack(memory, event, text, ask)
    try:
        with memory.database.write(_actor_of(event), "turns", event.key) as write:
            if write.earlier_answer is not None:
                return ""
            note_agent_session(write, event.session, event.client, event.model)
            turn = _keep_turn(write, event, "user", text)
            if made is not None and made.text:
                log_injection(write, event.client, event.session, made)
            _note_event(
                write,
                event,
                started,
                made.tokens if made else 0,
                reads=made.citations if made else (),
                writes=[f"T#{turn}"] if turn else (),
            )
            write.store_answer(turn)
    except Busy:
        _spool_turn(memory, event, "user", text)
        return ""
    _follow_window(memory, event, caller)
    return made.text if made else ""


def _handle_stop(memory: Memory, event: HookEvent, caller: Caller, started: float) -> None:
    """Keep the reply, and which of the records that were sent it used; the rest is done in a process of its own."""
    text = strip_fences(event.text)
    if event.inner:
        return
    try:
        with memory.database.write(_actor_of(event), "turns", event.key) as write:
            if write.earlier_answer is not None:
                return
            note_agent_session(write, event.session, event.client, event.model)
            turn = _keep_turn(write, event, "assistant", text) if text else 0
            if text:
                note_cited_records(write, event.session, text)
            _note_event(write, event, started, writes=[f"T#{turn}"] if turn else ())
            write.store_answer(turn)
    except Busy:
        if text:
            _spool_turn(memory, event, "assistant", text)
    _follow_window(memory, event, caller)
    start_background(memory, event, caller)


def _handle_tool(memory: Memory, event: HookEvent, caller: Caller, started: float) -> None:
    """Keep a commit that was made, and what the agent's own list of tasks says."""
    if event.tool in TASK_TOOLS and not event.inner:
        _follow_task_tool(memory, event, started)
    elif "git" in event.shell_command and "commit" in event.shell_command:
        root = checkout_root(event.cwd or caller.folder)
        before = memory.database.last_step
        made = record_head_commit(memory, root, _actor_of(event)) if root else ""
        if made:
            step = memory.database.last_step if memory.database.last_step != before else None
            with memory.database.write(_actor_of(event), "call", event.key) as write:
                if write.earlier_answer is None:
                    _note_event(write, event, started, writes=[made], step=step)
                    write.store_answer()
    if not event.inner:
        _follow_window(memory, event, caller)


def _handle_compact(memory: Memory, event: HookEvent, caller: Caller, started: float) -> None:
    """Make safe what the session holds before its context is cut."""
    if event.inner:
        return
    if event.client == "gemini":
        tokens, window = _read_window(memory, event)
        if not window or tokens * 100 < window * MIN_COMPACT_USE:
            return
    try:
        session = Sessions(memory.database).get(event.session)
        if session.flushed < session.turns:
            flush_session(memory, event.session, COMPACT_LEARN_SECONDS)
    except MemorandaError:
        # nothing was said yet, or another process writes: its turns are kept all the same
        return
    with memory.database.write(_actor_of(event), "call", event.key) as write:
        if write.earlier_answer is None:
            _note_event(write, event, started)
            write.store_answer()


def _handle_end(memory: Memory, event: HookEvent, caller: Caller, started: float) -> None:
    """Mark the end of a session; its snapshot is made in a process of its own, for which the client does not wait."""
    if event.inner:
        return
    with memory.database.write(_actor_of(event), "session end", event.key) as write:
        if write.earlier_answer is not None:
            return
        end_session(write, event.session)
        _note_event(write, event, started)
        write.store_answer()
    start_background(memory, event, caller)


# parts


def start_background(memory: Memory, event: HookEvent, caller: Caller) -> None:
    """Have a process of its own do what is due after an event (`hook_background`), with the variables of whoever
    reports."""
    words = (memory.database.path, event.kind, event.session, str(event.tokens), str(event.window))
    child = start_detached(caller.variables, "store.doors.hook_background", *words)
    # where this process goes on, somebody has to hear that the child ended
    if child:
        Thread(target=os.waitpid, args=(child, 0), daemon=True).start()


def _actor_of(event: HookEvent) -> str:
    """Return the actor of the changes that an event makes."""
    return f"hook:{event.client}"


def _note_event(
    write: Transaction,
    event: HookEvent,
    started: float,
    tokens: int = 0,
    reads: Sequence[str] = (),
    writes: Sequence[str] = (),
    step: int | None = None,
) -> None:
    """Note an event as a call of its agent, inside a transaction."""
    note_agent_call(
        write,
        client=event.client,
        session=event.session,
        door="hook",
        name=event.tool or event.name,
        milliseconds=round((time.perf_counter() - started) * 1000, 1),
        tokens=tokens,
        reads=reads,
        writes=writes,
        step=step,
    )


def _recall_pack(memory: Memory, event: HookEvent, text: str, ask: AskByMeaning | None) -> Pack | None:
    """Return a pack of the records relevant to a prompt; None if there are none, or the person turned it off."""
    if not memory.config["agents.recall"]:
        return None
    try:
        sought = words_of(text)
        answer = ask(memory.location, sought) if ask is not None and Vectors(memory.database).serving else None
        # while the other thread looks by meaning
        found = recall_by_words(memory, sought)
        found = merge_recalled((answer() if answer is not None else None) or {}, found)
        return build_prompt_pack(memory, event.client, event.session, text, found=found) if found else None
    except MemorandaError:
        return None


def _keep_turn(write: Transaction, event: HookEvent, role: str, text: str) -> int:
    """Put a turn at the end of the session, inside a transaction; return its id, or that of the same turn of the
    transcript if it was read first."""
    session = clean_session_name(event.session)
    text = text[:LONGEST_TURN]
    if known := claim_same_turn(write, session, role, text, write.at, of_hook=False):
        return known
    return insert_turns(write, session, [NewTurn(role, text, at=write.at)], cwd=event.cwd)[0]


def _spool_turn(memory: Memory, event: HookEvent, role: str, text: str) -> None:
    """Put a turn into the spool while another process writes."""
    turn = {"role": role, "text": text, "at": memory.now}
    append_act(
        memory.database.path,
        "turns",
        {"session": event.session, "turns": [turn]},
        actor=_actor_of(event),
        key=event.key,
    )


def _follow_task_tool(memory: Memory, event: HookEvent, started: float) -> None:
    """Bring the tasks of a session to what the agent's own list says."""
    listed = parse_task_entries(event)
    if not listed and event.tool not in LIST_TOOLS:
        return
    if get_write_policy(memory.config, event.client) == POLICY_OFF:
        return
    with memory.database.write(_actor_of(event), "task list", event.key) as write:
        if write.earlier_answer is not None:
            return
        changed = follow_task_list(write, event, listed)
        if not changed:
            write.discard()
            return
        _note_event(write, event, started, writes=changed)
        write.store_answer()


def _read_window(memory: Memory, event: HookEvent) -> tuple[int, int]:
    """Return (tokens in use, of how many), 0 in use where unknown."""
    tokens, window = (event.tokens, 0) if event.tokens else read_window_use(event.client, event.transcript)
    return tokens, window or event.window or memory.config["context.window"]


def _follow_window(memory: Memory, event: HookEvent, caller: Caller) -> None:
    """Take the checkpoint that the use of the context window has made due, and flush before it is full."""
    if not memory.config["checkpoints.automatic"]:
        return
    event.tokens, event.window = _read_window(memory, event)
    if not event.tokens or not event.window:
        return
    try:
        memory.checkpoints.record_usage(
            event.tokens, session=event.session, window=event.window, actor=_actor_of(event)
        )
    except Busy:
        # the next event reports it again
        return
    room = memory.config["flush.tokens"]
    if room and event.tokens >= event.window - room and event.kind != EVENT_STOP:
        start_background(memory, event, caller)


def _follow_state_files(memory: Memory, event: HookEvent) -> None:
    """Look whether a program's file of state says something new: any program may have written it since."""
    project = memory.location.project
    if not project:
        return
    try:
        follow_state_files(memory, project, _actor_of(event))
    except Busy:
        # it is still another one than was seen last: the next event reads it
        return
