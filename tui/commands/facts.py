"""remember, facts, correct, confirm, forget, pin, unpin, tag, untag."""

from __future__ import annotations

import os
from collections.abc import Sequence

from store.base.citations import cite, parse_citation
from store.base.errors import InvalidInput
from store.base.location import personal_memory_path
from store.base.models import Fact, GlobalFact, as_json
from store.base.vocabulary import DOMAINS, pack_key
from store.context.builder import Context
from store.context.selection import ANSWER_TOKENS, ContextPart
from store.evidence.evidence import BoundEvidence
from store.learning.tasks import context_ranker
from store.records.facts import AGE_STATES
from store.records.mutes import MUTE_KINDS
from store.records.tags import TAG_TABLES, parse_tags
from store.search.lookup import get_records, records_by_key
from tui.commands.call import Outcome, Session, ask_if_purged, parse_reference, typed_or_piped_text
from tui.commands.record_lines import empty_list_line, fact_line, more_line, shorten
from tui.input.arguments import ParsedArguments
from tui.render.lines import (
    EVIDENCE_BADGES,
    FACT_BADGES,
    WARNING_SIGN,
    agree_verb,
    cite_or_count,
    fact_badge,
    format_count,
)
from tui.theme.escape import visible

EVERY_PROJECT = ", in every project. To undo it: memoranda undo --global"


def remember(session: Session, given: ParsedArguments) -> Outcome:
    """Remember a fact."""
    facts = session.memory.facts
    if given.session and given.scope != "session":
        raise InvalidInput(
            f"A fact of scope {given.scope} belongs to no session.", "Add --scope session, or leave it out."
        )
    if given.scope == "global":
        return _remember_global(session, given)
    if given.scope == "session" and not given.session and not facts.open_session():
        raise InvalidInput("No session is open.", "Name one: --session ID. Start one: memoranda sessions start")
    text = typed_or_piped_text(session, given.text, "remember")
    fact, new = ask_if_purged(
        session,
        given,
        lambda again: facts.remember(
            text,
            domain=given.domain,
            confidence=given.confidence,
            scope=given.scope,
            session=given.session,
            pinned=given.pin,
            tags=_split_tags(given.tag) if given.tag else (),
            key=given.key,
            again=again,
        ),
    )
    said = f"Remembered {cite('fact', fact)}." if new else f"{cite('fact', fact)} is already known; confirmed."
    return Outcome(said, lambda: _facts_json(session, [fact])[0])


def _remember_global(session: Session, given: ParsedArguments) -> Outcome:
    """Remember a global fact."""
    text = typed_or_piped_text(session, given.text, "remember")
    started = _personal_start_note(session)
    fact, new = ask_if_purged(
        session,
        given,
        lambda again: session.memory.globals.remember(
            text,
            domain=given.domain,
            confidence=given.confidence,
            pinned=given.pin,
            tags=_split_tags(given.tag) if given.tag else (),
            key=given.key,
            again=again,
        ),
    )
    known = cite("global", fact)
    said = f"Remembered {known}, in every project." if new else f"{known} is already known; confirmed."
    return Outcome(f"{said}{started}", lambda: _global_facts_json(session, [fact])[0])


def _personal_start_note(session: Session) -> str:
    """Return the sentence that says that a write starts the personal memory; empty where it is there."""
    path = personal_memory_path()
    return "" if os.path.lexists(path) else f" That started your personal memory: {path}"


def move(session: Session, given: ParsedArguments) -> Outcome:
    """Move a fact to another scope."""
    named = parse_reference(given.id, "fact", "fact", "global")
    target, moves = int(named.target), session.memory.moves
    if given.to == "global":
        if named.kind == "global":
            raise InvalidInput(f"{named} is global already.", "memoranda move G#5 --to project brings it here.")
        started = _personal_start_note(session)
        number = ask_if_purged(session, given, lambda again: moves.move_to_global(target, again=again))
        return Outcome(
            f"Moved {named} to {cite('global', number)}, seen in every project. Undo takes it back.{started}",
            lambda: _global_facts_json(session, [number])[0],
        )
    if named.kind == "fact":
        moves.widen_to_project(target)
        return Outcome(f"{named} is the project's now. Undo takes it back.", lambda: _facts_json(session, [target])[0])
    number = ask_if_purged(session, given, lambda again: moves.move_to_project(target, again=again))
    return Outcome(
        f"Moved {named} to {cite('fact', number)}, of this project alone. Undo takes it back.",
        lambda: _facts_json(session, [number])[0],
    )


def list_facts(session: Session, given: ParsedArguments) -> Outcome:
    memory = session.memory
    words, domain = fact_filters(given)
    aged = given.status in AGE_STATES  # a state of those in force, as `is:` and the chips call it
    statuses = ("active", "superseded", "contradicted", "forgotten") if given.all else (given.status or "active",)
    if aged or given.status == "pinned":
        statuses = ("active",)
    now = memory.now
    narrowed = {
        "statuses": statuses,
        "state": AGE_STATES.index(given.status) if aged else None,
        "pinned": True if given.status == "pinned" else None,
        "domain": domain,
        "origin": given.origin,
        "tag": given.tag,
        "words": words,
        "sort": given.sort or "oldest",
        "limit": given.limit + 1,
    }
    # the global ones first: they are few, and a limit does not hide them
    shared = memory.globals.order(now, **narrowed) if given.scope in (None, "global") else ()
    shown: list[Fact | GlobalFact] = list(memory.globals.get_many(shared[: given.limit]))
    ids = [] if given.scope == "global" and shared else memory.facts.ids(now, scope=given.scope, **narrowed)
    shown += memory.facts.get_many(ids[: given.limit - len(shown)])
    lines = [fact_line(fact, now) for fact in shown]
    if not lines:
        narrow = (words, domain, given.status, given.origin, given.tag, given.scope)
        lines = empty_list_line("facts", 'No facts here. Add one: memoranda remember "team of 5"', *narrow)
    lines += more_line(len(shared) + len(ids) - len(shown), given.limit)
    if why := memory.globals.read_problem:
        lines.append(f"Your global facts are not shown: {why}")
    return Outcome(data=lambda: [as_json(fact) for fact in shown], lines=lines)


def fact_filters(given: ParsedArguments) -> tuple[str, str | None]:
    """Return the words and the domain of a list of facts; a single word that names a domain is the domain."""
    if len(given.words) == 1 and given.domain is None and given.words[0].lower() in DOMAINS:
        return "", given.words[0].lower()
    return " ".join(given.words), given.domain


def correct(session: Session, given: ParsedArguments) -> Outcome:
    """Replace the text of a fact, a decision or a task."""
    old = parse_reference(given.id, "fact", "fact", "global", "decision", "task")
    text = typed_or_piped_text(session, given.text, f"correct {old}")
    target = int(old.target)
    if old.kind == "global":
        new = ask_if_purged(session, given, lambda again: session.memory.globals.correct(target, text, again=again))
        return Outcome(
            f"{cite('global', new)} replaces {old}{EVERY_PROJECT}", lambda: _global_facts_json(session, [new])[0]
        )
    if old.kind == "decision":
        new = ask_if_purged(session, given, lambda again: session.memory.decisions.correct(target, text, again=again))
        return Outcome(f"{cite('decision', new)} replaces {old}.", lambda: _decision_json(session, new))
    if old.kind == "task":
        session.memory.tasks.correct(target, text)
        return Outcome(f"Corrected {old}.", lambda: _task_json(session, target))
    new = ask_if_purged(session, given, lambda again: session.memory.facts.correct(target, text, again=again))
    return Outcome(f"{cite('fact', new)} replaces {old}.", lambda: _facts_json(session, [new])[0])


def confirm(session: Session, given: ParsedArguments) -> Outcome:
    """Confirm that facts or decisions are still true."""
    kind, ids = _parse_one_kind(given, "confirmed")
    if kind == "decision":
        session.memory.decisions.confirm(ids)
        return Outcome(f"Confirmed {cite_or_count(kind, ids)}.", lambda: [_decision_json(session, i) for i in ids])
    if kind == "global":
        session.memory.globals.confirm(ids)
        return Outcome(
            f"Confirmed {cite_or_count('global', ids)}{EVERY_PROJECT}", lambda: _global_facts_json(session, ids)
        )
    session.memory.facts.confirm(ids)
    return Outcome(f"Confirmed {cite_or_count(kind, ids)}.", lambda: _facts_json(session, ids))


def _parse_one_kind(given: ParsedArguments, done: str) -> tuple[str, list[int]]:
    """Return the kind and ids of the facts, global facts or decisions named. Raises InvalidInput for a mixture."""
    citations = list(dict.fromkeys(parse_reference(text, "fact", "fact", "global", "decision") for text in given.ids))
    kinds = {citation.kind for citation in citations}
    if len(kinds) > 1:
        named = "Facts, global facts" if "global" in kinds else "Facts"
        raise InvalidInput(f"{named} and decisions are {done} one kind at a time.", "Name only one kind.")
    return kinds.pop(), [int(citation.target) for citation in citations]


def forget(session: Session, given: ParsedArguments) -> Outcome:
    """Forget facts or decisions, until it is undone."""
    kind, ids = _parse_one_kind(given, "forgotten")
    if kind == "decision":
        session.memory.decisions.forget(ids)
        return Outcome(
            f"Forgot {cite_or_count(kind, ids)}. {_undo_sentence(ids)}",
            lambda: [_decision_json(session, i) for i in ids],
        )
    if kind == "global":
        session.memory.globals.forget(ids)
        return Outcome(f"Forgot {cite_or_count(kind, ids)}{EVERY_PROJECT}", lambda: _global_facts_json(session, ids))
    session.memory.facts.forget(ids)
    return Outcome(f"Forgot {cite_or_count(kind, ids)}. {_undo_sentence(ids)}", lambda: _facts_json(session, ids))


def _undo_sentence(ids: list[int]) -> str:
    """Return the sentence that undo brings the records back."""
    return f"Undo brings {'it' if len(ids) == 1 else 'them'} back."


def pin(session: Session, given: ParsedArguments) -> Outcome:
    """Pin facts, so that they never age."""
    ids, shared = _parse_fact_ids(given.ids)
    if shared:
        session.memory.globals.pin(ids)
        return Outcome(
            f"Pinned {cite_or_count('global', ids)}{EVERY_PROJECT}", lambda: _global_facts_json(session, ids)
        )
    session.memory.facts.pin(ids)
    never = "it never ages" if len(ids) == 1 else "they never age"
    return Outcome(f"Pinned {cite_or_count('fact', ids)}: {never}.", lambda: _facts_json(session, ids))


def unpin(session: Session, given: ParsedArguments) -> Outcome:
    """Unpin facts, so that they age again."""
    ids, shared = _parse_fact_ids(given.ids)
    if shared:
        session.memory.globals.pin(ids, False)
        return Outcome(
            f"Unpinned {cite_or_count('global', ids)}{EVERY_PROJECT}", lambda: _global_facts_json(session, ids)
        )
    session.memory.facts.pin(ids, False)
    return Outcome(f"Unpinned {cite_or_count('fact', ids)}.", lambda: _facts_json(session, ids))


def tag(session: Session, given: ParsedArguments) -> Outcome:
    """Add a tag to records."""
    if shared := parse_if_all_global(given.ids):
        tag = session.memory.globals.tag(shared, given.tag)
        said = f"Tagged {cite_or_count('global', shared)}: {tag}{EVERY_PROJECT}"
        return Outcome(said, lambda: _global_facts_json(session, shared))
    records = _parse_taggable(given.ids)
    tag = session.memory.tagging.add_tags(records, given.tag)
    return Outcome(f"Tagged {_cite_or_count(records)}: {tag}.", lambda: _records_json(session, records))


def untag(session: Session, given: ParsedArguments) -> Outcome:
    """Remove a tag from records."""
    if shared := parse_if_all_global(given.ids):
        session.memory.globals.untag(shared, given.tag)
        said = f"Removed {given.tag} from {cite_or_count('global', shared)}{EVERY_PROJECT}"
        return Outcome(said, lambda: _global_facts_json(session, shared))
    records = _parse_taggable(given.ids)
    session.memory.tagging.remove_tags(records, given.tag)
    return Outcome(f"Removed {given.tag} from {_cite_or_count(records)}.", lambda: _records_json(session, records))


def parse_if_all_global(texts: list[str]) -> list[int]:
    """Return the numbers of the global facts if only global facts are named; else an empty list."""
    named = list(dict.fromkeys(parse_citation(text, "fact") for text in texts))
    return [int(one.target) for one in named] if all(one.kind == "global" for one in named) else []


def _cite_or_count(records: list[tuple[str, int]]) -> str:
    """Return the citation of a single record; of several, their number."""
    return cite(*records[0]) if len(records) == 1 else format_count(len(records), "record")


def _parse_taggable(texts: list[str]) -> list[tuple[str, int]]:
    """Return the kind and the id of each record that is named: a number is a fact's. Raises InvalidInput."""
    found = []
    for text in texts:
        named = parse_citation(text, "fact")
        if named.kind not in TAG_TABLES:
            raise InvalidInput(f"{named} has no tags.", "Facts, decisions and tasks have: F#12, D#3, A#4.")
        found.append((named.kind, int(named.target)))
    return list(dict.fromkeys(found))


def _records_json(session: Session, records: list[tuple[str, int]]) -> list[dict[str, object]]:
    return [as_json(get_records(session.memory.database, kind, [number])[0]) for kind, number in records]


def _parse_fact_ids(texts: list[str]) -> tuple[list[int], bool]:
    """Return the numbers of the facts named, and whether they are global. Raises InvalidInput for a mixture."""
    named = list(dict.fromkeys(parse_reference(text, "fact", "fact", "global") for text in texts))
    if len({one.kind for one in named}) > 1:
        raise InvalidInput("Facts and global facts are pinned one kind at a time.", "Name only one kind.")
    return [int(one.target) for one in named], named[0].kind == "global"


def _split_tags(words: list[str]) -> list[str]:
    return [tag for word in words for tag in parse_tags(word)]


def _facts_json(session: Session, ids: list[int]) -> list[dict[str, object]]:
    return [as_json(fact) for fact in session.memory.facts.get_many(ids)]


def _global_facts_json(session: Session, ids: list[int]) -> list[dict[str, object]]:
    return [as_json(fact) for fact in get_records(session.memory.database, "global", ids)]


def _decision_json(session: Session, number: int) -> dict[str, object]:
    return as_json(session.memory.decisions.get(number))


def _task_json(session: Session, number: int) -> dict[str, object]:
    return as_json(session.memory.tasks.get(number))


# context, mute, unmute.

PART_NAMES = {"static": "fixed text", "own": "your text", "log": "today", "window": "last turns"}
"""Names of parts of a context as a person reads them, where they are others than in `--json`."""
BAR_CELLS = 24  # cells of a bar for the whole budget
BAR_EIGHTHS: tuple[str, ...] = ("", *"▏▎▍▌▋▊▉")


def show_context(session: Session, given: ParsedArguments) -> Outcome:
    with context_ranker(session.memory) as rank:
        built = session.memory.context(" ".join(given.query), given.session, rank=rank)
    opened = [key for key, _ in built.record_tokens()]
    return Outcome(
        lines=_context_lines(built, session.memory.now),
        data=lambda: context_json(built),
        after=lambda: session.memory.search.accesses.count_opened(opened),
    )


def mute(session: Session, given: ParsedArguments) -> Outcome:
    """Mute records, so that no agent is sent them."""
    if shared := parse_if_all_global(given.ids):
        session.memory.globals.mute(shared)
        return Outcome(
            f"Muted {cite_or_count('global', shared)}{EVERY_PROJECT}", lambda: _muted_global_json(session, shared)
        )
    ids, keys = _parse_muted(given.ids)
    if keys:
        session.memory.mutes.mute_keys(keys)
        return Outcome(
            f"Muted {format_count(len(keys), 'record')}: agents are not sent them.",
            lambda: _muted_records_json(session, keys),
        )
    session.memory.mutes.mute(ids)
    return Outcome(f"Muted {cite_or_count('fact', ids)}: not sent to agents.", lambda: _muted_facts_json(session, ids))


def unmute(session: Session, given: ParsedArguments) -> Outcome:
    """Unmute records, so that agents are sent them again."""
    if shared := parse_if_all_global(given.ids):
        session.memory.globals.mute(shared, False)
        return Outcome(
            f"Unmuted {cite_or_count('global', shared)}{EVERY_PROJECT}", lambda: _muted_global_json(session, shared)
        )
    ids, keys = _parse_muted(given.ids)
    if keys:
        session.memory.mutes.unmute_keys(keys)
        return Outcome(f"Unmuted {format_count(len(keys), 'record')}.", lambda: _muted_records_json(session, keys))
    session.memory.mutes.unmute(ids)
    return Outcome(f"Unmuted {cite_or_count('fact', ids)}.", lambda: _muted_facts_json(session, ids))


def _muted_global_json(session: Session, ids: list[int]) -> list[dict[str, object]]:
    return [as_json(fact) for fact in session.memory.globals.get_many(ids)]


def _parse_muted(texts: list[str]) -> tuple[list[int], list[int]]:
    """Return the numbers of the facts if only facts are named, else the keys of all records. Raises InvalidInput."""
    named = list(dict.fromkeys(parse_citation(text, "fact") for text in texts))
    for one in named:
        if one.kind not in MUTE_KINDS:
            raise InvalidInput(f"{one} cannot be muted.", "Facts, decisions, tasks and summaries can be.")
    if all(one.kind == "fact" for one in named):
        return [int(one.target) for one in named], []
    return [], [pack_key(one.kind, int(one.target)) for one in named]


def _muted_records_json(session: Session, keys: list[int]) -> list[dict[str, object]]:
    found = records_by_key(session.memory.database, keys)
    return [as_json(found[key]) for key in keys if key in found]


def _muted_facts_json(session: Session, ids: list[int]) -> list[dict[str, object]]:
    return [as_json(fact) for fact in session.memory.facts.get_many(ids)]


def context_json(built: Context) -> dict[str, object]:
    """Return a context as `--json` prints it."""
    return {
        "question": built.question,
        "session": built.session,
        "tokens": built.tokens,
        "limit": built.limit,
        "warning": built.warning,
        "ranked_by": built.ranked_by,
        "parts": [
            {
                "name": part.name,
                "tokens": part.tokens,
                "records": [piece.citation for piece in part.pieces],
                "flagged": [piece.citation or piece.start.strip(" :") for piece in part.pieces if piece.is_suspicious],
                "left_out": part.left_out,
                "text": part.text,
            }
            for part in built.parts
        ],
        "facts": [
            {
                **as_json(one.record),
                "included": one.included,
                "flagged": one.is_suspicious,
                "reason": one.word,
                "why": one.why,
                "similarity": one.similarity,
                "tokens": one.tokens,
            }
            for one in built.considered
        ],
        "notes": list(built.notes),
        "milliseconds": round(built.milliseconds, 3),
        "text": built.text,
    }


def _context_lines(built: Context, now: str) -> list[str]:
    """Format the cost, the selected facts with reasons, and the full text as it is sent."""
    asked = f"“{shorten(built.question, 60)}”" if built.question else "no question"
    session = f", session {shorten(built.session, 40)}" if built.session else ""
    lines = [f"{built.tokens:,} of {built.limit:,} tokens for {asked}{session}; {ANSWER_TOKENS} are the answer's"]
    lines += [f"! {built.warning}"] if built.warning else []
    lines.append("")
    for part in built.parts:
        left = f"  {left_out_words(part)}" if part.left_out else ""
        cost = built.costs[part.name]
        lines.append(f"{part_name(part.name):<10} {cost:>5,}  {draw_bar(cost, built.limit, BAR_CELLS)}{left}".rstrip())
    lines.append("")
    lines += [f"Ordered by {built.ranked_by}."] if built.ranked_by != "rules" else []
    for one in built.considered:
        glyph, _ = FACT_BADGES[fact_badge(one.fact, now)]
        where = "in " if one.included else "out"
        warned = f"{WARNING_SIGN} " if one.is_suspicious else ""
        lines.append(
            f"{where}  {glyph} {one.record.citation:<6}  {warned}{shorten(one.fact.fact, 60)}  {shorten(one.why, 90)}"
        )
    if not built.considered:
        lines.append("No fact is near this question, and none is pinned.")
    for part in built.parts:
        cited = [
            piece.citation or piece.start.strip(" :")
            for piece in part.pieces
            if piece.is_suspicious and part.name != "facts"
        ]
        lines += [f"{WARNING_SIGN} {one} looks like an instruction to agents" for one in dict.fromkeys(cited)]
    return [*lines, *built.notes, "", "As it is sent:", "", *built.text.split("\n")]


def part_name(part: str) -> str:
    """Return the name of a context's part as a person reads it."""
    return PART_NAMES.get(part, part)


def left_out_words(part: ContextPart) -> str:
    """Return what of a context's part had no room."""
    return "its middle had no room" if part.name == "question" else f"{part.left_out:,} had no room"


def draw_bar(tokens: int, limit: int, width: int) -> str:
    """Draw the used share of a token limit as a bar, to an eighth of a cell; at least an eighth if it is not zero."""
    eighths = max(int(tokens > 0), round(8 * width * tokens / limit))
    return "█" * (eighths // 8) + BAR_EIGHTHS[eighths % 8]


# bind, unbind, verify.

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
    session.wait("")
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
    counts = [(state, sum(one.state == state for one in found)) for state in ("holds", "moved", "changed", "gone", "")]
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
