"""Embed in the background, with the provider that the configuration names."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from store.base.cancelling import Cancelled, never
from store.database.database import Database
from store.database.values import Verbatim
from store.embedding import mean_removal, model_registry, provider_selection, turn_stats
from store.embedding.indexer import Indexed
from store.embedding.vectors import Vectors
from store.memory import Memory
from store.personal.beside import beside

if TYPE_CHECKING:
    from store.embedding.provider import Provider
    from store.embedding.provider_selection import ProviderChoice


def _quiet(*arguments: object) -> None:
    """Report nothing."""


def open_provider(memory: Memory, patient: bool = False) -> "ProviderChoice":
    """Open the provider that this memory's configuration names: `choice.open`, without hashing known weights again."""
    return provider_selection.open(memory.config, patient, Vectors(memory.database).stamp)


def for_questions(memory: Memory) -> "Provider | None":
    """Return a provider whose questions can be compared with the vectors in use, None if it is not available here.

    Usually the configured one; while that is still building its vectors, the one before it.
    """
    vectors = Vectors(memory.database)
    model = vectors.serving
    if model is None:
        return None
    found = open_provider(memory).provider
    if found is not None:
        if vectors.matches(found):
            return found
        found.close()
    return provider_selection.open_for(memory.config, model.fingerprint, vectors.stamp)


def waiting(memory: Memory) -> bool:
    """Return whether `embed` is due, for this memory or for the person's own beside it; cheap: something waits, a model
    is partly built, or no backend keeps the binary signatures."""
    if memory.database.read_only:
        return False
    own = beside(memory.database)
    return _waits(memory.database) or (own is not None and _waits(own))


def _waits(database: Database) -> bool:
    sql = (
        "SELECT EXISTS (SELECT 1 FROM embedding_queue) OR EXISTS (SELECT 1 FROM embedding_models m"
        " WHERE serving = 0 OR NOT EXISTS (SELECT 1 FROM meta WHERE key = 'embedding.bits.' || m.slot))"
    )
    return not database.read_only and bool(database.value(sql))


def other_provider(memory: Memory) -> bool:
    """Return whether the vectors in use are not those of the provider that the configuration names: it was changed, or
    its fallback stood in for it."""
    serving = Vectors(memory.database).serving
    wanted = memory.config["embedding.provider"]
    return serving is not None and wanted not in ("auto", "none", serving.fingerprint.partition(" ")[0])


def embed(
    memory: Memory,
    progress: Callable[[int, int], None] = _quiet,
    cancelled: Cancelled = never,
    trouble: Callable[[str], None] = _quiet,
) -> Indexed | None:
    """Embed what waits here, then in the person's own memory beside it, each with the provider that its configuration
    names; return what was done, None if another process is doing it. For a thread of its own, with a memory of its own.

    `trouble` is called with a sentence on what prevents the work: no provider (keywords are still searched), one that
    may not replace the better one in use, texts that were refused. Raise ProviderDown when the model fails meanwhile;
    what was done until then is kept, and `Vectors.status` keeps the sentence.
    """
    if memory.database.read_only:
        return Indexed()
    done = _embed(memory, progress, cancelled, trouble)
    own = beside(memory.database)
    if own is None or cancelled() or not _waits(own):
        return done
    more = _embed(memory.personal, progress, cancelled, trouble)
    if done is None or more is None:
        return done or more
    return Indexed(
        done.embedded + more.embedded, done.reused + more.reused, done.refused + more.refused, done.left + more.left
    )


def _embed(
    memory: Memory, progress: Callable[[int, int], None], cancelled: Cancelled, trouble: Callable[[str], None]
) -> Indexed | None:
    database = memory.database
    found = open_provider(memory, patient=True)
    provider = found.provider
    left = Vectors(database).pending()[0]
    if provider is None:
        step = next((step for step in found.steps if not step.taken), None)
        if step is not None:
            trouble(f"{step.reason} {step.next}".strip())
            if left:
                _remember(memory, f"{step.reason} {step.next}".strip())
        return Indexed(left=left)
    try:
        serving = Vectors(database).serving
        if (
            serving
            and serving.fingerprint != provider.fingerprint
            and not provider_selection.displaces(found, serving.fingerprint)
        ):
            trouble(
                f"This memory's vectors were made by {serving.fingerprint.partition(' ')[0]}, which is not to be had"
                f" here; {provider.name} does not replace them automatically."
                f" memoranda config embedding.provider {provider.name}"
            )
            return Indexed(left=left)
        turn_stats.count(database, provider, cancelled)
        done = Vectors(database).index(provider, progress, cancelled, trouble, memory.config["embedding.index"])
        if done is not None and not cancelled():
            mean_removal.refresh(database)
        return done
    finally:
        provider.close()


def _remember(memory: Memory, sentence: str) -> None:
    if model_registry.noted(memory.database, model_registry.ERROR) != sentence:
        with memory.database.write("agent", "index") as write:
            model_registry.note(write, model_registry.ERROR, Verbatim(sentence))
