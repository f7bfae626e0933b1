"""config: the settings; the model that the agent asks stands in `model`."""

from __future__ import annotations

import os
from typing import Annotated

from store.base.errors import InvalidInput, NotFound
from store.base.location import Location
from store.base.state_files import last_state_problem
from store.config.configuration import (
    Config,
    SettingValue,
    grant_config,
    project_settings_path,
    read_permission_request,
    remove_setting,
    revoke_config_grant,
    user_settings_path,
    write_setting,
)
from store.config.settings import (
    ALLOW_WORD,
    KEYS_PREFIX,
    MODEL_WORD,
    SETTINGS,
    Setting,
    find_setting,
    format_suggestion,
)
from tui.commands.call import Call, Outcome, select_fields
from tui.commands.model import read_config, run_model_act
from tui.input.arguments import Shown, UsageError, verb
from tui.input.key_table import FIXED_KEYS, KEYS_BY_ID, resolve_keys
from tui.theme.escape import visible

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
        return run_model_act(call, value or "status", model or "")
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
    path = project_settings_path(place) if project else user_settings_path()
    if path is None:
        raise InvalidInput(
            "This memory is no project's, so it has no settings of its own.",
            "Without --project they go to your file.",
        )
    if value is None:
        if not remove_setting(path, name):
            raise NotFound(f"{name} is not set in {path}.", "See `memoranda config`.")
        done = f"Removed {name} from {path}."
    else:
        _find_setting(name)
        done = f"{name} is now {value_text(write_setting(path, name, value))}, in {path}."
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
    path, text, lines = read_permission_request(call.location)
    if not text:
        raise NotFound(
            "This project has no settings of its own.", "memoranda config NAME VALUE --project makes some."
        )
    if unset:
        revoke_config_grant(path)
        return Outcome(f"What {path} sets beyond the project does not count any more.", lambda: {"path": path})
    if not lines:
        return Outcome(f"Nothing in {path} needs to be allowed.", lambda: {"path": path, "allowed": []})
    shown = [visible(line) for line in lines]
    call.agree(yes, f"Let {visible(path)} set this?", shown, no="Nothing was allowed.")
    kept = grant_config(path, text)
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


def _find_value(found: Config, name: str) -> SettingValue:
    """Return a setting or a key, remapped or default. Raises InvalidInput."""
    setting = _find_setting(name)
    return found.find_value(name) or SettingValue(setting, default_value(setting), "default", "")


def default_value(setting: Setting) -> object:
    """Return the value that a setting or a key has where nothing sets it."""
    return KEYS_BY_ID[setting.name.removeprefix(KEYS_PREFIX)].keys if setting.kind == "keys" else setting.default


def _list_settings(place: Location, found: Config, all: bool) -> Outcome:
    """List the settings in their groups, with `all` those for experts too, and the files that set them."""
    groups = found.groups(all)
    shown = [value for values in groups.values() for value in values]
    cells = {value: (value.name, value_text(value.value), SOURCE_WORDS[value.source]) for value in shown}
    widths = [max(map(len, column)) for column in zip(*cells.values(), strict=True)]
    lines: list[str] = []
    for group, values in groups.items():
        lines += [group] if values else []
        for value in values:
            row = "  ".join(map(str.ljust, cells[value], widths))
            lines.append(f"  {row}  {value.setting.meaning}")
    if left := len(found.values) - len(cells):
        lines += ["", f"{left} more are for experts: memoranda config --all"]
    files = {"yours": user_settings_path(), "project": project_settings_path(place)}
    data = [
        {"whose": whose, "path": path, "exists": bool(path and os.path.lexists(path))}
        for whose, path in files.items()
    ]
    lines.append("")
    for one in data:
        state = "" if one["exists"] else " (not made yet)"
        where = f"{visible(str(one['path']))}{state}" if one["path"] else "none: this memory is no project's"
        lines.append(f"{one['whose']:<7}  {where}")
    found.problems += resolve_keys(found.remapped_keys)[1]
    lines += ["", *map(visible, found.problems)] if found.problems else []
    return Outcome(
        lines=lines,
        data=lambda: {
            "settings": [_setting_json(value) for value in found.values],
            "files": data,
            "problems": found.problems,
        },
    )


def _setting_lines(value: SettingValue) -> list[str]:
    """Return what there is to say about a setting: its value, meaning and source."""
    setting = value.setting
    lines = [f"{value.name} is {value_text(value.value)}", f"{setting.meaning}."]
    lines.append(f"It takes {setting.allowed_values}.")
    where = f"${value.path}" if value.source == "environment" else visible(value.path)
    lines.append(f"Set in {where}." if value.path else "It is as it comes: no file sets it.")
    if setting.variable and value.source != "environment":
        lines.append(f"${setting.variable} sets it over every file.")
    return lines


def _setting_json(value: SettingValue) -> dict[str, object]:
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
