"""A folder of Markdown files, or one file: bullets are facts, prose is a document. Tasks, labels without a text, code,
quotes and hidden files are left alone."""

import os
from collections.abc import Iterator

from store.sources.files import files_below, modified, read_text, text_of
from store.sources.markdown_text import bullets, front_matter, prose, tags_of, unfilled
from store.sources.moments import utc
from store.sources.source import Found, FoundDocument, FoundMemory, Machine, Source, Trouble


def detect(machine: Machine) -> list[str]:
    return []


def read(path: str, troubles: list[Trouble]) -> Iterator[Found]:
    for file in [path] if os.path.isfile(path) else files_below(path, ".md", troubles):
        text = read_text(file, troubles)
        if text is not None:
            yield from noted(file, text)


def noted(path: str, text: str) -> Iterator[Found]:
    """Yield the facts of a file with this text, then its prose."""
    head, body, above = front_matter(text)
    created = utc(text_of(head.get("created"))) or utc(text_of(head.get("date"))) or modified(path)
    tags = tags_of(head.get("tags"))
    for bullet in bullets(body, above + 1):
        if not unfilled(bullet.text):
            yield FoundMemory(bullet.text, path, bullet.line, bullet.last, created=created, tags=tags)
    if prose(body):
        yield FoundDocument(path, body.strip())


MARKDOWN = Source("markdown", "Markdown files", detect, read)
