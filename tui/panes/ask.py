"""The pane of questions: each with the sentences of its answer and what they rest on; and what an agent would be sent
for a question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, NamedTuple

from rich.cells import cell_len

from store.base.models import Record
from store.context.builder import Context
from store.context.selection import MIN_FACT_SIMILARITY, PART_LIMITS, ConsideredFact, ContextPart, ContextPiece
from store.librarian.answer import CitedSentence
from store.text.display import format_count, visible
from store.text.words import count_tokens
from tui.commands.search import left_out_words, part_name
from tui.lists.record_rows import (
    WIDE_LIST,
    ListedRows,
    Row,
    RowLine,
    draw_record,
    heading_row,
    record_glyph,
    row_lines,
)
from tui.panes.facts import count_facts
from tui.panes.pane import Entry, Loaded, Pane, Reading
from tui.render.lines import KIND_GLYPHS, ORDER_WARNING, WARNING_SIGN, StyledLine, draw_bar
from tui.theme.line_filters import Piece, fit_cells
from tui.workers.model_worker import Exchange

# lines of a sentence, at most
SENTENCE_LINES = 24
QUESTION_EXAMPLES = (
    "why do we use SQLite?",
    "¿qué decidimos en octubre?",
    "what happened last week?",
    "how many tasks are open?",
)
MODEL_ORDER_NOTE = (
    "The model may put the facts into another order (agent.mode = smart); it is not asked for this list."
)


class Example(NamedTuple):
    """A question that Enter asks, or a filter that it searches for."""

    line: str


def read_ask(reading: Reading) -> Loaded:
    """Read the conversation; or the context that an agent would be sent for a question."""
    if reading.view.get("context"):
        return _read_context(reading)
    exchanges = reading.engine.exchanges
    if not exchanges:
        says: list[Row] = [_text_row(("says", at), text) for at, text in enumerate(ABOUT)]
        tries = [_example_row(question) for question in QUESTION_EXAMPLES]
        return Loaded(ListedRows([*says, _text_row("try", "Try", "heading"), *tries]), says=ABOUT_TITLE)
    rows: list[Row] = []
    for number in reversed(range(len(exchanges))):
        rows += _exchange_rows(reading, number, exchanges[number])
    return Loaded(ListedRows(rows), says=ABOUT_TITLE)


ABOUT = (
    "Ask what was decided, done or said, when, by whom and why, in English or Spanish: / opens the line, enter asks.",
    "Each sentence of an answer cites the record it rests on, shown beside it. Where nothing is recorded it says so.",
)
ABOUT_TITLE: Sequence[Piece] = (("every sentence cites its record", "$dim"),)


def _text_row(key: Hashable, text: str, look: str = "dim") -> Row:
    return Row(key, lambda width: row_lines([("  ", "")], visible(text), look, [], width, SENTENCE_LINES))


def _example_row(question: str, note: str = "enter asks") -> Row:
    def draw(width: int) -> list[RowLine]:
        return row_lines([("? ", "accent")], visible(question), "accent", [(note, "dim")], width)

    entry = Entry(("example", question), Example(question), draw)
    return Row(entry.key, draw, entry)


def _exchange_rows(reading: Reading, number: int, exchange: Exchange) -> list[Row]:
    """Return the rows of a question: the hits of the search, until the answer is there; then its sentences, what is
    said about it, and its sources."""
    answer, now = exchange.answer, reading.memory.now
    find = reading.find_record
    rows = [heading_row(("asked", number), visible(exchange.question))]
    said = list(exchange.first if answer is None else answer.parts)
    if answer is not None and answer.near is not None:
        said.append(answer.near)
    seen = Counter[tuple[str, ...]]()
    # known by what it cites, so that the cursor stays on it when a model orders them
    for one in said:
        rows.append(_sentence_row(("said", number, *one.citations[:1], seen[one.citations[:1]]), one, find))
        seen[one.citations[:1]] += 1
    if exchange.error:
        rows.append(_text_row(("error", number), exchange.error, "warning"))
    elif answer is None:
        clock = f" {exchange.seconds} s · esc stops" if exchange.seconds and not exchange.stop.is_set() else ""
        rows.append(_text_row(("status", number), f"{exchange.status}{clock}"))
    else:
        if answer.filter:
            rows.append(_example_row(answer.filter, "enter searches for it"))
        of_data = answer.asked.lists and (answer.filter or answer.asked.asks_history)
        notes = [answer.line, "" if of_data else exchange.unindexed, answer.note]
        rows += [_text_row(("note", number, at), note) for at, note in enumerate(notes) if note]
        named = answer.citations or (answer.near.citations if answer.near is not None else ())
        sources = [(cited, record) for cited in named if (record := find(cited)) is not None]
        if sources and answer.citations:
            rests = partial(row_lines, [(" ", "")], f"It rests on {len(sources)}", "heading", [])
            rows.append(Row(("rests", number), rests))
        for cited, record in sources:
            rows.append(Row(("source", number, cited), partial(draw_record, record, now=now), record))
    return rows


def _sentence_row(key: Hashable, sentence: CitedSentence, find: Callable[[str], Record | None]) -> Row:
    """Return the row of a sentence; it is about the first record that it cites."""
    record = next((found for cited in sentence.citations if (found := find(cited)) is not None), None)

    def draw(width: int) -> list[RowLine]:
        lines = row_lines([("  ", "")], visible(sentence.text), "", [], width, SENTENCE_LINES)
        return [[piece for text, look in line for piece in _cite_pieces(text, look, sentence)] for line in lines]

    return Row(key, draw, record)


def _cite_pieces(text: str, look: str, sentence: CitedSentence) -> RowLine:
    """Split a line at the sentence's own citations, which are drawn as links."""
    own = "|".join(re.escape(f"[{citation}]") for citation in sentence.citations)
    parts = re.split(f"({own})", text) if own else [text]
    return [(part, "accent" if place % 2 else look) for place, part in enumerate(parts) if part]


# The context that an agent would be sent: the cost of each part, the facts that are included and those that are not,
# and what else is sent, each with its reason or its cost at the right.

CONTEXT_TOKENS = 3_050
# the key of the row for the full text
WHOLE_TEXT = "whole"
# of a part's name, of its cost, of the most that it may cost
PART_NAME_CELLS, TOKEN_CELLS, LIMIT_CELLS = 11, 5, 9
# cells of the longest bar
LONGEST_BAR = 24
CONTEXT_HEADINGS = {
    "own": "your own text",
    "summaries": "summaries",
    "log": "today's log",
    "window": "the last turns",
    "tools": "tools",
}
# parts that are lines of one document
PASSAGE_PARTS = ("own", "log")
# what the names of the bars stand for
PART_MEANINGS = {
    "static": "begins every prompt; less after a cited answer",
    "facts": "what you let agents remember",
    "window": "the last turns of the conversation",
    "question": "what is asked",
}
# reason → its short form in a narrow list, if it differs
SHORT_REASONS = {
    "words": "by words",
    "weak": "low confidence",
    "low": "low priority",
    "said": "just said",
    "unaccepted": "not accepted",
    "session": "other session",
    "beyond": "not in the 5",
    "room": "no room",
}


def _read_context(reading: Reading) -> Loaded:
    """Return the context that an agent would be sent, with its records."""
    memory, view = reading.memory, reading.view
    built = memory.context(view.get("question") or "", view.get("session") or "")
    if memory.config["agent.mode"] == "smart":
        built = built._replace(notes=(*built.notes, MODEL_ORDER_NOTE))
    active = count_facts(memory, memory.now)["active"]
    rows = context_rows(built, reading.find_record, memory.now, active)
    says: list[Piece] = [
        (f"“{built.question}”" if built.question else "what an agent gets", "$dim", "start('context.ask')"),
        (f"{built.tokens:,} of {CONTEXT_TOKENS:,} tokens", "$dim"),
    ]
    return Loaded(rows, says=says, empty=EMPTY_CONTEXT)


def context_rows(built: Context, find: Callable[[str], Record | None], now: str, facts: int = 0) -> ListedRows:
    """Return the rows of a context: the costs, the full text, the facts in and out, and the other parts. `find` returns
    the record of a citation; `facts` is the number of facts that it was chosen from."""
    if not built.question and not built.considered and not any(part.pieces for part in built.parts):
        return ListedRows([])
    costs = [(name, cost) for name, cost in built.costs.items() if cost]
    draws = [partial(_draw_costs, costs[at : at + 2], built.limit) for at in range(0, len(costs), 2)]
    draws += [
        partial(row_lines, [], f" ! {text}", "warning", []) for text in (built.warning, *built.notes) if text
    ]
    rows = [Row(("heading", index), draw) for index, draw in enumerate(draws)]
    question = " ".join(built.question.split())
    said = f"“{question}”" if question else "no question yet"
    of = f"{built.tokens:,} of {built.limit:,} tokens"
    whole = ContextLine(("¶", "glyph-record"), "", said, f"{built.tokens:,}", of, look="title")
    rows.append(Row(WHOLE_TEXT, whole.draw, Entry(WHOLE_TEXT, None, whole.draw, partial(_full_text, built))))
    # pinned ones first, then what is nearest to the question
    inside = sorted(
        (one for one in built.considered if one.included),
        key=lambda one: (one.word != "pinned", -(one.similarity or 0)),
    )
    # what nearly came in first; what was not compared with the question last
    outside = sorted(
        (one for one in built.considered if not one.included),
        key=lambda one: (one.similarity is None, -(one.similarity or 0)),
    )
    rows.append(heading_row(("heading", "in"), f"{format_count(len(inside), 'fact')} in"))
    rows += [_fact_row(one, now) for one in inside]
    further = max(0, facts - sum(one.fact.status == "active" for one in built.considered))
    if outside or further:
        needed = any(one.word == "far" and one.similarity is not None for one in outside)
        of_what = "" if further else " to the question"
        reasons = [f"{MIN_FACT_SIMILARITY:.2f} relevant{of_what} is needed"] if needed else []
        if further:
            near = f"nearest {len(outside):,} listed" if outside else "none is near the question"
            reasons.insert(0, near if question else "there is no question yet")
        left = f"{format_count(len(outside) + further, 'fact')} left out"
        rows.append(heading_row(("heading", "out"), left, "; ".join(reasons)))
        rows += [_fact_row(one, now) for one in outside]
    for part in built.parts:
        pieces = [piece for piece in part.pieces if part.name != "facts" and piece.citation]
        if pieces:
            rows.append(heading_row(("heading", part.name), CONTEXT_HEADINGS[part.name]))
            if part.name in PASSAGE_PARTS:
                pieces = [pieces[0]._replace(text=" ".join(piece.text for piece in pieces))]
            rows += [_piece_row(part, piece, find(piece.citation)) for piece in pieces]
    return ListedRows(rows)


class ContextLine(NamedTuple):
    """What may be sent: its glyph, its citation and text, and why it is in or out, or its cost, short and in full."""

    glyph: tuple[str, str]
    citation: str
    text: str
    short: str
    why: str
    look: str = ""
    # looks like an instruction to agents
    flagged: bool = False

    def draw(self, width: int) -> list[RowLine]:
        right = visible(" · ".join(filter(None, (self.citation, self.why if width >= WIDE_LIST else self.short))))
        note = (right, "dim" if self.look == "dim" else "accent")
        glyph, style = self.glyph
        head = [(f"{glyph} ", style), (f"{WARNING_SIGN} " if self.flagged else "", "warning")]
        # the text, where it has the room
        below = cell_len(right) > width // 3
        notes, second = ([], [note]) if below else ([note], [])
        return row_lines(head, visible(self.text), self.look, notes, width, second=second)

    def make_row(self, key: Hashable, record: Any, why: str) -> Row:
        """Return its row; the preview says above the record whether it is sent, and why."""
        word = ("Not sent", "removed") if self.look == "dim" else ("Sent", "added")
        order: list[StyledLine] = [[(ORDER_WARNING, "warning")]] if self.flagged else []
        return Row(key, self.draw, record, [[word, (f"  {why}", "")], *order, []])


def _fact_row(one: ConsideredFact, now: str) -> Row:
    """Return the row of a fact, with the reason why it is in or out."""
    near = "" if one.similarity is None else f"{one.similarity:.2f}".removeprefix("0")
    short = SHORT_REASONS.get(one.word, one.word)
    if one.word in ("relevant", "far") and near:
        short = near
    elif one.word in ("aging", "low") and near and one.included:
        short = f"{one.word} {near}"
    why = more = f"{one.why}, {one.tokens} tokens" if one.included else one.why
    # the list's heading says a part of it
    if one.word == "far" and near:
        why = f"{one.similarity:.2f} relevant"
    glyph, look = record_glyph(one.fact, now), "" if one.included else "dim"
    line = ContextLine(glyph, one.record.citation, one.fact.fact, short, why, look, one.is_suspicious)
    return line.make_row(one.key, one.record, more)


def _piece_row(part: ContextPart, piece: ContextPiece, record: Record | None) -> Row:
    """Return the row of a piece of a part other than facts."""
    passage = part.name in PASSAGE_PARTS
    cost = format_count(part.tokens if passage else count_tokens(piece.line), "token")
    kind = "turn" if part.name == "window" else "document" if passage else part.name
    glyph, text = (KIND_GLYPHS.get(kind, "·"), "rule"), " ".join(piece.text.split())
    line = ContextLine(glyph, piece.citation, text, cost, cost, flagged=piece.is_suspicious)
    why = cost if passage else f"{cost} with its citation"
    return line.make_row(piece.citation if piece.key is None else piece.key, record, why)


def _draw_costs(costs: Sequence[tuple[str, int]], limit: int, width: int) -> list[RowLine]:
    """Draw two parts on a line, each with its name, its cost, its limit, and the used share of the limit as a bar."""
    room = (width - 1) // 2 - PART_NAME_CELLS - TOKEN_CELLS - LIMIT_CELLS - 1
    longest = max(1, min(LONGEST_BAR, room - 1))
    pairs: RowLine = [(" ", "")]
    for name, cost in costs:
        most = PART_LIMITS.get(name)
        pairs += [
            (f"{part_name(name):<{PART_NAME_CELLS}}", "dim"),
            (f"{cost:>{TOKEN_CELLS},} ", ""),
            ((f"of {most:,}" if most else "").ljust(LIMIT_CELLS), "dim"),
            (fit_cells(draw_bar(cost, most or limit, longest), room), "accent"),
        ]
    return [pairs]


def _full_text(built: Context) -> list[StyledLine]:
    """Return the full text as it is sent, with its headings and fences styled."""
    lines: list[StyledLine] = []
    for part in built.parts:
        if part.text:
            cost = f"{part_name(part.name)}  {built.costs[part.name]:,} tokens"
            left = f", {left_out_words(part)}" if part.left_out else ""
            about = f": {PART_MEANINGS[part.name]}" if part.name in PART_MEANINGS else ""
            lines.append([(f"{cost}{left}", "heading"), (about, "dim")])
            lines += [*([(line, "")] for line in part.text.split("\n")), []]
    return lines[:-1]


EMPTY_CONTEXT = (
    "What an agent would be sent will be here, with what it costs and why each fact is in or out. {context.ask} asks a "
    "question; without facts nothing would be sent."
)


PANE = Pane("ask", "Ask", read_ask, kinds=("fact",))
