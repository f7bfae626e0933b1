"""References of memories to files and functions of their project that are there no more.

A file is missing if git knows that it was deleted; without git, if the folder that it names is there without it. A
function is missing if no file of code has its name and a commit once defined it. What was never there is nobody's
mistake: a plan, an example.
"""

import os
import re
import time
from collections.abc import Iterator, Sequence

from store.base.errors import MemorandaError
from store.git.process import run
from store.scan.report import MISSING_FILE, MISSING_SYMBOL, ScanFinding
from store.sources.source import FoundMemory

GIT_SECONDS = 5.0  # for one project's deleted files, and for each question about a name
MOST_SYMBOLS = 40  # names of one project that git is asked about
CODE = ("--", ".", ":(exclude)*.md")  # a text about a function is not the function
MADE = frozenset("out build dist target tmp temp node_modules .venv venv __pycache__ coverage logs log".split())
_PATH = re.compile(r"(?<![\w/.~@:$<{*-])((?:\./)?(?:[\w.@-]+/){1,12}[\w.@-]+\.[A-Za-z]\w{0,7})(?![\w/*%])")
# with spaces only between marks that say from where to where it goes
_NAMED = r"[^\s`\"'/:*<>|](?:[^\n`\"'/:*<>|]{0,80}[^\s`\"'/:*<>|])?"
_MARKED = re.compile(rf"([`\"'])((?:\./)?(?:{_NAMED}/){{1,12}}{_NAMED}\.[A-Za-z]\w{{0,7}})\1")
# without a folder only what is code: manifest.json is a file of anything
_NAME = re.compile(r"`([\w-][\w.-]*\.(?:py|[jt]sx?|mjs|go|rs|java|kt|swift|[ch]|cpp|cs|rb|php|sql|sh))`")
_REMOVED = re.compile(
    r"\b(?:remov|delet|renam|replac|drop|retir|no longer|elimin|borr|quit[aó]|renombr|reemplaz|ya no)",
    re.IGNORECASE,
)
_CALL = re.compile(r"`(?:[\w.:]{1,80}[.:])?([^\W\d]\w{4,60})\([^`\n]{0,200}\)`")
# as git reads it: a definition with a word before the name, or a function that is assigned to it
_DEFINED = (
    r"(^|[^A-Za-z0-9_])(def|function|func|fun|fn|sub|void|int|bool|string|str|static|public|private|protected|override"
    r"|async|Task|Future|impl|virtual|inline)[^=(;]*[^A-Za-z0-9_.]{name}[[:space:]]*[(<]"
    r"|(^|[^A-Za-z0-9_.]){name}[[:space:]]*[:=]+[[:space:]]*(async[[:space:]]*)?([(]|function|lambda)"
)
_PLAIN = ("path/to/", "foo/", "example/", "your/")


class ProjectFiles:
    """The files of a project's folder, those that git knows were deleted, and the names in both."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.git = os.path.lexists(os.path.join(folder, ".git"))
        self.files = set(self._listed("ls-files", "-z", "--cached", "--others", "--exclude-standard"))
        gone = self._listed("log", "--all", "--no-renames", "--diff-filter=D", "--name-only", "--format=", "-z")
        self.deleted = {path for path in gone if path} - self.files
        self._names = {os.path.basename(path) for path in self.files}
        self._deleted_names = {os.path.basename(path) for path in self.deleted}
        self._ends = {end for path in self.files for end in _ends(path)}
        self._deleted_ends = {end for path in self.deleted for end in _ends(path)}
        self._symbols: dict[str, bool] = {}

    def lacks(self, path: str) -> str:
        """Return why a file that a memory names is missing; empty if it is there, or may never have been."""
        plain = os.path.normpath(path)
        if plain.startswith(("..", *_PLAIN)) or os.path.lexists(os.path.join(self.folder, plain)):
            return ""
        if os.sep not in plain:
            gone = plain in self._deleted_names and plain not in self._names
            return "git has it deleted" if gone else ""
        if plain in self._ends:
            return ""
        if plain in self._deleted_ends:
            return "git has it deleted"
        first, above = plain.split(os.sep)[0], os.path.dirname(plain)
        if self.git or first in MADE or " " in plain:  # a command has spaces too: only git knows
            return ""
        return "its folder is there without it" if os.path.isdir(os.path.join(self.folder, above)) else ""

    def lost(self, name: str) -> bool:
        """Return whether no file has a function of this name any more, and a commit had."""
        if name not in self._symbols:
            known = self.git and len(self._symbols) < MOST_SYMBOLS
            self._symbols[name] = known and not self._greps(name) and self._had(name)
        return self._symbols[name]

    def _greps(self, name: str) -> bool:
        return bool(self._listed("grep", "-l", "-z", "-w", "-F", "--untracked", "-e", name, *CODE, accepted=(0, 1)))

    def _had(self, name: str) -> bool:
        """Return whether a commit had a definition of a name; a call alone may be of a library."""
        once = ("log", "--all", "-1", "--format=%h")
        if not self._listed(*once, f"-S{name}", *CODE):
            return False
        return bool(self._listed(*once, "--extended-regexp", f"-G{_DEFINED.replace('{name}', name)}", *CODE))

    def _listed(self, *arguments: str, accepted: Sequence[int] = (0,)) -> list[str]:
        """Return git's list, separated by zero bytes or lines; what came in time, or nothing where git fails."""
        if not self.git:
            return []
        end = time.monotonic() + GIT_SECONDS
        try:
            with run(self.folder, *arguments) as child:
                data = b"".join(child.chunks(lambda: time.monotonic() > end))
                if time.monotonic() <= end:
                    child.check(accepted)
        except MemorandaError:
            return []
        return [one for one in re.split("[\0\n]", data.decode("utf-8", "replace")) if one]


def _ends(path: str) -> Iterator[str]:
    """Yield a path, and its ends of two parts or more: people name files from anywhere inside of a project."""
    parts = path.split("/")
    for start in range(max(1, len(parts) - 1)):
        yield "/".join(parts[start:])


def missing(memories: Sequence[FoundMemory]) -> list[ScanFinding]:
    """Return the references that lead nowhere, of memories whose project is known and there."""
    projects: dict[str, ProjectFiles] = {}
    found = []
    for memory in memories:
        names = list(named(memory.text))
        calls = _CALL.findall(memory.text)
        folder = memory.project
        if not (names or calls) or not os.path.isabs(folder) or not os.path.isdir(folder):
            continue
        project = projects.get(folder) or projects.setdefault(folder, ProjectFiles(folder))
        for name in names:
            if why := project.lacks(name):
                says = f"{name} does not exist in {folder}: {why}"
                found.append(ScanFinding(MISSING_FILE, memory.path, memory.line, says))
        for name in dict.fromkeys(calls):
            if ("_" in name.strip("_") or re.search("[a-z][A-Z]", name)) and project.lost(name):
                says = f"{name}() is in no file of {folder} any more"
                found.append(ScanFinding(MISSING_SYMBOL, memory.path, memory.line, says))
    return found


def named(text: str) -> Iterator[str]:
    """Yield the files that a text names, each once, and does not call removed."""
    found = [one for one in _PATH.findall(text) if "@" not in one.split("/")[0][1:]]  # a@b.org is no folder
    found += [one for _, one in _MARKED.findall(text) if " " in one]
    found += _NAME.findall(text)
    lines = text.split("\n") if found else []
    for one in dict.fromkeys(found):
        if not any(one in line and _REMOVED.search(line.replace(one, "")) for line in lines):  # it may say so itself
            yield one.removeprefix("./")
