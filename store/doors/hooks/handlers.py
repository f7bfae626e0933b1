"""What each event does to the memory, and the text that its agent is sent."""

import os
import sys
import time
from collections.abc import Sequence
from threading import Thread
from typing import Any

from store.base.errors import Busy, MemorandaError
from store.base.location import checkout_root
from store.conversations import hook_spool, same_turn
from store.conversations.sessions import end
from store.conversations.turns import NewTurn, named, put
from store.database.database import Transaction
from store.doors import commit_record, state_file
from store.doors.hooks import own_words, task_list, window_use
from store.doors.hooks.events import COMPACT, END, PROMPT, START, STOP, TASK_TOOLS, TOOL, Caller, HookEvent
from store.doors.session import calls, injections, pack
from store.doors.session.pack import Pack
from store.doors.session.recall import WARM, AskByMeaning, by_words, merged, words_of
from store.doors.trust import OFF, policy
from store.embedding.vectors import Vectors
from store.memory import Memory

# per cent of its window from which Gemini may really compact: it reports a compaction before every request
COMPACT_USE = 45
FLUSH_SECONDS = 0.5  # of learning, before a compaction


def handle(memory: Memory, event: HookEvent, caller: Caller, ask: AskByMeaning | None = None) -> str:
    """Do what an event asks for; the text that is to be put into the agent's context, empty for none. `ask` finds what
    is relevant to a prompt by its meaning."""
    started = time.perf_counter()
    if event.kind == START:
        text = _start(memory, event, caller, started, ask)
    elif event.kind == PROMPT:
        text = _prompt(memory, event, caller, started, ask)
    else:
        text = ""
        {TOOL: _tool, COMPACT: _compact, STOP: _stop, END: _end}[event.kind](memory, event, caller, started)
    _follow_state_files(memory, event)
    return text


def _start(memory: Memory, event: HookEvent, caller: Caller, started: float, ask: AskByMeaning | None) -> str:
    """Begin a session, or go on with it: what an agent should know of the memory."""
    if event.inner:
        return ""
    made = pack.start_pack(memory, event.client, event.session, source=event.source or "startup")
    try:
        with memory.database.write(_actor(event), "session start", event.key) as write:
            if write.answer is not None:
                return ""
            _note_session(write, event)
            memory.sessions.start(write, event.session, event.cwd)
            kept = injections.keep(write, **_injection(event, made)) if made.text else 0
            _note(write, event, started, made.tokens, reads=made.citations)
            write.answered(kept)
    except Busy:
        return ""
    start_background(memory, event, caller)
    if ask is not None and memory.config["agents.recall"] and Vectors(memory.database).serving:
        ask(memory.location, WARM)  # nobody waits for this one: it loads the model before the first prompt
    return made.text


def _prompt(memory: Memory, event: HookEvent, caller: Caller, started: float, ask: AskByMeaning | None) -> str:
    """Keep what the person says as a turn, at once; add the relevant records."""
    text = own_words.of_prompt(event.client, event.text)
    if event.inner or not text:
        return ""
    made = _recall(memory, event, text, ask)
    try:
        with memory.database.write(_actor(event), "turns", event.key) as write:
            if write.answer is not None:
                return ""
            _note_session(write, event)
            turn = _keep_turn(write, event, "user", text)
            if made is not None and made.text:
                injections.keep(write, **_injection(event, made))
            _note(
                write,
                event,
                started,
                made.tokens if made else 0,
                reads=made.citations if made else (),
                writes=[f"T#{turn}"] if turn else (),
            )
            write.answered(turn)
    except Busy:
        _spool(memory, event, "user", text)
        return ""
    _follow_window(memory, event, caller)
    return made.text if made else ""


def _stop(memory: Memory, event: HookEvent, caller: Caller, started: float) -> None:
    """Keep the reply, and which of the records that were sent it used; the rest is done in a process of its own."""
    text = own_words.of_anybody(event.text)
    if event.inner:
        return
    try:
        with memory.database.write(_actor(event), "turns", event.key) as write:
            if write.answer is not None:
                return
            _note_session(write, event)
            turn = _keep_turn(write, event, "assistant", text) if text else 0
            if text:
                injections.note_reply(write, event.session, text)
            _note(write, event, started, writes=[f"T#{turn}"] if turn else ())
            write.answered(turn)
    except Busy:
        if text:
            _spool(memory, event, "assistant", text)
    _follow_window(memory, event, caller)
    start_background(memory, event, caller)


def _tool(memory: Memory, event: HookEvent, caller: Caller, started: float) -> None:
    """Keep a commit that was made, and what the agent's own list of tasks says."""
    if event.tool in TASK_TOOLS and not event.inner:
        _follow_tasks(memory, event, started)
    elif "git" in event.shell and "commit" in event.shell:
        root = checkout_root(event.cwd or caller.folder)
        before = memory.database.last_step
        made = commit_record.record_head(memory, root, _actor(event)) if root else ""
        if made:
            step = memory.database.last_step if memory.database.last_step != before else None
            with memory.database.write(_actor(event), "call", event.key) as write:
                if write.answer is None:
                    _note(write, event, started, writes=[made], step=step)
                    write.answered()
    if not event.inner:
        _follow_window(memory, event, caller)


def _compact(memory: Memory, event: HookEvent, caller: Caller, started: float) -> None:
    """Make safe what the session holds before its context is cut."""
    from store.services import session_flush  # a third of all that is imported here, for one event of many

    if event.inner:
        return
    if event.client == "gemini":
        tokens, window = _window(memory, event)
        if not window or tokens * 100 < window * COMPACT_USE:
            return
    try:
        if memory.sessions.get(event.session).flushed < memory.sessions.get(event.session).turns:
            session_flush.flush(memory, event.session, FLUSH_SECONDS)
    except MemorandaError:
        return  # nothing was said yet, or another process writes: its turns are kept all the same
    with memory.database.write(_actor(event), "call", event.key) as write:
        if write.answer is None:
            _note(write, event, started)
            write.answered()


def _end(memory: Memory, event: HookEvent, caller: Caller, started: float) -> None:
    """Mark the end of a session; its snapshot is made in a process of its own, for which the client does not wait."""
    if event.inner:
        return
    with memory.database.write(_actor(event), "session end", event.key) as write:
        if write.answer is not None:
            return
        end(write, event.session)
        _note(write, event, started)
        write.answered()
    start_background(memory, event, caller)


# parts


def start_background(memory: Memory, event: HookEvent, caller: Caller) -> None:
    """Have a process of its own do what is due after an event (`background`), with the variables of whoever reports."""
    words = [sys.executable, "-P", "-m", "store.doors.hooks.background"]
    words += [memory.database.path, event.kind, event.session, str(event.tokens), str(event.window)]
    nothing = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in (0, 1, 2)]
    try:
        child = os.posix_spawn(
            sys.executable, words, caller.variables, file_actions=nothing, setsid=sys.platform == "linux"
        )
    except (OSError, ValueError):
        return  # too many processes: the next event starts one, or the application does it
    # where this process goes on, somebody has to hear that the child ended
    Thread(target=os.waitpid, args=(child, 0), daemon=True).start()


def _actor(event: HookEvent) -> str:
    return f"hook:{event.client}"


def _note(
    write: Transaction,
    event: HookEvent,
    started: float,
    tokens: int = 0,
    reads: Sequence[str] = (),
    writes: Sequence[str] = (),
    step: int | None = None,
) -> None:
    calls.note(
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


def _note_session(write: Transaction, event: HookEvent) -> None:
    calls.note_session(write, event.session, event.client, event.model)


def _injection(event: HookEvent, made: Pack) -> dict[str, Any]:
    return {
        "client": event.client,
        "session": event.session,
        "event": made.event,
        "question": made.question,
        "text": made.text,
        "tokens": made.tokens,
        "why": {line.citation: line.why for line in made.lines},
    }


def _recall(memory: Memory, event: HookEvent, text: str, ask: AskByMeaning | None) -> Pack | None:
    if not memory.config["agents.recall"]:
        return None
    try:
        sought = words_of(text)
        answer = ask(memory.location, sought) if ask is not None and Vectors(memory.database).serving else None
        found = by_words(memory, sought)  # while the other thread looks by meaning
        found = merged((answer() if answer is not None else None) or {}, found)
        return pack.prompt_pack(memory, event.client, event.session, text, found=found) if found else None
    except MemorandaError:
        return None


def _keep_turn(write: Transaction, event: HookEvent, role: str, text: str) -> int:
    """Put a turn at the end of the session, inside a transaction; return its id, or that of the same turn of the
    transcript if it was read first."""
    session = named(event.session)
    text = text[: same_turn.LONGEST]
    if known := same_turn.claim(write, session, role, text, write.at, of_hook=False):
        return known
    return put(write, session, [NewTurn(role, text, at=write.at)], cwd=event.cwd)[0]


def _spool(memory: Memory, event: HookEvent, role: str, text: str) -> None:
    turn = {"role": role, "text": text, "at": memory.now}
    hook_spool.append(
        memory.database.path,
        "turns",
        {"session": event.session, "turns": [turn]},
        actor=_actor(event),
        key=event.key,
    )


def _follow_tasks(memory: Memory, event: HookEvent, started: float) -> None:
    listed = task_list.items(event)
    if not listed and event.tool not in task_list.LISTS:
        return
    if policy(memory.config, event.client) == OFF:
        return
    with memory.database.write(_actor(event), "task list", event.key) as write:
        if write.answer is not None:
            return
        changed = task_list.follow(write, event, listed)
        if not changed:
            write.discard()
            return
        _note(write, event, started, writes=changed)
        write.answered()


def _window(memory: Memory, event: HookEvent) -> tuple[int, int]:
    """Return (tokens in use, of how many), 0 in use where unknown."""
    tokens, window = (event.tokens, 0) if event.tokens else window_use.used(event.client, event.transcript)
    return tokens, window or event.window or memory.config["context.window"]


def _follow_window(memory: Memory, event: HookEvent, caller: Caller) -> None:
    """Take the checkpoint that the use of the context window has made due, and flush before it is full."""
    if not memory.config["checkpoints.automatic"]:
        return
    event.tokens, event.window = _window(memory, event)
    if not event.tokens or not event.window:
        return
    try:
        memory.checkpoints.usage(event.tokens, session=event.session, window=event.window, actor=_actor(event))
    except Busy:
        return  # the next event reports it again
    room = memory.config["flush.tokens"]
    if room and event.tokens >= event.window - room and event.kind != STOP:
        start_background(memory, event, caller)


def _follow_state_files(memory: Memory, event: HookEvent) -> None:
    """Look whether a program's file of state says something new: any program may have written it since."""
    project = memory.location.project
    if not project:
        return
    try:
        state_file.follow(memory, project, _actor(event))
    except Busy:
        return  # it is still another one than was seen last: the next event reads it
