"""Rows of a context: the cost of each part, the facts that are included and those that are not, and what else is
sent, each with its reason or its cost at the right."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from rich.cells import cell_len

from store.base.models import Fact, Record
from store.context.builder import Context
from store.context.selection import MIN_FACT_SIMILARITY, PART_LIMITS, ConsideredFact, ContextPart, ContextPiece
from store.text.words import count_tokens
from tui.commands.context import draw_bar, left_out_words, part_name
from tui.lists.record_rows import WIDE_LIST, NumberedRows, RowLine, badge_style, heading_line, row_lines
from tui.render.lines import (
    FACT_BADGES,
    KIND_GLYPHS,
    ORDER_WARNING,
    WARNING_SIGN,
    StyledLine,
    fact_badge,
    format_count,
)
from tui.theme.escape import visible
from tui.theme.line_filters import fit_cells

WHOLE_TEXT = "whole"  # the key of the row for the full text
PART_NAME_CELLS, TOKEN_CELLS, LIMIT_CELLS = (
    11,
    5,
    9,
)  # cells of a part's name, of its cost, and of the most that it may cost
LONGEST_BAR = 24  # cells of the longest bar
CONTEXT_HEADINGS = {
    "own": "your own text",
    "summaries": "summaries",
    "log": "today's log",
    "window": "the last turns",
    "tools": "tools",
}
PASSAGE_PARTS = ("own", "log")  # parts that are lines of one document
PART_MEANINGS = {  # what the names of the bars stand for
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
    "far": "far",
    "unaccepted": "not accepted",
    "session": "other session",
    "beyond": "not in the 5",
    "room": "no room",
}


class ContextRow(NamedTuple):
    """One line: its key (None for a heading), its record if any, its glyph and the glyph's style, its citation and
    text, and the note at the right, short and in full."""

    key: Hashable
    record: Record | None = None
    glyph: str = ""
    look: str = ""
    citation: str = ""
    text: str = ""
    short: str = ""
    why: str = ""
    more: str = ""  # the reason in full, where the list's heading says a part of it
    included: bool = True
    flagged: bool = False  # looks like an instruction to agents
    costs: tuple[tuple[str, int], ...] = ()  # for a line of bars: parts, and the tokens of each


class ContextRows(NumberedRows):
    """The rows of a context. `records` are its records other than facts, by citation; `facts` is the number of facts
    that it was chosen from."""

    def __init__(self, built: Context, records: Mapping[str, Record], now: str, facts: int = 0) -> None:
        self.built = built
        self._rows = list(_context_rows(built, records, now, facts))
        self.whole: Any = None  # the entry of the whole text

    def __len__(self) -> int:
        return len(self._rows)

    def selectable(self, index: int) -> bool:
        return self._rows[index].key is not None

    def key(self, index: int) -> Hashable:
        row = self._rows[index]
        return row.key if row.key is not None else ("heading", index)

    def record(self, index: int) -> Any:
        """Return the record of a row, or for that of the whole text its entry; None for rows without a record."""
        row = self._rows[index]
        return self.whole if row.key == WHOLE_TEXT else row.record

    def lines_above(self, index: int) -> list[StyledLine]:
        """Return the lines above a row's record in the preview: whether it is sent, and why."""
        row = self._rows[index]
        if row.key in (None, WHOLE_TEXT):
            return []
        word = ("Sent", "added") if row.included else ("Not sent", "removed")
        order: list[StyledLine] = [[(ORDER_WARNING, "warning")]] if row.flagged else []
        return [[word, (f"  {row.more or row.why}", "")], *order, []]

    def full_text(self) -> list[StyledLine]:
        """Return the full text as it is sent, with its headings and fences styled."""
        lines: list[StyledLine] = []
        for part in self.built.parts:
            if part.text:
                cost = f"{part_name(part.name)}  {self.built.costs[part.name]:,} tokens"
                left = f", {left_out_words(part)}" if part.left_out else ""
                about = f": {PART_MEANINGS[part.name]}" if part.name in PART_MEANINGS else ""
                lines += [
                    [(f"{cost}{left}", "heading"), (about, "dim")],
                    *([(line, "")] for line in part.text.split("\n")),
                    [],
                ]
        return lines[:-1]

    def _bars(self, row: ContextRow, width: int) -> RowLine:
        """Render two parts on a line, each with its name, its cost, its limit, and the used share of the limit as
        a bar."""
        half = (width - 1) // 2
        room = half - PART_NAME_CELLS - TOKEN_CELLS - LIMIT_CELLS - 1
        longest = max(1, min(LONGEST_BAR, room - 1))
        pairs: RowLine = [(" ", "")]
        for name, cost in row.costs:
            shown = draw_bar(cost, PART_LIMITS.get(name, self.built.limit), longest)
            pairs += [
                (f"{part_name(name):<{PART_NAME_CELLS}}", "dim"),
                (f"{cost:>{TOKEN_CELLS},} ", ""),
                (
                    f"of {limit:,}".ljust(LIMIT_CELLS) if (limit := PART_LIMITS.get(name)) else " " * LIMIT_CELLS,
                    "dim",
                ),
                (fit_cells(shown, room), "accent"),
            ]
        return pairs

    def lines(self, index: int, width: int) -> list[RowLine]:
        one = self._rows[index]
        if one.key is None:
            if one.costs:
                return [self._bars(one, width)]
            if one.look:
                return row_lines([], one.text, one.look, [], width)
            return [heading_line(one.text, one.why, width)]
        right = visible(" · ".join(filter(None, (one.citation, one.why if width >= WIDE_LIST else one.short))))
        head = [(f"{one.glyph} ", one.look), (f"{WARNING_SIGN} " if one.flagged else "", "warning")]
        look = "title" if one.key == WHOLE_TEXT else "" if one.included else "dim"
        if cell_len(right) > width // 3:  # below the text, where it has the room
            return row_lines(
                head, visible(one.text), look, [], width, second=[(right, "accent" if one.included else "dim")]
            )
        return row_lines(head, visible(one.text), look, [(right, "accent" if one.included else "dim")], width)


def _context_rows(built: Context, records: Mapping[str, Record], now: str, facts: int) -> list[ContextRow]:
    """Return the rows of a context: the costs, the full text, the facts in and out, and the other parts."""
    if not built.question and not built.considered and not any(part.pieces for part in built.parts):
        return []
    costs = [(name, cost) for name, cost in built.costs.items() if cost]
    rows = [ContextRow(None, costs=tuple(costs[at : at + 2])) for at in range(0, len(costs), 2)]
    rows += [ContextRow(None, text=f" ! {text}", look="warning") for text in (built.warning, *built.notes) if text]
    question = " ".join(built.question.split())
    rows.append(
        ContextRow(
            WHOLE_TEXT,
            glyph="¶",
            look="glyph-record",
            text=f"“{question}”" if question else "no question yet",
            short=f"{built.tokens:,}",
            why=f"{built.tokens:,} of {built.limit:,} tokens",
        )
    )
    inside = sorted(  # pinned ones first, then what is nearest to the question
        (one for one in built.considered if one.included),
        key=lambda one: (one.word != "pinned", -(one.similarity or 0)),
    )
    outside = sorted(  # what nearly came in first; what was not compared with the question last
        (one for one in built.considered if not one.included),
        key=lambda one: (one.similarity is None, -(one.similarity or 0)),
    )
    rows.append(ContextRow(None, text=f"{format_count(len(inside), 'fact')} in"))
    rows += [_fact_row(one, now) for one in inside]
    further = max(0, facts - sum(one.fact.status == "active" for one in built.considered))
    if outside or further:
        needed = any(one.word == "far" and one.similarity is not None for one in outside)
        reasons = (
            [f"{MIN_FACT_SIMILARITY:.2f} relevant{'' if further else ' to the question'} is needed"]
            if needed
            else []
        )
        if further:
            near = f"nearest {len(outside):,} listed" if outside else "none is near the question"
            reasons.insert(0, near if question else "there is no question yet")
        left = f"{format_count(len(outside) + further, 'fact')} left out"
        rows.append(ContextRow(None, text=left, why="; ".join(reasons)))
        rows += [_fact_row(one, now) for one in outside]
    for part in built.parts:
        pieces = [piece for piece in part.pieces if part.name != "facts" and piece.citation]
        if pieces:
            rows.append(ContextRow(None, text=CONTEXT_HEADINGS[part.name]))
            if part.name in PASSAGE_PARTS:
                pieces = [pieces[0]._replace(text=" ".join(piece.text for piece in pieces))]
            rows += [_piece_row(part, piece, records.get(piece.citation)) for piece in pieces]
    return rows


def _piece_row(part: ContextPart, piece: ContextPiece, record: Record | None) -> ContextRow:
    """Return the row of a piece of a part other than facts."""
    cost = format_count(part.tokens if part.name in PASSAGE_PARTS else count_tokens(piece.line), "token")
    return ContextRow(
        piece.key if piece.key is not None else piece.citation,
        record,
        KIND_GLYPHS.get(
            "turn" if part.name == "window" else "document" if part.name in PASSAGE_PARTS else part.name, "·"
        ),
        "rule",
        piece.citation,
        " ".join(piece.text.split()),
        cost,
        cost,
        cost if part.name in PASSAGE_PARTS else f"{cost} with its citation",
        flagged=piece.is_suspicious,
    )


def _fact_row(one: ConsideredFact, now: str) -> ContextRow:
    """Return the row of a fact, with the reason why it is in or out."""
    fact: Fact = one.fact
    badge = fact_badge(fact, now)
    near = "" if one.similarity is None else f"{one.similarity:.2f}".removeprefix("0")
    short = SHORT_REASONS.get(one.word, one.word)
    if one.word in ("relevant", "far") and near:
        short = near
    elif one.word in ("aging", "low") and near and one.included:
        short = f"{one.word} {near}"
    why, more = f"{one.why}, {one.tokens} tokens" if one.included else one.why, ""
    if one.word == "far" and near:
        why, more = f"{one.similarity:.2f} relevant", why
    return ContextRow(
        one.key,
        one.record,
        FACT_BADGES[badge][0],
        badge_style(badge),
        one.record.citation,
        fact.fact,
        short,
        why,
        more,
        one.included,
        one.is_suspicious,
    )


def citations_in_context(built: Context) -> Sequence[str]:
    """Return the citations in a context other than facts."""
    return [
        piece.citation for part in built.parts if part.name != "facts" for piece in part.pieces if piece.citation
    ]
