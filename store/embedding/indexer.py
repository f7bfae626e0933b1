"""Background embedding: compute the vectors of queued passages, a few texts at a time.

The model runs outside any transaction; a short write then stores its vectors for those texts that have not changed
meanwhile. A process killed in between loses one batch of computed vectors and nothing else.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from store.base.record_keys import ROW
from store.database.database import Database, Transaction
from store.database.lease import Lease, LeaseLost
from store.database.values import Verbatim
from store.embedding import binary_index, model_registry, turn_stats, vector_backends
from store.embedding.input_text import digest, form
from store.embedding.model_registry import EmbeddingModel
from store.embedding.provider import LONGEST, PROBE, EmbeddingError, Provider, ProviderDown

if TYPE_CHECKING:
    from store.embedding.provider import Vector

LEASE = "embedding"
TEXTS = 64  # most texts of one batch
AHEAD = 4_096  # texts of the queue that are sorted at once: of a million, that takes a tenth of a second
AHEAD_SECONDS = 5.0  # until it is sorted again: what is written meanwhile comes first
SECONDS = 0.4  # of computing in one batch: a cancelled run ends within it, and it is far below the lease's 5
CACHE = 50_000  # vectors kept of deleted texts, in case these come back
PASSAGE = f"substr(c.title, 1, {LONGEST}), substr(c.text, p.start + 1, min({LONGEST}, p.end - p.start))"
REFUSED = 1_000  # ids kept of texts that could not be embedded

Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Indexed:
    """The result of a run: numbers of texts embedded, with a cached vector, refused by the model, and left in the
    queue."""

    embedded: int = 0
    reused: int = 0
    refused: int = 0
    left: int = 0


@dataclass(frozen=True)
class _Text:
    """A row of the queue: `id` of its passage, and the text to embed with its `digest`, which is None if the passage is
    gone."""

    id: int
    text: str
    digest: bytes | None


def index(
    database: Database,
    provider: Provider,
    progress: Progress,
    cancelled: Cancelled,
    trouble: Say,
    by: str = vector_backends.NUMPY,
) -> Indexed | None:
    """Embed the queued passages, newest first; return the counts, or None if another process holds the lease.

    With a new model everything is queued and its vectors go to a second slot; the old model serves until all is done.
    `progress` is called with (done, total) after each batch, `trouble` with a sentence about refused texts. A text that
    the model refuses is skipped, noted, and tried again when it or the model changes. Does nothing in a read-only
    memory. `by` is the name of the backend (`vector_backends`). Raise ProviderDown when the model itself fails;
    finished batches stay.
    """
    if database.read_only:
        return Indexed()
    mine = next((model for model in model_registry.models(database) if model.fingerprint == provider.fingerprint), None)
    waiting = database.value("SELECT count(*) FROM embedding_queue")
    run = _Run(database, provider, progress, cancelled, by)
    alone = (
        mine and mine.serving and len(model_registry.models(database)) == 1 and not model_registry.leftovers(database)
    )
    if mine and alone and not waiting and run.keeps(mine):
        return Indexed()
    try:
        measured = None
        if mine is None:
            from store.embedding.calibration import calibration

            measured = calibration(provider)
        if not run.lease.take():
            return None
        try:
            run.sweep()
            with database.write("agent", "index") as write:
                run.lease.renew(write)
                run.model = model_registry.settle(write, provider, measured)
                model_registry.note(write, model_registry.STAMP, provider.stamp)
            run.keep_codes()
            run.work()
            if not cancelled() and not run.model.serving:
                with database.write("agent", "index") as write:
                    run.lease.renew(write)
                    model_registry.switch(write, run.model)
                run.sweep()
            run.trim()
            with database.write("agent", "index") as write:
                model_registry.note(write, model_registry.ERROR, "")
        finally:
            run.lease.release()
    except LeaseLost:
        return None
    except EmbeddingError as error:
        with database.write("agent", "index") as write:
            model_registry.note(write, model_registry.ERROR, str(error))
        raise
    if run.refused:
        trouble(_refusal(run.refused, run.reason))
    left = database.value("SELECT count(*) FROM embedding_queue")
    return Indexed(run.embedded, run.reused, run.refused, left)


def _refusal(count: int, reason: str) -> str:
    texts = "One text" if count == 1 else f"{count:,} texts"
    return f"{texts} could not be embedded ({reason.rstrip('.')}); keywords still find what is in them."


class _Run:
    """One run of the indexer and its counts."""

    def __init__(
        self, database: Database, provider: Provider, progress: Progress, cancelled: Cancelled, by: str
    ) -> None:
        self.database = database
        self.provider = provider
        self.progress = progress
        self.cancelled = cancelled
        self.lease = Lease(database, LEASE)
        self.model: EmbeddingModel
        self.embedded = self.reused = self.refused = 0
        self.reason = ""
        self.keeper = vector_backends.keeper(database.connection, by)
        self._ahead: list[int] = []  # the next of the queue
        self._sorted = 0.0  # when they were read
        self._pace = 2_000.0  # characters a second: a low guess for the first batch, then measured

    # clean up -----------------------------------------------------------------------------------------------------

    def sweep(self) -> None:
        """Delete the vectors of models that no longer serve, a few thousand in each transaction."""
        for slot in model_registry.leftovers(self.database, self.provider.fingerprint):
            after: int | None = -1
            while after is not None:
                with self.database.write("agent", "index") as write:
                    self.lease.renew(write)
                    after = model_registry.sweep(write, slot, after)
            with self.database.write("agent", "index") as write:
                self.lease.renew(write)
                vector_backends.drop(write, [slot])

    def keeps(self, model: EmbeddingModel) -> bool:
        """Return whether the packed codes of a model are stored by the chosen backend and up to date."""
        there = model_registry.noted(self.database, vector_backends.marker(model.slot))
        return there == vector_backends.kept(self.keeper, model, model_registry.changes(self.database))

    def keep_codes(self) -> None:
        """Compute the packed codes of every model where they are out of date or stored by another backend."""
        for model in model_registry.models(self.database):
            if not self.keeps(model):
                self._fill(model)

    def _fill(self, model: EmbeddingModel) -> None:
        import numpy as np

        with self.database.write("agent", "index") as write:
            self.lease.renew(write)
            vector_backends.drop(write, [model.slot])
            self.keeper.begin(write, model)
        after = -1
        while True:
            rows = self.database.rows(
                "SELECT key, embedding FROM vectors WHERE key > ? AND key & 1 = ? ORDER BY key LIMIT ?",
                (after, model.slot, binary_index.FILL),
            )
            vectors = binary_index.fetch(self.database, np.array([row[1] for row in rows], np.int64)) if rows else {}
            held = [(key >> 1, vectors[id]) for key, id in rows if id in vectors]
            with self.database.write("agent", "index") as write:
                self.lease.renew(write)
                self._keep(write, model, held)
                if not rows:
                    self._mark(write, model, model_registry.changes(self.database))
                    return
            after = rows[-1][0]

    def trim(self) -> None:
        """Delete vectors of deleted texts beyond CACHE, those least recently used first."""
        if not (self.embedded or self.reused):
            return
        count = "SELECT (SELECT count(*) FROM embeddings) - (SELECT count(DISTINCT embedding) FROM vectors)"
        while (over := self.database.value(count) - CACHE) > 0 and not self.cancelled():
            with self.database.write("agent", "index") as write:
                self.lease.renew(write)
                write.execute(
                    "DELETE FROM embeddings WHERE id IN (SELECT id FROM embeddings e WHERE NOT EXISTS"
                    " (SELECT 1 FROM vectors v WHERE v.embedding = e.id) ORDER BY used_at, id LIMIT ?)",
                    (min(over, model_registry.SWEEP),),
                )

    # embed --------------------------------------------------------------------------------------------------------

    def work(self) -> None:
        total = self.database.value("SELECT count(*) FROM embedding_queue")
        done = 0
        while not self.cancelled():
            batch = self._batch()
            if not batch:
                return
            known = self._known(batch)
            wanted = {
                text.digest: text.text
                for text in batch
                if text.digest is not None and text.text and text.digest not in known
            }
            vectors, refused = self._embed(wanted)
            with self.database.write("agent", "index") as write:
                self.lease.renew(write)
                done += self._put(write, batch, vectors, refused)
            self.progress(min(done, total), total)

    def _batch(self) -> list[_Text]:
        """Return the next texts of the queue, as many as the model embeds in SECONDS: by rank (facts and decisions
        first, as people search for them most, then what people said), the newest of each first."""
        if not self._ahead or time.monotonic() - self._sorted > AHEAD_SECONDS:
            self._sorted = time.monotonic()
            order = f"SELECT id FROM embedding_queue ORDER BY rank, (id & {ROW}) DESC LIMIT ?"
            self._ahead = [id for (id,) in self.database.rows(order, (AHEAD,))]
        rows = self.database.rows(
            f"SELECT j.value, c.kind, {PASSAGE} FROM json_each(?) j"
            " LEFT JOIN passages p ON p.id = j.value LEFT JOIN corpus c ON c.id = p.row",
            (str(self._ahead[:TEXTS]),),
        )
        batch = [self._text(*row) for row in rows]
        size = 0
        for number, text in enumerate(batch):
            size += min(len(text.text), 2_500)  # models read no more of a text
            if number and size > self._pace * SECONDS:
                batch = batch[:number]
                break
        del self._ahead[: len(batch)]
        return batch

    def _text(self, id: int, kind: str | None, title: str, text: str) -> _Text:
        if kind is None:
            return _Text(id, "", None)
        embedded = form(kind, title, text)
        return _Text(id, embedded, digest(self.provider.fingerprint, embedded))

    def _known(self, batch: Sequence[_Text]) -> set[bytes]:
        """Return the digests among these whose vectors are stored."""
        digests = [text.digest for text in batch if text.digest is not None]
        marks = ", ".join("?" * len(digests))
        return {
            row[0] for row in self.database.rows(f"SELECT digest FROM embeddings WHERE digest IN ({marks})", digests)
        }

    def _embed(self, wanted: "dict[bytes, str]") -> "tuple[dict[bytes, Vector], dict[bytes, str]]":
        """Return (vectors by digest, reasons of refusal by digest); measure the speed. Raise ProviderDown."""
        if not wanted:
            return {}, {}
        started = time.monotonic()
        vectors, refused = self._split(list(wanted.items()))
        spent = time.monotonic() - started
        size = sum(min(len(text), 2_500) for text in wanted.values())
        self._pace = max(100.0, (self._pace + 3 * size / max(spent, 1e-4)) / 4)
        return vectors, refused

    def _split(self, texts: "list[tuple[bytes, str]]") -> "tuple[dict[bytes, Vector], dict[bytes, str]]":
        """Embed the texts; on failure halve them until the text that fails is found."""
        try:
            made = self.provider.passages([text for _, text in texts])
            return dict(zip((name for name, _ in texts), made, strict=True)), {}
        except ProviderDown:
            raise
        except EmbeddingError as error:
            if len(texts) == 1:
                self._check_provider(error)
                return {}, {texts[0][0]: error.message}
        vectors: dict[bytes, Vector] = {}
        refused: dict[bytes, str] = {}
        for half in (texts[: len(texts) // 2], texts[len(texts) // 2 :]):
            some, others = self._split(half)
            vectors |= some
            refused |= others
        return vectors, refused

    def _check_provider(self, error: EmbeddingError) -> None:
        """Raise ProviderDown if the model cannot embed a plain sentence either; else the text is at fault."""
        try:
            self.provider.passages([PROBE])
        except EmbeddingError:
            raise ProviderDown(error.message, error.next) from None

    def _put(
        self, write: Transaction, batch: Sequence[_Text], vectors: "dict[bytes, Vector]", refused: dict[bytes, str]
    ) -> int:
        """Store vectors for the passages that have not changed; return the number of queue entries done."""
        ids = ", ".join(str(text.id) for text in batch)
        now = {
            row[0]: self._text(*row)
            for row in write.rows(
                f"SELECT p.id, c.kind, {PASSAGE} FROM passages p JOIN corpus c ON c.id = p.row WHERE p.id IN ({ids})"
            )
        }
        held: list[tuple[int, int]] = []
        deleted: list[int] = []
        bad: list[int] = []
        fresh = dict(vectors)  # of two passages with the same text one is stored, one counted as reused
        for text in batch:
            current = now.get(text.id)
            if current is None:
                deleted.append(text.id)
            elif current.digest != text.digest or text.digest is None:
                continue  # changed while the model ran: it stays in the queue
            elif not text.text:
                deleted.append(text.id)
            elif text.digest in refused:
                bad.append(text.id)
                self.reason = refused[text.digest]
            else:
                row = self._store(write, text.digest, fresh.pop(text.digest, None))
                if row is not None:
                    held.append((text.id, row))
        for id, row in held:
            write.execute(
                "INSERT INTO vectors(key, embedding) VALUES (?, ?)"
                " ON CONFLICT(key) DO UPDATE SET embedding = excluded.embedding",
                (id * 2 + self.model.slot, row),
            )
        for id in (*deleted, *bad):
            write.execute("DELETE FROM vectors WHERE key IN (?, ?)", (id * 2, id * 2 + 1))
        turn_stats.link(write, self.model, [id for id, _ in held])
        before = model_registry.changes(self.database)
        self._keep_up(write, held, [*deleted, *bad], before, model_registry.changed(write))
        done = [*(id for id, _ in held), *deleted, *bad]
        write.execute(f"DELETE FROM embedding_queue WHERE id IN ({', '.join(map(str, done))})")
        self._remember(write, bad, [*deleted, *(id for id, _ in held)])
        self.refused += len(bad)
        return len(done)

    def _store(self, write: Transaction, name: bytes, vector: "Vector | None") -> int | None:
        """Store the vector if it is new, else mark the cached one as used; return its row id, None if it was trimmed
        meanwhile."""
        if vector is None:
            self.reused += 1
            row: int | None = write.execute(
                "UPDATE embeddings SET used_at = ? WHERE digest = ? RETURNING id", (Verbatim(write.at), name)
            ).get
            return row
        self.embedded += 1
        new: int | None = write.execute(
            "INSERT INTO embeddings(digest, vector, used_at) VALUES (?, ?, ?)"
            " ON CONFLICT(digest) DO UPDATE SET used_at = excluded.used_at RETURNING id",
            (name, vector.astype("<f4").tobytes(), Verbatim(write.at)),
        ).get
        return new

    def _keep_up(
        self, write: Transaction, held: Sequence[tuple[int, int]], deleted: Sequence[int], before: int, after: int
    ) -> None:
        """Update the packed codes in the same transaction."""
        import numpy as np

        for model in model_registry.models(self.database):
            if model_registry.noted(self.database, vector_backends.marker(model.slot)) != vector_backends.kept(
                self.keeper, model, before
            ):
                continue  # dropped, or stored by another backend, meanwhile: the next run computes them
            self.keeper.discard(write, model.slot, np.array(deleted, np.int64))
            if model.slot == self.model.slot:
                vectors = binary_index.fetch(self.database, np.array([row for _, row in held], np.int64))
                self._keep(write, model, [(id, vectors[row]) for id, row in held])
            self._mark(write, model, after)

    def _keep(self, write: Transaction, model: EmbeddingModel, held: "Sequence[tuple[int, Vector]]") -> None:
        import numpy as np

        if held:
            ids = np.array([id for id, _ in held], np.int64)
            self.keeper.put(
                write, model.slot, ids, binary_index.codes(np.stack([vector for _, vector in held]), model.mean)
            )

    def _mark(self, write: Transaction, model: EmbeddingModel, change: int) -> None:
        model_registry.note(write, vector_backends.marker(model.slot), vector_backends.kept(self.keeper, model, change))

    def _remember(self, write: Transaction, bad: Sequence[int], good: Sequence[int]) -> None:
        before = model_registry.refused(self.database)
        after = [id for id in before if id not in set(good) and id not in set(bad)] + list(bad)
        if after != before:
            model_registry.note(write, model_registry.REFUSED, " ".join(map(str, after[-REFUSED:])))


def rebuild(database: Database) -> int:
    """Delete all vectors and queue everything; return the number of rows in the corpus."""
    with database.write("agent", "index") as write:
        write.execute("DELETE FROM vectors")
        write.execute("DELETE FROM embeddings")
        write.execute("DELETE FROM embedding_models")
        vector_backends.drop(write)
        model_registry.note(write, model_registry.ERROR, "")
        model_registry.fill_queue(write)
        model_registry.changed(write)
        count: int = write.execute("SELECT count(*) FROM corpus").get
        return count


def forget_cache(write: Transaction) -> int:
    """Delete the vectors that no text refers to; return how many there were."""
    gone = write.execute(
        "DELETE FROM embeddings WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.embedding = embeddings.id)"
    )
    count = gone.connection.changes()
    vector_backends.forget(write)
    return count
