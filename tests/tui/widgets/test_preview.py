"""How the preview wraps its lines."""

import pytest
from rich.cells import cell_len

from tui.widgets.preview import _cut_pieces, _wrap_pieces


@pytest.mark.parametrize("width", range(12, 60))
def test_a_citation_keeps_its_brackets(width: int) -> None:
    pieces = [
        ("Because      ", "label", -1),
        ("as the record has it: [", "", -1),
        ("F#12", "cite", 0),
        ("]. Cite nothing else (", "", -1),
        ("D#3", "cite", 1),
        (", ", "", -1),
        ("C#093fe85", "cite", 2),
        (").", "", -1),
    ]
    rows = ["".join(text for text, _, _ in row) for row in _wrap_pieces(pieces, width)]
    assert all(cell_len(row) <= width for row in rows)
    assert "".join("".join(rows).split()) == "".join("".join(text for text, _, _ in pieces).split())
    if width >= 24:  # room for the longest of them beside the label
        assert not any(row.rstrip().endswith(("[", "(")) for row in rows), rows
        assert not any(row.lstrip().startswith(("]", ")", ",")) for row in rows), rows


@pytest.mark.parametrize("text", ["Tell the studios about the importer", "Ώ" * 60, "漢字" * 30, "short"])
def test_a_line_that_is_cut_says_so(text: str) -> None:
    pieces = [("  ", "", -1), ("A#5", "cite", 0), (f"  {text}", "cut", -1)]
    shown = "".join(part for part, _, _ in _cut_pieces(pieces, 27))
    assert cell_len(shown) <= 27 and (shown == f"  A#5  {text}" or shown.endswith("…"))
