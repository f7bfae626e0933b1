"""connect, for agents, git and plugins, as a person meets it; what the doctor says of what was connected."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.ours import memory_path

from store.base.errors import Declined, StorageError
from store.doors import connection
from store.doors.client import CLIENTS
from store.projects.locating import locate
from tui.commands import agents as doors
from tui.commands.call import Call, Outcome
from tui.input.arguments import parse_arguments
from tui.input.verb_table import find_verb


class Person:
    """Somebody in a project with a checkout, who says yes or no."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.says = True
        self.saw: list[str] = []
        subprocess.run(["git", "init", "-q", folder], check=True)

    def run(self, line: str) -> Outcome:
        verb, words = find_verb(line.split()) or pytest.fail(line)
        return self.call.run(verb, parse_arguments(verb.name, verb.arguments, words))

    @property
    def call(self) -> Call:
        return Call(locate(None, {}, str(self.folder)), None, str(self.folder), self.ask)

    def ask(self, question: str, lines: Any = ()) -> bool:
        self.saw = [question, *lines]
        return self.says


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return Person(tmp_path)


def test_the_diff_is_seen_before_anything_is_changed(person: Person) -> None:
    person.says = False
    with pytest.raises(Declined):
        person.run("connect gemini")
    assert person.saw[0] == "Connect Gemini CLI: this project, for you alone?"
    assert any(line.startswith("+") and "memoranda_hook.py gemini" in line for line in person.saw)
    assert not (person.folder / ".gemini").exists() and not (person.folder / ".memoranda").exists()
    person.run("connect gemini --dry-run")
    assert not (person.folder / ".gemini").exists()
    person.says = True
    said = person.run("connect gemini")
    assert said.message == "Connected Gemini CLI: this project, for you alone."
    assert any("is not installed here" in line for line in said.lines)
    assert any("trust" in line for line in said.lines) and said.lines[-1].endswith("memoranda connect gemini --off")
    assert memory_path(person.folder).exists()  # hooks make none
    assert person.run("connect gemini").message == "Gemini CLI is connected already: this project, for you alone."
    assert "gemini       not here   connected: this project, for you alone" in person.run("connect").lines


def test_what_is_in_the_way_of_going_back_is_said(person: Person) -> None:
    person.run("connect gemini --yes")
    file = person.folder / ".gemini" / "settings.json"
    said = json.loads(file.read_text())
    said["mcpServers"]["memoranda"]["args"] = ["mine"]
    file.write_text(json.dumps(said))
    with pytest.raises(StorageError, match="is another one by now than we wrote"):
        person.run("connect gemini --off --yes")
    assert json.loads(file.read_text()) == said
    assert "not connected here, with --user" in person.run("connect gemini --off --user").message


def test_a_shared_file_names_no_place_of_one_machine(person: Person) -> None:
    person.run("connect claude-code --project --yes")
    for name in (".mcp.json", ".claude/settings.json"):
        text = (person.folder / name).read_text()
        assert str(Path.home()) not in text and "/bin/memoranda" not in text
    assert "command -v memoranda" in (person.folder / ".claude" / "settings.json").read_text()


def test_the_doctor_sees_that_a_client_lost_its_hooks(person: Person) -> None:
    person.run("connect gemini --yes")
    person.run("connect git --yes")
    assert findings(person, "doctor --quick") == [("gemini", "ok"), ("git", "ok")]
    assert findings(person, "doctor") == [("gemini", "note"), ("git", "ok")]  # it is not installed here
    (person.folder / ".gemini" / "settings.json").write_text("{}")
    (person.folder / ".git" / "hooks" / "post-commit").unlink()
    assert findings(person, "doctor --quick") == [("gemini", "note"), ("git", "note")]
    person.run("connect gemini --yes")
    person.run("connect git --yes")
    assert findings(person, "doctor --quick") == [("gemini", "ok"), ("git", "ok")]
    person.run("connect gemini --off --yes")
    person.run("connect git --off --yes")
    assert findings(person, "doctor --quick") == []


def test_the_doctor_sees_whose_file_the_hooks_run(person: Person, tmp_path_factory: Any) -> None:
    other = tmp_path_factory.mktemp("other") / "memoranda_hook.py"
    other.write_text("")
    person.run("connect gemini --yes")
    place = doors._agent_place(person.call, "local")
    for hook, seen in (((), "ok"), ((sys.executable, str(other)), "note"), (place.hook, "ok")):
        plan = connection.plan_connection(CLIENTS["gemini"], place._replace(hook=hook))
        connection.apply_connection(plan)
        assert findings(person, "doctor --quick") == [("gemini", seen)]
        if hook and seen == "note":
            assert f"{other} at each event, which is another installation's." in said(person)
            other.unlink()
            assert f"Gemini CLI starts {other}, which is not there any more." in said(person)
    person.run("connect gemini --off --yes")
    assert not (person.folder / ".gemini").exists()


def said(person: Person) -> str:
    return "\n".join(person.run("doctor --quick").lines)


def findings(person: Person, line: str) -> list[tuple[str, str]]:
    data: Any = person.run(line).data()
    return [(one["subject"], one["state"]) for one in data["findings"] if one["subject"] in ("gemini", "git")]


def test_a_plugin_is_written_once_more_and_never_over_something_else(person: Person) -> None:
    said = person.run("connect --plugin plug")
    files: Any = said.data()
    assert {".claude-plugin/plugin.json", "hooks/hooks.json", ".mcp.json", "README.md", "LICENSE"} <= {*files["files"]}
    assert (person.folder / "plug" / "bin" / "memoranda").stat().st_mode & 0o111
    assert len((person.folder / "plug" / "README.md").read_text().split()) >= 40
    person.run("connect --plugin plug")
    (person.folder / "other").mkdir()
    (person.folder / "other" / "mine").write_text("")
    with pytest.raises(Exception, match="holds something else"):
        person.run("connect --plugin other")
    empty = {"PATH": "/nowhere"}
    program = person.folder / "plug" / "bin" / "memoranda"
    text = program.read_text().replace(str(Path(doors.sys.executable).with_name("memoranda")), "/nowhere/memoranda")
    program.write_text(text)
    done = subprocess.run(["/bin/sh", program, "hook", "claude-code"], env=empty, input=b"{}", check=False)
    assert done.returncode == 0  # no agent fails for the lack of it
