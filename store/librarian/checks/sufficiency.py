"""Whether what stands of a model's answer is as good as the answer by rule: it rests on the record that the rule would
tell first, and says what was asked of it. Where it does not, the records speak themselves, so that nobody is told less
because there is a model.
"""

import re
from collections.abc import Sequence

from store.base.models import Commit, Decision, Fact
from store.librarian.checks import literals
from store.librarian.question import IMPLEMENTATION, WHEN, WHO, WHY, ParsedQuestion
from store.librarian.relevance import kin, names
from store.librarian.retrieval import Retrieval
from store.librarian.sources import Source
from store.search.pipeline import body
from store.text import contradiction
from store.text.question_similarity import words

LISTED = 2  # records of a time that an answer about it cites, at least
SHORT = 4  # letters; shorter words tell little

_OPTIONS = re.compile(r"\b(?:alternativ\w+|options?|opcion(?:es)?)\b")


def is_sufficient(
    asked: ParsedQuestion, found: Retrieval, said: Sequence[str], cited: Sequence[str], first: Sequence[str]
) -> bool:
    """Whether these sentences with these citations answer; `first` are the citations of the rule's answer, in order."""
    if not first:
        return True
    if asked.many:
        named = {str(citation) for citation in asked.cited} & set(first)
        return len(set(cited) & set(first)) >= min(LISTED, len(set(first))) and named <= set(cited)
    source = next((one for one in found.sources if one.citation == first[0]), None)
    if source is None or source.citation not in cited:
        return False
    return _tells(asked, source, contradiction.folded(" ".join(said)))


def _tells(asked: ParsedQuestion, source: Source, told: str) -> bool:
    """Whether a folded answer says what the question wants to know of a record."""
    record, known = source.record, asked.text
    if asked.kind == IMPLEMENTATION and isinstance(record, Commit):
        return True
    if asked.aspect == WHEN and not isinstance(record, Fact):  # the day of a fact is that on which it was written
        return bool(literals.days(told))
    if not isinstance(record, Decision):
        return _new(record.author if isinstance(record, Commit) and asked.aspect == WHO else body(record), known, told)
    if _OPTIONS.search(contradiction.folded(asked.text)) and record.alternatives:
        return all(_new(option, known, told) for option in record.alternatives)
    chosen = any(word in _told(asked.text) for word in _told(record.chosen)) or _new(record.chosen, known, told)
    reason = record.rationale or record.context
    return chosen and (asked.aspect != WHY or not reason or _new(reason, known, told))


def _new(text: str, question: str, told: str) -> bool:
    """Whether an answer has something of a text that the question had not; a name or a number of it, where it has any
    that can be told apart."""
    known, said = _told(question), _told(told)
    large = {word for name in names(text) for word in _told(name)}
    for some in (large - known, _told(text) - known):
        if some:
            return any(word in said or any(kin(word, other) for other in said if len(word) >= SHORT) for word in some)
    return True


def _told(text: str) -> frozenset[str]:
    """The words of a text that tell something; its days are told by `verbatim`."""
    return frozenset(
        word
        for word in words(contradiction.folded(text))
        if (len(word) >= SHORT or word.isdigit()) and word not in literals.MONTHS
    )
