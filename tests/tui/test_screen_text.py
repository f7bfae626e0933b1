"""How much text the screen shows of the demo, at four sizes: no less than was tried before it was built so."""

from pathlib import Path

import pytest

from bench import screen_text
from tui.demo import builder as demo


@pytest.mark.whole
@pytest.mark.parametrize("size", screen_text.SIZES, ids=["80x24", "120x40", "160x45", "200x50"])
async def test_facts_are_shown_whole_and_few_lines_are_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    missed = await screen_text.measure(demo.build_demo(str(tmp_path), screen_text.NOW), size)
    assert not missed, capsys.readouterr().out
