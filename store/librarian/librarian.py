"""The Librarian: answers a question about the past by quoting the records that contain the answer.

Questions about the data are answered with filters of the search bar. For any other question it searches; a model may
reorder the first results, choose a sentence, or say that none answers. It writes nothing that is shown. Without a model
the order is the search's.
"""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from store.base.citations import parse
from store.base.errors import ModelFailed
from store.base.models import Fact, GlobalFact, Proposal, Record, head_of
from store.base.record import changed
from store.context.acceptance import accepted
from store.librarian import judge, repository_terms
from store.librarian import words as templates
from store.librarian.answer import Answer, CitedSentence
from store.librarian.compose import (
    LISTED,
    NEAREST,
    SHOWN,
    compose,
    counted,
    in_order,
    left_out,
    nearest,
    none_counted,
    ranked,
    said,
    span,
)
from store.librarian.judge import Readable
from store.librarian.names import absent, ahead, holding, names, unheard
from store.librarian.question import HAPPENED, WHO, WHY, DataFilter, ParsedQuestion, contains, read
from store.librarian.quoting import (
    all_in,
    distinct,
    does,
    headed,
    in_reach,
    quotable,
    subject,
    tells_no_reason,
    turns_down,
    without_nouns,
)
from store.librarian.sources import Retriever, Source, authors, moment, sources
from store.llm import usage_stats
from store.memory import Memory
from store.personal.beside import beside
from store.search import lookup
from store.search.pipeline import body
from store.search.results import EXACT, NOTHING
from store.text.clauses import spans
from store.text.similarity.question_similarity import words

if TYPE_CHECKING:
    from store.llm.chat import Chat
    from store.search.results import Answer as Found

TASK = "answer"  # name in the statistics of use
ALL = 500  # most records of a list that are read and sorted
LONG = 260  # characters of a field from which a model chooses the sentence
MANY = 100  # exact results of one search from which there may be more
REPEATED = 6  # most searches for the newest or the oldest
STATED = ("fact", "decision")
SENTENCES = 12  # most sentences that it chooses among
# similarity from which a record may answer a question with a name that it has not; on the development half of the
# questions the nearest of what was refused for a name had 0.42
CLOSE = 0.5
FIELDS = {"fact": "fact", "turn": "text", "document": "text", "commit": "message"}  # kind → field that may be long
NONE_ANSWERS = "By these odds none of the records answers."
STOPPED = "stopped before the model had answered; this is the order of the search"


class Librarian:
    """Answers questions about one memory, on a worker thread."""

    def __init__(self, memory: Memory, retriever: Retriever | None = None) -> None:
        self._memory = memory
        self._search: Retriever = retriever or memory.search

    def ask(
        self,
        question: str,
        chat: "Chat | None" = None,
        *,
        last: Answer | None = None,
        why: str = "",
        first: Callable[[tuple[CitedSentence, ...]], None] = lambda parts: None,
        each: Callable[[str], None] = lambda sentence: None,
        cancelled: Callable[[], bool] = lambda: False,
        waiting: Callable[[int, int], None] = lambda done, total: None,
    ) -> Answer:
        """Answer a question. `first` receives the first search results before any model reads them, `each` each
        sentence of the answer, `waiting` (records judged, records in total). `last` is the previous answer, to which
        this question may refer. Without a `chat` rules answer, and `why` is shown as the reason. Raise StorageError; a
        model's failure is handled."""
        begin = time.monotonic()
        memory = self._memory
        git = repository_terms.repository(memory.location)
        asked = read(question, memory.database, memory.now, last.topic if last else None, git)
        if asked.typed or asked.data is not None:
            answer = self._listed(asked, asked.data or DataFilter())
        elif asked.cited:
            answer = self._direct(asked, [str(one) for one in asked.cited])
        elif asked.follows and not asked.about:
            answer = self._direct(asked, last.ground if last else ())
        else:
            data = self._dated(asked) or self._within(asked)
            answer = data or self._found(asked, chat, last, why, first, cancelled, waiting)
        for sentence in answer.parts:
            each(sentence.text)
        leans = bool(last) and (asked.follows or answer.nothing)
        return changed(
            answer,
            seconds=time.monotonic() - begin,
            topic=last.topic if last and leans else asked,
            ground=last.ground if last and answer.nothing else answer.citations,
            cancelled=cancelled(),
        )

    # questions about the data

    def _within(self, asked: ParsedQuestion) -> Answer | None:
        """Return the records with all words that filters left over of a question, or their number; None for none."""
        answer = asked.within and asked.lists and self._listed(asked, asked.within)
        return answer if answer and answer.citations else None

    def _listed(self, asked: ParsedQuestion, wanted: DataFilter) -> Answer:
        """Return the records that pass a filter, or their number."""
        if wanted.compares:
            return changed(self._none(asked), parts=(said(asked, "not_compared"),))
        query = asked.typed or wanted.text
        if wanted.authors:
            return self._ranked(asked, wanted)
        if wanted.shas is not None and not wanted.words:
            records = lookup.commits_among(self._memory.database, query, wanted.shas)
            number = len(records)
            records = records if number <= ALL else [records[0], *records[-ALL:]]
        else:
            found = self._search(query, ALL, meaning=bool(asked.typed))
            records = [hit.record for hit in found.hits if not wanted.words or hit.level == EXACT]
            number = found.exact if wanted.words else max(found.total, len(records))
            if found.total > len(records) and not wanted.words and (wanted.first == "oldest" or wanted.counts):
                records += lookup.oldest(self._memory.database, query)
        if written := [] if records else self._written(wanted):
            records, number = written, len(written)
        matches = sources(self._memory.database, records)
        if not asked.typed:
            matches = in_order(matches)[:: 1 if wanted.first == "oldest" or wanted.counts else -1]
        if wanted.first:
            matches, number = matches[:1], min(1, len(matches))
        if not matches:
            none = self._none(asked, query)
            return changed(none, parts=(none_counted(asked, query),), nothing=False) if wanted.counts else none
        if wanted.counts:
            parts = counted(asked, matches, number, self._memory.now)
        else:
            parts = compose(asked, matches[:LISTED], self._memory.now, brief=True)
            if number > LISTED:
                parts.append(left_out(asked, matches[:LISTED], number))
        note = repository_terms.note(wanted.path, wanted.shas is not None, bool(written))
        return _answer(asked, parts, matches, filter=query, note=note)

    def _written(self, wanted: DataFilter) -> list[Record]:
        """Return the commits that were written in a time in which no record is, as git dates their authors' work."""
        if wanted.words or not (wanted.since or wanted.before):
            return []
        shas = repository_terms.written(repository_terms.repository(self._memory.location), wanted.since, wanted.before)
        among = sorted(set(shas).intersection(wanted.shas or shas))
        return lookup.commits_among(self._memory.database, changed(wanted, since="", before="").text, among)

    def _dated(self, asked: ParsedQuestion) -> Answer | None:
        """Return the newest or the oldest records about something, those that say it in their first line before others,
        and what happened before what was said; None where no record has all its words, or a fact or decision itself
        says which was the last or the first."""
        acts, wanted = templates.named("acts"), asked.dated
        about = subject(" ".join(word for word in wanted.words if (word,) not in acts)) if wanted else ""
        if wanted is None or not about:
            return None
        any_change = templates.phrases("any_change")
        said = {acts[(word,)] for word in wanted.words if (word,) in acts and (word,) not in any_change}
        wanted = changed(wanted, words=tuple(about.split()), kinds=wanted.kinds or (*HAPPENED, "turn"))
        found = self._dated_by(wanted)
        named = {(*phrase, wanted.words[0]) for phrase in templates.phrases(wanted.first)}
        if any(contains(words(body(one.record)), named) for one in found if one.kind in STATED):
            return None
        happened = [one for one in found if one.kind not in ("fact", "turn")] or found
        done = [one for one in happened if not said or does(one, said)] or happened
        titled = [one for one in done if all_in(wanted.words, words(head_of(body(one.record))))] or done
        parts = compose(asked, distinct(titled)[:SHOWN], self._memory.now)
        return _answer(asked, parts, titled, filter=wanted.text) if found else None

    def _dated_by(self, wanted: DataFilter) -> list[Source]:
        """Return the first of the exact results of a filter, the newest or the oldest first. A search returns a limited
        number of them, so it is repeated for the time beyond, where there may be more."""
        found: dict[int, Record] = {}
        for _ in range(REPEATED):
            hits = self._search(wanted.text, ALL, meaning=False).hits
            exact = {hit.key: hit.record for hit in hits if hit.level == EXACT}
            newest = wanted.first == "newest"
            first = sorted((found | exact).items(), key=lambda one: (moment(one[1]), one[0]), reverse=newest)
            found = dict(first[:MANY])
            if len(exact) < MANY:
                break
            edge = moment(first[0][1])
            wanted = changed(wanted, since=edge) if newest else changed(wanted, before=edge)
        return sources(self._memory.database, found.values())

    def _ranked(self, asked: ParsedQuestion, wanted: DataFilter) -> Answer:
        """Return the authors of commits by their number."""
        query = changed(wanted, kinds=("commit",)).text
        by = authors(self._memory.database, wanted.since, wanted.before)
        if not by:
            return self._none(asked, query)
        parts = ranked(asked, by[::-1] if wanted.authors == "fewest" else by)
        return _answer(asked, parts, self._cited(parts[0].citations), filter=query)

    def _direct(self, asked: ParsedQuestion, citations: Sequence[str]) -> Answer:
        """Return the cited records."""
        matches = self._cited(citations)
        parts, note = compose(asked, matches, self._memory.now), repository_terms.BY_TAG if asked.released else ""
        return _answer(asked, parts, matches, note=note) if matches else self._none(asked)

    def _none(
        self,
        asked: ParsedQuestion,
        query: str = "",
        near: Sequence[Source] = (),
        by: str = "",
        without: Sequence[str] = (),
    ) -> Answer:
        close = nearest(asked, near, self._memory.now)
        none = said(asked, "without", without) if without else said(asked, "nothing")
        return Answer(asked, (none,), (), tuple(one.citation for one in near), by, 0.0, filter=query,
                      nothing=True, near=close)  # fmt: skip

    # other questions

    def _found(
        self,
        asked: ParsedQuestion,
        chat: "Chat | None",
        last: Answer | None,
        why: str,
        first: Callable[[tuple[CitedSentence, ...]], None],
        cancelled: Callable[[], bool],
        waiting: Callable[[int, int], None],
    ) -> Answer:
        memory = self._memory
        about = f"{last.question} {asked.text}" if last and asked.follows else asked.text
        if chat is not None and (known := self._known(chat, asked)):
            return known
        newest = memory.database.value("SELECT max(seq) FROM history") or 0
        matches, found = self._searched(about, asked)
        quoted, exact = quotable(matches, found)
        exact = exact and not asked.unclear
        if not exact:
            wanted = names(about)
            extra = [one for one in holding(self._search, memory.database, wanted) if one not in matches]
            matches = ahead([*matches[: judge.LOOKED - len(extra)], *extra], wanted)
            quoted = [*extra, *quotable(matches, found)[0]][:SHOWN]
        if asked.decides and not any(one.kind == "decision" for one in quoted):  # superseded ones are not searched
            made = self._cited([link.citation for one in quoted for link in one.links if link.kind == "implements"])
            quoted, matches = [*made, *quoted][:SHOWN], [*made, *(one for one in matches if one not in made)]
        parts = compose(asked, quoted, memory.now)
        first(tuple(parts) if found.hits else ())
        readable = self._readable(matches) if chat is not None else []
        close = any((hit.similarity or 0.0) >= CLOSE for hit in found.hits[:SHOWN])
        missing = [] if exact or close else unheard(self._search, asked, matches)
        if chat is None or not readable or missing:
            done = self._against(asked, about.rstrip("?"), matches) if not exact or tells_no_reason(quoted[0]) else None
            verb_counts = not asked.unclear and (not exact or asked.aspect == WHO)
            if done or (verb_counts and (done := self._done(about, asked.aspect, matches))):
                matches = [done, *(one for one in matches if one != done)]
                parts, exact = compose(asked, [done], memory.now), True
            if not exact and (found.verdict == NOTHING or missing):
                return changed(self._none(asked, near=matches[:NEAREST], without=missing), note=why)
            without = () if exact else absent(self._search, asked, matches)
            query = asked.within.text if asked.within and asked.unclear else ""
            told = headed(asked, parts, matches, exact, without)
            return _answer(asked, told, matches, filter=query, note=why, exact=exact)
        began, kind = time.monotonic(), ""
        seconds = float(memory.config["agent.patience"])
        try:
            texts = [Readable(one.citation, self._text(asked, one)) for one in readable]
            ordered = judge.rank(chat, about, asked.language, texts, seconds, waiting)
            kind = ordered.trouble.kind if ordered.trouble else ""
            note = str(ordered.trouble) if ordered.trouble else ""
            named = {one.citation: one for one in readable}
            order = [named[name] for name in ordered.order] + [one for one in matches if one not in readable]
            refused = not ordered.answers and matches[0] in readable and not ordered.trouble
            if not refused:
                left = seconds - (time.monotonic() - began)
                order[:1] = [self._with_span(chat, about, asked.language, order[0], left)]
        except ModelFailed as failed:
            self._count(chat.name, began, failed.kind, dropped=failed.message)
            return _answer(
                asked, parts, matches, note=STOPPED if cancelled() else f"{failed} The order is the search's."
            )
        odds = tuple((name, round(value, 2)) for name, value in ordered.odds.items())
        listed = ", ".join(f"{name} {value:+.2f}" for name, value in odds)
        self._count(chat.name, began, kind, f"odds: {listed}", note or (NONE_ANSWERS if refused else ""))
        if refused:
            return changed(self._none(asked, near=order[:NEAREST], by=chat.name), odds=odds)
        told = headed(asked, compose(asked, order[:SHOWN], memory.now), order, True)
        answer = _answer(asked, told, order, by=chat.name, odds=odds, note=note)
        if not note and not asked.follows and not cancelled():
            shown = [one.citation for one in order[:SHOWN]]
            memory.answers.keep(asked.text, answer.text, shown, seq=newest, by=chat.name)
        return answer

    def _searched(self, about: str, asked: ParsedQuestion) -> "tuple[list[Source], Found]":
        """Return (the best search results, or the nearest where there are none; the search's answer): of the kinds that
        the question names, if any of these match, else of all kinds; where none has all its words, those of the time
        that it names which have all the others."""
        query, found = subject(about.replace(":", " ")), None
        if asked.nouns:
            named = f"kind:{','.join(asked.nouns)}"
            found = self._search(f"{named} {without_nouns(query)}", judge.LOOKED)
        if found is None or not found.hits:
            found = self._search(query, judge.LOOKED)
        if not found.exact and asked.within:
            then = self._search(asked.within.text, judge.LOOKED, meaning=False)
            found = then if then.exact else found
        hits = (found.hits or found.nearest)[: judge.LOOKED]
        begins = {hit.citation: hit.start for hit in hits}
        matches = sources(self._memory.database, [hit.record for hit in hits])
        return [changed(one, start=begins.get(one.citation, 0)) for one in matches], found

    def _against(self, asked: ParsedQuestion, about: str, matches: Sequence[Source]) -> Source | None:
        """Return the first decision that says why what is asked was not taken, where the question asks why."""
        if asked.aspect != WHY:
            return None
        found = self._search(f"kind:decision {subject(about.replace(':', ' '))}", judge.LOOKED, meaning=False)
        decisions = sources(self._memory.database, [hit.record for hit in found.hits])
        return next((one for one in (*matches, *decisions) if turns_down(one, about)), None)

    def _done(self, about: str, aspect: str, matches: Sequence[Source]) -> Source | None:
        """Return the first source with all words of a question but the verb that says what was done (add, fix, sacar),
        if the source has none that says something else: of those that name it next to the verb; where the question
        asks why, rather one with a reason, and where it asks who, none that names nobody."""
        acts = templates.named("acts")
        asked = {acts[(word,)] for word in words(about) if (word,) in acts}
        rest = subject(about.replace(":", " "), frozenset(word for (word,) in acts)) if asked else ""
        if not rest:
            return None
        found = self._search(rest, MANY, meaning=False)
        exact = {hit.citation: hit.record for hit in found.hits if hit.level == EXACT}
        others = {name: one for name, one in exact.items() if all(name != match.citation for match in matches)}
        known = [one for one in matches if one.citation in exact]
        every = [one for one in (*known, *sources(self._memory.database, others.values())) if does(one, asked)]
        done = [one for one in in_reach(every, asked, rest) if aspect != WHO or one.kind != "document"]
        reasons = [one for one in done if aspect == WHY and not tells_no_reason(one)]
        return next(iter(reasons or done), None)

    def _known(self, chat: "Chat", asked: ParsedQuestion) -> Answer | None:
        """Return the records in the order in which this model ranked them for the same question, if none of them
        changed."""
        if asked.follows:
            return None
        kept = self._memory.answers.lookup(asked.text, by=chat.name)
        matches = self._cited(kept.citations) if kept else []
        if kept is None or not matches:
            return None
        note = kept.note or "ordered before, and nothing of it has changed"
        parts = headed(asked, compose(asked, matches, self._memory.now), matches, True)
        return _answer(asked, parts, matches, by=chat.name, note=note)

    def _with_span(self, chat: "Chat", about: str, language: str, source: Source, seconds: float) -> Source:
        """Return a source with the sentence that a model chooses, if one of its fields is too long to be quoted
        whole."""
        field = FIELDS.get(source.kind, "")
        text = str(getattr(source.record, field, ""))
        places = list(spans(text))[:SENTENCES] if len(text) > LONG else []
        if len(places) < 2 or source.hostile or seconds <= 0:
            return source
        try:
            number = judge.sentence(chat.answer, about, language, [text[a:b] for a, b in places], seconds)
        except ModelFailed:
            return source
        if number is None:
            return source
        start, end = places[number]
        first, last = span(text[start:end], (), LONG)
        return changed(source, span=(field, start + first, start + last))

    def _readable(self, matches: Sequence[Source]) -> list[Source]:
        """Return the sources that a model may read: without facts that a person has not accepted or keeps out of
        context, without proposals that wait or were rejected, and without anything that looks like an instruction."""
        facts = [source.record for source in matches if isinstance(source.record, Fact)]
        own = beside(self._memory.database)
        theirs = [source.record.own for source in matches if isinstance(source.record, GlobalFact)]
        shared = set(accepted(own, theirs)) if own is not None else set()
        shared -= self._memory.globals.muted(list(shared))
        yes = set(accepted(self._memory.database, facts)) - self._memory.mutes.among([fact.id for fact in facts])

        def may(record: Record) -> bool:
            if isinstance(record, Proposal):
                return record.state == "accepted"
            if isinstance(record, GlobalFact):
                return record.id in shared
            return not isinstance(record, Fact) or record.id in yes

        return [source for source in matches if not source.hostile and may(source.record)]

    def _text(self, asked: ParsedQuestion, source: Source) -> str:
        """Return a record as a model reads it: as it is quoted, without citations."""
        parts = [one for one in compose(asked, [source], self._memory.now) if not one.hostile]
        return " ".join(one.text.replace(f" [{one.citations[0]}]", "") for one in parts)

    def _cited(self, citations: Sequence[str]) -> list[Source]:
        found = lookup.there(self._memory.database, map(parse, citations))
        return sources(self._memory.database, found)

    def _count(self, name: str, began: float, kind: str, answer: str = "", dropped: str = "") -> None:
        """Count and log the answer of the model; without one, the order of the search was used. A question that was
        cancelled does not count."""
        database = self._memory.database
        if database.read_only or database.moment or kind == "stopped":
            return
        usage_stats.count(database, TASK, name, round((time.monotonic() - began) * 1000), kind, answer, dropped)
        if not answer:
            usage_stats.fell_back(database, TASK)


def _answer(
    asked: ParsedQuestion,
    parts: Sequence[CitedSentence],
    matches: Sequence[Source],
    *,
    by: str = "",
    odds: tuple[tuple[str, float], ...] = (),
    filter: str = "",
    note: str = "",
    exact: bool = True,
) -> Answer:
    citations = tuple(dict.fromkeys(citation for one in parts for citation in one.citations))
    looked = tuple(source.citation for source in matches)
    return Answer(asked, tuple(parts), citations, looked, by, 0.0, odds, filter, note=note, exact=exact)
