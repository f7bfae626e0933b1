"""OpenClaw: a workspace of Markdown files, `~/.openclaw/workspace` or as `openclaw.json` names them.

The bullets of MEMORY.md and USER.md are facts; the days in `memory` are documents. What makes the agent (SOUL, AGENTS,
IDENTITY, BOOTSTRAP) is no memory.
"""

import os
import re
from collections.abc import Iterator

from store.sources.files import existing, files_below, modified, read_json, read_text
from store.sources.markdown_text import bullets, front_matter, unfilled
from store.sources.moments import utc
from store.sources.source import Found, FoundDocument, FoundMemory, Machine, Trouble

NAME = "openclaw"
TITLE = "OpenClaw"
OBSERVED = re.compile(r"observed:\s*(?P<date>[^|]+?)\s*(?:\||$)")
STATUS = re.compile(r"status:\s*(?P<status>\w+)")
PLACEHOLDER = re.compile(r"YYYY-MM-DD|^(?:Prefer|Always|Never|Avoid):?\s*(?:\.\.\.|…)$")


def detect(machine: Machine) -> list[str]:
    base = os.path.join(machine.home, ".openclaw")
    named = [os.path.join(base, "workspace")]
    config = read_json(os.path.join(base, "openclaw.json"), [])
    agents = config.get("agents") if isinstance(config, dict) else None
    several = list(agents.values()) if isinstance(agents, dict) else []
    several += [one for found in several if isinstance(found, list) for one in found]
    for agent in several:
        if isinstance(agent, dict) and isinstance(folder := agent.get("workspace"), str):
            named.append(os.path.join(machine.home, folder.removeprefix("~/")))
    return existing(*named)


def read(path: str, troubles: list[Trouble]) -> Iterator[Found]:
    if os.path.isfile(path):
        yield from _facts(path, troubles)
        return
    for name in ("MEMORY.md", "USER.md"):
        if os.path.lexists(file := os.path.join(path, name)):
            yield from _facts(file, troubles)
    for file in files_below(os.path.join(path, "memory"), ".md"):
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
