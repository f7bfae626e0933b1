"""Find secrets in a text or a JSON-like tree, and replace each by its marker."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

from store.base.errors import InvalidInput
from store.redaction import REDACTION_MARKER
from store.redaction.checks import LABEL, is_credential, names_credential
from store.redaction.family import MASK, EncodedFamily, Family, KeywordIndex, decode_percent
from store.redaction.rules import PERSONAL_LABELS, load_families, load_labels

Keep = Callable[[str, str], bool]

MAX_TREE_DEPTH = 500
"""Levels of lists and dicts that `redact_tree` follows."""
MAX_PASSES = 4
"""How often a text is read, at most."""


class SecretFinding(NamedTuple):
    """The position of a secret, in offsets of the original text. Never the secret itself."""

    label: str
    start: int
    end: int


# --- The normalised copy ---

_ASCII = bytes(range(128))
_unchanged_characters: set[str] = set()
"""Characters beyond ASCII that are known to be unchanged in the copy."""
_MOST_FORMS = 8192
_MAX_REPLACED = 24
"""Up to so many different characters, repeated `replace` is faster than `translate` (measured)."""


# Invisible, and so able to split a secret unnoticed: soft hyphen, joiners, direction marks, Hangul and Mongolian
# fillers, variation selectors, tags.
@cache
def _invisible() -> re.Pattern[str]:
    return re.compile(
        "[\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
        "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
    )


@lru_cache(_MOST_FORMS)
def _normalise_character(char: str) -> str:
    """Return what patterns match for one character.

    NFKC is applied to each character alone: secrets are ASCII, so composing across characters could only hide one, and
    a cut must not change its neighbours.
    """
    if _invisible().match(char):
        return ""
    # the one character whose lower case is two characters: it would shift the offsets
    if char == "\u0130":
        return "I"
    return unicodedata.normalize("NFKC", char)


def _normalise_text(text: str) -> tuple[str, dict[str, str]]:
    """Return the copy to match on, and the characters that differ in it."""
    changed: dict[str, str] = {}
    odd = text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")
    if _unchanged_characters.issuperset(odd):
        return text, changed
    for char in set(odd).difference(_unchanged_characters):
        if (form := _normalise_character(char)) != char:
            changed[char] = form
        elif len(_unchanged_characters) < _MOST_FORMS:
            _unchanged_characters.add(char)
    if not changed:
        return text, changed
    if len(changed) > _MAX_REPLACED:
        return text.translate({ord(char): form for char, form in changed.items()}), changed
    copy = text
    for char, form in changed.items():
        copy = copy.replace(char, form)
    return copy, changed


class _Origins:
    """For each character of the copy the offset of the one it came from. Only what became none or several is noted."""

    def __init__(self, text: str, changed: dict[str, str]) -> None:
        # offsets in the copy, ascending
        self._at: list[int] = []
        # … in the text
        self._places: list[int] = []
        self._widths: list[int] = []
        shift = 0
        if odd := "".join(re.escape(char) for char, form in changed.items() if len(form) != 1):
            for found in re.compile(f"[{odd}]").finditer(text):
                width = len(changed[found[0]])
                self._at.append(found.start() + shift)
                self._places.append(found.start())
                self._widths.append(width)
                shift += width - 1
        self._size = len(text) + shift

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, offset: int) -> int:
        last = bisect_right(self._at, offset) - 1
        if last < 0:
            return offset
        behind = offset - self._at[last] - self._widths[last]
        return self._places[last] + (1 + behind if behind >= 0 else 0)


# --- Matching ---


@cache
def _marker_pattern() -> re.Pattern[str]:
    """Return the pattern of any marker. Only labels of the table count: any other word between the brackets might be
    the secret."""
    return re.compile(r"\[REDACTED:(?:" + "|".join((*load_labels(), *PERSONAL_LABELS)) + r")\]")


def _mask_spans(copy: str, spans: list[tuple[int, int]]) -> str:
    """Return the copy with each span filled with MASK."""
    parts = []
    last = 0
    for start, end in spans:
        parts.append(copy[last:start])
        parts.append(MASK * (end - start))
        last = end
    parts.append(copy[last:])
    return "".join(parts)


@cache
def _keyword_index() -> KeywordIndex:
    """Return the index of the whole table, which is read now."""
    families = load_families()
    for family in families:
        if isinstance(family, EncodedFamily):
            family.reads = find_secrets
    return KeywordIndex(families)


def _widen_cuts(cuts: list[tuple[int, int, str]], origins: _Origins) -> list[tuple[int, int, str]]:
    """Return the cuts, from left to right, extended to the whole of a character that became several: the original is
    cut between characters only."""
    whole = []
    done = 0
    for start, end, label in sorted(cuts):
        while start > done and origins[start - 1] == origins[start]:
            start -= 1
        while end < len(origins) and origins[end] == origins[end - 1]:
            end += 1
        # two secrets may share that character
        start = max(start, done)
        if start < end:
            whole.append((start, end, label))
            done = end
    return whole


def _apply_rules(copy: str, likely: list[tuple[Family, list[int]]]) -> tuple[str, list[tuple[int, int, str]]]:
    """Return the copy with the matches of the table masked, and the (start, end, label) of each, in the order found.

    `likely` are its anchors. They are computed again after each match: the masked text may have been directly before a
    keyword that begins a word.
    """
    found: list[tuple[int, int, str]] = []
    while likely:
        before = len(found)
        for family, anchors in likely:
            if spans := family.find_spans(copy, anchors):
                found.extend((start, end, family.label) for start, end in spans)
                copy = _mask_spans(copy, spans)
        if len(found) == before:
            break
        likely = _keyword_index().find_anchors(copy)
    return copy, found


def find_secrets(text: str) -> list[SecretFinding]:
    """Return the secrets in a text, from left to right, none overlapping another."""
    copy, changed = (text, None) if text.isascii() else _normalise_text(text)
    if REDACTION_MARKER in copy:
        copy = _marker_pattern().sub(lambda marker: MASK * len(marker[0]), copy)
    anchors = _keyword_index().find_anchors
    likely = anchors(copy)
    if not likely and "%" not in copy:
        return []
    found: list[tuple[int, int, str]] = []
    origins = None
    while True:
        copy, cuts = _apply_rules(copy, likely)
        found += cuts
        if changed and cuts:
            origins = origins or _Origins(text, changed)
            whole = _mask_spans(copy, [(start, end) for start, end, _ in _widen_cuts(found, origins)])
            # the rest of a character that became several may have been before a keyword
            if whole != copy:
                copy, likely = whole, anchors(whole)
                continue
        if "%" not in copy or (decoded := decode_percent(copy)) is None:
            break
        plain, places = decoded
        more = sorted(
            (places[start], places[end], label) for start, end, label in _apply_rules(plain, anchors(plain))[1]
        )
        if not more:
            break
        copy = _mask_spans(copy, [(start, end) for start, end, _ in more])
        likely = anchors(copy)
        found += more
    if not found:
        return []
    if changed:
        origins = origins or _Origins(text, changed)
        found = [
            (origins[start], origins[end - 1] + 1, label) for start, end, label in _widen_cuts(found, origins)
        ]
    found.sort(key=lambda cut: (cut[0], -cut[1]))
    result: list[SecretFinding] = []
    done = 0
    for start, end, label in found:
        # and not inside a private key
        if start >= done:
            result.append(SecretFinding(label, start, end))
            done = end
    return result


def redact(text: str, keep: Keep | None = None) -> str:
    """Return the text with every secret replaced by `[REDACTED:LABEL]`; the same object where there is none.

    `keep(label, value)` is called for each match, and True leaves it unchanged: it is no secret. The result is read
    again: a marker is shorter than the secret in its place, so a rule may reach further.
    """
    for _ in range(MAX_PASSES):
        cuts = find_secrets(text)
        if keep is not None:
            cuts = [cut for cut in cuts if not keep(cut.label, text[cut.start : cut.end])]
        if not cuts:
            break
        text = replace_findings(text, cuts)
    return text


def replace_findings(text: str, cuts: list[SecretFinding]) -> str:
    """Return the text with each of these spans, in order and not overlapping, replaced by its marker."""
    parts = []
    last = 0
    for cut in cuts:
        parts += [text[last : cut.start], f"{REDACTION_MARKER}{cut.label}]"]
        last = cut.end
    return "".join([*parts, text[last:]])


def count_markers(text: str) -> dict[str, int]:
    """Count the markers of each rule in a text."""
    found: dict[str, int] = {}
    if REDACTION_MARKER in text:
        for marker in _marker_pattern().finditer(text):
            label = marker[0][len(REDACTION_MARKER) : -1]
            found[label] = found.get(label, 0) + 1
    return found


# --- Trees ---


def _redact_value(text: str, keep: Keep | None) -> str:
    """Redact a string that is the value of a credential's name: also cut where the assignment rule would cut it."""
    parts = []
    last = 0
    for cut in find_secrets(text):
        value = text[cut.start : cut.end]
        parts.append(_redact_between_markers(text[last : cut.start], keep))
        parts.append(value if keep is not None and keep(cut.label, value) else f"{REDACTION_MARKER}{cut.label}]")
        last = cut.end
    parts.append(_redact_between_markers(text[last:], keep))
    return "".join(parts)


def _redact_between_markers(text: str, keep: Keep | None) -> str:
    """Redact what no rule found of such a string: each part between markers that is a credential is cut."""
    parts = []
    last = 0
    for kept in _marker_pattern().finditer(text):
        parts += [_redact_credential(text[last : kept.start()], keep), kept[0]]
        last = kept.end()
    return "".join([*parts, _redact_credential(text[last:], keep)])


def _redact_credential(part: str, keep: Keep | None) -> str:
    """Return the marker of the assignment rule for a credential; any other text unchanged."""
    if not is_credential(_normalise_text(part)[0]) or (keep is not None and keep(LABEL, part)):
        return part
    return f"{REDACTION_MARKER}{LABEL}]"


def _redact_keys(tree: dict[object, object], keep: Keep | None) -> list[object]:
    """Return the keys, redacted and still distinct: a redacted key that equals another gets a number."""
    changed = {key: redacted for key in tree if isinstance(key, str) and (redacted := redact(key, keep)) != key}
    taken = {key for key in tree if key not in changed}
    numbers: dict[str, int] = {}
    keys: list[object] = []
    for key in tree:
        name = changed.get(key) if isinstance(key, str) else None
        if name is None:
            keys.append(key)
            continue
        free = name
        number = numbers.get(name, 1)
        while free in taken:
            number += 1
            free = f"{name} #{number}"
        numbers[name] = number
        taken.add(free)
        keys.append(free)
    return keys


_VALUE_OF = {"value": ("name", "key"), "Value": ("Name", "Key")}


def _find_value_name(source: dict[object, object]) -> object:
    """Return the name for the value of `{"name": …, "value": …}`, the form of environments and settings in JSON."""
    for value, names in _VALUE_OF.items():
        if value in source:
            for name in names:
                if name in source:
                    return source[name]
    return None


def redact_tree(value: object, keep: Keep | None = None) -> object:
    """Return a copy of a JSON-like value with every string in it redacted, keys too; tuples become lists.

    A string under a key that names a credential, or beside its name, is cut as if it were written `key = "value"`. Keys
    that become equal get ` #2`, ` #3`. Raise `InvalidInput` below MAX_TREE_DEPTH levels, TypeError for a type that JSON
    does not have.
    """
    root: list[object] = []
    # Work still to do: a container, its empty copy, and its level.
    pending: list[tuple[object, object, int]] = []

    def copied(item: object, level: int) -> object:
        if isinstance(item, str):
            return redact(item, keep)
        if item is None or isinstance(item, (int, float)):
            return item
        if not isinstance(item, (dict, list, tuple)):
            raise TypeError(f"a tree to redact holds a {type(item).__name__}, which is not JSON")
        if level > MAX_TREE_DEPTH:
            raise InvalidInput(
                f"The value is nested deeper than {MAX_TREE_DEPTH} levels.",
                "Flatten it, or store the parts one by one.",
            )
        empty: object = {} if isinstance(item, dict) else []
        pending.append((item, empty, level))
        return empty

    root.append(copied(value, 1))
    while pending:
        source, target, level = pending.pop()
        if isinstance(source, dict) and isinstance(target, dict):
            for key, new_key in zip(source, _redact_keys(source, keep), strict=True):
                item = source[key]
                name = _find_value_name(source) if key in _VALUE_OF else key
                if isinstance(item, str) and isinstance(name, str) and names_credential(_normalise_text(name)[0]):
                    target[new_key] = _redact_value(item, keep)
                else:
                    target[new_key] = copied(item, level + 1)
        elif isinstance(source, (list, tuple)) and isinstance(target, list):
            target.extend(copied(item, level + 1) for item in source)
    return root[0]
