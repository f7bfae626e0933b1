"""Prompts of the tasks: one TOML file a language, loaded at first use."""

import os
from collections.abc import Sequence
from typing import Any

from store.llm.chat import Message
from store.llm.structured_output import numbered
from store.text.fence import harmless
from store.text.language import language
from store.text.vocabulary import whole_file

USUAL = "es"  # for a text of unknown language, which is rarely English


def prompt(task: str, text: str) -> list[Message]:
    """Return the messages before the question: the instructions and an example, in the language of the text."""
    return [(role, message) for role, message in _texts(text)[task]]


def beside(name: str, text: str, texts: Sequence[str]) -> str:
    """Return a text on one line after a label in its language, "Question: …", and below it numbered texts."""
    return f"{_texts(text)['labels'][name]}: {' '.join(harmless(text).split())}\n{numbered(texts)}"


def _texts(text: str) -> dict[str, Any]:
    return whole_file(os.path.dirname(__file__), language(text) or USUAL)
