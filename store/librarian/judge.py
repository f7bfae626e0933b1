"""Order records by a model's judgement: one yes or no for each, as the logarithm of the odds of one token.

A small model that is asked to choose among records chooses badly, and so does its plain yes or no. How much likelier
the one is than the other orders them well (`bench.questions`). The model never writes what is shown: beside the order
it may only name a sentence, by its number.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, NamedTuple, Protocol

from store.base import token_count
from store.base.errors import ModelFailed
from store.librarian import words as vocabulary
from store.text.fence import harmless

if TYPE_CHECKING:
    from store.llm.chat import Message

LOOKED = 8  # records that are judged
READ = 120  # tokens of a record that are read
YES, NO = ("Yes", "Sí", "Si", "S"), ("No",)
USUAL = -0.8  # the logarithm of the odds of a record that does not answer
OTHERS = 3  # records that are taken for the others, at least
# a record answers from this much: its odds, and as much again as they are above the median of the others. Both figures
# are chosen on the development half of `bench.questions`, with Qwen2.5-Coder 1.5B.
ANSWERS = -0.6
PLACE = 1.0  # of the odds, that the first place of the search is worth; the second half of it, the third a third …
PREDICT = 20  # tokens of the number of a sentence


@dataclass(frozen=True, slots=True)
class Form:
    sentence: int


class Judge(Protocol):
    """A model that answers yes or no. Raises ModelFailed."""

    def log_odds(
        self, messages: "Sequence[Message]", *, yes: Sequence[str], no: Sequence[str], seconds: float
    ) -> float:
        """The logarithm of the odds that the answer begins with a word of `yes` and not with one of `no`."""
        ...


class Readable(NamedTuple):
    """What is judged: a text, and a name for it."""

    citation: str
    text: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """The names in their order, with the odds of those that were judged; `answers`: one of them does. `trouble` is
    why not all were judged."""

    order: tuple[str, ...]
    odds: dict[str, float]
    answers: bool
    trouble: ModelFailed | None = None


def judged(
    judge: Judge,
    question: str,
    language: str,
    texts: Sequence[Readable],
    seconds: float,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Judgement:
    """Judge each of these texts, all within the `seconds`, and order them by their odds, the place that the search
    gave them as a weak second voice. Where the time is too short for all, those that answer come first and the rest
    stay in their order; where not one was judged, raises ModelFailed."""
    until = time.monotonic() + seconds
    odds: dict[str, float] = {}
    trouble: ModelFailed | None = None
    for place, one in enumerate(texts):
        progress(place, len(texts))
        try:
            left = until - time.monotonic()
            if left <= 0:
                raise ModelFailed("slow", f"Only {place} of {len(texts)} records were read in {seconds:.0f} s.")
            odds[one.citation] = judge.log_odds(messages(question, language, one), yes=YES, no=NO, seconds=left)
        except ModelFailed as failed:
            if not odds or failed.kind == "stopped":
                raise
            trouble = failed
            break
    names = [one.citation for one in texts]
    worth = {name: odds[name] + PLACE / place for place, name in enumerate(names, 1) if name in odds}
    answering = [name for name in odds if _mark(name, odds) >= ANSWERS]
    ahead = sorted(answering if trouble else odds, key=lambda name: -worth[name])
    return Judgement((*ahead, *(name for name in names if name not in ahead)), odds, bool(answering), trouble)


def _mark(name: str, odds: dict[str, float]) -> float:
    others = [value for other, value in odds.items() if other != name]
    return 2 * odds[name] - median([*others, *[USUAL] * (OTHERS - len(others))])


def messages(question: str, language: str, source: Readable) -> "list[Message]":
    """What is asked of one record. All but the end is the same for each, which a server reads once."""
    texts = vocabulary.table(language)["judge"]
    form = texts["form"]
    found: list[Message] = [("system", texts["who"])]
    for record, asked, answer in texts["examples"]:
        found += [("user", form.format(record, asked)), ("assistant", answer)]
    text = token_count.cut(" ".join(harmless(source.text).split()), READ)
    return [*found, ("user", form.format(text, harmless(question)))]


def sentence(
    answer: Callable[..., str], question: str, language: str, sentences: Sequence[str], seconds: float
) -> int | None:
    """The place of the sentence that answers, as a model names it by its number; None where it names none of them.
    Raises ModelFailed."""
    from store.llm.structured_output import numbered, read, schema

    system = vocabulary.table(language)["judge"]["span"]
    asked = [("system", system), ("user", f"{harmless(question)}\n{numbered(sentences)}")]
    number = read(answer(asked, schema=schema(Form), predict=PREDICT, seconds=seconds), Form).sentence
    return number - 1 if 1 <= number <= len(sentences) else None
