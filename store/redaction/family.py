"""One family of secrets: its label, and how its members look.

Writing a record:

- `keywords` are plain substrings, one of which stands in every secret of the family: the text is searched for them
  first, and the pattern is tried only there, or `back` characters before.
- The pattern says its own left edge with a lookbehind, and ends where no letter or digit follows, so that no cut makes
  room for the next. Bodies are greedy or possessive.
- What is already cut, or was a marker to begin with, is masked with NUL: a negated class must leave NUL out.
- A named group is what is cut; without one the whole match is.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence

MASK = "\0"
LEFT = r"(?<![A-Za-z0-9])"  # risk-…, MSG.…: the prefix is part of a word
RIGHT = r"(?![A-Za-z0-9])"


class Family:
    """A label and how its secrets look. The pattern is compiled at the first text that holds one of the keywords.

    `word`: the secret stands in one word of at least so many characters, so that a text without one is not searched;
    0 if it may hold spaces. Its keyword stands in that word too, unless it may stand `apart`. `needs`: one more
    substring, anywhere, without which the keywords are not looked for (words as common as "redis"). `fold`: keywords
    (lower case) and pattern ignore case. `back`: how far before a keyword the match begins. `accept`: a last word on a
    match, False for a placeholder.
    """

    __slots__ = ("_compiled", "accept", "apart", "back", "fold", "keywords", "label", "needs", "pattern", "word")

    def __init__(
        self,
        label: str,
        keywords: tuple[str, ...],
        pattern: str,
        *,
        word: int = 0,
        apart: bool = False,
        needs: str = "",
        fold: bool = False,
        back: "Sequence[int]" = (),
        accept: "Callable[[re.Match[str], str], bool] | None" = None,
    ) -> None:
        self.label = label
        self.keywords = keywords
        self.pattern = pattern
        self.word = word
        self.apart = apart
        self.needs = needs
        self.fold = fold
        self.back = back or (0,)
        self.accept = accept
        self._compiled: re.Pattern[str] | None = None

    def compiled(self) -> "re.Pattern[str]":
        """The pattern; `\\w` and case mean ASCII, since the text has been through NFKC."""
        if self._compiled is None:
            import re

            self._compiled = re.compile(self.pattern, re.ASCII | (re.IGNORECASE if self.fold else re.NOFLAG))
        return self._compiled
