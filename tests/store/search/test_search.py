"""Search: everything can be found, by words as people type them, and nothing a person types can break it."""

import os
import re
import threading
import time
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import apsw
import pytest
from conftest import Clock, tried
from hypothesis import given
from hypothesis import strategies as st
from support.cases import load_cases
from support.filled import share_memory

from store.base.citations import Citation
from store.base.errors import Conflict, ForeignFile, InvalidInput, NotFound
from store.base.vocabulary import DOMAINS, SEARCHABLE
from store.conversations import summaries
from store.conversations.summaries import SummaryFields
from store.conversations.turns import NewTurn
from store.database.values import Verbatim
from store.memory import Memory
from store.search import fulltext
from store.search import results as snippets
from store.search.query_parser import QUERY_STATUSES, parse_query, query_hints, require_valid_query
from store.search.results import SearchAnswer
from store.text.words import load_stop_words

CASES = load_cases(__file__)
SHA = "a1b2c3d4e5f6071829304150617283940a1b2c3d"


# kind → how a text comes into the memory, and the column it then stands in
WRITERS: dict[str, tuple[Callable[[Memory, str], object], str]] = {
    "fact": (lambda memory, text: memory.facts.remember(text), "facts.fact"),
    "decision": (lambda memory, text: memory.decisions.decide(text, "yes"), "decisions.title"),
    "commit": (lambda memory, text: memory.commits.log(SHA, message=text), "commits.message"),
    "event": (lambda memory, text: memory.events.log("gate", payload={"note": text}), "events.payload"),
    "iteration": (lambda memory, text: memory.iterations.start_iteration("fix", text), "iterations.description"),
    "task": (lambda memory, text: memory.tasks.add_task(text), "tasks.text"),
    "checkpoint": (lambda memory, text: memory.checkpoints.take_checkpoint(text), "checkpoints.name"),
    "turn": (lambda memory, text: memory.turns.add_turns("s", [NewTurn("user", text)]), "turns.text"),
    "summary": (lambda memory, text: write_summary(memory, text), "summaries.topic"),
    "document": (lambda memory, text: write_document(memory, text), "chunks.text"),
}


@pytest.fixture(autouse=True)
def switched(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """By words alone."""
    monkeypatch.setenv("MEMORANDA_WITHOUT", f"model,{getattr(request, 'param', '')}")


# with the stored index, and with the one that takes its place where it is damaged
in_either_index = pytest.mark.parametrize("switched", ["", "fts5"], indirect=True)


def write_document(memory: Memory, text: str) -> None:
    """A text into a file of the project, and the file into the memory."""
    path = os.path.join(memory.location.project or "", "MEMORY.md")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    memory.documents.update_index()


def write_summary(memory: Memory, text: str) -> None:
    """A summary of turns that were purged since."""
    with memory.database.write("agent", "summarise") as write:
        summaries.insert_summary(write, "s", 1, 3, SummaryFields(text))


def cited(answer: SearchAnswer) -> list[str]:
    return [hit.citation for hit in answer.hits]


def found_by(memory: Memory, query: str) -> set[str]:
    return set(cited(memory.search(query)))


def marked(answer: SearchAnswer) -> list[str]:
    """The marked words of the first hit, as they stand in its snippet."""
    hit = answer.hits[0]
    return [hit.snippet[start:end] for start, end in hit.marks]


def fold(word: str) -> str:
    """A word without accents and capitals, by Unicode's own tables and not by SQLite's."""
    return "".join(c for c in unicodedata.normalize("NFD", word) if unicodedata.category(c) != "Mn").lower()


# what is found -------------------------------------------------------------------------------------------------------


@in_either_index
@pytest.mark.parametrize("kind", SEARCHABLE)
def test_every_kind_of_record_is_found(memory: Memory, kind: str) -> None:
    """A word written through any of the parts leads back to the record that holds it."""
    WRITERS[kind][0](memory, "the marmalade incident")
    (hit,) = memory.search("marmalade").hits
    assert hit.kind == kind
    assert hit.citation == hit.record.citation
    assert hit.snippet[slice(*hit.marks[0])] == "marmalade"


@in_either_index
def test_every_part_of_a_record_is_searched(memory: Memory) -> None:
    """Not only the title: reasons, alternatives, phases, bodies, authors, tags, domains."""
    reasons = {"context": "three", "alternatives": ["four"], "rationale": "five", "phase": "six", "impact": "low"}
    memory.decisions.decide("one", "two", **reasons)
    memory.commits.log(SHA, message="seven\n\neight", author="Begoña Nine")
    memory.events.log("ten", phase="eleven", payload=["twelve"])
    memory.facts.remember("thirteen", domain="preferences", tags=["fourteen"])
    for word in "one two three four five six seven eight nine ten eleven twelve thirteen fourteen preferences".split():
        assert memory.search(f"{word} ").total == 1, word


@in_either_index
def test_a_word_in_the_title_counts_more_than_in_the_body(memory: Memory) -> None:
    """The decision about Redis comes before the one that mentions it, whichever is newer."""
    for title, chosen in (("Redis", "cache"), ("cache", "Redis"), ("Redis", "cache")):
        memory.decisions.decide(title, chosen)
    answer = memory.search("redis ")
    assert cited(answer) == ["D#3", "D#1", "D#2"]
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True) and scores[0] > scores[2]


def test_any_of_the_words_will_do_and_more_of_them_are_better(memory: Memory) -> None:
    """Requiring every word of a question finds nothing: words are OR-ed, and who has both comes first."""
    memory.facts.remember("postgres holds the invoices")
    memory.facts.remember("sqlite holds the memory")
    memory.facts.remember("sqlite replaced postgres last year")
    memory.facts.remember("nothing of the kind")
    answer = memory.search("why sqlite and not postgres? ")
    assert cited(answer)[0] == "F#3"
    assert sorted(cited(answer)) == ["F#1", "F#2", "F#3"]


def test_a_question_of_stop_words_alone_is_still_answered(memory: Memory) -> None:
    """Words that say nothing are left out of a question, unless it has no others."""
    memory.facts.remember("to be or not to be")
    memory.facts.remember("the cache is warm")
    assert {"the", "is", "be", "cómo", "qué"} <= load_stop_words("search")
    assert cited(memory.search("the be cache ")) == ["F#2"]
    assert cited(memory.search("to be ")) == ["F#1"]


@pytest.mark.parametrize(
    "query", ["decisión", "decision", "DECISIÓN", "Decision ", "decisio\u0301n ", "¿decisión?", "decision's "]
)
@pytest.mark.parametrize("text", ["la decisión del café", "LA DECISIÓN DEL CAFÉ", "la decisio\u0301n del cafe\u0301"])
def test_accents_and_capitals_do_not_matter_in_spanish(memory: Memory, query: str, text: str) -> None:
    """With and without accents, composed or not, on both sides; and the mark covers the whole word."""
    memory.facts.remember(text)
    answer = memory.search(query)
    assert cited(answer) == ["F#1"]
    assert [fold(word) for word in marked(answer)] == ["decision"]


def test_a_word_is_marked_in_its_other_forms_and_what_is_left_out_is_not(memory: Memory) -> None:
    """Plurals and endings are one word (porter): "deploying" finds "deploys"."""
    memory.facts.remember("the robot deploys on Fridays")
    assert marked(memory.search("deploying friday ")) == ["deploys", "Fridays"]
    memory.facts.remember("La memoria de la máquina is the cache of the machine")
    assert marked(memory.search("the memoria de cache ")) == ["memoria", "cache"]


@in_either_index
def test_the_last_word_may_be_half_typed(memory: Memory) -> None:
    """While it is being typed it stands for all it can become; a space, or a word after it, finishes it."""
    memory.facts.remember("La memoria guarda memorias")
    memory.facts.remember("El gato duerme")
    answer = memory.search("mem", typing=True)
    assert cited(answer) == ["F#1"]
    assert marked(answer) == ["memoria", "memorias"]
    assert cited(memory.search("mem ", typing=True)) == []
    assert cited(memory.search("mem gat", typing=True)) == ["F#2"]


@pytest.mark.parametrize("query", ["0.31", "v0.31", "release 0.31", "0.31 release", "what is in v0.31?"])
@pytest.mark.parametrize("written", ["0.31", "v0.31"])
def test_a_version_is_exact_with_and_without_its_letter(memory: Memory, query: str, written: str) -> None:
    memory.facts.remember(f"The release {written} is out")
    memory.facts.remember("The release 0.3.1 is old, and 31 others too")
    levels = {hit.citation: hit.level for hit in memory.search(query).hits}
    assert levels["F#1"] == "exact" and levels.get("F#2") != "exact"


@pytest.mark.parametrize(("query", "found", "typed"), CASES["whole_words"])
def test_a_whole_word_is_no_beginning_and_what_is_typed_none_of_its_stem(
    memory: Memory, query: str, found: list[str], typed: list[str]
) -> None:
    """`cats` has the stem of `cat`, with which *catálogo* begins."""
    for text in ("El catálogo está en línea", "The warehouse is full", "La memoria es larga", "The catsup is cold"):
        memory.facts.remember(text)
    assert cited(memory.search(query)) == found
    assert cited(memory.search(query, typing=True)) == typed


@in_either_index
def test_very_common_words_do_not_drown_the_rare_one(memory: Memory) -> None:
    """In a large memory a word of nearly every record is left out, unless it is all there is."""
    rows = fulltext.COMMON_WORD_FLOOR + 100
    fill(memory, rows, "project")
    memory.facts.remember("the zeppelin project")
    assert cited(memory.search("project zeppelin ")) == [f"F#{rows + 1}"]
    assert memory.search("project ").total == rows + 1


def fill(memory: Memory, rows: int, word: str) -> None:
    """Many facts in one statement, straight into the table: the triggers feed the corpus as ever."""
    memory.database.connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)"
        " INSERT INTO facts(domain, fact, text_hash, confidence, source, scope, status, created_at,"
        " last_confirmed_at, origin) SELECT 'work', ?2 || ' number ' || i || ' ' || ?2, i, 'high', 'explicit',"
        " 'project', 'active', ?3, ?3, 'user' FROM n",
        (rows, word, memory.now),
    )


def test_the_answer_says_how_many_how_long_and_who(memory: Memory) -> None:
    """A limit cuts the hits and not the count; nothing asked is nothing found."""
    for number in range(30):
        memory.facts.remember(f"tea number {number}")
    answer = memory.search("tea")
    assert (len(answer.hits), answer.total, answer.signals) == (20, 30, ("keywords",))
    assert 0 < answer.milliseconds < 10_000
    assert len(memory.search("tea", limit=5).hits) == 5
    for nothing in ("", "   ", "?!", '"', "absent "):
        assert (memory.search(nothing).hits, memory.search(nothing).total) == ([], 0)


# filters -------------------------------------------------------------------------------------------------------------


def fill_shop(memory: Memory, clock: Clock) -> None:
    """A fortnight of one word in every kind, two facts by domain."""
    memory.facts.remember("the tea shop opens at nine", domain="work")
    memory.decisions.decide("tea", "green")
    memory.tasks.add_task("buy tea")
    clock.advance(days=7)
    memory.facts.remember("Ana drinks black tea", domain="personal")
    memory.commits.log(SHA, message="feat: tea")
    clock.advance(days=7)


shop = share_memory(fill_shop)


@pytest.mark.parametrize(("typed", "given_", "expected"), CASES["shop"])
def test_a_filter_holds_typed_or_given(shop: Memory, typed: str, given_: dict[str, object], expected: str) -> None:
    """Inside the query, in front or behind, or as an argument: the same records; alone, it lists them."""
    found = expected.split()
    for answer in (
        shop.search(f"{typed} tea"),
        shop.search(f"tea {typed}"),
        shop.search("tea", **given_),  # type: ignore[arg-type]
        shop.search(typed),
        shop.search("", **given_),  # type: ignore[arg-type]
    ):
        assert sorted(cited(answer)) == found
        assert answer.total == len(found)
        assert answer.notes == []


def test_filters_typed_and_given_hold_both(shop: Memory) -> None:
    """What the screen filters by is not undone by what is typed, nor the other way round."""
    assert cited(shop.search("tea kind:fact,task", kinds=["fact", "decision"], domain="work")) == ["F#1"]
    assert cited(shop.search("tea kind:fact", kinds=["decision"])) == []
    assert cited(shop.search("tea domain:work", domain="personal")) == []
    assert cited(shop.search("tea since:30d", since=shop.facts.get(2).created_at, kinds=["fact"])) == ["F#2"]
    assert cited(shop.search("tea before:8d", before="2100", kinds=["fact"])) == ["F#1"]


def test_since_counts_its_own_moment_and_before_does_not(shop: Memory) -> None:
    """A day is [midnight, next midnight): no record falls between two days or into both."""
    at = shop.facts.get(2).created_at
    assert cited(shop.search("tea", kinds=["fact"], since=at)) == ["F#2"]
    assert cited(shop.search("tea", kinds=["fact"], before=at)) == ["F#1"]


@in_either_index
def test_forgotten_and_superseded_are_found_only_when_asked_for(memory: Memory) -> None:
    """Out of the way, and not out of reach: `is:` brings each of them."""
    memory.facts.remember("green tea")
    memory.facts.remember("black tea")
    memory.facts.correct(2, "red tea")
    memory.facts.forget([1])
    memory.decisions.decide("tea", "white")
    memory.decisions.forget([1])
    memory.tasks.add_task("buy tea")
    assert sorted(cited(memory.search("tea"))) == ["A#1", "F#3"]
    assert sorted(cited(memory.search("tea is:active"))) == ["A#1", "F#3"]
    assert sorted(cited(memory.search("tea is:forgotten"))) == ["D#1", "F#1"]
    assert cited(memory.search("is:superseded tea")) == ["F#2"]
    assert cited(memory.search("is:replaced tea")) == ["F#2"]
    assert cited(memory.search("is:superseded tea", status="replaced")) == ["F#2"]
    memory.history.undo()  # the task
    memory.history.undo()  # the forgotten decision
    assert sorted(cited(memory.search("tea"))) == ["D#1", "F#3"]


def fill_shelf(memory: Memory, clock: Clock) -> None:
    """Facts about tea of every age, tag and author, one of each other kind, and one of all who write."""
    memory.facts.remember("stale tea", confidence="medium", tags=["Facturas", "café con leche"])
    clock.advance(days=60)
    memory.facts.remember("old tea", tags=["facturas", "dinero"], actor="agent")
    memory.facts.remember("allergic to tea", pinned=True, tags=["salud"])
    clock.advance(days=30)
    memory.facts.remember("perhaps tea", confidence="low", tags=["CAFÉ-con-leche"], actor="import:notes")
    clock.advance(days=31)
    memory.facts.remember("fresh tea", tags=["dinero"])
    memory.facts.remember("no tea", tags=["facturas"])
    memory.facts.forget([6])
    memory.decisions.decide("tea", "green", actor="mcp:claude")
    memory.commits.log(SHA, message="feat: tea", author="Lucía ÁLVAREZ <lucia@example.org>")
    memory.events.log("tea", actor="hook")
    memory.iterations.start_iteration("tea", actor="agent")
    memory.tasks.add_task("buy tea")
    memory.checkpoints.take_checkpoint("tea", actor="agent")


shelf = share_memory(fill_shelf)


@pytest.mark.parametrize(("typed", "given_", "expected"), CASES["shelf"])
def test_a_filter_looks_at_the_records_themselves(shelf: Memory, typed: str, given_: dict[str, object], expected: str):
    """Tags are whole and in any capitals, all of several hold; an author is a part of a name; ages are of today."""
    found = sorted(expected.split())
    for answer in (
        shelf.search(f"{typed} tea"),
        shelf.search(f"tea {typed} since:1y"),
        shelf.search(f"{typed} t", typing=True),
        shelf.search("tea", **given_),  # type: ignore[arg-type]
        shelf.search(typed),
        shelf.search("", **given_),  # type: ignore[arg-type]
    ):
        assert sorted(cited(answer)) == found
        assert answer.total == len(found)
        assert answer.notes == []


def test_filters_of_the_records_typed_and_given_hold_both(shelf: Memory) -> None:
    assert cited(shelf.search("tea tag:facturas", tag="dinero")) == ["F#2"]
    assert cited(shelf.search("tea author:agent", author="user")) == []
    assert cited(shelf.search("tea is:pinned", status="active")) == ["F#3"]
    assert cited(shelf.search("tea is:forgotten", status="active")) == []
    assert cited(shelf.search("tea is:forgotten", status="forgotten")) == ["F#6"]


def test_a_tag_given_or_taken_is_searched_at_once(memory: Memory) -> None:
    memory.facts.remember("tea")
    memory.tagging.add_tags([("fact", 1)], "breakfast")
    assert cited(memory.search("tag:breakfast")) == cited(memory.search("breakfast ")) == ["F#1"]
    memory.tagging.remove_tags([("fact", 1)], "breakfast")
    assert cited(memory.search("tag:breakfast")) == cited(memory.search("breakfast ")) == []


@pytest.mark.parametrize(("typed", "note"), CASES["misunderstood"])
def test_a_filter_that_cannot_be_meant_is_noted_and_left_out(shop: Memory, typed: str, note: str) -> None:
    """The person is typing: what is not a filter yet is said below the bar, and the words are answered."""
    answer = shop.search(f"tea {typed}")
    (said,) = answer.notes
    assert said.startswith(note)
    assert cited(answer) == cited(shop.search("tea "))
    assert answer.refused == 1 and shop.search(f"tea {typed} iteration:99").notes[0] == said
    with pytest.raises(InvalidInput, match=f"The filter {typed} is not understood.*{note}"):
        require_valid_query(shop.database, f"tea {typed}")


@pytest.mark.parametrize(
    ("typed", "written"),
    [("until:2026-11-01", "before:2026-11-01"), ("TILL:yesterday", "before:yesterday"), ("after:3w", "since:3w")],
)
def test_a_filter_of_another_name_is_refused_with_ours(shop: Memory, typed: str, written: str) -> None:
    answer = shop.search(f"tea {typed}")
    assert answer.notes == [f"{typed.partition(':')[0].lower()}: is no filter; write {written}"]
    assert (answer.refused, cited(answer)) == (1, cited(shop.search("tea ")))
    with pytest.raises(InvalidInput, match=f"There is no filter .*. Write {written}"):
        require_valid_query(shop.database, f"tea {typed}")
    require_valid_query(shop.database, "tea until:tired after:hover")  # words, as in a style sheet
    require_valid_query(shop.database, "tea kind:fact since:2d in:inbox linked:F#99 tag:new")


@pytest.mark.parametrize(("typed", "said"), CASES["hints"])
def test_a_dash_and_a_hash_are_said_to_be_words(typed: str, said: list[str]) -> None:
    assert query_hints(typed) == said


@pytest.mark.parametrize(
    "wrong",
    [
        {"kinds": ["banana"]},
        {"kinds": ["fact", ""]},
        {"domain": "tea"},
        {"domain": "work' OR 1"},
        {"status": "green"},
        {"status": "contradicted"},
    ],
)
def test_a_wrong_filter_given_by_a_program_is_refused(memory: Memory, wrong: dict[str, object]) -> None:
    """A caller's mistake is said to the caller, with the words there are."""
    with pytest.raises(InvalidInput, match=r"fact, decision|work, preferences|active, .*pinned, aging"):
        memory.search("tea", **wrong)  # type: ignore[arg-type]


def test_a_word_with_a_colon_is_a_word(memory: Memory) -> None:
    """Only our own filters are filters."""
    memory.facts.remember("see http://localhost:8080/tea")
    assert cited(memory.search("localhost:8080 ")) == ["F#1"]
    assert cited(memory.search("mankind:tea ")) == ["F#1"]


# citations -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("typed", ["{0:.7}", "{0:.12}", "{0}", " {0:.7} ", "{1:.8}", "kind:commit {0:.7}"])
def test_the_hash_of_a_commit_is_its_citation(memory: Memory, typed: str) -> None:
    """At least seven digits of it, as git prints them, in either case."""
    sha = "39304" + "8bc0ffee9" * 3 + "1a2b3c4d"
    memory.commits.log(sha, message="Widen the gate")
    memory.commits.log("5" * 40, message="Paint the gate")
    found = memory.search(typed.format(sha, sha.upper()))
    assert (found.verdict, found.hits[0].citation, found.hits[0].level) == ("exact", "C#393048b", "exact")


def test_a_filter_takes_the_hash_of_a_commit(memory: Memory) -> None:
    sha = "39304" + "8bc0ffee9" * 3 + "1a2b3c4d"
    number = memory.decisions.decide("Widen the gate", chosen="Steel")
    memory.commits.log(sha, message="Widen it")
    memory.commits.link(sha, number)
    for typed in (sha[:7], sha[:9].upper()):
        assert cited(memory.search(f"linked:{typed}")) == [f"D#{number}"]
        assert parse_query(f"related:{typed}", memory.now).related == Citation("commit", typed.lower())


@pytest.mark.parametrize("typed", ["393048", "1234567", "{0:.7}zz", "9393048b"])
def test_what_is_no_hash_of_a_commit_is_a_word(memory: Memory, typed: str) -> None:
    memory.commits.log("39304" + "8bc0ffee9" * 3 + "1a2b3c4d", message="Widen the gate")
    assert memory.search(typed).verdict == "nothing"


def test_a_citation_typed_as_the_query_comes_first(memory: Memory) -> None:
    """`F#2`, with or without brackets, even forgotten; what only mentions it comes after, once."""
    memory.facts.remember("see F#2 and C#a1b2c3d")
    memory.facts.remember("the one that is meant")
    memory.commits.log(SHA, message="feat: tea")
    for query in ("F#2", "f#2", " [F#2] "):
        answer = memory.search(query)
        assert cited(answer)[0] == "F#2"
        assert len(set(cited(answer))) == len(answer.hits) <= answer.total
        assert answer.hits[0].snippet == "the one that is meant"
    assert cited(memory.search("C#a1b2"))[0] == "C#a1b2c3d"
    memory.facts.forget([2])
    assert cited(memory.search("F#2"))[0] == "F#2"


@pytest.mark.parametrize("query", ["F#99", "G#1", "T#5", "C#beef", "notes.md#L3", "F#9223372036854775807"])
def test_a_citation_of_nothing_is_only_a_query(memory: Memory, query: str) -> None:
    """What cannot be opened is no error while one is searching."""
    memory.facts.remember("nothing of the kind")
    assert memory.search(query).hits == []


@pytest.mark.parametrize(
    "damage",
    [
        "INSERT INTO corpus_fts(corpus_fts) VALUES ('delete-all')",
        "DELETE FROM corpus_fts_data WHERE id > 10",
        "UPDATE corpus_fts_data SET block = zeroblob(40) WHERE id > 10",
    ],
)
def test_a_damaged_index_is_noticed_and_made_again(memory: Memory, damage: str) -> None:
    """The index is derived: whatever became of it, the records make it again, and it goes on being kept."""
    memory.facts.remember("one two")
    memory.facts.remember("three")
    assert fulltext.check_text_index(memory.database) == 2
    memory.database.connection.execute(damage)
    with pytest.raises(ForeignFile):
        fulltext.check_text_index(memory.database)
    assert fulltext.rebuild_text_index(memory.database) == fulltext.check_text_index(memory.database) == 2
    assert memory.search("two ").total == 1
    memory.facts.correct(1, "one four")
    assert (memory.search("two ").total, memory.search("four ").total) == (0, 1)
    assert fulltext.check_text_index(memory.database) == 3


# marks and snippets --------------------------------------------------------------------------------------------------

QUERY = "decisión caché memories "
MATCH = "decision Decisión DECISIÓN decisio\u0301n cache Caché caches memory memories Memories".split()
OTHER = "gato decisivo cacharro ímpetu 日本語 🐍 naïve ﬁn ñandú x 1984 İstanbul straße ﷺ".split()
sentences = st.lists(
    st.tuples(
        st.sampled_from([*MATCH, *OTHER, *OTHER]),
        st.sampled_from([" ", ", ", "… ", " 👩‍👩‍👧 ", "\n ", ") ", "—\u0301 "]),
    ),
    max_size=60,
)


@tried(50)
@given(sentences, st.integers(1, 40))
def test_marks_stand_exactly_on_the_words_that_match(memory: Memory, words: list[tuple[str, str]], times: int) -> None:
    """In any script, short or cut out of a long text: every matching word shown is marked, whole, and no other.

    The text is built word by word, so where the matches are is known without asking the tokenizer.
    """
    text, matches = "", set()
    for word, space in words * times:
        if word in MATCH:
            matches.add((len(text), len(text) + len(word)))
        text += word + space
    tokenizer = memory.database.connection.fts5_tokenizer(*fulltext.FTS_TOKENIZER)
    shown, marks = snippets.cut_snippet(text, snippets.WordMarker(tokenizer, QUERY.split(), None))
    core = shown.removeprefix("… ") if shown != text else shown
    start = len(shown) - len(core)
    if shown.endswith(" …") and shown != text:
        core = core.removesuffix(" …")
    assert len(core) <= snippets.SNIPPET_LENGTH
    places = [at.start() for at in re.finditer(re.escape(core), text)] if core else [0]
    assert places, "a snippet is a piece of its text"
    ends = [(at, at + len(core)) for at in places]
    expected = [{(a - at + start, b - at + start) for a, b in matches if at <= a and b <= end} for at, end in ends]
    assert set(marks) in expected
    assert marks == sorted(marks)
    if matches:
        assert marks, "a snippet shows a match if there is one"


def test_a_snippet_is_cut_around_the_match(memory: Memory) -> None:
    """From a long text, the part where the words stand closest, between words, with an ellipsis on each side."""
    padding = "nada que ver aquí. " * 200
    memory.facts.remember(f"{padding}tetera {padding}la tetera azul y la taza rota {padding}")
    answer = memory.search("tetera azul taza rota ")
    shown = answer.hits[0].snippet
    assert marked(answer) == ["tetera", "azul", "taza", "rota"]
    assert shown.startswith("… ") and shown.endswith(" …")
    assert set(shown.strip("… ").split()) == set("nada que ver aquí. la tetera azul y taza rota".split())
    assert 500 < len(shown) <= snippets.SNIPPET_LENGTH + 4


def test_a_text_of_nothing_but_matches_is_cut_in_a_moment(memory: Memory) -> None:
    """Ten thousand matches in one text: a few milliseconds, not ten thousand squared."""
    memory.facts.remember("a " * 9_999)
    started = time.process_time()
    assert len(marked(memory.search("a"))) >= 300
    assert time.process_time() - started < 1


# any text is a query -------------------------------------------------------------------------------------------------

SYNTAX = (
    '" "" * ^ + - ( ) { } [ ] : ; , AND OR NOT NEAR NEAR/2 NEAR( title: {title}: "tea tea* ^tea -tea tea" % _ \\ \''
    " F#1 [F#1] kind: kind:fact kind:,, is:forgotten is: since:1d since:" + "9" * 50 + "y before:0001-01-01 domain:work"
    " before:9999-12-31T23:59:59-23:59 tea té \x00 \ud800 \udfff \ufeff \u202e 👩‍👩‍👧 ﷽"
).split(" ")
anything = st.one_of(
    st.text(st.characters(exclude_categories=[]), max_size=80),
    st.lists(st.one_of(st.sampled_from(SYNTAX), st.text(max_size=3))).map(" ".join),
    st.lists(st.sampled_from(SYNTAX)).map("".join),
)


@tried(100)
@given(anything)
def test_any_text_is_answered(memory: Memory, query: str) -> None:
    """FTS5's own syntax, quotes, NUL, lone surrogates: a person may type it all, and gets an answer."""
    if not memory.database.value("SELECT count(*) FROM facts"):
        for write, _ in WRITERS.values():
            write(memory, "green tea, té verde, 1984 AND 2001")
    answer = memory.search(query)
    assert len(answer.hits) <= answer.total
    for hit in answer.hits:
        assert all(0 <= start < end <= len(hit.snippet) for start, end in hit.marks)


def test_syntax_is_looked_for_as_words(memory: Memory) -> None:
    """`NOT`, `NEAR` and `title:` are words of the question, never commands."""
    memory.facts.remember("tea near the window")
    memory.facts.remember("coffee")
    assert cited(memory.search('tea NOT "window ')) == ["F#1"]
    assert cited(memory.search("NEAR(coffee zebra) ")) == ["F#2", "F#1"]
    assert cited(memory.search("title:coffee ")) == ["F#2"]


def test_ten_thousand_words_are_answered_at_once(memory: Memory) -> None:
    """Somebody pastes a whole log into the bar."""
    memory.facts.remember("tea")
    started = time.process_time()
    assert cited(memory.search(" ".join(f"w{n}" for n in range(10_000)) + " tea")) == []
    assert cited(memory.search("tea " * 10_000)) == ["F#1"]
    assert time.process_time() - started < 2


def test_the_closed_lists_are_those_of_the_design() -> None:
    """What can be filtered by is what records hold."""
    assert set(WRITERS) == set(SEARCHABLE)
    assert set(QUERY_STATUSES) == {"active", "forgotten", "superseded"}
    assert len(DOMAINS) == 7


# the corpus ----------------------------------------------------------------------------------------------------------


def index_of(memory: Memory) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """Every row of the corpus and every word of the index."""
    rows = memory.database.rows("SELECT * FROM corpus ORDER BY id")
    return rows, memory.database.rows("SELECT * FROM corpus_words ORDER BY term")


@in_either_index
@pytest.mark.parametrize("kind", SEARCHABLE)
def test_the_corpus_follows_insert_update_and_delete(memory: Memory, kind: str) -> None:
    """Whatever happens to a row of any kind, search finds what it says now and nothing it said before."""
    write, place = WRITERS[kind]
    table, column = place.split(".")
    write(memory, "marmalade")
    assert memory.search("marmalade ").total == 1
    with memory.database.write("agent", "test") as change:
        change.execute(f"UPDATE {table} SET {column} = ?", (Verbatim('"porridge"'),))
    assert (memory.search("marmalade ").total, memory.search("porridge ").total) == (0, 1)
    fulltext.check_text_index(memory.database)
    after_update = index_of(memory)
    assert fulltext.rebuild_text_index(memory.database) == 1
    assert index_of(memory) == after_update
    with memory.database.write("agent", "test") as change:
        change.execute(f"DELETE FROM {table}")
    assert memory.search("porridge ").total == 0
    assert index_of(memory) == ([], [])
    fulltext.check_text_index(memory.database)


@tried(6)
@given(st.lists(st.integers(0, 10**6), max_size=25))
def test_a_rebuild_gives_what_was_there(memory: Memory, live, plan: list[int]) -> None:
    """After any life of acts and undos the corpus is what the records make it, word by word."""
    live(memory, plan)
    with suppress(NotFound, Conflict):  # nothing by hand to undo, or a later step in the way
        memory.history.undo()
    fulltext.check_text_index(memory.database)
    before = index_of(memory)
    assert fulltext.rebuild_text_index(memory.database) == len(before[0])
    assert index_of(memory) == before


def test_a_broken_corpus_is_mended_by_a_rebuild(memory: Memory) -> None:
    """The index is derived: whatever became of it, it is made again from the records."""
    for write, _ in WRITERS.values():
        write(memory, "marmalade")
    good = index_of(memory)
    with memory.database.write("agent", "test") as change:
        change.execute("UPDATE corpus SET title = 'rubbish', text = 'rubbish', context = '' WHERE kind <> 'task'")
        change.execute("DELETE FROM corpus WHERE kind = 'task'")
    assert memory.search("marmalade").total == 0
    assert fulltext.rebuild_text_index(memory.database) == len(WRITERS)
    assert index_of(memory) == good
    assert memory.search("marmalade").total == len(WRITERS)


# in nobody's way -----------------------------------------------------------------------------------------------------


@in_either_index
def test_a_search_is_stopped_from_another_thread_and_the_next_one_works(memory: Memory) -> None:
    """The person typed another letter: the search under way ends at once, and nothing is left behind by it."""
    fill(memory, 8_000, "tea")
    over = threading.Event()

    def keep_interrupting() -> None:
        while not over.wait(0.001):
            memory.database.interrupt()

    person = threading.Thread(target=keep_interrupting)
    person.start()
    try:
        with pytest.raises(apsw.InterruptError):
            for _ in range(100):
                memory.search("tea")
    finally:
        over.set()
        person.join()
    assert memory.search("tea").total == 8_000
    memory.facts.remember("and writing works too")


# states of work, links, and times in words


def test_what_is_done_in_a_time_ended_in_it(memory: Memory, clock: Clock) -> None:
    """Whenever it was begun."""
    for text in ("write the letter", "call the bank"):
        memory.tasks.add_task(text)
    memory.iterations.start_iteration("fix", "The letters")
    memory.tasks.move(2, "done")
    begun = memory.now[:10]
    clock.advance(days=30)
    memory.tasks.move(1, "done")
    memory.iterations.end_iteration(1)
    ended = memory.now[:10]

    found = partial(found_by, memory)
    assert found(f"is:done since:{ended}") == {"A#1", "I#1"} and found(f"is:done before:{ended}") == {"A#2"}
    assert found(f"kind:task is:any since:{begun} before:{ended}") == {"A#1", "A#2"}


def test_states_links_and_times_are_filters(memory: Memory) -> None:
    memory.iterations.start_iteration("feature", "Invoices")
    memory.tasks.add_task("write the letter")
    memory.tasks.add_task("call the bank")
    memory.tasks.move(2, "done")
    memory.decisions.decide("Use SQLite", "SQLite")
    memory.decisions.decide("Use Redis", "Redis 7")
    memory.decisions.decide("Use Valkey", "Valkey 8", supersedes=2)
    sha = "a1b2c3d" + "0" * 33
    memory.commits.log(sha, message="revert: no file", author="Ana")
    memory.commits.link(sha, 1, "reverts")

    found = partial(found_by, memory)
    assert found("is:open") == {"A#1", "I#1"} and found("kind:task is:done") == {"A#2"}
    assert found("is:reverted since:1d") == {"D#1"} and found("is:reverted before:1d") == set()
    assert found("is:reverted linked:D#1") == {"C#a1b2c3d"} and found("is:reverted linked:C#a1b2c3d") == {"D#1"}
    assert found("is:reverted linked:D#3 is:any") == found("is:reverted linked:I#1") - {"D#1"} == set()
    assert found("is:reverted") == {"D#1"} and found("kind:decision is:superseded") == {"D#2"}
    assert found("is:valid") == {"D#3"} and found("is:void") == {"D#1", "D#2"}
    assert found("kind:decision is:any") == {"D#1", "D#2", "D#3"} and found("kind:decision") == {"D#1", "D#3"}
    assert found("kind:commit linked:D#1") == {"C#a1b2c3d"} and found("linked:C#a1b2c3d") == {"D#1"}
    assert found("linked:I#1") >= {"A#1", "D#1"} and found("linked:D#3 is:any") == {"D#2"}
    assert found('kind:task since:"2 weeks ago"') == {"A#1", "A#2"} and not found('kind:task before:"2 weeks ago"')
    assert found("redis is:any") == {"D#2"} and found("redis") == set()
    assert found("kind:decision by:agents") == set()
    memory.decisions.decide("Cache pages", "a cache", actor="mcp:claude")
    assert found("kind:decision by:agents") == {"D#4"}
    assert found("kind:decision by:you") == found("kind:decision by:user") == {"D#1", "D#3"}
    assert found("kind:decision by:-you") == {"D#4"}
    assert memory.search("linked:nothing").notes and memory.search("is:undone").notes


@in_either_index
@pytest.mark.parametrize("asked", ["0.31", "v0.31", "released 0.31"])
def test_a_version_is_one_word(memory: Memory, asked: str):
    """Not numbers that stand anywhere: 0.31 is neither 0.3.1 nor 31 beside a 0."""
    memory.facts.remember("Version 0.3.1 was tagged.")
    memory.facts.remember("Of 31 tests 0 fail.")
    right, _ = memory.facts.remember("Version v0.31 is the one for Debian.")
    assert [hit.record.id for hit in memory.search(asked, meaning=False).hits] == [right]
