"""The application as a person uses it: facts, timeline, preview, search, the `:` bar, help, and who else writes."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from support import repositories
from support.ours import ours
from support.screen import NARROW, PATIENCE, WIDE, Person, opened
from support.stories import NOON, Clock, Story
from textual import events
from textual.binding import Binding
from textual.color import Color
from textual.widgets import Input

import tui
from store.base.errors import StorageError
from store.base.models import Commit
from store.base.vocabulary import DOMAINS
from store.memory import Memory
from tui.app import Memoranda
from tui.input.key_table import KEYS, LIST_KEYS, PLAN_KEYS
from tui.input.verb_table import list_verbs, verb_named
from tui.lists.record_rows import ROOMY_LIST
from tui.main_screen.controller import POLL_SECONDS
from tui.main_screen.lists import OTHERS_SECONDS
from tui.main_screen.screen import MainScreen
from tui.render.lines import StyledLine as DescribedLine
from tui.screens.base import FRAME_SECONDS, HelpScreen
from tui.screens.plans import PlanScreen
from tui.widgets.bars import Footer
from tui.widgets.inputs import Line, SearchBar, TextEditor, complete_typed
from tui.widgets.record_list import RecordList
from tui.workers.background import MaintenanceWorker
from tui.workers.engine import Engine

ORDERS = ("by need", "by age", "by domain", "newest first", "by text")
SIZES = pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x40"])


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A project without git, whose memory holds nothing yet."""
    folder = tmp_path / "bare"
    with Memory.open(str(folder / ".memoranda" / "memory.db"), "cli", Clock()):
        return folder


def memoranda(folder: Path, *words: str) -> None:
    """The command line, as another process and this tree's code."""
    environment = os.environ | {"PYTHONPATH": str(Path(tui.__file__).parent.parent)}
    subprocess.run(
        [sys.executable, "-P", "-m", "tui.main", *words], cwd=folder, env=environment, check=True, capture_output=True
    )


def listed(person: Person) -> list[int]:
    """The facts of the list."""
    rows = person.main.list_of("facts").rows
    assert rows is not None
    keys = [rows.key(index) for index in range(len(rows)) if rows.selectable(index)]
    return [key for key in keys if isinstance(key, int)]


class TestFacts:
    @SIZES
    async def test_open_and_read_the_state_from_the_left_edge(self, person: Person) -> None:
        assert [row[:2] for row in person.rows] == [
            "▸▲",
            *(f" {glyph}" for glyph in "▲▽▽◐★••••"[: len(person.rows) - 1]),
        ]
        assert person.sees("billing-api", "All 10", "Aging 1", "Low 2", "Stale 2")
        row = next(row for row in person.rows if "Deploy" in row)
        assert row.endswith("94 d")
        assert person.preview[0] == "F#2  fact · projects · ▲ stale" and person.preview[1].startswith("Releases")
        headings = [line for line in person.lines if "──" in line and ("too old" in line or "weak" in line)]
        assert [line.split()[:2] for line in headings[:2]] == [["Stale", "2"], ["Low", "2"]]

    async def test_the_list_is_sorted_and_narrowed_and_the_preview_says_why(self, story: Story, narrow: Person) -> None:
        """Badges, chains, orders and chips, in a terminal of 80 columns."""
        # the preview says the badge in words
        words = []
        for _ in range(7):
            words.append(narrow.preview[0].split()[-1])
            await narrow.press("j")
        assert words == ["stale", "stale", "low", "low", "aging", "pinned", "fresh"]
        await narrow.start_again()
        # the chain and the history are in the details
        await narrow.put_cursor(story.facts["five"])
        assert narrow.preview == [
            "F#5  fact · work · ◐ aging",
            "Team of five, two of them part time",
            "",
            "Why aging    confirmed 11 Sep 2026 12:00 (71 d ago); aging after 60 d",
            "Learned      11 Sep 2026 12:00 (71 d ago)",
            "Said by      you, explicit, confidence high",
            "",
            "What it said over time",
            "  F#3  Team of three  replaced",
            "  F#4  Team of four  replaced",
            "▸ F#5  Team of five, two of them part time  active",
            "",
            "History",
            "  71 d  correct F#4       you, cli",
        ]
        await narrow.start_again()
        # d takes the next chip and escape shows all
        seen = []
        for _ in range(6):
            await narrow.press("d")
            seen.append((narrow.main.view.state, len(listed(narrow))))
        assert seen == [("stale", 2), ("low", 2), ("aging", 1), ("pinned", 1), ("fresh", 4), (None, 10)]
        await narrow.press("d")
        assert narrow.sees("▲ Stale 2 ×", "2 of 10 · esc all") or narrow.sees("▲ Stale 2 ×", "2 · esc all")
        assert {row[1] for row in narrow.rows} == {"▲"}
        await narrow.press("escape")
        assert len(listed(narrow)) == 10 and "×" not in narrow.title
        await narrow.start_again()
        # sort through all orders
        tops = []
        for _ in range(6):
            await narrow.press("g")
            # the usual order goes unsaid where there is little room
            words = next((words for words in ORDERS if words in narrow.title), "by need")
            tops.append((words, narrow.rows[0][3:17]))
            await narrow.press("s")
        assert [words for words, _ in tops] == [*ORDERS, "by need"]
        assert tops[1][1].startswith("Alérgica") and tops[3][1].startswith("Primary")

    async def test_a_list_with_room_says_the_domain_and_who_wrote_it(self, story: Story) -> None:
        async with opened(story.folder, (200, 50)) as person:
            assert person.main.list_of("facts").size.width >= ROOMY_LIST
            row = next(row for row in person.rows if "Deploy" in row)
            assert row.endswith("projects · agent ·  94 d")
            await person.pilot.resize_terminal(*WIDE)
            await person.settle()
            rows = person.rows
            assert not any(domain in row for row in rows for domain in DOMAINS)
            assert next(row for row in rows if "Deploy" in row).split()[-3:] == ["lunch", "94", "d"]

    @pytest.mark.parametrize("size", [NARROW, WIDE, (200, 50)], ids=["80x24", "120x40", "200x50"])
    async def test_what_is_stale_is_the_loudest(self, size: tuple[int, int], person: Person) -> None:
        """Its text is bold, and its age is coloured as its glyph is; nothing else is bold."""
        await person.press("enter")  # the row under a focused cursor is a state of its own
        facts = person.main.list_of("facts")
        loud = {}
        for y in range(facts.size.height):
            line = facts.render_line(y)
            if (glyph := line.text[1:2]) not in "▲▽◐★•":
                continue
            styles = {text.strip(): style for text, style, _ in line if text.strip() and style}
            loud[glyph] = loud.get(glyph, set()) | {any(style.bold for style in styles.values())}
            if glyph == "▲":
                assert styles[line.text.rstrip()[-5:].strip()].color == styles["▲"].color
        assert loud.pop("▲") == {True}
        assert all(bold == {False} for bold in loud.values()), loud

    async def test_what_changes_nothing_moves_nothing(self, story: Story, person: Person) -> None:
        """The preview follows the cursor; what is left alone, said again or forgotten already is not written."""
        # the preview follows the cursor
        await person.press("j")
        assert person.preview[0].startswith("F#6  fact · work · ▲ stale")
        await person.press("G")
        assert person.preview[1] == "Primary LLM: Kimi K2.5, then Sonnet"
        assert "Evidence     [D#1]" in person.preview
        await person.press("g")
        assert person.preview[1].startswith("Releases are cut")
        await person.start_again()
        # escape leaves a correction alone
        await person.press("c", "x", "escape")
        assert person.at == "facts" and not person.main.query(TextEditor)
        with story.open() as memory:
            assert memory.history.steps(limit=1)[0].door == "cli"
        await person.start_again()
        # a correction that says the same is told so
        await person.press("c", "enter")
        assert person.toasts == ["F#2 says exactly that. Confirm it instead, if it is still true."]
        await person.start_again()
        # forgetting a shown forgotten fact says that it is
        await person.press("H")
        await person.put_cursor(story.facts["standup"])
        await person.press("f")
        assert person.toasts == [f"F#{story.facts['standup']} is forgotten already. Undo brings it back."]
        assert any("✕" in row for row in person.rows)
        await person.start_again()
        # sorting keeps the selected fact
        await person.put_cursor(story.facts["rounding"])
        await person.press("s", "s", "s")
        assert person.record is not None and person.record.citation == f"F#{story.facts['rounding']}"

    async def test_a_confirmed_fact_stands_under_its_new_state_when_the_list_is_opened_again(
        self, person: Person
    ) -> None:
        first = person.rows[0]
        await person.press("y")
        await person.until(lambda: person.sees("Stale 1 + 1 changed"))
        assert len(person.rows) == 10 and person.rows[0].split()[1:3] == first.split()[1:3]
        await person.press("2")
        await person.press("1")
        await person.until(lambda: not person.sees("changed") and person.sees("Stale 1", "Fresh 5"))
        assert person.rows[0].split()[1:3] != first.split()[1:3]

    async def test_forgetting_is_immediate_and_one_key_undoes_it(self, story: Story, person: Person) -> None:
        fact = story.facts["fridays"]
        await person.put_cursor(fact)
        before = person.rows
        holder = apsw.Connection(str(story.path))
        holder.execute("BEGIN IMMEDIATE")  # somebody else is writing, so that the writer has to wait
        await person.pilot.press("f")
        assert not any("Deploy" in row for row in person.rows), "the row waits for nothing"
        assert person.toasts == []
        holder.execute("ROLLBACK")
        holder.close()
        await person.settle()
        assert person.rows[2].startswith("▸▽"), "the next row took its place"
        assert person.toasts == ["Forgot F#7, u to undo"]
        assert person.sees("All 9", "Low 1")
        with story.open() as memory:
            assert memory.facts.get(fact).status == "forgotten"
        await person.press("u")
        assert person.rows == before, "in its old place, under the cursor"
        assert person.toasts[-1] == f"Undid: forget F#{fact}; ^r redoes it"
        assert person.record is not None and person.record.citation == f"F#{fact}"
        await person.press("ctrl+r")
        assert not any("Deploy" in row for row in person.rows)
        assert person.toasts[-1] == f"Redid: forget F#{fact}; u undoes it"

    async def test_forget_several_in_a_row_without_looking(self, story: Story, person: Person) -> None:
        await person.pilot.press("f", "f", "f")
        await person.settle()
        assert len(person.rows) == 7 and person.rows[0].startswith("▸▽")
        await person.press("u", "u", "u")
        assert len(person.rows) == 10
        with story.open() as memory:
            assert memory.facts.get(2).status == memory.facts.get(6).status == "active"

    async def test_correct_in_place(self, story: Story, person: Person) -> None:
        await person.put_cursor(story.facts["five"])
        await person.press("c")
        editor = person.main.query_one(TextEditor)
        assert person.sees("correct F#5", "enter saves") and person.app.focused is editor
        assert editor.text == "Team of five, two of them part time"
        assert editor.cursor_location == editor.document.end
        await person.press(*["backspace"] * len(", two of them part time"))
        await person.paste(", all day")
        await person.press("enter")
        assert [one.partition(" ")[2] for one in person.toasts] == ["replaces F#5, u to undo"]
        assert person.at == "facts"
        assert person.record is not None
        assert person.preview[1] == "Team of five, all day", "the cursor went with it"
        at = person.preview.index("What it said over time")
        chain = [line for line in person.preview[at:] if "F#" in line]
        assert [line[:6].strip("▸ ") for line in chain[:4]] == ["F#3", "F#4", "F#5", "F#15"]
        assert chain[3].startswith("▸ F#15  Team of five, all day")
        await person.press("u")
        assert any("Team of five, two" in row for row in person.rows)

    async def test_add_then_add_the_same_again(self, story: Story, person: Person) -> None:
        await person.press("a")
        assert person.sees("remember")
        await person.paste("Lunch is at one")
        await person.press("enter")
        number = max(story.open().facts.ids(NOON, statuses=("active", "superseded", "forgotten")))
        assert person.toasts == [f"Remembered F#{number}, u to undo"]
        assert person.preview[1] == "Lunch is at one" and person.sees("All 11")
        await person.press("a")
        await person.paste("lunch  is at ONE.")
        await person.press("enter")
        assert person.toasts == [f"F#{number} is already known; confirmed, u to undo"], "the newest stands alone"
        assert person.sees("All 11")
        await person.press("a", "enter")
        assert not person.toasts, "nothing was said, so nothing is remembered"

    async def test_add_under_a_filter_adds_to_that_domain(self, person: Person) -> None:
        await person.command("list --domain preferences")
        await person.press("a")
        assert person.sees("remember (preferences)")
        await person.paste("Tabs, not spaces")
        await person.press("enter")
        assert person.sees("preferences") and any("Tabs, not" in row for row in person.rows)

    async def test_confirming_starts_the_age_again(self, story: Story, person: Person) -> None:
        await person.put_cursor(story.facts["jenkins"])
        await person.press("y")
        row = next(row for row in person.rows if "Jenkins" in row)
        assert "•" in row and "133 d" not in row
        assert person.rows.index(row) == 1, "it stays in its place"
        assert person.record is not None and person.record.citation == "F#7", "and the cursor goes on"
        assert person.toasts == ["Confirmed F#6, u to undo; the cursor is on F#7 now"]
        assert person.sees("Stale 1")

    async def test_pin_and_unpin(self, story: Story, person: Person) -> None:
        await person.put_cursor(story.facts["jenkins"])
        await person.press("p")
        assert "★" in next(row for row in person.rows if "Jenkins" in row)
        assert person.toasts == ["Pinned F#6: it never ages, u to undo"]
        await person.press("p")
        assert "▲" in next(row for row in person.rows if "Jenkins" in row)
        assert person.toasts == ["Unpinned F#6, u to undo"]

    @SIZES
    async def test_what_is_left_out_is_said(self, person: Person) -> None:
        assert person.sees("hidden: H"), "a list says what it leaves out"
        await person.press("H")
        assert person.sees("shown: H") or person.sees("all: H")
        await person.press("G")
        assert [row for row in person.rows if "↷" in row] and [row for row in person.rows if "✕" in row]
        await person.press("H")
        assert person.sees("hidden: H")


class TestTimeline:
    async def test_days_kinds_citations_and_diffs(self, person: Person) -> None:
        """The timeline is read and cannot be changed."""
        # days and kinds in one stream
        await person.press("2")
        days = [row.split(" ─")[0].strip() for row in person.timeline if "──" in row]
        assert days == ["Sat 21 Nov 2026", "Fri 20 Nov 2026", "Thu 19 Nov 2026", "Wed 18 Nov 2026"]
        marks = [row[1] for row in person.timeline if "──" not in row]
        assert marks == list("·○◆◆↻▪○◆○○·◆↻")
        assert not any("fax" in row for row in person.timeline), "a forgotten decision is not in it"
        linked = next(row for row in person.timeline if "fix: keep" in row)
        assert "D#2 D#3" in linked
        await person.start_again()
        # a click follows a citation too
        await person.press("2", "G", "k")
        y = person.preview.index("During       I#1")
        await person.pilot.click("#preview", offset=(14, y))
        await person.settle()
        assert person.record is not None and person.record.citation == "I#1"
        await person.start_again()
        # a commits diff comes coloured
        await person.press("2", "g", "j")
        await person.until(lambda: "+LIMIT = 1000" in person.preview)
        preview = person.main.pane.preview
        shown = {strip.text.strip(): strip for strip in map(preview.render_line, range(preview.size.height))}
        added, removed = (
            next(segment.style.color for segment in shown[line] if segment.style)
            for line in ("+LIMIT = 1000", "-    return redis.get(key)")
        )
        variables = person.app.theme_variables
        for colour, token in ((added, "text-success"), (removed, "text-error")):
            assert colour == Color.parse(variables[token]).rich_color
        assert added != removed
        await person.press("enter")
        assert preview.scroll_offset.y == 0 and "+LIMIT = 1000" in person.preview, "the diff stays"
        await person.start_again()
        # the journal cannot be changed
        await person.press("2", "f", "c", "y", "p")
        assert person.toasts[0].startswith("Only facts, decisions and tasks can be changed")
        assert len(person.toasts) == 4 and person.at == "timeline"

    async def test_follow_citations_and_come_back(self, story: Story, person: Person) -> None:
        await person.press("2", "G", "k")
        assert person.preview[1] == "Use SQLite, not PostgreSQL"
        assert "Instead of   PostgreSQL" in person.preview and "             DuckDB" in person.preview
        assert any(line.startswith("Because      One file") for line in person.preview)
        await person.press("enter")
        assert person.at == "preview"
        preview = person.main.pane.preview
        await person.press("left")
        assert preview.selected == 0, "it does not go round"
        assert person.lines[-1].startswith(f" enter opens C#{story.shas['schema'][:7]}  ")
        await person.press("right")
        assert str(preview.citations[preview.selected]) == f"C#{story.shas['readme'][:7]}"
        await person.press("left")
        assert str(preview.citations[preview.selected]) == f"C#{story.shas['schema'][:7]}"
        await person.press("enter")
        assert person.record is not None and person.record.citation == f"C#{story.shas['schema'][:7]}"
        assert "Implements   D#1  Use SQLite, not PostgreSQL" in person.preview
        await person.press("enter")  # its first citation: D#1, in its own message
        assert person.record.citation == "D#1"
        await person.press("right", "enter")
        assert person.record.citation == f"C#{story.shas['readme'][:7]}"
        await person.press("backspace")
        assert preview.selected == 1, "the link from which one comes"
        await person.press("backspace")
        assert person.record.citation.startswith("C#")
        await person.press("backspace")
        assert person.record.citation == "D#1" and person.at == "preview"
        await person.press("backspace")
        assert person.at == "timeline"

    async def test_a_light_theme_writes_dark_on_light(self, person: Person) -> None:
        person.app.theme = "textual-light"
        for key, name in (("1", "facts"), ("2", "timeline")):
            await person.press(key, "j")
            await person.until(lambda name=name: name == "facts" or "+LIMIT = 1000" in person.preview)
            assert person.lines, "a widget takes its colours when it is drawn"
            for widget in (person.main.pane.preview, person.main.list_of(name)):
                shown = [*map(widget.render_line, range(widget.size.height))]
                assert any(strip.text.strip() for strip in shown)
                for text, style, _ in (segment for strip in shown for segment in strip):
                    if text.strip() and style and style.color and style.bgcolor:
                        written, ground = map(Color.from_rich_color, (style.color, style.bgcolor))
                        assert written.brightness < ground.brightness, text

    async def test_a_late_diff_is_not_added_to_another_record(
        self, story: Story, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked, let_go, read = threading.Event(), threading.Event(), Engine.diff

        def slow(engine: Engine, commit: Commit, columns: int) -> list[DescribedLine]:
            asked.set()
            let_go.wait(PATIENCE)
            return read(engine, commit, columns)

        monkeypatch.setattr(Engine, "diff", slow)
        async with opened(story.folder) as person:
            await person.pilot.press("2", "j")
            await person.until(asked.is_set)
            await person.pilot.press("j")
            await person.until(lambda: person.record is not None and person.record.citation == "D#4")
            let_go.set()
            await person.settle()
            assert not any("diff --git" in line for line in person.preview)

    async def test_correct_and_forget_a_decision(self, story: Story, person: Person) -> None:
        await person.press("2")
        await person.put_cursor(story.decisions["pdf"] * 16 + 1, "timeline")
        await person.press("c")
        assert person.sees("D#4 now chooses") and person.main.query_one(TextEditor).text == "PDF/A-3"
        await person.paste(" with XML inside")
        await person.press("enter")
        assert person.toasts == ["D#6 replaces D#4, u to undo"]
        assert "Replaces     D#4" in person.preview, "the cursor is on the new one"
        await person.press("u")
        assert person.record is not None and person.record.citation == "D#4"
        await person.press("f")
        assert not any("PDF/A" in row for row in person.timeline)
        assert person.toasts[-1] == "Forgot D#4, u to undo"
        await person.press("u")
        assert any("PDF/A" in row for row in person.timeline)


class TestSearch:
    async def test_typing_finds(self, person: Person) -> None:
        await person.pilot.press("slash", *"cache")
        await person.until(lambda: "found" in person.lines[1])
        await person.settle()
        assert person.sees("All 3", "3 found")
        assert [row[1] for row in person.hits] and all("cache" in row.lower() for row in person.hits)
        assert person.at == "query", "the person goes on typing"
        await person.press("enter")
        assert person.at == "hits"
        await person.press("j")
        assert person.record is not None and person.record.citation in person.hits[1]
        await person.press("escape")
        assert person.at == "facts" and not person.main.has_class("-searching")
        assert person.main.query_one("#query", Input).value == ""
        assert "found" not in person.lines[1]

    async def test_what_was_found_is_marked_and_what_was_not_is_said(self, person: Person) -> None:
        """Queries one after the other, with filters and without."""
        # what matched is marked
        await person.search("jenkins")
        [strip] = [person.main.list_of("hits").render_line(1)]
        marked = [segment.text for segment in strip if segment.style and segment.style.underline]
        assert marked == ["Jenkins"]
        await person.start_again()
        # filters inside the query
        await person.search("cache kind:decision")
        assert person.hits and all("◆" in row for row in person.hits)
        await person.press("escape")
        await person.search("domain:work is:superseded")
        assert len(person.hits) == 2 and all("↷" in row and "Team" in row for row in person.hits)
        await person.start_again()
        # a filter that is no filter is said
        await person.search("kind:nonsense cache")
        assert person.sees("kind: takes fact", "kind:nonsense ×")
        await person.start_again()
        # nothing found says what to try
        await person.search("zebra")
        assert person.sees("Nothing is near it either.", "Try fewer words")
        assert person.record is None and person.preview == []
        await person.press("enter", "f")
        assert person.toasts == ["Nothing is selected."]
        await person.start_again()
        # escape leaves from the bar and emptying it ends the search
        await person.search("cache")
        await person.press("escape")
        assert person.at == "facts"
        await person.search("cache")
        await person.press(*["backspace"] * 5)
        assert not person.main.has_class("-searching") and person.at == "query"

    async def test_a_hit_can_be_forgotten_and_brought_back(self, story: Story, person: Person) -> None:
        await person.search("jenkins")
        await person.press("enter", "f")
        assert person.toasts == ["Forgot F#6, u to undo"]
        await person.until(lambda: not person.hits or "✕" in person.hits[0])
        await person.press("u")
        await person.until(lambda: person.hits and "▲" in person.hits[0])
        assert person.record is not None and person.record.citation == f"F#{story.facts['jenkins']}"


class TestCommands:
    async def test_memory_list_and_facts(self, narrow: Person) -> None:
        await narrow.press("2")
        await narrow.command("/memory list jenkins")
        assert (narrow.at == "facts" and narrow.sees("“jenkins” ×", "1 of 10 · esc all")) or narrow.sees(
            "“jenkins” ×", "1 · esc all"
        )
        await narrow.command("/facts --domain projects --sort text --all")
        assert narrow.sees("projects ×") and len(narrow.rows) == 2 and narrow.main.view.sort == "text"
        await narrow.command("facts")
        assert "by text" not in narrow.title and len(listed(narrow)) == 10, "without an order, the pane's own"
        assert any("Stale 2" in line for line in narrow.lines)
        await narrow.command("list --domain nonsense")
        assert narrow.toasts[-1].startswith("Domains: work, preferences")
        await narrow.command("list --status forgotten")
        assert "Stand-up at nine" in "\n".join(narrow.preview)

    async def test_memory_add_forget_correct_confirm(self, person: Person) -> None:
        await person.command("/memory add don't hedge --domain preferences")
        assert person.toasts[-1] == "Remembered F#15." and person.sees("All 11")
        await person.command("/remember Don't hedge")
        assert person.toasts[-1] == "F#15 is already known; confirmed."
        await person.command("memory correct F#15 do not hedge")
        assert person.toasts[-1] == "F#16 replaces F#15."
        await person.command("/memory forget 16")
        assert person.toasts[-1] == "Forgot F#16. Undo brings it back." and person.sees("All 10")
        await person.command("/memory confirm 6 F#2")
        assert person.toasts[-1] == "Confirmed 2 facts." and "Stale" not in person.title
        await person.command("undo")
        assert "confirm" in person.toasts[-1] and person.sees("Stale 2")

    async def test_export_asks_before_it_replaces(self, story: Story) -> None:
        target = Path.home() / "billing-api-memory.json"  # not the checkout, where `git add` would publish it
        async with opened(story.folder) as person:
            await person.command("/memory export")
            assert person.toasts[-1].startswith(f"Exported to {target}")
            assert json.loads(target.read_text())["tables"]["facts"]
            target.write_text("mine")
            await person.press("x", "enter")
            assert person.sees("Replace it? y/n"), "of a long question its end is shown"
            await person.press("n")
            assert person.toasts[-1] == "Nothing was changed." and target.read_text() == "mine"
            await person.press("x", "enter")
            await person.press("y")
            assert json.loads(target.read_text())["tables"]["facts"]
            target.unlink()
            await person.command("export -")
            assert person.toasts[-1].startswith(f"Exported to {target}"), "nothing is printed here"

    async def test_checkpoint_and_restore(self, person: Person) -> None:
        await person.command("/checkpoint quiet evening")
        assert person.toasts[-1] == "Checkpoint K#2."
        await person.press("2")
        assert any("K#2" in row for row in person.timeline)
        await person.press("1", "f", "f")
        await person.command("/restore K#2")
        await person.until(lambda: isinstance(person.app.screen, PlanScreen))
        assert person.sees("RESTORE K#2 “quiet evening”", "2 of 2 chosen")
        await person.press("escape")
        assert person.sees("All 8")
        await person.command("/restore 2")
        await person.until(lambda: isinstance(person.app.screen, PlanScreen))
        await person.press("enter")
        assert person.toasts[-1] == "2 records changed; K#3 is how it was; u undoes it all"
        assert person.sees("All 10")
        await person.press("u")
        assert person.sees("restore K#2 (2 records)? y/n")
        await person.press("y")
        assert person.sees("All 8")

    async def test_what_verbs_read_is_in_the_preview_or_the_search(self, person: Person) -> None:
        """Lines of the bar, one after the other."""
        # a checkpoint in the preview says what changed since
        await person.command("show K#1")
        await person.until(lambda: any("Since then" in line for line in person.preview))
        assert "  K#1  checkpoint" not in person.preview and person.preview[1] == "before refactor"
        await person.start_again()
        # show goes into the preview
        await person.command("show D#1")
        assert person.record is not None and person.record.citation == "D#1"
        assert person.at == "preview"
        await person.command("show D#99")
        assert person.toasts[-1].startswith("There is no decision D#99")
        await person.command("show nonsense")
        assert person.toasts[-1].startswith("“nonsense” is not a citation.")
        await person.start_again()
        # a verb that reads is read out and its citations open
        await person.command("decisions")
        assert person.at == "preview" and "D#1" in "\n".join(person.preview)
        await person.press("right", "enter")
        assert person.record is not None and person.record.citation.startswith("D#")
        await person.press("escape")
        assert person.at == "facts" and person.record.citation == "F#2"
        await person.start_again()
        # tab completes
        line = person.main.query_one(Line)
        await person.press("colon", *"/memory e", "tab")
        assert line.value == "/memory export "
        assert person.sees("export [FILE]")
        await person.press("escape", "colon", *"time", "tab")
        assert line.value == "timeline "
        assert person.at == "line"
        await person.start_again()
        # search from the bar is the search
        await person.command("search cache kind:commit")
        await person.until(lambda: "found" in person.lines[1])
        await person.settle()
        assert len(person.hits) == 2 and person.at == "query"

    async def test_what_cannot_be_meant_is_said(self, story: Story, person: Person) -> None:
        for line, said in (
            ("frobnicate now", "There is no command “frobnicate”. ? lists them all."),
            ("tag", "tag wants ID…: a fact's number, or F#12, G#5, D#3, A#4."),
            ("list --nonsense", "list has no option “--nonsense”"),
            ("forget F#999", "There is no fact F#999."),
            ("forget F#1 P#1", "Records of several kinds are changed one kind at a time."),
            ("correct", "Say what is true now, or where the fact belongs."),
            ("restore K#99", "There is no checkpoint K#99."),
            ("undo 99999", "History has no step 99999."),
            ("redo", "There is nothing to redo."),
        ):
            await person.command(line)
            assert person.toasts[-1].startswith(said), (line, person.toasts[-1])
        await person.command("forget --help")
        assert person.preview[0].startswith("memoranda forget [ID…]")
        await person.command("   ")
        await person.press("colon", "escape")
        assert person.at == "facts"
        with story.open() as memory:
            assert memory.history.steps(limit=1)[0].door == "cli", "and nothing was changed"

    async def test_the_bar_keeps_what_was_typed(self, person: Person) -> None:
        await person.command("stats")
        await person.command("decisions")
        await person.press("escape", "colon", "up")
        line = person.main.query_one(Line)
        assert line.value == "decisions"
        await person.press("up", "up")
        assert line.value == "stats"
        await person.press("down", "down")
        assert line.value == ""

    async def test_quit_from_the_bar(self, person: Person) -> None:
        await person.pilot.press("colon", "q", "enter")
        await person.pilot.pause()
        assert not person.app.is_running or person.app._exit


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("fo", "forget "),
        ("/fo", "/forget "),
        ("memory lis", "memory list "),
        ("/memory", "/memory "),
        ("re", "re"),
        ("rest", "restore "),
        ("checkpoint", "checkpoint "),
        ("nothing", "nothing"),
        ("", ""),
        ("list --so", "list --sort "),
        ("/memory list --so", "/memory list --sort "),
        ("list --s", "list --s"),
        ("list --st", "list --status "),
        ("list  --sort  ne", "list  --sort  newest "),
        ("list --sort=ne", "list --sort=newest "),
        ("list wo", "list work "),
        ("decide x --impact ", "decide x --impact "),
        ("remember José's team --do", "remember José's team --domain "),
        ("list --js", "list --js"),
        ("list work ", "list work "),
        ("config badges a", "config badges ascii "),
        ("checkpoint the first", "checkpoint the first"),
    ],
)
def test_completion(typed: str, expected: str) -> None:
    assert complete_typed(typed) == expected


class TestHelpAndFooter:
    async def test_help_lists_every_key_and_verb(self, person: Person) -> None:
        await person.press("question_mark")
        assert isinstance(person.app.screen, HelpScreen)
        rows = person.app.screen.query_one("#help-list", RecordList).rows
        assert rows is not None
        lines = ["".join(text for text, _ in rows.lines(index, 200)[0]).rstrip() for index in range(len(rows))]
        for key in (*KEYS, *LIST_KEYS, *PLAN_KEYS):
            assert f"  {key.first_key():<13}{key.help}" in lines
        for verb in list_verbs():
            assert f"  {verb.name:<12} {verb.summary}" in lines
        await person.press("question_mark")
        assert person.app.screen is person.main and person.at == "facts"
        await person.command("help")
        assert isinstance(person.app.screen, HelpScreen)

    async def test_the_footer_shows_this_panes_keys_from_the_table(self, story: Story) -> None:
        async with opened(story.folder, (200, 50)) as person:
            for pane, presses in (("facts", ["1"]), ("timeline", ["2"]), ("preview", ["enter"])):
                await person.press(*presses)
                footer = str(person.main.query_one("#footer", Footer).render())
                kind = "" if pane == "facts" else "event"  # the newest of the timeline
                here = [key for key in KEYS if key.label and pane in key.panes and key.id != "more.open"]
                here = [key for key in here if not kind or not key.kinds or kind in key.kinds]
                expected = [
                    f"{key.first_key()} {key.words.get(pane, key.label)}" for key in here
                ]  # More stands in the sidebar
                shown = [part.strip() for part in footer.split("  ") if not part.startswith(" enter opens ")]
                assert set(shown) <= set(expected) and {"? help", "/ search"} <= set(shown), pane
                assert len(shown) == len(expected) or len(footer) > 170, pane

    async def test_a_narrow_footer_keeps_help(self, story: Story) -> None:
        async with opened(story.folder, (40, 24)) as person:
            assert "? help" in person.lines[-1] and len(person.lines[-1]) <= 40

    async def test_a_narrow_footer_keeps_what_matters(self, narrow: Person) -> None:
        """Keys for one record, and whole words of a hint."""
        # a narrow footer has the keys for one record before those for many
        await narrow.press("2", "d")
        assert "@ as of" in narrow.lines[-1] and "# tag" in narrow.lines[-1], narrow.lines[-1]
        assert "? help" in narrow.lines[-1] and "^p all" in narrow.lines[-1]
        await narrow.start_again()
        # the hint of a command is cut at no word
        await narrow.press("colon")
        await narrow.paste("iteration start")
        assert narrow.lines[-1].endswith("iteration start|complete|abandon|event …"), narrow.lines[-1]
        await narrow.press("escape", "colon")
        await narrow.paste("redo ")
        assert narrow.lines[-1].endswith(verb_named("redo").summary), "with what it does, where there is room"

    async def test_the_footer_speaks_of_the_bar_while_somebody_types(self, person: Person) -> None:
        for key in ("slash", "a", "c", "colon"):
            await person.press(key)
            assert "forget" not in person.lines[-1] and "esc" in person.lines[-1], key
            await person.press("escape")
            assert "f forget" in person.lines[-1], key


def test_tables_agree() -> None:
    """Every key has a name and an explanation; no two have the same key. `test_controllers` looks for their actions."""
    bindings = [binding for binding in MainScreen.BINDINGS if isinstance(binding, Binding)]
    assert len(bindings) == len(KEYS)
    for widget in (MainScreen, HelpScreen, Line, RecordList):
        for binding in widget.BINDINGS:
            assert isinstance(binding, Binding) and binding.id
            assert binding.tooltip or widget is HelpScreen, binding.id
    assert len({key.id for key in KEYS}) == len(KEYS)
    keys = [name for key in KEYS for name in key.keys.split(",")]
    assert len(set(keys)) == len(keys)
    own = {name for binding in RecordList.BINDINGS if isinstance(binding, Binding) for name in binding.key.split(",")}
    assert own & set(keys) == {"enter"}, "a list answers to enter itself, and says so by Chosen"
    for key in KEYS:
        assert key.help and key.action, key.id


class TestOthers:
    async def test_what_another_process_writes_appears_by_itself(self, story: Story) -> None:
        """Within a second: `python -m bench.live_updates` measures it."""
        assert POLL_SECONDS < OTHERS_SECONDS <= 1
        async with opened(story.folder) as person:
            await person.press("j")
            selected = person.record
            memoranda(story.folder, "remember", "The other door was used", "--domain", "work")
            await person.until(lambda: any("The other door" in row for row in person.rows))
            facts = person.main.list_of("facts")
            y = next(y for y in range(facts.size.height) if "The other door" in facts.render_line(y).text)
            lit, calm = ({segment.style.bgcolor for segment in facts.render_line(at) if segment.style} for at in (y, 3))
            assert len(lit) == len(calm) == 1 and lit != calm, "its row is lit"
            assert person.record == selected, "and nothing else moved"
            await person.until(lambda: not facts._flashing)
            assert person.sees("All 11")

    async def test_what_another_process_changes_is_in_the_preview_too(self, story: Story, person: Person) -> None:
        await person.put_cursor(story.facts["jenkins"])
        memoranda(story.folder, "pin", "6")
        await person.until(lambda: person.preview[0].endswith("★ pinned"))
        memoranda(story.folder, "forget", "6")
        await person.until(lambda: not any("Jenkins" in row for row in person.rows))
        await person.until(lambda: person.record is not None and person.record.citation == "F#7")

    async def test_undo_takes_back_the_persons_own_step_and_not_the_agents(self, story: Story, person: Person) -> None:
        await person.press("f")
        with story.open(door="mcp") as memory:
            memory.facts.remember("an agent was here", actor="agent")
        await person.press("u")
        assert person.toasts[-1] == "Undid: forget F#2; ^r redoes it"
        with story.open() as memory:
            assert memory.facts.get(15).status == "active"

    async def test_after_a_failed_write_the_row_comes_back(self, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object, **__: object) -> None:
            raise StorageError("The disk that holds it is full; nothing was lost.", "Free some space and try again.")

        monkeypatch.setattr("store.records.facts.Facts.forget", full)  # the disk of a test cannot be filled
        async with opened(story.folder) as person:
            before = person.rows
            await person.press("f")
            assert person.toasts == ["The disk that holds it is full; nothing was lost. Free some space and try again."]
            assert person.rows == before


class TestFiles:
    async def test_a_newer_file_is_read_and_not_written(self, story: Story) -> None:
        connection = apsw.Connection(str(story.path))
        connection.pragma("user_version", 99)
        connection.close()
        ours(story.path)  # with another page than its original it is no copy of ours
        async with opened(story.folder) as person:
            assert "written by a newer Memoranda; it can be read here and not changed" in person.toasts[0]
            assert person.sees("All 10")
            for keys in (["f"], ["y"], ["p"], ["u", "y"]):  # an undo of what is old asks first
                await person.press(*keys)
                assert "newer Memoranda" in person.toasts[-1] and "pip install --upgrade" in person.toasts[-1]
                assert len(person.rows) == 10
            assert len(person.toasts) == 5

    @pytest.mark.parametrize("what", ["text", "database"])
    async def test_a_foreign_file_ends_the_app_with_its_reason(self, tmp_path: Path, what: str) -> None:
        path = tmp_path / "[/nope].db"  # a name that would be markup, were it read as such
        path.parent.mkdir(exist_ok=True)
        if what == "text":
            path.write_text("not a database, but long enough to be looked at " * 100)
        else:
            connection = apsw.Connection(str(path))
            connection.execute("CREATE TABLE theirs(x)")
            connection.close()
        path.chmod(0o600)
        from store.base.location import locate

        app = Memoranda(locate(str(path), {}, str(tmp_path)), str(tmp_path))
        async with app.run_test() as pilot:
            await Person(app, pilot).until(lambda: app._exit)
            [said] = app._exit_renderables
            assert str(path) in str(said) and "Nothing was changed" in str(said)
        assert app.return_code == 1

    @SIZES
    async def test_empty_panes_teach(self, bare: Path, size: tuple[int, int]) -> None:
        async with opened(bare, size) as person:
            assert person.sees("No facts yet.", "All 0")
            await person.press("2")
            assert person.sees("Nothing happened here yet.")
            for key in ("f", "c", "y", "p", "enter", "j", "G", "backspace", "s", "d", "H", "tab", "right", "J"):
                await person.press(key)
            await person.press("u")
            assert person.toasts[-1].startswith("There is nothing to undo.")
            await person.press("1", "a")
            await person.paste("the first one")
            await person.press("enter")
            assert person.sees("All 1", "the first one")

    async def test_a_filter_that_leaves_nothing_says_so(self, person: Person) -> None:
        await person.command("facts zebra")
        assert person.sees("No facts match.") and not person.sees("No facts yet.")

    async def test_a_long_reading_of_git_shows_progress(self, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
        """The real worker's report, held still: 3,000 commits go by too fast to be seen."""
        let_go = threading.Event()

        def slow(upkeep: MaintenanceWorker, progress: Callable[[int, int], None], trouble: object) -> int:
            progress(250, 3000)
            let_go.wait(PATIENCE)
            progress(3000, 3000)
            return 3000

        monkeypatch.setattr(MaintenanceWorker, "catch_up", slow)
        app = Memoranda(story.location, str(story.folder), Clock())
        async with app.run_test(size=WIDE) as pilot:
            person = Person(app, pilot)
            await person.until(lambda: person.sees("reading git 250 of 3,000"))
            assert person.sees("Alérgica"), "and the lists are there meanwhile"
            let_go.set()
            await person.until(lambda: not person.sees("reading git"))
            await person.settle()  # it is said right after
            assert person.toasts == ["Read 3,000 new commits from git."]

    async def test_a_broken_history_is_told_and_the_rest_is_there(self, tmp_path: Path) -> None:
        folder = tmp_path / "fresh"
        repositories.commit(folder, "feat: lost", {"a.txt": "lost"})
        blob = repositories.git(folder, "rev-parse", "HEAD:a.txt")
        sha = repositories.commit(folder, "feat: kept", {"a.txt": "kept"})
        (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
        async with opened(folder) as person:
            await person.press("2")
            await person.until(lambda: person.sees("feat: lost") and person.sees("feat: kept"))
            await person.until(lambda: any("cannot tell the size of 2 commits" in toast for toast in person.toasts))
            assert any(f"C#{sha[:7]}" in toast for toast in person.toasts)

    async def test_first_start_reads_the_commits(self, tmp_path: Path) -> None:
        folder = tmp_path / "fresh"
        for number in range(3):
            repositories.commit(folder, f"feat: number {number}", {"a.txt": str(number)})
        async with opened(folder) as person:
            await person.press("2")
            await person.until(lambda: any("number 2" in row for row in person.timeline))
            assert [row for row in person.timeline if "number" in row] and len(person.timeline) == 4
            assert repositories.git(folder, "status", "--porcelain") == ""

    async def test_git_that_cannot_be_read_is_a_warning(self, story: Story) -> None:
        ours(story.path)  # a copy is not taken for ours where git cannot say that it does not track it
        (story.folder / ".git" / "HEAD").write_text("nonsense")
        async with opened(story.folder) as person:
            assert any("could not catch up with git" in toast for toast in person.toasts)
            await person.press("2", "j")
            await person.until(lambda: any("No diff:" in line for line in person.preview))


class TestSizes:
    async def test_one_list_at_every_size(self, narrow: Person) -> None:
        main = narrow.main
        for size in (NARROW, WIDE, (200, 60), (60, 15)):
            await narrow.pilot.resize_terminal(*size)
            await narrow.settle()
            for key, name, other in (("2", "timeline", "facts"), ("1", "facts", "timeline")):
                await narrow.press(key)
                assert not main.list_of(other).region.width and narrow.at == name
                shown, preview = main.list_of(name).region, main.query_one("#preview").region
                if size[0] < 100:
                    assert shown.width == size[0] and shown.bottom <= preview.y
                else:
                    beside = 24 if size[0] >= 160 else 0  # the sidebar
                    assert shown.right <= preview.x and shown.width + preview.width >= size[0] - beside - 5

    async def test_resizing_keeps_the_place(self, person: Person) -> None:
        await person.press("2", "G")
        record = person.record
        for size in (NARROW, (60, 15), (200, 60), (30, 8), WIDE):
            await person.pilot.resize_terminal(*size)
            await person.settle()
            assert person.record == record and person.at == "timeline"
            assert len(person.lines) == size[1] and all(len(line) <= size[0] for line in person.lines)
            assert any(row.startswith("▸") for row in person.timeline), size

    async def test_a_pane_chosen_by_mouse_is_the_one_that_stays(self, person: Person) -> None:
        await person.pilot.click("#top", offset=(person.lines[0].index("2 Timeline") + 2, 0))
        await person.settle()
        assert person.at == "timeline"
        await person.pilot.resize_terminal(*NARROW)
        await person.settle()
        assert person.at == "timeline" and person.main.list_of("timeline").region.width == 80


async def test_what_is_typed_right_after_enter_is_for_what_is_found(person: Person) -> None:
    """A query, Enter and a verb in one breath, as fast fingers send them: the verb is about the first hit."""
    await person.pilot.press("slash")
    await person.until(lambda: person.at == "query")
    for key in (*"jenkins", "enter", "c"):
        person.app.post_message(events.Key(key, key if len(key) == 1 else "\r"))
    await person.until(lambda: person.at == "edit" and person.sees("correct F#6"))
    assert person.main.query_one(SearchBar).query_text == "jenkins"


async def test_the_screen_is_drawn_soon_after_a_change_and_no_other_timer_is_hurried(person: Person) -> None:
    timers = [person.main.set_interval(1.0, name=name, pause=True) for name in ("screen_update", "another", None)]
    assert [timer._interval for timer in timers] == [FRAME_SECONDS, 1.0, 1.0]
    assert person.main.set_interval(0.001, name="screen_update", pause=True)._interval == 0.001
