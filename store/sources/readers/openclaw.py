"""OpenClaw: a workspace of Markdown files, `~/.openclaw/workspace`, that of another profile or agent, or as the
environment or `openclaw.json` name them.

The bullets of MEMORY.md and USER.md are facts; the days in `memory` are documents. What makes the agent (SOUL, AGENTS,
IDENTITY, BOOTSTRAP) is no memory.
"""

import os
import re
from collections.abc import Iterator

from store.sources.files import existing, files_below, modified, read_text
from store.sources.markdown_text import bullets, front_matter, unfilled
from store.sources.moments import utc
from store.sources.source import Found, FoundDocument, FoundMemory, Machine, Source, Trouble

_WORKSPACE = re.compile(r"""\bworkspace["']?\s*:\s*["']([^"'\n]+)["']""")  # JSON5: names without quotes, comments
OBSERVED = re.compile(r"observed:\s*(?P<date>[^|]+?)\s*(?:\||$)")
STATUS = re.compile(r"status:\s*(?P<status>\w+)")
PLACEHOLDER = re.compile(r"YYYY-MM-DD|^(?:Prefer|Always|Never|Avoid):?\s*(?:\.\.\.|…)$")


def detect(machine: Machine) -> list[str]:
    own = os.path.join(machine.home, ".openclaw")
    bases = [machine.environment.get("OPENCLAW_STATE_DIR", ""), own, *_beside(f"{own}-")]
    named = [machine.environment.get("OPENCLAW_WORKSPACE_DIR", "")]
    for base in filter(None, bases):
        named += [os.path.join(base, "workspace"), *_beside(os.path.join(base, "workspace-"))]
        config = os.path.join(base, "openclaw.json")
        text = read_text(config, []) if os.path.isfile(config) else None
        for folder in _WORKSPACE.findall(text or ""):
            place = os.path.join(machine.home, folder.removeprefix("~/"))
            named += [place, *(one for one in _beside(os.path.join(place, "")) if _is_workspace(one))]
    return [place for place in existing(*named) if os.path.isdir(place)]


def _beside(start: str) -> list[str]:
    """List the folders whose paths begin so."""
    folder, name = os.path.split(start)
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.path for entry in entries if entry.name.startswith(name) and entry.is_dir())
    except OSError:
        return []


def _is_workspace(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "SOUL.md"))


def read(path: str, troubles: list[Trouble]) -> Iterator[Found]:
    if os.path.isfile(path):
        yield from _facts(path, troubles)
        return
    for name in ("MEMORY.md", "USER.md"):
        if os.path.lexists(file := os.path.join(path, name)):
            yield from _facts(file, troubles)
    for file in files_below(os.path.join(path, "memory"), ".md", troubles):
        text = read_text(file, troubles)
        if text and text.strip():
            yield FoundDocument(file, front_matter(text)[1].strip())


def _facts(path: str, troubles: list[Trouble]) -> Iterator[FoundMemory]:
    text = read_text(path, troubles)
    if text is None:
        return
    _, body, above = front_matter(text)
    of_person = os.path.basename(path) == "USER.md"
    for bullet in bullets(body, above + 1):
        status = STATUS.search(bullet.above)
        observed = OBSERVED.search(bullet.above)
        if (status and status["status"] != "active") or PLACEHOLDER.search(bullet.text) or unfilled(bullet.text):
            continue
        if observed and PLACEHOLDER.search(observed["date"]):
            continue
        yield FoundMemory(
            text=bullet.text,
            path=path,
            line=bullet.line,
            last=bullet.last,
            created=(utc(observed["date"]) if observed else "") or modified(path),
            domain="preferences" if of_person else "general",
            tags=(bullet.heading,) if bullet.heading and not of_person else (),
        )


OPENCLAW = Source("openclaw", "OpenClaw", detect, read)
