"""What the stories of the application and the command line share: no model works beside them unless they ask for it."""

import sys

import pytest


@pytest.fixture(autouse=True)
def without_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keywords and rules alone, so that nothing is embedded or asked behind a story's back; `meaning` takes it away."""
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model,agent")


@pytest.fixture(autouse=True)
def no_checkpoint_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """None becomes due in the middle of a story that takes a busy machine a minute."""
    monkeypatch.setattr("tui.main_screen.background.checkpoints.TICK", sys.maxsize)


@pytest.fixture
def meaning(without_a_model: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real model of vectors answers."""
    monkeypatch.setenv("MEMORANDA_WITHOUT", "agent")
