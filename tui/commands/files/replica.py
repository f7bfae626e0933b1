"""replica: what teams shared, read from the PostgreSQL database that the person set."""

from store.base.clock import local_time
from store.config.configuration import load as load_config
from store.team.postgres.reader import ReplicaReader, ReplicaRecord
from tui.commands import Outcome, Session
from tui.render.badges import KIND_GLYPHS
from tui.render.plurals import count
from tui.theme.escape import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from store.team.postgres.reader import ReplicaTeam
    from tui.input.argument_parser import ParsedArguments

FIELDS = {"chosen": "Chosen", "context": "Context", "alternatives": "Instead of", "rationale": "Because"}
MORE = {"impact": "Impact", "confidence": "Confidence", "tags": "Tags"}


def replica(session: Session, given: "ParsedArguments") -> Outcome:
    reader = ReplicaReader(load_config(session.location))
    try:
        if not given.query:
            teams = [one for one in reader.teams() if given.team in ("", one.name)]
            return Outcome(
                f"{reader.place}, read-only",
                lambda: {"place": reader.place, "teams": [_team_json(one) for one in teams]},
                [team_line(one) for one in teams],
            )
        found = reader.search(" ".join(given.query), given.team, given.limit, not given.keywords)
    finally:
        reader.close()
    if len(found.records) == 1 and found.records[0].id == given.query[0].strip():
        lines = [line for label, text in fields(found.records[0]) for line in _labelled(label, text)]
    else:
        lines = []
        for heading, records in grouped(found.records):
            lines += [heading, *(line for one in records for line in _lines(one))]
    lines.append(f"{len(found.records):,} found in {reader.place}, read-only")
    return Outcome(
        lines=[*lines, *([found.note] if found.note else [])],
        data=lambda: {
            "place": reader.place,
            "meaning": found.meaning,
            "notes": [found.note] if found.note else [],
            "hits": [_record_json(one) for one in found.records],
        },
    )


def team_line(one: "ReplicaTeam") -> str:
    """Return what of a team may be read, in a line."""
    parts = [count(one.facts, "fact"), count(one.decisions, "decision")]
    if one.forgotten:
        parts.append(f"{one.forgotten:,} forgotten, not shown")
    return f"{visible(one.name)}: {', '.join(parts)}"


def grouped(records: "Sequence[ReplicaRecord]") -> "list[tuple[str, list[ReplicaRecord]]]":
    """Return what a search found as (heading, its records): with all the words, then what is near."""
    groups = {"Exact": [one for one in records if one.exact], "Near": [one for one in records if not one.exact]}
    return [(f"{name} {len(several):,}", several) for name, several in groups.items() if several]


def written_by(one: ReplicaRecord) -> str:
    """Return who wrote a record, by name if they gave one."""
    return str(one.name or one.author)


def fields(one: ReplicaRecord) -> "Iterator[tuple[str, str]]":
    """Yield what is known of a record: each field as (label, text); its own words have no label."""
    yield "", one.text
    for name, label in FIELDS.items():
        value = one.fields.get(name)
        if value and name != "fact":
            yield label, "; ".join(value) if isinstance(value, list) else str(value)
    domain = one.domain if one.kind == "fact" else ""
    yield "Kind", " · ".join(filter(None, (one.kind, domain, one.status if one.status != "active" else "")))
    yield "Team", one.team
    yield "Written by", f"{one.name} ({one.author})" if one.name else one.author
    if one.created:
        yield "Created", local_time(one.created)
    for name, label in MORE.items():
        if value := one.fields.get(name):
            yield label, ", ".join(value) if isinstance(value, list) else str(value)
    if one.conflict:
        yield "Conflict", "it has several texts, of which its author's is shown"
    yield "Identity", one.id


def _labelled(label: str, text: str) -> list[str]:
    first, *rest = [visible(line) for line in text.split("\n")]
    return [f"{label:<12} {first}" if label else first, *(f"{'':<12} {line}" for line in rest)]


def _lines(one: ReplicaRecord) -> list[str]:
    about = " · ".join((one.id, one.domain, written_by(one), one.team))
    text = one.text.replace("\n", " ")
    return [f"{KIND_GLYPHS.get(one.kind, '·')} {visible(text)}", f"  {visible(about)}"]


def _record_json(one: ReplicaRecord) -> dict[str, object]:
    return {name: getattr(one, name) for name in ReplicaRecord.__slots__}


def _team_json(one: "ReplicaTeam") -> dict[str, object]:
    return {"team": one.name, "facts": one.facts, "decisions": one.decisions, "forgotten": one.forgotten}
