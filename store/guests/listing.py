"""Every text of the tools whose memories can be edited in place, on this machine."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from store.base.errors import InvalidInput, NotFound
from store.base.vocabulary import GUEST_TOOLS
from store.guard.files import SUFFIX, Guarded, guarded
from store.guests import engram, markdown
from store.guests.guest_text import FEWEST, GuestText, NotEditable
from store.sources import registry
from store.sources.files import read_bytes
from store.sources.readers import claude_code
from store.sources.source import Machine, Trouble
from store.text.folding import fold


@dataclass(slots=True)
class GuestList:
    """The texts, and what could not be read or is not touched, with the reason."""

    texts: list[GuestText] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)


def listed(machine: Machine, tools: Sequence[str] = GUEST_TOOLS) -> GuestList:
    """Read all of them. Raise InvalidInput for a tool that is none of GUEST_TOOLS."""
    if unknown := set(tools) - set(GUEST_TOOLS):
        raise InvalidInput(
            f"Memories of {min(unknown)} cannot be edited in place.", f"Those of these can: {', '.join(GUEST_TOOLS)}."
        )
    found = GuestList()
    files = guest_files(machine, tools)
    for file in files:
        found.texts += texts_of(file, found.troubles)
    found.troubles += _links(os.path.dirname(file.path) for file in files if not file.database)
    return found


def guest_files(machine: Machine, tools: Sequence[str] = GUEST_TOOLS) -> list[Guarded]:
    """List the files in which the texts are: they are all guarded ones. An index comes after what it leads to."""
    own = os.path.dirname(os.path.realpath(claude_code.projects(machine)))  # with a person's own instructions
    found = [
        file
        for file in guarded(machine)
        if file.tool in tools and not (file.tool == "claude-code" and os.path.dirname(file.path) == own)
    ]
    found.sort(key=lambda file: (GUEST_TOOLS.index(file.tool), *_order(file.path)))
    return found


def _order(path: str) -> tuple[str, bool]:
    folder, name = os.path.split(path)
    return folder, name == claude_code.INDEX


def texts_of(file: Guarded, troubles: list[Trouble]) -> list[GuestText]:
    """Return the texts of one file."""
    if file.database:
        return engram.read(file.path, troubles)
    raw = read_bytes(file.path, troubles)
    if raw is None:
        return []
    try:
        return markdown.read(file.tool, file.path, raw)
    except NotEditable as error:
        troubles.append(Trouble(file.path, 0, str(error)))
        return []


def matching(texts: Iterable[GuestText], query: str) -> list[GuestText]:
    """Return those that have every word of a query, in any case and without accents; all for none."""
    words = [fold(word) for word in query.split()]
    return [one for one in texts if all(word in fold(f"{one.title}\n{one.text}\n{one.path}") for word in words)]


def find(machine: Machine, name: str) -> GuestText:
    """Return the text of this name, or with a name that begins so. Raise InvalidInput or NotFound."""
    wanted = name.lower()
    if len(wanted) < FEWEST or set(wanted) - set("0123456789abcdef"):
        raise InvalidInput("That is no name of a text.", "memoranda guest list shows them, as in: 3f2a9c1")
    found = [one for one in listed(machine).texts if one.name.startswith(wanted)]
    if not found:
        raise NotFound(f"There is no text {wanted}, or it changed since.", "memoranda guest list shows what is there.")
    if len(found) > 1:
        several = ", ".join(one.name[:12] for one in found)
        raise InvalidInput(f"Several names begin with {wanted}.", f"Name one of: {several}")
    return found[0]


def title(tool: str) -> str:
    """Return the name of a tool in a sentence."""
    return registry.reader(tool).title


def _links(folders: Iterable[str]) -> Iterator[Trouble]:
    """Yield the symbolic links beside these files, which are not followed."""
    for folder in sorted(set(folders)):
        try:
            with os.scandir(folder) as entries:
                links = sorted(one.path for one in entries if one.name.endswith(SUFFIX) and one.is_symlink())
        except OSError:
            continue
        for path in links:
            yield Trouble(path, 0, "symbolic links are not followed")
