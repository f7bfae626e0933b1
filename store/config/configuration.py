"""The settings for a memory: defaults, the person's file, the project's, the environment, in this order."""

import os

from store.base.errors import InvalidInput, StorageError
from store.base.installation import known as known_memory
from store.config.files import entries, project_path, put, remove, text_of, user_path
from store.config.grants import granted
from store.config.setting import Setting
from store.config.settings import KEYS, SETTINGS, known, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from store.base.location import Location

__all__ = [
    "KEYS",
    "SETTINGS",
    "Config",
    "Setting",
    "Value",
    "asking",
    "captures",
    "entries",
    "known",
    "load",
    "project_path",
    "put",
    "remove",
    "user_path",
]

NOTE = (".claude", "alfred-dev.local.md")  # a note for one person's agent, whose head may contain settings of ours
NOTED = ("enabled", "capture_decisions", "capture_commits", "retention_days")  # which of them count
NOTE_BYTES = 100_000
_CAPTURES = {"commits": "capture_commits", "decisions": "capture_decisions", "events": "enabled"}


class Value:
    """The value of a setting and where it is from: `source` is default, user, project or environment, `path` the file
    or the variable ("" for a default)."""

    __slots__ = ("name", "path", "setting", "source", "value")

    def __init__(self, setting: Setting, value: "Any", source: str, path: str) -> None:
        self.name = setting.name
        self.value = value
        self.source = source
        self.path = path
        self.setting = setting


SWITCHED = {"1": "true", "0": "false"}  # as programs write switches in variables


class Config:
    """Every setting of one memory: `config["theme"]`.

    `problems` are sentences about values in the files that could not be used; the next lower value is used there.
    """

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._values = {setting.name: Value(setting, setting.default, "default", "") for setting in SETTINGS}

    def __getitem__(self, name: str) -> "Any":
        return self._values[name].value

    def find(self, name: str) -> Value | None:
        """Return a setting or a remapped key by its name; None for a key with its default."""
        return self._values.get(name)

    @property
    def values(self) -> list[Value]:
        """Return every setting in the order of SETTINGS, then every remapped key."""
        return list(self._values.values())

    @property
    def keys(self) -> dict[str, str]:
        """Return the remapped keys: a key's id → keys as the app writes them, `F` or `ctrl+f,f`."""
        return {name.removeprefix(KEYS): value.value for name, value in self._values.items() if name.startswith(KEYS)}

    def take(self, source: str, path: str, key_ids: "Collection[str]", fixed: "Mapping[str, str]") -> None:
        """Apply the file at `path` over the current values."""
        try:
            text = text_of(path)
            found = entries(path, text)
        except StorageError as error:
            self.problems.append(str(error))
            return
        if source == "project" and (asking := self.asking(found, key_ids)) and not granted(path, text):
            for name in asking:
                del found[name]
            names = ", ".join(name[:60] for name in asking[:4]) + (" …" if len(asking) > 4 else "")
            self.problems.append(
                f"{path} sets {names}, which counts once you allowed it: read the file, then `memoranda config allow`."
            )
        for name, value in found.items():
            problem = self._put(source, path, name, value, key_ids, fixed)
            if problem:
                self.problems.append(f"{path}: {problem}")

    def asking(self, found: "Mapping[str, Any]", key_ids: "Collection[str]" = ()) -> list[str]:
        """Return which settings of a project's file need the person's permission, given the current values."""
        names = []
        for name, value in found.items():
            try:
                setting = known(name)
            except InvalidInput:
                continue
            if key_ids and name.startswith(KEYS) and name.removeprefix(KEYS) not in key_ids:
                continue
            if not setting.own and setting.fits(value) and setting.asks(value, self._before(setting)):
                names.append(name)
        return names

    def _before(self, setting: Setting) -> "Any":
        return self._values[setting.name].value if setting.name in self._values else setting.default

    def take_local_note(self, path: str) -> None:
        """Apply the section `memoria:` at the head of a note beside a project's agent. It may have come with a
        checkout: a shorter retention than without it is ignored, and so is any setting other than these four."""
        try:
            with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), encoding="utf-8") as file:
                text = file.read(NOTE_BYTES)
        except (OSError, UnicodeDecodeError):
            return
        for name, noted in _note(text).items():
            setting = known(name)
            try:
                value = setting.parse(noted)
            except InvalidInput:
                self.problems.append(f"{path}: {name} takes {setting.takes}.")
                continue
            if setting.asks(value, self[name]):
                self.problems.append(f"{path}: {name} would be less than it is; set it with memoranda config {name}.")
            else:
                self._values[name] = Value(setting, value, "project", path)

    def take_environment(self, environment: "Mapping[str, str]") -> None:
        """Apply the environment variables of the settings that have one over the current values; an empty one is
        ignored, and a switch takes 1 and 0 there too."""
        for setting in SETTINGS:
            text = environment.get(setting.variable, "") if setting.variable else ""
            if not text:
                continue
            if setting.kind == "bool":
                text = SWITCHED.get(text, text)
            try:
                self._values[setting.name] = Value(setting, setting.parse(text), "environment", setting.variable)
            except InvalidInput:
                self.problems.append(f"${setting.variable}: {setting.name} takes {setting.takes}.")

    def _put(
        self,
        source: str,
        path: str,
        name: str,
        value: object,
        key_ids: "Collection[str]",
        fixed: "Mapping[str, str]",
    ) -> str:
        """Apply one value; return what is wrong with it, or an empty text."""
        try:
            setting = known(name)
        except InvalidInput as error:
            return str(error)
        key = name.removeprefix(KEYS)
        if key != name and key in fixed:
            return f"{key} cannot have other keys: {fixed[key]} needs it as it is."
        if key != name and key_ids and key not in key_ids:
            return f"There is no key “{key[:40]}”.{nearest(key, key_ids)}"
        if setting.own and source == "project":
            return f"{name} {setting.own}, so only your own file sets it: {user_path()}."
        if not setting.fits(value):
            return f"{name} takes {setting.takes}."
        self._values[name] = Value(setting, value, source, path)
        return ""


def load(
    location: "Location",
    key_ids: "Collection[str]" = (),
    fixed: "Mapping[str, str]" = {},  # noqa: B006 - only read
) -> Config:
    """Return the settings for this memory. Never raises: what cannot be used is in `problems`, and the default is used.

    `key_ids` are the existing keys, to check `[keys]` against; without them every id is accepted. `fixed` are those
    that cannot be remapped, and what needs each.
    """
    config = Config()
    config.take("user", user_path(), key_ids, fixed)
    if (path := project_path(location)) and not location.look and _ours(location.path):
        config.take("project", path, key_ids, fixed)
        config.take_local_note(os.path.join(location.project or "", *NOTE))
    config.take_environment(os.environ)
    return config


def _note(text: str) -> dict[str, str]:
    """Return the settings of the section `memoria:` of a note's head, as they are written."""
    lines = text.split("\n")
    if lines[0].strip() != "---":
        return {}
    found: dict[str, str] = {}
    inside = False
    for line in lines[1:200]:
        if line.strip() == "---":
            break
        if not line[:1].isspace() and line.strip():
            inside = line.split("#")[0].strip() == "memoria:"
        elif inside:
            name, colon, value = line.split("#")[0].strip().partition(":")
            if colon and name in NOTED:
                found[name] = value.strip().strip("'\"")
    return found


def waits(location: "Location") -> bool:
    """Return whether there is a project's file that does not count yet, because its memory is not known by its place:
    it was moved or copied, which is detected when it is opened, or it is not ours."""
    path = project_path(location)
    return path is not None and not location.look and os.path.lexists(path) and not _ours(location.path)


def _ours(path: str) -> bool:
    """Return whether the memory at `path` is this installation's, or does not exist yet."""
    try:
        return known_memory(path) is not None or os.path.getsize(path) == 0
    except OSError:
        return True


def asking(location: "Location") -> tuple[str, str, list[str]]:
    """Return for a project's file (its path, its text, the lines that need the person's permission, as `name = value`).
    Raise StorageError."""
    path = project_path(location)
    if path is None:
        return "", "", []
    config = Config()
    config.take("user", user_path(), (), {})
    text = text_of(path)
    found = entries(path, text)
    return path, text, [f"{name} = {found[name]!r}" for name in config.asking(found)]


def captures(config: Config, what: str) -> bool:
    """Return whether `commits`, `decisions` or `events` may be captured without a person asking for it.

    Every door that captures calls this first: the reader of git, and whatever logs for an agent or a hook. What a
    person says or types is no capture, and is never checked here.
    """
    return bool(config["enabled"] and config[_CAPTURES[what]])
