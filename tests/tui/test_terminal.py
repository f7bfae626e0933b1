"""The app in a real pseudo-terminal: it starts, is used, and leaves the terminal as it found it."""

import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest
from support.stories import Story, copy
from support.terminals import ended, gone, sees

import tui
from bench.terminal import Terminal

ROOT = str(Path(tui.__file__).parent.parent)
COMMAND = [sys.executable, "-P", "-m", "tui.main"]
ENVIRONMENT = {"PYTHONPATH": ROOT, "TZ": "UTC", "COLUMNS": "", "LINES": ""}  # the size is the terminal's own
# what an app turns on in a terminal, and what turns it off again
MODES = {
    "the alternate screen": ("\x1b[?1049h", "\x1b[?1049l"),
    "the mouse": ("\x1b[?1000h", "\x1b[?1000l"),
    "any mouse movement": ("\x1b[?1003h", "\x1b[?1003l"),
    "bracketed paste": ("\x1b[?2004h", "\x1b[?2004l"),
    "focus events": ("\x1b[?1004h", "\x1b[?1004l"),
    "the hidden cursor": ("\x1b[?25l", "\x1b[?25h"),
    "the keyboard protocol": ("\x1b[>1u", "\x1b[<u"),
}


@contextmanager
def started(story: Story, size: tuple[int, int] = (120, 40), argv: list[str] | None = None) -> Iterator[Terminal]:
    """The app on a story's memory, its lists on the screen."""
    command = [*(argv or COMMAND), "--db", str(story.path)]
    with Terminal(command, ENVIRONMENT, size) as terminal:
        sees(terminal, "All 10")
        yield terminal


def restored(terminal: Terminal) -> None:
    """Everything that was turned on is off, and after the last of it nothing was written but what the app says."""
    output = terminal.output.decode("utf-8")
    for name, (on, off) in MODES.items():
        if on in output:
            assert output.rfind(off) > output.rfind(on), f"{name} is still on"
    assert MODES["the alternate screen"][0] in output
    found = re.search("Traceback|Exception|Error", output)
    assert not found, output[max(0, found.start() - 300) : found.end() + 300] if found else ""


def after(terminal: Terminal) -> str:
    """What was written once the alternate screen was left, without the sequences."""
    rest = terminal.output.decode("utf-8").rpartition(MODES["the alternate screen"][1])[2]
    return " ".join(re.sub(r"\x1b\[[0-9;?<>=]*[a-zA-Z]", "", rest).split())


def click(terminal: Terminal, text: str, button: int = 0) -> None:
    """Press and release a mouse button (2: the right one) where `text` is first seen, as a terminal reports it."""
    sees(terminal, text)
    terminal.quiet()  # nobody clicks on what is still being drawn
    y, line = next((y, line) for y, line in enumerate(terminal.screen, 1) if text in line)
    at = f"{button};{line.index(text) + 1};{y}"
    terminal.write(f"\x1b[<{at}M\x1b[<{at}m")


@pytest.mark.parametrize(
    "written, line", [("🔎x", "🔎x"), ("🔎x\ra", "a x"), ("🔎x\r\x1b[Ca", " ax"), ("日本\r\x1b[Ca", " a本")]
)
def test_half_of_a_wide_character_is_a_space(written: str, line: str) -> None:
    with Terminal(["printf", "%s", written]) as terminal:
        assert ended(terminal) == 0
        assert terminal.screen[0].rstrip() == line


SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])


@SIZES
def test_a_session_with_the_mouse(story: Story, size: tuple[int, int]) -> None:
    """The box, a pane, a form, the find line, a chip, the footer and the help are clicked."""
    with started(story, size) as terminal:
        sees(terminal, ": more")
        click(terminal, "Uses Jenkins", button=2)
        click(terminal, "Pin the fact")
        sees(terminal, "Pinned F#")
        click(terminal, "3 Timeline")
        click(terminal, "Facturas en PDF/A", button=2)
        click(terminal, "It replaces another")
        sees(terminal, "Replace… D#4")
        terminal.write("\r\x15PDF/A-4\r\r\r")
        sees(terminal, "Recorded D#")
        click(terminal, "find, ask")
        terminal.write("jenkins")
        sees(terminal, "All ", "found")
        click(terminal, "✕")
        gone(terminal, " found")
        click(terminal, "2 Facts")
        click(terminal, "Low 2")
        sees(terminal, "esc all")
        click(terminal, "Low 2 ×")
        gone(terminal, "esc all")
        click(terminal, ": more")
        sees(terminal, "Do, go, or type")
        click(terminal, ": more")  # beside the box: it goes
        gone(terminal, "Do, go, or type")
        terminal.write("?")
        click(terminal, "esc closes")
        gone(terminal, "esc closes")
        terminal.write("q")
        assert ended(terminal) == 0
        restored(terminal)


def test_another_memory_is_opened_and_left_again(story: Story, tmp_path: Path) -> None:
    other = copy(tmp_path / "shop-api")
    with started(story, (80, 24)) as terminal:
        sees(terminal, ": more")
        for folder, name in ((other.folder, "shop-api"), (story.folder, "billing-api"), (other.folder, "shop-api")):
            click(terminal, "billing-api" if name == "shop-api" else "shop-api")
            sees(terminal, "Open the memory of another project")
            terminal.write(str(folder))
            click(terminal, "enter")
            sees(terminal, f" {name} /", "All 10")
        terminal.write("q")
        assert ended(terminal) == 0
        restored(terminal)


@SIZES
def test_a_session(story: Story, size: tuple[int, int]) -> None:
    with started(story, size) as terminal:
        sees(terminal, "billing-api", "Alérgica al maní", ": more")
        assert all(len(line) == size[0] for line in terminal.screen) and len(terminal.screen) == size[1]
        terminal.write("j")
        sees(terminal, "F#6  fact · work")
        terminal.write("f")
        sees(terminal, "Forgot F#", "u to undo", "All 9")
        terminal.write("u")
        sees(terminal, "Undid: forget F#6", "All 10")
        terminal.write("/cache")
        sees(terminal, "All 3", "3 found")
        terminal.write("\r\x1b[B")
        sees(terminal, "fix: keep the cache in memory", "C#093fe85")
        terminal.resize(100 if size[0] < 100 else 70, 30)
        sees(terminal, "3 found")
        terminal.write("\x1b")
        sees(terminal, "find, ask", "All 10")
        gone(terminal, "3 found")
        terminal.resize(*size)
        sees(terminal, "Alérgica al maní", ": more")
        terminal.write("q")
        assert ended(terminal) == 0
        restored(terminal)
        assert after(terminal) == "", "nothing stays behind"


def test_quitting_while_the_pen_waits_for_the_screen(story: Story) -> None:
    """The pen's last word meets a screen that is closing: neither may wait for the other. It is held until then."""
    slow = (
        "import sys, time; from tui.app import Memoranda; say = Memoranda.call_from_thread\n"
        "def late(self, function, *rest):\n"
        "    while 'finish' in [getattr(one, '__name__', '') for one in (function, *rest)] and not self._exit:\n"
        "        time.sleep(0.01)\n"
        "    return say(self, function, *rest)\n"
        "Memoranda.call_from_thread = late\n"
        "from tui.main import main; main()"
    )
    with started(story, argv=[sys.executable, "-P", "-c", slow]) as terminal:
        terminal.write("f")
        gone(terminal, "Releases are")
        terminal.write("q")
        assert ended(terminal) == 0


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_signal_from_outside(story: Story, number: signal.Signals, status: int) -> None:
    with started(story) as terminal:
        terminal.quiet()
        terminal.process.send_signal(number)
        assert ended(terminal) == status
        if number != signal.SIGHUP:  # for which the terminal is gone
            restored(terminal)
            assert after(terminal) == ""


def test_the_first_facts_are_drawn_before_all_else_is_imported(story: Story) -> None:
    """The glyph of the cursor is hollow where a list has no focus, as before there is anything to act with."""
    with started(story) as terminal:
        hollow, full = (terminal.output.find(glyph.encode()) for glyph in "▹▸")
        assert 0 < hollow < full


def test_keys_that_come_all_at_once_are_for_what_they_open(story: Story) -> None:
    """As a slow line sends them: `f` and `c` of a query must not forget and correct, `f` and `y` not forget and confirm
    a fact of the pane before, enter not run what the palette showed first; the key before quitting is kept."""
    with started(story) as terminal:
        for keys, seen, left in (
            ("/facturas", "3 found", ""),
            ("\x1b", "All 10", " found"),
            (":checkpoint full of letters\r", "Checkpoint K#2.", ""),
            ("afish, chips and peas\r", "Remembered F#15", ""),
            ("", "fish, chips and peas", ""),
            ("5fy", "not for what is chosen", ""),
            ("2", "All 11", ""),
            (":settings\r/retention\r", "“retention” ×", ""),
            ("", "Keep events (days)", ""),
            ("\x1b", "› Settings", "“retention” ×"),
            ("\x1b", "find, ask", "retention"),
            ("\x10zzzzz", "run “zzzzz”", ""),
            ("\x1b", "All 11", "zzzzz"),
            (":forget jenkins\ru", "Undid: forget F#6", ""),
            ("j", "u undo", "Undid"),
            ("/memory forget F#6\ru", "Undid: forget F#6", ""),
            ("?", "another key for it", ""),
            ("q\x10", "Do, go, or type", "another key for it"),
            ("\x1b", "All 11", "Do, go, or type"),
        ):
            terminal.write(keys)
            sees(terminal, seen)
            if left:
                gone(terminal, left)
        terminal.write("gfq")
        assert ended(terminal) == 0
        restored(terminal)
    with story.open() as memory:
        steps = [step.reason for step in memory.history.steps(limit=7)]
        forgot = ["undo 34", "forget F#6", "undo 32", "forget F#6"]
        assert steps == ["forget F#2", *forgot, "remember F#15", "link C#a383156 D#1"]


@pytest.mark.parametrize("says", ["is a database of another program", "is not a memory"])
def test_a_foreign_file_is_refused_in_one_sentence(tmp_path: Path, says: str) -> None:
    path = tmp_path / "[/nope]\x1b]52;c;eA==\x07.db"
    path.parent.mkdir()
    if says == "is a database of another program":
        connection = apsw.Connection(str(path))
        connection.execute("CREATE TABLE theirs(x)")
        connection.close()
    else:
        path.write_text("not a database, but long enough to be looked at " * 100)
    path.chmod(0o600)
    before = path.read_bytes()
    with Terminal([*COMMAND, "--db", str(path)], ENVIRONMENT) as terminal:
        assert ended(terminal) == 1
        restored(terminal)
        assert b"\x1b]52" not in terminal.output
        words = after(terminal)
    assert says in words and "Nothing was changed" in words
    assert path.read_bytes() == before


def test_colours_follow_the_terminal(story: Story) -> None:
    with Terminal([*COMMAND, "--db", str(story.path)], ENVIRONMENT | {"NO_COLOR": "1"}) as terminal:
        sees(terminal, "All 10", "▲", "◐", "▽")
        terminal.write("q")
        assert ended(terminal) == 0
        colours = re.findall(rb"\x1b\[(?:3|4)8;2;(\d+);(\d+);(\d+)", terminal.output)
        assert all(len(set(colour)) == 1 for colour in colours), "greys only"
