"""Facets: by what a list can be narrowed, and how many records each choice leaves. The first of a pane is its chips."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tui.render.line_parts import writer
from tui.theme.escape import visible
from tui.theme.pieces import Piece, width

MOST = 9  # choices of a facet that are offered
MORE = 4  # cells of the sign for chips that are folded
CHOSEN = "bold reverse"
DIM = "$dim"
WRITERS = ("origin", "actor", "asker")  # fields of the view that hold who wrote something
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
ALL = "0"  # the key that shows all records again, in the menu


class Choice(NamedTuple):
    """A value of a facet: the word shown, how many records have it (None if unknown), its glyph and the glyph's style,
    and its letter in the menu if that never changes."""

    value: str
    word: str
    number: int | None = None
    glyph: str = ""
    look: str = ""
    letter: str = ""


class Facet(NamedTuple):
    """A field of the view (in a search: a filter of the query), its name, and its choices. `total` is the number of
    records without this filter."""

    field: str
    name: str
    choices: tuple[Choice, ...]
    total: int | None = None


def counted(field: str, name: str, rows: Iterable[tuple[str, int]]) -> Facet:
    """Return the facet of (value, number) rows, the value itself as its word."""
    choices = [Choice(value, value.replace("_", " "), count) for value, count in rows if count]
    return Facet(field, name, tuple(choices), sum(one.number or 0 for one in choices))


def written_by(field: str, rows: Iterable[tuple[str, int]]) -> Facet:
    """Return the facet of (origin, number) rows."""
    choices = [Choice(origin, writer(origin), count) for origin, count in rows if count]
    return Facet(field, "Written by", tuple(choices), sum(one.number or 0 for one in choices))


def lettered(facets: Sequence[Facet]) -> list[list[tuple[str, Choice]]]:
    """Return the choices of each facet, at most MOST, each with its letter: its own, else the first of its word that is
    free, else any that is."""
    offered = [facet.choices[:MOST] for facet in facets]
    taken = {one.letter for choices in offered for one in choices if one.letter}
    found = []
    for choices in offered:
        column = []
        for one in choices:
            letters = [char for char in one.word.casefold() if char.isascii() and char.isalpha()]
            letter = one.letter or next((char for char in (*letters, *LETTERS) if char not in taken), "")
            taken.add(letter)
            column.append((letter, one))
        found.append(column)
    return found


def chips(facet: Facet, narrowed: Mapping[str, object], room: int) -> list[Piece]:
    """Return the chips of a facet, the chosen one inverse with a cross, and one for each other filter of `narrowed`
    (field → value of those that are active); those for which there is no `room` are folded into `+2`."""
    chosen = narrowed.get(facet.field)
    others = [(field, value) for field, value in narrowed.items() if field != facet.field]
    total = "" if facet.total is None else f" {facet.total:,}"
    pieces: list[Piece] = [(f" All{total} ", "" if narrowed else CHOSEN, "show_all")]
    for field, value in others:
        pieces += [(" ", ""), (f" {_said(field, str(value))} × ", CHOSEN, f"only({field!r}, '')")]
    listed = list(facet.choices)
    if chosen is not None and all(one.value != chosen for one in listed):
        listed.append(Choice(str(chosen), _said(facet.field, str(chosen))))
    drawn = [_chip(facet.field, one, one.value == chosen) for one in listed]
    place = next((index for index, one in enumerate(listed) if one.value == chosen), None)
    kept = set() if place is None else {place}  # a filter is always seen
    for index in range(len(drawn)):
        some = kept | {index}
        folded = MORE if len(some) < len(drawn) else 0
        if width(pieces) + sum(width(drawn[one]) for one in some) + folded > room:
            break
        kept = some
    pieces += [piece for index in sorted(kept) for piece in drawn[index]]
    left = len(drawn) - len(kept)
    return [*pieces, ("  ", ""), (f"+{left}", DIM, "choose_filter")] if left else pieces


def _chip(field: str, one: Choice, chosen: bool) -> list[Piece]:
    action = f"only({field!r}, {'' if chosen else one.value!r})"
    number = "" if one.number is None else f" {one.number:,}"
    glyph = f"{one.glyph} " if one.glyph else ""
    if chosen:
        return [(" ", ""), (f" {glyph}{visible(one.word)}{number} × ", CHOSEN, action)]
    pieces: list[Piece] = [("  ", "")]
    if glyph:
        pieces.append((glyph, one.look, action))
    return [*pieces, (visible(one.word), "", action), (number, DIM, action)]


def _said(field: str, value: str) -> str:
    """Return the words of a filter's chip; of a search as it is typed."""
    if field.endswith(":"):
        return f"{field}{value}"
    if field == "words":
        return f"“{value}”"
    return writer(value) if field in WRITERS else f"#{value}" if field == "tag" else value.replace("_", " ")


def following(facet: Facet, now: object) -> str | None:
    """Return the value of the chip after the chosen one, among those that leave records; None after the last."""
    order: list[str | None] = [None, *(one.value for one in facet.choices if one.number != 0)]
    return order[(order.index(now) + 1) % len(order)] if now in order else None


def active(view: object, filters: Mapping[str, object]) -> dict[str, object]:
    """Return the filters of a view that are active: field → value."""
    return {name: value for name, neutral in filters.items() if (value := getattr(view, name)) != neutral}
