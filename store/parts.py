"""The optional parts of Memoranda: packages that nothing else imports, and without which everything else works.

Every program of Memoranda imports this module, so that what it asks a part for is found (store/base/runtime.py).
"""

from functools import partial
from importlib import import_module

from store.base.runtime import PART_LOADERS, Part

PART_PACKAGES = {"tools": "store.tools", "team": "store.team", "rescue": "store.rescue"}


def load_attribute(module: str, name: str) -> object:
    """Import a module by its name, and return what is called so in it."""
    return getattr(import_module(module), name)


def load_part(package: str) -> Part | None:
    """Return the part that a package is, from its module `part`; None if it is not installed."""
    try:
        part = load_attribute(f"{package}.part", "PART")
    except ModuleNotFoundError as error:
        if error.name not in (package, f"{package}.part"):
            raise
        return None
    assert isinstance(part, Part)
    return part


PART_LOADERS.update({name: partial(load_part, package) for name, package in PART_PACKAGES.items()})
