"""decide, decisions, link, unlink."""

from store.base.citations import cite
from store.base.errors import NotFound
from tui.commands import Outcome, Session, number, reference, though_purged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tui.input.argument_parser import ParsedArguments


def decide(session: Session, given: "ParsedArguments") -> Outcome:
    from store.base.models import as_json

    decisions = session.memory.decisions
    new = though_purged(
        session,
        given,
        lambda again: decisions.decide(
            " ".join(given.title),
            given.chosen,
            context=given.context,
            alternatives=given.alternative,
            rationale=given.rationale,
            impact=given.impact,
            phase=given.phase,
            supersedes=number(given.supersedes, "decision") if given.supersedes else None,
            key=given.key,
            again=again,
        ),
    )
    return Outcome(f"Recorded {cite('decision', new)}.", lambda: as_json(decisions.get(new)))


def list_decisions(session: Session, given: "ParsedArguments") -> Outcome:
    from store.base.models import as_json
    from tui.commands.record_lines import entry_line, left_out, none_of

    decisions = session.memory.decisions
    ids = decisions.ids(
        statuses=("active", "superseded", "forgotten") if given.all else ("active",),
        iteration_id=number(given.iteration, "iteration") if given.iteration else None,
    )
    shown = decisions.many(ids[: given.limit])
    lines = [entry_line("decision", decision) for decision in shown]
    if not lines:
        empty = 'No decisions yet. Record one: memoranda decide "Use SQLite" --chosen "SQLite, WAL"'
        lines = none_of("decisions", empty, given.iteration)
    return Outcome(
        data=lambda: [as_json(decision) for decision in shown],
        lines=[*lines, *left_out(len(ids) - len(shown), given.limit)],
    )


def link(session: Session, given: "ParsedArguments") -> Outcome:
    sha, decision = _pair(given)
    try:
        made = session.memory.commits.link(sha, decision, given.type)
    except NotFound:
        session.memory.decisions.get(decision)  # where that is missing, git need not be asked
        if not _catch_up(session):
            raise
        made = session.memory.commits.link(sha, decision, given.type)
    said = f"{cite('commit', sha)} {given.type}{' to' if given.type == 'relates' else ''} {cite('decision', decision)}"
    said += "." if made else " already: nothing was changed."
    return Outcome(said, lambda: _links(session, decision))


def unlink(session: Session, given: "ParsedArguments") -> Outcome:
    sha, decision = _pair(given)
    session.memory.commits.unlink(sha, decision)
    said = f"{cite('commit', sha)} and {cite('decision', decision)} are no longer linked."
    return Outcome(said, lambda: _links(session, decision))


def _catch_up(session: Session) -> bool:
    """Read the commits that git has and the timeline lacks; return whether there were any."""
    from store.services import maintenance

    source = maintenance.read_from(session.memory, session.cwd)
    return bool(source and maintenance.catch_up(session.memory, source))


def _pair(given: "ParsedArguments") -> tuple[str, int]:
    written = given.commit if "#" in given.commit else f"C#{given.commit}"
    return str(reference(written, "commit").target), number(given.decision, "decision")


def _links(session: Session, decision: int) -> list[dict[str, object]]:
    from store.base.models import as_json

    return [as_json(link) for link in session.memory.commits.links_of_decision(decision)]
