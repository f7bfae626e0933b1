"""search, show, timeline, stats, and the overview."""

import os

from store.base.clock import local_time
from store.base.errors import InvalidInput
from store.base.models import Commit, GlobalFact, Proposal
from tui.commands import Outcome, Session, number
from tui.render.plurals import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.memory import Memory
    from store.search.results import Hit
    from tui.input.argument_parser import ParsedArguments


def search(session: Session, given: "ParsedArguments") -> Outcome:
    from store.search.query.filters import check as check_query
    from store.search.query.query_parser import hints as query_hints
    from store.search.waiting import search as search_for_person
    from store.text.prompt_injection import suspicious
    from tui.render import levels
    from tui.render.badges import KIND_GLYPHS, WARNING
    from tui.render.line_parts import writer
    from tui.render.summary_line import moment
    from tui.theme.escape import visible

    if not "".join(given.query).strip():
        raise InvalidInput("There is nothing to search for.", 'Give words or a filter: memoranda search "is:pinned"')
    cites = session.memory.config["citations"]
    iteration = number(given.iteration, "iteration") if given.iteration else 0
    query, memory = " ".join(given.query), session.memory
    check_query(memory.database, query)
    answer = search_for_person(memory.search, memory.database, query, given.limit, not given.keywords, iteration)
    waits, answer.waiting = answer.waits, []  # agents run this too: how many, and what they say only where asked for
    said = levels.none_exact(query, answer)
    hints = query_hints(query)
    lines = [*map(visible, hints), *([visible(said)] if said else [])]
    for heading, hits in levels.grouped(query, answer):
        lines += [heading] if heading else []
        for place, hit in enumerate(hits):
            if given.explain and place:
                lines.append("")
            cited = "" if cites == "off" else f"{hit.citation:<9}  "
            cited += "global: " if isinstance(hit.record, GlobalFact) else ""
            cited += f"{visible(writer(hit.record.origin))}: " if isinstance(hit.record, Proposal) else ""
            cited += "gone: " if isinstance(hit.record, Commit) and not hit.record.reachable else ""
            cited += f"{WARNING} " if suspicious(hit.snippet) else ""
            lines.append(f"{KIND_GLYPHS[hit.kind]} {cited}{visible(_around(hit.snippet, hit.marks))}")
            if cites == "on":
                lines.append(f"  Source: {hit.citation}, {local_time(moment(hit.record))}")
            if given.explain:
                from tui.render.score_breakdown import lines_of

                lines += [f"  {line}" for line in lines_of(hit)]
    more = answer.total - len(answer.hits)
    found = f"{answer.total:,} found in {answer.milliseconds:.0f} ms"
    if answer.left_out:
        lines.append(f"{count(answer.left_out, 'record')} hidden (forgotten or replaced): is:replaced is:forgotten")
    if waits:
        import shlex

        lines.append(
            f"{count(waits, 'proposal')} in the inbox: memoranda search {shlex.join(['in:inbox', *given.query])}"
        )
    tail = [found + (f", {more:,} not shown: --limit {answer.total}" if more > 0 else ""), *answer.notes]
    return Outcome(
        lines=[*lines, *tail],
        data=lambda: {
            "total": answer.total,
            "verdict": answer.verdict,
            "exact": answer.exact,
            "left_out": answer.left_out,
            "waiting": waits,
            "provider": answer.provider,
            "signals": list(answer.signals),
            "milliseconds": round(answer.milliseconds, 3),
            "notes": [*hints, *answer.notes],
            "hits": [_hit_json(hit) for hit in answer.hits],
            "nearest": [_hit_json(hit) for hit in answer.nearest],
        },
        after=lambda: session.memory.search.latency_log.add(answer),
    )


def _hit_json(hit: "Hit") -> dict[str, object]:
    from store.base.models import as_json
    from store.text.prompt_injection import suspicious

    return {
        **as_json(hit.record),
        "kind": hit.kind,
        "level": hit.level,
        "snippet": hit.snippet,
        "flagged": suspicious(hit.snippet),
        "start": hit.start,
        "line": hit.line,
        "score": hit.score,
        "similarity": hit.similarity,
        "why": hit.why,
    }


def _around(text: str, marks: list[tuple[int, int]], width: int = 160) -> str:
    """Return one line of whole words around the most matches, with the matched words in «»."""
    from tui.render.highlight import densest

    text = text.replace("\n", " ")
    start, end = 0, len(text)
    if end > width:
        first = marks[densest(text, marks, width - 40)][0] if marks else 0
        if first > 40:
            start = text.find(" ", first - 41, first) + 1 or first - 40
        if end > start + width:
            last = start + width
            end = text.rfind(" ", last - 40, last + 1)
            end = max([last if end < 0 else end, *(right for _, right in marks if right <= last)])
    pieces, at = [], start
    for left, right in marks:
        if left >= at and right <= end:
            pieces += [text[at:left], "«", text[left:right], "»"]
            at = right
    pieces.append(text[at:end])
    return ("… " if start else "") + "".join(pieces) + (" …" if len(text) > end else "")


def show(session: Session, given: "ParsedArguments") -> Outcome:
    from store.base.citations import named
    from store.base.models import Decision, Fact
    from store.search import linked_records, lookup
    from store.team.commits import shared_identity
    from tui.render.details.record_detail import as_text, describe
    from tui.theme.escape import visible

    memory = session.memory
    record = lookup.lookup(memory.database, named(given.citation, "fact"))
    lines = [visible(line) for line in as_text(describe(memory, record))]  # a name with a newline cannot add a line
    data = linked_records.as_json(memory.database, record)
    if isinstance(record, Decision | Fact) and (shared := shared_identity(memory, record)):
        lines.append(f"Shared as {shared}: on every machine, as in a commit that ends in `Decision: {shared}`.")
        data["shared"] = shared
    if given.diff:
        text = _diff(session, record)
        lines += ["", *text.split("\n")]
        data["diff"] = text
    return Outcome(data=lambda: data, lines=lines, after=lambda: memory.search.accesses.add([lookup.key(record)]))


def _diff(session: Session, record: object) -> str:
    from store.base.models import Commit
    from store.services import maintenance

    if not isinstance(record, Commit):
        raise InvalidInput("Only a commit has a diff.")
    source = maintenance.repository(session.memory, session.cwd)
    if source is None:
        raise InvalidInput("There is no git repository here.", "Run it inside the project's checkout.")
    diff = source.diff(record.sha)
    return diff.text + ("\n… the diff is longer" if diff.truncated else "")


def timeline(session: Session, given: "ParsedArguments") -> Outcome:
    from store.base.models import as_json
    from store.base.record_keys import unpack
    from store.search import lookup
    from tui.commands.record_lines import keyed_line, left_out, none_of

    memory = session.memory
    since = memory.typed_moment(given.since) if given.since else ""
    before = memory.typed_moment(given.before) if given.before else ""
    iteration = number(given.iteration, "iteration") if given.iteration else None
    keys = [key for key, _ in memory.timeline.stream(given.kind, since, before, given.limit + 1, iteration)]
    found = lookup.by_key(memory.database, keys[: given.limit])
    shown = [(key, found[key]) for key in keys if key in found]
    lines = [keyed_line(key, record) for key, record in shown]
    if not lines:
        narrow = (given.kind, since, before, iteration)
        lines = none_of("timeline", "Nothing happened here yet.", *narrow)
    return Outcome(
        data=lambda: [{"kind": unpack(key)[0], **as_json(record)} for key, record in shown],
        lines=[*lines, *left_out(len(keys) - given.limit, given.limit)],
    )


def stats(session: Session, given: "ParsedArguments") -> Outcome:
    if given.plot:
        from tui.commands.files.plots import plot

        return plot(session, given)
    from dataclasses import asdict

    from store.services.metrics import measure
    from tui.commands.records.metric_lines import lines_of
    from tui.render.metrics.metric_sections import sections

    numbers, measures = figures(session), measure(session.memory)
    width = max(map(len, numbers))
    return Outcome(
        data=lambda: {**numbers, "health": asdict(measures)},
        lines=[
            *(f"{name:<{width}}  {_number(value)}" for name, value in numbers.items()),
            "",
            *lines_of(sections(measures, past=bool(session.memory.database.moment))),
        ],
    )


def figures(session: Session) -> dict[str, object]:
    """Collect the counts of records, sizes and paths."""
    memory = session.memory
    database = memory.database
    facts = memory.facts.counts(memory.now)
    tables = ("decisions", "iterations", "commits", "events", "commit_links", "tasks", "checkpoints", "history")
    counted = {table: database.value(f"SELECT count(*) FROM {table}") for table in tables}
    return {
        "facts": facts["active"],
        **{name: facts[name] for name in ("fresh", "aging", "low", "stale", "superseded", "forgotten")},
        **counted,
        "schema": database.connection.pragma("user_version"),
        "created_at": database.value("SELECT value FROM meta WHERE key = 'created_at'"),
        **_vectors(memory),
        "bytes": 0 if memory.passing else os.path.getsize(memory.location.path),
        "path": session.location.path,
    }


def _vectors(memory: "Memory") -> dict[str, object]:
    """Return who makes the vectors that are searched, with which model, and how many texts wait for one."""
    from store.embedding.vectors import Vectors

    status = Vectors(memory.database).status()
    return {"embedded_by": status.provider, "embedding_model": status.model, "to_embed": status.left}


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def overview(session: Session) -> list[str]:
    """Return the lines that `memoranda` prints without a terminal."""
    from store.search import lookup
    from tui.commands.record_lines import fact_line, keyed_line

    memory = session.memory
    now = memory.now
    counts = memory.facts.counts(now)
    keys = [key for key, _ in memory.timeline.stream(limit=8)]
    found = lookup.by_key(memory.database, keys)
    old = memory.facts.many(memory.facts.ids(now, limit=8))
    ageing = ", ".join(f"{counts[state]} {state}" for state in ("aging", "low", "stale") if counts[state])
    lines = [f"memoranda  {memory.location.name}  {count(counts['active'], 'fact')}{f' ({ageing})' if ageing else ''}"]
    lines += ["", "FACTS, longest unconfirmed first", *(fact_line(fact, now) for fact in old)]
    if not old:
        lines.append('none yet; add one: memoranda remember "team of 5"')
    lines += ["", "TIMELINE, newest first", *(keyed_line(key, found[key]) for key in keys if key in found)]
    if not keys:
        lines.append("nothing yet")
    return [*lines, "", "memoranda --help lists what can be done; in a terminal, memoranda opens the application."]
