"""Passwords and tokens in sentences, in English or Spanish: `the db password is …`, `la clave es …`."""

import re

from store.redaction.rules.assignment import names_file
from store.redaction.rules.family import line_before
from store.redaction.rules.passwords import is_given

_SHORTEST_WORD = 10
"""Letters of a password without a digit: shorter words describe a password."""
# Endings of such words: required, missing, invisible, alphanumeric, obligatoria, compartida …
_LIKE = tuple(
    "ed en ing able ible ive ic al ally ly ent ant ous ary ory less ful ment tion sion ness "
    "ado ada ido ida ados adas idos idas "
    "able ible ivo iva ico ica nte nto oso osa rio ria mente ción sión dad where thing one body".split()
)
_USERS = ("user", "usuario", "login", "email", "mail")
_SEEN = 60


def is_told(match: re.Match[str], value: str) -> bool:
    """Judge a value: in quotes any word; else one with letters and digits that is no measure (256-bit), or a long one
    that ends the sentence and describes nothing."""
    if not any(map(str.isalpha, value)):
        return False
    if match.lastgroup in ("to", "bare") and value.isalpha() and len(value) < _SHORTEST_WORD:
        return False  # the common case, at little cost
    if not is_given(match, value):
        return False
    if (match.lastgroup or "").endswith("quoted"):
        if any(sign in value for sign in "%{*…") or names_file(value):
            return False
        # in Spanish also the key of a table: `la clave employee_id`
        key = match[0].lower().startswith("clave")
        return not key or any(map(str.isdigit, value)) or (match.lastgroup == "quoted" and "_" not in value)
    if match.lastgroup == "beside":
        before = (line_before(match.string, match.start()) or "")[-_SEEN:].lower()
        if not before.endswith(("with ", "with the ", "con ", "con la ")) and not any(
            word in before for word in _USERS
        ):
            return False
    if any(map(str.isdigit, value)):
        return not value[0].isdigit() and value[-1] not in "=:" and not value.isupper()
    if match.lastgroup == "beside" or match.string[match.end() : match.end() + 3].lstrip(".!")[:1] not in (
        "",
        "\n",
        "\r",
    ):
        return False
    words = value.split("-")
    if len(words) >= 3:
        return all(len(word) >= 4 and word.isalpha() for word in words)
    return match.lastgroup == "bare" and value.isalpha() and len(value) >= _SHORTEST_WORD and not value.endswith(_LIKE)


def is_pair(match: re.Match[str], value: str) -> bool:
    return is_given(match, value) and any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and "." not in value


def is_used(match: re.Match[str], value: str) -> bool:
    return is_given(match, value) and any(map(str.isdigit, value)) and any(map(str.isalpha, value))
