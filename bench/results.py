"""bench/RESULTS.md: what each bench printed, when, and where; a part for each, replaced when it runs again."""

from __future__ import annotations

import os
import platform
import re
import sys
from datetime import UTC, datetime
from typing import NamedTuple

PATH = os.path.join(os.path.dirname(__file__), "RESULTS.md")
HEAD = """# Results

Written by `python -m bench --results`, a part for each bench. Figures of different machines, or under another load, are
not comparable; ratios are, since both sides ran side by side. `≤` names an aim; `ok` or `MISS` says whether it was met.
"""
_PART = re.compile(r"^## (?P<name>\w+)\n(?P<text>.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_AIM = re.compile(r"≤ [\d.,]+[^|\n]*?  (ok|MISS)\b")
_DAY = re.compile(r"^(\d{4}-\d\d-\d\d)", re.MULTILINE)


class Part(NamedTuple):
    """What one bench printed: on which day, and how many of its aims were met."""

    name: str
    day: str
    met: int
    aims: int


def machine() -> str:
    """One line: the day, the system, the processor, and the load before the bench."""
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    hardware = (
        f"{platform.system()} {platform.machine()}, {_processor()}, {os.cpu_count()} processors, {memory:.0f} GB"
    )
    return f"{day}, {hardware}, Python {sys.version.split()[0]}, load {load}"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            found = re.search(r"^model name\s*: (.*)$", file.read(), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or "a processor without a name"


def put(name: str, head: str, text: str, path: str = PATH) -> None:
    """Write a bench's part, in the place of its last one; the parts are in the order of their names."""
    parts = {match["name"]: match["text"] for match in _PART.finditer(_read(path))}
    parts[name] = f"\n{head}\n\n{text.strip()}\n\n"
    whole = HEAD + "".join(f"\n## {one}\n{parts[one].rstrip()}\n" for one in sorted(parts))
    with open(path, "w", encoding="utf-8") as file:
        file.write(whole)


def printed(output: str) -> str:
    """What a bench printed, as a part holds it: a table of Markdown as it is, the rest as text."""
    return output if re.search(r"^\|[ -]*-", output, re.MULTILINE) else f"```text\n{output.strip()}\n```"


def parts(path: str = PATH) -> list[Part]:
    """Every part that there is."""
    found = []
    for match in _PART.finditer(_read(path)):
        aims = _AIM.findall(match["text"])
        day = _DAY.search(match["text"])
        found.append(Part(match["name"], day[1] if day else "", aims.count("ok"), len(aims)))
    return found


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""
