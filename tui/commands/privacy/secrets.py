"""redactions, scan-secrets: list what was redacted, mark what is no secret, and scan for secrets stored before a rule
existed."""

from tui.commands import Outcome, Session
from tui.render.plurals import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from store.purge.secret_scan import Cut, Leak
    from tui.input.argument_parser import ParsedArguments

GONE = "What was cut is gone; only its place is known. Not a secret? memoranda redactions allow RULE [SHAPE]"
PENDING = (
    " Another program is reading the memory, and its log still holds what was cut; close it, then say {again} again."
)
SHOWN = 3
ROTATE = "Whoever read them before may have them: replace them where they were issued."


# redactions


def redactions(session: Session, given: "ParsedArguments") -> Outcome:
    from store.base.errors import InvalidInput

    if given.what is None:
        return _noted(session, given)
    if given.what == "rules":
        return _rules(session)
    if given.what not in ("allow", "cut"):
        raise InvalidInput("redactions are listed, allowed or cut again.", "memoranda redactions allow RULE [SHAPE]")
    if given.rule is None:
        raise InvalidInput(f"{given.what} wants a rule.", "memoranda redactions rules lists them.")
    return _allow(given) if given.what == "allow" else _cut_again(given)


def _noted(session: Session, given: "ParsedArguments") -> Outcome:
    from store.purge.secret_scan import noted
    from store.redaction.allowlist import allowances
    from tui.commands.record_lines import left_out
    from tui.theme.escape import visible

    found = noted(session.memory.database, given.limit + 1)
    shown = found[: given.limit]
    allowed = allowances()
    lines = _aligned([_cut_cells(cut) for cut in shown]) or ["Nothing was cut: no rule found a secret."]
    lines += left_out(len(found) - len(shown), given.limit)
    if shown:
        lines += ["", GONE]
    if allowed:
        lines.append(f"Allowed by you: {visible(', '.join(allowed))}")
    return Outcome(
        lines=lines, data=lambda: {"redactions": [_cut_as_json(cut) for cut in shown], "allowed": list(allowed)}
    )


def _cut_cells(cut: "Cut") -> tuple[str, ...]:
    from store.base.clock import local_time
    from tui.theme.escape import visible

    by = cut.actor if cut.actor == cut.door else f"{cut.actor}, {cut.door}"
    return local_time(cut.at), cut.citation, cut.field, _times(cut.rule, cut.count), f"by {visible(by)}"


def _cut_as_json(cut: "Cut") -> "dict[str, Any]":
    return {name: getattr(cut, name) for name in ("at", "citation", "field", "rule", "count", "actor", "door")}


def _rules(session: Session) -> Outcome:
    from store.purge.secret_scan import counted
    from store.redaction.allowlist import allowances
    from store.redaction.rules.families import load_labels

    counts = counted(session.memory.database)
    allowed = allowances()
    rules: list[dict[str, Any]] = [
        {
            "rule": rule,
            "cuts": counts.get(rule, 0),
            "allowed": [item for item in allowed if item.partition("=")[0] == rule],
        }
        for rule in load_labels()
    ]
    cells = [(r["rule"], count(r["cuts"], "cut") if r["cuts"] else "", _allowing(r["allowed"])) for r in rules]
    return Outcome(lines=_aligned(cells), data=lambda: rules)


def _allowing(items: list[str]) -> str:
    from tui.theme.escape import visible

    return f"allowed: {visible(', '.join(items))}" if items else ""


def _allow(given: "ParsedArguments") -> Outcome:
    from store.config.files import user_path
    from store.redaction.allowlist import allow

    entry = allow(given.rule, given.shape or "")
    again = f"memoranda redactions cut {entry.replace('=', ' ', 1)}"
    return Outcome(
        f"{entry} is not a secret from now on, in {user_path()}. What was cut before is gone. To cut it again: {again}",
        lambda: {"allowed": entry, "file": user_path()},
    )


def _cut_again(given: "ParsedArguments") -> Outcome:
    from store.config.files import user_path
    from store.redaction.allowlist import disallow

    entry = disallow(given.rule, given.shape or "")
    return Outcome(
        f"{entry} is cut again. What was stored meanwhile: memoranda scan-secrets finds it.",
        lambda: {"cut": entry, "file": user_path()},
    )


# scan-secrets


def scan(session: Session, given: "ParsedArguments") -> Outcome:
    from store.base.errors import Declined
    from store.purge.scan.scanners import PEOPLE, SECRETS
    from store.purge.secret_scan import scan as find
    from store.purge.secret_scan import scrub

    database = session.memory.database
    scanner, thing = (PEOPLE, "trace of a person") if given.personal else (SECRETS, "secret")
    again = f"memoranda scan-secrets {'--personal ' if given.personal else ''}--purge"
    pending_said = PENDING.format(again=again)
    leaks = find(database, scanner)
    if not leaks:
        pending = given.purge and not scrub(
            database, (), scanner=scanner
        )  # a scrub that was interrupted left the log or a backup
        said = f"No {thing} was found in what is stored." + (pending_said if pending else "")
        return Outcome(said, lambda: {"found": [], "scrubbed": 0, "pending": pending}, status=int(pending))
    lines = _aligned([_leak_cells(leak) for leak in leaks])
    found_leaks = [_leak_as_json(leak) for leak in leaks]
    number = sum(leak.count for leak in leaks)
    total = count(number, thing) if number == 1 or not given.personal else f"{number:,} traces of people"
    if not given.purge:
        none = "" if given.personal else "; for what is none: memoranda redactions allow RULE"
        return Outcome(
            data=lambda: {"found": found_leaks, "scrubbed": 0, "pending": False},
            lines=[*lines, "", f"{total} in {count(len(leaks), 'place')}. {again} cuts them out{none}"],
            status=0 if given.personal else 1,
        )
    if not given.yes and not session.ask(f"Cut {total} out of {_listed(leaks)} for good?"):
        raise Declined("Nothing was changed.")
    wiped = scrub(database, leaks, scanner=scanner)
    left = sum(leak.table == "history" for leak in leaks)
    rotate = "" if given.personal else f" {ROTATE}"
    said = f"Cut {total} out of {count(len(leaks), 'place')}; undo does not bring them back.{rotate}"
    if left:
        said = f"Cut all but {count(left, 'place')} in history's own words, which its digests rest on.{rotate}"
    return Outcome(
        said if wiped else said + pending_said,
        lambda: {"found": found_leaks, "scrubbed": len(leaks) - left, "pending": not wiped},
        [*lines, "Exports and copies elsewhere still contain them."],
        status=0 if wiped and not left else 1,
    )


def _listed(leaks: "list[Leak]") -> str:
    """Return the first places, for the question."""
    names = list(dict.fromkeys(leak.citation for leak in leaks))
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _leak_cells(leak: "Leak") -> tuple[str, ...]:
    where = f"in step {leak.seq} of history" if leak.seq else ""
    seen = ", ".join(leak.masked[:SHOWN]) + (" …" if len(leak.masked) > SHOWN else "")
    return leak.citation, leak.field, _times(leak.rule, leak.count), where, seen


def _leak_as_json(leak: "Leak") -> "dict[str, Any]":
    return {
        "citation": leak.citation,
        "field": leak.field,
        "rule": leak.rule,
        "count": leak.count,
        "step": leak.seq or None,
        "masked": leak.masked,
    }


def _times(rule: str, number: int) -> str:
    return rule if number == 1 else f"{rule} ×{number}"


def _aligned(rows: "Sequence[Sequence[str]]") -> list[str]:
    """Align the cells in columns, two spaces apart."""
    from tui.theme.escape import visible

    shown = [[visible(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in shown) for column in range(len(shown[0]))] if shown else []
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in shown]
