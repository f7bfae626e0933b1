"""How a text of the memory, a number and a path are written for people, on a screen or not.

Text in the memory is untrusted: a web page that an agent read, a commit message, another agent. Terminals execute
control sequences and readers trust what they see, so nothing that moves the cursor, sets the clipboard, reorders a line
or is invisible may reach either. Nothing is dropped: hidden characters are shown as marks.

The command line prints through here and starts fast, so this module imports no more than `os` and `re`."""

from __future__ import annotations

import os
import re

# Invisible characters for which `str.isprintable` is true: grapheme joiner, Hangul fillers, inherent Khmer vowels,
# Mongolian selectors, variation selectors (U+FE0F among them: whether it may stay depends on its neighbour).
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)

# Everything that may become a mark; compiled by `re` on first use, since it takes 2 ms.
_SUSPECT = (
    "["
    # C0, DEL, C1
    "\0-\x1f\x7f-\x9f"
    # soft hyphen, joiner, Arabic mark, fillers, selectors
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    # zero width, bidi marks, embeddings and isolates, separators, operators
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    # filler, variation selectors, BOM, filler, annotation
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    # lone surrogates, noncharacters, and those of the other planes:
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
    # format controls of scripts and music
    + "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    # tag characters (ASCII in disguise), more selectors, the rest ignorable by definition
    "\U000e0000-\U000e0fff"
    "]"
)
_NEWLINE = "\r\n|[\n\u2028\u2029]"
_TAB = "    "


def _mark(match: re.Match[str]) -> str:
    """Return the mark of a suspect character: its control picture or its code in brackets; itself if it joins an emoji
    or letter.

    U+200D and U+FE0F are valid after a symbol or an Indic or Arabic letter. After a Latin letter, another joiner or at
    the start they hide something, but keycaps, © and ® may take U+FE0F."""
    char, start = match[0], match.start()
    if char in "\u200d\ufe0f" and start:
        before = match.string[start - 1]
        if before >= "\u0250" and before != "\u200d" and (before != "\ufe0f" or char == "\u200d"):
            return char
        if char == "\ufe0f" and before in "0123456789#*©®":
            return char
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def visible(text: str, newlines: bool = False) -> str:
    """Replace everything that a terminal would execute, or a reader would not see, by a visible mark.

    A newline stays only with `newlines`, else it becomes ` ⏎ `; `\\r\\n` is one newline; a tab becomes four spaces.
    Idempotent. Ordinary text is returned as the same object, after 0.2 µs for 100 characters of ASCII and 0.7 µs of any
    script."""
    if text.isprintable() and (text.isascii() or not _UNSEEN.search(text)):
        return text
    text = text.replace("\t", _TAB)
    if newlines:
        return "\n".join([re.sub(_SUSPECT, _mark, line) for line in text.replace("\r\n", "\n").split("\n")])
    return re.sub(_SUSPECT, _mark, re.sub(_NEWLINE, " ⏎ ", text))


def visible_lines(text: str) -> str:
    """Return `text` as the command line prints it: visible, with its newlines."""
    return visible(text, newlines=True)


def shorten(text: str, width: int = 60) -> str:
    """Return a text in one line, with control characters made visible, truncated to `width` cells."""
    shown = visible(text)
    return shown if len(shown) <= width else shown[: width - 1] + "…"


def tilde_path(path: str) -> str:
    """Return a path with ~ for the home directory."""
    home = os.path.join(os.path.expanduser("~"), "")
    return f"~/{path.removeprefix(home)}" if path.startswith(home) else path


def home_path(path: str) -> str:
    """Return a path with ~ for the home directory, escaped."""
    return visible(tilde_path(path))


# Format counts of things, and what is said of them.


def format_count(things: int, word: str) -> str:
    """Return `1 fact`, `3 facts`."""
    return f"{things:,} {word}" if things == 1 else f"{things:,} {word}s"


def agree_verb(things: int, words: str) -> str:
    """Return words that begin with a verb in the plural, with the verb in the number of the things: `1 turn
    waits`, `3 turns wait`."""
    verb, _, rest = words.partition(" ")
    if things == 1:
        verb = "is" if verb == "are" else f"{verb}s"
    return f"{verb} {rest}" if rest else verb


def format_bytes(number: float) -> str:
    """Format bytes as `68 B`, `812 MB`, `1.9 GB`."""
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= step:
            few = number / step
            return f"{few:.1f} {unit}" if few < 10 else f"{few:.0f} {unit}"
    return f"{number:.0f} B"


def format_size(number: int) -> str:
    """Format bytes as `83.2 kB`, `1.4 MB`."""
    return f"{number / 1_000_000:,.1f} MB" if number >= 100_000 else f"{number / 1000:.1f} kB"


def format_seconds(number: float) -> str:
    """Format seconds as `0.8 s`, `42 s`, `1 min 35 s`, `2 h 5 min`."""
    if number < 10:
        return f"{number:.1f} s"
    whole = round(number)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
