"""Whether what follows "siempre", "nunca", "always" or "me llamo" is a rule or a name, or only tells what happens.

"Siempre usá uv" and "siempre tenés razón" begin alike; so do "nunca uses npm" and "nunca compiló". An ambiguous form
becomes a proposal. Accents count in Spanish: "usá" is an imperative, "usa" may be one; "probé" is past, "respondé" is
not.
"""

import re
from functools import cache

from store.learning.grammar import pattern, sign, verbs, words
from store.text.folding import fold

SURE, PERHAPS, NO = True, None, False
INFINITIVE = r"\w{2,}[aei]r(?:se|me|te|nos|l[aeo]s?)?"
CLITIC = r"(?:me|te|nos|se|l[aeo]s?){1,2}"
ENDINGS = {"ar": ("a", "e", "en"), "er": ("e", "a", "an"), "ir": ("i", "e", "a", "an")}
HARD = {"c": "qu", "g": "gu", "z": "c"}  # how the last letter of a stem is written before an e
_SOFT = re.compile("[cgz]$")
_PART = re.compile(r"<(\w+)>")


@cache
def _imperatives() -> frozenset[str]:
    """Return imperatives of vos, tú, usted and ustedes, folded, of verbs used with an assistant."""
    made = set(words("given"))
    for kind, ends in ENDINGS.items():
        made |= {stem + end for stem in words(kind) for end in ends}
    return frozenset(made | {_SOFT.sub(lambda last: HARD[last[0]], stem) + "e" for stem in words("ar")})


@cache
def _forms(name: str) -> list[tuple[re.Pattern[str], bool | None]]:
    """Return the (form, verdict) pairs of that name in [verbs]."""
    parts = {"imperative": "|".join(_imperatives()), "infinitive": INFINITIVE, "clitic": CLITIC}

    def filled(part: re.Match[str]) -> str:
        return f"(?:{parts.get(part[1]) or '|'.join(words(part[1]))})"

    verdicts = {"sure": SURE, "perhaps": PERHAPS, "no": NO}
    return [(re.compile(_PART.sub(filled, form)), verdicts[says]) for form, says in verbs(name)]


def certain(forms: str, word: str, folded: str) -> bool | None:
    """Return SURE, PERHAPS or NO: whether a sentence, in `folded` without accents, is what it sounds like. `forms` is a
    name in [verbs], for the `word` that tells; empty where there is none."""
    if sign("over").search(folded):
        return NO
    both = f"{word} {fold(word)}"
    verdict = next((says for form, says in _forms(forms) if form.fullmatch(both)), NO) if forms else SURE
    return PERHAPS if verdict is SURE and sign("maybe").search(folded) else verdict


def goes_wrong(folded: str) -> bool:
    """Return whether a clause tells what fails or happens to the person, and not how to do something."""
    return bool(pattern("happens").match(folded))


def commands(folded: str) -> bool:
    """Return whether a clause without accents begins with an imperative, with or without pronouns: "compara …",
    "pasamelo"."""
    first = folded.split(maxsplit=1)[0] if folded.strip() else ""
    bare = re.sub(f"{CLITIC}$", "", first)
    return first not in words("no_command") and not _imperatives().isdisjoint((first, bare))
