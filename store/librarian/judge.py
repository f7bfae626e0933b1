"""Ranking of records by a model: one yes-or-no question for each, as the log odds of one token.

A small model is bad at choosing among records, and at a plain yes or no. Its log odds of yes order them well
(`bench.questions`). The model writes nothing that is shown: besides the order, it may only choose a sentence by number.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from store.base import token_count
from store.base.errors import ModelFailed
from store.librarian import words as vocabulary
from store.llm.chat import Judge, Message
from store.llm.structured_output import numbered, read, schema
from store.text.fence import harmless

LOOKED, FIRST = 16, 8  # most records that are judged, and how many if one of these surely answers
READ = 120  # tokens of a record that are shown
YES, NO = ("Yes", "Sí", "Si", "S"), ("No",)
# A record answers if its log odds, with NEAR for what is found being wholly similar to the question, reach this. Chosen
# on 117 questions, the development halves of `bench.questions` and `bench.librarian`, with Qwen2.5-Coder 1.5B: what was
# never recorded is told from the rest with an area under the curve of .95, by the odds alone with .93, and with .89 by
# how far they are above the other records' odds.
ANSWERS, NEAR = 0.3, 3.0
SURE = 1.5  # the same of one that surely answers: on these questions no higher line found more
TYPICAL = 0.4  # similarity where none is known
PLACE = 1.0  # log odds added for the first place of the search; a half of it for the second, a third for the third …
PREDICT = 20  # tokens of an answer that is the number of a sentence


@dataclass(frozen=True, slots=True)
class Form:
    sentence: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """The citations in order, with the log odds of those that were judged; `answers`: whether any of them answers.
    `trouble` is why not all were judged."""

    order: tuple[str, ...]
    odds: dict[str, float]
    answers: bool
    trouble: ModelFailed | None = None


def rank(
    judge: Judge,
    question: str,
    language: str,
    texts: Mapping[str, str],
    seconds: float,
    progress: Callable[[int, int], None] = lambda done, total: None,
    similar: float = TYPICAL,
) -> Judgement:
    """Judge these texts (citation → text), the nearest of which is so `similar` to the question (0 to 1), within the
    `seconds`, and rank them by log odds, with a small bonus for their place in the search; those after the FIRST only
    if none of these surely answers. If time runs out, those that answer come first and the others keep their order.
    Raise ModelFailed where none of those that were judged until then answers."""
    until = time.monotonic() + seconds
    odds: dict[str, float] = {}
    trouble: ModelFailed | None = None
    for place, (name, text) in enumerate(texts.items()):
        if place == FIRST and max(odds.values()) + NEAR * similar >= SURE:
            break
        progress(place, len(texts) if place >= FIRST else min(FIRST, len(texts)))
        try:
            left = until - time.monotonic()
            if left <= 0:
                raise ModelFailed("slow", f"Only {place} of {len(texts)} records were read in {seconds:.0f} s.")
            odds[name] = judge.log_odds(messages(question, language, text), yes=YES, no=NO, seconds=left)
        except ModelFailed as failed:
            trouble = failed
            break
    worth = {name: odds[name] + PLACE / place for place, name in enumerate(texts, 1) if name in odds}
    answering = [name for name in odds if odds[name] + NEAR * similar >= ANSWERS]
    if trouble and (trouble.kind == "stopped" or not answering):
        raise trouble
    ahead = sorted(answering if trouble else odds, key=lambda name: -worth[name])
    return Judgement((*ahead, *(name for name in texts if name not in ahead)), odds, bool(answering), trouble)


def messages(question: str, language: str, record: str) -> list[Message]:
    """Return the messages for one record. All but the last are the same for every record, so a server can cache
    them."""
    said = vocabulary.table(language)["judge"]
    form = said["form"]
    found: list[Message] = [("system", said["who"])]
    for text, asked, answer in said["examples"]:
        found += [("user", form.format(text, asked)), ("assistant", answer)]
    read = token_count.cut(" ".join(harmless(record).split()), READ)
    return [*found, ("user", form.format(read, harmless(question)))]


def sentence(answer: Callable[..., str], question: str, language: str, sentences: Sequence[str], seconds: float) -> int:
    """Return the index of the sentence that answers according to a model, which names its number; one beyond the last
    where it names none. Raise ModelFailed."""
    system = vocabulary.table(language)["judge"]["span"]
    asked = [("system", system), ("user", f"{harmless(question)}\n{numbered(sentences)}")]
    number = read(answer(asked, schema=schema(Form), predict=PREDICT, seconds=seconds), Form).sentence
    return number - 1 if 1 <= number <= len(sentences) else len(sentences)
