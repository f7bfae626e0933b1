"""Embed in the background, with the provider that the configuration names."""

from __future__ import annotations

from collections.abc import Callable

from store.base.runtime import IsCancelled, never_cancelled
from store.database.database import Database
from store.database.values import Verbatim
from store.embedding.indexer import IndexResult, count_turn_tokens
from store.embedding.model_registry import EMBEDDING_ERROR_KEY
from store.embedding.provider_selection import ProviderChoice, choose_provider, may_replace_vectors
from store.embedding.vectors import Vectors, refresh_vector_space
from store.memory import Memory
from store.personal.memory import find_personal_memory


def _report_nothing(*arguments: object) -> None:
    """Report nothing."""


def open_memory_provider(memory: Memory, patient: bool = False) -> ProviderChoice:
    """Open the provider that this memory's configuration names: `choice.open`, without hashing known weights again."""
    return choose_provider(memory.config, patient, Vectors(memory.database).stamp)


def is_embedding_due(memory: Memory) -> bool:
    """Tell whether texts wait to be embedded, a model is partly built, or no backend keeps the binary signatures;
    in this memory or in the person's own beside it. Cheap."""
    if memory.database.read_only:
        return False
    own = find_personal_memory(memory.database)
    return _has_waiting_texts(memory.database) or (own is not None and _has_waiting_texts(own))


def _has_waiting_texts(database: Database) -> bool:
    """Tell whether a database has texts to embed, a partly built model, or no binary signatures."""
    sql = (
        "SELECT EXISTS (SELECT 1 FROM embedding_queue) OR EXISTS (SELECT 1 FROM embedding_models m"
        " WHERE serving = 0 OR NOT EXISTS (SELECT 1 FROM meta WHERE key = 'embedding.bits.' || m.slot))"
    )
    return not database.read_only and bool(database.value(sql))


def uses_other_provider(memory: Memory) -> bool:
    """Tell whether the vectors in use come from another provider than the configuration names: it was changed, or
    its fallback stood in for it."""
    serving = Vectors(memory.database).serving
    wanted = memory.config["embedding.provider"]
    return serving is not None and wanted not in ("auto", "none", serving.fingerprint.partition(" ")[0])


def embed_waiting(
    memory: Memory,
    progress: Callable[[int, int], None] = _report_nothing,
    cancelled: IsCancelled = never_cancelled,
    trouble: Callable[[str], None] = _report_nothing,
) -> IndexResult | None:
    """Embed what waits here, then in the person's own memory beside it, each with the provider that its configuration
    names; return what was done, None if another process is doing it. For a thread of its own, with a memory of its own.

    `trouble` is called with a sentence on what prevents the work: no provider (keywords are still searched), one that
    may not replace the better one in use, texts that were refused. Raise ProviderDown when the model fails meanwhile;
    what was done until then is kept, and `Vectors.read_status` has the sentence.
    """
    if memory.database.read_only:
        return IndexResult()
    done = _embed_memory(memory, progress, cancelled, trouble)
    own = find_personal_memory(memory.database)
    if own is None or cancelled() or not _has_waiting_texts(own):
        return done
    more = _embed_memory(memory.require_personal(), progress, cancelled, trouble)
    if done is None or more is None:
        return done or more
    return IndexResult(
        done.embedded + more.embedded,
        done.reused + more.reused,
        done.refused + more.refused,
        done.left + more.left,
    )


def _embed_memory(
    memory: Memory, progress: Callable[[int, int], None], cancelled: IsCancelled, trouble: Callable[[str], None]
) -> IndexResult | None:
    """Embed what waits in one memory. Return what was done, None if another process is doing it."""
    database = memory.database
    found = open_memory_provider(memory, patient=True)
    provider = found.provider
    left = Vectors(database).pending_counts()[0]
    if provider is None:
        step = next((step for step in found.steps if not step.taken), None)
        if step is not None:
            trouble(f"{step.reason} {step.next}".strip())
            if left:
                _note_model_error(memory, f"{step.reason} {step.next}".strip())
        return IndexResult(left=left)
    try:
        serving = Vectors(database).serving
        if (
            serving
            and serving.fingerprint != provider.fingerprint
            and not may_replace_vectors(found, serving.fingerprint)
        ):
            trouble(
                f"This memory's vectors were made by {serving.fingerprint.partition(' ')[0]}, which is not to be had"
                f" here; {provider.name} does not replace them automatically."
                f" memoranda config embedding.provider {provider.name}"
            )
            return IndexResult(left=left)
        count_turn_tokens(database, provider, cancelled)
        done = Vectors(database).embed_queue(
            provider, progress, cancelled, trouble, memory.config["embedding.index"]
        )
        if done is not None and not cancelled():
            refresh_vector_space(database)
        return done
    finally:
        provider.close()


def _note_model_error(memory: Memory, sentence: str) -> None:
    """Store a sentence on what prevents embedding, unless it is stored already."""
    if memory.database.get_meta(EMBEDDING_ERROR_KEY) != sentence:
        with memory.database.write("agent", "index") as write:
            write.set_meta(EMBEDDING_ERROR_KEY, Verbatim(sentence))
