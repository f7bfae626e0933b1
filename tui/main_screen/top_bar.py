"""The top line, the figures beside the search, the titles of the panes, and the footer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from store.base.clock import format_how_long_ago
from store.database.connection import to_memoranda_error
from tui.desktop.programs import copy_to_clipboard
from tui.input.key_table import INBOX, LIBRARIAN, PANE_KEYS, PANE_NAMES, PANES_BY_NAME, key_name
from tui.lists.filters import Facet, FacetChoice, active_filters
from tui.lists.record_rows import wrap_text
from tui.lists.view_state import PANE_LABELS, TAB_DIM, TAB_STRONG, tab_pieces, title_pieces
from tui.main_screen.navigation import kind_at_cursor, states_at_cursor
from tui.panes.controllers import Host
from tui.theme.escape import visible
from tui.theme.line_filters import Piece, fit_cells, pieces_width
from tui.widgets.bars import Sidebar
from tui.widgets.preview import Preview
from tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    pass


# Messages in the bottom line, always without markup, since the text may be untrusted.


class NoticeController:
    """Shows messages, and tracks the permanent ones."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._staying = set[str]()

    def say(
        self, text: str, severity: str = "information", timeout: float = 8, alone: bool = False, stays: bool = False
    ) -> None:
        """Show a message for `timeout` seconds; `alone` removes the others, except those that `stays`."""
        app = self.host.app
        if alone:
            kept = [one for one in app._notifications if one.message in self._staying]
            app.clear_notifications()
            for one in kept:
                app.notify(one.message, severity=one.severity, timeout=one.time_left, markup=False)
        if stays:
            self._staying.add(visible(text))
        app.notify(visible(text), severity=severity, timeout=timeout, markup=False)  # type: ignore[arg-type]

    def copy(self, text: str, what: str) -> None:
        """Copy a text to the clipboard, and report by which way."""
        self.host.run_worker(self._copy_text(text, what), group="copy", exit_on_error=False)

    async def _copy_text(self, text: str, what: str) -> None:
        self.say(f"Copied {what} {await copy_to_clipboard(self.host.app, text)}", alone=True)

    def action_messages(self) -> None:
        """Show in the preview what was said in this sitting, the newest first."""
        now, lines = self.host.clock(), []
        for at, text in reversed(self.host.app.messages):  # type: ignore[attr-defined]
            lines += [format_how_long_ago(now, at), f"  {text}", ""]
        self.host.pane.read_out(lines or ["Nothing was said yet."])

    def say_error(self, error: BaseException) -> None:
        """Report an error of the disk, the file or a defect, unless an equal message is still shown."""
        text = str(to_memoranda_error(error, self.host.location.path))
        if visible(text) not in [notice.message for notice in self.host.app._notifications]:
            self.say(text, "error", timeout=10)


# The sidebar: the panes and the filters of the current one, with counts, and at its foot what is under way. It stands
# beside the lists where there is room, and over them where it is asked for.

SIDEBAR_CELLS = 22  # cells of a line


class SidebarController:
    """Owns whether the sidebar is shown, and its lines."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._wanted: bool | None = None  # what the key said last; None: where there is room

    @property
    def is_shown(self) -> bool:
        """Tell whether the sidebar is on the screen."""
        return self.host.form == "-huge" if self._wanted is None else self._wanted

    @property
    def beside(self) -> bool:
        """Tell whether the sidebar is in the place of the tabs, and not over the lists."""
        return self.is_shown and self.host.form == "-huge"

    def action_sidebar(self) -> None:
        """Show the sidebar, or hide it."""
        self._wanted = not self.is_shown
        self.host.draw_titles()
        self.host.read_side()

    def leave(self) -> bool:
        """Hide it, if it covers the lists."""
        if not self.is_shown or self.beside:
            return False
        self._wanted = None
        self.host.draw_titles()
        return True

    def draw(self, sizes: Mapping[str, int], waiting: int, status: Sequence[Piece]) -> None:
        """Draw the sidebar, with the number of records of each pane, the waiting proposals, and what is under way."""
        host = self.host
        host.set_class(self.is_shown, "-sidebar")
        bar = host.widget_of_kind(Sidebar)
        if bar is None or not self.is_shown:
            return
        counts = {**sizes, INBOX: waiting}
        panes = [_pane_line(name, name == host.current, counts.get(name)) for name in PANE_NAMES]
        more: list[Piece] = [(f" {key_name('more.open')} More", TAB_DIM, "more")]
        if host.searching:
            facet: Facet | None = host.search_filters.kinds
            narrowed: Mapping[str, object] = host.search_filters.now()
        else:
            facet = host.facet_of(host.current)
            narrowed = active_filters(host.view, PANES_BY_NAME[host.current].filters)
        only: list[list[Piece]] = []
        if facet is not None and facet.choices:
            chosen = narrowed.get(facet.field)
            only = [[], [(f" Only  {key_name('list.only')}", "bold", "choose_filter")]]
            only += [_choice_line(facet.field, one, one.value == chosen) for one in facet.choices]
        name: list[Piece] = [(f" {fit_cells(visible(host.name_of_memory), SIDEBAR_CELLS)}", "bold", "open_memory")]
        foot = [
            [(f" {line}", *piece[1:])]
            for piece in status
            if piece[0].strip()
            for line in wrap_text(piece[0], SIDEBAR_CELLS, SIDEBAR_CELLS)
        ]
        bar.put_lines([name, [], *panes, more, *only], foot)


def _pane_line(name: str, current: bool, count: int | None) -> list[Piece]:
    """Return the line of a pane, with its number of records."""
    text = f"{'▸' if current else ' '}{PANE_KEYS[name]} {PANE_LABELS[name]}"
    number = "" if not count else f"{count:,}"
    look = TAB_STRONG if current else "bold $text-warning" if name == INBOX and count else ""
    return [(f"{text}{number:>{SIDEBAR_CELLS - cell_len(text)}}", look, f"pane('{name}')")]


def _choice_line(field: str, one: FacetChoice, chosen: bool) -> list[Piece]:
    """Return the line of a filter, with the number of records that it leaves."""
    number = "" if one.number is None else f"{one.number:,}"
    text = (
        f" {one.glyph or ' '} "
        f"{fit_cells(visible(one.word), SIDEBAR_CELLS - 5 - len(number)).rstrip()}{' ×' if chosen else ''}"
    )
    action = f"only({field!r}, {'' if chosen else one.value!r})"
    return [(f"{text}{number:>{SIDEBAR_CELLS - cell_len(text)}}", "bold reverse" if chosen else "", action)]


ZOOM_ACTION = "zoom('preview')"


class TopBarController:
    """Owns the texts of the bars."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.sidebar = SidebarController(host)
        self.counts: dict[str, int] = {}
        self._sizes: dict[str, int] = {}  # the number of rows of each list, once known
        self._status = "opening"
        self._backups = ""  # what is wrong with them
        self._waiting = 0  # proposals in the inbox
        self._held = False  # whether another program prevents a checkpoint of the WAL

    def set_status(self, status: str) -> None:
        """Show a status; empty for none."""
        self._status = status
        self.draw()

    def set_backups(self, trouble: str) -> None:
        self._backups = trouble
        self.draw()

    def set_held(self, held: bool) -> None:
        self._held = held
        self.draw()

    def set_waiting(self, count: int) -> None:
        self._waiting = count
        self.draw()

    def set_size(self, name: str, size: int | None) -> None:
        """Set the number of rows of a list; None if they are not counted."""
        if size is None:
            self._sizes.pop(name, None)
        else:
            self._sizes[name] = size

    @property
    def _roomy(self) -> bool:
        """Return whether the status has room beside the tabs: elsewhere they would move as it comes and goes."""
        return self.host.form == "-huge"

    def _under_way(self) -> list[Piece]:
        """Return the status of background work, two cells between any two parts."""
        pieces: list[Piece] = [("log held ", "$text-warning")] if self._held else []
        if self._status:
            pieces.append((f"{self._status} ", "$text-warning", "leave"))
        pieces += self.host.background_pieces()
        return [one for piece in pieces for one in ((" ", ""), piece)][1:]

    def draw(self) -> None:
        bar = self.host.bar("top")
        if bar is None:
            return  # another memory has replaced this one
        room, left = bar.size.width or 120, [*self._memory_name(" ", "  ")]
        narrow = self.host.form == "-narrow"  # the name and the status are beside the search
        self.host.search_bar.name_memory(self._memory_name("", " ") if narrow else ())
        if narrow:
            names = tab_pieces(self.host.current, self._waiting, room - 1)
            bar.put_both([*([(" ", "")] if pieces_width(names) < room - 1 else []), *names], ())
        elif not self.sidebar.beside:
            status = self._under_way() if self._roomy else []
            names = tab_pieces(
                self.host.current, self._waiting, room - pieces_width(left) - pieces_width(status) - 2
            )
            bar.put_both([*left, *names], [*status, (" ", "")])
        self.sidebar.draw(self._sizes, self._waiting, self._under_way())
        self._draw_figures()

    def _memory_name(self, before: str, after: str) -> list[Piece]:
        return [(f"{before}{visible(self.host.name_of_memory)}{after}", "bold", "open_memory")]

    def _draw_figures(self) -> None:
        """Show what is under way or wrong, and the model, beside the empty search bar."""
        figures = [] if self._roomy else self._under_way()
        if self._backups:
            figures += [("  ", ""), (self._backups, "$text-error", "doctor")]
        self.host.search_bar.tell(figures, self.host.model_forms())

    def draw_titles(self) -> None:
        """Draw the line above the current list, and the top line; name the keys by what the record at the cursor is."""
        host, name = self.host, self.host.current
        self.draw()
        if isinstance(host.focused, RecordList):
            host.footer.show_kind(kind_at_cursor(host.focused), states_at_cursor(host.focused))
        bar = host.bar("chips")
        if host.searching:
            host.draw_found()
        elif bar is not None:
            found = host.list_if_mounted(name)
            marked = len(found.marks) if found is not None else 0
            room = bar.size.width or 80
            facet = host.facet_of(name)
            bar.put_both(*title_pieces(name, host.view, self.counts, facet, self._sizes.get(name), marked, room))

    def draw_footer(self) -> None:
        """Show the keys of the current pane, or the text of its controller."""
        focused = self.host.focused
        if pieces := self.host.controller_of(self.host.current).footer():
            self.host.footer.hint(*pieces)
        elif isinstance(focused, Preview):
            keys = f"{key_name('list.page-up')} {key_name('list.page-down')}"
            # there z begins a question
            more = focused.paging(keys) if focused.id == LIBRARIAN else _zoom_hint()  # type: ignore[attr-defined]
            self.host.footer.show_pane(focused.id or "", [*_open_hint(focused.link), *more])
        elif isinstance(focused, RecordList):
            kind, states = kind_at_cursor(focused), states_at_cursor(focused)
            self.host.footer.show_pane(focused.id or "", _marked_hint(focused), kind, states)
        elif focused is not None and focused.id == "query" and (found := self.host.search_filters.completions()):
            pieces = [(" tab ", "$footer-key-foreground bold", f"complete_filter({found[0][0]!r})")]
            for text, count in found:
                number = "" if count is None else f" {count:,}"
                action = f"complete_filter({text!r})"
                pieces += [(f" {visible(text)}", "", action), (f"{number} ", "$dim", action)]
            self.host.footer.hint(*pieces)
        elif focused is not None and focused.id == "query":
            self.host.footer.hint(
                (" enter", "$footer-key-foreground bold", "to_hits"),
                (" goes to what was found ", "", "to_hits"),
                (" esc", "$footer-key-foreground bold", "leave"),
                (" leaves   kind: domain: is: tag: author: iteration: since: before: related:", "", "leave"),
            )


def _open_hint(link: str) -> list[Piece]:
    """Return what Enter does in the preview."""
    if not link:
        return []
    return [(" enter", "$footer-key-foreground bold", "open"), (f" opens {visible(link)} ", "", "open")]


def _zoom_hint() -> list[Piece]:
    """Return the key that shows what does not fit below a list; in a list's footer it comes late."""
    return [
        (f" {key_name('preview.alone')}", "$footer-key-foreground bold", ZOOM_ACTION),
        (" zoom ", "", ZOOM_ACTION),
    ]


def _marked_hint(shown: RecordList) -> list[Piece]:
    """Return what the keys apply to, if records are marked."""
    return [(f" {len(shown.marks):,} marked:", "$text-accent")] if shown.marks else []
