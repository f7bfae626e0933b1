"""A key's latency in the application while it sends turns to the model, and while the model serves other requests."""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator

from bench.agent_asking import Heard
from bench.ingest import frame
from bench.keys import KEYS
from bench.store import CLEAN, heading, installed, memory, quantile, verdict
from bench.store import own as ours
from bench.terminal import Terminal
from store.base.errors import ModelFailed
from store.config.configuration import Config
from store.conversations.turns import NewTurn
from store.librarian import structured_output as usage_stats
from store.librarian.chat import ChatClient
from store.librarian.model_selection import open_selected_model
from store.memory import Memory

FACTS = 10_000
NAMES = ("down", "page down")
PRESSES = 30
FIRST = 60.0  # maximum seconds until the application's first answer
SLOWER_MS = 10.0
TURNS = 60
ENDLESS = [("user", "Tell a very long story, of ten thousand words at least.")]


def beside(heard: Heard | None) -> int:
    """Measure a key's latency alone, and while the model works, in the same application."""
    if heard is None:
        print("Not measured: --keys needs a --model.")
        return 3
    programs = installed()
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        os.chdir(folder)
        own = ours(shutil.copy(memory(FACTS, FACTS), os.path.join(folder, "large.db")))
        heading("keys beside the model", f"{heard.name}, {FACTS:,} facts, {PRESSES} presses")
        # without the embedding model, whose progress is drawn as well
        with Terminal(
            [programs.memoranda, "--db", own], {**CLEAN, "MEMORANDA_WITHOUT": "model"}, (120, 40)
        ) as terminal:
            terminal.wait_for(r"F#\d+", timeout=60)
            terminal.quiet(3.0)
            terminal.write("1")
            terminal.quiet(0.5)
            alone = _pressed(terminal)
            with Memory.open(own) as mine:
                mine.turns.add_turns("bench", [NewTurn("user", _told(number)) for number in range(TURNS)])
            _asked(own)
            asking = _pressed(terminal)
            with _working() as tokens:
                working = _pressed(terminal)
        print(f"\n{'a key, ms':40} median     p95  slower (median)")
        for what, times in (
            ("alone", alone),
            ("the application asks the model", asking),
            ("the model works without a rest", working),
        ):
            for name in NAMES:
                slower = statistics.median(times[name]) - statistics.median(alone[name])
                print(
                    f"{what + ': ' + name:40}{statistics.median(times[name]):7.2f}{quantile(times[name], 0.95):8.2f}"
                    f"{slower:8.2f}  {verdict(slower, None if what == 'alone' else SLOWER_MS, ' ms')}"
                )
        print(f"the application had {_asked(own)} answers, and the bench {tokens():,} tokens in its last answer")
    return 0


def _pressed(terminal: Terminal) -> dict[str, list[float]]:
    return {name: [frame(terminal, KEYS[name]) for _ in range(PRESSES)] for name in NAMES}


def _asked(path: str) -> int:
    """Wait for the application's first answer, then return the number of its answers."""
    end = time.monotonic() + FIRST
    while time.monotonic() < end:
        with Memory.open(path) as mine:
            if asked := usage_stats.read_model_stats(mine.database, mine.now).asked:
                return asked
        time.sleep(0.5)
    return 0


def _told(number: int) -> str:
    """Return a turn that the application's queue sends to the model."""
    return (
        f"Our client number {number} is in building {number % 9} and pays on day {number % 28 + 1} of each month."
    )


@contextlib.contextmanager
def _working() -> Iterator[Callable[[], int]]:
    """Keep the model generating from its first token until this context ends; yield the tokens of its last answer."""
    chats: list[ChatClient] = []
    ended = threading.Event()

    def listen() -> None:
        chat = open_selected_model(Config(), cancelled=ended.is_set)
        chats.extend([chat] if chat else [])
        while chat and not ended.is_set():
            with contextlib.suppress(ModelFailed):
                chat.answer(ENDLESS, schema=None, predict=3_000, seconds=600.0)

    thread = threading.Thread(target=listen)
    thread.start()
    try:
        while not any(chat.tokens for chat in chats) and thread.is_alive():
            time.sleep(0.1)
        yield lambda: sum(chat.tokens for chat in chats)
    finally:
        ended.set()
        thread.join()
