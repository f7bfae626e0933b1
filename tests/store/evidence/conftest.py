"""A memory of a project under git."""

from pathlib import Path

import pytest
from support.bound import BoundProject

from store.memory import Memory


@pytest.fixture
def project(memory: Memory, tmp_path: Path) -> BoundProject:
    return BoundProject(memory, tmp_path)
