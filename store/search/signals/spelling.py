"""Spelling suggestions for words that no record contains: similar words that the memory does contain."""

from store.database.database import Database
from store.search.signals.fts import FullTextIndex, QueryTerms
from store.search.snippets import Marker
from store.text.vocabulary import stop_words

CLOSE = 0.72  # least similarity (Damerau-Levenshtein): offers "thursdys" and "postgress", not "cat" for "car"
SHORTEST = 4  # letters; shorter words are similar to too many
MOST = 2  # suggestions for one word


def spellings(database: Database, keywords: FullTextIndex, words: list[str]) -> dict[str, list[str]]:
    """Return, for each of these words that no record contains, the most similar words that one does, the best first."""
    long = [word for word in words if len(word) >= SHORTEST and word.lower() not in stop_words("search")]
    counts = keywords.counts(QueryTerms(long, None, {}))
    missing = [word for word, count in counts.items() if not count]
    return {word: found for word in missing if (found := _near(database, keywords, word))}


def _near(database: Database, keywords: FullTextIndex, word: str) -> list[str]:
    from rapidfuzz import process
    from rapidfuzz.distance import DamerauLevenshtein

    stem = next(iter(keywords.stems(word)), "")
    rows = database.rows(
        "SELECT term FROM corpus_words WHERE length(term) BETWEEN ? AND ?", (len(stem) - 2, len(stem) + 2)
    )
    found = process.extract(
        stem,
        [term for (term,) in rows],
        scorer=DamerauLevenshtein.normalized_similarity,
        score_cutoff=CLOSE,
        limit=MOST + 2,
    )
    offers = dict.fromkeys(written for term, _, _ in found if (written := _written(database, keywords, term)))
    return list(offers)[:MOST]


def _written(database: Database, keywords: FullTextIndex, term: str) -> str:
    """Return a word in which a stem occurs; empty if the index finds none."""
    row = database.row(
        "SELECT title || char(10) || text FROM corpus WHERE id ="
        " (SELECT rowid FROM corpus_fts WHERE corpus_fts MATCH ? LIMIT 1)",
        (f'{{title text}} : "{term}"',),
    )
    spans = Marker(keywords.tokenizer, [term], None).spans(row[0]) if row else []
    return row[0][slice(*spans[0])].lower() if row and spans else ""
