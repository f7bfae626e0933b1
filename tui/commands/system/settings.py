"""config, completion."""

import os

from store.base.errors import Declined, InvalidInput, NotFound
from store.base.installation import trouble
from store.config.configuration import Config, Value, asking, load
from store.config.files import project_path, put, remove, user_path
from store.config.grants import grant, revoke
from store.config.settings import KEYS, known, nearest
from tui.commands import Outcome, Session
from tui.input.commands.files import ALLOW
from tui.input.key_table import BY_ID, FIXED
from tui.input.remapping import resolve
from tui.theme.escape import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tui.input.argument_parser import ParsedArguments

WHOSE = {"default": "default", "user": "yours", "project": "project", "environment": "variable"}


def config(session: Session, given: "ParsedArguments") -> Outcome:
    if given.name == ALLOW:
        return _allow(session, given)
    writes = given.value is not None or given.unset
    if (writes or given.project) and not given.name:
        raise InvalidInput("Which setting?", "memoranda config NAME VALUE, or NAME --unset")
    if given.value is not None and given.unset:
        raise InvalidInput("A setting is given a value or removed, not both.", "Leave the value or --unset away.")
    if given.project and not writes:
        raise InvalidInput("--project says where to write, and there is nothing to write.", "Add a value, or --unset.")
    if writes:
        return _write(session, given)
    found = load(session.location, BY_ID, FIXED)
    if given.name:
        value = _value(found, given.name)
        return Outcome(lines=[*_one(value), *map(visible, found.problems)], data=lambda: _json(value))
    return _all(session, found)


def completion(session: Session, given: "ParsedArguments") -> Outcome:
    from tui.input.shell_completion import script

    text = script(given.shell)
    return Outcome(lines=text.split("\n"), data=lambda: {"shell": given.shell, "script": text})


def man(session: Session, given: "ParsedArguments") -> Outcome:
    from store.version import __version__
    from tui.input.man_page import page

    text = page(__version__)
    return Outcome(lines=text.removesuffix("\n").split("\n"), data=lambda: {"page": text})


def _write(session: Session, given: "ParsedArguments") -> Outcome:
    path = project_path(session.location) if given.project else user_path()
    if path is None:
        raise InvalidInput(
            "This memory is no project's, so it has no settings of its own.", "Without --project they go to your file."
        )
    name = given.name
    if given.unset:
        if not remove(path, name):
            raise NotFound(f"{name} is not set in {path}.", "See `memoranda config`.")
        done = f"Removed {name} from {path}."
    else:
        _known(name)
        value = put(path, name, given.value)
        done = f"{name} is now {as_text(value)}, in {path}."
    found = load(session.location, BY_ID, FIXED)
    try:
        now = _value(found, name)
    except InvalidInput:  # a misspelt name was removed: harmless
        return Outcome(done, lambda: {"name": name, "written": path})
    if now.path and now.path != path:
        whose = {"project": "The project's file", "environment": "The environment"}.get(now.source, "Your file")
        done += f" {whose} says {as_text(now.value)}, which counts here: {now.path}."
    elif given.unset:
        done += f" It is {as_text(now.value)} again."
    done = " ".join([done, *(visible(one) for one in found.problems if given.project and f"{ALLOW}`" in one)])
    if name.startswith(KEYS):
        done = " ".join([done, *resolve(found.keys)[1]])
    return Outcome(done, lambda: {**_json(now), "written": path})


def _allow(session: Session, given: "ParsedArguments") -> Outcome:
    """Allow the project's file to set what reaches outside of the project; --unset revokes it."""
    if given.value is not None:
        raise InvalidInput("The project's file is allowed as a whole.", "memoranda config allow")
    path, text, lines = asking(session.location)
    if not text:
        raise NotFound("This project has no settings of its own.", "memoranda config NAME VALUE --project makes some.")
    if given.unset:
        revoke(path)
        return Outcome(f"What {path} sets beyond the project does not count any more.", lambda: {"path": path})
    if not lines:
        return Outcome(f"Nothing in {path} needs to be allowed.", lambda: {"path": path, "allowed": []})
    if not given.yes and not session.ask(f"Let {visible(path)} set this?", [visible(line) for line in lines]):
        raise Declined("Nothing was allowed.")
    kept = grant(path, text)
    said = f"{path} is allowed, as it is now." if kept else f"{path} is allowed until this process ends: {trouble()}"
    return Outcome(said, lambda: {"path": path, "allowed": lines})


def _known(name: str) -> None:
    """Raise InvalidInput if there is no such setting and no key of that id."""
    known(name)
    key = name.removeprefix(KEYS)
    if key != name and key in FIXED:
        raise InvalidInput(f"{key} cannot have other keys: {FIXED[key]} needs it as it is.")
    if key != name and key not in BY_ID:
        raise InvalidInput(
            f"There is no key “{key[:40]}”.", nearest(key, BY_ID).strip() or f"There are {', '.join(BY_ID)}."
        )


def _value(found: Config, name: str) -> Value:
    """Return a setting or a key, remapped or default. Raises InvalidInput."""
    _known(name)
    return found.find(name) or Value(known(name), BY_ID[name.removeprefix(KEYS)].keys, "default", "")


def _all(session: Session, found: Config) -> Outcome:
    cells = [(value.name, as_text(value.value), WHOSE[value.source], value.setting.meaning) for value in found.values]
    widths = [max(len(row[column]) for row in cells) for column in range(3)]
    lines = [
        f"{name:<{widths[0]}}  {value:<{widths[1]}}  {source:<{widths[2]}}  {meaning}"
        for name, value, source, meaning in cells
    ]
    files = {"yours": user_path(), "project": project_path(session.location)}
    lines.append("")
    for whose, path in files.items():
        state = "" if path and os.path.lexists(path) else " (not made yet)"
        lines.append(
            f"{whose:<7}  {visible(path)}{state}" if path else f"{whose:<7}  none: this memory is no project's"
        )
    found.problems += resolve(found.keys)[1]
    problems = [visible(problem) for problem in found.problems]
    if problems:
        lines += ["", *problems]
    return Outcome(
        lines=lines,
        data=lambda: {
            "settings": [_json(value) for value in found.values],
            "files": [
                {"whose": whose, "path": path, "exists": bool(path and os.path.lexists(path))}
                for whose, path in files.items()
            ],
            "problems": found.problems,
        },
    )


def _one(value: Value) -> list[str]:
    setting = value.setting
    lines = [f"{value.name} is {as_text(value.value)}", f"{setting.meaning}.", f"It takes {setting.takes}."]
    where = f"${value.path}" if value.source == "environment" else visible(value.path)
    lines.append(f"Set in {where}." if value.path else "It is as it comes: no file sets it.")
    if setting.variable and value.source != "environment":
        lines.append(f"${setting.variable} sets it over every file.")
    return lines


def _json(value: Value) -> dict[str, object]:
    return {
        "name": value.name,
        "value": value.value,
        "source": value.source,
        "path": value.path or None,
        "default": BY_ID[value.name.removeprefix(KEYS)].keys if value.setting.kind == "keys" else value.setting.default,
        "kind": value.setting.kind,
        "choices": list(value.setting.choices),
        "meaning": value.setting.meaning,
    }


def as_text(value: object) -> str:
    """Return a value as it is shown and may be typed."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return visible(str(value)) if value != "" else '""'
