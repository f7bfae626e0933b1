"""A real file system that is soon full."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def small_disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A real file system of the size that the module names, where this machine lets us mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={request.module.DISK_SIZE}", "tmpfs", str(folder)]
    mounted = shutil.which("mount") and subprocess.run(mount, capture_output=True, check=False)
    if not mounted or mounted.returncode:
        pytest.skip("only root may mount a disk to fill")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
