"""Report what was redacted from a write: the rules and the places, never a value, and how to allow it."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from store.database.database import Database
    from store.purge.secret_scan import Cut

SHOWN = 3
ALLOW = "memoranda redactions allow"


def taken(database: "Database") -> "list[Cut]":
    """Return what this connection redacted since the last call; fast when there is nothing."""
    if not database.cut:
        return []
    from store.purge.secret_scan import made

    return made(database)


def notice(cuts: "Sequence[Cut]") -> str:
    """Return a sentence on what was redacted and where, and one on what to do if it was no secret."""
    if not cuts:
        return ""
    return words([(cut.rule, cut.count, f"{cut.citation} {cut.field}") for cut in cuts])


def words(cuts: "Sequence[tuple[str, int, str]]") -> str:
    """Return the same for (rule, count, place) tuples."""
    places = [f"{rule}{f' ×{number}' if number > 1 else ''} in {place}" for rule, number, place in cuts[:SHOWN]]
    if len(cuts) > SHOWN:
        places.append(f"{len(cuts) - SHOWN:,} more")
    rules = dict.fromkeys(rule for rule, _, _ in cuts)
    rule = next(iter(rules)) if len(rules) == 1 else "RULE"
    return f"Cut as a secret: {', '.join(places)}. If it is none: {ALLOW} {rule} [SHAPE], then say it again."


def as_json(cuts: "Sequence[Cut]") -> "list[dict[str, Any]]":
    return [{name: getattr(cut, name) for name in ("citation", "field", "rule", "count")} for cut in cuts]


def with_cuts(data: "Callable[[], object]", cuts: "Sequence[Cut]") -> "Callable[[], object]":
    """Wrap a script's answer so that it includes the redactions, if it is an object."""

    def both() -> object:
        found = data()
        return {**found, "redacted": as_json(cuts)} if isinstance(found, dict) else found

    return both
