"""The pictures of the documents: in which sizes they are, and that a stale one is named."""

from pathlib import Path

import pytest

from screenshots import make


def test_each_layout_has_its_pictures_dark_and_light() -> None:
    layouts = {(columns >= 100) + (columns >= 160) for (columns, _), _ in make.PICTURES.values()}
    assert layouts == {0, 1, 2}
    kept = {path.name for path in make.FOLDER.glob("*.svg")}
    assert kept == {f"{name}-{mode}.svg" for name in make.PICTURES for mode in make.THEMES}


def test_a_picture_that_shows_what_is_no_more_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(make, "FOLDER", tmp_path)
    monkeypatch.setattr(make, "drawn", lambda name, mode: f"<svg><text x='9'>{name} {mode}&#160;in 4 ms</text></svg>")
    (tmp_path / "main-dark.svg").write_text("<svg><text>main dark in 31&#160;ms</text></svg>")
    (tmp_path / "main-light.svg").write_text("<svg><text>main light</text><text>as it was</text></svg>")
    assert make.main(["main", "--check"]) == 1
    assert capsys.readouterr().out == "main-light.svg is stale\n"
    (tmp_path / "main-light.svg").write_text("<svg><text>main light&#160;in 5 ms</text></svg>")
    assert make.main(["--check", "main"]) == 0
