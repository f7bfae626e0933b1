"""One client's connection to a memory: opens the file when it is first needed, answers calls on one thread, and notes
each of them. Every error becomes an answer that says what is wrong and what to do."""

import logging
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from store.base import token_count
from store.base.clock import Clock, local_time, utc_now
from store.base.errors import Defect, MemorandaError, NotFound
from store.base.file_stamp import file_stamp
from store.base.location import Location
from store.config.files import project_path, user_path
from store.doors.mcp import reading, writing
from store.doors.mcp.answers import ToolAnswer
from store.doors.mcp.arguments import checked
from store.doors.mcp.caller import Caller, caller_of
from store.doors.mcp.schemas import BY_NAME
from store.doors.pause import paused_until
from store.doors.session import calls
from store.doors.trust import denied
from store.memory import Memory

Tool = Callable[[Memory, Caller, dict[str, Any]], ToolAnswer]
TOOLS: dict[str, Tool] = {
    "memory_search": reading.search,
    "memory_get": reading.get,
    "memory_context": reading.context,
    "memory_facts": reading.facts,
    "memory_remember": writing.remember,
    "memory_confirm": writing.confirm,
    "memory_log_decision": writing.log_decision,
    "memory_log_commit": writing.log_commit,
    "memory_get_iteration": reading.iteration,
    "memory_get_timeline": reading.timeline,
    "memory_stats": reading.stats,
}
WRITES = tuple(name for name, tool in BY_NAME.items() if not tool["annotations"]["readOnlyHint"])
EMPTY: dict[str, dict[str, Any]] = {  # what a tool gives where the person's rules let a session see nothing
    "memory_search": {"results": [], "total": 0, "signals": []},
    "memory_get": {"text": "", "total": 0},
    "memory_context": {"pack": "", "tokens": 0, "citations": []},
    "memory_facts": {"facts": [], "total": 0},
    "memory_get_iteration": {"iteration": None, "decisions": [], "total_decisions": 0},
    "memory_get_timeline": {"events": [], "total": 0},
    "memory_stats": {},
}
NOTHING = "Nothing found in memory."
UNNOTED_SECONDS = 1.0  # that calls which follow each other without a pause may wait to be noted
_log = logging.getLogger("memoranda")


class McpSession:
    """Answers the calls of one connection, all on one thread. `session` is the key that the person gave to the server,
    empty if none."""

    def __init__(self, location: Location, session: str = "", clock: Clock = utc_now) -> None:
        self._location = location
        self._given = session
        self._clock = clock
        self._made_up = f"mcp-{clock()[:19].replace(':', '')}-{os.getpid()}"
        self._memory: Memory | None = None
        self._settings: tuple[object, ...] = ()
        self._notes: list[tuple[Caller, dict[str, Any]]] = []  # calls that are still to be noted
        self._first = 0.0  # when the first of them came
        self.interrupt: Callable[[], None] = lambda: None  # stops what is being read, from another thread

    def call(self, name: str, arguments: object, meta: Mapping[str, Any] | None, client: object) -> ToolAnswer:
        """Answer one call of a tool; never raises for what a client did. Raise KeyError for a tool that there is
        not."""
        tool = BY_NAME[name]
        return self._answer(name, meta, client, lambda memory, who: self._run(memory, who, tool, arguments))

    def read(self, uri: str, meta: Mapping[str, Any] | None, client: object) -> ToolAnswer:
        """Answer one reading of a resource; as `call`."""

        def run(memory: Memory, who: Caller) -> ToolAnswer:
            if denied(memory.config, who.client, who.session):
                return ToolAnswer({}, NOTHING)
            return reading.resource(memory, who, uri)

        return self._answer("resources/read", meta, client, run)

    def recover(self, arguments: dict[str, str] | None, meta: Mapping[str, Any] | None, client: object) -> ToolAnswer:
        """Return the text of the prompt that gives what a session needs; as `call`."""

        def run(memory: Memory, who: Caller) -> ToolAnswer:
            return ToolAnswer({}, reading.recovery_prompt(memory, who, arguments))

        return self._answer("prompts/get", meta, client, run)

    def flush(self) -> None:
        """Note the calls that were answered since the last time, in one transaction. What keeps them from being noted
        is logged, and nothing else."""
        notes, self._notes = self._notes, []
        if not notes or self._memory is None or self._memory.database.read_only:
            return
        try:
            with self._memory.database.write(notes[-1][0].origin, "call") as write:
                for who, note in notes:
                    if note["writes"] or not who.own:
                        calls.note_session(write, who.session, who.client, who.model)
                    calls.note(write, client=who.client, session=who.session, door="mcp", **note)
        except MemorandaError as error:
            _log.warning("calls could not be noted: %s", error)

    def close(self) -> None:
        """Close the memory. On the thread that answers."""
        self.flush()
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def _run(self, memory: Memory, who: Caller, tool: dict[str, Any], arguments: object) -> ToolAnswer:
        name = tool["name"]
        given = checked(tool, arguments)
        if name in WRITES:
            writing.may_write(memory, who)
        elif denied(memory.config, who.client, who.session):
            return ToolAnswer(dict(EMPTY[name]), NOTHING)
        return TOOLS[name](memory, who, given)

    def _answer(
        self,
        name: str,
        meta: Mapping[str, Any] | None,
        client: object,
        run: Callable[[Memory, Caller], ToolAnswer],
    ) -> ToolAnswer:
        start = time.perf_counter()
        who = step = None
        problem = ""
        try:
            if until := paused_until(self._location.path, self._clock()):
                return _error("paused", f"The person paused memory until {local_time(until)}.", "Go on without it.")
            memory = self._opened(name in WRITES)
            who = caller_of(meta, client, self._given, self._made_up, memory.database)
            before = memory.database.last_step
            answer = run(memory, who)
            step = memory.database.last_step if memory.database.last_step != before else None
        except MemorandaError as error:
            problem = error.code
            answer = _error(error.code, error.message, error.next)
        except Exception as error:
            _log.exception("%s failed", name)
            problem, defect = "defect", Defect(error)
            answer = _error(defect.code, defect.message, defect.next)
        if who is not None:
            note = {
                "name": name,
                "milliseconds": (time.perf_counter() - start) * 1000,
                "tokens": token_count.count(answer.text),
                "problem": problem,
                "reads": answer.reads,
                "writes": answer.writes,
                "step": step,
            }
            self._notes.append((who, note))
            if len(self._notes) == 1:
                self._first = start
            elif start - self._first >= UNNOTED_SECONDS:
                self.flush()
        return answer

    def _opened(self, writes: bool) -> Memory:
        """Return the memory, opened anew when the person's settings or the file itself are others than they were. One
        that is not there yet is made by a call that writes."""
        state = (
            file_stamp(user_path()),
            file_stamp(project_path(self._location) or ""),
            _identity(self._location.path),
        )
        if self._memory is not None and state != self._settings:
            self.close()
        if self._memory is None:
            if not writes and not os.path.lexists(self._location.path):
                raise NotFound("There is no memory of this project yet.", "memory_log_decision begins one.")
            self._memory = Memory(self._location, "mcp", self._clock)
            self.interrupt = self._memory.database.interrupt
            self._settings = (*state[:2], _identity(self._location.path))
        return self._memory


def _error(code: str, message: str, step: str) -> ToolAnswer:
    text = f"{message} {step}".strip()
    return ToolAnswer({"error": {"code": code, "message": message, "next": step}}, text, failed=True)


def _identity(path: str) -> object:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
