"""Opens the view of events that a test added, in a process of its own, and prints what is seen as JSON.

python added_view.py PROJECT EMPTY
"""

import asyncio
import json
import sys
from pathlib import Path

from support.screen import opened

import tui


async def main(project: Path, nothing: Path) -> None:
    seen: dict[str, object] = {"tui": str(Path(tui.__file__).parent)}
    async with opened(project) as person:
        await person.command("journal")
        seen["place"], seen["title"], seen["top"] = person.place, person.title, person.lines[0]
        seen["rows"], seen["preview"], seen["footer"] = person.rows, person.preview, person.lines[-1]
        await person.press("e")
        await person.fill("phase_started")
        seen["said"], seen["more"] = person.toasts[-1], len(person.rows)
    async with opened(nothing) as person:
        await person.command("journal")
        seen["empty"] = " ".join(person.lines)
    print(json.dumps(seen))


asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
