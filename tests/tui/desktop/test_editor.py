"""A text in the person's own editor: what it is given, what comes back, and that nothing of it stays behind.

The editors are real scripts. No terminal is lent to them (`Aside` stands in for the app: its `suspend` does nothing,
where Textual's gives the terminal back and takes it again); `test_editor_in_terminal` does, in a real one.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.cases import load_cases
from support.tables import each
from textual.app import App

from tui.desktop.editor_process import DEFAULT_EDITORS, NoEditor, editor_command
from tui.desktop.programs import command_at_line, edit_in_editor

pytestmark = pytest.mark.usefixtures("room")
Script = Callable[..., str]


class Aside:
    """An app that has stood aside; counts how often."""

    def __init__(self) -> None:
        self.resumed = 0

    @contextmanager
    def suspend(self) -> Iterator[None]:
        yield  # as Textual's: what is raised here keeps the app from resuming
        self.resumed += 1


@pytest.fixture
def app() -> Any:
    return Aside()


@each("text, body, new", load_cases(__file__)["edits"])
def test_what_comes_back(app: Any, script: Script, room: Path, text: str, body: str, new: str | bool) -> None:
    """Whole, in any script, without the newline that editors end a file with; and the file is gone."""
    app.resumed = 0
    assert edit_in_editor(app, text, command=script(body)) == (None if new is False else new)
    assert app.resumed == 1 and list(room.iterdir()) == []


def test_the_file_is_private(app: Any, script: Script, tmp_path: Path, room: Path) -> None:
    """To read for nobody else, whatever the umask; what the editor leaves beside it goes too."""
    before = os.umask(0)
    try:
        copying = script(f'cp "$1" "$1~"; echo "$1" > "{tmp_path}/name"; sleep 0.2')
        edit_in_editor(app, "secret", suffix=".txt", command=copying)
        path = Path((tmp_path / "name").read_text().strip())
        seen = {}
        command = script('stat -c "%a" "$1" "$(dirname "$1")" > "$1.modes"; cp "$1.modes" ' + f'"{tmp_path}/modes"')
        edit_in_editor(app, "secret", command=command)
        seen = (tmp_path / "modes").read_text().split()
    finally:
        os.umask(before)
    assert seen == ["600", "700"]
    assert path.suffix == ".txt" and path.parent.parent == room and not path.parent.exists()
    assert list(room.iterdir()) == []


def test_which_editor(script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The configured one, $VISUAL, $EDITOR, then what is installed; each may carry arguments and quotes."""
    one, two, three = (script("", name) for name in ("one", "two words", "three"))
    everything = {"VISUAL": f"'{two}' --wait", "EDITOR": three}
    assert editor_command(one, everything) == [one]
    assert editor_command(" ", everything) == [two, "--wait"]
    assert editor_command("", {"VISUAL": "", "EDITOR": three}) == [three]
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in reversed(DEFAULT_EDITORS):
        script("", name)
        assert editor_command("", {}) == [name]


@each(
    "words, more",
    {"/usr/bin/vim -R": "+7 a.md", "code --wait": "--goto a.md:7", "cursor -g": "a.md:7", "subl": "a.md:7"}.items(),
)
def test_a_file_is_opened_at_a_line_as_each_editor_takes_it(words: str, more: str) -> None:
    assert command_at_line(words.split(), "a.md", 7) == [*words.split(), *more.split()]
    assert command_at_line(["notepad"], "a.md", 7) == ["notepad", "a.md"]


def test_an_editor_gets_its_own_arguments_first(app: Any, script: Script, tmp_path: Path) -> None:
    edit_in_editor(app, "x", command=f'{script(f"""echo "$1|$2" > "{tmp_path}/words" """)} "--wait; touch oops"')
    assert (tmp_path / "words").read_text().startswith("--wait; touch oops|/")
    assert not Path("oops").exists()


@pytest.mark.parametrize(
    ("command", "environment", "words"),
    [
        ("no-such-editor", {}, "The configured editor names a program that is not there."),
        ("", {"VISUAL": "no-such-editor -x"}, "$VISUAL names a program that is not there."),
        ("", {"EDITOR": "ed 'itor"}, "$EDITOR has a quote that is not closed."),
        ("", {"EDITOR": "''"}, "$EDITOR names a program that is not there."),
        ("", {}, "No editor was found. Set $VISUAL or $EDITOR to one that is installed."),
    ],
)
def test_no_editor_is_said(
    app: Any, room: Path, monkeypatch: pytest.MonkeyPatch, command: str, environment: dict[str, str], words: str
) -> None:
    """With the cause and the next step, before the text is written anywhere and the app has moved."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", str(room))
    with pytest.raises(NoEditor) as caught:
        edit_in_editor(app, "x", command=command)
    assert str(caught.value).startswith(words) and caught.value.next
    assert app.resumed == 0 and list(room.iterdir()) == []


def test_an_editor_that_cannot_be_started(app: Any, room: Path, tmp_path: Path) -> None:
    """The app comes back first."""
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF no such thing")
    broken.chmod(0o755)
    with pytest.raises(NoEditor, match="cannot be started: Exec format error"):
        edit_in_editor(app, "x", command=str(broken))
    assert app.resumed == 1 and list(room.iterdir()) == []


async def test_a_terminal_that_cannot_be_lent(script: Script, room: Path, tmp_path: Path) -> None:
    """As in a browser, or without a terminal: a sentence, and the editor never ran."""
    ordinary: App[None] = App()
    async with ordinary.run_test():
        with pytest.raises(NoEditor, match="cannot be lent"):
            edit_in_editor(ordinary, "x", command=script(f'touch "{tmp_path}/ran"'))
    assert not (tmp_path / "ran").exists() and list(room.iterdir()) == []


def test_the_signals_are_as_they_were(app: Any, script: Script) -> None:
    """^C belongs to the editor, which hears it; afterwards it is the app's again."""
    names = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGTSTP)
    before = [signal.getsignal(name) for name in names]
    assert edit_in_editor(app, "x", command=script('kill -INT $PPID; kill -QUIT $PPID; echo y > "$1"')) == "y"
    assert edit_in_editor(app, "x", command=script('trap "echo heard > \\"$1\\"; exit 0" INT; kill -INT $$')) == "heard"
    assert [signal.getsignal(name) for name in names] == before
