"""remember, correct, confirm, forget, pin, mute, tag."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from store.base.citations import Citation, cite
from store.base.errors import InvalidInput
from store.base.location import personal_memory_path
from store.base.vocabulary import CONFIDENCES, DOMAINS, SCOPES, pack_key
from store.records.mutes import MUTE_KINDS
from store.records.table import require_one_of
from store.records.tags import TAG_TABLES, parse_tags
from store.text.display import format_count
from tui.commands.call import EVERY_PROJECT, Call, Id, Ids, Outcome, Text, numbers_of, parse_reference
from tui.input.arguments import Shown, verb

Origin = Annotated[str | None, Shown("O")]
MOVE_SCOPES = ("global", "project")
# kinds that are confirmed and forgotten
REVIEWABLE = ("fact", "global", "decision", "proposal")


@verb()
def remember(
    call: Call,
    text: Text,
    *,
    domain: Annotated[str, Shown("D", DOMAINS)] = "general",
    confidence: Annotated[str, Shown("C", CONFIDENCES)] = "high",
    scope: Annotated[str, Shown("S", SCOPES)] = "project",
    session: Id = "",
    tag: Annotated[list[str], Shown("TAG")] = [],
    pin: bool = False,
    key: Annotated[str, Shown("K")] = "",
    yes: bool = False,
) -> Outcome:
    """Remember a fact; one that is known already is confirmed.

    text: the fact, as a sentence; - reads it from a pipe
    domain: one of work, preferences, decisions, personal, projects, general, self_correction
    confidence: high, medium or low
    scope: project, session or global
    session: with --scope session: which one, instead of the one that is open
    tag: a word to find it by (repeatable)
    pin: it never ages
    yes: even if the text was purged once
    """
    memory = call.memory
    if session and scope != "session":
        raise InvalidInput(
            f"A fact of scope {scope} belongs to no session.", "Add --scope session, or leave it out."
        )
    if scope == "session" and not session and not memory.facts.open_session():
        raise InvalidInput("No session is open.", "Name one: --session ID. Start one: memoranda session start")
    fact, kind, where, started = call.text(text, "remember"), "fact", "", ""
    write: Callable[..., tuple[int, bool]] = memory.facts.remember
    given: dict[str, Any] = {"domain": domain, "confidence": confidence, "pinned": pin, "key": key}
    if scope == "global":
        kind, where, started = "global", ", in every project", _personal_start_note()
        write = memory.globals.remember
    else:
        given |= {"scope": scope, "session": session}
    tags = [one for word in tag for one in parse_tags(word)]
    number, new = call.ask_if_purged(yes, lambda again: write(fact, tags=tags, again=again, **given))
    known = cite(kind, number)
    said = f"Remembered {known}{where}." if new else f"{known} is already known; confirmed."
    return call.wrote(said + started, kind, number)


def _personal_start_note() -> str:
    """Return the sentence that says that a write starts the personal memory; empty where it is there."""
    path = personal_memory_path()
    return "" if os.path.lexists(path) else f" That started your personal memory: {path}"


@verb()
def correct(
    call: Call,
    id: Id,
    text: Text = [],
    *,
    scope: Annotated[str, Shown("SCOPE", MOVE_SCOPES)] = "",
    anyway: bool = False,
    yes: bool = False,
) -> Outcome:
    """Replace a fact (or what a decision chose), the old one stays; or accept a proposal in other words.

    id: a fact's number, or F#12, G#5, D#3, A#5, P#8
    text: what is true now; - reads it from a pipe
    scope: instead: where a fact belongs: global (kept in your personal memory, seen in every project) or project
    yes: even if the text was purged once
    """
    if bool(text) == bool(scope):
        raise InvalidInput(
            "Say what is true now, or where the fact belongs.",
            'correct 12 "the team is six", or correct 12 --scope global',
        )
    if scope:
        return _move(call, parse_reference(id, "fact", "global"), scope, yes)
    old = parse_reference(id, "fact", "global", "decision", "task", "proposal")
    new, target = call.text(text, f"correct {old}"), int(old.target)
    if old.kind == "proposal":
        return _decide(call, "accept", [old], anyway, new)
    if old.kind == "task":
        call.memory.tasks.correct(target, new)
        return call.wrote(f"Corrected {old}.", "task", target)
    write = call.part(old).correct
    number = call.ask_if_purged(yes, lambda again: write(target, new, again=again))
    shared = EVERY_PROJECT if old.kind == "global" else "."
    return call.wrote(f"{cite(old.kind, number)} replaces {old}{shared}", old.kind, number)


def _move(call: Call, old: Citation, scope: str, yes: bool) -> Outcome:
    """Move a fact to another scope."""
    require_one_of("scope", scope, MOVE_SCOPES)
    moves, target = call.memory.moves, int(old.target)
    if scope == "global":
        if old.kind == "global":
            raise InvalidInput(
                f"{old} is global already.", f"memoranda correct {old} --scope project brings it here."
            )
        started = _personal_start_note()
        number = call.ask_if_purged(yes, lambda again: moves.move_to_global(target, again=again))
        kind, where = "global", f"seen in every project. Undo takes it back.{started}"
    elif old.kind == "fact":
        moves.widen_to_project(target)
        return call.wrote(f"{old} is the project's now. Undo takes it back.", "fact", target)
    else:
        number = call.ask_if_purged(yes, lambda again: moves.move_to_project(target, again=again))
        kind, where = "fact", "of this project alone. Undo takes it back."
    return call.wrote(f"Moved {old} to {cite(kind, number)}, {where}", kind, number)


@verb()
def confirm(
    call: Call,
    ids: Ids = [],
    *,
    origin: Origin = None,
    supersedes: Annotated[str | None, Shown("F")] = None,
    anyway: bool = False,
    yes: bool = False,
) -> Outcome:
    """Confirm that facts are still true, or what agents logged; or accept proposals: only now they are facts.

    ids: a fact's number, or F#12, G#5, D#3, P#8
    origin: instead: all that this one proposes, import:notes
    supersedes: the proposal replaces this fact, F#12
    """
    named = _choose_records(call, ids, origin, yes, "confirm")
    fact = call.optional(supersedes, "fact")
    if fact is not None and (len(named) > 1 or named[0].kind != "proposal"):
        raise InvalidInput("One proposal at a time takes the place of a fact.", "confirm P#8 --supersedes 12")
    if named[0].kind == "proposal":
        return _decide(call, "accept" if fact is None else "supersede", named, anyway, None, fact)
    call.change_each_kind("confirm", named, lambda one, numbers: call.part(one).confirm(numbers))
    return call.acted("Confirmed", named)


@verb(frees=True)
def forget(call: Call, ids: Ids = [], *, origin: Origin = None, yes: bool = False) -> Outcome:
    """Hide facts or decisions, until undone; or reject proposals, which are not made again.

    ids: a fact's number, or F#12, G#5, D#3, P#8
    origin: instead: all that this one proposes, import:notes
    """
    named = _choose_records(call, ids, origin, yes, "forget")
    if named[0].kind == "proposal":
        return _decide(call, "reject", named)
    call.change_each_kind("forget", named, lambda one, numbers: call.part(one).forget(numbers))
    return call.acted("Forgot", named, f". Undo brings {'it' if len(named) == 1 else 'them'} back.")


def _choose_records(call: Call, ids: Ids, origin: str | None, yes: bool, act: str) -> list[Citation]:
    """Return the records that are named, or all proposals of an origin that wait. Raise InvalidInput, Declined."""
    if bool(ids) == bool(origin):
        raise InvalidInput(
            "Name records, or whose proposals they are, and not both.",
            f"{act} F#12 F#13, or {act} --origin import:notes",
        )
    answer = "reject" if act == "forget" else "accept"
    if ids:
        act = answer if parse_reference(ids[0], *REVIEWABLE).kind == "proposal" else act
        return call.some(ids, *REVIEWABLE, act=act, mixed=("fact", "decision"))
    waiting = [cite("proposal", one) for one in call.memory.inbox.ids(origin=origin)]
    if not waiting:
        raise InvalidInput("There is nothing to review from that origin.", "See who asks: `memoranda today`.")
    call.agree(
        yes, f"{answer.capitalize()} {format_count(len(waiting), 'proposal')} from {origin}?", no="No change."
    )
    return call.some(waiting, "proposal", act=answer)


def _decide(call: Call, answer: str, named: Sequence[Citation], *more: Any) -> Outcome:
    """Decide proposals."""
    # loads what compares texts by meaning
    from tui.commands.inbox import decide_proposals

    return decide_proposals(call, answer, named, *more)


@verb()
def pin(call: Call, ids: Ids, *, off: bool = False) -> Outcome:
    """Keep facts from ageing, or let them age again.

    ids: a fact's number, or F#12, G#5
    """
    named = call.some(ids, "fact", "global", act="unpin" if off else "pin")
    call.part(named[0]).pin(numbers_of(named), not off)
    if off:
        return call.acted("Unpinned", named)
    return call.acted("Pinned", named, ": it never ages." if len(named) == 1 else ": they never age.")


@verb()
def mute(call: Call, ids: Ids, *, off: bool = False) -> Outcome:
    """Send no agent these records, or send them again; they stay as they are.

    ids: a fact's number, or F#12, G#5, D#3, A#4, S#5
    """
    memory = call.memory
    named = call.some(ids, *MUTE_KINDS, "global", act="unmute" if off else "mute", mixed=MUTE_KINDS)
    kinds = {one.kind for one in named}
    if kinds == {"global"}:
        memory.globals.mute(numbers_of(named), not off)
    elif kinds == {"fact"}:
        (memory.mutes.unmute if off else memory.mutes.mute)(numbers_of(named))
    else:
        keys = [pack_key(one.kind, int(one.target)) for one in named]
        (memory.mutes.unmute_keys if off else memory.mutes.mute_keys)(keys)
    if off:
        return call.acted("Unmuted", named)
    return call.acted("Muted", named, ": not sent to agents.")


@verb()
def tag(call: Call, ids: Ids, tag: str, *, off: bool = False) -> Outcome:
    """Give records a tag, a word to find them by, or take it away.

    ids: a fact's number, or F#12, G#5, D#3, A#4
    tag: one word, or several joined by dashes; of several tags commas between
    """
    memory = call.memory
    named = call.some(ids, *TAG_TABLES, "global", act="untag" if off else "tag", mixed=tuple(TAG_TABLES))
    records = [(one.kind, int(one.target)) for one in named]
    shared = named[0].kind == "global"
    if off and shared:
        memory.globals.untag(numbers_of(named), tag)
    elif off:
        memory.tagging.remove_tags(records, tag)
    elif shared:
        tag = memory.globals.tag(numbers_of(named), tag)
    else:
        tag = memory.tagging.add_tags(records, tag)
    if off:
        return call.acted(f"Removed {tag} from", named)
    return call.acted("Tagged", named, f": {tag}.", f": {tag}{EVERY_PROJECT}")
