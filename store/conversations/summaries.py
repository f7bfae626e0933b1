"""Summaries: three turns at a time, as keys and values; written once, never summarised again.

The newest MOST_ACTIVE of a session are put into a prompt; the older ones are kept, cited and found by a search.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from store.base.models import Summary, Turn, format_summary_line
from store.base.vocabulary import MODEL_ORIGIN_PREFIX, PERSON_ORIGIN, RULES_ORIGIN
from store.conversations.turns import Turns, why_topic_changes
from store.database.database import Transaction
from store.database.schema import SUMMARY_TIME_SQL
from store.database.values import Json, Verbatim, clean_text
from store.records.table import RecordTable
from store.records.timeline import LAST_TURN_SQL
from store.text.language import extract_names
from store.text.sentences import extract_statements, is_question, is_small_talk, remove_enclosed_text
from store.text.words import any_of_regex, count_tokens, fold_text, load_words

# Summarise a few turns by rule: whole sentences of the turns, or nothing. A model that summarises them better returns
# the same `SummaryFields`.

# of one summary, in a prompt
SUMMARY_TOKENS = 50
# of the topic, so that there is room for the decisions
TOPIC_TOKENS = 30
TERM_TOKENS = 7  # of a name
# decisions, questions
MOST_SENTENCES = 3
MOST_TERMS = 5

_WORDS = tomllib.loads(Path(__file__).with_name("summaries.toml").read_text(encoding="utf-8"))
_DECIDED_WORDS, _DONE_WORDS, _ANSWER, _BACK = (
    re.compile(_WORDS[name], re.IGNORECASE) for name in ("decided", "done", "answer", "back")
)
_WORD = re.compile(r"[^\W_]{4,}")


@cache
def _negation() -> re.Pattern[str]:
    """Return the pattern of what negates a statement, without capitals and accents."""
    return re.compile(
        rf"\b(?:{any_of_regex(load_words('negations', 'core', 'nobody', 'comparison'))}|si|if|unless|hardly"
        r"|descart\w+|rechaz\w+|mentira|falso|reject\w*|discard\w*|against|false|untrue)\b|n't\b"
    )


class SummaryFields(NamedTuple):
    """A summary as keys and values: the topic, the things `discussed`, the outcome, the decisions, and the questions
    without an answer; and its author, `rules` or the name of a model. Of small talk every field is empty."""

    topic: str
    discussed: tuple[str, ...] = ()
    outcome: str = ""
    decisions: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    by: str = "rules"

    @property
    def prompt_line(self) -> str:
        """As `Summary.prompt_line`."""
        return format_summary_line(self.topic, self.discussed, self.outcome, self.decisions, self.open_questions)


def summarize_by_rule(turns: Sequence[Turn]) -> SummaryFields:
    """Return whole sentences of the turns, word for word; one for which there is no room is left out whole. The outcome
    is what was answered to the topic. SUMMARY_TOKENS at most."""
    spoken = [(turn.role, meaningful_sentences(turn.text)) for turn in turns]
    decided = _find_decisions([sentences for role, sentences in spoken if role == PERSON_ORIGIN])
    open_questions = [one for one in spoken[-1][1] if is_question(one)] if spoken else []
    topic, outcome = _find_topic(spoken, {*decided, *open_questions})
    talked = (turn.text for turn, (_, sentences) in zip(turns, spoken, strict=True) if sentences)
    return fit_summary(
        topic,
        extract_names(talked, MOST_TERMS),
        outcome if outcome not in decided else "",
        decided[-MOST_SENTENCES:],
        open_questions[-MOST_SENTENCES:],
    )


def states_decision(sentence: str) -> bool:
    """Return whether a sentence states a decision: not one that asks, denies, supposes or quotes it."""
    own = _ANSWER.sub("", remove_enclosed_text(sentence))
    found = _DECIDED_WORDS.search(own)
    return found is not None and "?" not in own and not _negation().search(fold_text(own[: found.start()]))


def fit_summary(
    topic: str,
    discussed: Iterable[str],
    outcome: str,
    decisions: Sequence[str],
    open_questions: Sequence[str],
    by: str = "rules",
) -> SummaryFields:
    """Return a summary of at most SUMMARY_TOKENS, each of its parts whole. Priority: the decisions, the last first, as
    it may have changed the others; then the topic, the open questions, the outcome and what was mentioned."""
    kept = SummaryFields("", by=by)

    def take(**fields: Any) -> bool:
        nonlocal kept
        more = kept._replace(**fields)
        fits = count_tokens(more.prompt_line) <= SUMMARY_TOKENS
        kept = more if fits else kept
        return fits

    for value in filter(None, map(_flatten, reversed(decisions))):
        if not take(decisions=(value, *kept.decisions)):
            break
    topic = _flatten(topic)
    if count_tokens(topic) <= TOPIC_TOKENS:
        take(topic=topic)
    for value in filter(None, map(_flatten, open_questions)):
        take(open_questions=(*kept.open_questions, value))
    if kept.topic:
        take(outcome=_flatten(outcome))
    for value in filter(None, map(_flatten, discussed)):
        if count_tokens(value) <= TERM_TOKENS and value.casefold() not in kept.topic.casefold():
            take(discussed=(*kept.discussed, value))
    return kept


def meaningful_sentences(text: str) -> list[str]:
    """Return the whole sentences of a turn, without small talk."""
    return [one for one in extract_statements(text) if not is_small_talk(one)]


def _find_decisions(turns: Sequence[Sequence[str]]) -> list[str]:
    """Return the person's decisions, without those that they withdrew later."""
    found: list[str] = []
    for sentences in turns:
        for place, sentence in enumerate(sentences):
            begins = not place and _BACK.search(sentence) is not None
            found = [one for one in found if not begins and not _may_withdraw(sentence, one)]
            if states_decision(sentence) and sentence not in found:
                found.append(sentence)
    return found


def _may_withdraw(later: str, decision: str) -> bool:
    """Return whether a sentence may withdraw an earlier decision: it denies or supposes something of it."""
    if not _negation().search(fold_text(later)) and not _BACK.search(later):
        return False
    mine, before = ({word[:6].casefold() for word in _WORD.findall(one)} for one in (later, decision))
    return bool(mine & before) or len(later.split()) <= 2


def _find_topic(turns: Sequence[tuple[str, Sequence[str]]], elsewhere: set[str]) -> tuple[str, str]:
    """Return (the topic, the answer to it): the first thing that the person said, or else anybody, and the
    sentences of the reply that surely belong to it. What is in `elsewhere` is not repeated."""
    first = next(
        (
            at
            for at, (role, sentences) in enumerate(turns)
            if role == PERSON_ORIGIN and _topic_candidates(sentences)
        ),
        None,
    )
    if first is None:
        every = [one for _, sentences in turns for one in sentences]
        return next((one for one in every if _fits_as_topic(one) and one not in elsewhere), ""), ""
    mine = turns[first][1]
    reply: list[str] = []
    for role, sentences in turns[first + 1 :]:
        if role == PERSON_ORIGIN:
            break
        reply += sentences
    questions = [one for one in mine if is_question(one)]
    topic = next((one for one in _topic_candidates(mine) if one not in elsewhere), "")
    if not reply or len(questions) > 1:
        return topic, ""
    if questions and questions == mine[-1:] and _fits_as_topic(questions[0]):
        answer = "" if is_question(reply[0]) else reply[0]
        return questions[0], answer
    done = [at for at, one in enumerate(reply) if _DONE_WORDS.search(one) and not is_question(one)]
    if not _ANSWER.search(reply[0]) and done and not any(_BACK.search(one) for one in reply[done[-1] :]):
        return topic, reply[done[-1]]
    return topic, reply[0] if mine == [topic] and not is_question(reply[0]) else ""


def _topic_candidates(sentences: Sequence[str]) -> list[str]:
    """Return the sentences of more than one word that fit as a topic."""
    return [one for one in sentences if _fits_as_topic(one) and len(re.findall(r"\w+", one)) > 1]


def _fits_as_topic(sentence: str) -> bool:
    """Tell whether a sentence is short enough for a topic."""
    return count_tokens(sentence) <= TOPIC_TOKENS


def _flatten(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())


Summarise = Callable[[Sequence[Turn]], SummaryFields]

# columns that are lists
LIST_COLUMNS = (5, 7, 8)
SUMMARIES_ORIGIN = "agent"
# summaries of a session in a prompt
MOST_ACTIVE = 4
# of one summary, at most
TURNS_PER_SUMMARY = 3
# summaries of one transaction
SUMMARY_BATCH = 50


class Summaries(RecordTable[Summary]):
    """The summaries of one memory."""

    kind, source = "summary", "summaries"
    columns = (
        "id, session, first, last, topic, discussed, outcome, decisions,"
        f" open_questions, tokens, {SUMMARY_TIME_SQL}, origin"
    )
    absence = "There is no summary {} in this memory.", "Search for it."

    @staticmethod
    def _of_row(row: tuple[Any, ...]) -> Summary:
        columns = list(row)
        for place in LIST_COLUMNS:
            columns[place] = tuple(json.loads(columns[place]))
        return Summary(*columns)

    def active(self, session: str = "") -> list[Summary]:
        """Return the summaries that a prompt of this session may hold, MOST_ACTIVE at most, the oldest first; of the
        newest session unless named. Those of small talk are empty and left out."""
        where = "WHERE session = ? AND tokens > 0 ORDER BY first DESC LIMIT ?"
        return self._read(where, session or self._newest_session(), MOST_ACTIVE)[::-1]

    def list_of_session(self, session: str, limit: int = -1) -> list[Summary]:
        """Return the last `limit` summaries of a session, the oldest first; without a limit all, including
        archived ones."""
        return self._read("WHERE session = ? ORDER BY first DESC LIMIT ?", session, limit)[::-1]

    def find_due_turns(self, session: str, *, all_of_it: bool = False) -> list[list[Turn]]:
        """Return the turns of a session that are to be summarised: those that left its window, TURNS_PER_SUMMARY at a
        time, fewer where the topic changes, or where the last of them asks what the next one answers. With `all_of_it`
        also those still in the window, and the last few that make no whole group."""
        turns = Turns(self._database)
        done = self._database.number("SELECT max(last) FROM summaries WHERE session = ?", (session,))
        waiting = turns.since(session, done, SUMMARY_BATCH * TURNS_PER_SUMMARY)
        more = len(waiting) == SUMMARY_BATCH * TURNS_PER_SUMMARY
        parts: list[list[Turn]] = []
        for turn in waiting:
            last = parts[-1] if parts else []
            if not last or (
                turn.role == PERSON_ORIGIN and why_topic_changes(turn.text, last[-1].text, turn.continuity)
            ):
                parts.append([])
            elif len(last) == TURNS_PER_SUMMARY:
                answers = turn.role != last[-1].role and any(map(is_question, extract_statements(last[-1].text)))
                parts.append([last.pop()] if answers else [])
            parts[-1].append(turn)
        if all_of_it:
            return parts[:-1] if more else parts
        inside = {turn.number for turn in turns.window(session)}
        left = takewhile(lambda part: part[-1].number not in inside, parts)
        return [part for part in left if not (more and part is parts[-1])]

    def list_behind(self, quiet: str, limit: int) -> list[str]:
        """List the sessions that are over, or have no turn since `quiet`, and are not fully summarised; by their last
        turn, the newest first."""
        return self._database.column(
            f"SELECT s.id FROM sessions s WHERE (s.ended_at IS NOT NULL OR {LAST_TURN_SQL.format('t.at')} < ?)"
            f" AND {LAST_TURN_SQL.format('t.number')} >"
            " coalesce((SELECT max(m.last) FROM summaries m WHERE m.session = s.id), 0)"
            f" ORDER BY {LAST_TURN_SQL.format('t.id')} DESC LIMIT ?",
            (quiet, limit),
        )

    def summarize_due(
        self,
        session: str = "",
        *,
        all_of_it: bool = False,
        by: Summarise | None = None,
        actor: str = SUMMARIES_ORIGIN,
    ) -> list[int]:
        """Summarise what is due of a session, the newest unless named; return the ids of the summaries. `by` makes
        them, by default the rule; those of another are written one by one as they are made. `by` runs outside of any
        transaction; turns that another process summarised meanwhile, or that were purged, are skipped. Raise what `by`
        raises; what was written is kept."""
        name = clean_text(session.strip()) or self._newest_session()
        made: list[int] = []
        while parts := self.find_due_turns(name, all_of_it=all_of_it):
            for some in [parts] if by is None else [[part] for part in parts]:
                summaries = [(part[0].number, part[-1].number, (by or summarize_by_rule)(part)) for part in some]
                with self._database.write(actor, "summarise") as write:
                    stand = takewhile(lambda one: _are_unchanged(write, one[0]), zip(some, summaries, strict=True))
                    fresh = [insert_summary(write, name, *one) for _, one in stand]
                made += [number for number in fresh if number is not None]
                if None in fresh:
                    return made
                if len(fresh) < len(some):
                    break
        return made

    def _newest_session(self) -> str:
        return Turns(self._database).newest_session()


def drop_summaries(write: Transaction, turns: Sequence[int]) -> None:
    """Delete the summaries of these turns, whose words are to be removed: a summary may contain a part of them."""
    write.execute(
        "DELETE FROM summaries WHERE EXISTS (SELECT 1 FROM turns t WHERE t.id IN (SELECT value FROM json_each(?))"
        " AND t.session = summaries.session AND t.number BETWEEN summaries.first AND summaries.last)",
        (Json(list(turns)),),
    )


def _are_unchanged(write: Transaction, part: Sequence[Turn]) -> bool:
    """Return whether turns still have the text that was read: one may have been purged or scrubbed since."""
    numbers = Json([turn.id for turn in part])
    rows = write.rows("SELECT id, text FROM turns WHERE id IN (SELECT value FROM json_each(?))", (numbers,))
    return dict(rows) == {turn.id: turn.text for turn in part}


def insert_summary(write: Transaction, session: str, first: int, last: int, one: SummaryFields) -> int | None:
    """Write the summary of the turns `first` to `last`, inside a transaction, unless they have one; return its id.
    It is as old as the last of them."""
    if write.first("SELECT 1 FROM summaries WHERE session = ? AND last >= ?", (session, first)):
        return None
    at = write.first("SELECT at FROM turns WHERE session = ? AND number = ?", (session, last)) or write.at
    return write.insert(
        "summaries",
        session=session,
        first=first,
        last=last,
        topic=one.topic,
        discussed=Json(list(one.discussed)),
        outcome=one.outcome,
        decisions=Json(list(one.decisions)),
        open_questions=Json(list(one.open_questions)),
        tokens=count_tokens(one.prompt_line),
        created_at=Verbatim(min(at, write.at)),
        origin=write.actor if one.by == RULES_ORIGIN else f"{MODEL_ORIGIN_PREFIX}{one.by}",
    )
