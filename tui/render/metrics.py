"""Build the metrics for the health pane and for `stats`: each with its sample size, its meaning, and where to look
further."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from shlex import quote
from typing import Any

from store.base.citations import cite
from store.base.clock import format_age, format_how_long_ago
from store.context.selection import MAX_PROMPT_TOKENS
from store.conversations.extraction_queue import MOST_ATTEMPTS
from store.records.facts import AGEING_DAYS
from store.records.timeline import Trend
from store.text.display import format_count, format_size
from store.upkeep import metrics
from tui.render.lines import FACT_BADGES, KIND_GLYPHS

# Render a metric: its name, value, a small chart, its meaning and where to look further.

# how a metric fares: its glyph, with its style
GOOD, POOR = ("✓", "glyph-fresh"), ("⚠", "warning")
KNOWN, UNKNOWN = ("•", "glyph-record"), ("·", "rule")
# maximum searches whose durations are drawn
CHART_STEPS = 24
COLUMN_EIGHTHS = " ▁▂▃▄▅▆▇█"
# where a metric leads: a command, and what it shows
BACKUPS = ("backups", "lists them")
CHECK = ("health --check", "the doctor: whether the file is undamaged")
CHECKPOINTS = ("list checkpoints --all", "the checkpoints")
CONTEXT = ("context", "what the next one would be")
INDEX = ("health --index", "the state of the index")
NEWEST = ("list --sort newest", "the facts, the newest first")
NOWHERE = ("", "")


@dataclass(slots=True, eq=False, repr=False)
class Figure:
    """One metric. `label` names it, `value` is short; `share` (0 to 1) is drawn as a bar, `series` as steps; `record`
    names a record whose text is shown instead; `note` is at the right. `sign` is GOOD, POOR, KNOWN, UNKNOWN or its own.
    `says` are paragraphs that explain it. `leads` is a `:` command that shows its subject, described by `to`. `key`
    tells it from the others, where the label does not."""

    label: str
    value: str = ""
    says: tuple[str, ...] = ()
    share: float | None = None
    series: Sequence[float] = ()
    record: str = ""
    note: str = ""
    sign: tuple[str, str] = KNOWN
    leads: str = ""
    to: str = ""
    wide: bool = False
    key: str = ""


MetricSection = tuple[str, list[Figure]]
"""A heading, and its metrics."""


def figure(label: str, value: str = "", *says: str, leads: tuple[str, str] = NOWHERE, **more: Any) -> Figure:
    """Build a metric that `says` so many paragraphs, and `leads` somewhere."""
    return Figure(label, value, says, leads=leads[0], to=leads[1], **{"key": label, **more})


def share_figure(label: str, share: float, *says: str, **more: Any) -> Figure:
    """Build a metric whose value is a share."""
    return figure(label, format_percent(share), *says, share=share, **more)


def unknown_figure(label: str, note: str, says: str, **more: Any) -> Figure:
    """Build a metric without a value yet; `note` is the reason."""
    return figure(label, "", f"{note[:1].upper()}{note[1:]}.", says, note=note, sign=UNKNOWN, **more)


def draw_steps(series: Sequence[float], cells: int = CHART_STEPS) -> str:
    """Draw the last `cells` numbers, at most CHART_STEPS, as steps of a small chart scaled to their maximum."""
    shown = series[-min(CHART_STEPS, cells) :]
    most = max(shown, default=0) or 1
    return "".join(COLUMN_EIGHTHS[1 + round(7 * one / most)] for one in shown)


def format_percent(share: float) -> str:
    """Format a share as `53 %`; only exactly 0 and 1 are shown as 0 % and 100 %."""
    shown = round(100 * share)
    if shown == 0 < share:
        return "<1 %"
    return ">99 %" if shown == 100 and share < 1 else f"{shown} %"


# Metrics of the search index, the embedding model, requests to remember, the mean request, checkpoints and
# recoveries.

# tokens of a request; above this mean the parts of a context need a look
MEAN_TOKENS = 3_000
# share of requests to remember; below it too few are understood
FEW_KEPT = 0.3


def mean_figures(mean: float | None) -> Iterator[Figure]:
    """Yield the mean tokens of a request, compared with the limit."""
    if mean is None:
        says = f"The average tokens of a context, of at most {MAX_PROMPT_TOKENS:,}; known once one was sent."
        yield unknown_figure("mean", "no request was measured yet", says)
        return
    yield figure(
        "mean",
        f"{mean:,.0f}",
        f"A context sent to an agent took {mean:,.0f} tokens on average, of at most {MAX_PROMPT_TOKENS:,}. A mean "
        f"above {MEAN_TOKENS:,} is marked: it leaves little room for more.",
        share=min(1.0, mean / MAX_PROMPT_TOKENS),
        note=f"of {MAX_PROMPT_TOKENS:,} tokens",
        sign=POOR if mean > MEAN_TOKENS else GOOD,
        leads=CONTEXT,
    )


def request_figures(found: metrics.RequestFigures) -> Iterator[Figure]:
    """Yield the requests to remember and the facts kept from them."""
    if not found.asked:
        says = "Requests in conversations, such as “remember that …”, are counted from now on."
        yield unknown_figure("requests", "no turn asked for anything yet", says)
        return
    share = found.kept / found.asked
    yield share_figure(
        "requests",
        share,
        f"{format_count(found.asked, 'turn')} asked for something to be remembered; of {found.kept:,} a fact came "
        "at once, or was confirmed. What is not certain waits in the inbox.",
        note=f"{found.kept:,} of {found.asked:,} kept",
        sign=POOR if share < FEW_KEPT else KNOWN,
        leads=("today", "what was asked and waiting for review"),
    )


def index_figures(found: metrics.IndexMetrics) -> Iterator[Figure]:
    """Yield the state of the full-text index and of the embeddings."""
    if not found.full_text:
        yield figure("full text", "missing", "This SQLite has no FTS5.", sign=POOR, leads=CHECK)
    else:
        whole = found.indexed == found.passages
        held = f"{found.indexed:,} of {format_count(found.passages, 'passage')}"
        yield figure(
            "full text",
            "FTS5",
            f"SQLite's full text (FTS5) holds {held}.",
            *([] if whole else ["memoranda health --index rebuild makes it anew."]),
            share=min(1.0, found.indexed / found.passages) if found.passages else None,
            note=held,
            sign=GOOD if whole else POOR,
            leads=INDEX,
        )
    if not found.model:
        yield unknown_figure(
            "model",
            "no vectors yet",
            "Without a model, search uses keywords only. memoranda health --index makes vectors if there is a model.",
            leads=("health --check", "the doctor: which model would answer"),
        )
        return
    yield figure(
        "model",
        f"{found.dimension}",
        f"Vectors are made by {found.model}, with {found.dimension} dimensions, of {found.embedded:,} of "
        f"{format_count(found.embeddable, 'passage')}.",
        share=found.embedded / found.embeddable if found.embeddable else None,
        note=found.model,
        leads=INDEX,
    )


def recovery_figures(found: metrics.RecoveryFigures, at: str) -> Iterator[Figure]:
    """Yield the checkpoints, the recoveries, and the leftovers of a crash."""

    def last_time(moment: str | None) -> str:
        return f", the last time {format_age(at, moment)}" if moment else ""

    checkpoints = format_count(found.checkpoints, "checkpoint")
    if not found.checkpoints:
        says = "They are taken automatically when anything changes; memoranda checkpoint takes one now."
        yield unknown_figure("recovered", "no checkpoint yet", says, leads=CHECKPOINTS)
    else:
        yield figure(
            "recovered",
            f"{found.recovered:,}",
            f"Agents continued from {found.recovered:,} of {checkpoints}{last_time(found.last)}.",
            share=found.recovered / found.checkpoints,
            note=f"of {checkpoints}",
            leads=CHECKPOINTS,
        )
    if found.between is None:
        says = "The median time from one checkpoint to the next."
        yield unknown_figure("between", "no two checkpoints yet", says)
    else:
        between = format_duration(found.between)
        yield figure(
            "between",
            between,
            f"The median time from one checkpoint to the next is {between}.",
            note="from one to the next",
            leads=CHECKPOINTS,
        )
    yield figure(
        "crashes",
        f"{found.crashes:,}",
        f"The memory was recovered {format_count(found.crashes, 'time')} after "
        f"a process was killed or the power failed{last_time(found.crashed_at)}."
        if found.crashes
        else "The memory never had to be recovered after a killed process or a power failure since counting began.",
        "No acknowledged change was lost.",
        note="recovered after one",
        sign=KNOWN if found.crashes else GOOD,
        leads=CHECK,
    )


def format_duration(seconds: float) -> str:
    """Format a duration in its largest unit: `45 s`, `5 min`, `3 h`, `2 d`."""
    for unit, length, least in (("d", 86_400, 2), ("h", 3_600, 2), ("min", 60, 1)):
        if seconds >= least * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:,.0f} s"


# maximum milliseconds of a good search
QUICK_MS = 100
STATES_SAY = {
    "fresh": "Said or confirmed lately, or pinned: these are sent to agents whenever they are near the question.",
    "aging": f"Nobody confirmed these for {AGEING_DAYS['high'][0]} days or more. Agents are still sent them, with a "
    "note about their age.",
    "low": f"Low priority: {AGEING_DAYS['medium'][1]} days without confirmation, or {AGEING_DAYS['low'][1]} for what "
    "was stated with low confidence. Agents are sent these only where a question is very near, and never what has low "
    "confidence.",
    "stale": f"Nobody confirmed these for {AGEING_DAYS['high'][2]} days, or {AGEING_DAYS['medium'][2]} for what is "
    "not of high confidence: no agent is sent them. Confirm what is still true, correct or forget the rest.",
}


def metric_sections(found: metrics.Measures, past: bool = False) -> list[MetricSection]:
    """Return all metrics under their headings; for a `past` view only those that are known for that moment."""
    facts: MetricSection = ("facts by age", list(_fact_figures(found)))
    if past:
        return [facts]
    return [
        facts,
        ("tokens by conversation", list(_session_figures(found))),
        ("contexts", [*_context_figures(found), *mean_figures(found.mean_tokens)]),
        ("learning", [*_learning_figures(found.reading), *request_figures(found.requests)]),
        ("search", [*_search_figures(found), *index_figures(found.index)]),
        ("recovery", list(recovery_figures(found.recoveries, found.at))),
        ("on the disk", list(_disk_figures(found))),
    ]


def _fact_figures(found: metrics.Measures) -> Iterator[Figure]:
    """Yield the metrics of the facts: their states, how many were learned, and the oldest."""
    total = sum(found.states.values())
    if not total:
        yield unknown_figure("facts", "none yet", "No fact was remembered yet: memoranda remember adds one.")
        return
    for state, number in found.states.items():
        pinned = "1 of them is pinned" if found.pinned == 1 else f"{found.pinned:,} of them are pinned"
        came, percent = found.came.get(state, 0), format_percent(number / total)
        lists = NEWEST if state == "fresh" else (f"search is:{state}", "lists them")
        yield figure(
            state,
            f"{number:,}",
            f"{format_count(number, 'fact')} of {total:,}, {percent}.",
            STATES_SAY[state],
            *([f"{pinned}, and will not age."] if state == "fresh" and found.pinned else []),
            *_change_sentence(state, came),
            # one scale: a full bar is all facts
            share=number / total,
            note=f"{f'+{came:,} in {metrics.TREND_DAYS} d  ' if came else ''}{percent}" if number else "",
            sign=(FACT_BADGES[state][0], f"glyph-{state}" if number else "rule"),
            leads=lists if number else NOWHERE,
        )
    yield figure(
        "learned",
        f"{found.learned[-1]:,}",
        f"{format_count(sum(found.learned), 'fact')} in the last {len(found.learned)} weeks, those that were replaced "
        f"or forgotten since too: {', '.join(map(str, found.learned))} week by week, the last one at the end.",
        series=found.learned,
        note=f"{len(found.learned)} weeks",
        leads=NEWEST,
    )
    if found.oldest:
        number, at = found.oldest
        citation = cite("fact", number)
        yield figure(
            "oldest",
            citation,
            f"Of the facts that age, nobody confirmed this one for the longest: {format_how_long_ago(found.at, at)}. "
            "Pinned ones do not age.",
            record=citation,
            note=f"{format_age(found.at, at)} unpinned",
            leads=(f"show {citation}", "opens it"),
        )


def _change_sentence(state: str, came: int) -> Iterator[str]:
    """Yield the sentence on how many facts came into a state."""
    if came:
        did = "of them became so" if state != "fresh" else "was learned" if came == 1 else "were learned"
        yield f"{format_count(came, 'fact')} {did} in the last {metrics.TREND_DAYS} days."


def _session_figures(found: metrics.Measures) -> Iterator[Figure]:
    """Yield the metrics of the sessions: their tokens, and how many have a checkpoint."""
    if not found.conversations:
        says = "Bring one in with memoranda import FILE.jsonl, or let ingest.claude bring in those of Claude Code."
        yield unknown_figure("sessions", "none yet", says)
        return
    most = max(1, *(one.tokens for one in found.sessions))
    for one in found.sessions:
        turns, lately = format_count(one.turns, "turn"), "No agent was sent a context for it lately."
        if one.contexts:
            sent = format_count(one.contexts, "context")
            lately = f"Agents were sent {sent} for it lately, {one.sent:,} tokens in all."
        yield figure(
            one.name,
            f"{one.tokens:,}",
            f"The session {one.name}: {turns}, {one.tokens:,} tokens.",
            lately,
            share=one.tokens / most,
            note=turns,
            sign=(KIND_GLYPHS["turn"], "glyph-record"),
            leads=(f"context --session={quote(one.name)}", "what its next answer would be given"),
            key=f"session {one.name}",
        )
    left = found.conversations - found.covered
    share = f"{found.covered:,} of {format_count(found.conversations, 'session')}"
    yield share_figure(
        "covered",
        found.covered / found.conversations,
        f"{share} have a checkpoint that an agent can go on from.",
        "Checkpoints are taken automatically while the application is open and at a session's end, and before a "
        "context is cut (memoranda session flush)."
        + (f" {format_count(left, 'session')} came in otherwise, from a transcript for instance." if left else ""),
        note=share,
        sign=KNOWN if left else GOOD,
        leads=CHECKPOINTS,
    )


def _context_figures(found: metrics.Measures) -> Iterator[Figure]:
    """Yield the metrics of the contexts that were sent: their size, and how much of them was cited."""
    if found.context_tokens is None:
        says = "What an agent would be sent can be seen all the same."
        yield unknown_figure("sent", "none was sent yet", says, leads=("context", "shows it"))
    else:
        yield figure(
            "sent",
            f"{found.contexts:,}",
            f"The last {format_count(found.contexts, 'context')} sent to agents took {found.context_tokens:,} tokens "
            f"each (median), of {MAX_PROMPT_TOKENS:,} at the most.",
            share=found.context_tokens / MAX_PROMPT_TOKENS,
            note=f"{found.context_tokens:,} tokens each",
            leads=CONTEXT,
        )
    if found.useful is None:
        yield unknown_figure(
            "cited",
            "no answer was rated yet",
            "The share of a context's tokens that belong to records which the answer cited. It is known once an answer "
            "to a context came back.",
        )
    else:
        yield share_figure(
            "cited",
            found.useful,
            f"Of the tokens of {format_count(found.answered, 'context')} with an answer, "
            f"{format_percent(found.useful)} belong to records that the answer cited.",
            "The rest is the fixed instructions, the conversation, and what was sent and not needed. Mute what is sent "
            "again and again and is never cited.",
            note=f"of the tokens, {found.answered:,} answered",
            leads=("context", "what would be sent, to mute what is not needed"),
        )


def _learning_figures(found: metrics.ExtractionStats) -> Iterator[Figure]:
    """Yield the metrics of learning from conversations."""
    if found.success is None:
        says = "What a person says is read for facts, and for facts that it confirms."
        yield unknown_figure("read", "no turn was read yet", says)
    else:
        tries = found.read + found.failed
        yield share_figure(
            "read",
            found.success,
            f"{found.read:,} of {tries:,} {'try' if tries == 1 else 'tries'} to read a turn came to an end, whatever "
            "was found in it; each turn is read by rules, for facts and for what it confirms. Those that wait for a "
            "model are counted in the inbox.",
            f"One that fails is tried {MOST_ATTEMPTS} times, minutes apart; then it is given up, and the turn stays.",
            note=f"{found.read:,} of {tries:,} by rules",
            sign=POOR if found.given_up else GOOD,
            leads=("today", "what was learned and waiting for review"),
        )
    if found.waiting:
        yield figure(
            "waiting",
            f"{found.waiting:,}",
            f"{format_count(found.waiting, 'turn')} still to be read;"
            " the application does it, or memoranda session flush.",
            note="to be read",
            leads=("list sessions", "the conversations"),
        )
    for turn, why in found.turns:
        citation = cite("turn", turn)
        yield figure(
            citation,
            "",
            f"Nothing could be learned from this turn, tried {MOST_ATTEMPTS} times; what was said is kept. The last "
            f"try: {why or 'it ended in the middle'}.",
            "memoranda session flush tries again.",
            record=citation,
            note=why or "no end",
            sign=POOR,
            leads=(f"show {citation}", "opens it"),
        )
    if (more := found.given_up - len(found.turns)) > 0:
        yield figure("and more", f"{more:,}", f"{format_count(more, 'turn')} more given up.", sign=POOR)


def _search_figures(found: metrics.Measures) -> Iterator[Figure]:
    """Yield the metrics of the searches: their times, successes, cached answers and queries."""
    searches = found.searches
    known = len(searches.milliseconds)
    if not known:
        says = "The times of searches are recorded from now on."
        yield unknown_figure("takes", "nothing was searched yet", says)
    else:
        yield from _time_figures(searches)
        share = searches.found or 0.0
        yield share_figure(
            "found",
            share,
            f"{format_percent(share)} of the last {known:,} {'search' if known == 1 else 'searches'} found something.",
            note=f"of {known:,}",
            sign=GOOD if share >= 0.9 else KNOWN,
        )
    looked, given, kept = found.answers
    if not looked:
        says = "Answers that depend on the records alone are cached for a day, and reused while they are valid."
        yield unknown_figure("reused", "no answer was looked for yet", says)
    else:
        yield share_figure(
            "reused",
            given / looked,
            f"A cached answer was reused {format_count(given, 'time')} in {looked:,}. Cached now: {kept:,}.",
            "An answer is reused for a day, while its records are unchanged and no new record matches.",
            note=f"{given:,} of {looked:,}, {kept:,} cached",
        )
    for query, times in found.queries:
        yield figure(
            " ".join(query.split()),
            "",
            f"Asked {format_count(times, 'time')}, among the last 200 queries whose results were used.",
            note=f"{times:,} ×",
            sign=("/", "accent"),
            leads=(f"search -- {quote(query)}", "searches for it again"),
            wide=True,
            key=f"query {query}",
        )


def _time_figures(found: metrics.SearchFigures) -> Iterator[Figure]:
    """Yield the median times of searches, by keywords and by meaning."""
    slowest = (
        f"The slowest of the last {len(found.milliseconds):,} took "
        f"{max(found.milliseconds):,.0f} ms; the steps are {CHART_STEPS} of them."
    )
    ways = (
        ("keywords", found.keywords, "by keywords alone"),
        ("meaning", found.meaning, "by keywords and meaning together"),
    )
    series = found.milliseconds
    for name, took, how in ways:
        if took is not None:
            good = took < QUICK_MS
            yield figure(
                name,
                f"{took:,.0f} ms" if took >= 10 else f"{took:.1f} ms",
                f"The median time of a search {how}; up to {QUICK_MS} ms is not noticeable.",
                slowest,
                *([] if good else ["memoranda health --index checks the index."]),
                series=series,
                sign=GOOD if good else POOR,
                leads=INDEX,
            )
            series = ()
        elif name == "meaning":
            says = "Without a model, search uses keywords only."
            yield unknown_figure(name, "not yet part of a search", says, leads=INDEX)


def _disk_figures(found: metrics.Measures) -> Iterator[Figure]:
    """Yield the sizes of the memory and its backups."""
    most = max(1, *found.sizes.values())
    held = ", ".join(f"{number:,} {name}" for name, number in found.records.items() if number)
    memory, backups = format_size(found.sizes["memory"]), format_size(found.sizes["backups"])
    yield figure(
        "memory",
        memory,
        f"The memory's file and its log: {memory}. It holds {held or 'nothing yet'}.",
        share=found.sizes["memory"] / most,
        note=f"{sum(found.records.values()):,} records",
        leads=CHECK,
    )
    if not found.backups:
        says = "One is made automatically each day; memoranda backup makes one now."
        yield unknown_figure("backups", "none yet", says, leads=BACKUPS)
        return
    yield figure(
        "backups",
        backups,
        f"{format_count(found.backups, 'backup')} beside the memory, {backups} together.",
        share=found.sizes["backups"] / most,
        note="1 copy" if found.backups == 1 else f"{found.backups:,} copies",
        leads=BACKUPS,
    )


# Trends as columns: in lines of text for a terminal, and as an SVG picture. No library: those for terminals paint
# colours of their own, which neither themes nor NO_COLOR reach.

# cells of the numbers at the left
AXIS_CELLS = 8
# of a plot in the picture, and between two
PLOT_WIDTH, PLOT_HEIGHT, PLOT_GAP = 640, 180, 60


def draw_trend(trend: Trend, width: int, height: int) -> list[str]:
    """Draw a trend as columns in `height` lines of at most `width` cells, below its name and above its labels."""
    shown = [value for value in trend.values if value is not None]
    now = f", {_format_value(shown[-1], trend.unit)} now" if shown else ""
    head = f"{trend.name.capitalize()}  {trend.means}{now}"
    if not any(shown):
        return [head, "Nothing was counted yet.", ""]
    room = max(8, width - AXIS_CELLS)
    values = trend.values[-room:]
    wide = max(1, room // len(values))
    # between two columns
    gap = " " * (wide > 2)
    most = _axis_top(max(shown))
    marks = {height - 1: most, height // 2: most / 2, 0: 0.0}
    lines = [head]
    for row in reversed(range(height)):
        number = _format_value(marks[row], trend.unit) if row in marks else ""
        bars = (_column_cell(value, most, row, height) * (wide - len(gap)) for value in values)
        lines.append(f"{number:>{AXIS_CELLS - 1}} {gap.join(bars)}".rstrip())
    first, last = trend.labels[0], trend.labels[-1]
    between = " " * max(1, wide * len(values) - len(first) - len(last))
    return [*lines, f"{'':{AXIS_CELLS}}{first}{between}{last}", ""]


def tell_trend(trend: Trend) -> list[str]:
    """Tell a trend in sentences, for people who hear the screen."""
    counted = [
        (label, value) for label, value in zip(trend.labels, trend.values, strict=True) if value is not None
    ]
    if not any(value for _, value in counted):
        return [f"{trend.name.capitalize()}: nothing was counted yet."]
    most = max(counted, key=lambda one: one[1])
    lines = [f"{trend.name.capitalize()}: {trend.means}."]
    for word, (label, value) in (("First", counted[0]), ("Most", most), ("Last", counted[-1])):
        lines.append(f"{word}: {_format_value(value, trend.unit)} at {label}.")
    return lines


def trends_svg(trends: Sequence[Trend], name: str) -> str:
    """Return a picture of all trends, which needs no script and no font of its own."""
    full = PLOT_GAP + len(trends) * (PLOT_HEIGHT + PLOT_GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {PLOT_WIDTH + 80} {full}" role="img"'
        f' aria-label="{escape(name, quote=True)}" font-family="sans-serif" font-size="12">',
        f'<rect width="{PLOT_WIDTH + 80}" height="{full}" fill="#fff"/>',
        f'<text x="60" y="26" font-size="16" font-weight="bold">{escape(name)}</text>',
    ]
    for index, trend in enumerate(trends):
        parts += _svg_plot(trend, PLOT_GAP + index * (PLOT_HEIGHT + PLOT_GAP))
    return "\n".join([*parts, "</svg>", ""])


def _svg_plot(trend: Trend, top: int) -> list[str]:
    """Return the SVG elements of a trend's plot."""
    shown = [value for value in trend.values if value is not None]
    most = _axis_top(max(shown, default=0) or 1)
    base, wide = top + PLOT_HEIGHT, PLOT_WIDTH / len(trend.values)
    parts = [
        f'<text x="60" y="{top - 8}"><tspan font-weight="bold">{trend.name.capitalize()}</tspan>'
        f'<tspan fill="#555"> {escape(trend.means)}</tspan></text>'
    ]
    for mark in (0, most / 2, most):
        y = base - PLOT_HEIGHT * mark / most
        parts.append(f'<line x1="60" x2="{60 + PLOT_WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(_svg_text(54, y + 4, _format_value(mark, trend.unit), "end"))
    for index, (label, value) in enumerate(zip(trend.labels, trend.values, strict=True)):
        if value:
            tall = PLOT_HEIGHT * value / most
            parts.append(
                f'<rect x="{60 + index * wide:.1f}" y="{base - tall:.1f}" width="{max(1.0, wide - 2):.1f}"'
                f' height="{tall:.1f}" fill="#0b6"><title>{escape(label)}: '
                f"{_format_value(value, trend.unit)}</title></rect>"
            )
    first, last = trend.labels[0], trend.labels[-1]
    return [*parts, _svg_text(60, base + 16, first), _svg_text(60 + PLOT_WIDTH, base + 16, last, "end")]


def _svg_text(x: int, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y:.1f}" text-anchor="{anchor}" fill="#555">{text}</text>'


def _column_cell(value: float | None, most: float, row: int, height: int) -> str:
    """Return the part of a column in a row, in eighths of a cell; a value that is not zero is seen."""
    eighths = max(int(bool(value)), round(8 * height * (value or 0) / most))
    return COLUMN_EIGHTHS[max(0, min(8, eighths - 8 * row))]


def _axis_top(most: float) -> float:
    """Return the top of the axis: the next number of a single digit, or its half, that is no lower."""
    step: float = 10 ** (len(str(int(most))) - 1)
    return next(step * factor for factor in (1, 2, 5, 10) if step * factor >= most)


def _format_value(value: float, unit: str) -> str:
    """Format a value with its unit."""
    text = f"{value:,.0f}" if value == round(value) or value >= 10 else f"{value:.1f}"
    return f"{text} %" if unit == "%" else text
