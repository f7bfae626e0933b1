"""Requests to remember: how many are kept, by phrasing, and what is kept that nobody asked for.

    python -m bench.requests [--show] [--half dev|dev2|held]

The cases were written by people who do not know the rules. The rules are tuned on `dev` and `dev2`, and evaluated on
`held`. `--show` prints the failures, never those of `held`.

Each case is a turn of a user (after one of the assistant, if the case has one) in a new memory, read by rule. *fact*
and *proposal* count the turns from which something was kept, *dropped* those from which nothing was. *covered* counts
expected items (`items`) contained in one of the kept texts, each in another; *exact*, those equal to one. Of questions
and of turns without a request, *false facts* and *false proposals* count the turns that left one."""

import argparse
import json
import os
import sys
import tempfile
from collections import Counter

from store.conversations.turns import NewTurn
from store.database.tombstones import normal_form
from store.learning import rule_pass
from store.memory import Memory

CASES = os.path.join(os.path.dirname(__file__), "cases", "requests-{}.jsonl")
HALVES = ("dev", "dev2", "held")
KEEP = ("request", "several", "correction", "confirmation")
NOTHING = ("question", "none")
LANGUAGES = ("en", "es")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.requests", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--show", action="store_true", help="print what went wrong, never of the part held back")
    parser.add_argument("--half", choices=HALVES, help="read this part alone")
    options = parser.parse_args()
    os.environ["MEMORANDA_WITHOUT"] = "model"
    for half in [options.half] if options.half else HALVES:
        with open(CASES.format(half), encoding="utf-8") as file:
            cases = [json.loads(line) for line in file]
        print(table(half, cases, options.show and half != "held"))
    return 0


def table(half: str, cases: list[dict], show: bool = False) -> str:
    """Return the table of what was kept of these cases, by kind and language."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for case in cases:
        facts, proposals = kept(case)
        counted = judged(case, facts, proposals)
        for language in (case["lang"], "all"):
            counts.setdefault((case["kind"], language), Counter()).update(counted)
            counts.setdefault(("to keep" if case["kind"] in KEEP else "nothing", language), Counter()).update(
                counted
            )
        wrong = counted["dropped"] or counted["covered"] < counted["items"] or counted["false"]
        if show and wrong:
            print(f"  {case['id']} {case['kind']} {case['text']!r}\n    wanted {case['keep']}")
            print(f"    facts {facts}, proposals {proposals}")
    lines = [
        f"{half:22}{'turns':>6}{'fact':>6}{'proposal':>9}{'dropped':>8}{'items':>6}{'covered':>8}{'exact':>6}"
    ]
    for kind in (*KEEP, "to keep"):
        for language in (*LANGUAGES, "all"):
            count = counts.get((kind, language), Counter())
            lines.append(
                f"{kind:14}{language:8}{count['turns']:6}{count['fact']:6}{count['proposal']:9}{count['dropped']:8}"
                f"{count['items']:6}{count['covered']:8}{count['exact']:6}"
            )
    lines.append(f"{'':22}{'turns':>6}{'false facts':>12}{'false proposals':>16}")
    for kind in (*NOTHING, "nothing"):
        for language in (*LANGUAGES, "all"):
            count = counts.get((kind, language), Counter())
            lines.append(f"{kind:14}{language:8}{count['turns']:6}{count['fact']:12}{count['proposal']:16}")
    return "\n".join(lines) + "\n"


def kept(case: dict) -> tuple[list[str], list[str]]:
    """Return (the facts, the proposals) that a case leaves in a new memory."""
    with tempfile.TemporaryDirectory() as folder, Memory.open(os.path.join(folder, "memory.db")) as memory:
        said = [NewTurn("assistant", case["previous"])] if case.get("previous") else []
        memory.turns.add_turns("case", [*said, NewTurn("user", case["text"])])
        rule_pass.run_rule_pass(memory)
        facts = [fact.fact for fact in memory.facts.get_many(sorted(memory.facts.ids(memory.now)))]
        return facts, [one.text for one in memory.inbox.waiting()]


def judged(case: dict, facts: list[str], proposals: list[str]) -> Counter[str]:
    """Return the counts of a case."""
    texts = [_plain(text) for text in (*facts, *proposals)]
    items = [_plain(text) for text in case["keep"]]
    free, covered = list(texts), 0
    for item in items:
        holder = next((text for text in free if text == item), None)
        holder = holder or next((text for text in free if item in text), None)
        if holder:
            free.remove(holder)
            covered += 1
    to_keep = case["kind"] in KEEP
    return Counter(
        turns=1,
        fact=bool(facts),
        proposal=bool(proposals and not facts) if to_keep else bool(proposals),
        dropped=to_keep and not texts,
        false=not to_keep and bool(texts),
        items=len(items),
        covered=covered,
        exact=sum(item in texts for item in items),
    )


def _plain(text: str) -> str:
    """Normalise a text for comparison: without capitals and without punctuation at its ends."""
    return normal_form(text).strip(".!?;,:… \"'").casefold()


if __name__ == "__main__":
    sys.exit(main())
