"""What the keyword index keeps between searches is true at each of them."""

import pytest

from store.memory import Memory
from store.search import fulltext as fts
from store.search.fulltext import FullTextIndex
from store.search.query_parser import parse_query


def counted(memory: Memory, *words: str) -> list[int]:
    """Return the number of passages with each word, as a search counts them."""
    index = FullTextIndex(memory.database)
    terms = index.select_words(parse_query(f"{' '.join(words)} ", memory.now))
    return [index.passage_counts(terms)[word] for word in words]


def test_counts_follow_every_write(memory: Memory):
    memory.facts.remember("The falcon lands at noon.")
    assert counted(memory, "falcon", "heron") == [1, 0]
    memory.facts.remember("A heron and a falcon share the roof.")
    assert counted(memory, "falcon", "heron") == [2, 1]
    memory.facts.correct(1, "The heron lands at noon.")
    assert counted(memory, "falcon", "heron") == [2, 2]  # the corrected one still holds its words


def test_counts_follow_another_process_that_writes(memory: Memory):
    memory.facts.remember("The falcon lands at noon.")
    assert counted(memory, "falcon") == [1]
    with Memory.open(memory.database.path) as other:
        other.facts.remember("Another falcon came.")
    assert counted(memory, "falcon") == [2]


def test_counts_are_not_kept_while_the_connection_writes(memory: Memory):
    memory.facts.remember("The falcon lands at noon.")
    with memory.database.write("user", "test") as write:
        assert counted(memory, "heron") == [0]
        write.execute("UPDATE facts SET fact = 'The heron lands at noon.' WHERE id = 1")
        assert counted(memory, "heron") == [1]
    assert counted(memory, "heron") == [1]


def test_a_word_is_counted_once_for_many_searches(memory: Memory):
    memory.facts.remember("The falcon lands at noon.")
    asked: list[str] = []
    memory.database.connection.set_exec_trace(lambda _cursor, sql, _values: asked.append(sql) or True)
    for _ in range(3):
        counted(memory, "falcon")
    assert sum("corpus_words" in sql for sql in asked) == 1


@pytest.mark.parametrize("gone", ["forget", "correct"])
def test_a_record_no_longer_in_force_is_left_out_from_its_first_one_on(memory: Memory, gone: str):
    """The words of a status are not searched for while no record has one."""
    memory.facts.remember("The falcon lands at noon.")
    memory.facts.remember("The falcon nests in May.")
    assert memory.search("falcon").left_out == 0
    if gone == "forget":
        memory.facts.forget([1])
    else:
        memory.facts.correct(1, "Nothing lands at noon.")
    found = memory.search("falcon")
    assert [hit.citation for hit in found.hits] == ["F#2"]
    assert (found.total, found.left_out) == (1, 1)


@pytest.mark.parametrize("most", [3, 200])
def test_exact_records_are_the_same_whether_few_or_many(memory: Memory, monkeypatch: pytest.MonkeyPatch, most: int):
    """Few are taken without their bm25, of many the best are: both are exact, and all are counted."""
    monkeypatch.setattr(fts, "MAX_EXACT_PASSAGES", most)
    for number in range(6):
        memory.facts.remember(f"The falcon of tower {number} lands at noon.")
    memory.facts.remember("The falcon sleeps; noon is far.")
    found = memory.search("falcon lands noon", 20)
    assert found.exact == 6
    assert sum(hit.level == "exact" for hit in found.hits) == min(most, 6)
    assert found.total == 7


def test_marks_are_at_the_letters_of_any_script(memory: Memory):
    memory.facts.remember("¿Cuándo llegó el halcón? — el halcón llegó ayer")
    hit = memory.search("halcon").hits[0]
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["halcón", "halcón"]


def test_of_common_words_the_rarest_are_read(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many passages there are, a search reads a limited number of them, but one word at least."""
    for number in range(9):
        memory.facts.remember(f"queue {number}")
    for number in range(4):
        memory.facts.remember(f"worker {number}")
    monkeypatch.setattr(fts, "MAX_PASSAGES_READ", 13)
    assert memory.search("queue worker ").total == 13
    monkeypatch.setattr(fts, "MAX_PASSAGES_READ", 12)
    assert memory.search("queue worker ").total == 4
    monkeypatch.setattr(fts, "MAX_PASSAGES_READ", 3)
    assert (memory.search("queue worker ").total, memory.search("queue ").total) == (4, 9)


def test_of_more_exact_ones_than_are_read_the_best_are_exact(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(40):
        memory.facts.remember(f"queue worker {number} {'of the queue ' * (number % 3)}")
    before = memory.search("queue worker ")
    monkeypatch.setattr(fts, "MAX_READ_TO_COUNT", 10)
    after = memory.search("queue worker ")
    assert (after.exact, after.total) == (40, 40) == (before.exact, before.total)
    assert [hit.key for hit in after.hits] == [hit.key for hit in before.hits]
    assert {hit.level for hit in after.hits} == {"exact"}
