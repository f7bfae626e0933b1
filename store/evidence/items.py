"""What a record may be bound to, as a text among its evidence.

`src/pay.py#L10-L20 @1a2b3c4d5e6f ~<digest>` lines, `src/pay.py::total @… ~…` a symbol, `src/pay.py @… ~…` a file:
where it was, the commit that was checked out then (`-` without git), and a digest of what was there; the text itself is
in the file. `C#<sha>` a commit, `https://…` an address, `$ make test` a command.
"""

import ast
import os
import re
import signal
import subprocess
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from html.parser import HTMLParser
from typing import NamedTuple, TypeVar
from urllib.parse import quote, unquote

from store.base.citations import parse_citation
from store.base.errors import InvalidInput
from store.base.location import checkout_root
from store.base.state_files import delete_state, read_state, state_name_of, write_state
from store.base.vocabulary import EVIDENCE_STATES
from store.documents.documents import find_blocks
from store.documents.files import DocumentPath, Unreadable, read_document_bytes
from store.git.process import GitError, read_chunks
from store.git.repository import (
    GitMove,
    find_file_moves,
    find_files_with_word,
    list_repository_files,
    read_head_sha,
    resolve_commits,
)

FILE_ITEM, SYMBOL_ITEM, COMMIT_ITEM, URL_ITEM, COMMAND_ITEM = "file", "symbol", "commit", "url", "command"
# looked at only when a person allowed it
RUN_TYPES = (URL_ITEM, COMMAND_ITEM)
UNSEEN, HOLDS, MOVED, CHANGED, GONE = EVIDENCE_STATES
# characters of an address or a command
LONGEST_ITEM = 1_000
# digits of a commit
COMMIT_DIGITS = 12
NO_BASE = "-"
# in a path, written as it is
_UNQUOTED = "/!$&*+,;=@~"
_PLACED = re.compile(
    r"(?P<path>[^\s#:]{1,4000})(?:#L(?P<first>[1-9]\d{0,8})(?:-L(?P<last>[1-9]\d{0,8}))?|::(?P<symbol>[\w.]{1,200}))?"
    r" @(?P<base>[0-9a-f]{12}|-) ~(?P<digest>[0-9a-f]{24})"
)


class EvidenceItem(NamedTuple):
    """A text of a record's evidence, read: `target` is a path below the project, a sha, an address or a command;
    `first` and `last` are lines, 0 for a whole file; `digest` is that of `digest_lines`."""

    type: str
    target: str
    symbol: str = ""
    first: int = 0
    last: int = 0
    base: str = NO_BASE
    digest: str = ""

    def __str__(self) -> str:
        if self.type == COMMIT_ITEM:
            return f"C#{self.target}"
        if self.type == URL_ITEM:
            return self.target
        if self.type == COMMAND_ITEM:
            return f"$ {self.target}"
        lines = f"#L{self.first}" + (f"-L{self.last}" if self.last > self.first else "") if self.first else ""
        symbol = f"::{self.symbol}" if self.symbol else ""
        return f"{quote(self.target, _UNQUOTED)}{lines}{symbol} @{self.base} ~{self.digest}"

    @property
    def typed_form(self) -> str:
        """How a person writes it: `src/pay.py:10-20`, `src/pay.py::total`, `C#1a2b3c4`, `$ make test`."""
        if self.type == COMMIT_ITEM:
            return f"C#{self.target[:7]}"
        if self.type in RUN_TYPES:
            return str(self)
        return format_place(self.target, self.first, self.last, self.symbol)

    @property
    def identity(self) -> tuple[object, ...]:
        """What it is about, whatever was there."""
        return self[:5]


def format_place(path: str, first: int = 0, last: int = 0, symbol: str = "") -> str:
    """Return a place as a person writes it."""
    if symbol:
        return f"{path}::{symbol}"
    return f"{path}:{first}-{last}" if last > first else f"{path}:{first}" if first else path


def parse_item(text: str) -> EvidenceItem | None:
    """Read a text of a record's evidence; None for a citation or anything else that is not looked at again."""
    if match := _PLACED.fullmatch(text):
        first = int(match["first"] or 0)
        last = int(match["last"] or first)
        kind = SYMBOL_ITEM if match["symbol"] else FILE_ITEM
        path = unquote(match["path"], errors="surrogateescape")
        if last < first or not is_plain_path(path):
            return None
        return EvidenceItem(kind, path, match["symbol"] or "", first, last, match["base"], match["digest"])
    if text.startswith("C#"):
        try:
            return EvidenceItem(COMMIT_ITEM, str(parse_citation(text).target))
        except InvalidInput:
            return None
    if len(text) <= LONGEST_ITEM and "\n" not in text:
        if text.startswith(("https://", "http://")):
            return EvidenceItem(URL_ITEM, text)
        if text.startswith("$ ") and text[2:].strip():
            return EvidenceItem(COMMAND_ITEM, text[2:])
    return None


def is_plain_path(path: str) -> bool:
    """Return whether a path is one below the project: no `..`, no `.git`, no root, no line break."""
    steps = path.split("/")
    bad = any(step in ("", ".", "..") or step.lower() == ".git" for step in steps)
    return not bad and "\0" not in path and "\n" not in path


_TYPED = re.compile(r"(?P<path>.+?)(?:#L|:)(?P<first>[1-9]\d{0,8})(?:-L?(?P<last>[1-9]\d{0,8}))?")


def parse_typed_item(text: str) -> EvidenceItem:
    """Read what a person typed, without base and digest; a path is as it was typed. Raise InvalidInput."""
    text = text.strip()
    if not text or "\n" in text or "\0" in text or len(text) > LONGEST_ITEM:
        raise InvalidInput(
            "That is nothing to bind to.", "Write src/pay.py:10-20, src/pay.py::total, C#a1b2c3d or https://…"
        )
    if (found := parse_item(text)) and found.type in (COMMIT_ITEM, *RUN_TYPES):
        return found
    if re.fullmatch(r"[0-9a-f]{7,64}", text):
        return EvidenceItem(COMMIT_ITEM, text)
    if "://" in text:
        raise InvalidInput("Only http and https addresses can be looked at.", "Write https://…")
    path, apart, symbol = text.rpartition("::")
    if apart and path and re.fullmatch(r"[\w.]{1,200}", symbol):
        return EvidenceItem(SYMBOL_ITEM, path, symbol)
    if match := _TYPED.fullmatch(text):
        first = int(match["first"])
        last = int(match["last"] or first)
        if last < first:
            raise InvalidInput(
                f"Lines {first} to {last} are no lines.", "Write the first one first: src/pay.py:10-20."
            )
        return EvidenceItem(FILE_ITEM, match["path"], "", first, last)
    return EvidenceItem(FILE_ITEM, text)


def split_file_lines(raw: bytes) -> list[bytes]:
    """Return the lines of a file as they are compared: what is white at their ends does not count."""
    lines = [line.rstrip() for line in raw.split(b"\n")]
    return lines[:-1] if lines and not lines[-1] else lines


def digest_lines(lines: list[bytes]) -> str:
    """Return 16 digits of a digest of these lines, and 8 of their first, by which they are found again."""
    return sha256(b"\n".join(lines)).hexdigest()[:16] + digest_first_line(lines[0] if lines else b"")


def digest_first_line(line: bytes) -> str:
    """Return 8 digits of a digest of a line."""
    return sha256(line).hexdigest()[:8]


# The files of a project, read for one look at evidence: each at most once, through no symbolic link, none large; and
# what git knows of where they went.

# for all that git is asked in one look
GIT_SECONDS = 5.0
# lines, in search of one place
MOST_COMPARED = 2_000_000
# commits with which the present one is compared
MOST_BASES = 40
# files that are searched for what is in none that git knows
MOST_NEW = 300
# names that git is asked about
MOST_NAMES = 40
LineRange = tuple[int, int]
Answer = TypeVar("Answer")


class ProjectSources:
    """The files below the folder `root`."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.git = checkout_root(root) is not None
        self._files: dict[str, list[bytes] | None] = {}
        self._firsts: dict[str, dict[str, list[int]]] = {}
        self._moves: dict[str, dict[str, GitMove]] = {}
        self._names: list[str] | None = None
        self._held: dict[str, list[str]] = {}
        self._until = time.monotonic() + GIT_SECONDS

    @property
    def head(self) -> str:
        """The first digits of the commit that is checked out; empty without git."""
        top = checkout_root(self.root)
        return read_head_sha(top)[:COMMIT_DIGITS] if top else ""

    def read_lines(self, path: str) -> list[bytes] | None:
        """Return the lines of a file; None where there is none. Raise Unreadable."""
        if path not in self._files:
            self._files[path] = None
            if is_plain_path(path):
                try:
                    self._files[path] = split_file_lines(
                        read_document_bytes(DocumentPath(self.root, tuple(path.split("/")), path))[0]
                    )
                except (FileNotFoundError, NotADirectoryError):
                    pass
        return self._files[path]

    def try_read_lines(self, path: str) -> list[bytes] | None:
        """Return the lines of a file; None where there is none that can be read."""
        try:
            return self.read_lines(path)
        except Unreadable:
            return None

    def find_lines(self, path: str, item: EvidenceItem) -> LineRange | None:
        """Return where a file has the lines of an item, the nearest to where they were."""
        lines, size = self.try_read_lines(path) or [], item.last - item.first + 1
        if digest_lines(lines[item.first - 1 : item.last]) == item.digest:
            return item.first, item.last
        if path not in self._firsts:
            firsts: dict[str, list[int]] = {}
            for place, line in enumerate(lines):
                firsts.setdefault(digest_first_line(line), []).append(place)
            self._firsts[path] = firsts
        places = sorted(self._firsts[path].get(item.digest[-8:], ()), key=lambda at: abs(at + 1 - item.first))
        for place in places[: max(1, MOST_COMPARED // size)]:
            if digest_lines(lines[place : place + size]) == item.digest:
                return place + 1, place + size
        return None

    def find_git_move(self, item: EvidenceItem) -> GitMove | None:
        """Return what git says became of the file of an item since it was bound; None if it does not know."""
        if not self.git or item.base == "-":
            return None
        if item.base not in self._moves:
            # none is known of a commit of a rewritten history
            known = self._ask_git(find_file_moves, item.base) if len(self._moves) < MOST_BASES else None
            self._moves[item.base] = known or {}
        return self._moves[item.base].get(item.target)

    def candidate_files(self, path: str) -> Iterator[str]:
        """Yield files in which the content of a missing one may be: those of its name first, then new ones."""
        if self._names is None:
            self._names = self._ask_git(list_repository_files) or []
        name, ending = os.path.basename(path), os.path.splitext(path)[1]
        same = [one for one in self._names if os.path.basename(one) == name]
        alike = [one for one in self._names if one.endswith(ending) and os.path.basename(one) != name]
        yield from [*same, *alike][:MOST_NEW]

    def files_holding(self, symbol: str) -> Iterable[str]:
        """Return the files that hold a name as a word."""
        name = symbol.rpartition(".")[2]
        if name not in self._held:
            found = self._ask_git(find_files_with_word, name) if len(self._held) < MOST_NAMES else None
            self._held[name] = (found or [])[:MOST_NEW]
        return self._held[name]

    def find_commits(self, shas: list[str]) -> dict[str, tuple[str, bool]]:
        """Return, of each commit that git has, its whole sha, and whether something leads to it; nothing where git
        cannot be asked."""
        return (self._ask_git(resolve_commits, shas) if shas else None) or {}

    def _ask_git(self, ask: Callable[..., Answer], *about: object) -> Answer | None:
        """Return what git says of the folder; None where it cannot be asked, or has used its time."""
        try:
            return ask(self.root, *about, self._until) if self.git and time.monotonic() < self._until else None
        except GitError:
            return None


# Find where a file defines a name: functions, classes and the like, and headings of Markdown. Nothing is run.
#
# Python is parsed; of other languages the line that defines the name is recognised by its words, and its block by how
# far
# the lines after it are indented.

# bytes of a file of Python; a larger one is read as any other language
LARGEST_PARSED = 500_000
DEFINING_WORDS = frozenset(
    b"def class function func fn interface struct enum trait type impl module const let var static sub object record"
    b" protocol namespace union macro_rules procedure defn defun table view trigger index".split()
)
# with letters that are not ASCII, in UTF-8
_WORD = re.compile(rb"[\w$\x80-\xff]+")
_CLOSES = (b"}", b")", b"]", b"end")


def find_definition(path: str, lines: list[bytes], symbol: str) -> tuple[int, int] | None:
    """Return the first and the last line (from 1) of the definition of `symbol` in a file's lines; None for none. Of a
    dotted name all of it counts in Python, elsewhere its end."""
    if path.endswith((".py", ".pyi")) and sum(map(len, lines)) <= LARGEST_PARSED:
        try:
            return _find_in_python(b"\n".join(lines), symbol.split("."))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            # it may be of another version of Python
            pass
    name = symbol.rpartition(".")[2].encode()
    if path.lower().endswith((".md", ".markdown")):
        return _find_heading(lines, symbol)
    for place, line in enumerate(lines):
        if name in line and _defines_name(line, name):
            return place + 1, _block_end(lines, place)
    return None


def _find_in_python(source: bytes, names: list[str]) -> tuple[int, int] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inside: list[ast.stmt] = ast.parse(source).body
    node: ast.stmt | None = None
    for name in names:
        node = next((one for one in inside if _is_definition_of(one, name)), None)
        if node is None:
            return None
        inside = getattr(node, "body", [])
    if node is None:
        return None
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    return first, node.end_lineno or node.lineno


def _is_definition_of(node: object, name: str) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name == name
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    return isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name


def _defines_name(line: bytes, name: bytes) -> bool:
    """Tell whether a line defines a name, by its words."""
    words = _WORD.findall(line[:2_000])
    if name not in words:
        return False
    before = words[: words.index(name)]
    if before and DEFINING_WORDS.intersection(before):
        return True
    after = line[line.find(name) + len(name) :].lstrip()
    alone = not line[:1].isspace() and after.startswith(b"(") and not line.endswith(b";")
    whole = alone and bool(before or line.endswith(b"{"))
    # a function of C
    return whole and not {b"return", b"if", b"while"}.intersection(before)


def _block_end(lines: list[bytes], place: int) -> int:
    """Return the last line of the block that begins at an index."""
    depth = _indentation(lines[place])
    last = place
    for number in range(place + 1, len(lines)):
        line = lines[number]
        if not line.strip():
            continue
        if _indentation(line) <= depth:
            if _indentation(line) == depth and line.strip().startswith(_CLOSES):
                return number + 1
            if _indentation(line) < depth or not line.strip().startswith((b"{", b")")):
                break
        last = number
    return last + 1


def _find_heading(lines: list[bytes], title: str) -> tuple[int, int] | None:
    """Find a heading of Markdown and the end of its section."""
    blocks = list(find_blocks([line.decode("utf-8", "replace") for line in lines]))
    for at, block in enumerate(blocks):
        if block.level and _plain_title(block.title) == _plain_title(title):
            after = (other.first for other in blocks[at + 1 :] if 0 < other.level <= block.level)
            return block.first + 1, next(after, len(lines))
    return None


def _plain_title(title: str) -> str:
    """Return the words of a heading as a symbol names them: `How_we_pay`."""
    return re.sub(r"\W+", "_", title.lower()).strip("_")


def _indentation(line: bytes) -> int:
    """Return how far a line is indented."""
    return len(line) - len(line.lstrip())


# Look at files, symbols and commits again: whether each is what it was. Nothing is run and nothing is written.


class EvidenceLook(NamedTuple):
    """What was seen: a state of `EVIDENCE_STATES`, and where it is now if that is elsewhere; of a run also a digest of
    the answer, and what happened in a few words."""

    state: str
    place: str = ""
    digest: str = ""
    says: str = ""


def bind_item(item: EvidenceItem, sources: ProjectSources) -> EvidenceItem | str:
    """Return an item as it is now, with its digest; else why it cannot be bound."""
    if item.type == COMMIT_ITEM:
        known = sources.find_commits([item.target]).get(item.target)
        return EvidenceItem(COMMIT_ITEM, known[0]) if known else "git has no such commit"
    if item.type in RUN_TYPES:
        return item
    try:
        lines = sources.read_lines(item.target)
    except Unreadable as error:
        return error.message
    if lines is None:
        return "there is no such file"
    first, last = item.first, item.last
    if item.type == SYMBOL_ITEM:
        found = find_definition(item.target, lines, item.symbol)
        if found is None:
            return f"it does not define {item.symbol}"
        first, last = found
    elif last > len(lines):
        return f"it has {len(lines):,} lines"
    part = lines[first - 1 : last] if first else lines
    base = sources.head or NO_BASE
    return item._replace(base=base, digest=digest_lines(part))


def look_at_items(items: Iterable[EvidenceItem], sources: ProjectSources) -> dict[EvidenceItem, EvidenceLook]:
    """Look again at each of these files, symbols and commits."""
    wanted = list(dict.fromkeys(items))
    shas = sources.find_commits([item.target for item in wanted if item.type == COMMIT_ITEM])
    found = {}
    for item in wanted:
        if item.type == COMMIT_ITEM:
            held = shas.get(item.target, ("", False))[1]
            found[item] = EvidenceLook(HOLDS if held else GONE if sources.git else UNSEEN)
        else:
            found[item] = _look_at_place(item, sources)
    return found


def _look_at_place(item: EvidenceItem, sources: ProjectSources) -> EvidenceLook:
    """Look again at a file, some of its lines, or the definition of a name: first where it was, then where git says
    that it went, then in other files."""
    try:
        lines = sources.read_lines(item.target)
    except Unreadable:
        # a pipe, a link, something large: not what was bound
        return EvidenceLook(CHANGED)
    if place := _find_same(item, item.target, sources):
        return EvidenceLook(HOLDS) if place == item.typed_form else EvidenceLook(MOVED, place)
    if lines is not None and item.symbol and (found := find_definition(item.target, lines, item.symbol)):
        return EvidenceLook(CHANGED, format_place(item.target, *found))
    if lines is not None and not item.symbol and not item.first:
        return EvidenceLook(CHANGED)
    move = sources.find_git_move(item)
    path = move.path if move and move.path else item.target
    there = sources.try_read_lines(path)
    others = [path]
    if item.symbol:
        others += sources.files_holding(item.symbol)
    elif there is None:
        others += sources.candidate_files(item.target)
    changed = ""
    for other in dict.fromkeys(others):
        if other != item.target and (place := _find_same(item, other, sources)):
            return EvidenceLook(MOVED, place)
        # in another language it is another thing
        alike = (
            item.symbol and other != item.target and os.path.splitext(other)[1] == os.path.splitext(item.target)[1]
        )
        if alike and not changed and find_definition(other, sources.try_read_lines(other) or [], item.symbol):
            changed = format_place(other, symbol=item.symbol)
    if item.symbol or there is None:
        return EvidenceLook(CHANGED, changed) if changed else EvidenceLook(GONE)
    if not item.first:
        return EvidenceLook(CHANGED, path)
    now = move.map_lines(item.first, item.last) if move else (item.first, item.last)
    if now is None or (move is None and item.first > len(there)):
        return EvidenceLook(GONE)
    limit = len(there) or 1
    place = format_place(path, min(now[0], limit), min(now[1], limit)) if move else item.typed_form
    return EvidenceLook(CHANGED, "" if place == item.typed_form else place)


def _find_same(item: EvidenceItem, path: str, sources: ProjectSources) -> str:
    """Return where a file has what an item was bound to, as a person writes the place; empty where it does not."""
    lines = sources.try_read_lines(path)
    if lines is None:
        return ""
    if item.symbol:
        found = find_definition(path, lines, item.symbol)
        same = found and digest_lines(lines[found[0] - 1 : found[1]]) == item.digest
        return format_place(path, symbol=item.symbol) if same else ""
    if item.first:
        found = sources.find_lines(path, item)
        return format_place(path, *found) if found else ""
    return path if digest_lines(lines) == item.digest else ""


# Run commands and ask addresses that records are bound to, and keep which of them a person allowed.
#
# What is allowed is the exact text, for one project's folder, on this installation alone: it is kept outside of every
# checkout and every memory, so nothing that was imported, synced or shared is allowed by having come.

ALLOWED_KIND = "evidence"
# a command may take
COMMAND_SECONDS = 60.0
ADDRESS_SECONDS = 10.0
# bytes of an answer that count
MOST_OUTPUT = 1_000_000
# a shell's status for a command that is not there, or cannot be run
NOT_FOUND_STATUSES = (126, 127)
_VARYING = re.compile(rb"\d+(?:[.,:]\d+)*\s?(?:ms|s|sec|seconds|m|min)\b")


def is_run_allowed(root: str, item: EvidenceItem) -> bool:
    """Return whether a person allowed this exact text in this folder."""
    return _digest_item(item) in read_state(state_name_of(ALLOWED_KIND, root)).split()


def allow_run(root: str, item: EvidenceItem, allowed: bool = True) -> bool:
    """Allow it from now on, or ask again before it is run; return whether that is stored for longer than this process
    runs."""
    name = state_name_of(ALLOWED_KIND, root)
    left = [one for one in read_state(name).split() if one != _digest_item(item)]
    if not (left or allowed):
        delete_state(name)
        return True
    return write_state(name, "\n".join([*left, _digest_item(item)] if allowed else left))


def run_item(root: str, item: EvidenceItem, before: str) -> EvidenceLook:
    """Run a command in a folder, or ask an address, and compare with the digest of what it gave `before`; without one
    it holds."""
    return _ask_address(item.target, before) if item.type == URL_ITEM else _run_command(root, item.target, before)


def _digest_item(item: EvidenceItem) -> str:
    """Return a digest of an item's exact text."""
    return sha256(str(item).encode("utf-8", "surrogateescape")).hexdigest()


def _run_command(root: str, command: str, before: str) -> EvidenceLook:
    """Run a command and compare what it gives."""
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return EvidenceLook(UNSEEN, digest=before, says=f"it could not be run: {(error.strerror or '').lower()}")
    try:
        output = _read_output(process)
        if output is None:
            return EvidenceLook(CHANGED, digest=before, says=f"it did not end within {COMMAND_SECONDS:.0f} s")
        status = process.wait()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if status in NOT_FOUND_STATUSES:
        return EvidenceLook(GONE, digest=before, says="there is no such command")
    digest = f"{status}:{sha256(_VARYING.sub(b'', output)).hexdigest()[:16]}"
    says = f"exit status {status}"
    if not before or digest == before:
        return EvidenceLook(HOLDS, digest=digest, says=says)
    was = before.partition(":")[0]
    says += f", and was {was}" if was != str(status) else ", other output"
    return EvidenceLook(CHANGED, digest=before, says=says)


def _read_output(process: subprocess.Popen[bytes]) -> bytes | None:
    """Return what a command writes, its first MOST_OUTPUT bytes; None if it takes too long."""
    assert process.stdout is not None
    end = time.monotonic() + COMMAND_SECONDS
    found = bytearray()
    for chunk in read_chunks(process.stdout, lambda: time.monotonic() >= end):
        found += chunk[: MOST_OUTPUT - len(found)]
    try:
        process.wait(max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        return None
    return bytes(found)


def _ask_address(url: str, before: str) -> EvidenceLook:
    """Ask an address and compare what it answers."""
    import httpx

    try:
        with httpx.stream("GET", url, timeout=ADDRESS_SECONDS, follow_redirects=False) as answer:
            says = f"it answers {answer.status_code}"
            if answer.is_redirect:
                return EvidenceLook(MOVED, answer.headers.get("location", "")[:1_000], before, says)
            if answer.is_error:
                state = GONE if answer.status_code in (404, 410) else UNSEEN
                return EvidenceLook(state, digest=before, says=says)
            parts, size, end = [], 0, time.monotonic() + ADDRESS_SECONDS
            for part in answer.iter_bytes():
                parts.append(part[: MOST_OUTPUT - size])
                size += len(parts[-1])
                if size >= MOST_OUTPUT or time.monotonic() > end:
                    break
            page = "html" in answer.headers.get("content-type", "")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        says = f"it could not be reached: {str(error)[:200] or type(error).__name__}"
        return EvidenceLook(UNSEEN, digest=before, says=says)
    raw = b"".join(parts)
    digest = sha256(_page_words(raw).encode("utf-8", "replace") if page else raw).hexdigest()[:16]
    if not before or digest == before:
        return EvidenceLook(HOLDS, digest=digest)
    return EvidenceLook(CHANGED, digest=before, says="it says something else")


class _PageText(HTMLParser):
    """The words of a page, without its scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style") and self._hidden > 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.words += data.split()


def _page_words(raw: bytes) -> str:
    """Return the words of a page of HTML."""
    page = _PageText()
    page.feed(raw.decode("utf-8", "replace"))
    return " ".join(page.words)
