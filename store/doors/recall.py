"""Which records bear on a prompt, above a floor: by their words, and by meaning where a model is loaded.

By words alone the floor is the share of information (the words' rarity) that prompt and record have in common, of the
prompt or of the record's own title, whichever is more; two words at least, or one that few records hold.
"""

import json

from store.memory import Memory
from store.search.filters import Filters
from store.search.fts import FullTextIndex, QueryTerms
from store.search.query_parser import parse
from store.search.ranking import idf

KINDS = ("fact", "decision", "task", "summary")
POOL = 24  # records that are looked at
MOST = 6  # that bear on a prompt
ASKED = 600  # characters of a prompt that are searched for: its end before its beginning
FLOOR = 0.5  # by words, of the prompt
OF_RECORD = 0.6  # by words, of the record
ALONE = 0.75  # of the prompt, that one word must be which is not rare
RARE = 0.02  # share of records that hold a word which may stand alone


def bearing_on(memory: Memory, prompt: str, *, meaning: bool = False, most: int = MOST) -> dict[int, str]:
    """The keys of what bears on a prompt, the nearest first, `most` of them, each with why."""
    text = words_of(prompt)
    found = _by_meaning(memory, text) if meaning else {}
    for key, why in _by_words(memory, text).items():
        found.setdefault(key, why)
    return dict(list(found.items())[:most])


def words_of(prompt: str) -> str:
    """A prompt as it is searched for: no filters, and of a long one what stands at its ends."""
    text = " ".join(prompt.replace(":", " ").split())
    return text if len(text) <= ASKED else f"{text[-ASKED * 3 // 5 :]} {text[: ASKED * 2 // 5]}"


def _by_meaning(memory: Memory, text: str) -> dict[int, str]:
    from store.context.reasons import ABOVE

    answer = memory.search(text, POOL, kinds=KINDS)
    return {
        hit.key: f"{hit.similarity:.2f} near the prompt in meaning"
        for hit in answer.hits
        if hit.similarity is not None and hit.similarity >= ABOVE
    }


def _by_words(memory: Memory, text: str) -> dict[int, str]:
    index = FullTextIndex(memory.database)
    asked = parse(f"{text} ", memory.now)  # the space: its last word is whole
    asked.kinds = [KINDS]
    terms = index.words(asked)
    if not terms.kept:
        return {}
    counts = index.counts(QueryTerms(terms.kept, None, {}))
    total = index.total()
    weights = {word: idf(total, count) for word, count in counts.items() if count}
    whole = sum(weights.values())
    hits = index.find(terms, Filters(memory.database, asked), POOL).scores if whole else {}
    rows = memory.database.rows(
        "SELECT id, title, text FROM corpus WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(hits)),)
    )
    texts = {key: (title, body) for key, title, body in rows}
    stems = {word: index.stems(word) for word in weights}
    found: list[tuple[float, int, str]] = []
    for key in hits:
        title, body = texts[key]
        said = index.stems(f"{title}\n{body}")
        shared = [word for word in weights if stems[word] and stems[word] <= said]
        share = sum(weights[word] for word in shared) / whole
        if not shared or (len(shared) < 2 and counts[shared[0]] > max(1, RARE * total) and share < ALONE):
            continue
        own = index.stems(title or body)
        covered = len({stem for word in shared for stem in stems[word]} & own) / max(1, len(own))
        if share >= FLOOR or (covered >= OF_RECORD and len(shared) > 1):
            found.append((max(share, covered), key, f"shares {', '.join(shared[:4])} with the prompt"))
    found.sort(key=lambda one: -one[0])
    return {key: why for _, key, why in found}
