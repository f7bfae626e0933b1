"""Fields of a template that nobody filled in are no memories, and neither are comments."""

from pathlib import Path

import pytest
from support.tables import each

from store.tools.source import FoundMemory, is_unfilled, parse_bullets
from store.tools.source_import import get_source

PERSON = Path(__file__).with_name("USER.md").read_text()


@pytest.mark.parametrize(
    "text", ["**Name:**", "**Name:** ", "Name:", "**名前：**", "**Pronouns:** _(optional)_", "**One:**\n- **Two:**"]
)
def test_a_label_alone_is_unfilled(text: str) -> None:
    assert is_unfilled(text)


SAYING = "**Name:** Zoë|Tea (green)|Ask first: always|**Notes:**\n- One|Run `make`|At 10:30|**Bold**|x"


@each("text", SAYING.split("|"))
def test_what_says_something_is_not(text: str) -> None:
    assert not is_unfilled(text)


def test_a_comment_in_a_bullet_hides_no_bullet() -> None:
    text = "- Tabs <!-- since 2024 -->\n- <!-- to fill -->\n<!--\n- old\n-->\n- End\n"
    assert [one.text for one in parse_bullets(text)] == ["Tabs <!-- since 2024 -->", "End"]


def test_a_comment_that_begins_in_a_bullet_is_a_part_of_it() -> None:
    text = (
        "- Two <!-- begins\n- within\n--> here\n  goes on\n- Three <!-- a --> <!--\n-->\n- Never <!-- closed\n- End\n"
    )
    found = [(one.text, one.line, one.last) for one in parse_bullets(text)]
    assert found == [
        ("Two <!-- begins\n- within\n--> here\n  goes on", 1, 4),
        ("Three <!-- a --> <!--\n-->", 5, 6),
        ("Never <!-- closed", 7, 7),
        ("End", 8, 8),
    ]


@pytest.mark.parametrize("tool", ["openclaw", "markdown", "obsidian"])
def test_no_field_of_a_template_is_read(tmp_path: Path, tool: str) -> None:
    (tmp_path / "USER.md").write_text(PERSON)
    found = [one.text for one in get_source(tool).read(str(tmp_path), []) if isinstance(one, FoundMemory)]
    assert found == ["**Name:** Zoë", "**Notes:**\n- Hates losing context"]


def test_a_fact_below_a_comment_keeps_its_line(tmp_path: Path) -> None:
    """A person who looks where it came from finds it there."""
    (tmp_path / "a.md").write_text("- one\n\n%% not\nfor you %%\n\n- [[Boat|Ship]] two ^b1\n")
    found = [
        (one.text, one.line) for one in get_source("obsidian").read(str(tmp_path), []) if isinstance(one, FoundMemory)
    ]
    assert found == [("one", 1), ("Ship two", 6)]
