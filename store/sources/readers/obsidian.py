"""A vault of Obsidian: the folder with `.obsidian`. Comments, block ids, embeds, queries and templates are no text."""

import os
import re
from collections.abc import Iterator
from dataclasses import replace

from store.sources.files import SKIPPED, files_below, read_json, read_text
from store.sources.markdown_text import tags_of
from store.sources.readers.markdown import noted
from store.sources.source import Found, FoundMemory, Machine, Source, Trouble

TEMPLATES = frozenset(("Templates", "templates", "Plantillas", "plantillas"))
_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
_BLOCK = re.compile(r"(?<!\s)[ \t]+\^[\w-]+$", re.MULTILINE)
_EMBED = re.compile(r"!\[\[[^\[\]\n]*\]\]")
_LINK = re.compile(r"\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]+)\]\]")
_TAG = re.compile(r"(?<!\s)\s+#(?P<tag>[\w/-]+)$")


def detect(machine: Machine) -> list[str]:
    """List the vaults that Obsidian's own configuration names."""
    base = machine.environment.get("XDG_CONFIG_HOME") or os.path.join(machine.home, ".config")
    if machine.system == "darwin":
        base = os.path.join(machine.home, "Library", "Application Support")
    config = read_json(os.path.join(base, "obsidian", "obsidian.json"), [])
    vaults = config.get("vaults") if isinstance(config, dict) else None
    found = []
    for vault in vaults.values() if isinstance(vaults, dict) else ():
        path = vault.get("path") if isinstance(vault, dict) else None
        if isinstance(path, str) and os.path.isdir(os.path.join(path, ".obsidian")):
            found.append(path)
    return found


def read(path: str, troubles: list[Trouble]) -> Iterator[Found]:
    for file in [path] if os.path.isfile(path) else files_below(path, ".md", troubles, SKIPPED | TEMPLATES):
        text = read_text(file, troubles)
        if text is None or "{{title}}" in text:
            continue
        for one in noted(file, plain_text(text)):
            yield _tagged(one) if isinstance(one, FoundMemory) else one


def plain_text(text: str) -> str:
    """Return the text of a note as Markdown, line by line."""
    text = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    return _LINK.sub(r"\1", _EMBED.sub("", _BLOCK.sub("", text)))


def _tagged(memory: FoundMemory) -> FoundMemory:
    """Return a memory with the tags at the end of its text as tags."""
    text, tags = memory.text, list[str]()
    while found := _TAG.search(text):
        tags.insert(0, found["tag"])
        text = text[: found.start()]
    return replace(memory, text=text, tags=tags_of([*memory.tags, *tags])) if text.strip() else memory


OBSIDIAN = Source("obsidian", "an Obsidian vault", detect, read)
