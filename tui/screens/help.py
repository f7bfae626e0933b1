"""Help: every key and verb, from their tables; over a screen that is no pane, its own keys. Enter, or a click on the
key, runs it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from tui.input.argument_parser import help_text
from tui.input.commands.command_table import BY_NAME, VERBS
from tui.input.key import show
from tui.input.key_table import FACTS, KEYS, MOVES
from tui.input.plan_keys import PLAN_KEYS
from tui.lists.wrapping import Pairs, row
from tui.render.badges import FACT_BADGES
from tui.render.field_diff import Line
from tui.screens.base_screen import ResponsiveScreen
from tui.theme.pieces import Piece
from tui.widgets.bars import Bar, Split
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList

# a heading: ("", its text, ""); else (argument of `palette`, the key or the verb, its description)
Entry = tuple[str, str, str]
Result = TypeVar("Result")


def entries(remapped: Mapping[str, str]) -> list[Entry]:
    """Return all entries of the help."""
    first = sorted(KEYS, key=lambda key: FACTS not in key.panes)  # the most useful for beginners
    keys = [(f"key:{key.id}", key.shown(remapped), key.help) for key in first]
    moves = [(f"move:{key.id}", key.shown(remapped), key.help) for key in MOVES]
    plan = [(f"plan:{key.id}", key.shown(remapped), key.help) for key in PLAN_KEYS]
    verbs = [(f"verb:{verb.name}", verb.name, verb.summary) for verb in VERBS]
    return [
        ("", "Keys", ""),
        *keys,
        ("", "Keys of every list", ""),
        *moves,
        ("", "Keys where it is shown what would change", ""),
        *plan,
        ("", "Commands, after : with or without a /, and on the command line", ""),
        *verbs,
    ]


def entries_of(keys: Sequence[Binding], remapped: Mapping[str, str]) -> list[Entry]:
    """Return the entries of a screen with the given keys, and of its list."""
    own = [(f"here:{key.action}", _shown(key, remapped), key.tooltip) for key in keys if key.tooltip]
    moves = [(f"move:{key.id}", key.shown(remapped), key.help) for key in MOVES]
    return [("", "Keys of this screen", ""), *own, ("", "Keys of every list", ""), *moves]


def _shown(key: Binding, remapped: Mapping[str, str]) -> str:
    """Return the first of the keys that do something, as a person reads it."""
    return show(remapped.get(key.id or "", key.key).split(",")[0])


NAME = 16  # cells of the cursor and the key or verb, which can be clicked


class HelpRows:
    """Keys and verbs, one a line, with headings."""

    def __init__(self, found: list[Entry]) -> None:
        self._entries = found

    def __len__(self) -> int:
        return len(self._entries)

    def selectable(self, index: int) -> bool:
        return bool(self._entries[index][0])

    def key(self, index: int) -> Hashable:
        return self._entries[index][0] or f"heading {index}"

    def index_of(self, key: Hashable) -> int | None:
        return next((index for index in range(len(self)) if self.key(index) == key), None)

    def among(self, keys: Set[Hashable]) -> frozenset[Hashable]:
        return frozenset(key for key in keys if self.index_of(key) is not None)

    def lines(self, index: int, width: int) -> list[Pairs]:
        target, name, text = self._entries[index]
        if not target:
            return [[(f"{name} ", "heading"), ("─" * max(0, width - len(name) - 2), "rule")]]
        return row([(f"  {name:<{NAME - 4}} ", "own")], text, "", [], width)


class HelpScreen(ResponsiveScreen["str | None"]):
    """All keys, all verbs, and below them details of the one under the cursor. Dismisses with the action to run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,f1", "dismiss", "Close", id="help.close", tooltip="Close the help"),
        Binding("slash", "find", "Find", id="help.find", tooltip="Find a command by its name or another word for it"),
        Binding(
            "equals_sign", "rekey", "Another key", id="help.rekey", tooltip="Give what the cursor is on another key"
        ),
    ]
    DEFAULT_CSS = """
    HelpScreen {
        layout: vertical; overflow: hidden;
        Split { height: 1; background: $panel; }
        #help-keys { height: 1; background: $footer-background; }
        #help-more { height: 8; border-top: solid $line; padding: 0 0 0 1; }
    }
    """

    def __init__(self, remapped: Mapping[str, str], keys: Sequence[Binding] = ()) -> None:
        """`keys` are those of the screen that the help is for; without them it is for the panes."""
        super().__init__()
        self._remapped = remapped
        self._keys = {f"here:{key.action}": key for key in keys}
        self._entries = entries_of(keys, remapped) if keys else entries(remapped)

    def compose(self) -> ComposeResult:
        yield Split(id="help-title")
        yield RecordList(HelpRows(self._entries), id="help-list")
        with Vertical(id="help-more"):
            yield Preview(id="help-preview")
        yield Bar(id="help-keys")

    def on_mount(self) -> None:
        badges = "  ".join(f"{glyph} {word}" for glyph, word in FACT_BADGES.values() if word != "contradicted")
        self.query_one("#help-title", Split).put_both([(" HELP", "bold $text-accent"), (f"   {badges}", "")], [])
        look = "$footer-key-foreground bold"
        keys = [("enter", "does it", "choose")]
        keys += [] if self._keys else [("/", "finds by other words", "find"), ("=", "another key for it", "rekey")]
        pieces: list[Piece] = []
        for key, does, action in (*keys, ("esc", "closes", "dismiss")):
            pieces += [(f" {key}", look, action), (f" {does} ", "", action)]
        self.query_one("#help-keys", Bar).put(*pieces)
        found = self.query_one("#help-list", RecordList)
        found.mark_cells = NAME
        found.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return not self._keys or action not in ("find", "rekey")  # those lead to a pane

    def action_find(self) -> None:
        """Close the help and open the palette, which finds by synonyms too."""
        self.dismiss("key:palette.open")

    def action_rekey(self) -> None:
        """Prompt for another key for the selected action."""
        kind, _, name = str(self.query_one("#help-list", RecordList).cursor_key).partition(":")
        if kind in ("key", "move", "plan"):
            self.dismiss(f"verb:config keys.{name}")

    def action_choose(self) -> None:
        """Enter, for a click."""
        self.query_one("#help-list", RecordList).action_choose()

    def on_record_list_highlighted(self, event: RecordList.Highlighted) -> None:
        kind, _, name = str(event.key).partition(":")
        self.query_one(Preview).show(self._more(kind, name))

    def _more(self, kind: str, name: str) -> list[Line]:
        if kind == "here":
            here = self._keys[f"here:{name}"]
            keys = self._remapped.get(here.id or "", here.key)
            more = [[("All its keys: ", "dim"), ("  ".join(map(show, keys.split(","))), "")]] if "," in keys else []
            return [[(_shown(here, self._remapped), "own"), (f"  {here.tooltip}", "")], [], *more]
        if kind == "verb":
            verb = BY_NAME[name]
            text = help_text(verb.name, verb.summary, verb.arguments)
            slash = [f"also /{' · /'.join(verb.slash)}"] if verb.slash else []
            return [[(line, "")] for line in [*text.split("\n")[:-2], *slash]]
        key = next(key for key in (*KEYS, *MOVES, *PLAN_KEYS) if key.id == name)
        keys = self._remapped.get(key.id, key.keys)
        return [
            [(key.shown(self._remapped), "own"), (f"  {key.help}", "")],
            [],
            [("All its keys: ", "dim"), ("  ".join(map(show, keys.split(","))), "")],
            [("To give it another: ", "dim"), (f":config keys.{key.id} KEY", "")],
        ]

    def on_record_list_marked(self, event: RecordList.Marked) -> None:
        """Handle a click on the key itself; there are no marks here."""
        found = event.record_list
        if found.marks:
            found.unmark()
            found.action_choose()

    def on_record_list_chosen(self, event: RecordList.Chosen) -> None:
        target = str(event.key)
        if target.startswith(("key:", "verb:", "here:")):
            self.dismiss(target)


class HelpedScreen(ResponsiveScreen[Result]):
    """A screen on top of the panes, whose own keys `?` lists."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("question_mark,f1", "help", "Help", show=False)]

    def action_help(self) -> None:
        """List the keys of this screen; the one that is chosen is done."""

        def chosen(target: str | None) -> None:
            if target is not None:
                self.call_later(self.run_action, target.removeprefix("here:"))

        keys = [
            key
            for one in type(self).__mro__
            for key in one.__dict__.get("BINDINGS", ())
            if issubclass(one, ResponsiveScreen) and isinstance(key, Binding) and key.tooltip
        ]
        self.app.push_screen(HelpScreen(self.app.remapped, keys), chosen)  # type: ignore[attr-defined]
