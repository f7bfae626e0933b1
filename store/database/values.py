"""Prepare values for a statement: redact them, and remove what SQLite or UTF-8 cannot hold.

The rules of redaction are imported with the first text: a command that writes none takes a sixth less time.
"""

from _thread import get_ident

from store.base.errors import InvalidInput, MemorandaError


class Verbatim(str):
    """Text that may be written unredacted: ids, words of a closed list, hashes, times. Never a person's words."""

    __slots__ = ()


class Json:
    """A JSON value for a TEXT column: redacted string by string, at any depth, before it is serialised."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


SHORTEST = 6  # characters that a secret and the word that tells it from others take

Value = int | float | str | bytes | Json | None


def clean(text: str) -> str:
    """Return text as it may be stored: redacted, and without what SQLite or UTF-8 cannot hold."""
    if len(text) < SHORTEST:
        return storable(text)
    from store.redaction.redactor import redact

    return redact(storable(text), _allowed)


def clean_tree(value: object) -> object:
    """Return a JSON value as it may be stored, redacted string by string. Raise InvalidInput or TypeError."""
    from store.redaction.redactor import redact_tree

    return redact_tree(value, _allowed)


def _allowed(rule: str, value: str) -> bool:
    """Return whether the person declared a match not secret, called only for matches of a rule; record the rule if
    not."""
    from store.redaction.allowlist import allowed

    if allowed(rule, value):
        return True
    _cut_rules.setdefault(get_ident(), set()).add(rule)
    return False


_cut_rules: dict[int, set[str]] = {}
"""By thread, the rules that cut something since its last transaction."""


def take_cut_rules() -> set[str]:
    """Return the rules that cut something on this thread since the last call. A marker already in a text is no cut."""
    return _cut_rules.pop(get_ident(), set())


def storable(text: str) -> str:
    """Replace NUL, which ends a text early in SQLite's functions, and lone surrogates, which are not UTF-8, by
    U+FFFD."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "�")


def bind(value: Value) -> int | float | str | bytes | None:
    """Return a parameter for SQLite: text redacted, JSON serialised. Raise InvalidInput."""
    if isinstance(value, Verbatim):
        return str(value)
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Json):
        return _dump(value.value)
    return value


def _dump(value: object) -> str:
    if value == []:
        return "[]"
    import json  # 6 ms with `re`, which it imports: most facts have neither tags nor evidence

    try:
        text = json.dumps(clean_tree(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except MemorandaError:
        raise
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(
            "That value cannot be written as JSON.",
            "Use texts, finite numbers, lists and objects, not nested too deeply.",
        ) from None
    return storable(text)
