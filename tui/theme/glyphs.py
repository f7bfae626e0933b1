"""Glyphs that a terminal may lack: the ASCII in their place, and which of them are heard."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from unicodedata import east_asian_width

# of these a screen reader says something of use
_SPOKEN_SIGNS = "…−“”«‹¿¡⟨⟩×→←↑↓⏎⟦\ufffd"


@cache
def ascii_table() -> dict[int, str]:
    """Return every glyph of ours, and of the widgets we use, with an ASCII replacement of the same width: of
    glyphs.tsv, a line a replacement."""
    lines = Path(__file__).with_name("glyphs.tsv").read_text(encoding="utf-8").splitlines()
    return {ord(glyph): instead for line in lines for instead, glyphs in [line.split("\t")] for glyph in glyphs}


@cache
def spoken_table() -> dict[int, str]:
    """Return our glyphs for who hears the screen: most are silent, since a word beside them says the same; a cursor, a
    mark and the state of a task are not."""
    silent = {code: " " for code in ascii_table() if not chr(code).isalnum() and chr(code) not in _SPOKEN_SIGNS}
    return silent | str.maketrans({"▸": ">", "✓": "*", "›": ">", "»": ">", "◧": ">", "☑": "x"})


def is_ascii_locale(environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether the locale explicitly is ASCII; Python would write UTF-8 all the same."""
    named = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    return named.upper() in ("C", "POSIX")


def lacks_glyphs(environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether the locale or the terminal's encoding lacks the glyphs."""
    stream = sys.__stdout__
    try:
        "●◐…".encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return True
    return is_ascii_locale(environ)


def replace_glyphs(error: UnicodeError) -> tuple[str, int]:
    """Handle an encoding error for `codecs`: replace our glyphs by ASCII of the same width, anything else by `?`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = [
        ascii_table().get(ord(char)) or ("??" if east_asian_width(char) in "WF" else "?")
        for char in error.object[error.start : error.end]
    ]
    return "".join(map(str, letters)), error.end
