"""Fill the tables of the documents from the code: `python docs/make.py`, from the repository's root.

A table stands between `<!-- table: NAME -->` and `<!-- end -->`; what is between them is replaced. With `--check`
nothing is written: the tables that differ are named, and the exit status is 1 if there is one.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent)]

import store  # noqa: E402
from bench import results  # noqa: E402
from store.base.errors import ExitStatus  # noqa: E402
from store.base.vocabulary import CITATION_LETTERS, TASK_STATUS_LABELS  # noqa: E402
from store.config.settings import ENVIRONMENT_SETTINGS, SETTINGS, Setting, find_setting  # noqa: E402
from store.database.schema import (  # noqa: E402
    DERIVED_TABLES,
    JOURNAL_TABLES,
    OPERATIONAL_TABLES,
    PACKED_TABLES,
    RECORDED_TABLES,
    SCHEMA_VERSION,
)
from store.doors.mcp_protocol import TOOL_SCHEMAS  # noqa: E402
from store.exchange.export_schema import EXPORT_VERSION  # noqa: E402
from tui.commands.settings import value_text  # noqa: E402
from tui.input.key_table import KEYS, LIST_KEYS, PLAN_KEYS, PURGE_KEYS, Key, show_key  # noqa: E402
from tui.input.verb_table import VERBS  # noqa: E402
from tui.render.lines import FACT_BADGES, KIND_GLYPHS, TASK_GLYPHS  # noqa: E402
from tui.theme.escape import ascii_table  # noqa: E402

BENCHES = FOLDER.parent / "bench"
README = FOLDER.parent / "README.md"
BLOCK = re.compile(r"(?P<start><!-- table: (?P<name>[a-z-]+) -->\n).*?(?P<end><!-- end -->)", re.DOTALL)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown; a `|` in a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |\n" for line in lines)


def code(text: str) -> str:
    return f"`{text}`"


def keys(listed: Sequence[Key]) -> str:
    """Every key of an action, the first as the footer shows it, with the id that `[keys]` of the settings takes."""
    return table(
        ("key", "what it does", "id"),
        ((" ".join(code(show_key(one)) for one in key.keys.split(",")), key.help, code(key.id)) for key in listed),
    )


def statuses() -> str:
    return table(("exit status", "meaning"), ((str(one.value), one.says) for one in ExitStatus))


def commands() -> str:
    return table(("command", "what it does"), ((f"[`{v.name}`](#{v.name})", v.summary) for v in VERBS))


def arguments() -> str:
    """One section for each command, as its `--help` shows it."""
    sections = []
    for verb in VERBS:
        usage = " ".join([verb.name, *(argument.usage for argument in verb.arguments)])
        section = f"### {verb.name}\n\n{verb.summary}.\n\n```text\nmemoranda {usage}\n```\n"
        rows = [(code(f"--{a.name} {a.shown}".strip() if a.option else a.shown), a.help) for a in verb.arguments]
        sections.append(section + ("\n" + table(("argument", "what it means"), rows) if rows else ""))
    return "\n" + "\n".join(sections) + "\n"


def in_project(setting: Setting) -> str:
    """Whether a project's own file may set it."""
    if setting.own:
        return "no"
    if setting.reaches:
        return "once allowed"
    return "shorter once allowed" if setting.keep else "yes"


def settings() -> str:
    return table(
        ("setting", "default", "what it means", "what it takes", "in a project's file"),
        ((code(s.name), code(value_text(s.default)), s.meaning, s.allowed_values, in_project(s)) for s in SETTINGS),
    )


def variables() -> str:
    return table(
        ("variable", "setting"), ((code(find_setting(name).variable), code(name)) for name in ENVIRONMENT_SETTINGS)
    )


def citations() -> str:
    examples = {"commit": "C#a1b2c3d"}
    words = {"global": "[global fact](guide.md#global-facts)"}
    rows = [
        (code(examples.get(kind, f"{letter}#12")), words.get(kind, kind))
        for kind, letter in CITATION_LETTERS.items()
    ]
    return table(("citation", "what it names"), [*rows, (code("notes.md#L10-L22"), "lines of a document")])


def badges() -> str:
    groups = (
        *(("fact", glyph, word) for glyph, word in FACT_BADGES.values()),
        *(("task", glyph, TASK_STATUS_LABELS[status]) for status, glyph in TASK_GLYPHS.items()),
        *(("kind", glyph, word) for word, glyph in KIND_GLYPHS.items()),
    )
    return table(
        ("badge", "in plain letters", "of a", "what it means"),
        ((code(glyph), code(glyph.translate(ascii_table())), of, word) for of, glyph, word in groups),
    )


def tables() -> str:
    rows = (
        ("recorded", RECORDED_TABLES),
        ("journal", (*JOURNAL_TABLES, *PACKED_TABLES)),
        ("operational", OPERATIONAL_TABLES),
        ("derived", DERIVED_TABLES),
    )
    head = f"Schema version {SCHEMA_VERSION}; version {EXPORT_VERSION} of the export format.\n\n"
    return head + table(("kind", "tables"), ((kind, ", ".join(map(code, names))) for kind, names in rows))


def api() -> str:
    """The public names by the package that defines them."""
    packages: dict[str, list[str]] = {}
    for name, module in store.PUBLIC.items():
        packages.setdefault(".".join(module.split(".")[:2]), []).append(name)
    return table(
        ("defined in", "names"),
        ((code(package), ", ".join(map(code, names))) for package, names in sorted(packages.items())),
    )


def benches() -> str:
    """Every bench of bench/RESULTS.md, with how many of its aims it met when it was last written."""
    rows = []
    for part in results.parts():
        code = ast.parse((BENCHES / f"{part.name}.py").read_text("utf-8"))
        about = (ast.get_docstring(code) or "").partition("\n")[0].rstrip(".")
        met = f"{part.met} of {part.aims}" if part.aims else "none is set"
        rows.append((f"[`{part.name}`](../bench/RESULTS.md#{part.name})", about, met, part.day))
    return table(("`python -m bench` …", "what it measures", "aims met", "on"), rows)


def tools() -> str:
    rows = []
    for tool in TOOL_SCHEMAS:
        required = tool["inputSchema"].get("required", ())
        names = (f"**{name}**" if name in required else name for name in tool["inputSchema"]["properties"])
        rows.append((code(tool["name"]), ", ".join(names) or "–", tool["description"]))
    return table(("tool", "parameters", "what a model is told of it"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "keys": lambda: keys(KEYS),
    "keys-lists": lambda: keys(LIST_KEYS),
    "keys-plan": lambda: keys(PLAN_KEYS),
    "keys-purge": lambda: keys(PURGE_KEYS),
    "commands": commands,
    "statuses": statuses,
    "tools": tools,
    "benches": benches,
    "arguments": arguments,
    "settings": settings,
    "variables": variables,
    "citations": citations,
    "badges": badges,
    "tables": tables,
    "api": api,
}


def filled(text: str) -> str:
    """A document with its tables as the code has them. Raises KeyError for a table that there is not."""
    return BLOCK.sub(lambda match: match["start"] + TABLES[match["name"]]() + match["end"], text)


def drifted() -> list[Path]:
    """The documents that say otherwise than the code."""
    return [
        path
        for path in (README, *sorted(FOLDER.glob("*.md")))
        if filled(path.read_text("utf-8")) != path.read_text("utf-8")
    ]


def main(arguments: Sequence[str]) -> int:
    if list(arguments) not in ([], ["--check"]):
        print(__doc__, end="")
        return 0 if arguments[0] in ("-h", "--help") else 2
    paths = drifted()
    for path in paths:
        if not arguments:
            path.write_text(filled(path.read_text("utf-8")), "utf-8")
        print(f"{path.name}: {'its tables differ from the code' if arguments else 'written'}")
    return 1 if paths and arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
