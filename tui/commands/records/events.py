"""event, events."""

from store.base.citations import cite
from store.base.errors import InvalidInput
from store.base.vocabulary import PERSON
from tui.commands import Outcome, Session, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tui.input.argument_parser import ParsedArguments


def event(session: Session, given: "ParsedArguments") -> Outcome:
    events = session.memory.events
    new = events.log(
        given.type,
        phase=given.phase,
        payload=None if given.payload is None else _payload(given.payload),
        iteration_id=number(given.iteration, "iteration") if given.iteration else None,
        actor=PERSON,
        key=given.key,
    )
    return Outcome(f"Logged {cite('event', new)}.", lambda: _json(session, [new])[0])


def list_events(session: Session, given: "ParsedArguments") -> Outcome:
    from tui.commands.record_lines import entry_line, left_out, none_of

    memory = session.memory
    ids = memory.events.ids(
        event_type=given.type or "",
        iteration_id=number(given.iteration, "iteration") if given.iteration else None,
        since=memory.typed_moment(given.since) if given.since else "",
        limit=given.limit + 1,
    )
    shown = ids[: given.limit]
    lines = [entry_line("event", found) for found in memory.events.many(shown)]
    if not lines:
        empty = "No events here. Log one: memoranda event phase_completed --phase design"
        lines = none_of("events", empty, given.type, given.iteration, given.since)
    return Outcome(data=lambda: _json(session, shown), lines=[*lines, *left_out(len(ids) - len(shown), given.limit)])


def _payload(text: str) -> object:
    import json

    try:
        found: object = json.loads(text, parse_constant=_no_constant)
        return found
    except (ValueError, RecursionError):
        raise InvalidInput("The payload is not JSON.", """For example: --payload '{"result": "approved"}'""") from None


def _no_constant(name: str) -> object:
    """Reject NaN and the infinities, which Python parses but JSON does not have."""
    raise ValueError(name)


def _json(session: Session, ids: list[int]) -> list[dict[str, object]]:
    from store.base.models import as_json

    return [as_json(found) for found in session.memory.events.many(ids)]
