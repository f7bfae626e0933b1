"""Recognise placeholders (templates, samples, names, fillers), and values that look random."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

# Placeholders for a password in a text written to be copied.
_TEMPLATE = (
    r"<[^<>]*>|\$\{[^{}]*\}|\$\([^()]*\)|\$[A-Z_][A-Z0-9_]*|\$[a-z]+(?:_[a-z0-9]+)+|\$\w*(?:[pP]ass|[pP]wd|[kK]ey|[tT]oken|[sS]ecret)\w*|\{\{?[^{}]*\}?\}|%\([^()]*\)s|%[a-z]"
    r"|%[A-Z_]+%|\[[^\[\]]*\]|(?:[xX]{3,}|[*.\u2022_]+|[-xX*]{3,})"
)
# Parts of a value that a program fills in: the rest must be a secret by itself.
_HOLE = r"<[^<>]*>|\$\{[^{}]*\}|\{\{[^{}]*\}\}|%\([^()]*\)s"
_SAMPLE = (
    r"[<\[{(]?(?:change.?(?:me|it|this)|(?:your|insert|replace|enter|put)[-_ .]|example|sample"
    r"|&lt;|my[-_](?:super[-_])?secret"
    r"|your(?:api|app|auth|access|client|key|pass|secret|token)|placeholder|dummy|fake|todo\b|fixme\b|redacted"
    r"|not[-_ ]?(?:needed|used|required|set|applicable)|unused|v?\d{1,9}(?:\.\d{1,9}){1,5}$"
    r"|(?:none|null|nil|undefined|false|true)$|os\.environ|os\.getenv|process\.env|getenv\(|env[.(\[:]|sha\d{1,3}[-:]"
    r"|plain.?text$|same-origin$|does.?not.?exist|[a-z_]+(?:/[a-z_]+)+(?:#[a-z_]+)?$|\s*[+,.]\s|\+(?:new\s|[a-z_][\w.]*\())"
)
# "access_token", "db-password", "API KEY": the value names a credential and is none.
_NAMING = (
    r"(?:(?:a|the|my|some|test|wrong|invalid|incorrect|correct|bad|not|real|new|old|next|prev|input|output|page|api|app|aws|client|csrf|db|user|admin|role|root|session"
    r"|master|private|public|login|refresh|access|auth|authorization|basic|bearer|secret|token|key|id|name|field|type"
    r"|pass(?:word|wd|phrase|code)?|pwd|credentials?|value|here)[-_ ./:]?){1,8}"
)
_LONGEST_NAMING = 64
_SHORTEST_VALUE = 8
_SHORTEST_PASSWORD = 5
_LONG_SAMPLE = 40
_FILLERS = ("example", "xxxxxx", "placeholder", "your_", "your-", "......", "******")
_ENDING = ("-xxx", "_xxx", "xxxx", "...", "\u2026")
_SAME = 8
"""A random token hardly repeats one character so often (64 letters to the seventh power): it is a filler."""

_LONGEST_WORD = 17
"""Letters: few words are longer ("internationalization"), and none of those is used as a name."""

_rules: "list[re.Pattern[str]]" = []


def _compiled() -> "list[re.Pattern[str]]":
    if not _rules:
        import re

        any_case = re.IGNORECASE | re.ASCII
        _rules.append(re.compile(_TEMPLATE, re.ASCII))
        _rules.append(re.compile(_HOLE, re.ASCII))
        _rules.append(re.compile(_SAMPLE, any_case))
        _rules.append(re.compile(_NAMING, any_case))
        _rules.append(re.compile(rf"(.)\1{{{_SAME - 1}}}", re.DOTALL))
        _rules.append(re.compile(r"(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])"))
        _rules.append(re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"))
        _rules.append(re.compile(r"[A-Za-z]{0,2}[0-9]{0,3}|[A-Za-z]?[a-z]+\d{0,3}|[A-Z]+\d{0,3}|\d{1,4}[a-z]{1,3}"))
    return _rules


def is_template(value: str) -> bool:
    """Return whether the whole value is a template: `${PASS}`, `<password>`, `%s`, `****`, `xxxx`."""
    return _compiled()[0].fullmatch(value) is not None


def is_naming(value: str) -> bool:
    """Return whether a value consists of words for credentials alone: `access_token`, `db-password`, `mySecret`."""
    return len(value) <= _LONGEST_NAMING and _compiled()[3].fullmatch(value) is not None


def is_filler(value: str) -> bool:
    """Return whether a token's body is a filler that shows its format: `ghp_xxxxxxxx`, `AKIAIOSFODNN7EXAMPLE`."""
    low = value.lower()
    return any(word in low for word in _FILLERS) or _compiled()[4].search(low) is not None


def is_mixed(match: "re.Match[str]", value: str) -> bool:
    """Judge a token of letters: of 34 random ones 17 are capitals, in a camelCase name a few."""
    return not is_filler(value) and 5 * sum(map(str.isupper, value)) > len(value)


def is_token(match: "re.Match[str]", value: str) -> bool:
    """Judge a token that its prefix identifies; an issuer's long sample with EXAMPLE in it is cut too, which does no
    harm."""
    return not is_filler(value) or is_random(value.replace("EXAMPLE", ""), _LONG_SAMPLE)


def is_random(value: str, shortest: int = 16) -> bool:
    """Return whether a value of one word looks random: many changes between digits and letters, and no plain words.

    In 20 random letters and digits 5.4 such changes are to be expected, in 32 hexadecimal digits 15; an identifier has
    one or two.
    """
    if len(value) < shortest or is_filler(value) or is_template(value):
        return False
    rules = _compiled()
    if len(rules[5].findall(value)) < max(3, len(value) // 12):
        return False
    words = [part for part in _parts(value) if part]
    plain = sum(len(word) for word in words if len(word) < 16 and rules[7].fullmatch(word))
    return plain * 2 < sum(map(len, words)) and len(set(value.lower())) >= 8


def is_serial(value: str, shortest: int = 20) -> bool:
    """Return whether a value is one run of letters and some digits, as no name has them: weaker than `is_random`, for a
    value whose name leaves little doubt."""
    if len(value) < shortest or not value.isalnum() or is_filler(value):
        return False
    digits = sum(map(str.isdigit, value))
    return 3 <= digits < len(value)


def is_number(value: str, shortest: int) -> bool:
    """Return whether a value is one long number, longer than counts, times and most ids."""
    return len(value) >= shortest and value.isdigit() and len(set(value)) > 2


def is_grouped(value: str, shortest: int = 16) -> bool:
    """Return whether a value is a serial number in groups: `4F7K2M9Q-81TR03ZX`. Half of the groups hold digits."""
    groups = value.split("-")
    if len(value) < shortest or len(groups) < 2 or not all(4 <= len(group) <= 12 for group in groups):
        return False
    if not value.replace("-", "").isalnum() or is_filler(value):
        return False
    numbered = sum(any(map(str.isdigit, group)) for group in groups)
    return 2 * numbered >= len(groups) and sum(map(str.isalpha, value)) >= 4 and sum(map(str.isdigit, value)) >= 4


def is_opaque(value: str, shortest: int = 20) -> bool:
    """Return whether a value is one run of letters and digits unlike any name: a stretch of one case longer than words
    are, or irregular capitals. Unlike for `is_random` it need not contain a digit."""
    if len(value) < shortest or not value.isalnum() or not value.isascii() or len(set(value.lower())) < 6:
        return False
    if is_filler(value) or value.isdigit():
        return False
    words = _compiled()[6].findall(value)
    return max(map(len, words)) > _LONGEST_WORD or 10 * len(words) > 3 * len(value)


def is_basic(value: str) -> bool:
    """Return whether a value is Base64 of `user:password`."""
    import binascii

    try:
        decoded = binascii.a2b_base64(value + "=" * (-len(value) % 4))
    except binascii.Error:
        return False
    _, colon, password = decoded.partition(b":")
    return bool(colon and password) and decoded.isascii() and decoded.decode("ascii").isprintable()


def is_uuid(value: str) -> bool:
    """Return whether a value is a UUID: with the name "key" alone it is an identifier and no credential."""
    return len(value) == 36 and all(value[at] == "-" for at in (8, 13, 18, 23)) and value.count("-") == 4


def _parts(value: str) -> list[str]:
    for sign in "-./:+=~":
        value = value.replace(sign, "_")
    return value.split("_")


def is_short_password(value: str) -> bool:
    """Return whether a value of 5 to 7 characters is a password, under the name of one: letters with digits or
    punctuation, and no name with a number (`user1`, `test12`)."""
    if not _SHORTEST_PASSWORD <= len(value) < _SHORTEST_VALUE or not value.isascii():
        return False
    letters, digits = sum(map(str.isalpha, value)), sum(map(str.isdigit, value))
    others = sum(map(value.count, "!@#$&*?"))
    if letters < 2 or not digits + others or letters + digits + others < len(value):
        return False
    return not is_template(value) and not is_filler(value) and not is_naming(value.rstrip("0123456789"))


def is_credential(value: str) -> bool:
    """Return whether a value assigned to a credential's name is one: 8 characters or more, and no placeholder."""
    if _compiled()[2].match(value):
        return False
    value = value.strip()
    if len(value) > 2 and value[0] in "'\"" and value[-1] == value[0]:
        value = value[1:-1]
    if len(value) < _SHORTEST_VALUE or value.count(value[0]) == len(value):
        return False
    template, hole, sample = _compiled()[:3]
    if template.fullmatch(value) or sample.match(value) or "example" in value.lower():
        return False
    low = value.lower()
    if low.endswith(_ENDING) or "..." in value or len(hole.sub("", value)) < _SHORTEST_VALUE:
        return False
    return not is_naming(value)
