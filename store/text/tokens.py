"""Patterns that split a text into words."""

import re

# a word, with the characters that join its parts: `node.js`, `don't`, `v1.2`, `C++`, `ana@example.org`
WORD = re.compile(r"[^\W_]+(?:[.:'’+#/@-][^\W_]+)*[+#]*")
LETTERS = re.compile(r"\w+")  # letters and digits alone, as in the full-text index
# as LETTERS, but a number with points is one word: 0.28.0, v1.2
WORDS = re.compile(r"(?<!\w)[vV]?\d+(?:\.\d+)+(?!\w)|\w+")
