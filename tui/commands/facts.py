"""remember, facts, correct, confirm, forget, pin, unpin, tag, untag."""

from __future__ import annotations

import os

from store.base.citations import cite, parse_citation
from store.base.errors import InvalidInput
from store.base.location import personal_memory_path
from store.base.models import Fact, GlobalFact, as_json
from store.base.vocabulary import DOMAINS
from store.records.facts import AGE_STATES
from store.records.tags import TAG_TABLES, parse_tags
from tui.commands.call import Outcome, Session, ask_if_purged, parse_reference, typed_or_piped_text
from tui.commands.record_lines import empty_list_line, fact_line, more_line
from tui.input.arguments import ParsedArguments
from tui.render.lines import cite_or_count, format_count

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
        return Outcome(
            f"{named} is the project's now. Undo takes it back.", lambda: _facts_json(session, [target])[0]
        )
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
        new = ask_if_purged(
            session, given, lambda again: session.memory.decisions.correct(target, text, again=again)
        )
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
    citations = list(
        dict.fromkeys(parse_reference(text, "fact", "fact", "global", "decision") for text in given.ids)
    )
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
        return Outcome(
            f"Forgot {cite_or_count(kind, ids)}{EVERY_PROJECT}", lambda: _global_facts_json(session, ids)
        )
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
    from store.search.lookup import get_records  # loads the modules of all kinds, a quarter of a command's time

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
    from store.personal.memory import get_cited_globals  # as above

    return [as_json(fact) for fact in get_cited_globals(session.memory.database, ids)]


def _decision_json(session: Session, number: int) -> dict[str, object]:
    return as_json(session.memory.decisions.get(number))


def _task_json(session: Session, number: int) -> dict[str, object]:
    return as_json(session.memory.tasks.get(number))
