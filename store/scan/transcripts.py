"""Conversations that agents keep: how many, which of them Claude Code is about to delete, and secrets in them."""

import errno
import os
from collections.abc import Callable, Iterator, Sequence

from store.scan.report import EXPIRING, SECRET, ScanFinding
from store.scan.secrets import surely
from store.sources.files import LONGEST, fail, files_below, opened
from store.sources.readers.claude_code import settings, transcripts
from store.sources.source import FoundTurn, Machine, Trouble

CLEANUP_DAYS = 30  # after which Claude Code deletes a transcript, unless `cleanupPeriodDays` says otherwise
SOON_DAYS = 7
DAY = 86_400  # seconds
BLOCK = 1 << 17  # bytes that are searched at a time; one with a secret is searched again
LARGE = 16 << 20  # bytes in all, from which on several processes search
Told = dict[str, dict[str, list[int]]]  # file → kind of secret → (its first line, how often it is there)
ESCAPES = ((b"\\n", b" \n"), (b"\\t", b" \t"), (b'\\"', b' "'))  # of the same length


def kept_days(machine: Machine) -> int:
    """Return after how many days Claude Code deletes a transcript."""
    days = settings(machine).get("cleanupPeriodDays", CLEANUP_DAYS)
    return days if isinstance(days, int) and days > 0 else CLEANUP_DAYS


def expiring(folders: Sequence[str], days: int, now: float) -> list[ScanFinding]:
    """Return the transcripts of Claude Code that it deletes within a week; `now` is seconds since 1970."""
    found = []
    for folder in folders:
        for path in transcripts(folder, []):
            try:
                left = days - (now - os.stat(path).st_mtime) / DAY
            except OSError:
                continue
            if left <= SOON_DAYS:
                when = f"in {max(1, round(left))} d" if left > 0 else "at its next start"
                found.append(ScanFinding(EXPIRING, path, 1, f"Claude Code deletes it {when}"))
    return found


def conversations(name: str, places: Sequence[str], troubles: list[Trouble]) -> list[str]:
    """List the files of conversations of an agent; what cannot be read is a trouble."""
    if name == "claude-code":
        return _readable([path for place in places for path in transcripts(place, troubles)], troubles)
    found = [path for place in places for path in files_below(place, ".jsonl", troubles)]
    older = [path for place in places for path in files_below(place, ".json", troubles)] if name == "gemini" else []
    found += [path for path in older if os.path.basename(os.path.dirname(path)) == "chats"]
    return _readable(found, troubles)


def _readable(paths: list[str], troubles: list[Trouble]) -> list[str]:
    """Return these paths; note those of files that may not be read."""
    for path in paths:
        if os.path.isfile(path) and not os.access(path, os.R_OK):
            fail(troubles, path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
    return paths


def secrets(paths: Sequence[str], progress: Callable[[int, int], None], processes: int = 0) -> list[ScanFinding]:
    """Return the secrets in clear in files of conversations, one finding a file and kind. `progress` is called with the
    bytes done and in all."""
    sizes = {path: os.path.getsize(path) for path in paths if os.path.isfile(path)}
    total, done = sum(sizes.values()), 0
    found: list[ScanFinding] = []
    for path, several in _searched(sizes, processes or min(4, os.cpu_count() or 1), total):
        done += sizes[path]
        progress(done, total)
        found += several
    return sorted(found, key=lambda one: (one.path, one.line))


def _searched(sizes: dict[str, int], processes: int, total: int) -> Iterator[tuple[str, list[ScanFinding]]]:
    """Search the files, the largest first."""
    paths = sorted(sizes, key=lambda path: -sizes[path])
    if total < LARGE or processes < 2:
        for path in paths:
            yield path, in_file(path)
        return
    from multiprocessing import get_context

    with get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(_with_path, paths)


def _with_path(path: str) -> tuple[str, list[ScanFinding]]:
    return path, in_file(path)


def in_file(path: str) -> list[ScanFinding]:
    """Return the kinds of secrets in one file, each with its first line and how often it is there."""
    file = opened(path, [], BLOCK)
    if file is None:
        return []
    counts: dict[str, list[int]] = {}
    with file:
        line = 1
        while block := file.read(BLOCK):
            if not block.endswith(b"\n"):
                block += file.readline(LONGEST)
            _search(block, line, counts)
            line += block.count(b"\n")
    return found_in({path: counts})


def note(turn: FoundTurn, told: Told) -> None:
    """Count the secrets of a turn that a database holds."""
    counts = told.setdefault(turn.path, {})
    for one in surely(turn.text):
        counts.setdefault(one.label, [turn.line, 0])[1] += 1


def found_in(told: Told) -> list[ScanFinding]:
    return [
        ScanFinding(SECRET, path, first, f"{label}, {number} times" if number > 1 else label)
        for path, counts in told.items()
        for label, (first, number) in counts.items()
    ]


def _search(block: bytes, line: int, counts: dict[str, list[int]]) -> None:
    for escaped, plain in ESCAPES:
        block = block.replace(escaped, plain)
    text = block.decode("utf-8", "replace")
    here, last = line, 0
    for one in surely(text):
        # an escaped end of a line is a space and an end now, and no line of the file
        here += text.count("\n", last, one.start) - text.count(" \n", last, one.start)
        last = one.start
        held = counts.setdefault(one.label, [here, 0])
        held[1] += 1
