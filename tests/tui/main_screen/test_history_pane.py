"""The history pane: who, when, why and what of every change, and the way from there to records and days."""

import re

import pytest
from support.screen import HUGE, NARROW, WIDE, Person, opened
from support.stories import Story

from store.base.clock import days_before, format_local_time
from tui.screens.plans import PlanScreen


def told(person: Person) -> str:
    """The preview, whose lines are wrapped, as one."""
    return " ".join(" ".join(person.preview).split())


def numbers(person: Person) -> list[int]:
    """The steps that a roomy list shows."""
    return [number_of(row) for row in person.history]


def number_of(row: str) -> int:
    """The number in the note at the right."""
    return int(re.findall(r"(\d+) · ", row)[0])


class TestRows:
    async def test_the_footer_says_how_many_are_marked(self, person: Person) -> None:
        await person.press("4")
        assert person.sees("U undo step", "u undo my last")
        await person.press("space", "space", "space")
        assert person.lines[-1].startswith(" 3 marked: U undo step")

    async def test_where_it_is_narrow_the_footer_says_that_steps_can_be_marked(self, narrow: Person) -> None:
        await narrow.press("4")
        assert narrow.sees("U undo step", "W undo all by author", "u undo my last  space mark")

    async def test_the_menu_says_how_to_choose_an_unlisted_writer(
        self, story: Story, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """There is nothing to type in a search for that."""
        for place in ("tui.screens.menus", "tui.lists.filters"):
            monkeypatch.setattr(f"{place}.MOST_CHOICES", 1)
        async with opened(story.folder, WIDE) as person:
            await person.press("4", "o")
            assert person.sees("Show only…", " more: esc, then d") and not person.sees("type them in /")
            await person.press("escape", "d", "d")
            assert person.main.view.actor not in (None, "user"), "the second, which the menu did not list"
            await person.press("1", "o")
            assert person.sees("esc, then d", "type them in /")

    @pytest.mark.parametrize("size", [(44, 60), NARROW, WIDE, HUGE], ids=["44x60", "80x24", "120x40", "200x60"])
    async def test_newest_first_with_who_when_why_and_about_what(self, size: tuple[int, int], person: Person) -> None:
        await person.press("4")
        first, started = person.history[0], next(row for row in person.history if "task start" in row)
        assert first.startswith("▸•") and "link C#a383156" in first and "agent" in first
        assert "probar" in started and ("3 h" in started or "21 Nov 2026 08:24" in started)
        assert numbers(person) == list(range(30, 30 - len(person.history), -1))
        assert "you" in started and ("you, cli" in started) is (size == HUGE), "the door, where there is room"
        assert size == NARROW or len(person.history) > 15

    async def test_an_undo_and_a_restore_name_what_they_changed(self, story: Story) -> None:
        """Not one of many records, and of an undo what it undid, also if that was redone."""
        with story.open() as memory:
            plan = memory.plans.plan_checkpoint(1)
            memory.plans.apply_plan(plan, memory.plans.propose_changes(plan))
            memory.history.undo()
            memory.history.redo()
            memory.history.undo(6)
        async with opened(story.folder, HUGE) as person:
            await person.press("4")
            rows = [" ".join(row.lstrip("▸ ").split()[1:]) for row in person.history]
            for row, words in zip(
                rows,
                (
                    "undo 6 remember F#6 · Uses Jenkins for the nightly",
                    "redo 31 restore K#1 · 11 records",
                    "undo 31 undone by 33",
                    "restore K#1 11 records",
                ),
                strict=False,
            ):
                assert row.startswith(words)

    async def test_what_a_step_changed_before_and_after(self, huge: Person) -> None:
        await huge.press("4")
        await huge.put_cursor(5, "history")
        assert huge.preview[:2] == ["step 5  you, cli", "correct F#4"]
        assert huge.preview[2].startswith("11 Sep 2026 12:00 (71 d ago)")
        changed = [line.split() for line in huge.preview]
        at = changed.index(["F#4", "changed"])
        assert changed[at + 1 : at + 3] == [["status", "−", "active"], ["+", "replaced"]]
        assert ["F#5", "came"] in changed
        assert ["fact", "+", "Team", "of", "five,", "two", "of", "them", "part", "time"] in changed

    async def test_what_no_agent_is_sent_is_said_in_words(self, huge: Person) -> None:
        number = huge.record.id
        await huge.press("-")
        await huge.until(lambda: any("Muted" in toast for toast in huge.toasts))
        await huge.press("4", "g")
        assert any(f"F#{number}" in line and "not sent to agents" in line for line in huge.preview)
        assert not any("T" in line and line.rstrip().endswith("Z") for line in huge.preview), "a time of a table"

    async def test_a_step_taken_back_is_marked_and_so_is_the_one_that_did_it(self, narrow: Person) -> None:
        await narrow.press("4")
        await narrow.put_cursor(24, "history")
        await narrow.press("u", "y", "g")
        undo = narrow.history[0]
        assert undo.startswith("▸↷") and "undo" in undo and "you" in undo
        assert narrow.preview[0] == "step 31  you, app"
        back = next(row for row in narrow.history if "undone by" in row)
        assert back[1] == "↶"
        number = number_of(back)
        assert f"Undoes       step {number}" in narrow.preview
        await narrow.put_cursor(number, "history")
        assert "Undone       by step 31" in narrow.preview

    async def test_a_step_of_one_record_is_taken_back_at_once(self, narrow: Person) -> None:
        await narrow.press("4")
        await narrow.put_cursor(26, "history")
        await narrow.press("U")
        await narrow.until(lambda: _has(narrow, 31))
        assert not isinstance(narrow.app.screen, PlanScreen)
        assert narrow.toasts[-1].startswith("Undid step 26: ask for a logo")

    async def test_a_change_elsewhere_comes_on_top_and_moves_no_cursor(self, story: Story, narrow: Person) -> None:
        await narrow.press("4", "j", "j")
        record = narrow.record
        with story.open(door="mcp") as memory:
            memory.facts.remember("an agent was here", actor="mcp:codex")
        await narrow.until(lambda: _has(narrow, 31))
        assert narrow.record == record and narrow.main.list_of("history").scroll_offset.y == 0
        assert "an agent was here" in narrow.history[0] and narrow.history[3].startswith("▸")


def _has(person: Person, seq: int) -> bool:
    rows = person.main.list_of("history").rows
    return rows is not None and rows.index_of(seq) is not None


class TestFilter:
    async def test_only_one_origin_then_the_next(self, huge: Person) -> None:
        await huge.press("4")
        shown = []
        for _ in range(5):
            await huge.press("d")
            shown.append((huge.main.view.actor, len(huge.history)))
        assert shown == [("user", 25), ("agent", 3), ("hook", 1), ("mcp:claude-code", 1), (None, 30)]
        assert "you 25" in huge.title and "agent 3" in huge.title
        await huge.press("1")
        assert len(huge.rows) == 10 and huge.main.view.origin is None, "the facts have an origin of their own"

    @pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x40"])
    async def test_a_filter_is_always_said(self, person: Person) -> None:
        await person.command("history --actor mcp:claude-code")
        assert person.at == "history" and "claude-code 1 ×" in person.title
        assert len(person.history) == 1 and "F#11" in person.history[0]
        await person.command("history")
        assert "×" not in person.title and len(person.history) > 8

    async def test_one_record_or_origin_is_read_out_or_what_to_do(self, person: Person) -> None:
        """A filter that leaves nothing says so."""
        # one records history is read out
        await person.command("history --record A#2")
        assert person.at == "preview"
        assert "task start A#2" in told(person) and "task add A#2" in told(person)
        assert "task add A#3" not in told(person)
        await person.start_again()
        # nothing by an origin says what to do
        await person.command("history --actor nobody")
        assert person.history == [] and person.sees("Nothing by this author.")
        await person.press("escape")
        assert person.history and "×" not in person.title


class TestDays:
    async def test_to_the_newest_step_of_a_day_or_before_it(self, narrow: Person) -> None:
        days = {"2026-10-23": 15, "2026-10-22": 14, "2026-11-19": 17, "today": 30, "2025-12-01": 1}
        await narrow.press("4")
        for day, seq in days.items():
            await narrow.press("t")
            assert narrow.sees("to the day (2026-10-01, yesterday, 3w)")
            await narrow.paste(day)
            await narrow.press("enter")
            assert narrow.at == "history" and narrow.main.list_of("history").cursor_key == seq, day
            assert any(row.startswith("▸") for row in narrow.history), "it is scrolled to"

    async def test_days_in_every_pane_and_none_before_everything(self, story: Story, person: Person) -> None:
        """Also where there is no such day."""
        # in the timeline and from the facts
        for start in ("2", "1"):
            await person.press(start, "t")
            await person.paste("2026-11-19")
            await person.press("enter")
            assert person.at == "timeline" and person.record is not None
            assert person.record.citation == f"C#{story.shas['cache'][:7]}", "the newest of the day"
            await person.press("g")
        await person.start_again()
        # before everything and no day
        await person.press("4", "t")
        await person.paste("1999-01-01")
        await person.press("enter")
        assert person.toasts == ["There is nothing on Fri 01 Jan 1999 or before."]
        await person.press("t")
        await person.paste("someday")
        await person.press("enter")
        assert person.said == 2 and person.main.list_of("history").cursor_key == 30
        await person.press("t", "escape")
        assert person.at == "history" and person.said == 2

    async def test_under_a_filter_the_day_is_that_origins(self, narrow: Person) -> None:
        await narrow.command("history --actor agent")
        await narrow.press("t")
        await narrow.paste("2026-11-20")
        await narrow.press("enter")
        assert narrow.main.list_of("history").cursor_key == 7
        said = "Nothing is on Fri 20 Nov 2026 among what the filter shows; this is the newest before it"
        assert narrow.toasts[-1] == f"{said}; esc shows all."

    async def test_three_weeks_ago_is_a_whole_day_and_no_more(self, story: Story, narrow: Person) -> None:
        await narrow.press("4", "t")
        await narrow.paste("3w")
        await narrow.press("enter")
        step = narrow.main.list_of("history").cursor_key
        with story.open() as memory:
            day = format_local_time(days_before(memory.now, 21)).rpartition(" ")[0]
            newer = [one for one in memory.history.steps() if one.seq > step]
            assert all(format_local_time(one.at).rpartition(" ")[0] != day for one in newer)


class TestLinks:
    async def test_the_records_of_a_step_open_and_copies_are_named(self, person: Person) -> None:
        """From the preview and back."""
        # the records of a step open and back leads to it
        await person.press("4")
        await person.put_cursor(5, "history")
        await person.press("enter")
        preview = person.main.pane.preview
        assert person.at == "preview" and {str(citation) for citation in preview.citations} == {"F#4", "F#5"}
        chosen = str(preview.citations[preview.selected])
        await person.press("enter")
        assert person.record is not None and person.record.citation == chosen
        await person.press("backspace")
        assert person.preview[0].startswith("step 5") and person.at == "preview"
        await person.press("shift+right")
        assert person.record.citation == chosen
        await person.press("backspace", "escape")
        assert person.at == "history" and person.main.list_of("history").cursor_key == 5
        await person.start_again()
        # a copied step is named
        await person.press("4", "g", "Y")
        assert person.app.clipboard == "step 30"


async def test_an_undo_leaves_the_cursor_on_its_step(story: Story) -> None:
    """The key of the record that was undone is no number of a step."""
    with story.open() as memory:
        memory.facts.forget([1])
        assert memory.history.steps(limit=1)[0].seq > 16, "there is a step with the number of the fact's key"
    async with opened(story.folder, WIDE) as person:
        await person.press("4", "j", "j", "j")
        step = person.main.list_of("history").cursor_key
        await person.press("u")
        if any("y/n" in line for line in person.lines):
            await person.press("y")
        assert person.main.list_of("history").cursor_key == step
