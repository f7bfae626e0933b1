"""The Librarian: answers a question about the past by quoting the records that contain the answer.

Questions about the data are answered with filters of the search bar. For any other question it searches; a model may
reorder the first results, choose a sentence, or say that none answers. It writes nothing that is shown. Without a model
the order is the search's.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from store.base.citations import cite, parse_citation
from store.base.errors import ModelFailed
from store.base.models import Fact, GlobalFact, Proposal, Record, commit_subject_lines
from store.context.selection import find_accepted_ids
from store.history.restore_plan import list_happenings
from store.librarian.answer import (
    LISTED_RECORDS,
    MAX_NAMED_NEAREST,
    SHOWN_RESULTS,
    AnswerSource,
    CitedSentence,
    LibrarianAnswer,
    Retriever,
    compose_count,
    compose_left_out,
    compose_nearest,
    compose_records,
    compose_statement,
    find_absent_words,
    find_question_names,
    find_quote_span,
    find_turned_down,
    load_sources,
    select_quotable,
    share_of_words,
    strip_choice_words,
    time_of_record,
)
from store.librarian.chat import ChatMessage, ChatModel, JudgeModel
from store.librarian.question import (
    ASKS_NEWEST,
    ASKS_OLDEST,
    QUESTION_LANGUAGES,
    TIME_FILTERS,
    ParsedQuestion,
    load_language_table,
    parse_question,
    speaks_of_decision,
)
from store.librarian.structured_output import (
    ModelSession,
    count_fallback,
    make_form_schema,
    number_texts,
    parse_form,
)
from store.memory import Memory
from store.personal.memory import find_personal_memory
from store.records.commits import read_moment
from store.search.answer_cache import AnswerCache
from store.search.lookup import find_oldest, find_records
from store.search.pipeline import searchable_text
from store.search.query_parser import matches_author
from store.search.results import EXACT_HIT, FAR_HIT, NO_HIT, SearchAnswer
from store.text.fence import make_harmless
from store.text.sentences import find_sentence_spans
from store.text.similarity import split_question
from store.text.words import shorten_to_tokens

# Ranking of records by a model: one yes-or-no question for each, as the log odds of one token.
#
# A small model is bad at choosing among records, and at a plain yes or no. Its log odds of yes order them well
# (`bench.questions`). The model writes nothing that is shown: besides the order, it may only choose a sentence by
# number.

# most records that are judged, and how many if one of these surely answers
MAX_JUDGED, FIRST_JUDGED = 16, 8
# tokens of a record that are shown
MAX_RECORD_TOKENS = 120
YES_WORDS, NO_WORDS = ("Yes", "Sí", "Si", "S"), ("No",)
# A record answers if its log odds, with SIMILARITY_ODDS for what is found being wholly similar to the question, reach
# this. Chosen on 117 questions, the development halves of `bench.questions` and `bench.librarian`, with Qwen2.5-Coder
# 1.5B: what was never recorded is told from the rest with an area under the curve of .95, by the odds alone with .93,
# and with .89 by how far they are above the other records' odds.
MIN_ANSWER_ODDS, SIMILARITY_ODDS = 0.3, 3.0
# the same of one that surely answers: on these questions no higher line found more
SURE_ANSWER_ODDS = 1.5
# similarity where none is known
TYPICAL_SIMILARITY = 0.4
# log odds added for the first place of the search; a half of it for the second, a third for the third …
FIRST_PLACE_ODDS = 1.0
# tokens of an answer that is the number of a sentence
SENTENCE_NUMBER_TOKENS = 20


@dataclass(frozen=True, slots=True)
class SentenceChoice:
    sentence: int


class Judgement(NamedTuple):
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


# What happened to records in the time that a question names, as the history of the memory says it.


def find_changed_records(
    memory: Memory, asked: ParsedQuestion, matches: list[AnswerSource], number: int
) -> tuple[list[AnswerSource], int]:
    """Return (the records that changed in the time of a question, each with what happened to it, and the `matches` of
    its filters; how many there are, with all `number` that pass these). What came into a state then, only history
    knows."""
    filters, state = asked.filters, asked.filters.get("is", "")
    states = {state, "correction"} if state == "superseded" and not asked.counts else {state}
    span = {name: read_moment(memory.database, filters[name]) for name in TIME_FILTERS if name in filters}
    told = {
        one.citation: one
        for one in list_happenings(memory.database, **span)
        if one.kind in filters.get("kind", one.kind).split(",")
        and (states.intersection(one.states) if state else one.says)
        and matches_author(one.actor, filters.get("by", ""))
    }
    found = load_sources(memory.database, find_records(memory.database, map(parse_citation, told)))
    found = [one._replace(happened=told[one.citation].says, at=told[one.citation].at) for one in found]
    # of an iteration history does not know when it began
    if state not in ("", "progress"):
        return found, len(found)
    others = [one for one in matches if one.citation not in told]
    return [*found, *others], number - len(matches) + len(others) + len(found)


# name in the statistics of use
ANSWER_TASK = "answer"
# most records of a list that are read and sorted
MAX_LIST_RECORDS = 500
# characters of a field from which a model chooses the sentence
LONG_FIELD = 260
# most searches for the newest or the oldest
MAX_REPEATED_SEARCHES = 6
# most sentences that it chooses among
MAX_CHOICE_SENTENCES = 12
# similarity from which a record may answer a question with a name that it has not; on the development half of the
# questions the nearest of what was refused for a name had 0.42
CLOSE_SIMILARITY = 0.5
# share of a question's words that a record must have for no doubt to be raised of what it says
MOST_WORDS_SHARE = 0.6
# kind → field that may be long
LONG_FIELDS = {"fact": "fact", "turn": "text", "document": "text", "commit": "message"}
FACT_KINDS = ("fact", "global")
STATEMENT_KINDS = (*FACT_KINDS, "decision")
NONE_ANSWERS_NOTE = "By these odds none of the records answers."
STOPPED_NOTE = "stopped before the model had answered; this is the order of the search"


ShowSentences = Callable[[tuple[CitedSentence, ...]], None]
ShowJudged = Callable[[int, int], None]


class _Retrieval(NamedTuple):
    """What a search found for a question, which is `about` a text: the best records (`matches`), those that are quoted
    without a model, and whether they are `exact`; `nothing`: none is near it; the words that no record has
    (`missing`); `unheard`: a name is among these; `similar`: how similar the nearest is (0 to 1)."""

    asked: ParsedQuestion
    about: str
    matches: list[AnswerSource]
    quoted: list[AnswerSource]
    exact: bool
    nothing: bool = False
    missing: Sequence[str] = ()
    unheard: bool = False
    similar: float = TYPICAL_SIMILARITY


class Librarian:
    """Answers questions about one memory, on a worker thread."""

    def __init__(self, memory: Memory, retriever: Retriever | None = None) -> None:
        self._memory = memory
        self._search: Retriever = retriever or partial(memory.search, told=True)

    def ask(
        self,
        question: str,
        chat: ChatModel | None = None,
        *,
        last: LibrarianAnswer | None = None,
        why: str = "",
        first: ShowSentences = lambda parts: None,
        cancelled: Callable[[], bool] = lambda: False,
        waiting: ShowJudged = lambda done, total: None,
    ) -> LibrarianAnswer:
        """Answer a question. `first` receives the first search results before any model reads them, `waiting` (records
        judged, records in total). `last` is the previous answer, to which this question may refer. Without a `chat`
        rules answer, and `why` is shown as the reason. Raise StorageError; a model's failure is handled."""
        begin = time.monotonic()
        memory = self._memory
        asked = parse_question(question, memory, last.topic if last else None)
        answer = self._answer_from_list(asked) if asked.lists else None
        if answer is None and (asked.cited or (asked.follows and not asked.about)):
            matches = self._cited_sources(map(str, asked.cited) if asked.cited or not last else last.ground)
            parts = compose_records(asked, matches, memory.now)
            answer = _make_answer(asked, parts, matches) if matches else self._answer_nothing(asked)
        elif answer is None:
            answer = self._answer_by_search(asked, chat, last, why, first, waiting)
        leans = bool(last) and (asked.follows or answer.nothing)
        return answer._replace(
            seconds=time.monotonic() - begin,
            topic=last.topic if last and leans else asked,
            ground=last.ground if last and answer.nothing else answer.citations,
            cancelled=cancelled(),
        )

    # questions about the data

    def _answer_from_list(self, asked: ParsedQuestion) -> LibrarianAnswer | None:
        """Return the records that pass the filters of a question and have the rest of its words, the newest or the
        oldest of them, or their number; None where none has these words."""
        database, query = self._memory.database, asked.filter
        found = self._search(query, MAX_LIST_RECORDS, meaning=bool(asked.typed))
        records = _exact_records(found) if asked.rest else [hit.record for hit in found.hits]
        number = found.exact if asked.rest else max(found.total, len(records))
        if asked.rest and asked.first:
            records = self._search_beyond(asked, records, number)
        elif number > len(records) and (asked.counts or asked.first == ASKS_OLDEST):
            records += find_oldest(database, query)
        if asked.rest and not records:
            return None
        matches = load_sources(database, records)
        if asked.asks_history:
            matches, number = find_changed_records(self._memory, asked, matches, number)
            query = "" if any(one.at for one in matches) else query
        if not asked.typed:
            upwards = asked.first == ASKS_OLDEST or asked.counts
            matches.sort(key=lambda one: (one.at or time_of_record(one.record), one.citation), reverse=not upwards)
        if asked.first:
            number = len(matches := self._select_first(asked, matches))
        if asked.counts:
            return _make_answer(
                asked, compose_count(asked, matches, number, self._memory.now), matches, filter=query
            )
        # what passes the filters at another time is nearest
        if not matches:
            kept = {name: value for name, value in asked.filters.items() if name not in TIME_FILTERS}
            wider = replace(asked, filters=kept).filter
            near = self._search(wider, MAX_NAMED_NEAREST, meaning=bool(asked.typed), far=True)
            return self._answer_nothing(
                asked, load_sources(database, [one.record for one in near.hits or near.nearest]), filter=query
            )
        shown = matches[:LISTED_RECORDS]
        parts = compose_records(asked, shown, self._memory.now, brief=not (asked.first or asked.rest))
        if number > LISTED_RECORDS:
            parts.append(compose_left_out(asked, shown, number))
        return _make_answer(asked, parts, matches, filter=query)

    @staticmethod
    def _select_first(asked: ParsedQuestion, matches: list[AnswerSource]) -> list[AnswerSource]:
        """Return the newest or the oldest of sources in this order: the first whose title calls it so, else the
        first that happened and says it in its first line, else the first that mentions it."""
        if not asked.rest:
            return matches[:1]
        stated = [
            one
            for one in matches
            if one.kind in STATEMENT_KINDS and asked.calls_first(split_question(searchable_text(one.record)))
        ]
        happened = [one for one in matches if one.kind not in FACT_KINDS] or matches
        titled = [
            one
            for one in happened
            if share_of_words(asked.rest, split_question(commit_subject_lines(searchable_text(one.record)))) == 1
        ]
        return (stated or titled or happened)[:1]

    def _search_beyond(self, asked: ParsedQuestion, records: list[Record], number: int) -> list[Record]:
        """Return the records that a search returned, of `number`, and those beyond the newest or the oldest of them: it
        returns a limited number."""
        for _ in range(MAX_REPEATED_SEARCHES):
            if number <= len(records):
                break
            ends = sorted(map(time_of_record, records))
            end = {"since": ends[-1]} if asked.first == ASKS_NEWEST else {"before": ends[0]}
            found = self._search(
                replace(asked, filters={**asked.filters, **end}).filter, MAX_LIST_RECORDS, meaning=False
            )
            records, number = [*records, *_exact_records(found)], found.exact
        return records

    def _answer_nothing(
        self, asked: ParsedQuestion, near: Sequence[AnswerSource] = (), without: Sequence[str] = (), **more: Any
    ) -> LibrarianAnswer:
        """Return that no record answers, or has the words `without`; `near` are the nearest."""
        none = compose_statement(asked, "without" if without else "nothing", without)
        return _make_answer(
            asked, [none], near, nothing=True, near=compose_nearest(asked, near, self._memory.now), **more
        )

    # other questions

    def _answer_by_search(
        self,
        asked: ParsedQuestion,
        chat: ChatModel | None,
        last: LibrarianAnswer | None,
        why: str,
        first: ShowSentences,
        waiting: ShowJudged,
    ) -> LibrarianAnswer:
        """Return the answer that a search finds: in the order of a model's judgement, or in the search's."""
        about = f"{last.asked.text} {asked.text}" if last and asked.follows else asked.text
        if chat is not None and not asked.follows and (known := self._find_cached_answer(chat, asked)):
            return known
        newest = self._memory.database.newest_step()
        found = self._retrieve(asked, about)
        first(() if found.nothing else tuple(compose_records(asked, found.quoted, self._memory.now)))
        readable = self._select_readable(found.matches) if chat is not None and not found.unheard else []
        if chat is None or not readable:
            return self._answer_by_rule(found, why)
        began, database = time.monotonic(), self._memory.database
        model = ModelSession(chat, float(self._memory.config["agent.patience"]), database)
        try:
            answer = self._answer_by_model(found, model, readable, waiting)
        except ModelFailed as failed:
            if failed.kind == "stopped":
                return self._answer_by_rule(found, STOPPED_NOTE)
            model.count_call(ANSWER_TASK, began, failed.kind, dropped=failed.message)
            count_fallback(database, ANSWER_TASK)
            return self._answer_by_rule(found, f"{failed} The order is the search's.")
        if not (answer.nothing or answer.note or asked.follows):
            AnswerCache(self._memory.database, self._memory.search).store_answer(
                asked.text, answer.text, answer.sources[:SHOWN_RESULTS], seq=newest, by=chat.name
            )
        return answer

    def _retrieve(self, asked: ParsedQuestion, about: str) -> _Retrieval:
        """Return what a search finds for a question, the decisions that turned down what it asks about first."""
        matches, found = self._search_records(about, asked)
        quoted, exact = select_quotable(matches, found)
        turned, alone = find_turned_down(self._memory.database, asked)
        if turned:
            matches = [*turned, *(one for one in matches if one not in turned)][:MAX_JUDGED]
            quoted, exact = turned[:1], alone
        # nothing that passes the filters has the words, none was counted, or none tells of a decision
        exact = exact and not (asked.lists or (asked.counts and asked.filters))
        told = (
            one.kind == "decision" or speaks_of_decision(split_question(searchable_text(one.record)))
            for one in quoted
        )
        exact = exact and (not speaks_of_decision(asked.about) or any(told))
        if exact:
            return _Retrieval(asked, about, matches, quoted, True)
        few = self._find_by_names(find_question_names(about))
        matches = [*few, *(one for one in matches if one not in few)][:MAX_JUDGED]
        quoted = [*few, *(one for one in quoted if one not in few)][:SHOWN_RESULTS]
        missing, unheard = find_absent_words(self._search, asked, matches)
        near = [hit.similarity for hit in (found.hits or found.nearest)[:MAX_JUDGED] if hit.similarity is not None]
        similar = max(near, default=TYPICAL_SIMILARITY)
        unheard = unheard and similar < CLOSE_SIMILARITY
        return _Retrieval(asked, about, matches, quoted, False, found.verdict == NO_HIT, missing, unheard, similar)

    def _answer_by_rule(self, found: _Retrieval, why: str) -> LibrarianAnswer:
        """Return what is quoted in the order of the search, with words that say so where it is only near."""
        asked = found.asked
        if found.nothing or found.unheard:
            return self._answer_nothing(
                asked, found.matches[:MAX_NAMED_NEAREST], found.missing if found.unheard else (), note=why
            )
        parts = compose_records(asked, found.quoted, self._memory.now)
        if not found.exact and parts:
            most = (
                share_of_words(asked.about, split_question(searchable_text(found.quoted[0].record)))
                > MOST_WORDS_SHARE
            )
            name = "near_without" if found.missing else "near_most" if most else "near_only"
            head = compose_statement(asked, name, found.missing).text
            parts[0] = parts[0]._replace(text=f"{head} {parts[0].text}")
        return _make_answer(asked, parts, found.matches, note=why, exact=found.exact)

    def _answer_by_model(
        self, found: _Retrieval, model: ModelSession, readable: Sequence[AnswerSource], waiting: ShowJudged
    ) -> LibrarianAnswer:
        """Return the answer in the order of a model's judgement. Raise ModelFailed where it ended without one."""
        asked, about = found.asked, found.about
        began = time.monotonic()
        texts = {one.citation: self._text_for_model(asked, one) for one in readable}
        ordered = rank_by_judgement(
            model.chat, about, asked.language, texts, model.seconds, waiting, found.similar
        )
        by_name = {one.citation: one for one in readable}
        order = [by_name[name] for name in ordered.order] + [one for one in found.matches if one not in readable]
        # exact: one has all words
        refused = not (ordered.answers or found.exact) and found.matches[0] in readable
        if not refused:
            left = model.seconds - (time.monotonic() - began)
            order[:1] = [self._choose_span(model.chat, about, asked.language, order[0], left)]
        odds = tuple((name, round(value, 2)) for name, value in ordered.odds.items())
        listed = ", ".join(f"{name} {value:+.2f}" for name, value in odds)
        kind, note = (ordered.trouble.kind, str(ordered.trouble)) if ordered.trouble else ("", "")
        model.count_call(
            ANSWER_TASK, began, kind, f"odds: {listed}", note or (NONE_ANSWERS_NOTE if refused else "")
        )
        if refused:
            return self._answer_nothing(asked, order[:MAX_NAMED_NEAREST], by=model.name, odds=odds)
        parts = compose_records(asked, order[:SHOWN_RESULTS], self._memory.now)
        return _make_answer(asked, parts, order, by=model.name, odds=odds, note=note)

    def _find_by_names(self, names: Sequence[str]) -> list[AnswerSource]:
        """Return the records with all of these names, or else with any, if they are at most SHOWN."""
        found = self._search(" ".join(names), MAX_JUDGED, meaning=False) if names else None
        if found is None or (found.exact or found.total) > SHOWN_RESULTS:
            return []
        records = _exact_records(found) or [hit.record for hit in found.hits]
        return [one for one in load_sources(self._memory.database, records) if not one.hostile]

    def _search_records(self, about: str, asked: ParsedQuestion) -> tuple[list[AnswerSource], SearchAnswer]:
        """Return (the best search results, or the nearest where there are none, last what is not near and what reads
        like an order to an agent; the search's answer). Where none has all words, those of the time that is named which
        have all the others are the results."""
        found = (
            self._search(strip_choice_words(asked.query_within_kind), MAX_JUDGED)
            if asked.query_within_kind
            else None
        )
        if found is None or not found.hits:
            found = self._search(strip_choice_words(about.replace(":", " ")), MAX_JUDGED, far=True)
        if not found.exact and asked.rest and not asked.lists and asked.filters.keys() & set(TIME_FILTERS):
            then = self._search(asked.filter, MAX_JUDGED, meaning=False)
            found = then if then.exact else found
        hits = (found.hits or found.nearest)[:MAX_JUDGED]
        begins = {hit.citation: hit.start for hit in hits}
        matches = load_sources(self._memory.database, [hit.record for hit in hits])
        matches = [one._replace(start=begins.get(one.citation, 0)) for one in matches]
        far = {hit.citation for hit in hits if hit.level == FAR_HIT}
        return sorted(matches, key=lambda one: (one.hostile, one.citation in far)), found

    def _find_cached_answer(self, chat: ChatModel, asked: ParsedQuestion) -> LibrarianAnswer | None:
        """Return the records in the order in which this model ranked them for the same question, if none of them
        changed."""
        kept = AnswerCache(self._memory.database, self._memory.search).find_answer(asked.text, by=chat.name)
        matches = self._cited_sources(kept.citations) if kept else []
        if kept is None or not matches:
            return None
        note = kept.note or "ordered before, and nothing of it has changed"
        return _make_answer(
            asked, compose_records(asked, matches, self._memory.now), matches, by=chat.name, note=note
        )

    def _choose_span(
        self, chat: ChatModel, about: str, language: str, source: AnswerSource, seconds: float
    ) -> AnswerSource:
        """Return a source with the sentence that a model chooses, if one of its fields is too long to be quoted
        whole."""
        field = LONG_FIELDS.get(source.kind, "")
        text = str(getattr(source.record, field, ""))
        places = list(find_sentence_spans(text))[:MAX_CHOICE_SENTENCES] if len(text) > LONG_FIELD else []
        if len(places) < 2 or source.hostile or seconds <= 0:
            return source
        try:
            start, end = places[
                choose_sentence(chat.answer, about, language, [text[a:b] for a, b in places], seconds)
            ]
        except (ModelFailed, IndexError):  # it names no sentence
            return source
        first, last = find_quote_span(text[start:end], (), LONG_FIELD)
        return source._replace(span=(field, start + first, start + last))

    def _select_readable(self, matches: Sequence[AnswerSource]) -> list[AnswerSource]:
        """Return the sources that a model may read: without facts that a person has not accepted or keeps out of
        context, without proposals that wait or were rejected, and without anything that looks like an instruction."""
        memory, other = self._memory, find_personal_memory(self._memory.database)
        own = [one.record for one in matches if isinstance(one.record, Fact)]
        theirs = [one.record.own for one in matches if isinstance(one.record, GlobalFact)]
        yes = set(find_accepted_ids(memory.database, own)) - memory.mutes.filter_muted_facts(
            [fact.id for fact in own]
        )
        shared = set(find_accepted_ids(other, theirs)) if other is not None else set()
        shared -= memory.globals.find_muted(list(shared))
        may = {cite("fact", number) for number in yes} | {cite("global", number) for number in shared}
        kept = [one for one in matches if not one.hostile and (one.kind not in FACT_KINDS or one.citation in may)]
        return [one for one in kept if not isinstance(one.record, Proposal) or one.record.state == "accepted"]

    def _text_for_model(self, asked: ParsedQuestion, source: AnswerSource) -> str:
        """Return a record as a model reads it: as it is quoted, without citations."""
        parts = [one for one in compose_records(asked, [source], self._memory.now) if not one.hostile]
        return " ".join(one.text.replace(f" [{one.citations[0]}]", "") for one in parts)

    def _cited_sources(self, citations: Iterable[str]) -> list[AnswerSource]:
        """Return the cited records as sources; skip citations that lead to no record."""
        return load_sources(
            self._memory.database, find_records(self._memory.database, map(parse_citation, citations))
        )


def _exact_records(found: SearchAnswer) -> list[Record]:
    """Return the records that have all words of a query."""
    return [hit.record for hit in found.hits if hit.level == EXACT_HIT]


def _make_answer(
    asked: ParsedQuestion, parts: Sequence[CitedSentence], matches: Sequence[AnswerSource], **more: Any
) -> LibrarianAnswer:
    """Make an answer of sentences, with the sources that were considered."""
    return LibrarianAnswer(asked, tuple(parts), tuple(source.citation for source in matches), **more)
