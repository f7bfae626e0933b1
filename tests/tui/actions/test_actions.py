"""What a person does to the memory in the application, each act as it is done: marks, tags, tasks, links, decisions,
the editor, the clipboard, the configuration, another memory; and that keys, box and help know the same."""

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

from store.base.clock import to_ms
from store.base.errors import MemorandaError
from store.base.vocabulary import pack_key
from store.config.configuration import user_settings_path
from store.database.schema import RECORDED_TABLES
from store.memory import Memory
from tui.app import Memoranda
from tui.commands import location as recent_files
from tui.commands.call import Call
from tui.input.arguments import UsageError, parse_arguments
from tui.input.completion import complete_line
from tui.input.key_table import KEYS, KEYS_BY_ID
from tui.input.verb_table import MODULES, find_verb, list_verbs
from tui.screens.base import HelpScreen
from tui.screens.dialogs import Chooser, Form
from tui.widgets.bars import Field
from tui.workers.background import MaintenanceWorker


def steps(story: Story) -> list[str]:
    """The reasons of the steps of history that the story did not tell, oldest first."""
    with story.open() as memory:
        return [step.reason for step in memory.history.steps() if step.seq > 30 and step.door == "app"][::-1]


def key_of(story: Story, name: str) -> int:
    """The key of a commit or a decision of the story."""
    with story.open() as memory:
        if name in story.shas:
            return pack_key("commit", memory.commits.resolve(story.shas[name]))
    return pack_key("decision", story.decisions[name])


class TestMarks:
    async def test_mark_move_on_and_act_on_all_in_one_step(self, story: Story, person: Person) -> None:
        await person.press("space", "space", "j", "space")
        assert [row[0] for row in person.rows[:6]] == ["✓", "✓", " ", "✓", "▸", " "] and "3 marked" in person.title
        await person.hears(("f", "Forgot 3 facts, u to undo"))
        assert len(person.rows) == 7 and "marked" not in person.title and steps(story) == ["forget F#2 F#6 F#8"]
        await person.press("u")
        counts = []  # of the group, of the whole list, of none
        for key in ("ctrl+a", "ctrl+a", "space", "ctrl+a", "ctrl+a", "ctrl+a"):
            await person.press("g", key)
            counts.append(person.title.partition(" marked")[0] if "marked" in person.title else "0")
        assert counts == ["2", "10", "9", "2", "10", "0"], "the group where it is not marked whole"

    async def test_what_is_marked_is_what_is_in_the_list(self, story: Story, person: Person) -> None:
        """What another process forgot is not acted on; each list has marks of its own; some pinned ones are pinned."""
        await person.press("ctrl+a", "ctrl+a")
        with story.open(door="mcp") as memory:
            memory.facts.forget([story.facts["release"]])
        await person.until(lambda: len(person.rows) == 9)
        await person.settle()
        assert "9 marked" in person.title
        await person.hears(("p", "Pinned 8 facts: they never age, u to undo"))  # one is pinned
        with story.open() as memory:
            assert not memory.facts.get(story.facts["release"]).pinned
        await person.hears(("ctrl+a ctrl+a p", "Unpinned 9 facts, u to undo"))
        await person.follow(("g space 3", "!marked"))
        await person.follow(("space space 2", "1 marked"))
        await person.hears(("f", "Forgot F#6, u to undo"))

    async def test_above_ten_it_asks(self, story: Story) -> None:
        with story.open(now="2026-11-20T12:00:00.000Z") as memory:
            for number in range(12):
                memory.facts.remember(f"Invoice series {number} is closed", domain="work")
        async with opened(story.folder) as person:
            await person.command("facts Invoice")
            for key, question in (("y", "Confirm"), ("p", "Pin"), ("f", "Forget")):
                done = steps(story)
                for keys in ("ctrl+a", key), (key,):
                    await person.press(*keys)
                    assert person.sees(" 12 records?", "Invoice series 3") and steps(story) == done
                    await person.press("escape" if len(keys) > 1 else "enter")
                    assert len(steps(story)) == len(done) + (len(keys) == 1)
                with story.open() as memory:
                    newest = memory.checkpoints.list_newest_first()[0]
                assert newest.name == f"before: {question.lower()} 12 facts"
                said = person.toasts[-1].replace(": they never age", "")
                assert f" 12 facts; {newest.citation} is how it was, u to undo" in said
                await person.press("u")
            await person.press(*["space"] * 10)
            await person.hears(("f", "Forgot 10 facts, u to undo"))  # ten are not asked about

    async def test_tags_come_and_go(self, story: Story, person: Person) -> None:
        def tags() -> list[tuple[str, ...]]:
            with story.open() as memory:
                return [memory.facts.get(story.facts[name]).tags for name in ("release", "jenkins")]

        await person.follow(("space space number_sign", "Tag F#2 F#6"), ("> care",))
        assert person.toasts == ["Tagged 2 facts: care, u to undo"] and steps(story) == ["tag F#2 F#6"]
        await person.follow(("g", "Tags         care"))
        for typed, said, now in (
            ("-care", "Removed care from F#2, u to undo", [(), ("care",)]),
            ("Pagos, due soon ,pagos", "Tagged F#2: Pagos, due-soon, u to undo", [("Pagos", "due-soon"), ("care",)]),
            ("-pagos, due-soon", "Removed pagos, due-soon from F#2, u to undo", [(), ("care",)]),
        ):
            await person.press("number_sign")
            await person.fill(typed)
            assert person.toasts == [said] and tags() == now, typed
        await person.press("u", "u", "u", "u", "number_sign", "enter")
        assert tags() == [(), ()] and person.at == "tag", "an answer is needed"
        await person.press("escape", "3")
        await person.put_cursor(key_of(story, "pdf"))
        await person.follow(("number_sign > storage", "Tags         storage"))  # decisions and tasks have tags too
        await person.follow((":tasks",), ("number_sign > soon", "Tags         soon"))
        await person.follow(("/tag:storage", lambda: len(person.rows) == 1 and "D#4" in person.rows[0]))


class TestTasks:
    async def test_they_move_through_their_states(self, story: Story, narrow: Person) -> None:
        await narrow.command("tasks")
        assert narrow.rows[0].startswith("▸◧") and narrow.lines[-1].startswith(" y done  ")
        await narrow.follow(("a", "What is to be done?"), ("> call the printer",))
        assert narrow.toasts == ["Added A#4, u to undo"] and any("▸☐ call the" in row for row in narrow.rows)
        await narrow.press("k", "j")
        assert narrow.lines[-1].startswith(" y start  ")
        await narrow.hears(("y", "Started A#4, u to undo"))
        assert [row[1] for row in narrow.rows if "A#4" in row] == ["◧"]
        await narrow.put_cursor(pack_key("task", 4))
        await narrow.hears(("y", "Done with A#4, u to undo"))
        assert not any("A#4" in row for row in narrow.rows), "done ones are hidden"
        await narrow.follow(("o > done too",))
        await narrow.put_cursor(pack_key("task", 4))
        assert "A#4  task · done" in narrow.preview and narrow.lines[-1].startswith(" y open again ")
        await narrow.hears(("y", "Reopened A#4, u to undo"), ("u", "Undid: task reopen A#4"), ("u", "Undid: task done"))
        assert steps(story)[:4] == ["task add A#4", "task start A#4", "task done A#4", "task reopen A#4"]

    async def test_they_are_corrected_and_finished_together(self, story: Story, narrow: Person) -> None:
        await narrow.follow((":tasks",), ("c", "correct A#2", "probar el redondeo", lambda: narrow.at == "edit"))
        await narrow.fill("probar el redondeo, dos veces")
        assert "probar el redondeo, dos veces" in narrow.rows[0] and narrow.toasts == ["Corrected A#2, u to undo"]
        await narrow.hears(("f", "No: forget it"), ("ctrl+a y", "Done with 2 tasks, u to undo"))
        assert narrow.rows == [] and narrow.sees("3 done hidden", "No tasks to be done.")
        assert steps(story)[1:] == ["task done A#2 A#3"]
        await narrow.press("u")
        assert [row[1] for row in narrow.rows] == ["◧", "☐"]

    async def test_the_box_begins_the_command_that_ends_or_starts_an_iteration(self, huge: Person) -> None:
        for words, typed, said in (
            ("iteration ", "complete", "I#2"),
            ("iteration start feature ", "exportar a PDF", "I#3"),
            ("iteration ", "abandon", "I#3"),
        ):
            await huge.command("iteration.turn")
            assert huge.app.screen.query_one("#words", Field).value == words
            await huge.choose(typed)
            assert said in huge.toasts[-1], huge.toasts
        await huge.press("3")
        assert any("exportar" in row and "abandoned" in row for row in huge.rows)


class TestDecisions:
    async def test_one_is_recorded_and_replaced_by_its_form(self, story: Story, person: Person) -> None:
        await person.follow(("3 a", "Decision, in a few words", "Instead of"))
        await person.fill("Send by e-mail", "SMTP", "fax | post |", "Everybody has it.")
        assert person.toasts == ["Recorded D#6, u to undo"] and getattr(person.record, "citation", "") == "D#6"
        with story.open() as memory:
            made = memory.decisions.get(6)
        told = made.title, made.chosen, made.alternatives, made.rationale
        assert told == ("Send by e-mail", "SMTP", ("fax", "post"), "Everybody has it.")
        await person.put_cursor(key_of(story, "pdf"))
        for left in range(4):
            await person.press("S", *["ctrl+u", "x", "enter"] * left, "escape")
            assert person.app.screen is person.main and len(steps(story)) == 1, "to leave any field leaves all"
        await person.follow(("S", "Replace… D#4", "Facturas en PDF/A", "PDF/A-3"))
        await person.press("ctrl+u", *["enter"] * 4)
        assert isinstance(person.app.screen, Form) and person.at == "title", "without a title there is none"
        await person.fill("Facturas en PDF", "PDF 2.0")
        await person.follow(("enter > Readers are everywhere.",))  # what was chosen before is the first alternative
        assert person.toasts == ["Recorded D#7, u to undo"] and "Replaces     D#4" in person.preview
        with story.open() as memory:
            assert [one.status for one in memory.decisions.get_many([4, 7])] == ["superseded", "active"]
            assert memory.decisions.get(7).alternatives == ("PDF/A-3",)

    async def test_links(self, story: Story, person: Person) -> None:
        """Between what is marked, and by choosing from either end; a link that is there is removed."""
        commit, decision, sha = key_of(story, "cache"), key_of(story, "redis"), story.shas["cache"][:7]

        def linked() -> bool:
            with story.open() as memory:
                ends = memory.commits.links_of_commit(memory.commits.resolve(story.shas["cache"]))
                return "D#2" in [end.decision for end in ends]

        await person.press("3")
        for said in ("Added 1 link, u to undo", "Removed 1 link, u to undo"):
            for key in (commit, decision):
                await person.put_cursor(key)
                await person.press("space")
            await person.press("L")
            assert person.sees("Link 2 records?", "Cache in Redis") and len(steps(story)) == said.startswith("Removed")
            await person.hears(("enter", said))
            assert linked() == ("D#2" in next(row for row in person.rows if "feat: redis" in row))
            assert linked() == said.startswith("Added") and "marked" not in person.title
        await person.press("u")
        assert linked()
        for key, title, words, said in (
            (commit, f"Link C#{sha} with…", "D#2", "Removed 1 link, u to undo"),
            (decision, "Link D#2 with…", "", "Added 1 link, u to undo"),
            (decision, "Link D#2 with…", sha, "Removed 1 link, u to undo"),
            (key_of(story, "pdf"), "Link D#4 with…", "src/cache.py", "D#4: Bound to src/cache.py, u to undo"),
        ):
            await person.put_cursor(key)
            await person.follow(("L", title), (f"> {words}",))
            assert person.toasts == [said], "what is nearest is the first that is offered"
        await person.follow(("L > nonsense and more", "Nothing has these words."))
        assert isinstance(person.app.screen, Chooser)


async def test_checkpoints_are_made_from_anywhere_and_removed_after_a_question(narrow: Person) -> None:
    await narrow.follow((":memory.checkpoint",), ("> before lunch",))
    assert narrow.toasts == ["Made checkpoint K#2: before lunch"] and narrow.place == "facts"
    await narrow.press("5", "5", "a", "enter")
    assert isinstance(narrow.app.screen, Form), "it needs a name to be found by"
    await narrow.fill("after lunch")
    assert narrow.toasts == ["Made checkpoint K#3: after lunch"] and getattr(narrow.record, "citation", "") == "K#3"
    assert ["after lunch" in narrow.rows[0], "before lunch" in narrow.rows[1]] == [True, True]
    for key, rows in (("escape", 3), ("enter", 2)):
        await narrow.press("f")
        assert narrow.sees("Remove K#3 for good? Every step stays in the history."), "whole, where it is narrow"
        await narrow.press(key)
        assert len(narrow.rows) == rows
    assert narrow.toasts[-1] == "Removed K#3"


class TestOut:
    async def test_copy_a_citation_and_a_text(self, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("DISPLAY", "WAYLAND_DISPLAY"):
            monkeypatch.delenv(name, raising=False)
        written: list[str] = []
        text = "Releases are cut from main, never from a branch"
        async with opened(story.folder) as person:
            monkeypatch.setattr(person.app._driver, "write", written.append)
            for words, copied, said in (
                ("", "F#2", "F#2"),
                ("the text", text, "the text of F#2"),
                ("both", f"{text} [F#2]", "F#2 with the text"),
            ):
                await person.follow((f"Y > {words}", lambda copied=copied: person.app.clipboard == copied))
                assert person.toasts == [f"Copied {said} by the terminal (OSC 52)"]
            assert any(text.startswith("\x1b]52;c;RiMy") for text in written), "F#2, as the terminal takes it"
            await person.press("space", "space", "space", "Y", "enter")
            assert person.app.clipboard == "F#2 F#6 F#7" and "3 marked" in person.title, "copying changes nothing"
            await person.follow(("Y > the text",))
            assert len(person.app.clipboard.split("\n")) == 3 and steps(story) == []

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

            async def edit(place: str = "2") -> str:
                await person.press(place)
                await person.command("record.edit")
                return person.toasts[-1]

            assert await edit("G") == "F#15 replaces F#12, u to undo"
            assert "then Sonnet, escrito a mano" in " ".join(person.preview)
            await person.command("tasks")
            assert "A#2" in await edit("g")
            with story.open() as memory:
                assert memory.tasks.get(2).text == "probar el redondeo, escrito a mano"
            assert (await edit("3")).endswith("not for what is chosen.")
            script.write_text("#!/bin/sh\nexit 0\n")
            assert await edit() == "Nothing was changed."
            monkeypatch.setenv("EDITOR", "no-such-editor")
            assert (await edit()).startswith("$EDITOR names a program that is not there.")
            await person.command(f"config editor {shlex.quote(str(script))}")
            assert await edit() == "Nothing was changed.", "the configured one goes first"


class TestConfiguration:
    async def test_a_theme_that_is_chosen_is_kept(self, story: Story) -> None:
        async with opened(story.folder) as person:
            await person.follow((":theme.choose",), ("> nord", lambda: person.app.theme == "nord"))
            await person.until(lambda: os.path.exists(user_settings_path()))
            await person.settle()
            assert tomllib.loads(Path(user_settings_path()).read_text())["theme"] == "nord"
            kept = "The theme is nord, kept in your settings; :config theme --unset takes it out."
            await person.until(lambda: kept in person.toasts)
        async with opened(story.folder) as person:
            assert person.app.theme == "nord" and person.toasts == []
            themes = {"gruvbox": "gruvbox", "--unset": "textual-dark", "nosuch": "textual-dark"}
            for words, theme in themes.items():
                await person.command(f"config theme {words}")
                assert person.app.theme == theme and person.toasts

    async def test_settings_are_applied_at_once(self, huge: Person) -> None:
        """A remapped key is in the footer and the box, and the old one does nothing; badges become ASCII."""
        await huge.command("config keys.record.forget X")
        await huge.press("f", "j", "k")
        assert "X forget" in huge.lines[-1] and "f forget" not in huge.lines[-1] and len(huge.rows) == 10
        await huge.hears(("X", "Forgot F#2, u to undo"))
        await huge.press("colon", "X")
        assert any(KEYS_BY_ID["record.forget"].help in line and " X " in line for line in huge.lines)
        await huge.press("escape")
        await huge.command("config keys.record.forget --unset")
        await huge.press("f", "j")
        assert len(huge.rows) == 8 and "f forget" in huge.lines[-1] and any("▽" in line for line in huge.lines)
        await huge.command("config badges ascii")
        ground, ascii_filter = huge.app.screen.background_colors[1], huge.app._ascii
        assert huge.app.get_line_filters()[-1] is ascii_filter
        assert not any("▽" in strip.apply_filter(ascii_filter, ground).text for strip in huge.strips)


async def test_another_memory_is_opened(story: Story, tmp_path: Path) -> None:
    """And listed among those that were; what is none is refused. `test_mouse` comes back to the first."""
    other = tmp_path / "web-shop"
    with Memory.open(str(other / ".memoranda" / "memory.db"), "cli", Clock()) as memory:
        memory.facts.remember("The shop closes at eight")
    async with opened(story.folder) as person:
        await person.command(f"open {tmp_path / 'nowhere'}")
        assert person.toasts and person.sees("billing-api", "All 10")
        await person.command("open")
        assert isinstance(person.app.screen, Chooser) and not person.sees("web-shop")
        await person.paste(str(other))
        await person.pilot.press("enter")
        await person.until(lambda: person.main.location.display_name == "web-shop" and person.main.place.loaded)
        await person.settle()
        assert " ".join(person.rows[0].split()) == "▸• The shop closes at eight now" and len(person.rows) == 1
        await person.hears(("f", "Forgot F#1, u to undo"))
        folders = [os.path.dirname(os.path.dirname(place)) for place in recent_files.read_recent()]
        assert folders == [str(other), str(story.folder)]


class TestOthers:
    async def test_only_what_others_change_is_lit(self, story: Story, person: Person) -> None:
        shown = person.record_list
        await person.press("y", "j", "p")
        assert not shown._flashing, "one's own changes are no news"
        with story.open(door="mcp") as memory:
            memory.facts.confirm([story.facts["jenkins"]], actor="agent")
        await person.until(lambda: shown._flashing == {pack_key("fact", story.facts["jenkins"])})
        await person.command("tasks")
        with story.open(door="mcp") as memory:
            memory.tasks.move(3, "in_progress", actor="agent")
        await person.until(lambda: shown._flashing == {pack_key("task", 3)})
        await person.press("3")
        with story.open(door="mcp") as memory:
            memory.decisions.correct(story.decisions["pdf"], "PDF 2.0", actor="agent")
        await person.until(lambda: shown._flashing)
        when = to_ms("2026-11-21T11:30:00.000Z") // 1000
        sha = repositories.commit(story.folder, "feat: while you looked", {"b.txt": "b"}, when=when)
        await person.until(lambda: any("feat: while" in row and f"C#{sha[:7]}" in row for row in person.rows))
        await person.until(lambda: "Read 1 new commit from git." in person.toasts)

    async def test_escape_stops_git_and_keeps_commits(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
                assert 0 < memory.database.value("SELECT count(*) FROM commits") < 1200


class TestTheSameEverywhere:
    def test_line_completion_and_command_line_know_the_same_verbs(self) -> None:
        names = {verb.name for verb in list_verbs()}
        assert {candidate.text for candidate in complete_line([], "", everywhere=())} >= names
        for verb in list_verbs():
            for typed in (verb.name, f"/{verb.name}"):
                found = find_verb(typed.split())
                assert found is not None and found[0] is verb, typed
            if any(argument.form in ("one", "many") for argument in verb.arguments):
                with pytest.raises(UsageError) as refused:
                    parse_arguments(verb.name, verb.arguments, [])
                assert refused.value.message.startswith(verb.name), "it says how it is used"

    @pytest.mark.sampled(2)
    @pytest.mark.parametrize("half", range(2))
    async def test_the_box_lists_every_key_and_verb_and_each_can_be_done(self, story: Story, half: int) -> None:
        """Without a crash, from wherever it leads back to the list; what it writes is a step of history."""
        async with opened(story.folder) as person:
            await person.press("colon")
            box = person.app.screen
            assert isinstance(box, Chooser)
            listed = [offer.text for offer in box._offers]
            assert listed == [*(key.help for key in KEYS), *(verb.summary for verb in list_verbs())]
            left = ("app.quit", "record.edit")  # the editor has a test of its own
            todo = [(offer, key.id) for offer, key in zip(box._offers, KEYS, strict=False) if key.id not in left]
            todo += [(offer, offer.note) for offer in box._offers[len(KEYS) :]]
            await person.press("escape")
            for offer, name in todo[half::2]:
                offer.value()
                await person.settle()
                if name.startswith(":"):
                    assert person.app.screen.query_one("#words", Field).value == f"{name[1:]} ", name
                for _ in range(5):
                    if person.app.screen is not person.main or person.at != "list":
                        await person.pilot.press("escape")
                        await person.settle()
                assert person.app.screen is person.main and person.at == "list", name
                assert not any("defect" in said.lower() for said in person.toasts), (name, person.toasts)

    async def test_the_help_says_of_each_verb_how_it_is_used(self, huge: Person) -> None:
        await huge.press("question_mark")
        help_screen = huge.app.screen
        assert isinstance(help_screen, HelpScreen)
        for verb in list_verbs():
            text = "\n".join("".join(part for part, _ in line) for line in help_screen._more("verb", verb.name))
            assert text.startswith(f"memoranda {verb.name}") and verb.summary in text
            assert all(argument.help in " ".join(text.split()) for argument in verb.arguments), verb.name
        await huge.press("G", "enter")
        assert huge.app.screen.query_one("#words", Field).value == f"{list_verbs()[-1].name} "

    async def test_the_footer_offers_what_the_record_at_the_cursor_takes(self, huge: Person) -> None:
        """A key that would be refused is not offered: what is typed after it would run as keys."""
        await huge.press("3")
        offered: dict[str, set[str]] = {}
        for _ in huge.rows:
            assert huge.record is not None
            words = ("y yes", "f forget", "c correct", "L link…", "R restore…")
            here = offered.setdefault(type(huge.record).__name__, set())
            here.update(word for word in words if word in huge.lines[-1])
            await huge.press("down")
        assert offered["Decision"] == {"y yes", "f forget", "c correct", "L link…"}
        assert offered["Commit"] == {"L link…"} and offered["Checkpoint"] == {"R restore…"}
        assert offered["Event"] == offered["Iteration"] == set()


LINES = """
remember the sky is blue --domain work --tag sky; list work; correct 7 Deploy on Mondays; confirm 2 F#6; pin 6;
pin 6 --off; tag 2 6 care; tag 6 care --off; correct 6 --scope project; forget 8;
decide 'Send by e-mail' --chosen SMTP --alternative fax --impact high; list decisions;
bind 1 https://example.org/team; bind 1 --off; bind --check; link {sha} 4; link {sha} D#4 --off; task add buy tea;
task start 4; task done A#4; task reopen 4; list tasks --all; iteration complete; iteration start fix the tea;
list iterations; iteration event gate_passed --phase build; list events; search cache kind:decision; show D#1;
show C#{sha} --diff; timeline --kind commit; timeline; history --actor agent; history --record F#6 --changes;
list --at now; history --since K#1 --to now; undo; redo; undo 24 --overwrite A#2 --keep A#3; undo 6 --overwrite F#6;
checkpoint a quiet evening; list checkpoints; checkpoint --read; checkpoint --read K#1 --related;
restore 1 --dry-run; restore K#1 --kind task --yes; undo --all-by agent --yes; purge 3 D#1 --scrub all --yes;
purge --check what nobody ever said; today; confirm P#1; correct P#1 in other words; forget P#1; merge 1 2; merge;
secrets; secrets allow SK_KEY sk-ticket*; secrets cut SK_KEY sk-ticket*; secrets --scan;
export {home}/memory.json --yes; import {home}/memory.json --dry-run; backup {home}/copy.db --yes; list backups;
mute 1; mute 1 --off; context how big is the team; ask how big is the team; health; health --index;
health --index rebuild; list sessions; session flush; session end; import {home}/nowhere.jsonl; health --check;
config model off; health --salvage {home}/nowhere.db; files; open --new; import --adopt; open; demo; open --where;
config badges ascii; config; mcp; agents; agents --pause --off; connect codex --dry-run; connect codex --off --yes;
connect --plugin {home}/plugin; hook git; files versions; files list; team share; team share off; sync --off;
team believe nobody; team replicate postgresql://nobody@127.0.0.1:1/none; team replica words; serve --port 70000;
uninstall --dry-run
""".replace("\n", " ").split(";")
# served over standard input, which the application has, or a removal of what it is using
IN_THE_APP = {
    "mcp": "An agent starts that, and speaks to it in JSON. docs/agents.md says how it is set up.",
    "uninstall": "Leave the application first, and every agent; then run memoranda uninstall in a shell.",
    "serve": "That stays until it is ended: run memoranda serve in a terminal of its own.",
}
SAY_MORE = ("import", "open", "demo", "config", "secrets")  # here than there, or something else


@pytest.mark.sampled(2)
@pytest.mark.parametrize("half", range(2))
async def test_every_typed_verb_does_what_the_command_line_does(story: Story, tmp_path: Path, half: int) -> None:
    """The same lines, one after the other, in the box of one memory and by the command line's own way on its twin:
    after each the two hold the same."""
    assert {line.split()[0] for line in LINES} == set(MODULES), "each verb has a line"
    twin = copy(tmp_path / "twin" / "billing-api")
    with twin.open() as memory:
        async with opened(story.folder, HUGE) as person:
            session = Call(twin.location, memory, str(twin.folder), lambda question: True)
            for template in LINES[half::2]:
                line = template.strip().format(sha=story.shas["cache"][:10], home=Path.home())
                verb, rest = find_verb(shlex.split(line)) or pytest.fail(line)
                expected = refused = ""
                try:
                    expected = IN_THE_APP.get(verb.name, "")
                    given = parse_arguments(verb.name, verb.arguments, rest)
                    expected = expected or session.run(verb, given).message
                except MemorandaError as error:
                    refused = str(error)
                person.app.clear_notifications()
                person.main.run_line(line)
                await person.settle()
                said = "\n".join(person.toasts)
                assert refused in said, (line, refused, said)
                first = expected.split(". ")[0].removesuffix(".")
                assert first in said or verb.name in SAY_MORE, (line, expected, said)
                assert held(story) == held(twin), line
                await person.start_again()


def held(story: Story) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every recorded table, of checkpoints and iterations."""
    tables = (*RECORDED_TABLES, "checkpoints", "iterations")
    with story.open() as memory:
        return {table: sorted(memory.database.rows(f"SELECT * FROM {table}"), key=repr) for table in tables}
