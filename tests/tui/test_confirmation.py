"""What a person answers on the terminal to the question of a command."""

import io

import pytest
from support.tables import each

from store.memory import Memory
from tui.cli import run_command


class Keyboard(io.StringIO):
    def isatty(self) -> bool:
        return True


@each(
    "typed, yes",
    [
        *((word, True) for word in ("y\n", "YES\n", " s \n", "si", "sí\n", "SÍ\n")),
        *((word, False) for word in ("n\n", "no\n", "\n", "", "yes please\n", "yno\n")),
    ],
)
def test_only_a_yes_is_one_in_either_language(
    typed: str, yes: bool, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in capitals and with spaces around it; nothing typed, and the end of the input, are a no."""
    number = memory.checkpoints.take_checkpoint("here")
    monkeypatch.setattr("sys.stdin", Keyboard(typed))
    run_command(["checkpoint", "--remove", f"K#{number}", "--db", memory.location.path])
    assert (number not in [one.id for one in memory.checkpoints.list_newest_first()]) is yes
