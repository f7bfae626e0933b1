"""Fill the tables of the documents from the code: `python docs/make.py`, from the repository's root.

A table stands between `<!-- table: NAME -->` and `<!-- end -->`; what is between them is replaced. With `--check`
nothing is written: the tables that differ are named, and the exit status is 1 if there is one. The manual page is made
too, `memoranda.1`.
"""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER.parent)]

import store  # noqa: E402
from bench import results  # noqa: E402
from store.base.errors import ExitStatus  # noqa: E402
from store.base.models import DatedRecord  # noqa: E402
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
from store.version import __version__  # noqa: E402
from tui.commands.settings import value_text  # noqa: E402
from tui.input.completion import manual_page  # noqa: E402
from tui.input.key_table import KEYS, LIST_KEYS, PLAN_KEYS, Key, show_key  # noqa: E402
from tui.input.verb_table import list_verbs  # noqa: E402
from tui.render.lines import FACT_BADGES, KIND_GLYPHS, TASK_GLYPHS  # noqa: E402
from tui.theme.glyphs import ascii_table  # noqa: E402

BENCHES = FOLDER.parent / "bench"
README = FOLDER.parent / "README.md"
MANUAL = FOLDER / "memoranda.1"  # the wheel puts it where manual pages are
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
        (
            (" ".join(code(show_key(one)) for one in key.keys.split(",")), key.help, code(key.id))
            for key in listed
            if key.keys
        ),
    )


def box() -> str:
    """What has no key, with the id by which it is given one."""
    return table(("id", "what it does"), ((code(key.id), key.help) for key in KEYS if not key.keys))


def statuses() -> str:
    return table(("exit status", "meaning"), ((str(one.value), one.says) for one in ExitStatus))


def commands() -> str:
    return table(("command", "what it does"), ((f"[`{v.name}`](#{v.name})", v.summary) for v in list_verbs()))


def arguments() -> str:
    """One section for each command, as its `--help` shows it."""
    sections = []
    for verb in list_verbs():
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
        (
            (code(s.name), code(value_text(s.default)), s.meaning, s.allowed_values, in_project(s))
            for s in SETTINGS
        ),
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


# what the memory holds in which each example of docs/api.md begins
API_MEMORY = """\
memory.remember("We deploy on Tuesdays", tags="deploy")
memory.remember("Ana owns the billing service", domain="work", at="2026-11-02")
memory.decide("Database", "SQLite in WAL mode", alternatives=["PostgreSQL"], rationale="one file to copy")
memory.propose("add", text="Standup is at 9:30", source="mcp:codex")
"""
SIGNATURE_WIDTH = 100


def api() -> str:
    """The functions, the records and results, the errors and the words of the store's API."""
    named = {name: getattr(store, name) for name in store.PUBLIC}
    rest = {name: value for name, value in named.items() if name != "Memory"}
    classes = {name: value for name, value in rest.items() if isinstance(value, type)}
    errors = {name: value for name, value in classes.items() if issubclass(value, Exception)}
    functions = {name: value for name, value in rest.items() if inspect.isfunction(value)}
    words = {name: value for name, value in rest.items() if isinstance(value, tuple)}
    methods = {name: getattr(store.Memory, name) for name in vars(store.Memory) if not name.startswith("_")}
    sections = [
        f"\n## Functions\n\nEach example begins in a new memory with this in it:\n\n```python\n{API_MEMORY}```\n",
        *(
            api_function(f"Memory.{name}" if name == "open" else f"memory.{name}", one)
            for name, one in methods.items()
        ),
        *(api_function(name, one) for name, one in functions.items()),
        "## Records and results\n",
        *(api_class(name, one) for name, one in classes.items() if name not in errors),
        "## Errors\n",
        table(
            ("error", "when"),
            ((code(name), " ".join((one.__doc__ or "").split())) for name, one in errors.items()),
        ),
        "## Words\n",
        table(("list", "words"), ((code(name), ", ".join(map(code, one))) for name, one in words.items())),
    ]
    return "\n".join(sections) + "\n"


def api_function(shown: str, function: Callable[..., object]) -> str:
    """The section of one function: its signature, what it does, and its examples."""
    about, _, examples = inspect.cleandoc(function.__doc__ or "").partition("\n\n>>> ")
    example = f"\n```python\n>>> {examples}\n```\n" if examples else ""
    return f"### {shown}\n\n```python\n{api_signature(shown, function)}\n```\n\n{about}\n{example}"


def api_signature(shown: str, function: Callable[..., object]) -> str:
    """A signature as it is called, on lines that fit a page."""
    signature, parts, apart = inspect.signature(function), [], False
    for one in signature.parameters.values():
        if one.name == "self":
            continue
        if one.kind is one.KEYWORD_ONLY and not apart and "*" not in "".join(parts):
            parts.append("*")
        apart = apart or one.kind is one.KEYWORD_ONLY
        default = (
            ""
            if one.default is one.empty
            else f" = {getattr(one.default, '__name__', None) or api_value(one.default)}"
        )
        star = "*" if one.kind is one.VAR_POSITIONAL else ""
        parts.append(f"{star}{one.name}: {api_type(one.annotation)}{default}")
    returned = f" -> {api_type(signature.return_annotation)}"
    whole = f"{shown}({', '.join(parts)}){returned}"
    if len(whole) <= SIGNATURE_WIDTH:
        return whole
    kept = ", ".join(part.replace(" ", "\0") for part in parts)
    lines = textwrap.fill(kept, SIGNATURE_WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return f"{shown}(\n{textwrap.indent(lines, '    ')}\n){returned}".replace("\0", " ")


def api_value(value: object) -> str:
    """A default as it is written in code here."""
    return f'"{value}"' if isinstance(value, str) else repr(value)


def api_type(annotation: object) -> str:
    """A type as it is written in code."""
    written = getattr(annotation, "__forward_arg__", annotation)
    return (written.__name__ if isinstance(written, type) else str(written)).replace("'", '"')


def api_class(name: str, one: type) -> str:
    """The section of a record or a result: what it is, and its attributes."""
    first = ("id", "citation", "text", "created") if issubclass(one, DatedRecord) else ()
    found = {attribute: "" for attribute in first if hasattr(one, attribute)}
    for base in reversed(one.__mro__):
        found |= {name: api_type(kind) for name, kind in inspect.get_annotations(base).items()}
    found |= {name: "" for name in getattr(one, "__slots__", ()) if name not in found}
    for base in one.__mro__:
        for attribute, value in vars(base).items():
            if isinstance(value, property) and value.fget and not found.get(attribute):
                found[attribute] = api_type(inspect.get_annotations(value.fget).get("return", ""))
    shown = ", ".join(f"{code(name)} {kind}".strip() for name, kind in found.items() if not name.startswith("_"))
    return f"### {name}\n\n{inspect.cleandoc(one.__doc__ or '')}\n\nAttributes: {shown}.\n"


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
    "keys-box": box,
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
        path for path in (README, *sorted(FOLDER.glob("*.md")), MANUAL) if made(path) != path.read_text("utf-8")
    ]


def made(path: Path) -> str:
    """A document as the code has it."""
    return manual_page(__version__) if path == MANUAL else filled(path.read_text("utf-8"))


def main(arguments: Sequence[str]) -> int:
    if list(arguments) not in ([], ["--check"]):
        print(__doc__, end="")
        return 0 if arguments[0] in ("-h", "--help") else 2
    paths = drifted()
    for path in paths:
        if not arguments:
            path.write_text(made(path), "utf-8")
        print(f"{path.name}: {'its tables differ from the code' if arguments else 'written'}")
    return 1 if paths and arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
