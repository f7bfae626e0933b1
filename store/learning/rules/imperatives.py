"""Whether what follows "siempre", "nunca", "always" or "from now on" is an order, or only tells what happens.

"Siempre usá uv" and "siempre tenés razón" begin alike; so do "nunca uses npm" and "nunca compiló". An ambiguous form
becomes a proposal. Accents count in Spanish: "usá" is an imperative, "usa" may be one; "probé" is past, "respondé" is
not.
"""

import re
from functools import cache

from store.learning.grammar import either, pattern, sign, verbs, words
from store.text.folding import fold

SURE, PERHAPS, NO = True, None, False
LEAST = 3  # least words of a rule: "Nunca cambies!" is too short


@cache
def _imperatives() -> frozenset[str]:
    """Return imperatives of vos, tú, usted and ustedes, folded, of verbs used with an assistant."""
    made = set(words("given"))
    for stem in words("ar"):
        made |= {stem + end for end in ("a", "e", "en")}
        made.add(re.sub("(?:c|g|z)$", lambda last: {"c": "qu", "g": "gu", "z": "c"}[last[0]], stem) + "e")
    for stem in words("er"):
        made |= {stem + end for end in ("e", "a", "an")}
    for stem in words("ir"):
        made |= {stem + end for end in ("i", "e", "a", "an")}
    return frozenset(made)


INFINITIVE = r"\w{2,}[aei]r(?:se|me|te|nos|l[aeo]s?)?"
CLITIC = r"(?:me|te|nos|se|l[aeo]s?){1,2}"
_PART = re.compile(r"<(\w+)>")
_SPANISH = re.compile(
    r"\W*(siempre|nunca|jam[aá]s)(?: m[aá]s| jam[aá]s)? (?:((?:me|te|se|nos|l[aeo]s?) ){0,2})(\w+)", re.I
)
_ENGLISH = re.compile(r"\W*(?:(i|we) )?(?:always|never)(?: ever)? (\w+)", re.I)


def spanish(text: str) -> bool | None:
    """Return SURE, PERHAPS or NO: whether "siempre …", "nunca …" is an order."""
    match = _SPANISH.match(text)
    if not match or len(text.split()) < LEAST or sign("over").search(fold(text)):
        return NO
    never = match[1].lower() != "siempre"
    if match[3].lower() == "que" and not never:
        return _whenever(text[match.end() :])
    verdict = _forbids(match[3].lower()) if never else _orders(match[3].lower())
    return PERHAPS if verdict is SURE and sign("maybe").search(fold(text)) else verdict


def _whenever(rest: str) -> bool | None:
    """Return the same for "siempre que …": an order if it speaks of what you do."""
    first = fold(rest).split(maxsplit=1)[:1]
    telling = words("told") | words("plain")
    return SURE if first and first[0].endswith(("es", "as")) and first[0] not in telling else PERHAPS


def _orders(word: str) -> bool | None:
    """Return what a verb after "siempre" is."""
    return _by_form("orders", word)


def _forbids(word: str) -> bool | None:
    """Return what a verb after "nunca" is."""
    return _by_form("bans", word)


def _by_form(name: str, word: str) -> bool | None:
    both = f"{word} {fold(word)}"
    return next((verdict for form, verdict in _forms(name) if form.fullmatch(both)), NO)


@cache
def _forms(name: str) -> list[tuple[re.Pattern[str], bool | None]]:
    """Return the (form, verdict) pairs of that name in [verbs]."""
    parts = {"imperative": "|".join(_imperatives()), "infinitive": INFINITIVE, "clitic": CLITIC}

    def filled(part: re.Match[str]) -> str:
        return f"(?:{parts.get(part[1]) or '|'.join(words(part[1]))})"

    verdicts = {"sure": SURE, "perhaps": PERHAPS, "no": NO}
    return [(re.compile(_PART.sub(filled, form)), verdicts[says]) for form, says in verbs(name)]


def english(text: str) -> bool | None:
    """Return the same for "always …", "never …"."""
    match = _ENGLISH.match(text)
    folded = fold(text)
    if not match or sign("over").search(folded):
        return NO
    word = match[2].lower()
    if word in words("past_english") or (word.endswith("ing") and word not in words("in_ing")):
        return NO
    return PERHAPS if sign("maybe").search(folded) else SURE


_MARKS = re.compile(r"\W*")
_COLON = re.compile(r"[\s,:]*")


def from_now(text: str) -> bool | None:
    """Return SURE if "from now on …" sets a rule, NO if it asks or tells what goes wrong."""
    folded = fold(text)
    match = pattern("from_now").match(folded, _MARKS.match(folded).end())  # type: ignore[union-attr]
    start = _COLON.match(folded, match.end()).end() if match else 0  # type: ignore[union-attr]
    return NO if sign("question_word").match(folded, start) or sign("happens").match(folded, start) else SURE


def goes_wrong(folded: str) -> bool:
    """Return whether a clause tells what fails or happens to the person, and not how to do something."""
    return bool(sign("happens").match(folded))


def depends(folded: str) -> bool:
    """Return whether the beginning of a rule names its condition."""
    return bool(sign("depends").match(folded))


_NAME = re.compile(r"[^\W\d_]+(?: [^\W\d_]+)?\s*(?:[,.!;(]|$| (?:y|and|pero|but|aunque)\b)", re.I)


def name(text: str) -> bool | None:
    """Return SURE if a name follows: a capital, or at most two words; else NO."""
    match = re.match(rf"\W*{either('named')}\s+", text, re.I)
    if not match:
        return NO
    rest = text[match.end() :]
    return SURE if rest[:1].isupper() or (_NAME.match(rest) and not re.match(either("no_name"), rest, re.I)) else NO


def commands(folded: str) -> bool:
    """Return whether a clause without accents begins with an imperative, with or without pronouns: "compara …",
    "pasamelo"."""
    first = folded.split(maxsplit=1)[0] if folded.strip() else ""
    if first in words("no_command"):
        return False
    return first in _imperatives() or re.sub(f"{CLITIC}$", "", first) in _imperatives()


_ROUND = re.compile(r"\W*(no )?(\w+) (?:siempre|nunca|jam[aá]s)\b", re.I)


def turned_round(text: str) -> bool | None:
    """Return whether "usá siempre …", "quiero que siempre …", "I want you to always …" is an order."""
    folded = fold(text)
    if sign("over").search(folded):
        return NO
    if sign("wished").match(folded):
        return SURE
    match = _ROUND.match(text)
    if not match:
        return PERHAPS
    word = match[2].lower()
    if match[1]:
        return _forbids(word) or NO
    return SURE if _orders(word) is SURE and not re.fullmatch(INFINITIVE, word) else NO
