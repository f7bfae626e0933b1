"""Prompts of the tasks: one TOML file a language, loaded at first use."""

import os
from typing import Any

from store.llm.chat import Message
from store.text.language import language
from store.text.vocabulary import whole_file

USUAL = "es"  # for a text of unknown language, which is rarely English


def prompt(task: str, text: str) -> list[Message]:
    """Return the messages before the question: the instructions and an example, in the language of the text."""
    return [(role, message) for role, message in _texts(text)[task]]


def labelled(name: str, text: str) -> str:
    """Return a text on one line after a label in its language: "Question: …"."""
    return f"{_texts(text)['labels'][name]}: {text}"


def _texts(text: str) -> dict[str, Any]:
    return whole_file(os.path.dirname(__file__), language(text) or USUAL)
