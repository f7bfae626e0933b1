"""A pause silences the doors of one memory, for an hour, and no file of a project ends it."""

from pathlib import Path

import pytest
from conftest import Clock

from store.base import state_files as installation
from store.base.errors import StorageError
from store.doors.trust import get_pause_end, pause_doors, resume_doors


def test_a_pause_lasts_an_hour_and_is_of_one_memory(tmp_path: object, clock: Clock) -> None:
    one, other = f"{tmp_path}/one.db", f"{tmp_path}/other.db"
    until = pause_doors(one, clock.now)
    assert until == "2026-11-21T13:00:00.000Z"
    assert get_pause_end(one, clock.now) == until and get_pause_end(other, clock.now) == ""
    clock.advance(milliseconds=3_599_999)
    assert get_pause_end(one, clock.now)
    clock.advance(milliseconds=1)
    assert not get_pause_end(one, clock.now)
    pause_doors(one, clock.now, minutes=5)
    resume_doors(one)
    assert not get_pause_end(one, clock.now)


def test_a_pause_that_no_door_would_see_is_none(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "_write_problems", {})
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(StorageError, match="Nothing is paused"):
        pause_doors(f"{tmp_path}/one.db", clock.now)
    assert not get_pause_end(f"{tmp_path}/one.db", clock.now)
