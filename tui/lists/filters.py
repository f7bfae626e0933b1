"""Facets: by what a list can be narrowed, and how many records each choice leaves. The first of a pane is its chips."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from store.search.query_parser import filter_spans
from store.text.display import visible
from tui.render.lines import KIND_GLYPHS, writer_name
from tui.theme.line_filters import Piece, pieces_width

# cells of the sign for chips that are folded
FOLDED_CELLS = 4
CHOSEN_STYLE = "bold reverse"
CHIP_DIM = "$dim"
# fields of the view that hold who wrote something
WRITER_FIELDS = ("origin", "actor", "asker")


class FacetChoice(NamedTuple):
    """A value of a facet: the word shown, how many records have it (None if unknown), its glyph and the glyph's
    style."""

    value: str
    word: str
    number: int | None = None
    glyph: str = ""
    look: str = ""


class Facet(NamedTuple):
    """A field of the view (in a search: a filter of the query), its name, and its choices. `total` is the number of
    records without this filter."""

    field: str
    name: str
    choices: tuple[FacetChoice, ...]
    total: int | None = None


def counted_choices(
    words: Mapping[str, str],
    counts: Mapping[str, int],
    glyphs: Mapping[str, str],
    looks: Mapping[str, str] = {},
) -> tuple[FacetChoice, ...]:
    """Return the choices (value → word) that leave anything, each with its number and its glyph."""
    return tuple(
        FacetChoice(value, word, counts[value], glyphs[value], looks.get(value, "$dim"))
        for value, word in words.items()
        if counts.get(value)
    )


def counted_facet(
    field: str,
    name: str,
    rows: Iterable[tuple[str, int]],
    word: Callable[[str], str] = lambda value: value.replace("_", " "),
) -> Facet:
    """Return the facet of (value, number) rows, each with its `word`: the value itself, if nothing else is given."""
    counts = {value: count for value, count in rows if count}
    choices = tuple(FacetChoice(value, word(value), count) for value, count in counts.items())
    return Facet(field, name, choices, sum(counts.values()))


def writer_facet(field: str, rows: Iterable[tuple[str, int]]) -> Facet:
    """Return the facet of (origin, number) rows."""
    return counted_facet(field, "Written by", rows, writer_name)


def facet_chips(facet: Facet, narrowed: Mapping[str, object], room: int) -> list[Piece]:
    """Return the chips of a facet, the chosen chip inverse with a cross, and a chip for each other active filter
    of `narrowed` (field → value). Chips for which there is no `room` are folded into `+2`."""
    chosen = narrowed.get(facet.field)
    total = "" if facet.total is None else f" {facet.total:,}"
    pieces: list[Piece] = [(f" All{total} ", "" if narrowed else CHOSEN_STYLE, "show_all")]
    for field, value in narrowed.items():
        if field != facet.field:
            words = _filter_words(field, str(value))
            pieces += [(" ", ""), (f" {words} × ", CHOSEN_STYLE, f"only_by({field!r}, '')")]
    listed = list(facet.choices)
    if chosen is not None and all(one.value != chosen for one in listed):
        listed.append(FacetChoice(str(chosen), _filter_words(facet.field, str(chosen))))
    drawn = [_draw_chip(facet.field, one, one.value == chosen) for one in listed]
    # a filter is always seen
    kept = {index for index, one in enumerate(listed) if one.value == chosen}
    for index in range(len(drawn)):
        some = kept | {index}
        folded = FOLDED_CELLS if len(some) < len(drawn) else 0
        if pieces_width(pieces) + sum(pieces_width(drawn[one]) for one in some) + folded > room:
            break
        kept = some
    pieces += [piece for index in sorted(kept) for piece in drawn[index]]
    left = len(drawn) - len(kept)
    return [*pieces, ("  ", ""), (f"+{left}", CHIP_DIM, "only")] if left else pieces


def _draw_chip(field: str, one: FacetChoice, chosen: bool) -> list[Piece]:
    """Return the pieces of a choice's chip."""
    action = f"only_by({field!r}, {'' if chosen else one.value!r})"
    number = "" if one.number is None else f" {one.number:,}"
    glyph = f"{one.glyph} " if one.glyph else ""
    if chosen:
        return [(" ", ""), (f" {glyph}{visible(one.word)}{number} × ", CHOSEN_STYLE, action)]
    pieces: list[Piece] = [("  ", "")]
    if glyph:
        pieces.append((glyph, one.look, action))
    return [*pieces, (visible(one.word), "", action), (number, CHIP_DIM, action)]


def _filter_words(field: str, value: str) -> str:
    """Return the words of a filter's chip; of a search as it is typed."""
    if field in WRITER_FIELDS:
        return writer_name(value)
    forms = {"words": f"“{value}”", "tag": f"#{value}"}
    return f"{field}{value}" if field.endswith(":") else forms.get(field, value.replace("_", " "))


def next_choice(facet: Facet, now: object) -> str | None:
    """Return the value of the chip after the chosen chip, skipping choices that leave no records; None after the
    last."""
    order: list[str | None] = [None, *(one.value for one in facet.choices if one.number != 0)]
    return order[(order.index(now) + 1) % len(order)] if now in order else None


# The filters of a search: those of a query, by what one can be narrowed, and how one that is being typed goes on.
#
# A filter's field is its name with the colon, `is:`.

KIND_FILTER, STATE_FILTER, WRITER_FILTER = "kind:", "is:", "by:"
# another name for a filter
FILTER_SYNONYMS = {"author:": WRITER_FILTER}
TIME_EXAMPLES = {
    "since:": ("today", "yesterday", "3d", "1w", "1m"),
    "before:": ("today", "yesterday", "1w", "1m", "1y"),
}  # common values, which are not counted
KIND_TITLES = {
    "fact": "Facts", "decision": "Decisions", "commit": "Commits", "event": "Events", "iteration": "Iterations",
    "task": "Tasks", "checkpoint": "Checkpoints", "turn": "Turns", "summary": "Conversations", "document": "Documents",
}  # fmt: skip
# what `is:` knows besides: of tasks, iterations, decisions and commits, and of what records rest on; not counted
OTHER_STATES = (
    *("open", "progress", "done", "abandoned", "reverted", "valid", "void", "any"),
    *("holds", "moved", "changed", "gone"),
)
# of the facets, those that `is:` knows
SEARCHED_STATES = ("stale", "low", "aging", "pinned", "superseded", "forgotten")
# completions shown at a time
OFFERED_COMPLETIONS = 6


def _field_of(filter: str) -> str:
    """Return the field of a filter as it is typed."""
    name = f"{filter.partition(':')[0].lower()}:"
    return FILTER_SYNONYMS.get(name, name)


def filters_in_query(query: str) -> dict[str, str]:
    """Return the filters of a query: field → value."""
    typed = [query[start:end] for start, end in filter_spans(query)]
    return {_field_of(filter): filter.partition(":")[2].strip('"') for filter in typed}


def narrow_query(query: str, filters: Mapping[str, str]) -> str:
    """Return a query with these filters in place of its own filters of equal fields; an empty value removes a
    filter."""
    for start, end in reversed(filter_spans(query)):
        if _field_of(query[start:end]) in filters:
            query = f"{query[:start]} {query[end:]}"
    return " ".join(
        [*query.split(), *(f"{field}{_quote_value(value)}" for field, value in filters.items() if value)]
    )


def found_kinds(counts: Mapping[str, int], counted: bool = True) -> Facet:
    """Return the kinds of what was found; without numbers if not all of it was `counted`."""
    choices = counted_choices(KIND_TITLES, counts, KIND_GLYPHS)
    if counted:
        return Facet(KIND_FILTER, "Kind", choices, sum(counts.values()))
    return Facet(KIND_FILTER, "Kind", tuple(one._replace(number=None) for one in choices))


def search_facets(
    facts: Sequence[Facet],
    counts: Mapping[str, int],
    tags: Sequence[tuple[str, int]] = (),
    authors: Sequence[str] = (),
) -> list[Facet]:
    """Return by what a search can be narrowed: by the facets of the facts, the number of records of each kind, the
    `tags` of all kinds, and whoever wrote anything, also the `authors` of commits; how much that is is not counted."""
    state, domain, origin, tag = facts
    states = [one._replace(value=one.word.casefold()) for one in state.choices if one.value in SEARCHED_STATES]
    writers = [one._replace(number=None) for one in origin.choices]
    wrote = {one.value.casefold() for one in writers}
    others = [name for name in authors if name.casefold() not in wrote]
    return [
        found_kinds(counts),
        state._replace(field=STATE_FILTER, choices=(*states, *_uncounted_choices(OTHER_STATES))),
        domain._replace(field="domain:"),
        origin._replace(field=WRITER_FILTER, choices=(*writers, *_uncounted_choices(others))),
        tag._replace(field="tag:", choices=tuple(FacetChoice(name, name, number) for name, number in tags)),
        *(
            Facet(field, field[:-1].capitalize(), _uncounted_choices(values))
            for field, values in TIME_EXAMPLES.items()
        ),
    ]


def _uncounted_choices(values: Sequence[str]) -> tuple[FacetChoice, ...]:
    """Return choices without numbers of records."""
    return tuple(FacetChoice(value, value) for value in values)


def filter_completions(query: str, facets: Sequence[Facet]) -> list[tuple[str, int | None]]:
    """Return how the filter at the end of a query may go on, each with the number of records that have it: `is:st` as
    `is:stale`. Empty if the query ends otherwise, or if the filter is complete."""
    typed = re.search(r"(?<!\S)([a-z]+:)(\S*)$", query, re.IGNORECASE)
    if typed is None:
        return []
    name, start = typed[1].lower(), typed[2].casefold()
    facet = next((one for one in facets if one.field == FILTER_SYNONYMS.get(name, name)), None)
    if facet is None:
        return []
    found = [
        (f"{name}{_quote_value(one.value)}", one.number)
        for one in facet.choices
        if one.value.casefold().startswith(start) or one.word.casefold().startswith(start)
    ]
    return [] if [text for text, _ in found] == [typed[0]] else found[:OFFERED_COMPLETIONS]


def complete_filter(query: str, text: str) -> str:
    """Return the query with the filter at its end completed."""
    return f"{query[: len(query) - len(query.split()[-1])]}{text} "


def _quote_value(value: str) -> str:
    """Put a value with spaces in quotation marks."""
    return f'"{value}"' if " " in value else value
