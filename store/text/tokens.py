"""How a text is parted into words."""

import re

# a word, with what joins its parts: `node.js`, `don't`, `v1.2`, `C++`, `ana@example.org`
WORD = re.compile(r"[^\W_]+(?:[.:'’+#/@-][^\W_]+)*[+#]*")
LETTERS = re.compile(r"\w+")  # letters and digits alone, as the full-text index has them
