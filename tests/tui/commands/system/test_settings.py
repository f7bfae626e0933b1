"""`memoranda config`: what is set and where from, said and written as a person at a prompt meets it."""

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support import repositories
from support.cases import load_cases
from support.commands import Do, runner
from support.ours import memory_path

from store.config.configuration import user_settings_path
from store.config.settings import EXPERT, SETTINGS


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without a memory yet; the working directory."""
    project = tmp_path / "project"
    repositories.commit(project, "first")
    monkeypatch.chdir(project)
    return project


@pytest.fixture
def do(checkout: Path, capsys: pytest.CaptureFixture[str]) -> Do:
    return runner(capsys)


def project_file(checkout: Path, text: str = "") -> Path:
    path = memory_path(checkout).with_name("config.toml")
    if text:
        path.write_text(text)
        path.chmod(0o600)
    return path


def test_the_table_has_25_settings_in_groups_with_all_every_one_and_no_memory_is_made(do: Do, checkout: Path) -> None:
    files = ["", f"yours    {user_settings_path()} (not made yet)", f"project  {project_file(checkout)} (not made yet)"]
    first = {setting.name: setting for setting in SETTINGS if setting.group != EXPERT}
    for words, others, settings in (
        (["config"], ["", "37 more are for experts: memoranda config --all"], first),
        (["config", "--all"], [], {setting.name: setting for setting in SETTINGS}),
    ):
        said = do(*words)
        assert (said.status, said.err) == (0, "")
        *lines, _, _, _ = said.out.splitlines()
        rows = [line for line in lines if line.startswith("  ")]
        groups = [line for line in lines if line and line not in (*rows, *others)]
        assert said.out.splitlines()[len(rows) + len(groups) :] == others + files
        assert sorted(line.split()[0] for line in rows) == sorted(settings)
        assert all("  default  " in line and line.endswith(settings[line.split()[0]].meaning) for line in rows)
        assert len(first) == 25 and groups[:8] == [*dict.fromkeys(first[line.split()[0]].group for line in rows[:25])]
    assert not (checkout / ".memoranda").exists() and not os.path.exists(os.path.dirname(user_settings_path()))


def test_the_table_says_where_each_value_is_from_and_what_is_wrong(do: Do, checkout: Path) -> None:
    do("init")
    do("config", "motion", "none")
    do("config", "keys.record.forget", "X")
    file = project_file(checkout, "retention_days = 700\nbadges = 'emoji'\ntheme = '\u202e'\n[keys]\n'zzzz' = 'y'\n")
    said = do("config")
    rows = {line.split()[0]: line.split()[1:3] for line in said.out.splitlines() if line}
    assert rows["motion"] == ["none", "yours"] and rows["retention_days"] == ["700", "project"]
    assert rows["keys.record.forget"] == ["X", "yours"] and rows["badges"] == ["unicode", "default"]
    assert said.out.splitlines()[said.out.splitlines().index("Expert") + 1].split()[0] == "keys.record.forget"
    assert "(not made yet)" not in said.out
    wrong = ("badges takes unicode or ascii.", "theme takes a text of one line.", "There is no key “zzzz”.")
    assert said.out.splitlines()[-3:] == [f"{file}: {one}" for one in wrong]
    data = json.loads(do("config", "--json").out)
    assert [file["exists"] for file in data["files"]] == [True, True] and len(data["problems"]) == 3
    assert {setting["name"]: setting["source"] for setting in data["settings"]}["motion"] == "user"


def test_one_setting_says_what_it_is_what_it_takes_and_where_from(do: Do) -> None:
    assert do("config", "badges").out.splitlines()[::2] == ["badges is unicode", "It takes unicode or ascii."]
    do("config", "badges", "ascii")
    assert do("config", "badges").out.splitlines()[-1] == f"Set in {user_settings_path()}."
    assert do("config", "keys.record.forget").out.startswith("keys.record.forget is f\n")
    one: dict[str, Any] = json.loads(do("config", "badges", "--json").out)
    found = [one[name] for name in ("value", "default", "source", "path")]
    assert found == ["ascii", "unicode", "user", user_settings_path()]


def test_setting_says_where_it_wrote_and_when_the_project_overrides_it(do: Do, checkout: Path) -> None:
    do("init")
    said = do("config", "theme", "nord")
    assert said.out == f"theme is now nord, in {user_settings_path()}.\n"
    said = do("config", "theme", "ours", "--project")
    assert said.out == f"theme is now ours, in {project_file(checkout)}.\n"
    assert tomllib.loads(project_file(checkout).read_text()) == {"theme": "ours"}
    said = do("config", "theme", "mine")
    wins = f"The project's file says ours, which counts here: {project_file(checkout)}."
    assert said.out == f"theme is now mine, in {user_settings_path()}. {wins}\n"
    assert json.loads(do("config", "theme", "mine", "--json").out)["value"] == "ours"
    said = do("config", "theme", "--unset", "--project")
    mine = f"Your file says mine, which counts here: {user_settings_path()}."
    assert said.out == f"Removed theme from {project_file(checkout)}. {mine}\n"
    assert do("config", "theme", "--unset").out == f'Removed theme from {user_settings_path()}. It is "" again.\n'
    assert do("config", "theme").out.startswith('theme is ""\n')


def test_a_misspelt_line_can_be_taken_out(do: Do) -> None:
    do("config", "theme", "nord")
    Path(user_settings_path()).write_text("themes = 'x'\n")
    assert do("config", "themes", "--unset").out == f"Removed themes from {user_settings_path()}.\n"
    assert Path(user_settings_path()).read_text().strip() == ""


@pytest.mark.parametrize(("words", "status", "said"), load_cases(__file__)["refused"])
def test_what_cannot_be_is_refused_in_a_sentence(do: Do, checkout: Path, words, status: int, said: str) -> None:
    done = do("config", *words)
    assert (done.status, done.out) == (status, "") and said in done.err and done.err.count("\n") == 1
    assert not (checkout / ".memoranda").exists() and not os.path.exists(user_settings_path())


def test_a_memory_elsewhere_has_the_persons_settings_alone(do: Do, tmp_path: Path) -> None:
    said = do("config", "--db", str(tmp_path / "any.db"))
    assert said.out.splitlines()[-1] == "project  none: this memory is no project's"
    assert not (tmp_path / "any.db").exists()


def test_a_hostile_file_is_shown_and_not_obeyed(do: Do, checkout: Path) -> None:
    do("init")
    project_file(checkout, '"\\u001b[2J\\u202e" = 1\n"a\\nb" = 2\n[keys]\n"x\\u001b" = "y"\n')
    said = do("config", "--all")
    assert "\x1b" not in said.out and "\u202e" not in said.out and "a ⏎ b" in said.out
    assert len([line for line in said.out.splitlines() if line.startswith("  ")]) == len(SETTINGS)


SHIPPED = """\
theme = "nord"
retention_days = 1
[documents]
extraPaths = ["~/.ssh"]
[keys]
record.forget = "enter"
"""


def test_what_reaches_outside_counts_once_it_is_allowed_and_as_it_was_then(do: Do, checkout: Path) -> None:
    """Of a private file, as an archive unpacked under a umask of 077 leaves it."""
    do("init")
    file = project_file(checkout, SHIPPED)

    def counted() -> list[str]:
        found = {one["name"]: one for one in json.loads(do("config", "--json").out)["settings"]}
        return [name for name, one in found.items() if one["source"] == "project"]

    assert counted() == ["theme"]
    said = do("config", "allow")
    assert said.status == 2 and "Needs confirmation" in said.err and counted() == ["theme"]
    told = do("config").out.splitlines()[-1]
    names = "retention_days, documents.extraPaths, keys.record.forget"
    assert told.startswith(f"{file} sets {names}, which counts once you allowed it: ")
    assert told.endswith("read the file, then `memoranda config allow`.")
    said = do("config", "theme", "dracula", "--project")  # a change made here blesses none of theirs
    assert said.status == 0 and "memoranda config allow" in said.out and counted() == ["theme"]
    said = do("config", "allow", "--yes", "--json")
    allowed = ["retention_days = 1", "documents.extraPaths = ['~/.ssh']", "keys.record.forget = 'enter'"]
    assert json.loads(said.out)["allowed"] == allowed
    assert counted() == ["retention_days", "theme", "documents.extraPaths", "keys.record.forget"]
    do("config", "motion", "none", "--project")  # nor does one take the leave away
    assert len(counted()) == 5
    file.write_text(file.read_text().replace("~/.ssh", "~/.gnupg"))
    assert counted() == ["theme", "motion"]
    do("config", "allow", "--yes")
    assert len(counted()) == 5
    assert do("config", "allow", "--unset").status == 0 and counted() == ["theme", "motion"]


def test_what_is_set_here_needs_no_leave(do: Do, checkout: Path) -> None:
    do("init")
    for name, value in (("retention_days", "1"), ("keys.record.forget", "X"), ("documents.extraPaths", "notes")):
        said = do("config", name, value, "--project")
        assert said.status == 0 and "allow" not in said.out
    assert json.loads(do("config", "--json").out)["problems"] == []


def test_a_variable_wins_and_is_named(do: Do, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    do("init")
    told = do("config", "retention_days").out.splitlines()
    assert told[-1] == "$MEMORANDA_RETENTION_DAYS sets it over every file."
    monkeypatch.setenv("MEMORANDA_RETENTION_DAYS", "20")
    lines = do("config", "retention_days").out.splitlines()
    assert lines[0::3] == ["retention_days is 20", "Set in $MEMORANDA_RETENTION_DAYS."]
    data = do("config", "retention_days", "--json").data
    assert (data["value"], data["source"], data["path"]) == (20, "environment", "MEMORANDA_RETENTION_DAYS")
    (line,) = [line for line in do("config").out.splitlines() if line.startswith("  retention_days ")]
    assert line.split()[1:3] == ["20", "variable"]
    for where in ((), ("--project",)):
        said = do("config", "retention_days", "30", *where).out
        assert "The environment says 20, which counts here: MEMORANDA_RETENTION_DAYS." in said
    monkeypatch.setenv("MEMORANDA_RETENTION_DAYS", "soon")
    assert "$MEMORANDA_RETENTION_DAYS: retention_days takes a whole number" in do("config").out
    assert do("config", "retention_days").out.startswith("retention_days is 30")
    assert "variable" not in do("config", "theme").out and "sets it over" not in do("config", "theme").out
