"""Agents: who is connected, what each did, and what each was sent and why; read again while they work."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from store.base.citations import cite, parse_citation
from store.base.clock import format_local_time
from store.base.vocabulary import pack_key, unpack_key
from store.doors import agent_log
from store.doors.trust import get_pause_end, pause_doors, resume_doors
from store.memory import Memory
from store.records.mutes import MUTE_KINDS
from store.text.display import format_count, visible
from tui.actions.action import Action, Done
from tui.actions.plans import plan_undo_all
from tui.commands.agents import NO_AGENT_YET, injection_title, pause_words
from tui.lists.filters import Facet, FacetChoice
from tui.lists.record_rows import RowLine, row_lines
from tui.panes.pane import Entry, EntryRows, Heading, Loaded, Pane, Reading
from tui.render.details import activity_lines, agent_call_line, injection_line
from tui.render.lines import StyledLine
from tui.screens.plans import Plan
from tui.theme.line_filters import Piece

# maximum calls and texts listed
MOST_LISTED = 200
# seconds between two readings
REFRESH_SECONDS = 1.0


class AgentRow(NamedTuple):
    """An agent, a call, or a text that was sent; until when all are paused; of a text the keys of its records that can
    be muted, and those of all that are."""

    what: agent_log.AgentActivity | agent_log.AgentCall | agent_log.Injection
    paused: str = ""
    keys: tuple[int, ...] = ()
    muted: frozenset[int] = frozenset()

    @property
    def key(self) -> tuple[str, str | int]:
        """Return what tells the row from all others."""
        one = self.what
        return ("agent", one.agent) if isinstance(one, agent_log.AgentActivity) else (type(one).__name__, one.id)

    @property
    def is_muted(self) -> bool:
        """Return whether no record of the text is sent to agents any more."""
        return self.muted.issuperset(self.keys)


def read_agents(reading: Reading) -> Loaded:
    """Read what agents did, what they were sent, and whether they are paused; what was read before, if nothing
    changed within this minute."""
    memory, database, now = reading.memory, reading.memory.database, reading.memory.now
    only = reading.view.get("agent")
    paused = get_pause_end(reading.memory.location.path, now)
    state = (database, database.data_version(), now[:16], paused, only)
    if reading.last is not None and reading.last.kept == state:
        return reading.last
    agents = agent_log.list_agent_activity(database, now)
    shown = [one for one in agents if only in (None, one.agent)]
    clients = None if only is None else [client for one in shown for client in one.clients]
    did: list[agent_log.AgentCall | agent_log.Injection] = [
        *agent_log.list_agent_calls(database, clients, MOST_LISTED),
        *agent_log.list_injections(database, clients, MOST_LISTED),
    ]
    did = sorted(did, key=lambda one: (one.at, one.id), reverse=True)[:MOST_LISTED]
    muted = memory.mutes.filter_muted_keys({key for one in did for key in _mutable_keys(one)})
    rows = [AgentRow(one, paused, _mutable_keys(one), muted) for one in (*shown, *did)]
    entries: list[Entry | Heading] = [
        Entry(row.key, row, partial(draw_row, row, now), partial(describe_row, row, now)) for row in rows
    ]
    if did:
        entries.insert(len(shown), Heading("What they did and were sent", "newest first"))
    said: Piece = (f"{sum(one.at_work for one in agents)} at work", "")
    if paused:
        said = (f"paused until {format_local_time(paused)}", "$text-error", "start('record.pin')")
    chips = Facet("agent", "Agent", tuple(FacetChoice(one.agent, one.agent) for one in agents))
    return Loaded(EntryRows(entries), [chips] if len(agents) > 1 else [], [said], kept=state)


def _mutable_keys(what: agent_log.AgentActivity | agent_log.AgentCall | agent_log.Injection) -> tuple[int, ...]:
    """Return the keys of the records in a sent text that can be muted."""
    cited = map(parse_citation, what.why) if isinstance(what, agent_log.Injection) else ()
    return tuple(pack_key(one.kind, int(one.target)) for one in cited if one.kind in MUTE_KINDS)


def draw_row(row: AgentRow, now: str, width: int) -> list[RowLine]:
    """Draw a row in a line or two."""
    one = row.what
    if isinstance(one, agent_log.AgentActivity):
        head = ("● ", "added") if one.at_work else ("○ ", "dim")
        return row_lines([head], visible(activity_lines(one, now)[0]), "bold", [], width)
    if isinstance(one, agent_log.AgentCall):
        text = visible(f"{one.client}  {agent_call_line(one, now)}")
        return row_lines([("  ", "")], text, "" if one.writes else "dim", [], width)
    return row_lines([("→ ", "cite")], visible(f"{one.client}  {injection_line(one, now)}"), "", [], width)


def describe_row(row: AgentRow, now: str) -> list[StyledLine]:
    """Describe a row in full; of a text say which of its records are muted."""
    one = row.what
    if isinstance(one, agent_log.AgentActivity):
        known = f"introduced itself as {visible(', '.join(one.clients))}"
        return [*([(line, "")] for line in activity_lines(one, now)), [(known, "dim")]]
    if isinstance(one, agent_log.AgentCall):
        about = f"by {one.client}, session {one.session or '-'}, {one.tokens:,} tokens answered"
        lines: list[StyledLine] = [
            [(f"{one.name}  {format_local_time(one.at)}", "title")],
            [(visible(about), "dim")],
        ]
        for word, citations in (("Read  ", one.reads), ("Wrote ", one.writes)):
            lines += [[(word, "label"), (visible(" ".join(citations)), "cite")]] if citations else []
        return [*lines, *([[("Failed ", "label"), (one.problem, "")]] if one.problem else [])]
    lines = [[(visible(injection_title(one)), "title")]]
    if one.question:
        lines.append([("Prompt ", "label"), (visible(" ".join(one.question.split())[:300]), "")])
    silent = {cite(*unpack_key(key)) for key in row.muted}
    for citation, why in one.why.items():
        more = f"{', used by the reply' * (citation in one.used)}{', muted' * (citation in silent)}"
        lines.append([(f"{citation:6}", "cite"), (visible(f" {why}{more}"), "dim")])
    return [*lines, [], *([(visible(line), "")] for line in one.text.split("\n"))]


def switch_pause(memory: Memory, rows: Sequence[AgentRow]) -> Done:
    """Pause all agents for an hour, or end the pause."""
    path, now = memory.location.path, memory.now
    if get_pause_end(path, now):
        resume_doors(path)
        return Done(pause_words(""), undo=False)
    return Done(pause_words(pause_doors(path, now)), undo=False)


def switch_mute(memory: Memory, rows: Sequence[AgentRow]) -> str:
    """Mute the records of texts that were sent; unmute them if all are muted."""
    keys = list(dict.fromkeys(key for row in rows for key in row.keys))
    muting = not all(row.is_muted for row in rows)
    (memory.mutes.mute_keys if muting else memory.mutes.unmute_keys)(keys)
    return f"{'Muted' if muting else 'Unmuted'} {format_count(len(keys), 'record')}"


def plan_session_undo(memory: Memory, rows: Sequence[AgentRow]) -> Plan:
    """Return what undoing all that the agent of a call wrote in its session would change."""
    call = rows[0].what
    assert isinstance(call, agent_log.AgentCall)
    return plan_undo_all(memory, f"{call.door}:{call.client}", call.session)


PAUSES = "pause all for an hour"
PANE = Pane(
    "agents",
    "Agents",
    read_agents,
    empty=NO_AGENT_YET,
    actions=(
        Action(
            "step.undo",
            "undo its session…",
            (AgentRow,),
            plan=plan_session_undo,
            fits=lambda row: isinstance(row.what, agent_log.AgentCall) and bool(row.what.writes),
            one=True,
        ),
        Action(
            "record.mute",
            lambda row: "let it in again" if row.is_muted else "mute what it says",
            (AgentRow,),
            switch_mute,
            fits=lambda row: bool(row.keys),
        ),
        Action("record.pin", lambda row: "end the pause" if row.paused else PAUSES, (AgentRow,), switch_pause),
        Action("record.pin", PAUSES, (), switch_pause),
    ),
    seconds=REFRESH_SECONDS,
)
