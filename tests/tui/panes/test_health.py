"""Health: damage that is looked for, and every figure with what it means, what nobody can know yet, and where Enter
leads."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.commands import Do
from support.pane_screen import PaneScreen
from support.screen import TWO_SIZES, WIDE
from support.screen import opened as at_screen
from support.stories import NOON, Clock, Story, copy, noon
from support.strangers import PAYLOADS

from store.base.models import Fact, Turn
from store.conversations.turns import NewTurn
from store.learning import rule_pass
from store.memory import Memory
from store.search.fulltext import rebuild_text_index
from store.upkeep import checks
from store.upkeep.as_of import PastMemory, point_in_time, read_past
from tui.commands.call import Call
from tui.commands.health import stats_lines
from tui.input.arguments import parse_arguments
from tui.input.verb_table import verb_named
from tui.panes import health
from tui.panes.health import PANE
from tui.panes.pane import Heading
from tui.render.metrics import metric_sections
from tui.workers.engine import ConfirmationNeeded, Engine

FOLLOW = "preview.follow"
TAX = "def tax(cents):\n    return cents // 5\n"


@pytest.fixture
def lived(story: Story, monkeypatch: pytest.MonkeyPatch) -> Story:
    """Two conversations, a turn that cannot be read, contexts, one of them answered, searches."""
    with story.open() as memory:
        said = [NewTurn("user", "does the build run on Jenkins?"), NewTurn("assistant", "word " * 300)]
        memory.turns.add_turns("monday", said)
        memory.checkpoints.record_session_end(session="monday")
        memory.turns.add_turns("tuesday", [NewTurn("user", "and who deploys?")])
        context = memory.context("does the build run on Jenkins?", "tuesday")
        number = memory.context.sent_log.log_context(context)
        cited = [one.fact.citation for one in context.considered if one.included]
        memory.context.sent_log.log_answer(number, valid=True, cited=cited)
        for query in ("jenkins", "jenkins", "zebra"):
            memory.search.log.add_query(query)
            memory.search.log.log_answer(memory.search(query, meaning=False))
    with monkeypatch.context() as patch:
        patch.setattr("store.conversations.extraction_queue.BACKOFF_MS", (0, 0, 0))
        real = rule_pass.plan_actions

        def stumbles(turn: Any, *rest: Any) -> object:
            if turn.id == 1:
                raise RecursionError("what was said")
            return real(turn, *rest)

        patch.setattr("store.learning.rule_pass.plan_actions", stumbles)
        with story.open() as memory:
            rule_pass.run_rule_pass(memory)
    return story


def opened(story: Story) -> PaneScreen:
    return PaneScreen(PANE, Engine(story.location, str(story.folder), lambda call, *given: call(*given), Clock()))


@pytest.fixture
def screen(lived: Story) -> Iterator[PaneScreen]:
    screen = opened(lived)
    yield screen
    screen.close()


@pytest.fixture
def new(story: Story) -> Iterator[PaneScreen]:
    """A memory that nobody asked or talked to yet."""
    screen = opened(story)
    yield screen
    screen.close()


# the figures


@pytest.mark.parametrize("width", [40, 56, 78, 120])
def test_every_figure_stands_there_with_its_chart(screen: PaneScreen, width: int) -> None:
    assert all(len(line) <= width for line in screen.lines(width))
    for label, start, *words in (
        ("fresh", "•", "█", "50 %"),
        ("stale", "▲", "+2 in 30 d"),
        ("learned", "•", "12 weeks"),
        ("monday", "¶", "2 turns"),
        ("covered", "•", "50 %"),
        ("cited", "✓", "%", "1 answered"),
        ("read", "⚠", "1 of 4 by rules"),
        ("T#1", "⚠", "does the build", "RecursionError"),
        ("found", "•", "67 %"),
        ("jenkins", "/", "2 ×"),
        ("keywords", "✓", " ms"),
        ("full text", "✓", "FTS5"),
        ("mean", "✓", "of 3,050 tokens"),
        ("recovered", "•"),
        ("between", "•", "from one to the next"),
        ("crashes", "✓"),
        ("memory", "•", "B"),
    ):
        line = screen.line(label, width)
        if width == 78:
            assert all(one in line for one in words) and (line.startswith(start) or label in ("monday", "cited")), label
    assert screen.title == "as of 21 Nov 2026 12:00"


def test_what_nobody_can_know_yet_says_so_and_is_no_nought(new: PaneScreen) -> None:
    for label, words in (
        ("cited", "no answer was rated yet"),
        ("read", "no turn was read yet"),
        ("takes", "nothing was searched yet"),
        ("reused", "no answer was looked for yet"),
        ("sessions", "none yet"),
        ("sent", "none was sent yet"),
        ("backups", "none yet"),
        ("requests", "no turn asked for anything yet"),
        ("model", "no vectors yet"),
        ("mean", "no request was measured yet"),
    ):
        assert words in new.line(label) and "0" not in new.line(label), label
    assert "No answer was rated yet." in new.more("cited") and "enter" not in new.more("cited")
    assert not new.press(FOLLOW, "cited"), "it leads nowhere"


@pytest.mark.parametrize(
    ("key", "leads", "words"),
    [
        ("fresh", "list --sort newest", "enter  the facts, the newest first"),
        ("stale", "search is:stale", "no agent is sent them"),
        ("session monday", "context --session=monday", "No agent was sent a context for it"),
        ("covered", "list checkpoints --all", ""),
        ("cited", "context", "Mute what is sent again"),
        ("read", "today", "1 of 4 tries to read a turn came to an end"),
        ("query jenkins", "search -- jenkins", ""),
        ("memory", "health --check", "It holds "),
        ("over time", "health --plot -", "Growth, recall and age"),
    ],
)
def test_it_says_what_it_means_and_enter_goes_there(screen: PaneScreen, key: str, leads: str, words: str) -> None:
    assert words in screen.more(key) and screen.press(FOLLOW, key) and screen.ran == [leads]


def test_a_figure_that_names_a_record_is_that_record(screen: PaneScreen, lived: Story) -> None:
    """Its keys are those of the record, the preview shows both."""
    oldest, failed = screen.entry("oldest").thing, screen.entry("T#1").thing
    assert isinstance(oldest, Fact) and oldest.id == lived.facts["release"] and isinstance(failed, Turn)
    told = screen.more("oldest")
    assert "nobody confirmed this one for the longest" in told and "Releases are cut from main" in told
    assert screen.line("oldest").endswith(" d unpinned"), "a pinned one may be older"
    with lived.open() as memory:
        memory.facts.confirm([oldest.id])
    screen.last = None
    assert screen.entry("oldest").thing.id == lived.facts["jenkins"]


def test_a_change_is_measured_later(screen: PaneScreen, lived: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []
    measure = health.measure
    monkeypatch.setattr(health, "measure", lambda memory: measured.append(1) or measure(memory))
    for change, pause, times in ((False, 1e9, 1), (True, 1e9, 1), (True, 0.0, 1), (False, 0.0, 1)):
        monkeypatch.setattr(health, "MEASURE_REST", pause)
        if change:
            with lived.open() as memory:
                memory.facts.remember(f"somebody else remembers {len(measured)} {pause}")
        screen.read()
        assert len(measured) == times, (change, pause)
    screen.last = None
    screen.read()
    with lived.open() as memory:
        memory.facts.remember("one more")
    screen.read()
    screen.read()
    assert len(measured) == 3


def test_in_the_past_only_ages_are_of_then(screen: PaneScreen, lived: Story) -> None:
    now = screen.line("stale")
    with lived.open() as memory:
        past = read_past(memory, point_in_time(memory, "100d"))
    screen.engine.enter(past, PastMemory(lived.location, "app", past))
    lines = screen.lines()
    assert lines[-1].startswith("the rest is of now") and screen.line("stale") != now
    assert not any("memory" in line or "Check" in line for line in lines)
    screen.engine.come_back()
    assert any("on the disk" in line for line in screen.lines())


def test_hostile_text_is_shown_and_not_obeyed(new: PaneScreen, story: Story) -> None:
    with story.open() as memory:
        for payload in PAYLOADS.values():
            if payload.strip():
                memory.turns.add_turns(f"s {payload}", [NewTurn("user", f"hostile {payload}")])
                memory.search.log.add_query(payload)
    for line in new.lines(56):
        assert not any(ord(char) < 32 or char == "\u202e" for char in line)


@pytest.mark.parametrize("width", [43, 70, 80])
def test_a_conversations_name_is_never_shortened(new: PaneScreen, story: Story, width: int) -> None:
    uuid = "0b1f6c1e-3f7e-4a0e-9d61-2f4a1c5f7a10"
    with story.open() as memory:
        for name in (uuid, "faster-import"):
            memory.turns.add_turns(name, [NewTurn("user", "and who deploys on Fridays?")])
    drawn = new.lines(width)
    assert any(line.split()[1:2] == ["faster-import"] for line in drawn) and any(uuid in line for line in drawn)


# what is wrong


def test_damage_is_looked_for_and_enter_does_the_next_step(new: PaneScreen, story: Story) -> None:
    """The worst is the first; what was found stays while the rest is read again, until it is looked for again."""
    with Memory.open(str(story.path)) as memory:
        memory.database.connection.execute("INSERT INTO corpus_fts(rowid, title) VALUES (9999, 'ghost')")
    assert new.lines()[0].startswith("checks ─") and new.line("Check for damage")
    assert new.press(FOLLOW, "check") and new.view.get("check")
    assert new.lines()[2].startswith("✕ keywords") and new.title.endswith("1 thing to be mended.")
    assert new.told[0] == "looking …" and any(told.startswith("checking ") for told in new.told)
    assert "Next  memoranda health --index rebuild" in new.more("finding 0")
    assert new.press(FOLLOW, "finding 0") and new.ran == ["health --index rebuild"]
    assert not new.press(FOLLOW, "finding 9"), "there is nothing to be done about it"
    told = len(new.told)
    assert new.line("records").endswith("each as history says.") and len(new.told) == told, "nothing is looked for"
    with Memory.open(str(story.path)) as memory:
        rebuild_text_index(memory.database)
    for _ in range(2):
        told = len(new.told)
        new.press(FOLLOW, "check")
        assert new.line("Check again").endswith("Nothing is wrong.") and len(new.told) > told
    assert new.line("private").startswith("✓")
    assert new.line("Check again", check="quick")
    assert not any("as history says" in line for line in new.lines(78, check="quick"))
    assert not any("private" in line for line in new.lines(78, check="")), "escape takes it away"


def test_looking_ends_with_the_application(new: PaneScreen, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*given: Any, **named: Any) -> Iterator[checks.Finding]:
        yield checks.Finding("one", checks.OK, "fine")
        new.engine.is_closed = True
        assert given[4](), "it is told that it may stop"

    monkeypatch.setattr(health, "examine", endless)
    assert new.line("one", check="1").endswith("fine")
    new.engine.is_closed = False


# evidence, by commands


def run(story: Story, line: str, agreed: list[str]) -> list[str]:
    """Run a command as the application does: what it asks is agreed to once it was shown."""

    def ask(question: str, lines: Any = ()) -> bool:
        asks = ConfirmationNeeded(question, lines)
        if asks.shown_text not in agreed:
            raise asks
        return True

    verb = verb_named(line.split()[0])
    given = parse_arguments(verb.name, verb.arguments, line.split()[1:])
    with story.open(NOON, "app") as memory:
        outcome = Call(story.location, memory, str(story.folder), ask).run(verb, given)
    return [outcome.message, *outcome.lines]


def test_evidence_is_looked_at_taken_and_taken_away(tmp_path: Path) -> None:
    story = copy(tmp_path / "billing-api")
    file = story.folder / "tax.py"
    file.write_text(TAX)
    assert run(story, "bind F#1 tax.py::tax", []) == ["Bound F#1 to tax.py::tax."]
    file.write_text(TAX.replace("5", "4"))
    assert run(story, "bind --check", [])[1:] == ["≠ changed        F#1     tax.py::tax → tax.py:1-2", "1 changed."]
    assert run(story, "bind F#1", []) == ["Took what F#1 rests on as it is now: tax.py::tax."]
    assert run(story, "bind --check", [])[1:] == ["1 holds."]
    assert run(story, "bind F#1 tax.py::tax --off", [])[0].startswith("F#1: it rests on nothing now.")


def test_commands_run_once_all_of_them_were_shown_and_agreed_to(tmp_path: Path) -> None:
    story = copy(tmp_path / "billing-api")
    mark = story.folder / "mark"
    with story.open() as memory:
        memory.evidence.bind("fact", 1, ["$ echo 5 >> mark"], str(story.folder))
        memory.evidence.bind("fact", 2, ["$ echo 6 >> mark"], str(story.folder))
    agreed: list[str] = []
    for number in (5, 6):
        with pytest.raises(ConfirmationNeeded) as asks:
            run(story, "bind --check --run", agreed)
        assert f"run “echo {number} >> mark”?" in asks.value.message and not mark.exists()
        assert "It runs in the folder of the project, as you." in asks.value.lines[0]
        agreed.append(asks.value.shown_text)
    assert run(story, "bind --check --run", agreed)[-1] == "2 hold." and mark.read_text() == "5\n6\n"
    assert run(story, "bind --check --run", [])[-1] == "2 hold.", "they are allowed from then on"


# the same on the command line


def test_the_command_line_says_the_same(lived: Story, monkeypatch: pytest.MonkeyPatch, do: Do) -> None:
    with lived.open(NOON) as memory:
        lines = stats_lines(metric_sections(health.measure(memory)))
    headings = [line for line in lines if line and not line.startswith(" ")]
    screen = opened(lived)
    assert [one.name.upper() for one in screen.read().entries if isinstance(one, Heading)] == ["CHECKS", *headings]
    screen.close()
    assert "      memoranda show T#1" in lines, "what is poor says where to look"
    noon(monkeypatch)
    database = ("--db", lived.path)
    assert do(*database, "search", "--keywords", "jenkins").status == 0
    assert "Growth" in do(*database, "health", "--plot", "-").out
    lines = [line.strip() for line in do(*database, "health").out.splitlines()]
    for start in ("✓ full text", "· model", "· requests", "✓ mean", "• recovered", "• between", "✓ crashes"):
        assert any(line.startswith(start) for line in lines), start
    data = do(*database, "health", "--json").data["health"]
    assert data["index"]["full_text"] is True and data["index"]["indexed"] == data["index"]["passages"] > 0
    assert data["requests"] == {"asked": 0, "kept": 0} and data["recoveries"]["checkpoints"] > 0
    assert 0 < data["mean_tokens"] < 3_050 and len(data["searches"]["milliseconds"]) == 4, "it is noted once answered"


# in the application


@TWO_SIZES
async def test_what_is_wrong_is_mended_in_the_application(story: Story, size: tuple[int, int]) -> None:
    with story.open() as memory:
        memory.database.connection.execute("INSERT INTO corpus_fts(rowid, title) VALUES (9999, 'ghost')")
    async with at_screen(story.folder, size) as person:
        await person.follow(
            (":health --check", "✕ keywords", lambda: person.place == "health"),
            ("j", "Next  memoranda health --index rebuild", "enter health --index rebuild"),
            ("enter", lambda: any("Made the index again" in toast for toast in person.toasts)),
            ("k enter", lambda: "Nothing is wrong." in person.line("Check again")),
        )
        await person.put_cursor("over time")
        await person.follow(("enter", lambda: any(line.startswith("Growth") for line in person.preview)), ("escape",))
        await person.put_cursor("stale")
        await person.follow(("enter", lambda: any("Jenkins" in row for row in person.rows)))


async def test_the_oldest_fact_is_confirmed_where_it_stands(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "MEASURE_REST", 0)
    async with at_screen(story.folder, WIDE) as person:
        await person.command("health")
        await person.put_cursor("oldest")
        assert person.sees("nobody confirmed", "Releases are cut from main")
        await person.follow(("y", "• oldest      Uses Jenkins"))
