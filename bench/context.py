"""What building a context costs, what it contains, and how accurate the estimated tokens are.

    python -m bench.context [--facts 10000] [--turns 200] [--questions 200] [--meaning] [--gguf PATH]

A memory of so many facts, confirmed over two years, and a session of so many turns with its summaries; the questions
use words of both. By keywords, unless `--meaning` lets the bundled model embed everything first (some minutes). The
exit status is 1 if a context exceeds its budget. The last table compares `store/text/words.py` with the tokenizer
of Qwen2.5, which is read from the header of a GGUF file of that model: the one cached by the tests of the real model,
or `--gguf`. Above 1 the estimate is too high, and a part of the model's window stays empty; below 1 it is too low.

Aim: a context in 50 ms, none over its budget."""

from __future__ import annotations

import argparse
import glob
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence

from bench.store import ROOT, Writer, copy, heading, memory, quantile, verdict
from store.base.clock import from_ms, to_ms
from store.context.selection import MAX_PROMPT_TOKENS, PART_LIMITS, SHARED_LIMIT
from store.conversations.summaries import Summaries
from store.conversations.turns import NewTurn
from store.inbox import duplicates
from store.memory import Memory
from store.text import words as token_count

AIM_MS = 50.0
KEPT = os.path.join(os.path.expanduser("~"), ".cache", "memoranda", "test-models", "*.gguf")
PARTS = ("static", "own", "facts", "summaries", "log", "window", "tools", "question")
UNMEASURED = 3


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--meaning", action="store_true", help="with vectors of everything, made first")
    parser.add_argument("--gguf", help="a file of Qwen2.5, for its tokenizer")
    options = parser.parse_args(arguments)
    if not options.meaning:
        os.environ["MEMORANDA_WITHOUT"] = "model"
    heading(
        "context", f"{options.facts:,} facts, a session of {options.turns} turns, {options.questions} questions"
    )
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        path = copy(memory(options.facts, 1_000), os.path.join(folder, "memory.db"))
        with Memory.open(path, "cli") as opened:
            _talk(opened, options.turns)
            if options.meaning:
                from store.upkeep import background_embedding

                background_embedding.embed_waiting(opened)
            over, texts = _built(opened, options.questions)
    found = options.gguf or next(iter(sorted(glob.glob(KEPT))), None)
    if found is None:
        print("\nNo file of Qwen2.5 is here, so the estimate stands beside nothing; name one with --gguf.")
        return 1 if over else UNMEASURED
    _beside(found, texts)
    return 1 if over else 0


def _talk(opened: Memory, turns: int) -> None:
    """Write a session in both languages, with turns of realistic length, from an hour ago until now, and its
    summaries."""
    writer, chance = Writer(3), random.Random(3)
    start = to_ms(opened.now) - 3_600_000
    said = []
    for number in range(turns):
        role = "assistant" if number % 2 else "user"
        sentences = chance.choice((1, 1, 2, 3) if role == "user" else (1, 3, 6, 14))
        text = writer.paragraph(sentences, "es" if chance.random() < 0.5 else "en")
        said.append(NewTurn(role, text, at=from_ms(start + number * 3_600_000 // turns)))
    opened.turns.add_turns("session", said)
    Summaries(opened.database).summarize_due("session")
    duplicates.mark_all_compared(opened.database)


def _built(opened: Memory, questions: int) -> tuple[int, list[str]]:
    """Build one for each question, and print time and content; return (how many exceeded the budget, their texts)."""
    chance, writer = random.Random(5), Writer(5)
    ids = opened.facts.ids(opened.now)
    times, whole, texts = [], [], []
    parts: dict[str, list[int]] = {name: [] for name in PARTS}
    over = 0
    for number in range(questions + 3):
        words = opened.facts.get(chance.choice(ids)).fact.split()
        question = f"{writer.sentence(2, 6)} {' '.join(chance.sample(words, min(4, len(words))))}?"
        built = opened.context(question, "session")
        if number < 3:
            continue  # the first read from the disk
        times.append(built.milliseconds)
        whole.append(built.tokens)
        texts.append(built.text)
        for part in built.parts:
            parts[part.name].append(part.tokens)
        limits = {**PART_LIMITS, "summaries": SHARED_LIMIT, "log": SHARED_LIMIT, "question": PART_LIMITS["window"]}
        over += built.tokens > MAX_PROMPT_TOKENS or any(part.tokens > limits[part.name] for part in built.parts)
    print(f"\n{'':24} median    p95    most   limit")
    print(
        f"{'building, ms':24}{statistics.median(times):7.1f}{quantile(times, 0.95):7.1f}{max(times):8.1f}", end=""
    )
    print(f"   {verdict(quantile(times, 0.95), AIM_MS, ' ms')}")
    for name, values, limit in (
        *((name, parts[name], PART_LIMITS.get(name, PART_LIMITS["window"])) for name in PARTS),
        ("all of it", whole, MAX_PROMPT_TOKENS),
    ):
        shown = f"{statistics.median(values):7,.0f}{quantile(values, 0.95):7,.0f}{max(values):8,}{limit:8,}"
        print(f"{f'{name}, tokens':24}{shown}")
    print(f"over the budget, or over a part's: {over} of {len(whole)}")
    return over, texts


def _beside(path: str, texts: Sequence[str]) -> None:
    from bench.vocabulary import counter

    real = counter(path)
    print(f"\nestimate ÷ tokens of {os.path.basename(path)}      texts  median     p5    p95   all of it")
    for name, some in (("the contexts above", texts), *_texts()):
        _ratio(name, some, real)


def _ratio(name: str, texts: Sequence[str], real: Callable[[str], int]) -> None:
    pairs = [(token_count.count_tokens(text), real(text)) for text in texts]
    shares = [ours / theirs for ours, theirs in pairs if theirs]
    whole = sum(ours for ours, _ in pairs) / sum(theirs for _, theirs in pairs)
    low, high = quantile(shares, 0.05), quantile(shares, 0.95)
    print(f"{name:46}{len(texts):7,}{statistics.median(shares):8.2f}{low:7.2f}{high:7.2f}{whole:12.2f}")


def _texts() -> Iterator[tuple[str, list[str]]]:
    """Yield texts that people wrote, of the kinds that a context contains."""
    from store.text.language import detect_language
    from tui.demo.builder import read_year_rows

    said = [row["text"] for _, _, what, row in read_year_rows() if what in ("remember", "say")]
    yield "Spanish facts and turns (the demo's)", [text for text in said if detect_language(text) == "es"]
    yield "English facts and turns (the demo's)", [text for text in said if detect_language(text) != "es"]
    paragraphs = []
    for name in ("README.md", "docs/guide.md", "docs/search.md", "docs/privacy-and-security.md"):
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            paragraphs += [text for text in file.read().split("\n\n") if len(text) > 80]
    yield "paragraphs of the documents", paragraphs
    code = []
    for path in sorted(glob.glob(os.path.join(ROOT, "store", "*.py"))):
        with open(path, encoding="utf-8") as file:
            code.append(file.read())
    yield "modules of Python", code


if __name__ == "__main__":
    sys.exit(main())
