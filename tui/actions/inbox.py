"""Decide proposals: accept, reword, reject, merge, supersede, singly or in bulk; search for more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from store.base.citations import cite
from store.base.errors import MemorandaError
from store.base.models import Fact, Proposal
from store.base.record_keys import pack
from store.history.checkpoints import MANY
from tui.actions.support import many, names_of, refuse, undoes, write
from tui.input.key_table import INBOX, named
from tui.render.details.proposal_detail import flagged
from tui.render.plurals import count

if TYPE_CHECKING:
    from store.inbox.inbox import Decided, InboxChoice
    from store.memory import Memory
    from tui.actions.host import ActionHost

ORDER = "like an instruction to agents"
HERE = "Only what is proposed, and facts, can be merged."


def proposals(screen: ActionHost) -> list[Proposal]:
    """Return the proposals that a key applies to."""
    return [thing for thing in screen.targets() if isinstance(thing, Proposal)]


def accept(screen: ActionHost, chosen: Sequence[Proposal]) -> None:
    """Accept proposals; ask about those that look like instructions to agents."""
    if orders := sum(map(flagged, chosen)):
        from store.inbox.inbox import InboxChoice

        choices = [InboxChoice(one.id, "accept") for one in chosen]
        what = chosen[0].citation if len(chosen) == 1 else count(len(chosen), "proposal")
        of = f"{orders} of which" if len(chosen) > 1 else "which"
        which = f"{of} look{'s' if orders == 1 else ''} {ORDER}"
        screen.ask_first(f"Accept {what}, {which}?", lambda: decide(screen, choices))
        return
    _decide(screen, chosen, "accept", "Accept")


def reject(screen: ActionHost, chosen: Sequence[Proposal]) -> None:
    _decide(screen, chosen, "reject", "Reject")


def _decide(screen: ActionHost, chosen: Sequence[Proposal], verb: str, word: str) -> None:
    from store.inbox.inbox import InboxChoice

    choices = [InboxChoice(one.id, verb) for one in chosen]
    many(screen, f"{word} {count(len(chosen), 'proposal')}?", len(chosen), lambda: decide(screen, choices))


def edit(screen: ActionHost, proposal: Proposal) -> None:
    """Accept a proposal with a text of the user's own."""
    from store.inbox.inbox import InboxChoice

    if not _worded(screen, proposal):
        return

    def answer(text: str) -> None:
        if text.strip():
            decide(screen, [InboxChoice(proposal.id, "accept", text)])

    screen.ask(f"accept {proposal.citation} as", proposal.text, answer)


def merge(screen: ActionHost) -> None:
    """Merge a proposal with the fact that it resembles, or the marked facts. A proposal to merge is carried out as it
    is."""
    chosen = proposals(screen)
    facts = [thing.id for thing in screen.targets() if isinstance(thing, Fact)]
    if chosen and not _one(screen, chosen):
        return
    if chosen and chosen[0].kind == "merge":
        accept(screen, chosen)
    elif chosen and _worded(screen, chosen[0]):
        _with_a_fact(screen, chosen[0], "merge", "merge {} with which fact? F#…")
    elif chosen:
        return
    elif len(facts) > 1:
        said = f"Merged {count(len(facts), 'fact')}{undoes()}"
        many(
            screen,
            f"Merge {count(len(facts), 'fact')}?",
            len(facts),
            lambda: write(
                screen,
                lambda memory: memory.inbox.join(facts[0], facts[1:]),
                said,
                before=(f"merge {count(len(facts), 'fact')}", len(facts)),
            ),
        )
    elif facts:
        screen.ask(
            f"merge {cite('fact', facts[0])} with which fact? F#…", "", lambda text: _join(screen, facts[0], text)
        )
    else:
        refuse(screen, screen.targets(), HERE)


def supersede(screen: ActionHost, proposal: Proposal) -> None:
    if _one(screen, proposals(screen)) and _worded(screen, proposal):
        _with_a_fact(screen, proposal, "supersede", "{} replaces which fact? F#…")


def _one(screen: ActionHost, chosen: Sequence[Proposal]) -> bool:
    """Return whether exactly one is chosen; if not, explain that each needs a fact of its own."""
    if len(chosen) > 1:
        screen.say(f"{names_of(chosen)}: each has a fact of its own. Take them one by one.", "warning")
    return len(chosen) <= 1


def _worded(screen: ActionHost, proposal: Proposal) -> bool:
    """Return whether a proposal has a text; if it proposes to forget, explain that it takes only yes or no."""
    if proposal.kind == "forget":
        screen.say(f"{proposal.citation} asks to forget a fact: accept it or reject it.", "warning")
    return proposal.kind != "forget"


def look(screen: ActionHost) -> None:
    """Search for duplicates and contradictions, which are added to the inbox."""
    screen.go_to(INBOX)
    screen.run_line("duplicates")


def _join(screen: ActionHost, fact: int, text: str) -> None:
    other = _fact(screen, text)
    if other is not None:
        said = f"Merged {cite('fact', fact)} and {cite('fact', other)}{undoes()}"
        write(screen, lambda memory: memory.inbox.join(fact, [other]), said)


def _with_a_fact(screen: ActionHost, proposal: Proposal, verb: str, question: str) -> None:
    """Proceed without a prompt when the target is unambiguous: to merge, the only duplicate; to supersede, the fact
    that the proposal is about, or the only similar one."""
    from store.inbox.inbox import InboxChoice

    def found(result: object, error: MemorandaError | None) -> None:
        known, plain = result if isinstance(result, tuple) else ([], False)
        if error is not None:
            screen.later(screen.say, str(error), "error", 8)
        elif plain:
            screen.later(decide, screen, [InboxChoice(proposal.id, verb, fact=known[0])])
        else:
            screen.later(ask, cite("fact", known[0]) if known else "")

    def ask(first: str) -> None:
        def answer(text: str) -> None:
            fact = _fact(screen, text)
            if fact is not None:
                decide(screen, [InboxChoice(proposal.id, verb, fact=fact)])

        screen.ask(question.format(proposal.citation), first, answer)

    if screen.engine is not None:
        screen.engine.write(lambda memory: _meant(memory, proposal, verb), found)


def _meant(memory: Memory, proposal: Proposal, verb: str) -> tuple[list[int], bool]:
    """Return (the facts that a proposal may be merged with or replace, whether the first is unambiguous). A fact that
    the proposal contradicts is no target of a merge."""
    from store.inbox.duplicates import alike
    from store.text.similarity.contradiction import AGAINST, SAME

    if verb == "supersede" and proposal.target is not None:
        return [proposal.target], True
    likes = alike(memory.database, memory.facts, proposal.text)
    if verb == "supersede":
        return [like.fact.id for like in likes], len(likes) == 1
    likes = [like for like in likes if like.how != AGAINST]
    return [like.fact.id for like in likes], [like.how for like in likes].count(SAME) == 1


def _fact(screen: ActionHost, text: str) -> int | None:
    from tui.commands import number

    if not text.strip():
        return None
    try:
        return number(text.strip(), "fact")
    except MemorandaError as error:
        screen.say(str(error), "warning")
        return None


def decide(screen: ActionHost, choices: Sequence[InboxChoice], anyway: bool = False) -> None:
    """Apply choices on the writer's thread and show the result; ask again about a proposal whose evidence has
    changed."""

    def work(memory: Memory) -> object:
        done = memory.inbox.decide(choices, anyway=anyway)
        return done, memory.inbox.many(list(done.made)[:1])

    def said(result: object) -> tuple[str, int | None]:
        done, accepted = cast("tuple[Decided, Sequence[Proposal]]", result)
        if done.left:
            screen.app.call_later(lambda: _left(screen, choices, done, accepted))
        facts = [fact for fact in done.made.values() if fact is not None]
        if len(done.left) == 1:
            return summary(done, accepted), pack("proposal", next(iter(done.left)))
        return summary(done, accepted), pack("fact", facts[0]) if len(facts) == 1 and screen.place != INBOX else None

    if len(choices) <= 2 * MANY:
        screen.hide_proposals([choice.number for choice in choices])
    write(
        screen,
        work,
        said,
        back=pack("proposal", choices[0].number) if len(choices) == 1 else None,
        before=(f"decide {count(len(choices), 'proposal')}", len(choices)),
    )


def _left(screen: ActionHost, choices: Sequence[InboxChoice], done: Decided, accepted: Sequence[Proposal]) -> None:
    """Report what failed beside what was done: a doubt about one proposal becomes a question, several are counted."""
    from store.base.errors import Purged
    from store.inbox.inbox import Doubtful

    again = [choice for choice in choices if isinstance(done.left.get(choice.number), Doubtful | Purged)]
    if len(done.left) == 1 and again:
        error = next(iter(done.left.values()))
        why = error.doubts[0].says if isinstance(error, Doubtful) else error.message
        question = f"Accept {cite('proposal', again[0].number)} all the same? {why}"
        screen.ask_first(question, lambda: decide(screen, again, anyway=True))
        return
    number, first = next(iter(done.left.items()))
    more = f" And {count(len(done.left) - 1, 'other')} more." if len(done.left) > 1 else ""
    did = f"{summary(done, accepted)}. " if done.made or done.rejected else ""
    screen.say(f"{did}{cite('proposal', number)} waits: {first.message}{more}", "warning", 8, alone=True)


def receipt(proposal: Proposal, fact: int | None) -> str:
    """Return what accepting a proposal changed: the fact that it made, and what became of the one it was about."""
    made = cite("fact", fact) if fact else ""
    about = cite("fact", proposal.target) if proposal.target is not None else ""
    if proposal.kind == "forget":
        return f"{about} is forgotten"
    if made and about and made != about:
        return f"{made} replaces {about}"
    return f"{made} is confirmed" if proposal.kind == "confirm" and made else made


def summary(done: Decided, accepted: Sequence[Proposal]) -> str:
    """Return the message about what was decided, with how to undo it; `accepted` is a single accepted proposal."""
    parts = []
    if len(done.made) == 1:
        ((number, fact),) = done.made.items()
        came = receipt(accepted[0], fact) or done.came(number) if accepted else ""
        looks = f", which looks {ORDER}" if accepted and flagged(accepted[0]) else ""
        parts.append(f"Accepted {cite('proposal', number)}{f': {came}' if came else ''}{looks}")
    elif done.made:
        parts.append(f"Accepted {count(len(done.made), 'proposal')}")
    if done.rejected:
        what = cite("proposal", done.rejected[0]) if len(done.rejected) == 1 else count(len(done.rejected), "proposal")
        parts.append(f"{'rejected' if parts else 'Rejected'} {what}")
    if done.left:
        parts.append(f"{len(done.left)} left waiting")
    back = undoes() if done.made or done.rejected else ""
    return ", ".join(parts) + back


def later(screen: ActionHost) -> None:
    """Leave proposals for the end of the list, in this sitting, and go on to the next."""
    chosen = proposals(screen)
    if not chosen or screen.engine is None:
        screen.say("Nothing to review.")
        return
    numbers = [one.id for one in chosen]
    screen.engine.put_off = (*(one for one in screen.engine.put_off if one not in numbers), *numbers)
    listed = screen.list_of(INBOX)
    if not listed.marks:
        listed.action_move(1)
    screen.unmark()
    screen.say(f"{names_of(chosen)} later: at the end of the list; nothing was decided", alone=True)
    screen.refresh_records()


def in_editor(screen: ActionHost) -> None:
    """Decide the marked proposals, or the whole list, in the user's editor. A text with a mistake is opened again, and
    kept where it is left so: the next time it is opened as it was, while any of its proposals waits."""
    from store.inbox.inbox import InboxChoice
    from tui.desktop.editor import edit as edit_text
    from tui.render.details import proposal_batch

    engine = screen.engine
    if engine is None:
        return
    marked = proposals(screen) if screen.list_of(INBOX).marks else []
    memory = engine.screen
    kept, given = engine.decisions_kept
    chosen = memory.inbox.many(kept)
    if not any(one.state == "waiting" for one in chosen):
        engine.decisions_kept = kept, given = [], ""
    if not kept or not {one.id for one in marked} <= set(kept):
        chosen = marked or memory.inbox.waiting(origin=screen.view.asker, limit=proposal_batch.MOST)
        given = proposal_batch.written(chosen, lambda one: proposal_batch.beside(memory, one))
    if not chosen:
        screen.say("Nothing to review.")
        return
    wrong, choices = "", list[InboxChoice]()
    while True:  # an error reopens the editor with the message at its line; an unchanged text then decides nothing
        try:
            text = edit_text(screen.app, given, command=screen.setting("editor"))
        except MemorandaError as error:
            wrong, text = str(error), None
        if text is None or text == given:
            break
        engine.decisions_kept = [one.id for one in chosen], text
        try:
            choices, wrong = proposal_batch.read(text, chosen), ""
            break
        except MemorandaError as error:
            given, wrong = proposal_batch.again(text, error), str(error)
            engine.decisions_kept = [one.id for one in chosen], given
    if wrong or not choices:
        if not wrong and text != given:
            engine.decisions_kept = [], ""
        back = f" What you wrote is kept: {named('record.edit')} opens it again." if engine.decisions_kept[0] else ""
        screen.say(f"{f'{wrong} ' if wrong else ''}No change.{back}", "error" if wrong else "information", 8)
        return

    def agreed() -> None:
        engine.decisions_kept = [], ""
        decide(screen, choices)

    many(
        screen,
        f"Decide {names_of(chosen)}?" if len(choices) <= MANY else f"Decide {count(len(choices), 'proposal')}?",
        len(choices),
        agreed,
    )
