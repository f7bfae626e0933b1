"""Index types of sqlite-vec against numpy: speed, recall, size, and build time.

    python -m bench.vectors [--sizes 10000,100000] [--million] [--extension PATH] [--folder PATH]

Synthetic unit vectors of 384 numbers in 400 clusters around a common mean, in directions of unequal weight, like the
vectors of real texts. Each type has a file of its own, and gets 50 queries for the ten nearest, after one to warm up;
`recall` is the share of the ten that an exact comparison finds. `first` is a new connection's first query, including
what it must read into memory. Types that only preselect vectors for an exact comparison read those from the plain table
of all vectors. `MB` is a type's size on the disk beside that table.

`--extension` loads another build of sqlite-vec (the path of its `vec0` without its suffix), for types that only newer
versions support; a type that this version does not support is skipped with a message."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from importlib.util import find_spec
from typing import NamedTuple

import apsw
import numpy as np

from bench.store import heading, quantile
from store.database.connection import bind_integers
from store.embedding import vector_codes as binary_index

DIMENSION, CLUSTERS, NEAREST, QUESTIONS = 384, 400, 10, 50
PART = 10_000  # vectors generated and written at once
BLOCK = 1_024  # vectors whose codes are stored in one row
PARTS = 10  # kinds of record, for a partition key
FALL = 0.5  # how fast the synthetic vectors' directions lose weight, like those of real ones
PATIENCE = 600.0  # maximum seconds of a build
Found = Callable[[np.ndarray], "list[int]"]


class Form(NamedTuple):
    """An index type: the columns of its `vec0` table, how a vector is written (SQL around one `?`), how the table is
    queried, and how many of its results are compared exactly (0: it is exact itself)."""

    name: str
    columns: str
    written: str
    asked: str
    rescored: int = 0


_NEAR = "SELECT id FROM form WHERE v MATCH {} AND k = ?"
FORMS = (
    Form("vec0 float", "id integer primary key, v float[384] distance_metric=cosine", "?", _NEAR.format("?")),
    Form("vec0 int8, 40 rescored", "id integer primary key, v int8[384] distance_metric=cosine",
         "vec_quantize_int8(?, 'unit')", _NEAR.format("vec_quantize_int8(?, 'unit')"), 40),
    Form("vec0 bit, 80 rescored", "id integer primary key, v bit[384]",
         "vec_bit(signs(?))", _NEAR.format("vec_bit(signs(?))"), 80),
    Form("vec0 bit, 2,000 rescored", "id integer primary key, v bit[384]",
         "vec_bit(signs(?))", _NEAR.format("vec_bit(signs(?))"), 2_000),
    Form("vec0 float, 1 of 10 partitions", "id integer primary key, kind integer partition key,"
         " v float[384] distance_metric=cosine", "?", "SELECT id FROM form WHERE v MATCH ? AND k = ? AND kind = 3"),
    Form("vec0 rescore(int8)", "id integer primary key, v float[384] distance_metric=cosine indexed by"
         " rescore(quantizer=int8, oversample=4)", "?", _NEAR.format("?")),
    Form("vec0 rescore(bit)", "id integer primary key, v float[384] distance_metric=cosine indexed by"
         " rescore(quantizer=bit, oversample=8)", "?", _NEAR.format("?")),
    Form("vec0 diskann", "id integer primary key, v float[384] distance_metric=cosine indexed by"
         " diskann(neighbor_quantizer=binary)", "?", _NEAR.format("?")),
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000", help="how many vectors, parted by commas")
    parser.add_argument(
        "--million", action="store_true", help="and a million: 6 GB of disk, 4 of memory, half an hour"
    )
    parser.add_argument("--extension", default="", help="another build of vec0")
    parser.add_argument("--forms", default="", help="only those whose names hold one of these, parted by commas")
    parser.add_argument("--folder", help="on the disk to measure; the temporary directory otherwise")
    options = parser.parse_args(arguments)
    found = find_spec("sqlite_vec")
    assert found and found.submodule_search_locations
    extension = options.extension or os.path.join(found.submodule_search_locations[0], "vec0")
    probe = _opened(":memory:", extension)
    heading(
        "vectors", f"SQLite {apsw.sqlite_lib_version()}, sqlite-vec {probe.execute('SELECT vec_version()').get}"
    )
    sizes = [int(size) for size in options.sizes.split(",")] + [1_000_000] * options.million
    for size in sizes:
        print(f"\n{f'{size:,} vectors':34}  recall    p50    p95  first ms      MB  build s", flush=True)
        with tempfile.TemporaryDirectory(prefix="memoranda-bench-", dir=options.folder) as folder:
            _measure(folder, size, extension, options.forms.split(","))
    return 0


def _measure(folder: str, size: int, extension: str, only: Sequence[str]) -> None:
    plain = os.path.join(folder, "plain.db")
    connection = _opened(plain, extension)
    connection.execute("CREATE TABLE plain(id INTEGER PRIMARY KEY, vector BLOB NOT NULL)")
    start = time.perf_counter()
    for ids, vectors in _crowd(size):
        _write(connection, "INSERT INTO plain VALUES (?, ?)", zip(ids, _blobs(vectors), strict=True))
    plain_built = time.perf_counter() - start
    asked = _questions()
    right = _exact(connection, asked)
    right_of_part = _exact(connection, asked, 3)
    made, path = _opened(plain, extension), os.path.join(folder, "codes.db")
    print(
        f"  {'the plain table itself':32}  {'':35} {os.path.getsize(plain) / 1e6:5,.0f} {plain_built:8.1f}",
        flush=True,
    )
    codes = _opened(path, extension)
    start = time.perf_counter()
    _pack(made, codes, size)
    built = time.perf_counter() - start
    kept = os.path.getsize(path)
    for name, ready, disk, spent in (
        ("numpy float, all in memory", partial(_floats, made, size), 0, 0.0),
        ("numpy codes, 80 rescored", partial(_coded, made, codes, 80), kept, built),
        ("numpy codes, 2,000 rescored", partial(_coded, made, codes, 2_000), kept, built),
    ):
        if any(part in name for part in only):
            _row(name, *_timed(ready, asked, right), disk, spent)
    made.close()
    for form in FORMS:
        if any(part in form.name for part in only):
            wanted = right_of_part if "partition" in form.name else right
            _form(form, os.path.join(folder, "form.db"), plain, extension, asked, wanted)


def _form(form: Form, path: str, plain: str, extension: str, asked: np.ndarray, right: list[set[int]]) -> None:
    connection = _opened(path, extension)
    try:
        connection.execute(f"CREATE VIRTUAL TABLE form USING vec0({form.columns})")
    except apsw.SQLError as error:
        print(f"  {form.name:32}  not in this version: {str(error)[:60]}")
        return
    connection.execute("ATTACH ? AS source", (plain,))
    start = time.perf_counter()
    if "kind" in form.columns:
        into = (
            f"INSERT INTO form(id, kind, v) SELECT id, id % {PARTS}, "
            f"{form.written.replace('?', 'vector')} FROM plain"
        )
    else:
        into = f"INSERT INTO form(id, v) SELECT id, {form.written.replace('?', 'vector')} FROM plain"
    last, size = -1, connection.execute("SELECT count(*) FROM plain").get
    while last < size - 1 and time.perf_counter() - start < PATIENCE:
        with connection:
            connection.execute(f"{into} WHERE id > ? AND id <= ?", (last, last + PART))
        last += PART
    built = time.perf_counter() - start
    connection.close()
    if last < size - 1:
        print(f"  {form.name:32}  not built in {PATIENCE:,.0f} s: {last + 1:,} of {size:,}", flush=True)
    else:
        again = _opened(path, extension)
        again.execute("ATTACH ? AS source", (plain,))

        def ready() -> Found:
            return lambda vector: _through(again, form, vector)

        _row(form.name, *_timed(ready, asked, right), os.path.getsize(path), built)
        again.close()
    os.unlink(path)


def _through(connection: apsw.Connection, form: Form, vector: np.ndarray) -> list[int]:
    rows = connection.execute(form.asked, (vector.tobytes(), form.rescored or NEAREST)).fetchall()
    ids = np.array([row[0] for row in rows], np.int64)
    return _best(connection, ids, vector) if form.rescored else ids.tolist()


def _best(connection: apsw.Connection, ids: np.ndarray, vector: np.ndarray) -> list[int]:
    """Return the nearest of these, by the stored vectors."""
    rows = connection.execute(
        "SELECT p.id, p.vector FROM carray(?) c JOIN plain p ON p.id = c.value", (bind_integers(np.sort(ids)),)
    ).fetchall()
    stored = np.frombuffer(b"".join(row[1] for row in rows), "<f4").reshape(len(rows), DIMENSION)
    order = np.argsort(-(stored @ vector))[:NEAREST]
    return [rows[place][0] for place in order]


def _floats(connection: apsw.Connection, size: int) -> Found:
    every = np.empty((size, DIMENSION), np.float32)
    for id, vector in connection.execute("SELECT id, vector FROM plain"):
        every[id] = np.frombuffer(vector, "<f4")

    def find(vector: np.ndarray) -> list[int]:
        near = every @ vector
        best = np.argpartition(-near, NEAREST)[:NEAREST]
        return [int(place) for place in best]

    return find


def _pack(connection: apsw.Connection, into: apsw.Connection, size: int) -> None:
    into.execute("CREATE TABLE packed(first INTEGER PRIMARY KEY, codes BLOB NOT NULL)")
    for start in range(0, size, BLOCK):
        rows = connection.execute(
            "SELECT vector FROM plain WHERE id >= ? AND id < ?", (start, start + BLOCK)
        ).fetchall()
        stored = np.frombuffer(b"".join(row[0] for row in rows), "<f4").reshape(-1, DIMENSION)
        into.execute(
            "INSERT INTO packed VALUES (?, ?)", (start, binary_index.encode_vectors(stored, _mean()).tobytes())
        )


def _coded(connection: apsw.Connection, packed: apsw.Connection, rescored: int) -> Found:
    """Search as the application does: the codes, read from their blocks into memory, preselect vectors for an exact
    comparison."""
    every = b"".join(blob for (blob,) in packed.execute("SELECT codes FROM packed ORDER BY first"))
    rows = np.frombuffer(every, "<u8").reshape(-1, 2 * binary_index.code_width(DIMENSION) // 64)
    matrix = binary_index.CodeMatrix(np.arange(len(rows), dtype=np.int64) * 16, rows)
    return lambda vector: _best(connection, matrix.candidates(vector, _mean(), rescored) // 16, vector)


def _timed(
    ready: Callable[[], Found], asked: np.ndarray, right: list[set[int]]
) -> tuple[float, list[float], float]:
    """Return (recall, ms of each query, ms of the first including its preparation)."""
    start = time.perf_counter()
    find = ready()
    find(asked[-1])
    first = (time.perf_counter() - start) * 1e3
    times, hits = [], 0
    for vector, wanted in zip(asked[:-1], right, strict=False):
        start = time.perf_counter()
        found = find(vector)
        times.append((time.perf_counter() - start) * 1e3)
        hits += len(wanted & set(found))
    return hits / (NEAREST * len(times)), times, first


def _row(name: str, recall: float, times: list[float], first: float, size: int, built: float) -> None:
    print(
        f"  {name:32}  {recall:6.3f} {quantile(times, 0.5):6.1f} {quantile(times, 0.95):6.1f}  {first:8.0f}"
        f" {size / 1e6:7,.1f} {built:8.1f}",
        flush=True,
    )


def _exact(connection: apsw.Connection, asked: np.ndarray, kind: int | None = None) -> list[set[int]]:
    """Return the ids of the nearest of each query."""
    best = [np.empty((0, 2)) for _ in asked]
    where = "" if kind is None else f"WHERE id % {PARTS} = {kind}"
    cursor = connection.execute(f"SELECT id, vector FROM plain {where}")
    while rows := [row for _, row in zip(range(PART), cursor, strict=False)]:
        stored = np.frombuffer(b"".join(row[1] for row in rows), "<f4").reshape(-1, DIMENSION)
        ids = np.array([row[0] for row in rows])
        for number, near in enumerate((stored @ asked.T).T):
            top = np.argsort(-near)[:NEAREST]
            both = np.vstack([best[number], np.column_stack([ids[top], near[top]])])
            best[number] = both[np.argsort(-both[:, 1])[:NEAREST]]
    return [{int(id) for id in found[:, 0]} for found in best]


@cache
def _space() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (the common mean of all vectors, the centres of the clusters, the transformation of uniform noise to
    theirs)."""
    dice = np.random.default_rng(5)
    turn, _ = np.linalg.qr(dice.normal(size=(DIMENSION, DIMENSION)))
    reach = np.arange(1, DIMENSION + 1) ** -FALL
    spread = (turn * (reach / np.sqrt((reach**2).mean()))).T
    common = dice.normal(size=DIMENSION) * 2
    return common, dice.normal(size=(CLUSTERS, DIMENSION)) @ spread, spread


def _made(dice: np.random.Generator, size: int) -> np.ndarray:
    common, centres, spread = _space()
    noise = dice.normal(size=(size, DIMENSION)) @ spread
    made = common + centres[dice.integers(0, CLUSTERS, size)] * 0.8 + noise * 0.6
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype("<f4")


@cache
def _mean() -> bytes:
    """Return the mean of the vectors, as a model's calibration measures it."""
    return bytes(_made(np.random.default_rng(3), 200).mean(axis=0).astype("<f4").tobytes())


def _crowd(size: int) -> Iterator[tuple[range, np.ndarray]]:
    dice = np.random.default_rng(11)
    for start in range(0, size, PART):
        ids = range(start, min(start + PART, size))
        yield ids, _made(dice, len(ids))


def _questions() -> np.ndarray:
    """Return vectors of the same clusters that are not stored."""
    return _made(np.random.default_rng(23), QUESTIONS + 1)


def _blobs(vectors: np.ndarray) -> Iterator[bytes]:
    return (vector.tobytes() for vector in vectors)


def _write(connection: apsw.Connection, sql: str, rows: Iterator[tuple[int, bytes]]) -> None:
    with connection:
        connection.executemany(sql, rows)


def _signs_of(*values: object) -> bytes:
    vector = np.frombuffer(values[0], "<f4")  # type: ignore[call-overload]
    return binary_index.encode_vectors(vector[None], _mean())[
        0, : binary_index.code_width(DIMENSION) // 8
    ].tobytes()


def _opened(path: str, extension: str) -> apsw.Connection:
    connection = apsw.Connection(path)
    connection.pragma("journal_mode", "off")
    connection.pragma("synchronous", 0)
    connection.enable_load_extension(True)
    connection.load_extension(extension)
    connection.create_scalar_function("signs", _signs_of, 1, deterministic=True)
    return connection


if __name__ == "__main__":
    sys.exit(main())
