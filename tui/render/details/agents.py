"""Render agents' activity as lines of text."""

from store.base.clock import how_long_ago, local_time
from store.doors.session.calls import AgentActivity, AgentCall
from store.doors.session.injections import Injection
from tui.render.plurals import count
from tui.theme.escape import visible


def activity_lines(one: AgentActivity, now: str) -> list[str]:
    """Summarise one agent in a line, with a second one for its pending proposals."""
    state = "at work" if one.at_work else f"last seen {how_long_ago(now, one.last_at)}"
    model = f" ({one.model})" if one.model else ""
    did = f"{count(one.calls_today, 'call')} today, {one.tokens_today:,} tokens sent today"
    lines = [visible(f"{one.agent}{model}  {state}; {did}, {count(one.proposed, 'proposal')} made")]
    if one.waiting:
        lines.append(f"  {count(one.waiting, 'proposal')} of it wait{'s' if one.waiting == 1 else ''} in the inbox")
    return lines


def call_line(call: AgentCall, now: str) -> str:
    """Format one call: time, tool, duration, what it read and wrote."""
    parts = [f"{local_time(call.at)}  {call.name}  {call.milliseconds:.0f} ms"]
    if call.problem:
        parts.append(call.problem)
    if call.reads:
        parts.append(f"read {_some(call.reads)}")
    if call.writes:
        parts.append(f"wrote {_some(call.writes)}")
    return visible("  ".join(parts))


def injection_line(one: Injection, now: str) -> str:
    """Format one injected text: its number, time, purpose and contents."""
    used = f"; used {_some(one.used)}" if one.used else ""
    return visible(
        f"{one.id:>5}  {local_time(one.at)}  {one.event}  {one.tokens:,} tokens  {_some(tuple(one.why))}{used}"
    )


def _some(citations: tuple[str, ...]) -> str:
    more = f" +{len(citations) - 6}" if len(citations) > 6 else ""
    return f"{' '.join(citations[:6])}{more}"
