"""Decide proposals: accept, reword, reject, merge, supersede, singly or in bulk; search for more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from store.base.citations import cite
from store.base.errors import MemorandaError, Purged
from store.base.models import Fact, Proposal
from store.base.vocabulary import pack_key
from store.history.checkpoints import MANY_RECORDS
from store.inbox.duplicates import find_similar_facts
from store.inbox.inbox import DoubtfulProposal, InboxChoice, InboxDecision
from store.memory import Memory
from store.text.similarity import CONTRADICTS, SAME_STATEMENT
from tui.actions.support import ActionHost, ask_if_many, join_citations, refuse_action, undo_hint, write_and_report
from tui.commands.call import parse_id
from tui.desktop import programs
from tui.input.key_table import INBOX, key_name
from tui.render.lines import format_count, looks_like_order
from tui.render.proposals import MOST_IN_BATCH, add_mistake, parse_batch, related_fact_lines, write_batch

LIKE_AN_ORDER = "like an instruction to agents"
ONLY_MERGEABLE = "Only what is proposed, and facts, can be merged."


def selected_proposals(screen: ActionHost) -> list[Proposal]:
    """Return the selected proposals."""
    return [thing for thing in screen.targets() if isinstance(thing, Proposal)]


def accept_proposals(screen: ActionHost, chosen: Sequence[Proposal]) -> None:
    """Accept proposals; ask about those that look like instructions to agents."""
    if orders := sum(map(looks_like_order, chosen)):
        choices = [InboxChoice(one.id, "accept") for one in chosen]
        what = chosen[0].citation if len(chosen) == 1 else format_count(len(chosen), "proposal")
        of = f"{orders} of which" if len(chosen) > 1 else "which"
        which = f"{of} look{'s' if orders == 1 else ''} {LIKE_AN_ORDER}"
        screen.ask_first(f"Accept {what}, {which}?", lambda: decide_proposals(screen, choices))
        return
    _decide_all(screen, chosen, "accept", "Accept")


def reject_proposals(screen: ActionHost, chosen: Sequence[Proposal]) -> None:
    """Reject proposals."""
    _decide_all(screen, chosen, "reject", "Reject")


def _decide_all(screen: ActionHost, chosen: Sequence[Proposal], verb: str, word: str) -> None:
    choices = [InboxChoice(one.id, verb) for one in chosen]
    ask_if_many(
        screen,
        f"{word} {format_count(len(chosen), 'proposal')}?",
        len(chosen),
        lambda: decide_proposals(screen, choices),
    )


def edit_proposal(screen: ActionHost, proposal: Proposal) -> None:
    """Ask for another text, and accept a proposal with it."""
    if not _has_text(screen, proposal):
        return

    def answer(text: str) -> None:
        if text.strip():
            decide_proposals(screen, [InboxChoice(proposal.id, "accept", text)])

    screen.ask(f"accept {proposal.citation} as", proposal.text, answer)


def merge(screen: ActionHost) -> None:
    """Merge a proposal with the fact that it resembles, or the marked facts. A proposal to merge is carried out as it
    is."""
    chosen = selected_proposals(screen)
    facts = [thing.id for thing in screen.targets() if isinstance(thing, Fact)]
    if chosen and not _is_single(screen, chosen):
        return
    if chosen and chosen[0].kind == "merge":
        accept_proposals(screen, chosen)
    elif chosen and _has_text(screen, chosen[0]):
        _decide_with_fact(screen, chosen[0], "merge", "merge {} with which fact? F#…")
    elif chosen:
        return
    elif len(facts) > 1:
        said = f"Merged {format_count(len(facts), 'fact')}{undo_hint()}"
        ask_if_many(
            screen,
            f"Merge {format_count(len(facts), 'fact')}?",
            len(facts),
            lambda: write_and_report(
                screen,
                lambda memory: memory.inbox.join_facts(facts[0], facts[1:]),
                said,
                before=(f"merge {format_count(len(facts), 'fact')}", len(facts)),
            ),
        )
    elif facts:
        screen.ask(
            f"merge {cite('fact', facts[0])} with which fact? F#…",
            "",
            lambda text: _merge_facts(screen, facts[0], text),
        )
    else:
        refuse_action(screen, screen.targets(), ONLY_MERGEABLE)


def supersede_by_proposal(screen: ActionHost, proposal: Proposal) -> None:
    """Let the only selected proposal replace a fact."""
    if _is_single(screen, selected_proposals(screen)) and _has_text(screen, proposal):
        _decide_with_fact(screen, proposal, "supersede", "{} replaces which fact? F#…")


def _is_single(screen: ActionHost, chosen: Sequence[Proposal]) -> bool:
    """Tell whether at most one proposal is selected; if not, explain that each needs a fact of its own."""
    if len(chosen) > 1:
        screen.say(f"{join_citations(chosen)}: each has a fact of its own. Take them one by one.", "warning")
    return len(chosen) <= 1


def _has_text(screen: ActionHost, proposal: Proposal) -> bool:
    """Tell whether a proposal has a text; if it proposes to forget a fact, explain that it can only be accepted or
    rejected."""
    if proposal.kind == "forget":
        screen.say(f"{proposal.citation} asks to forget a fact: accept it or reject it.", "warning")
    return proposal.kind != "forget"


def find_duplicates(screen: ActionHost) -> None:
    """Search for duplicates and contradictions, which are added to the inbox."""
    screen.go_to(INBOX)
    screen.run_line("merge")


def _merge_facts(screen: ActionHost, fact: int, text: str) -> None:
    """Merge a fact with the fact whose number was typed."""
    other = _typed_fact(screen, text)
    if other is not None:
        said = f"Merged {cite('fact', fact)} and {cite('fact', other)}{undo_hint()}"
        write_and_report(screen, lambda memory: memory.inbox.join_facts(fact, [other]), said)


def _decide_with_fact(screen: ActionHost, proposal: Proposal, verb: str, question: str) -> None:
    """Proceed without a prompt when the target is unambiguous: to merge, the only duplicate; to supersede, the fact
    that the proposal is about, or the only similar one."""

    def found(result: object, error: MemorandaError | None) -> None:
        known, plain = result if isinstance(result, tuple) else ([], False)
        if error is not None:
            screen.later(screen.say, str(error), "error", 8)
        elif plain:
            screen.later(decide_proposals, screen, [InboxChoice(proposal.id, verb, fact=known[0])])
        else:
            screen.later(ask, cite("fact", known[0]) if known else "")

    def ask(first: str) -> None:
        def answer(text: str) -> None:
            fact = _typed_fact(screen, text)
            if fact is not None:
                decide_proposals(screen, [InboxChoice(proposal.id, verb, fact=fact)])

        screen.ask(question.format(proposal.citation), first, answer)

    if screen.engine is not None:
        screen.engine.write(lambda memory: _possible_targets(memory, proposal, verb), found)


def _possible_targets(memory: Memory, proposal: Proposal, verb: str) -> tuple[list[int], bool]:
    """Return (the facts that a proposal may be merged with or replace, whether the first is unambiguous). A fact that
    the proposal contradicts is no target of a merge."""
    if verb == "supersede" and proposal.target is not None:
        return [proposal.target], True
    likes = find_similar_facts(memory.database, memory.facts, proposal.text)
    if verb == "supersede":
        return [like.fact.id for like in likes], len(likes) == 1
    likes = [like for like in likes if like.how != CONTRADICTS]
    return [like.fact.id for like in likes], [like.how for like in likes].count(SAME_STATEMENT) == 1


def _typed_fact(screen: ActionHost, text: str) -> int | None:
    if not text.strip():
        return None
    try:
        return parse_id(text.strip(), "fact")
    except MemorandaError as error:
        screen.say(str(error), "warning")
        return None


def decide_proposals(screen: ActionHost, choices: Sequence[InboxChoice], anyway: bool = False) -> None:
    """Apply choices on the writer's thread and show the result; ask again about a proposal whose evidence has
    changed."""

    def work(memory: Memory) -> object:
        done = memory.inbox.decide(choices, anyway=anyway)
        return done, memory.inbox.get_many(list(done.made)[:1])

    def said(result: object) -> tuple[str, int | None]:
        done, accepted = cast("tuple[InboxDecision, Sequence[Proposal]]", result)
        if done.left:
            screen.app.call_later(lambda: _report_undecided(screen, choices, done, accepted))
        facts = [fact for fact in done.made.values() if fact is not None]
        if len(done.left) == 1:
            return decision_summary(done, accepted), pack_key("proposal", next(iter(done.left)))
        return decision_summary(done, accepted), pack_key("fact", facts[0]) if len(
            facts
        ) == 1 and screen.current_list != INBOX else None

    if len(choices) <= 2 * MANY_RECORDS:
        screen.hide_proposals([choice.number for choice in choices])
    write_and_report(
        screen,
        work,
        said,
        back=pack_key("proposal", choices[0].number) if len(choices) == 1 else None,
        before=(f"decide {format_count(len(choices), 'proposal')}", len(choices)),
    )


def _report_undecided(
    screen: ActionHost, choices: Sequence[InboxChoice], done: InboxDecision, accepted: Sequence[Proposal]
) -> None:
    """Report what failed beside what was done: a doubt about one proposal becomes a question, several are counted."""
    again = [choice for choice in choices if isinstance(done.left.get(choice.number), DoubtfulProposal | Purged)]
    if len(done.left) == 1 and again:
        error = next(iter(done.left.values()))
        why = error.doubts[0].says if isinstance(error, DoubtfulProposal) else error.message
        question = f"Accept {cite('proposal', again[0].number)} all the same? {why}"
        screen.ask_first(question, lambda: decide_proposals(screen, again, anyway=True))
        return
    number, first = next(iter(done.left.items()))
    more = f" And {format_count(len(done.left) - 1, 'other')} more." if len(done.left) > 1 else ""
    did = f"{decision_summary(done, accepted)}. " if done.made or done.rejected else ""
    screen.say(f"{did}{cite('proposal', number)} waits: {first.message}{more}", "warning", 8, alone=True)


def accepted_words(proposal: Proposal, fact: int | None) -> str:
    """Return what accepting a proposal changed: the fact that it made, and what became of the one it was about."""
    made = cite("fact", fact) if fact else ""
    about = cite("fact", proposal.target) if proposal.target is not None else ""
    if proposal.kind == "forget":
        return f"{about} is forgotten"
    if made and about and made != about:
        return f"{made} replaces {about}"
    return f"{made} is confirmed" if proposal.kind == "confirm" and made else made


def decision_summary(done: InboxDecision, accepted: Sequence[Proposal]) -> str:
    """Return the message about what was decided, with how to undo it; `accepted` is a single accepted proposal."""
    parts = []
    if len(done.made) == 1:
        ((number, fact),) = done.made.items()
        came = accepted_words(accepted[0], fact) or done.resulting_citation(number) if accepted else ""
        looks = f", which looks {LIKE_AN_ORDER}" if accepted and looks_like_order(accepted[0]) else ""
        parts.append(f"Accepted {cite('proposal', number)}{f': {came}' if came else ''}{looks}")
    elif done.made:
        parts.append(f"Accepted {format_count(len(done.made), 'proposal')}")
    if done.rejected:
        what = (
            cite("proposal", done.rejected[0])
            if len(done.rejected) == 1
            else format_count(len(done.rejected), "proposal")
        )
        parts.append(f"{'rejected' if parts else 'Rejected'} {what}")
    if done.left:
        parts.append(f"{len(done.left)} left waiting")
    back = undo_hint() if done.made or done.rejected else ""
    return ", ".join(parts) + back


def put_off_proposals(screen: ActionHost) -> None:
    """Move the selected proposals to the end of the list until the application is left, and go on to the next."""
    chosen = selected_proposals(screen)
    if not chosen or screen.engine is None:
        screen.say("Nothing to review.")
        return
    numbers = [one.id for one in chosen]
    screen.engine.put_off = (*(one for one in screen.engine.put_off if one not in numbers), *numbers)
    listed = screen.list_of(INBOX)
    if not listed.marks:
        listed.action_move(1)
    screen.unmark()
    screen.say(f"{join_citations(chosen)} later: at the end of the list; nothing was decided", alone=True)
    screen.refresh_records()


def decide_in_editor(screen: ActionHost) -> None:
    """Decide the marked proposals, or the whole list, in the user's editor. A text with a mistake is opened again, and
    kept where it is left so: the next time it is opened as it was, while any of its proposals waits."""
    engine = screen.engine
    if engine is None:
        return
    marked = selected_proposals(screen) if screen.list_of(INBOX).marks else []
    memory = engine.screen
    kept, given = engine.decisions_kept
    chosen = memory.inbox.get_many(kept)
    if not any(one.state == "waiting" for one in chosen):
        engine.decisions_kept = kept, given = [], ""
    if not kept or not {one.id for one in marked} <= set(kept):
        chosen = marked or memory.inbox.waiting(origin=screen.view.asker, limit=MOST_IN_BATCH)
        given = write_batch(chosen, lambda one: related_fact_lines(memory, one))
    if not chosen:
        screen.say("Nothing to review.")
        return
    wrong, choices = "", list[InboxChoice]()
    while True:  # an error reopens the editor with the message at its line; an unchanged text then decides nothing
        try:
            text = programs.edit_in_editor(screen.app, given, command=screen.setting("editor"))
        except MemorandaError as error:
            wrong, text = str(error), None
        if text is None or text == given:
            break
        engine.decisions_kept = [one.id for one in chosen], text
        try:
            choices, wrong = parse_batch(text, chosen), ""
            break
        except MemorandaError as error:
            given, wrong = add_mistake(text, error), str(error)
            engine.decisions_kept = [one.id for one in chosen], given
    if wrong or not choices:
        if not wrong and text != given:
            engine.decisions_kept = [], ""
        back = (
            f" What you wrote is kept: {key_name('record.edit')} opens it again."
            if engine.decisions_kept[0]
            else ""
        )
        screen.say(f"{f'{wrong} ' if wrong else ''}No change.{back}", "error" if wrong else "information", 8)
        return

    def agreed() -> None:
        engine.decisions_kept = [], ""
        decide_proposals(screen, choices)

    ask_if_many(
        screen,
        f"Decide {join_citations(chosen)}?"
        if len(choices) <= MANY_RECORDS
        else f"Decide {format_count(len(choices), 'proposal')}?",
        len(choices),
        agreed,
    )
