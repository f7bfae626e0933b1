"""The application in a headless Chromium: what a person does in it, as they do it, and what is kept."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pyte
import pytest
from support.stories import Story

import tui
from store.memory import Memory

pytestmark = pytest.mark.browser

ROOT = str(Path(tui.__file__).parent.parent)
QUIET = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
).split()
SECONDS = 60


class Tab:
    """A tab of the browser. Its screen is what the application wrote to the page's terminal, read as a terminal does:
    the page itself paints letters on a canvas."""

    def __init__(self, page) -> None:
        self.page = page
        self.asked: list[str] = []
        self.errors: list[str] = []
        self._screen = pyte.Screen(80, 24)
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("websocket", self._connected)

    def _connected(self, websocket) -> None:
        size = parse_qs(urlparse(websocket.url).query)
        self._screen = pyte.Screen(int(size["width"][0]), int(size["height"][0]))
        stream = pyte.ByteStream(self._screen)
        websocket.on("framereceived", lambda data: stream.feed(data) if isinstance(data, bytes) else None)

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.sees("All 10", ": more")

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display)

    def sees(self, *texts: str) -> None:
        self._until(lambda: all(text in self.text for text in texts), f"{texts} did not come")

    def gone(self, text: str) -> None:
        self._until(lambda: text not in self.text, f"{text} stays")

    def _until(self, met: Callable[[], bool], otherwise: str) -> None:
        end = time.monotonic() + SECONDS
        while not met():
            assert time.monotonic() < end, f"{otherwise}:\n{self.text}"
            self.page.wait_for_timeout(50)

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)


@pytest.fixture
def server(story: Story) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`memoranda serve` on a story's memory, and the address that it printed."""
    words = [sys.executable, "-P", "-m", "tui.main", "--db", str(story.path), "serve"]
    environment = {**os.environ, "PYTHONPATH": ROOT, "TZ": "UTC"}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment, cwd=story.folder) as process:
        assert process.stdout is not None
        found = re.match(r"Open (\S+)", process.stdout.readline())
        assert found is not None
        yield process, found[1]
        process.send_signal(signal.SIGINT)
        process.wait(SECONDS)


@pytest.fixture
def context():
    """A new profile of a browser."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get("MEMORANDA_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("There is no Chromium here; MEMORANDA_CHROMIUM names one.")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        yield context
        browser.close()


def texts(story: Story) -> list[str]:
    with Memory.open(str(story.path), "cli") as memory:
        return [text for (text,) in memory.database.rows("SELECT fact FROM facts WHERE status = 'active'")]


def applications(process: subprocess.Popen[str]) -> list[int]:
    """The processes below the server: the shell of each tab, and its application."""
    below, found = [process.pid], []
    while below:
        pid = below.pop()
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
        except OSError:
            continue
        below += map(int, children)
        found += map(int, children)
    return found


def ended(pids: list[int]) -> bool:
    return not [pid for pid in pids if Path(f"/proc/{pid}").exists() and not _zombie(pid)]


def _zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_session_in_a_browser(story: Story, server, context) -> None:
    """Load, type, search, correct, undo, a reload, leave and come back: nothing asked of anybody else, no error of the
    page, letters on it, and the token not in its address."""
    address = server[1]
    tab = Tab(context.new_page())
    tab.open(address)
    assert "token" not in tab.page.url
    empty = len(tab.page.screenshot())
    assert empty > 20_000, "the page is one colour"
    tab.type("/jenkins")
    tab.sees("/ jenkins", "Exact 1", "Uses Jenkins")
    tab.press("Enter")
    tab.type("c")
    tab.sees("correct")
    tab.press("End")
    tab.type(" y ñandú «日本»")
    tab.press("Enter")
    tab.sees("What it said over time", "ñandú")
    assert [text for text in texts(story) if text.endswith(" y ñandú «日本»")]
    tab.page.reload()
    tab.sees("All 10", ": more")
    tab.type("u")
    tab.gone("ñandú")  # also of another sitting: of the tab before the reload
    assert not [text for text in texts(story) if "ñandú" in text]
    tab.type("q")
    tab.page.wait_for_selector("body.-closed .ended")
    tab.page.click("text=Open it again")
    tab.sees("All 10", ": more")
    assert tab.errors == []
    assert {urlparse(url).netloc for url in tab.asked} == {urlparse(address).netloc}


def test_two_tabs_see_each_other(story: Story, server, context) -> None:
    """Both are on one memory; a tab that is closed ends its application and not the other's."""
    process, address = server
    one, other = Tab(context.new_page()), Tab(context.new_page())
    one.open(address)
    before = applications(process)
    other.open(address.partition("?")[0])  # the cookie is there already
    both = applications(process)
    one.page.bring_to_front()
    one.type("a")
    one.sees("remember")
    one.type("Written in one tab")
    one.press("Enter")
    one.sees("Remembered F#")
    other.page.bring_to_front()
    other.sees("Written in one tab")
    other.page.close()
    one._until(lambda: ended([pid for pid in both if pid not in before]), "the application of a closed tab goes on")
    assert not ended(before)


@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_application_outlives_its_server(way: signal.Signals, server, context) -> None:
    process, address = server
    tab = Tab(context.new_page())
    tab.open(address)
    started = applications(process)
    assert started
    process.send_signal(way)
    process.wait(SECONDS)
    tab._until(lambda: ended(started), "the application goes on")
    tab.page.wait_for_selector("body.-closed .ended")


def test_what_is_not_the_server_gets_nothing(server, context) -> None:
    """A page of another origin: no socket, no page in a frame, no script of ours with the cookie."""
    address = server[1]
    tab = Tab(context.new_page())
    tab.open(address)
    base = address.partition("/?")[0]
    context.route("http://other.example/*", lambda route: route.fulfill(body="<p>other", content_type="text/html"))
    other = context.new_page()
    other.goto("http://other.example/")
    opened = """base => new Promise(done => {
      const socket = new WebSocket(base.replace("http", "ws") + "/ws?width=80&height=24");
      socket.onopen = () => done(true); socket.onerror = () => done(false);
    })"""
    assert other.evaluate(opened, base) is False
    read = "base => fetch(base + '/', {credentials: 'include'}).then(() => 'read', () => 'refused')"
    assert other.evaluate(read, base) == "refused"
    assert tab.page.evaluate(opened, base) is True
