"""The reference memory server of MCP: entities with observations as JSON lines, without ids and dates. An entity's name
and type become tags."""

import os
from collections.abc import Iterator

from store.sources.files import existing, files_below, json_lines, modified, text_of, texts_of
from store.sources.source import Found, FoundMemory, Machine, Source, Trouble

FILES = ("memory.jsonl", "memory.json")


def detect(machine: Machine) -> list[str]:
    named = machine.environment.get("MEMORY_FILE_PATH", "")
    inner = os.path.join("node_modules", "@modelcontextprotocol", "server-memory", "dist")
    bases = (
        os.path.join("/usr", "lib"),
        os.path.join("/usr", "local", "lib"),
        os.path.join(machine.home, ".npm-global", "lib"),
    )
    several = [os.path.join(base, inner, name) for base in bases for name in FILES]
    cache = os.path.join(machine.home, ".npm", "_npx")
    try:
        several += [os.path.join(cache, one, inner, name) for one in sorted(os.listdir(cache)) for name in FILES]
    except OSError:
        pass
    return existing(named, *several)


def read(path: str, troubles: list[Trouble]) -> Iterator[Found]:
    for file in [path] if os.path.isfile(path) else files_below(path, ".jsonl", troubles):
        for number, value in json_lines(file, troubles):
            if value.get("type") != "entity":
                continue
            name, kind = text_of(value.get("name")), text_of(value.get("entityType"))
            for text in texts_of(value.get("observations")):
                yield FoundMemory(
                    text=text,
                    path=file,
                    line=number,
                    last=number,
                    place=f"entity “{name}”",
                    created=modified(file),
                    tags=tuple(filter(None, (name, kind))),
                )


SERVER_MEMORY = Source("server-memory", "the reference memory server of MCP", detect, read)
