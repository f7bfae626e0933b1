"""The lines of a section: whatever a fact says, its item is read back as the same words of the same fact."""

import pytest
from conftest import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

from store.documents.sections import blank_section, parse_section_file
from store.sync.merge import SectionLine, format_section, format_section_item, normalize_line, parse_section

MARKDOWN = st.lists(
    st.sampled_from(
        [
            *(
                "- a",
                "* b",
                "1. c",
                "# heading",
                "## Work",
                "```",
                "~~~",
                "| x | y |",
                "> quoted",
                "---",
                "===",
                "",
                " ",
            ),
            *("[F#3]", "words [F#12]", "<!-- memoranda 0123abcd 7: x -->", "<!-- memoranda 0123abcd end -->", "<b>"),
            *("<<<<<<< HEAD", "=======", ">>>>>>> main", "    code()", "\ttab", "té \u202e", "\x1b[31m", "- [ ] task"),
        ]
    )
    | st.text(max_size=20),
    min_size=1,
    max_size=8,
).map("\n".join)


@settings(max_examples=examples(100))
@given(st.lists(st.tuples(st.sampled_from(["work", "general", "preferences"]), MARKDOWN), max_size=6))
@example([("work", "```\nmake\n```"), ("work", "# not a heading"), ("general", "ends [F#3]")])
@example([("work", "one\n\n\ntwo"), ("work", "<!-- memoranda 0123abcd end -->")])
def test_what_is_written_is_read(facts: list[tuple[str, str]]) -> None:
    facts = [(domain, text) for domain, text in facts if normalize_line(text)]
    lines = format_section([(domain, text, number) for number, (domain, text) in enumerate(facts, 1)])
    found = parse_section(lines, 1)
    wanted = [(number, domain, normalize_line(text)) for number, (domain, text) in enumerate(facts, 1)]
    assert sorted((item.fact or 0, item.domain, item.shape) for item in found.items) == wanted
    assert found.others == []


@settings(max_examples=examples(67))
@given(MARKDOWN, MARKDOWN, st.lists(MARKDOWN, max_size=3), st.sampled_from(["\n", "\r\n"]))
def test_the_rest_of_a_file_stays_to_the_byte(before: str, after: str, facts: list[str], newline: str) -> None:
    for own in (before, after):
        if "<!-- memoranda 0123abcd" in own or "<<<<<<<" in own or "\0" in own or "\r" in own:
            return
    before, after = before.replace("\n", newline) + newline, after.replace("\n", newline)
    lines = format_section([("work", text, number) for number, text in enumerate(facts, 1) if normalize_line(text)])
    file = parse_section_file((before + after).encode("utf-8", "replace"), "0123abcd")
    first = file._replace(before=before, after=after).with_section("0123abcd", 1, lines)
    again = parse_section_file(first.encode("utf-8", "replace"), "0123abcd")
    assert (again.version, list(again.lines)) == (1, lines) and again.after == after
    assert again.before.startswith(before) and not again.before[len(before) :].strip()
    assert again.to_bytes("0123abcd") == first.encode("utf-8", "replace")
    bare = blank_section(first, "0123abcd")
    assert bare.count("\n") == first.count("\n") and bare.startswith(before) and bare.endswith(after)


@pytest.mark.parametrize(
    ("lines", "items", "others"),
    [
        (["- one", "two"], ["one\ntwo"], []),  # Markdown's lazy continuation
        (["one", "", "two"], ["one", "two"], []),
        (["- one", "  - under it", "- two"], ["one\n- under it", "two"], []),
        (["- one [F#3]", "", "  more"], ["one\n\nmore"], []),
        (["-", "- ", "*"], [], []),
        (["---", "- one"], ["one"], ["", "---"]),
        (["```", "- never closed"], ["never closed"], ["", "```"]),
        (["## Ours", "", "## Work", "- one"], ["one"], ["## Ours"]),
        (["> quoted", "> more", "- one"], ["one"], ["", "> quoted", "> more"]),
        (["- [x] done"], ["[x] done"], []),
    ],
)
def test_what_people_write(lines: list[str], items: list[str], others: list[str]) -> None:
    found = parse_section(lines, 1)
    assert [item.text for item in found.items] == items and found.others == others


def test_where_an_item_stands_and_what_it_cites() -> None:
    lines = ["## Work", "", "- one [F#3]", "", "## Night shift", "- two", "- wrapped", "  here [F#12]"]
    found = parse_section(lines, 10)
    assert found.items == [
        SectionLine("one", 3, "work", "", 12),
        SectionLine("two", None, "", "Night shift", 15),
        SectionLine("wrapped\nhere", 12, "", "Night shift", 16),
    ]
    assert found.items[0].full_text == "one [F#3]"


def test_the_citation_is_not_put_behind_a_block_of_code() -> None:
    assert format_section_item("run\n```\nmake\n```", 3) == ["- run [F#3]", "  ```", "  make", "  ```"]
    assert format_section_item("one\ntwo", 3) == ["- one", "  two [F#3]"]
