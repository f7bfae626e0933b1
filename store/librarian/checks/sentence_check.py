"""The check of a model's answer, sentence by sentence, before anything is shown.

A sentence stands if it cites, if all that it cites was among the records the model was given, and if all that it says
stands in the records that it cites: numbers, days, names and who did it as they are (`verbatim`), each number beside
what it counts (`amounts`), an option that was not taken only as such (`options`), and every other word that tells
something, in one part of one record, denied where the record denies it and nowhere else (`wording`). A true sentence
may be cut so; then the records speak themselves. Small models often forget to cite: a sentence that says nothing but
what one of the records says gets that citation from us. Any other that cites nothing is cut, but for "there are no
records of that", said in our own words. What is cut is counted.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from store.base.citations import Citation, find
from store.librarian.checks import amounts, literals, rejected_options
from store.librarian.checks.entailment import why_unsupported
from store.librarian.sentence_stream import LONGEST
from store.librarian.sources import Source
from store.text import contradiction
from store.text.fence import plain
from store.text.language import foreign, language
from store.text.question_similarity import words
from store.text.synonyms import FUNCTION, SPOKEN, told

LEAST = 2  # words that tell something, of a sentence that we give a citation

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
_ABOUT = re.compile(r"\b(?:about|on|of|for|regarding|concerning|sobre|acerca de|de|del|respecto)\b.*")


@dataclass(frozen=True, slots=True)
class Checked:
    """A sentence that stands, and the citations it makes; `nothing`: it says that there are no records. Where it was
    cut `text` is empty and `why` says, in a few words, what was wrong with it."""

    text: str
    cited: tuple[str, ...] = ()
    nothing: bool = False
    why: str = ""


class Check:
    """Checks sentences against the sources of one answer."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = {source.citation: source for source in sources}

    def __call__(self, sentence: str) -> Checked:
        """One sentence, checked."""
        if len(sentence) > LONGEST:
            return Checked("", why="too long")
        text = _tidy(sentence)
        if not text:
            return Checked("", why="empty")
        spans = list(find(text))
        if not spans:
            attributed = self._attributed(text)
            return attributed if attributed.text or not _says_nothing(text) else Checked("", nothing=True)
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
        if len(_telling(said)) >= LEAST:
            for source in self._sources.values():
                if not self._doubt(said, [source]):
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

    def _doubt(self, said: str, those: list[Source]) -> str:
        """Why what a sentence says does not stand in these records; empty if it does."""
        others = [source for source in self._sources.values() if source not in those]
        if why := literals.why_unsupported(said, those, others):
            return why
        folded = contradiction.folded(said)
        below = ".\n".join(literals.ground(source, folded) for source in those)
        basis, own = _known(below), _known(said)
        if any(word.isdigit() and word not in basis for word in own):
            return "a number that the record does not have"  # in letters
        if any(word.startswith("month") and word not in basis for word in own) or _other_value(said, below):
            return "a date or a number that the record does not have"
        across = all(foreign(language(said), language(source.text)) for source in those)
        if why := amounts.why_unsupported(said, below, across):
            return why
        why, rest, loose = rejected_options.why_unsupported(said, those)
        return why or why_unsupported(rest, loose, said, those, across)


def _says_nothing(text: str) -> bool:
    """Whether a sentence says that nothing is recorded: and, but for what about, nothing else."""
    folded = contradiction.folded(text)
    if not (_NO_RECORDS.search(folded) or _NO_RECORDS.search(text)):
        return False
    return not set(_telling(_ABOUT.sub("", folded))) - {"information", "informacion", "data", "datos"}


def _telling(text: str) -> list[str]:
    """The words of a text that tell something."""
    return [word.text for word in told(text)[0] if word.text not in FUNCTION and word.text not in SPOKEN]


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
    told = [_month(word) for word in words(contradiction.folded(text))]
    told += [value for value in contradiction.taken_apart(text).values if not value.startswith("=")]  # `three` is 3
    parts = [part for word in told for part in re.split(r"[-/'’.:_]", word) if part]
    return frozenset((*told, *map(_month, parts)))


def _month(word: str) -> str:
    return f"month{literals.MONTHS[word]}" if word in literals.MONTHS and word != "may" else word


def _other_value(said: str, below: str) -> bool:
    """Whether a sentence has a day of the week, or a number in letters, that these records do not have."""
    known = contradiction.taken_apart(below).values
    return any(
        value not in known
        and not value.startswith("=1/")
        and value not in {re.sub(r"\D", "", other) for other in known}
        for value in contradiction.taken_apart(said).values
        if value.startswith("=") or value not in said
    )
