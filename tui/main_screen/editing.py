"""Edit the text of a record where it stands in the preview; in the bottom line where it does not stand there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from tui.main_screen.commands.prompt import KEY, PromptHost
from tui.render.field_diff import LABEL
from tui.theme.escape import visible

if TYPE_CHECKING:
    from tui.widgets.text_editor import TextEditor

LEAST = 2  # lines that a text needs


class EditHost(PromptHost, Protocol):
    """The interface that editing needs of the screen."""

    def find(self, kind: type[Any]) -> Any: ...
    def ask(self, label: str, value: str, answer: Callable[[str], None], **how: bool) -> None: ...


class EditController:
    """Shows the editor, and passes its text on."""

    def __init__(self, host: EditHost) -> None:
        self.host = host
        self._answer: Callable[[str], None] = lambda text: None
        self._label = ""

    def edit_text(self, label: str, text: str, answer: Callable[[str], None]) -> None:
        """Have a text edited in the preview, or in a prompt where it cannot be seen there; then call `answer`."""
        preview = self.host.pane.preview
        place = preview.place_of(text, (0, LABEL))
        if place is None or preview.size.height - place[1] < LEAST:
            self.host.ask(label, text, answer)
            return
        self._answer, self._label = answer, label
        self.host.app.hold_keys()  # type: ignore[attr-defined]
        self.host.in_background(lambda: self._load(text, place), "edit", "load the editor", exclusive=True)

    def _load(self, text: str, place: tuple[int, int]) -> None:
        import tui.widgets.text_editor  # noqa: F401  (a tenth of a second, once)

        self.host.later(self._open, text, place)

    def _open(self, text: str, place: tuple[int, int]) -> None:
        from tui.widgets.text_editor import TextEditor

        self.close()
        editor = TextEditor(text, *place)
        editor.styles.width = self.host.pane.preview.size.width - place[0]
        self.host.pane.mount(editor)
        self.host.pane.call_after_refresh(self._begin, editor)

    def _begin(self, editor: TextEditor) -> None:
        self.host.set_focus(editor)
        self.host.footer.hint(
            (f" {visible(self._label)}", "bold $text-accent"),
            ("  enter", KEY, "end_edit(True)"),
            (" saves ", "", "end_edit(True)"),
            (" ^j", KEY),
            (" new line ", ""),
            (" ^u", KEY),
            (" empties the line ", ""),
            (" esc", KEY, "end_edit(False)"),
            (" leaves", "", "end_edit(False)"),
        )
        self.host.app.release_keys()  # type: ignore[attr-defined]

    def action_end_edit(self, keep: bool) -> None:
        """Keep the text, or leave it as it was, for a click."""
        from tui.widgets.text_editor import TextEditor

        if (editor := self.host.find(TextEditor)) is not None:
            self.left(editor.text if keep else None)

    def close(self) -> None:
        """Remove the editor, if there is one."""
        from tui.widgets.text_editor import TextEditor

        if (editor := self.host.find(TextEditor)) is not None:
            editor.remove()

    def left(self, text: str | None) -> None:
        """Remove the editor, give the focus back to the list, and pass its text on."""
        self.close()
        self.host.set_focus(self.host.list_of(self.host.place))
        self.host.draw_footer()
        if text is not None:
            self._answer(text)
        self.host.app.release_keys()  # type: ignore[attr-defined]
