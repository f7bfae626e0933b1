"""Embedding in the background: what waits in the queue gets its vectors, a few texts at a time.

The model works outside of any transaction; then one short write puts its vectors in, for those texts that are still
what they were. What is killed in between loses one batch of a model's work and nothing else.
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
TEXTS = 64  # of one batch, at most
SECONDS = 0.4  # of a model's work in one batch: how long a cancelled run may go on, and far below the lease's 5
CACHE = 50_000  # vectors of texts that are gone, kept in case they come back
PASSAGE = f"substr(c.title, 1, {LONGEST}), substr(c.text, p.start + 1, min({LONGEST}, p.end - p.start))"
REFUSED = 1_000  # ids remembered of texts that no vector could be made of

Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]
Say = Callable[[str], None]


@dataclass(frozen=True)
class Indexed:
    """What a run did: texts the model embedded, texts whose vector was known, texts it refused, and what is left."""

    embedded: int = 0
    reused: int = 0
    refused: int = 0
    left: int = 0


@dataclass(frozen=True)
class _Text:
    """A row of the queue: its passage, and its text with the name of it; `digest` is None if the row is gone."""

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
    """Embed what waits, newest first: what was done, or None if another process is at it.

    A model that is new here gets everything queued and begins a slot of its own; the old one serves until all is done.
    `progress` is called with (done, total) after each batch, `trouble` with a sentence about what was refused. A text
    the model cannot take is left out, remembered, and tried again when it changes or another model comes. Nothing
    happens in a memory that may only be read. `by` is the name of who is to look for the nearest (`keepers`). Raises
    ProviderDown when the model itself fails; what was done stays.
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
            run.keep_signs()
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
    """One run of the indexing, and what it did so far."""

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
        self._pace = 2_000.0  # characters a second; the first batch is small, then it is known

    # what was left lying ------------------------------------------------------------------------------------------

    def sweep(self) -> None:
        """Take the vectors of models away that no longer serve, a few thousand at a time."""
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
        """Whether the signs of a model's vectors are kept where they are to be, and as the vectors are now."""
        there = model_registry.noted(self.database, vector_backends.marker(model.slot))
        return there == vector_backends.kept(self.keeper, model, model_registry.changes(self.database))

    def keep_signs(self) -> None:
        """Have the packed signs of every model that is here; made anew where they fell behind, or lay elsewhere."""
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
        """Keep no more than CACHE vectors of texts that are gone, those used last."""
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

    # the work -----------------------------------------------------------------------------------------------------

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
        """The next of the queue, as many as the model embeds in SECONDS: facts and decisions first, which people look
        for most, then their own words, and the newest of each."""
        rows = self.database.rows(
            f"SELECT q.id, c.kind, {PASSAGE} FROM (SELECT id FROM embedding_queue"
            f" ORDER BY rank, (id & {ROW}) DESC LIMIT ?) q"
            " LEFT JOIN passages p ON p.id = q.id LEFT JOIN corpus c ON c.id = p.row",
            (TEXTS,),
        )
        batch = [self._text(*row) for row in rows]
        size = 0
        for number, text in enumerate(batch):
            size += min(len(text.text), 2_500)  # more is not read
            if number and size > self._pace * SECONDS:
                return batch[:number]
        return batch

    def _text(self, id: int, kind: str | None, title: str, text: str) -> _Text:
        if kind is None:
            return _Text(id, "", None)
        embedded = form(kind, title, text)
        return _Text(id, embedded, digest(self.provider.fingerprint, embedded))

    def _known(self, batch: Sequence[_Text]) -> set[bytes]:
        """The digests among these whose vectors are stored."""
        digests = [text.digest for text in batch if text.digest is not None]
        marks = ", ".join("?" * len(digests))
        return {
            row[0] for row in self.database.rows(f"SELECT digest FROM embeddings WHERE digest IN ({marks})", digests)
        }

    def _embed(self, wanted: "dict[bytes, str]") -> "tuple[dict[bytes, Vector], dict[bytes, str]]":
        """(vectors by digest, why some were refused). Raises ProviderDown."""
        if not wanted:
            return {}, {}
        started = time.monotonic()
        vectors, refused = self._split(list(wanted.items()))
        spent = time.monotonic() - started
        size = sum(min(len(text), 2_500) for text in wanted.values())
        self._pace = max(100.0, (self._pace + 3 * size / max(spent, 1e-4)) / 4)
        return vectors, refused

    def _split(self, texts: "list[tuple[bytes, str]]") -> "tuple[dict[bytes, Vector], dict[bytes, str]]":
        """Embed the texts; where that fails, halve them until the one that is to blame stands alone."""
        try:
            made = self.provider.passages([text for _, text in texts])
            return dict(zip((name for name, _ in texts), made, strict=True)), {}
        except ProviderDown:
            raise
        except EmbeddingError as error:
            if len(texts) == 1:
                self._blame(error)
                return {}, {texts[0][0]: error.message}
        vectors: dict[bytes, Vector] = {}
        refused: dict[bytes, str] = {}
        for half in (texts[: len(texts) // 2], texts[len(texts) // 2 :]):
            some, others = self._split(half)
            vectors |= some
            refused |= others
        return vectors, refused

    def _blame(self, error: EmbeddingError) -> None:
        """Raise ProviderDown unless the model still embeds a plain sentence: then it was the text."""
        try:
            self.provider.passages([PROBE])
        except EmbeddingError:
            raise ProviderDown(error.message, error.next) from None

    def _put(
        self, write: Transaction, batch: Sequence[_Text], vectors: "dict[bytes, Vector]", refused: dict[bytes, str]
    ) -> int:
        """Store what was made, for the rows that are still what they were; how many of the queue are done."""
        ids = ", ".join(str(text.id) for text in batch)
        now = {
            row[0]: self._text(*row)
            for row in write.rows(
                f"SELECT p.id, c.kind, {PASSAGE} FROM passages p JOIN corpus c ON c.id = p.row WHERE p.id IN ({ids})"
            )
        }
        held: list[tuple[int, int]] = []
        gone: list[int] = []
        bad: list[int] = []
        fresh = dict(vectors)  # a text that stands here twice is embedded once
        for text in batch:
            current = now.get(text.id)
            if current is None:
                gone.append(text.id)
            elif current.digest != text.digest or text.digest is None:
                continue  # changed, or back again, while the model worked: it stays in the queue
            elif not text.text:
                gone.append(text.id)
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
        for id in (*gone, *bad):
            write.execute("DELETE FROM vectors WHERE key IN (?, ?)", (id * 2, id * 2 + 1))
        turn_stats.link(write, self.model, [id for id, _ in held])
        before = model_registry.changes(self.database)
        self._keep_up(write, held, [*gone, *bad], before, model_registry.changed(write))
        done = [*(id for id, _ in held), *gone, *bad]
        write.execute(f"DELETE FROM embedding_queue WHERE id IN ({', '.join(map(str, done))})")
        self._remember(write, bad, [*gone, *(id for id, _ in held)])
        self.refused += len(bad)
        return len(done)

    def _store(self, write: Transaction, name: bytes, vector: "Vector | None") -> int | None:
        """The row of a vector, stored if it is new; None if it was to be there, and was trimmed meanwhile."""
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
        self, write: Transaction, held: Sequence[tuple[int, int]], gone: Sequence[int], before: int, after: int
    ) -> None:
        """Keep the packed signs in step, in the same transaction."""
        import numpy as np

        for model in model_registry.models(self.database):
            if model_registry.noted(self.database, vector_backends.marker(model.slot)) != vector_backends.kept(
                self.keeper, model, before
            ):
                continue  # they were dropped, or are another's, meanwhile: the next run makes them anew
            self.keeper.discard(write, model.slot, np.array(gone, np.int64))
            if model.slot == self.model.slot:
                vectors = binary_index.fetch(self.database, np.array([row for _, row in held], np.int64))
                self._keep(write, model, [(id, vectors[row]) for id, row in held])
            self._mark(write, model, after)

    def _keep(self, write: Transaction, model: EmbeddingModel, held: "Sequence[tuple[int, Vector]]") -> None:
        import numpy as np

        if held:
            ids = np.array([id for id, _ in held], np.int64)
            self.keeper.put(
                write, model.slot, ids, binary_index.signs(np.stack([vector for _, vector in held]), model.mean)
            )

    def _mark(self, write: Transaction, model: EmbeddingModel, change: int) -> None:
        model_registry.note(write, vector_backends.marker(model.slot), vector_backends.kept(self.keeper, model, change))

    def _remember(self, write: Transaction, bad: Sequence[int], good: Sequence[int]) -> None:
        before = model_registry.refused(self.database)
        after = [id for id in before if id not in set(good) and id not in set(bad)] + list(bad)
        if after != before:
            model_registry.note(write, model_registry.REFUSED, " ".join(map(str, after[-REFUSED:])))


def rebuild(database: Database) -> int:
    """Throw every derived vector away and queue everything; how many texts there are to be embedded."""
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
    """Take away the vectors that no text refers to: how many there were."""
    gone = write.execute(
        "DELETE FROM embeddings WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.embedding = embeddings.id)"
    )
    count = gone.connection.changes()
    vector_backends.forget(write)
    return count
