"""Files that are looked at without waiting, and without a trace."""

import os
from pathlib import Path

import pytest

from store.base.runtime import open_at_once


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs to see what this process has open")
def test_neither_a_pipe_nor_a_folder_holds_the_process_up(tmp_path: Path) -> None:
    """A pipe that nobody writes to is read as empty; a folder is refused, and no descriptor of it stays open."""
    os.mkfifo(tmp_path / "pipe")
    opened = sorted(os.listdir("/proc/self/fd"))
    with open(tmp_path / "pipe", "rb", opener=open_at_once) as file:
        assert file.read() == b""
    with pytest.raises(IsADirectoryError), open(tmp_path, "rb", opener=open_at_once):
        pass
    assert sorted(os.listdir("/proc/self/fd")) == opened
