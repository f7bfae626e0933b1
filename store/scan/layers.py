"""Which instruction files an agent loads when it starts in a folder: CLAUDE.md with the rules beside it, AGENTS.md and
GEMINI.md from the home folder and every folder above, what they import, and Claude Code's own index of its memory."""

import os
import re
from collections.abc import Iterator

from store.base.token_count import count
from store.scan.report import ContextLayer
from store.sources.files import files_below, read_text
from store.sources.markdown_text import front_matter
from store.sources.readers.claude_code import INDEX, memory_folder, own_folder, projects
from store.sources.source import Machine

DEEPEST = 5  # imports of imports
INDEX_LINES = 200  # of MEMORY.md, which Claude Code loads
CODEX_BYTES = 32_768  # of all its instructions together
CODEX_NAMES = ("AGENTS.override.md", "AGENTS.md")  # of which it reads one a folder, the first that is not empty
# of an organization, for everybody on the machine
MANAGED = {"darwin": "/Library/Application Support/ClaudeCode/CLAUDE.md"}
MANAGED_ELSEWHERE = "/etc/claude-code/CLAUDE.md"
_IMPORT = re.compile(r"(?<![\w`@])@((?:~/|\.{0,2}/)?[\w.@-][\w./@-]*)")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def layers(machine: Machine, folder: str) -> list[ContextLayer]:
    """List them, the most general first, for a start in this folder."""
    above = _above(folder)
    config = machine.environment.get("CLAUDE_CONFIG_DIR") or os.path.join(machine.home, ".claude")
    claude = [MANAGED.get(machine.system, MANAGED_ELSEWHERE), os.path.join(config, "CLAUDE.md"), *_rules(config)]
    for place in above:
        own = os.path.join(place, ".claude")
        claude += [os.path.join(place, "CLAUDE.md"), os.path.join(own, "CLAUDE.md"), *_rules(own)]
        claude.append(os.path.join(place, "CLAUDE.local.md"))
    codex = [machine.environment.get("CODEX_HOME") or os.path.join(machine.home, ".codex")]
    gemini = [os.path.join(machine.home, ".gemini", "GEMINI.md")]
    inside = above[_root(above) :]
    codex = [path for place in [*codex, *inside] if (path := _of_codex(place))]
    gemini += [os.path.join(place, "GEMINI.md") for place in inside]
    found = [*_loaded("claude-code", claude, machine.home), *_index(machine, folder)]
    left = CODEX_BYTES
    for layer in _loaded("codex", codex, machine.home, imports=False):
        tokens = min(layer.tokens, left // 4)
        left = max(0, left - layer.tokens * 4)
        found.append(ContextLayer(layer.agent, layer.path, tokens))
    return [*found, *_loaded("gemini", gemini, machine.home)]


def _rules(folder: str) -> Iterator[str]:
    """Yield the rules of a folder of Claude Code, except those for some paths alone, which it loads with these."""
    for path in files_below(os.path.join(folder, "rules"), ".md", []):
        if "paths" not in front_matter(read_text(path, []) or "")[0]:
            yield path


def _of_codex(folder: str) -> str:
    """Return the file of instructions that Codex reads in a folder; empty for none."""
    paths = (os.path.join(folder, name) for name in CODEX_NAMES)
    return next((path for path in paths if os.path.isfile(path) and (read_text(path, []) or "").strip()), "")


def _above(folder: str) -> list[str]:
    """List the folders from the root to this one."""
    places = [os.path.realpath(folder)]
    while (parent := os.path.dirname(places[0])) != places[0]:
        places.insert(0, parent)
    return places


def _root(above: list[str]) -> int:
    """Return the index of the innermost folder with `.git`; of the last folder, if there is none."""
    inside = [place for place, folder in enumerate(above) if os.path.lexists(os.path.join(folder, ".git"))]
    return inside[-1] if inside else len(above) - 1


def _loaded(agent: str, paths: list[str], home: str, imports: bool = True) -> list[ContextLayer]:
    seen: set[str] = set()
    found: list[ContextLayer] = []
    for path in paths:
        found += _file(agent, path, "", home, seen, DEEPEST if imports else 0)
    return found


def _file(agent: str, path: str, by: str, home: str, seen: set[str], deep: int) -> Iterator[ContextLayer]:
    real = os.path.realpath(path)
    if real in seen or not os.path.isfile(real):
        return
    seen.add(real)
    text = read_text(real, [])
    if text is None:
        return
    yield ContextLayer(agent, path, count(text), by)
    if deep:
        for name in _IMPORT.findall(_CODE.sub("", text)):
            target = (
                os.path.join(home, name[2:]) if name.startswith("~/") else os.path.join(os.path.dirname(real), name)
            )
            yield from _file(agent, os.path.normpath(target), path, home, seen, deep - 1)


def _index(machine: Machine, folder: str) -> Iterator[ContextLayer]:
    name = re.sub(r"[^A-Za-z0-9]", "-", os.path.realpath(folder))
    path = os.path.join(own_folder(machine) or memory_folder(os.path.join(projects(machine), name)), INDEX)
    text = read_text(path, []) if os.path.isfile(path) else None
    if text:
        yield ContextLayer("claude-code", path, count("\n".join(text.split("\n")[:INDEX_LINES])))
