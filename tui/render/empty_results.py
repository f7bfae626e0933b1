"""Render an empty list: the query, its filters, and alternatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from store.search.query.query_parser import filters
from tui.render import levels

if TYPE_CHECKING:
    from store.search.results import Answer

RECENT = 5  # past queries to show
EXAMPLES = (
    ("kind:decision since:3w", "decisions of the last three weeks"),
    ("is:stale domain:work", "facts about work that nobody confirmed for long"),
    ("author:ana before:2026-01-01", "what Ana wrote before this year"),
)


def unfound(query: str, answer: Answer, offers: Mapping[str, Sequence[str]], model: bool, coming: str | None) -> str:
    """Return the text of an empty list. `offers` are other spellings by word, `model` is whether the search used
    embeddings, `coming` the progress of a model that is still indexing, None if none is."""
    narrow = [query[start:end] for start, end in filters(query)]
    said = levels.none_exact(query, answer)
    lines = [*answer.notes[: answer.refused], said or "Nothing found."]
    lines += [*(["Nothing is near it either."] if said else []), ""]
    lines += [f"Did you mean {' or '.join(words)}, not “{word}”?" for word, words in offers.items()]
    if narrow:
        lines.append(f"It was narrowed by {', '.join(narrow)}: a click on ✕ above takes one away.")
    if answer.left_out:
        lines.append("Replaced or forgotten records match: is:replaced, is:forgotten show them.")
    lines += answer.notes[answer.refused :]
    if not offers and not narrow:
        lines.append("Try fewer words, or others: any one of them is enough.")
    if coming is not None:
        lines.append(f"A model is still reading what is here{coming}; this is asked again as it goes on.")
    elif not model and not any("keywords alone" in note for note in answer.notes):
        lines.append("Only the words themselves were looked for; :doctor says what would find by meaning too.")
    return "\n".join(lines)


def before_asking(asked: Sequence[str], citation: str) -> list[list[tuple[str, str]]]:
    """Return suggestions beside an empty bar: past queries, and examples of filters."""
    lines: list[list[tuple[str, str]]] = []
    if asked:
        lines = [[("Asked before", "heading"), ("   ↑ brings them back", "dim")]]
        lines += [*([(f"  {query}", "")] for query in asked[:RECENT]), []]
    examples = [*EXAMPLES, (f"related:{citation}", "what is near this record")] if citation else EXAMPLES
    lines.append([("Any words, and what narrows them", "heading")])
    for query, says in examples:
        lines += [[(f"  {query}", "")], [(f"      {says}", "dim")]]
    return lines
