"""A damaged memory is salvaged from within the application, which goes on with its own meanwhile."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.ours import ours
from support.screen import opened
from support.stories import copy

from store.memory import Memory
from tui.input.arguments import ParsedArguments, settle
from tui.input.verb_table import list_verbs


class Halted(subprocess.Popen[Any]):
    """A process that is stopped as soon as it is there."""

    started: "list[Halted]" = []  # noqa: RUF012

    def __init__(self, *words: Any, **more: Any) -> None:
        super().__init__(*words, **more)
        os.kill(self.pid, signal.SIGSTOP)
        self.started.append(self)


async def test_no_write_waits_for_a_salvage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """However long it takes: what is remembered meanwhile is there at once; in the end it says what it brought."""
    story = copy(tmp_path / "billing-api")
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(bytes(100) + story.path.read_bytes()[100:])
    async with opened(story.folder) as person:
        monkeypatch.setattr(subprocess, "Popen", Halted)
        person.main.run_line(f"health --salvage {damaged} --into {tmp_path}/new.db")
        await person.until(lambda: "health goes on beside everything else; it says when it is done." in person.toasts)
        await person.until(lambda: bool(Halted.started))
        try:
            person.main.run_line("remember Quarters close on the tenth")
            await person.until(lambda: any(said.startswith("Remembered F#") for said in person.toasts))
            assert not (tmp_path / "new.db").exists()
        finally:
            os.kill(Halted.started[0].pid, signal.SIGCONT)
        await person.until(lambda: f"Salvaged to {tmp_path}/new.db." in person.toasts)
        assert any("facts" in line and "read" in line for line in person.preview)
    ours(tmp_path / "new.db")
    with Memory.open(str(tmp_path / "new.db")) as memory:
        assert memory.facts.get(story.facts["nuts"]).fact == "Alérgica al maní"


def test_what_is_done_apart_opens_no_memory():
    """It has none to work with: nobody but the writer writes."""
    given = ParsedArguments(act=None, check=False, index=False, salvage="damaged.db", name=None, value=None)
    apart = [verb for verb in list_verbs() if settle(verb.apart, given)]
    assert {verb.name for verb in apart} == {"files", "health"}
    assert all(settle(verb.opens, given) == "nothing" for verb in apart)
