from pathlib import Path

import pytest
from support.guarded import GuardedHome


@pytest.fixture
def home(tmp_path: Path) -> GuardedHome:
    folder = tmp_path / "guarded"
    folder.mkdir()
    return GuardedHome(folder)
