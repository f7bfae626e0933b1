"""What a model is told for each task: data, one TOML file a language, read when first asked for."""

import os
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from store.llm.chat import Message


@cache
def prompt(task: str, spanish: bool) -> "tuple[Message, ...]":
    """The messages before the one that asks: who the model is, and an example."""
    import tomllib

    with open(os.path.join(os.path.dirname(__file__), f"{'es' if spanish else 'en'}.toml"), "rb") as file:
        return tuple((role, text) for role, text in tomllib.load(file)[task])
