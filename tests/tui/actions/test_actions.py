"""What a person does to the memory in the application, each act as it is done: marks, tags, tasks, links, decisions,
the editor, the clipboard, the configuration, another memory; and that keys, palette, bar and help know the same."""

import os
import shlex
import threading
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support import repositories
from support.screen import HUGE, PATIENCE, WIDE, Person, opened
from support.stories import Clock, Story, copy, location
from textual.command import CommandPalette
from textual.widgets import OptionList

from store.base.clock import to_ms
from store.base.errors import MemorandaError
from store.base.vocabulary import pack_key
from store.config.configuration import user_settings_path
from store.database.schema import RECORDED_TABLES
from store.history.checkpoints import MANY_RECORDS
from store.memory import Memory
from tui.app import Memoranda
from tui.commands import location as recent_files
from tui.commands.call import Call
from tui.commands.dispatch import run_verb
from tui.input.arguments import UsageError, Verb, parse_arguments
from tui.input.completion import complete_line
from tui.input.key_table import FURTHER_SCREENS, HITS, KEYS, KEYS_BY_ID, LIST_NAMES, PANE_NAMES, PREVIEW
from tui.input.verb_table import MODULES, find_verb, list_verbs
from tui.screens.base import HelpScreen
from tui.screens.menus import HIDDEN_KEYS, RecentScreen, palette_entries
from tui.widgets.bars import Footer
from tui.widgets.inputs import Line
from tui.widgets.record_list import RecordList
from tui.workers.background import MaintenanceWorker


@pytest.fixture
def crowd(story: Story) -> list[int]:
    """A dozen facts more, in a domain of their own."""
    with story.open(now="2026-11-20T12:00:00.000Z") as memory:
        return [memory.facts.remember(f"Invoice series {number} is closed", domain="work")[0] for number in range(12)]


def steps(story: Story) -> list[str]:
    """The reasons of the steps of history that the story did not tell, oldest first."""
    with story.open() as memory:
        return [step.reason for step in memory.history.steps() if step.seq > 30 and step.door == "app"][::-1]


async def answer(person: Person, *texts: str) -> None:
    """Answer one question after the other, each from an empty line."""
    for text in texts:
        person.main.query_one(Line).set_text("")
        await person.paste(text)
        await person.press("enter")


class TestMarks:
    async def test_mark_move_on_and_act_on_all_in_one_step(self, story: Story, person: Person) -> None:
        await person.press("space", "space", "j", "space")
        assert [row[0] for row in person.rows[:6]] == ["✓", "✓", " ", "✓", "▸", " "]
        assert "3 marked" in person.title
        await person.press("f")
        assert person.toasts == ["Forgot 3 facts, u to undo"] and len(person.rows) == 7
        assert "marked" not in person.title and steps(story) == ["forget F#2 F#6 F#8"]
        await person.press("u", "y")
        assert len(person.rows) == 10

    async def test_a_range_grows_and_shrinks_with_the_cursor(self, person: Person) -> None:
        await person.press("j", "v", "j", "j")
        assert "3 marked" in person.title and person.lines[-1].lstrip().startswith("Move to mark more; v ends it")
        await person.press("k")
        assert "2 marked" in person.title
        await person.press("v", "j", "j")
        assert "2 marked" in person.title and "f forget" in person.lines[-1], "it has ended"
        await person.press("escape")
        assert "marked" not in person.title

    async def test_all_and_none(self, person: Person) -> None:
        await person.press("ctrl+a")
        assert "10 marked" in person.title
        await person.press("space")
        assert "9 marked" in person.title
        await person.press("ctrl+a", "ctrl+a")
        assert "marked" not in person.title

    async def test_what_goes_is_no_longer_marked(self, story: Story, person: Person) -> None:
        """Marked is what is in the list: what another process forgot, or a filter hides, is not acted on."""
        fact = story.facts["release"]
        await person.press("ctrl+a")
        with story.open(door="mcp") as memory:
            memory.facts.forget([fact])
        await person.until(lambda: len(person.rows) == 9)
        await person.settle()
        assert "9 marked" in person.title
        await person.press("p")
        assert person.toasts[-1].startswith("Pinned 8 facts"), "one is pinned"
        with story.open() as memory:
            assert not memory.facts.get(fact).pinned

    async def test_each_list_has_marks_of_its_own(self, person: Person) -> None:
        await person.press("space", "2")
        assert "marked" not in person.title
        await person.press("space", "space", "1")
        assert "1 marked" in person.title
        await person.press("f")
        assert person.toasts == ["Forgot F#2, u to undo"]


class TestBulk:
    @pytest.mark.parametrize(
        ("keys", "said", "reason"),
        [
            ("y", "Confirmed 3 facts, u to undo", "confirm F#6 F#7 F#8"),
            ("p", "Pinned 3 facts: they never age, u to undo", "pin F#6 F#7 F#8"),
            ("f", "Forgot 3 facts, u to undo", "forget F#6 F#7 F#8"),
        ],
    )
    async def test_one_key_takes_it_back(self, story: Story, keys: str, said: str, reason: str, person: Person) -> None:
        before = person.rows
        await person.press("j", "space", "space", "space", *keys)
        assert person.toasts == [said] and steps(story) == [reason] and "marked" not in person.title
        await person.press("u", "y")
        assert [row[1:] for row in person.rows] == [row[1:] for row in before]

    @pytest.mark.parametrize(("key", "question"), [("f", "Forget"), ("y", "Confirm"), ("p", "Pin")])
    async def test_above_ten_it_asks(self, story: Story, crowd: list[int], key: str, question: str) -> None:
        assert len(crowd) > MANY_RECORDS
        async with opened(story.folder) as person:
            await person.command("facts Invoice")
            await person.press("ctrl+a", key)
            assert person.sees(f"{question} 12 facts? y/n") and steps(story) == []
            await person.press("n")
            assert person.toasts[-1] == "Nothing was changed." and steps(story) == []
            await person.press(key, "escape")
            assert steps(story) == [] and "12 marked" in person.title
            await person.press(key, "y")
            assert len(steps(story)) == 1
            assert " 12 facts" in person.toasts[-1]
            assert person.toasts[-1].endswith(", u to undo; K#2 is how it was"), "a checkpoint comes first"
            with story.open() as memory:
                assert memory.checkpoints.get(2).name == f"before: {question.lower()} 12 facts"

    async def test_ten_are_not_asked_about(self, story: Story, crowd: list[int], person: Person) -> None:
        await person.command("facts Invoice")
        await person.press(*["space"] * 10, "f")
        assert person.toasts == ["Forgot 10 facts, u to undo"] and len(person.rows) == 2
        with story.open() as memory:
            assert len(memory.checkpoints.list_newest_first()) == 1, "a checkpoint of more is enough"

    async def test_pinning_some_pinned_ones_pins_all(self, person: Person) -> None:
        await person.press("space", "space", "p")
        assert [row[1] for row in person.rows[:2]] == ["★", "★"]
        await person.press("g")
        assert " p unpin " in person.lines[-1]
        await person.press("g", "space", "space", "p")
        assert person.toasts == ["Unpinned 2 facts, u to undo"] and [row[1] for row in person.rows[:2]] == [
            "▲",
            "▲",
        ]

    async def test_tags_come_and_go(self, story: Story, person: Person) -> None:
        facts = [story.facts[name] for name in ("release", "jenkins")]
        await person.press("space", "space", "number_sign")
        assert person.sees("tag F#2 F#6")
        await answer(person, "care")
        assert person.toasts == ["Tagged 2 facts: care, u to undo"] and steps(story) == ["tag F#2 F#6"]
        await person.press("g")
        assert "Tags         care" in person.preview
        await person.press("number_sign")
        assert person.sees("tag F#2 (care)")
        await answer(person, "-care")
        assert person.toasts == ["Removed care from F#2, u to undo"]
        with story.open() as memory:
            assert [memory.facts.get(fact).tags for fact in facts] == [(), ("care",)]
        await person.press("u", "u", "y")
        with story.open() as memory:
            assert [memory.facts.get(fact).tags for fact in facts] == [(), ()]
        await person.press("number_sign", "enter")
        await person.press("2", "number_sign")
        assert person.toasts[-1] == "Only facts, decisions and tasks have tags." and len(steps(story)) == 4

    async def test_several_tags_are_separated_by_commas(self, story: Story, person: Person) -> None:
        await person.press("number_sign")
        await answer(person, "Pagos, due soon ,pagos")
        assert person.toasts == ["Tagged F#2: Pagos, due-soon, u to undo"], "as they are stored"
        with story.open() as memory:
            assert memory.facts.get(2).tags == ("Pagos", "due-soon")
        await person.press("number_sign")
        await answer(person, "-pagos, due-soon")
        with story.open() as memory:
            assert memory.facts.get(2).tags == ()
        assert len(steps(story)) == 2

    async def test_decisions_and_tasks_have_tags_too(self, person: Person) -> None:
        await person.press("2", "d", "number_sign")
        await answer(person, "storage")
        assert "Tags         storage" in person.preview and person.preview[0].startswith("D#")
        await person.press("5", "number_sign")
        await answer(person, "soon")
        assert "Tags         soon" in person.preview and person.preview[0].startswith("A#")
        await person.press("slash")
        await person.paste("tag:storage")
        await person.press("enter")
        assert len(person.hits) == 1 and "D#" in person.hits[0]

    async def test_forgetting_facts_and_decisions_in_one_list(self, person: Person) -> None:
        await person.search("cache kind:decision,fact")
        await person.press("enter", "ctrl+a", "f")
        assert person.toasts[-1].startswith("Forgot ") and "D#3" in person.toasts[-1]


class TestTasks:
    async def test_add_and_move_through_its_states(self, story: Story, narrow: Person) -> None:
        await narrow.press("5", "a")
        assert narrow.sees("to be done")
        await answer(narrow, "call the printer")
        assert narrow.toasts == ["Added A#4, u to undo"]
        assert any(row.startswith("▸☐ call the printer") and "A#4" in row for row in narrow.tasks)
        for said, mark in (("Started A#4, u to undo", "◧"), ("Done with A#4, u to undo", "")):
            await narrow.press("m")
            assert narrow.toasts == [said]
            shown = [row for row in narrow.tasks if "A#4" in row]
            assert [row[1] for row in shown] == ([mark] if mark else []), "done ones are hidden"
        await narrow.press("H")
        await narrow.put_cursor(pack_key("task", 4), "tasks")
        await narrow.press("m")
        assert narrow.toasts == ["Reopened A#4, u to undo"]
        assert steps(story) == ["task add A#4", "task start A#4", "task done A#4", "task reopen A#4"]

    async def test_the_key_says_what_it_does_to_this_one(self, narrow: Person) -> None:
        await narrow.press("5")
        assert narrow.tasks[0].startswith("▸◧") and narrow.lines[-1].startswith(" m finish  ")
        await narrow.press("m", "H")
        await narrow.put_cursor(pack_key("task", 2), "tasks")
        assert narrow.main.footer.content.plain.startswith(" m open again ")  # below the message
        await narrow.press("m")
        await narrow.until(lambda: narrow.main.footer.content.plain.startswith(" m start  "))
        assert "A#2  task · open" in narrow.preview, "as its chip says"
        await narrow.press("space", "home")
        assert "m start, finish" in narrow.lines[-1], "the marked one is not the one at the cursor"

    async def test_correct_and_refuse(self, narrow: Person) -> None:
        await narrow.press("5", "c")
        assert narrow.sees("correct A#2", "probar el redondeo") and narrow.at == "edit"
        await narrow.paste(", dos veces")
        await narrow.press("enter")
        assert "probar el redondeo, dos veces" in narrow.tasks[0] and narrow.toasts == ["Corrected A#2, u to undo"]
        await narrow.press("f")
        assert narrow.toasts[-1].startswith("A task is finished with m")
        await narrow.press("y")
        assert narrow.toasts[-1] == "Only facts, and decisions that an agent logged, are confirmed."
        await narrow.press("1", "m")
        assert narrow.toasts[-1] == "m starts and finishes tasks; 5 goes to them."

    async def test_several_at_once(self, story: Story, narrow: Person) -> None:
        await narrow.press("5", "ctrl+a", "m")
        assert narrow.toasts == ["Done with 2 tasks, u to undo"]
        assert narrow.tasks == [] and steps(story) == ["task done A#2 A#3"]
        assert narrow.sees("3 done hidden: H", "No tasks to be done.")
        await narrow.press("u", "y")
        assert [row[1] for row in narrow.tasks] == ["◧", "☐"]

    async def test_a_key_begins_the_command_that_ends_or_starts_an_iteration(self, huge: Person) -> None:
        line = huge.main.query_one(Line)
        await huge.press("i")
        assert line.value == "iteration "
        await huge.press("enter")
        assert "I#2" not in huge.toasts[-1], "a letter and enter end nothing, as where a prompt is typed"
        await huge.press("i", *"com", "tab", "enter")
        assert "I#2" in huge.toasts[-1]
        await huge.press("i")
        assert line.value == "iteration start feature "
        await huge.paste("exportar a PDF")
        await huge.press("enter")
        await huge.press("2")
        assert any("exportar" in row and "active" in row for row in huge.timeline)
        await huge.command("iteration abandon")
        assert any("exportar" in row and "abandoned" in row for row in huge.timeline)


class TestDecisions:
    async def test_record_one_by_its_questions(self, story: Story, narrow: Person) -> None:
        await narrow.press("2", "a")
        assert narrow.sees("decision, in a few words")
        await answer(narrow, "Send by e-mail", "SMTP", "fax | post |", "Everybody has it.")
        assert narrow.toasts == ["Recorded D#6, u to undo"] and narrow.at == "timeline"
        assert narrow.record is not None and narrow.record.citation == "D#6", "the cursor is on it"
        with story.open() as memory:
            made = memory.decisions.get(6)
        assert (made.title, made.chosen, made.alternatives, made.rationale) == (
            "Send by e-mail",
            "SMTP",
            ("fax", "post"),
            "Everybody has it.",
        )

    async def test_supersede(self, story: Story, person: Person) -> None:
        await person.press("2")
        await person.put_cursor(pack_key("decision", story.decisions["pdf"]), "timeline")
        line, labels = person.main.query_one(Line), []
        await person.press("S")
        for said in ("Facturas en PDF", "PDF 2.0", None, "Readers are everywhere."):
            labels.append(person.lines[-2].partition(line.value or "\0")[0].strip())
            if said is None:
                assert line.value == "PDF/A-3", "what was chosen before is the first alternative"
                await person.press("enter")
            else:
                await answer(person, said)
        assert labels == [
            "instead of D#4: decision, in a few words",
            "instead of D#4: chosen",
            "instead of (| between several)",
            "because",
        ]
        assert person.toasts == ["Recorded D#6, u to undo"] and "Replaces     D#4" in person.preview
        with story.open() as memory:
            assert memory.decisions.get(4).status == "superseded"
            assert memory.decisions.get(6).alternatives == ("PDF/A-3",)
        await person.press("u")
        with story.open() as memory:
            assert memory.decisions.get(4).status == "active"

    @pytest.mark.parametrize("left", range(4))
    async def test_leaving_any_of_the_questions_leaves_all(self, story: Story, left: int, person: Person) -> None:
        await person.press("2")
        await person.put_cursor(pack_key("decision", story.decisions["pdf"]), "timeline")
        await person.press("S", *["x", "enter"] * left)
        assert person.at == "line"
        await person.press("escape")
        assert person.at == "timeline" and not person.main.query_one("#ask").display and steps(story) == []
        if left < 2:
            await person.press("S", *["x", "enter"] * left)
            await answer(person, "  ")
            assert person.at == "timeline" and steps(story) == [], "without a title or a choice there is none"

    async def test_only_decisions_are_superseded(self, person: Person) -> None:
        await person.press("S")
        assert person.toasts == ["Only a decision is replaced by another; c corrects a fact."]

    async def test_links_between_what_is_marked(self, story: Story, person: Person) -> None:
        sha, decision = story.shas["cache"], story.decisions["redis"]
        await person.press("2")
        commit = _commit(story, sha)
        for key in (commit, pack_key("decision", decision)):
            await person.put_cursor(key, "timeline")
            await person.press("space")
        await person.press("L")
        assert person.toasts == ["Added 1 link, u to undo"] and "marked" not in person.title
        assert "D#2" in next(row for row in person.timeline if "feat: redis" in row)
        for key in (commit, pack_key("decision", decision)):
            await person.put_cursor(key, "timeline")
            await person.press("space")
        await person.press("L")
        assert person.toasts == ["Removed 1 link, u to undo"]
        assert "D#2" not in next(row for row in person.timeline if "feat: redis" in row)
        await person.press("u")
        assert "D#2" in next(row for row in person.timeline if "feat: redis" in row)

    async def test_links_by_asking_from_either_end(self, story: Story, person: Person) -> None:
        sha = story.shas["cache"]
        await person.press("2")
        await person.put_cursor(_commit(story, sha), "timeline")
        await person.press("L")
        assert person.sees(f"link C#{sha[:7]} with which decision?")
        await answer(person, "D#2")
        assert person.toasts == ["Added 1 link, u to undo"]
        assert any(line.startswith("Implements   D#2  ") for line in person.preview)
        await person.put_cursor(pack_key("decision", 2), "timeline")
        await person.press("L")
        assert person.sees("link D#2 with which commit? C#…")
        await answer(person, sha[:8])
        assert person.toasts == ["Removed 1 link, u to undo"]
        for text, said in (
            ("C#ffffff1", "There is no commit"),
            ("D#1", "D#1 is"),
            ("nonsense", ""),
        ):
            await person.press("L")
            await answer(person, text)
            assert person.toasts[-1].startswith(said) and "link" not in person.toasts[-1], text
        await person.press("1", "L")
        assert person.toasts[-1] == "Put the cursor on a commit or a decision, or mark one of each."
        assert len(steps(story)) == 2


def _commit(story: Story, sha: str) -> int:
    with story.open() as memory:
        return pack_key("commit", memory.commits.resolve(sha))


class TestCheckpoints:
    async def test_by_b_from_anywhere_and_by_a_in_their_list(self, narrow: Person) -> None:
        await narrow.press("b")
        assert narrow.sees("checkpoint name")
        await answer(narrow, "before lunch")
        assert narrow.toasts == ["Made checkpoint K#2: before lunch"] and narrow.at == "facts"
        await narrow.press("3", "a")
        await answer(narrow, "after lunch")
        assert narrow.toasts == ["Made checkpoint K#3: after lunch"]
        assert ["after lunch" in narrow.checkpoints[0], "before lunch" in narrow.checkpoints[1]] == [True, True]
        assert narrow.record is not None and narrow.record.citation == "K#3"
        await narrow.press("b", "escape")
        assert len(narrow.checkpoints) == 3
        await narrow.press("b", "enter")
        assert narrow.toasts[-1] == "No checkpoint was made: it needs a name to be found by."
        assert len(narrow.checkpoints) == 3

    async def test_one_is_removed_after_a_question(self, narrow: Person) -> None:
        await narrow.press("b")
        await answer(narrow, "by mistake")
        await narrow.press("3", "f")
        assert narrow.sees("Remove K#2 for good? Every step stays in Changes. y/n"), "whole, where it is narrow"
        await narrow.press("n")
        assert narrow.toasts[-1] == "Nothing was changed." and len(narrow.checkpoints) == 2
        await narrow.press("f", "y")
        assert narrow.toasts[-1] == "Removed K#2" and len(narrow.checkpoints) == 1


class TestOut:
    async def test_copy_a_citation_and_a_text(self, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            monkeypatch.delenv(name, raising=False)
        written: list[str] = []
        async with opened(story.folder) as person:
            monkeypatch.setattr(person.app._driver, "write", written.append)
            await person.press("Y")
            assert person.app.clipboard == "F#2" and person.toasts == ["Copied F#2 by the terminal (OSC 52)"]
            assert any(text.startswith("\x1b]52;c;RiMy") for text in written), "F#2, as the terminal takes it"
            await person.press("ctrl+y")
            assert person.app.clipboard == "Releases are cut from main, never from a branch"
            assert person.toasts == ["Copied the text of F#2 by the terminal (OSC 52)"]
            await person.press("space", "space", "space", "Y")
            assert person.app.clipboard == "F#2 F#6 F#7" and "3 marked" in person.title, "copying changes nothing"
            await person.press("ctrl+y")
            assert len(person.app.clipboard.split("\n")) == 3
            assert steps(story) == []

    async def test_the_editor(self, story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        script = tmp_path / "editor"
        script.write_text("#!/bin/sh\nprintf ', escrito a mano' >>\"$1\"\n")
        script.chmod(0o755)
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv("EDITOR", shlex.quote(str(script)))

        @contextmanager
        def aside(_: Memoranda) -> Iterator[None]:
            yield  # there is no terminal to lend here; test_editor.py has one

        monkeypatch.setattr(Memoranda, "suspend", aside)
        async with opened(story.folder) as person:
            await person.press("E")
            assert person.toasts == ["F#15 replaces F#2, u to undo"]
            assert "never from a branch, escrito a mano" in " ".join(person.preview[1:3])
            await person.press("5", "E")
            assert "A#2" in person.toasts[-1]
            with story.open() as memory:
                assert memory.tasks.get(2).text == "probar el redondeo, escrito a mano"
            await person.press("2", "E")
            assert person.toasts[-1].startswith("Only facts, decisions and tasks can be changed")
            script.write_text("#!/bin/sh\nexit 0\n")
            await person.press("1", "E")
            assert person.toasts[-1] == "Nothing was changed."
            monkeypatch.setenv("EDITOR", "no-such-editor")
            await person.press("E")
            assert person.toasts[-1].startswith("$EDITOR names a program that is not there.")
            await person.command(f"config editor {shlex.quote(str(script))}")
            await person.press("1", "E")
            assert person.toasts[-1] == "Nothing was changed.", "the configured one goes first"


class TestConfiguration:
    async def test_a_theme_that_is_chosen_is_kept(self, story: Story) -> None:
        async with opened(story.folder) as person:
            await person.pilot.press("T")
            await person.until(lambda: isinstance(person.app.screen, CommandPalette))
            for key in "nord":
                await person.pilot.press(key)
            await person.until(lambda: person.app.screen.query_one(OptionList).option_count == 1)
            await person.pilot.press("down", "enter")
            await person.until(lambda: person.app.theme == "nord")
            await person.until(lambda: os.path.exists(user_settings_path()))
            await person.settle()
            assert tomllib.loads(Path(user_settings_path()).read_text())["theme"] == "nord"
            kept = "The theme is nord, kept in your settings; :config theme --unset takes it out."
            await person.until(lambda: kept in person.toasts)
        async with opened(story.folder) as person:
            assert person.app.theme == "nord" and person.toasts == []

    async def test_a_theme_from_the_bar_is_worn_at_once(self, person: Person) -> None:
        await person.command("config theme gruvbox")
        assert person.app.theme == "gruvbox"
        await person.command("config theme --unset")
        assert person.app.theme == "textual-dark"
        await person.command("config theme nosuch")
        assert person.app.theme == "textual-dark" and person.toasts

    async def test_a_remapped_key_changes_footer_help_and_what_it_does_at_once(self, huge: Person) -> None:
        assert "f forget" in huge.lines[-1]
        await huge.command("config keys.record.forget X")
        await huge.press("1")
        assert "X forget" in huge.lines[-1] and "f forget" not in huge.lines[-1]
        await huge.press("f")
        assert len(huge.rows) == 10, "the old key does nothing"
        await huge.press("X")
        assert len(huge.rows) == 9 and huge.toasts == ["Forgot F#2, u to undo"]
        assert ("forget", "X", KEYS_BY_ID["record.forget"].help, "key:record.forget") in palette_entries(
            huge.app.remapped
        )
        await huge.press("question_mark")
        assert any(line.split()[:2] == ["X", "Hide"] for line in _help(huge))
        await huge.press("escape")
        await huge.command("config keys.record.forget --unset")
        await huge.press("1", "f")
        assert len(huge.rows) == 8
        await huge.press("j")  # the message stood in the place of the keys
        assert "f forget" in huge.lines[-1]

    async def test_ascii_badges_at_once(self, narrow: Person) -> None:
        assert "▲" in narrow.lines[4]
        await narrow.command("config badges ascii")
        await narrow.press("j")
        screen = [
            strip.apply_filter(narrow.app._ascii, narrow.app.screen.background_colors[1]).text
            for strip in narrow.strips
        ]
        assert narrow.app.get_line_filters()[-1] is narrow.app._ascii and not any("▲" in line for line in screen)


def _help(person: Person) -> list[str]:
    rows = person.app.screen.query_one("#help-list", RecordList).rows
    assert rows is not None
    return ["".join(text for text, _ in rows.lines(index, 200)[0]).rstrip() for index in range(len(rows))]


class TestOtherMemories:
    async def test_open_another_and_come_back(self, story: Story, tmp_path: Path) -> None:
        other = tmp_path / "web-shop"
        with Memory.open(str(other / ".memoranda" / "memory.db"), "cli", Clock()) as memory:
            memory.facts.remember("The shop closes at eight")
        async with opened(story.folder) as person:
            await person.press("O")
            assert isinstance(person.app.screen, RecentScreen) and not person.sees("web-shop")
            await person.press("enter")
            assert person.main.query_one(Line).value == "open "
            await person.paste(str(other))
            await person.pilot.press("enter")
            await _arrived(person, "web-shop")
            assert " ".join(person.rows[0].split()) == "▸• The shop closes at eight now" and len(person.rows) == 1
            assert person.record is not None
            await person.press("f")
            assert person.toasts == ["Forgot F#1, u to undo"]
            await person.press("O")
            assert person.sees("billing-api")
            await person.pilot.press("enter")
            await _arrived(person, "billing-api")
            assert len(person.rows) == 10 and person.sees("All 10")
            assert [os.path.dirname(os.path.dirname(place)) for place in recent_files.read_recent()] == [
                str(story.folder),
                str(other),
            ]

    async def test_what_is_no_memory_is_refused_and_escape_stays(self, tmp_path: Path, person: Person) -> None:
        await person.press("O", "escape")
        assert person.at == "facts"
        await person.command(f"open {tmp_path / 'nowhere'}")
        assert person.toasts and person.sees("billing-api", "All 10")
        await person.command("open")
        assert isinstance(person.app.screen, RecentScreen)
        await person.press("j", "k", "q")
        assert person.app.screen is person.main


async def _arrived(person: Person, name: str) -> None:
    await person.until(
        lambda: (
            person.main.location.display_name == name and person.main.engine is not None and person.main.query("#line")
        )
    )
    await person.settle()


class TestOthers:
    async def test_only_what_others_change_is_lit(self, story: Story, person: Person) -> None:
        facts = person.main.list_of("facts")
        await person.press("y")
        await person.press("j", "p")
        assert not facts._flashing, "one's own changes are no news"
        with story.open(door="mcp") as memory:
            memory.facts.confirm([story.facts["jenkins"]], actor="agent")
            memory.decisions.correct(story.decisions["pdf"], "PDF 2.0", actor="agent")
        await person.until(lambda: facts._flashing == {story.facts["jenkins"]})
        await person.until(lambda: person.main.list_of("timeline")._flashing)

    async def test_a_changed_task_is_lit(self, story: Story, person: Person) -> None:
        await person.press("5")
        with story.open(door="mcp") as memory:
            memory.tasks.move(3, "in_progress", actor="agent")
        await person.until(lambda: person.main.list_of("tasks")._flashing == {pack_key("task", 3)})

    async def test_new_commits_appear_while_it_is_open(self, story: Story, person: Person) -> None:
        await person.press("2")
        when = to_ms("2026-11-21T11:30:00.000Z") // 1000
        sha = repositories.commit(story.folder, "feat: while you looked", {"b.txt": "b"}, when=when)
        await person.until(lambda: any("feat: while" in row and f"C#{sha[:7]}" in row for row in person.timeline))
        await person.until(lambda: "Read 1 new commit from git." in person.toasts)

    async def test_escape_stops_reading_git_and_keeps_commits(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The real reading, held after its first report until Escape was pressed."""
        folder = tmp_path / "long"
        repositories.build_repository(folder, commits=1200, merges=5)
        told, pressed = threading.Event(), threading.Event()
        read_all = MaintenanceWorker.catch_up

        def held(
            upkeep: MaintenanceWorker, progress: Callable[[int, int], None], trouble: Callable[[str], None]
        ) -> int | None:
            def slowly(done: int, total: int) -> None:
                progress(done, total)
                if done:
                    told.set()
                    pressed.wait(PATIENCE)

            return read_all(upkeep, slowly, trouble)

        monkeypatch.setattr(MaintenanceWorker, "catch_up", held)
        app = Memoranda(location(folder), str(folder), Clock())
        async with app.run_test(size=WIDE, notifications=True) as pilot:
            person = Person(app, pilot)
            await person.until(told.is_set)
            await person.until(lambda: person.sees("esc stops"))
            await pilot.press("escape")
            pressed.set()
            await person.settle()
            assert "Stopped reading git; what was read stays, and the next start goes on." in person.toasts
            with Memory(location(folder), "cli", Clock()) as memory:
                read_now = memory.database.value("SELECT count(*) FROM commits")
            assert 0 < read_now < 1200


class TestTheSameEverywhere:
    def test_the_palette_lists_exactly_keys_screens_and_verbs(self) -> None:
        targets = [target for *_, target in palette_entries({})]
        keys = [f"key:{key.id}" for key in KEYS if key.id not in HIDDEN_KEYS]
        screens = [f"line:{one.verb}" for one in FURTHER_SCREENS]
        assert targets == [*keys, *screens, *(f"verb:{verb.name}" for verb in list_verbs())]
        assert set(HIDDEN_KEYS) < {key.id for key in KEYS} and len(HIDDEN_KEYS) == 2
        assert all(name and text for name, _, text, _ in palette_entries({}))
        assert all(bool(key) == (not target.startswith("verb:")) for _, key, _, target in palette_entries({}))

    def test_bar_palette_completion_and_command_line_know_the_same_verbs(self) -> None:
        names = {verb.name for verb in list_verbs()}
        assert {target.partition(":")[2] for *_, target in palette_entries({}) if target.startswith("verb:")} == names
        assert {candidate.text for candidate in complete_line([], "", everywhere=())} >= names
        for verb in list_verbs():
            for typed in (verb.name, f"/{verb.name}"):
                found = find_verb(typed.split())
                assert found is not None and found[0] is verb, typed

    async def test_the_palette_does_what_it_lists(self, person: Person) -> None:
        async def choose(*keys: str) -> None:
            await person.pilot.press("ctrl+p")
            await person.until(lambda: isinstance(person.app.screen, CommandPalette))
            found = person.app.screen.query_one(OptionList)
            await person.until(lambda: found.option_count == len(palette_entries({})))
            await person.pilot.press(*keys)
            await person.until(lambda: 0 < found.option_count < 20 and found.highlighted == 0)
            await person.pilot.press("enter")
            await person.until(lambda: person.app.screen is person.main)
            await person.settle()

        await choose(*"forget")
        assert person.toasts == ["Forgot F#2, u to undo"]
        await choose("colon", *"health")
        assert person.main.query_one(Line).value == "health "
        await person.press("enter")
        assert person.at == "health"

    @pytest.mark.sampled(2)
    @pytest.mark.parametrize("half", range(2))
    async def test_each_entry_of_the_palette_can_be_done(self, story: Story, half: int) -> None:
        """Without a crash, from wherever it leads back to the lists; what it writes is a step of history."""
        quits = ("key:app.quit", "key:app.suspend")
        targets = [target for *_, target in palette_entries({}) if target not in quits and target != "key:record.edit"]
        async with opened(story.folder) as person:
            for target in targets[half::2]:
                person.main.action_palette(target)
                await person.settle()
                if target.startswith("verb:"):
                    assert person.main.query_one(Line).value == f"{target.partition(':')[2]} ", target
                for _ in range(4):
                    if person.app.screen is not person.main or person.at not in LIST_NAMES:
                        await person.pilot.press("escape")
                await person.until(lambda: person.app.screen is person.main and person.at in LIST_NAMES)
                assert not any("defect" in said.lower() for said in person.toasts), (target, person.toasts)

    async def test_help_says_of_each_verb_how_it_is_used(self, huge: Person) -> None:
        await huge.press("question_mark")
        help_screen = huge.app.screen
        assert isinstance(help_screen, HelpScreen)
        for verb in list_verbs():
            text = "\n".join("".join(part for part, _ in line) for line in help_screen._more("verb", verb.name))
            assert text.startswith(f"memoranda {verb.name}") and verb.summary in text
            assert all(argument.help in " ".join(text.split()) for argument in verb.arguments), verb.name
        await huge.press("G")
        assert huge.sees(f"memoranda {list_verbs()[-1].name} ")
        await huge.press("enter")
        assert huge.app.screen is huge.main and huge.main.query_one(Line).value == f"{list_verbs()[-1].name} "

    async def test_help_does_the_key_under_its_cursor(self, huge: Person) -> None:
        await huge.press("question_mark")
        assert huge.app.screen.query_one("#help-list", RecordList).select("key:pane.tasks")
        await huge.press("enter")
        assert huge.app.screen is huge.main and huge.at == "tasks"

    async def test_the_footer_offers_what_the_record_at_the_cursor_takes(self, huge: Person) -> None:
        """A key that would be refused is not offered: what is typed after it would run as keys."""
        footer = huge.main.query_one("#footer", Footer)
        await huge.press("2")
        offered: dict[str, set[str]] = {}
        for _ in huge.timeline:
            assert huge.record is not None
            shown = str(footer.render())
            words = {word for word in (" # tag ", " f forget ", " c correct ") if word in shown}
            offered.setdefault(type(huge.record).__name__, set()).update(words)
            await huge.press("down")
        assert offered["Decision"] == {" # tag ", " f forget ", " c correct "}
        assert offered["Commit"] == offered["Checkpoint"] - {" f forget "} == set()

    def test_the_footer_names_only_panes_that_are(self) -> None:
        assert {pane for key in KEYS for pane in key.panes} <= {*PANE_NAMES, HITS, PREVIEW}

    async def test_every_label_of_the_footer_is_a_key_that_works_there(self, huge: Person) -> None:
        footer = huge.main.query_one("#footer", Footer)
        for number, pane in enumerate(("facts", "timeline", "checkpoints", "history", "tasks"), 1):
            await huge.press(str(number))
            shown = str(footer.render())
            for key in KEYS:
                if pane in key.panes and f" {key.first_key()} {key.label} " in shown:
                    name = key.keys.split(",")[0]
                    assert name in huge.app.screen.active_bindings, (pane, key.id)


LINES = (
    "remember the sky is blue --domain work --tag sky",
    "list work",
    "correct 7 Deploy on Mondays",
    "confirm 2 F#6",
    "pin 6",
    "pin 6 --off",
    "tag 2 6 care",
    "tag 6 care --off",
    "correct 6 --scope project",
    "forget 8",
    "decide 'Send by e-mail' --chosen SMTP --alternative fax --impact high",
    "list decisions",
    "bind 1 https://example.org/team",
    "bind 1 --off",
    "bind --check",
    "link {sha} 4",
    "link {sha} D#4 --off",
    "task add buy tea",
    "task start 4",
    "task done A#4",
    "task reopen 4",
    "list tasks --all",
    "iteration complete",
    "iteration start fix the tea",
    "list iterations",
    "iteration event gate_passed --phase build",
    "list events",
    "search cache kind:decision",
    "show D#1",
    "show C#{sha} --diff",
    "timeline --kind commit",
    "timeline",
    "history --actor agent",
    "history --record F#6 --changes",
    "list --at now",
    "history --since K#1 --to now",
    "undo",
    "redo",
    "undo 24 --overwrite A#2 --keep A#3",
    "undo 6 --overwrite F#6",
    "checkpoint a quiet evening",
    "list checkpoints",
    "checkpoint --read",
    "checkpoint --read K#1 --related",
    "restore 1 --dry-run",
    "restore K#1 --kind task --yes",
    "undo --all-by agent --yes",
    "purge 3 D#1 --scrub all --yes",
    "purge --check what nobody ever said",
    "today",
    "confirm P#1",
    "correct P#1 in other words",
    "forget P#1",
    "merge 1 2",
    "merge",
    "secrets",
    "secrets allow SK_KEY sk-ticket*",
    "secrets cut SK_KEY sk-ticket*",
    "secrets --scan",
    "export {home}/memory.json --yes",
    "import {home}/memory.json --dry-run",
    "backup {home}/copy.db --yes",
    "list backups",
    "mute 1",
    "mute 1 --off",
    "context how big is the team",
    "ask how big is the team",
    "health",
    "health --index",
    "health --index rebuild",
    "list sessions",
    "session flush",
    "session end",
    "import {home}/nowhere.jsonl",
    "health --check",
    "config model off",
    "health --salvage {home}/nowhere.db",
    "files",
    "open --new",
    "import --adopt",
    "open",
    "demo",
    "open --where",
    "config badges ascii",
    "config",
    "mcp",
    "agents",
    "agents --pause --off",
    "connect codex --dry-run",
    "connect codex --off --yes",
    "connect --plugin {home}/plugin",
    "hook git",
    "files versions",
    "files list",
    "team share",
    "team share off",
    "sync --off",
    "team believe nobody",
    "team replicate postgresql://nobody@127.0.0.1:1/none",
    "team replica words",
    "serve --port 70000",
    "uninstall --dry-run",
)
# served over standard input, which the app has, or a removal of what the app is using
IN_THE_APP = {
    "mcp": "An agent starts that, and speaks to it in JSON. docs/agents.md says how it is set up.",
    "uninstall": "Leave the application first, and every agent; then run memoranda uninstall in a shell.",
    "team replica words": "",  # a screen of its own
    "serve": "That stays until it is ended: run memoranda serve in a terminal of its own.",
}


def test_each_verb_has_a_line() -> None:
    assert {line.split()[0] for line in LINES} == set(MODULES)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("half", range(2))
async def test_every_verb_in_the_bar_does_what_the_command_line_does(story: Story, tmp_path: Path, half: int) -> None:
    """The same lines, one after the other, in the bar of one memory and by the command line's own way on its twin:
    after each the two hold the same."""
    twin = copy(tmp_path / "twin" / "billing-api")
    with twin.open() as memory:
        async with opened(story.folder, HUGE) as person:
            session = Call(twin.location, memory, str(twin.folder), lambda question: True)
            for template in LINES[half::2]:
                line = template.format(sha=story.shas["cache"][:10], home=Path.home())
                verb, rest = find_verb(shlex.split(line)) or pytest.fail(line)
                try:
                    if (expected := IN_THE_APP.get(verb.name, IN_THE_APP.get(line))) is None:
                        expected = run_verb(session, verb, parse_arguments(verb.name, verb.arguments, rest)).message
                    refused = ""
                except MemorandaError as error:
                    expected, refused = "", str(error)
                person.app.clear_notifications()
                person.main.type_command(line)  # as if typed: pressing each key takes half of a minute
                person.main.action_answer()
                await person.settle()
                said = person.toasts
                assert not refused or refused in said, (line, refused, said)
                assert (
                    not expected or verb.name in ("import", "open", "demo", "config", "secrets") or expected in said
                ), line
                assert held(story) == held(twin), line
                for _ in range(4):
                    if person.app.screen is not person.main or person.at not in LIST_NAMES:
                        await person.press("escape")
                assert person.app.screen is person.main, line


def held(story: Story) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every recorded table, of checkpoints and iterations."""
    tables = (*RECORDED_TABLES, "checkpoints", "iterations")
    with story.open() as memory:
        return {table: sorted(memory.database.rows(f"SELECT * FROM {table}"), key=repr) for table in tables}


@pytest.mark.parametrize("verb", list_verbs(), ids=[verb.name for verb in list_verbs()])
def test_a_verb_without_what_it_wants_says_how_it_is_used(verb: Verb) -> None:
    if any(argument.form in ("one", "many") for argument in verb.arguments):
        with pytest.raises(UsageError) as refused:
            parse_arguments(verb.name, verb.arguments, [])
        assert refused.value.message.startswith(verb.name)
