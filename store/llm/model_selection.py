"""Selection of the agent's model on the configured server.

The first that is available of: the model in `MEMORANDA_MODEL`, the configured one, a qwen2.5, any other model. Without
one, rules are used.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from store.base.cancelling import Cancelled, never
from store.base.errors import ModelFailed
from store.base.feature_flags import VARIABLE as WITHOUT
from store.base.feature_flags import without
from store.llm import circuit_breaker, endpoint

if TYPE_CHECKING:
    from store.config.configuration import Config
    from store.llm.clients.chat_client import ChatClient
    from store.llm.clients.deadline_transport import Call
    from store.llm.server_info import Installed

VARIABLE = "MEMORANDA_MODEL"
USUAL = "qwen2.5:3b-instruct"
FAMILY = "qwen2.5"
SWITCH = "agent"  # value in MEMORANDA_WITHOUT
ORDER = (f"${VARIABLE}", "agent.model", FAMILY, "any", "rules")
"""Where the name of the model comes from, in order; the first with an available model is taken."""


@dataclass(frozen=True, slots=True)
class SelectionStep:
    """One step of the selection: `who` names the model (one of ORDER); `taken`, or the `reason` why not and what to do
    (`next`)."""

    who: str
    taken: bool
    reason: str
    next: str = ""


def found(
    config: "Config",
    *,
    cancelled: Cancelled = never,
    loading: Callable[[], None] | None = lambda: None,
    seconds: float = inf,
) -> "ChatClient | None":
    """Return the selected model; None where there is none and rules are used. Fetches the server's list of models,
    within two seconds; the caller closes the chat.

    A question ends within a twentieth of a second once `cancelled` returns True; it is called as often. `loading` is
    called before a cold model is loaded, which may take a minute; with None it is not loaded, and asking it fails. The
    list and all questions end within `seconds` from now.
    """
    where = endpoint.of(config)
    breaker = circuit_breaker.of(where)
    if why_disabled(config) is not None or breaker.why_open() is not None:
        return None
    from store.llm.clients.deadline_transport import Call

    try:
        return _selected(config, Call(cancelled, seconds), loading)
    except ModelFailed as failed:
        breaker.record_failure(failed)
        return None


def named_chat(config: "Config", name: str = "", cancelled: Cancelled = never) -> "ChatClient":
    """Return the model of this name, or the selected one, even if the breaker is open; the caller closes it. A question
    ends soon once `cancelled` returns True. Raise ModelFailed: the server has none, or does not answer."""
    from store.llm.clients.deadline_transport import Call

    return _selected(config, Call(cancelled), lambda: None, name)


def _selected(config: "Config", call: "Call", loading: Callable[[], None] | None, name: str = "") -> "ChatClient":
    from store.llm import server_info

    where = endpoint.of(config)
    chosen, steps = choose(config, server_info.models(where, call))
    if not (name or chosen):
        raise ModelFailed("missing", steps[-1].reason, steps[-1].next)
    return client(where, call, loading, name or chosen)


def client(where: str, call: "Call", loading: Callable[[], None] | None, name: str, warm: bool = True) -> "ChatClient":
    """Return the client of a model at an address; with `warm` it loads a cold model before asking. Raise
    ModelFailed."""
    if endpoint.openai(where):
        from store.llm.clients.openai_client import OpenAIChat

        return OpenAIChat(where, call, name)
    from store.llm.clients.ollama_client import OllamaChat

    return OllamaChat(where, call, loading, name, warm)


def why_none(config: "Config", *, ends: bool = False) -> str:
    """Return why `found` returned None as text for a person, and how long nothing is asked unless the process `ends`;
    empty where no server answers, none is installed here and nobody ever named one."""
    disabled = why_disabled(config)
    if disabled is not None:
        return f"{disabled.reason} {disabled.next}".strip()
    tripped = circuit_breaker.of(endpoint.of(config)).why_open(ends=ends)
    if tripped is None or (tripped.kind == "absent" and not _expected(config)):
        return ""
    return str(tripped)


def _expected(config: "Config") -> bool:
    """Return whether somebody set up a model: named it or its server, or installed Ollama."""
    from shutil import which

    return bool(any(named(config).values()) or endpoint.named(config) or which("ollama"))


def why_disabled(config: "Config") -> SelectionStep | None:
    """Return why no model may be asked, whatever the server has; None where one may be."""
    if without(SWITCH):
        return SelectionStep("rules", True, f"Switched off by {WITHOUT}.")
    if config["agent.mode"] == "off":
        return SelectionStep("rules", True, "Switched off: agent.mode is off.", "memoranda model fast")
    return None


def choose(config: "Config", installed: "Sequence[Installed]") -> tuple[str, list[SelectionStep]]:
    """Return (the first model of ORDER that the server has, empty if there is none; a step for each of ORDER)."""
    taken, steps = "", list[SelectionStep]()
    for name, step in _tried(config, installed):
        steps.append(SelectionStep(step.who, False, "Not needed.") if taken else step)
        taken = taken or name
    return taken, steps


def _pull(config: "Config", name: str) -> str:
    """Return how a model gets onto the server; empty for a server that serves what it was started with."""
    return "" if endpoint.openai(endpoint.of(config)) else f"ollama pull {name}"


def untried(config: "Config", rules: SelectionStep, otherwise: str) -> list[SelectionStep]:
    """Return a step for each of ORDER where no model is chosen: `rules` says why, `otherwise` is told of the others."""
    names = named(config)
    reasons = {who: f"{name}. {otherwise}" if name else "Not set." for who, name in names.items()}
    return [*(SelectionStep(who, False, reasons.get(who, otherwise)) for who in ORDER[:-1]), rules]


def _tried(config: "Config", installed: "Sequence[Installed]") -> Iterator[tuple[str, SelectionStep]]:
    """Yield (the model that the server has, empty for none; the step) for each of ORDER."""
    from store.llm.server_info import cloud

    server, here = (endpoint.server(endpoint.of(config), begins) for begins in (True, False))
    for who, wanted in named(config).items():
        one = next((one for one in installed if one.name in (wanted, f"{wanted}:latest")), None)
        if not wanted:
            yield "", SelectionStep(who, False, "Not set.")
        elif cloud(wanted) or (one is not None and one.remote):
            yield "", SelectionStep(who, False, f"{wanted} runs on other machines, and no text is sent there.")
        elif one is None:
            yield "", SelectionStep(who, False, f"{server} has no model {wanted}.", _pull(config, wanted))
        else:
            yield one.name, SelectionStep(who, True, f"{one.name}, named by {who}.")
    able = [one.name for one in installed if one.can_chat]
    if ours := sorted((name for name in able if name.startswith(FAMILY)), key=lambda name: name != USUAL):
        yield ours[0], SelectionStep(FAMILY, True, f"{ours[0]}, the first {FAMILY} that {here} has.")
    else:
        yield "", SelectionStep(FAMILY, False, f"{server} has no {FAMILY}.", _pull(config, USUAL))
    if able:
        yield able[0], SelectionStep("any", True, f"{able[0]}, the first model that {here} has.")
    else:
        yield "", SelectionStep("any", False, f"{server} has no model that can answer.")
    has_none = f"{server} has no model{' that can answer' if installed else ''}"
    yield "", SelectionStep("rules", True, f"{has_none}; answers come from the records.", _pull(config, USUAL))


def named(config: "Config") -> dict[str, str]:
    """Return the names of models that are set, by who sets them; empty where not set."""
    return {ORDER[0]: os.environ.get(VARIABLE, ""), ORDER[1]: str(config["agent.model"])}
