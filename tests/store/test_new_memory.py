"""A memory that has just begun: whatever is asked of it is answered, or it says honestly that it holds nothing.

Every filter, alone and with others, on a memory of nothing, of one record of each kind and of a few of all, with no
vectors, some and all; through the search, the Librarian, the context, and what looks for the like of a record.
"""

import inspect
import random
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import Clock
from support.young import FILTERED, SIZES, VALUES, VECTORS, WORD, begun

from store.base.vocabulary import DOMAINS, SCOPES, SEARCHABLE
from store.config.configuration import project_settings_path, remove_setting, write_setting
from store.embedding.provider import EmbeddingError
from store.embedding.vectors import Vectors
from store.inbox import duplicates
from store.librarian.librarian import Librarian
from store.memory import Memory
from store.search.pipeline import Search
from store.search.query_parser import FILTER_NAMES, IS_VALUES
from store.search.results import Hit, SearchAnswer

# and what is given beside the query
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "kinds": tuple((kind,) for kind in SEARCHABLE),
    "domain": DOMAINS,
    "status": IS_VALUES,
    "author": ("ana", "nobody"),
    "tag": ("people", "none"),
    "since": ("2026-11-20T00:00:00.000Z", "2030-01-01T00:00:00.000Z"),
    "before": ("2026-11-20T00:00:00.000Z", "2001-01-01T00:00:00.000Z"),
    "iteration_id": (1, 999),
    "min_score": (0.5, 1.0, 2.0),
    "scope": (*SCOPES, "discord:channel:7"),
    "limit": (0, 1),
    "far": (True,),
}
GIVEN = [{name: value} for name, values in ARGUMENTS.items() for value in values]
# one record of each kind with its vector; nothing, a fact and a few of all however far their vectors are
MEMORIES = [(size, "all") for size in SIZES]
MEMORIES += [(size, state) for size in ("nothing", "fact", "many") for state in VECTORS if state != "all"]
COMBINED = 8  # of several filters at once, for each memory
SETTINGS: tuple[dict[str, str], ...] = (
    {"search.setting": "seed"},
    {"search.setting": "own", "search.lambda": "0.5", "search.halfLifeDays": "1", "search.vectorWeight": "0"},
)
QUESTIONS = (
    *("what {0}s are there about the team?", "how many {0}s?", "the first {0}", "why the team {0}?"),
    *("when was the last {0} about the team?", "¿cuántos {0} hay del equipo?"),
)
PLAIN = ("what happened yesterday?", "who is on the team?", "which tasks are open?", "what did we say about the team?")


def combined(seed: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Queries of two to four filters, some given beside them; the same for the same seed."""
    dice = random.Random(seed)
    for _ in range(COMBINED):
        words = [dice.choice(FILTERED) for _ in range(dice.randrange(0, 4))]
        given = dice.choice(GIVEN) | dice.choice(GIVEN)
        yield " ".join(dice.sample([WORD, *words], len(words) + 1)), given


@pytest.fixture(scope="module", params=MEMORIES, ids=" ".join)
def young(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with begun(tmp_path_factory.mktemp("young") / "project", *request.param) as memory:
        yield memory


def test_every_filter_there_is_is_tried() -> None:
    assert set(VALUES) == set(FILTER_NAMES)
    asked = inspect.signature(Search.__call__).parameters
    assert set(ARGUMENTS) == set(asked) - {"self", "query", "meaning", "told", "typing"}


TEAM = "SELECT count(*) FROM corpus WHERE title || text || context LIKE '%team%'"


def passes(hit: Hit, query: str) -> bool:
    """Whether the filters of a query on what a hit itself says let it through. Several kinds are either, of several
    domains the last one counts, and what cannot be meant is left out."""
    said: dict[str, list[str]] = {}
    for name, _, value in (word.partition(":") for word in query.split()):
        if value != "nonsense":
            said.setdefault(name, []).extend(value.split(","))
    return (
        ("kind" not in said or hit.kind in said["kind"])
        and ("domain" not in said or getattr(hit.record, "domain", "") == said["domain"][-1])
        and set(said.get("tag", ())) <= set(getattr(hit.record, "tags", ()))
    )


def check(answer: SearchAnswer, query: str) -> None:
    """An answer is whole, and holds nothing that a filter of its query leaves out."""
    assert answer.total >= len(answer.hits) and answer.milliseconds > 0
    assert all(passes(hit, query) for hit in answer.hits), (query, answer.hits)


@pytest.mark.sampled(2)
def test_each_filter_alone(young: Memory) -> None:
    """What passes is found, by its word; nothing else is, and nothing breaks."""
    every = young.search(WORD, limit=100).hits
    sql = "SELECT count(*) FROM corpus WHERE title || text || context LIKE '%team%'"
    assert len(every) == young.database.value(sql)
    for one in FILTERED:
        for query in (f"{WORD} {one}", one):
            answer = young.search(query, limit=100)
            check(answer, query)
            if query != one and one.startswith(("kind:", "domain:", "tag:")):
                assert {hit.key for hit in answer.hits} == {hit.key for hit in every if passes(hit, one)}, query
    for given in GIVEN:
        check(young.search(WORD, **{"limit": 100, **given}), WORD)


def test_filters_together(young: Memory, request: pytest.FixtureRequest) -> None:
    for query, given in combined(request.node.name):
        check(young.search(query, **given), query)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: " ".join(map(str, setting.values())))
def test_filters_whatever_is_set(young: Memory, setting: dict[str, str], request: pytest.FixtureRequest) -> None:
    path = project_settings_path(young.location)
    assert path is not None
    for name, value in setting.items():
        write_setting(path, name, value)
    try:
        with Memory(young.location, "cli", Clock()) as memory:
            for query, given in combined(request.node.name):
                check(memory.search(query, **given), query)
    finally:
        for name in setting:
            remove_setting(path, name)


def test_filters_without_the_keyword_index(young: Memory, monkeypatch, request) -> None:
    monkeypatch.setenv("MEMORANDA_WITHOUT", "fts5")
    search = Search.from_config(young.database, young.config)
    for query, given in combined(request.node.name):
        check(search(query, **given), query)


@pytest.mark.sampled(2)
def test_the_librarian_answers_or_says_that_nothing_is_recorded(young: Memory) -> None:
    asked = [*PLAIN, *(QUESTIONS[number % len(QUESTIONS)].format(kind) for number, kind in enumerate(SEARCHABLE))]
    asked += [f"{WORD} {one}" for one in FILTERED[::9]]
    for question in asked:
        answer = Librarian(young).ask(question)
        assert answer.parts, question
        assert answer.nothing or answer.citations or answer.asked.kind == "statistics", question


def test_contexts_and_what_is_alike(young: Memory) -> None:
    for question in (*PLAIN, f"{WORD} kind:decision", "related:F#1", ""):
        assert young.context(question).text
    done = duplicates.propose_duplicates(young.database, young.facts, young.inbox, young.now)
    assert done.facts == len(young.facts.ids(young.now)) and done.left == 0


def test_no_vectors_among_none(young: Memory) -> None:
    """The lookup of the nearest itself, narrowed to nothing."""
    import numpy as np

    vectors = Vectors(young.database)
    model = vectors.serving
    if model is None:
        return
    asked = np.full(model.dimension, model.dimension**-0.5, np.float32)
    for among in (None, [], [16 * 999]):
        for kinds in (None, frozenset(), {0}, {15}):
            found = vectors.candidates(asked, 5, among, kinds)
            assert len(vectors.compare_exactly(asked, found, 5)) == len(found)
    assert vectors.nearest(asked, 5, []) == []
    assert vectors.compare_exactly(asked, np.empty(0, np.int64), 5) == []
    with pytest.raises(EmbeddingError):
        vectors.candidates(asked[:3], 5)
