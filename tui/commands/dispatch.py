"""Run the verb that was typed: its module is imported only then."""

from __future__ import annotations

from collections.abc import Callable

from store.base.citations import cite, parse_citation
from store.base.extensions import require_part
from store.database.connection import DISK_ERRORS, to_memoranda_error
from store.memory import Memory
from store.parts import PART_PACKAGES
from tui.commands.call import Outcome, Session
from tui.input.arguments import ParsedArguments
from tui.render.lines import add_cuts, cuts_notice, take_cuts

# verbs that change every record they are given, as a checkpoint before them names it
ACTS_ON_MANY = {
    "facts.forget": "forget", "facts.confirm": "confirm", "facts.pin": "pin",
    "facts.unpin": "unpin", "facts.tag": "tag", "facts.untag": "untag",
    "context.mute": "mute", "context.unmute": "unmute",
    "inbox.merge": "merge",
}  # fmt: skip


VerbHandler = Callable[[Session, ParsedArguments], Outcome]


def require_part_of(handler: str) -> None:
    """Raise Unsupported if a verb's handler is of an optional part that is not installed: the module `team` holds those
    of the part `team`."""
    if (module := handler.partition(".")[0]) in PART_PACKAGES:
        require_part(module)


def run_handler(session: Session, handler: str, arguments: ParsedArguments) -> Outcome:
    """Run a verb's handler, imported on first use. Errors of SQLite outside `Database.write` get the messages of those
    inside."""
    require_part_of(handler)
    module, _, function = handler.rpartition(".")
    found: VerbHandler = getattr(__import__(f"tui.commands.{module}", fromlist=[function]), function)
    try:
        first = _checkpoint_first(session, handler, arguments)
        outcome = found(session, arguments)
        if first and outcome.message:
            outcome.message = f"{outcome.message} {first}"
        if session._memory is not None and session._memory.database.cut:
            _tell_cuts(outcome, session._memory)
        return outcome
    except Exception as error:
        if type(error).__module__ != "apsw":
            raise
        if not isinstance(error, DISK_ERRORS):
            raise
        refused = to_memoranda_error(error, session.location.path)
        refused.next = refused.next.replace("nothing was changed", "then say the same again")  # a part may be done
        raise refused from None
    finally:
        session.wait("")


def _checkpoint_first(session: Session, handler: str, given: ParsedArguments) -> str:
    """Take a checkpoint before a verb that changes many records, and return the sentence that says so."""
    if handler not in ACTS_ON_MANY:
        return ""
    ids = {
        text for text in given.ids if parse_citation(text, "fact").kind != "global"
    }  # those are of another memory
    number = session.memory.checkpoints.take_before(f"{ACTS_ON_MANY[handler]} {len(ids)} records", len(ids))
    return "" if number is None else f"{cite('checkpoint', number)} is how it was."


def _tell_cuts(outcome: Outcome, memory: Memory) -> None:
    """Append to a verb's outcome which secrets were redacted from what it wrote."""

    cuts = take_cuts(memory.database)
    outcome.data = add_cuts(outcome.data, cuts)
    if outcome.message:
        outcome.message = f"{outcome.message} {cuts_notice(cuts)}"
    else:
        outcome.lines = [*outcome.lines, cuts_notice(cuts)]
