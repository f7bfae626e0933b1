"""health: what a memory holds, how it fares, what is wrong with it, its index, and the salvage of a damaged file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import asdict
from shutil import get_terminal_size
from threading import current_thread, main_thread
from typing import Annotated, Any

import store
from store.base.errors import Conflict, ExitStatus, ForeignFile, InvalidInput, MemorandaError, StorageError
from store.base.models import select_fields
from store.base.runtime import IsCancelled, require_part
from store.doors.connection import examine_agents
from store.embedding.fastembed import FastEmbed, download_model
from store.embedding.vectors import Vectors
from store.exchange.exporter import save_export
from store.memory import Memory
from store.parts import PART_PACKAGES
from store.records.timeline import measure_trends
from store.search.fulltext import check_text_index, rebuild_text_index
from store.search.lookup import records_by_key
from store.text.display import agree_verb, format_count, shorten, visible
from store.upkeep.background_embedding import embed_waiting, is_embedding_due, uses_other_provider
from store.upkeep.checks import WRONG, CheckProgress, doctor_verdict
from store.upkeep.doctor import examine
from store.upkeep.maintenance import run_maintenance
from store.upkeep.metrics import count_contents, measure
from tui.commands.call import Call, Interrupt, Outcome
from tui.commands.record_lines import fact_line, keyed_line
from tui.input.arguments import Shown, UsageError, verb
from tui.render import metrics
from tui.render.lines import draw_bar

INDEX_ACTS = ("documents", "rebuild", "download")


@verb(
    opens=lambda given: "nothing" if given.check or given.salvage else "memory",
    reads=lambda given: not given.index,
    apart=lambda given: bool(given.salvage),
    looks=True,
)
def health(
    call: Call,
    what: Annotated[str | None, Shown("|".join(INDEX_ACTS), INDEX_ACTS)] = None,
    *,
    check: bool = False,
    quick: bool = False,
    head: Annotated[str, Shown("HEX")] = "",
    index: bool = False,
    plot: Annotated[str | None, Shown("FILE", file=True)] = None,
    yes: bool = False,
    salvage: Annotated[str | None, Shown("FILE", file=True)] = None,
    into: Annotated[str | None, Shown("NEW", file=True)] = None,
) -> Outcome:
    """Count what there is, and show how the memory fares; look for what is wrong with it, and mend it.

    what: of --index: documents: read MEMORY.md and memory/**/*.md now; rebuild: make the index again, from nothing;
        download: fetch fastembed's model first
    check: look for what is wrong with the memory, and say what mends it
    quick: of --check: leave out what reads every record
    head: of --check: a head that an earlier check named: are its steps still there?
    index: check the search index, and embed what waits
    plot: draw growth, recall and age into this SVG file; - prints them
    yes: of --plot: replace the file if it is there
    salvage: write what can be read of this damaged memory to a new one; the damaged file stays as it is
    into: of --salvage: where to (beside it, with -salvaged in its name)
    """
    if check + index + bool(plot) + bool(salvage) > 1:
        raise UsageError("health does one of --check, --index, --plot and --salvage.", "Leave the others out.")
    if (what and not index) or ((quick or head) and not check) or (into and not salvage):
        raise UsageError(
            "--quick and --head are of --check, --into of --salvage, and a word of --index.",
            "See `memoranda health --help`.",
        )
    if check:
        return _check(call, quick, head)
    if index:
        return _index(call, what)
    if salvage:
        return _salvage(call, salvage, into)
    return _plot(call, plot, yes) if plot else _show_figures(call)


# the figures


# instead of a file: to the terminal
TO_TERMINAL = "-"
# lines of a plot there
PLOT_LINES = 8
# cells from which on the application's preview is beside its list, not below it
PREVIEW_BESIDE = 96
# percent of them that the list has
LIST_PERCENT = 60


def _plot(call: Call, file: str, yes: bool) -> Outcome:
    """Write the trends of growth, recall and age into an SVG file, or print them."""
    found = measure_trends(call.memory.database, call.memory.now)
    if file == TO_TERMINAL:
        config = call.memory.config
        width = get_terminal_size().columns - 4
        if call.memory.database.door == "app" and width >= PREVIEW_BESIDE:
            width = width * (100 - (config["split"] or LIST_PERCENT)) // 100 - 2
        drawn = [line for one in found for line in metrics.draw_trend(one, min(120, width), PLOT_LINES)]
        told = [line for one in found for line in (*metrics.tell_trend(one), "")]
        data = {one.name: dict(zip(one.labels, one.values, strict=True)) for one in found}
        return Outcome(lines=told if config["plain"] else drawn, data=lambda: data)
    path = call.path(file)

    def picture() -> Generator[str, None, None]:
        yield metrics.trends_svg(found, call.location.display_name)

    size = save_export(call.memory.database, path, call.may_replace(path, yes), text=picture)
    return Outcome(f"Drawn to {path}, {size:,} bytes.", lambda: {"file": path, "bytes": size})


STATS_LABEL_CELLS, STATS_VALUE_CELLS = 14, 9
# cells of the longest chart
CHART_CELLS = 24
STATS_QUERY_CELLS = 60


def draw_chart(one: metrics.Figure, cells: int) -> str:
    """Draw a metric's chart in at most so many cells: its series as steps, or its share as a bar."""
    if one.share is None:
        return metrics.draw_steps(one.series, cells)
    return draw_bar(round(one.share * 1000), 1000, min(CHART_CELLS, cells))


def stats_lines(found: list[metrics.MetricSection]) -> list[str]:
    """Return each metric with its chart; say which ones are unknown, and where to look for poor ones."""
    lines: list[str] = []
    for heading, figures in found:
        lines += ["", heading.upper()]
        for one in figures:
            if one.sign == metrics.UNKNOWN:
                lines.append(f"  {one.sign[0]} {one.label:<{STATS_LABEL_CELLS}} {one.note}")
                continue
            cells = STATS_QUERY_CELLS if one.wide else STATS_LABEL_CELLS
            label = f"{shorten(one.label, cells):<{cells}}"
            chart = draw_chart(one, CHART_CELLS)
            value = "" if one.wide else f" {one.value:>{STATS_VALUE_CELLS}}  {chart:<{CHART_CELLS}}"
            lines.append(f"  {one.sign[0]} {label}{value}  {one.note}".rstrip())
            if one.sign == metrics.POOR and one.leads:
                lines.append(f"      memoranda {one.leads}")
    return lines[1:]


def _show_figures(call: Call) -> Outcome:
    """Count what there is, and measure how the memory fares."""
    numbers, measures = memory_figures(call), measure(call.memory)
    width = max(map(len, numbers))
    lines = []
    for name, value in numbers.items():
        lines.append(f"{name:<{width}}  {f'{value:,}' if isinstance(value, int) else value}")
    lines += ["", *stats_lines(metrics.metric_sections(measures, past=bool(call.memory.database.moment)))]
    return Outcome(data=lambda: {**numbers, "health": asdict(measures)}, lines=lines)


def memory_figures(call: Call) -> dict[str, object]:
    """Return the counts of records, the sizes, and where the memory is."""
    return {**count_contents(call.memory), "path": call.location.path}


def overview_lines(call: Call) -> list[str]:
    """Return the lines that `memoranda` prints without a terminal."""
    memory = call.memory
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


# the index

# seconds from which on the rate is shown
RATE_AFTER_SECONDS = 2.0


def _index(call: Call, what: str | None) -> Outcome:
    """Read git's history and the documents to their end, check the search index or make it anew, and embed what waits,
    with progress on a terminal, until ^C; or read the documents alone. The application, which reads and embeds in the
    background, only reports how many texts wait. Raise Conflict."""
    memory = call.memory
    if what == "documents":
        return _index_documents(memory)
    if what not in (None, "rebuild", "download"):
        raise InvalidInput(
            "index is checked, or rebuilt, or reads the documents.", "memoranda health --index rebuild"
        )
    if what == "download":
        config = memory.config
        download_model(config["embedding.model"] if config["embedding.provider"] == FastEmbed.name else "")
    works, notes, embedded = current_thread() is main_thread(), list[str](), 0

    def read_sources(cancelled: IsCancelled) -> None:
        run_maintenance(memory, call.cwd, show_progress(call, "reading commits"), cancelled, notes.append)
        memory.documents.update_index(cancelled=cancelled)

    def embed(cancelled: IsCancelled) -> None:
        nonlocal embedded
        # only asking tells whether it is wanted
        fallback = memory.config["embedding.fallback"] != "none"
        if fallback or is_embedding_due(memory) or uses_other_provider(memory):
            result = embed_waiting(memory, show_progress(call, "embedding"), cancelled, notes.append)
            if result is None:
                notes.append("Another program is indexing already.")
            else:
                embedded = result.embedded + result.reused

    stopped = works and _work_until_stopped(read_sources, notes)
    if what == "rebuild":
        rows = rebuild_text_index(memory.database)
        Vectors(memory.database).rebuild()
        said = f"Made the index again: {format_count(rows, 'record')}."
    else:
        try:
            rows = check_text_index(memory.database)
        except ForeignFile:
            mends = "memoranda health --index rebuild mends it."
            raise Conflict("The search index does not agree with the records.", mends) from None
        said = f"The index agrees with the records: {format_count(rows, 'record')}."
    stopped = stopped or (works and _work_until_stopped(embed, notes))
    left, _ = Vectors(memory.database).pending_counts()
    waits = f"{format_count(left, 'text')} {agree_verb(left, 'wait to be embedded')}"
    lines = [f"Embedded {format_count(embedded, 'text')}."] if embedded else []
    lines += notes
    if left and stopped:
        lines.append(f"Stopped: {waits}; memoranda health --index continues.")
    elif left:
        said = f"{said} {waits}."
    data = {"records": rows, "embedded": embedded, "left": left, "notes": notes}
    return Outcome(said, lambda: data, lines, status=ExitStatus.UNFINISHED if stopped else ExitStatus.DONE)


def _work_until_stopped(work: Callable[[IsCancelled], None], notes: list[str]) -> bool:
    """Work to the end or until ^C, and note why it failed; return whether it was stopped."""
    with Interrupt() as interrupt:
        try:
            work(lambda: interrupt.asked)
        except MemorandaError as error:
            notes.append(str(error))
    return interrupt.asked


def show_progress(call: Call, what: str) -> Callable[[int, int], None]:
    """Return a function that shows progress, with the rate after RATE_AFTER_SECONDS seconds, and clears it at the
    end."""
    began: list[tuple[int, float]] = []

    def show(done: int, total: int) -> None:
        if not began:
            began.append((done, time.monotonic()))
        first, start = began[0]
        seconds = time.monotonic() - start
        steady = seconds >= RATE_AFTER_SECONDS and done > first
        rate = f", {(done - first) / seconds:,.0f} a second" if steady else ""
        call.wait(f"{what} {done:,} of {total:,}{rate}; ^C stops" if done < total else "")

    return show


def _index_documents(memory: Memory) -> Outcome:
    """Read the documents that are new or changed."""
    result = memory.documents.update_index()
    read = result.new or result.changed or result.gone or result.unchanged or result.remaining or result.elsewhere
    unread = bool(result.problems) and not read
    return Outcome(
        message="" if unread else result.describe(),
        status=ExitStatus.CANNOT if unread else ExitStatus.DONE,
        error="No document could be read; mend what is named and try again." if unread else "",
        lines=[f"{visible(path)}: {visible(why)}" for path, why in result.problems],
        data=result.as_dict,
    )


# what is wrong, and what is left of a damaged file

# digits of a digest
HEAD_DIGITS = 64
STATE_SIGNS = {"ok": "ok   ", "note": "note ", "wrong": "WRONG"}


def _check(call: Call, quick: bool, head: str) -> Outcome:
    """Look for what is wrong with the memory and the agents that are connected with it. Raise InvalidInput."""
    if head and (len(head) != HEAD_DIGITS or head.strip("0123456789abcdef")):
        raise InvalidInput(
            "A head is 64 hexadecimal digits.", "`memoranda health --check` names the one that there is now."
        )
    progress = _check_progress(call)
    found = list(examine(call.location, quick, head, progress))
    if not call.location.look:
        progress("agents", 0, 0)
        found += examine_agents(call.location, call.cwd, os.path.expanduser("~"), dict(os.environ), quick)
    wrong = sum(one.state == WRONG for one in found)
    width = max(len(one.subject) for one in found)
    lines = [
        f"{STATE_SIGNS[one.state]}  {one.subject:<{width}}  {visible(f'{one.says} {one.next}'.strip())}"
        for one in found
    ]
    findings = [select_fields(one, "subject", "state", "says", "next") for one in found]
    return Outcome(
        lines=[*lines, doctor_verdict(found)],
        data=lambda: {"wrong": wrong, "findings": findings},
        status=ExitStatus.PERSON if wrong else ExitStatus.DONE,
    )


def check_words(what: str, done: int, total: int) -> str:
    """Return what is being checked, and how far that is."""
    return f"checking {what}{f' {done:,} of {total:,}' if total else ''}"


def _check_progress(call: Call) -> CheckProgress:
    """Return a function that shows the current check, except to scripts."""
    return lambda what, done, total: None if call.json else call.wait(check_words(what, done, total))


def _salvage(call: Call, damaged: str, new: str | None) -> Outcome:
    """Salvage in a separate process: closing a second handle to the file releases the POSIX locks of an open SQLite
    connection in this one, as the application has."""
    require_part("rescue")
    path = call.path(damaged)
    report = _salvage_apart(path, call.path(new) if new else None, _check_progress(call))
    lines = []
    for table in report["tables"]:
        again = f", {table['from_history']:,} made again from history" if table["from_history"] else ""
        lost = f", {table['lost']:,} lost" if table["lost"] else ""
        lines.append(f"  {table['table']:<14} {table['read']:>9,} read{again}{lost}")
    lines += [*report["notes"], f"The damaged file is as it was: {path}"]
    return Outcome(f"Salvaged to {report['into']}.", lambda: report, lines)


def _salvage_apart(path: str, into: str | None, progress: CheckProgress) -> dict[str, Any]:
    """Salvage in a new process, which reports its progress line by line. Raises what the process raised."""
    home = os.path.dirname(os.path.dirname(os.path.abspath(store.__file__)))
    words = [sys.executable, "-m", f"{PART_PACKAGES['rescue']}.part", path, *([into] if into else [])]
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, encoding="utf-8", cwd=home
    ) as child:
        assert child.stdout is not None
        last: dict[str, Any] = {}
        for line in child.stdout:
            last = json.loads(line)
            if "doing" in last:
                progress(last["doing"], last["done"], 0)
    if "report" in last:
        return dict(last["report"])
    if "error" in last:
        error = MemorandaError(last["error"]["message"], last["error"]["next"])
        error.code = last["error"]["code"]
        raise error
    raise StorageError("The salvage ended before it was done; nothing was changed.", "Try again.")
