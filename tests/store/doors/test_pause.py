"""A pause silences the doors of one memory, for an hour, and no file of a project ends it."""

from pathlib import Path

import pytest
from conftest import Clock

from store.base import installation
from store.base.errors import StorageError
from store.doors.pause import pause, paused_until, resume


def test_a_pause_lasts_an_hour_and_is_of_one_memory(tmp_path: object, clock: Clock) -> None:
    one, other = f"{tmp_path}/one.db", f"{tmp_path}/other.db"
    until = pause(one, clock.now)
    assert until == "2026-11-21T13:00:00.000Z"
    assert paused_until(one, clock.now) == until and paused_until(other, clock.now) == ""
    clock.advance(milliseconds=3_599_999)
    assert paused_until(one, clock.now)
    clock.advance(milliseconds=1)
    assert not paused_until(one, clock.now)
    pause(one, clock.now, minutes=5)
    resume(one)
    assert not paused_until(one, clock.now)


def test_a_pause_that_no_door_would_see_is_none(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "_trouble", [])
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(StorageError, match="Nothing is paused"):
        pause(f"{tmp_path}/one.db", clock.now)
    assert not paused_until(f"{tmp_path}/one.db", clock.now)
