"""Values that the person declared not secret: `redaction.allow` in their own file, a list of rules and of shapes.

`SK_KEY` allows all that the rule finds, `SK_KEY=sk-ticket*` what has this shape: `*` matches any characters, all else
itself. Consulted only for what a rule found, so that most commands never read the file.
"""

from store.base.errors import InvalidInput, NotFound, StorageError
from store.base.file_stamp import NO_FILE, file_stamp
from store.config.files import entries, put, remove, user_path
from store.redaction.rules.families import load_labels

SETTING = "redaction.allow"
FEWEST = 3
"""Characters that a shape must contain, else it would equal the rule."""

_known: dict[str, tuple[tuple[int, int, int], tuple[str, ...]]] = {}


def allowances() -> tuple[str, ...]:
    """Return the current list in the file; empty where the file cannot be used."""
    path = user_path()
    mark = file_stamp(path)
    if mark == NO_FILE:
        return ()
    if path not in _known or _known[path][0] != mark:
        try:
            found = entries(path).get(SETTING)
        except StorageError:
            found = None
        items = tuple(item for item in found if isinstance(item, str)) if isinstance(found, list) else ()
        _known[path] = (mark, items)
    return _known[path][1]


def allowed(rule: str, value: str) -> bool:
    """Return whether the person allows this value, which `rule` found."""
    for item in allowances():
        name, equals, shape = item.partition("=")
        if name == rule and (not equals or _has(value, shape)):
            return True
    return False


def allow(rule: str, shape: str = "") -> str:
    """Add a rule, or a shape of it, to the list; return the entry. Raise InvalidInput or StorageError."""
    entry = _entry(rule, shape)
    present = list(allowances())
    if entry not in present:
        put(user_path(), SETTING, ",".join([*present, entry]))
    return entry


def disallow(rule: str, shape: str = "") -> str:
    """Remove an entry from the list; return it. Raise InvalidInput, NotFound or StorageError."""
    entry = _entry(rule, shape)
    rest = [item for item in allowances() if item != entry]
    if len(rest) == len(allowances()):
        raise NotFound(f"{entry} is not allowed, so it is cut already.", "memoranda redactions lists what is allowed.")
    if rest:
        put(user_path(), SETTING, ",".join(rest))
    else:
        remove(user_path(), SETTING)
    return entry


def _entry(rule: str, shape: str) -> str:
    label = rule.upper()
    if label not in load_labels():
        from store.config.settings import nearest

        near = nearest(label, load_labels()).strip()
        raise InvalidInput(f"There is no rule “{rule[:40]}”.", near or "memoranda redactions rules lists them all.")
    if not shape:
        return label
    if "," in shape or not shape.isprintable() or len(shape) > 200:
        raise InvalidInput("A shape is one line without commas.", "For example: sk-ticket*")
    if len(shape.replace("*", "")) < FEWEST:
        raise InvalidInput(
            f"A shape names at least {FEWEST} characters, and * stands for the others.",
            f"To allow all that the rule finds: memoranda redactions allow {label}",
        )
    return f"{label}={shape}"


def _has(value: str, shape: str) -> bool:
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
