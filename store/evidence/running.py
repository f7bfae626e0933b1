"""Run commands and ask addresses that records are bound to, and keep which of them a person allowed.

What is allowed is the exact text, for one project's folder, on this installation alone: it is kept outside of every
checkout and every memory, so nothing that was imported, synced or shared is allowed by having come.
"""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import time
from hashlib import sha256
from html.parser import HTMLParser
from typing import NamedTuple

from store.base.state_files import delete_state, read_state, state_name_of, write_state
from store.evidence.items import CHANGED, GONE, HOLDS, MOVED, UNSEEN, URL_ITEM, EvidenceItem

ALLOWED_KIND = "evidence"
COMMAND_SECONDS = 60.0  # a command may take
ADDRESS_SECONDS = 10.0
MOST_OUTPUT = 1_000_000  # bytes of an answer that count
# a shell's status for a command that is not there, or cannot be run
NOT_FOUND_STATUSES = (126, 127)
_VARYING = re.compile(rb"\d+(?:[.,:]\d+)*\s?(?:ms|s|sec|seconds|m|min)\b")


class EvidenceRun(NamedTuple):
    """What a run gave: a state, where an address leads now, a digest of the answer, what happened in a few words."""

    state: int
    digest: str = ""
    place: str = ""
    says: str = ""


def is_run_allowed(root: str, item: EvidenceItem) -> bool:
    """Return whether a person allowed this exact text in this folder."""
    return _digest_item(item) in read_state(state_name_of(ALLOWED_KIND, root)).split("\n")


def allow_run(root: str, item: EvidenceItem) -> bool:
    """Allow it from now on; return whether that is stored for longer than this process runs."""
    name = state_name_of(ALLOWED_KIND, root)
    return write_state(name, "\n".join(dict.fromkeys([*read_state(name).split(), _digest_item(item)])))


def disallow_run(root: str, item: EvidenceItem) -> None:
    """Ask again before it is run the next time."""
    name = state_name_of(ALLOWED_KIND, root)
    left = [one for one in read_state(name).split() if one != _digest_item(item)]
    if left:
        write_state(name, "\n".join(left))
    else:
        delete_state(name)


def run_item(root: str, item: EvidenceItem, before: str) -> EvidenceRun:
    """Run a command in a folder, or ask an address, and compare with the digest of what it gave `before`; without one
    it holds."""
    return _ask_address(item.target, before) if item.type == URL_ITEM else _run_command(root, item.target, before)


def _digest_item(item: EvidenceItem) -> str:
    """Return a digest of an item's exact text."""
    return sha256(str(item).encode("utf-8", "surrogateescape")).hexdigest()


def _run_command(root: str, command: str, before: str) -> EvidenceRun:
    """Run a command and compare what it gives."""
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return EvidenceRun(UNSEEN, before, says=f"it could not be run: {(error.strerror or '').lower()}")
    try:
        output = _read_output(process)
        if output is None:
            return EvidenceRun(CHANGED, before, says=f"it did not end within {COMMAND_SECONDS:.0f} s")
        status = process.wait()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if status in NOT_FOUND_STATUSES:
        return EvidenceRun(GONE, before, says="there is no such command")
    digest = f"{status}:{sha256(_VARYING.sub(b'', output)).hexdigest()[:16]}"
    says = f"exit status {status}"
    if not before or digest == before:
        return EvidenceRun(HOLDS, digest, says=says)
    was = before.partition(":")[0]
    return EvidenceRun(
        CHANGED, before, says=f"{says}, and was {was}" if was != str(status) else f"{says}, other output"
    )


def _read_output(process: subprocess.Popen[bytes]) -> bytes | None:
    """Return what a command writes, its first MOST_OUTPUT bytes; None if it takes too long."""
    assert process.stdout is not None
    end = time.monotonic() + COMMAND_SECONDS
    found: list[bytes] = []
    size = 0
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := end - time.monotonic()) > 0:
            if not selector.select(left):
                continue
            part = os.read(process.stdout.fileno(), 1 << 16)
            if not part:
                try:
                    process.wait(max(0.0, end - time.monotonic()))
                except subprocess.TimeoutExpired:
                    return None
                return b"".join(found)
            if size < MOST_OUTPUT:
                found.append(part[: MOST_OUTPUT - size])
                size += len(found[-1])
    return None


def _ask_address(url: str, before: str) -> EvidenceRun:
    """Ask an address and compare what it answers."""
    import httpx

    try:
        with httpx.stream("GET", url, timeout=ADDRESS_SECONDS, follow_redirects=False) as answer:
            if answer.is_redirect:
                return EvidenceRun(
                    MOVED, before, answer.headers.get("location", "")[:1_000], f"it answers {answer.status_code}"
                )
            if answer.status_code in (404, 410):
                return EvidenceRun(GONE, before, says=f"it answers {answer.status_code}")
            if answer.is_error:
                return EvidenceRun(UNSEEN, before, says=f"it answers {answer.status_code}")
            parts, size, end = [], 0, time.monotonic() + ADDRESS_SECONDS
            for part in answer.iter_bytes():
                parts.append(part[: MOST_OUTPUT - size])
                size += len(parts[-1])
                if size >= MOST_OUTPUT or time.monotonic() > end:
                    break
            page = "html" in answer.headers.get("content-type", "")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return EvidenceRun(
            UNSEEN, before, says=f"it could not be reached: {str(error)[:200] or type(error).__name__}"
        )
    raw = b"".join(parts)
    digest = sha256(_page_words(raw).encode("utf-8", "replace") if page else raw).hexdigest()[:16]
    same = not before or digest == before
    return EvidenceRun(
        HOLDS if same else CHANGED, digest if same else before, says="" if same else "it says something else"
    )


class _PageText(HTMLParser):
    """The words of a page, without its scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style") and self._hidden > 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.words += data.split()


def _page_words(raw: bytes) -> str:
    """Return the words of a page of HTML."""
    page = _PageText()
    page.feed(raw.decode("utf-8", "replace"))
    return " ".join(page.words)
