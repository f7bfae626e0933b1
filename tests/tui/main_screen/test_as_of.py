"""Looking back: the application as the memory stood at a moment, marked, read-only, and left by escape.

The story's checkpoint K#1 was taken a day and a half ago; a decision was superseded since, tasks were added.
"""

import pytest
from support.screen import HUGE, NARROW, WIDE, Person, opened
from support.stories import Story

from tui.input.key_table import KEYS
from tui.input.verb_table import list_verbs
from tui.main_screen.commands import PAST_VERBS

Size = tuple[int, int]
SIZES = pytest.mark.parametrize("size", [NARROW, WIDE, HUGE], ids=["80x24", "120x40", "200x60"])
WRITING = [key for key in KEYS if key.action_name and not key.looks]
REFUSED = "You are looking at 20 Nov 2026 00:00; esc comes back to now."


def everything(story: Story) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table that a person's act could reach."""
    tables = "facts decisions commit_links tasks iterations events checkpoints history queries accesses".split()
    with story.open() as memory:
        return {table: sorted(memory.database.rows(f"SELECT * FROM {table}"), key=repr) for table in tables}


async def look_back(person: Person, *keys: str, typed: str = "") -> None:
    """Press keys, the last of which asks for the moment; type one, or take what is offered."""
    await person.press(*keys)
    await person.until(lambda: person.at == "line")
    if typed:
        await person.paste(typed)
    await person.pilot.press("enter")
    await person.until(lambda: person.main.moment is not None)
    await person.settle()


async def to_checkpoint(person: Person) -> None:
    await look_back(person, "3", "at")


@SIZES
async def test_the_checkpoint_under_the_cursor_is_the_moment(size: Size, person: Person) -> None:
    """A band names it; facts, decisions and tasks stand as they stood; ages are counted to it; escape leads back to
    now."""
    now = [person.rows, person.lines[0].split()[-8:]]
    await person.press("3")
    await person.until(lambda: person.checkpoints)
    await to_checkpoint(person)
    assert person.sees("AS OF", "20 Nov 2026 00:00", "read-only", "@ another  D compare  esc now")
    assert size == NARROW or person.sees("K#1 “before refactor”")
    await person.press("5")
    assert not person.main.list_of("tasks").rows
    await person.press("2")
    assert any("Cache in Redis" in row for row in person.timeline)
    assert not any("Cache in memory" in row for row in person.timeline)
    await person.press("1")
    assert "Team of five" in "".join(person.rows) and person.rows != now[0]
    await person.press("escape")
    assert not person.sees("AS OF") and person.toasts[-1] == "Back to now."
    assert person.at == "facts", "where one reads"
    assert [person.rows, person.lines[0].split()[-8:]] == now


async def test_a_record_is_shown_as_it_said_then(story: Story) -> None:
    """Text, status, age, chain and history of that moment, in the preview and in what its citations lead to."""
    with story.open() as memory:
        memory.facts.correct(story.facts["five"], "Team of six")
    async with opened(story.folder) as person:
        await to_checkpoint(person)
        await person.press("1")
        await person.put_cursor(story.facts["five"])
        said = "\n".join(person.preview)
        assert "Team of five" in said and "Team of six" not in said and "◐ aging" in said and "(69 d" in said
        await person.command("show D#2")
        assert person.record is not None and person.record.status == "active"  # type: ignore[union-attr]
        await person.command("show D#3")
        assert "There is no decision D#3" in person.toasts[-1]


async def test_a_step_and_an_entry_of_the_timeline_are_moments_too(person: Person) -> None:
    """The key asks, and offers what the cursor is on; anything else can be typed; `now` comes back."""
    assert person.sees("@ as of"), "also where facts are"
    await person.press("4")
    await person.put_cursor(3, "history")
    await person.press("at")
    assert person.sees("as of (a day, 3w, K#3, a step) 3", "typing replaces it")
    await person.press("escape")
    await look_back(person, "at")
    assert person.sees("AS OF step 3") and len(person.history) == 3
    await look_back(person, "at", typed="D#1")
    await person.press("2")
    assert person.sees("AS OF D#1") and any("Use SQLite" in row for row in person.timeline)
    await person.press("4")
    await person.command("as-of 2026-10-01")
    assert person.sees("AS OF 1 Oct 2026 00:00") and person.at != "line"
    await person.command("as-of whenever")
    assert "not a time" in person.toasts[-1] and person.sees("AS OF 1 Oct 2026 00:00")
    for typed, at in (
        ("yesterday 18:00", "20 Nov 2026 18:00"),
        ("last monday", "16 Nov 2026 00:00"),
        ("ayer a las 6 de la tarde", "20 Nov 2026 18:00"),
        ("yesterday facts", "20 Nov 2026 00:00"),
    ):
        await person.command(f"as-of {typed}")
        await person.until(lambda at=at: person.sees("AS OF", at))
    await person.command("as-of now")
    assert not person.sees("AS OF") and person.at == "history"
    assert person.main.list_of("history").cursor_key == 3


async def test_where_one_was_is_found_again(story: Story) -> None:
    """Filters, order and cursor, also on what was not there then; what was filtered in the past is not kept, and the
    pane that is read stays."""
    with story.open() as memory:
        new, _ = memory.facts.remember("Uses GitHub for the nightly build", domain="work")
    async with opened(story.folder) as person:
        await person.press("s", "o", "w")
        await person.put_cursor(new)
        await look_back(person, "at", typed="2d")
        await person.press("s", "H", "2")
        await person.press("escape")
        assert person.at == "timeline" and person.main.current == "timeline"
        await person.press("1")
        assert (person.main.view.sort, person.main.view.hidden) == ("oldest", False)
        assert person.main.view.domain == "work" and person.main.list_of("facts").cursor_key == new


@pytest.mark.sampled(3)
@pytest.mark.parametrize("pane", ["1", "2", "3", "4", "5"])
async def test_every_writing_key_is_refused(story: Story, pane: str) -> None:
    """Each says which moment is looked at and how one comes back; no question is asked, no byte is written."""
    before = everything(story)
    async with opened(story.folder) as person:
        await to_checkpoint(person)
        await person.press(pane)
        for key in WRITING:
            person.app.clear_notifications()
            await person.press(key.keys.split(",")[0])
            assert person.toasts == [REFUSED], key.id
            assert not person.planning and person.at != "line", key.id
    assert everything(story) == before


@pytest.mark.sampled(4)
@pytest.mark.parametrize("quarter", range(4))
async def test_every_writing_verb_is_refused(story: Story, quarter: int) -> None:
    """In the `:` bar too, in whatever form; verbs that only read are not."""
    before = everything(story)
    lines = [verb.name for verb in list_verbs() if verb.name not in PAST_VERBS]
    assert {"remember", "forget", "undo", "restore", "export", "checkpoint"} <= set(lines)
    async with opened(story.folder) as person:
        await to_checkpoint(person)
        more = ("/memory add x", "undo 3", "restore K#1", "undo --all-by agent", "restore 1 --yes")
        for line in (*lines[quarter::4], *more):
            person.app.clear_notifications()
            await person.command(line)
            assert person.toasts == [REFUSED], line
            assert not person.planning, line
        await person.command("stats")
        assert any(line.split()[:2] == ["decisions", "2"] for line in person.preview)
        await person.command("facts --status superseded")
        assert "Team of four" in "\n".join(person.preview)
    assert everything(story) == before


async def test_the_pen_itself_cannot_change_the_past(person: Person) -> None:
    """Behind the keys stands the door: whatever reaches the writer meets a memory that refuses."""
    await to_checkpoint(person)
    errors: list[str] = []
    assert person.main.engine is not None
    person.main.engine.write(lambda memory: memory.facts.remember("x"), lambda _, error: errors.append(str(error)))
    await person.settle()
    assert errors[0].startswith("You are looking at K#1 “before refactor”")


async def test_search_in_the_past(story: Story) -> None:
    """It finds what was there then, says that words alone were looked for, and keeps no query."""
    before = everything(story)["queries"]
    async with opened(story.folder) as person:
        await person.search("cache")
        assert any("Cache in memory" in row for row in person.hits)
        await person.press("escape")
        await to_checkpoint(person)
        await person.search("cache")
        assert any("Cache" in row and "Redis" in row for row in person.hits)
        assert not any("memory" in row for row in person.hits)
        assert person.sees("in the past: by words alone, not in documents")
        await person.press("enter")
        assert person.at == "hits" and person.record is not None
        await person.press("escape")
        assert person.sees("AS OF") and not person.main.has_class("-searching")
    assert everything(story)["queries"] == before


@SIZES
async def test_files_are_shown_as_they_are_now_and_it_says_so(story: Story, size: Size) -> None:
    """What a document said then is nowhere kept: the search leaves it out, a citation of it opens what it says now."""
    (story.folder / "MEMORY.md").write_text("# Notes\n\nThe cache is a dict by now\n")
    async with opened(story.folder, size) as person:
        await person.until(lambda: person.main.engine and person.main.engine.screen.documents.count_documents())
        await person.command("show MEMORY.md#L3")
        await person.until(lambda: "a dict by now" in "\n".join(person.preview))
        assert "as they are now" not in "\n".join(person.preview)
        await to_checkpoint(person)
        await person.search("dict")
        await person.until(lambda: person.sees("in the past: by words alone, not in documents"))
        assert not person.hits
        await person.press("escape")
        await person.command("show MEMORY.md#L3")
        await person.until(lambda: "a dict by now" in "\n".join(person.preview))
        assert "Files are shown as they are now: what they said then is not kept." in " ".join(person.preview)


async def test_the_past_is_compared_with_now_and_with_another_moment(person: Person) -> None:
    """`D` from the band: record by record, nothing to apply, and back to the past."""
    await to_checkpoint(person)
    await person.press("D")
    await person.plan_of("enter")
    assert person.sees("CHANGED since K#1 “before refactor”", "11 records")
    assert not person.sees("[x]")
    await person.press("escape")
    await person.press("D")
    await person.paste("11h")
    await person.plan_of("enter")
    assert person.sees("CHANGED from K#1 “before refactor”", "to 21 Nov 2026 01:00")
    assert [row[1:6] for row in person.plan] == ["+ D#5", "+ D#4", "~ D#2", "+ D#3"]
    await person.press("escape")
    assert person.sees("AS OF")


async def test_two_moments_are_compared_from_the_bar(person: Person) -> None:
    await person.pilot.press("colon")
    await person.paste("diff 4d 1d")
    await person.plan_of("enter")
    assert person.sees("CHANGED from 17 Nov 2026 12:00 to 20 Nov 2026 12:00", "+ D#1", "+ D#2")
    assert not person.sees("D#3")


async def test_what_others_write_does_not_disturb(story: Story, person: Person) -> None:
    """It is not there while one looks back, and it is there afterwards."""
    await to_checkpoint(person)
    await person.press("1")
    then = person.rows
    with story.open() as memory:
        memory.facts.remember("A fact of now")
    person.main.poll()
    await person.settle()
    assert person.rows == then
    await person.press("escape")
    await person.press("1")
    await person.until(lambda: any("A fact of now" in row for row in person.rows))
