"""Figures of a memory: the age of its facts, the cost of conversations and contexts and the share of it that was
useful, success of extraction and searches, which sessions could be continued.

No text of the memory is read: each figure comes from an index, or from a bounded number of rows.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_high

from store.base.clock import to_ms
from store.base.location import backup_folder
from store.conversations.extraction_queue import count_attempts, count_queued_turns, list_given_up
from store.database.database import Database
from store.database.wal import CRASH_COUNT_KEY, LAST_CRASH_KEY, unrecorded_recoveries
from store.embedding.model_registry import find_serving_model
from store.embedding.vectors import Vectors
from store.learning.rule_pass import read_request_counts
from store.memory import Memory
from store.records.facts import AGE_STATES
from store.search.answer_cache import AnswerCache
from store.search.fulltext import FullTextIndex

# conversations that are listed, the newest first
LISTED_SESSIONS = 8
LISTED_QUERIES = 5
# turns that are listed
LISTED_GIVEN_UP = 5
# checkpoints whose intervals are measured, the newest
MEASURED_GAPS = 200
TREND_DAYS, TREND_WEEKS = 30, 12
MEASURED_TABLES = ("facts", "decisions", "commits", "tasks", "turns", "checkpoints", "documents")
COUNTED_TABLES = "decisions iterations commits events commit_links tasks checkpoints history".split()
MEMORY_FILE_ENDINGS = ("", "-wal", "-shm")
# each session with its newest turn, without reading the turns between; and whether it can be continued
CONVERSATIONS_SQL = (
    "WITH RECURSIVE talks(session) AS (SELECT min(session) FROM turns UNION ALL"
    " SELECT (SELECT min(session) FROM turns WHERE session > talks.session) FROM talks WHERE session IS NOT NULL)"
    " SELECT session, (SELECT id FROM turns t WHERE t.session = talks.session ORDER BY number DESC LIMIT 1) AS newest,"
    " EXISTS (SELECT 1 FROM checkpoints c WHERE c.session = talks.session)"
    " FROM talks WHERE session IS NOT NULL ORDER BY newest DESC"
)
SPOKEN_SQL = "SELECT count(*), sum(coalesce(tokens, (octet_length(text) + 3) / 4)) FROM turns WHERE session = ?"


@dataclass(frozen=True, slots=True)
class ConversationCost:
    """A conversation: how many turns it has, their tokens, how many contexts were recently sent to agents for it, and
    the tokens of these together."""

    name: str
    turns: int
    tokens: int
    contexts: int
    sent: int


@dataclass(frozen=True, slots=True)
class ExtractionStats:
    """Result of reading turns: attempts that succeeded and that failed, turns that wait, turns that were given up, and
    of some of these (turn, why)."""

    read: int
    failed: int
    waiting: int
    given_up: int
    turns: tuple[tuple[int, str], ...]

    @property
    def success(self) -> float | None:
        """Return the share of attempts that succeeded; None before the first."""
        return self.read / (self.read + self.failed) if self.read + self.failed else None


@dataclass(frozen=True, slots=True)
class SearchFigures:
    """The last searches: the time of each in milliseconds, the newest last; the medians of those by `keywords` alone
    and of those with `meaning`, None without any; the share that `found` something, None without any."""

    milliseconds: tuple[float, ...]
    keywords: float | None
    meaning: float | None
    found: float | None


@dataclass(frozen=True, slots=True)
class IndexMetrics:
    """The indexes of search: whether SQLite's full text (FTS5) is available, `indexed` of `passages` in it, the `model`
    that made vectors ("" without any), its `dimension`, and of how many of the `embeddable` passages (all but code)
    vectors were made (`embedded`)."""

    full_text: bool
    indexed: int
    passages: int
    embeddable: int
    model: str
    dimension: int | None
    embedded: int


@dataclass(frozen=True, slots=True)
class RecoveryFigures:
    """How many `checkpoints` there are, how many of them were `recovered`, and when the last was; the seconds `between`
    two checkpoints (median; None before the second); `crashes`: how often the memory was recovered after a process was
    killed or the power failed, and when the last time."""

    checkpoints: int
    recovered: int
    last: str | None
    between: float | None
    crashes: int
    crashed_at: str | None


@dataclass(frozen=True, slots=True)
class RequestFigures:
    """Turns that asked for something to be remembered, and how many of them led to a fact, new or confirmed."""

    asked: int
    kept: int


@dataclass(frozen=True, slots=True)
class Measures:
    """All figures, as they were `at`. `states` of active facts, by name; `pinned` of the fresh ones; `came`: of each
    state how many came into it in TREND_DAYS; `learned` in each of TREND_WEEKS, the oldest first; `oldest` is (id,
    when it was confirmed) of the ageing fact that waits longest for that. `contexts` were recently sent to agents,
    `answered` of them were, `context_tokens` is the size of one (median), `mean_tokens` the mean; `useful` the share of
    these tokens that answers cited. `answers` are (looked up, reused, cached). `queries` are (query, how often it was
    asked). `covered` is how many of `conversations` have a checkpoint to continue from. `sizes` in bytes, by what they
    are of, and how many `backups` there are. What is not known yet is None."""

    at: str
    states: dict[str, int]
    pinned: int
    came: dict[str, int]
    learned: tuple[int, ...]
    oldest: tuple[int, str] | None
    sessions: tuple[ConversationCost, ...]
    contexts: int
    answered: int
    context_tokens: int | None
    mean_tokens: float | None
    useful: float | None
    reading: ExtractionStats
    requests: RequestFigures
    index: IndexMetrics
    recoveries: RecoveryFigures
    searches: SearchFigures
    queries: tuple[tuple[str, int], ...]
    answers: tuple[int, int, int]
    conversations: int
    covered: int
    records: dict[str, int]
    sizes: dict[str, int]
    backups: int


def count_contents(memory: Memory) -> dict[str, object]:
    """Return how many records there are, by what they are embedded, and how large the file is."""
    database = memory.database
    facts = memory.facts.count_by_state(memory.now)
    vectors = Vectors(database).read_status()
    return {
        "facts": facts["active"],
        **{name: facts[name] for name in ("fresh", "aging", "low", "stale", "superseded", "forgotten")},
        **{table: database.value(f"SELECT count(*) FROM {table}") for table in COUNTED_TABLES},
        "schema": database.connection.pragma("user_version"),
        "created_at": database.value("SELECT value FROM meta WHERE key = 'created_at'"),
        "embedded_by": vectors.provider,
        "embedding_model": vectors.model,
        "to_embed": vectors.left,
        "bytes": 0 if memory.passing else os.path.getsize(memory.location.path),
    }


def measure(memory: Memory) -> Measures:
    """Return all figures; for a thread that may wait. `python -m bench.health` prints how long it takes. Figures that
    are compared with each other are of one moment; between the groups the log may be emptied."""
    database = memory.database
    with database.read_snapshot():
        counts = memory.facts.count_by_state(memory.now)
        pinned = counts["pinned"]
        came = memory.facts.count_state_changes(memory.now, TREND_DAYS)
        learned = memory.facts.count_learned(memory.now, TREND_WEEKS)
        oldest = database.row(
            "SELECT id, last_confirmed_at FROM facts WHERE status = 'active' AND NOT pinned"
            " ORDER BY last_confirmed_at, id LIMIT 1"
        )
    with database.read_snapshot():
        conversations = database.rows(CONVERSATIONS_SQL)
        sessions = _conversation_costs(memory, [name for name, _, _ in conversations[:LISTED_SESSIONS]])
    with database.read_snapshot():
        sent = memory.context.sent_log
        contexts, answered, taken = sent.usage_counts()
        mean, useful = sent.mean_tokens(), sent.useful_share()
    with database.read_snapshot():
        waiting, given_up = count_queued_turns(database)
        reading = ExtractionStats(
            *count_attempts(database), waiting, given_up, tuple(list_given_up(database, LISTED_GIVEN_UP))
        )
    with database.read_snapshot():
        index = _index_metrics(database)
    with database.read_snapshot():
        recoveries = _recovery_figures(database)
    with database.read_snapshot():
        records = {table: database.value(f"SELECT count(*) FROM {table}") for table in MEASURED_TABLES}
    backups, size = _count_backups(memory)
    return Measures(
        at=memory.now,
        states={state: counts[state] for state in AGE_STATES},
        pinned=pinned,
        came=came,
        learned=learned,
        oldest=oldest,
        sessions=sessions,
        contexts=contexts,
        answered=answered,
        context_tokens=taken if contexts else None,
        mean_tokens=mean,
        useful=useful,
        reading=reading,
        requests=RequestFigures(*read_request_counts(database)),
        index=index,
        recoveries=recoveries,
        searches=_search_figures(memory.search.log.last_searches()),
        queries=tuple(memory.search.log.most_frequent(LISTED_QUERIES)),
        answers=AnswerCache(memory.database, memory.search).usage_counts(),
        conversations=len(conversations),
        covered=sum(can for _, _, can in conversations),
        records=records,
        sizes={"memory": memory_bytes(memory), "backups": size},
        backups=backups,
    )


def _conversation_costs(memory: Memory, names: list[str]) -> tuple[ConversationCost, ...]:
    """Return the costs of these conversations."""
    sent = {name: (contexts, tokens) for name, contexts, tokens in memory.context.sent_log.tokens_per_session()}
    found = []
    for name in names:
        turns, tokens = memory.database.rows(SPOKEN_SQL, (name,))[0]
        found.append(ConversationCost(name, turns, tokens, *sent.get(name, (0, 0))))
    return tuple(found)


def _index_metrics(database: Database) -> IndexMetrics:
    serving = find_serving_model(database)
    embeddable: int = database.value("SELECT count(*) FROM passage_ranks") if serving else 0
    waiting = (
        database.value("SELECT count(*) FROM embedding_queue q JOIN passages p ON p.id = q.id") if serving else 0
    )
    return IndexMetrics(
        full_text="fts5" in database.column("SELECT name FROM pragma_module_list"),
        indexed=FullTextIndex(database).total_passages(),
        passages=database.value("SELECT count(*) FROM passages"),
        embeddable=embeddable,
        model=[*serving.fingerprint.split(" "), ""][1] if serving else "",
        dimension=serving.dimension if serving else None,
        embedded=max(0, embeddable - waiting),
    )


def _recovery_figures(database: Database) -> RecoveryFigures:
    checkpoints, recovered, last = database.rows(
        "SELECT count(*), count(recovered_at), max(recovered_at) FROM checkpoints"
    )[0]
    rows = database.column("SELECT created_at FROM checkpoints ORDER BY id DESC LIMIT ?", (MEASURED_GAPS,))
    taken = [to_ms(at) for at in rows]
    return RecoveryFigures(
        checkpoints,
        recovered,
        last,
        between=_median([max(0, newer - older) / 1000 for newer, older in pairwise(taken)]),
        crashes=database.get_count(CRASH_COUNT_KEY) + unrecorded_recoveries(database.path),
        crashed_at=database.get_meta(LAST_CRASH_KEY) or None,
    )


def _search_figures(last: list[tuple[float, bool, int]]) -> SearchFigures:
    """Return the figures of the last searches."""
    return SearchFigures(
        tuple(milliseconds for milliseconds, _, _ in last),
        _median([milliseconds for milliseconds, meaning, _ in last if not meaning]),
        _median([milliseconds for milliseconds, meaning, _ in last if meaning]),
        sum(found > 0 for _, _, found in last) / len(last) if last else None,
    )


def _median(values: list[float]) -> float | None:
    """Return the upper one of two in the middle; None without any."""
    return median_high(values) if values else None


def memory_bytes(memory: Memory) -> int:
    """Return the bytes of a memory on the disk, its log included; 0 for one that is gone afterwards."""
    total = 0
    for ending in () if memory.passing else MEMORY_FILE_ENDINGS:
        with suppress(OSError):
            total += os.path.getsize(memory.location.path + ending)
    return total


def _count_backups(memory: Memory) -> tuple[int, int]:
    """Return how many backups there are, and their bytes together."""
    folder = backup_folder(memory.location.path)
    try:
        with os.scandir(folder) as entries:
            sizes = [entry.stat(follow_symlinks=False).st_size for entry in entries if entry.name.endswith(".db")]
    except OSError:
        return 0, 0
    return len(sizes), sum(sizes)
