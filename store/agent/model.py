"""The agent's model: which one there is, how it was found, and what may be asked of it.

Only the server that the person named is asked, in this order: what `MEMORANDA_MODEL` names, what is configured, the
first qwen2.5 it has, any other model, and else nobody: then rules answer.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from store.agent import breaker
from store.errors import ModelFailed
from store.switches import without

if TYPE_CHECKING:
    from store.agent.client import OllamaChat
    from store.config import Config

Message = tuple[str, str]
"""Who speaks ("system", "user" or "assistant"), and the words."""

VARIABLE = "MEMORANDA_MODEL"
ADDRESS = "http://127.0.0.1:11434"
USUAL = "qwen2.5:3b-instruct"
FAMILY = "qwen2.5"
CONTEXT = 4_096
"""Tokens of a question and its answer together. Always the same: for another number Ollama loads the model anew."""
SWITCH = "agent"  # of MEMORANDA_WITHOUT
_NO_TALKERS = ("embed", "minilm", "bge-", "-e5", "rerank", "whisper")  # in the names of models that answer nothing


class Chat(Protocol):
    """A model that may be asked, by one thread. Both raise ModelFailed, `stream` at any piece."""

    name: str

    def answer(
        self, messages: Sequence[Message], *, schema: dict[str, Any] | None, predict: int, seconds: float
    ) -> str:
        """The whole answer, `predict` tokens at most, in JSON of this `schema` if one is given."""
        ...

    def stream(self, messages: Sequence[Message], *, predict: int, seconds: float) -> Iterator[str]:
        """The answer piece by piece; whoever closes the iterator ends it on the server too."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """One model that was looked for, by `who` named it: `taken`, or why not and what would mend it."""

    who: str
    taken: bool
    reason: str
    next: str = ""


@dataclass(frozen=True, slots=True)
class Way:
    """The model that is asked at `address`, empty where rules answer; the way to it, and what else the server has."""

    address: str
    model: str
    steps: tuple[Step, ...]
    installed: tuple[str, ...] = ()


def _never() -> bool:
    return False


def _quietly() -> None:
    """Nobody is told."""


def found(
    config: "Config", *, cancelled: Callable[[], bool] = _never, loading: Callable[[], None] | None = _quietly
) -> "OllamaChat | None":
    """The model that may be asked, None where there is none and rules answer. Asks the server for its list, within two
    seconds; whoever gets a chat closes it.

    A question ends within a twentieth of a second once `cancelled`, which is asked as often. `loading` is called before
    a cold model is loaded, which may take a minute; with None it is not loaded, and asking it fails.
    """
    way, chat = _look(config, cancelled, loading)
    if chat is not None and not way.model:
        chat.close()
        return None
    return chat


def why(config: "Config") -> Way:
    """Which model is asked, and why not another: for `doctor` and the screen that sets it up."""
    way, chat = _look(config, _never, _quietly)
    if chat is not None:
        chat.close()
    return way


def address(config: "Config") -> str:
    """The one server that is asked."""
    return str(config["agent.host"]) or os.environ.get("OLLAMA_HOST") or ADDRESS


def _look(
    config: "Config", cancelled: Callable[[], bool], loading: Callable[[], None] | None
) -> "tuple[Way, OllamaChat | None]":
    where = address(config)

    def nobody(reason: str, next: str = "") -> "tuple[Way, None]":
        return Way(where, "", (Step("rules", True, reason, next),)), None

    if without(SWITCH):
        return nobody("Switched off by MEMORANDA_WITHOUT.")
    if config["agent.mode"] == "off":
        return nobody("Set so: agent.mode = off.", "memoranda config agent.mode fast")
    if tripped := breaker.of(where).tripped():
        return nobody(tripped.message, tripped.next)
    try:
        from store.agent.client import OllamaChat, knock

        knock(where)
        chat = OllamaChat(where, cancelled, loading)
        try:
            installed = chat.installed()
        except ModelFailed:
            chat.close()
            raise
    except ModelFailed as failed:
        if failed.kind != "stopped":
            breaker.of(where).failed(failed)
        return nobody(failed.message, failed.next)
    chat.name, steps = choose(str(config["agent.model"]), os.environ.get(VARIABLE, ""), installed)
    return Way(where, chat.name, tuple(steps), tuple(installed)), chat


def choose(configured: str, variable: str, installed: Sequence[str]) -> tuple[str, list[Step]]:
    """(the first model of the order that the server has, empty if there is none; the steps to it)."""
    steps = list[Step]()
    talkers = [name for name in installed if talks(name)]
    for who, wanted in ((f"${VARIABLE}", variable), ("agent.model", configured)):
        if not wanted:
            continue
        name = next((name for name in installed if name in (wanted, f"{wanted}:latest")), "")
        if name and not elsewhere(name):
            return name, [*steps, Step(who, True, f"{name}, named by {who}.")]
        if name or elsewhere(wanted):
            steps.append(Step(who, False, f"{wanted} runs on other machines, and no text is sent there."))
        else:
            steps.append(Step(who, False, f"Ollama has no model {wanted}.", f"ollama pull {wanted}"))
    ours = [name for name in talkers if name.startswith(FAMILY)]
    if ours:
        name = USUAL if USUAL in ours else ours[0]
        return name, [*steps, Step(FAMILY, True, f"{name}, the first {FAMILY} that Ollama has.")]
    steps.append(Step(FAMILY, False, f"Ollama has no {FAMILY}.", f"ollama pull {USUAL}"))
    if talkers:
        return talkers[0], [*steps, Step("any", True, f"{talkers[0]}, the first model that Ollama has.")]
    said = "Ollama has no model that answers here" if installed else "Ollama has no model"
    return "", [*steps, Step("rules", True, f"{said}; rules answer.", f"ollama pull {USUAL}")]


def elsewhere(name: str) -> bool:
    """Whether a model that Ollama lists runs on somebody else's machines."""
    return name.endswith(("-cloud", ":cloud"))


def talks(name: str) -> bool:
    """Whether a model may answer here: one of this server, and not one for vectors alone."""
    return not elsewhere(name) and not any(part in name.lower() for part in _NO_TALKERS)
