"""`memoranda verify` on the command line."""

import io
from pathlib import Path

import pytest
from support.commands import runner


def test_what_it_says_of_one_and_of_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    do = runner(capsys)
    do("init")
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text("x = 1\n")
        do("remember", f"It is one in {name}")
    do("bind", "1", "a.py:1-1")
    assert do("verify").out == "1 holds.\n"
    do("bind", "2", "b.py:1-1")
    assert do("verify").out == "2 hold.\n"
    (tmp_path / "a.py").unlink()
    assert do("verify").err == "1 piece of evidence changed or is gone.\n"
    (tmp_path / "b.py").write_text("x = 2\n")
    assert do("verify").err == "2 pieces of evidence changed or are gone.\n"
