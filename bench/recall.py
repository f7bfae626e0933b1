"""What is added to a prompt: how often it contains the answering record, and how often it is unnecessary.

    python -m bench.recall [--show]

The questions of `bench/cases/librarian.jsonl` on the demo's memory, as prompts: those on even lines were used to set
the threshold of `store/doors/pack.py`, the odd ones evaluate it. *Held* are packs with one of the records
that contain the answer; *as ask* those with a decision or fact from which the librarian's rule answers, of the
questions for which it says that a record answers just that (none about numbers and times, which filters and history
answer); *for nothing* are packs that are not empty although nothing is recorded. A pack has no fact that is stale,
muted or not accepted, and no decision that no person confirmed, which `ask` answers from too. `--show` prints the
failures, never those of the held-out half."""

import argparse
import json
import os
import statistics
import tempfile
import time
from dataclasses import fields
from typing import Any

from store.base.citations import parse_citation
from store.base.clock import utc_now
from store.doors.pack import Pack, build_prompt_pack
from store.librarian.librarian import Librarian
from store.memory import Memory
from store.search import lookup
from store.upkeep import background_embedding
from tui.demo.builder import build_demo

CASES = os.path.join(os.path.dirname(__file__), "cases", "librarian.jsonl")
CHATTER = (
    "thanks, that works", "ok, commit this please", "run the linter and fix what it says", "rename the variable",
    "add a docstring to this function", "why does this test time out on my machine?", "explain this regular expression",
    "hola, ¿seguimos?", "undo the last change", "write a haiku about autumn", "what is the weather like?",
    "bump the version and update the lock file", "sí, dale", "make the button blue", "open the file again",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    with open(CASES, encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    with (
        tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder,
        Memory(build_demo(folder, utc_now()), "cli") as memory,
    ):
        print(
            f"{'':10}{'':6}{'held':>6}{'of':>5}{'as ask':>9}{'of':>5}{'for nothing':>13}{'of':>5}{'tokens':>8}{'ms':>7}"
        )
        for name in ("words", "meaning"):
            if name == "meaning":
                background_embedding.embed_waiting(memory)
            for half in (0, 1):
                row = _row(memory, cases[half::2], name == "meaning", options.show and not half)
                print(f"{name:10}{('dev', 'held')[half]:6}{row}")
            chatter = [text for text in CHATTER if _made(memory, text, name == "meaning").text]
            print(f"{name:10}{'chatter, for nothing':20}{len(chatter)} of {len(CHATTER)}")
            if options.show:
                print(*chatter, sep="\n")


def _made(memory: Memory, prompt: str, meaning: bool) -> Pack:
    return build_prompt_pack(memory, "bench", "", prompt, meaning=meaning)


def _row(memory: Memory, cases: list[dict[str, Any]], meaning: bool, show: bool) -> str:
    held = wanted = as_ask = asked = nothing = silent = 0
    tokens, times = [], []
    librarian = Librarian(memory)
    for case in cases:
        start = time.perf_counter()
        made = _made(memory, case["ask"], meaning)
        times.append((time.perf_counter() - start) * 1000)
        records = lookup.find_records(memory.database, map(parse_citation, made.citations))
        texts = [" ".join(str(getattr(one, field.name)) for field in fields(one)) for one in records]
        if not case["on"]:
            silent += 1
            nothing += bool(made.text)
            continue
        tokens.append(made.tokens)
        wanted += 1
        found = any(part in text for part in case["on"] for text in texts)
        held += found
        answer = librarian.ask(case["ask"])
        cited = [one for one in answer.citations if one.startswith(("D#", "F#"))]
        if cited and answer.exact and not (answer.nothing or answer.filter or answer.asked.asks_history):
            asked += 1
            there = bool(set(cited) & set(made.citations))
            as_ask += there
            if show and not there:
                print(f"  not as ask ({cited}): {case['ask']}  → {made.citations}")
        elif show and not found:
            print(f"  missed: {case['ask']}  → {made.citations}")
    return (
        f"{held:6}{wanted:5}{as_ask:9}{asked:5}{nothing:13}{silent:5}{statistics.median(tokens):8.0f}"
        f"{statistics.median(times):7.1f}"
    )


if __name__ == "__main__":
    main()
