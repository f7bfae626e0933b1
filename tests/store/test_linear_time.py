"""Whatever somebody pastes, reading it takes time in proportion: no pattern goes over a run again and again.

A child reads each text with a limit that a reading in proportion stays far below, and one that is not goes far beyond:
quadratic at 8,000 characters is 25 times what it is at 1,600; `pytest -m faults` takes 40,000.
"""

import subprocess
import sys
from pathlib import Path

import pytest

PARTS = 7  # that are read beside each other; one of them in an ordinary run
CHILD = (
    f"PARTS = {PARTS}"
    + """
import resource, sys, time, tomllib
from store.learning.rules import extract_by_rule as extract
from store.learning import rules as confirming
from store.learning.sentences import QuotedSpans, split_own_sentences as sentences
from store.learning.tasks import decision_by_rule as by_rule
from store.text.sentences import extract_statements as statements, find_sentence_spans as spans
from store.text.sentences import is_small_talk as small_talk
from store.conversations.summaries import states_decision as decides
from store.ingest.formats import split_program_text as without_told, parse_claude_line as read
from store.redaction.redactor import find_secrets as findings
from store.redaction.rules import load_families
from store.ingest import formats as plain
from store.text.dates import find_period as period
from store.conversations.turns import why_topic_changes as shift
from store.tools.source import FoundMemory
from store.tools.machine_scan import find_memory_pairs as pairs
from store.text.fence import has_reader_instructions as instructs, is_order_to_reader as orders
from store.tools import memory_readers, source

def claude(text):
    return read({"type": "user", "sessionId": "s", "message": {"content": text}})

def short_ones(text):
    small_talk(text[:90])
    small_talk(text)
    plain.parse_turn_start(text)
    plain.fence_after_line(text, "")

def notes(text):
    source.parse_front_matter("---\\n" + text)
    source.prose_paragraphs(text)
    for bullet in source.parse_bullets("- " + text):
        memory_readers.split_observation(bullet.text)
        memory_readers._RELATION.fullmatch(bullet.text)
    memory_readers.obsidian_markdown(text)

def compare(text):
    known = confirming.ComparedText("We use uv here")
    return [confirming.judge_text(confirming.text_to_compare(one), known) for one in sentences(text)]

def scanned(text):
    return pairs([FoundMemory(text, "a.md"), FoundMemory(f"{text} not", "b.md")])

READERS = {
    "orders": orders, "instructs": instructs, "pairs": scanned, "decision": by_rule,
    "marks": QuotedSpans, "ends": lambda text: list(spans(text)),
    "statements": statements, "decides": decides,
    "extract": lambda text: extract("user", text), "claude": claude, "compare": compare,
    "period": lambda text: period(text, "2026-11-21T12:00:00.000Z"),
    "notes": notes, "topic": lambda text: shift(text, "The test of the function fails."),
    "small talk and roles": short_ones,
}
RUNS = tomllib.load(sys.stdin.buffer)["runs"]
AROUND = ("{}", "a\\n{}\\nb", "ok\\n\\n{}x", "Recordá que {}", "hola {}j", "Look at this:\\n{}")
LEAST = 0.02  # seconds, below which nothing is told
SIZES = (4_000, 40_000) if sys.argv[2:] else (1_600, 8_000)
ABOVE = 2.4 * SIZES[1] / SIZES[0]  # times as long: in proportion it takes five or ten, in squares 25 or a hundred

def seconds(reader, text):
    start = time.process_time()
    reader(text)
    return time.process_time() - start

def compare_sizes(what, reader, short, long):
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + 20, -1))
    print(what, flush=True)
    if seconds(reader, short) < 2 and (first := seconds(reader, long)) > LEAST:
        before = min(seconds(reader, short) for _ in range(3))
        if min(first, seconds(reader, long)) > ABOVE * max(LEAST / 8, before):
            sys.exit(f"{what}: {first:.2f} s")

for number, run in [*enumerate(RUNS)][int(sys.argv[1]) :: PARTS]:
    for around in AROUND if sys.argv[2:] else (AROUND[number % len(AROUND)],):
        short, long = (around.format(run * (size // len(run))) for size in SIZES)
        for name, reader in READERS.items():
            compare_sizes(f"{name} of {run!r} in {around!r}", reader, short, long)
KEYWORDS = sorted({keyword for family in load_families() for keyword in (family.keywords[0], family.keywords[-1])})
TAILS = ("", " ", "=", ": a ", "a1-", "='", " is ", "://a:", " -p ", ">", "1/")  # what the patterns go on with
SECRETS = [(number, keyword + TAILS[number % len(TAILS)]) for number, keyword in enumerate(KEYWORDS)]
SECRETS += [(number, tail + around) for number, tail in enumerate(TAILS) for around in ("password", "a1b2C3", "aB")]
for number, run in SECRETS[int(sys.argv[1]) :: PARTS]:
    for tail in TAILS if sys.argv[2:] else (TAILS[number % len(TAILS)],):
        short, long = (tail + run * (size // len(run)) + tail for size in (SIZES[0] // 2, SIZES[1] // 2))
        compare_sizes(f"secrets in {run!r} after {tail!r}", findings, short, long)
for letters in ("ja" * 44 + "x", "je" * 40, "ha" * 32 + "h", "gracias" * 12, "hola " * 17 + "x", " ," * 44 + "x"):
    print("small talk", letters, flush=True)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + 5, -1))
    small_talk(letters)
print("done")
"""
)


def read(*words: str) -> None:
    runs = Path(__file__).with_name("linear_time.toml").read_text(encoding="utf-8")
    child = subprocess.run([sys.executable, "-c", CHILD, *words], input=runs, capture_output=True, text=True)
    last = child.stdout.strip().splitlines()[-1:]
    assert (child.stderr, last) == ("", ["done"]), "it stopped at the text named last"


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.whole) for part in range(1, PARTS))])
def test_no_run_of_characters_takes_more_than_its_share(part: int) -> None:
    read(str(part))


@pytest.mark.faults
@pytest.mark.parametrize("part", range(PARTS))
def test_nor_does_it_whatever_stands_around_it(part: int) -> None:
    read(str(part), "all")
