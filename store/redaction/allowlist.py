"""Values that the person declared not secret: `redaction.allow` in their own file, a list of rules and of shapes.

`SK_KEY` allows all that the rule finds, `SK_KEY=sk-ticket*` what has this shape: `*` matches any characters, all else
itself. Consulted only for what a rule found, so that most commands never read the file.
"""

from store.base.errors import InvalidInput, NotFound, StorageError
from store.base.runtime import NO_FILE_STAMP, read_file_stamp
from store.config.configuration import read_config_entries, remove_setting, user_settings_path, write_setting
from store.config.settings import format_suggestion
from store.redaction.rules import load_labels

ALLOW_SETTING = "redaction.allow"
MIN_SHAPE_LENGTH = 3
"""Characters that a shape must contain, else it would equal the rule."""

_cached_lists: dict[str, tuple[tuple[int, int, int], tuple[str, ...]]] = {}


def list_allowances() -> tuple[str, ...]:
    """Return the current list in the file; empty where the file cannot be used."""
    path = user_settings_path()
    mark = read_file_stamp(path)
    if mark == NO_FILE_STAMP:
        return ()
    if path not in _cached_lists or _cached_lists[path][0] != mark:
        try:
            found = read_config_entries(path).get(ALLOW_SETTING)
        except StorageError:
            found = None
        items = tuple(item for item in found if isinstance(item, str)) if isinstance(found, list) else ()
        _cached_lists[path] = (mark, items)
    return _cached_lists[path][1]


def is_allowed_value(rule: str, value: str) -> bool:
    """Return whether the person allows this value, which `rule` found."""
    for item in list_allowances():
        name, equals, shape = item.partition("=")
        if name == rule and (not equals or _has_shape(value, shape)):
            return True
    return False


def add_allowance(rule: str, shape: str = "") -> str:
    """Add a rule, or a shape of it, to the list; return the entry. Raise InvalidInput or StorageError."""
    entry = _format_allowance(rule, shape)
    present = list(list_allowances())
    if entry not in present:
        write_setting(user_settings_path(), ALLOW_SETTING, ",".join([*present, entry]))
    return entry


def remove_allowance(rule: str, shape: str = "") -> str:
    """Remove an entry from the list; return it. Raise InvalidInput, NotFound or StorageError."""
    entry = _format_allowance(rule, shape)
    rest = [item for item in list_allowances() if item != entry]
    if len(rest) == len(list_allowances()):
        raise NotFound(
            f"{entry} is not allowed, so it is cut already.", "memoranda secrets lists what is allowed."
        )
    if rest:
        write_setting(user_settings_path(), ALLOW_SETTING, ",".join(rest))
    else:
        remove_setting(user_settings_path(), ALLOW_SETTING)
    return entry


def _format_allowance(rule: str, shape: str) -> str:
    """Return the entry for a rule, or for a shape of what it finds. Raise InvalidInput."""
    label = rule.upper()
    if label not in load_labels():
        near = format_suggestion(label, load_labels()).strip()
        raise InvalidInput(f"There is no rule “{rule[:40]}”.", near or "memoranda secrets rules lists them all.")
    if not shape:
        return label
    if "," in shape or not shape.isprintable() or len(shape) > 200:
        raise InvalidInput("A shape is one line without commas.", "For example: sk-ticket*")
    if len(shape.replace("*", "")) < MIN_SHAPE_LENGTH:
        raise InvalidInput(
            f"A shape names at least {MIN_SHAPE_LENGTH} characters, and * stands for the others.",
            f"To allow all that the rule finds: memoranda secrets allow {label}",
        )
    return f"{label}={shape}"


def _has_shape(value: str, shape: str) -> bool:
    """Return whether the whole value has the shape; each part between stars is looked for once, from left to right."""
    first, *parts = shape.split("*")
    if not parts:
        return value == shape
    last = parts.pop()
    if not value.startswith(first) or len(value) < len(first) + len(last) or not value.endswith(last):
        return False
    at, end = len(first), len(value) - len(last)
    for part in parts:
        found = value.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True
