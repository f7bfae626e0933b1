"""Background embedding: compute the vectors of queued passages, a few texts at a time.

The model runs outside any transaction; a short write then stores its vectors for those texts that have not changed
meanwhile. A process killed in between loses one batch of computed vectors and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from store.base.vocabulary import KIND_NUMBERS, RECORD_KEY_MASK, unpack_key
from store.database.database import Database, Lease, LeaseLost, Transaction
from store.database.values import Json, Verbatim
from store.embedding import vector_codes
from store.embedding.model_registry import (
    EMBEDDING_ERROR_KEY,
    REFUSED_TEXTS_KEY,
    SWEEP_ROWS,
    WEIGHTS_STAMP_KEY,
    EmbeddingModel,
    calibrate_cosine,
    count_vector_change,
    find_model_of,
    get_calibration,
    list_embedding_models,
    list_leftover_slots,
    list_refused_passages,
    queue_all_passages,
    read_vector_changes,
    register_model,
    sweep_slot,
    switch_serving_model,
)
from store.embedding.provider import (
    MAX_INPUT_CHARACTERS,
    PROBE_TEXT,
    EmbeddingError,
    EmbeddingProvider,
    ProviderDown,
    digest_input_text,
    format_input_text,
)
from store.embedding.vector_codes import (
    NUMPY_BACKEND,
    choose_code_store,
    codes_marker_key,
    codes_marker_value,
    drop_codes,
    encode_vectors,
    forget_deleted_codes,
)

if TYPE_CHECKING:
    from store.embedding.provider import Vector


# Statistics of turns that a model provides: similarity to the turn before, and number of tokens.
#
# Tokens are counted with the model's own tokenizer, which is on the disk with it: for e5 SentencePiece with 250,000
# pieces. Compared with the tokenizer of Qwen2.5 it counts 5 % more on 188 passages of Spanish prose, 11 % more on 400
# turns of English talk and 25 % more on 124 pieces of Python, so budgets are kept. Where a model has no tokenizer here,
# such as a server's, `store/text/words.py` estimates.

# most turns, and most seconds, of one batch of counting
MAX_COUNTED_TURNS, MAX_COUNTING_SECONDS = 64, 0.2
TURN_KIND = "turn"
TURN_PAIRS_SQL = f"""
SELECT t.id, ours.vector, theirs.vector FROM turns t
  JOIN turns p ON p.session = t.session AND p.number = t.number - 1
  JOIN vectors v ON v.key = (t.id * 16 + {KIND_NUMBERS[TURN_KIND]}) * 2 + ?2
  JOIN embeddings ours ON ours.id = v.embedding
  JOIN vectors w ON w.key = (p.id * 16 + {KIND_NUMBERS[TURN_KIND]}) * 2 + ?2
  JOIN embeddings theirs ON theirs.id = w.embedding
WHERE t.id IN (SELECT value FROM json_each(?1)) OR p.id IN (SELECT value FROM json_each(?1))
"""


def store_continuity(write: Transaction, model: EmbeddingModel, keys: Sequence[int]) -> int:
    """Store the calibrated similarity to the turn before (`continuity`) for the turns among these corpus rows, whose
    vectors were just stored, and for the turns after them; return how many."""
    numbers = [number for kind, number in map(unpack_key, keys) if kind == TURN_KIND]
    if not numbers:
        return 0
    import numpy as np

    rows = list(write.rows(TURN_PAIRS_SQL, (Json(numbers), model.slot)))
    for number, ours, theirs in rows:
        cosine = float(np.frombuffer(ours, "<f4") @ np.frombuffer(theirs, "<f4"))
        alike = round(calibrate_cosine(cosine, model.zero, model.one), 4)
        write.execute("UPDATE turns SET continuity = ? WHERE id = ?", (alike, number))
    return len(rows)


def count_turn_tokens(database: Database, provider: EmbeddingProvider, cancelled: Callable[[], bool]) -> int:
    """Count the tokens of turns that have no count yet, newest first; return how many. Does nothing without a
    tokenizer."""
    done = 0
    while not cancelled():
        rows = database.rows(
            f"SELECT id, text FROM turns WHERE tokens IS NULL ORDER BY id DESC LIMIT {MAX_COUNTED_TURNS}"
        )
        counted: list[tuple[int, str, int]] = []
        until = time.monotonic() + MAX_COUNTING_SECONDS
        for number, text in rows:
            if time.monotonic() > until:
                break
            found = provider.tokens([text])
            if found is None:
                return done
            counted.append((found[0], text, number))
        if not counted:
            return done
        with database.write("agent", "tokens") as write:
            for tokens, text, number in counted:
                # the text may have changed meanwhile
                write.execute(
                    "UPDATE turns SET tokens = ? WHERE id = ? AND text = ?", (tokens, number, Verbatim(text))
                )
        done += len(counted)
    return done


EMBEDDING_LEASE = "embedding"
# most texts of one batch
MAX_BATCH_TEXTS = 64
# texts of the queue that are sorted at once: of a million, that takes a tenth of a second
QUEUE_AHEAD = 4_096
# until it is sorted again: what is written meanwhile comes first
QUEUE_AHEAD_SECONDS = 5.0
# of computing in one batch: a cancelled run ends within it, far below the lease's 5
EMBED_BATCH_SECONDS = 0.4
# vectors kept of deleted texts, in case these come back
MAX_UNUSED_VECTORS = 50_000
PASSAGE_COLUMNS = (
    f"substr(c.title, 1, {MAX_INPUT_CHARACTERS}),"
    f" substr(c.text, p.start + 1, min({MAX_INPUT_CHARACTERS}, p.end - p.start))"
)
# ids kept of texts that could not be embedded
MAX_REFUSED_IDS = 1_000

ShowEmbedded = Callable[[int, int], None]
CancelCheck = Callable[[], bool]
SayTrouble = Callable[[str], None]


class IndexResult(NamedTuple):
    """The result of a run: numbers of texts embedded, with a cached vector, refused by the model, and left in the
    queue."""

    embedded: int = 0
    reused: int = 0
    refused: int = 0
    left: int = 0


class _QueuedText(NamedTuple):
    """A row of the queue: `id` of its passage, and the text to embed with its `digest`, which is None if the passage is
    gone."""

    id: int
    text: str
    digest: bytes | None


def embed_queued_passages(
    database: Database,
    provider: EmbeddingProvider,
    progress: ShowEmbedded,
    cancelled: CancelCheck,
    trouble: SayTrouble,
    by: str = NUMPY_BACKEND,
) -> IndexResult | None:
    """Embed the queued passages, newest first; return the counts, or None if another process holds the lease.

    With a new model everything is queued and its vectors go to a second slot; the old model serves until all is done.
    `progress` is called with (done, total) after each batch, `trouble` with a sentence about refused texts. A text that
    the model refuses is skipped, noted, and tried again when it or the model changes. Does nothing in a read-only
    memory. `by` is the name of the backend (`choose_code_store`). Raise ProviderDown when the model itself fails;
    finished batches stay.
    """
    if database.read_only:
        return IndexResult()
    mine = find_model_of(database, provider)
    waiting = database.value("SELECT count(*) FROM embedding_queue")
    run = _IndexRun(database, provider, progress, cancelled, by)
    alone = (
        mine and mine.serving and len(list_embedding_models(database)) == 1 and not list_leftover_slots(database)
    )
    if mine and alone and not waiting and run.has_current_codes(mine):
        return IndexResult()
    try:
        measured = get_calibration(provider) if mine is None else None
        if not run.lease.acquire():
            return None
        try:
            run.sweep_old_vectors()
            with database.write("agent", "index") as write:
                run.lease.renew(write)
                run.model = register_model(write, provider, measured)
                write.set_meta(WEIGHTS_STAMP_KEY, provider.stamp)
            run.update_all_codes()
            run.embed_queue()
            if not cancelled() and not run.model.serving:
                with database.write("agent", "index") as write:
                    run.lease.renew(write)
                    switch_serving_model(write, run.model)
                run.sweep_old_vectors()
            run.trim_cache()
            with database.write("agent", "index") as write:
                write.set_meta(EMBEDDING_ERROR_KEY, "")
        finally:
            run.lease.release()
    except LeaseLost:
        return None
    except EmbeddingError as error:
        with database.write("agent", "index") as write:
            write.set_meta(EMBEDDING_ERROR_KEY, str(error))
        raise
    if run.refused:
        trouble(_refusal_sentence(run.refused, run.reason))
    left = database.value("SELECT count(*) FROM embedding_queue")
    return IndexResult(run.embedded, run.reused, run.refused, left)


def _refusal_sentence(count: int, reason: str) -> str:
    """Return the sentence that tells how many texts could not be embedded, and why."""
    texts = "One text" if count == 1 else f"{count:,} texts"
    return f"{texts} could not be embedded ({reason.rstrip('.')}); keywords still find what is in them."


class _IndexRun:
    """One run of the indexer and its counts."""

    def __init__(
        self,
        database: Database,
        provider: EmbeddingProvider,
        progress: ShowEmbedded,
        cancelled: CancelCheck,
        by: str,
    ) -> None:
        self.database = database
        self.provider = provider
        self.progress = progress
        self.cancelled = cancelled
        self.lease = Lease(database, EMBEDDING_LEASE)
        self.model: EmbeddingModel
        self.embedded = self.reused = self.refused = 0
        self.reason = ""
        self.keeper = choose_code_store(database.connection, by)
        # the next of the queue
        self._ahead: list[int] = []
        # when they were read
        self._sorted = 0.0
        # characters a second: a low guess for the first batch, then measured
        self._pace = 2_000.0

    # clean up -----------------------------------------------------------------------------------------------------

    def sweep_old_vectors(self) -> None:
        """Delete the vectors of models that no longer serve, a few thousand in each transaction."""
        for slot in list_leftover_slots(self.database, self.provider.fingerprint):
            after: int | None = -1
            while after is not None:
                with self.database.write("agent", "index") as write:
                    self.lease.renew(write)
                    after = sweep_slot(write, slot, after)
            with self.database.write("agent", "index") as write:
                self.lease.renew(write)
                drop_codes(write, [slot])

    def has_current_codes(self, model: EmbeddingModel) -> bool:
        """Return whether the packed codes of a model are stored by the chosen backend and up to date."""
        there = self.database.get_meta(codes_marker_key(model.slot))
        return there == codes_marker_value(self.keeper, model, read_vector_changes(self.database))

    def update_all_codes(self) -> None:
        """Compute the packed codes of every model where they are out of date or stored by another backend."""
        for model in list_embedding_models(self.database):
            if not self.has_current_codes(model):
                self._fill_codes(model)

    def _fill_codes(self, model: EmbeddingModel) -> None:
        """Compute the packed codes of a model anew, a few thousand in each transaction."""
        import numpy as np

        with self.database.write("agent", "index") as write:
            self.lease.renew(write)
            drop_codes(write, [model.slot])
            self.keeper.create_store(write, model)
        after = -1
        while True:
            rows = self.database.rows(
                "SELECT key, embedding FROM vectors WHERE key > ? AND key & 1 = ? ORDER BY key LIMIT ?",
                (after, model.slot, vector_codes.CODES_PER_WRITE),
            )
            vectors = vector_codes.read_embeddings(self.database, np.array([row[1] for row in rows], np.int64))
            held = [(key >> 1, vectors[id]) for key, id in rows if id in vectors]
            with self.database.write("agent", "index") as write:
                self.lease.renew(write)
                self._store_codes(write, model, held)
                if not rows:
                    self._mark_codes(write, model, read_vector_changes(self.database))
                    return
            after = rows[-1][0]

    def trim_cache(self) -> None:
        """Delete vectors of deleted texts beyond MAX_UNUSED_VECTORS, the least recently used first."""
        if not (self.embedded or self.reused):
            return
        count = "SELECT (SELECT count(*) FROM embeddings) - (SELECT count(DISTINCT embedding) FROM vectors)"
        while (over := self.database.value(count) - MAX_UNUSED_VECTORS) > 0 and not self.cancelled():
            with self.database.write("agent", "index") as write:
                self.lease.renew(write)
                write.execute(
                    "DELETE FROM embeddings WHERE id IN (SELECT id FROM embeddings e WHERE NOT EXISTS"
                    " (SELECT 1 FROM vectors v WHERE v.embedding = e.id) ORDER BY used_at, id LIMIT ?)",
                    (min(over, SWEEP_ROWS),),
                )

    # embed --------------------------------------------------------------------------------------------------------

    def embed_queue(self) -> None:
        """Embed the queue batch by batch until it is empty or the run is cancelled."""
        total = self.database.value("SELECT count(*) FROM embedding_queue")
        done = 0
        while not self.cancelled():
            batch = self._next_batch()
            if not batch:
                return
            known = self._stored_digests(batch)
            wanted = {one.digest: one.text for one in batch if one.digest and one.text and one.digest not in known}
            vectors, refused = self._embed_texts(wanted)
            with self.database.write("agent", "index") as write:
                self.lease.renew(write)
                done += self._store_batch(write, batch, vectors, refused)
            self.progress(min(done, total), total)

    def _next_batch(self) -> list[_QueuedText]:
        """Return the next texts of the queue, as many as the model embeds in EMBED_BATCH_SECONDS: by rank (facts and
        decisions first, as people search for them most, then what people said), the newest of each first."""
        if not self._ahead or time.monotonic() - self._sorted > QUEUE_AHEAD_SECONDS:
            self._sorted = time.monotonic()
            order = f"SELECT id FROM embedding_queue ORDER BY rank, (id & {RECORD_KEY_MASK}) DESC LIMIT ?"
            self._ahead = self.database.column(order, (QUEUE_AHEAD,))
        rows = self.database.rows(
            f"SELECT j.value, c.kind, {PASSAGE_COLUMNS} FROM json_each(?) j"
            " LEFT JOIN passages p ON p.id = j.value LEFT JOIN corpus c ON c.id = p.row",
            (str(self._ahead[:MAX_BATCH_TEXTS]),),
        )
        batch = [self._queued_text(*row) for row in rows]
        size = 0
        for number, text in enumerate(batch):
            # models read no more of a text
            size += min(len(text.text), 2_500)
            if number and size > self._pace * EMBED_BATCH_SECONDS:
                batch = batch[:number]
                break
        del self._ahead[: len(batch)]
        return batch

    def _queued_text(self, id: int, kind: str | None, title: str, text: str) -> _QueuedText:
        """Return a row of the queue as the text to embed with its digest."""
        if kind is None:
            return _QueuedText(id, "", None)
        embedded = format_input_text(kind, title, text)
        return _QueuedText(id, embedded, digest_input_text(self.provider.fingerprint, embedded))

    def _stored_digests(self, batch: Sequence[_QueuedText]) -> set[bytes]:
        """Return the digests among these whose vectors are stored."""
        digests = [text.digest for text in batch if text.digest is not None]
        marks = ", ".join("?" * len(digests))
        return set(self.database.column(f"SELECT digest FROM embeddings WHERE digest IN ({marks})", digests))

    def _embed_texts(self, wanted: dict[bytes, str]) -> tuple[dict[bytes, Vector], dict[bytes, str]]:
        """Return (vectors by digest, reasons of refusal by digest); measure the speed. Raise ProviderDown."""
        if not wanted:
            return {}, {}
        started = time.monotonic()
        vectors, refused = self._embed_or_halve(list(wanted.items()))
        spent = time.monotonic() - started
        size = sum(min(len(text), 2_500) for text in wanted.values())
        self._pace = max(100.0, (self._pace + 3 * size / max(spent, 1e-4)) / 4)
        return vectors, refused

    def _embed_or_halve(self, texts: list[tuple[bytes, str]]) -> tuple[dict[bytes, Vector], dict[bytes, str]]:
        """Embed the texts; on failure halve them until the text that fails is found."""
        try:
            made = self.provider.passages([text for _, text in texts])
            return dict(zip((name for name, _ in texts), made, strict=True)), {}
        except ProviderDown:
            raise
        except EmbeddingError as error:
            if len(texts) == 1:
                try:
                    self.provider.passages([PROBE_TEXT])
                except EmbeddingError:
                    raise ProviderDown(error.message, error.next) from None
                return {}, {texts[0][0]: error.message}
        vectors: dict[bytes, Vector] = {}
        refused: dict[bytes, str] = {}
        for half in (texts[: len(texts) // 2], texts[len(texts) // 2 :]):
            some, others = self._embed_or_halve(half)
            vectors |= some
            refused |= others
        return vectors, refused

    def _store_batch(
        self,
        write: Transaction,
        batch: Sequence[_QueuedText],
        vectors: dict[bytes, Vector],
        refused: dict[bytes, str],
    ) -> int:
        """Store vectors for the passages that have not changed; return the number of queue entries done."""
        ids = ", ".join(str(text.id) for text in batch)
        now = {
            row[0]: self._queued_text(*row)
            for row in write.rows(
                f"SELECT p.id, c.kind, {PASSAGE_COLUMNS} FROM passages p JOIN "
                f"corpus c ON c.id = p.row WHERE p.id IN ({ids})"
            )
        }
        held: list[tuple[int, int]] = []
        deleted: list[int] = []
        bad: list[int] = []
        # of two passages with the same text one is stored, one counted as reused
        fresh = dict(vectors)
        for text in batch:
            current = now.get(text.id)
            if current is None:
                deleted.append(text.id)
            elif current.digest != text.digest or text.digest is None:
                # changed while the model ran: it stays in the queue
                continue
            elif not text.text:
                deleted.append(text.id)
            elif text.digest in refused:
                bad.append(text.id)
                self.reason = refused[text.digest]
            else:
                row = self._store_vector(write, text.digest, fresh.pop(text.digest, None))
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
        store_continuity(write, self.model, [id for id, _ in held])
        before = read_vector_changes(self.database)
        self._update_codes(write, held, [*deleted, *bad], before, count_vector_change(write))
        done = [*(id for id, _ in held), *deleted, *bad]
        write.execute(f"DELETE FROM embedding_queue WHERE id IN ({', '.join(map(str, done))})")
        self._note_refused(write, bad, [*deleted, *(id for id, _ in held)])
        self.refused += len(bad)
        return len(done)

    def _store_vector(self, write: Transaction, name: bytes, vector: Vector | None) -> int | None:
        """Store the vector if it is new, else mark the cached one as used; return its row id, None if it was trimmed
        meanwhile."""
        if vector is None:
            self.reused += 1
            row: int | None = write.first(
                "UPDATE embeddings SET used_at = ? WHERE digest = ? RETURNING id", (write.at, name)
            )
            return row
        self.embedded += 1
        new: int | None = write.first(
            "INSERT INTO embeddings(digest, vector, used_at) VALUES (?, ?, ?)"
            " ON CONFLICT(digest) DO UPDATE SET used_at = excluded.used_at RETURNING id",
            (name, vector.astype("<f4").tobytes(), write.at),
        )
        return new

    def _update_codes(
        self,
        write: Transaction,
        held: Sequence[tuple[int, int]],
        deleted: Sequence[int],
        before: int,
        after: int,
    ) -> None:
        """Update the packed codes in the same transaction."""
        import numpy as np

        for model in list_embedding_models(self.database):
            if self.database.get_meta(codes_marker_key(model.slot)) != codes_marker_value(
                self.keeper, model, before
            ):
                # dropped, or stored by another backend, meanwhile: the next run computes them
                continue
            self.keeper.discard_codes(write, model.slot, np.array(deleted, np.int64))
            if model.slot == self.model.slot:
                vectors = vector_codes.read_embeddings(self.database, np.array([row for _, row in held], np.int64))
                self._store_codes(write, model, [(id, vectors[row]) for id, row in held])
            self._mark_codes(write, model, after)

    def _store_codes(self, write: Transaction, model: EmbeddingModel, held: Sequence[tuple[int, Vector]]) -> None:
        """Store the packed codes of vectors."""
        import numpy as np

        if held:
            ids = np.array([id for id, _ in held], np.int64)
            self.keeper.put_codes(
                write, model.slot, ids, encode_vectors(np.stack([vector for _, vector in held]), model.mean)
            )

    def _mark_codes(self, write: Transaction, model: EmbeddingModel, change: int) -> None:
        """Note that the packed codes of a model are up to date with a change number."""
        write.set_meta(codes_marker_key(model.slot), codes_marker_value(self.keeper, model, change))

    def _note_refused(self, write: Transaction, bad: Sequence[int], good: Sequence[int]) -> None:
        """Note the ids of refused texts, and forget the ids of texts that were embedded since."""
        before = list_refused_passages(self.database)
        after = [id for id in before if id not in set(good) and id not in set(bad)] + list(bad)
        if after != before:
            write.set_meta(REFUSED_TEXTS_KEY, " ".join(map(str, after[-MAX_REFUSED_IDS:])))


def rebuild_vectors(database: Database) -> int:
    """Delete all vectors and queue everything; return the number of rows in the corpus."""
    with database.write("agent", "index") as write:
        write.execute("DELETE FROM vectors")
        write.execute("DELETE FROM embeddings")
        write.execute("DELETE FROM embedding_models")
        drop_codes(write)
        write.set_meta(EMBEDDING_ERROR_KEY, "")
        queue_all_passages(write)
        count_vector_change(write)
        return int(write.first("SELECT count(*) FROM corpus"))


def forget_unused_vectors(write: Transaction) -> int:
    """Delete the vectors that no text refers to; return how many there were."""
    gone = write.execute(
        "DELETE FROM embeddings WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.embedding = embeddings.id)"
    )
    count = gone.connection.changes()
    forget_deleted_codes(write)
    return count
