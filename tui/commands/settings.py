"""config, completion."""

from __future__ import annotations

import os

from store.base.errors import Declined, InvalidInput, NotFound
from store.base.state_files import last_state_problem
from store.config.configuration import (
    Config,
    SettingValue,
    grant_config,
    load_config,
    project_settings_path,
    read_permission_request,
    remove_setting,
    revoke_config_grant,
    user_settings_path,
    write_setting,
)
from store.config.settings import KEYS_PREFIX, find_setting, format_suggestion
from store.version import __version__
from tui.commands.call import Outcome, Session
from tui.input.arguments import ParsedArguments
from tui.input.completion import completion_script
from tui.input.file_verbs import ALLOW_WORD
from tui.input.key_table import FIXED_KEYS, KEYS_BY_ID, resolve_keys
from tui.input.man_page import manual_page
from tui.theme.escape import visible

SOURCE_WORDS = {"default": "default", "user": "yours", "project": "project", "environment": "variable"}


def config(session: Session, given: ParsedArguments) -> Outcome:
    """Show the settings, show or change a setting, or allow the settings of the project."""
    if given.name == ALLOW_WORD:
        return _allow_project(session, given)
    writes = given.value is not None or given.unset
    if (writes or given.project) and not given.name:
        raise InvalidInput("Which setting?", "memoranda config NAME VALUE, or NAME --unset")
    if given.value is not None and given.unset:
        raise InvalidInput("A setting is given a value or removed, not both.", "Leave the value or --unset away.")
    if given.project and not writes:
        raise InvalidInput(
            "--project says where to write, and there is nothing to write.", "Add a value, or --unset."
        )
    if writes:
        return _write_setting(session, given)
    found = load_config(session.location, KEYS_BY_ID, FIXED_KEYS)
    if given.name:
        value = _find_value(found, given.name)
        return Outcome(
            lines=[*_setting_lines(value), *map(visible, found.problems)], data=lambda: _setting_json(value)
        )
    return _list_settings(session, found)


def completion(session: Session, given: ParsedArguments) -> Outcome:
    text = completion_script(given.shell)
    return Outcome(lines=text.split("\n"), data=lambda: {"shell": given.shell, "script": text})


def man(session: Session, given: ParsedArguments) -> Outcome:
    text = manual_page(__version__)
    return Outcome(lines=text.removesuffix("\n").split("\n"), data=lambda: {"page": text})


def _write_setting(session: Session, given: ParsedArguments) -> Outcome:
    """Write a setting to the user's or the project's file, or remove it there, and report the effect."""
    path = project_settings_path(session.location) if given.project else user_settings_path()
    if path is None:
        raise InvalidInput(
            "This memory is no project's, so it has no settings of its own.",
            "Without --project they go to your file.",
        )
    name = given.name
    if given.unset:
        if not remove_setting(path, name):
            raise NotFound(f"{name} is not set in {path}.", "See `memoranda config`.")
        done = f"Removed {name} from {path}."
    else:
        _check_setting_name(name)
        value = write_setting(path, name, given.value)
        done = f"{name} is now {value_text(value)}, in {path}."
    found = load_config(session.location, KEYS_BY_ID, FIXED_KEYS)
    try:
        now = _find_value(found, name)
    except InvalidInput:  # a misspelt name was removed: harmless
        return Outcome(done, lambda: {"name": name, "written": path})
    if now.path and now.path != path:
        whose = {"project": "The project's file", "environment": "The environment"}.get(now.source, "Your file")
        done += f" {whose} says {value_text(now.value)}, which counts here: {now.path}."
    elif given.unset:
        done += f" It is {value_text(now.value)} again."
    done = " ".join([done, *(visible(one) for one in found.problems if given.project and f"{ALLOW_WORD}`" in one)])
    if name.startswith(KEYS_PREFIX):
        done = " ".join([done, *resolve_keys(found.remapped_keys)[1]])
    return Outcome(done, lambda: {**_setting_json(now), "written": path})


def _allow_project(session: Session, given: ParsedArguments) -> Outcome:
    """Allow the project's file to set what reaches outside of the project; --unset revokes it."""
    if given.value is not None:
        raise InvalidInput("The project's file is allowed as a whole.", "memoranda config allow")
    path, text, lines = read_permission_request(session.location)
    if not text:
        raise NotFound(
            "This project has no settings of its own.", "memoranda config NAME VALUE --project makes some."
        )
    if given.unset:
        revoke_config_grant(path)
        return Outcome(f"What {path} sets beyond the project does not count any more.", lambda: {"path": path})
    if not lines:
        return Outcome(f"Nothing in {path} needs to be allowed.", lambda: {"path": path, "allowed": []})
    if not given.yes and not session.ask(f"Let {visible(path)} set this?", [visible(line) for line in lines]):
        raise Declined("Nothing was allowed.")
    kept = grant_config(path, text)
    said = (
        f"{path} is allowed, as it is now."
        if kept
        else f"{path} is allowed until this process ends: {last_state_problem()}"
    )
    return Outcome(said, lambda: {"path": path, "allowed": lines})


def _check_setting_name(name: str) -> None:
    """Raise InvalidInput if there is no such setting and no key of that id."""
    find_setting(name)
    key = name.removeprefix(KEYS_PREFIX)
    if key != name and key in FIXED_KEYS:
        raise InvalidInput(f"{key} cannot have other keys: {FIXED_KEYS[key]} needs it as it is.")
    if key != name and key not in KEYS_BY_ID:
        raise InvalidInput(
            f"There is no key “{key[:40]}”.",
            format_suggestion(key, KEYS_BY_ID).strip() or f"There are {', '.join(KEYS_BY_ID)}.",
        )


def _find_value(found: Config, name: str) -> SettingValue:
    """Return a setting or a key, remapped or default. Raises InvalidInput."""
    _check_setting_name(name)
    return found.find_value(name) or SettingValue(
        find_setting(name), KEYS_BY_ID[name.removeprefix(KEYS_PREFIX)].keys, "default", ""
    )


def _list_settings(session: Session, found: Config) -> Outcome:
    """List all settings, and the files that set them."""
    cells = [
        (value.name, value_text(value.value), SOURCE_WORDS[value.source], value.setting.meaning)
        for value in found.values
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(3)]
    lines = [
        f"{name:<{widths[0]}}  {value:<{widths[1]}}  {source:<{widths[2]}}  {meaning}"
        for name, value, source, meaning in cells
    ]
    files = {"yours": user_settings_path(), "project": project_settings_path(session.location)}
    lines.append("")
    for whose, path in files.items():
        state = "" if path and os.path.lexists(path) else " (not made yet)"
        lines.append(
            f"{whose:<7}  {visible(path)}{state}" if path else f"{whose:<7}  none: this memory is no project's"
        )
    found.problems += resolve_keys(found.remapped_keys)[1]
    problems = [visible(problem) for problem in found.problems]
    if problems:
        lines += ["", *problems]
    return Outcome(
        lines=lines,
        data=lambda: {
            "settings": [_setting_json(value) for value in found.values],
            "files": [
                {"whose": whose, "path": path, "exists": bool(path and os.path.lexists(path))}
                for whose, path in files.items()
            ],
            "problems": found.problems,
        },
    )


def _setting_lines(value: SettingValue) -> list[str]:
    """Return what there is to say about a setting: its value, meaning and source."""
    setting = value.setting
    lines = [
        f"{value.name} is {value_text(value.value)}",
        f"{setting.meaning}.",
        f"It takes {setting.allowed_values}.",
    ]
    where = f"${value.path}" if value.source == "environment" else visible(value.path)
    lines.append(f"Set in {where}." if value.path else "It is as it comes: no file sets it.")
    if setting.variable and value.source != "environment":
        lines.append(f"${setting.variable} sets it over every file.")
    return lines


def _setting_json(value: SettingValue) -> dict[str, object]:
    """Return a setting for scripts."""
    return {
        "name": value.name,
        "value": value.value,
        "source": value.source,
        "path": value.path or None,
        "default": KEYS_BY_ID[value.name.removeprefix(KEYS_PREFIX)].keys
        if value.setting.kind == "keys"
        else value.setting.default,
        "kind": value.setting.kind,
        "choices": list(value.setting.choices),
        "meaning": value.setting.meaning,
    }


def value_text(value: object) -> str:
    """Return a value as it is shown and may be typed."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return visible(str(value)) if value != "" else '""'
