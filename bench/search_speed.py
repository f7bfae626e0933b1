"""How long a search takes, the question's own embedding included, at 10,000, 100,000 and 1,000,000 memories.

    python -m bench.search_speed [--sizes 10000,100000] [--rounds 3]

The whole call (`memory.search`, ten hits with their records and snippets) beside its parts on the same file: FTS5 asked
alone, the vectors asked alone, the model alone. Every question is new, so none is answered from the cache of questions.
Texts are written by `bench.store`; their vectors are made up around the real model's mean (embedding a million texts
takes five hours). Then what the short cuts cost: the first look at signs against exact cosines, words that a tenth of
the memory holds left out or not, both by the ten best that stay the same.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from bench.store import Writer, copy, heading, memory, quantile
from store.embedding import binary_index, mean_removal, model_registry, vector_backends
from store.embedding.calibration import calibration
from store.embedding.vectors import Vectors
from store.memory import Memory
from store.search import fts as keyword
from store.search.filters import Filters
from store.search.fts import FullTextIndex
from store.search.query_parser import parse
from store.services.background_embedding import open_provider

AIMS = {10_000: 40.0, 100_000: 60.0, 1_000_000: 300.0}  # ms, p95 of the whole call
HITS = 10
BATCH = 10_000


def questions(rounds: int) -> dict[str, list[str]]:
    """Questions by class, each of them once; the words as unevenly frequent as in what was written."""
    writer = Writer(7)
    chance = writer.chance
    words = {language: writer.words[language][40:] for language in ("es", "en")}

    def some(language: str, count: int) -> list[str]:
        ranks = [min(len(words[language]) - 1, int(chance.paretovariate(0.6))) for _ in range(count)]
        return [words[language][rank] for rank in ranks]

    made: dict[str, list[str]] = {name: [] for name in ("question", "two words", "one word", "rare words", "filter")}
    for number in range(10 * rounds):
        a, b, c = some("es", 3)
        made["question"].append(f"¿cuándo se decidió {a} para {b} y {c}, en la vuelta {number}?")
        a, b, c = some("en", 3)
        made["question"].append(f"why did we choose {a} over {b} in {c} at round {number}?")
        made["two words"].append(" ".join(some("en", 2)) + " ")
        made["one word"].append(some("es", 1)[0] + " ")
        made["rare words"].append(f"{chance.choice(words['es'][2000:])} {chance.choice(words['en'][2000:])} ")
        made["filter"].append(f"kind:fact since:180d {' '.join(some('es', 2))} ")
    return made


def prepared(count: int) -> str:
    """A memory of so many records, with made-up vectors; kept beside the one it was copied from."""
    source = memory(count // 2, count - count // 2)
    target = os.path.join(os.path.dirname(source), "meant.db")
    if os.path.exists(target):
        return target
    part = copy(source, f"{target}.part")
    with Memory.open(part) as made:
        made.database.connection.pragma("synchronous", 0)
        provider = open_provider(made).provider
        if provider is None:
            raise SystemExit("No model makes vectors here: memoranda doctor")
        measured = calibration(provider)
        with made.database.write("agent", "bench") as write:
            model = model_registry.settle(write, provider, measured)
        _fill(made, model)
        mean_removal.refresh(made.database)
        provider.close()
    os.rename(part, target)
    return target


def _fill(made: Memory, model: model_registry.EmbeddingModel) -> None:
    """A vector for every row of the corpus, around the model's mean, as alike as real ones are; and their signs."""
    import numpy as np

    database = made.database
    dice = np.random.default_rng(5)
    mean = np.frombuffer(model.mean, "<f4")
    topics = dice.normal(size=(400, model.dimension)).astype("f4") * 0.55 / model.dimension**0.5
    ids = [key for (key,) in database.rows("SELECT id FROM corpus ORDER BY id")]
    with database.write("agent", "bench") as write:
        write.execute("DELETE FROM embedding_queue")
    for start in range(0, len(ids), BATCH):
        some = ids[start : start + BATCH]
        noise = dice.normal(size=(len(some), model.dimension)).astype("f4") * 0.35 / model.dimension**0.5
        vectors = mean + topics[dice.integers(0, len(topics), len(some))] + noise
        vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("<f4")
        with database.write("agent", "bench") as write:
            connection = database.connection
            connection.executemany(
                "INSERT INTO embeddings(id, digest, vector, used_at) VALUES (?, ?, ?, '')",
                ((key, key.to_bytes(16, "big"), vector.tobytes()) for key, vector in zip(some, vectors, strict=True)),
            )
            connection.executemany("INSERT INTO vectors VALUES (?, ?)", ((key * 2 + model.slot, key) for key in some))
            packed = binary_index.signs(vectors, model.mean)
            vector_backends.BLOCKS.put(write, model.slot, np.array(some, np.int64), packed)
    with database.write("agent", "bench") as write:
        number = model_registry.changed(write)
        model_registry.note(
            write, vector_backends.marker(model.slot), vector_backends.kept(vector_backends.BLOCKS, model, number)
        )


def timed(act: Callable[[str], object], asked: Sequence[str]) -> list[float]:
    times = []
    for question in asked:
        start = time.perf_counter()
        act(question)
        times.append((time.perf_counter() - start) * 1e3)
    return times


def row(name: str, times: list[float], aim: float | None = None) -> None:
    met = "" if aim is None else f"   ≤ {aim:g}  {'ok' if quantile(times, 0.95) <= aim else 'MISS'}"
    print(f"  {name:36}{statistics.median(times):8.1f}{quantile(times, 0.95):8.1f}{met}", flush=True)


def run(count: int, asked: dict[str, list[str]]) -> None:
    path = prepared(count)
    with Memory.open(path) as held:
        provider = open_provider(held).provider
        assert provider is not None
        keywords = FullTextIndex(held.database)
        vectors = Vectors(held.database)
        start = time.perf_counter()
        vectors.warm()
        warm = (time.perf_counter() - start) * 1e3
        start = time.perf_counter()
        held.search("the very first question of a process")
        first = (time.perf_counter() - start) * 1e3
        print(f"\n{count:,} memories{'':18}ms:     p50     p95   (signs loaded in {warm:.0f}, first call {first:.0f})")
        every: list[float] = []
        for name, some in asked.items():
            times = timed(lambda question: held.search(question, HITS), some)
            every += times
            row(f"whole call, {name}", times)
        row("whole call, all", every, AIMS.get(count))

        def fts(question: str) -> object:
            query = parse(question, held.now)
            return keywords.find(keywords.words(query), Filters(held.database, query), HITS)

        flat = [question for some in asked.values() for question in some]
        row("by keywords alone (product)", timed(lambda question: held.search(question, HITS, meaning=False), flat))
        row("bare FTS5: match, count, rank", timed(fts, flat))
        row("the model alone", timed(provider.query, [f"{question} again" for question in flat[:20]]))
        stored = [provider.query(question) for question in asked["question"][:20]]
        times = []
        for vector in stored:
            start = time.perf_counter()
            vectors.nearest(vector, 100)
            times.append((time.perf_counter() - start) * 1e3)
        row("bare vectors: 100 nearest", times)
        _cuts(held, vectors, stored, flat)
        provider.close()


def _cuts(held: Memory, vectors: Vectors, stored: list[Any], flat: list[str]) -> None:
    """What the short cuts gain and cost."""
    import numpy as np

    database = held.database
    some = [key for (key,) in database.rows("SELECT key >> 1 FROM vectors ORDER BY key LIMIT 100000")]
    blobs = database.rows("SELECT vector FROM embeddings ORDER BY id LIMIT 100000")
    matrix = np.frombuffer(b"".join(blob for (blob,) in blobs), "<f4").reshape(len(blobs), -1)
    chosen = np.array(some)
    same, exact = [], []
    for vector in stored[:10]:
        start = time.perf_counter()
        best = set(chosen[np.argsort(-(matrix @ vector))[:100]].tolist())
        exact.append((time.perf_counter() - start) * 1e3)
        found = {key for key, _ in vectors.nearest(vector, 100, some)}
        same.append(len(best & found) / 100)
    print(
        f"  signs first, then exact: {100 * statistics.fmean(same):.1f} of the exact 100 nearest of {len(some):,};"
        f" a matrix of all in memory takes {statistics.median(exact):.1f} ms and {matrix.nbytes / 1e6:.0f} MB"
    )
    del matrix, blobs
    share, floor = keyword.COMMON_SHARE, keyword.COMMON_FLOOR
    kept = {question: [hit.key for hit in held.search(question, HITS, meaning=False).hits] for question in flat[:40]}
    keyword.COMMON_FLOOR = 1 << 40
    whole, alike = [], []
    for question, keys in kept.items():
        start = time.perf_counter()
        found = [hit.key for hit in held.search(question, HITS, meaning=False).hits]
        whole.append((time.perf_counter() - start) * 1e3)
        alike.append(len(set(found) & set(keys)) / max(1, len(found)))
    keyword.COMMON_SHARE, keyword.COMMON_FLOOR = share, floor
    print(
        f"  words of a tenth of the memory kept too: p95 {quantile(whole, 0.95):.1f} ms,"
        f" {100 * statistics.fmean(alike):.0f} % of the ten best are the same"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000,1000000", help="memories, with commas between them")
    parser.add_argument("--rounds", type=int, default=3, help="ten questions of each class in each")
    parser.add_argument("--data", help="not needed: what is searched is written here")
    options = parser.parse_args(arguments)
    heading("search_speed", "p50 and p95 of each row, new questions only")
    for size in map(int, options.sizes.split(",")):
        run(size, questions(options.rounds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
