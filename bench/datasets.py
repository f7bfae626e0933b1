"""Load conversations and questions with known answers from a folder of the user; no such data is in this repository.

LoCoMo (a list of conversations, each with its `qa`) and XQuAD (`en*.json`, `es*.json`: the same paragraphs and
questions in both languages) are recognised by their structure, anywhere below the folder."""

from __future__ import annotations

import json
import os
import re
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
        os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if name.endswith(".json")
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
