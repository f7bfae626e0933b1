"""The one table of keys: bindings, footer, `?` and the README's KEYS section are made from it.

What a key does is a verb of `verbs` wherever there is one; then its help is the verb's own summary.
"""

from tui.verbs import BY_NAME


class Key:
    """`id` is stable (for remapping), `keys` as Textual writes them, `action` a method of the screen; `label` is the
    footer's word (empty: not in the footer) and `panes` where the footer shows it; `verb` is the verb it runs."""

    __slots__ = ("_help", "action", "id", "keys", "label", "panes", "shown", "verb")

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
        shown: str = "",
    ) -> None:
        self.id = id
        self.keys = keys
        self.action = action
        self.label = label
        self.panes = panes
        self.verb = verb
        self.shown = shown or keys.split(",")[0]
        self._help = help

    @property
    def help(self) -> str:
        """One line on what the key does."""
        return self._help or BY_NAME[self.verb].summary


FACTS, TIMELINE, HITS, PREVIEW = "facts", "timeline", "hits", "preview"
LISTS = (FACTS, TIMELINE, HITS)

KEYS = (
    Key("record.forget", "f", "forget", "forget", verb="forget", panes=LISTS),
    Key("record.correct", "c", "correct", "correct", verb="correct", panes=LISTS),
    Key("record.confirm", "y", "confirm", "confirm", verb="confirm", panes=(FACTS,)),
    Key("record.add", "a", "add", "add", verb="remember", panes=(FACTS,)),
    Key("record.pin", "p", "pin", "pin", "Pin the fact, so that it never ages; or unpin it", panes=(FACTS,)),
    Key(
        "preview.follow",
        "enter",
        "open",
        "open",
        "Go into the preview; there, open the citation",
        panes=(TIMELINE, HITS),
    ),
    Key("preview.next", "right,l,]", "citation(1)", "next link", "The next citation", panes=(PREVIEW,), shown="→"),
    Key("preview.previous", "left,h,[", "citation(-1)", "", "The citation before", shown="←"),
    Key("preview.back", "backspace", "back", "back", "Back to the record before", panes=(PREVIEW,), shown="⌫"),
    Key("memory.undo", "u", "undo", "undo", verb="undo", panes=(*LISTS, PREVIEW)),
    Key("memory.redo", "ctrl+r", "redo", "", verb="redo", shown="^r"),
    Key("memory.export", "x", "export", "", verb="export"),
    Key("search.open", "slash", "search", "search", verb="search", panes=(*LISTS, PREVIEW), shown="/"),
    Key("command.open", "colon", "command", "command", "Any verb, as on the command line", panes=LISTS, shown=":"),
    Key("help.open", "question_mark,f1", "help", "help", "All keys and verbs", panes=(*LISTS, PREVIEW), shown="?"),
    Key("facts.sort", "s", "sort", "", "The next order of the facts: oldest, state, domain, newest, text"),
    Key("facts.domain", "d", "domain", "", "Only the next domain's facts, after the last all of them"),
    Key("facts.hidden", "H", "hidden", "", "Show the superseded and forgotten facts too, or hide them"),
    Key("pane.facts", "1", "pane('facts')", "", "To the facts"),
    Key("pane.timeline", "2", "pane('timeline')", "", "To the timeline"),
    Key("pane.next", "tab", "next_pane(1)", "", "To the next pane"),
    Key("pane.previous", "shift+tab", "next_pane(-1)", "", "To the pane before", shown="⇧tab"),
    Key("preview.down", "J", "scroll_preview(1)", "", "Scroll the preview down"),
    Key("preview.up", "K", "scroll_preview(-1)", "", "Scroll the preview up"),
    Key("screen.leave", "escape", "leave", "", "Leave the search, the preview or the command bar", shown="esc"),
    Key("app.quit", "q,ctrl+q", "app.quit", "", "Quit"),
)
# what the lists answer to by themselves, for the help
LIST_KEYS = (
    ("↑ ↓ k j", "Move"),
    ("PgUp PgDn ^u ^d", "Move by a page, by half a page"),
    ("g G", "First, last"),
)
