"""Citations: what is shown anywhere can be typed back, and nothing else is taken for one."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tables import each

from store.base.citations import (
    MAX_RECORD_ID,
    Citation,
    cite,
    find_citations,
    parse_citation,
    parse_typed_citation,
    remove_citations,
)
from store.base.errors import InvalidInput

NUMBERED = {
    "fact": "F", "global": "G", "decision": "D", "iteration": "I", "event": "E",
    "summary": "S", "turn": "T", "checkpoint": "K", "task": "A", "proposal": "P",
}  # fmt: skip

records = st.tuples(st.sampled_from(sorted(NUMBERED)), st.integers(1, MAX_RECORD_ID)).map(lambda of: Citation(*of))
commits = st.text("0123456789abcdef", min_size=4, max_size=39).map(lambda sha: Citation("commit", sha))
paths = st.text(st.characters(exclude_categories=["Z", "C"], exclude_characters="[]()<>\"'`#:"), min_size=1)
documents = st.builds(
    lambda path, first, more: Citation("document", path, first, first + more),
    paths,
    st.integers(1, 99_999_999),
    st.integers(0, 1_000),
)
citations = st.one_of(records, commits, documents)


@given(citations)
def test_what_is_shown_can_be_typed_back(citation: Citation) -> None:
    """parse(format(x)) == x for every kind of record and for documents, with brackets, without, and padded."""
    for text in (str(citation), f"[{citation}]", f"  [{citation}]\n"):
        assert parse_citation(text) == citation
        assert hash(parse_citation(text)) == hash(citation)


@given(st.one_of(records, commits), st.data())
def test_letters_may_be_typed_in_any_case(citation: Citation, data: st.DataObject) -> None:
    """`f#12` is F#12, and a sha in capitals is the same sha."""
    text = str(citation)
    assert parse_citation(text.lower()) == parse_citation(text.upper()) == citation


@given(citations, st.sampled_from(["Lo dice [{}].", "see {}, please", "({})", "ver\n{}\n", "«[{}]», y nada más"]))
def test_a_citation_is_found_inside_prose(citation: Citation, prose: str) -> None:
    """`find` gives where the bare citation stands, so that it can be made a link."""
    text = prose.format(citation)
    assert [(text[start:end], found) for start, end, found in find_citations(text)] == [(str(citation), citation)]


@each("kind, letter", NUMBERED.items())
def test_every_kind_has_the_letter_of_the_design(kind: str, letter: str) -> None:
    """The table of citations, letter by letter."""
    assert cite(kind, 12) == f"{letter}#12"
    assert parse_citation(f"[{letter}#12]") == Citation(kind, 12)


def test_a_commit_is_cited_by_seven_digits_and_found_by_four_or_more() -> None:
    """A whole sha is cut when shown, a shorter one is not; any prefix from four digits on is read."""
    sha = "a1b2c3d4e5f6071829304150617283940a1b2c3d"
    assert cite("commit", sha) == "C#a1b2c3d"
    assert cite("commit", sha[:12]) == "C#a1b2c3d4e5f6"
    assert parse_citation("C#a1b2") == Citation("commit", "a1b2")
    assert parse_citation(f"c#{sha.upper()}") == Citation("commit", sha)


@pytest.mark.parametrize("text", ["a1b2c3d", " A1B2C3D4E5 ", "a1b2c3d4e5f6071829304150617283940a1b2c3d"])
def test_a_hash_alone_names_a_commit_where_somebody_types_it(text: str) -> None:
    assert parse_typed_citation(text) == parse_typed_citation(text, "fact") == Citation("commit", text.strip().lower())
    with pytest.raises(InvalidInput, match="is not a citation"):
        parse_citation(text)


@pytest.mark.parametrize("text", ["a1b2c3", "a1b2c3g", "[a1b2c3d]", "a" * 65])
def test_what_is_no_hash_names_no_commit(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not a citation"):
        parse_typed_citation(text)


def test_a_bare_number_is_of_the_kind_the_command_is_about_or_a_hash() -> None:
    """`forget 12` means F#12, and a full citation still wins over the default; nowhere else is 12 a citation."""
    assert parse_typed_citation("12345678", "fact") == Citation("fact", 12_345_678)
    assert parse_typed_citation("12345678") == Citation("commit", "12345678")
    assert parse_citation("12", "fact") == Citation("fact", 12)
    assert parse_citation(str(MAX_RECORD_ID), "fact") == Citation("fact", MAX_RECORD_ID)
    assert parse_citation("D#3", "fact") == Citation("decision", 3)
    with pytest.raises(InvalidInput):
        parse_citation("12")


def test_a_document_is_cited_by_its_lines() -> None:
    """One line or a range; the second L may be left out when typing."""
    assert parse_citation("memory/2026-11-01.md#L10-L22") == Citation("document", "memory/2026-11-01.md", 10, 22)
    assert parse_citation("[MEMORY.md#L3-7]") == Citation("document", "MEMORY.md", 3, 7)
    assert str(parse_citation("MEMORY.md#L5")) == str(parse_citation("MEMORY.md#L5-L5")) == "MEMORY.md#L5"


@each(
    "text",
    [
        "", "F", "F#", "#12", "F12", "F #12", "F# 12", "F#-1", "F#1.5", "F#0", "F#012", "F#１２", "F#12x", "FF#12",
        "X#1", "Z#9", "B#7", "[F#1", "F#1]", "[[F#1]]", "(F#1)", "[F#1] [F#2]",
        "F#9223372036854775808", "F#" + "9" * 19, "F#" + "9" * 5_000, "C#", "C#abc", "C#ghijklm", "C#" + "a" * 65,
        "notes.md#L", "notes.md#L0", "notes.md#L22-L10", "notes.md#10", "#L10", "notes.md#L1-L", "two words.md#L1",
        "https://example.org/notes.md#L10-L22",
    ],
)  # fmt: skip
def test_what_is_no_citation_is_refused_with_an_example(text: str) -> None:
    """Unknown letters, zero, huge numbers, half brackets, ranges backwards: refused, and told how one is written."""
    with pytest.raises(InvalidInput, match="F#12"):
        parse_citation(text)


@each("text", ["0", "-1", "٣", "²", "1.0", "9223372036854775808", "0" * 19 + "1" + "9" * 30, "9" * 5_000])
def test_a_bare_number_must_be_an_id_that_can_exist(text: str) -> None:
    """No number reaches SQLite that it could not hold."""
    with pytest.raises(InvalidInput):
        parse_citation(text, "fact")


@each(
    "text",
    [
        "https://github.com/o/r/blob/main/store/records/facts.py#L10-L20",
        "(https://example.org/?q=F#12&x=D#3)",
        "https://example.org/?q=[F#12]&x=[D#3] and https://x=[F#1]",
        "http://example.org/#E#42",
        "docs/F#12/readme and src/D#3",
        "the colour is #F#1",
        "xF#12 F#12x F#1#2 F#0 D#",
        "Issue #12, PR#12 and line L10",
        "notes.md#L22-L10 #L3",
    ],
)
def test_urls_and_paths_are_not_mistaken_for_citations(text: str) -> None:
    """A link that opened the wrong record, or a web page as if it were a file, would be an invention."""
    assert list(find_citations(text)) == []


def test_every_citation_of_a_sentence_is_found_in_order() -> None:
    """Several in one sentence, beside a URL, each with its own span."""
    text = "Por [D#12] (https://example.org/a.md#L1) y [C#A1B2C3D]: ver store/records/facts.py#L10-L22; F#3."
    found = [str(found) for _, _, found in find_citations(text)]
    assert found == ["D#12", "C#a1b2c3d", "store/records/facts.py#L10-L22", "F#3"]


def test_a_long_run_without_spaces_is_read_in_a_moment() -> None:
    """A rule of 100,000 dashes in a document costs milliseconds, not the quarter of an hour of a naive pattern."""
    started = time.process_time()
    assert [list(find_citations(text)) for text in ("-" * 100_000, "é" * 100_000, "a:" * 50_000)] == [[], [], []]
    assert time.process_time() - started < 2


@each(
    "text, bare",
    [
        ("The team is five [F#12].", "The team is five."),
        ("From May [C#a1b2c3d] to June [D#3].", "From May to June."),
        ("Two say so [F#1], [F#2], and one not.", "Two say so, and one not."),
        ("It stands there [docs/a.md#L10-L22].", "It stands there."),
        ("[D#3] was replaced.", " was replaced."),
        ("A list [1, 2] and a [link](x) stay, as does F#12.", "A list [1, 2] and a [link](x) stay, as does F#12."),
        ("[F#1 or not]", "[F#1 or not]"),
        ("See https://x.org/?q=[F#1] and https://x.org[F#2].", "See https://x.org/?q=[F#1] and https://x.org."),
        ("", ""),
    ],
)
def test_a_text_without_its_citations(text: str, bare: str) -> None:
    assert remove_citations(text) == bare


@given(st.text("ab[]F#12, .", max_size=40))
def test_what_is_left_without_citations_cites_nothing_in_brackets(text: str) -> None:
    left = remove_citations(text)
    cited = [(left[max(0, start - 1) : start], left[end : end + 1]) for start, end, _ in find_citations(left)]
    assert ("[", "]") not in cited
