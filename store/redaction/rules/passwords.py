"""Passwords chosen by a person: they do not look random, and only their context identifies them.

Contexts are the configuration files and command lines of common programs, addresses, calls, and plain sentences.
"""

import re

from store.redaction.placeholders import is_filler, is_naming, is_random, is_template
from store.redaction.rules.assignment import names_credential
from store.redaction.rules.family import line_before

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
    if bare[-1:].isdigit() and not bare[-2:-1].isdigit():  # pass1
        bare = bare[:-1]
    return password.lower() not in _SAID and bare not in _SAID and not password.startswith(("$", "{", "<", "%", "..."))


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
        glued = match["name"] == "PASS" and text[match.start() - 1 : match.start()].isalpha()  # COMPASS
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
    return sum(map(str.isdigit, value)) >= 2 and not any(word in low for word in ("pass", "pwd", "secret", "token"))


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
