"""Completion: the `:` bar's own, and the scripts of three shells, tried in real shells that are installed."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest
from support.waiting import until

from store.base.vocabulary import DOMAINS, FACT_ORDERS, TIMELINE_KINDS
from store.config.settings import SETTINGS
from store.history.history import TABLE_OF_KIND
from store.history.restore_plan import RESTORE_STRATEGIES
from store.records.facts import FACT_SORTS
from store.records.timeline import TIMELINE_SOURCES
from tui.cli import run_command
from tui.commands.lists import LISTINGS
from tui.input import completion
from tui.input.arguments import Argument
from tui.input.completion import A_PATH, SHELLS, complete_line, completion_script, offer_completions
from tui.input.key_table import KEYS
from tui.input.verb_table import FORMER_WORDS, MEMORY_WORD, list_verbs, verb_named

VERB_NAMES = [verb.name for verb in list_verbs()]


def offered(line: str, **options: tuple[Argument, ...]) -> list[str]:
    """What may stand in the place of the line's last word."""
    return [candidate.text for candidate in complete_line(*completion.split_line(line), **options)]


# what is typed→what is offered in the place of its last word: in the application, in bash
NEXT = """
list --so→--sort | list --sort ne→newest | list --sort newest --so→ | list --sort=newest --so→ |
list --sort=newest wo→work | decide x --alternative y --al→--alternative | remember --tag x --ta→--tag |
list wo→work | list more words wo→work | list --sort newest wo→work | list --all wo→work | remember wo→ |
remember --tag → | remember --tag --do→ | remember -- --do→ | list -- wo→work |
health --index →documents rebuild download | health --index rebuild re→ | config model u→use |
link HEAD →--type --off --db --json --help | restore 1 --y→--yes | --db x.db tim→timeline |
--db=x.db --json tim→timeline | --db → | list --db → | list --db x.db --so→--sort | --d→--db | /mem→/memory |
/memory →list add correct confirm forget export | memory fo→forget | /memory list --so→--sort |
/memory list --sort ne→newest | /memory nothing x→ | /list wo→work | nothing --→ | José's --→ |
remember José's --do→--domain | remember 'the --domain' --do→--domain | config the→theme |
config badges →unicode ascii | config enabled →true false | config retention_days 3→ |
config keys.record.f→keys.record.forget
"""
OFFERED = """
lis→list | --→--db --json --help --version | list --so→--sort | list --sort n→newest | list --sort=n→newest |
list --sort=newest --so→ | list --sort newest --so→ | decide x --alternative y --al→--alternative | list wo→work |
list more --all words wo→work | list -- wo→work | remember -- --do→ | remember wo→ | remember --tag → |
--db other.db lis→list | export x no→ | show no→ | restore 3 --kind f→fact | restore 3 --kind fact --ki→--kind |
task →add start done reopen | stats --j→--json
"""


def table(text: str) -> list[tuple[str, list[str]]]:
    """The rows of NEXT or OFFERED."""
    rows = (row.partition("→") for row in text.strip("\n").replace("|\n", "| ").split(" | "))
    return [(typed, words.split()) for typed, _, words in rows]


# the table ----------------------------------------------------------------------------------------------------------


def test_the_table_offers_what_the_memory_takes() -> None:
    """Lists that are written in two places, because a verb may not import what the other knows."""
    assert tuple(FACT_SORTS) == FACT_ORDERS
    assert tuple(TIMELINE_SOURCES) == TIMELINE_KINDS
    restore = {argument.name: argument.choices for argument in verb_named("restore").arguments}
    assert restore["kind"] == tuple(TABLE_OF_KIND)[:4] and restore["strategy"] == RESTORE_STRATEGIES


def test_every_verb_is_offered_with_its_summary() -> None:
    found = {candidate.text: candidate.help for candidate in complete_line([], "")}
    assert {name: found[name] for name in VERB_NAMES} == {verb.name: verb.summary for verb in list_verbs()}
    assert list(found)[: len(list_verbs())] == VERB_NAMES, "in the table's order"
    assert offered("li") == ["link", "list"] and offered("nothing") == []


@pytest.mark.parametrize("verb", list_verbs(), ids=lambda verb: verb.name)
def test_every_option_is_offered_with_its_help(verb) -> None:
    found = {candidate.text: candidate.help for candidate in complete_line([verb.name], "--")}
    mine = {f"--{argument.name}": argument.help for argument in verb.arguments if argument.option}
    assert found == {**mine, **{name: found[name] for name in ("--db", "--json", "--help")}}
    assert [candidate.text for candidate in complete_line([verb.name], "--", everywhere=())] == list(mine)


@pytest.mark.parametrize("verb", list_verbs(), ids=lambda verb: verb.name)
def test_every_known_value_is_offered_where_it_belongs(verb) -> None:
    for argument in verb.arguments:
        if argument.choices and argument.option:
            for line in (f"{verb.name} --{argument.name} ", f"{verb.name} --json --{argument.name} "):
                assert offered(line) == list(argument.choices)
            option = f"--{argument.name}="
            assert offered(f"{verb.name} {option}") == [option + word for word in argument.choices]
        elif argument.choices:
            before = [other for other in verb.arguments if not other.option].index(argument)
            assert offered(f"{verb.name} {'x ' * before}") == list(argument.choices)


@pytest.mark.parametrize(
    ("line", "expected"), [*table(NEXT), ("list wo --sort=newest ", list(dict.fromkeys([*LISTINGS, *DOMAINS])))]
)
def test_what_may_come_next(line: str, expected: list[str]) -> None:
    found = offered(line)
    if line == "/memory ":
        assert set(found) >= set(expected)
    else:
        assert found == expected


def test_every_form_of_two_words_can_be_reached() -> None:
    for form in FORMER_WORDS:
        first, _, second = form.partition(" ")
        if first == MEMORY_WORD:
            assert second in offered(f"/{first} ")


def test_config_offers_every_setting_and_key() -> None:
    assert offered("config ") == ["allow", "model", *(setting.name for setting in SETTINGS)]
    assert offered("config keys.") == [f"keys.{key.id}" for key in KEYS]


# the shells ---------------------------------------------------------------------------------------------------------

Tab = Callable[[str], list[str]]


def needs(shell: str) -> str:
    """The shell's path, or the test is left out."""
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"{shell} is not installed here, so its script cannot be tried")
    return path


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        *table(OFFERED),
        ("", [*VERB_NAMES, "memory"]),
        ("list --sort ", list(FACT_ORDERS)),
        ("list --sort=", list(FACT_ORDERS)),
        ("--db oth", [A_PATH.text]),
        ("list --db oth", [A_PATH.text]),
        ("export no", [A_PATH.text]),
    ],
)
def test_what_a_shell_is_offered(line: str, expected: list[str]) -> None:
    """Each in its form: bash splits words at `=` and shows no descriptions."""
    assert offer_completions("bash", f"memoranda {line}") == expected
    whole = [f"--sort={one}" for one in expected] if line.startswith("list --sort=") else expected
    assert [one.partition("\t")[0] for one in offer_completions("fish", f"memoranda {line}")] == whole
    found = [one.partition(":")[0] for one in offer_completions("zsh", f"memoranda {line}") if one != A_PATH.text]
    assert found == [one for one in whole if one != A_PATH.text]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a person types: with two files, one of which has a space in its name."""
    (tmp_path / "notes file.json").touch()
    (tmp_path / "other.db").touch()
    for shell in SHELLS:
        (tmp_path / f"script.{shell}").write_text(completion_script(shell))
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}")
    return tmp_path


@pytest.fixture
def bash(folder: Path) -> Tab:
    """What bash offers: its own splitting of words, at `=` too, and its own `compgen`."""
    path = needs("bash")

    def tab(line: str) -> list[str]:
        words: list[str] = []
        for word in ["memoranda", *line.split(" ")]:
            before, equals, after = word.partition("=")
            words += [before, equals, *([after] if after else [])] if equals else [word]
        whole = f"memoranda {line}"
        code = f"""
source ./script.bash
COMP_WORDS=({" ".join(map(shlex.quote, words))})
COMP_CWORD={len(words) - 1}
COMP_LINE={shlex.quote(whole)}
COMP_POINT={len(whole)}
_memoranda 2>&1
[[ ${{#COMPREPLY[@]}} == 0 ]] || printf '%s\\n' "${{COMPREPLY[@]}}"
"""
        return run_shell([path, "--norc", "-c", code], folder).splitlines()

    return tab


@pytest.fixture
def fish(folder: Path) -> Tab:
    """What fish offers: the words of its own `complete -C`, without their descriptions."""
    path = needs("fish")

    def tab(line: str) -> list[str]:
        code = f"source script.fish; complete -C {shlex.quote(f'memoranda {line}')}"
        rows = run_shell([path, "--no-config", "-c", code], folder).splitlines()
        return [row.partition("\t")[0] for row in rows]

    return tab


def run_shell(command: list[str], folder: Path) -> str:
    """What a shell prints; it says nothing is wrong."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


@pytest.fixture
def zsh(folder: Path) -> Tab:
    """What one press of Tab makes of a line in an interactive zsh, in a terminal."""
    path = needs("zsh")

    def tab(line: str) -> list[str]:
        environment = {**os.environ, "TERM": "vt100"}
        shell = pexpect.spawn(path, ["-f", "-i"], cwd=str(folder), env=environment, dimensions=(50, 200), timeout=30)
        try:
            shell.sendline(
                "autoload -Uz compinit; compinit -u -D; source ./script.zsh; "
                "note() { print -r -- $BUFFER > line.txt }; zle -N note; bindkey '^X' note; echo re''ady"
            )
            shell.expect("ready\r\n")
            shell.send(f"memoranda {line}\t\x18")
            noted = folder / "line.txt"
            until(lambda: noted.exists() and noted.read_text().endswith("\n"))
            return [noted.read_text().removesuffix("\n").removeprefix("memoranda ").rstrip()]
        finally:
            shell.close(force=True)

    return tab


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("line", "last"),
    [
        ("lis", "list"),
        ("list --sort n", "newest"),
        ("list --sort=n", "--sort=newest"),
        ("--db other.db lis", "list"),
        ("export no", "notes file.json"),
    ],
)
def test_a_real_shell(request: pytest.FixtureRequest, shell: str, line: str, last: str) -> None:
    """Each completes a command, a value and a file; zsh shows the line that Tab makes."""
    found = request.getfixturevalue(shell)(line)
    if shell == "zsh":
        assert found[0].replace("\\", "").endswith(last)
    else:
        assert found == [last.partition("=")[2] if shell == "bash" and "=" in last else last]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_printed_as_it_is(capsys: pytest.CaptureFixture[str], shell: str) -> None:
    """Nothing of it would be made visible: no tab, no escape, and every line its own."""
    assert run_command(["help", "completion", shell]) == 0
    assert capsys.readouterr().out.rstrip("\n") == completion_script(shell)


@pytest.mark.parametrize(
    ("shell", "before", "after", "said"),
    [
        ("bash", "", "complete -p memoranda", "complete -F _memoranda memoranda"),
        ("zsh", "autoload -Uz compinit; compinit -u -D", "print $_comps[memoranda]", "_memoranda"),
        ("fish", "", "complete -C 'memoranda lis'", "list\t"),
    ],
)
def test_the_documented_line_for_a_profile(folder: Path, shell: str, before: str, after: str, said: str) -> None:
    page = (Path(__file__).parents[3] / "docs" / "command-line.md").read_text(encoding="utf-8")
    (line,) = re.findall(rf"^\| {shell} \|.*`(.*memoranda help completion {shell}.*?)` \|$", page, re.MULTILINE)
    bare = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    code = f"{before}\n{line.replace(chr(92) + '|', '|')}\n{after}"
    assert run_shell([needs(shell), *bare, "-c", code], folder).startswith(said)
