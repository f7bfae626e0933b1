"""README.md, CONTRIBUTING.md and docs/ keep up with the program: commands, tables, links."""

import ast
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs import make
from store.config.settings import SETTINGS
from tui import cli
from tui.commands.settings import value_text
from tui.input.arguments import UsageError, parse_arguments
from tui.input.key_table import KEYS, LIST_KEYS, PLAN_KEYS, show_key
from tui.input.verb_table import MODULES, list_verbs, verb_named

ROOT = Path(__file__).parents[1]
README, CONTRIBUTING = ROOT / "README.md", ROOT / "CONTRIBUTING.md"
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [README, CONTRIBUTING, ARCHITECTURE, *DOCS]
LINKED = [*PAGES, ROOT / "CHANGELOG.md"]
BY_OTHERS = (".ci/", ".venv/bin/", "python ", "python3 ", "pytest ", "MEMORANDA_STORES=", "pip ")
"""What begins so is not run here: test_install and .ci run the first commands, the rest is checked by its words."""


def names(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


def section(path: Path, title: str) -> str:
    """The text below a heading of the second level, up to the next one."""
    text = path.read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert found, f"{path.name} has no section `## {title}`"
    return found[1]


def rows(text: str) -> list[list[str]]:
    """The rows of the tables in a text, without heads and rules; the columns without their margins."""
    lines = [line[2:].removesuffix(" |") for line in text.splitlines() if line.startswith(("| `", "| [`"))]
    return [[cell.replace(r"\|", "|") for cell in re.split(r"(?<!\\) \| ", line)] for line in lines]


def shown(text: str, languages: str = "console") -> Iterator[tuple[str, list[str]]]:
    """(command, the lines of output that are shown below it) of every block, a continued line as one."""
    for block in re.findall(rf"^```(?:{languages})\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        parts = re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)
        assert not parts[0], f"a block begins without `$ `: {parts[0]}"
        for part in parts[1:]:
            command, *output = part.splitlines()
            yield command, output


def spans(text: str) -> list[str]:
    """What is in backticks, outside of blocks."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))


def steady(text: str) -> str:
    return re.sub(r"\d+(\.\d+)? (ms|s)\b", "TIME", text.rstrip())


def anchors(path: Path) -> set[str]:
    """The anchors that a page has, as GitHub makes them of headings."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    made: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        made.add(next(name for name in (slug, *(f"{slug}-{again}" for again in range(1, 99))) if name not in made))
    return made


def test_the_tables_are_the_codes():
    """`python docs/make.py` would change nothing."""
    assert not make.drifted(), "python docs/make.py writes the tables anew"
    texts = [path.read_text(encoding="utf-8") for path in (README, *DOCS)]
    assert {match["name"] for text in texts for match in make.BLOCK.finditer(text)} == set(make.TABLES)


def test_the_commands_are_the_programs():
    """Row by row: name and summary, in the order of the table that the command line, the `:` bar and help read."""
    page = ROOT / "docs" / "command-line.md"
    verbs = [[f"[`{verb.name}`](#{verb.name})", verb.summary] for verb in list_verbs()]
    assert rows(section(page, "Commands")) == verbs
    text = section(page, "Arguments")
    for verb in list_verbs():
        part = re.search(rf"^### {verb.name}\n(.*?)(?=^### |\Z)", text, re.DOTALL | re.MULTILINE)
        assert part and verb.summary in part[1]
        assert [cells[1] for cells in rows(part[1])] == [argument.help for argument in verb.arguments]


def test_the_keys_are_the_programs():
    """Row by row: every key of an action, what its help says, and its id; what has no key stands apart."""
    page = ROOT / "docs" / "keys.md"
    tables = {"In lists": LIST_KEYS, "On the main screen": KEYS, "Where it is shown what would change": PLAN_KEYS}
    for title, keys in tables.items():
        told = [(" ".join(f"`{show_key(one)}`" for one in key.keys.split(",")), key) for key in keys if key.keys]
        assert rows(section(page, title)) == [[names, key.help, f"`{key.id}`"] for names, key in told]
    assert rows(section(page, "In the box")) == [[f"`{key.id}`", key.help] for key in KEYS if not key.keys]


def test_the_settings_are_the_programs():
    """Row by row: name, what it is where nobody set it, what it means, and what it takes."""
    expected = [[f"`{s.name}`", f"`{value_text(s.default)}`", s.meaning, s.allowed_values] for s in SETTINGS]
    assert [cells[:4] for cells in rows(section(ROOT / "docs" / "configuration.md", "Settings"))] == expected


def test_what_a_project_may_set_is_said_where_trust_is():
    """docs/trust.md names every setting that a project's file may set only once allowed, and those it never may."""
    text = section(ROOT / "docs" / "trust.md", "Settings of a project that you have to allow")
    table, never = text.split("Never taken")
    for setting in SETTINGS:
        name = re.sub(r"checkpoints\.\w+_days", "checkpoints.*_days", setting.name)
        assert (f"`{name}`" in table) == (setting.reaches or setting.keep), setting.name
        assert (f"`{name}`" in never) == bool(setting.own), setting.name


def test_the_readme_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 140


@pytest.mark.parametrize("page", names(PAGES))
def test_its_commands_work(page: str, tmp_path: Path, monkeypatch, capsys: pytest.CaptureFixture[str]):
    """The commands of a page, one after the other, in a new project: each ends well and prints what is shown below it,
    but for times. Output that is not shown is not compared."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    project = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", "-b", "main", str(project)], check=True)
    monkeypatch.chdir(project)
    for command, expected in shown((ROOT / page).read_text(encoding="utf-8")):
        if command.startswith(BY_OTHERS):
            continue
        words = shlex.split(command)
        if words[0] == "cd":
            os.chdir(words[1])
            continue
        assert words[0] == "memoranda", f"{page}: no test runs {command}"
        monkeypatch.setattr("sys.stdin", io.StringIO())
        capsys.readouterr()
        status, (out, err) = cli.run_command(words[1:]), capsys.readouterr()
        assert status == 0, f"{page}: {command}: {out}{err}"
        if expected:
            assert steady(out) == steady("\n".join(expected)), f"{page}: {command}"


@pytest.mark.parametrize("page", names(PAGES))
def test_every_command_it_names_exists(page: str):
    """Each command in a block or in backticks names a verb and arguments that it takes, a module of the bench with the
    options that it has, a test file, a mark."""
    text = (ROOT / page).read_text(encoding="utf-8")
    markers = {one.partition(":")[0] for one in _settings()["markers"]}
    for command in [*(command for command, _ in shown(text, "console|sh")), *spans(text)]:
        if "memoranda" in command:
            _check_memoranda(page, command)
        if bench := re.search(r"python -m bench(\.\w+)?((?: \S+)*)$", command):
            code = ROOT / "bench" / f"{(bench[1] or '.__main__')[1:]}.py"
            assert code.is_file(), f"{page}: {command}"
            files = (code, *code.parent.glob(f"{code.stem}_*.py"))
            source = "".join(path.read_text(encoding="utf-8") for path in files)
            for option in re.findall(r"--[a-z-]+", bench[2]):
                assert option in source, f"{page}: {command}"
        for path in re.findall(r"\b(?:tests|store|tui|bench|screenshots|docs|\.ci)/[\w./-]*[\w]", command):
            assert (ROOT / path).exists(), f"{page}: {command} names {path}"
        if "pytest" in command:
            for mark in re.findall(r"pytest\b[^|&]* -m (?:\"not )?(\w+)", command):
                assert mark in markers | {"slow"}, f"{page}: {command}"


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "ARCHITECTURE.md"])
def test_what_it_says_to_be_in_a_module_is_there(page: str):
    """`name` (`path`), also `Class.method`: the module defines it. A file without folders is named with them nearby."""
    text = (ROOT / page).read_text(encoding="utf-8")
    pairs = re.findall(r"`([A-Za-z_][\w.]*)`\s+(?:\(|in )`([\w/.-]+\.py)`", text)
    assert pairs
    wrong = [f"{name} in {path}" for name, path in pairs if name not in _defined(ROOT / path)]
    assert wrong == []


def _defined(path: Path) -> set[str]:
    """What a module defines at its top, and what is in its classes, with and without their names."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        for inner in [node, *(node.body if isinstance(node, ast.ClassDef) else ())]:
            if isinstance(inner, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                own = {inner.name}
            else:
                own = {one.id for one in ast.walk(inner) if isinstance(one, ast.Name)}
            found |= own if inner is node else own | {f"{node.name}.{name}" for name in own}
    return found


def test_the_recipes_add_a_verb_and_a_tool(tmp_path: Path):
    """Copies of `store` and `tui` get what the recipes say, and nothing else: the command line runs the verb, and the
    MCP server answers the tool."""
    for folder in ("store", "tui"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for title in ("Add a verb", "Add a tool"):
        text = section(CONTRIBUTING, title)
        row, function = re.findall(r"^   ```\w+\n(.*?)^   ```", text, re.DOTALL | re.MULTILINE)
        table, path = re.findall(r"(?:`([A-Z_]+)` in|end of) `([\w/]+\.\w+)`", text)[0]
        _add_row(tmp_path / path, table, row.strip())
        module = tmp_path / re.findall(r"Write .*? in `([\w/]+\.py)`", text)[0]
        for entry, name in re.findall(r"`(\".*?,)`[^`]* `([A-Z_]+)`", text):
            _add_row(module, name, entry)
        code = module.read_text(encoding="utf-8")
        first = re.search(r"^(?:class|def|@)", code, re.MULTILINE)
        assert first
        code = f"{code[: first.start()]}{textwrap.dedent(function)}\n\n{code[first.start() :]}"
        module.write_text(code, encoding="utf-8")
    program = (
        "import sys; from store.base.location import Location; from store.doors.mcp_tools import McpSession;"
        "print(McpSession(Location(sys.argv[1], '', '')).call_tool('memory_ages', {}, None, None).text)"
    )
    memory = str(tmp_path / "memory.db")
    command = ["-m", "tui.main", "--db", memory]
    remember = ([*command, "remember", "The team is five"], "Remembered F#1.")
    variables = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)}
    options = {"cwd": tmp_path, "env": variables, "capture_output": True, "text": True}
    for words, said in (remember, ([*command, "ages"], "active  1"), (["-c", program, memory], "active: 1")):
        done = subprocess.run([sys.executable, *words], check=False, **options)
        assert done.returncode == 0 and said in done.stdout, done.stdout + done.stderr


def _add_row(path: Path, table: str, row: str) -> None:
    """Add a row at the end of a tuple or a dictionary at the top of a module; without one, of a file of JSON."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if not table:
        lines[-2] += ","
    begin = next(place for place, line in enumerate(lines) if re.match(rf"{table}\b.*[({{](  #.*)?$|{{$", line))
    end = next(place for place in range(begin, len(lines)) if lines[place] in (")", "}"))
    lines.insert(end, f"    {row}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


HELP_PAGES = (["help", "completion"], ["help", "man"])


def _check_memoranda(page: str, command: str) -> None:
    match = re.match(r"(?:(?:MEMORANDA_\w+|OLLAMA_HOST)=\S+ )?(?:\S*/)?memoranda(?: +(.*))?$", command)
    if not match or not match[1]:
        return
    words = shlex.split(match[1])
    words = words[: min([len(words), *(words.index(sign) for sign in ("|", ">", "&&") if sign in words)])]
    while words and words[0] in ("--db", "--json", "--look"):
        words = words[2 if words[0] == "--db" else 1 :]
    if not words or words[0] in ("--help", "--version", "COMMAND") or words[:2] in HELP_PAGES:
        return
    assert words[0] in MODULES, f"{page} shows a verb that there is not: {command}"
    if words[1:]:
        rest = [word for word in words[1:] if word not in ("--json", "--help")]
        try:
            if "--help" not in words:
                parse_arguments(words[0], verb_named(words[0]).arguments, rest)
        except UsageError as error:
            pytest.fail(f"{page} shows `{command}`, which is refused: {error}")


def _settings() -> dict[str, list[str]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]


@pytest.mark.parametrize("page", names(LINKED))
def test_every_link_leads_somewhere(page: str):
    """Pictures, links to files of the repository, and anchors."""
    text = (ROOT / page).read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```|`[^`\n]+`", "", text, flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"(?:\]\(|src(?:set)?=\")([^)\s\"]+)", text):
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / page).parent / path if path else ROOT / page
        assert file.exists(), f"{page} links to {target}"
        if anchor:
            assert anchor in anchors(file), f"{page} links to {target}"


def test_every_document_can_be_reached_from_the_readme():
    linked = set(re.findall(r"\]\(docs/([\w-]+\.md)", README.read_text(encoding="utf-8")))
    assert linked == {path.name for path in DOCS}


def test_the_generator_names_what_differs_and_mends_it(tmp_path: Path, monkeypatch, capsys):
    """`--check` ends with 1 and writes nothing; without it the table is written, and then there is nothing to do."""
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- table: keys -->\nOUTDATED\n<!-- end -->\nafter\n", encoding="utf-8")
    monkeypatch.setattr(make, "FOLDER", tmp_path)
    assert make.main(["--check"]) == 1 and "page.md" in capsys.readouterr().out
    assert "OUTDATED" in page.read_text(encoding="utf-8")
    assert make.main([]) == 0
    text = page.read_text(encoding="utf-8")
    assert "OUTDATED" not in text and text.startswith("before\n") and text.endswith("\nafter\n")
    assert make.main(["--check"]) == 0
    assert subprocess.run([sys.executable, "docs/make.py", "--check"], cwd=ROOT, check=False).returncode == 0
