"""The scan: every memory of every tool on this machine, and what is wrong with it."""

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import partial
from typing import NamedTuple

from rapidfuzz.fuzz import ratio

from store.base.clock import days_before, to_ms
from store.base.errors import MemorandaError
from store.git.checkout import folders_above
from store.git.process import run_git
from store.inbox.duplicates import find_pairs_by_words
from store.ingest.formats import fence_after_line
from store.redaction.redactor import redact
from store.redaction.rules import load_token_families
from store.text import similarity
from store.text.display import shorten
from store.text.fence import is_order_to_reader
from store.text.similarity import ParsedSentence
from store.text.words import count_tokens, normalize_text
from store.tools import agent_readers, source, transcript_scan
from store.tools.memory_readers import parse_markdown_notes
from store.tools.source import FoundDocument, FoundMemory, FoundTurn, Machine, ReadTrouble, Troubles
from store.tools.source_import import detect_sources, get_source
from store.tools.transcript_scan import ContextLayer, ProjectStart, ScanFinding, ScanReport, SourceInventory

# Which instruction files an agent loads when it starts in a folder: CLAUDE.md with the rules beside it, AGENTS.md and
# GEMINI.md from the home folder and every folder above, what they import, and Claude Code's own index of its memory.

# imports of imports
DEEPEST_IMPORT = 5
# of MEMORY.md, which Claude Code loads
LOADED_INDEX_LINES = 200
# of all its instructions together
CODEX_BYTES = 32_768
# of which it reads one a folder, the first that is not empty
CODEX_NAMES = ("AGENTS.override.md", "AGENTS.md")
# of an organization, for everybody on the machine
MANAGED_FILES = {"darwin": "/Library/Application Support/ClaudeCode/CLAUDE.md"}
MANAGED_FILE_ELSEWHERE = "/etc/claude-code/CLAUDE.md"
_FILE_IMPORT = re.compile(r"(?<![\w`@])@((?:~/|\.{0,2}/)?[\w.@-][\w./@-]*)")
_CODE_SPAN = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def context_layers(machine: Machine, folder: str) -> list[ContextLayer]:
    """List the files that agents load when they start in this folder, the most general first."""
    up = list(folders_above(os.path.realpath(folder)))
    # to the innermost checkout
    many = next((many for many, one in enumerate(up, 1) if os.path.lexists(os.path.join(one, ".git"))), 1)
    above, inside = up[::-1], up[many - 1 :: -1]
    config = machine.find_folder("CLAUDE_CONFIG_DIR", ".claude")
    claude = [
        MANAGED_FILES.get(machine.system, MANAGED_FILE_ELSEWHERE),
        os.path.join(config, "CLAUDE.md"),
        *_rule_files(config),
    ]
    for place in above:
        own = os.path.join(place, ".claude")
        claude += [os.path.join(place, "CLAUDE.md"), os.path.join(own, "CLAUDE.md"), *_rule_files(own)]
        claude.append(os.path.join(place, "CLAUDE.local.md"))
    codex = [machine.find_folder("CODEX_HOME", ".codex")]
    gemini = [os.path.join(machine.home, ".gemini", "GEMINI.md")]
    codex = [path for place in [*codex, *inside] if (path := _codex_file(place))]
    gemini += [os.path.join(place, "GEMINI.md") for place in inside]
    found = [*_load_layers("claude-code", claude, machine.home), *_load_memory_index(machine, folder)]
    left = CODEX_BYTES
    for layer in _load_layers("codex", codex, machine.home, imports=False):
        tokens = min(layer.tokens, left // 4)
        left = max(0, left - layer.tokens * 4)
        found.append(ContextLayer(layer.agent, layer.path, tokens))
    return [*found, *_load_layers("gemini", gemini, machine.home)]


def _rule_files(folder: str) -> Iterator[str]:
    """Yield the rules of a folder of Claude Code, without rules that apply to some paths only, which it loads with
    these."""
    for path in source.find_files(os.path.join(folder, "rules"), ".md", []):
        if "paths" not in source.parse_front_matter(source.read_text_file(path, []) or "")[0]:
            yield path


def _codex_file(folder: str) -> str:
    """Return the file of instructions that Codex reads in a folder; empty if there is none."""
    paths = (os.path.join(folder, name) for name in CODEX_NAMES)
    return next(
        (path for path in paths if os.path.isfile(path) and (source.read_text_file(path, []) or "").strip()), ""
    )


def _load_layers(agent: str, paths: list[str], home: str, imports: bool = True) -> list[ContextLayer]:
    """Return the files that an agent loads, with what they import."""
    seen: set[str] = set()
    found: list[ContextLayer] = []
    for path in paths:
        found += _load_file(agent, path, "", home, seen, DEEPEST_IMPORT if imports else 0)
    return found


def _load_file(agent: str, path: str, by: str, home: str, seen: set[str], deep: int) -> Iterator[ContextLayer]:
    """Yield a file and what it imports, each once."""
    real = os.path.realpath(path)
    if real in seen or not os.path.isfile(real):
        return
    seen.add(real)
    text = source.read_text_file(real, [])
    if text is None:
        return
    yield ContextLayer(agent, path, count_tokens(text), by)
    if deep:
        for name in _FILE_IMPORT.findall(_CODE_SPAN.sub("", text)):
            target = (
                os.path.join(home, name[2:])
                if name.startswith("~/")
                else os.path.join(os.path.dirname(real), name)
            )
            yield from _load_file(agent, os.path.normpath(target), path, home, seen, deep - 1)


def _load_memory_index(machine: Machine, folder: str) -> Iterator[ContextLayer]:
    """Yield the part of Claude Code's index of memories that is loaded."""
    own, project = agent_readers.own_memory_folder(machine), agent_readers.claude_project_folder(machine, folder)
    place = own or agent_readers.claude_memory_folder(project)
    path = os.path.join(place, agent_readers.MEMORY_INDEX)
    text = source.read_text_file(path, []) if os.path.isfile(path) else None
    if text:
        yield ContextLayer("claude-code", path, count_tokens("\n".join(text.split("\n")[:LOADED_INDEX_LINES])))


# Memories that say the same, and memories that cannot both hold, by words alone.

# characters of a text that is compared for contradictions: of a longer one words prove little
LONGEST_COMPARED = 400
# texts of the same words, with different numbers or days, from which on they are a list
SERIES_LENGTH = 3
# words that carry meaning: of less it is the heading that says what it is about
FEWEST_WORDS = 2
# words of a value; a longer one describes
LONGEST_FIELD_VALUE = 4
SAYS_SAME = "it says the same as"
# words, by which two texts are about two things and not against each other
MOST_DIFFERENT_WORDS = 4
_NAMED_FIELD = re.compile(
    r"\W{0,4}(?P<name>[^:\uff1a=\n]{1,40}?)\W{0,4}[:\uff1a=]+(?!(?<=\d:)\d)\W{0,4}(?P<value>\S.*)?"
    r"|\*\*(?P<bold>[^*\n]{1,40})\*\*\s+(?P<rest>\S.*)",
    re.DOTALL,
)
_LINK_PATTERN = r"\[[^\]\n]*\]\([^)\n]*\)|\[\[[^\]\n]*\]\]|https?://\S+|(?:[\w.@-]+/)+[\w.@-]+"
_LINK_TARGET = re.compile(_LINK_PATTERN)
# what two texts must both name to say the same
_NAMED_THING = re.compile(rf"`[^`\n]+`|\$[^$\n]+\$|{_LINK_PATTERN}")
# code at the beginning is what a text is about
_SUBJECT = re.compile(r"\W{0,3}`([^`\n]+)`")
# a cross before what is not to be done; a sample of how it is written
_NO_STATEMENT = re.compile(r"^\W{0,3}[\u274c\u2716\u2717\U0001f6ab]|\byour[-_]")
_UNSPACED_LETTERS = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_LETTERS = re.compile(r"\w+")
# lines of a log, of a list of links or of files
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|ene|abr|ago|dic)[a-z]{0,7}"
_DAY = rf"\d{{4}}-\d\d-\d\d|{_MONTH} \d{{1,2}}\b|\d{{1,2}}(?: de)? {_MONTH}\b|\d\d:\d\d:\d\d"
_LIST_ENTRY = re.compile(rf"\W{{0,3}}(?:{_DAY})|[*`\s]{{0,3}}(?:{_LINK_PATTERN}|`[\w.-]+\.\w+`)", re.IGNORECASE)


class _ParsedText(NamedTuple):
    """A text and its parts. A `name` before a colon, or in bold at its beginning, has a `value` behind it; `links` are
    where it leads, and `named` what it names besides: code, formulas."""

    text: str
    part: ParsedSentence
    name: str
    value: str
    links: tuple[str, ...]
    named: frozenset[str]


def find_memory_pairs(memories: Sequence[FoundMemory], documents: Set[str] = frozenset()) -> list[ScanFinding]:
    """Return duplicates and likely contradictions among memories of one project, or of none. Of a text that is
    there several times, each after the first is a duplicate once. A text in a file of `documents` is about what
    its heading says, and contradicts nothing by its words alone."""
    texts = [_parse_memory("\n".join(one.texts[:2])) for one in memories]
    frames = Counter(frozenset(one.part.words) for one in texts)
    names = Counter(one.name for one in texts if one.name)
    facts = [_is_fact(one) and names[one.name] < SERIES_LENGTH for one in texts]
    found, firsts, copies = list[ScanFinding](), dict[tuple[str, str], int](), set[int]()
    for place, memory in enumerate(memories):
        first = firsts.setdefault((texts[place].part.plain, memory.project), place)
        if first != place and (facts[place] or len(texts[place].part.words) > LONGEST_FIELD_VALUE):
            found.append(_pair_finding("duplicate", memories[first], memory, SAYS_SAME))
    different = list(firsts.values())
    for early, late in find_pairs_by_words([texts[place].part.words for place in different]):
        first, second = different[early], different[late]
        where = memories[first], memories[second]
        if where[0].project and where[1].project and where[0].project != where[1].project:
            continue
        one, other, fact = texts[first], texts[second], facts[first] and facts[second]
        how = similarity.compare_sentences(one.part, other.part, ratio(one.part.plain, other.part.plain) / 100)
        if _letters_only(one.part.plain).replace(" ", "") == _letters_only(other.part.plain).replace(" ", ""):
            how = similarity.SAME_STATEMENT
        if (how == similarity.SAME_STATEMENT and (fact or len(one.part.words) > LONGEST_FIELD_VALUE)) or (
            how == similarity.SIMILAR_STATEMENT and fact and one.named == other.named
        ):
            if second not in copies:
                copies.add(second)
                found.append(_pair_finding("duplicate", *where, SAYS_SAME))
        elif how == similarity.CONTRADICTS and fact and documents.isdisjoint(memory.path for memory in where):
            frame = frozenset(one.part.words)
            alone = frame != frozenset(other.part.words) or frames[frame] < SERIES_LENGTH
            # a field is about its heading
            apart = bool(one.name or other.name) and where[0].tags != where[1].tags
            if alone and not apart and _is_contradiction(one, other):
                found.append(_pair_finding("contradiction", *where, "it does not agree with"))
    return found


def _parse_memory(text: str) -> _ParsedText:
    """Take a memory's text apart."""
    field = _NAMED_FIELD.match(text)
    name = normalize_text(field["name"] or field["bold"]) if field else ""
    value = (field["value"] or field["rest"] or "") if field else ""
    links = tuple(_LINK_TARGET.findall(text[:LONGEST_COMPARED]))
    named = frozenset(one.strip("`$") for one in _NAMED_THING.findall(text[:LONGEST_COMPARED]))
    return _ParsedText(text, similarity.parse_sentence(text), name, value, links, named)


def _is_fact(one: _ParsedText) -> bool:
    """Return whether a text says something by itself, and is no line of a log or of a list of links."""
    return len(one.part.words) + len(one.part.values) >= FEWEST_WORDS and not _LIST_ENTRY.match(one.text)


def _is_contradiction(one: _ParsedText, other: _ParsedText) -> bool:
    """Tell whether two texts are about one thing: few words are in only one of them, neither continues the other,
    says more or leads elsewhere, and they do not describe one name, which may have several true descriptions."""
    mine, yours = set(one.part.words), set(other.part.words)
    all_mine, all_yours = mine | one.part.values, yours | other.part.values
    if one.part.negations == other.part.negations and (all_mine <= all_yours or all_yours <= all_mine):
        return False
    short, long = sorted((_letters_only(one.part.plain), _letters_only(other.part.plain)), key=len)
    if one.name and other.name and one.name != other.name:
        return False
    if (
        one.name == other.name != ""
        and max(_count_words(one.value), _count_words(other.value)) > LONGEST_FIELD_VALUE
    ):
        return False
    if one.links and other.links and one.links != other.links:
        return False
    first, second = _SUBJECT.match(one.text), _SUBJECT.match(other.text)
    if (first and second and first[1] != second[1]) or any(
        _NO_STATEMENT.search(part.text) for part in (one, other)
    ):
        return False
    near = max(len(mine - yours), len(yours - mine)) <= MOST_DIFFERENT_WORDS
    return near and max(len(one.text), len(other.text)) <= LONGEST_COMPARED and not long.startswith(short)


def _count_words(value: str) -> int:
    """Return about how many words a value has; in Chinese and Japanese nothing stands between them."""
    return len(value.split()) + len(_UNSPACED_LETTERS.findall(value)) // 3


def _letters_only(text: str) -> str:
    """Return the words of a text without punctuation."""
    return " ".join(_LETTERS.findall(text))


def _pair_finding(kind: str, against: FoundMemory, one: FoundMemory, says: str) -> ScanFinding:
    """Return the finding about a pair of memories."""
    where = f"{against.path}:{against.line}"
    # a secret is cut before the text is: a part of it is not recognised
    mine, other = (" ".join(redact(text).split()) for text in (one.text, against.text))
    return ScanFinding(kind, one.path, one.line, f"“{shorten(mine, 90)}”: {says} “{shorten(other, 90)}”", where)


# References of memories to files and functions of their project that are there no more.
#
# A file is missing if git knows that it was deleted; without git, if the folder that it names is there without it. A
# function is missing if no file of code has its name and a commit once defined it. What was never there is nobody's
# mistake: a plan, an example.

# for one project's deleted files, and for each question about a name
GIT_SECONDS = 5.0
# names of one project that git is asked about
MOST_SYMBOLS = 40
# a text about a function is not the function
CODE_PATHSPEC = ("--", ".", ":(exclude)*.md")
BUILD_FOLDERS = frozenset(
    "out build dist target tmp temp node_modules .venv venv __pycache__ coverage logs log".split()
)
_PATH_NAME = re.compile(r"(?<![\w/.~@:$<{*-])((?:\./)?(?:[\w.@-]+/){1,12}[\w.@-]+\.[A-Za-z]\w{0,7})(?![\w/*%])")
# with spaces only between marks that say from where to where it goes
_PATH_PART = r"[^\s`\"'/:*<>|](?:[^\n`\"'/:*<>|]{0,80}[^\s`\"'/:*<>|])?"
_QUOTED_PATH = re.compile(rf"([`\"'])((?:\./)?(?:{_PATH_PART}/){{1,12}}{_PATH_PART}\.[A-Za-z]\w{{0,7}})\1")
# without a folder only what is code: manifest.json is a file of anything
_CODE_FILE_NAME = re.compile(r"`([\w-][\w.-]*\.(?:py|[jt]sx?|mjs|go|rs|java|kt|swift|[ch]|cpp|cs|rb|php|sql|sh))`")
_REMOVAL_WORD = re.compile(
    r"\b(?:remov|delet|renam|replac|drop|retir|no longer|elimin|borr|quit[aó]|renombr|reemplaz|ya no)",
    re.IGNORECASE,
)
_CALL = re.compile(r"`(?:[\w.:]{1,80}[.:])?([^\W\d]\w{4,60})\([^`\n]{0,200}\)`")
# as git reads it: a definition with a word before the name, or a function that is assigned to it
_DEFINITION = (
    r"(^|[^A-Za-z0-9_])(def|function|func|fun|fn|sub|void|int|bool|string|str|static|public|private|protected|override"
    r"|async|Task|Future|impl|virtual|inline)[^=(;]*[^A-Za-z0-9_.]{name}[[:space:]]*[(<]"
    r"|(^|[^A-Za-z0-9_.]){name}[[:space:]]*[:=]+[[:space:]]*(async[[:space:]]*)?([(]|function|lambda)"
)
_EXAMPLE_PREFIXES = ("path/to/", "foo/", "example/", "your/")


class ProjectFiles:
    """The files of a project's folder, those that git knows were deleted, and the names in both."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.git = os.path.lexists(os.path.join(folder, ".git"))
        files = set(self._list_with_git("ls-files", "-z", "--cached", "--others", "--exclude-standard"))
        deletions = ("log", "--all", "--no-renames", "--diff-filter=D", "--name-only", "--format=", "-z")
        self._ends = _path_ends(files)
        self._deleted_ends = _path_ends(set(self._list_with_git(*deletions)) - files)
        self._symbols: dict[str, bool] = {}

    def why_missing(self, path: str) -> str:
        """Return why a file that a memory names is missing; empty if it is there, or may never have been."""
        plain = os.path.normpath(path)
        if plain.startswith(("..", *_EXAMPLE_PREFIXES)) or os.path.lexists(os.path.join(self.folder, plain)):
            return ""
        if plain in self._ends:
            return ""
        if plain in self._deleted_ends:
            return "git has it deleted"
        first, above = plain.split(os.sep)[0], os.path.dirname(plain)
        # a command has spaces too: only git knows
        if self.git or not above or first in BUILD_FOLDERS or " " in plain:
            return ""
        return "its folder is there without it" if os.path.isdir(os.path.join(self.folder, above)) else ""

    def is_symbol_lost(self, name: str) -> bool:
        """Tell whether no file has a function of this name any more, though a commit had."""
        if name not in self._symbols:
            known = self.git and len(self._symbols) < MOST_SYMBOLS
            self._symbols[name] = known and not self._has_name(name) and self._had_definition(name)
        return self._symbols[name]

    def _has_name(self, name: str) -> bool:
        """Tell whether a file of code has a name."""
        options = ("-l", "-z", "-w", "-F", "--untracked", "-e", name)
        return bool(self._list_with_git("grep", *options, *CODE_PATHSPEC, accepted=(0, 1)))

    def _had_definition(self, name: str) -> bool:
        """Tell whether a commit had a definition of a name; a call alone may be of a library."""
        definition = ("--extended-regexp", f"-G{_DEFINITION.replace('{name}', name)}")
        once = ("log", "--all", "-1", "--format=%h")
        return all(self._list_with_git(*once, *text, *CODE_PATHSPEC) for text in ((f"-S{name}",), definition))

    def _list_with_git(self, *arguments: str, accepted: Sequence[int] = (0,)) -> list[str]:
        """Return git's list, separated by zero bytes or lines: what came in time, or nothing if git fails."""
        if not self.git:
            return []
        end = time.monotonic() + GIT_SECONDS
        try:
            with run_git(self.folder, *arguments) as child:
                data = b"".join(child.read_chunks(lambda: time.monotonic() > end))
                if time.monotonic() <= end:
                    child.check_exit(accepted)
        except MemorandaError:
            return []
        return [one for one in re.split("[\0\n]", data.decode("utf-8", "replace")) if one]


def _path_ends(paths: Set[str]) -> set[str]:
    """Return paths and all their ends: people name files from anywhere inside of a project."""
    every = (path.split("/") for path in paths)
    return {"/".join(parts[start:]) for parts in every for start in range(len(parts))}


def find_missing_references(memories: Sequence[FoundMemory]) -> list[ScanFinding]:
    """Return the references that lead nowhere, of memories whose project is known and exists."""
    projects: dict[str, ProjectFiles] = {}
    found = []
    for memory in memories:
        names = list(paths_mentioned(memory.text))
        calls = _CALL.findall(memory.text)
        folder = memory.project
        if not (names or calls) or not os.path.isabs(folder) or not os.path.isdir(folder):
            continue
        project = projects.get(folder) or projects.setdefault(folder, ProjectFiles(folder))
        for name in names:
            if why := project.why_missing(name):
                says = f"{name} does not exist in {folder}: {why}"
                found.append(ScanFinding("missing-file", memory.path, memory.line, says))
        for name in dict.fromkeys(calls):
            if ("_" in name.strip("_") or re.search("[a-z][A-Z]", name)) and project.is_symbol_lost(name):
                says = f"{name}() is in no file of {folder} any more"
                found.append(ScanFinding("missing-symbol", memory.path, memory.line, says))
    return found


def paths_mentioned(text: str) -> Iterator[str]:
    """Yield the files that a text names, each once, unless the text says that they were removed."""
    # a@b.org is no folder
    found = [one for one in _PATH_NAME.findall(text) if "@" not in one.split("/")[0][1:]]
    found += [one for _, one in _QUOTED_PATH.findall(text) if " " in one]
    found += _CODE_FILE_NAME.findall(text)
    lines = text.split("\n") if found else []
    for one in dict.fromkeys(found):
        # it may say so itself
        if not any(one in line and _REMOVAL_WORD.search(line.replace(one, "")) for line in lines):
            yield one.removeprefix("./")


NOTE_SOURCES = ("obsidian", "markdown")
# whose instruction files are listed
MOST_PROJECTS = 40
START_DAYS = 30
AGENT_FILES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", "MEMORY.md", "USER.md")
# characters of a memory in a list
SHOWN_CHARACTERS = 300
_INDEX_LINK = re.compile(r"\]\((?P<target>[^()\s]+\.md)\)")


def scan_machine(
    machine: Machine,
    now: str,
    folder: str = "",
    named: Sequence[str] = (),
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
    first: Callable[[ScanReport], None] = lambda report: None,
    search_transcripts: bool = True,
) -> ScanReport:
    """Scan this machine: what lies in the tools' default places and in the folders `named`; `folder` is the one whose
    instruction files are listed first. `first` is called with the report before the transcripts are searched."""
    report = ScanReport()
    found = detect_sources(machine)
    memories: list[FoundMemory] = []
    spoken: list[str] = []
    for name, places in found.items():
        progress(get_source(name).title, 0, 0)
        unread: Troubles = []
        files = transcript_scan.list_conversation_files(get_source(name), places, unread)
        spoken += files
        memories += _scan_tool(report, name, places, files, now, search_transcripts, unread)
    there = {(one.path, one.line) for one in memories}
    notes: list[FoundMemory] = []
    for name in NOTE_SOURCES:
        vaults = name == "obsidian"
        if places := [one for one in named if os.path.isdir(os.path.join(one, ".obsidian")) == vaults]:
            notes += _scan_tool(report, name, places, [], now)
    # a named folder may be that of a tool
    notes = [one for one in notes if (one.path, one.line) not in there]
    memories += notes
    claude = found.get("claude-code", [])
    report.findings += find_memory_pairs(memories, {one.path for one in notes if not _is_agent_file(one.path)})
    moment = to_ms(now) / 1000
    report.starts = _project_starts(machine, folder, claude, moment)
    loaded = list(_instruction_bullets(report))
    report.findings += find_missing_references([*memories, *loaded])
    markdown = _markdown_files(report, memories) | {one.path for one in loaded}
    report.findings += _check_texts(memories, markdown)
    report.findings += _check_files(markdown, _document_files(report))
    for place in claude:
        report.findings += _find_dead_links(place)
    report.findings += _find_cross_project(claude, memories)
    report.findings += transcript_scan.find_expiring(claude, transcript_scan.claude_cleanup_days(machine), moment)
    first(report)
    if search_transcripts:
        report.findings += transcript_scan.find_transcript_secrets(spoken, partial(progress, "transcripts"))
        report.transcripts = True
    return report


def _is_agent_file(path: str) -> bool:
    """Tell whether agents are given a file, so that its texts are facts and not part of a document."""
    return os.path.basename(path) in AGENT_FILES


def _scan_tool(
    report: ScanReport,
    name: str,
    places: Sequence[str],
    files: Sequence[str],
    now: str,
    search: bool = True,
    unread: Sequence[ReadTrouble] = (),
) -> list[FoundMemory]:
    """Read the memories of one tool, and add what there is of it to the report; with `search` look for secrets in
    the turns of its database too."""
    reader = get_source(name)
    memories: list[FoundMemory] = []
    documents, said = set[str](), set[str]()
    troubles: Troubles = [*unread]
    told: transcript_scan.SecretCounts = {}
    for place in places:
        # what was said in files is searched there
        for one in reader.read_memories(place, troubles) if files else reader.read(place, troubles):
            if isinstance(one, FoundMemory):
                memories.append(one)
            elif isinstance(one, FoundDocument):
                documents.add(one.path)
            elif isinstance(one, FoundTurn):
                said.add(one.session)
                if search:
                    transcript_scan.count_turn_secrets(one, told)
    report.left += source.take_left_out(troubles)
    recent_first = sorted(files, key=source.modification_time, reverse=True)
    kept = report.kept.setdefault(name, [])
    kept += [ScanFinding("memory", one.path, max(1, one.line), one.text[:SHOWN_CHARACTERS]) for one in memories]
    kept += [ScanFinding("document", path, 1, "") for path in sorted(documents)]
    kept += [ScanFinding("conversation", path, 1, "") for path in recent_first]
    dated = sorted(one.created for one in memories if one.created)
    border = days_before(now, transcript_scan.OLD_DAYS)
    report.troubles += troubles
    report.findings += transcript_scan.secret_findings(told)
    counts = len(memories), len(documents), len(files) or len(said)
    size = sum(os.path.getsize(path) for path in files if os.path.isfile(path))
    dates = (dated[0], dated[-1], sum(one < border for one in dated)) if dated else ("", "", 0)
    about = SourceInventory(name, reader.title, tuple(places), *counts, size, *dates, len(troubles))
    report.sources.append(about)
    return memories


def _check_texts(memories: Sequence[FoundMemory], files: Set[str] = frozenset()) -> list[ScanFinding]:
    """Return the secrets in clear, except in these files, and the texts that try to instruct an agent."""
    found = []
    for one in memories:
        text = "\n".join(one.texts[:3])
        labels = (
            dict.fromkeys(secret.label for secret in transcript_scan.find_sure_secrets(text))
            if one.path not in files
            else ()
        )
        found += [ScanFinding("secret", one.path, one.line, label) for label in labels]
        if is_order_to_reader(text):
            found.append(ScanFinding("instruction", one.path, one.line, "it looks like an instruction to agents"))
    return found


def _markdown_files(report: ScanReport, memories: Sequence[FoundMemory]) -> set[str]:
    """Return the files of Markdown that hold memories or prose: a secret may be in a table, or in a log of the
    day."""
    kept = {one.path for several in report.kept.values() for one in several if one.kind == "document"}
    return kept | {one.path for one in memories if one.path.lower().endswith(".md")}


def _instruction_bullets(report: ScanReport) -> Iterator[FoundMemory]:
    """Yield the bullets of the projects' instruction files that are not in a tool's memory, so that what they name
    is checked too."""
    tools = (kept for name, kept in report.kept.items() if name not in NOTE_SOURCES)
    known = {one.path for kept in tools for one in kept if one.kind in ("memory", "document")}
    for start in report.starts:
        for path in dict.fromkeys(layer.path for layer in start.layers):
            if path not in known and _is_within(path, os.path.realpath(start.folder)):
                known.add(path)
                for one in parse_markdown_notes(path, source.read_text_file(path, []) or ""):
                    if isinstance(one, FoundMemory):
                        yield one._replace(project=start.folder)


def _document_files(report: ScanReport) -> set[str]:
    """Return the files that are only notes and documents: no tool's memory, and not given to agents."""
    files = {name: {one.path for one in kept} for name, kept in report.kept.items()}
    notes = set().union(*(files.pop(name, set()) for name in NOTE_SOURCES))
    return {path for path in notes.difference(*files.values()) if not _is_agent_file(path)}


def _check_files(paths: Iterable[str], documents: Set[str] = frozenset()) -> list[ScanFinding]:
    """Return the secrets in clear in files, each kind once a line. In code of `documents` a password is an
    example, and only what a service issued counts."""
    issued = {family.label for family in load_token_families()} - {"CONNECTION_STRING"}
    found: dict[ScanFinding, None] = {}
    for path in sorted(paths):
        text = source.read_text_file(path, []) or ""
        secrets = list(transcript_scan.find_sure_secrets(text))
        code = _code_lines(text) if secrets and path in documents else frozenset()
        for secret in secrets:
            line = text.count("\n", 0, secret.start) + 1
            if line not in code or secret.label in issued:
                found[ScanFinding("secret", path, line, secret.label)] = None
    return list(found)


def _code_lines(text: str) -> frozenset[int]:
    """Return the numbers of the lines in fenced code."""
    fence, lines = "", set[int]()
    for number, line in enumerate(text.split("\n"), 1):
        before, fence = fence, fence_after_line(line, fence)
        if before or fence:
            lines.add(number)
    return frozenset(lines)


def _find_dead_links(place: str) -> list[ScanFinding]:
    """Return the links of Claude Code's index of memories that lead to missing files."""
    folder = agent_readers.claude_memory_folder(place)
    path = os.path.join(folder, agent_readers.MEMORY_INDEX)
    text = source.read_text_file(path, []) if os.path.isfile(path) else None
    return [
        ScanFinding("dead-link", path, number, f"{link} does not exist")
        for number, line in enumerate((text or "").split("\n"), 1)
        for link in _INDEX_LINK.findall(line)
        if "://" not in link and not os.path.exists(os.path.join(folder, link))
    ]


def _find_cross_project(claude: Sequence[str], memories: Sequence[FoundMemory]) -> list[ScanFinding]:
    """Return the memories of one project that are kept under another: written in a session of the other, or about
    one of its files."""
    sessions = {
        os.path.basename(path).removesuffix(".jsonl"): place
        for place in claude
        for path in agent_readers.list_transcripts(place, [])
    }
    folders = {place: folder for place in claude if (folder := agent_readers.project_working_folder(place))}
    names = sorted({one.project for one in memories if os.path.isabs(one.project)} | set(folders.values()))
    found = []
    for one in memories:
        place = os.path.dirname(os.path.dirname(one.path))
        home = sessions.get(one.session, place)
        if place in claude and home != place:
            says = f"it was written in a session of {folders.get(home, home)}"
            found.append(ScanFinding("bleed", one.path, one.line, says))
            continue
        if not os.path.isabs(one.project):
            continue
        for name in names:
            if name not in one.text or _is_within(name, one.project) or _is_within(one.project, name):
                continue
            if re.search(rf"(?<![\w/.-]){re.escape(name)}(?![\w.-])", one.text):
                says = f"it lies under {one.project} and is about {name}"
                found.append(ScanFinding("bleed", one.path, one.line, says))
                break
    return found


def _is_within(path: str, folder: str) -> bool:
    """Tell whether a path is a folder, or below it."""
    return path == folder or path.startswith(os.path.join(folder, ""))


def _project_starts(machine: Machine, folder: str, claude: Sequence[str], moment: float) -> list[ProjectStart]:
    """Return what a start loads in the folder that was named and in each project of Claude Code."""
    counts: dict[str, int] = {}
    for place in claude:
        project = agent_readers.project_working_folder(place)
        if project and os.path.isdir(project):
            files = (path for path in agent_readers.list_transcripts(place, []) if os.path.isfile(path))
            recent = sum(
                moment - os.path.getmtime(path) < START_DAYS * transcript_scan.DAY_SECONDS for path in files
            )
            counts[project] = counts.get(project, 0) + recent
    chosen = list(dict.fromkeys([*([folder] if folder else []), *sorted(counts, key=lambda one: -counts[one])]))
    made = (
        ProjectStart(one, tuple(context_layers(machine, one)), counts.get(one, 0))
        for one in chosen[:MOST_PROJECTS]
    )
    return [one for one in made if one.layers]
