"""The palette: every key and verb by name, from their tables; first those of the current list."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, cast

from rich.text import Text
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.fuzzy import Matcher
from textual.markup import escape
from textual.theme import ThemeProvider
from textual.widgets import Input, OptionList
from textual.worker import WorkerError

from tui.input.commands.command_table import VERBS
from tui.input.commands.synonyms import OF_KEYS, SYNONYMS
from tui.input.key import Key
from tui.input.key_table import BY_ID, HITS, KEYS, RECORDS
from tui.input.more_table import further
from tui.theme.escape import visible
from tui.theme.line_filters import fit

if TYPE_CHECKING:
    from tui.screens.application import Application

HIDDEN = ("palette.open", "mark.range")  # useless from a palette
# not about a record: always in the footer, or they lead elsewhere
GENERAL = ("memory.undo", "search.open", "command.open", "help.open", "list.day", "past.look", "context.ask")
NAME, KEY = 16, 5  # cells of the name and of the key
EDGE = 8  # cells of the palette's border and padding


def entries(remapped: dict[str, str], place: str = "") -> list[tuple[str, str, str, str]]:
    """List (name, key, help, argument of `action_palette`) of every key, screen and verb; first those that apply to
    records of the list `place`."""
    keys = [key for key in KEYS if key.id not in HIDDEN]
    keys.sort(key=lambda key: not _about(key, place))
    more = BY_ID["more.open"].shown(remapped)
    return [
        *((key.label or key.id.replace(".", " "), key.shown(remapped), key.help, f"key:{key.id}") for key in keys),
        *((one.name, f"{more} {one.letter}", one.shows, f"line:{one.verb}") for one in further()),
        *((f":{verb.name}", "", verb.summary, f"verb:{verb.name}") for verb in VERBS),
    ]


def _about(key: Key, place: str) -> bool:
    """Return whether a key applies to the records of the list `place`; search hits may be of any kind."""
    places = RECORDS if place == HITS else (place,)
    return key.id not in GENERAL and any(name in key.panes for name in places)


class Themes(ThemeProvider):
    """The themes, the present one first."""

    async def discover(self) -> Hits:
        for name, take in sorted(self.commands, key=lambda command: command[0] != self.app.theme):
            yield DiscoveryHit(f"{name}  ● now" if name == self.app.theme else name, take)


class Everything(Provider):
    """Search keys by description and verbs by name. Their texts contain no markup, whatever a key is called."""

    async def startup(self) -> None:
        if self.app.animation_level == "none":
            for line in self.app.screen.query(Input):
                line.cursor_blink = False

    async def discover(self) -> Hits:
        room = self.app.size.width - EDGE
        for name, key, text, target in self._entries:
            line = Text(fit(f"{name:<{NAME}} {visible(key):<{KEY}} {text}", room))
            line.stylize("dim not bold", NAME + 1)
            yield DiscoveryHit(line, partial(self._do, target), text=name)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, key, text, target in self._entries:
            score = _score(matcher, name, text, self._words(target))
            if score > 0:
                shown = escape(f"{name}  {visible(key)}".rstrip())
                yield Hit(score, matcher.highlight(shown), partial(self._do, target), text=name, help=escape(text))

    @classmethod
    def _words(cls, target: str) -> tuple[str, ...]:
        """Return the other words for a key or a verb."""
        return (*SYNONYMS.get(cls._verb(target), ()), *OF_KEYS.get(target.removeprefix("key:"), ()))

    @staticmethod
    def _verb(target: str) -> str:
        kind, _, name = target.partition(":")
        return BY_ID[name].verb if kind == "key" else name.split()[0]

    @property
    def _entries(self) -> list[tuple[str, str, str, str]]:
        return entries(self.app.remapped, getattr(self.screen, "place", ""))  # type: ignore[attr-defined]

    async def _do(self, target: str) -> None:
        await self.screen.run_action(f"palette({target!r})")


def _score(matcher: Matcher, name: str, text: str, words: tuple[str, ...]) -> float:
    """Return how well a name, its help or its other words match. Letters that are spread over a whole sentence are in
    most sentences: the help has to contain each word that is typed."""
    typed = matcher.query.casefold().split()
    said = all(word in text.casefold() for word in typed)
    meant = max((matcher.match(word) * 0.95 for word in words), default=0.0)
    return max(matcher.match(name), matcher.match(text) * 0.9 if said else 0.0, meant)


class Palette(CommandPalette):
    """A palette whose Enter takes what is found for all that was typed before it, however quickly: Textual's takes what
    its list still shows, before the first letter the first entry."""

    async def on_input_submitted(self) -> None:
        with suppress(WorkerError):  # it was cancelled
            await self.workers.wait_for_complete([one for one in self.workers if one.node is self])
        if self.query_one(OptionList).highlighted is None:  # nothing is found: there is nothing to wait for
            cast("Application", self.app).release_keys()
