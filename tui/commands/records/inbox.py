"""inbox, accept, edit, reject, merge, duplicates."""

from collections.abc import Iterable, Mapping, Sequence

from store.base.citations import cite
from store.base.errors import Declined, InvalidInput
from store.base.models import Proposal, as_json
from store.inbox.inbox import Decided, Doubtful, InboxChoice
from tui.commands import Outcome, Session, number, reference, text_of, though_purged
from tui.commands.record_lines import cut, left_out, proposal_line
from tui.render.badges import WARNING
from tui.render.details.proposal_detail import flagged
from tui.render.plurals import count, said_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tui.input.argument_parser import ParsedArguments


def list_proposals(session: Session, given: "ParsedArguments") -> Outcome:
    from store.conversations import extraction_queue
    from store.inbox import new_fact_check
    from store.llm.usage_stats import model_stats

    memory, inbox = session.memory, session.memory.inbox
    if memory.database.door == "cli":  # the application does it in the background
        new_fact_check.compare(memory.database, memory.facts, inbox)
    ids = inbox.ids(state=given.state or "waiting", origin=given.origin, limit=given.limit + 1)
    shown = inbox.many(ids[: given.limit])
    now = memory.now
    lines = []
    for one in shown:
        lines.append(proposal_line(one, now))
        lines += [f"        {like}" for like in _likes(session, one)]
    if not shown:
        lines = ["Nothing to review. What agents propose is listed here until you accept or reject it."]
    if unheard := extraction_queue.counts(memory.database)[0]:
        waits = said_of(unheard, "wait to be learned from: the application does it, or memoranda flush.")
        lines.append(f"{count(unheard, 'turn')} {waits}")
    if unread := model_stats(memory.database, now).queued:
        waits = said_of(unread, "wait unread, for a model to look for what is worth keeping: memoranda model.")
        lines.append(f"{count(unread, 'turn')} {waits}")
    return Outcome(
        data=lambda: [_json(session, one) for one in shown],
        lines=[*lines, *left_out(len(ids) - len(shown), given.limit)],
    )


def accept(session: Session, given: "ParsedArguments") -> Outcome:
    numbers = _named(session, given, "accept")
    fact = number(given.supersedes, "fact") if given.supersedes else None
    if fact is not None and len(numbers) > 1:
        raise InvalidInput("One proposal at a time takes the place of a fact.", "accept 8 --supersedes 12")
    verb = "accept" if fact is None else "supersede"
    return _decided(session, [InboxChoice(one, verb, None, fact) for one in numbers], given.anyway)


def edit(session: Session, given: "ParsedArguments") -> Outcome:
    proposal = number(given.id, "proposal")
    text = text_of(session, given.text, f"edit {given.id}")
    return _decided(session, [InboxChoice(proposal, "accept", text)], given.anyway)


def reject(session: Session, given: "ParsedArguments") -> Outcome:
    numbers = _named(session, given, "reject")
    first = _first(session, "reject", len(numbers))
    session.memory.inbox.reject(numbers)
    return Outcome(f"Rejected {_counted(numbers)}.{first}", lambda: _all(session, numbers))


def merge(session: Session, given: "ParsedArguments") -> Outcome:
    """Merge a proposal into a fact, or facts into one."""
    first, *rest = [reference(text, "fact", "fact", "proposal") for text in given.ids]
    if not rest:
        raise InvalidInput("Merging takes two records.", "merge 12 13, or merge P#8 12")
    if any(one.kind != "fact" for one in rest):
        raise InvalidInput("A proposal is merged with a fact, and not a fact with a proposal.", "merge P#8 12")
    facts = [int(one.target) for one in rest]
    if first.kind == "proposal":
        if len(facts) > 1:
            raise InvalidInput("A proposal is merged with one fact.", "merge P#8 12")
        return _decided(session, [InboxChoice(int(first.target), "merge", None, facts[0])], given.anyway)
    join = session.memory.inbox.join
    kept = though_purged(session, given, lambda again: join(int(first.target), facts, again=again))
    others = ", ".join(cite("fact", one) for one in facts if one != kept)
    return Outcome(f"Merged {cite('fact', int(first.target))} and {others} into {cite('fact', kept)}.",
                   lambda: as_json(session.memory.facts.get(kept)))  # fmt: skip


def duplicates(session: Session, given: "ParsedArguments") -> Outcome:
    from store.inbox.duplicates import nominate
    from store.learning import summarizers

    memory = session.memory
    with summarizers.of_facts(memory) as summary:
        found = nominate(memory.database, memory.facts, memory.inbox, memory.now, summary=summary)
    lines = [proposal_line(one, memory.now) for one in memory.inbox.many(found.proposals)]
    seen = (
        f"{count(found.facts, 'fact')} looked at{'' if found.meaning else ', by words alone'}:"
        f" {count(found.duplicates, 'duplicate')}, {count(found.contradictions, 'contradiction')},"
        f" {found.against_decisions:,} against a later decision,"
        f" {count(found.clusters, 'group')} of old facts."
    )
    new = f"{count(len(found.proposals), 'new proposal')} in the inbox; undo removes all of them."
    said = f"{seen} {new}" if found.proposals else f"{seen} Nothing new to ask."
    if found.left:
        said += f" {found.left:,} more wait for the next time."
    data: dict[str, Any] = {name: getattr(found, name) for name in type(found).__slots__}
    return Outcome(said, lambda: {**data, "proposals": _all(session, found.proposals)}, lines)


def _named(session: Session, given: "ParsedArguments", verb: str) -> list[int]:
    """Return the ids of the proposals named, or of all pending ones of an origin. Raises InvalidInput, NotFound,
    Declined."""
    if bool(given.ids) == bool(given.origin):
        raise InvalidInput(
            "Name proposals, or whose they are, and not both.", f"{verb} 8 9, or {verb} --origin import:notes"
        )
    if given.ids:
        return list(dict.fromkeys(number(text, "proposal") for text in given.ids))
    numbers = session.memory.inbox.ids(origin=given.origin)
    if not numbers:
        raise InvalidInput("There is nothing to review from that origin.", "See who asks: `memoranda inbox`.")
    if not given.yes and not session.ask(f"{verb.capitalize()} {count(len(numbers), 'proposal')} from {given.origin}?"):
        raise Declined("No change.")
    return numbers


def _decided(session: Session, choices: Sequence[InboxChoice], anyway: bool) -> Outcome:
    """Apply choices. A single failure is raised; of several, the others are applied and the failures listed."""
    inbox = session.memory.inbox
    orders = [one for one in inbox.many([choice.number for choice in choices]) if flagged(one)]
    first = _first(session, "accept", len(choices))
    done = inbox.decide(choices, anyway=anyway, whole=len(choices) == 1)
    lines = [f"{WARNING} {one.citation} looks like an instruction to agents; undo it if it is wrong." for one in orders]
    for error in done.left.values():
        lines.append(f"{error}")
        if isinstance(error, Doubtful):
            lines += [f"    then: {cut(doubt.then, 80)}\n    now:  {cut(doubt.now, 80)}" for doubt in error.doubts]
    return Outcome(
        f"{_said(done)}{first}",
        lambda: _all(session, [choice.number for choice in choices]),
        lines,
        status=1 if done.left else 0,
    )


def _first(session: Session, act: str, proposals: int) -> str:
    """Take a checkpoint before many proposals are decided, and return the sentence that says so."""
    number = session.memory.checkpoints.before(f"{act} {count(proposals, 'proposal')}", proposals)
    return "" if number is None else f" {cite('checkpoint', number)} is how it was."


def _said(done: Decided) -> str:
    made = [came for number in done.made if (came := done.came(number))]
    came = f": {' '.join(made[:10])}{' …' if len(made) > 10 else ''}" if made else ""
    left = f"; {len(done.left)} left waiting" if done.left else ""
    return f"Accepted {_counted(list(done.made))}{came}{left}."


def _counted(numbers: Sequence[int]) -> str:
    return cite("proposal", numbers[0]) if len(numbers) == 1 else count(len(numbers), "proposal")


def _likes(session: Session, proposal: Proposal) -> Iterable[str]:
    """Yield a line for each record that a proposal duplicates or contradicts."""
    from store.inbox.decision_conflicts import find_matches
    from store.inbox.duplicates import alike
    from store.records.proposals import about

    if proposal.state != "waiting":
        return
    for fact in session.memory.facts.many(about(proposal)):
        yield f"about {fact.citation}  {cut(fact.fact)}"
    memory = session.memory
    for like in alike(memory.database, memory.facts, proposal.text, about(proposal))[:3]:
        word = {"contradicts": "contradicts", "same": "the same as", "alike": "much like"}[like.how]
        yield f"{word} {like.fact.citation}  {cut(like.fact.fact)}"
    for one in find_matches(memory.database, proposal.text)[:3] if proposal.kind != "forget" else ():
        word = f"{WARNING} contradicts" if one.against else "says what was decided:"
        yield f"{word} {one.decision.citation}  {cut(one.decision.title)}"


def _all(session: Session, numbers: Sequence[int]) -> "list[dict[str, Any]]":
    return [_json(session, one) for one in session.memory.inbox.many(numbers)]


def _json(session: Session, proposal: Proposal) -> "dict[str, Any]":
    from store.inbox.decision_conflicts import find_matches
    from store.inbox.duplicates import alike

    memory = session.memory
    likes: list[Mapping[str, object]] = []
    decided: list[Mapping[str, object]] = []
    if proposal.state == "waiting":
        if proposal.kind != "forget":
            found = find_matches(memory.database, proposal.text)
            decided = [{"decision": one.decision.citation, "how": one.how} for one in found]
        likes = [
            {"fact": like.fact.citation, "how": like.how, "score": like.score}
            for like in alike(memory.database, memory.facts, proposal.text)
        ]
    return {**as_json(proposal), "alike": likes, "decisions": decided}
