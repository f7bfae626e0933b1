"""Answers by rule: the records themselves, as sentences with their citations, in the language of the question.

What a record says is quoted as it was written; only the words around it are ours.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from store.base.clock import local_time
from store.base.models import (
    Checkpoint,
    Chunk,
    Commit,
    Decision,
    Event,
    Fact,
    Iteration,
    Proposal,
    Record,
    Summary,
    Task,
    Turn,
)
from store.base.vocabulary import PERSON
from store.librarian.count_answer import FEW, Tally
from store.librarian.question import CHRONOLOGY, IMPLEMENTATION, WHEN, WHO, WHY, ParsedQuestion
from store.librarian.retrieval import Retrieval
from store.librarian.sources import Source, moment
from store.librarian.time_range import TOLD
from store.records.ageing import state
from store.search.lookup import kind_of
from store.search.pipeline import body
from store.text.clauses import spans
from store.text.fence import plain
from store.text.prompt_injection import suspicious
from store.text.question_similarity import words

NEAREST = 3  # records that are named where none answers
NOTHING = {"es": "No hay registros sobre eso.", "en": "There are no records about that."}
SAID = 3  # sources that are told, where no time is asked for
QUOTED = 260  # characters of a quotation
NAMED = 40  # characters of a name; what is longer is quoted
OPTION = 80  # characters of one of several quotations
_MONTHS = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split()
_HOSTILE = {
    "es": "⚠ parece una orden para un agente; no se le hace caso",
    "en": "⚠ it reads like an order to an agent, and is not obeyed",
}
_NAMES = {
    "decision": ("decision", "decisions", "decisión", "decisiones", "a"),
    "commit": ("commit", "commits", "commit", "commits", "o"),
    "iteration": ("iteration", "iterations", "iteración", "iteraciones", "a"),
    "event": ("event", "events", "evento", "eventos", "o"),
    "fact": ("fact", "facts", "hecho", "hechos", "o"),
    "task": ("task", "tasks", "tarea", "tareas", "a"),
    "checkpoint": ("checkpoint", "checkpoints", "checkpoint", "checkpoints", "o"),
    "turn": ("message", "messages", "mensaje", "mensajes", "o"),
    "summary": ("summary", "summaries", "resumen", "resúmenes", "o"),
    "proposal": ("proposal", "proposals", "propuesta", "propuestas", "a"),
}
_STATES = {
    "active": "activ", "superseded": "reemplazad", "forgotten": "olvidad", "completed": "terminad",
    "abandoned": "abandonad", "open": "abiert", "done": "hech", "fresh": "reciente", "aging": "que envejece",
    "low": "de poca prioridad", "stale": "sin confirmar hace mucho", "pinned": "fijad", "waiting": "en espera",
    "accepted": "aceptad", "rejected": "rechazad", "in_progress": "en curso",
}  # fmt: skip
_LINKS = {
    "implements": ("It implements {}", "Implementa {}"),
    "reverts": ("It reverts {}", "Revierte {}"),
    "relates": ("It belongs with {}", "Tiene que ver con {}"),
    "implemented by": ("It was implemented in {}", "Se implementó en {}"),
    "reverted by": ("It was reverted in {}", "Se revirtió en {}"),
    "related to": ("{} belongs with it", "Con eso tiene que ver {}"),
    "replaced": ("It took the place of {}", "Reemplazó a {}"),
    "replaced by": ("{} took its place", "La reemplazó {}"),
}
_NO_NAME = re.compile(r"(?<!\b\w)[.!?:;,]\s|[\[\]#“”«»\"]")  # with this in it, it could pass for words of ours


class CitedSentence(NamedTuple):
    """A sentence of an answer, and the citations that it makes itself: not those that stand in what it quotes."""

    text: str
    citations: tuple[str, ...]


def compose(asked: ParsedQuestion, found: Retrieval, now: str) -> list[CitedSentence]:
    """The sentences that answer, each with its citation; none where nothing does."""
    if found.tally is not None:
        return _counted(found.tally, asked)
    if not found.sources:
        return []
    told = list(found.sources[: found.direct])
    if found.of:
        asked = replace(asked, kind=CHRONOLOGY)
    if asked.many or found.of:
        told = sorted(told[:TOLD], key=lambda source: source.at)
    elif asked.kind == IMPLEMENTATION and (commits := [one for one in told if isinstance(one.record, Commit)]):
        told = commits[:SAID]
    else:
        told = told[:SAID]
    sentences = (sentence for source in told for sentence in _told(source, asked, now))
    return [*dict.fromkeys(sentences), *_left_out(told, found.of, asked)]


def nearest(near: Sequence[Source], language: str) -> CitedSentence | None:
    """What comes nearest to a question that nothing answers, in one line; None where nothing is near."""
    those = [one for one in near if not one.hostile][:NEAREST]
    if not those:
        return None
    listed = "; ".join(_listed(one.record, language) for one in those)
    text = f"Lo más cercano: {listed}." if language == "es" else f"The nearest: {listed}."
    return CitedSentence(text, tuple(one.citation for one in those))


def _left_out(told: Sequence[Source], of: int, asked: ParsedQuestion) -> Iterator[CitedSentence]:
    """That a list goes on, where it does."""
    if not len(told) < of:
        return
    first, last = told[0], told[-1]
    ends = f"{_from(first.record, asked.language)} {_to(last.record, asked.language)}"
    newest = bool(asked.kinds) or asked.follows
    if asked.language == "es":
        text = f"Son {'lo más reciente, ' if newest else ''}{len(told)} de {of}, {ends}."
    else:
        text = f"These are {'the newest ' if newest else ''}{len(told)} of {of}, {ends}."
    yield CitedSentence(text, (first.citation, last.citation))


def attributed(sentence: str, those: Sequence[Source], language: str) -> str:
    """A sentence that cites these sources, with who recorded each, where it was not the person."""
    for source in those:
        if by := _by(source.record, language):
            sentence = sentence.replace(f" [{source.citation}]", f" ({by}) [{source.citation}]", 1)
    return sentence


def named(text: str, language: str) -> str:
    """A name that a record has, as it was written; in quotation marks where it is more than a name."""
    said = " ".join(plain(text).split())
    return said if len(said) <= NAMED and not _NO_NAME.search(said) else quoted(said, language, OPTION)


def date(at: str, language: str) -> str:
    """The day of a moment, where the person is: `12 Mar 2026`, `12 de marzo de 2026`."""
    if language == "en":
        return local_time(at).rpartition(" ")[0]
    here = datetime.fromisoformat(at).astimezone()
    return f"{here.day} de {_MONTHS[here.month - 1]} de {here.year}"


def quoted(text: str, language: str, most: int = QUOTED) -> str:
    """A text as it was written, in quotation marks; of a long one its first sentences, as many as there is room
    for, and only of one that is long by itself its beginning."""
    said = " ".join(plain(text).split())
    if len(said) > most:
        whole = max((end for _, end in spans(said) if end < most - 1), default=0)
        cut = said[: most - 1]
        said = f"{said[:whole]} …" if whole else cut[: max(cut.rfind(" "), most // 2)].rstrip(" ,;:") + "…"
    return f"«{said}»" if language == "es" else f"“{said}”"


def _told(source: Source, asked: ParsedQuestion, now: str) -> Iterator[CitedSentence]:
    """What a source says to this question, a sentence at a time."""
    record, spanish = source.record, asked.language == "es"
    said = list(_decision(record, asked)) if isinstance(record, Decision) else [_said(record, asked.language, now)]
    for sentence in said:
        yield _cited(f"{sentence}{_flag(source.hostile, asked.language)}", source.citation)
    if isinstance(record, Commit | Decision) and _wants_links(asked):
        for link in source.links:
            if asked.kind == IMPLEMENTATION or link.kind in ("replaced by", "reverted by", "replaced"):
                sentence = _LINKS[link.kind][spanish].format(quoted(link.title, asked.language))
                by = _bracketed([_recorded(link.origin, "decision", asked.language)])
                yield _cited(f"{sentence}{by}{_flag(suspicious(link.title), asked.language)}", link.citation)


def _cited(sentence: str, citation: str) -> CitedSentence:
    return CitedSentence(f"{sentence} [{citation}].", (citation,))


def _flag(hostile: bool, language: str) -> str:
    return f" ({_HOSTILE[language]})" if hostile else ""


def _wants_links(asked: ParsedQuestion) -> bool:
    return asked.kind == IMPLEMENTATION or asked.aspect in (WHY, WHEN) or asked.standing


def _decision(record: Decision, asked: ParsedQuestion) -> Iterator[str]:
    language, spanish = asked.language, asked.language == "es"
    when, title = date(record.decided_at, language), quoted(record.title, language)
    gone = {"superseded": (", since superseded", ", ya reemplazada"), "forgotten": (", forgotten", ", olvidada")}
    note = gone.get(record.status, ("", ""))[spanish]
    if asked.aspect != WHO and (by := _by(record, language)):
        note += f" ({by})"
    start = f"El {when} se decidió {title}{note}" if spanish else f"On {when} it was decided: {title}{note}"
    brief = asked.aspect == WHEN or asked.kind in (CHRONOLOGY, IMPLEMENTATION)
    chosen = f"{': ' if spanish else ', with '}{quoted(record.chosen, language)}" if asked.aspect != WHEN else ""
    instead = ""
    if record.alternatives and not brief:
        options = ", ".join(quoted(option, language, OPTION) for option in record.alternatives)
        instead = f", en lugar de {options}" if spanish else f", instead of {options}"
    yield f"{start}{chosen}{instead}"
    if asked.aspect == WHO:
        who = named(record.origin, language)
        yield f"La anotó {who}" if spanish else f"It was recorded by {who}"
    if record.rationale and (asked.aspect == WHY or not (brief or asked.aspect == WHO)):
        yield (
            f"El motivo: {quoted(record.rationale, language)}"
            if spanish
            else (f"The reason: {quoted(record.rationale, language)}")
        )
    if record.context and asked.aspect == WHY:
        yield (
            f"Lo que lo pedía: {quoted(record.context, language)}"
            if spanish
            else (f"What called for it: {quoted(record.context, language)}")
        )


def _said(record: Record, language: str, now: str) -> str:
    """What a record other than a decision says, without its citation."""
    spanish = language == "es"

    def quote(text: str) -> str:
        return quoted(text, language)

    def on(at: str) -> str:
        return f"El {date(at, language)}" if spanish else f"On {date(at, language)}"

    match record:
        case Fact():
            return f"{quote(record.fact)}{_beside(record, language, now)}"
        case Commit():
            made = "hizo el commit" if spanish else "committed"
            return f"{on(record.committed_at)}, {named(record.author, language)} {made} {quote(record.subject)}"
        case Event():
            payload = record.payload if isinstance(record.payload, dict) else {"": record.payload}
            told = ", ".join(f"{name}: {value}".lstrip(": ") for name, value in payload.items() if value is not None)
            what = f"{named(record.event_type.replace('_', ' '), language)}, {named(record.phase, language)}"
            notes = filter(None, (quote(told) if told else "", _by(record, language)))
            return f"{on(record.created_at)}: {what}{_bracketed(notes)}"
        case Iteration():
            name = f"{'La iteración' if spanish else 'Iteration'} {record.id} ({named(record.command, language)}), "
            began = f"{'empezó el' if spanish else 'began on'} {date(record.started_at, language)}"
            by = _bracketed([_by(record, language)])
            return f"{name}{quote(record.description)}, {began}{_end(record, language)}{by}"
        case Task():
            word = {"pending": "pendiente", "in_progress": "en curso", "done": "hecha"}[record.status]
            status = word if spanish else record.status.replace("_", " ")
            since = (
                f"desde el {date(record.updated_at, language)}"
                if spanish
                else (f"since {date(record.updated_at, language)}")
            )
            name = f"{'Tarea' if spanish else 'Task'} {quote(record.text)}, "
            return f"{name}{status} {since}{_bracketed([_by(record, language)])}"
        case Turn():
            said = f"{named(record.speaker or record.role, language)} {'dijo' if spanish else 'said'}"
            return f"{on(record.at)}, {said}: {quote(record.text)}"
        case Summary():
            about = f"{'Se habló de' if spanish else 'It was talked about'} {quote(record.title)}"
            return f"{about}: {quote(record.outcome)}" if record.outcome else about
        case Checkpoint():
            taken = " se tomó el checkpoint" if spanish else " a checkpoint was taken:"
            return f"{on(record.created_at)}{taken} {quote(record.title)}"
        case Proposal():
            what = "Propuesta sin aceptar" if spanish else "Proposed, not accepted"
            return f"{what}: {quote(record.text)}{_bracketed([_by(record, language)])}"
        case Chunk():
            return f"{named(record.path, language)}: {quote(record.text)}"
    return quote(record.title)


def _by(record: Record, language: str) -> str:
    """Who recorded something, where it was not the person."""
    if not isinstance(record, Fact | Decision | Task | Event | Iteration | Proposal):
        return ""
    return _recorded(record.origin, kind_of(record), language)


def _recorded(origin: str, kind: str, language: str) -> str:
    if origin == PERSON:
        return ""
    who = named(origin, language)
    return f"anotad{_NAMES[kind][-1]} por {who}" if language == "es" else f"recorded by {who}"


def _bracketed(notes: Iterable[str]) -> str:
    told = ", ".join(filter(None, notes))
    return f" ({told})" if told else ""


def _beside(fact: Fact, language: str, now: str) -> str:
    """How long nobody confirmed a fact, where that matters, and who says it, where that is not the person."""
    notes = [_by(fact, language)]
    old = state(now, fact.last_confirmed_at, fact.confidence, fact.pinned)
    if old != "fresh":
        since = date(fact.last_confirmed_at, language)
        notes.append(f"sin confirmar desde el {since}" if language == "es" else f"not confirmed since {since}")
    if fact.status != "active":
        notes.append(fact.status)
    return _bracketed(notes)


def _end(record: Iteration, language: str) -> str:
    if record.completed_at is None:
        return " y sigue en curso" if language == "es" else " and is under way"
    when = date(record.completed_at, language)
    if language == "es":
        return f" y {'se abandonó' if record.status == 'abandoned' else 'terminó'} el {when}"
    return f" and was {record.status} on {when}"


def _counted(tally: Tally, asked: ParsedQuestion) -> list[CitedSentence]:
    """How many there are, in one sentence that names the first and the last, or each of a few."""
    number, language = len(tally.records), asked.language
    if not number:
        return []
    one, many, uno, varios, ending = _NAMES[tally.kind]
    about, unused = (
        ", ".join(quoted(_written(word, asked.text), language) for word in those)
        for those in (tally.about, tally.unused)
    )
    of = tuple(map(str, tally.cited))
    cited = ", ".join(f"[{citation}]" for citation in of)
    if language == "es":
        state = _STATES.get(tally.state, "")
        if state and (state[-1] in "vdth" or state == "abiert"):
            state += ending + ("" if number == 1 else "s")
        if state and tally.negated:
            state = f"que no {'está' if number == 1 else 'están'} {state}"
        parts = [
            *(uno if number == 1 else varios, state, cited and f"de {cited}", "de agentes" if tally.agents else ""),
            *(about and f"con {about}", unused and f"en total, sin tener en cuenta {unused}"),
        ]
        start = f"Hay {number} {' '.join(filter(None, parts))}"
    else:
        state = tally.state.replace("_", " ")
        parts = [
            *("" if tally.negated else state, one if number == 1 else many, f"not {state}" if tally.negated else ""),
            *(cited and f"of {cited}", "by agents" if tally.agents else "", about and f"with {about}"),
            unused and f"in all, without regard to {unused}",
        ]
        start = f"There {'is' if number == 1 else 'are'} {number} {' '.join(filter(None, parts))}"
    if number <= FEW:
        listed = ", ".join(_listed(record, language) for record in tally.records)
        return [CitedSentence(f"{start}: {listed}.", (*of, *(record.citation for record in tally.records)))]
    first, last = tally.records[0], tally.records[-1]
    return [
        CitedSentence(f"{start}, {_from(first, language)} {_to(last, language)}.", (*of, first.citation, last.citation))
    ]


def _written(word: str, text: str) -> str:
    """A word as the question has it."""
    return next((match[0] for match in re.finditer(r"[\w+#]+", text) if words(match[0]) == [word]), word)


def _listed(record: Record, language: str) -> str:
    title, by = _title(record), _bracketed([_by(record, language)])
    return f"{quoted(title, language, OPTION)}{by}{_flag(suspicious(title), language)} [{record.citation}]"


def _from(first: Record, language: str) -> str:
    when = date(moment(first), language)
    return f"del {when} [{first.citation}]" if language == "es" else f"from {when} [{first.citation}]"


def _to(last: Record, language: str) -> str:
    when = date(moment(last), language)
    return f"al {when} [{last.citation}]" if language == "es" else f"to {when} [{last.citation}]"


def _title(record: Record) -> str:
    if isinstance(record, Decision):
        return record.title
    return record.subject if isinstance(record, Commit) else body(record)
