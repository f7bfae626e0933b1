"""What keys do with proposals: accept, reject, reword, merge, let them replace a fact; one at a time or many."""

from __future__ import annotations

from collections.abc import Sequence

from store.base.citations import cite
from store.base.errors import MemorandaError, Purged
from store.base.models import Fact, Proposal
from store.base.vocabulary import pack_key
from store.inbox.inbox import DoubtfulProposal, InboxChoice, InboxDecision
from store.memory import Memory
from store.text.display import format_count
from tui.actions.action import Action, ActionScreen, Done, agree, cite_things, open_editor
from tui.input.key_table import key_name
from tui.render.lines import looks_like_order
from tui.render.proposals import MOST_IN_BATCH, add_mistake, parse_batch, related_fact_lines, write_batch

LIKE_AN_ORDER = "like an instruction to agents"


def accept(memory: Memory, things: Sequence[Proposal]) -> Done:
    """Accept proposals; ask about those that look like instructions to agents."""
    if orders := sum(map(looks_like_order, things)):
        what = things[0].citation if len(things) == 1 else format_count(len(things), "proposal")
        of = f"{orders} of which" if len(things) > 1 else "which"
        agree(
            f"Accept {what}, {of} look{'s' if orders == 1 else ''} {LIKE_AN_ORDER}?", [one.text for one in things]
        )
    return decide(memory, things)


def decide(
    memory: Memory,
    things: Sequence[Proposal],
    verb: str = "accept",
    text: str | None = None,
    chosen: Fact | None = None,
) -> Done:
    """Reject proposals, which are not proposed again; or accept them, also in other words, merged with a fact that is
    chosen or in its place."""
    fact = chosen.id if chosen else None
    return decide_choices(memory, [InboxChoice(one.id, verb, text, fact) for one in things])


def decide_choices(memory: Memory, choices: Sequence[InboxChoice]) -> Done:
    """Carry out decisions, and say what became of them. A single one whose evidence changed is asked about."""
    before = memory.checkpoints.take_before(f"decide {format_count(len(choices), 'proposal')}", len(choices))
    done = memory.inbox.decide(choices)
    number, first = next(iter(done.left.items()), (0, None))
    if len(choices) == 1 and isinstance(first, DoubtfulProposal | Purged):
        why = first.doubts[0].says if isinstance(first, DoubtfulProposal) else first.message
        agree(f"Accept {cite('proposal', number)} all the same? {why}")
        done = memory.inbox.decide(choices, anyway=True)
        number, first = next(iter(done.left.items()), (0, None))
    text = decision_summary(memory, done)
    if first is not None:
        more = f" And {format_count(len(done.left) - 1, 'other')} more." if len(done.left) > 1 else ""
        did = f"{text}. " if done.made or done.rejected else ""
        text = f"{did}{cite('proposal', number)} waits: {first.message}{more}"
    if before:
        text = f"{text}; {cite('checkpoint', before)} is how it was"
    facts = [fact for fact in done.made.values() if fact is not None]
    key = pack_key("fact", facts[0]) if len(facts) == 1 else None
    level = "warning" if done.left else "information"
    return Done(text, key, undo=bool(done.made or done.rejected), level=level)


def accepted_words(proposal: Proposal, came: str) -> str:
    """Return what accepting a proposal changed: what came of it, and what became of the fact that it was about."""
    about = cite("fact", proposal.target) if proposal.target is not None else ""
    if proposal.kind == "forget":
        return f"{about} is forgotten"
    if came and about and came != about:
        return f"{came} replaces {about}"
    return f"{came} is confirmed" if proposal.kind == "confirm" and came else came


def decision_summary(memory: Memory, done: InboxDecision) -> str:
    """Return the message about what was decided."""
    parts = []
    if len(done.made) == 1:
        (number,) = done.made
        proposal = memory.inbox.get(number)
        came = accepted_words(proposal, done.resulting_citation(number))
        looks = f", which looks {LIKE_AN_ORDER}" if looks_like_order(proposal) else ""
        parts.append(f"Accepted {cite('proposal', number)}{f': {came}' if came else ''}{looks}")
    elif done.made:
        parts.append(f"Accepted {format_count(len(done.made), 'proposal')}")
    if done.rejected:
        several = format_count(len(done.rejected), "proposal")
        what = cite("proposal", done.rejected[0]) if len(done.rejected) == 1 else several
        parts.append(f"{'rejected' if parts else 'Rejected'} {what}")
    if done.left:
        parts.append(f"{len(done.left)} left waiting")
    return ", ".join(parts)


def put_off(screen: ActionScreen, things: Sequence[Proposal]) -> None:
    """Move proposals to the end of the list until the application is left; the cursor goes on to the next."""
    numbers = [one.id for one in things]
    screen.engine.put_off = (*(one for one in screen.engine.put_off if one not in numbers), *numbers)
    said = f"{cite_things(things)} later: at the end of the list; nothing was decided"
    later = Action("record.later", "later", does=lambda memory, things: Done(said, onward=True, undo=False))
    screen.perform(later, things)


def decide_in_editor(screen: ActionScreen, things: Sequence[Proposal]) -> None:
    """Decide the marked proposals, or all that wait, in the person's editor. A text with a mistake is opened again, and
    kept where it is left so: the next time it is opened as it was, while any of its proposals waits."""
    engine, memory = screen.engine, screen.engine.screen
    kept, given = engine.decisions_kept
    chosen = memory.inbox.get_many(kept)
    if not any(one.state == "waiting" for one in chosen):
        engine.decisions_kept = kept, given = [], ""
    marked = list(things) if len(things) > 1 else []
    if not kept or not {one.id for one in marked} <= set(kept):
        chosen = marked or memory.inbox.waiting(origin=screen.chosen("asker"), limit=MOST_IN_BATCH)
        given = write_batch(chosen, lambda one: related_fact_lines(memory, one))
    kept, wrong, choices = [one.id for one in chosen], "", list[InboxChoice]()
    try:
        # a mistake reopens the editor with the message at its line; an unchanged text then decides nothing
        while (text := open_editor(screen, given)) not in (None, given):
            engine.decisions_kept = kept, text
            try:
                choices, wrong = parse_batch(text, chosen), ""
                break
            except MemorandaError as error:
                given, wrong = add_mistake(text, error), str(error)
                engine.decisions_kept = kept, given
    except MemorandaError as error:  # no editor
        text, wrong = None, str(error)
    if wrong or not choices:
        if not wrong and text != given:
            engine.decisions_kept = [], ""
        again = f" What you wrote is kept: :{key_name('record.edit')[1:]} opens it again."
        said = f"{f'{wrong} ' if wrong else ''}No change.{again if engine.decisions_kept[0] else ''}"
        screen.say(said, "error" if wrong else "information")
        return
    engine.decisions_kept = [], ""
    decided = Action("record.edit", "decide", does=lambda memory, things: decide_choices(memory, choices))
    screen.perform(decided, chosen)
