"""Passwords and tokens in sentences, in English or Spanish: `the db password is …`, `la clave es …`."""

from store.redaction.rules.assignment import names_file
from store.redaction.rules.family import Family, line_before
from store.redaction.rules.passwords import is_given

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_SECRET = r"(?:password|passwd|passphrase|passcode|contraseña|contrasena|clave|pwd|(?<![a-z])pw)"
_ABOUT = r"(?:\s(?:for|of|on|to|at|in|here|there|del?|para|en)\b(?:[ \t]{1,2}[^\s:=.\0]{1,40}+){0,10}?)"
_IS = r"(?:\s(?:now|ahora))?\s(?:is|was|es|era)(?:\s(?:now|still|just|ahora|todavía))?:?"
_WHICH = r"(?:\s(?:wi-?fi|root|admin|actual|nueva|new|temporal|temporary))"
_TO = (
    r"\s(?:(?:is|was|has been|been|fue|ha sido)\s)?"
    r"(?:(?:set|changed|reset|rotated|updated|cambiada|puesta)\s)?(?:to|a|por)"
)


def _quoted(name: str) -> str:
    return rf"[\"'`«“](?P<{name}>[^\s\"'`«»“”\0]{{4,}})[\"'`»”]"


def _bare(name: str) -> str:
    """Return a group without quotes; the full stop of the sentence is no part of it."""
    sign = r"\s\"'`,;(){}\[\]<>$\0"
    return rf"(?P<{name}>[^{sign}]{{5,}}[^{sign}.?:])"


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


def _is_told(match: "re.Match[str]", value: str) -> bool:
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


def _is_pair(match: "re.Match[str]", value: str) -> bool:
    return is_given(match, value) and any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and "." not in value


# A word with a digit, a quote, or one of the words above: checked before the pattern is tried.
_GATE = (
    r"(?:ord|d|ña|na)?+(?:'s)?+(?:(?<=pw ):?|(?<=pw:)|:|\s)\s?+(?:[\"'`«“]|[^\s\d]{0,64}+\d|(?:is|was|es|era|now|ahora"
    r"|to|a|por|has|been|fue|ha|set"
    r"|changed|reset|rotated|updated|cambiada|puesta|for|of|on|at|in|here|there|del?|para|en|wi-?fi|root|admin|actual|nueva|new|temporal|temporary)[\s:])"
)


def _is_used(match: "re.Match[str]", value: str) -> bool:
    return is_given(match, value) and any(map(str.isdigit, value)) and any(map(str.isalpha, value))


SENTENCES: tuple[Family, ...] = (
    Family(
        "SPOKEN_PASSWORD",
        ("passw", "passphrase", "passcode", "contrase", "clave", "pwd", "pw ", "pw:"),
        rf"{_SECRET}(?:'s)?"
        rf"(?:{_TO}\s{{1,2}}(?:{_quoted('to_quoted')}|{_bare('to')})"
        rf"|(?:{_WHICH}|{_ABOUT}|(?<=pw))\s?:\s{{1,2}}(?:{_quoted('after_quoted')}|(?=\S{{0,64}}\d){_bare('after')})"
        rf"|{_ABOUT}?(?P<how>{_IS})\s{{1,2}}(?:{_quoted('quoted')}|{_bare('bare')})"
        rf"|\s{{1,2}}(?:{_quoted('named_quoted')}|(?=\S{{0,64}}\d){_bare('beside')}))",
        fold=True,
        gate=_GATE,
        accept=_is_told,
    ),
    # credentials: admin / …, login: admin:…
    Family(
        "SPOKEN_PASSWORD",
        ("credential", "creds", "credencial", "login:", "login with", "log in"),
        r"(?:credentials?|creds|credencial(?:es)?|log ?in(?:\sas|\swith)?)"
        r"(?:\s(?:is|are|son|es)|\s(?:for|de|para)\s[\w.-]{1,40})?"
        r"[:=]?\s{0,2}[\w.@+-]{2,60}\s?[:/]\s?"
        r"(?P<value>[^\s\"'`,;(){}\[\]<>$/:\0]{6,128})(?![^\s.,;)])",
        fold=True,
        accept=_is_pair,
    ),
    # use … as the password, usá … como contraseña
    Family(
        "SPOKEN_PASSWORD",
        (" as ",),
        r"(?<=[\s\"'`])(?P<value>[^\s\"'`,;(){}\[\]<>$\0]{6,40})[\"'`]?\sas\s(?:(?:the|my|a)\s)?(?:[\w-]{2,20}\s)?"
        r"(?:password|passphrase)\b",
        needs="pass",
        fold=True,
        back=range(6, 42),
        gate=r"(?:(?:the|my|a)\s)?(?:[\w-]{2,20}\s)?pass",
        accept=_is_used,
    ),
    Family(
        "SPOKEN_PASSWORD",
        (" como ",),
        r"(?<=[\s\"'`])(?P<value>[^\s\"'`,;(){}\[\]<>$\0]{6,40})[\"'`]?\scomo\s(?:(?:la|mi)\s)?(?:contraseña|clave)\b",
        fold=True,
        back=range(6, 42),
        gate=r"(?:(?:la|mi)\s)?(?:contrase|clave)",
        accept=_is_used,
    ),
    # user ada, pass …
    Family(
        "SPOKEN_PASSWORD",
        (" pass ", " pass: "),
        r"(?:(?<=user)|(?<=username)|(?<=usuario)|(?<=login)|(?<=email))[ :=]{1,3}"
        r"[^\s:=\0]{2,40}?[ ,;/]{0,3}(?:\s(?:and|with|y|con))?\spass:?\s"
        r"(?P<value>[^\s\"'`,;(){}\[\]<>$\0]{4,39}[^\s\"'`,;(){}\[\]<>$.?:\0])",
        fold=True,
        back=range(4, 52),
        accept=_is_used,
    ),
    # the door code is 4829
    Family(
        "SPOKEN_PASSWORD",
        ("code is ", "code: ", "código", "codigo"),
        r"(?:(?:door|gate|alarm|unlock|safe|entry|building|garage|access|security)\scode"
        r"|c[oó]digo\s(?:de\sla\s|del?\s)(?:puerta|portón|porton|alarma|acceso|desbloqueo|entrada|edificio|caja))"
        r"(?:\s(?:is|es)|:)\s(?P<value>#?\d{4,8})(?![\w%]|[.,]\d)",
        fold=True,
        back=(0, 5, 6, 7, 9, 7, 8),
    ),
    # the PIN is 4829
    Family(
        "SPOKEN_PASSWORD",
        ("pin is ", "pin es ", "pin: ", "pin code", "pin de"),
        r"(?<![\w-])pin(?:\scode|\sdel?(?:\sla)?\s\w{2,20})?(?:\sis|\ses|\s?:)\s(?P<value>\d{4,8})(?![\w%]|[.,]\d)",
        fold=True,
    ),
)
