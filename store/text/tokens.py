"""Patterns that split a text into words."""

import re

# a word, with the characters that join its parts: `node.js`, `don't`, `v1.2`, `C++`, `ana@example.org`
WORD = re.compile(r"[^\W_]+(?:[.:'’+#/@-][^\W_]+)*[+#]*")
LETTERS = re.compile(r"\w+")  # letters and digits alone, as in the full-text index
