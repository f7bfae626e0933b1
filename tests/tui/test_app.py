"""The application as a person uses it: facts, timeline, preview, search, typed commands, who else writes, and files
that are empty, foreign, newer or broken."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from support import repositories
from support.ours import ours
from support.screen import NARROW, PATIENCE, TWO_SIZES, WIDE, Person, opened
from support.stories import NOON, Clock, Story
from support.tables import each
from textual.color import Color
from textual.widgets import Input

import tui
from store.base.errors import StorageError
from store.base.models import Commit
from store.base.vocabulary import DOMAINS, pack_key
from store.memory import Memory
from store.projects.locating import locate
from tui.app import Memoranda
from tui.input.completion import complete_typed
from tui.lists.record_rows import ROOMY_LIST
from tui.main_screen.background import POLL_SECONDS
from tui.main_screen.places import OTHERS_SECONDS
from tui.panes.facts import read_first_facts
from tui.render.lines import StyledLine as DescribedLine
from tui.screens.base import FRAME_SECONDS
from tui.screens.dialogs import Form
from tui.widgets.bars import Bar
from tui.widgets.inputs import TextEditor
from tui.workers.background import MaintenanceWorker
from tui.workers.engine import Engine


def memoranda(folder: Path, *words: str) -> None:
    """The command line, as another process and this tree's code."""
    environment = os.environ | {"PYTHONPATH": str(Path(tui.__file__).parent.parent)}
    command = [sys.executable, "-P", "-m", "tui.main", *words]
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)


def cited(person: Person) -> str:
    """The citation of the record in the preview."""
    return getattr(person.record, "citation", "")


def fact(story: Story, name: str) -> int:
    """The key of a fact of the story."""
    return pack_key("fact", story.facts[name])


class TestFacts:
    @TWO_SIZES
    async def test_the_state_is_read_from_the_left_edge_and_what_is_left_out_is_said(self, person: Person) -> None:
        assert [row[:2] for row in person.rows] == ["▸▲", *(f" {one}" for one in "▲▽▽◐★••••"[: len(person.rows) - 1])]
        assert person.sees("billing-api", "All 10", "Aging 1", "Low 2", "Stale 2")
        assert next(row for row in person.rows if "Deploy" in row).endswith("94 d")
        headings = [line for line in person.lines if "──" in line and ("too old" in line or "weak" in line)]
        assert [line.split()[:2] for line in headings[:2]] == [["Stale", "2"], ["Low", "2"]]
        words = []
        for _ in range(7):
            words.append(person.preview[0].split()[-1])
            await person.press("j")
        assert words == ["stale", "stale", "low", "low", "aging", "pinned", "fresh"], "the preview says it in words"
        assert person.sees("2 forgotten, 2 replaced hidden")
        for words, shown in (("show what", True), ("hide what", False)):
            await person.follow((f"o > {words}",), ("G",))
            assert person.sees("all shown") == shown and any("↷" in row for row in person.rows) == shown

    async def test_orders_and_filters_keep_the_fact(self, story: Story, person: Person) -> None:
        await person.put_cursor(fact(story, "rounding"))
        for order, first in (
            ("oldest first", "Alérgica"),
            ("by domain", ""),
            ("newest first", "Primary"),
            ("by text", "Alérgica"),
            ("by need", "Releases"),
        ):
            await person.follow((f"o > {order}",))
            assert cited(person) == f"F#{story.facts['rounding']}" and first in person.all_rows[0] + person.all_rows[1]
        await person.follow(("o > stale", "▲ Stale 2 ×", "2 of 10 · esc all"))
        assert {row[1] for row in person.rows} == {"▲"}
        await person.follow(("escape", lambda: len(person.rows) == 10 and "×" not in person.title))
        await person.follow((":facts zebra", "No facts match.", "!No facts yet."))
        await person.follow(("escape ctrl+a ctrl+a f", "No fact holds any more. o shows"))

    async def test_a_list_with_room_says_the_domain_and_who_wrote_it(self, story: Story) -> None:
        async with opened(story.folder, (200, 50)) as person:
            assert person.record_list.size.width >= ROOMY_LIST
            assert next(row for row in person.rows if "Deploy" in row).endswith("projects · agent ·  94 d")
            await person.pilot.resize_terminal(*WIDE)
            await person.settle()
            assert not any(domain in row for row in person.rows for domain in DOMAINS)
            assert next(row for row in person.rows if "Deploy" in row).split()[-3:] == ["lunch", "94", "d"]

    @pytest.mark.parametrize("size", [NARROW, WIDE, (200, 50)], ids=["80x24", "120x40", "200x50"])
    async def test_what_is_stale_is_the_loudest(self, size: tuple[int, int], person: Person) -> None:
        """Its text is bold, and its age is coloured as its glyph is; nothing else is bold."""
        await person.press("enter")  # the row under a focused cursor is a state of its own
        loud: dict[str, set[bool | None]] = {}
        for y in range(person.record_list.size.height):
            line = person.record_list.render_line(y)
            if (glyph := line.text[1:2]) not in "▲▽◐★•":
                continue
            styles = {text.strip(): style for text, style, _ in line if text.strip() and style}
            loud[glyph] = loud.get(glyph, set()) | {any(style.bold for style in styles.values())}
            if glyph == "▲":
                assert styles[line.text.rstrip()[-5:].strip()].color == styles["▲"].color
        assert loud.pop("▲") == {True} and all(bold == {False} for bold in loud.values()), loud

    async def test_what_changes_nothing_writes_nothing(self, story: Story, person: Person) -> None:
        await person.press("c", "x", "escape")
        assert person.at == "list" and not person.main.query(TextEditor), "escape leaves a correction"
        await person.hears(("c enter", "F#2 says exactly that. Confirm it instead, if it is still true."))
        await person.follow(("o > show what",))
        await person.put_cursor(fact(story, "standup"))
        await person.hears(("f", f"F#{story.facts['standup']} is forgotten already. Undo brings it back."))
        await person.press("a", "enter")
        assert isinstance(person.app.screen, Form), "nothing was said, so nothing is remembered"
        with story.open() as memory:
            assert memory.history.steps(limit=1)[0].door == "cli"

    async def test_a_confirmed_fact_keeps_its_place_until_the_list_is_opened_again(self, person: Person) -> None:
        first = person.rows[0]
        await person.press("y")
        assert person.toasts == ["Confirmed F#2, u to undo"] and cited(person) == "F#6", "the cursor goes on"
        assert person.sees("Stale 1 + 1 changed")
        assert len(person.rows) == 10 and person.rows[0].split()[1:3] == first.split()[1:3]
        await person.press("3", "2")
        assert not person.sees("changed") and person.sees("Stale 1", "Fresh 5")
        assert person.rows[0].split()[1:3] != first.split()[1:3]

    async def test_forgetting_and_undo_leave_the_cursor_in_its_place(self, story: Story, person: Person) -> None:
        """Also while somebody else is writing, so that the writer has to wait."""
        await person.put_cursor(fact(story, "fridays"))
        before = person.rows
        holder = apsw.Connection(str(story.path))
        holder.execute("BEGIN IMMEDIATE")
        await person.pilot.press("f")
        assert person.toasts == []
        holder.execute("ROLLBACK")
        holder.close()
        await person.settle()
        assert person.rows[2].startswith("▸▽") and not any("Deploy" in row for row in person.rows)
        assert person.toasts == ["Forgot F#7, u to undo"] and person.sees("All 9", "Low 1")
        await person.hears(("u", "Undid: forget F#7; ^r redoes it"))
        assert person.rows == before and cited(person) == "F#7", "in its old place, under the cursor"
        await person.hears(("ctrl+r", "Redid: forget F#7; u undoes it"))
        assert not any("Deploy" in row for row in person.rows)

    async def test_after_a_failed_write_the_row_is_there(self, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object, **__: object) -> None:
            raise StorageError("The disk that holds it is full; nothing was lost.", "Free some space and try again.")

        monkeypatch.setattr("store.records.facts.Facts.forget", full)  # the disk of a test cannot be filled
        async with opened(story.folder) as person:
            before = person.rows
            await person.hears(
                ("f", "The disk that holds it is full; nothing was lost. Free some space and try again.")
            )
            assert person.rows == before

    async def test_correct_in_place(self, story: Story, person: Person) -> None:
        await person.put_cursor(fact(story, "five"))
        await person.press("c")
        editor = person.main.query_one(TextEditor)
        assert person.sees("correct F#5", "enter saves") and person.app.focused is editor
        assert editor.text == "Team of five, two of them part time"
        assert editor.cursor_location == editor.document.end
        await person.fill("Team of five, all day")
        assert person.toasts == ["F#15 replaces F#5, u to undo"] and person.at == "list"
        assert person.preview[1] == "Team of five, all day", "the cursor went with it"
        chain = [line for line in person.preview[person.preview.index("What it said over time") :] if "F#" in line]
        assert [line[:6].strip("▸ ") for line in chain[:4]] == ["F#3", "F#4", "F#5", "F#15"]
        assert chain[3].startswith("▸ F#15  Team of five, all day")
        await person.press("u")
        assert any("Team of five, two" in row for row in person.rows)

    async def test_add(self, story: Story, person: Person) -> None:
        """A fact; the same again; one of the domain that is listed."""
        await person.follow(("a", "What should be remembered?"), ("> Lunch is at one",))
        with story.open() as memory:
            number = max(memory.facts.ids(NOON, statuses=("active", "superseded", "forgotten")))
        assert person.toasts == [f"Remembered F#{number}, u to undo"]
        assert person.preview[1] == "Lunch is at one" and person.sees("All 11")
        await person.follow(("a > lunch  is at ONE.",))
        assert person.toasts == [f"F#{number} is already known; confirmed, u to undo"], "the newest stands alone"
        await person.follow((":list --domain preferences",), ("a", "Remember (preferences)"))
        await person.follow(
            ("> Tabs, not spaces", "preferences ×", lambda: any("Tabs, not" in row for row in person.rows))
        )


class TestStart:
    """The first facts are shown before all that acts on them is imported."""

    async def test_the_first_facts_stand_where_they_stay(self, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", str(WIDE[0]))  # the first frame takes the terminal's
        show_main = Memoranda._show_main
        monkeypatch.setattr(Memoranda, "_show_main", lambda app: None)
        app = Memoranda(story.location, os.fspath(story.folder), Clock())
        async with app.run_test(size=WIDE) as pilot:
            person = Person(app, pilot)
            await person.until(lambda: person.sees("Stale 2", "Deploy"))
            first = [line[:70] for line in person.lines[3:-1]]
            show_main(app)
            await person.until(lambda: app._main is not None and app._main.query("#query"))
            await person.settle()
            assert [line[:70].replace("▸", "▹", 1) for line in person.lines[3:-1]] == first

    async def test_an_empty_memory_says_so(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Memoranda, "_show_main", lambda app: None)
        Memory.open(os.fspath(tmp_path / "new.db")).close()
        app = Memoranda(locate(os.fspath(tmp_path / "new.db"), {}, "/"), "/", Clock())
        async with app.run_test(size=WIDE) as pilot:
            await Person(app, pilot).until(lambda: Person(app, pilot).sees("No facts yet. a adds the first one"))

    def test_none_of_a_memory_that_is_not_ours(self, story: Story, tmp_path: Path) -> None:
        """Neither of a file of somebody else, nor of one that took the place of ours."""
        theirs = tmp_path / "theirs.db"
        assert read_first_facts(locate(os.fspath(story.path), {}, "/"), Clock()) is not None
        shutil.copy(story.path, theirs)
        assert read_first_facts(locate(os.fspath(theirs), {}, "/"), Clock()) is None
        Memory.open(os.fspath(tmp_path / "ours.db")).close()
        theirs.replace(tmp_path / "ours.db")
        assert read_first_facts(locate(os.fspath(tmp_path / "ours.db"), {}, "/"), Clock()) is None

    async def test_all_else_comes_where_they_cannot_be_read_soon(
        self, story: Story, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shown, show, waited = threading.Event(), Memoranda._show_main, list[bool]()
        monkeypatch.setattr(Memoranda, "_show_main", lambda app: (show(app), shown.set()))
        monkeypatch.setattr("tui.panes.facts.read_first_facts", lambda *given: waited.append(shown.wait(PATIENCE)))
        async with opened(story.folder) as person:
            assert person.sees("Stale 2") and waited == [True]


class TestTimeline:
    async def test_days_kinds_and_what_cannot_be_changed(self, story: Story, person: Person) -> None:
        await person.press("3")
        assert person.headings == ["Sat 21 Nov 2026", "Fri 20 Nov 2026", "Thu 19 Nov 2026", "Wed 18 Nov 2026"]
        assert [row[1] for row in person.rows] == list("·○◆◆↻▪○◆○○·◆↻")
        assert not any("fax" in row for row in person.rows), "a forgotten decision is not in it"
        assert "D#2 D#3" in next(row for row in person.rows if "fix: keep" in row)
        await person.hears(("f", "No: "), ("c", "In other words: "), ("y", "Yes: "), ("p", "Pin the fact"))
        await person.press("G", "k")
        await person.pilot.click("#preview", offset=(14, person.preview.index("During       I#1")))
        await person.settle()
        assert cited(person) == "I#1", "a click follows a citation"
        await person.press("escape")
        person.app.clear_notifications()
        await person.put_cursor(pack_key("decision", story.decisions["pdf"]))
        await person.press("c")
        assert person.sees("D#4 now chooses") and person.main.query_one(TextEditor).text == "PDF/A-3"
        await person.fill("PDF/A-3 with XML inside")
        assert person.toasts == ["D#6 replaces D#4, u to undo"]
        assert "Replaces     D#4" in person.preview, "the cursor is on the new one"
        await person.press("u")
        assert cited(person) == "D#4"
        await person.hears(("f", "Forgot D#4, u to undo"))
        assert not any("PDF/A" in row for row in person.rows)
        await person.follow(("u", lambda: any("PDF/A" in row for row in person.rows)))

    async def test_a_diff_is_coloured_by_the_theme(self, person: Person) -> None:
        """And a light theme writes dark on light."""
        await person.press("3", "g", "j")
        await person.until(lambda: "+LIMIT = 1000" in person.preview)
        preview = person.main.pane.preview
        shown = {strip.text.strip(): strip for strip in map(preview.render_line, range(preview.size.height))}
        for line, token in (("+LIMIT = 1000", "text-success"), ("-    return redis.get(key)", "text-error")):
            colour = next(segment.style.color for segment in shown[line] if segment.style)
            assert colour == Color.parse(person.app.theme_variables[token]).rich_color
        await person.press("enter")
        assert preview.scroll_offset.y == 0 and "+LIMIT = 1000" in person.preview, "the diff stays"
        person.app.theme = "textual-light"
        for key in "23":
            await person.press(key, "g", "j")
            await person.until(lambda key=key: key == "2" or "+LIMIT = 1000" in person.preview)
            assert person.lines, "a widget takes its colours when it is drawn"
            for widget in (preview, person.record_list):
                strips = [*map(widget.render_line, range(widget.size.height))]
                for text, style, _ in (segment for strip in strips for segment in strip):
                    if text.strip() and style and style.color and style.bgcolor:
                        written, ground = map(Color.from_rich_color, (style.color, style.bgcolor))
                        assert written.brightness < ground.brightness, text

    async def test_follow_citations_and_come_back(self, story: Story, person: Person) -> None:
        readme, schema = (f"C#{story.shas[name][:7]}" for name in ("readme", "schema"))
        await person.press("3", "G", "k", "enter")
        assert person.preview[1] == "Use SQLite, not PostgreSQL" and person.at == "preview"
        preview = person.main.pane.preview
        for key, link in (("left", schema), ("right", readme), ("left", schema)):  # it does not go round
            await person.press(key)
            assert person.lines[-1].startswith(f" enter opens {link}  ")
        seen = []
        for key in ("enter", "enter", "right", "enter", "backspace", "backspace", "backspace"):
            await person.press(key)
            seen.append(cited(person))
        assert seen == [schema, "D#1", "D#1", readme, "D#1", schema, "D#1"] and person.at == "preview"
        assert preview.selected == 0, "the link from which one comes"
        await person.press("backspace")
        assert person.at == "list"

    async def test_a_late_diff_is_added_to_no_other_record(self, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
        asked, let_go, read = threading.Event(), threading.Event(), Engine.diff

        def slow(engine: Engine, commit: Commit, columns: int) -> list[DescribedLine]:
            asked.set()
            let_go.wait(PATIENCE)
            return read(engine, commit, columns)

        monkeypatch.setattr(Engine, "diff", slow)
        async with opened(story.folder) as person:
            await person.pilot.press("3", "j")
            await person.until(asked.is_set)
            await person.pilot.press("j")
            await person.until(lambda: cited(person) == "D#4")
            let_go.set()
            await person.settle()
            assert not any("diff --git" in line for line in person.preview)


class TestSearch:
    async def test_typing_finds_and_escape_or_an_empty_line_leaves(self, story: Story, person: Person) -> None:
        await person.search("cache")
        assert person.sees("All 3", "3 found") and all("cache" in row.lower() for row in person.rows)
        assert person.at == "query", "the person goes on typing"
        await person.press("enter", "j")
        assert person.at == "list" and cited(person) in person.rows[1]
        await person.press("escape")
        assert person.place == "facts" and person.main.query_one("#query", Input).value == ""
        assert "found" not in person.lines[1]
        await person.search("cache")
        await person.press(*["backspace"] * 5)
        assert person.place == "facts" and person.at == "query"
        await person.follow(("/zebra",), ("enter f", "Nothing is selected."))
        await person.start_again()
        await person.search("jenkins")
        await person.hears(("enter f", "Forgot F#6, u to undo"))
        await person.until(lambda: not person.rows or "✕" in person.rows[0])
        await person.press("u")
        await person.until(lambda: person.rows and "▲" in person.rows[0])
        assert cited(person) == "F#6"


class TestCommands:
    async def test_lines_that_list_and_write(self, narrow: Person) -> None:
        for line, seen, rows in (
            ("/memory list jenkins", "“jenkins” ×", 1),
            ("/facts --domain projects --sort text --all", "projects ×", 2),
            ("facts", "Stale 2", len(narrow.rows)),
        ):
            await narrow.command(line)
            assert narrow.place == "facts" and narrow.sees(seen) and len(narrow.rows) == rows, line
        assert "by text" not in narrow.title, "without an order, the pane's own"
        await narrow.hears(
            (":/memory add don't hedge --domain preferences", "Remembered F#15, u to undo"),
            (":/remember Don't hedge", "F#15 is already known; confirmed"),
            (":memory correct F#15 do not hedge", "F#16 replaces F#15, u to undo"),
            (":/memory forget 16", "Forgot F#16, u to undo"),
            (":/memory confirm 6 F#2", "Confirmed 2 facts, u to undo"),
            (":list --domain nonsense", "Domains: work, preferences"),
            (":undo", "Undid step 34: confirm F#6 F#2"),
        )
        await narrow.command("list --status forgotten")
        assert "Stand-up at nine" in "\n".join(narrow.preview)

    async def test_export_asks_before_it_replaces(self, story: Story) -> None:
        target = Path.home() / "billing-api-memory.json"  # not the checkout, where `git add` would publish it
        async with opened(story.folder) as person:
            await person.hears((":/memory export", f"Exported to {target}"))
            assert json.loads(target.read_text())["tables"]["facts"]
            target.write_text("mine")
            for key in ("escape", "enter"):
                await person.command("memory.export")
                assert person.sees("Replace it?") and target.read_text() == "mine"
                await person.press(key)
            assert json.loads(target.read_text())["tables"]["facts"]
            target.unlink()
            await person.hears((":export -", f"Exported to {target}"))  # nothing is printed here

    async def test_checkpoint_and_restore(self, person: Person) -> None:
        await person.hears((":/checkpoint quiet evening", "Checkpoint K#2"), ("f f", "Forgot F#6, u to undo"))
        for key, rows in (("escape", 8), ("enter", 10)):
            await person.command("/restore 2")
            await person.until(lambda: person.planning)
            assert person.sees("RESTORE K#2 “quiet evening”", "2 of 2 chosen")
            await person.press(key)
            assert len(person.rows) == rows
        assert person.toasts[-1] == "2 records changed; K#3 is how it was; u undoes it all"
        await person.follow(("u", "All 8"))

    async def test_what_verbs_read_is_in_the_preview_or_the_search(self, person: Person) -> None:
        await person.command("show K#1")
        assert person.preview[1] == "before refactor" and any("Since then" in line for line in person.preview)
        await person.command("decisions")
        assert person.at == "preview" and "D#1" in "\n".join(person.preview), "it is read out"
        await person.press("right", "enter")
        assert cited(person).startswith("D#"), "and its citations open"
        await person.press("escape")
        assert person.at == "list" and cited(person) == "F#2"
        await person.follow((":search cache kind:commit", "2 found"))
        await person.settle()
        assert len(person.rows) == 2 and person.at == "query"

    async def test_the_box_completes_and_keeps_what_was_typed(self, person: Person) -> None:
        def typed() -> str:
            return person.app.screen.query_one("#words", Input).value

        await person.press("colon", *"/memory e", "tab")
        assert typed() == "/memory export " and person.sees("export [FILE]")
        await person.press("escape")
        for line in ("stats", "decisions"):
            await person.command(line)
            await person.press("escape", "escape")
        await person.press("colon", "up")
        assert typed() == "decisions"
        await person.press("up", "up")
        assert typed() == "stats"
        await person.press("escape", "colon", "q", "enter")
        await person.pilot.pause()
        assert not person.app.is_running or person.app._exit

    async def test_what_cannot_be_meant_is_said(self, story: Story, person: Person) -> None:
        await person.hears(
            (":tag", "tag wants ID…: a fact's number, or F#12, G#5, D#3, A#4."),
            (":list --nonsense", "list has no option “--nonsense”"),
            (":forget F#1 P#1", "Records of several kinds are changed one kind at a time."),
            (":correct F#1", "Say what is true now, or where the fact belongs."),
            (":restore K#99", "There is no checkpoint K#99."),
            (":show D#99", "There is no decision D#99"),
            (":show nonsense", "“nonsense” is not a citation."),
            (":undo 99999", "History has no step 99999."),
            (":redo", "There is nothing to redo."),
        )
        await person.command("forget --help")
        assert person.preview[0].startswith("memoranda forget [ID…]")
        await person.press("escape", "colon", "escape")
        assert person.at == "list"
        with story.open() as memory:
            assert memory.history.steps(limit=1)[0].door == "cli", "and nothing was changed"


# what is typed → what it becomes; without an arrow it stays
COMPLETIONS = """
fo→forget |/fo→/forget |memory lis→memory list |/memory→/memory |re|rest→restore |checkpoint→checkpoint |nothing||
list --so→list --sort |/memory list --so→/memory list --sort |list --s|list --st→list --status |list wo→list work |
list  --sort  ne→list  --sort  newest |list --sort=ne→list --sort=newest |decide x --impact |list --js|list work |
remember José's team --do→remember José's team --domain |config badges a→config badges ascii |checkpoint the first
"""


@each("line", COMPLETIONS.replace("\n", "").split("|"))
def test_completion(line: str) -> None:
    typed, arrow, expected = line.partition("→")
    assert complete_typed(typed) == (expected if arrow else typed)


class TestFooter:
    async def test_it_keeps_what_matters_where_it_is_narrow_and_speaks_of_what_is_typed(self, story: Story) -> None:
        async with opened(story.folder, (40, 24)) as person:
            assert ": more" in person.lines[-1] and len(person.lines[-1]) <= 40
            await person.pilot.resize_terminal(*NARROW)
            for key in ("slash", "c"):
                await person.press(key)
                assert "forget" not in person.lines[-1] and "esc" in person.lines[-1], key
                await person.press("escape")
            await person.press("3", "3")
            assert "y yes  f forget  c correct" in person.lines[-1], "those for one record"

    async def test_a_bar_that_says_the_same_is_not_drawn_again(self, story: Story) -> None:
        """Three bars drawn at each key are a fifth of its time."""
        async with opened(story.folder) as person:
            drawn: list[str | None] = []
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Bar, "refresh", lambda bar, *_, **__: drawn.append(bar.id))
                await person.press("j", "j", "k")
                assert "footer" not in drawn
                await person.press("slash")
                assert "footer" in drawn


class TestOthers:
    async def test_what_another_process_writes_appears_by_itself(self, story: Story) -> None:
        """Within a second: `python -m bench.live_updates` measures it. Also in the preview."""
        assert POLL_SECONDS < OTHERS_SECONDS <= 1
        async with opened(story.folder) as person:
            await person.press("j")
            selected, shown = person.record, person.record_list
            memoranda(story.folder, "remember", "The other door was used", "--domain", "work")
            await person.until(lambda: any("The other door" in row for row in person.rows))
            y = next(y for y in range(shown.size.height) if "The other door" in shown.render_line(y).text)
            lit, calm = ({segment.style.bgcolor for segment in shown.render_line(at) if segment.style} for at in (y, 3))
            assert len(lit) == len(calm) == 1 and lit != calm, "its row is lit"
            assert person.record == selected, "and nothing else moved"
            await person.until(lambda: not shown._flashing)
            assert person.sees("All 11")
            memoranda(story.folder, "pin", "6")
            await person.until(lambda: person.preview[0].endswith("★ pinned"))
            memoranda(story.folder, "forget", "6")
            await person.until(lambda: not any("Jenkins" in row for row in person.rows))
            await person.until(lambda: cited(person) == "F#7")


class TestFiles:
    async def test_a_newer_file_is_read_and_not_written(self, story: Story) -> None:
        connection = apsw.Connection(str(story.path))
        connection.pragma("user_version", 99)
        connection.close()
        ours(story.path)  # with another page than its original it is no copy of ours
        async with opened(story.folder) as person:
            assert "written by a newer Memoranda; it can be read here and not changed" in person.toasts[0]
            assert person.sees("All 10")
            for key in "fypu":
                await person.press(key)
                assert "newer Memoranda" in person.toasts[-1] and "pip install --upgrade" in person.toasts[-1]
                assert len(person.rows) == 10

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
            await person.until(lambda: person.sees("Alérgica"))  # the lists are there meanwhile
            let_go.set()
            await person.until(lambda: not person.sees("reading git"))
            await person.settle()  # it is said right after
            assert person.toasts == ["Read 3,000 new commits from git."]

    async def test_what_git_holds_is_read_at_the_first_start(self, tmp_path: Path) -> None:
        """A commit whose content is lost is told, and the rest is there."""
        folder = tmp_path / "fresh"
        repositories.commit(folder, "feat: lost", {"a.txt": "lost"})
        blob = repositories.git(folder, "rev-parse", "HEAD:a.txt")
        sha = repositories.commit(folder, "feat: kept", {"a.txt": "kept"})
        (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
        async with opened(folder) as person:
            await person.press("3")
            await person.until(lambda: person.sees("feat: lost") and person.sees("feat: kept"))
            await person.until(lambda: any("cannot tell the size of 2 commits" in toast for toast in person.toasts))
            assert any(f"C#{sha[:7]}" in toast for toast in person.toasts)
            assert ".memoranda" not in repositories.git(folder, "status", "--porcelain")

    async def test_git_that_cannot_be_read_is_a_warning(self, story: Story) -> None:
        ours(story.path)  # a copy is not taken for ours where git cannot say that it does not track it
        (story.folder / ".git" / "HEAD").write_text("nonsense")
        async with opened(story.folder) as person:
            assert any("could not catch up with git" in toast for toast in person.toasts)
            await person.press("3", "j")
            await person.until(lambda: any("No diff:" in line for line in person.preview))


async def test_the_screen_is_drawn_soon_after_a_change_and_no_other_timer_is_hurried(person: Person) -> None:
    timers = [person.main.set_interval(1.0, name=name, pause=True) for name in ("screen_update", "another", None)]
    assert [timer._interval for timer in timers] == [FRAME_SECONDS, 1.0, 1.0]
    assert person.main.set_interval(0.001, name="screen_update", pause=True)._interval == 0.001
