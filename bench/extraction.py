"""Extraction: how many facts of 250 turns are found by rule, how many are false, and the effect of repetitions.

    python -m bench.extraction [--show] [--chat FILE] [--facts 10000]

The cases of `bench/cases/extraction.jsonl` were written before the rules and split by a hash of their text: the rules
are tuned on one half, `dev`, and evaluated on the other, `held`. The third part, `later`, was written after the rules,
in the manner of people at work; at first 18 of its 21 facts were found, and 5 false ones, before the rules were
corrected by it. `--show` prints the failures, never those of the held-out half. `--chat` reads a LoCoMo file, small
talk of friends in which nobody asks to remember anything: almost everything found there is false.

Facts: *found* are those of the expected text, *false* those remembered wrongly, *asked* those put to the user wrongly,
which costs a key and stores nothing. Repetitions: *wrong* are confirmations of what was not repeated; *missed* are
questions, or nothing, instead of a confirmation or a question.

Speed: all these turns are read into a memory with so many facts, by keywords alone."""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter

from store.conversations.turns import NewTurn
from store.database.tombstones import normal_form
from store.database.values import Json
from store.learning import rule_pass
from store.learning.rules import (
    CONFIRM_FACT,
    NO_VERDICT,
    PROPOSE_FACT,
    ComparedText,
    extract_by_rule,
    judge_text,
    text_to_compare,
)
from store.learning.sentences import split_own_sentences
from store.memory import Memory
from store.records.facts import insert_fact

CASES = os.path.join(os.path.dirname(__file__), "cases", "extraction.jsonl")
FACTS = 10_000
RANK = ("none", "propose", "supersede", "confirm")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.extraction", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--show", action="store_true", help="print what went wrong in the half the rules are made with"
    )
    parser.add_argument("--chat", metavar="FILE", help="a LoCoMo file")
    parser.add_argument("--facts", type=int, default=FACTS, help="that are known, for the speed (%(default)s)")
    options = parser.parse_args()
    show = options.show
    with open(CASES, encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    print(f"{'':6}{'turns':>7}{'facts':>7}{'found':>7}{'false':>7}{'asked':>7}{'domain':>9}{'confidence':>12}")
    for split in ("dev", "held", "later"):
        print(_extracted(split, [case for case in cases if case["split"] == split], show and split != "held"))
    print(f"\n{'':6}{'said':>7}{'right':>7}{'wrong':>7}{'missed':>7}")
    for split in ("dev", "held"):
        print(_repeated(split, [case for case in cases if case["split"] == split], show and split != "held"))
    if options.chat:
        print(_chatted(options.chat))
    print(_speed([case["text"] for case in cases], options.facts))
    return 0


def verdicts(text: str, fact: str) -> list[str]:
    """Return what each sentence of a turn does to a fact, by rule (a verdict of `judge_text`)."""
    found = []
    for sentence in split_own_sentences(text):
        verdict = NO_VERDICT if sentence.question else judge_text(text_to_compare(sentence), ComparedText(fact))
        found.append(PROPOSE_FACT if verdict == CONFIRM_FACT and sentence.doubt else verdict)
    return found


def _extracted(split: str, cases: list[dict], show: bool) -> str:
    count = Counter[str]()
    turns = [case for case in cases if case["kind"] != "reconfirm"]
    for case in turns:
        wanted = {normal_form(fact["text"]): fact for fact in case["facts"]}
        found = {normal_form(one.text): one for one in extract_by_rule(case["role"], case["text"])}
        count["facts"] += len(wanted)
        for text, one in found.items():
            fact = wanted.get(text)
            active = one.explicit
            if fact is None or (active and fact["how"] == "proposed"):
                count["false" if active else "asked"] += 1
            if fact is not None and active == (fact["how"] == "active"):
                count["found"] += 1
                count["domain"] += one.domain == fact["domain"]
                count["confidence"] += one.confidence == fact["confidence"]
        told = [
            (one.text, one.domain, one.confidence, "active" if one.explicit else "proposed")
            for one in found.values()
        ]
        if show and told != [tuple(fact.values()) for fact in case["facts"]]:
            print(f"  {case['kind']} {case['text'][:100]!r}\n    wanted {case['facts']}\n    found  {told}")
    return (
        f"{split:6}{len(turns):7}{count['facts']:7}{count['found']:7}{count['false']:7}{count['asked']:7}"
        f"{count['domain']:9}{count['confidence']:12}"
    )


def _repeated(split: str, cases: list[dict], show: bool) -> str:
    count = Counter[str]()
    pairs = [case for case in cases if case["kind"] == "reconfirm"]
    for case in pairs:
        got = max(verdicts(case["text"], case["fact"]), key=RANK.index, default="none")
        outcome = "right" if got == case["verdict"] else "wrong" if got == "confirm" else "missed"
        count[outcome] += 1
        if show and outcome != "right":
            print(f"  {case['fact']!r} / {case['text']!r}: {got}, not {case['verdict']}")
    return f"{split:6}{len(pairs):7}{count['right']:7}{count['wrong']:7}{count['missed']:7}"


def _chatted(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        talks = json.load(file)
    turns = [
        turn["text"]
        for talk in talks
        for name, session in talk["conversation"].items()
        if name.startswith("session_") and isinstance(session, list)
        for turn in session
    ]
    found = [one for text in turns for one in extract_by_rule("user", text)]
    active = sum(one.explicit for one in found)
    return f"\nchat: {len(turns):,} turns, {active} remembered, {len(found) - active} asked about"


def _speed(said: list[str], facts: int) -> str:
    os.environ["MEMORANDA_WITHOUT"] = "model"
    dice = random.Random(7)
    words = [word for text in said for word in text.split()]
    with tempfile.TemporaryDirectory() as folder, Memory.open(os.path.join(folder, "memory.db")) as memory:
        with memory.database.write("user", "fill") as write:
            for number in range(facts):
                insert_fact(
                    write,
                    " ".join(dice.choices(words, k=9)) + f" {number}",
                    domain="general",
                    confidence="high",
                    source="explicit",
                    scope="project",
                    importance=0.5,
                    pinned=0,
                    origin="user",
                    evidence=Json([]),
                    tags=Json([]),
                )
        for place in range(0, len(said), 50):
            memory.turns.add_turns("bench", [NewTurn("user", text) for text in said[place : place + 50]])
        start = time.perf_counter()
        done = rule_pass.run_rule_pass(memory)
        took = time.perf_counter() - start
    learned = done.learned
    return (
        f"\nspeed: {len(said)} turns beside {facts:,} facts in {took:.2f} s, {1000 * took / len(said):.1f} ms a turn;"
        f" {len(learned.facts)} facts, {len(learned.proposed)} questions, {done.failed} failed"
    )


if __name__ == "__main__":
    sys.exit(main())
