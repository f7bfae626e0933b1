"""Run a verb, with the errors of SQLite in the words of this product."""

from __future__ import annotations

from store import parts  # noqa: F401  # for what is asked of an optional part
from store.base.runtime import require_part
from store.database.connection import DISK_ERRORS, to_memoranda_error
from store.records.table import take_redactions
from tui.commands.call import Call, Outcome
from tui.input.arguments import ParsedArguments, Verb
from tui.render.lines import add_cuts, cuts_notice


def run_verb(call: Call, verb: Verb, given: ParsedArguments) -> Outcome:
    """Run a verb, and say which secrets were cut from what it wrote. Errors of SQLite outside `Database.write` get the
    messages of those inside. Raise Unsupported if it is of an optional part that is not installed."""
    if verb.part:
        require_part(verb.part)
    try:
        outcome: Outcome = verb.run(call, **vars(given))
        if call.first and outcome.message:
            outcome.message = f"{outcome.message} {call.first}"
        if call.opened is not None and call.opened.database.cut:
            cuts = take_redactions(call.opened.database)
            outcome.data = add_cuts(outcome.data, cuts)
            if outcome.message:
                outcome.message = f"{outcome.message} {cuts_notice(cuts)}"
            else:
                outcome.lines = [*outcome.lines, cuts_notice(cuts)]
        return outcome
    except DISK_ERRORS as error:
        refused = to_memoranda_error(error, call.location.path)
        # a part may be done
        refused.next = refused.next.replace("nothing was changed", "then say the same again")
        raise refused from None
    finally:
        call.wait("")
