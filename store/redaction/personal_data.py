"""Data about people in a text: e-mails, phones, national ids, bank accounts and cards.

None of it is a secret by itself, so it is cut only when a person asks for it. A number counts if its check digits are
right (Spanish DNI and NIE, Argentine CUIT, Brazilian CPF, IBAN, cards), or if its form or the word before it identifies
it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from store.redaction.redactor import SecretFinding
from store.redaction.rules import PERSONAL_LABELS

Check = Callable[[str], bool]

_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_EXAMPLE_DOMAINS = ("example.", "localhost", "users.noreply.")


def _digits_of(value: str) -> list[int]:
    """Return the digits in a value."""
    return [int(sign) for sign in value if sign.isdigit()]


def _is_email(value: str) -> bool:
    user, _, domain = value.lower().partition("@")
    return user not in ("git", "noreply", "no-reply") and not domain.startswith(_EXAMPLE_DOMAINS)


def _is_phone(value: str) -> bool:
    return 8 <= len(_digits_of(value)) <= 15 and len(set(_digits_of(value))) > 2


def _is_spanish_dni(value: str) -> bool:
    """Tell whether the letter of a Spanish DNI fits its number."""
    number = value[:-1].replace(".", "").replace("-", "").replace(" ", "")
    return value[-1].upper() == _DNI_LETTERS[int(number) % 23]


def _is_spanish_nie(value: str) -> bool:
    """Tell whether the letter of a Spanish NIE fits its number."""
    number = value.upper().replace("-", "").replace(" ", "")
    return number[-1] == _DNI_LETTERS[int(str("XYZ".index(number[0])) + number[1:-1]) % 23]


def _is_argentine_cuit(value: str) -> bool:
    """Tell whether the check digit of an Argentine CUIT is right."""
    *digits, check = _digits_of(value)
    rest = (
        11 - sum(digit * weight for digit, weight in zip(digits, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2), strict=True)) % 11
    )
    return check == {11: 0, 10: 9}.get(rest, rest)


def _is_brazilian_cpf(value: str) -> bool:
    """Tell whether both check digits of a Brazilian CPF are right."""
    digits = _digits_of(value)
    if len(set(digits)) == 1:
        return False
    for length in (9, 10):
        rest = sum(digit * (length + 1 - place) for place, digit in enumerate(digits[:length])) * 10 % 11
        if digits[length] != rest % 10:
            return False
    return True


def _is_iban(value: str) -> bool:
    compact = value.replace(" ", "").upper()
    return (
        15 <= len(compact) <= 34
        and int("".join(str(int(sign, 36)) for sign in compact[4:] + compact[:4])) % 97 == 1
    )


def _is_card(value: str) -> bool:
    digits = _digits_of(value)
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [digit * 2 if place % 2 else digit for place, digit in enumerate(reversed(digits))]
    return sum(digit - 9 if digit > 9 else digit for digit in doubled) % 10 == 0


def _accept_any(value: str) -> bool:
    """Accept every match: there is nothing to check."""
    return True


_LEFT, _RIGHT = r"(?<![\w.+/@-])", r"(?![\w@])"
_PERSONAL_KINDS: tuple[tuple[str, str, Check], ...] = (
    (
        PERSONAL_LABELS[0],
        r"(?<![\w.+%@:/-])[\w.+%-]{1,64}@(?:[\w-]{1,63}\.){1,5}[a-z]{2,24}(?![\w@-])",
        _is_email,
    ),
    (
        PERSONAL_LABELS[1],
        rf"{_LEFT}(?-i:[A-Z]{{2}}\d{{2}}(?:[ ]?[A-Z0-9]{{4}}){{2,7}}(?:[ ]?[A-Z0-9]{{1,3}})?){_RIGHT}",
        _is_iban,
    ),
    (PERSONAL_LABELS[2], rf"{_LEFT}[3-6]\d{{3}}(?:[ -]?\d{{2,6}}){{2,4}}{_RIGHT}", _is_card),
    (PERSONAL_LABELS[3], rf"{_LEFT}(?:\d{{8}}|\d{{1,2}}\.\d{{3}}\.\d{{3}})[ -]?[a-z]{_RIGHT}", _is_spanish_dni),
    (PERSONAL_LABELS[4], rf"{_LEFT}[xyz][ -]?\d{{7}}[ -]?[a-z]{_RIGHT}", _is_spanish_nie),
    (PERSONAL_LABELS[5], rf"{_LEFT}(?:2[03457]|3)-?\d{{8}}-?\d{_RIGHT}", _is_argentine_cuit),
    (
        PERSONAL_LABELS[6],
        rf"{_LEFT}(?:\d{{3}}\.\d{{3}}\.\d{{3}}-\d{{2}}|(?<=cpf\ )\d{{11}}|(?<=cpf:\ )\d{{11}}){_RIGHT}",
        _is_brazilian_cpf,
    ),
    (PERSONAL_LABELS[7], rf"{_LEFT}(?!000|666|9)\d{{3}}-(?!00)\d{{2}}-(?!0000)\d{{4}}(?![\w@-])", _accept_any),
    # an Argentine DNI has no check digit: the word, or the dots, must identify it
    (
        PERSONAL_LABELS[8],
        rf"(?<=dni)[ :.n°º]{{1,6}}(?P<value>\d{{1,2}}\.?\d{{3}}\.?\d{{3}}){_RIGHT}",
        _accept_any,
    ),
    (
        PERSONAL_LABELS[9],
        rf"{_LEFT}(?:(?<!\d)\+\d{{1,3}}[ .-]?(?:\(\d{{1,4}}\)[ .-]?)?\d{{1,4}}(?:[ .-]?\d{{2,4}}){{1,4}}"
        rf"|\(\d{{2,4}}\)[ ]?\d{{3,4}}[ -]\d{{4}}|\d{{3}}-\d{{3}}-\d{{4}}|[6789]\d{{2}}(?:[ ]\d{{3}}){{2}}"
        rf"|[679]\d{{2}}(?:[ ]\d{{2}}){{3}}"
        rf"|(?<=tel[: ])\d[\d .-]{{6,16}}\d){_RIGHT}",
        _is_phone,
    ),
)


@cache
def _patterns() -> list[re.Pattern[str]]:
    """Return the patterns of the kinds, compiled when the first text is looked at."""
    return [re.compile(pattern, re.IGNORECASE | re.ASCII) for _, pattern, _ in _PERSONAL_KINDS]


def find_personal_data(text: str) -> list[SecretFinding]:
    """Return the data about people in a text, from left to right, none overlapping another; the first kind that matches
    counts."""
    found: list[SecretFinding] = []
    taken = bytearray(len(text))
    for pattern, (kind, _, check) in zip(_patterns(), _PERSONAL_KINDS, strict=True):
        for start, end in _find_valid_spans(pattern, check, text):
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                found.append(SecretFinding(kind, start, end))
    return sorted(found, key=lambda finding: finding.start)


def _find_valid_spans(pattern: re.Pattern[str], check: Check, text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans that match a pattern and pass its check. Of a number in groups the last groups are dropped
    until it passes: the next word may look like a group."""
    group = "value" if "value" in pattern.groupindex else 0
    at = 0
    while match := pattern.search(text, at):
        start, end = match.span(group)
        at = match.end()
        while not check(text[start:end]) and (space := text.rfind(" ", start, end)) > start:
            end = space
        if check(text[start:end]):
            yield start, end
            at = end if end < match.end(group) else at


def mask_personal_value(kind: str, value: str) -> str:
    """Return enough of a value to recognise it: the end of a number, the first letter and the end of an address."""
    if kind == PERSONAL_LABELS[0]:
        return f"{value[0]}…@…{value[value.rindex('.') :]}"
    return f"…{value[-2:]}"
