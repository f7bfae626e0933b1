"""basic-memory: folders of notes, `~/basic-memory` and those that `~/.basic-memory/config.json` names. The files keep
no dates, so a memory's is that of its file."""

import os
from collections.abc import Iterator

from store.sources.files import existing, files_below, read_json
from store.sources.readers.observations import note
from store.sources.source import Found, Machine, Source, Trouble


def detect(machine: Machine) -> list[str]:
    named = [os.path.join(machine.home, "basic-memory")]
    config = read_json(os.path.join(machine.home, ".basic-memory", "config.json"), [])
    projects = config.get("projects") if isinstance(config, dict) else None
    for project in projects.values() if isinstance(projects, dict) else ():
        path = project.get("path") if isinstance(project, dict) else project
        if isinstance(path, str):
            named.append(os.path.join(machine.home, path.removeprefix("~/")))
    return existing(*named)


def read(path: str, troubles: list[Trouble]) -> Iterator[Found]:
    for file in [path] if os.path.isfile(path) else files_below(path, ".md", troubles):
        yield from note(file, troubles)


BASIC_MEMORY = Source("basic-memory", "basic-memory", detect, read)
