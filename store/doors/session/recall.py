"""Select the records relevant to a prompt: by their words, and by meaning where a model is loaded.

By words alone the threshold is a share of the information (the words' rarity) of the prompt, or of the record itself,
that both have; a word that no record holds counts too. By meaning both count, or meaning alone for a long prompt. The
thresholds are from the half of the questions that `python -m bench.recall` may be tuned with. A prompt that is a
question is put to the Librarian too, by words alone: what answers it comes first.
"""

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial

from store.base.location import Location
from store.base.record_keys import ROW, pack, unpack
from store.database.database import Database
from store.memory import Memory
from store.personal.beside import beside
from store.personal.global_facts import SCOPE as GLOBAL
from store.search.query.filters import Filters
from store.search.query.query_parser import parse
from store.search.signals.fts import FullTextIndex, QueryTerms
from store.text import folding, vocabulary

KINDS = ("fact", "decision", "task", "summary")
ANSWERING = ("decision", "fact", "global")  # kinds that a pack may hold of an answer, the first before the others
LARGE = 30_000  # passages up to which a question is also put to the Librarian
POOL = 24  # records that are looked at
MOST = 6  # relevant records that are returned
FLOOR = 0.42  # by words, share of the prompt's information
OF_RECORD, TOGETHER = 0.6, 3  # by words, share of the record's own, and how many of them
RARE = 8  # a word in fewer records counts as one in so many
KIN = 5  # letters that two forms of a word begin with
SHORT = 12  # words of a prompt that is a question; a longer one is a task
NEAR = 0.6  # calibrated similarity of a record to a long prompt
WEIGHT, ENOUGH = 0.7, 0.46  # of the words against the meaning, for a short prompt, and how much of both is enough
WARM = "what is known"  # a prompt that loads all that an answer by meaning needs
ASKED = 600  # characters of a prompt that are searched for: its end before its beginning

# begins to look in a memory for what is relevant to `words_of` a prompt by meaning, and returns what waits for the keys
# of the records, each with why: None where nothing was found in time, or no vectors can be searched
AskByMeaning = Callable[[Location, str], Callable[[], dict[int, str] | None]]
# the key of a record, the words of a prompt that it holds, their share of the prompt, by rarity, and of the record, by
# number; shares from 0 to 1
Share = tuple[int, list[str], float, float]


def words_of(prompt: str) -> str:
    """Return a prompt as it is searched for: no filters, and of a long one its end and its beginning."""
    text = " ".join(prompt.replace(":", " ").split())
    return text if len(text) <= ASKED else f"{text[-ASKED * 3 // 5 :]} {text[: ASKED * 2 // 5]}"


def bearing_on(memory: Memory, prompt: str, *, meaning: bool = False, most: int = MOST) -> dict[int, str]:
    """Return the keys of the records relevant to a prompt, the nearest first, `most` of them, each with why."""
    text = words_of(prompt)
    first = by_meaning(memory, text) if meaning else answering(memory, text)
    return merged(first, by_words(memory, text), most)


def answering(memory: Memory, text: str) -> dict[int, str]:
    """Return the keys of the decisions from which the Librarian answers `words_of` a prompt, then of the facts, each
    with why; none where the prompt is no question, or only near to something. By words alone, and by filters. For a
    server, not for a hook, of whose time the import of the Librarian would be a third; and not in a memory beyond
    LARGE, where its searches take longer than a hook waits."""
    if not _is_question(text) or FullTextIndex(memory.database).total() > LARGE:
        return {}
    from store.base import citations
    from store.librarian.librarian import Librarian
    from store.librarian.quoting import names

    answer = Librarian(memory, partial(memory.search, meaning=False)).ask(text)
    if answer.nothing or not answer.exact:
        return {}
    alone = len(answer.asked.about) == 1 and not names(text)  # one common word may be in any fact
    kinds = ANSWERING[:1] if alone else ANSWERING
    cited = [one for one in map(citations.parse, answer.citations) if one.kind in kinds]
    cited.sort(key=lambda one: kinds.index(one.kind))
    return {pack(one.kind, one.target): "ask answers from it" for one in cited if isinstance(one.target, int)}


def merged(first: dict[int, str], by_words: dict[int, str], most: int = MOST) -> dict[int, str]:
    """Return what was found by meaning or answers a question, then what was found by words alone, `most` of it."""
    both = first | {key: why for key, why in by_words.items() if key not in first}
    return dict(list(both.items())[:most])


def by_meaning(memory: Memory, text: str) -> dict[int, str]:
    """Return the keys of the records relevant to `words_of` a prompt, each with why: what answers it, and what the
    search finds, where meaning and words together are enough; a long prompt shares few of its words with anything, and
    is judged by meaning alone."""
    hits = {hit.key: hit.similarity or 0.0 for hit in memory.search(text, POOL, kinds=KINDS).hits}
    shares = {key: of_prompt for key, _, of_prompt, _ in _all_shares(memory, text, hits)}
    long = len(text.split()) > SHORT
    found: list[tuple[float, int, str]] = []
    for key, near in hits.items():
        score = near - NEAR if long else WEIGHT * shares.get(key, 0.0) + (1 - WEIGHT) * near - ENOUGH
        if score >= 0:
            found.append((score, key, f"{near:.2f} near the prompt in meaning"))
    found.sort(key=lambda one: -one[0])
    first = answering(memory, text)
    return first | {key: why for _, key, why in found if key not in first}


def by_words(memory: Memory, text: str) -> dict[int, str]:
    """Return the keys of the records that share enough words with `words_of` a prompt, each with why."""
    found: list[tuple[float, int, str]] = []
    for key, words, of_prompt, of_record in _all_shares(memory, text):
        if of_prompt >= FLOOR or (of_record >= OF_RECORD and len(words) >= TOGETHER):
            found.append((max(of_prompt, of_record), key, f"shares {', '.join(words[:4])} with the prompt"))
    found.sort(key=lambda one: -one[0])
    return {key: why for _, key, why in found}


def _all_shares(memory: Memory, text: str, keys: Collection[int] | None = None) -> Iterator[Share]:
    """Return `_shares` of the project's records, and of the global facts."""
    yield from _shares(memory.database, text, keys)
    if (own := beside(memory.database)) is None:
        return
    there = None
    if keys is not None:
        there = [pack("fact", number) for kind, number in map(unpack, keys) if kind == "global"]
    for key, words, of_prompt, of_record in _shares(own, text, there, GLOBAL):
        yield pack("global", unpack(key)[1]), words, of_prompt, of_record


def _shares(database: Database, text: str, keys: Collection[int] | None, scope: str = "") -> Iterator[Share]:
    """Return what records share with a prompt: those of `keys`, or those that its words find; of one scope, if it is
    named, facts alone. None of those that share no word."""
    index = FullTextIndex(database)
    asked = parse(f"{text} ", database.clock())  # the space: its last word is whole
    asked.kinds = [KINDS]
    asked.scopes += [scope] if scope else []
    terms = index.words(asked)
    if not terms.kept:
        return
    counts = index.counts(QueryTerms(terms.kept, None, {}))
    total = index.total()
    weights = {word: math.log1p(total / max(RARE, count)) for word, count in counts.items()}
    whole = sum(weights.values())
    if not whole:
        return
    if keys is None:
        keys = {passage & ROW for passage in index.find(terms, Filters(database, asked), POOL).scores}
    rows = database.rows(
        "SELECT id, title, text FROM corpus WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(keys)),)
    )
    stems = {word: index.stems(word) for word in weights}
    for key, title, body in rows:
        held = index.stems(f"{title}\n{body}")
        shared = [word for word in weights if stems[word] <= held or _kin(word, held)]
        if not shared:
            continue
        own = index.stems(title or body)
        covered = len({stem for word in shared for stem in stems[word]} & own) / max(1, len(own))
        yield key, shared, sum(weights[word] for word in shared) / whole, covered


def _is_question(text: str) -> bool:
    """Return whether a prompt is a question: by its mark, or by its first word."""
    first = folding.normalize(text.partition(" ")[0]).strip("'\",.")
    return "¿" in text or text.rstrip(" !.…)\"'").endswith("?") or first in vocabulary.words("questions", "begin")


def _kin(word: str, others: Iterable[str]) -> bool:
    """Return whether a text holds a form of a word: one that begins alike, for the better part of both."""
    start = folding.normalize(word)
    if len(start) < KIN:
        return False
    return any(other[: max(KIN, len(start) - 3)] == start[: max(KIN, len(start) - 3)] for other in others)
