"""The commands bind, unbind and verify: what shows that a record still holds."""

from __future__ import annotations

from collections.abc import Sequence

from store.base.citations import cite
from store.base.errors import ExitStatus, InvalidInput
from store.evidence.evidence import BoundEvidence
from tui.commands.call import Outcome, Session, parse_reference
from tui.input.arguments import ParsedArguments
from tui.render.lines import EVIDENCE_BADGES, agree_verb, format_count
from tui.theme.escape import visible

WORST_FIRST = ("gone", "changed", "moved", "", "holds")  # the order in which they are listed


def bind(session: Session, given: ParsedArguments) -> Outcome:
    """Bind a fact or a decision to evidence; without any, accept its evidence as it is now."""
    kind, number = _parse_fact_or_decision(given.id)
    texts = _evidence_texts(given)
    if texts:
        found = session.memory.evidence.bind(kind, number, texts, session.cwd)
        said = f"Bound {cite(kind, number)} to {_name_evidence(found, len(texts))}."
    else:
        found = session.memory.evidence.bind_again(kind, number)
        said = f"Took what {cite(kind, number)} rests on as it is now: {_name_evidence(found, len(found))}."
    return Outcome(said, lambda: [one.as_dict() for one in found])


def unbind(session: Session, given: ParsedArguments) -> Outcome:
    """Remove evidence from a fact or a decision."""
    kind, number = _parse_fact_or_decision(given.id)
    left = session.memory.evidence.unbind(kind, number, _evidence_texts(given), session.cwd)
    still = f"it still rests on {_name_evidence(left, len(left))}" if left else "it rests on nothing now"
    return Outcome(f"{cite(kind, number)}: {still}. Undo brings it back.", lambda: [one.as_dict() for one in left])


def verify(session: Session, given: ParsedArguments) -> Outcome:
    """Check the evidence of facts and decisions again, and report what changed."""
    evidence = session.memory.evidence
    wanted: list[BoundEvidence] | None = None
    if given.ids:
        wanted = [
            one for text in dict.fromkeys(given.ids) for one in evidence.list_bound(*_parse_fact_or_decision(text))
        ]
    session.wait("Looking at the evidence")
    found = evidence.verify(wanted)
    session.wait("")
    notes: list[str] = []
    if given.run:
        found, notes = run_allowed(session, found)
    bad = [one for one in found if one.state in ("changed", "gone")]
    return Outcome(
        lines=[*evidence_lines(found), *notes],
        data=lambda: [one.as_dict() for one in found],
        status=ExitStatus.PERSON if bad or notes else ExitStatus.DONE,
        error=f"{format_count(len(bad), 'piece')} of evidence changed or {agree_verb(len(bad), 'are')} gone."
        if bad and not session.json
        else "",
    )


def run_allowed(session: Session, found: Sequence[BoundEvidence]) -> tuple[list[BoundEvidence], list[str]]:
    """Run the commands and addresses that are allowed, and ask about each other text once. Return all the
    evidence, and a line for each text that was not allowed."""
    evidence = session.memory.evidence
    after = {id(one): one for one in found}
    answers: dict[str, bool] = {}
    left: list[str] = []
    for one, known in evidence.list_runnable(found):
        text = str(one.item)
        if not known and text not in answers:
            try:
                answers[text] = session.ask(f"{run_question(one)} It is not asked about again here.")
            except InvalidInput:  # nobody can answer
                answers[text] = False
            if answers[text]:
                evidence.allow(one)
        if known or answers[text]:
            session.wait(f"Running {visible(one.item.typed_form)}")
            after[id(one)] = evidence.run_item(one)
        elif text not in left:
            left.append(text)
    shown = [f"Not allowed here, and so not looked at: {visible(text)}" for text in left]
    return list(after.values()), shown


def run_question(one: BoundEvidence) -> str:
    """Return the question whether a command may be run, or an address asked, with its exact text."""
    what = f"ask {visible(one.item.target)}" if one.item.type == "url" else f"run “{visible(one.item.target)}”"
    return f"{one.citation} rests on what this gives: {what}?"


def evidence_lines(found: Sequence[BoundEvidence]) -> list[str]:
    """Return a line for each piece of evidence that does not hold, the worst first, and how many there are in each
    state."""
    if not found:
        return ["No fact or decision is bound to evidence. Bind one: memoranda bind 12 src/pay.py:10-20"]
    lines = [
        evidence_line(one)
        for one in sorted(found, key=lambda one: WORST_FIRST.index(one.state))
        if one.state != "holds"
    ]
    counts = [
        (state, sum(one.state == state for one in found)) for state in ("holds", "moved", "changed", "gone", "")
    ]
    parts = []
    for state, number in counts:
        if number:
            word = EVIDENCE_BADGES[state][1]
            parts.append(f"{number:,} {'hold' if state == 'holds' and number > 1 else word}")
    return [*lines, ", ".join(parts) + "."]


def evidence_line(one: BoundEvidence) -> str:
    """Format a piece of evidence: `≠ changed  F#12  src/pay.py:10-20 → src/pay.py:14-24`."""
    glyph, word = EVIDENCE_BADGES[one.state]
    return f"{glyph} {word:<13}  {one.citation:<6}  {evidence_text(one)}"


def evidence_text(one: BoundEvidence) -> str:
    """Return what a record is bound to, where its evidence is now, and what running it gave."""
    now = f" → {visible(one.place)}" if one.place else ""
    return f"{visible(one.item.typed_form)}{now}{f' ({visible(one.says)})' if one.says else ''}"


def _evidence_texts(given: ParsedArguments) -> list[str]:
    """Return the typed evidence: targets, and commands behind `$`."""
    return [*given.target, *(f"$ {line.strip()}" for line in given.command)]


def _parse_fact_or_decision(text: str) -> tuple[str, int]:
    """Parse the citation of a fact or a decision."""
    found = parse_reference(text, "fact", "fact", "decision")
    return found.kind, int(found.target)


def _name_evidence(found: Sequence[BoundEvidence], size: int) -> str:
    """Name the last pieces of evidence; return only their number if there are more than three."""
    return (
        ", ".join(visible(one.item.typed_form) for one in found[-size:])
        if size <= 3
        else format_count(size, "piece") + " of evidence"
    )
