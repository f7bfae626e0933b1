"""What of a sentence must stand in the records that it cites just as it is, accents and capitals aside: numbers, days,
names, options, and who did something. A model that misremembers one of these has made it up.
"""

import re
from collections.abc import Iterable, Sequence

from store.base.models import Checkpoint, Commit, Decision, Event, Fact, Iteration, Turn
from store.base.vocabulary import PERSON
from store.librarian.relevance import names
from store.librarian.sources import Source, day
from store.text import contradiction
from store.text.question_similarity import words

# what a month is called → its number, so that a day is the same in both languages
MONTHS = {
    name: place
    for place, group in enumerate(
        "january jan enero ene|february feb febrero|march mar marzo|april apr abril abr|mayo may|june jun junio"
        "|july jul julio|august aug agosto ago|september sep sept septiembre|october oct octubre"
        "|november nov noviembre|december dec diciembre dic".split("|"),
        start=1,
    )
    for name in group.split()
}
SHORT = 3  # letters; of shorter words none is a name
FEW = 3  # words of an option that is nothing but a name

_NUMBER = re.compile(r"(?<![\w.,:])\d+(?:[.,:]\d+)*")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th|o|a|º|ª)\b")
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?: de| of)? ({_MONTH})\b\.?,?(?:(?: de| del)? (\d{{4}})\b)?")
_MONTH_FIRST = re.compile(rf"\b({_MONTH})\b\.? (\d{{1,2}})\b(?!\d)(?:,? (\d{{4}})\b)?")
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)")
_OF_YEAR = re.compile(rf"(?<!\d )(?<!\d de )\b({_MONTH})(?: de| del| of)? (\d{{4}})\b")
_BEGAN = re.compile(r"\b(?:began|begun|started|starts|empezo|comenzo|inicio|arranco|empieza)\b")
_ENDED = re.compile(r"\b(?:ended|finished|completed|closed|ends|termino|acabo|finalizo|concluyo|cerro|completo)\b")
# of these the day is that on which it happened; of others, that on which somebody wrote them down
_HAPPENED = (Checkpoint, Commit, Decision, Event, Iteration, Turn)
_WRITTEN_DOWN = re.compile(
    r"\b(?:recorded|noted|written down|remembered|saved|added|created"
    r"|registr(?:o|ado|ada|aron)|anot(?:o|ado|ada)|guard(?:o|ado|ada)|agreg(?:o|ado|ada)|cre(?:o|ado|ada))\b"
)
_CONFIRMED = re.compile(r"\bconfirm")
_LAST = re.compile(r"last confirmed \d+ \w+ \d{4}")

_ACTS = (
    "made|did|wrote|written|committed|implemented|added|fixed|removed|decided|chose|chosen|picked|recorded|approved"
    "|proposed|asked|requested|introduced|created|changed|merged|authored|suggested|noted|led|developed|built"
    "|hizo|hecho|hecha|escribio|escrito|escrita|implemento|implementad[oa]|agrego|agregad[oa]|anadio|anadid[oa]"
    "|arreglo|arreglad[oa]|corrigio|corregid[oa]|quito|elimino|eliminad[oa]|decidio|decidid[oa]|eligio|elegid[oa]"
    "|anoto|anotad[oa]|registro|aprobo|aprobad[oa]|propuso|propuest[oa]|pidio|pedid[oa]|introdujo|introducid[oa]"
    "|creo|cread[oa]|cambio|cambiad[oa]|sugirio|sugerid[oa]|desarrollo|desarrollad[oa]|realizo|realizad[oa]"
)
_PEOPLE = (
    "user|users|agent|agents|assistant|developers?|manager|boss|director|engineers?|customers?|clients?|author|designers?"
    "|architect|leader|owner|programmers?"
    "|usuarios?|usuarias?|agentes?|asistente|desarrollador(?:a|es|as)?|gerente|jef[ea]s?|directora?|ingenier[oa]s?"
    "|clientes?|autora?|disenador(?:a|es)?|arquitect[oa]|lider|duen[oa]|programador(?:a|es)?"
)
_NAMED = r"[^\W\d_][\w'’.-]*"
_AGENT = (  # before what was done, after a “by”, and in Spanish right after what was done
    re.compile(rf"({_NAMED}(?: {_NAMED}){{0,3}}) (?:has |ha |have |han |lo |la |los |las |se )?(?:{_ACTS})\b"),
    re.compile(
        rf"\b(?:{_ACTS})\b[^.;:]{{0,60}}?\b(?:by|por) (?:the |el |la |un |una |an? )?({_NAMED}(?: {_NAMED}){{0,2}})"
    ),
    re.compile(rf"\b(?:{_ACTS}) (?:el |la |los |las )({_NAMED})"),
)
_PERSON = re.compile(rf"(?:{_PEOPLE})")
# a capital at the beginning of a sentence is no name there
_NOBODY = frozenset(
    "commit decision iteration event task fact project team record who it they we he she i this that which what one"
    " iteracion decision tarea hecho proyecto equipo registro evento quien el ella ellos se esto eso que lo la los las"
    " the a an un una al del de para por en on in with con y and also tambien no not there first later luego then"
    " finally has was were is are been fue fueron ha han".split()
)


def why_unsupported(said: str, those: Sequence[Source], others: Iterable[Source] = ()) -> str:
    """What of a sentence does not stand in `those`, in a few words; empty if all of it does. `others` are the records
    that it does not cite: what only they name is none of these."""
    told = contradiction.folded(said)
    below = contradiction.folded("\n".join(ground(source, told) for source in those))
    if not _numbers(told) <= _numbers(below):
        return "a number that the record does not have"
    if not _days_stand(told, below, those):
        return "a date or a number that the record does not have"
    known = _parts(below)
    if any(
        not _same(part, known) for name in names(said) for part in _parts(_ORDINAL.sub("", contradiction.folded(name)))
    ):
        return "a name that the record does not have"
    if any(part not in known for part in _parts(told) & _named(others)):
        return "a name that the record does not have"
    if not all(_did(who, those, known) for who in _who(said, told)):
        return "who did it, which the record does not say"
    return ""


def ground(source: Source, said: str) -> str:
    """What a record says, for what a folded sentence says of it. The day on which a thing was merely written down or
    confirmed is no day of the thing: it is told only by who says so."""
    text = source.text
    if isinstance(source.record, Fact) and not _CONFIRMED.search(said):
        text = _LAST.sub("", text)
    if isinstance(source.record, _HAPPENED) or _WRITTEN_DOWN.search(said):
        return f"{source.at[:10]} {text}"
    return text.removeprefix(f"{day(source.at)}. ")


# numbers and days


def _numbers(text: str) -> frozenset[str]:
    """Its numbers as they are written, a day's without its zero too."""
    found = {match[0] for match in _NUMBER.finditer(text.replace("-", " ").replace("/", " "))}
    return frozenset(found | {number.lstrip("0") for number in found if number.isdigit() and number.lstrip("0")})


def days(text: str) -> set[tuple[int, int, int]]:
    """The days of a folded text: (year, month, day), the year 0 where none is told."""
    found = {(int(year), int(month), int(day)) for year, month, day in _ISO.findall(text)}
    found |= {(int(year or 0), MONTHS[month], int(day)) for day, month, year in _DAY_FIRST.findall(text)}
    return found | {(int(year or 0), MONTHS[month], int(day)) for month, day, year in _MONTH_FIRST.findall(text)}


def without_days(text: str) -> str:
    """A folded text without its days, and without `day` before them."""
    for pattern in (_ISO, _DAY_FIRST, _MONTH_FIRST, _OF_YEAR):
        text = pattern.sub(" \0 ", _ORDINAL.sub("", text))
    return re.sub(r"(?:\b(?:day|dia) )?\s*\0[,\s]*", " ", text)


def _days_stand(told: str, below: str, those: Sequence[Source]) -> bool:
    """Whether each day, and each month of a year, is one of the records'. An iteration has two: one alone is told as
    its beginning or as its end."""
    mine, known = days(told), days(below)
    if not all(any(day[1:] == other[1:] and day[0] in (0, other[0]) for other in known) for day in mine):
        return False
    months = {(year, month) for year, month, _ in known}
    if not all((int(year), MONTHS[month]) in months for month, year in _OF_YEAR.findall(told)):
        return False
    if len(those) == 1 and isinstance(record := those[0].record, Iteration) and len(mine) == 1:
        (said,) = mine
        return any(
            bool(pattern.search(told)) and said[1:] in {one[1:] for one in days(f"{at[:10]} {_here(at)}")}
            for pattern, at in ((_BEGAN, record.started_at), (_ENDED, record.completed_at or ""))
        )
    return True


def _here(at: str) -> str:
    return contradiction.folded(day(at)) if at else ""


# names


def _parts(text: str) -> frozenset[str]:
    """The words of a folded text, and the parts of those that are joined."""
    told = words(text)
    return frozenset((*told, *(part for word in told for part in re.split(r"[-/'’.:_]", word) if part)))


def _same(part: str, known: frozenset[str]) -> bool:
    return (
        part in known
        or part in MONTHS  # a day is held against the days
        or part.removesuffix("s") in known
        or any(value.startswith("=") for value in contradiction.taken_apart(part).values)  # and so is a day of the week
        or part.isdigit()  # and a number against the numbers
        or part in _NOBODY
    )


def _named(others: Iterable[Source]) -> frozenset[str]:
    """The words of names that stand in these records: what was chosen and what was not, and authors."""
    found = set[str]()
    for source in others:
        match source.record:
            case Decision() as decision:
                texts: tuple[str, ...] = (decision.chosen, *decision.alternatives)
            case Commit() as commit:
                texts = (commit.author,)
            case _:
                continue
        # the first word of few is a name, of many it begins a sentence
        texts = tuple(f"a {text}" if len(text.split()) <= FEW else text for text in texts)
        found |= {part for text in texts for name in names(text) for part in _parts(contradiction.folded(name))}
    return frozenset(part for part in found if len(part) >= SHORT and not part.isdigit() and part not in _NOBODY)


# who did it


def _who(said: str, told: str) -> list[list[str]]:
    """Who is told to have done something, each as the words of a name or of a sort of person."""
    large = {part for name in names(said) for part in _parts(contradiction.folded(name))}
    if first := re.match(r"\W*([A-ZÁÉÍÓÚÑÅ][\w'’-]+)", said):
        large |= {contradiction.folded(first[1])}
    found = []
    for place, pattern in enumerate(_AGENT):
        for match in pattern.finditer(told):
            near = match[1].split()
            others = [at for at, word in enumerate(near) if not _may_act(word, large)]
            if place:
                near = near[: others[0]] if others else near
            elif others:
                near = near[others[-1] + 1 :]  # those that stand right before what was done
            if near:
                found.append([word.strip(".'’-") for word in near])
    return found


def _may_act(word: str, large: set[str]) -> bool:
    word = word.strip(".'’-")
    return word not in _NOBODY and (word in large or bool(_PERSON.fullmatch(word)))


def _did(who: Sequence[str], those: Sequence[Source], known: frozenset[str]) -> bool:
    """Whether one of the records says that they did it: its author, who recorded it, or in a record that has neither
    its own words."""
    for source in those:
        record = source.record
        if isinstance(record, Commit):
            own = _parts(contradiction.folded(record.author))
        elif isinstance(record, Decision) and getattr(record, "origin", PERSON) != PERSON:
            own = _parts(contradiction.folded(f"{record.origin} {record.rationale} {record.context}"))
        else:
            own = known
        if all(word in own for word in who):
            return True
    return False
