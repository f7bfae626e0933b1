"""What a decision did not take, and what another took the place of: it may be named only as such. Small models like to
tell it as the choice.

It is named as such where a word that refuses it stands right next to it: `instead of MongoDB`, `MongoDB was rejected`.
"""

import re

from store.base.models import Decision
from store.librarian.relevance import names
from store.librarian.sources import Source
from store.text import contradiction
from store.text.synonyms import CHOSE, FUNCTION, same, told

TOLD = "an option that was not taken, told as the choice"
PAST = "what was replaced since, told as if it still held"
BETWEEN = 24  # characters, at most, between options of one list

_DID_NOT = r"(?:not|never) (?:choos|chose|pick|us|tak|select|adopt)\w*|no (?:se )?(?:eligi|uso|usar|usa|adopt|tom)\w*"
_WEIGHED = (
    r"consider(?:ed|ing)|evaluated|considera(?:mos|ron|ndo|do|dos)|considero|evalua(?:mos|ron)"
    r"|(?:alternativ(?:es?|as?)|options?|opcion(?:es)?)"
    r"(?: (?:considered|rejected|discarded|consideradas?|descartadas?|rechazadas?))?"
    r"(?: (?:to|a) [\w ]{1,40})?(?: (?:was|were|are|is|era|eran|fue|fueron|son|es)|:)?"
)
_REFUSING = (
    rf"instead of|rather than|in place of|over|not|nor|neither|no|ni|en lugar de|en vez de|frente a|{_DID_NOT}"
    r"|reject(?:ed|ing)|discard(?:ed|ing)|ruled out|turned down|descart(?:o|amos|aron|ado|ada|ando)"
    r"|rechaz(?:o|amos|aron|ado|ada|ando)"
)
_GONE = (
    r"replac(?:ed|es|ing)|supersed(?:ed|es|ing)|previously|formerly|before|reemplaz(?:o|a|amos|ando)|sustituy(?:o|e)"
    r"|antes"
)
_ARTICLE = r"(?:(?:a|al|an|the|el|la|los|las|un|una|using|usar|to use)\s+){0,2}"
_IS = r"(?:was|were|is|are|fue|fueron|era|eran|se|quedo|quedaron|had been|has been|have been)"
_BEFORE = re.compile(rf"(?:\b(?:se )?(?P<weighed>{_WEIGHED})|\b(?:se )?(?:{_REFUSING}))\s+{_ARTICLE}$")
_BEFORE_GONE = re.compile(rf"\b(?:se )?(?:{_REFUSING}|{_GONE})\s+{_ARTICLE}$")
_AFTER = re.compile(
    rf"\s*,?\s*(?:{_IS} (?:also |both |all |tambien )?(?:not (?:chosen|used|taken|selected|picked|adopted)"
    r"|rejected|discarded|ruled out|turned down|considered|evaluated"
    r"|(?:an? |the |una |la |las )?alternativ(?:es?|as?)\b"
    r"|descart(?:o|aron|ad[oa]s?)|rechaz(?:o|aron|ad[oa]s?)|consider(?:o|aron|ad[oa]s?))"
    r"|(?:no se|no fue|no fueron) (?:eligi|elegid|us[oa]|adopt|tom)\w*)"
)
_AFTER_GONE = re.compile(
    rf"\s*,?\s*{_IS} (?:replaced|superseded|dropped|reemplaz(?:o|ad[oa]s?)|sustituid[oa]s?)|\s+before\b|\s+antes\b"
)
_NEWER = re.compile(rf"\b(?:replaced|superseded|taken|followed|reemplazad[oa]|sustituid[oa]) (?:by|por)\s+{_ARTICLE}$")
_NEWER_AFTER = re.compile(r"\s+(?:replaced|superseded|took|reemplazo|sustituyo|has replaced)\b")
_TOKEN = re.compile(r"[\w+#]+(?:[.'’][\w+#]+)*")
_LIST = re.compile(r"(?:[,\s]|\b(?:and|or|nor|y|e|o|u|ni|an?|the|el|la|los|las|una?)\b)*")
_CHOSE_IT = re.compile(
    r"\b(?:cho[os]e|chosen|pick(?:ed)?|used?|took|take|adopt(?:ed)?|select(?:ed)?|ke(?:pt|ep)) (?:it|them|that|this)\b"
    r"|\b(?:lo|la|los|las) (?:elegi|eligi|us[oa]|adopt|tom)\w*"
)
_NO_MORE = re.compile(
    r"\b(?:supersed\w+|replac\w+|no longer|formerly|previous(?:ly)?|used to|until|before|forgotten"
    r"|reemplaz\w+|sustitu\w+|anterior(?:mente)?|antes|ya no|hasta|olvidad[oa])\b"
)


def why_unsupported(said: str, those: list[Source]) -> tuple[str, str, frozenset[str]]:
    """(what is wrong with the options that a sentence names, empty if nothing is; the folded sentence without the words
    that refuse one, for the rest of it to be looked at; the words of options that it names without refusing them, for
    the reason names them too: they may stand in its words only)."""
    plain, loose = contradiction.folded(re.sub(r"n['’]t\b", " not", said)), set[str]()
    gone = all(getattr(source.record, "status", "") in ("superseded", "forgotten") for source in those)
    if gone and not _NO_MORE.search(plain):
        return PAST, plain, frozenset()
    for source in those:
        if isinstance(record := source.record, Decision):
            replaced = [word for link in source.links if link.kind == "replaced" for word in _named(link.title)]
            newer = [word for link in source.links if link.kind == "replaced by" for word in _named(link.title)]
            for words, before, after in (
                (_words(" ".join(record.alternatives)), _BEFORE, _AFTER),
                (replaced, _BEFORE_GONE, _AFTER_GONE),
                (newer, _NEWER, _NEWER_AFTER),
            ):
                why, plain, free = _looked_at(plain, words, record, before, after)
                loose |= free
                if why:
                    return why, plain, frozenset()
    return "", plain, frozenset(loose)


def _named(title: str) -> list[str]:
    """The words of the names in a title."""
    return [word for name in names(f"a {title}") for word in _words(name)]


def _words(text: str) -> list[str]:
    return [word.text for word in told(text)[0] if word.text not in FUNCTION]


def _looked_at(
    plain: str, options: list[str], record: Decision, before: re.Pattern[str], after: re.Pattern[str]
) -> tuple[str, str, set[str]]:
    """As `doubt`, for options of one sort."""
    own, reason = _words(f"{record.title} {record.chosen}"), _words(f"{record.rationale}. {record.context}")
    alone = [word for option in record.alternatives for word in (_named(option) if " " in option else _words(option))]
    # of a longer option, a word that the reason has as well is a word like others
    only = [
        word for word in dict.fromkeys(options) if not _among(word, own) and (not _among(word, reason) or word in alone)
    ]
    loose = set[str]()
    for start, end in reversed(_spans(plain, options, only)):
        ahead, behind = before.search(plain[:start]), after.match(plain[end:])
        if ahead is None and behind is None:
            free = [word for word in _words(plain[start:end]) if not _among(word, own)]
            if not all(_among(word, reason) for word in free):
                return TOLD, plain, loose
            loose.update(free)
            continue
        begin = ahead.start() if ahead else start
        rest = plain[end + (behind.end() if behind else 0) :]
        chose = [word for word in told(rest)[0] if word.text in CHOSE and not word.denied]
        weak = ahead is None or bool(ahead.groupdict().get("weighed"))
        if _CHOSE_IT.search(rest) or (chose and weak and not any(_among(word, own) for word in _words(rest))):
            return TOLD, plain, loose  # “MongoDB was considered and chosen”
        plain = f"{plain[:begin]} {rest}"
    return "", plain, loose


def _among(word: str, known: list[str]) -> bool:
    return any(same(word, other) for other in known)


def _spans(plain: str, options: list[str], only: list[str]) -> list[tuple[int, int]]:
    """Where a text names options: from the first word of one to the last of a list of them."""
    tokens = list(_TOKEN.finditer(plain))
    part = [_among(token[0], options) for token in tokens]
    found = list[tuple[int, int]]()
    for place, token in enumerate(tokens):
        if not _among(token[0], only):
            continue
        first = last = place
        while first and part[first - 1] and tokens[first - 1].end() + 1 == tokens[first].start():
            first -= 1
        while (further := _further(tokens, part, last)) > last:
            last = further
        start, end = tokens[first].start(), tokens[last].end()
        if found and (start <= found[-1][1] or _joined(plain[found[-1][1] : start])):
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def _further(tokens: list[re.Match[str]], part: list[bool], last: int) -> int:
    """The next word of the same option, past an `of`; the last one itself where there is none."""
    for place in (last + 1, last + 2):
        if place < len(tokens) and part[place] and tokens[place - 1].end() + 1 == tokens[place].start():
            return place
        if place >= len(tokens) or tokens[place][0] not in ("of", "de", "in", "en", "with", "con"):
            break
    return last


def _joined(between: str) -> bool:
    """Whether nothing but commas, articles and an `or` stands there, as in a list."""
    return bool(_LIST.fullmatch(between)) and len(between) <= BETWEEN
