"""The commands of the inbox: inbox, accept, edit, reject, merge, duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from store.base.citations import cite
from store.base.errors import Declined, ExitStatus, InvalidInput, MemorandaError
from store.base.models import Proposal, as_json
from store.conversations.extraction_queue import count_queued_turns
from store.inbox.duplicates import compare_new_facts, find_decision_matches, find_similar_facts, propose_duplicates
from store.inbox.inbox import DoubtfulProposal, InboxChoice, InboxDecision
from store.learning.tasks import fact_summarizer
from store.librarian.structured_output import read_model_stats
from store.records.workflow import proposal_fact_ids
from tui.commands.call import Outcome, Session, ask_if_purged, parse_id, parse_reference, typed_or_piped_text
from tui.commands.record_lines import more_line, proposal_line, shorten
from tui.input.arguments import ParsedArguments
from tui.render.lines import WARNING_SIGN, agree_verb, format_count, looks_like_order


def list_proposals(session: Session, given: ParsedArguments) -> Outcome:
    memory, inbox = session.memory, session.memory.inbox
    if memory.database.door == "cli":  # the application does it in the background
        compare_new_facts(memory.database, memory.facts, inbox)
    ids = inbox.ids(state=given.state or "waiting", origin=given.origin, limit=given.limit + 1)
    shown = inbox.get_many(ids[: given.limit])
    now = memory.now
    lines = []
    for one in shown:
        lines.append(proposal_line(one, now))
        lines += [f"        {like}" for like in _like_lines(session, one)]
    if not shown:
        lines = ["Nothing to review. What agents propose is listed here until you accept or reject it."]
    if unheard := count_queued_turns(memory.database)[0]:
        waits = agree_verb(unheard, "wait to be learned from: the application does it, or memoranda flush.")
        lines.append(f"{format_count(unheard, 'turn')} {waits}")
    if unread := read_model_stats(memory.database, now).queued:
        waits = agree_verb(unread, "wait unread, for a model to look for what is worth keeping: memoranda model.")
        lines.append(f"{format_count(unread, 'turn')} {waits}")
    return Outcome(
        data=lambda: [_proposal_json(session, one) for one in shown],
        lines=[*lines, *more_line(len(ids) - len(shown), given.limit)],
    )


def accept(session: Session, given: ParsedArguments) -> Outcome:
    """Accept proposals."""
    numbers = _proposal_ids(session, given, "accept")
    fact = parse_id(given.supersedes, "fact") if given.supersedes else None
    if fact is not None and len(numbers) > 1:
        raise InvalidInput("One proposal at a time takes the place of a fact.", "accept 8 --supersedes 12")
    verb = "accept" if fact is None else "supersede"
    return _decide_choices(session, [InboxChoice(one, verb, None, fact) for one in numbers], given.anyway)


def edit(session: Session, given: ParsedArguments) -> Outcome:
    """Accept a proposal with another text."""
    proposal = parse_id(given.id, "proposal")
    text = typed_or_piped_text(session, given.text, f"edit {given.id}")
    return _decide_choices(session, [InboxChoice(proposal, "accept", text)], given.anyway)


def reject(session: Session, given: ParsedArguments) -> Outcome:
    """Reject proposals."""
    numbers = _proposal_ids(session, given, "reject")
    first = _checkpoint_before(session, "reject", len(numbers))
    session.memory.inbox.reject(numbers)
    return Outcome(f"Rejected {_cite_proposals(numbers)}.{first}", lambda: _proposals_json(session, numbers))


def merge(session: Session, given: ParsedArguments) -> Outcome:
    """Merge a proposal into a fact, or several facts into a single fact."""
    first, *rest = [parse_reference(text, "fact", "fact", "proposal") for text in given.ids]
    if not rest:
        raise InvalidInput("Merging takes two records.", "merge 12 13, or merge P#8 12")
    if any(one.kind != "fact" for one in rest):
        raise InvalidInput("A proposal is merged with a fact, and not a fact with a proposal.", "merge P#8 12")
    facts = [int(one.target) for one in rest]
    if first.kind == "proposal":
        if len(facts) > 1:
            raise InvalidInput("A proposal is merged with one fact.", "merge P#8 12")
        return _decide_choices(session, [InboxChoice(int(first.target), "merge", None, facts[0])], given.anyway)
    join = session.memory.inbox.join_facts
    kept = ask_if_purged(session, given, lambda again: join(int(first.target), facts, again=again))
    others = ", ".join(cite("fact", one) for one in facts if one != kept)
    return Outcome(f"Merged {cite('fact', int(first.target))} and {others} into {cite('fact', kept)}.",
                   lambda: as_json(session.memory.facts.get(kept)))  # fmt: skip


def duplicates(session: Session, given: ParsedArguments) -> Outcome:
    memory = session.memory
    with fact_summarizer(memory) as summary:
        found = propose_duplicates(memory.database, memory.facts, memory.inbox, memory.now, summary=summary)
    lines = [proposal_line(one, memory.now) for one in memory.inbox.get_many(found.proposals)]
    seen = (
        f"{format_count(found.facts, 'fact')} looked at{'' if found.meaning else ', by words alone'}:"
        f" {format_count(found.duplicates, 'duplicate')}, {format_count(found.contradictions, 'contradiction')},"
        f" {found.against_decisions:,} against a later decision,"
        f" {format_count(found.clusters, 'group')} of old facts."
    )
    new = f"{format_count(len(found.proposals), 'new proposal')} in the inbox; undo removes all of them."
    said = f"{seen} {new}" if found.proposals else f"{seen} Nothing new to ask."
    if found.left:
        said += f" {found.left:,} more wait for the next time."
    data: dict[str, Any] = {name: getattr(found, name) for name in type(found).__slots__}
    status = ExitStatus.UNFINISHED if found.left else ExitStatus.DONE
    return Outcome(
        said, lambda: {**data, "proposals": _proposals_json(session, found.proposals)}, lines, status=status
    )


def _proposal_ids(session: Session, given: ParsedArguments, verb: str) -> list[int]:
    """Return the ids of the named proposals, or of all pending proposals of an origin. Raise InvalidInput,
    NotFound, Declined."""
    if bool(given.ids) == bool(given.origin):
        raise InvalidInput(
            "Name proposals, or whose they are, and not both.", f"{verb} 8 9, or {verb} --origin import:notes"
        )
    if given.ids:
        return list(dict.fromkeys(parse_id(text, "proposal") for text in given.ids))
    numbers = session.memory.inbox.ids(origin=given.origin)
    if not numbers:
        raise InvalidInput("There is nothing to review from that origin.", "See who asks: `memoranda inbox`.")
    if not given.yes and not session.ask(
        f"{verb.capitalize()} {format_count(len(numbers), 'proposal')} from {given.origin}?"
    ):
        raise Declined("No change.")
    return numbers


def _decide_choices(session: Session, choices: Sequence[InboxChoice], anyway: bool) -> Outcome:
    """Apply choices. A single failure is raised; of several, the others are applied and the failures listed."""
    inbox = session.memory.inbox
    orders = [one for one in inbox.get_many([choice.number for choice in choices]) if looks_like_order(one)]
    first = _checkpoint_before(session, "accept", len(choices))
    done = inbox.decide(choices, anyway=anyway, whole=len(choices) == 1)
    lines = [
        f"{WARNING_SIGN} {one.citation} looks like an instruction to agents; undo it if it is wrong."
        for one in orders
    ]
    for error in done.left.values():
        lines.append(f"{error}")
        if isinstance(error, DoubtfulProposal):
            lines += [
                f"    then: {shorten(doubt.then, 80)}\n    now:  {shorten(doubt.now, 80)}" for doubt in error.doubts
            ]
    return Outcome(
        f"{_accept_message(done)}{first}",
        lambda: _proposals_json(session, [choice.number for choice in choices]),
        lines,
        status=_accept_status(list(done.left.values())),
    )


def _accept_status(left: Sequence[MemorandaError]) -> ExitStatus:
    """Return how accepting ends, by why proposals were left waiting."""
    if all(isinstance(error, DoubtfulProposal) for error in left):
        return ExitStatus.PERSON if left else ExitStatus.DONE
    return ExitStatus.CANNOT


def _checkpoint_before(session: Session, act: str, proposals: int) -> str:
    """Take a checkpoint before many proposals are decided, and return the sentence that says so."""
    number = session.memory.checkpoints.take_before(f"{act} {format_count(proposals, 'proposal')}", proposals)
    return "" if number is None else f" {cite('checkpoint', number)} is how it was."


def _accept_message(done: InboxDecision) -> str:
    """Return the message about accepted proposals."""
    made = [came for number in done.made if (came := done.resulting_citation(number))]
    came = f": {' '.join(made[:10])}{' …' if len(made) > 10 else ''}" if made else ""
    left = f"; {len(done.left)} left waiting" if done.left else ""
    return f"Accepted {_cite_proposals(list(done.made))}{came}{left}."


def _cite_proposals(numbers: Sequence[int]) -> str:
    """Return the citation of a single proposal; of several, their number."""
    return cite("proposal", numbers[0]) if len(numbers) == 1 else format_count(len(numbers), "proposal")


def _like_lines(session: Session, proposal: Proposal) -> Iterable[str]:
    """Yield a line for each record that a proposal duplicates or contradicts."""
    if proposal.state != "waiting":
        return
    for fact in session.memory.facts.get_many(proposal_fact_ids(proposal)):
        yield f"about {fact.citation}  {shorten(fact.fact)}"
    memory = session.memory
    for like in find_similar_facts(memory.database, memory.facts, proposal.text, proposal_fact_ids(proposal))[:3]:
        word = {"contradicts": "contradicts", "same": "the same as", "alike": "much like"}[like.how]
        yield f"{word} {like.fact.citation}  {shorten(like.fact.fact)}"
    for one in find_decision_matches(memory.database, proposal.text)[:3] if proposal.kind != "forget" else ():
        word = f"{WARNING_SIGN} contradicts" if one.against else "says what was decided:"
        yield f"{word} {one.decision.citation}  {shorten(one.decision.title)}"


def _proposals_json(session: Session, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Return proposals for scripts."""
    return [_proposal_json(session, one) for one in session.memory.inbox.get_many(numbers)]


def _proposal_json(session: Session, proposal: Proposal) -> dict[str, Any]:
    memory = session.memory
    likes: list[Mapping[str, object]] = []
    decided: list[Mapping[str, object]] = []
    if proposal.state == "waiting":
        if proposal.kind != "forget":
            found = find_decision_matches(memory.database, proposal.text)
            decided = [{"decision": one.decision.citation, "how": one.how} for one in found]
        likes = [
            {"fact": like.fact.citation, "how": like.how, "score": like.score}
            for like in find_similar_facts(memory.database, memory.facts, proposal.text)
        ]
    return {**as_json(proposal), "alike": likes, "decisions": decided}
