"""The pane of questions: each with the sentences of its answer and what they rest on; and what an agent would be sent
for a question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import NamedTuple

from store.base.citations import parse_citation
from store.base.errors import MemorandaError
from store.base.models import Record
from store.librarian.answer import CitedSentence
from store.memory import Memory
from store.search.lookup import get_record
from tui.lists.context_rows import WHOLE_TEXT, ContextRows, citations_in_context
from tui.lists.record_rows import NumberedRows, RowLine, draw_record, heading_line, row_lines
from tui.panes.facts import count_facts
from tui.panes.pane import Entry, Loaded, Pane, Reading
from tui.theme.escape import visible
from tui.theme.line_filters import Piece
from tui.workers.model_worker import Exchange

SENTENCE_LINES = 24  # lines of a sentence, at most
QUESTION_EXAMPLES = (
    "why do we use SQLite?",
    "¿qué decidimos en octubre?",
    "what happened last week?",
    "how many tasks are open?",
)
MODEL_ORDER_NOTE = (
    "The model may put the facts into another order (agent.mode = smart); it is not asked for this list."
)
CONTEXT_TOKENS = 3_050


class Example(NamedTuple):
    """A question that Enter asks, or a filter that it searches for."""

    line: str


class AskRow(NamedTuple):
    """A row of the conversation: its key (None for a line that cannot be selected), how it is drawn, and the record
    that it is about, or the example."""

    key: Hashable
    draw: Callable[[int], list[RowLine]]
    record: Record | Entry | None = None


class AskRows(NumberedRows):
    """The questions, newest first, each with its answer and its sources."""

    def __init__(self, rows: Sequence[AskRow]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def selectable(self, index: int) -> bool:
        return self._rows[index].record is not None

    def key(self, index: int) -> Hashable:
        return self._rows[index].key

    def record(self, index: int) -> Record | Entry | None:
        """Return the record that a row is about, or its entry."""
        return self._rows[index].record

    def lines(self, index: int, width: int) -> list[RowLine]:
        return self._rows[index].draw(width)


def read_ask(reading: Reading) -> Loaded:
    """Read the conversation; or the context that an agent would be sent for a question."""
    if reading.view.get("context"):
        return _read_context(reading)
    exchanges = reading.engine.exchanges
    if not exchanges:
        says: list[AskRow] = [_text_row(("says", at), text) for at, text in enumerate(ABOUT)]
        tries = [_example_row(question) for question in QUESTION_EXAMPLES]
        return Loaded(AskRows([*says, _text_row("try", "Try", "heading"), *tries]), says=ABOUT_TITLE)
    rows: list[AskRow] = []
    for number in reversed(range(len(exchanges))):
        rows += _exchange_rows(reading, number, exchanges[number])
    return Loaded(AskRows(rows), says=ABOUT_TITLE)


ABOUT = (
    "Ask what was decided, done or said, when, by whom and why, in English or Spanish: / opens the line, enter asks.",
    "Each sentence of an answer cites the record it rests on, shown beside it. Where nothing is recorded it says so.",
)
ABOUT_TITLE: Sequence[Piece] = (("every sentence cites its record", "$dim"),)


def _text_row(key: Hashable, text: str, look: str = "dim") -> AskRow:
    return AskRow(key, lambda width: row_lines([("  ", "")], visible(text), look, [], width, SENTENCE_LINES))


def _example_row(question: str, note: str = "enter asks") -> AskRow:
    def draw(width: int) -> list[RowLine]:
        return row_lines([("? ", "accent")], visible(question), "accent", [(note, "dim")], width)

    entry = Entry(("example", question), Example(question), draw)
    return AskRow(entry.key, draw, entry)


def _exchange_rows(reading: Reading, number: int, exchange: Exchange) -> list[AskRow]:
    """Return the rows of a question: the hits of the search, until the answer is there; then its sentences, what is
    said about it, and its sources."""
    answer, now = exchange.answer, reading.memory.now
    find = partial(_find_record, reading.memory)
    rows = [AskRow(("asked", number), lambda width: [heading_line(visible(exchange.question), "", width)])]
    said = list(exchange.first if answer is None else answer.parts)
    if answer is not None and answer.near is not None:
        said.append(answer.near)
    seen = Counter[tuple[str, ...]]()
    for one in said:  # known by what it cites, so that the cursor stays on it when a model orders them
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
            rests = f"It rests on {len(sources)}"
            rows.append(
                AskRow(("rests", number), lambda width: row_lines([(" ", "")], rests, "heading", [], width))
            )
        for cited, record in sources:
            rows.append(AskRow(("source", number, cited), partial(_draw_source, record, now), record))
    return rows


def _draw_source(record: Record, now: str, width: int) -> list[RowLine]:
    return draw_record(record, width, now)


def _sentence_row(key: Hashable, sentence: CitedSentence, find: Callable[[str], Record | None]) -> AskRow:
    """Return the row of a sentence; it is about the first record that it cites."""
    record = next((found for cited in sentence.citations if (found := find(cited)) is not None), None)

    def draw(width: int) -> list[RowLine]:
        lines = row_lines([("  ", "")], visible(sentence.text), "", [], width, SENTENCE_LINES)
        return [[piece for text, look in line for piece in _cite_pieces(text, look, sentence)] for line in lines]

    return AskRow(key, draw, record)


def _cite_pieces(text: str, look: str, sentence: CitedSentence) -> RowLine:
    """Split a line at the sentence's own citations, which are drawn as links."""
    own = "|".join(re.escape(f"[{citation}]") for citation in sentence.citations)
    parts = re.split(f"({own})", text) if own else [text]
    return [(part, "accent" if place % 2 else look) for place, part in enumerate(parts) if part]


def _find_record(memory: Memory, citation: str) -> Record | None:
    """Return the record of a citation; None if it is gone."""
    try:
        return get_record(memory.database, parse_citation(citation))
    except MemorandaError:
        return None


def _read_context(reading: Reading) -> Loaded:
    """Return the context that an agent would be sent, with its records."""
    memory, view = reading.memory, reading.view
    built = memory.context(view.get("question") or "", view.get("session") or "")
    cited = citations_in_context(built)
    found = {citation: record for citation in cited if (record := _find_record(memory, citation)) is not None}
    if memory.config["agent.mode"] == "smart":
        built = built._replace(notes=(*built.notes, MODEL_ORDER_NOTE))
    rows = ContextRows(built, found, memory.now, count_facts(memory, memory.now)["active"])
    rows.whole = Entry(WHOLE_TEXT, None, lambda width: [], rows.full_text)
    says: list[Piece] = [
        (f"“{built.question}”" if built.question else "what an agent gets", "$dim", "start('context.ask')"),
        (f"{built.tokens:,} of {CONTEXT_TOKENS:,} tokens", "$dim"),
    ]
    return Loaded(rows, says=says, empty=EMPTY_CONTEXT)


EMPTY_CONTEXT = (
    "What an agent would be sent will be here, with what it costs and why each fact is in or out. {context.ask} asks a "
    "question; without facts nothing would be sent."
)


PANE = Pane("ask", "Ask", read_ask, kinds=("fact",))
