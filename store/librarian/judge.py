"""Ranking of records by a model: one yes-or-no question for each, as the log odds of one token.

A small model is bad at choosing among records, and at a plain yes or no. Its log odds of yes order them well
(`bench.questions`). The model writes nothing that is shown: besides the order, it may only choose a sentence by number.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from store.base.errors import ModelFailed
from store.librarian.question import QUESTION_LANGUAGES, load_language_table
from store.llm.chat import ChatMessage, JudgeModel
from store.llm.structured_output import make_form_schema, number_texts, parse_form
from store.text.fence import make_harmless
from store.text.words import shorten_to_tokens

MAX_JUDGED, FIRST_JUDGED = 16, 8  # most records that are judged, and how many if one of these surely answers
MAX_RECORD_TOKENS = 120  # tokens of a record that are shown
YES_WORDS, NO_WORDS = ("Yes", "Sí", "Si", "S"), ("No",)
# A record answers if its log odds, with SIMILARITY_ODDS for what is found being wholly similar to the question, reach
# this. Chosen on 117 questions, the development halves of `bench.questions` and `bench.librarian`, with Qwen2.5-Coder
# 1.5B: what was never recorded is told from the rest with an area under the curve of .95, by the odds alone with .93,
# and with .89 by how far they are above the other records' odds.
MIN_ANSWER_ODDS, SIMILARITY_ODDS = 0.3, 3.0
SURE_ANSWER_ODDS = 1.5  # the same of one that surely answers: on these questions no higher line found more
TYPICAL_SIMILARITY = 0.4  # similarity where none is known
FIRST_PLACE_ODDS = (
    1.0  # log odds added for the first place of the search; a half of it for the second, a third for the third …
)
SENTENCE_NUMBER_TOKENS = 20  # tokens of an answer that is the number of a sentence


@dataclass(frozen=True, slots=True)
class SentenceChoice:
    sentence: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """The citations in order, with the log odds of those that were judged; `answers`: whether any of them answers.
    `trouble` is why not all were judged."""

    order: tuple[str, ...]
    odds: dict[str, float]
    answers: bool
    trouble: ModelFailed | None = None


def rank_by_judgement(
    judge: JudgeModel,
    question: str,
    language: str,
    texts: Mapping[str, str],
    seconds: float,
    progress: Callable[[int, int], None] = lambda done, total: None,
    similar: float = TYPICAL_SIMILARITY,
) -> Judgement:
    """Judge these texts (citation → text), the nearest of which is so `similar` to the question (0 to 1), within the
    `seconds`, and rank them by log odds, with a small bonus for their place in the search; those after the FIRST_JUDGED
    only if none of these surely answers. If time runs out, those that answer come first and the others keep their
    order. Raise ModelFailed where none of those that were judged until then answers."""
    until = time.monotonic() + seconds
    odds: dict[str, float] = {}
    trouble: ModelFailed | None = None
    for place, (name, text) in enumerate(texts.items()):
        if place == FIRST_JUDGED and max(odds.values()) + SIMILARITY_ODDS * similar >= SURE_ANSWER_ODDS:
            break
        progress(place, len(texts) if place >= FIRST_JUDGED else min(FIRST_JUDGED, len(texts)))
        try:
            left = until - time.monotonic()
            if left <= 0:
                raise ModelFailed("slow", f"Only {place} of {len(texts)} records were read in {seconds:.0f} s.")
            odds[name] = judge.log_odds(
                judge_messages(question, language, text), yes=YES_WORDS, no=NO_WORDS, seconds=left
            )
        except ModelFailed as failed:
            trouble = failed
            break
    worth = {name: odds[name] + FIRST_PLACE_ODDS / place for place, name in enumerate(texts, 1) if name in odds}
    answering = [name for name in odds if odds[name] + SIMILARITY_ODDS * similar >= MIN_ANSWER_ODDS]
    if trouble and (trouble.kind == "stopped" or not answering):
        raise trouble
    ahead = sorted(answering if trouble else odds, key=lambda name: -worth[name])
    return Judgement((*ahead, *(name for name in texts if name not in ahead)), odds, bool(answering), trouble)


def judge_messages(question: str, language: str, record: str) -> list[ChatMessage]:
    """Return the messages for one record. All but the last are the same for every record, so a server can cache
    them."""
    said = load_language_table(language)["judge"]
    form = said["form"]
    found: list[ChatMessage] = [("system", said["who"])]
    for text, asked, answer in said["examples"]:
        found += [("user", form.format(text, asked)), ("assistant", answer)]
    read = shorten_to_tokens(" ".join(make_harmless(record).split()), MAX_RECORD_TOKENS)
    return [*found, ("user", form.format(read, make_harmless(question)))]


def choose_sentence(
    answer: Callable[..., str], question: str, language: str, sentences: Sequence[str], seconds: float
) -> int:
    """Return the index of the sentence that answers according to a model, which names its number; one beyond the last
    where it names none. Raise ModelFailed."""
    system = load_language_table(language)["judge"]["span"]
    asked = [("system", system), ("user", f"{make_harmless(question)}\n{number_texts(sentences)}")]
    number = parse_form(
        answer(asked, schema=make_form_schema(SentenceChoice), predict=SENTENCE_NUMBER_TOKENS, seconds=seconds),
        SentenceChoice,
    ).sentence
    return number - 1 if 1 <= number <= len(sentences) else len(sentences)


# Trial of a model: ten built-in questions with three records each, of which one answers or none does.


class TrialResult(NamedTuple):
    """The result of one question: the time it took, and whether the right record was ranked first, or none where none
    answers."""

    question: str
    right: bool
    seconds: float


def count_trial_questions() -> int:
    """Return the number of questions of the trial."""
    return sum(len(load_language_table(language)["trial"]) for language in QUESTION_LANGUAGES)


def run_trial(judge: JudgeModel, seconds: float) -> Iterator[TrialResult]:
    """Ask a model all questions, `seconds` for each, and yield each result. Raise ModelFailed."""
    for language in QUESTION_LANGUAGES:
        for one in load_language_table(language)["trial"]:
            begin = time.monotonic()
            records = {str(place): text for place, text in enumerate(one["records"], 1)}
            ordered = rank_by_judgement(judge, one["question"], language, records, seconds)
            first = int(ordered.order[0]) if ordered.answers else 0
            yield TrialResult(one["question"], first == one["right"], time.monotonic() - begin)
