"""Menus: the palette, more keys, filters of a list, recent memories.

Show only…: every filter of a list, with the number of records that it leaves, and a letter each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.containers import Grid, Vertical
from textual.content import Content
from textual.fuzzy import Matcher
from textual.markup import escape
from textual.screen import ModalScreen
from textual.theme import ThemeProvider
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import WorkerError

from tui.commands.location import read_recent, recent_label
from tui.input.key_table import EDITABLE_LISTS, FURTHER_SCREENS, HITS, KEYS, KEYS_BY_ID, Key, key_name
from tui.input.verb_table import FORMER_WORDS, KEY_SYNONYMS, SYNONYMS, list_verbs
from tui.lists.filters import MOST_CHOICES, SHOW_ALL_KEY, Facet, FacetChoice, assign_letters
from tui.screens.base import Application
from tui.theme.escape import visible
from tui.theme.line_filters import Piece, escaped_content, fit_cells, pieces_width
from tui.widgets.bars import Bar

if TYPE_CHECKING:
    from textual.widget import Widget


# The palette: every key and verb by name, from their tables; first those of the current list.

HIDDEN_KEYS = ("palette.open", "mark.range")  # useless from a palette
# not about a record: always in the footer, or they lead elsewhere
GENERAL_KEYS = ("memory.undo", "search.open", "command.open", "help.open", "list.day", "past.look", "context.ask")
PALETTE_NAME_CELLS, PALETTE_KEY_CELLS = 16, 5  # cells of the name and of the key
PALETTE_EDGE = 8  # cells of the palette's border and padding


def palette_entries(remapped: dict[str, str], place: str = "") -> list[tuple[str, str, str, str]]:
    """List (name, key, help, argument of `action_palette`) of every key, screen and verb; first those that apply to
    records of the list `place`."""
    keys = [key for key in KEYS if key.id not in HIDDEN_KEYS]
    keys.sort(key=lambda key: not _applies_to(key, place))
    more = KEYS_BY_ID["more.open"].first_key(remapped)
    return [
        *(
            (key.label or key.id.replace(".", " "), key.first_key(remapped), key.help, f"key:{key.id}")
            for key in keys
        ),
        *((one.name, f"{more} {one.letter}", one.shows, f"line:{one.verb}") for one in FURTHER_SCREENS),
        *((f":{verb.name}", "", verb.summary, f"verb:{verb.name}") for verb in list_verbs()),
    ]


def _applies_to(key: Key, place: str) -> bool:
    """Return whether a key applies to the records of the list `place`; search hits may be of any kind."""
    places = EDITABLE_LISTS if place == HITS else (place,)
    return key.id not in GENERAL_KEYS and any(name in key.panes for name in places)


class ThemeCommands(ThemeProvider):
    """The themes, the present one first."""

    async def discover(self) -> Hits:
        for name, take in sorted(self.commands, key=lambda command: command[0] != self.app.theme):
            yield DiscoveryHit(f"{name}  ● now" if name == self.app.theme else name, take)


class PaletteCommands(Provider):
    """Search keys by description and verbs by name. Their texts contain no markup, whatever a key is called."""

    async def startup(self) -> None:
        if self.app.animation_level == "none":
            for line in self.app.screen.query(Input):
                line.cursor_blink = False

    async def discover(self) -> Hits:
        room = self.app.size.width - PALETTE_EDGE
        for name, key, text, target in self._entries:
            line = Text(fit_cells(f"{name:<{PALETTE_NAME_CELLS}} {visible(key):<{PALETTE_KEY_CELLS}} {text}", room))
            line.stylize("dim not bold", PALETTE_NAME_CELLS + 1)
            yield DiscoveryHit(line, partial(self._do, target), text=name)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, key, text, target in self._entries:
            score = _match_score(matcher, name, text, self._other_words(target))
            if score > 0:
                shown = escape(f"{name}  {visible(key)}".rstrip())
                yield Hit(score, matcher.highlight(shown), partial(self._do, target), text=name, help=escape(text))

    @classmethod
    def _other_words(cls, target: str) -> tuple[str, ...]:
        """Return the other words for a key or a verb, those that it had before too."""
        verb = cls._verb(target)
        former = (word for word, now in FORMER_WORDS.items() if now.split()[0] == verb)
        return (*SYNONYMS.get(verb, ()), *KEY_SYNONYMS.get(target.removeprefix("key:"), ()), *former)

    @staticmethod
    def _verb(target: str) -> str:
        kind, _, name = target.partition(":")
        return KEYS_BY_ID[name].verb if kind == "key" else name.split()[0]

    @property
    def _entries(self) -> list[tuple[str, str, str, str]]:
        return palette_entries(self.app.remapped, getattr(self.screen, "current_list", ""))  # type: ignore[attr-defined]

    async def _do(self, target: str) -> None:
        await self.screen.run_action(f"palette({target!r})")


def _match_score(matcher: Matcher, name: str, text: str, words: tuple[str, ...]) -> float:
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


# More…: the screens that have no pane, one letter each.

MORE_KEY_STYLE = "bold $text-accent"


class MoreScreen(ModalScreen["str | None"]):
    """Dismisses with the verb to run, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,0", "dismiss", "Leave", show=False, id="more.leave", tooltip="Stay here")
    ]
    DEFAULT_CSS = """
    MoreScreen { align: center middle; }
    MoreScreen > Vertical { width: 68; max-width: 100%; height: auto; padding: 1 2; background: $panel; }
    MoreScreen Bar { height: 1; }
    """

    def compose(self) -> ComposeResult:
        heading = Bar()
        heading.set_pieces(
            ("More   ", "bold $text-accent"),
            ("a letter opens one   ", "$dim"),
            ("esc", MORE_KEY_STYLE, "screen.dismiss"),
        )
        with Vertical():
            yield heading
            for one in FURTHER_SCREENS:
                row, action = Bar(), f"screen.pick({one.letter!r})"
                row.set_pieces(
                    (one.letter, MORE_KEY_STYLE, action),
                    (f"  {one.name:<10}", "bold", action),
                    (f" {one.shows}", "$dim", action),
                )
                yield row

    def on_key(self, event: events.Key) -> None:
        if any(one.letter == event.character for one in FURTHER_SCREENS):
            event.stop()
            self.action_pick(event.character or "")

    def action_pick(self, letter: str) -> None:
        """Open the screen of a letter."""
        self.dismiss(next(one.verb for one in FURTHER_SCREENS if one.letter == letter))


MENU_COLUMN = 25  # cells of a column, at least
MENU_EDGES = 4  # cells at the sides of the menu
MENU_BESIDE = 8  # cells of it that are not a word nor a number
ONLY_KEY_STYLE = "bold $text-accent"


class OnlyScreen(ModalScreen["dict[str, str] | None"]):
    """Dismisses with the filters chosen, field → value, empty for all records; None to change nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Leave", show=False, id="only.leave", tooltip="Change nothing")
    ]
    DEFAULT_CSS = """
    OnlyScreen { align: center middle; }
    OnlyScreen > Vertical { width: auto; min-width: 58; max-width: 100%; height: auto; }
    OnlyScreen > Vertical { padding: 1 2; background: $panel; }
    OnlyScreen Grid { height: auto; width: auto; grid-rows: auto; grid-gutter: 1 0; }
    OnlyScreen Grid > Vertical { height: auto; }
    OnlyScreen Bar { height: 1; }
    OnlyScreen #only-keys { margin: 0 0 1 0; }
    """

    def __init__(self, facets: Sequence[Facet], active: Mapping[str, object]) -> None:
        super().__init__()
        self._facets = [facet for facet in facets if facet.choices]
        self._active = active
        self._column = MENU_COLUMN
        self._adding = False  # whether the next letter keeps the other filters
        self._choices: dict[str, tuple[Facet, FacetChoice]] = {}

    def compose(self) -> ComposeResult:
        words = [
            len(one.word) + len(_format_number(one))
            for facet in self._facets
            for one in facet.choices[:MOST_CHOICES]
        ]
        room = (self.app.size.width - MENU_EDGES) // self._across
        self._column = max(
            MENU_COLUMN, min(room, max(words, default=0) + MENU_BESIDE)
        )  # as many columns, but no word cut
        with Vertical():
            yield Bar(id="only-keys")
            with Grid():
                yield from self._columns()

    @property
    def _across(self) -> int:
        return max(1, min(len(self._facets), (self.app.size.width - MENU_EDGES) // MENU_COLUMN))

    def _columns(self) -> Iterator[Widget]:
        for facet, column in zip(self._facets, assign_letters(self._facets), strict=True):
            bars = [Bar() for _ in range(len(column) + 1 + (len(facet.choices) > MOST_CHOICES))]
            bars[0].set_pieces((facet.name, "bold"))
            for bar, (letter, one) in zip(bars[1:], column, strict=False):
                self._choices[letter] = (facet, one)
                bar.set_pieces(*self._choice_pieces(letter, facet, one))
            if len(facet.choices) > MOST_CHOICES:
                # the first are the chips above the list
                how = f"esc, then {key_name('list.filter')}" if facet is self._facets[0] else "type them in /"
                bars[-1].set_pieces((f"  {len(facet.choices) - MOST_CHOICES} more: {how}", "$dim"))
            yield Vertical(*bars)

    def _choice_pieces(self, letter: str, facet: Facet, one: FacetChoice) -> list[Piece]:
        action = f"screen.pick({letter!r})"
        chosen = self._active.get(facet.field) == one.value
        number = _format_number(one)
        room = (
            self._column - MENU_BESIDE - len(number)
        )  # beside letter, glyph, number and the gap to the next column
        word = one.word if len(one.word) <= room else f"{one.word[: room - 1]}…"
        left: list[Piece] = [(letter, ONLY_KEY_STYLE, action), (f" {one.glyph or ' '} ", one.look, action)]
        left.append((word, "reverse" if chosen else "", action))
        gap = " " * max(1, self._column - 2 - pieces_width(left) - len(number))
        return [*left, (gap, "", action), (number, "$dim", action)]

    def on_mount(self) -> None:
        grid = self.query_one(Grid)
        grid.styles.grid_size_columns = self._across
        grid.styles.grid_columns = str(self._column)
        grid.styles.width = self._across * self._column
        self._draw_keys()

    def _draw_keys(self) -> None:
        adds: list[Piece] = [
            ("space", ONLY_KEY_STYLE, "screen.add"),
            (" then a letter adds   ", "$dim", "screen.add"),
        ]
        if self._adding:
            adds = [("a letter adds to what is chosen   ", "bold")]
        self.query_one("#only-keys", Bar).set_pieces(
            ("Show only…   ", "bold $text-accent"),
            *adds,
            (SHOW_ALL_KEY, ONLY_KEY_STYLE, f"screen.pick({SHOW_ALL_KEY!r})"),
            (" all   ", "$dim", f"screen.pick({SHOW_ALL_KEY!r})"),
            ("esc", ONLY_KEY_STYLE, "screen.dismiss"),
        )

    def on_key(self, event: events.Key) -> None:
        letter = event.character or ""
        if event.key == "space":
            event.stop()
            self.action_add()
        elif letter == SHOW_ALL_KEY or letter in self._choices:
            event.stop()
            self.action_pick(letter)

    def action_add(self) -> None:
        self._adding = True
        self._draw_keys()

    def action_pick(self, letter: str) -> None:
        """Choose the filter of a letter, or all records."""
        if letter == SHOW_ALL_KEY:
            self.dismiss({})
            return
        facet, one = self._choices[letter]
        kept = {field: str(value) for field, value in self._active.items()} if self._adding else {}
        self.dismiss({**kept, facet.field: one.value})


def _format_number(one: FacetChoice) -> str:
    """Format the number of records of a choice; "" if it is unknown."""
    return "" if one.number is None else f"{one.number:,}"


# List recently opened memories, to open one of them.


class RecentScreen(ModalScreen["str | None"]):
    """Dismisses with the folder or file to open, "" to name another, None to open none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Leave", show=False, id="recent.leave", tooltip="Stay in this memory"),
        Binding("j", "move(1)", "Down", show=False, id="recent.down"),
        Binding("k", "move(-1)", "Up", show=False, id="recent.up"),
    ]
    DEFAULT_CSS = """
    RecentScreen { align: center middle; }
    RecentScreen > Vertical { width: 70%; height: auto; max-height: 70%; padding: 1 2; background: $panel; }
    RecentScreen OptionList { height: auto; max-height: 16; margin: 1 0; background: $panel; }
    RecentScreen OptionList, RecentScreen OptionList:focus { border: none; }
    """

    def __init__(self, current: str) -> None:
        super().__init__()
        self._places = [place for place in read_recent() if place != current]

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content.styled("Open the memory of another project", "bold $text-accent"))
            yield OptionList(
                *(
                    Option(escaped_content(recent_label(place)), id=str(number))
                    for number, place in enumerate(self._places)
                ),
                Option(Content("another folder or file …"), id="other"),
            )
            yield Bar(id="recent-keys")

    def on_mount(self) -> None:
        look = "$dim"
        self.query_one("#recent-keys", Bar).set_pieces(
            ("enter opens it", look, "open"), ("   ", ""), ("esc stays here", look, "dismiss")
        )
        self.query_one(OptionList).focus()

    def action_open(self) -> None:
        """Enter, for a click."""
        self.query_one(OptionList).action_select()

    def action_move(self, step: int) -> None:
        choices = self.query_one(OptionList)
        if step > 0:
            choices.action_cursor_down()
        else:
            choices.action_cursor_up()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        chosen = event.option.id or "other"
        self.dismiss("" if chosen == "other" else self._places[int(chosen)])
