"""Record a session in the demo: `python screenshots/record.py [FILE]`, from the root (dist/memoranda.cast without one).

The file is an asciicast of version 2: `asciinema play FILE` shows it in a terminal, asciinema's player in a page. What
is in it was written by the real application in a real terminal, for the keys below. It is built, not committed.
"""

import codecs
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from bench.terminal import Silent, Terminal  # noqa: E402 - after the path is set

SIZE = (100, 30)
TYPING = 0.08  # seconds between two letters
LONGEST = 2.5  # seconds that nothing happens; what takes longer is shortened
PATIENCE = 60.0  # seconds until a text that should come is missed
# (keys, a text that is on the screen then, seconds to look at it)
STEPS: tuple[tuple[str, str, float], ...] = (
    ("", "/ find", 2.5),
    ("jjj", "F#", 1.5),
    ("/why sqlite", "Exact", 2.5),
    ("\r", "Because", 2.5),
    ("\x1b", "All 1", 1.0),
    ("f", "orgot", 2.0),
    ("u", "Undid", 2.0),
    ("1", "P#", 2.5),
    ("5", "remember", 2.0),
    ("q", "", 0.5),
)


def record(command: Sequence[str], steps: Sequence[tuple[str, str, float]], size: tuple[int, int] = SIZE) -> str:
    """Run a command in a terminal, press the keys of each step and wait for its text; return an asciicast. Raises
    Silent for a text that does not come."""
    with Terminal(command, {"TZ": "UTC"}, size) as terminal:
        for keys, text, seconds in steps:
            for key in [keys] if keys.startswith("\x1b") else keys:
                terminal.write(key)
                _read(terminal, TYPING)
            _wait(terminal, text)
            _read(terminal, seconds)
        _read(terminal, 0.2)
        return "\n".join([_head(size), *_events(terminal)]) + "\n"


def _read(terminal: Terminal, seconds: float) -> None:
    end = time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0 and terminal.process.poll() is None:
        terminal.read(left)


def _wait(terminal: Terminal, text: str) -> None:
    end = time.perf_counter() + PATIENCE
    while text and not any(text in line for line in terminal.screen):
        if time.perf_counter() > end or (terminal.process.poll() is not None and not terminal.read(0.1)):
            raise Silent("\n".join([f"“{text}” did not come:", *terminal.screen]))
        terminal.read(0.1)


def _head(size: tuple[int, int]) -> str:
    head = {
        "version": 2,
        "width": size[0],
        "height": size[1],
        "title": "Memoranda",
        "env": {"TERM": "xterm-256color"},
    }
    return json.dumps(head)


def _events(terminal: Terminal) -> Iterator[str]:
    """Yield what was written and when, in seconds since the first of it; a character is never cut in two."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    at = 0.0
    for (before, start), (moment, end) in pairwise([(terminal.arrivals[0][0], 0), *terminal.arrivals]):
        at += min(moment - before, LONGEST)
        if text := decoder.decode(bytes(terminal.output[start:end])):
            yield json.dumps([round(at, 3), "o", text], ensure_ascii=False)


def main(arguments: Sequence[str]) -> int:
    if arguments[:1] in (["-h"], ["--help"]) or len(arguments) > 1:
        print(__doc__, end="")
        return 0 if arguments[0] in ("-h", "--help") else 2
    path = Path(arguments[0]) if arguments else ROOT / "dist" / "memoranda.cast"
    with tempfile.TemporaryDirectory() as home:
        words = [
            "env",
            f"HOME={home}",
            f"XDG_STATE_HOME={home}/state",
            f"PYTHONPATH={ROOT}",
            "OLLAMA_HOST=127.0.0.1:9",
        ]
        cast = record([*words, sys.executable, "-P", "-m", "tui.main", "demo"], STEPS)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(cast, "utf-8")
    print(f"{path}: {path.stat().st_size:,} bytes, {json.loads(cast.splitlines()[-1])[0]:.0f} seconds")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
