"""bind, unbind, verify."""

from store.base.citations import cite
from store.base.errors import InvalidInput
from store.evidence.evidence import BoundEvidence
from tui.commands import Outcome, Session, reference
from tui.render.badges import EVIDENCE_BADGES
from tui.render.plurals import count, said_of
from tui.theme.escape import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.input.argument_parser import ParsedArguments

WORST = ("gone", "changed", "moved", "", "holds")  # the order in which they are listed


def bind(session: Session, given: "ParsedArguments") -> Outcome:
    kind, number = _record(given.id)
    texts = _texts(given)
    if texts:
        found = session.memory.evidence.bind(kind, number, texts, session.cwd)
        said = f"Bound {cite(kind, number)} to {_named(found, len(texts))}."
    else:
        found = session.memory.evidence.bind_again(kind, number)
        said = f"Took what {cite(kind, number)} rests on as it is now: {_named(found, len(found))}."
    return Outcome(said, lambda: [one.as_dict() for one in found])


def unbind(session: Session, given: "ParsedArguments") -> Outcome:
    kind, number = _record(given.id)
    left = session.memory.evidence.unbind(kind, number, _texts(given), session.cwd)
    still = f"it still rests on {_named(left, len(left))}" if left else "it rests on nothing now"
    return Outcome(f"{cite(kind, number)}: {still}. Undo brings it back.", lambda: [one.as_dict() for one in left])


def verify(session: Session, given: "ParsedArguments") -> Outcome:
    evidence = session.memory.evidence
    wanted: list[BoundEvidence] | None = None
    if given.ids:
        wanted = [one for text in dict.fromkeys(given.ids) for one in evidence.of(*_record(text))]
    session.wait("Looking at the evidence")
    try:
        found = evidence.verify(wanted)
    finally:
        session.wait("")
    notes: list[str] = []
    if given.run:
        found, notes = run_allowed(session, found)
    bad = [one for one in found if one.state in ("changed", "gone")]
    return Outcome(
        lines=[*evidence_lines(found), *notes],
        data=lambda: [one.as_dict() for one in found],
        status=1 if bad else 0,
        error=f"{count(len(bad), 'piece')} of evidence changed or {said_of(len(bad), 'are')} gone."
        if bad and not session.json
        else "",
    )


def run_allowed(session: Session, found: "Sequence[BoundEvidence]") -> tuple[list[BoundEvidence], list[str]]:
    """Run what is allowed among these, and ask about the rest, each exact text once. Return all of them, and what was
    left out."""
    evidence = session.memory.evidence
    after = {id(one): one for one in found}
    answers: dict[str, bool] = {}
    left: list[str] = []
    for one, known in evidence.to_run(found):
        text = str(one.item)
        if not known and text not in answers:
            try:
                answers[text] = session.ask(f"{question(one)} It is not asked about again here.")
            except InvalidInput:  # nobody can answer
                answers[text] = False
            if answers[text]:
                evidence.allow(one)
        if known or answers[text]:
            session.wait(f"Running {visible(one.item.shown)}")
            after[id(one)] = evidence.run(one)
        elif text not in left:
            left.append(text)
    session.wait("")
    shown = [f"Not allowed here, and so not looked at: {visible(text)}" for text in left]
    return list(after.values()), shown


def question(one: BoundEvidence) -> str:
    """Return the question whether a command may be run, or an address asked, with its exact text."""
    what = f"ask {visible(one.item.target)}" if one.item.type == "url" else f"run “{visible(one.item.target)}”"
    return f"{one.citation} rests on what this gives: {what}?"


def evidence_lines(found: "Sequence[BoundEvidence]") -> list[str]:
    """Return what was seen, the worst first, and how much of each."""
    if not found:
        return ["No fact or decision is bound to evidence. Bind one: memoranda bind 12 src/pay.py:10-20"]
    lines = [
        evidence_line(one) for one in sorted(found, key=lambda one: WORST.index(one.state)) if one.state != "holds"
    ]
    counts = [(state, sum(one.state == state for one in found)) for state in ("holds", "moved", "changed", "gone", "")]
    parts = []
    for state, number in counts:
        if number:
            word = EVIDENCE_BADGES[state][1]
            parts.append(f"{number:,} {'hold' if state == 'holds' and number > 1 else word}")
    return [*lines, ", ".join(parts) + "."]


def evidence_line(one: BoundEvidence) -> str:
    """Return a piece of evidence in a line: `≠ changed  F#12  src/pay.py:10-20 → src/pay.py:14-24`."""
    glyph, word = EVIDENCE_BADGES[one.state]
    return f"{glyph} {word:<13}  {one.citation:<6}  {evidence_text(one)}"


def evidence_text(one: BoundEvidence) -> str:
    """Return what a record is bound to, where that is now, and what a run gave."""
    now = f" → {visible(one.place)}" if one.place else ""
    return f"{visible(one.item.shown)}{now}{f' ({visible(one.says)})' if one.says else ''}"


def _texts(given: "ParsedArguments") -> list[str]:
    return [*given.target, *(f"$ {line.strip()}" for line in given.command)]


def _record(text: str) -> tuple[str, int]:
    found = reference(text, "fact", "fact", "decision")
    return found.kind, int(found.target)


def _named(found: "Sequence[BoundEvidence]", size: int) -> str:
    """Return the last pieces of evidence by name, or their number."""
    return (
        ", ".join(visible(one.item.shown) for one in found[-size:])
        if size <= 3
        else count(size, "piece") + " of evidence"
    )
