"""The Librarian: answers a question about the past by quoting the records that contain the answer.

Questions about the data are answered with filters of the search bar. For any other question it searches; a model may
reorder the first results, choose a sentence, or say that none answers. It writes nothing that is shown. Without a model
the order is the search's.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from store.base.citations import cite, parse
from store.base.errors import ModelFailed
from store.base.models import Fact, GlobalFact, Proposal, Record, head_of
from store.context.acceptance import accepted
from store.librarian import compose, judge
from store.librarian.answer import Answer, CitedSentence
from store.librarian.changes import changes
from store.librarian.compose import SHOWN
from store.librarian.question import NEWEST, OLDEST, TIMES, ParsedQuestion, decides, read
from store.librarian.quoting import absent, against, names, quotable, share, subject
from store.librarian.sources import Retriever, Source, moment, sources
from store.llm import usage_stats
from store.llm.chat import Chat
from store.llm.structured_output import ModelSession
from store.memory import Memory
from store.personal.beside import beside
from store.search import lookup
from store.search.pipeline import body
from store.search.results import EXACT, FAR, NOTHING
from store.search.results import Answer as Found
from store.text.clauses import spans
from store.text.similarity.question_similarity import words

TASK = "answer"  # name in the statistics of use
ALL = 500  # most records of a list that are read and sorted
LONG = 260  # characters of a field from which a model chooses the sentence
REPEATED = 6  # most searches for the newest or the oldest
SENTENCES = 12  # most sentences that it chooses among
# similarity from which a record may answer a question with a name that it has not; on the development half of the
# questions the nearest of what was refused for a name had 0.42
CLOSE = 0.5
MOST = 0.6  # share of a question's words that a record must have for no doubt to be raised of what it says
FIELDS = {"fact": "fact", "turn": "text", "document": "text", "commit": "message"}  # kind → field that may be long
FACTS = ("fact", "global")
STATED = (*FACTS, "decision")
NONE_ANSWERS = "By these odds none of the records answers."
STOPPED = "stopped before the model had answered; this is the order of the search"


Shown = Callable[[tuple[CitedSentence, ...]], None]
Progress = Callable[[int, int], None]


class _Retrieved(NamedTuple):
    """What a search found for a question, which is `about` a text: the best records (`matches`), those that are quoted
    without a model, and whether they are `exact`; `nothing`: none is near it; the words that no record has
    (`missing`); `unheard`: a name is among these; `similar`: how similar the nearest is (0 to 1)."""

    asked: ParsedQuestion
    about: str
    matches: list[Source]
    quoted: list[Source]
    exact: bool
    nothing: bool = False
    missing: Sequence[str] = ()
    unheard: bool = False
    similar: float = judge.TYPICAL


class Librarian:
    """Answers questions about one memory, on a worker thread."""

    def __init__(self, memory: Memory, retriever: Retriever | None = None) -> None:
        self._memory = memory
        self._search: Retriever = retriever or partial(memory.search, told=True)

    def ask(
        self,
        question: str,
        chat: Chat | None = None,
        *,
        last: Answer | None = None,
        why: str = "",
        first: Shown = lambda parts: None,
        cancelled: Callable[[], bool] = lambda: False,
        waiting: Progress = lambda done, total: None,
    ) -> Answer:
        """Answer a question. `first` receives the first search results before any model reads them, `waiting` (records
        judged, records in total). `last` is the previous answer, to which this question may refer. Without a `chat`
        rules answer, and `why` is shown as the reason. Raise StorageError; a model's failure is handled."""
        begin = time.monotonic()
        memory = self._memory
        asked = read(question, memory, last.topic if last else None)
        answer = self._listed(asked) if asked.lists else None
        if answer is None and (asked.cited or (asked.follows and not asked.about)):
            matches = self._cited(map(str, asked.cited) if asked.cited or not last else last.ground)
            parts = compose.records(asked, matches, memory.now)
            answer = _answer(asked, parts, matches) if matches else self._none(asked)
        elif answer is None:
            answer = self._found(asked, chat, last, why, first, waiting)
        leans = bool(last) and (asked.follows or answer.nothing)
        return replace(
            answer,
            seconds=time.monotonic() - begin,
            topic=last.topic if last and leans else asked,
            ground=last.ground if last and answer.nothing else answer.citations,
            cancelled=cancelled(),
        )

    # questions about the data

    def _listed(self, asked: ParsedQuestion) -> Answer | None:
        """Return the records that pass the filters of a question and have the rest of its words, the newest or the
        oldest of them, or their number; None where none has these words."""
        database, query = self._memory.database, asked.filter
        found = self._search(query, ALL, meaning=bool(asked.typed))
        records = _exact(found) if asked.rest else [hit.record for hit in found.hits]
        number = found.exact if asked.rest else max(found.total, len(records))
        if asked.rest and asked.first:
            records = self._beyond(asked, records, number)
        elif number > len(records) and (asked.counts or asked.first == OLDEST):
            records += lookup.oldest(database, query)
        if asked.rest and not records:
            return None
        matches = sources(database, records)
        if asked.changes:
            matches, number = changes(self._memory, asked, matches, number)
            query = "" if any(one.at for one in matches) else query
        if not asked.typed:
            upwards = asked.first == OLDEST or asked.counts
            matches.sort(key=lambda one: (one.at or moment(one.record), one.citation), reverse=not upwards)
        if asked.first:
            number = len(matches := self._first(asked, matches))
        if asked.counts:
            return _answer(asked, compose.counted(asked, matches, number, self._memory.now), matches, filter=query)
        if not matches:  # what passes the filters at another time is nearest
            kept = {name: value for name, value in asked.filters.items() if name not in TIMES}
            wider = replace(asked, filters=kept).filter
            near = self._search(wider, compose.NEAREST, meaning=bool(asked.typed), far=True)
            return self._none(asked, sources(database, [one.record for one in near.hits or near.nearest]), filter=query)
        shown = matches[: compose.LISTED]
        parts = compose.records(asked, shown, self._memory.now, brief=not (asked.first or asked.rest))
        if number > compose.LISTED:
            parts.append(compose.left_out(asked, shown, number))
        return _answer(asked, parts, matches, filter=query)

    @staticmethod
    def _first(asked: ParsedQuestion, matches: list[Source]) -> list[Source]:
        """Return the newest or the oldest of sources in this order: what is called so, else what happened and says it
        in its first line, else what mentions it."""
        if not asked.rest:
            return matches[:1]
        stated = [one for one in matches if one.kind in STATED and asked.calls_first(words(body(one.record)))]
        happened = [one for one in matches if one.kind not in FACTS] or matches
        titled = [one for one in happened if share(asked.rest, words(head_of(body(one.record)))) == 1]
        return (stated or titled or happened)[:1]

    def _beyond(self, asked: ParsedQuestion, records: list[Record], number: int) -> list[Record]:
        """Return the records that a search returned, of `number`, and those beyond the newest or the oldest of them: it
        returns a limited number."""
        for _ in range(REPEATED):
            if number <= len(records):
                break
            ends = sorted(map(moment, records))
            end = {"since": ends[-1]} if asked.first == NEWEST else {"before": ends[0]}
            found = self._search(replace(asked, filters={**asked.filters, **end}).filter, ALL, meaning=False)
            records, number = [*records, *_exact(found)], found.exact
        return records

    def _none(
        self, asked: ParsedQuestion, near: Sequence[Source] = (), without: Sequence[str] = (), **more: Any
    ) -> Answer:
        """Return that no record answers, or has the words `without`; `near` are the nearest."""
        none = compose.said(asked, "without" if without else "nothing", without)
        return _answer(asked, [none], near, nothing=True, near=compose.nearest(asked, near, self._memory.now), **more)

    # other questions

    def _found(
        self, asked: ParsedQuestion, chat: Chat | None, last: Answer | None, why: str, first: Shown, waiting: Progress
    ) -> Answer:
        """Return the answer that a search finds: in the order of a model's judgement, or in the search's."""
        about = f"{last.asked.text} {asked.text}" if last and asked.follows else asked.text
        if chat is not None and not asked.follows and (known := self._known(chat, asked)):
            return known
        newest = self._memory.database.value("SELECT max(seq) FROM history") or 0
        found = self._retrieved(asked, about)
        first(() if found.nothing else tuple(compose.records(asked, found.quoted, self._memory.now)))
        readable = self._readable(found.matches) if chat is not None and not found.unheard else []
        if chat is None or not readable:
            return self._by_rule(found, why)
        began, database = time.monotonic(), self._memory.database
        model = ModelSession(chat, float(self._memory.config["agent.patience"]), database)
        try:
            answer = self._judged(found, model, readable, waiting)
        except ModelFailed as failed:
            if failed.kind == "stopped":
                return self._by_rule(found, STOPPED)
            model.count(TASK, began, failed.kind, dropped=failed.message)
            usage_stats.fell_back(database, TASK)
            return self._by_rule(found, f"{failed} The order is the search's.")
        if not (answer.nothing or answer.note or asked.follows):
            self._memory.answers.keep(asked.text, answer.text, answer.sources[:SHOWN], seq=newest, by=chat.name)
        return answer

    def _retrieved(self, asked: ParsedQuestion, about: str) -> _Retrieved:
        """Return what a search finds for a question, the decisions that turned down what it asks about first."""
        matches, found = self._searched(about, asked)
        quoted, exact = quotable(matches, found)
        turned, alone = against(self._memory.database, asked)
        if turned:
            matches = [*turned, *(one for one in matches if one not in turned)][: judge.LOOKED]
            quoted, exact = turned[:1], alone
        # nothing that passes the filters has the words, none was counted, or none tells of a decision
        exact = exact and not (asked.lists or (asked.counts and asked.filters))
        told = (one.kind == "decision" or decides(words(body(one.record))) for one in quoted)
        exact = exact and (not decides(asked.about) or any(told))
        if exact:
            return _Retrieved(asked, about, matches, quoted, True)
        few = self._few(names(about))
        matches = [*few, *(one for one in matches if one not in few)][: judge.LOOKED]
        quoted = [*few, *(one for one in quoted if one not in few)][:SHOWN]
        missing, unheard = absent(self._search, asked, matches)
        near = [hit.similarity for hit in (found.hits or found.nearest)[: judge.LOOKED] if hit.similarity is not None]
        similar = max(near, default=judge.TYPICAL)
        unheard = unheard and similar < CLOSE
        return _Retrieved(asked, about, matches, quoted, False, found.verdict == NOTHING, missing, unheard, similar)

    def _by_rule(self, found: _Retrieved, why: str) -> Answer:
        """Return what is quoted in the order of the search, with words that say so where it is only near."""
        asked = found.asked
        if found.nothing or found.unheard:
            return self._none(asked, found.matches[: compose.NEAREST], found.missing if found.unheard else (), note=why)
        parts = compose.records(asked, found.quoted, self._memory.now)
        if not found.exact and parts:
            most = share(asked.about, words(body(found.quoted[0].record))) > MOST
            name = "near_without" if found.missing else "near_most" if most else "near_only"
            head = compose.said(asked, name, found.missing).text
            parts[0] = parts[0]._replace(text=f"{head} {parts[0].text}")
        return _answer(asked, parts, found.matches, note=why, exact=found.exact)

    def _judged(self, found: _Retrieved, model: ModelSession, readable: Sequence[Source], waiting: Progress) -> Answer:
        """Return the answer in the order of a model's judgement. Raise ModelFailed where it ended without one."""
        asked, about = found.asked, found.about
        began = time.monotonic()
        texts = {one.citation: self._text(asked, one) for one in readable}
        ordered = judge.rank(model.chat, about, asked.language, texts, model.seconds, waiting, found.similar)
        by_name = {one.citation: one for one in readable}
        order = [by_name[name] for name in ordered.order] + [one for one in found.matches if one not in readable]
        refused = not (ordered.answers or found.exact) and found.matches[0] in readable  # exact: one has all words
        if not refused:
            left = model.seconds - (time.monotonic() - began)
            order[:1] = [self._with_span(model.chat, about, asked.language, order[0], left)]
        odds = tuple((name, round(value, 2)) for name, value in ordered.odds.items())
        listed = ", ".join(f"{name} {value:+.2f}" for name, value in odds)
        kind, note = (ordered.trouble.kind, str(ordered.trouble)) if ordered.trouble else ("", "")
        model.count(TASK, began, kind, f"odds: {listed}", note or (NONE_ANSWERS if refused else ""))
        if refused:
            return self._none(asked, order[: compose.NEAREST], by=model.name, odds=odds)
        parts = compose.records(asked, order[:SHOWN], self._memory.now)
        return _answer(asked, parts, order, by=model.name, odds=odds, note=note)

    def _few(self, names: Sequence[str]) -> list[Source]:
        """Return the records with all of these names, or else with any, if they are at most SHOWN."""
        found = self._search(" ".join(names), judge.LOOKED, meaning=False) if names else None
        if found is None or (found.exact or found.total) > SHOWN:
            return []
        records = _exact(found) or [hit.record for hit in found.hits]
        return [one for one in sources(self._memory.database, records) if not one.hostile]

    def _searched(self, about: str, asked: ParsedQuestion) -> tuple[list[Source], Found]:
        """Return (the best search results, or the nearest where there are none, last what is not near and what reads
        like an order to an agent; the search's answer). Where none has all words, those of the time that is named which
        have all the others are the results."""
        found = self._search(subject(asked.within), judge.LOOKED) if asked.within else None
        if found is None or not found.hits:
            found = self._search(subject(about.replace(":", " ")), judge.LOOKED, far=True)
        if not found.exact and asked.rest and not asked.lists and asked.filters.keys() & set(TIMES):
            then = self._search(asked.filter, judge.LOOKED, meaning=False)
            found = then if then.exact else found
        hits = (found.hits or found.nearest)[: judge.LOOKED]
        begins = {hit.citation: hit.start for hit in hits}
        matches = sources(self._memory.database, [hit.record for hit in hits])
        matches = [replace(one, start=begins.get(one.citation, 0)) for one in matches]
        far = {hit.citation for hit in hits if hit.level == FAR}
        return sorted(matches, key=lambda one: (one.hostile, one.citation in far)), found

    def _known(self, chat: Chat, asked: ParsedQuestion) -> Answer | None:
        """Return the records in the order in which this model ranked them for the same question, if none of them
        changed."""
        kept = self._memory.answers.lookup(asked.text, by=chat.name)
        matches = self._cited(kept.citations) if kept else []
        if kept is None or not matches:
            return None
        note = kept.note or "ordered before, and nothing of it has changed"
        return _answer(asked, compose.records(asked, matches, self._memory.now), matches, by=chat.name, note=note)

    def _with_span(self, chat: Chat, about: str, language: str, source: Source, seconds: float) -> Source:
        """Return a source with the sentence that a model chooses, if one of its fields is too long to be quoted
        whole."""
        field = FIELDS.get(source.kind, "")
        text = str(getattr(source.record, field, ""))
        places = list(spans(text))[:SENTENCES] if len(text) > LONG else []
        if len(places) < 2 or source.hostile or seconds <= 0:
            return source
        try:
            start, end = places[judge.sentence(chat.answer, about, language, [text[a:b] for a, b in places], seconds)]
        except (ModelFailed, IndexError):  # it names no sentence
            return source
        first, last = compose.span(text[start:end], (), LONG)
        return replace(source, span=(field, start + first, start + last))

    def _readable(self, matches: Sequence[Source]) -> list[Source]:
        """Return the sources that a model may read: without facts that a person has not accepted or keeps out of
        context, without proposals that wait or were rejected, and without anything that looks like an instruction."""
        memory, other = self._memory, beside(self._memory.database)
        own = [one.record for one in matches if isinstance(one.record, Fact)]
        theirs = [one.record.own for one in matches if isinstance(one.record, GlobalFact)]
        yes = set(accepted(memory.database, own)) - memory.mutes.among([fact.id for fact in own])
        shared = set(accepted(other, theirs)) if other is not None else set()
        shared -= memory.globals.muted(list(shared))
        may = {cite("fact", number) for number in yes} | {cite("global", number) for number in shared}
        kept = [one for one in matches if not one.hostile and (one.kind not in FACTS or one.citation in may)]
        return [one for one in kept if not isinstance(one.record, Proposal) or one.record.state == "accepted"]

    def _text(self, asked: ParsedQuestion, source: Source) -> str:
        """Return a record as a model reads it: as it is quoted, without citations."""
        parts = [one for one in compose.records(asked, [source], self._memory.now) if not one.hostile]
        return " ".join(one.text.replace(f" [{one.citations[0]}]", "") for one in parts)

    def _cited(self, citations: Iterable[str]) -> list[Source]:
        return sources(self._memory.database, lookup.there(self._memory.database, map(parse, citations)))


def _exact(found: Found) -> list[Record]:
    """Return the records that have all words of a query."""
    return [hit.record for hit in found.hits if hit.level == EXACT]


def _answer(asked: ParsedQuestion, parts: Sequence[CitedSentence], matches: Sequence[Source], **more: Any) -> Answer:
    return Answer(asked, tuple(parts), tuple(source.citation for source in matches), **more)
