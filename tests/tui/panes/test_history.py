"""The history with its checkpoints: who, when, why and what of every change, and the way to records and days; the
offer of a session that broke off."""

import re

import pytest
from support.screen import HUGE, NARROW, WIDE, Person, opened
from support.stories import Story

from store.base.clock import days_before, format_local_time
from store.base.vocabulary import pack_key
from store.conversations.turns import NewTurn
from store.history.restore_plan import Plans
from store.memory import Memory
from tui.main_screen import background
from tui.panes.records import step_key

RECOVERS = "session broke off: R"


def say(memory: Memory) -> None:
    """Somebody asks something in a session."""
    memory.turns.add_turns("s1", [NewTurn("user", "¿Y el céntimo de Faro?")])


def rows(person: Person) -> list[str]:
    return [" ".join(row.split()) for row in person.rows]


def numbers(person: Person) -> list[int]:
    """The steps that the list shows, without the checkpoints."""
    return [int(found[1]) for row in person.rows if (found := re.search(r"(\d+) · ", row)) and "K#" not in row]


# the steps


@pytest.mark.parametrize("size", [(44, 60), NARROW, WIDE, HUGE], ids=["44x60", "80x24", "120x40", "200x60"])
async def test_newest_first_with_who_when_why_and_about_what(size: tuple[int, int], person: Person) -> None:
    await person.press("5")
    first, started = person.rows[0], next(row for row in person.rows if "task start" in row)
    assert first.startswith("▸•") and "link C#a383156" in first and "agent" in first
    assert "probar" in started and ("3 h" in started or "21 Nov 2026 08:24" in started)
    assert "you" in started and ("you, cli" in started) is (size == HUGE), "the door, where there is room"
    assert (numbers(person)[:4] == [30, 29, 28, 27] and len(person.rows) > 15) or size == NARROW
    assert "U undo this…" in person.lines[-1] or size[0] == 44


async def test_what_a_step_changed_before_and_after(story: Story) -> None:
    """Of an undo what it undid, of a restore of many records how many; what no agent is sent in words."""
    with story.open() as memory:
        plan = Plans(memory.database).plan_checkpoint(1)
        Plans(memory.database).apply_plan(plan, Plans(memory.database).propose_changes(plan))
        memory.history.undo()
        memory.history.redo()
        memory.history.undo(6)
        memory.mutes.mute([9])
    async with opened(story.folder, HUGE) as person:
        await person.press("5")
        assert "F#9" in person.told and "not sent to agents" in person.told
        assert not any("T" in line and line.rstrip().endswith("Z") for line in person.preview), "a time of a table"
        for row, words in zip(
            rows(person)[1:],
            (
                "↷ undo 6 remember F#6 · Uses Jenkins for the nightly",
                "↷ redo 31 restore K#1 · 11 records",
                "↶ undo 31 undone by 33",
                "• restore K#1 11 records",
            ),
            strict=False,
        ):
            assert row.startswith(words)
        await person.put_cursor(step_key(5))
        assert person.preview[:2] == ["step 5  you, cli", "correct F#4"]
        assert person.preview[2].startswith("11 Sep 2026 12:00 (71 d ago)")
        changed = [line.split() for line in person.preview]
        at = changed.index(["F#4", "changed"])
        assert changed[at + 1 : at + 3] == [["status", "−", "active"], ["+", "replaced"]]
        assert ["F#5", "came"] in changed
        assert ["fact", "+", "Team", "of", "five,", "two", "of", "them", "part", "time"] in changed


async def test_a_step_is_taken_back_from_here(narrow: Person) -> None:
    """It is shown first; it is marked, and so is the one that did it. Those marked are undone together."""
    await narrow.press("5")
    await narrow.put_cursor(step_key(26))
    await narrow.plan_of("U")
    await narrow.follow(
        ("", "UNDO step 26: task add A#3"),
        ("enter", "Undid step 26: 1 record changed"),
        ("escape g", lambda: narrow.rows[0].startswith("▸↷") and "undo" in narrow.rows[0] and "you" in narrow.rows[0]),
        ("", lambda: narrow.preview[0] == "step 31  you, app" and "Undoes       step 26" in narrow.preview),
    )
    back = next(row for row in narrow.rows if "undone by" in row)
    assert back[1] == "↶" and "26 · " in back
    await narrow.put_cursor(step_key(26))
    await narrow.follow(("", "Undone       by step 31"), ("U", "Step 26 is already undone, by step 31."))
    for seq in (25, 29):
        await narrow.put_cursor(step_key(seq))
        await narrow.press("space")
    assert narrow.sees("2 marked")
    await narrow.plan_of("U")
    await narrow.follow(("", "UNDO 2 steps"), ("enter", "2 records changed; u undoes it"), ("escape",))
    await narrow.put_cursor(step_key(30))
    await narrow.follow(("U", "everything that agent wrote", "this step alone: link C#a383156 D#1"))


async def test_only_one_writer_and_one_record(person: Person) -> None:
    """A filter is always said, one that leaves nothing says what to do, and the facts have a writer of their own."""
    await person.follow(
        ("5 o", "Written by  25", "Written by  3", "claude-code"),
        ("> agent written", "agent ×", lambda: len(numbers(person)) == len(person.rows) == 3),
        ("2", lambda: len(person.rows) == 10),
        (
            ":history --actor mcp:claude-code",
            "claude-code ×",
            lambda: len(person.rows) == 1 and "F#11" in person.rows[0],
        ),
        (":history --actor nobody", "Nothing by this author.", lambda: person.rows == []),
        ("escape", lambda: person.rows and "×" not in person.title),
        (":history --record A#2", "task start A#2", "task add A#2", lambda: person.at == "preview"),
        ("", lambda: "task add A#3" not in person.told),
    )


async def test_the_records_of_a_step_open_and_lead_back(person: Person) -> None:
    await person.press("5")
    await person.put_cursor(step_key(5))
    await person.press("enter")
    preview = person.main.pane.preview
    assert person.at == "preview" and {str(citation) for citation in preview.citations} == {"F#4", "F#5"}
    chosen = preview.link
    await person.follow(
        ("enter", lambda: person.record.citation == chosen),
        ("backspace", lambda: person.preview[0].startswith("step 5") and person.at == "preview"),
        ("escape", lambda: person.at == "list" and person.record_list.cursor_key == step_key(5)),
        ("Y enter", lambda: person.app.clipboard == "step 5"),
    )


# days


async def test_to_the_newest_entry_of_a_day_or_before_it(story: Story, person: Person) -> None:
    """In the timeline, and from the facts; under a filter the day is that writer's."""

    async def go(day: str, *seen: str) -> object:
        await person.follow((":list.day",), (f"ctrl+u > {day}", *seen))
        return person.record_list.cursor_key

    await person.press("5")
    days = {"2026-10-23": 15, "2026-10-22": 14, "2026-11-19": 17, "today": 30, "2025-12-01": 1}
    for day, seq in days.items():
        assert await go(day) == step_key(seq), day
        assert any(row.startswith("▸") for row in person.rows), "it is scrolled to"
    for start in ("3", "2"):
        await person.press(start)
        await go("2026-11-19")
        assert person.place == "timeline" and person.record is not None
        assert person.record.citation == f"C#{story.shas['cache'][:7]}", "the newest of the day"
        await person.press("g")
    await person.press("5")
    key = await go("1999-01-01", "There is nothing on Fri 01 Jan 1999 or before.")
    assert await go("someday", "not a time") == key
    newest = await go("3w")
    with story.open() as memory:
        day = format_local_time(days_before(memory.now, 21)).rpartition(" ")[0]
        newer = [one for one in memory.history.steps() if step_key(one.seq) > newest]
        assert newer and all(format_local_time(one.at).rpartition(" ")[0] != day for one in newer)
    await person.command("history --actor agent")
    said = (
        "Nothing is on Fri 20 Nov 2026 among what the filter shows; this is the newest before it, Wed 19 Aug 2026; esc"
    )
    assert await go("2026-11-20", said) == step_key(7)


# checkpoints


async def test_checkpoints_stand_among_the_steps_and_alone(story: Story) -> None:
    """Those taken by themselves are hidden until asked for."""
    with story.open() as memory:
        say(memory)
        memory.checkpoints.take_due("micro")
        memory.checkpoints.record_usage(171_000, session="s1")
    async with opened(story.folder, NARROW) as person:
        await person.press("5")
        assert person.record_list.rows.index_of(pack_key("checkpoint", 1)) and not person.sees("▫")
        await person.press("5")
        assert rows(person) == ["▸▪ before refactor K#1 · 1 d 13 steps since · 65 tokens"]
        assert person.sees("2 automatic hidden")
        await person.until(lambda: "Since then   11 records changed" in person.preview)
        assert "At step      17" in person.preview and "Session" not in person.told
        await person.press("o")
        await person.choose("show what is")
        assert rows(person)[:2] == [
            "▫ ¿Y el céntimo de Faro? K#3 · now nothing since · meso 85 % · 121 tokens",
            "▫ ¿Y el céntimo de Faro? K#2 · now nothing since · micro by time · 139 tokens",
        ]
        assert person.sees("2 automatic shown")
        await person.press("g")
        await person.until(lambda: "Taken        85 % of the window" in person.preview)
        assert "Session      s1" in person.preview
        assert any(line.startswith("To recover   ") and "tokens" in line for line in person.preview)
        assert {"To do", "Decided", "Said last"} <= set(person.preview)
        assert any("  open: " in line for line in person.preview), "the word of the tasks' own list"


async def test_one_is_taken_as_time_passes(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "POLLS_BETWEEN_CHECKPOINTS", 1)
    async with opened(story.folder, WIDE) as person:
        await person.press("5", "5", "o")
        await person.choose("show what is")
        await person.until(lambda: any("K#2" in row for row in person.rows))
        with story.open() as memory:
            newest = memory.checkpoints.list_newest_first()[0]
            assert (newest.level, newest.trigger) == ("meso", "interval")


async def test_one_made_by_hand_is_of_no_session_and_is_read_out_and_marked(story: Story, narrow: Person) -> None:
    """It keeps what was said last, which is not what it is about."""
    with story.open() as memory:
        say(memory)
    await narrow.follow(("5 a > quiet evening", "K#2  checkpoint", "Taken        by a person"))
    await narrow.follow(("", lambda: "Last chat    s1" in narrow.preview and "Session      s1" not in narrow.preview))
    await narrow.put_cursor(pack_key("checkpoint", 1))
    await narrow.follow(
        (":checkpoint.recover", "K#1 “before refactor”: how things", lambda: narrow.at == "preview"),
        ("escape", lambda: any("↺" in row for row in narrow.rows)),
        ("f", "Remove K#1 for good? Every step stays in the history."),
        ("enter", lambda: not any("K#1" in row for row in narrow.rows)),
    )


async def test_a_session_that_broke_off_is_offered_until_it_is_read(story: Story, monkeypatch) -> None:
    """Without a message, which would cover the keys at first sight; not while the past is looked at."""
    monkeypatch.setattr(background, "OFFER_SECONDS", 0.05)
    with story.open("2026-11-21T11:00:00.000Z") as memory:
        say(memory)
    async with opened(story.folder, NARROW) as person:
        await person.follow(("", RECOVERS, lambda: not person.toasts), ("at > 20 Nov 2026", "AS OF"))
        person.main.polling.poll()
        offered, person.main.offered = person.main.offered, None
        assert offered is not None
        person.main.draw_top()
        person.main.checkpoints.offer(offered)
        await person.follow(
            ("", "!session broke off"),
            ("escape", RECOVERS),
            (":checkpoint mine",),
            ("5", "session broke off at K#", f"!{RECOVERS}"),  # the key reads the one there
            ("2 R", "Put back to…", "read where a session broke off"),
            ("enter", lambda: "user: ¿Y el céntimo de Faro?" in person.told, lambda: not person.toasts),
            ("", "!session broke off"),
        )
    async with opened(story.folder, NARROW) as person:
        assert not person.sees("session broke off")
