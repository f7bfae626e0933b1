"""Patterns of `forms.toml`, in which the words of all languages are put together."""

import os
import re
from functools import cache
from typing import Any

from store.learning.grammar import either
from store.text.vocabulary import whole_file

FOLDER = os.path.dirname(__file__)
_SIGN = re.compile(r"\{([a-z_]+)\}")


@cache
def form(name: str) -> re.Pattern[str]:
    """Return the pattern of that name; of a list, of any of it. Raise KeyError."""
    told = table(name)
    return compiled(told if isinstance(told, str) else "|".join(told))


def table(name: str) -> Any:
    """Return what the file says under a name. Raise KeyError."""
    return whole_file(FOLDER, "forms")[name]


def compiled(text: str) -> re.Pattern[str]:
    """Return a pattern with the words that it names."""
    return re.compile(_SIGN.sub(lambda name: either(name[1]), text))
