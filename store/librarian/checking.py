"""The check of a model's answer, sentence by sentence, before anything is shown.

A sentence stands if it cites, if all that it cites was among the records the model was given, and if what it says
stands in the records that it cites: numbers, days, names and who did it as they are (`verbatim`), of its other words a
good part. Small models often forget to cite: a sentence that says nothing but what one of the records says gets that
citation from us. Any other that cites nothing is cut, but for "there are no records of that", said in our own words.
What is cut is counted.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from store import cues
from store.citations import Citation, find
from store.context.fence import plain
from store.librarian import verbatim
from store.librarian.relevance import kin, names
from store.librarian.sources import Source
from store.models import Commit
from store.questions import words
from store.search.language import foreign, language

WHOLE = 0.8  # of the words of one that cites nothing, that must stand in one record for it to be cited
CLAUSE = 0.7  # of the words of a clause, that a sentence about the same has
LEAST = 2  # words of it that tell something
COVERED = 0.5  # of a sentence's words, that must stand in the records it cites
ACROSS = 0.4  # of them, where the record is in another language: names and cognates
MEANT = 0.45  # calibrated similarity from which a sentence in another language says what the record says
LONGEST = 600  # characters of a sentence
NEAR = 40  # characters around a name in which is said that it was not chosen

_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s|$)|\n+")
_CITED = r"\s*[\[(]?[A-Za-z]#\w+"  # a citation after the full stop belongs before it
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|p\. ?ej|ej|sr|sra|dr|dra|mr|mrs|ms|vs|aprox|etc|nro|núm|num|art|pág)|\b[A-Z])\.$", re.I
)
_BULLET = re.compile(r"^\s*(?:[-*+•–—#>]+\s+|\d{1,2}[.)]\s+|(?:answer|respuesta|librarian|bibliotecario)\s*:\s*)", re.I)
_MARKS = re.compile(r"[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}")
_NO_RECORDS = re.compile(
    r"\b(?:no (?:hay|existen?|se (?:encontr\w+|encuentran?)|tengo|consta\w*|aparecen?)\b[^.]{0,40}"
    r"\b(?:registr\w+|informaci[oó]n|datos|constancia|menci[oó]n)\b"
    r"|(?:los )?registros no (?:lo |la )?(?:dicen|mencionan|indican|contienen|especifican)"
    r"|(?:there (?:are|is)|i (?:have|found|see)|we have) no\b[^.]{0,40}\b(?:records?|information|mention|data)\b"
    r"|no (?:records?|information)\b|(?:the )?records? (?:do|does) not (?:say|mention|contain|tell|specify|state))",
    re.I,
)
# what carries no datum: how a sentence is put together, and how one speaks of records
_PLAIN = frozenset(
    """
    a about according after all also an and any are as at be because been being but by can could did do does done due
    during each every first for from had has have he her him his how however in instead into is it its last later made
    mainly may more most no not of on one only or our over per rather reason reasons record recorded records said says
    she since so some such than that the their them then there therefore these they this those through to was we were
    what when where which while who why will with would yes you your decision decided decide chosen chose choose use
    used using uses project team fact facts commit commits implemented implement implements date day
    al algo ademas ante antes asi aunque bajo cada como con contra cual cuando cuya de del desde despues donde dos e el
    ella ellos en entre era es esa ese eso esta este esto estos esas estas fue fueron ha haber habia han hasta hay hecho
    hechos hizo la las le les lo los luego mas mediante mientras muy no nos o para pero por porque pues que quien razon
    registro registros registrado registrada se segun ser si sido sin sobre solo son su sus tambien tanto tiene tienen
    tras un una uno unos unas y ya yo decision decidio decidieron decidido eligio elegido eligieron usar usa usan usamos
    usado proyecto equipo implemento implementado implementada dia fecha lugar vez debido
    """.split()
)
_INSTEAD = re.compile(
    r"\b(?:instead|rather than|not|no|nor|over|without|replac\w+|reject\w+|alternativ\w+|discard\w+|previous\w*|before"
    r"|formerly|considered|lugar|vez|ni|sin|reemplaz\w+|descart\w+|rechaz\w+|alternativ\w+|anterior\w*|antes|consider\w+"
    r"|frente|dejo|dejar|dejamos|abandon\w+)\b",
    re.I,
)

_CLAUSE = re.compile(r"(?<=[.!?;:,])\s+|\s+(?:and|but|y|pero)\s+")
_REASON = re.compile(
    r",?\s+\b(?:because|since|porque|ya que|puesto que)\b\s+", re.I
)  # what each side denies is its own
_REFUSED = re.compile(
    r"\b(?:was not|were not|wasn|not chosen|reject\w+|discard\w+|replaced|considered|no se|descart\w+|rechaz\w+"
    r"|reemplaz\w+|consider\w+|fue descart\w+)\b"
)

Near = Callable[[str, Source], float | None]


@dataclass(frozen=True, slots=True)
class Checked:
    """A sentence that stands, and the citations it makes; `nothing`: it says that there are no records. Where it was
    cut `text` is empty and `why` says, in a few words, what was wrong with it."""

    text: str
    cited: tuple[str, ...] = ()
    nothing: bool = False
    why: str = ""


class Sentences:
    """Cuts a stream of pieces into whole sentences, each with the citations that follow its full stop."""

    def __init__(self) -> None:
        self._held = ""

    def add(self, piece: str) -> Iterator[str]:
        """The sentences that are whole now."""
        self._held += piece
        while (end := _ending(self._held)) is not None:
            sentence, self._held = self._held[:end], self._held[end:]
            if sentence.strip():
                yield sentence.strip()

    def rest(self) -> str:
        """What is left at the end."""
        rest, self._held = self._held.strip(), ""
        return rest


def _ending(text: str) -> int | None:
    """Where the first whole sentence of a text ends; None while that cannot be told."""
    for match in _END.finditer(text):
        end = match.end()
        if match[0].startswith(".") and _ABBREVIATED.search(text[: match.start() + 1]):
            continue
        if text[: match.start()].strip() in ("", *map(str, range(1, 20))):
            continue  # the number of a list
        after = text[end:]
        while cited := re.match(rf"{_CITED}(?:\s*[,;]\s*[A-Za-z]#\w+)*[\])]?[.]?", after):
            end += cited.end()
            after = text[end:]
        rest = after.lstrip()
        # the next character tells whether a citation comes; half of one does not
        if not rest or (rest[0] in "[(" and len(rest) < 24 and not re.match(r"[\[(][^\])]*[\])]", rest)):
            return None
        if len(rest) < 3 and rest[0].isalpha():
            return None
        return end
    return None


class Check:
    """Checks sentences against the sources of one answer. `near` gives the calibrated similarity of a sentence and a
    source, None where no model tells."""

    def __init__(self, sources: Sequence[Source], near: Near = lambda sentence, source: None) -> None:
        self._sources = {source.citation: source for source in sources}
        self._linked = {link.citation: link.title for source in sources for link in source.links}
        self._near = near

    def __call__(self, sentence: str) -> Checked:
        """One sentence, checked."""
        text = _tidy(sentence)
        if not text:
            return Checked("", why="empty")
        if len(text) > LONGEST:
            return Checked("", why="too long")
        spans = list(find(text))
        if not spans:
            if _NO_RECORDS.search(cues.folded(text)) or _NO_RECORDS.search(text):
                return Checked("", nothing=True)
            return self._attributed(text)
        cited = [self._meant(citation) for _, _, citation in spans]
        if None in cited:
            return Checked("", why="cites what it was not given")
        those = list({source.citation: source for source in cited if source is not None}.values())
        said = _without(text, [(start, end) for start, end, _ in spans])
        why = self._doubt(said, those)
        if why:
            return Checked("", why=why)
        meant = [(start, end, source.citation) for (start, end, _), source in zip(spans, cited, strict=True) if source]
        return Checked(_bracketed(text, meant), tuple(source.citation for source in those))

    def _attributed(self, said: str) -> Checked:
        """A sentence that cites nothing, with the citation of the first record that says all of it."""
        told = [word for word in _known(said) if word not in _PLAIN]
        if len(told) >= LEAST:
            for source in self._sources.values():
                if not self._doubt(said, [source], WHOLE):
                    return Checked(f"{said.rstrip(' .,;:!?…')} [{source.citation}].", (source.citation,))
        return Checked("", why="cites nothing")

    def _meant(self, citation: Citation) -> Source | None:
        """The source that a citation means; a sha may be cut short, or given in full."""
        if source := self._sources.get(str(citation)):
            return source
        if citation.kind == "commit":
            for name, source in self._sources.items():
                own = name.removeprefix("C#")
                if source.kind == "commit" and (
                    own.startswith(str(citation.target)) or str(citation.target).startswith(own)
                ):
                    return source
        return None

    def _doubt(self, said: str, those: Sequence[Source], needed: float = COVERED) -> str:
        """Why what a sentence says does not stand in these records; empty if it does. So much of its words must."""
        others = [source for source in self._sources.values() if source not in those]
        if why := verbatim.doubt(said, those, others):
            return why
        basis = _known("\n".join(f"{source.at[:10]} {source.text}" for source in those))
        told = _known(said)
        if any(word.isdigit() and word not in basis for word in told):
            return "a number that the record does not have"  # in letters
        if any(word.startswith("month") and word not in basis for word in told) or _other_value(said, those):
            return "a date or a number that the record does not have"
        if why := _chose_what_was_not(said, those):
            return why
        carrying = [word for word in dict.fromkeys(told) if word not in _PLAIN and not word.startswith("month")]
        if not carrying:
            return ""
        share = sum(_stands(word, basis) for word in carrying) / len(carrying)
        across = all(foreign(language(said), language(source.text)) for source in those)
        if any(_turned_round(part, those) for part in _REASON.split(said)):
            return "the contrary of what the record says"
        if share >= needed:
            return ""
        ours = needed > COVERED  # the citation is: then the record says it in these words, or in another language
        if share < (COVERED if ours else ACROSS) or (ours and not across):
            return "words that the record does not have"
        near = max((value for source in those if (value := self._near(said, source)) is not None), default=None)
        if (across and not ours) if near is None else near >= MEANT:
            return ""
        return "words that the record does not have"


def _tidy(sentence: str) -> str:
    """A sentence on one line, without what nobody sees, list marks and emphasis."""
    text = " ".join(plain(sentence).split())
    while (bare := _BULLET.sub("", text)) != text:
        text = bare
    return _MARKS.sub("", text).strip().strip('"').strip()


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """A text without its citations and the brackets that held them."""
    for start, end in reversed(spans):
        text = f"{text[:start]}\0{text[end:]}"
    text = re.sub(r"[\[(]?\0(?:\s*(?:[,;]|and|y)?\s*[\[(]?\0[\])]?)*[\])]?", " ", text)
    return re.sub(r"\s+([.,;:!?…])", r"\1", " ".join(text.replace("\0", " ").split())).strip()


def _bracketed(text: str, cited: Sequence[tuple[int, int, str]]) -> str:
    """A sentence with each citation in brackets of its own, as ours are written, and its full stop at the end."""
    for start, end, name in reversed(cited):
        text = f"{text[:start].rstrip()} \0{name}\0{text[end:]}"
    text = re.sub(r"[\[(]\s*(?=\0)|(?<=\0)\s*[\])]", "", text)
    text = re.sub(r"(?<=\0)\s*(?:[,;]|\band\b|\by\b)?\s*(?=\0\S)", " ", text)
    text = " ".join(re.sub(r"\0([^\0 ]+)\0", r"[\1]", text).split())
    text = re.sub(r"\s*([.!?…])((?:\s*\[[^\]]+\])+)[.]?$", r"\2\1", text)
    return text if text[-1:] in (".", "!", "?", "…") else f"{text.rstrip(' ,;:')}."


def _known(text: str) -> frozenset[str]:
    """The words of a text as they are compared: without capitals and accents, a month the same in both languages, and
    the parts of a joined word beside it."""
    text = re.sub(r"\bMay\b", "mayo", text)  # small it is a verb
    told = [_month(word) for word in words(cues.folded(text))]
    told += [value for value in cues.taken_apart(text).values if not value.startswith("=")]  # `three` is 3
    parts = [part for word in told for part in re.split(r"[-/'’.:_]", word) if part]
    return frozenset((*told, *map(_month, parts)))


def _month(word: str) -> str:
    return f"month{verbatim.MONTHS[word]}" if word in verbatim.MONTHS and word != "may" else word


def _stands(word: str, basis: frozenset[str]) -> bool:
    if word in basis or word.removesuffix("s") in basis or f"{word}s" in basis or f"{word}es" in basis:
        return True
    return len(word) >= 5 and any(kin(word, other) for other in basis)


def _other_value(said: str, those: Sequence[Source]) -> bool:
    """Whether a sentence has a day of the week, or a number in letters, that these records do not have."""
    known = cues.taken_apart("\n".join(source.text for source in those)).values
    return any(
        value not in known
        and not value.startswith("=1/")
        and value not in {re.sub(r"\D", "", other) for other in known}
        for value in cues.taken_apart(said).values
        if value.startswith("=") or value not in said
    )


def _chose_what_was_not(said: str, those: Sequence[Source]) -> str:
    """A decision's option that was not taken may be named only as such: small models like to tell it as the choice."""
    for source in those:
        if not source.rejected:
            continue
        refused = _known(" ".join(source.rejected))
        own = getattr(source.record, "title", "") + " " + getattr(source.record, "chosen", "")
        other = _known(f"{own} {getattr(source.record, 'rationale', '')} {getattr(source.record, 'context', '')}")
        for clause in re.split(r"[:;]", cues.folded(said)):
            for word in _known(clause):
                if word in refused and word not in other and word not in _PLAIN and not _as_refused(clause, word):
                    return "an option that was not taken, told as the choice"
        for name in names(said):
            only = any(word in refused and word not in other for word in _known(name))
            start = said.find(name)
            before, after = said[max(0, start - NEAR) : start], said[start + len(name) :][:NEAR]
            if only and not (_INSTEAD.search(cues.folded(before)) or _REFUSED.search(cues.folded(after))):
                return "an option that was not taken, told as the choice"
    return ""


def _as_refused(clause: str, word: str) -> bool:
    """Whether a folded clause tells a word as what was not taken: it is said before it, or soon after."""
    before, _, after = clause.partition(word)
    return bool(_INSTEAD.search(before) or _REFUSED.search(before) or _REFUSED.search(after[:NEAR]))


def _turned_round(said: str, those: Sequence[Source]) -> bool:
    """Whether a part of a sentence denies what one of the records' own says, or says what it denies."""
    one = cues.taken_apart(said)
    if len(one.words) < 3:
        return False
    for source in those:
        record = source.record
        for part in _CLAUSE.split(record.message if isinstance(record, Commit) else source.text):
            other = cues.taken_apart(part)
            shared = sum(_stands(word, frozenset(other.words)) for word in set(one.words))
            whole = min(len(set(one.words)), len(set(other.words)))
            if whole >= 3 and shared >= CLAUSE * whole and (one.negations + other.negations) % 2:
                return True
    return False
