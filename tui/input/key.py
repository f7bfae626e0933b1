"""A key: its stable id, what it does, and how it is shown."""

from collections.abc import Mapping

from tui.input.command_table import BY_NAME

# how a key is shown, where its name in Textual is not what stands on it
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
    "right_square_bracket": "]",
    "left_square_bracket": "[",
    "at": "@",
    "minus": "-",
    "equals_sign": "=",
}


def show(key: str) -> str:
    """How one key is shown: `ctrl+r` as `^r`, `shift+tab` as `⇧tab`."""
    prefix = ""
    for word, sign in (("ctrl+", "^"), ("shift+", "⇧"), ("alt+", "⌥")):
        if key.startswith(word):
            key, prefix = key.removeprefix(word), prefix + sign
    return prefix + NAMES.get(key, key)


class Key:
    """`id` is stable (for remapping), `keys` as Textual writes them, `action` a method of the screen; `label` is the
    footer's word (empty: not in the footer) and `panes` where it belongs: the footer shows it there, and the palette
    names it first there; `verb` is the verb it runs; `words` are
    other words for the footer of some panes; `looks`: its act changes nothing, and may be done while the past is looked
    at."""

    __slots__ = ("_help", "action", "id", "keys", "label", "looks", "panes", "verb", "words")

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
        looks: bool = False,
    ) -> None:
        self.id = id
        self.keys = keys
        self.action = action
        self.label = label
        self.panes = panes
        self.verb = verb
        self.words = words
        self.looks = looks
        self._help = help

    @property
    def help(self) -> str:
        """One line on what the key does."""
        return self._help or BY_NAME[self.verb].summary

    @property
    def act(self) -> str:
        """The act below `tui.actions` that it does; empty if it does none."""
        name, _, rest = self.action.partition("('")
        return rest.rstrip("')") if name in ("change", "ask_for") else ""

    def shown(self, remapped: Mapping[str, str] = {}) -> str:
        """Its first key, as footer and help show it; empty if another took its only one."""
        return show(remapped.get(self.id, self.keys).split(",")[0])
