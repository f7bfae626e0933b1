"""The command bind: what shows that a record still holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from store.base.errors import ExitStatus, InvalidInput
from store.evidence.evidence import BoundEvidence
from store.text.display import agree_verb, format_count, visible
from tui.commands.call import Call, Outcome
from tui.input.arguments import Shown, verb
from tui.render.lines import EVIDENCE_BADGES

BOUND_KINDS = ("fact", "decision")
# the order in which they are listed
WORST_FIRST = ("gone", "changed", "moved", "")


@verb(looks=lambda given: given.check)
def bind(
    call: Call,
    id: Annotated[str | None, Shown("ID")] = None,
    target: Annotated[list[str], Shown("TARGET", file=True)] = [],
    *,
    command: Annotated[list[str], Shown("LINE")] = [],
    off: bool = False,
    check: bool = False,
    run: bool = False,
) -> Outcome:
    """Bind a fact or a decision to its evidence; without any, take it as it is now; --check looks at it again.

    id: a fact's number, or F#12, D#3; with --check any number of them, or all
    target: src/pay.py:10-20, src/pay.py::total, src/pay.py, C#a1b2c3d, https://…
    command: a command that proves it; run only by `bind --check --run` (repeatable)
    off: take evidence away from it; all of it without TARGET
    check: say whether it holds, moved, changed, or is gone
    run: with --check: commands and addresses too, each shown and asked about the first time
    """
    if (run and not check) or (check and (off or command)):
        raise InvalidInput("What --check looks at is not changed, and only --check runs it.", "bind --check --run")
    if check:
        return _check_evidence(call, [id, *target] if id else [], run)
    if not id:
        raise InvalidInput("Name a fact or a decision.", "bind 12 src/pay.py:10-20")
    (named,) = call.some([id], *BOUND_KINDS)
    evidence = call.memory.evidence
    record = (named.kind, int(named.target))
    texts = [*target, *(f"$ {line.strip()}" for line in command)]
    if off:
        found = evidence.unbind(*record, texts, call.cwd)
        still = f"it still rests on {_name_evidence(found)}" if found else "it rests on nothing now"
        said = f"{named}: {still}. Undo brings it back."
    elif texts:
        found = evidence.bind(*record, texts, call.cwd)
        said = f"Bound {named} to {_name_evidence(found[-len(texts) :])}."
    else:
        found = evidence.bind_again(*record)
        said = f"Took what {named} rests on as it is now: {_name_evidence(found)}."
    return Outcome(said, lambda: [one.as_dict() for one in found])


def _check_evidence(call: Call, texts: Sequence[str], run: bool) -> Outcome:
    """Check the evidence of facts and decisions again, of all without texts, and report what changed."""
    evidence = call.memory.evidence
    named = call.some(texts, *BOUND_KINDS, mixed=BOUND_KINDS)
    wanted = [piece for one in named for piece in evidence.list_bound(one.kind, int(one.target))]
    call.wait("Looking at the evidence")
    found = evidence.verify(wanted if named else None)
    call.wait("")
    notes: list[str] = []
    if run:
        found, notes = run_allowed(call, found)
    bad = sum(one.state in ("changed", "gone") for one in found)
    error = f"{format_count(bad, 'piece')} of evidence changed or {agree_verb(bad, 'are')} gone."
    lines = ["No fact or decision is bound to evidence. Bind one: memoranda bind 12 src/pay.py:10-20"]
    if found:
        doubtful = [one for one in found if one.state != "holds"]
        doubtful.sort(key=lambda one: WORST_FIRST.index(one.state))
        counts = Counter(one.state for one in found)
        parts = [
            f"{counts[state]:,} {'hold' if state == 'holds' and counts[state] > 1 else word}"
            for state, (_, word) in EVIDENCE_BADGES.items()
            if counts[state]
        ]
        lines = [*map(evidence_line, doubtful), ", ".join(parts) + "."]
    return Outcome(
        lines=[*lines, *notes],
        data=lambda: [one.as_dict() for one in found],
        status=ExitStatus.PERSON if bad or notes else ExitStatus.DONE,
        error=error if bad and not call.json else "",
    )


def run_allowed(call: Call, found: Sequence[BoundEvidence]) -> tuple[list[BoundEvidence], list[str]]:
    """Run the commands and addresses that are allowed, after asking about each other text once; nothing is run before
    all are answered. Return all the evidence, and a line for each text that was not allowed."""
    evidence = call.memory.evidence
    after = {id(one): one for one in found}
    runnable = evidence.list_runnable(found)
    asked = {str(one.item): one for one, known in runnable if not known}
    allowed = {text: _may_run(call, one) for text, one in asked.items()}
    for one, known in runnable:
        if not known and allowed[str(one.item)]:
            evidence.allow(one)
        if known or allowed[str(one.item)]:
            call.wait(f"Running {visible(one.item.typed_form)}")
            after[id(one)] = evidence.run_item(one)
    left = [text for text, yes in allowed.items() if not yes]
    return list(after.values()), [f"Not allowed here, and so not looked at: {visible(text)}" for text in left]


def _may_run(call: Call, one: BoundEvidence) -> bool:
    """Ask whether a command may be run, or an address asked, with its exact text; no where nobody can answer."""
    is_address = one.item.type == "url"
    what = f"ask {visible(one.item.target)}" if is_address else f"run “{visible(one.item.target)}”"
    where = "It goes to that address." if is_address else "It runs in the folder of the project, as you."
    lines = [f"{where} This exact text is allowed here from then on, until it is taken away."]
    try:
        return call.ask(f"{one.citation} rests on what this gives: {what}?", lines)
    except InvalidInput as error:
        if error.code == "asks":
            # the application asks, and runs the command again
            raise
        return False


def evidence_line(one: BoundEvidence) -> str:
    """Format a piece of evidence: `≠ changed  F#12  src/pay.py:10-20 → src/pay.py:14-24`."""
    glyph, word = EVIDENCE_BADGES[one.state]
    now = f" → {one.place}" if one.place else ""
    gave = f" ({one.says})" if one.says else ""
    return visible(f"{glyph} {word:<13}  {one.citation:<6}  {one.item.typed_form}{now}{gave}")


def _name_evidence(found: Sequence[BoundEvidence]) -> str:
    """Name the pieces of evidence; return only their number if there are more than three."""
    if len(found) > 3:
        return f"{format_count(len(found), 'piece')} of evidence"
    return ", ".join(visible(one.item.typed_form) for one in found)
