"""The commands of the inbox, today and merge, and how proposals are decided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from store.base.citations import Citation, cite
from store.base.errors import ExitStatus, InvalidInput
from store.base.models import Proposal, as_json
from store.base.vocabulary import PROPOSAL_STATES
from store.conversations.extraction_queue import count_queued_turns
from store.inbox.duplicates import compare_new_facts, find_similar_facts, propose_duplicates
from store.inbox.inbox import DoubtfulProposal, InboxChoice
from store.learning.tasks import fact_summarizer
from store.librarian.structured_output import read_model_stats
from store.memory import Memory
from store.records.workflow import proposal_fact_ids
from store.text.display import agree_verb, format_count, shorten
from tui.commands.call import Call, Ids, Outcome, count_cited, numbers_of, parse_reference
from tui.commands.record_lines import more_line, proposal_line
from tui.input.arguments import Shown, verb
from tui.render.lines import WARNING_SIGN, looks_like_order
from tui.render.proposals import decisions_beside


@verb(looks=True)
def today(
    call: Call,
    *,
    origin: Annotated[str | None, Shown("O")] = None,
    state: Annotated[str, Shown("S", PROPOSAL_STATES)] = "",
    limit: int = 50,
) -> Outcome:
    """List what is proposed and waiting for review, newest first.

    origin: only what this one asks: mcp:claude-code, import:notes …
    state: waiting, accepted or rejected
    """
    memory, inbox = call.memory, call.memory.inbox
    # the application does it in the background
    if memory.database.door == "cli":
        compare_new_facts(memory.database, memory.facts, inbox)
    ids = inbox.ids(state=state or "waiting", origin=origin, limit=limit + 1)
    shown = inbox.get_many(ids[:limit])
    now = memory.now
    lines = []
    for one in shown:
        lines += [proposal_line(one, now), *(f"        {like}" for like in _like_lines(memory, one))]
    if not shown:
        lines = ["Nothing to review. What agents propose is listed here until you accept or reject it."]
    unheard, unread = count_queued_turns(memory.database)[0], read_model_stats(memory.database, now).queued
    for turns, waits in (
        (unheard, "wait to be learned from: the application does it, or memoranda session flush."),
        (unread, "wait unread, for a model to look for what is worth keeping: memoranda config model."),
    ):
        lines += [f"{format_count(turns, 'turn')} {agree_verb(turns, waits)}"] if turns else []
    return Outcome(
        data=lambda: [_proposal_json(memory, one) for one in shown],
        lines=[*lines, *more_line(len(ids) - len(shown), limit)],
    )


@verb(looks=lambda given: not given.ids)
def merge(call: Call, ids: Ids = [], *, anyway: bool = False, yes: bool = False) -> Outcome:
    """Merge facts that say the same: merge 12 13; or a proposal and a fact: merge P#8 12; alone it looks for some.

    ids: the one that stays, then the others: 12 13, or P#8 12
    yes: even if the text was purged once
    """
    if not ids:
        return _find_duplicates(call)
    first, *rest = [parse_reference(text, "fact", "proposal") for text in ids]
    if not rest:
        raise InvalidInput("Merging takes two records.", "merge 12 13, or merge P#8 12")
    if any(one.kind != "fact" for one in rest):
        raise InvalidInput("A proposal is merged with a fact, and not a fact with a proposal.", "merge P#8 12")
    kept, facts = int(first.target), numbers_of(rest)
    if first.kind == "proposal":
        if len(facts) > 1:
            raise InvalidInput("A proposal is merged with one fact.", "merge P#8 12")
        return decide_proposals(call, "merge", [first], anyway, fact=facts[0])
    call.some(ids, "fact", act="merge")
    kept = call.ask_if_purged(yes, lambda again: call.memory.inbox.join_facts(kept, facts, again=again))
    others = ", ".join(str(one) for one in rest if one.target != kept)
    return call.wrote(f"Merged {first} and {others} into {cite('fact', kept)}.", "fact", kept)


def _find_duplicates(call: Call) -> Outcome:
    """Find facts that say the same or contradict each other, and propose what to do."""
    memory = call.memory
    with fact_summarizer(memory) as summary:
        found = propose_duplicates(memory.database, memory.facts, memory.inbox, memory.now, summary=summary)
    lines = [proposal_line(one, memory.now) for one in memory.inbox.get_many(found.proposals)]
    return Outcome(
        found.describe(),
        lambda: {**found._asdict(), "proposals": _proposals_json(memory, found.proposals)},
        lines,
        status=ExitStatus.UNFINISHED if found.left else ExitStatus.DONE,
    )


def decide_proposals(
    call: Call,
    verb: str,
    named: Sequence[Citation],
    anyway: bool = False,
    text: str | None = None,
    fact: int | None = None,
) -> Outcome:
    """Reject proposals, all or none; or accept them, in other words (`text`), merged with a fact or in its place. Of
    what is accepted a single failure is raised; of several, the others are applied and the failures listed."""
    memory, inbox, numbers = call.memory, call.memory.inbox, numbers_of(named)
    if verb == "reject":
        inbox.reject(numbers)
        return Outcome(f"Rejected {count_cited(named)}.", lambda: _proposals_json(memory, numbers))
    orders = [one for one in inbox.get_many(numbers) if looks_like_order(one)]
    choices = [InboxChoice(number, verb, text, fact) for number in numbers]
    done = inbox.decide(choices, anyway=anyway, whole=len(choices) == 1)
    lines = [
        f"{WARNING_SIGN} {one.citation} looks like an instruction to agents; undo it if it is wrong."
        for one in orders
    ]
    status = ExitStatus.PERSON if done.left else ExitStatus.DONE
    for error in done.left.values():
        lines.append(f"{error}")
        if not isinstance(error, DoubtfulProposal):
            status = ExitStatus.CANNOT
            continue
        for doubt in error.doubts:
            lines += [f"    then: {shorten(doubt.then, 80)}", f"    now:  {shorten(doubt.now, 80)}"]
    made = [came for number in done.made if (came := done.resulting_citation(number))]
    came = f": {' '.join(made[:10])}{' …' if len(made) > 10 else ''}" if made else ""
    left = f"; {len(done.left)} left waiting" if done.left else ""
    accepted = count_cited([one for one in named if one.target in done.made]) if done.made else "0 proposals"
    said = f"Accepted {accepted}{came}{left}."
    return Outcome(said, lambda: _proposals_json(memory, numbers), lines, status=status)


def _like_lines(memory: Memory, proposal: Proposal) -> Iterable[str]:
    """Yield a line for each record that a proposal duplicates or contradicts."""
    if proposal.state != "waiting":
        return
    about = proposal_fact_ids(proposal)
    for fact in memory.facts.get_many(about):
        yield f"about {fact.citation}  {shorten(fact.fact)}"
    for like in find_similar_facts(memory.database, memory.facts, proposal.text, about)[:3]:
        word = {"contradicts": "contradicts", "same": "the same as", "alike": "much like"}[like.how]
        yield f"{word} {like.fact.citation}  {shorten(like.fact.fact)}"
    for one in decisions_beside(memory, proposal)[:3]:
        word = f"{WARNING_SIGN} contradicts" if one.against else "says what was decided:"
        yield f"{word} {one.decision.citation}  {shorten(one.decision.title)}"


def _proposals_json(memory: Memory, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Return proposals for scripts."""
    return [_proposal_json(memory, one) for one in memory.inbox.get_many(numbers)]


def _proposal_json(memory: Memory, proposal: Proposal) -> dict[str, Any]:
    waits = proposal.state == "waiting"
    likes = find_similar_facts(memory.database, memory.facts, proposal.text) if waits else []
    decided = decisions_beside(memory, proposal) if waits else []
    return {
        **as_json(proposal),
        "alike": [{"fact": one.fact.citation, "how": one.how, "score": one.score} for one in likes],
        "decisions": [{"decision": one.decision.citation, "how": one.how} for one in decided],
    }
