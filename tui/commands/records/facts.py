"""remember, facts, correct, confirm, forget, pin, unpin, tag, untag."""

import os

from store.base import location
from store.base.citations import cite, parse
from store.base.errors import InvalidInput
from store.base.vocabulary import DOMAINS
from tui.commands import Outcome, Session, reference, text_of, though_purged
from tui.render.plurals import cited, count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.base.models import Fact, GlobalFact
    from tui.input.argument_parser import ParsedArguments

EVERYWHERE = ", in every project. To undo it: memoranda undo --global"


def remember(session: Session, given: "ParsedArguments") -> Outcome:
    facts = session.memory.facts
    if given.session and given.scope != "session":
        raise InvalidInput(
            f"A fact of scope {given.scope} belongs to no session.", "Add --scope session, or leave it out."
        )
    if given.scope == "global":
        return _remember_global(session, given)
    if given.scope == "session" and not given.session and not facts.open_session():
        raise InvalidInput("No session is open.", "Name one: --session ID. Start one: memoranda sessions start")
    text = text_of(session, given.text, "remember")
    fact, new = though_purged(
        session,
        given,
        lambda again: facts.remember(
            text,
            domain=given.domain,
            confidence=given.confidence,
            scope=given.scope,
            session=given.session,
            pinned=given.pin,
            tags=_tags(given.tag) if given.tag else (),
            key=given.key,
            again=again,
        ),
    )
    said = f"Remembered {cite('fact', fact)}." if new else f"{cite('fact', fact)} is already known; confirmed."
    return Outcome(said, lambda: _json(session, [fact])[0])


def _remember_global(session: Session, given: "ParsedArguments") -> Outcome:
    text = text_of(session, given.text, "remember")
    started = _starts_personal(session)
    fact, new = though_purged(
        session,
        given,
        lambda again: session.memory.globals.remember(
            text,
            domain=given.domain,
            confidence=given.confidence,
            pinned=given.pin,
            tags=_tags(given.tag) if given.tag else (),
            key=given.key,
            again=again,
        ),
    )
    known = cite("global", fact)
    said = f"Remembered {known}, in every project." if new else f"{known} is already known; confirmed."
    return Outcome(f"{said}{started}", lambda: _global_json(session, [fact])[0])


def _starts_personal(session: Session) -> str:
    """Return the sentence that says that a write starts the personal memory; empty where it is there."""
    path = location.personal_path()
    return "" if os.path.lexists(path) else f" That started your personal memory: {path}"


def move(session: Session, given: "ParsedArguments") -> Outcome:
    named = reference(given.id, "fact", "fact", "global")
    target, moves = int(named.target), session.memory.moves
    if given.to == "global":
        if named.kind == "global":
            raise InvalidInput(f"{named} is global already.", "memoranda move G#5 --to project brings it here.")
        started = _starts_personal(session)
        number = though_purged(session, given, lambda again: moves.to_global(target, again=again))
        return Outcome(
            f"Moved {named} to {cite('global', number)}, seen in every project. Undo takes it back.{started}",
            lambda: _global_json(session, [number])[0],
        )
    if named.kind == "fact":
        moves.in_project(target)
        return Outcome(f"{named} is the project's now. Undo takes it back.", lambda: _json(session, [target])[0])
    number = though_purged(session, given, lambda again: moves.to_project(target, again=again))
    return Outcome(
        f"Moved {named} to {cite('fact', number)}, of this project alone. Undo takes it back.",
        lambda: _json(session, [number])[0],
    )


def list_facts(session: Session, given: "ParsedArguments") -> Outcome:
    from store.base.models import as_json
    from store.records.ageing import STATES as AGED
    from tui.commands.record_lines import fact_line, left_out, none_of

    memory = session.memory
    words, domain = filters(given)
    aged = given.status in AGED  # a state of those in force, as `is:` and the chips call it
    statuses = ("active", "superseded", "contradicted", "forgotten") if given.all else (given.status or "active",)
    if aged or given.status == "pinned":
        statuses = ("active",)
    now = memory.now
    narrowed = {
        "statuses": statuses,
        "state": AGED.index(given.status) if aged else None,
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
    shown: list[Fact | GlobalFact] = list(memory.globals.many(shared[: given.limit]))
    ids = [] if given.scope == "global" and shared else memory.facts.ids(now, scope=given.scope, **narrowed)
    shown += memory.facts.many(ids[: given.limit - len(shown)])
    lines = [fact_line(fact, now) for fact in shown]
    if not lines:
        narrow = (words, domain, given.status, given.origin, given.tag, given.scope)
        lines = none_of("facts", 'No facts here. Add one: memoranda remember "team of 5"', *narrow)
    lines += left_out(len(shared) + len(ids) - len(shown), given.limit)
    if why := memory.globals.trouble:
        lines.append(f"Your global facts are not shown: {why}")
    return Outcome(data=lambda: [as_json(fact) for fact in shown], lines=lines)


def filters(given: "ParsedArguments") -> tuple[str, str | None]:
    """Return (words, domain) for a list of facts; `/memory list work` means the domain."""
    if len(given.words) == 1 and given.domain is None and given.words[0].lower() in DOMAINS:
        return "", given.words[0].lower()
    return " ".join(given.words), given.domain


def correct(session: Session, given: "ParsedArguments") -> Outcome:
    old = reference(given.id, "fact", "fact", "global", "decision", "task")
    text = text_of(session, given.text, f"correct {old}")
    target = int(old.target)
    if old.kind == "global":
        new = though_purged(session, given, lambda again: session.memory.globals.correct(target, text, again=again))
        return Outcome(f"{cite('global', new)} replaces {old}{EVERYWHERE}", lambda: _global_json(session, [new])[0])
    if old.kind == "decision":
        new = though_purged(session, given, lambda again: session.memory.decisions.correct(target, text, again=again))
        return Outcome(f"{cite('decision', new)} replaces {old}.", lambda: _decision(session, new))
    if old.kind == "task":
        session.memory.tasks.correct(target, text)
        return Outcome(f"Corrected {old}.", lambda: _task(session, target))
    new = though_purged(session, given, lambda again: session.memory.facts.correct(target, text, again=again))
    return Outcome(f"{cite('fact', new)} replaces {old}.", lambda: _json(session, [new])[0])


def confirm(session: Session, given: "ParsedArguments") -> Outcome:
    kind, ids = _of_one_kind(given, "confirmed")
    if kind == "decision":
        session.memory.decisions.confirm(ids)
        return Outcome(f"Confirmed {cited(kind, ids)}.", lambda: [_decision(session, i) for i in ids])
    if kind == "global":
        session.memory.globals.confirm(ids)
        return Outcome(f"Confirmed {cited('global', ids)}{EVERYWHERE}", lambda: _global_json(session, ids))
    session.memory.facts.confirm(ids)
    return Outcome(f"Confirmed {cited(kind, ids)}.", lambda: _json(session, ids))


def _of_one_kind(given: "ParsedArguments", done: str) -> tuple[str, list[int]]:
    """Return the kind and ids of the facts, global facts or decisions named. Raises InvalidInput for a mixture."""
    citations = list(dict.fromkeys(reference(text, "fact", "fact", "global", "decision") for text in given.ids))
    kinds = {citation.kind for citation in citations}
    if len(kinds) > 1:
        named = "Facts, global facts" if "global" in kinds else "Facts"
        raise InvalidInput(f"{named} and decisions are {done} one kind at a time.", "Name only one kind.")
    return kinds.pop(), [int(citation.target) for citation in citations]


def forget(session: Session, given: "ParsedArguments") -> Outcome:
    kind, ids = _of_one_kind(given, "forgotten")
    if kind == "decision":
        session.memory.decisions.forget(ids)
        return Outcome(f"Forgot {cited(kind, ids)}. {_back(ids)}", lambda: [_decision(session, i) for i in ids])
    if kind == "global":
        session.memory.globals.forget(ids)
        return Outcome(f"Forgot {cited(kind, ids)}{EVERYWHERE}", lambda: _global_json(session, ids))
    session.memory.facts.forget(ids)
    return Outcome(f"Forgot {cited(kind, ids)}. {_back(ids)}", lambda: _json(session, ids))


def _back(ids: "list[int]") -> str:
    return f"Undo brings {'it' if len(ids) == 1 else 'them'} back."


def pin(session: Session, given: "ParsedArguments") -> Outcome:
    ids, shared = _numbers(given.ids)
    if shared:
        session.memory.globals.pin(ids)
        return Outcome(f"Pinned {cited('global', ids)}{EVERYWHERE}", lambda: _global_json(session, ids))
    session.memory.facts.pin(ids)
    never = "it never ages" if len(ids) == 1 else "they never age"
    return Outcome(f"Pinned {cited('fact', ids)}: {never}.", lambda: _json(session, ids))


def unpin(session: Session, given: "ParsedArguments") -> Outcome:
    ids, shared = _numbers(given.ids)
    if shared:
        session.memory.globals.pin(ids, False)
        return Outcome(f"Unpinned {cited('global', ids)}{EVERYWHERE}", lambda: _global_json(session, ids))
    session.memory.facts.pin(ids, False)
    return Outcome(f"Unpinned {cited('fact', ids)}.", lambda: _json(session, ids))


def tag(session: Session, given: "ParsedArguments") -> Outcome:
    if shared := all_global(given.ids):
        tag = session.memory.globals.tag(shared, given.tag)
        said = f"Tagged {cited('global', shared)}: {tag}{EVERYWHERE}"
        return Outcome(said, lambda: _global_json(session, shared))
    records = _taggable(given.ids)
    tag = session.memory.tagging.add(records, given.tag)
    return Outcome(f"Tagged {_of(records)}: {tag}.", lambda: _every(session, records))


def untag(session: Session, given: "ParsedArguments") -> Outcome:
    if shared := all_global(given.ids):
        session.memory.globals.untag(shared, given.tag)
        said = f"Removed {given.tag} from {cited('global', shared)}{EVERYWHERE}"
        return Outcome(said, lambda: _global_json(session, shared))
    records = _taggable(given.ids)
    session.memory.tagging.remove(records, given.tag)
    return Outcome(f"Removed {given.tag} from {_of(records)}.", lambda: _every(session, records))


def all_global(texts: list[str]) -> list[int]:
    """Return the numbers of the global facts, if only such are named; else none."""
    named = list(dict.fromkeys(parse(text, "fact") for text in texts))
    return [int(one.target) for one in named] if all(one.kind == "global" for one in named) else []


def _of(records: list[tuple[str, int]]) -> str:
    return cite(*records[0]) if len(records) == 1 else count(len(records), "record")


def _taggable(texts: list[str]) -> list[tuple[str, int]]:
    """Return the kind and the id of each record that is named: a number is a fact's. Raises InvalidInput."""
    from store.records.tagging import TABLES

    found = []
    for text in texts:
        named = parse(text, "fact")
        if named.kind not in TABLES:
            raise InvalidInput(f"{named} has no tags.", "Facts, decisions and tasks have: F#12, D#3, A#4.")
        found.append((named.kind, int(named.target)))
    return list(dict.fromkeys(found))


def _every(session: Session, records: list[tuple[str, int]]) -> list[dict[str, object]]:
    from store.base.models import as_json
    from store.search.lookup import many as many_records

    return [as_json(many_records(session.memory.database, kind, [number])[0]) for kind, number in records]


def _numbers(texts: list[str]) -> tuple[list[int], bool]:
    """Return the numbers of the facts named, and whether they are global. Raises InvalidInput for a mixture."""
    named = list(dict.fromkeys(reference(text, "fact", "fact", "global") for text in texts))
    if len({one.kind for one in named}) > 1:
        raise InvalidInput("Facts and global facts are pinned one kind at a time.", "Name only one kind.")
    return [int(one.target) for one in named], named[0].kind == "global"


def _tags(words: list[str]) -> list[str]:
    from store.records.tags import listed

    return [tag for word in words for tag in listed(word)]


def _json(session: Session, ids: list[int]) -> list[dict[str, object]]:
    from store.base.models import as_json

    return [as_json(fact) for fact in session.memory.facts.many(ids)]


def _global_json(session: Session, ids: list[int]) -> list[dict[str, object]]:
    from store.base.models import as_json
    from store.search.lookup import many

    return [as_json(fact) for fact in many(session.memory.database, "global", ids)]


def _decision(session: Session, number: int) -> dict[str, object]:
    from store.base.models import as_json

    return as_json(session.memory.decisions.get(number))


def _task(session: Session, number: int) -> dict[str, object]:
    from store.base.models import as_json

    return as_json(session.memory.tasks.get(number))
