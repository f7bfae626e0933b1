"""Save conversations that their tool is about to delete: copies without secrets, in a private folder of the person.

A copy has the time of its original, so that it is made once, and again when that grew. It can be brought into a memory
like the original: `memoranda import claude-code FOLDER`."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO

from store.base.errors import MemorandaError
from store.base.location import saved_transcripts
from store.redaction.redactor import redact, redact_tree
from store.sources.files import LONGEST, opened
from store.sources.source import Trouble


@dataclass(frozen=True, slots=True)
class SavedTranscripts:
    """What was saved in the `folder`: the `new` copies, how many were saved `before`, and what could not be."""

    folder: str
    new: tuple[str, ...]
    before: int
    troubles: tuple[Trouble, ...]

    def as_dict(self) -> dict[str, object]:
        left = [{"path": one.path, "why": one.why} for one in self.troubles]
        return {"folder": self.folder, "new": list(self.new), "before": self.before, "troubles": left}


def save(paths: Iterable[str]) -> SavedTranscripts:
    """Copy these transcripts; one that is saved as it is now is left alone. Whole or not at all, each."""
    folder = saved_transcripts()
    new, before, troubles = [], 0, list[Trouble]()
    for path in dict.fromkeys(paths):
        target = os.path.join(folder, os.path.basename(os.path.dirname(path)), os.path.basename(path))
        file = opened(path, troubles)
        if file is None:
            continue
        with file:
            at = os.fstat(file.fileno()).st_mtime_ns
            if _time(target) == at:
                before += 1
                continue
            try:
                _copy(file, target, at)
            except OSError as error:
                troubles.append(Trouble(path, 0, (error.strerror or "it cannot be saved").lower()))
                continue
        new.append(target)
    return SavedTranscripts(folder, tuple(new), before, tuple(troubles))


def _copy(file: BinaryIO, target: str, at: int) -> None:
    os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
    part = f"{target}.{os.urandom(4).hex()}"
    handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with os.fdopen(handle, "wb") as copy:
            for line in _lines(file):
                copy.write(_without_secrets(line))
            copy.flush()
            os.fsync(copy.fileno())
        os.utime(part, ns=(at, at))
        os.replace(part, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(part)
        raise


def _lines(file: BinaryIO) -> Iterator[bytes]:
    while line := file.readline(LONGEST):
        yield line


def _without_secrets(line: bytes) -> bytes:
    text = line.decode("utf-8", "replace")
    try:
        value = json.loads(text)
        return f"{json.dumps(redact_tree(value), ensure_ascii=False)}\n".encode("utf-8", "replace")
    except (ValueError, RecursionError, TypeError, MemorandaError):  # no JSON, or too deep
        return redact(text).encode("utf-8", "replace")


def _time(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0
