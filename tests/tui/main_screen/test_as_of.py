"""Looking back: the application as the memory stood at a moment, marked, read-only, and left by escape.

The story's checkpoint K#1 was taken a day and a half ago; a decision was superseded since, tasks were added."""

from support.screen import NARROW, SIZES, Person, opened
from support.stories import Story

from store.base.vocabulary import pack_key
from tui.input.key_table import KEYS, PANE_KEYS
from tui.input.verb_table import list_verbs
from tui.main_screen.acting import PAST_VERBS
from tui.panes.records import step_key

Size = tuple[int, int]
WRITING = [key for key in KEYS if key.action.startswith("start(") and not key.looks]
REFUSED = "You are looking at K#1 “before refactor” (20 Nov 2026 00:00); esc comes back to now."


def everything(story: Story) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table that a person's act could reach."""
    tables = "facts decisions commit_links tasks iterations events checkpoints history queries accesses".split()
    with story.open() as memory:
        return {table: sorted(memory.database.rows(f"SELECT * FROM {table}"), key=repr) for table in tables}


async def look_back(person: Person, typed: str = "") -> None:
    """Press the key, and type a moment or take the one that is offered."""
    await person.press("at")
    await person.until(lambda: person.at == "moment")
    if typed:
        await person.paste(typed)
    await person.press("enter")
    await person.until(lambda: person.main.moment is not None)
    await person.settle()


async def to_checkpoint(person: Person) -> None:
    await person.press("5")
    await person.put_cursor(pack_key("checkpoint", 1))
    await look_back(person)


@SIZES
async def test_the_checkpoint_under_the_cursor_is_the_moment(story: Story, size: Size) -> None:
    """A band names it; facts, decisions and tasks stand as they stood, also in the preview and in what its citations
    lead to; ages are counted to it; escape leads to now, and what others wrote meanwhile is there."""
    with story.open() as memory:
        memory.facts.correct(story.facts["five"], "Team of six")
    async with opened(story.folder, size) as person:
        now = person.rows
        await to_checkpoint(person)
        await person.follow(("", "AS OF", "20 Nov 2026 00:00", "read-only", "@ compare  esc now"))
        await person.follow(("3", "Cache in Redis", "!Cache in memory"))
        await person.follow(("2", "Team of five", "!Tasks", lambda: person.rows != now))
        then = person.rows
        await person.put_cursor(pack_key("fact", story.facts["five"]))
        said = "\n".join(person.preview)
        assert "Team of five" in said and "Team of six" not in said and "◐ aging" in said and "(69 d" in said
        with story.open() as memory:
            memory.facts.remember("A fact of now")
        person.main.polling.poll()
        await person.follow(
            (":show D#2", lambda: person.record.status == "active"),
            (
                ":show D#3",
                "There is no decision D#3",
                lambda: [row[1:] for row in person.rows] == [r[1:] for r in then],
            ),
            ("escape escape", "!AS OF", "Back to now.", lambda: (person.place, person.at) == ("facts", "list")),
            ("G", "A fact of now", lambda: person.sees("Team of six") or size == NARROW),
        )


async def test_steps_entries_and_what_is_typed_are_moments_too(person: Person) -> None:
    """The key offers what the cursor is on; anything else can be typed; `now` comes back."""
    await person.press("5")
    await person.put_cursor(step_key(3))
    await look_back(person)
    await person.follow(
        ("", "AS OF step 3", lambda: len(person.rows) == 3),
        (":as-of D#1", "AS OF D#1"),
        (":as-of 2026-10-01", "AS OF 1 Oct 2026 00:00"),
        (":as-of yesterday 18:00", "AS OF 20 Nov 2026 18:00"),
        (":as-of last monday", "AS OF 16 Nov 2026 00:00"),
        (":as-of ayer a las 6 de la tarde", "AS OF 20 Nov 2026 18:00"),
        (":as-of yesterday facts", "AS OF 20 Nov 2026 00:00"),
        (":as-of whenever", "not a time", "AS OF 20 Nov 2026 00:00"),
        (":as-of now", "!AS OF", lambda: person.record_list.cursor_key == step_key(3)),
    )


async def test_where_one_was_is_found_again(story: Story) -> None:
    """Filters, order and cursor, also on what was not there then; what was filtered in the past is not kept."""
    with story.open() as memory:
        new, _ = memory.facts.remember("Uses GitHub for the nightly build", domain="work")
    async with opened(story.folder) as person:
        await person.follow(("o > oldest first",), ("o > work domain",))
        view = person.main.place.view
        await person.put_cursor(pack_key("fact", new))
        await look_back(person, "2d")
        await person.follow(("2 3 escape", "!AS OF", lambda: person.place == "timeline"), ("2",))
        assert person.main.place.view == view and view.get("domain") == "work" and view.sort == "oldest"
        assert person.record_list.cursor_key == pack_key("fact", new)


async def test_every_writing_key_and_verb_is_refused(story: Story) -> None:
    """Each says which moment is looked at and how one comes back; no question is asked, no byte is written. What only
    reads is not refused."""
    before = everything(story)
    lines = [verb.name for verb in list_verbs() if verb.name not in PAST_VERBS]
    assert {"remember", "forget", "undo", "restore", "export", "checkpoint"} <= set(lines)
    async with opened(story.folder) as person:
        await to_checkpoint(person)
        for pane in PANE_KEYS.values():
            await person.press(*([pane] if person.place != "history" or pane != "5" else []))
            for key in WRITING:
                person.app.clear_notifications()
                person.main.run_worker(person.main.run_action(key.action))
                await person.settle()
                fits = person.main.find_action(key.id, person.main.targets()) is not None
                assert person.toasts == [REFUSED] or not fits, (pane, key.id)
                assert not person.planning and person.at == "list", (pane, key.id)
        more = ("/memory add x", "undo 3", "restore K#1", "undo --all-by agent", "restore 1 --yes", "health --index")
        for line in (*lines, *more):
            person.app.clear_notifications()
            person.main.run_line(line)
            await person.settle()
            assert person.toasts == [REFUSED] and not person.planning, line
        await person.command("health")
        assert any(line.split()[:2] == ["decisions", "2"] for line in person.preview)
        await person.command("list facts --status superseded")
        assert "Team of four" in "\n".join(person.preview)
        errors: list[str] = []
        person.main.engine.write(lambda memory: memory.facts.remember("x"), lambda _, error: errors.append(str(error)))
        await person.settle()
        assert errors[0].startswith("You are looking at K#1 “before refactor”"), "behind the keys stands the door"
    assert everything(story) == before


@SIZES
async def test_search_in_the_past(story: Story, size: Size) -> None:
    """It finds what was there then, says that words alone were looked for, and keeps no query. What a document said
    then is nowhere kept: the search leaves it out, a citation of it opens what it says now, and that is said."""
    (story.folder / "MEMORY.md").write_text("# Notes\n\nThe cache is a dict by now\n")
    before = everything(story)["queries"]
    as_now = "Files are shown as they are now: what they said then is not kept."
    async with opened(story.folder, size) as person:
        await person.until(lambda: person.main.engine.screen.documents.count_documents())
        await person.follow((":show MEMORY.md#L3", "a dict by now", lambda: as_now not in " ".join(person.preview)))
        await person.follow(("escape",), ("/cache", lambda: any("Cache in memory" in row for row in person.hits)))
        await person.follow(("escape",))
        await to_checkpoint(person)
        await person.follow(
            ("/cache", lambda: any("Cache" in row and "Redis" in row for row in person.hits)),
            ("enter", lambda: not any("memory" in row for row in person.hits) and person.record is not None),
            ("escape", "AS OF", lambda: person.place == "history"),
            ("/dict", "in the past: by words alone, not in documents", lambda: not person.hits),
            ("escape",),
            (":show MEMORY.md#L3", "a dict by now", lambda: as_now in " ".join(person.preview)),
        )
    assert everything(story)["queries"] == before


async def test_the_past_is_compared_with_now_and_with_another_moment(person: Person) -> None:
    """Record by record, nothing to apply, and back to the past; from the box two moments."""
    await to_checkpoint(person)
    await person.follow(
        ("at > now", "CHANGED since K#1 “before refactor”", "11 records", "![x]"),
        ("escape at > 11h", "CHANGED from K#1 “before refactor”", "to 21 Nov 2026 01:00"),
        ("", lambda: [row[1:6] for row in person.plan] == ["+ D#5", "+ D#4", "~ D#2", "+ D#3"]),
        ("escape", "AS OF"),
        (":history --since 4d --to 1d", "CHANGED from 17 Nov 2026 12:00 to 20 Nov 2026 12:00", "+ D#1", "!D#3"),
    )
