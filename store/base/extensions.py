"""What the optional parts of Memoranda do for the rest of it.

The core says in a class what it can use of a part, such as `SealedTexts` (store/purge/file_eraser.py); the part has one
value of that class in its `PART`. Who can use it asks for it here, and goes on without it where the part is missing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from store.base.errors import Unsupported

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class Part:
    """What a part does for the core: a value of each class that the core asks it for."""

    extensions: tuple[object, ...] = ()


PART_LOADERS: dict[str, Callable[[], Part | None]] = {}  # by the name of a part; store/parts.py fills it


def require_part(name: str) -> Part:
    """Return a part by its name. Raise Unsupported if it is not installed."""
    if (part := PART_LOADERS[name]()) is None:
        raise Unsupported(
            f"The part `{name}` of Memoranda is not installed, and this needs it.",
            "Install Memoranda again, with all its parts: pip install --force-reinstall memoranda",
        )
    return part


def require_extension(name: str, kind: type[Kind]) -> Kind:
    """Return what a part does for the core, by its class. Raise Unsupported if the part is not installed."""
    return next(one for one in require_part(name).extensions if isinstance(one, kind))


def find_extension(name: str, kind: type[Kind]) -> Kind | None:
    """Return what a part does for the core, by its class; None if the part is not installed."""
    return require_extension(name, kind) if PART_LOADERS[name]() else None
