"""What a match must also be to count as a secret: no placeholder, random enough, a real number.

Recognise placeholders (templates, samples, names, fillers), and values that look random.
"""

from __future__ import annotations

import binascii
import re
from functools import cache

from store.redaction.family import expand_pattern, expand_words, line_before

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

_compiled_patterns: list[re.Pattern[str]] = []


def _compile_patterns() -> list[re.Pattern[str]]:
    """Return the compiled patterns, in a fixed order."""
    if not _compiled_patterns:
        any_case = re.IGNORECASE | re.ASCII
        _compiled_patterns.append(re.compile(_TEMPLATE, re.ASCII))
        _compiled_patterns.append(re.compile(_HOLE, re.ASCII))
        _compiled_patterns.append(re.compile(_SAMPLE, any_case))
        _compiled_patterns.append(re.compile(_NAMING, any_case))
        _compiled_patterns.append(re.compile(rf"(.)\1{{{_SAME - 1}}}", re.DOTALL))
        _compiled_patterns.append(re.compile(r"(?<=[0-9])(?=[A-Za-z])|(?<=[A-Za-z])(?=[0-9])"))
        _compiled_patterns.append(re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"))
        _compiled_patterns.append(
            re.compile(r"[A-Za-z]{0,2}[0-9]{0,3}|[A-Za-z]?[a-z]+\d{0,3}|[A-Z]+\d{0,3}|\d{1,4}[a-z]{1,3}")
        )
    return _compiled_patterns


def is_template(value: str) -> bool:
    """Return whether the whole value is a template: `${PASS}`, `<password>`, `%s`, `****`, `xxxx`."""
    return _compile_patterns()[0].fullmatch(value) is not None


def is_naming(value: str) -> bool:
    """Return whether a value consists of words for credentials alone: `access_token`, `db-password`, `mySecret`."""
    return len(value) <= _LONGEST_NAMING and _compile_patterns()[3].fullmatch(value) is not None


def is_filler(value: str) -> bool:
    """Return whether a token's body is a filler that shows its format: `ghp_xxxxxxxx`, `AKIAIOSFODNN7EXAMPLE`."""
    low = value.lower()
    return any(word in low for word in _FILLERS) or _compile_patterns()[4].search(low) is not None


def is_mixed(match: re.Match[str], value: str) -> bool:
    """Judge a token of letters: of 34 random ones 17 are capitals, in a camelCase name a few."""
    return not is_filler(value) and 5 * sum(map(str.isupper, value)) > len(value)


def is_token(match: re.Match[str], value: str) -> bool:
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
    rules = _compile_patterns()
    if len(rules[5].findall(value)) < max(3, len(value) // 12):
        return False
    words = [part for part in _split_value(value) if part]
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
    words = _compile_patterns()[6].findall(value)
    return max(map(len, words)) > _LONGEST_WORD or 10 * len(words) > 3 * len(value)


def is_basic(value: str) -> bool:
    """Return whether a value is Base64 of `user:password`."""
    try:
        decoded = binascii.a2b_base64(value + "=" * (-len(value) % 4))
    except binascii.Error:
        return False
    _, colon, password = decoded.partition(b":")
    return bool(colon and password) and decoded.isascii() and decoded.decode("ascii").isprintable()


def is_uuid(value: str) -> bool:
    """Return whether a value is a UUID: with the name "key" alone it is an identifier and no credential."""
    return len(value) == 36 and all(value[at] == "-" for at in (8, 13, 18, 23)) and value.count("-") == 4


def _split_value(value: str) -> list[str]:
    """Return the parts of a value between punctuation."""
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
    if _compile_patterns()[2].match(value):
        return False
    value = value.strip()
    if len(value) > 2 and value[0] in "'\"" and value[-1] == value[0]:
        value = value[1:-1]
    if len(value) < _SHORTEST_VALUE or value.count(value[0]) == len(value):
        return False
    template, hole, sample = _compile_patterns()[:3]
    if template.fullmatch(value) or sample.match(value) or "example" in value.lower():
        return False
    low = value.lower()
    if low.endswith(_ENDING) or "..." in value or len(hole.sub("", value)) < _SHORTEST_VALUE:
        return False
    return not is_naming(value)


# The assignment rule: a value assigned to a credential's name, in the syntax of programs, files and shells.
#
# In quotes it is cut unless it is a placeholder. Without quotes, as a function's argument, or where the name is just
# "key", it must look random too (`is_random`).

LABEL = "HARDCODED_CREDENTIAL"
_SHORTEST_BARE = 12
_SHORTEST_LOT = 16
_LONGER = 24
_SHORTEST_NUMBER = 15
"""Digits; a shorter number is a count, a time or an id."""
_LONGEST_NAME = 64
_LONGEST_WORD_ASSIGNMENT = 40
"""Letters of a word in a language that joins them."""

_NAMING_ASSIGNMENT = ("token", "key", "secret", "password", "credential")
_WEAK = ("key", "access", "private", "auth", "clave")
# A key that is no credential: it names a row, an entry, a translation.
_NO_LOCK = (
    "digi",
    "public",
    "primary",
    "foreign",
    "cache",
    "sort",
    "partition",
    "lookup",
    "dict",
    "hash",
    "group",
    "publish",
)
_SPOKEN = ("pass", "pwd", "pw", "psw", "pword", "contrase")
_UNQUOTED = ("bare", "env", "cell", "word", "argument")
_IS = ("is", "was", "es", "era")
_PATHS = ("/", "./", "../", "~/", "#", "arn:", "http://", "https://")
_FILES = tuple(".json .env .txt .md .yml .yaml .toml .ini .cfg .conf .js .ts .py .sh .pem".split())


@cache
def _name_words() -> tuple[str, ...]:
    return expand_words("{names}")


@cache
def _name_pattern() -> re.Pattern[str]:
    return re.compile(expand_pattern("{credential_name}"), re.IGNORECASE | re.ASCII)


def names_credential(name: str) -> bool:
    """Return whether a key of a mapping is one of the names of the assignment rule: `password`, `apiKey`,
    `client_secret`."""
    low = name.lower()
    return any(word in low for word in _name_words()) and bool(_name_pattern().search(name[-_LONGEST_NAME:]))


def is_assigned(match: re.Match[str], value: str) -> bool:
    """Return whether a match of the assignment rule is cut; `match` has the groups of its pattern."""
    how = match.lastgroup or ""
    text = match.string
    name = match["name"].lower()
    if how in _UNQUOTED and not any(map(str.isdigit, value)) and not _is_run(value):
        # the rules for random values would find it too, at more cost
        return False
    spoken = name.startswith(_SPOKEN)
    if not is_credential(value):
        return spoken and how not in _UNQUOTED and is_short_password(value)
    inner = value.rstrip(" =:")
    # quotes within quotes: this is a name
    if len(inner) < len(value) and names_credential(inner):
        return False
    if (value.startswith(_PATHS) or names_file(value)) and not is_random(value):
        return False
    if _is_name(value) and (
        names_credential(value) or (not spoken and any(map(value.lower().__contains__, _NAMING_ASSIGNMENT)))
    ):
        return False
    if not spoken and not value.isascii() and not is_random(value.encode("ascii", "ignore").decode()):
        return False
    # the name of a setting and an address
    if value.partition("=")[2].startswith(_PATHS):
        return False
    # a pattern of a lexer
    if not spoken and value[0] in "[(^\\" and not is_random(value):
        return False
    before = "" if spoken else _name_before(text, match.start())
    if any(word in before for word in _NO_LOCK):
        return False
    if len(value) < _LONGEST_WORD_ASSIGNMENT and value[1:].isalpha() and value[1:].islower() and _is_weak(match):
        return False
    if how in ("bare", "env", "cell"):
        return _is_bare(match, value, how)
    if how == "argument":
        return (
            is_random(value)
            or is_serial(value)
            or is_opaque(value)
            or (not _is_weak(match) and is_number(value, _SHORTEST_NUMBER))
        )
    if how == "word":
        return _is_said(match, value, before)
    if _is_weak(match):
        return "\\" not in value and (is_random(value, 20) or is_serial(value, 24))
    if name == "pass" and " " in value:
        return False
    if how == "back" and _names_code(value):
        return False
    # a sentence about a token
    if " " in value and not spoken:
        return any(is_random(word) for word in value.split())
    return True


def _is_name(value: str) -> bool:
    """Return whether a value is words joined by punctuation, which names a credential: `X-Access-Token`,
    `HOUSE_API_KEY`."""
    words = value.replace("-", "_").replace(".", "_").split("_")
    return len(words) > 1 and all(not word or (word.isascii() and word.isalpha()) for word in words)


def names_file(value: str) -> bool:
    """Return whether a value is the place of a file: `config/keys.json`, `C:/keys.json`, `.env`."""
    place = value.partition(":")[0] if value[1:3] not in (":/", ":\\") else value[3:]
    if value.startswith(".") and "/" not in value:
        return value.replace(".", "").replace("-", "").isalpha()
    return ("/" in place or "\\" in place) and place.lower().endswith(_FILES)


def _names_code(value: str) -> bool:
    """Return whether a value in back quotes is a name or a call, as in a sentence about code."""
    if value.endswith(")"):
        return True
    return value.replace(".", "_").isidentifier() and not any(map(str.isdigit, value))


def _is_bare(match: re.Match[str], value: str, how: str) -> bool:
    shortest = _SHORTEST_LOT if _is_weak(match) else _SHORTEST_BARE
    if is_random(value, shortest):
        return True
    if _is_run(value):
        return True
    if not _is_weak(match) and (is_serial(value, 16) or is_uuid(value)):
        return how != "cell" or not value.isdigit()
    # of a table it is an id
    if not _is_weak(match) and how != "cell" and is_number(value, _SHORTEST_NUMBER):
        return True
    # ENV style, API_KEY=…: in most code a lower-case name is an argument or an attribute.
    return (
        how == "env"
        and len(value) >= _SHORTEST_LOT
        and not _is_weak(match)
        and match["name"].isupper()
        and any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
    )


def _is_said(match: re.Match[str], value: str, before: str) -> bool:
    """Judge a word that follows the name without a sign of assignment: `--token …`, `the token is …`, `a key …`."""
    if _is_weak(match):
        start = match.start() - len(before)
        if any(word in _name_before(match.string, start - 1) for word in _NO_LOCK) or (
            not before and is_uuid(value)
        ):
            return False
    preceding = match.string[match.end("name") : match.start("word")].strip(" \t\"'`").rpartition(" ")[2] in _IS
    if preceding and not _is_weak(match):
        return is_random(value, _SHORTEST_BARE) or is_serial(value, _SHORTEST_BARE)
    return (
        is_random(value, _SHORTEST_LOT if before.startswith("--") else 20)
        or is_serial(value, 32)
        or is_opaque(value)
    )


def _is_run(value: str) -> bool:
    """Return whether a value, or the part after its prefix, is opaque: `live_…`."""
    value = value.rstrip("=")
    return is_opaque(value) or ("_" in value and is_opaque(value.rpartition("_")[2], _LONGER))


def _is_weak(match: re.Match[str]) -> bool:
    """Return whether the name is "key" without a qualifier (`api`, `access`, also before a blank), or another word
    that seldom names a credential."""
    end = match.end("name")
    return match["name"].lower() in _WEAK and not names_credential(match.string[max(0, end - _LONGEST_NAME) : end])


def _name_before(text: str, at: int) -> str:
    """Return the part of the name before `at`, in lower case."""
    start = at
    while start > 0 and at - start < _LONGEST_NAME and (text[start - 1].isalnum() or text[start - 1] in "-_"):
        start -= 1
    return text[start:at].lower()


def is_set(match: re.Match[str], value: str) -> bool:
    before = _name_before(match.string, match.start())
    if before.startswith(("get", "find", "has", "read", "fetch", "load", "is_", "delete", "remove")):
        return False
    if match["name"].lower().startswith(_SPOKEN) and (is_short_password(value) or is_credential(value)):
        return any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and not names_credential(value)
    return is_assigned(match, value)


def is_element(match: re.Match[str], value: str) -> bool:
    """Return whether an element's value is cut: between tags, where a page has its labels, only with a digit."""
    if _is_weak(match):
        return is_random(value, 20)
    if not is_credential(value) and not (match["name"].lower().startswith(_SPOKEN) and is_short_password(value)):
        return False
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


# The checks of a match that its prefix or its context identifies: whether the value is one that was drawn by lot.

# --- Tokens with a prefix ---


def is_drawn(match: re.Match[str], value: str) -> bool:
    """Judge a token with a short prefix that ordinary names begin with too."""
    return is_random(value)


def is_after_filler(match: re.Match[str], value: str) -> bool:
    """Judge a token with a prefix that is itself a filler."""
    return is_random(value.lstrip("A"))


def is_long_lived(match: re.Match[str], value: str) -> bool:
    """Judge a token with a prefix of ten letters A, which would count as a filler."""
    return is_random(value[21:])


def is_aws_key(match: re.Match[str], value: str) -> bool:
    """Accept AWS's own examples too, which end in EXAMPLE: cutting one does no harm."""
    return value.endswith("EXAMPLE") or is_token(match, value)


def has_password(match: re.Match[str], value: str) -> bool:
    """Return whether the password in the address of a database is none of a sample."""
    return not is_template(match[1]) and "://user:pass@" not in match[0].lower()


# --- Headers, addresses, sentences ---


def has_digit(match: re.Match[str], value: str) -> bool:
    return any(map(str.isdigit, value))


def is_bearer(match: re.Match[str], value: str) -> bool:
    return is_random(value) or is_serial(value, 24)


def is_sent(match: re.Match[str], value: str) -> bool:
    """Judge a value after `Authorization: Bearer`: any with a digit, or too long for a word, unless it is a
    placeholder."""
    if not is_credential(value) or is_naming(value.rstrip("0123456789")):
        return False
    return any(map(str.isdigit, value)) or is_opaque(value)


def is_base64(match: re.Match[str], value: str) -> bool:
    return is_basic(value)


def is_npm_login(match: re.Match[str], value: str) -> bool:
    return match[0].startswith("_p") or is_basic(value)


def is_random_user(match: re.Match[str], value: str) -> bool:
    """Judge the user of an address that has no password."""
    return is_random(value, 20)


def is_webhook(match: re.Match[str], value: str) -> bool:
    """Return whether the last part of a webhook's address is random."""
    return is_random(value, 20) or is_serial(value, 24) or (is_uuid(value) and any(map(str.isdigit, value)))


def is_parameter(match: re.Match[str], value: str) -> bool:
    return is_random(value, 24) or is_opaque(value, 24)


def is_short(match: re.Match[str], value: str) -> bool:
    """Judge a short value after a prefix that a name may begin with."""
    return is_random(value, 11) or is_opaque(value, 11)


_NO_WORDS = frozenset(
    "a an the and or for with was were are is from not but his has had of to in on at by be it as".split()
)


def is_phrase(match: re.Match[str], value: str) -> bool:
    """Return whether a run of words is no sentence: the lists for such phrases do not contain these words."""
    return _NO_WORDS.isdisjoint(value.split())


# --- Keys of services ---

_SUMS = (
    "h1:",
    "sha1-",
    "sha256-",
    "sha384-",
    "sha512-",
    "sha256:",
    "md5:",
)  # of files, in lists of installed packages
_VERSION = "v0.0.0-"
# what a service's message of an error names; each is written in four ways
_NUMBERED = tuple(
    f"{what}{sign}id"
    for what in ("request", "trace", "correlation", "message", "run")
    for sign in ("_", "-", " ", "")
)
_SHORTEST_KEY = 16
_SHORTEST_HEX = 32
"""Digits: longer than any identifier of a service."""
_SHORTEST_PASSWORD_CHECKS = 10
"""Directly after `name_key=`."""


def is_service_key(match: re.Match[str], value: str) -> bool:
    text, start = match.string, match.start("value")
    if text.endswith(_SUMS, 0, start) or value.startswith(_VERSION):
        return False
    if text[max(0, start - 24) : start].rstrip(" :=\"'`").lower().endswith(_NUMBERED):
        return False
    given = text[max(0, start - 4) : start].rstrip(" \"'")[-1:] in ("=", ":")
    if is_random(value, _SHORTEST_PASSWORD_CHECKS if given else _SHORTEST_KEY):
        return True
    value = value.rstrip("=")
    if is_uuid(value):
        return any(map(str.isdigit, value))
    return is_serial(value, 20) or is_opaque(value) or is_number(value, _SHORTEST_HEX) or is_grouped(value)


def is_service_value(match: re.Match[str], value: str) -> bool:
    """Judge a value directly after a service's name."""
    return len(value) >= 20 and is_service_key(match, value)


# Passwords chosen by a person: they do not look random, and only their context identifies them.
#
# Contexts are the configuration files and command lines of common programs, addresses, calls, and plain sentences.

# Names of passwords in examples.
_SAID = frozenset(
    "password passwd pass pwd secret pw token user username mypassword mypass changeme test example xxx admin "
    "your_password yourpassword p@ssword userpass none null true false required optional prompt file stdin".split()
)
_LONGEST_LINE = 120


def is_password(match: re.Match[str], value: str) -> bool:
    """Return whether a match is a user and a password, or the password alone: only the last part is checked."""
    password = value.rpartition(":")[2]
    if len(password) < 3 or is_template(password) or is_filler(password):
        return False
    bare = password.lower().strip("\"'#\\")
    # pass1
    if bare[-1:].isdigit() and not bare[-2:-1].isdigit():
        bare = bare[:-1]
    return (
        password.lower() not in _SAID
        and bare not in _SAID
        and not password.startswith(("$", "{", "<", "%", "..."))
    )


def is_given(match: re.Match[str], value: str) -> bool:
    """Return whether a value without quotes is a password, and not the name of another place."""
    return is_password(match, value) and not is_name(value) and "/" not in value[:1]


def is_name(value: str) -> bool:
    """Return whether a value names a place that holds a password: `dbPassword`, `form2_password`, `password2`. One run
    of letters and digits with more in it than such names have, `supersecret99`, is a password."""
    if not names_credential(value):
        return False
    chosen = value.isalnum() and any(map(str.isdigit, value))
    return not chosen or is_naming(value.rstrip("0123456789"))


def is_second_line(match: re.Match[str], value: str) -> bool:
    """Judge the second of two lines, user and password. A program has blanks around the sign where it assigns a
    variable; without them any word is the password itself."""
    if is_given(match, value):
        return True
    lines = match[0].strip().splitlines()
    joined = all("=" in line and " " not in line.strip() for line in (lines[0], lines[-1]))
    return joined and is_password(match, value) and not is_naming(value)


def is_user(match: re.Match[str], value: str) -> bool:
    """Return whether a value is `user:password` for curl; with nothing after the colon the user is a key."""
    if value.endswith(":"):
        return is_given(match, value[:-1]) and any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return is_password(match, value)


def is_chosen(match: re.Match[str], value: str) -> bool:
    """Return whether a word is a chosen password: letters with digits or punctuation, where a name has letters
    alone."""
    if not is_given(match, value) or not any(map(str.isalpha, value)) or value[0] in "-+":
        return False
    if value.replace(".", "_").isidentifier() and not (value.isalnum() and any(map(str.isdigit, value))):
        return False
    return any(map(str.isdigit, value)) or not _is_path(value)


def is_chosen_word(match: re.Match[str], value: str) -> bool:
    """Return whether a word has letters and digits, as no name of a file or an option has both."""
    return is_chosen(match, value) and any(map(str.isdigit, value)) and "." not in value and "/" not in value


def is_option(match: re.Match[str], value: str) -> bool:
    """Judge the value of an option: `--db-password …`, and not of a word, as in a two-pass check."""
    start = match.start()
    while start and (match.string[start - 1].isalnum() or match.string[start - 1] in "-_"):
        start -= 1
    return match.string[start] == "-" and is_chosen(match, value)


def _is_path(value: str) -> bool:
    for sign in "-./":
        value = value.replace(sign, "_")
    return value.isidentifier()


def is_line(match: re.Match[str], value: str) -> bool:
    """Return whether name and value are alone on a line, as in a file of settings and seldom in a program; or are
    surrounded by blanks, as in a list of environment variables."""
    text = match.string
    joined = text[match.end("name") : match.start("value")] == "="
    start = match.start()
    while start and (text[start - 1].isalnum() or text[start - 1] in "_.-"):
        start -= 1
    if (
        joined
        and text[start : match.end("name")].isupper()
        and text[start - 1 : start] in ("", " ", "\t", "\n", '"', "'")
    ):
        # COMPASS
        glued = match["name"] == "PASS" and text[match.start() - 1 : match.start()].isalpha()
        if glued and not any(map(str.isdigit, value)):
            return False
        return is_given(match, value) and not is_naming(value) and value[0] not in "-+./~" and not value.isupper()
    if match["name"] in ("SECRET", "SECRET_KEY") or not is_chosen(match, value):
        return False
    if not any(char.isascii() and char.isalnum() for char in value) or (value.isupper() and "_" in value):
        return False
    before = line_before(text, match.start())
    if before is None or len(before) > _LONGEST_LINE:
        return False
    if joined and value.isalnum() and any(map(str.isdigit, value)) and _is_listed(before):
        return True
    if text[match.end() : match.end() + 1] in ('"', "'") or any(sign in before for sign in "\"'`()=<>{}[]$\0"):
        return False
    if joined and value.isalnum() and any(map(str.isdigit, value)):
        return True
    if text[match.end() : match.end() + _LONGEST_LINE].lstrip(" \t")[:1] not in ("", "\r", "\n", "#"):
        return False
    if match["sign"] == ":" or not value.isidentifier():
        return match["name"] != "clave" or sum(map(str.isdigit, value)) >= 2
    low = value.lower()
    return sum(map(str.isdigit, value)) >= 2 and not any(
        word in low for word in ("pass", "pwd", "secret", "token")
    )


def _is_listed(before: str) -> bool:
    """Return whether another `name=value` precedes, separated by a blank: `host=db user=ada password=…`."""
    words = before.split(" ")
    if len(words) < 2:
        return False
    name, sign, value = words[-2].partition("=")
    return bool(sign and value) and _is_path(name) and all(char.isalnum() or char in "._-:/" for char in value)


def is_defined(match: re.Match[str], value: str) -> bool:
    return is_password(match, value) and "put your unique phrase" not in value and not is_name(value)


def is_cookie(match: re.Match[str], value: str) -> bool:
    """Return whether one of the cookies is random."""
    return any(is_random(part.partition("=")[2]) for part in value.replace(" ", "").split(";"))


def is_data(match: re.Match[str], value: str) -> bool:
    """Return whether the values of a Kubernetes Secret are present, and not those of a template."""
    values = [line.partition(":")[2].strip().strip("\"'") for line in value.splitlines()]
    return any(len(item) >= 4 and item[:1] not in "{$<%[&*!|>" and not is_filler(item) for item in values)


# Passwords and tokens in sentences, in English or Spanish: `the db password is …`, `la clave es …`.

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
        # the common case, at little cost
        return False
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
    return (
        match.lastgroup == "bare"
        and value.isalpha()
        and len(value) >= _SHORTEST_WORD
        and not value.endswith(_LIKE)
    )


def is_pair(match: re.Match[str], value: str) -> bool:
    return (
        is_given(match, value)
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and "." not in value
    )


def is_used(match: re.Match[str], value: str) -> bool:
    return is_given(match, value) and any(map(str.isdigit, value)) and any(map(str.isalpha, value))
