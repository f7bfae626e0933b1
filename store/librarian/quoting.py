"""Choice of what is quoted among the results of a search, and of the words that say why it may not be the answer."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from store.base.models import Chunk, Commit, Decision, head_of
from store.inbox.decision_conflicts import claimed, same_form, turned_down
from store.librarian import words as templates
from store.librarian.answer import CitedSentence
from store.librarian.compose import SHOWN, said
from store.librarian.question import WHY, ParsedQuestion, decides, has
from store.librarian.sources import Source, explanation
from store.search.pipeline import body
from store.search.results import EXACT
from store.text import vocabulary
from store.text.folding import normalize
from store.text.similarity.contradiction import taken_apart
from store.text.similarity.question_similarity import words
from store.text.tokens import LETTERS
from store.text.vocabulary import stop_words

if TYPE_CHECKING:
    from store.search.results import Answer as Found

_PULL_REQUEST = re.compile(r"\(#\d+\)\s*$")
FAR = 1_000  # words between a verb and a thing that are not both in a line
EXPLAINS = 8  # least words below the subject of a commit that may give its reason
BROUGHT = {"add", "commit"}  # acts that a commit's message need not name
ALIKE = (
    0.45  # share of the best record's score from which others are quoted beside it; 0.6 left out 6 right ones of 133
)


def quotable(matches: Sequence[Source], found: "Found") -> tuple[list[Source], bool]:
    """Return the sources that are quoted without a model, and whether they are exact: only the exact ones if some are,
    and none that scores much less than the best of these."""
    hits = {hit.citation: hit for hit in found.hits}
    known = [hits[source.citation] for source in matches if source.citation in hits]
    exact = [hit for hit in known if hit.level == EXACT]
    known = exact or known
    least = ALIKE * max((hit.score for hit in known), default=0.0)
    kept = {hit.citation for hit in known if hit.score >= least}
    quoted = [source for source in matches if source.citation in kept] or list(matches)
    return distinct(quoted)[:SHOWN], bool(exact)


def distinct(found: Sequence[Source]) -> list[Source]:
    """Return sources without commits that another one of the same author repeats, as a merged pull request does with
    its number after the subject, and without lines of a document that another one has too."""
    kept: dict[object, Source] = {}
    for source in found:
        record = source.record
        same: object = source.citation
        if isinstance(record, Commit):
            same = (record.author, _PULL_REQUEST.sub("", head_of(record.message)).strip())
        elif isinstance(record, Chunk):
            lines = (one.record for one in kept.values() if isinstance(one.record, Chunk))
            if any(one.path == record.path and one.first <= record.last and record.first <= one.last for one in lines):
                continue
        kept.setdefault(same, source)
    return list(kept.values())


def subject(question: str, acts: frozenset[str] = frozenset()) -> str:
    """Return a question without words that only say that something was chosen (use, decide, elegir), unless nothing
    else is left to search for; with `acts` also without these, and then possibly nothing."""
    terms = question.split()
    chose = vocabulary.words("records", "choice") - vocabulary.words("records", "reason")
    kept = [word for word in terms if (chose | acts).isdisjoint(LETTERS.findall(normalize(word)))]
    rest = [word for text in kept for word in LETTERS.findall(normalize(text)) if word not in stop_words("search")]
    return " ".join(kept if rest else () if acts else terms)


def without_nouns(query: str) -> str:
    """Return a query without what only says that records of a kind are to be shown (show me commits about), unless
    nothing else is left."""
    nouns = {part for one in templates.LANGUAGES for names in templates.table(one)["names"].values() for part in names}
    shows = {word for phrase in templates.phrases("shows") for word in phrase}
    terms = query.split()
    while terms and words(terms[0]) and shows.issuperset(words(terms[0])):
        terms = terms[1:]
    kept = [term for term in terms if not words(term) or not nouns.issuperset(words(term))]
    return " ".join(kept if words(" ".join(kept)) else query.split())


def does(source: Source, asked: set[str]) -> bool:
    """Return whether a record says that what is asked was done; a commit that says of nothing what was done with it is
    taken for the one that brought it."""
    acts = templates.named("acts")
    done = {acts[(word,)] for word in words(body(source.record)) if (word,) in acts}
    return not asked.isdisjoint(done) or (not done and source.kind == "commit" and asked <= BROUGHT)


def in_reach(done: Sequence[Source], asked: set[str], things: str) -> list[Source]:
    """Return sources in another order: first those whose first line has the words of `things` nearest to the verb, as
    “Drop Travis” is before “Remove an option of Travis”."""
    acts = templates.named("acts")

    def distance(source: Source) -> int:
        said = words(head_of(body(source.record)))
        verbs = [at for at, word in enumerate(said) if acts.get((word,)) in asked]
        named = [at for at, word in enumerate(said) if any(same_form(word, one) for one in words(things))]
        return min((abs(verb - at) for verb in verbs for at in named), default=FAR)

    return sorted(done, key=distance)


def turns_down(source: Source, question: str) -> bool:
    """Return whether a record is the decision, with its reason, against what a question asks why it is not so: one of
    the options that were not taken has a word of the question, and that or the title the others."""
    record = source.record
    if not isinstance(record, Decision) or not record.rationale:
        return False
    dropped = {word for (word,), act in templates.named("acts").items() if act == "remove"}
    dropped |= vocabulary.groups("contraries")["choose"][1]
    asked = taken_apart(question)
    if not asked.negations and dropped.isdisjoint(asked.words):
        return False
    hollow = dropped | stop_words("search") | vocabulary.words("records", "choice") | templates.asking()
    hollow |= {word for name in ("why", "took") for phrase in templates.phrases(name) for word in phrase}
    title = taken_apart(claimed(record)).words
    thing = [word for word in asked.words if word not in hollow and not any(same_form(word, one) for one in title)]
    options = [taken_apart(option).words for option in turned_down(record)]
    return bool(thing) and any(all(any(same_form(word, one) for one in option) for word in thing) for option in options)


def headed(
    asked: ParsedQuestion,
    parts: Sequence[CitedSentence],
    matches: Sequence[Source],
    exact: bool,
    absent: Sequence[str] = (),
) -> Sequence[CitedSentence]:
    """Return an answer's sentences, the first with words that say why it may not be the answer, as it would look like
    it: for one, that no record has the words `absent`."""
    quoted = [source for source in matches if any(source.citation in part.citations for part in parts)]
    if asked.decides and not any(map(decisive, quoted)):
        name = "no_decision"
    elif not exact:
        name = "near_without" if absent else "near_only"
    elif asked.aspect == WHY and quoted and all(map(tells_no_reason, quoted)):
        name = "no_reason"
    else:
        return parts
    head = said(asked, name, absent).text
    return [parts[0]._replace(text=f"{head} {parts[0].text}"), *parts[1:]] if parts else parts


def decisive(source: Source) -> bool:
    """Return whether a record is a decision, or tells of one."""
    return source.kind == "decision" or (source.kind != "summary" and decides(words(body(source.record))))


def tells_no_reason(source: Source) -> bool:
    """Return whether a record only says that something was done or said, and a commit no more than that."""
    told = words(body(source.record))
    if isinstance(source.record, Commit) and len(explanation(source.record.message).split()) >= EXPLAINS:
        return False
    return source.kind in ("commit", "event", "iteration", "summary") and not has(told, "because")


def all_in(wanted: Sequence[str], said: Sequence[str]) -> bool:
    """Return whether words occur among others, in any form."""
    return all(any(same_form(word, one) for one in said) for word in wanted)
