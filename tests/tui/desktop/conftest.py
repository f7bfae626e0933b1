"""Editors, and where they find their texts."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go, and nobody's editor."""
    room = tmp_path / "tmp"
    room.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    return room


Script = Callable[..., str]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Makes an editor out of lines of shell; $1 is the file."""

    def script(body: str, name: str = "editor") -> str:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return str(path)

    return script
