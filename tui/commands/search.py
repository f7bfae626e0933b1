"""search, show, timeline, stats, and the overview."""

from __future__ import annotations

import os
import shlex
from collections.abc import Generator
from contextlib import nullcontext
from dataclasses import asdict
from shutil import get_terminal_size

from store.base.citations import parse_citation, parse_typed_citation, remove_citations
from store.base.clock import format_local_time
from store.base.errors import InvalidInput
from store.base.models import Commit, Decision, Fact, GlobalFact, Proposal, as_json
from store.base.vocabulary import unpack_key
from store.embedding.vectors import Vectors
from store.exchange.exporter import save_export
from store.librarian.answer import CitedSentence, LibrarianAnswer
from store.librarian.librarian import Librarian
from store.llm import model_selection
from store.llm.model_selection import why_no_model
from store.memory import Memory
from store.records.trends import measure_trends
from store.search.filters import require_valid_query
from store.search.lookup import find_records, get_record, json_with_links, key_of_record, records_by_key
from store.search.pipeline import search_for_person
from store.search.query_parser import query_hints
from store.search.results import Hit
from store.services.maintenance import timeline_repository
from store.services.metrics import measure
from store.team.exchange import shared_identity
from store.text.fence import is_suspicious
from tui.commands.call import Outcome, Session, parse_id
from tui.commands.context import draw_bar
from tui.commands.exchange import may_replace
from tui.commands.interrupt import STOP_HINT, Interrupt
from tui.commands.record_lines import empty_list_line, fact_line, keyed_line, more_line, shorten
from tui.input.arguments import ParsedArguments
from tui.render.details import describe_record, plain_lines
from tui.render.lines import KIND_GLYPHS, WARNING_SIGN, format_count, record_time, summarize_record, writer_name
from tui.render.metrics import POOR, UNKNOWN, MetricSection, draw_steps, draw_trend, metric_sections, trends_svg
from tui.render.search_results import densest_mark, group_hits, none_exact_words, score_lines
from tui.theme.escape import visible

# stats --plot: how the memory changed over time, as a picture or as columns of text.

TO_TERMINAL = "-"  # instead of a file: to the terminal
PLOT_LINES = 8  # lines of a plot there


def plot_trends(session: Session, given: ParsedArguments) -> Outcome:
    """Write the trends of growth, recall and age into an SVG file, or print them."""
    memory = session.memory
    found = measure_trends(memory.database, memory.now)
    if given.plot == TO_TERMINAL:
        width = _terminal_columns()
        lines = ["".join(text for text, _ in line) for one in found for line in draw_trend(one, width, PLOT_LINES)]
        data = {one.name: dict(zip(one.labels, one.values, strict=True)) for one in found}
        return Outcome(lines=lines, data=lambda: data)
    path = os.path.abspath(os.path.join(session.cwd, os.path.expanduser(given.plot)))

    def picture() -> Generator[str, None, None]:
        yield trends_svg(found, session.location.display_name)

    size = save_export(memory.database, path, may_replace(session, given, path), text=picture)
    return Outcome(f"Drawn to {path}, {size:,} bytes.", lambda: {"file": path, "bytes": size})


def _terminal_columns() -> int:
    return min(120, get_terminal_size().columns)


# ask.

MODEL_LOADING = "the model is being loaded …"
ORDER_KEPT = "The order stays as it is."


def ask(session: Session, given: ParsedArguments) -> Outcome:
    """At a terminal show what the search found before a model reads it, and progress until the answer is complete; ^C
    stops the model there."""
    memory, question = session.memory, " ".join(given.question)
    require_valid_query(memory.database, question)
    limit, cites = float(memory.config["agent.patience"]), memory.config["citations"]
    shown: list[str] = []

    def tell(*lines: str) -> None:
        for line in lines:
            if session.tell is not None:
                session.tell(remove_citations(line) if cites == "off" else line)

    with Interrupt() if session.tell is not None and not given.no_model else nullcontext() as interrupt:
        stops = f"  {STOP_HINT}" if interrupt is not None else ""
        stopped = lambda: interrupt is not None and interrupt.asked  # noqa: E731
        loading = lambda: session.wait(f"{MODEL_LOADING}{stops}")  # noqa: E731
        chat = (
            None
            if given.no_model
            else model_selection.open_selected_model(
                memory.config, cancelled=stopped, loading=loading, seconds=limit
            )
        )
        name = chat.name if chat is not None else ""
        why = "" if chat or given.no_model else why_no_model(memory.config, ends=True)

        def first(parts: tuple[CitedSentence, ...]) -> None:
            if chat is not None and parts and session.tell is not None:
                shown.extend(part.text for part in parts)
                tell(f"By rule, while {name} reads:", *shown, "")

        try:
            answer = Librarian(memory).ask(
                question,
                chat,
                why=why,
                first=first,
                cancelled=stopped,
                waiting=lambda done, total: session.wait(f"{reading_progress(name, done, total)}{stops}"),
            )
        finally:
            session.wait("")
            if chat is not None:
                chat.close()
    if shown and "\n".join(answer.sentences).endswith("\n".join(shown)):
        tell(f"{answer.sentences[0].removesuffix(shown[0])}{ORDER_KEPT}")
    else:
        tell(*answer.sentences)
    lines = [*([] if session.tell else answer.sentences), "", *answer_notes(answer)]
    if cites == "off":
        lines = [remove_citations(line) for line in lines]
    elif cites == "on":
        lines += _answer_sources(session, answer)
    return Outcome(lines=lines, data=lambda: answer_json(session, answer))


def _answer_sources(session: Session, answer: LibrarianAnswer) -> list[str]:
    """Return a line for each record that an answer cites."""
    found = find_records(session.memory.database, map(parse_citation, answer.citations))
    return [f"Source: {record.citation}  {shorten(summarize_record(record)[0], 100)}" for record in found]


def reading_progress(name: str, done: int, total: int) -> str:
    """Return the progress message while a model has read `done` of `total` records."""
    return f"{name} reads {done + 1} of {format_count(total, 'record')} …"


def answer_notes(answer: LibrarianAnswer) -> list[str]:
    """Return the lines below an answer: the filter that the question was read as, the model, the number of records, and
    warnings."""
    near = [answer.near.text] if answer.near else []
    filters = [f"filter: {answer.filter}"] if answer.filter else []
    return [*near, *filters, answer.line, *([answer.note] if answer.note else [])]


def answer_json(session: Session, answer: LibrarianAnswer) -> dict[str, object]:
    """Return an answer as `--json` prints it, with the records that it cites."""
    database = session.memory.database
    return {
        "question": answer.asked.text,
        "language": answer.asked.language,
        "kind": answer.asked.kind,
        "answer": answer.text,
        "sentences": list(answer.sentences),
        "citations": list(answer.citations),
        "nothing": answer.nothing,
        "near": list(answer.near.citations) if answer.near else [],
        "by": answer.by or "rule",
        "seconds": round(answer.seconds, 3),
        "note": answer.note,
        "filter": answer.filter,
        "quotes": [quote._asdict() for sentence in answer.parts for quote in sentence.quotes],
        "odds": dict(answer.odds),
        "looked_at": list(answer.sources),
        "records": [as_json(record) for record in find_records(database, map(parse_citation, answer.citations))],
    }


# Format the metrics of a memory as lines with small charts, for `stats`.

STATS_BAR_CELLS = 24  # cells of the longest bar
STATS_LABEL_CELLS, STATS_VALUE_CELLS = 14, 9
STATS_QUERY_CELLS = 60


def stats_lines(found: list[MetricSection]) -> list[str]:
    """Return each metric with its chart; say which ones are unknown, and where to look for poor ones."""
    lines: list[str] = []
    for heading, figures in found:
        lines += ["", heading.upper()]
        for one in figures:
            if one.state == UNKNOWN:
                lines.append(f"  {one.glyph} {one.label:<{STATS_LABEL_CELLS}} {one.note}")
                continue
            chart = (
                draw_steps(one.series)
                if one.share is None
                else draw_bar(round(one.share * 1000), 1000, STATS_BAR_CELLS)
            )
            label = (
                f"{shorten(one.label, STATS_QUERY_CELLS):<{STATS_QUERY_CELLS}}"
                if one.wide
                else f"{shorten(one.label, STATS_LABEL_CELLS):<{STATS_LABEL_CELLS}}"
            )
            value = "" if one.wide else f" {one.value:>{STATS_VALUE_CELLS}}  {chart:<{STATS_BAR_CELLS}}"
            lines.append(f"  {one.glyph} {label}{value}  {one.note}".rstrip())
            if one.state == POOR and one.leads:
                lines.append(f"      memoranda {one.leads}")
    return lines[1:]


def search(session: Session, given: ParsedArguments) -> Outcome:
    if not "".join(given.query).strip():
        raise InvalidInput("There is nothing to search for.", 'Give words or a filter: memoranda search "is:pinned"')
    cites = session.memory.config["citations"]
    iteration = parse_id(given.iteration, "iteration") if given.iteration else 0
    query, memory = " ".join(given.query), session.memory
    require_valid_query(memory.database, query)
    answer = search_for_person(memory.search, memory.database, query, given.limit, not given.keywords, iteration)
    waits, answer.waiting = answer.waits, []  # agents run this too: how many, and what they say only where asked for
    said = none_exact_words(query, answer)
    hints = query_hints(query)
    lines = [*map(visible, hints), *([visible(said)] if said else [])]
    for heading, hits in group_hits(query, answer):
        lines += [heading] if heading else []
        for place, hit in enumerate(hits):
            if given.explain and place:
                lines.append("")
            cited = "" if cites == "off" else f"{hit.citation:<9}  "
            cited += "global: " if isinstance(hit.record, GlobalFact) else ""
            cited += f"{visible(writer_name(hit.record.origin))}: " if isinstance(hit.record, Proposal) else ""
            cited += "gone: " if isinstance(hit.record, Commit) and not hit.record.reachable else ""
            cited += f"{WARNING_SIGN} " if is_suspicious(hit.snippet) else ""
            lines.append(f"{KIND_GLYPHS[hit.kind]} {cited}{visible(_excerpt(hit.snippet, hit.marks))}")
            if cites == "on":
                lines.append(f"  Source: {hit.citation}, {format_local_time(record_time(hit.record))}")
            if given.explain:
                lines += [f"  {line}" for line in score_lines(hit)]
    more = answer.total - len(answer.hits)
    found = f"{answer.total:,} found in {answer.milliseconds:.0f} ms"
    if answer.left_out:
        lines.append(
            f"{format_count(answer.left_out, 'record')} hidden (forgotten or replaced): is:replaced is:forgotten"
        )
    if waits:
        lines.append(
            f"{format_count(waits, 'proposal')} in the inbox: memoranda search {shlex.join(['in:inbox', *given.query])}"
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
        after=lambda: session.memory.search.latency_log.log_answer(answer),
    )


def _hit_json(hit: Hit) -> dict[str, object]:
    return {
        **as_json(hit.record),
        "kind": hit.kind,
        "level": hit.level,
        "snippet": hit.snippet,
        "flagged": is_suspicious(hit.snippet),
        "start": hit.start,
        "line": hit.line,
        "score": hit.score,
        "similarity": hit.similarity,
        "why": hit.why,
    }


def _excerpt(text: str, marks: list[tuple[int, int]], width: int = 160) -> str:
    """Return one line of whole words around the most matches, with the matched words in «»."""
    text = text.replace("\n", " ")
    start, end = 0, len(text)
    if end > width:
        first = marks[densest_mark(text, marks, width - 40)][0] if marks else 0
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


def show(session: Session, given: ParsedArguments) -> Outcome:
    memory = session.memory
    record = get_record(memory.database, parse_typed_citation(given.citation, "fact"))
    lines = [
        visible(line) for line in plain_lines(describe_record(memory, record))
    ]  # a name with a newline cannot add a line
    data = json_with_links(memory.database, record)
    if isinstance(record, Decision | Fact) and (shared := shared_identity(memory, record)):
        lines.append(f"Shared as {shared}: on every machine, as in a commit that ends in `Decision: {shared}`.")
        data["shared"] = shared
    if given.diff:
        text = _commit_diff(session, record)
        lines += ["", *text.split("\n")]
        data["diff"] = text
    return Outcome(
        data=lambda: data, lines=lines, after=lambda: memory.search.accesses.count_opened([key_of_record(record)])
    )


def _commit_diff(session: Session, record: object) -> str:
    if not isinstance(record, Commit):
        raise InvalidInput("Only a commit has a diff.")
    source = timeline_repository(session.memory, session.cwd)
    if source is None:
        raise InvalidInput("There is no git repository here.", "Run it inside the project's checkout.")
    diff = source.diff(record.sha)
    return diff.text + ("\n… the diff is longer" if diff.truncated else "")


def timeline(session: Session, given: ParsedArguments) -> Outcome:
    memory = session.memory
    since = memory.typed_moment(given.since) if given.since else ""
    before = memory.typed_moment(given.before) if given.before else ""
    iteration = parse_id(given.iteration, "iteration") if given.iteration else None
    keys = [key for key, _ in memory.timeline.stream(given.kind, since, before, given.limit + 1, iteration)]
    found = records_by_key(memory.database, keys[: given.limit])
    shown = [(key, found[key]) for key in keys if key in found]
    lines = [keyed_line(key, record) for key, record in shown]
    if not lines:
        narrow = (given.kind, since, before, iteration)
        lines = empty_list_line("timeline", "Nothing happened here yet.", *narrow)
    return Outcome(
        data=lambda: [{"kind": unpack_key(key)[0], **as_json(record)} for key, record in shown],
        lines=[*lines, *more_line(len(keys) - given.limit, given.limit)],
    )


def stats(session: Session, given: ParsedArguments) -> Outcome:
    """Show counts and the metrics of the memory, or plot its trends."""
    if given.plot:
        return plot_trends(session, given)
    numbers, measures = memory_figures(session), measure(session.memory)
    width = max(map(len, numbers))
    return Outcome(
        data=lambda: {**numbers, "health": asdict(measures)},
        lines=[
            *(f"{name:<{width}}  {_format_figure(value)}" for name, value in numbers.items()),
            "",
            *stats_lines(metric_sections(measures, past=bool(session.memory.database.moment))),
        ],
    )


def memory_figures(session: Session) -> dict[str, object]:
    """Collect the counts of records, sizes and paths."""
    memory = session.memory
    database = memory.database
    facts = memory.facts.count_by_state(memory.now)
    tables = ("decisions", "iterations", "commits", "events", "commit_links", "tasks", "checkpoints", "history")
    counted = {table: database.value(f"SELECT count(*) FROM {table}") for table in tables}
    return {
        "facts": facts["active"],
        **{name: facts[name] for name in ("fresh", "aging", "low", "stale", "superseded", "forgotten")},
        **counted,
        "schema": database.connection.pragma("user_version"),
        "created_at": database.value("SELECT value FROM meta WHERE key = 'created_at'"),
        **_vector_figures(memory),
        "bytes": 0 if memory.passing else os.path.getsize(memory.location.path),
        "path": session.location.path,
    }


def _vector_figures(memory: Memory) -> dict[str, object]:
    """Return which provider and model make the vectors, and how many texts wait for theirs."""
    status = Vectors(memory.database).read_status()
    return {"embedded_by": status.provider, "embedding_model": status.model, "to_embed": status.left}


def _format_figure(value: object) -> str:
    """Format a figure of the statistics."""
    return f"{value:,}" if isinstance(value, int) else str(value)


def overview_lines(session: Session) -> list[str]:
    """Return the lines that `memoranda` prints without a terminal."""
    memory = session.memory
    now = memory.now
    counts = memory.facts.count_by_state(now)
    keys = [key for key, _ in memory.timeline.stream(limit=8)]
    found = records_by_key(memory.database, keys)
    old = memory.facts.get_many(memory.facts.ids(now, limit=8))
    ageing = ", ".join(f"{counts[state]} {state}" for state in ("aging", "low", "stale") if counts[state])
    lines = [
        f"memoranda  {memory.location.display_name}  "
        f"{format_count(counts['active'], 'fact')}{f' ({ageing})' if ageing else ''}"
    ]
    lines += ["", "FACTS, longest unconfirmed first", *(fact_line(fact, now) for fact in old)]
    if not old:
        lines.append('none yet; add one: memoranda remember "team of 5"')
    lines += ["", "TIMELINE, newest first", *(keyed_line(key, found[key]) for key in keys if key in found)]
    if not keys:
        lines.append("nothing yet")
    return [*lines, "", "memoranda --help lists what can be done; in a terminal, memoranda opens the application."]
