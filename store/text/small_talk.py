"""Detect texts that say nothing by themselves, and small talk: a greeting, thanks, a farewell or laughter, in Spanish
or English.

An answer is never small talk, however short: "sí", "ok" and "dale" decide things.
"""

import re
import tomllib
from functools import cache
from pathlib import Path

from store.text import vocabulary
from store.text.folding import normalize
from store.text.tokens import LETTERS

TALK = 90  # characters: a longer text is not small talk
BRIEF = 60  # characters: a longer text says something

_EMOJI = r"\U0001F300-\U0001FAFF☀-➿️‍"
_SIGNS = re.compile(rf"[\s.!¡¿?:;()…{_EMOJI}-]+")


@cache
def _whole_turn() -> re.Pattern[str]:
    """Return the pattern of a turn that is nothing else."""
    phrases = tomllib.loads(Path(__file__).with_name("small_talk.toml").read_text(encoding="utf-8"))["small_talk"]
    return re.compile(
        rf"[\s{_EMOJI}]*(?:(?:{'|'.join(phrases)})(?!\w)"
        r"(?:[\s,]+(?:there|everyone|all|claude|amigo|amiga|equipo|team|che|todos|man|mate))?"
        rf"[\s,.!¡¿?:;)…{_EMOJI}-]*)+",
        re.IGNORECASE,
    )


def small_talk(text: str) -> bool:
    """Return whether a turn is only a greeting, thanks, a farewell or laughter, in Spanish or English."""
    plain = text.strip()
    if len(plain) > TALK:
        return False
    bare = plain.lstrip("¡¿ ")
    return bool(_whole_turn().fullmatch(bare) or _SIGNS.fullmatch(bare)) if bare else True


def says_something(text: str) -> bool:
    """Return whether a text has a content word: not only signs, stop words, and words of assent, thanks and
    greeting."""
    if len(text) > BRIEF:
        return True
    empty = vocabulary.stop_words("search") | vocabulary.words("stop", "assent")
    return any(normalize(word) not in empty and word.lower() not in empty for word in LETTERS.findall(text))
