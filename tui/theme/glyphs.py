"""ASCII replacements of our glyphs, for fonts and terminal encodings without them.

The command line starts fast, so this module imports nothing; ASCII text never needs it."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ASCII = str.maketrans(
    {
        # badges, kinds, boxes, marks
        "▲": "!", "▽": "-", "◐": "~", "★": "*", "•": ".", "◇": "?", "⊘": "0", "↷": ">", "≠": "#", "✕": "x",
        "●": "*", "○": "o", "◆": "D", "·": ",",
        "↻": "I", "☐": "_", "◧": "=", "☑": "X", "▪": "K", "↶": "<", "▸": ">", "▹": ":", "✓": "v",
        "›": ")", "»": "}", "¶": "P", "▫": "k", "↺": "r",
        # signs and punctuation
        "…": ".", "−": "-", "→": ">", "←": "<", "↑": "^", "↓": "v", "⌫": "<", "≡": "=", "“": '"', "”": '"', "«": "{",
        "‹": "<", "⟦": "[", "¦": "|", "¿": "?", "¡": "!",
        "⇧": "S", "⌥": "A", "⏎": "/", "×": "x", "⚠": "!",
        # marks of invisible characters, see `visible`
        "⟨": "<", "⟩": ">", "␡": "?", "\ufffd": "?", **{chr(code): "?" for code in range(0x2400, 0x2421)},
        # rules, frames, scrollbar thumbs and bars, including those of Textual's widgets
        **{chr(code): "+" for code in range(0x2500, 0x2580)}, **{chr(code): "#" for code in range(0x2580, 0x25A0)},
        **dict.fromkeys("─━┄┅┈┉═╌╍╴╶╸╺▔▀", "-"), **dict.fromkeys("│┃┆┇┊┋║╎╏╵╷╹╻▏▎▍▌▕▐", "|"),
        **dict.fromkeys("▁▂▃▄", "_"), "🔎": "/ ", "❯": ">", "⭘": "o", "❌": "x ",
    }
)  # fmt: skip
"""Every glyph of ours, and of the widgets we use, with an ASCII replacement of the same width."""

_SPOKEN = "…−“”«‹¿¡⟨⟩×→←↑↓⏎⟦\ufffd"  # of these a screen reader says something of use
SAID = {
    **{code: " " for code in ASCII if not chr(code).isalnum() and chr(code) not in _SPOKEN},
    ord("▸"): ">",
    ord("✓"): "*",
    ord("›"): ">",
    ord("»"): ">",
    ord("◧"): ">",
    ord("☑"): "x",
}
"""Our glyphs for who hears the screen: most are silent, since a word beside them says the same; a cursor, a mark and
the state of a task are not."""


def plain_locale(environ: "Mapping[str, str]" = os.environ) -> bool:
    """Return whether the locale explicitly is ASCII; Python would write UTF-8 all the same."""
    named = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    return named.upper() in ("C", "POSIX")


def only_plain(environ: "Mapping[str, str]" = os.environ) -> bool:
    """Return whether the locale or the terminal's encoding lacks the glyphs."""
    stream = sys.__stdout__
    try:
        "●◐…".encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return True
    return plain_locale(environ)


def instead(error: UnicodeError) -> tuple[str, int]:
    """Handle an encoding error for `codecs`: replace our glyphs by ASCII of the same width, anything else by `?`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    from unicodedata import east_asian_width

    letters = [
        ASCII.get(ord(char)) or ("??" if east_asian_width(char) in "WF" else "?")
        for char in error.object[error.start : error.end]
    ]
    return "".join(map(str, letters)), error.end
