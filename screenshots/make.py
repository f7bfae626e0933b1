"""Make the README's pictures: `python screenshots/make.py`, from the repository's root.

The project they show is the invented one of `tests/support/stories.py`, made on the spot; the application that is drawn
is the real one. SVG always; PNG too where `rsvg-convert` is installed.
"""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
os.environ.update(TZ="UTC", GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull)

from support import stories  # noqa: E402 - after the path is set
from textual.pilot import Pilot  # noqa: E402

from tui.app import Memoranda  # noqa: E402

# name → (columns, rows), the keys pressed before it is taken
PICTURES = {
    "main": ((120, 34), ("2", *("down",) * 11)),
    "search": ((120, 24), ("slash", *"cache", "down")),
    "narrow": ((80, 24), ()),
}


async def settled(pilot: Pilot[int]) -> None:
    """Wait until the workers are done and the screen has been drawn."""
    for _ in range(3):
        await pilot.pause(0.3)  # the debounce of a search, the delay before a diff
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()


async def take(name: str, story: stories.Story, clock: stories.Clock) -> None:
    """Draw one picture into this folder."""
    (columns, rows), keys = PICTURES[name]
    app = Memoranda(story.location, os.fspath(story.folder), clock)
    async with app.run_test(size=(columns, rows), tooltips=False) as pilot:
        await settled(pilot)
        app.clear_notifications()
        await pilot.press(*keys)
        await settled(pilot)
        # without this some programs swallow the spaces that columns are made of
        svg = app.export_screenshot(title="memoranda").replace("<svg ", '<svg xml:space="preserve" ', 1)
    target = ROOT / "screenshots" / f"{name}.svg"
    target.write_text(svg, encoding="utf-8")
    if shutil.which("rsvg-convert"):
        subprocess.run(["rsvg-convert", "-w", "1600", target, "-o", target.with_suffix(".png")], check=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        story = stories.tell(Path(folder) / "billing-api")
        for name in PICTURES:
            asyncio.run(take(name, story, stories.Clock()))
            print(f"screenshots/{name}.svg")


if __name__ == "__main__":
    main()
