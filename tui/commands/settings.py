"""config: the settings, and the model that the agent asks: its state and its last calls, pull one, try it, choose one,
and set when it is used."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from time import monotonic
from typing import Annotated

from store.base.clock import format_how_long_ago
from store.base.errors import ExitStatus, InvalidInput, ModelFailed, NotFound
from store.base.location import Location
from store.base.models import select_fields
from store.base.state_files import last_state_problem
from store.config import configuration
from store.config.settings import (
    ALLOW_WORD,
    KEYS_PREFIX,
    MODEL_ACTS,
    MODEL_WORD,
    SETTINGS,
    Setting,
    find_setting,
    format_suggestion,
)
from store.librarian.chat import ModelPuller, RateMeter, get_server_address
from store.librarian.librarian import TrialResult, count_trial_questions, run_trial
from store.librarian.model_selection import (
    MODEL_MODES,
    USUAL_MODEL,
    open_named_model,
    probe_model,
    read_model_status,
)
from store.librarian.structured_output import list_recent_calls, read_model_stats
from store.memory import Memory
from store.text.display import format_bytes, format_seconds, visible
from tui.commands.call import STOP_HINT, Call, Interrupt, Outcome
from tui.input.arguments import Shown, UsageError, verb
from tui.input.key_table import FIXED_KEYS, KEYS_BY_ID, resolve_keys

SOURCE_WORDS = {"default": "default", "user": "yours", "project": "project", "environment": "variable"}


@verb(
    opens="nothing",
    apart=lambda given: given.name == MODEL_WORD and given.value in ("pull", "test", "try"),
)
def config(
    call: Call,
    name: Annotated[str | None, Shown("NAME", (ALLOW_WORD, MODEL_WORD, *(one.name for one in SETTINGS)))] = None,
    value: str | None = None,
    model: str | None = None,
    *,
    project: bool = False,
    unset: bool = False,
    all: bool = False,
    yes: bool = False,
) -> Outcome:
    """Settings: what they are and where from; with a value, set one; and the model that the agent asks.

    name: one setting, keys.record.forget for a key; allow: what the project's file sets; model: its state
    value: what it is to be, in your file; of model: pull: fetch one; test, try: ask it; calls: the last ones; use:
        choose one; fast: asked only after an answer; smart: before one too; off: never
    model: of model: one of them, qwen2.5:3b-instruct; use auto: any that is found; calls 7: that one
    project: in the project's file, which wins over yours
    unset: remove it from the file
    all: list those for experts too: weights, days, addresses
    yes: allow what the project's file sets without asking
    """
    writes = value is not None or unset
    if all and (name or writes or project):
        raise UsageError("--all lists the settings, and changes none.", "See `memoranda config --help`.")
    if name == MODEL_WORD:
        if project or unset or yes:
            raise UsageError("config model takes no options.", "See `memoranda config --help`.")
        return _run_model_act(call, value or "status", model or "")
    if model is not None:
        raise UsageError(
            f"config does not know what to do with “{visible(model[:40])}”.", "See `memoranda config --help`."
        )
    if name == ALLOW_WORD:
        if value is not None:
            raise InvalidInput("The project's file is allowed as a whole.", "memoranda config allow")
        return _allow_project(call, unset, yes)
    if (writes or project) and not name:
        raise InvalidInput("Which setting?", "memoranda config NAME VALUE, or NAME --unset")
    if value is not None and unset:
        raise InvalidInput("A setting is given a value or removed, not both.", "Leave the value or --unset away.")
    if project and not writes:
        raise InvalidInput(
            "--project says where to write, and there is nothing to write.", "Add a value, or --unset."
        )
    if name and writes:
        return _write_setting(call.location, name, value, project)
    found = read_config(call.location)
    if name:
        shown = _find_value(found, name)
        return Outcome(
            lines=[*_setting_lines(shown), *map(visible, found.problems)], data=lambda: _setting_json(shown)
        )
    return _list_settings(call.location, found, all)


def _write_setting(place: Location, name: str, value: str | None, project: bool) -> Outcome:
    """Write a setting to the user's or the project's file, or without a value remove it there, and report the
    effect."""
    path = configuration.project_settings_path(place) if project else configuration.user_settings_path()
    if path is None:
        raise InvalidInput(
            "This memory is no project's, so it has no settings of its own.",
            "Without --project they go to your file.",
        )
    if value is None:
        if not configuration.remove_setting(path, name):
            raise NotFound(f"{name} is not set in {path}.", "See `memoranda config`.")
        done = f"Removed {name} from {path}."
    else:
        _find_setting(name)
        done = f"{name} is now {value_text(configuration.write_setting(path, name, value))}, in {path}."
    found = read_config(place)
    try:
        now = _find_value(found, name)
    except InvalidInput:  # a misspelt name was removed: harmless
        return Outcome(done, lambda: {"name": name, "written": path})
    if now.path and now.path != path:
        whose = {"project": "The project's file", "environment": "The environment"}.get(now.source, "Your file")
        done += f" {whose} says {value_text(now.value)}, which counts here: {now.path}."
    elif value is None:
        done += f" It is {value_text(now.value)} again."
    done = " ".join([done, *(visible(one) for one in found.problems if project and f"{ALLOW_WORD}`" in one)])
    if name.startswith(KEYS_PREFIX):
        done = " ".join([done, *resolve_keys(found.remapped_keys)[1]])
    return Outcome(done, lambda: {**_setting_json(now), "written": path})


def _allow_project(call: Call, unset: bool, yes: bool) -> Outcome:
    """Allow the project's file to set what reaches outside of the project, or revoke it. Raise Declined."""
    path, text, lines = configuration.read_permission_request(call.location)
    if not text:
        raise NotFound(
            "This project has no settings of its own.", "memoranda config NAME VALUE --project makes some."
        )
    if unset:
        configuration.revoke_config_grant(path)
        return Outcome(f"What {path} sets beyond the project does not count any more.", lambda: {"path": path})
    if not lines:
        return Outcome(f"Nothing in {path} needs to be allowed.", lambda: {"path": path, "allowed": []})
    shown = [visible(line) for line in lines]
    call.agree(yes, f"Let {visible(path)} set this?", shown, no="Nothing was allowed.")
    kept = configuration.grant_config(path, text)
    said = "as it is now." if kept else f"until this process ends: {last_state_problem()}"
    return Outcome(f"{path} is allowed{',' if kept else ''} {said}", lambda: {"path": path, "allowed": lines})


def _find_setting(name: str) -> Setting:
    """Return the setting of a name, or of a key. Raise InvalidInput if there is none."""
    setting, key = find_setting(name), name.removeprefix(KEYS_PREFIX)
    if key != name and key in FIXED_KEYS:
        raise InvalidInput(f"{key} cannot have other keys: {FIXED_KEYS[key]} needs it as it is.")
    if key != name and key not in KEYS_BY_ID:
        raise InvalidInput(
            f"There is no key “{key[:40]}”.",
            format_suggestion(key, KEYS_BY_ID).strip() or f"There are {', '.join(KEYS_BY_ID)}.",
        )
    return setting


def _find_value(found: configuration.Config, name: str) -> configuration.SettingValue:
    """Return a setting or a key, remapped or default. Raises InvalidInput."""
    setting = _find_setting(name)
    return found.find_value(name) or configuration.SettingValue(setting, default_value(setting), "default", "")


def default_value(setting: Setting) -> object:
    """Return the value that a setting or a key has where nothing sets it."""
    return KEYS_BY_ID[setting.name.removeprefix(KEYS_PREFIX)].keys if setting.kind == "keys" else setting.default


def _list_settings(place: Location, found: configuration.Config, all: bool) -> Outcome:
    """List the settings in their groups, with `all` those for experts too, and the files that set them."""
    groups = found.groups(all)
    shown = [value for values in groups.values() for value in values]
    cells = {value: (value.name, value_text(value.value), SOURCE_WORDS[value.source]) for value in shown}
    widths = [max(map(len, column)) for column in zip(*cells.values(), strict=True)]
    lines: list[str] = []
    for group, members in groups.items():
        lines += [group] if members else []
        for value in members:
            row = "  ".join(map(str.ljust, cells[value], widths))
            lines.append(f"  {row}  {value.setting.meaning}")
    if left := len(found.values) - len(cells):
        lines += ["", f"{left} more are for experts: memoranda config --all"]
    files = {"yours": configuration.user_settings_path(), "project": configuration.project_settings_path(place)}
    places = [
        {"whose": whose, "path": path, "exists": bool(path and os.path.lexists(path))}
        for whose, path in files.items()
    ]
    lines.append("")
    for one in places:
        state = "" if one["exists"] else " (not made yet)"
        where = f"{visible(str(one['path']))}{state}" if one["path"] else "none: this memory is no project's"
        lines.append(f"{one['whose']:<7}  {where}")
    found.problems += resolve_keys(found.remapped_keys)[1]
    lines += ["", *map(visible, found.problems)] if found.problems else []
    values = [_setting_json(value) for value in found.values]
    data = {"settings": values, "files": places, "problems": found.problems}
    return Outcome(lines=lines, data=lambda: data)


def _setting_lines(value: configuration.SettingValue) -> list[str]:
    """Return what there is to say about a setting: its value, meaning and source."""
    setting = value.setting
    lines = [f"{value.name} is {value_text(value.value)}", f"{setting.meaning}."]
    lines.append(f"It takes {setting.allowed_values}.")
    where = f"${value.path}" if value.source == "environment" else visible(value.path)
    lines.append(f"Set in {where}." if value.path else "It is as it comes: no file sets it.")
    if setting.variable and value.source != "environment":
        lines.append(f"${setting.variable} sets it over every file.")
    return lines


def _setting_json(value: configuration.SettingValue) -> dict[str, object]:
    """Return a setting for scripts."""
    setting = value.setting
    return {
        **select_fields(value, "name", "value", "source"),
        "path": value.path or None,
        "default": default_value(setting),
        **select_fields(setting, "kind", "choices", "meaning", "group", "label"),
    }


def value_text(value: object) -> str:
    """Return a value as it is shown and may be typed."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return visible(str(value)) if value != "" else '""'


# the model

# minimum seconds between two updates of a pull's progress
PROGRESS_SECONDS = 0.1
# percent between two progress lines without a terminal
PROGRESS_PERCENT = 10
NO_CALLS = "No model was asked in the last 24 hours."


def _run_model_act(call: Call, act: str, name: str) -> Outcome:
    """Do what `config model ACT NAME` asks: show the state of the model, pull one, try it, list its calls, or choose
    one."""
    acts = {"pull": _pull_model, "test": _test_model, "try": _try_model, "calls": _list_calls, "use": _use_model}
    if name and act not in acts:
        raise InvalidInput(f"model {act} takes no name.", "memoranda config model use NAME chooses a model.")
    if act in MODEL_MODES:
        return _put_setting(call, "agent.mode", act)
    if act == "status":
        return _show_status(call)
    if act in acts:
        return acts[act](call, name)
    raise InvalidInput(
        f"model does not know “{act[:40]}”.",
        f"It takes {', '.join(one for one in MODEL_ACTS if one not in MODEL_MODES)}, and {', '.join(MODEL_MODES)}.",
    )


def read_config(location: Location) -> configuration.Config:
    """Return the configuration of a memory, with its keys."""
    return configuration.load_config(location, KEYS_BY_ID, FIXED_KEYS)


def _show_status(call: Call) -> Outcome:
    found, use = read_model_status(read_config(call.location)), None
    lines = found.describe()
    if os.path.lexists(call.location.path):
        with Memory(call.location, "cli", create=False) as memory:
            use = read_model_stats(memory.database, memory.now)
        if said := use.describe():
            lines[2:2] = [said]
    return Outcome(lines=lines, data=lambda: {**found.as_dict(), "use": use and use._asdict()})


# pull


def _pull_model(call: Call, name: str) -> Outcome:
    """Fetch a model, the usual one if none is named; show how far it is on one line of a terminal, else in a line now
    and then."""
    name = name or USUAL_MODEL
    pace, started, total, percent = RateMeter(), monotonic(), 0, -PROGRESS_PERCENT
    # shown last
    status, moment = "", -PROGRESS_SECONDS
    with Interrupt() as interrupt:
        address = get_server_address(read_config(call.location))
        with closing(ModelPuller(address, lambda: interrupt.asked)) as puller:
            try:
                for far in puller.pull(name):
                    pace.add_report(far.done, far.total)
                    total = far.total or total
                    now = 100 * far.done // far.total if far.total else 0
                    if sys.stderr.isatty():
                        if monotonic() - moment >= PROGRESS_SECONDS:
                            call.wait(pace.describe(far))
                            moment = monotonic()
                    elif now >= percent + PROGRESS_PERCENT or (not far.total and far.status != status):
                        print(visible(f"{name}: {pace.describe(far, 0)}"), flush=True, file=sys.stderr)
                        status, percent = far.status, now
            except ModelFailed:
                if not interrupt.asked:
                    raise
                raise ModelFailed(
                    "stopped", f"{name} is not there yet.", "Run again, it continues where it stopped."
                ) from None
    return Outcome(
        f"{name} is there: {format_bytes(total)}, in {format_seconds(monotonic() - started)}.",
        lambda: {"pulled": name, "size": total},
    )


# trial


def _test_model(call: Call, name: str) -> Outcome:
    config = read_config(call.location)
    tried = probe_model(config, read_model_status(config), name)
    return Outcome(lines=[visible(line) for line in tried.describe()], data=tried.as_dict)


def _try_model(call: Call, name: str) -> Outcome:
    """Ask the model ten built-in questions, and report how many answers were right and the time of each. Where ^C
    stops it, report on the questions that were answered. Raise ModelFailed."""
    config, every, found = read_config(call.location), count_trial_questions(), list[TrialResult]()
    with Interrupt() as interrupt, closing(open_named_model(config, name, lambda: interrupt.asked)) as chat:
        try:
            results = run_trial(chat, float(config["agent.patience"]))
            while len(found) < every:
                call.wait(f"{chat.name} answers {len(found) + 1} of {every} …  {STOP_HINT}")
                found.append(next(results))
        except ModelFailed:
            if not (found and interrupt.asked):
                raise
    right = sum(one.right for one in found)
    spent = sum(one.seconds for one in found)
    lines = [f"{'right' if one.right else 'wrong':6}{one.seconds:6.1f} s  {one.question}" for one in found]
    left = f"; stopped before the other {every - len(found)}" if len(found) < every else ""
    lines.append(f"{chat.name}: {right} of {len(found)} right, {format_seconds(spent / len(found))} each{left}.")
    data = {
        "model": chat.name,
        "right": right,
        "asked": len(found),
        "of": every,
        "seconds": round(spent, 3),
        "questions": [one._asdict() for one in found],
    }
    status = ExitStatus.UNFINISHED if len(found) < every else ExitStatus.DONE
    return Outcome(lines=[visible(line) for line in lines], data=lambda: data, status=status)


# calls


def _list_calls(call: Call, name: str) -> Outcome:
    """List the calls of the last day, or show a single call in full."""
    if not os.path.lexists(call.location.path):
        return Outcome(NO_CALLS, list)
    with Memory(call.location, "cli", create=False) as memory:
        now = memory.now
        found = list_recent_calls(memory.database, now)
    if name:
        found = [one for one in found if str(one.id) == name]
        if not found:
            raise NotFound(
                f"There is no call {visible(name[:20])}.",
                "memoranda config model calls lists those of the last day.",
            )
        lines = found[0].describe(now)
    else:
        lines = [
            f"{one.id:>4}  {one.task:<16}  {format_how_long_ago(now, one.at):<10}  "
            f"{format_seconds(one.seconds):>7}  {one.outcome}"
            for one in found
        ] or [NO_CALLS]
    return Outcome(lines=[visible(line) for line in lines], data=lambda: [one._asdict() for one in found])


# choice


def _use_model(call: Call, name: str) -> Outcome:
    """Choose the model that is asked."""
    if not name:
        raise InvalidInput(
            "Which model?", "memoranda config model use NAME, as memoranda config model lists them; auto is none."
        )
    return _put_setting(call, "agent.model", "" if name == "auto" else name)


def _put_setting(call: Call, setting: str, value: str) -> Outcome:
    """Write a setting to the user's own file, and report its effect."""
    configuration.write_setting(configuration.user_settings_path(), setting, value)
    config = read_config(call.location)
    found = read_model_status(config)
    said = found.describe_choice(config, setting, value)
    return Outcome(
        said,
        lambda: {
            "name": setting,
            "value": value,
            "written": configuration.user_settings_path(),
            **found.as_dict(),
        },
    )
