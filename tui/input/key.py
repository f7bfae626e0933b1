"""A key: its stable id, its action, and its display form."""

from collections.abc import Mapping

from tui.input.commands.command_table import BY_NAME

# keys displayed differently from their name in Textual
NAMES = {
    "slash": "/",
    "colon": ":",
    "question_mark": "?",
    "number_sign": "#",
    "backspace": "⌫",
    "right": "→",
    "left": "←",
    "up": "↑",
    "down": "↓",
    "escape": "esc",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "right_curly_bracket": "}",
    "left_curly_bracket": "{",
    "right_square_bracket": "]",
    "left_square_bracket": "[",
    "at": "@",
    "minus": "-",
    "equals_sign": "=",
}


def show(key: str) -> str:
    """Format one key: `ctrl+r` as `^r`, `shift+tab` as `⇧tab`."""
    prefix = ""
    for word, sign in (("ctrl+", "^"), ("shift+", "⇧"), ("alt+", "⌥")):
        if key.startswith(word):
            key, prefix = key.removeprefix(word), prefix + sign
    return prefix + NAMES.get(key, key)


class Key:
    """`id` is stable (for remapping), `keys` are in Textual's notation, `action` is a method of the screen; `label` is
    shown in the footer (empty: not in the footer); `panes` are those whose footer shows it and whose palette lists it
    first; `verb` is the verb it runs; `words` are other labels for some panes, or for a state of the record at the
    cursor; `kinds` of records that it applies to (empty: all); `looks`: it is read-only, and allowed in a past view."""

    __slots__ = ("_help", "action", "id", "keys", "kinds", "label", "looks", "panes", "verb", "words")

    def __init__(
        self,
        id: str,
        keys: str,
        action: str,
        label: str = "",
        help: str = "",
        *,
        verb: str = "",
        panes: tuple[str, ...] = (),
        words: Mapping[str, str] = {},
        kinds: tuple[str, ...] = (),
        looks: bool = False,
    ) -> None:
        self.id = id
        self.keys = keys
        self.action = action
        self.label = label
        self.panes = panes
        self.verb = verb
        self.words = words
        self.kinds = kinds
        self.looks = looks
        self._help = help

    @property
    def help(self) -> str:
        """Return one line on what the key does."""
        return self._help or BY_NAME[self.verb].summary

    @property
    def act(self) -> str:
        """Return the action below `tui.actions` that it runs; empty if none."""
        name, _, rest = self.action.partition("('")
        return rest.rstrip("')") if name in ("change", "ask_for") else ""

    def shown(self, remapped: Mapping[str, str] = {}) -> str:
        """Return its first key, as in footer and help; empty if another id took its only one."""
        return show(remapped.get(self.id, self.keys).split(",")[0])
