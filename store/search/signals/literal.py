"""What FTS5 cannot find by words: parts of a text in a script without spaces, which is one word to it, and symbols,
which are none. Passages are read for them as they stand."""

import unicodedata

from store.base.record_keys import ROW
from store.database.database import Database
from store.search.query.filters import Filters
from store.search.signals.fts import EXACT, FullTextResult, QueryTerms
from store.search.signals.ranking import idf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Thai and Lao, Burmese, Khmer, kana, Han; and Hangul, whose words take endings and are written together. A regular
# expression of these takes 3 ms to compile.
_UNSPACED = (
    *(("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"), ("\u3040", "\u30ff"), ("\u3400", "\u9fff")),
    *(("\uac00", "\ud7af"), ("\uf900", "\ufaff"), ("\U00020000", "\U0003ffff")),
)


def parts(text: str, words: list[str]) -> list[str]:
    """Return the parts of a query that are looked for as they stand; `words` are those of its `text`."""
    if words:
        return list(dict.fromkeys(word for word in words if not word.isascii() and _unspaced(word)))
    return [part for part in text.split() if any(unicodedata.category(letter)[0] == "S" for letter in part)]


def _unspaced(word: str) -> bool:
    return any(first <= letter <= last for letter in word for first, last in _UNSPACED)


def add(
    database: Database,
    words: QueryTerms,
    filters: Filters,
    limit: int,
    found: FullTextResult,
    total: int,
    stems: "Callable[[str], frozenset[str]]",
) -> FullTextResult:
    """Return what the keywords found together with the passages that hold all parts, of `total` passages. Those that
    hold the other words of the query too, by their `stems`, are exact."""
    held = " AND ".join(
        f"(instr(c.title, :part{place}) OR instr(substr(c.text, p.start + 1, p.end - p.start), :part{place}))"
        for place in range(len(words.literal))
    )
    where = " AND ".join([f"instr(c.title || c.text, :part0) AND {filters.holding}", *filters.clauses, held])
    rows = database.rows(
        "SELECT p.id, c.title || ' ' || substr(c.text, p.start + 1, p.end - p.start) FROM corpus c"
        f" JOIN passages p ON p.row = c.id{' AND p.code' if filters.code else ''}"
        f" WHERE {where} ORDER BY c.at DESC, c.id DESC, p.id",
        {**filters.parameters, **{f"part{place}": part for place, part in enumerate(words.literal)}},
    )
    texts = dict(rows)
    if not texts:
        return found
    others = [stems(word) for word in words.own if word not in words.literal]
    whole = {key for key, text in texts.items() if not others or all(one <= stems(text) for one in others)}
    records = {key & ROW for key in texts}
    if not others:
        best = dict.fromkeys([*texts][:limit], 0.0)
        return FullTextResult(best, len(records), found.left_out, frozenset(best), frozenset(best), len(records))
    weight = idf(total, len(texts))
    scores = {key: found.scores.get(key, 0.0) + weight for key in [*texts][:limit]}
    exact = {*found.whole, *[key for key in scores if key in whole][:EXACT]}
    scores = found.scores | scores
    return FullTextResult(
        dict(sorted(scores.items(), key=lambda pair: -pair[1])),
        max(found.total, len({key & ROW for key in scores} | records)),
        found.left_out,
        found.verbatim,
        frozenset(exact),
        len({key & ROW for key in exact}),
    )
