from pathlib import Path

import pytest
from support.guests import GuestHome


@pytest.fixture
def home(tmp_path: Path) -> GuestHome:
    folder = tmp_path / "guests"
    folder.mkdir()
    return GuestHome(folder)
