"""remember, facts, correct, confirm, forget, pin, unpin, tag, untag."""

from store import DOMAINS, InvalidInput, cite
from store import parse_citation as parse
from tui.commands import Outcome, Session, number, reference, text_of, though_purged
from tui.render.plurals import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tui.input.argument_parser import ParsedArguments


def remember(session: Session, given: "ParsedArguments") -> Outcome:
    facts = session.memory.facts
    if given.session and given.scope != "session":
        raise InvalidInput("A fact of the project belongs to no session.", "Add --scope session, or leave it out.")
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


def list_facts(session: Session, given: "ParsedArguments") -> Outcome:
    from store import as_json
    from tui.commands.record_lines import fact_line, left_out, none_of

    memory = session.memory
    words, domain = filters(given)
    statuses = ("active", "superseded", "contradicted", "forgotten") if given.all else (given.status or "active",)
    now = memory.now
    ids = memory.facts.ids(
        now,
        statuses=statuses,
        domain=domain,
        origin=given.origin,
        tag=given.tag,
        words=words,
        sort=given.sort or "oldest",
        limit=given.limit + 1,
    )
    shown = memory.facts.many(ids[: given.limit])
    lines = [fact_line(fact, now) for fact in shown]
    if not lines:
        narrow = (words, domain, given.status, given.origin, given.tag)
        lines = none_of("facts", 'No facts here. Add one: memoranda remember "team of 5"', *narrow)
    return Outcome(
        data=lambda: [as_json(fact) for fact in shown], lines=[*lines, *left_out(len(ids) - len(shown), given.limit)]
    )


def filters(given: "ParsedArguments") -> tuple[str, str | None]:
    """Return (words, domain) for a list of facts; `/memory list work` means the domain."""
    if len(given.words) == 1 and given.domain is None and given.words[0].lower() in DOMAINS:
        return "", given.words[0].lower()
    return " ".join(given.words), given.domain


def correct(session: Session, given: "ParsedArguments") -> Outcome:
    old = reference(given.id, "fact", "fact", "decision", "task")
    text = text_of(session, given.text, f"correct {old}")
    target = int(old.target)
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
        return Outcome(f"Confirmed {count(len(ids), kind)}.", lambda: [_decision(session, i) for i in ids])
    session.memory.facts.confirm(ids)
    return Outcome(f"Confirmed {count(len(ids), kind)}.", lambda: _json(session, ids))


def _of_one_kind(given: "ParsedArguments", done: str) -> tuple[str, list[int]]:
    """Return the kind and ids of the facts or decisions named. Raises InvalidInput for a mixture."""
    citations = list(dict.fromkeys(reference(text, "fact", "fact", "decision") for text in given.ids))
    kinds = {citation.kind for citation in citations}
    if len(kinds) > 1:
        raise InvalidInput(f"Facts and decisions are {done} one kind at a time.", "Name only one kind.")
    return kinds.pop(), [int(citation.target) for citation in citations]


def forget(session: Session, given: "ParsedArguments") -> Outcome:
    kind, ids = _of_one_kind(given, "forgotten")
    if kind == "decision":
        session.memory.decisions.forget(ids)
        return Outcome(
            f"Forgot {count(len(ids), kind)}. Undo brings it back.", lambda: [_decision(session, i) for i in ids]
        )
    session.memory.facts.forget(ids)
    return Outcome(f"Forgot {count(len(ids), kind)}. Undo brings it back.", lambda: _json(session, ids))


def pin(session: Session, given: "ParsedArguments") -> Outcome:
    ids = _numbers(given.ids)
    session.memory.facts.pin(ids)
    return Outcome(f"Pinned {count(len(ids), 'fact')}: it never ages.", lambda: _json(session, ids))


def unpin(session: Session, given: "ParsedArguments") -> Outcome:
    ids = _numbers(given.ids)
    session.memory.facts.pin(ids, False)
    return Outcome(f"Unpinned {count(len(ids), 'fact')}.", lambda: _json(session, ids))


def tag(session: Session, given: "ParsedArguments") -> Outcome:
    records = _taggable(given.ids)
    tag = session.memory.tagging.add(records, given.tag)
    return Outcome(f"Tagged {count(len(records), 'record')}: {tag}.", lambda: _every(session, records))


def untag(session: Session, given: "ParsedArguments") -> Outcome:
    records = _taggable(given.ids)
    session.memory.tagging.remove(records, given.tag)
    return Outcome(f"Removed {given.tag} from {count(len(records), 'record')}.", lambda: _every(session, records))


def _taggable(texts: list[str]) -> list[tuple[str, int]]:
    """Return the kind and the id of each record that is named: a number is a fact's. Raises InvalidInput."""
    from store import TAGGED_TABLES as TABLES

    found = []
    for text in texts:
        named = parse(text, "fact")
        if named.kind not in TABLES:
            raise InvalidInput(f"{named} has no tags.", "Facts, decisions and tasks have: F#12, D#3, A#4.")
        found.append((named.kind, int(named.target)))
    return list(dict.fromkeys(found))


def _every(session: Session, records: list[tuple[str, int]]) -> list[dict[str, object]]:
    from store import as_json, many_records

    return [as_json(many_records(session.memory.database, kind, [number])[0]) for kind, number in records]


def _numbers(texts: list[str]) -> list[int]:
    return list(dict.fromkeys(number(text, "fact") for text in texts))


def _tags(words: list[str]) -> list[str]:
    from store import written_tags as written

    return [written(word) for word in words]


def _json(session: Session, ids: list[int]) -> list[dict[str, object]]:
    from store import as_json

    return [as_json(fact) for fact in session.memory.facts.many(ids)]


def _decision(session: Session, number: int) -> dict[str, object]:
    from store import as_json

    return as_json(session.memory.decisions.get(number))


def _task(session: Session, number: int) -> dict[str, object]:
    from store import as_json

    return as_json(session.memory.tasks.get(number))
