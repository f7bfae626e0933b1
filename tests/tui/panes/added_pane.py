"""Opens the events' pane that a test added, in a process of its own, and prints what is seen as JSON.

python added_pane.py PROJECT EMPTY
"""

import asyncio
import json
import sys
from pathlib import Path

from support.screen import NARROW, WIDE, opened

import tui


async def main(project: Path, nothing: Path) -> None:
    seen: dict[str, object] = {"tui": str(Path(tui.__file__).parent)}
    async with opened(project, WIDE) as person:
        await person.press("f2")
        seen["at"], seen["title"], seen["tabs"] = person.at, person.title, person.lines[0]
        seen["rows"], seen["preview"], seen["footer"] = person._rows("events"), person.preview, person.lines[-1]
        await person.press("tab")
        seen["next"] = person.at
    async with opened(project, NARROW) as person:
        await person.press("f2")
        seen["narrow"] = person.seen
        await person.press("e")
        seen["asks"] = [line.strip() for line in person.lines if line.startswith(" : ")]
    async with opened(nothing, WIDE) as person:
        await person.press("f2")
        seen["empty"] = [line.strip() for line in person.lines if "No events yet" in line]
    print(json.dumps(seen))


asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
