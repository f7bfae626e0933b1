"""How often each kind of finding of a scan is right: on public repositories, on pairs a person judged, on seeds.

    python -m bench.scan_precision [--repositories FOLDER] [--old 400]

A line for each kind and data: how many are labelled, found, right. Aim: a precision of .9, on 200 labelled or more.

- Public repositories: FOLDER has a clone of each repository that bench/cases/scan.jsonl names, called `owner+name`; the
  commit that is named there is checked out beside it. Their bullets are read as a scan reads a folder of Markdown. Two
  bullets with the same letters are a duplicate; those that differ are labelled in the file, by a person who read them.
  A file that a bullet names is missing if the commit's tree has none that ends so. One bullet has a key in clear, and
  none orders an agent about; in files that are no agent's no contradiction is to be reported.
- Files of this repository's documents: today's, in which every file that they name is there, and those of a commit
  `--old` commits ago, where what is not in the tree any more is missing.
- Pairs a person judged (tests/support/likeness.py), and seeded texts (bench/scan_seeds.py): written by us."""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

from bench.scan import ROOT, git, repository
from bench.scan_seeds import Group, contradictions, duplicates, orders
from bench.store import heading
from store.base.clock import to_ms, utc_now
from store.tools.machine_scan import (
    _check_texts,
    _find_cross_project,
    _find_dead_links,
    find_memory_pairs,
    find_missing_references,
    paths_mentioned,
)
from store.tools.memory_readers import parse_markdown_notes
from store.tools.source import FoundMemory
from store.tools.transcript_scan import (
    DAY_SECONDS,
    find_expiring,
)

sys.path.insert(0, os.path.join(ROOT, "tests"))

PRECISION = 0.9
LABELS = Path(ROOT, "bench", "cases", "scan.jsonl")
Row = tuple[str, str, int, int, int, int]
"""kind, data, found, right, how many there are, labelled"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", default="", metavar="FOLDER")
    parser.add_argument("--old", type=int, default=400)
    options = parser.parse_args(arguments)
    heading("scan_precision", "labelled findings")
    print(f"{'kind':18} {'data':44} {'labelled':>8} {'found':>6} {'right':>6}  precision  recall")
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        for kind, data, found, right, there, labelled in _judged(folder, options.old, options.repositories):
            if not found:
                print(f"{kind:18} {data:44} {labelled:8,} {found:6,}     none found, of {there:,}", flush=True)
                continue
            share = right / found
            print(f"{kind:18} {data:44} {labelled:8,} {found:6,} {right:6,}  {share:9.3f}  {right / max(1, there):6.3f}"
                  f"  {'reached' if share >= PRECISION else 'MISSED'}", flush=True)  # fmt: skip
    if not options.repositories:
        print(
            "\nPublic repositories were not read: clone those of bench/cases/scan.jsonl, and name --repositories."
        )
    return 0


def _judged(folder: str, old: int, repositories: str) -> Iterator[Row]:
    if repositories:
        yield from _public(repositories, folder)
    yield from _pairs()
    yield from _files(old)
    yield from _groups()
    project, other = os.path.join(folder, "one"), os.path.join(folder, "two")
    repository(project)
    yield from _seeded(project, other)
    yield _dead(folder)
    yield _deleted(folder)


# public repositories


def _public(repositories: str, folder: str) -> Iterator[Row]:
    """Judge what is found in the bullets of each repository, and add it up."""
    labels = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    found: dict[str, list[int]] = {
        kind: [0, 0, 0, 0] for kind in ("duplicate", "contradiction", "missing-file", "secret", "instruction")
    }
    for name, commit in sorted({(one["repository"], one["commit"]) for one in labels}):
        source, place = (
            os.path.join(repositories, name.replace("/", "+")),
            os.path.join(folder, name.replace("/", "+")),
        )
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", source, place], check=True)
        git(place, "checkout", "-q", commit)
        judged = {
            (one["path"], one["line"], one["other"]): one["right"] for one in labels if one["repository"] == name
        }
        memories = _bullets(place)
        texts = {(one.path, one.line): _letters(one.text) for one in memories}
        for kind, right in _right(memories, judged, texts):
            counts = found[kind]
            counts[0] += 1
            counts[1] += right
            counts[3] += 1
        tree = git(place, "ls-tree", "-r", "--name-only", commit).split("\n")
        _, _, hits, right, there, labelled = referred("", [one.text for one in memories], place, set(tree))
        found["missing-file"] = [
            sum(pair) for pair in zip(found["missing-file"], (hits, right, there, labelled), strict=True)
        ]
        texts_found = _check_texts(memories)
        for kind in ("secret", "instruction"):
            hits = [one for one in texts_found if one.kind == kind]
            found[kind][0] += len(hits)
            found[kind][1] += sum(judged.get((one.path, one.line, ""), False) for one in hits)
            found[kind][3] += len(memories)
    for kind, (hits, right, there, labelled) in found.items():
        yield kind, "bullets of four public repositories", hits, right, there or right, labelled


def _bullets(place: str) -> list[FoundMemory]:
    found = []
    for name in git(place, "ls-files", "-z", "*.md").split("\0"):
        path = os.path.join(place, name)
        if name and os.path.isfile(path) and not os.path.islink(path):
            text = Path(path).read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
            found += [one for one in parse_markdown_notes(name, text) if isinstance(one, FoundMemory)]
    return found


def _right(
    memories: list[FoundMemory], judged: dict[tuple[str, int, str], bool], texts: dict[tuple[str, int], str]
) -> Iterator[tuple[str, bool]]:
    for one in find_memory_pairs(memories, {memory.path for memory in memories}):
        path, _, line = one.other.rpartition(":")
        same = texts[one.path, one.line] == texts[path, int(line)]
        yield one.kind, one.kind == "duplicate" and (same or judged.get((one.path, one.line, one.other), False))


def _letters(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


# pairs, files


def _pairs() -> Iterator[Row]:
    from support.likeness import BY_MEANING, DEVELOPED, HELD

    from store.embedding.model_registry import read_texts

    paraphrases, unrelated = read_texts()

    apart = [(one, other, "apart") for one, other in combinations(unrelated, 2)]
    rest = [*BY_MEANING, *((one, other, "same") for one, other in paraphrases), *apart[:200]]
    for data, several in (
        ("pairs judged by a person, developed on", DEVELOPED),
        ("the same, held out", HELD),
        ("by meaning, paraphrases, unrelated", rest),
    ):
        for kind, label in (("duplicate", "same"), ("contradiction", "contradicts")):
            groups: list[Group] = [
                ([one, other], {(0, 1)} if says == label else set()) for one, other, says, *_ in several
            ]
            yield _grouped(kind, data, groups)


def _groups() -> Iterator[Row]:
    yield _grouped("duplicate", "seeded, most of them only look like it", duplicates())
    yield _grouped("contradiction", "seeded, most of them only look like it", contradictions())


def _grouped(kind: str, data: str, groups: Iterable[Group]) -> Row:
    found = right = there = labelled = 0
    for texts, true in groups:
        hits = {
            (int(one.other.rpartition(":")[2]), one.line)
            for one in find_memory_pairs([memory(text, "", place) for place, text in enumerate(texts)])
            if one.kind == kind
        }
        found += len(hits)
        right += len(hits & true)
        there += len(true)
        labelled += len(texts) * (len(texts) - 1) // 2
    return kind, data, found, right, there, labelled


def _files(old: int) -> Iterator[Row]:
    documents = [name for name in git(ROOT, "ls-files", "*.md").split("\n") if name and "tests/" not in name]
    tree = set(git(ROOT, "ls-files").split("\n"))
    now = [line for name in documents for line in git(ROOT, "show", f"HEAD:{name}").split("\n")]
    yield referred("documents of this repository, today", now, ROOT, tree)
    total = int(git(ROOT, "rev-list", "--count", "HEAD"))
    commit = git(ROOT, "rev-list", "-1", f"--skip={min(old, total - 1)}", "HEAD").strip()
    names = [
        name for name in git(ROOT, "ls-tree", "-r", "--name-only", commit).split("\n") if name.endswith(".md")
    ]
    then = [
        line
        for name in names
        if "tests/" not in name
        for line in git(ROOT, "show", f"{commit}:{name}").split("\n")
    ]
    yield referred(f"the same, {min(old, total - 1)} commits ago", then, ROOT, tree)


def referred(data: str, texts: Sequence[str], place: str, tree: set[str]) -> Row:
    """Judge the files that texts name with a folder: what the tree does not have is missing."""
    ends = {"/".join(path.split("/")[start:]) for path in tree for start in range(path.count("/") + 1)}
    findings = find_missing_references([memory(text, place, number) for number, text in enumerate(texts, 1)])
    hits = {(one.line, one.says.split(" ")[0]) for one in findings}
    found = right = there = labelled = 0
    for number, text in enumerate(texts, 1):
        for name in paths_mentioned(text):
            if "/" not in name:  # a bare name may be of any other place
                continue
            gone = name not in ends and not os.path.lexists(os.path.join(place, name))
            hit = (number, name) in hits
            labelled += 1
            there += gone
            found += hit
            right += hit and gone
    return "missing-file", data, found, right, there, labelled


# seeds


def _seeded(project: str, other: str) -> Iterator[Row]:
    def rate(kind: str, true: list[FoundMemory], false: list[FoundMemory]) -> Row:
        memories = [*true, *false]
        if kind == "missing-symbol":
            findings = find_missing_references(memories)
        else:
            findings = _find_cross_project([], memories) if kind == "bleed" else _check_texts(memories)
        hits = {one.line for one in findings if one.kind == kind}
        right = len(hits & {one.line for one in true})
        return kind, "seeded, half of them only look like it", len(hits), right, len(true), len(memories)

    numbered = range(100)
    yield rate(
        "missing-symbol",
        [memory(f"Call `work_number_{n + 100}x()` first.", project, n + 1) for n in range(40)],
        [memory(f"Call `work_number_{n}x()` first.", project, n + 101) for n in numbered]
        + [memory(f"Call `library_call_{n}()` first.", project, n + 301) for n in range(60)],
    )
    yield rate(
        "secret",
        [memory(f"The key is {_key(n)}, keep it.", project, n + 1) for n in numbered],
        [memory(f"The key {n} is in the vault, called AKIA-{n}; password rules are in docs.", project, n + 101)
         for n in numbered],
    )  # fmt: skip
    true, false = orders()
    yield rate(
        "instruction",
        [memory(text, project, n + 1) for n, text in enumerate(true)],
        [memory(text, project, n + 1001) for n, text in enumerate(false)],
    )
    yield rate(
        "bleed",
        [memory(f"The parser of {other}/app/f{n}.py is slow.", project, n + 1) for n in numbered],
        [memory(f"The parser of {project}/app/f{n}.py is slow, as {other}x/f{n}.py.", project, n + 101)
         for n in range(99)] + [memory("Here.", other, 999)],
    )  # fmt: skip


def _dead(folder: str) -> Row:
    """Judge the links of an index, half of them to files that are there."""
    place = Path(folder, "links", "memory")
    place.mkdir(parents=True)
    lines = ["# Memory Index", ""]
    for number in range(200):
        if number % 2:
            (place / f"m{number}.md").write_text("Here.\n", encoding="utf-8")
        lines.append(f"- [M{number}](m{number}.md) — see [the site](https://example.org/m{number}.md)")
    (place / "MEMORY.md").write_text("\n".join(lines), encoding="utf-8")
    hits = {one.line for one in _find_dead_links(str(place.parent))}
    right = len(hits & {number + 3 for number in range(0, 200, 2)})
    return "dead-link", "seeded, half of them lead to a file", len(hits), right, 100, 200


def _deleted(folder: str) -> Row:
    """Judge transcripts by their age: those of the last week before thirty days, and older ones, are deleted soon."""
    place, now = Path(folder, "ages"), to_ms(utc_now()) / 1000
    place.mkdir()
    for number in range(200):
        path = place / f"s{number:03}.jsonl"
        path.write_text("{}\n", encoding="utf-8")
        os.utime(path, (now - number * 46 / 200 * DAY_SECONDS - 60,) * 2)
    true = {f"s{number:03}.jsonl" for number in range(200) if 30 - (number * 46 / 200 + 60 / DAY_SECONDS) <= 7}
    hits = {os.path.basename(one.path) for one in find_expiring([str(place)], 30, now)}
    return "expiring", "seeded, of all ages to 46 days", len(hits), len(hits & true), len(true), 200


def memory(text: str, project: str = "", line: int = 1) -> FoundMemory:
    return FoundMemory(text, "m.md", line, project=project)


def _key(number: int) -> str:
    chance = random.Random(number)
    return "AKIA" + "".join(chance.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", k=16))


if __name__ == "__main__":
    sys.exit(main())
