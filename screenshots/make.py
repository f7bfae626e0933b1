"""Make the README's pictures: `python screenshots/make.py [NAME …]`, from the repository's root. With `--check` nothing
is written: the pictures that would differ are named, and the exit status is 1 if there is one.

They show the project of `memoranda demo`, made on the spot for a fixed moment, in the real application, dark and light.
SVG always; PNG too where `rsvg-convert` and the font are installed, small where `pngquant` is
(`apt-get install librsvg2-bin fonts-firacode pngquant`).
"""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from html import unescape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "screenshots"
sys.path[:0] = [str(ROOT)]

from textual.pilot import Pilot  # noqa: E402 - after the path is set

from store.base.location import Location  # noqa: E402
from tui.app import Memoranda  # noqa: E402
from tui.demo.builder import build_demo  # noqa: E402

NOW = "2026-11-21T12:00:00.000Z"
THEMES = {"dark": "textual-dark", "light": "textual-light"}
PNG_PIXELS = 10  # for each column: sharp on a screen of twice the usual density, and below 200 KB

WAIT = "wait"
TRIES = 3  # of one that differs: a busy machine has indexed less when it is drawn
MEASURED = re.compile(r"\b\d+(?:\.\d+)? (?:ms|s|MB)\b *")
UNSTEADY = frozenset({"librarian"})  # says how far the index is, and is not compared
QUESTION = (
    "¿",
    *"por",
    "space",
    *"qué",
    "space",
    *"no",
    "space",
    *"usamos",
    "space",
    *"Postgres",
    "question_mark",
)
# name → (columns, rows), the keys pressed before it is taken; WAIT lets the screen come to rest
PICTURES: dict[str, tuple[tuple[int, int], tuple[str, ...]]] = {
    "main": ((120, 34), ("3", *("down",) * 10)),
    "search": ((120, 24), ("slash", *"why", "space", *"sqlite", WAIT, "down")),
    "restore": ((120, 30), ("5", WAIT, "5", WAIT, "down", "R", WAIT, "d", *("down",) * 3)),
    "inbox": ((120, 28), ("1", WAIT, *("down",) * 3)),
    "history": ((120, 30), ("5", *("down",) * 5)),
    "context": (
        (120, 30),
        ("I", *"cu", "á", *"ndo", "space", *"desplegamos", "enter", WAIT, *("down",) * 3),
    ),
    "librarian": (
        (120, 30),
        ("slash", *QUESTION, "enter", WAIT, "down", WAIT),
    ),
    "health": ((120, 34), ("colon", *"health", "enter", WAIT, *("down",) * 3)),
    "narrow": ((80, 24), ("down",)),
    "wide": ((200, 50), ("down",)),
}


async def settled(pilot: Pilot[int]) -> None:
    """Wait until the workers are done and the screen has been drawn."""
    for _ in range(3):
        await pilot.pause(0.3)  # the debounce of a search, the delay before a diff
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()


async def take(name: str, mode: str, place: Location) -> str:
    """Draw one picture in one of the THEMES; the SVG."""
    (columns, rows), keys = PICTURES[name]
    app = Memoranda(place, place.project or "", lambda: NOW)
    async with app.run_test(size=(columns, rows), tooltips=False) as pilot:
        app.theme = THEMES[mode]
        await settled(pilot)
        app.clear_notifications()
        for key in keys:
            await (settled(pilot) if key == WAIT else pilot.press(key))
        await settled(pilot)
        # without this some programs swallow the spaces that columns are made of
        return app.export_screenshot(title="memoranda").replace("<svg ", '<svg xml:space="preserve" ', 1)


def drawn(name: str, mode: str) -> str:
    """Draw one picture of a demo of its own: a picture may change what it shows."""
    os.environ.update(
        TZ="UTC", GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull, OLLAMA_HOST="127.0.0.1:9"
    )
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CONFIG_HOME"] = folder  # the theme chosen here is not the person's, nor theirs this one
        return asyncio.run(take(name, mode, build_demo(folder, NOW)))


def shown(svg: str) -> set[str]:
    """Return the texts of a picture, without what differs each time: durations, the size of the file."""
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    return {MEASURED.sub("", re.sub(r"\s+", " ", unescape(text))).strip() for text in texts}


def stale(names: Sequence[str]) -> list[str]:
    """Return the files of these pictures that are missing, or say something else than the application does now."""
    found = []
    for name in names or [name for name in PICTURES if name not in UNSTEADY]:
        for mode in THEMES:
            path = FOLDER / f"{name}-{mode}.svg"
            kept = shown(path.read_text(encoding="utf-8")) if path.is_file() else set()
            if all(shown(drawn(name, mode)) != kept for _ in range(TRIES if kept else 0)):
                found.append(path.name)
                print(f"{path.name} is stale", flush=True)
    return found


def as_png(svg: Path, columns: int) -> Path:
    """The same picture for places that show no SVG."""
    png = svg.with_suffix(".png")
    subprocess.run(["rsvg-convert", "-w", str(columns * PNG_PIXELS), svg, "-o", png], check=True)
    if shutil.which("pngquant"):  # a third of the bytes: a screen has few colours
        subprocess.run(["pngquant", "--force", "--output", png, "64", png], check=True)
    return png


def main(names: Sequence[str]) -> int:
    if "--check" in names:
        return bool(stale([name for name in names if name != "--check"]))
    converter = shutil.which("rsvg-convert")
    if not converter:
        print(
            "rsvg-convert is missing, so there will be no PNG: apt-get install librsvg2-bin fonts-firacode pngquant"
        )
    for name in names or PICTURES:
        for mode in THEMES:
            svg = FOLDER / f"{name}-{mode}.svg"
            svg.write_text(drawn(name, mode), encoding="utf-8")
            made = [svg, as_png(svg, PICTURES[name][0][0])] if converter else [svg]
            print("  ".join(f"{path.relative_to(ROOT)} {path.stat().st_size:,}" for path in made), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
