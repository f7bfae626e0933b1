"""Extraction: how many of the facts in 150 turns are found by rule, how many are false, and what a repetition does.

    python -m bench.extraction [--show]

The cases of `bench/cases/extraction.jsonl` were written before the rules and parted by a hash of their text: the rules
are made with one half, `dev`, and the other, `held`, tells what they are worth. `--show` prints what went wrong in the
first half, never in the second.

Facts: *found* are those of the expected text, *false* what was remembered and should not have been, *asked* what was
wrongly put to the person, which costs a key and no truth. Repetitions: *wrong* are confirmations of what was not said
again; *missed* are questions, or nothing, in the place of a confirmation or a question.
"""

import argparse
import json
import os
import sys
from collections import Counter

from store.agent.confirming import compare
from store.agent.extraction import extract
from store.agent.voice import sentences
from store.tombstones import normal

CASES = os.path.join(os.path.dirname(__file__), "cases", "extraction.jsonl")
RANK = ("none", "propose", "supersede", "confirm")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.extraction", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--show", action="store_true", help="print what went wrong in the half the rules are made with")
    show = parser.parse_args().show
    with open(CASES, encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    print(f"{'':6}{'turns':>7}{'facts':>7}{'found':>7}{'false':>7}{'asked':>7}{'domain':>9}{'confidence':>12}")
    for split in ("dev", "held", "later"):
        print(_extracted(split, [case for case in cases if case["split"] == split], show and split != "held"))
    print(f"\n{'':6}{'said':>7}{'right':>7}{'wrong':>7}{'missed':>7}")
    for split in ("dev", "held"):
        print(_repeated(split, [case for case in cases if case["split"] == split], show and split != "held"))
    return 0


def _extracted(split: str, cases: list[dict], show: bool) -> str:
    count = Counter[str]()
    turns = [case for case in cases if case["kind"] != "reconfirm"]
    for case in turns:
        wanted = {normal(fact["text"]): fact for fact in case["facts"]}
        found = {normal(one.text): one for one in extract(case["role"], case["text"]).facts}
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
            (one.text, one.domain, one.confidence, "active" if one.explicit else "proposed") for one in found.values()
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
        verdicts = [compare(sentence, case["fact"]) for sentence in sentences(case["text"])]
        got = max(verdicts, key=RANK.index, default="none")
        outcome = "right" if got == case["verdict"] else "wrong" if got == "confirm" else "missed"
        count[outcome] += 1
        if show and outcome != "right":
            print(f"  {case['fact']!r} / {case['text']!r}: {got}, not {case['verdict']}")
    return f"{split:6}{len(pairs):7}{count['right']:7}{count['wrong']:7}{count['missed']:7}"


if __name__ == "__main__":
    sys.exit(main())
