"""What a model is told for each task: data, one TOML file a language, read when first asked for."""

import os
from typing import TYPE_CHECKING, Any

from store.text.language import language
from store.text.vocabulary import whole_file

if TYPE_CHECKING:
    from store.llm.chat import Message

USUAL = "es"  # for a text of no known language: it was hardly written in English


def prompt(task: str, text: str) -> "list[Message]":
    """Return the messages before the one that asks about a text, in its language: who the model is, and an example."""
    return [(role, message) for role, message in _texts(text)[task]]


def labelled(name: str, text: str) -> str:
    """Return a text on one line with a label before it, in its language: "Question: …"."""
    return f"{_texts(text)['labels'][name]}: {text}"


def _texts(text: str) -> dict[str, Any]:
    return whole_file(os.path.dirname(__file__), language(text) or USUAL)
