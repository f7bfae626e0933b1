"""guard."""

import os
import sys

from store.base.clock import from_ms, local_time
from store.base.errors import Conflict, Declined, InvalidInput
from tui.commands import Outcome, Session
from tui.render.plurals import count
from tui.theme.escape import plain, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from store.config.configuration import Config
    from store.guard.comparing import DiffLine as GuardLine
    from store.guard.looking import LookResult as GuardLook
    from store.guard.moments import GuardedChange
    from store.guard.moments import Moment as GuardMoment
    from store.guard.restoring import RestorePlan as GuardRestore
    from tui.input.argument_parser import ParsedArguments

NAMED = 10  # files named below a moment


def guard(session: Session, given: "ParsedArguments") -> Outcome:
    _check(given)
    if given.what == "list":
        return _list(given)
    if given.what == "show":
        return _show(given)
    if given.what in ("restore", "undo"):
        return _restore(session, given)
    if given.what == "off":
        return _off(session, given)
    return _watch(session) if given.watch else _look(session, given)


def _check(given: "ParsedArguments") -> None:
    """Raise InvalidInput for words that do not fit together."""
    if given.what not in (None, "list", "show", "restore", "undo", "off"):
        raise InvalidInput(f"guard does not know “{visible(given.what[:40])}”.", "See `memoranda guard --help`.")
    if given.what in ("show", "restore") and not given.moment:
        raise InvalidInput(f"guard {given.what} wants a moment.", f"As in: memoranda guard {given.what} M#3")
    if given.what and (given.once or given.watch):
        raise InvalidInput("--once and --watch are for a look.", "memoranda guard --once")


# looking


def _look(session: Session, given: "ParsedArguments") -> Outcome:
    from store.guard.database import opened as opened_guard
    from store.guard.looking import look as look_guard
    from store.guard.looking import now_ms as guard_now
    from store.guard.moments import get as guard_moment
    from store.guard.moments import tell as tell_guard_moments
    from store.guard.moments import untold as untold_guard_moments
    from store.services.source_import import machine as this_machine

    session.wait("Looking at the memory files")
    try:
        found = look_guard(guard_config(session), this_machine(), guard_now())
    finally:
        session.wait("")
    with opened_guard() as kept:
        new = [guard_moment(kept, number) for number in found.moments]
        moments = new if given.once else untold_guard_moments(kept)
    lines = [line for one in moments for line in ([moment_title(one)] if given.once else _moment_lines(one))]
    if not given.once:
        with opened_guard(guard_config(session)) as kept:
            tell_guard_moments(kept, moments)
        lines += _summary(found, moments)
    elif found.first:
        lines = [_first(found)]
    lines += _troubles(found)
    return Outcome(lines=lines, data=lambda: _look_data(found, moments))


def _watch(session: Session) -> Outcome:
    """Return a document that grows by a line for each moment, or an object, until the person ends it."""
    import json
    import threading

    from store.guard.database import opened as opened_guard
    from store.guard.moments import get as guard_moment
    from store.guard.watching import watched as watched_guard
    from store.services.source_import import machine as this_machine

    def document() -> "Generator[str, None, None]":
        stop, told = threading.Event(), False
        try:
            for found in watched_guard(guard_config(session), this_machine(), stop):
                moments: list[GuardMoment] = []
                if found.moments:
                    with opened_guard() as kept:
                        moments = [guard_moment(kept, number) for number in found.moments]
                lines = [moment_title(one) for one in moments]
                if not told:
                    lines.insert(0, _first(found) if found.first else f"Watching {count(found.files, 'file')}.")
                lines += _troubles(found) if not told or not found.files else []
                if session.json and (moments or not told):
                    yield json.dumps(_look_data(found, moments), ensure_ascii=False) + "\n"
                elif lines and not session.json:
                    yield "\n".join(map(plain, lines)) + "\n"
                told = True
                sys.stdout.flush()
        except KeyboardInterrupt:
            return
        finally:
            stop.set()

    return Outcome(document=document)


def _troubles(found: "GuardLook") -> list[str]:
    return [f"Not kept: {home_path(one.path)}: {one.why}" if one.path else f"Note: {one.why}" for one in found.troubles]


def _first(found: "GuardLook") -> str:
    if not found.files:
        return "No memory file of another tool was found on this machine."
    return f"Kept {count(found.files, 'file')} of {count(found.tools, 'tool')}. From now on every change is kept."


def _summary(found: "GuardLook", moments: "list[GuardMoment]") -> list[str]:
    if found.first:
        return [
            _first(found),
            "Look again with memoranda guard; memoranda guard --watch keeps each version as it comes.",
        ]
    if not moments:
        return [f"Nothing changed since you looked last: {count(found.files, 'file')} of {count(found.tools, 'tool')}."]
    name = moments[0].name
    return ["", f"See how: memoranda guard show {name}   Put it back: memoranda guard restore {name}"]


def guard_config(session: Session) -> "Config":
    from store.config.configuration import load as load_config

    return load_config(session.location)


# moments


def _list(given: "ParsedArguments") -> Outcome:
    from store.guard.database import opened as opened_guard
    from store.guard.moments import recent as recent_guard_moments

    with opened_guard() as kept:
        moments = recent_guard_moments(kept, given.limit)
    lines = [moment_title(one) for one in moments] or ["Nothing changed since the first look."]
    return Outcome(lines=lines, data=lambda: [_moment_data(one) for one in moments])


def _show(given: "ParsedArguments") -> Outcome:
    from store.guard.comparing import difference as guard_difference
    from store.guard.comparing import lines_of as guard_lines
    from store.guard.database import opened as opened_guard
    from store.guard.moments import get as guard_moment
    from store.guard.moments import named as named_guard_files
    from store.guard.moments import number_of as guard_moment_number

    with opened_guard() as kept:
        moment = guard_moment(kept, guard_moment_number(given.moment))
        files = named_guard_files(moment, given.file or "")
        found = [
            (one, guard_difference(guard_lines(kept, one.file, one.before), guard_lines(kept, one.file, one.after)))
            for one in files
        ]
    lines = [moment_title(moment)]
    for one, difference in found:
        lines += ["", f"{home_path(one.file.path)}  {one.what}", *map(diff_line, difference)]
    return Outcome(lines=lines, data=lambda: _moment_data(moment) | {"files": [_file_data(*one) for one in found]})


# putting back


def _restore(session: Session, given: "ParsedArguments") -> Outcome:
    from store.guard.looking import now_ms as guard_now
    from store.guard.moments import number_of as guard_moment_number
    from store.guard.restoring import plan as plan_guard_restore
    from store.guard.restoring import run as restore_guard
    from store.guard.restoring import target as guard_target
    from store.services.source_import import machine as this_machine

    config, machine = guard_config(session), this_machine()
    undo = given.what == "undo"
    number = None if undo else guard_moment_number(given.moment)
    name, lines = guard_target(given.file or "")
    plan = plan_guard_restore(config, machine, guard_now(), number, name, lines)
    preview = _preview(plan)
    if not plan.files:
        return Outcome(
            f"Nothing to put back: the files are as they were before {plan.moment.name}.",
            lambda: _restore_data(plan, None),
            preview,
        )
    if given.dry_run:
        return Outcome("Nothing was changed.", lambda: _restore_data(plan, None), preview)
    if given.yes and (again := [one for one in plan.files if one.again]):
        raise Conflict(
            f"{home_path(again[0].change.file.path)} changed again after {plan.moment.name}; nothing was put back.",
            "Look at what would be lost, and answer there: the same without --yes.",
        )
    files = count(len(plan.files), "file")
    question = f"Undo {plan.moment.name}, in {files}?" if undo else f"Put back {files} to before {plan.moment.name}?"
    if not given.yes and not session.ask(question, preview):
        raise Declined("Nothing was changed.")
    done = restore_guard(config, machine, guard_now(), plan)
    said = f"Undid {plan.moment.name}" if undo else f"Put back {files} to before {plan.moment.name}"
    return Outcome(
        f"{said}: M#{done}.",
        lambda: _restore_data(plan, done),
        [*_stay(plan), f"Take it back: memoranda guard {'restore M#' + str(done) if undo else 'undo'}"],
    )


def _preview(plan: "GuardRestore") -> list[str]:
    """Return what a restore would change, file by file."""
    lines: list[str] = []
    for one in plan.files:
        again = f", which changed again after {plan.moment.name}" if one.again else ""
        lines += [
            f"{home_path(one.change.file.path)}  would be {one.what}{again}",
            *map(diff_line, one.difference),
            "",
        ]
    return [*lines, *_stay(plan)]


def _stay(plan: "GuardRestore") -> list[str]:
    return [f"{home_path(path)} stays: {why}." for path, why in plan.stay]


def _off(session: Session, given: "ParsedArguments") -> Outcome:
    from store.guard.database import forget_all as forget_guard
    from store.guard.database import place as guard_place

    if given.dry_run:
        return Outcome(f"{visible(guard_place())} would be deleted, with its key.")
    if not given.yes and not session.ask("Forget all kept versions? No change before now can be put back then."):
        raise Declined("Nothing was changed.")
    size = forget_guard()
    return Outcome(
        f"Forgot all kept versions, {size / 1e6:,.1f} MB, and their key.",
        lambda: {"bytes": size},
        ["The tools' own files are as they are. A timer or --watch that still runs begins with a first look."],
    )


# output


def moment_title(moment: "GuardMoment") -> str:
    """Return a moment in a sentence, as in `M#3  23 files of …`."""
    number = len(moment.files)
    what = ", ".join(f"{many:,} {word}" if number > 1 else word for word, many in moment.counts.items())
    if moment.edited:
        whose = f"{count(number, 'file')} of {moment.title}'s memory"
        return f"{moment.name}  You changed {whose} {moment_times(moment)}: {what}"
    if moment.restores is not None:
        done = f"You put {count(number, 'file')} back to before M#{moment.restores}"
        return f"{moment.name}  {done} {moment_times(moment)}: {what}"
    whose = moment.title if moment.title.startswith("your") else f"{moment.title}'s memory"
    return f"{moment.name}  {count(number, 'file')} of {whose} changed {moment_times(moment)}: {what}"


def moment_times(moment: "GuardMoment") -> str:
    from store.base.clock import utc_now

    today = local_time(utc_now()).rpartition(" ")[0]
    first, last = (local_time(from_ms(at)) for at in (moment.first_at, moment.last_at))
    if first == last:
        return f"at {first.removeprefix(f'{today} ')}"
    day = first.rpartition(" ")[0]
    return f"between {first.removeprefix(f'{today} ')} and {last.removeprefix(f'{day} ')}"


def _moment_lines(moment: "GuardMoment") -> list[str]:
    lines = [moment_title(moment), *(f"  {one.what:<9}  {home_path(one.file.path)}" for one in moment.files[:NAMED])]
    if len(moment.files) > NAMED:
        lines.append(f"  … and {len(moment.files) - NAMED:,} more")
    return lines


def diff_line(line: "GuardLine") -> str:
    """Return a line of a difference."""
    if line.sign == "…":
        return "       …"
    return f"  {line.sign} {line.before or '':>4} {visible(line.text)}".rstrip()


def home_path(path: str) -> str:
    home = os.path.join(os.path.expanduser("~"), "")
    return visible(f"~/{path.removeprefix(home)}" if path.startswith(home) else path)


def _look_data(found: "GuardLook", moments: "list[GuardMoment]") -> "dict[str, Any]":
    return {
        "first": found.first,
        "files": found.files,
        "bytes": found.bytes,
        "moments": [_moment_data(one) for one in moments],
        "troubles": [{"path": one.path, "why": one.why} for one in found.troubles],
    }


def _moment_data(moment: "GuardMoment") -> "dict[str, Any]":
    return {
        "moment": moment.name,
        "tool": moment.tool,
        "first_at": from_ms(moment.first_at),
        "last_at": from_ms(moment.last_at),
        "restores": f"M#{moment.restores}" if moment.restores else None,
        "edited": moment.edited,
        "files": [{"path": one.file.path, "change": one.what} for one in moment.files],
    }


def _restore_data(plan: "GuardRestore", done: int | None) -> "dict[str, Any]":
    return {
        "moment": plan.moment.name,
        "restored": done and f"M#{done}",
        "files": [
            {
                "path": one.change.file.path,
                "change": one.what,
                "again": one.again,
                "lines": [[line.sign, line.before, line.text] for line in one.difference],
            }
            for one in plan.files
        ],
        "stay": [{"path": path, "why": why} for path, why in plan.stay],
    }


def _file_data(one: "GuardedChange", difference: "list[GuardLine]") -> "dict[str, Any]":
    return {
        "path": one.file.path,
        "change": one.what,
        "lines": [[line.sign, line.before, line.text] for line in difference],
    }
