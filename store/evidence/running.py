"""Run commands and ask addresses that records are bound to, and keep which of them a person allowed.

What is allowed is the exact text, for one project's folder, on this installation alone: it is kept outside of every
checkout and every memory, so nothing that was imported, synced or shared is allowed by having come.
"""

import os
import re
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass
from hashlib import sha256
from html.parser import HTMLParser

from store.base.installation import drop, keep, name_of
from store.base.installation import read as read_kept
from store.evidence.items import CHANGED, GONE, HOLDS, MOVED, UNSEEN, URL, EvidenceItem

KIND = "evidence"
SECONDS = 60.0  # a command may take
ADDRESS_SECONDS = 10.0
MOST = 1_000_000  # bytes of an answer that count
NOT_FOUND = (126, 127)  # a shell's status for a command that is not there, or cannot be run
_VARYING = re.compile(rb"\d+(?:[.,:]\d+)*\s?(?:ms|s|sec|seconds|m|min)\b")


@dataclass(frozen=True, slots=True)
class EvidenceRun:
    """What a run gave: a state, where an address leads now, a digest of the answer, what happened in a few words."""

    state: int
    digest: str = ""
    place: str = ""
    says: str = ""


def allowed(root: str, item: EvidenceItem) -> bool:
    """Return whether a person allowed this exact text in this folder."""
    return _digest(item) in read_kept(name_of(KIND, root)).split("\n")


def allow(root: str, item: EvidenceItem) -> bool:
    """Allow it from now on; return whether that is stored for longer than this process runs."""
    name = name_of(KIND, root)
    return keep(name, "\n".join(dict.fromkeys([*read_kept(name).split(), _digest(item)])))


def disallow(root: str, item: EvidenceItem) -> None:
    """Ask again before it is run the next time."""
    name = name_of(KIND, root)
    left = [one for one in read_kept(name).split() if one != _digest(item)]
    if left:
        keep(name, "\n".join(left))
    else:
        drop(name)


def run(root: str, item: EvidenceItem, before: str) -> EvidenceRun:
    """Run a command in a folder, or ask an address, and compare with the digest of what it gave `before`; without one
    it holds."""
    return _address(item.target, before) if item.type == URL else _command(root, item.target, before)


def _digest(item: EvidenceItem) -> str:
    return sha256(str(item).encode("utf-8", "surrogateescape")).hexdigest()


def _command(root: str, command: str, before: str) -> EvidenceRun:
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
        output = _output(process)
        if output is None:
            return EvidenceRun(CHANGED, before, says=f"it did not end within {SECONDS:.0f} s")
        status = process.wait()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if status in NOT_FOUND:
        return EvidenceRun(GONE, before, says="there is no such command")
    digest = f"{status}:{sha256(_VARYING.sub(b'', output)).hexdigest()[:16]}"
    says = f"exit status {status}"
    if not before or digest == before:
        return EvidenceRun(HOLDS, digest, says=says)
    was = before.partition(":")[0]
    return EvidenceRun(
        CHANGED, before, says=f"{says}, and was {was}" if was != str(status) else f"{says}, other output"
    )


def _output(process: "subprocess.Popen[bytes]") -> bytes | None:
    """Return what a command writes, its first MOST bytes; None if it takes too long."""
    assert process.stdout is not None
    end = time.monotonic() + SECONDS
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
            if size < MOST:
                found.append(part[: MOST - size])
                size += len(found[-1])
    return None


def _address(url: str, before: str) -> EvidenceRun:
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
                parts.append(part[: MOST - size])
                size += len(parts[-1])
                if size >= MOST or time.monotonic() > end:
                    break
            page = "html" in answer.headers.get("content-type", "")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return EvidenceRun(UNSEEN, before, says=f"it could not be reached: {str(error)[:200] or type(error).__name__}")
    raw = b"".join(parts)
    digest = sha256(_words(raw).encode("utf-8", "replace") if page else raw).hexdigest()[:16]
    same = not before or digest == before
    return EvidenceRun(
        HOLDS if same else CHANGED, digest if same else before, says="" if same else "it says something else"
    )


class _Text(HTMLParser):
    """The words of a page, without its scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: "list[tuple[str, str | None]]") -> None:
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style") and self._hidden > 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.words += data.split()


def _words(raw: bytes) -> str:
    page = _Text()
    page.feed(raw.decode("utf-8", "replace"))
    return " ".join(page.words)
