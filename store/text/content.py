"""Whether a text says anything by itself."""

from store.text import vocabulary
from store.text.folding import normalize
from store.text.tokens import LETTERS

BRIEF = 60  # characters: a longer text says something


def says_something(text: str) -> bool:
    """Return whether a text has a content word: not only signs, stop words, and words of assent, thanks and
    greeting."""
    if len(text) > BRIEF:
        return True
    empty = vocabulary.stop_words("search") | vocabulary.words("stop", "assent")
    return any(normalize(word) not in empty and word.lower() not in empty for word in LETTERS.findall(text))
