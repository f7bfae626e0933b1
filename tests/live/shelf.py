"""The models behind the wire: which are installed, which could be pulled, which is loaded and for how long still."""

from __future__ import annotations

import re
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .engine import Engine
    from .fetching import Model

VERSION = "0.12.11"
CONTEXT = 4_096  # tokens, where a request says nothing
KEPT = 300.0  # seconds that a model stays loaded after its last answer
QUEUE = 4  # requests that may wait


class Failure(Exception):
    """An answer other than 200."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status


class Shelf:
    """The models that are installed and those that can be pulled; at most one is loaded, until its time is over."""

    def __init__(
        self,
        installed: dict[str, Model],
        pullable: dict[str, Model],
        load: Callable[[Model, int], Engine],
        queue: int = QUEUE,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.installed = installed
        self.pullable = pullable
        self.pulled: dict[str, int] = {}  # name → bytes that came before a pull was broken off
        self.born = stamp()
        self.loads = 0
        self._load = load
        self._now = now
        self._turn = threading.Lock()
        self._waiting = threading.BoundedSemaphore(queue + 1)
        self._loaded: tuple[str, Engine] | None = None
        self._until = 0.0

    def model(self, name: object) -> tuple[str, Model]:
        """An installed model and its whole name. Raises Failure: 400 without a name, 404 without a model."""
        if not isinstance(name, str) or not name:
            raise Failure(400, "model is required")
        whole = tagged(name)
        if whole not in self.installed:
            raise Failure(404, f"model '{name}' not found")
        return whole, self.installed[whole]

    @contextmanager
    def engine(self, name: str, request: dict[str, Any]) -> Iterator[tuple[Engine, int]]:
        """The model, loaded with the context that is asked for, and the nanoseconds that took; nobody else has it
        meanwhile. Raises Failure where too many wait."""
        if not self._waiting.acquire(blocking=False):
            raise Failure(503, "server busy, please try again.  maximum pending requests exceeded")
        try:
            with self._turn:
                started = time.monotonic_ns()
                engine = self._have(name, int((request.get("options") or {}).get("num_ctx") or CONTEXT))
                try:
                    yield engine, time.monotonic_ns() - started
                finally:
                    self._until = self._now() + seconds(request.get("keep_alive"))
                    self._expire()
        finally:
            self._waiting.release()

    def _have(self, name: str, context: int) -> Engine:
        self._expire()
        if self._loaded and (self._loaded[0] != name or self._loaded[1].context != context):
            self._loaded = None
        if self._loaded is None:
            self._loaded = (name, self._load(self.installed[name], context))
            self.loads += 1
        return self._loaded[1]

    def _expire(self) -> None:
        if self._now() >= self._until:
            self._loaded = None

    def running(self) -> tuple[str, int, float] | None:
        """What is loaded, with which context, and for how many seconds still."""
        left = self._until - self._now()
        if self._loaded is None or left <= 0:
            return None
        return self._loaded[0], self._loaded[1].context, left


def version(shelf: Shelf) -> dict[str, Any]:
    return {"version": VERSION}


def tags(shelf: Shelf) -> dict[str, Any]:
    return {"models": [{**listed(name, one), "modified_at": shelf.born} for name, one in shelf.installed.items()]}


def ps(shelf: Shelf) -> dict[str, Any]:
    running = shelf.running()
    if running is None:
        return {"models": []}
    name, context, left = running
    one = listed(name, shelf.installed[name])
    return {"models": [{**one, "expires_at": stamp(left), "size_vram": 0, "context_length": context}]}


def listed(name: str, model: Model) -> dict[str, Any]:
    """A model as a list of them tells it."""
    return {"name": name, "model": name, "size": model.bytes, "digest": model.sha256, "details": details(model)}


def details(model: Model) -> dict[str, Any]:
    kind = {"parent_model": "", "format": "gguf", "family": "qwen2", "families": ["qwen2"]}
    return {**kind, "parameter_size": model.size, "quantization_level": "Q4_K_M"}


def logprobs(likely: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What might have been said in a place, as Ollama tells it: without OpenAI's level between."""

    def told(one: dict[str, Any]) -> dict[str, Any]:
        return {"token": one["token"], "logprob": one["logprob"], "bytes": list(one["token"].encode())}

    return [{**told(one), "top_logprobs": [told(other) for other in one.get("top_logprobs", ())]} for one in likely]


def tagged(name: str) -> str:
    """A model's whole name: `latest` is what stands after no colon."""
    return name if ":" in name else f"{name}:latest"


def stamp(ahead: float = 0.0) -> str:
    """So many seconds from now, as Ollama writes a time."""
    return (datetime.now(UTC) + timedelta(seconds=min(ahead, 1e9))).isoformat().replace("+00:00", "Z")


def seconds(keep: object) -> float:
    """`keep_alive` in seconds: a number, or `5m`, `1h30m`; below zero for ever."""
    if keep is None:
        return KEPT
    if isinstance(keep, str) and not re.fullmatch(r"-?\d+", keep):
        units = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
        found = sum(float(number) * units[unit] for number, unit in re.findall(r"([\d.]+)(ms|h|m|s)", keep))
        return float("inf") if keep.startswith("-") else found
    value = float(keep)  # type: ignore[arg-type]
    return float("inf") if value < 0 else value
