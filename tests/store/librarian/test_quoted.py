"""What is quoted without a model, and whether it is said to be only near."""

from types import SimpleNamespace

import pytest

from store.base.models import Chunk
from store.librarian.answer import drop_repeated, load_sources, select_quotable
from store.memory import Memory
from store.search.results import EXACT_HIT, NEAR_HIT


class Found:
    """What a search found, of which the Librarian looks at the hits alone."""

    def __init__(self, *hits: tuple[str, float, str]) -> None:
        self.hits = [
            SimpleNamespace(citation=citation, score=score, level=level, why={}) for citation, score, level in hits
        ]


@pytest.mark.parametrize(
    ("hits", "quoted", "exact"),
    [
        ([("F#1", 2.0, EXACT_HIT), ("F#2", 1.9, NEAR_HIT), ("F#3", 0.8, EXACT_HIT)], ["F#1"], True),
        ([("F#1", 2.0, NEAR_HIT), ("F#2", 1.9, NEAR_HIT), ("F#3", 0.8, NEAR_HIT)], ["F#1", "F#2"], False),
        ([("K#9", 9.0, EXACT_HIT), ("F#1", 2.0, NEAR_HIT), ("F#2", 0.8, NEAR_HIT)], ["F#1"], False),
        ([("F#1", 2.0, NEAR_HIT), ("F#3", 1.0, EXACT_HIT)], ["F#3"], True),
        ([("K#9", 9.0, EXACT_HIT)], ["F#1", "F#2", "F#3"], False),
        ([], ["F#1", "F#2", "F#3"], False),
    ],
)
def test_a_quote_is_of_what_is_looked_at(hits: list[tuple[str, float, str]], quoted: list[str], exact: bool) -> None:
    """A better hit that is not looked at leaves no answer empty, and makes no near one exact."""
    sources = [SimpleNamespace(citation=f"F#{number}", record=None) for number in (1, 2, 3)]
    found, are = select_quotable(sources, Found(*hits))  # type: ignore[arg-type]
    assert ([one.citation for one in found], are) == (quoted, exact)


def test_lines_that_two_chunks_share_are_quoted_once(memory: Memory) -> None:
    """Chunks of a document overlap: two of three places told a stranger the same."""
    chunks = [Chunk(number, "FAQ.md", first, last, "", "text", "") for number, first, last in ((1, 1, 20), (2, 18, 40))]
    chunks += [Chunk(3, "README.md", 1, 20, "", "text", ""), Chunk(4, "FAQ.md", 41, 60, "", "text", "")]
    kept = drop_repeated(load_sources(memory.database, chunks))
    assert [one.record.id for one in kept] == [1, 3, 4]
