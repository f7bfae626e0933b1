"""Make the README's pictures: `python screenshots/make.py [NAME …]`, from the repository's root.

They show the project of `memoranda demo`, made on the spot for a fixed moment, in the real application, dark and light.
SVG always; PNG too where `rsvg-convert` and the font are installed, small where `pngquant` is
(`apt-get install librsvg2-bin fonts-firacode pngquant`).
"""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "screenshots"
sys.path[:0] = [str(ROOT)]
os.environ.update(TZ="UTC", GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull, OLLAMA_HOST="127.0.0.1:9")

from textual.pilot import Pilot  # noqa: E402 - after the path is set

from store.base.location import Location  # noqa: E402
from tui import demo  # noqa: E402
from tui.app import Memoranda  # noqa: E402

NOW = "2026-11-21T12:00:00.000Z"
THEMES = {"dark": "textual-dark", "light": "textual-light"}
PNG_PIXELS = 10  # for each column: sharp on a screen of twice the usual density, and below 150 KB

WAIT = "wait"
QUESTION = ("¿", *"por", "space", *"qué", "space", *"no", "space", *"usamos", "space", *"Postgres", "question_mark")
# name → (columns, rows), the keys pressed before it is taken; WAIT lets the screen come to rest
PICTURES: dict[str, tuple[tuple[int, int], tuple[str, ...]]] = {
    "main": ((120, 34), ("2", *("down",) * 11)),
    "search": ((120, 24), ("slash", *"why", "space", *"sqlite", WAIT, "down")),
    "restore": ((120, 30), ("3", "down", "R", WAIT, "d", *("down",) * 3)),
    "inbox": ((120, 28), ("6", WAIT, *("down",) * 3)),
    "history": ((120, 30), ("4", *("down",) * 5)),
    "context": (
        (120, 30),
        ("6", WAIT, "I", *"cu", "á", *"ndo", "space", *"desplegamos", "enter", WAIT, *("down",) * 3),
    ),
    "librarian": (
        (120, 30),
        ("A", *QUESTION, "enter", WAIT, "down", "enter", WAIT),
    ),
    "health": ((120, 34), ("9", WAIT, *("down",) * 3)),
    "narrow": ((80, 24), ("down",)),
}


async def settled(pilot: Pilot[int]) -> None:
    """Wait until the workers are done and the screen has been drawn."""
    for _ in range(3):
        await pilot.pause(0.3)  # the debounce of a search, the delay before a diff
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()


async def take(name: str, mode: str, place: Location) -> Path:
    """Draw one picture in one of the THEMES into this folder; the SVG."""
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
        svg = app.export_screenshot(title="memoranda").replace("<svg ", '<svg xml:space="preserve" ', 1)
    target = FOLDER / f"{name}-{mode}.svg"
    target.write_text(svg, encoding="utf-8")
    return target


def as_png(svg: Path, columns: int) -> Path:
    """The same picture for places that show no SVG."""
    png = svg.with_suffix(".png")
    subprocess.run(["rsvg-convert", "-w", str(columns * PNG_PIXELS), svg, "-o", png], check=True)
    if shutil.which("pngquant"):  # a third of the bytes: a screen has few colours
        subprocess.run(["pngquant", "--force", "--output", png, "64", png], check=True)
    return png


def main(names: Sequence[str]) -> None:
    converter = shutil.which("rsvg-convert")
    if not converter:
        print("rsvg-convert is missing, so there will be no PNG: apt-get install librsvg2-bin fonts-firacode pngquant")
    for name in names or PICTURES:
        for mode in THEMES:
            with tempfile.TemporaryDirectory() as folder:  # a demo for each: a picture may change what it shows
                os.environ["XDG_CONFIG_HOME"] = folder  # the theme chosen here is not the person's, nor theirs this one
                svg = asyncio.run(take(name, mode, demo.build(folder, NOW)))
            made = [svg, as_png(svg, PICTURES[name][0][0])] if converter else [svg]
            print("  ".join(f"{path.relative_to(ROOT)} {path.stat().st_size:,}" for path in made), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
