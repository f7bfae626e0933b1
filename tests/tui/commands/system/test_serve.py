"""`serve`: what it says before it serves, and that nothing is served where a person would not expect it."""

import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import pytest

import tui
from store.base.errors import Conflict, InvalidInput
from store.base.location import Location
from tui.commands.agents import OPEN_WARNING, serve
from tui.commands.call import Call

ROOT = str(Path(tui.__file__).parent.parent)


def session(tmp_path: Path, agrees: bool = False) -> tuple[Call, list[str]]:
    """A session outside of the application, and what it was asked."""
    asked: list[str] = []

    def ask(question: str, lines: Sequence[str] = ()) -> bool:
        asked.extend([question, *lines])
        return agrees

    return Call(Location(str(tmp_path / "m.db"), "option", ""), None, str(tmp_path), ask), asked


def test_an_address_that_others_reach_is_asked_about(tmp_path: Path) -> None:
    """And it says what that means; nothing listens before the answer."""
    here, asked = session(tmp_path)
    assert serve(here, host="0.0.0.0").message == "Nothing was started."
    assert asked == ["Listen on 0.0.0.0?", *OPEN_WARNING] and "Nothing on the way is encrypted" in OPEN_WARNING[1]


@pytest.mark.parametrize("host", ["192.0.2.7", "no.such.name.invalid", "a b"])
def test_an_address_that_is_none_of_this_machine_is_named(host: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is no address of this machine"):
        serve(session(tmp_path)[0], host=host, yes=True)


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(Conflict, match=r"Port \d+ is taken"):
        serve(session(tmp_path)[0], port=other.getsockname()[1])
    with pytest.raises(InvalidInput, match="up to 65535"):
        serve(session(tmp_path)[0], port=70000)


def test_without_its_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    monkeypatch.delitem(sys.modules, "tui.browser.server", raising=False)
    with pytest.raises(InvalidInput, match=r"\.\[serve\].*WHEEL\[serve\]"):
        serve(session(tmp_path)[0])


def test_it_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    """The address that it prints opens; ^C ends it with nothing to say, and no memory was made."""
    words = [sys.executable, "-P", "-m", "tui.main", "--db", str(tmp_path / "m.db"), "serve"]
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": {"PYTHONPATH": ROOT, "HOME": str(tmp_path)}}
    with subprocess.Popen(words, text=True, **more) as process:
        assert process.stdout is not None and process.stderr is not None
        found = re.fullmatch(r"Open (http://127\.0\.0\.1:(\d+)/\?token=\S+)\n", process.stdout.readline())
        assert found is not None
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(found[1], timeout=30) as answer:
            assert answer.url == f"http://127.0.0.1:{found[2]}/" and b"Starting Memoranda" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0 and process.stderr.read() == ""
    assert not (tmp_path / "m.db").exists()
