"""Values on their way into a statement: redacted, and free of what SQLite or UTF-8 cannot hold."""

from _thread import get_ident

from store.base.errors import InvalidInput, MemorandaError
from store.redaction.redactor import redact, redact_tree


class Verbatim(str):
    """Text that may reach the disk unredacted: ids, words of a closed list, hashes, times. Never a person's words."""

    __slots__ = ()


class Json:
    """A JSON value for a TEXT column: redacted string by string, at any depth, before it is written out."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


Value = int | float | str | bytes | Json | None


def clean(text: str) -> str:
    """Text as it may be stored: redacted, and free of what SQLite or UTF-8 cannot hold."""
    return redact(storable(text), _allowed)


def clean_tree(value: object) -> object:
    """A JSON value as it may be stored, redacted string by string. Raises InvalidInput, TypeError."""
    return redact_tree(value, _allowed)


def _allowed(rule: str, value: str) -> bool:
    """Whether the person said that this is no secret; asked only about what a rule found. What is not, is cut now."""
    from store.redaction.allowlist import allowed

    if allowed(rule, value):
        return True
    _cut_rules.setdefault(get_ident(), set()).add(rule)
    return False


_cut_rules: dict[int, set[str]] = {}
"""By thread, the rules that cut something since its last transaction."""


def take_cut_rules() -> set[str]:
    """The rules that cut something on this thread since the last call. A marker that stood in a text before is no
    cut."""
    return _cut_rules.pop(get_ident(), set())


def storable(text: str) -> str:
    """NUL ends a text early in SQLite's functions, and a lone surrogate is not UTF-8: both become U+FFFD."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "�")


def bind(value: Value) -> int | float | str | bytes | None:
    """A parameter as it is given to SQLite: text redacted, JSON written out. Raises InvalidInput."""
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
    import json  # 6 ms with the `re` it needs: most facts have neither tags nor evidence

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
