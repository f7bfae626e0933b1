"""Redaction: every secret in a text becomes `[REDACTED:LABEL]`, before the text is written anywhere.

Matching happens on a normalised copy (NFKC, invisible characters removed), the cut in the original. What is found, and
every marker that is already there, is masked in that copy with NUL, and the table is read again until it finds
nothing: so a marker is never matched, and `redact(redact(x)) == redact(x)`.

A CLI process pays for every import here: no dataclasses, typing, enum, pathlib.
"""

from store.redaction.families import (
    ASSIGNMENT_LABEL,
    FAMILIES,
    LABELS,
    MASK,
    Family,
    is_credential,
    names_credential,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    Keep = Callable[[str, str], bool]

MAX_DEPTH = 500
"""Levels of lists and dicts that `redact_tree` follows."""
SHORTEST_WORD = 15
"""No family that lives in one word is shorter: without such words their keywords are not looked for."""
_LONGEST_FILLER = 512
"""Of a longer word that is no secret the rest is not looked at either, else `glpat-xxxx…` over and over takes hours."""

MARKER = "[REDACTED:"

# Invisible, and so able to split a secret without being seen: soft hyphen, joiners, marks of direction, Hangul and
# Mongolian fillers, variation selectors, tags.
_INVISIBLE = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xE0000, 0xE007F),
    (0xE0100, 0xE01EF),
)


class Finding:
    """Where a secret stands, in offsets of the original text. Never the secret itself."""

    __slots__ = ("end", "label", "start")

    def __init__(self, label: str, start: int, end: int) -> None:
        self.label = label
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"Finding({self.label!r}, {self.start}, {self.end})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Finding):
            return NotImplemented
        return (self.label, self.start, self.end) == (other.label, other.start, other.end)

    def __hash__(self) -> int:
        return hash((self.label, self.start, self.end))


# --- The normalised copy ---

_forms: dict[str, str] = {}
_MOST_FORMS = 8192
_FEW = 24
"""Up to so many different characters `replace`, one after another, is faster than `translate` (measured)."""


def _form(char: str) -> str:
    """What one character looks like to the patterns.

    NFKC goes character by character: secrets are ASCII, so composing across characters could only hide one, and a cut
    must not change how its neighbours read.
    """
    form = _forms.get(char)
    if form is None:
        import unicodedata

        code = ord(char)
        if any(low <= code <= high for low, high in _INVISIBLE):
            form = ""
        elif char == "\u0130":  # the one character whose lower case is two: it would shift the offsets
            form = "I"
        else:
            form = unicodedata.normalize("NFKC", char)
        if len(_forms) >= _MOST_FORMS:
            _forms.clear()
        _forms[char] = form
    return form


def _normalised(text: str) -> tuple[str, dict[str, str]]:
    """The copy to match on, and the characters that read differently in it."""
    changed: dict[str, str] = {}
    if text.isascii():
        return text, changed
    for char in set(text):
        if char > "\x7f" and (form := _form(char)) != char:
            changed[char] = form
    if len(changed) > _FEW:
        return text.translate({ord(char): form for char, form in changed.items()}), changed
    copy = text
    for char, form in changed.items():
        copy = copy.replace(char, form)
    return copy, changed


def _origins(text: str, changed: dict[str, str]) -> list[int]:
    """For each character of the copy the offset of the one it came from."""
    origins: list[int] = []
    for offset, char in enumerate(text):
        form = changed.get(char, char)
        if len(form) == 1:
            origins.append(offset)
        else:
            origins.extend([offset] * len(form))
    return origins


# --- Matching ---

_markers: "list[re.Pattern[str]]" = []


def _marker() -> "re.Pattern[str]":
    """Any marker. Only labels of the table count: any other word between the brackets might be the secret."""
    if not _markers:
        import re

        _markers.append(re.compile(r"\[REDACTED:(?:" + "|".join(LABELS) + r")\]"))
    return _markers[0]


def _masked(copy: str, spans: list[tuple[int, int]]) -> str:
    parts = []
    last = 0
    for start, end in spans:
        parts.append(copy[last:start])
        parts.append(MASK * (end - start))
        last = end
    parts.append(copy[last:])
    return "".join(parts)


def _pieces(copy: str, start: int, end: int) -> list[tuple[int, int]]:
    """The parts of a span that are not masked."""
    if copy.find(MASK, start, end) < 0:
        return [(start, end)]
    pieces = []
    for piece in copy[start:end].split(MASK):
        if piece:
            pieces.append((start, start + len(piece)))
        start += len(piece) + 1
    return pieces


def _anchors(family: Family, searched: str) -> list[int]:
    """Where a match of the family could begin, in rising order."""
    anchors: set[int] = set()
    for keyword in family.keywords:
        at = searched.find(keyword)
        while at >= 0:
            for distance in family.back:
                if distance <= at:
                    anchors.add(at - distance)
            at = searched.find(keyword, at + 1)
    return sorted(anchors)


def _spans(family: Family, copy: str, searched: str) -> list[tuple[int, int]]:
    """What one family cuts out of the copy, from left to right. `searched` is the copy or its lower case."""
    match_at = family.compiled().match
    accept = family.accept
    spans = []
    done = 0
    for at in _anchors(family, searched):
        if at < done:
            continue
        match = match_at(copy, at)
        if match is None:
            continue
        start, end = match.span(match.lastgroup or 0)
        if accept is None:
            spans.append((start, end))
            done = match.end()
            continue
        # A value that holds a marker is judged without it: what stands beside it may be a secret of its own.
        parts = _pieces(copy, start, end) if match.lastgroup else [(start, end)]
        parts = [part for part in parts if accept(match, copy[part[0] : part[1]])]
        spans.extend(parts)
        if parts or (end - start > _LONGEST_FILLER and not match.lastgroup):
            done = match.end()
    return spans


_by_longest: "dict[int, tuple[Family, ...]]" = {}
_LONGEST = 200
_APART = "\"'`<>(),;|"
"""No token holds one of these: `f("…")` is looked at as if they were spaces."""


def _possible(longest: int) -> "tuple[Family, ...]":
    """The families that a text may hold whose longest word has so many characters."""
    longest = min(longest, _LONGEST)
    found = _by_longest.get(longest)
    if found is None:
        found = _by_longest[longest] = tuple(family for family in FAMILIES if family.word <= longest)
    return found


def _likely(copy: str, lowered: str) -> "list[Family]":
    """The families of which a keyword stands where their secrets could: of those of one word, in a long one.

    Masking takes keywords away and adds none: what is asked once is enough for all readings of the table.
    """
    long = " ".join([word for word in copy.split() if len(word) >= SHORTEST_WORD])
    longest = 0
    if long:
        for sign in _APART:
            long = long.replace(sign, " ")
        words = [word for word in dict.fromkeys(long.split()) if len(word) >= SHORTEST_WORD]
        longest = max(map(len, words), default=0)
        long = " ".join(words)
    long_lowered = long.lower()
    likely = []
    asked: tuple[str, ...] = ()
    there = False
    for family in _possible(longest):
        whole, part = (lowered, long_lowered) if family.fold else (copy, long)
        if family.needs not in whole:
            continue
        text = part if family.word and not family.apart else whole
        if family.keywords is not asked:
            asked = family.keywords
            there = False
            for keyword in asked:
                if keyword in text:
                    there = True
                    break
        if there:
            likely.append(family)
    return likely


def _widened(spans: list[tuple[int, int]], origins: list[int]) -> list[tuple[int, int]]:
    """The spans, with the whole of a character that became several: the original is cut between characters only."""
    whole = []
    done = 0
    for start, end in spans:
        while start > done and origins[start - 1] == origins[start]:
            start -= 1
        while end < len(origins) and origins[end] == origins[end - 1]:
            end += 1
        start = max(start, done)  # two secrets may have shared that character
        if start < end:
            whole.append((start, end))
            done = end
    return whole


def findings(text: str) -> list[Finding]:
    """The secrets in a text, from left to right, none overlapping another."""
    copy, changed = _normalised(text)
    if MARKER in copy:
        copy = _marker().sub(lambda marker: MASK * len(marker[0]), copy)
    origins: list[int] = []
    found: list[tuple[int, int, str]] = []
    lowered = copy.lower()
    likely = _likely(copy, lowered)
    fresh = True
    while fresh:
        fresh = False
        for family in likely:
            spans = _spans(family, copy, lowered if family.fold else copy)
            if not spans:
                continue
            fresh = True
            if changed:
                origins = origins or _origins(text, changed)
                spans = _widened(spans, origins)
            found.extend((start, -end, family.label) for start, end in spans)
            copy = _masked(copy, spans)
            lowered = copy.lower()
    found.sort()
    result: list[Finding] = []
    done = 0
    for start, minus_end, label in found:
        if start < done:  # inside a private key
            continue
        done = -minus_end
        if changed:
            result.append(Finding(label, origins[start], origins[done - 1] + 1))
        else:
            result.append(Finding(label, start, done))
    return result


def redact(text: str, keep: "Keep | None" = None) -> str:
    """The text with every secret replaced by `[REDACTED:LABEL]`; the same object where there is none.

    `keep(label, value)` is asked about each one found, and True leaves it as it is: it is no secret.
    """
    cuts = findings(text)
    if not cuts:
        return text
    parts = []
    last = 0
    for cut in cuts:
        if keep is not None and keep(cut.label, text[cut.start : cut.end]):
            continue
        parts.append(text[last : cut.start])
        parts.append(f"{MARKER}{cut.label}]")
        last = cut.end
    if not last:
        return text
    parts.append(text[last:])
    return "".join(parts)


def markers(text: str) -> dict[str, int]:
    """How many markers of each rule a text holds."""
    found: dict[str, int] = {}
    if MARKER in text:
        for marker in _marker().finditer(text):
            label = marker[0][len(MARKER) : -1]
            found[label] = found.get(label, 0) + 1
    return found


# --- Trees ---


def _redact_value(text: str, keep: "Keep | None") -> str:
    """A string that stands under a credential's name: also cut where the assignment rule would cut it."""
    parts = []
    last = 0
    for cut in findings(text):
        value = text[cut.start : cut.end]
        parts.append(_judged(text[last : cut.start], keep))
        parts.append(value if keep is not None and keep(cut.label, value) else f"{MARKER}{cut.label}]")
        last = cut.end
    parts.append(_judged(text[last:], keep))
    return "".join(parts)


def _judged(text: str, keep: "Keep | None") -> str:
    """What no rule found of such a string: each part between markers that is a credential is cut."""
    parts = []
    last = 0
    for kept in _marker().finditer(text):
        parts += [_credential(text[last : kept.start()], keep), kept[0]]
        last = kept.end()
    return "".join([*parts, _credential(text[last:], keep)])


def _credential(part: str, keep: "Keep | None") -> str:
    if not is_credential(_normalised(part)[0]) or (keep is not None and keep(ASSIGNMENT_LABEL, part)):
        return part
    return f"{MARKER}{ASSIGNMENT_LABEL}]"


def _redact_keys(tree: "dict[object, object]", keep: "Keep | None") -> "list[object]":
    """The keys, redacted and still distinct: a key that changed gives way to one that did not."""
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


def _name_of(source: "dict[object, object]") -> object:
    """What the value of `{"name": …, "value": …}` is called, as environments and settings are written in JSON."""
    for value, names in _VALUE_OF.items():
        if value in source:
            for name in names:
                if name in source:
                    return source[name]
    return None


def redact_tree(value: object, keep: "Keep | None" = None) -> object:
    """A copy of a JSON-like value with every string in it redacted, keys too; tuples become lists.

    A string under a key that names a credential, or beside its name, is cut as if it were written `key = "value"`. Keys
    that become equal get ` #2`, ` #3`. Raises `InvalidInput` below MAX_DEPTH levels, TypeError for what JSON does not
    know.
    """
    root: list[object] = []
    # Work still to do: a container, its empty copy, and the level it stands on.
    pending: list[tuple[object, object, int]] = []

    def copied(item: object, level: int) -> object:
        if isinstance(item, str):
            return redact(item, keep)
        if item is None or isinstance(item, (int, float)):
            return item
        if not isinstance(item, (dict, list, tuple)):
            raise TypeError(f"a tree to redact holds a {type(item).__name__}, which is not JSON")
        if level > MAX_DEPTH:
            from store.errors import InvalidInput

            raise InvalidInput(
                f"The value is nested deeper than {MAX_DEPTH} levels.", "Flatten it, or store the parts one by one."
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
                name = _name_of(source) if key in _VALUE_OF else key
                if isinstance(item, str) and isinstance(name, str) and names_credential(_normalised(name)[0]):
                    target[new_key] = _redact_value(item, keep)
                else:
                    target[new_key] = copied(item, level + 1)
        elif isinstance(source, (list, tuple)) and isinstance(target, list):
            target.extend(copied(item, level + 1) for item in source)
    return root[0]
