"""A pane without an application: what it reads, and what its keys do, at once and on this thread."""

import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from store.base.errors import MemorandaError
from store.config.configuration import load_config
from tui.actions.action import Action
from tui.panes.pane import EntryRows, Loaded, Pane, Reading, View
from tui.workers.engine import Engine
from tui.workers.model_worker import ModelWorker


class PaneScreen:
    """The main screen, as an action sees it: it does at once what is asked for, and answers the forms with `types`, a
    text for all fields of each; None leaves it."""

    def __init__(self, pane: Pane, engine: Engine) -> None:
        self.pane, self.engine = pane, engine
        self.said: list[str] = []
        self.ran: list[str] = []  # lines, and what was copied
        self.told: list[str] = []  # how far a reading was
        self.types: list[str | None] = []
        self.forms: list[Any] = []
        self.view = View()
        self.last: Loaded | None = None
        modeller = ModelWorker(lambda: None)
        self.app: Any = SimpleNamespace(modeller=modeller, push_screen=self._answer, configure_again=self._configure)
        self._configure()

    def close(self) -> None:
        self.app.modeller.close()
        self.engine.close()

    def _configure(self) -> None:
        self.app.config = load_config(self.engine.location)
        self.app.theme = self.app.config["theme"] or "textual-dark"

    def _answer(self, form: Any, answered: Callable[[dict[str, str] | None], None]) -> None:
        self.forms.append(form)
        typed = self.types.pop(0) if self.types else None
        answered(None if typed is None else {field.name: typed for field in form._fields})

    # what an action may ask for

    def say(self, text: str, level: str = "information") -> None:
        self.said.append(text)

    def copy(self, text: str, what: str) -> None:
        self.ran.append(text)

    def run_line(self, line: str) -> None:
        self.ran.append(line)

    def refresh_rows(self, select: object = None) -> None:
        """Nothing is drawn."""

    def go_to(self, name: str, **chosen: str | None) -> None:
        self.view = self.view.choose(**chosen)

    def later(self, function: Callable[..., object], *given: object) -> None:
        function(*given)

    def perform(self, action: Action, things: Sequence[Any]) -> None:
        assert action.does is not None
        try:
            self.said.append(action.does(self.engine.screen, things).text)
        except MemorandaError as error:
            self.said.append(str(error))

    # what a person does and sees

    def read(self, **chosen: str) -> EntryRows:
        view = self.view.choose(**chosen)
        kept = self.last.kept if self.last is not None else None
        reading = Reading(self.engine, self.engine.screen, view, -1, self.last, kept, self.told.append)
        self.last = self.pane.read(reading)
        assert isinstance(self.last.rows, EntryRows)
        return self.last.rows

    def entry(self, key: str, **chosen: str) -> Any:
        rows = self.read(**chosen)
        index = rows.index_of(key)
        assert index is not None, f"{key} is not there"
        return rows.entries[index]

    def lines(self, width: int = 78, **chosen: str) -> list[str]:
        rows = self.read(**chosen)
        drawn = [line for index in range(len(rows)) for line in rows.lines(index, width)]
        return ["".join(text for text, _ in line).rstrip() for line in drawn]

    def line(self, start: str, width: int = 78, **chosen: str) -> str:
        """Return the line of a row whose name begins so."""
        return next(line for line in self.lines(width, **chosen) if line[2:].startswith(start))

    def more(self, key: str, **chosen: str) -> str:
        """Return the preview of a row."""
        return "\n".join("".join(text for text, _ in line) for line in self.entry(key, **chosen).describe())

    @property
    def title(self) -> str:
        """Return what the title says beside the chips."""
        return "".join(text for text, *_ in self.last.says) if self.last is not None else ""

    def press(self, id: str, key: str, **chosen: str) -> bool:
        """Press the key of an id on a row; return whether it does anything."""
        thing = self.entry(key, **chosen).thing
        for action in self.pane.actions:
            if action.key == id and action.run is not None and action.things([thing]):
                action.run(self, [thing])  # type: ignore[arg-type]
                return True
        return False

    def until(self, condition: Callable[[], object], seconds: float = 30) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "\n".join(["this did not come about:", *self.lines(), *self.said])
            time.sleep(0.01)
