"""The settings for a memory: defaults, the person's file, the project's, the environment, in this order."""

from __future__ import annotations

import fcntl
import os
import stat
import tomllib
from collections.abc import Collection, Mapping, MutableMapping
from dataclasses import dataclass
from hashlib import sha256
from types import ModuleType
from typing import Any

from store.base.errors import InvalidInput, StorageError
from store.base.location import Location, is_project_folder, person_folder
from store.base.runtime import open_at_once
from store.base.state_files import (
    delete_state,
    find_known_memory,
    read_state,
    replace_whole_file,
    state_name_of,
    write_state,
)
from store.config.settings import (
    EXPERT,
    KEYS_PREFIX,
    SETTINGS,
    Setting,
    find_setting,
    format_suggestion,
    setting_labels,
)
from store.git.checkout import is_tracked_by_git

# The project files that a person has allowed to set what has effects outside of the project.
#
# A digest of the file's content is stored, outside of every checkout: a changed file is no longer allowed. Its
# permissions prove nothing, since an archive can set them.

GRANT_KIND = "settings"


def is_config_granted(path: str, text: str) -> bool:
    """Return whether the file at `path`, with the content `text`, was allowed."""
    return bool(text) and read_state(state_name_of(GRANT_KIND, path)) == _config_digest(text)


def grant_config(path: str, text: str) -> bool:
    """Allow the file with this content; return whether that is stored for longer than this process runs."""
    return write_state(state_name_of(GRANT_KIND, path), _config_digest(text))


def revoke_config_grant(path: str) -> None:
    """Revoke the permission."""
    delete_state(state_name_of(GRANT_KIND, path))


def _config_digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


# The files of settings: read without trust, changed whole or not at all.
#
# A project's file may have come with a checkout, so a symbolic link, another person's file, and one whose mode is
# not the 0600 we give it are refused. `is_config_granted` decides what a private one may set.

CONFIG_FILE = "config.toml"
# bytes
MAX_CONFIG_BYTES = 1_000_000


def user_settings_path() -> str:
    """Return the person's own file, in the platform's folder for configuration."""
    return os.path.join(person_folder("config", "XDG_CONFIG_HOME", ".config"), CONFIG_FILE)


def project_settings_path(location: Location) -> str | None:
    """Return the project's file, beside its memory; None for the personal memory and for a file in a folder of
    others."""
    folder = os.path.dirname(location.path)
    if location.kind == "personal" or not is_project_folder(folder):
        return None
    return os.path.join(folder, CONFIG_FILE)


def write_setting(path: str, name: str, text: str) -> Any:
    """Write a setting as a person typed it, and return its value. Raise InvalidInput or StorageError."""
    setting = find_setting(name)
    if setting.own and _is_project_file(path):
        raise InvalidInput(
            f"{name} {setting.own}, so only your own file sets it.", f"memoranda config {name} VALUE"
        )
    value = setting.parse(text)
    _change_entry(path, name, value)
    return value


def remove_setting(path: str, name: str) -> bool:
    """Remove a setting from the file, a misspelt one too; return whether it was there. Raise StorageError."""
    if name not in read_config_entries(path):
        return False
    _change_entry(path, name, None)
    return True


def _is_project_file(path: str) -> bool:
    """Tell whether a file of settings is a project's: it lies beside its memory."""
    return is_project_folder(os.path.dirname(path))


def read_config_text(path: str) -> str:
    """Return the text of the file, empty if there is none. Raise StorageError."""
    link = f"{path} lies behind a symbolic link, and is not read through one."
    own = _is_project_file(path)
    if own and os.path.islink(os.path.dirname(path)):
        raise StorageError(link, "Put a plain folder there.")
    # not blocking: a pipe of that name would block for ever
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (os.O_NOFOLLOW if own else 0)
    try:
        handle = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        if own and os.path.islink(path):
            raise StorageError(link, "Put a plain file there.") from None
        raise StorageError(f"{path} cannot be read: {error.strerror}.", "Its settings are not used.") from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise StorageError(f"{path} is not a plain file.", "Move it away.")
        if own and (status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077):
            raise StorageError(
                f"{path} is not private, so a stranger may have written it, as in a checkout; it is not used.",
                "If it is yours, make it so: chmod 600.",
            )
        if status.st_size > MAX_CONFIG_BYTES:
            raise StorageError(f"{path} is larger than a file of settings can be.", "Its settings are not used.")
        with open(handle, "rb", closefd=False) as file:
            return file.read(MAX_CONFIG_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        raise StorageError(f"{path} is not UTF-8 text.", "Its settings are not used.") from None
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror}.", "Its settings are not used.") from None
    finally:
        os.close(handle)


def read_config_entries(path: str, text: str | None = None) -> dict[str, Any]:
    """Return the entries of the file (or of `text`, which was read from it), by dotted name; empty if there is none.
    Raise StorageError: unreadable, unsafe, no TOML, with the line that is wrong."""
    try:
        waiting = [("", tomllib.loads(read_config_text(path) if text is None else text))]
    except (ValueError, RecursionError) as error:
        raise StorageError(
            f"{path} is not TOML: {error}.", "Its settings are not used until it is mended."
        ) from None
    found: dict[str, Any] = {}
    # not recursive: a stranger may nest a thousand levels
    while waiting:
        start, table = waiting.pop(0)
        for key, value in table.items():
            if isinstance(value, dict):
                waiting.append((f"{start}{key}.", value))
            else:
                found[start + key] = value
    return found


def load_tomlkit() -> ModuleType:
    """Import what changes a file of TOML and keeps the rest of it: 5 ms, which only such a change needs."""
    import tomlkit

    return tomlkit


def _change_entry(path: str, name: str, value: object) -> None:
    """Set, or with None remove, one name in the file, and leave the rest unchanged. Raise StorageError."""
    folder = _prepare_config_folder(path)
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            # two processes that change it at once do so one after the other
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.islink(path):
                raise StorageError(
                    f"{path} is a symbolic link, and is never written through one.", "Edit the file it leads to."
                )
            text = read_config_text(path)
            trusted = not text or is_config_granted(path, text)
            wanted = read_config_entries(path, text)
            try:
                document = load_tomlkit().parse(text)
                table, key = _find_table(document, name)
                if value is None:
                    del wanted[name], table[key]
                else:
                    wanted[name] = table[key] = value
                text = load_tomlkit().dumps(document)
                exact = read_config_entries(path, text) == wanted
            except (ValueError, LookupError, TypeError, RecursionError, StorageError):
                exact = False
            if not exact:
                raise StorageError(
                    f"{path} is written so that one value cannot be changed alone.", "Edit it by hand."
                )
            with replace_whole_file(path) as file:
                file.write(text.encode())
            if trusted and _is_project_file(path):
                # all of its content was set here
                grant_config(path, text)
            os.fsync(lock)
        finally:
            os.close(lock)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}.", "Nothing was changed.") from None


def _prepare_config_folder(path: str) -> str:
    """Return the folder of the file, private; the person's own is created. Raise StorageError."""
    folder = os.path.dirname(path)
    if _is_project_file(path):
        if not os.path.isdir(folder):
            raise StorageError(
                "This project has no memory yet, and its settings lie beside it.", "memoranda open --new"
            )
        return folder
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not os.path.islink(folder):
            os.chmod(folder, 0o700)
    except OSError as error:
        raise StorageError(
            f"The folder {folder} cannot be made: {error.strerror}.", "Nothing was changed."
        ) from None
    return folder


def _find_table(table: MutableMapping[str, Any], name: str) -> tuple[MutableMapping[str, Any], str]:
    """Return (table, key) where a dotted name is, or else belongs: `keys.a.b` as "a.b" in the table `keys`."""
    at, rest = table, name
    while rest not in at or isinstance(at[rest], dict):
        inner = [key for key in at if rest.startswith(f"{key}.") and isinstance(at[key], dict)]
        if not inner:
            break
        at, rest = at[inner[0]], rest[len(inner[0]) + 1 :]
    head, dot, tail = name.partition(".")
    if at is not table or not dot or head in table or name in table:
        return at, rest
    table[head] = {}
    return table[head], tail


# a note for one person's agent, whose head may contain settings of ours; which of them count
LOCAL_NOTE_PATH = (".claude", "alfred-dev.local.md")
LOCAL_NOTE_SETTINGS = ("enabled", "capture_decisions", "capture_commits", "retention_days")
MAX_NOTE_BYTES = 100_000
_CAPTURE_SETTINGS = {"commits": "capture_commits", "decisions": "capture_decisions", "events": "enabled"}


@dataclass(slots=True, eq=False, repr=False)
class SettingValue:
    """The value of a setting and where it is from: `source` is default, user, project or environment, `path` the file
    or the variable ("" for a default)."""

    setting: Setting
    value: Any
    source: str
    path: str

    @property
    def name(self) -> str:
        """The name of the setting."""
        return self.setting.name


# as programs write switches in variables
SWITCH_VALUES = {"1": "true", "0": "false"}


class Config:
    """Every setting of one memory: `config["theme"]`.

    `problems` are sentences about values in the files that could not be used; the next lower value is used there.
    `key_ids` are the existing keys, to check `[keys]` against; without them every id is accepted. `fixed` are those
    that cannot be remapped, and what needs each.
    """

    def __init__(self, key_ids: Collection[str] = (), fixed: Mapping[str, str] = {}) -> None:
        self.problems: list[str] = []
        self._key_ids = key_ids
        self._fixed = fixed
        self._values = {
            setting.name: SettingValue(setting, setting.default, "default", "") for setting in SETTINGS
        }

    def __getitem__(self, name: str) -> Any:
        return self._values[name].value

    def find_value(self, name: str) -> SettingValue | None:
        """Return a setting or a remapped key by its name; None for a key with its default."""
        return self._values.get(name)

    @property
    def values(self) -> list[SettingValue]:
        """Return every setting in the order of SETTINGS, then every remapped key."""
        return list(self._values.values())

    def groups(self, expert: bool = False) -> dict[str, list[SettingValue]]:
        """Return the settings by group, as they are listed; of those for experts what was changed from the default, or
        with `expert` every one."""
        found: dict[str, list[SettingValue]] = {}
        for name, (group, _) in setting_labels().items():
            found.setdefault(group, []).append(self._values[name])
        rest = [value for value in self.values if value.setting.group == EXPERT]
        return found | {EXPERT: [value for value in rest if expert or value.source != "default"]}

    @property
    def remapped_keys(self) -> dict[str, str]:
        """Return the remapped keys: a key's id → keys as the app writes them, `F` or `ctrl+f,f`."""
        return {
            name.removeprefix(KEYS_PREFIX): value.value
            for name, value in self._values.items()
            if name.startswith(KEYS_PREFIX)
        }

    def apply_file(self, source: str, path: str) -> None:
        """Apply the file at `path` over the current values."""
        try:
            text = read_config_text(path)
            found = read_config_entries(path, text)
        except StorageError as error:
            self.problems.append(str(error))
            return
        asking = self.list_needing_permission(found) if source == "project" else []
        if asking and not is_config_granted(path, text):
            for name in asking:
                del found[name]
            names = ", ".join(name[:60] for name in asking[:4]) + (" …" if len(asking) > 4 else "")
            self.problems.append(
                f"{path} sets {names}, which counts once you allowed it: read the file, then `memoranda config allow`."
            )
        for name, value in found.items():
            if problem := self._apply_value(source, path, name, value):
                self.problems.append(f"{path}: {problem}")

    def list_needing_permission(self, found: Mapping[str, Any]) -> list[str]:
        """Return which settings of a project's file need the person's permission, given the current values."""
        names = []
        for name, value in found.items():
            try:
                setting = find_setting(name)
            except InvalidInput:
                continue
            if self._is_unknown_key(name) or setting.own or not setting.is_valid(value):
                continue
            known = self._values.get(setting.name)
            if setting.needs_permission(value, known.value if known else setting.default):
                names.append(name)
        return names

    def _is_unknown_key(self, name: str) -> bool:
        """Return whether a name is that of the keys of something that does not exist."""
        key = name.removeprefix(KEYS_PREFIX)
        return key != name and bool(self._key_ids) and key not in self._key_ids

    def apply_local_note(self, path: str) -> None:
        """Apply the section `memoria:` at the head of a note beside a project's agent, if it is the person's own file
        and git does not track it. A shorter retention than without it is ignored, and any setting but these four."""
        try:
            with open(path, encoding="utf-8", opener=open_at_once) as file:
                own = os.fstat(file.fileno()).st_uid == os.getuid()
                noted_settings = _parse_local_note(file.read(MAX_NOTE_BYTES))
        except (OSError, UnicodeDecodeError):
            return
        if noted_settings and (not own or is_tracked_by_git(path) is not False):
            why = "git tracks it" if own else "it belongs to another user"
            self.problems.append(f"{path} is not yours alone, as {why}: its section `memoria` does not count.")
            return
        for name, noted in noted_settings.items():
            setting = find_setting(name)
            try:
                value = setting.parse(noted)
            except InvalidInput:
                self.problems.append(f"{path}: {name} takes {setting.allowed_values}.")
                continue
            if setting.needs_permission(value, self[name]):
                self.problems.append(
                    f"{path}: {name} would be less than it is; set it with memoranda config {name}."
                )
            else:
                self._values[name] = SettingValue(setting, value, "project", path)

    def apply_environment(self, environment: Mapping[str, str]) -> None:
        """Apply the environment variables of the settings that have one over the current values; an empty one is
        ignored, and a switch takes 1 and 0 there too."""
        for setting in SETTINGS:
            text = environment.get(setting.variable, "") if setting.variable else ""
            if not text:
                continue
            if setting.kind == "bool":
                text = SWITCH_VALUES.get(text, text)
            try:
                self._values[setting.name] = SettingValue(
                    setting, setting.parse(text), "environment", setting.variable
                )
            except InvalidInput:
                self.problems.append(f"${setting.variable}: {setting.name} takes {setting.allowed_values}.")

    def _apply_value(self, source: str, path: str, name: str, value: object) -> str:
        """Apply one value; return what is wrong with it, or an empty text."""
        try:
            setting = find_setting(name)
        except InvalidInput as error:
            return str(error)
        key = name.removeprefix(KEYS_PREFIX)
        if key != name and key in self._fixed:
            return f"{key} cannot have other keys: {self._fixed[key]} needs it as it is."
        if self._is_unknown_key(name):
            return f"There is no key “{key[:40]}”.{format_suggestion(key, self._key_ids)}"
        if setting.own and source == "project":
            return f"{name} {setting.own}, so only your own file sets it: {user_settings_path()}."
        if not setting.is_valid(value):
            return f"{name} takes {setting.allowed_values}."
        self._values[name] = SettingValue(setting, value, source, path)
        return ""


def load_config(location: Location, key_ids: Collection[str] = (), fixed: Mapping[str, str] = {}) -> Config:
    """Return the settings for this memory. Never raises: what cannot be used is in `problems`, and the default is
    used."""
    config = Config(key_ids, fixed)
    config.apply_file("user", user_settings_path())
    if (path := project_settings_path(location)) and not location.look and _is_ours_or_new(location.path):
        config.apply_file("project", path)
        config.apply_local_note(os.path.join(location.project or "", *LOCAL_NOTE_PATH))
    config.apply_environment(os.environ)
    return config


def _parse_local_note(text: str) -> dict[str, str]:
    """Return the settings of the section `memoria:` of a note's head, as they are written. The head ends with a line
    `---`, and may begin with one."""
    lines = text.split("\n")
    found: dict[str, str] = {}
    inside = False
    for line in lines[lines[0].strip() == "---" : 200]:
        if line.strip() == "---":
            break
        if not line[:1].isspace() and line.strip():
            inside = line.split("#")[0].strip() == "memoria:"
        elif inside:
            name, colon, value = line.split("#")[0].strip().partition(":")
            if colon and name in LOCAL_NOTE_SETTINGS:
                found[name] = value.strip().strip("'\"")
    return found


def has_ignored_project_file(location: Location) -> bool:
    """Tell whether a project's file of settings is ignored so far, because its memory is not known under its path:
    it was moved or copied, which is detected when it is opened, or it is not ours."""
    path = project_settings_path(location)
    return path is not None and not location.look and os.path.lexists(path) and not _is_ours_or_new(location.path)


def _is_ours_or_new(path: str) -> bool:
    """Return whether the memory at `path` is this installation's, or does not exist yet."""
    try:
        return find_known_memory(path) is not None or os.path.getsize(path) == 0
    except OSError:
        return True


def read_permission_request(location: Location) -> tuple[str, str, list[str]]:
    """Return the path and the text of a project's file, and its lines that need the person's permission, as `name
    = value`. Raise StorageError."""
    path = project_settings_path(location)
    if path is None:
        return "", "", []
    config = Config()
    config.apply_file("user", user_settings_path())
    text = read_config_text(path)
    found = read_config_entries(path, text)
    return path, text, [f"{name} = {found[name]!r}" for name in config.list_needing_permission(found)]


def may_capture(config: Config, what: str) -> bool:
    """Return whether `commits`, `decisions` or `events` may be captured without a person asking for it.

    Every door that captures calls this first: the reader of git, and whatever logs for an agent or a hook. What a
    person says or types is no capture, and is never checked here.
    """
    return bool(config["enabled"] and config[_CAPTURE_SETTINGS[what]])
