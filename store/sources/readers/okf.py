"""OKF bundles: folders of Markdown in which every concept has a `type`. `index.md` and `log.md` are no concepts; what
is deprecated is left out."""

import os
from collections.abc import Iterator

from store.sources.files import files_below
from store.sources.readers.observations import note
from store.sources.source import Found, Machine, Source, Trouble

RESERVED = ("index.md", "log.md")


def detect(machine: Machine) -> list[str]:
    return []


def read(path: str, troubles: list[Trouble]) -> Iterator[Found]:
    for file in [path] if os.path.isfile(path) else files_below(path, ".md", troubles):
        if os.path.basename(file) not in RESERVED:
            yield from note(file, troubles, plain_bullets=True)


OKF = Source("okf", "an OKF bundle", detect, read)
