"""The tokenizer of multilingual-e5-small: the likeliest pieces of each word (a unigram model, as SentencePiece has)."""

import re

from store.embedding.e5.weights import E5File

SPACE = "▁"  # stands for a space, as the first character of a piece and nowhere else
REMEMBERED = 20_000  # words whose pieces are kept
_WORD = re.compile(f"{SPACE}?[^{SPACE}]*")


class Tokenizer:
    """Turns texts into numbers of pieces. Any thread may call it."""

    def __init__(self, file: E5File) -> None:
        self._file = file
        self._longest = max(map(len, file.pieces))
        self._words: dict[str, list[int]] = {}

    def tokens(self, text: str) -> list[int]:
        """Return the numbers of a text's pieces, with the special ones at both ends."""
        text = re.sub("  +", " ", text.translate(self._file.normalized))
        text = (text if text.startswith(" ") else f" {text}").replace(" ", SPACE)
        found = [self._file.first]
        for word in _WORD.findall(text):
            if word:
                found += self._pieces(word)
        found.append(self._file.last)
        return found

    def _pieces(self, word: str) -> list[int]:
        known = self._words.get(word)
        if known is None:
            if len(self._words) >= REMEMBERED:
                self._words.clear()
            known = self._words[word] = self._likeliest(word)
        return known

    def _likeliest(self, word: str) -> list[int]:
        """Return the pieces with the highest sum of scores: Viterbi's algorithm."""
        file = self._file
        best: list[tuple[float, int, int]] = [(0.0, 0, 0)] + [(float("-inf"), 0, 0)] * len(word)  # score, piece, start
        for start in range(len(word)):
            score = best[start][0]
            for end in range(start + 1, min(len(word), start + self._longest) + 1):
                number = file.pieces.get(word[start:end])
                if number is not None and number != file.unknown:
                    best[end] = max(best[end], (score + file.scores.item(number), number, start))
            best[start + 1] = max(best[start + 1], (score + file.unlikely, file.unknown, start))
        found = []
        end = len(word)
        while end:
            _, number, end = best[end]
            found.append(number)
        return found[::-1]
