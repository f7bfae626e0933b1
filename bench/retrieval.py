"""What search finds on real conversations, through the product's own API and file.

    python -m bench.retrieval --data DIR [--rivals] [--setting NAME …]

Every turn of a LoCoMo conversation is a memory, added by `turns.add`; each conversation has a file of its own, and in a
second run all share one file. R@k is the share of the evidence turns among the first k, averaged over the questions
with evidence; the adversarial ones, without evidence, count how often nothing is found. XQuAD: the paragraph that
answers, in four directions, and questions on another memory's topics. --rivals installs txtai and chromadb in a scratch
environment, with the vectors of our own model, and runs the same questions on the same memories."""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from bench.datasets import ADVERSARIAL, CATEGORIES, Dialogue, Reading, dialogues, need, readings, recall
from bench.store import heading, quantile
from store.conversations.turns import NewTurn
from store.memory import Memory
from store.search.filters import Filters
from store.search.query_parser import parse

AIMS = {"R@10": 80.0, "multi-hop": 52.0, "across": 88.0}
DEPTH = 10
Search = Callable[[str, int], list[str]]


class Remembered:
    """A memory file with embedded turns, and the name of each record in the data."""

    def __init__(self, folder: str, name: str) -> None:
        os.mkdir(os.path.join(folder, name))
        self.memory = Memory.open(os.path.join(folder, name, "memory.db"))
        self.names: dict[int, str] = {}

    def tell(self, dialogue: Dialogue) -> None:
        sessions: dict[str, list[tuple[str, NewTurn]]] = {}
        speakers = list(dict.fromkeys(turn.speaker for turn in dialogue.turns))
        for turn in dialogue.turns:
            role = "user" if turn.speaker == speakers[0] else "assistant"
            sessions.setdefault(turn.session, []).append((turn.name, NewTurn(role, turn.text, turn.speaker, turn.at)))
        for session, said in sessions.items():
            ids = self.memory.turns.add(session, [turn for _, turn in said])
            self.names.update(zip(ids, (name for name, _ in said), strict=True))

    def read(self, reading: Reading) -> None:
        for place, paragraph in enumerate(reading.paragraphs):
            number, _ = self.memory.facts.remember(paragraph)
            self.names[number] = f"{reading.language}:{place}"

    def embed(self) -> None:
        from store.services import background_embedding

        background_embedding.embed(self.memory)

    def close(self) -> None:
        self.memory.close()

    def searches(self) -> dict[str, Search]:
        """Return the search variants, by name."""
        seed = Memory(self.memory.location, "cli", create=False)
        seed.config.find("search.setting").value = "seed"  # type: ignore[union-attr]
        return {
            "keywords": lambda query, depth: self._names(self.memory.search(query, depth, meaning=False)),
            "vectors": self._nearest,
            "the seed's setting": lambda query, depth: self._names(seed.search(query, depth)),
            "ours": lambda query, depth: self._names(self.memory.search(query, depth)),
        }

    def _names(self, answer: object) -> list[str]:
        return [self.names[hit.record.id] for hit in answer.hits]  # type: ignore[attr-defined]

    def _nearest(self, query: str, depth: int) -> list[str]:
        look = self.memory.search.meaning.look(query)  # type: ignore[union-attr]
        assert look is not None
        return [self.names[key // 16] for key in look.near(Filters(self.memory.database, parse(query, "")), [], depth)]


class Figures:
    """The results of one search variant."""

    def __init__(self) -> None:
        self.ranks: list[tuple[int, list[str], tuple[str, ...]]] = []
        self.milliseconds: list[float] = []

    def ask(self, search: Search, question: str, evidence: tuple[str, ...], category: int) -> None:
        start = time.perf_counter()
        found = search(question, DEPTH)
        self.milliseconds.append((time.perf_counter() - start) * 1e3)
        self.ranks.append((category, found, evidence))

    def mean(self, measure: Callable[[Sequence[str], Sequence[str]], float], category: int = 0) -> float:
        values = [measure(found, wanted) for kind, found, wanted in self.ranks if wanted and category in (0, kind)]
        return 100 * statistics.fmean(values) if values else math.nan

    @property
    def nothing(self) -> float:
        """Return the share of the questions without an answer that found nothing."""
        values = [not found for _, found, wanted in self.ranks if not wanted]
        return 100 * statistics.fmean(values) if values else math.nan

    @property
    def silent(self) -> float:
        """Return the share of the questions with an answer that found nothing."""
        return 100 * statistics.fmean(not found for _, found, wanted in self.ranks if wanted)


def reciprocal(found: Sequence[str], wanted: Sequence[str]) -> float:
    return next((1 / place for place, name in enumerate(found[:DEPTH], start=1) if name in wanted), 0.0)


def gain(found: Sequence[str], wanted: Sequence[str]) -> float:
    """Return nDCG@10 with a relevance of 0 or 1."""
    got = sum(1 / math.log2(place + 1) for place, name in enumerate(found[:DEPTH], start=1) if name in wanted)
    return got / sum(1 / math.log2(place + 1) for place in range(1, min(len(wanted), DEPTH) + 1))


def table(title: str, rows: dict[str, Figures]) -> None:
    kinds = "".join(f"{name:>13}" for name in CATEGORIES.values())
    print(f"\n{title:28}{'R@5':>6}{'R@10':>6}{'MRR':>6}{'nDCG':>6}  R@10:{kinds}  nothing*  silent   p50   p95 ms")
    for name, figures in rows.items():
        by_kind = "".join(f"{figures.mean(lambda f, w: recall(f, w, 10), kind):13.1f}" for kind in CATEGORIES)
        times = figures.milliseconds
        speed = f"{statistics.median(times):6.1f}{quantile(times, 0.95):6.1f}" if times else ""
        print(
            f"{name:28}{figures.mean(lambda f, w: recall(f, w, 5)):6.1f}"
            f"{figures.mean(lambda f, w: recall(f, w, 10)):6.1f}"
            f"{figures.mean(reciprocal):6.1f}{figures.mean(gain):6.1f}       {by_kind}{figures.nothing:10.1f}"
            f"{figures.silent:8.1f}  {speed}",
            flush=True,
        )


def locomo(folder: str, found: list[Dialogue], rivals: bool) -> None:
    apart: dict[str, Figures] = {}
    together: dict[str, Figures] = {}
    with ExitStack() as stack:
        everything = Remembered(folder, "everything")
        stack.callback(everything.close)
        for dialogue in found:
            everything.tell(dialogue)
            one = Remembered(folder, f"conversation-{dialogue.name}")
            stack.callback(one.close)
            one.tell(dialogue)
            one.embed()
            for name, search in one.searches().items():
                _ask(apart.setdefault(name, Figures()), search, dialogue)
        table("LoCoMo, each its own memory", apart)
        everything.embed()
        for name, search in everything.searches().items():
            for dialogue in found:
                _ask(together.setdefault(name, Figures()), search, dialogue)
        if rivals:
            for name, answers in ask_rivals(folder, found).items():
                figures = together.setdefault(name, Figures())
                questions = [asked for dialogue in found for asked in dialogue.questions]
                for asked, (names, milliseconds) in zip(questions, answers, strict=True):
                    figures.ranks.append((asked.category, names, asked.evidence))
                    figures.milliseconds.append(milliseconds)
    table(f"LoCoMo, all {len(found)} in one memory", together)
    print("* adversarial questions that nothing was found for; silent: questions with an answer that got nothing")
    ours = apart["ours"]
    print(
        f"aims: R@10 {AIMS['R@10']:.0f} {_met(ours.mean(lambda f, w: recall(f, w, 10)), AIMS['R@10'])},"
        f" multi-hop {AIMS['multi-hop']:.0f} {_met(ours.mean(lambda f, w: recall(f, w, 10), 1), AIMS['multi-hop'])}"
    )


def _ask(figures: Figures, search: Search, dialogue: Dialogue) -> None:
    for asked in dialogue.questions:
        figures.ask(search, asked.text, () if asked.category == ADVERSARIAL else asked.evidence, asked.category)


def _met(value: float, aim: float) -> str:
    return "ok" if value >= aim else "MISS"


def xquad(folder: str, found: list[Reading], strangers: list[Dialogue]) -> None:
    print(f"\n{'XQuAD, R@1 / R@10':28}" + "".join(f"{a.language}→{b.language:10}" for a in found for b in found))
    memories = {}
    for reading in found:
        memories[reading.language] = Remembered(folder, f"paragraphs-{reading.language}")
        memories[reading.language].read(reading)
        memories[reading.language].embed()
    names = list(next(iter(memories.values())).searches())
    across = []
    for name in names:
        cells = []
        for asking in found:
            for told in found:
                search = memories[told.language].searches()[name]
                hits = [search(question, DEPTH) for question, _ in asking.questions]
                wanted = [f"{told.language}:{place}" for _, place in asking.questions]
                one, ten = (
                    100 * statistics.fmean(recall(h, [w], depth) for h, w in zip(hits, wanted, strict=True))
                    for depth in (1, DEPTH)
                )
                cells.append(f"{one:5.1f} /{ten:5.1f} ")
                if name == "ours" and asking.language != told.language:
                    across.append(one)
        print(f"{name:28}" + "".join(cells), flush=True)
    print("aims: R@1 across languages 88 " + " ".join(_met(value, AIMS["across"]) for value in across))
    if strangers:
        questions = [asked.text for asked in strangers[0].questions]
        for language, memory in memories.items():
            search = memory.searches()["ours"]
            nothing = statistics.fmean(not search(question, DEPTH) for question in questions)
            print(
                f"questions about conversations, asked of the {language} paragraphs: {100 * nothing:.0f} % get nothing"
            )
    for memory in memories.values():
        memory.close()


RIVALS = r"""
import json, sys, time
job = json.load(open(sys.argv[1])); import numpy as np
vectors = np.array(job["vectors"], dtype="float32"); asked = np.array(job["asked"], dtype="float32")
texts, questions, ids = job["texts"], job["questions"], job["ids"]
results = {}
def run(name, search):
    rows = []
    for question, vector in zip(questions, asked):
        start = time.perf_counter(); found = search(question, vector)
        rows.append([found, (time.perf_counter() - start) * 1e3 + job["query_ms"]])
    results[name] = rows
if job["rival"] == "chromadb":
    import chromadb
    collection = chromadb.EphemeralClient().create_collection("memories", metadata={"hnsw:space": "cosine"})
    for at in range(0, len(ids), 1000):
        collection.add(ids=ids[at:at+1000], documents=texts[at:at+1000], embeddings=vectors[at:at+1000].tolist())
    run("chromadb", lambda q, v: collection.query(query_embeddings=[v.tolist()], n_results=10)["ids"][0])
else:
    from txtai import Embeddings
    known = {**dict(zip(texts, vectors)), **dict(zip(questions, asked))}
    ours = dict(method="external", transform=lambda batch: np.array([known[t] for t in batch]))
    for name, options in (("txtai hybrid", {"hybrid": True, **ours}), ("txtai keyword", {"keyword": True})):
        index = Embeddings(**options)
        index.index(list(zip(ids, texts)))
        run(name, lambda q, v: [one[0] for one in index.search(q, 10)])
json.dump(results, open(sys.argv[2], "w"))
"""


def ask_rivals(folder: str, found: list[Dialogue]) -> dict[str, list[tuple[list[str], float]]]:
    """Run the rivals; return (names, milliseconds) for every question, including the milliseconds of our model's
    query."""
    from store.services.background_embedding import open_provider

    with Memory.open(os.path.join(folder, "rivals.db")) as memory:
        provider = open_provider(memory).provider
    assert provider is not None, "rivals are given our own model's vectors"
    texts = {turn.name: f"{turn.speaker}: {turn.text}" for dialogue in found for turn in dialogue.turns}
    questions = [asked.text for dialogue in found for asked in dialogue.questions]
    vectors = [vector.tolist() for vector in provider.passages(list(texts.values()))]
    start = time.perf_counter()
    asked = [provider.query(question).tolist() for question in questions]
    each = (time.perf_counter() - start) * 1e3 / len(questions)
    results: dict[str, list[tuple[list[str], float]]] = {}
    for rival in ("chromadb", "txtai"):
        home = os.path.join(folder, rival)
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        done = subprocess.run([f"{home}/bin/pip", "install", "-q", rival, "numpy"], capture_output=True, text=True)
        if done.returncode:
            print(f"{rival} could not be installed: {done.stderr.strip().splitlines()[-1:]}")
            continue
        job, answer = os.path.join(folder, f"{rival}.json"), os.path.join(folder, f"{rival}-answer.json")
        with open(job, "w", encoding="utf-8") as file:
            content = {"rival": rival, "ids": list(texts), "texts": list(texts.values()), "questions": questions}
            json.dump({**content, "vectors": vectors, "asked": asked, "query_ms": each}, file)
        done = subprocess.run([f"{home}/bin/python", "-c", RIVALS, job, answer], capture_output=True, text=True)
        if done.returncode:
            print(f"{rival} could not be asked: {done.stderr.strip().splitlines()[-1:]}")
            continue
        with open(answer, encoding="utf-8") as file:
            results.update(json.load(file))
    return results


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", metavar="DIR", help="a folder that LoCoMo and XQuAD lie in")
    parser.add_argument("--rivals", action="store_true", help="ask txtai and chromadb too")
    options = parser.parse_args(arguments)
    folder = need(options.data, "what search finds")
    conversations, texts = dialogues(folder), readings(folder)
    if not conversations and not texts:
        need(None, "what search finds")
    heading(
        "retrieval", f"{len(conversations)} conversations, {sum(len(d.questions) for d in conversations)} questions"
    )
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as scratch:
        if conversations:
            locomo(scratch, conversations, options.rivals)
        if texts:
            xquad(scratch, texts, conversations)


if __name__ == "__main__":
    main()
