"""Load conversations and questions with known answers from a folder of the user; no such data is in this repository.

LoCoMo (a list of conversations, each with its `qa`), XQuAD (`en*.json`, `es*.json`: the same paragraphs and questions
in both languages) and BEAM (a folder with `chat.json` and `probing_questions.json` for each chat) are recognised by
their structure, anywhere below the folder; and so are git repositories with a list of changes that names the pull
requests which their commits name too."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

MULTI_HOP, TEMPORAL, OPEN, SINGLE_HOP, ADVERSARIAL = 1, 2, 3, 4, 5
CATEGORIES = {MULTI_HOP: "multi-hop", TEMPORAL: "temporal", OPEN: "open-domain", SINGLE_HOP: "single-hop"}
_SPOKEN = "%I:%M %p on %d %B, %Y"


class Spoken(NamedTuple):
    """One turn of a conversation; questions cite it by `name`."""

    name: str
    session: str
    speaker: str
    text: str
    at: str


class Asked(NamedTuple):
    """A question, the names of the turns that answer it, and its category."""

    text: str
    evidence: tuple[str, ...]
    category: int


class Dialogue(NamedTuple):
    """A conversation and its questions."""

    name: str
    turns: list[Spoken]
    questions: list[Asked]


class Reading(NamedTuple):
    """Paragraphs in one language, and questions with the number of the paragraph that answers each."""

    language: str
    paragraphs: list[str]
    questions: list[tuple[str, int]]


def need(folder: str | None, what: str) -> str:
    """Return the folder of --data; end the program with a sentence and status 3 if there is none."""
    if folder and os.path.isdir(folder):
        return folder
    print(f"Not measured: {what} needs a folder of conversations, --data DIR.", file=sys.stderr)
    raise SystemExit(3)


def _files(folder: str) -> list[str]:
    return sorted(
        os.path.join(place, name)
        for place, _, names in os.walk(folder)
        for name in names
        if name.endswith(".json")
    )


def dialogues(folder: str) -> list[Dialogue]:
    """Return every LoCoMo conversation below the folder; a turn's name is `number of the conversation:dia_id`."""
    found: list[Dialogue] = []
    for path in _files(folder):
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        if isinstance(content, list) and content and isinstance(content[0], dict) and "conversation" in content[0]:
            found += [_dialogue(one, f"{len(found) + place}") for place, one in enumerate(content)]
    return found


def _dialogue(content: dict[str, Any], name: str) -> Dialogue:
    spoken = content["conversation"]
    numbers = sorted(int(match[1]) for key in spoken if (match := re.fullmatch(r"session_(\d+)", key)))
    turns = [
        Spoken(
            f"{name}:{turn['dia_id']}",
            f"{name}/{number}",
            turn["speaker"],
            turn["text"],
            datetime.strptime(spoken[f"session_{number}_date_time"], _SPOKEN).isoformat(),
        )
        for number in numbers
        for turn in spoken[f"session_{number}"]
        if turn["text"].strip()
    ]
    there = {turn.name for turn in turns}
    questions = []
    for asked in content["qa"]:
        cited = [f"{name}:{one}" for text in asked.get("evidence", ()) for one in re.findall(r"D\d+:\d+", text)]
        evidence = tuple(dict.fromkeys(one for one in cited if one in there))
        if asked["category"] == ADVERSARIAL or evidence:
            questions.append(Asked(asked["question"], evidence, asked["category"]))
    return Dialogue(name, turns, questions)


def readings(folder: str) -> list[Reading]:
    """Return XQuAD in the available languages."""
    found = []
    for path in _files(folder):
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        if not isinstance(content, dict) or "data" not in content:
            continue
        paragraphs: list[str] = []
        questions = []
        for article in content["data"]:
            for paragraph in article["paragraphs"]:
                questions += [(asked["question"], len(paragraphs)) for asked in paragraph["qas"]]
                paragraphs.append(paragraph["context"])
        found.append(Reading(os.path.basename(path)[:2], paragraphs, questions))
    return found


def recall(found: Sequence[str], wanted: Sequence[str], depth: int) -> float:
    """Return the share of the wanted items among the first `depth` found."""
    return len(set(found[:depth]) & set(wanted)) / len(wanted)


class Chat(NamedTuple):
    """A chat with an assistant: turns as (name, session, role, text, at), and (question, kind, names of the turns that
    answer it)."""

    name: str
    turns: list[tuple[str, str, str, str, str]]
    questions: list[tuple[str, str, tuple[str, ...]]]


def chats(folder: str) -> list[Chat]:
    """Return every BEAM chat below the folder; a turn's name is `chat:id`."""
    found = []
    for path in _files(folder):
        place = os.path.dirname(path)
        asked = os.path.join(place, "probing_questions.json")
        if os.path.basename(path) == "chat.json" and os.path.exists(asked):
            with open(path, encoding="utf-8") as file, open(asked, encoding="utf-8") as questions:
                found.append(_chat(os.path.basename(place), json.load(file), json.load(questions)))
    return found


def _chat(name: str, batches: list[dict[str, Any]], asked: dict[str, list[dict[str, Any]]]) -> Chat:
    turns = []
    at = ""
    for batch in batches:
        for said in (one for pair in batch["turns"] for one in pair):
            if anchor := said.get("time_anchor"):
                at = datetime.strptime(anchor, "%B-%d-%Y").isoformat()
            text = re.sub(r"\s*->->\s*[\d,\s]*$", "", said["content"])  # the data's numbers of messages
            turns.append((f"{name}:{said['id']}", f"{name}/{batch['batch_number']}", said["role"], text, at))
    questions = [
        (one["question"], kind, tuple(f"{name}:{id}" for id in sorted(set(_numbers(one.get("source_chat_ids"))))))
        for kind, ones in asked.items()
        for one in ones
    ]
    return Chat(name, turns, questions)


def _numbers(value: object) -> list[int]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for one in value for number in _numbers(one)]
    return [value] if isinstance(value, int) else []


LISTS = (
    "CHANGELOG.md",
    "CHANGES.md",
    "HISTORY.md",
    "docs/release-notes.md",
    "docs/community/release-notes.md",
)  # where projects tell their users what changed
ENTRIES = 150  # maximum of a repository
_PULL = re.compile(r"#(\d+)")


class ChangeLog(NamedTuple):
    """A git repository, and what its list of changes says: (text, hashes of the commits that did it)."""

    name: str
    root: str
    entries: list[tuple[str, tuple[str, ...]]]


def change_logs(folder: str) -> list[ChangeLog]:
    """Return every git repository directly in a folder below this one that has a list of changes. An entry is what
    maintainers told their users, in other words than the commits whose pull request it names."""
    found = []
    for place, folders, _ in sorted(os.walk(folder)):
        if ".git" in folders:
            folders.clear()
            told = next((text for name in LISTS if (text := _git(place, "show", f"HEAD:{name}"))), "")
            if entries := _entries(told, _git(place, "log", "--format=%H%x00%B%x01", "HEAD")):
                found.append(ChangeLog(os.path.basename(place), place, entries))
    return found


def _entries(told: str, log: str) -> list[tuple[str, tuple[str, ...]]]:
    done: dict[str, list[str]] = {}
    for commit in log.split("\x01"):
        sha, _, message = commit.strip().partition("\0")
        subject = " ".join(message.splitlines()[:1])
        for one, other in set(re.findall(r"\(#(\d+)\)|Merge pull request #(\d+)", subject)):
            done.setdefault(one or other, []).append(sha)
    entries = []
    for bullet in re.findall(r"^[*-] (.+(?:\n  .+)*)", told, re.MULTILINE):
        shas = [sha for number in _PULL.findall(bullet) for sha in done.get(number, ())]
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", " ".join(bullet.split()))
        text = re.sub(r"\([^()]*#\d+[^()]*\)|#\d+|\bby @?\w+|`", "", text).strip(" .,")
        if shas and len(text.split()) > 3:
            entries.append((text, tuple(dict.fromkeys(shas))))
    return random.Random(3).sample(entries, min(ENTRIES, len(entries)))


def _git(root: str, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
