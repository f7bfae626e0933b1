"""Pull a model: the server downloads it, reports progress, and resumes a download that was interrupted."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from time import monotonic

from store.base.errors import ModelFailed
from store.llm.chat import figure
from store.llm.clients.deadline_transport import Call
from store.llm.clients.ollama_client import OllamaChat
from store.llm.endpoint import openai, short
from store.text.vocabulary import whole_file

SILENCE = 120.0  # seconds without a report before giving up: verifying a large layer takes long
RESUMES = "Pull it again: it continues where it stopped."
SAID = 160  # characters of a server's message that are shown


@dataclass(frozen=True, slots=True)
class PullResult:
    """Progress of a pull: the server's status text, bytes `done` of `total`; both 0 until the size is known."""

    status: str
    done: int = 0
    total: int = 0


class ModelPuller(OllamaChat):
    """Pulls models on one thread; the caller closes it. A pull ends within a twentieth of a second once `cancelled`
    returns True; it is called as often. Raise ModelFailed: the server is not Ollama, no client is installed, or the
    address is invalid."""

    def __init__(self, address: str, cancelled: Callable[[], bool]) -> None:
        if openai(address):
            message = f"Only Ollama fetches models, and {short(address)} is another server."
            raise ModelFailed("refused", message, "Start that server with the model.")
        super().__init__(address, Call(cancelled), None)

    def pull(self, name: str, silence: float = SILENCE) -> Iterator[PullResult]:
        """Pull a model; yield the progress until it is complete.

        Raise ModelFailed: `stopped` when cancelled, another kind for what prevents the pull, also `silence` seconds
        without a report. What was downloaded stays on the server.
        """
        self.name = name
        layers: dict[str, tuple[int, int]] = {}  # digest → (bytes done, bytes in total)
        try:
            self._call.begin(silence)
            lines = self._call.each(lambda: self._client.pull(name, stream=True), self._connection.abort)
            with closing(lines):
                for line in lines:
                    self._call.begin(silence)
                    if line.status == "success":
                        there = sum(size for _, size in layers.values())
                        yield PullResult("success", there, there)
                        return
                    if line.digest and (total := figure(line.total)):
                        layers[line.digest] = (min(figure(line.completed), total), total)
                    yield PullResult(_brief(line.status or ""), *map(sum, zip(*layers.values(), strict=True)))
        except Exception as error:
            raise self._resumable(self._failure(error), silence) from None
        raise ModelFailed("cut", f"The server stopped before {name} was complete.", RESUMES)

    def _resumable(self, failed: ModelFailed, silence: float) -> ModelFailed:
        where = short(self._address)
        told = {"slow": f"{where} reported nothing for {silence:g} s.", "cut": f"The connection to {where} broke."}
        if failed.kind not in told or failed.next == RESUMES:
            return failed
        return ModelFailed(failed.kind, told[failed.kind], RESUMES)

    def _refusal(self, status: int, text: str) -> ModelFailed:
        """Return the error for a refused pull, in our own words where the cause is known."""
        for one in whole_file(os.path.dirname(__file__), "pull_errors")["error"]:
            if any(part in text.lower() for part in one["says"]):
                return ModelFailed(one["kind"], one["message"].format(name=self.name), one["next"])
        if status in (502, 503, 504):
            return ModelFailed("busy", f"Ollama is too busy (status {status}).", RESUMES)
        return ModelFailed("refused", f"Ollama could not fetch {self.name}: {_brief(text)}.", RESUMES)


def _brief(text: str) -> str:
    """Return the beginning of a message, on one line, at most SAID characters."""
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= SAID else f"{line[: SAID - 1]}…"


class RateMeter:
    """The rate at which bytes arrive, averaged over the last seconds; `clock` returns seconds."""

    WINDOW, LEAST = 8.0, 1.0  # seconds averaged over, and seconds that must have passed

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._seen: list[tuple[float, int]] = []
        self._total = 0

    def add(self, done: int, total: int) -> None:
        """Add a report: bytes `done` of `total`."""
        now = self._clock()
        if self._seen and done < self._seen[-1][1]:
            self._seen.clear()  # the server started again
        self._seen.append((now, done))
        self._total = total
        while len(self._seen) > 2 and self._seen[1][0] < now - self.WINDOW:
            self._seen.pop(0)

    @property
    def rate(self) -> float | None:
        """Bytes a second, decreasing while none arrive; None until it is known."""
        if len(self._seen) < 2:
            return None
        (start, before), done, now = self._seen[0], self._seen[-1][1], self._clock()
        return (done - before) / (now - start) if now - start >= self.LEAST and done > before else None

    @property
    def left(self) -> float | None:
        """Seconds to the end at this rate; None while the rate is not known."""
        rate = self.rate
        return (self._total - self._seen[-1][1]) / rate if rate else None
