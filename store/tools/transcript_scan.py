"""Conversations that agents keep: how many, which of them Claude Code is about to delete, and secrets in them."""

import errno
import json
import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from typing import Any, BinaryIO, NamedTuple

from store.base.errors import MemorandaError
from store.base.location import saved_transcripts_folder
from store.base.state_files import replace_whole_file
from store.database.values import clean_text
from store.redaction.redactor import SecretFinding, find_secrets, redact, redact_tree
from store.text.display import format_count, visible
from store.tools import source
from store.tools.agent_readers import list_transcripts, read_claude_settings
from store.tools.memory_readers import ForeignTool
from store.tools.source import FoundTurn, Machine, ReadTrouble, Troubles

# What a scan finds, as plain data.

# by the kind of a finding
FINDING_TITLES = {
    "secret": "Secrets in clear",
    "contradiction": "Likely contradictions",
    "duplicate": "Duplicates",
    "missing-file": "Files that no longer exist",
    "missing-symbol": "Functions that no longer exist",
    "dead-link": "Links of an index to nothing",
    "bleed": "Memories under another project",
    "instruction": "Instructions to agents",
    "expiring": "Conversations about to be deleted",
}
UNREAD, LEFT_OUT = "unread", "left"
UNREAD_TITLE = "Could not be read"
# what is no finding of the scan
OTHER_TITLES = {UNREAD: UNREAD_TITLE, LEFT_OUT: "Left out"}
WRONG_KINDS = (*FINDING_TITLES, UNREAD)
EXPIRING_ADVICE = (
    "`memoranda files --save` copies them; `memoranda import claude-code` keeps what was said in a project's"
)
# of a memory that nobody changed
OLD_DAYS = 180
# dollars a million tokens that are read: a common price of 2026, to give an idea
PRICE_PER_MILLION = 3.0


class ScanFinding(NamedTuple):
    """One thing to look at: at `line` of the file at `path`, and for a pair `other` as `path:line`. Its kind is one of
    FINDING_TITLES, or that of a list."""

    kind: str
    path: str
    line: int
    says: str
    other: str = ""


class SourceInventory(NamedTuple):
    """What one tool keeps: times are of its memories, empty where it has none; `old` ones are older than OLD_DAYS,
    `unread` is how many parts cannot be read."""

    source: str
    title: str
    places: tuple[str, ...]
    memories: int = 0
    documents: int = 0
    conversations: int = 0
    bytes: int = 0
    oldest: str = ""
    newest: str = ""
    old: int = 0
    unread: int = 0

    def describe(self) -> str:
        """Return in a line how much the tool keeps, and where."""
        size = f", {self.bytes / 1_000_000:,.1f} MB" if self.bytes else ""
        counts = (
            (self.memories, f"{self.memories:,} {'memory' if self.memories == 1 else 'memories'}"),
            (self.old, f"{self.old:,} older than half a year"),
            (self.documents, format_count(self.documents, "document")),
            (self.conversations, format_count(self.conversations, "conversation") + size),
            (self.unread, f"{format_count(self.unread, 'part')} cannot be read"),
        )
        says = "; ".join(says for number, says in counts if number) or "nothing"
        more = f" and {len(self.places) - 1} more" if len(self.places) > 1 else ""
        return f"{self.title:<18}  {says}  ({visible(self.places[0])}{more})"


@dataclass(frozen=True, slots=True)
class ContextLayer:
    """A file that an agent loads at each start in a folder, with its estimated tokens; `by` is the file that imports
    it."""

    agent: str
    path: str
    tokens: int
    by: str = ""


@dataclass(frozen=True, slots=True)
class ProjectStart:
    """What a start in a folder loads, and how often one began there in 30 days, as far as transcripts tell."""

    folder: str
    layers: tuple[ContextLayer, ...]
    starts: int

    @property
    def tokens(self) -> dict[str, int]:
        """Tokens by agent."""
        sums: dict[str, int] = {}
        for layer in self.layers:
            sums[layer.agent] = sums.get(layer.agent, 0) + layer.tokens
        return sums

    @property
    def month_tokens(self) -> int:
        """Tokens that 30 days of starts load, by the agent that has the transcripts."""
        return self.tokens.get("claude-code", 0) * self.starts


@dataclass(slots=True)
class ScanReport:
    """All of it. `transcripts` tells whether they were searched for secrets too."""

    sources: list[SourceInventory] = field(default_factory=list)
    findings: list[ScanFinding] = field(default_factory=list)
    starts: list[ProjectStart] = field(default_factory=list)
    troubles: Troubles = field(default_factory=list)
    left: Troubles = field(default_factory=list)
    transcripts: bool = False
    kept: dict[str, list[ScanFinding]] = field(default_factory=dict)
    """What each tool keeps, one by one, by its name; not in the report that is written."""

    def list_findings(self, kind: str, name: str = "") -> list[ScanFinding]:
        """Return what a number of the report counts: the findings of a kind; what the tool `name` keeps of a kind,
        the files that a start in the folder `name` loads, or what could not be read."""
        if kind in (UNREAD, LEFT_OUT):
            several = self.troubles if kind == UNREAD else self.left
            return [ScanFinding(kind, one.path, max(1, one.line), one.why) for one in several]
        if kind == "layer":
            layers = (layer for start in self.starts if start.folder == name for layer in start.layers)
            counts = ((one, f"{one.tokens:,} tokens, {one.agent}") for one in layers)
            return [ScanFinding(kind, one.path, 1, says, one.by) for one, says in counts]
        if kind in FINDING_TITLES:
            return [one for one in self.findings if one.kind == kind]
        return [one for one in self.kept.get(name, ()) if one.kind == kind]

    @property
    def counts(self) -> dict[str, int]:
        return {kind: sum(one.kind == kind for one in self.findings) for kind in FINDING_TITLES}

    def as_dict(self) -> dict[str, Any]:
        return {
            "sources": [one._asdict() for one in self.sources],
            "counts": self.counts,
            "findings": [one._asdict() for one in self.findings],
            "starts": [
                {
                    **asdict(one),
                    "tokens": one.tokens,
                    "month_tokens": one.month_tokens,
                    "month_dollars": cost_in_dollars(one.month_tokens),
                }
                for one in self.starts
            ],
            "troubles": [{"line": one.line, **one.as_dict()} for one in self.troubles],
            "left_out": [{"path": one.path, "why": one.why, "files": one.left} for one in self.left],
            "transcripts": self.transcripts,
        }

    # for people

    @property
    def all_unread(self) -> bool:
        """Whether nothing of what was found could be read."""
        held = any(one.memories or one.documents or one.conversations for one in self.sources)
        return bool(self.troubles) and not held

    def source_lines(self) -> list[str]:
        """Return a line for each tool."""
        found = [one.describe() for one in self.sources]
        return found or ["No memory of another tool was found on this machine."]

    def _list_wrongs(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the title and the lines of each kind of findings, and of what could not be read."""
        for kind, title in FINDING_TITLES.items():
            lines = []
            for one in self.list_findings(kind):
                other = f" ({one.other})" if one.other else ""
                lines.append(visible(f"{one.path}:{one.line}  {clean_text(one.says)}{other}"))
            yield title, lines
        places = ((f"{visible(one.path)}{f':{one.line}' if one.line else ''}", one.why) for one in self.troubles)
        yield UNREAD_TITLE, [f"{place}  {why}" for place, why in places]

    def finding_lines(self, limit: int) -> list[str]:
        """Return what is wrong by kind, at most `limit` of each."""
        if not self.findings and not self.troubles:
            return ["", "Nothing is wrong with them.", *self.left_out_lines()] if self.sources else []
        nothing = "Nothing could be read." if self.all_unread else "Nothing is wrong with what was read."
        lines = [] if self.findings else ["", nothing]
        for title, found in self._list_wrongs():
            if found:
                lines += ["", f"{title}: {len(found):,}", *(f"  {line}" for line in found[:limit])]
                lines += [f"  {EXPIRING_ADVICE}"] if title == FINDING_TITLES["expiring"] else []
                more = len(found) - limit
                lines += [f"  … and {more:,} more; --limit shows them"] if more > 0 else []
        return [*lines, *(f"  {line}" for line in self._unread_advice()), *self.left_out_lines()]

    def left_out_lines(self) -> list[str]:
        """Return what was not looked at."""
        return ["", *source.left_out_lines(self.left)] if self.left else []

    def _unread_advice(self) -> list[str]:
        shut = any(one.is_denied for one in self.troubles)
        return ["Look at the permissions of these, and of the folders above them."] if shut else []

    def start_lines(self) -> list[str]:
        """Return what agents load at each start."""
        if not self.starts:
            return []
        lines = ["", "Loaded at each start:"]
        for start in self.starts:
            sums = ", ".join(f"{agent} {tokens:,} tokens" for agent, tokens in start.tokens.items())
            lines.append(f"  {visible(start.folder)}: {sums}")
            for layer in start.layers:
                by = f", imported by {layer.by}" if layer.by else ""
                lines.append(visible(f"    {layer.tokens:>7,}  {layer.path}{by}"))
        month = sum(start.month_tokens for start in self.starts)
        if month:
            dollars = f"{cost_in_dollars(month):,.2f} dollars"
            lines.append(
                f"  In 30 days Claude Code loaded some {month:,} tokens of these, {dollars} at"
                f" {PRICE_PER_MILLION:g} dollars a million."
            )
        return lines

    def as_markdown(self) -> Generator[str, None, None]:
        """Yield the report as Markdown, with every finding."""
        yield "# Memories on this machine\n\n"
        yield from (f"- {line}\n" for line in self.source_lines())
        for title, found in self._list_wrongs():
            if found:
                yield f"\n## {title} ({len(found):,})\n\n"
                yield from (f"- {line}\n" for line in found)
        yield from (f"- {line}\n" for line in self._unread_advice())
        yield from (f"{line and '- '}{line}\n" for line in self.left_out_lines())
        if self.starts:
            yield "\n## Loaded at each start\n\n"
            yield from (f"- {line.strip()}\n" for line in self.start_lines()[2:])


def cost_in_dollars(tokens: int) -> float:
    """Return the cost of reading this many tokens, at PRICE_PER_MILLION."""
    return round(tokens * PRICE_PER_MILLION / 1_000_000, 2)


# Save conversations that their tool is about to delete: copies without secrets, in a private folder of the person.
#
# A copy has the time of its original, so that it is made once, and again when that grew. It can be brought into a
# memory like the original: `memoranda import claude-code FOLDER`.


class SavedTranscripts(NamedTuple):
    """What was saved in the `folder`: the `new` copies, how many were saved `before`, and what could not be."""

    folder: str
    new: tuple[str, ...]
    before: int
    troubles: tuple[ReadTrouble, ...]

    def as_dict(self) -> dict[str, object]:
        left = [one.as_dict() for one in self.troubles]
        return {"folder": self.folder, "new": list(self.new), "before": self.before, "troubles": left}

    def describe(self) -> str:
        """Return what was saved, and where, in a sentence."""
        if not (self.new or self.before or self.troubles):
            return "No conversation is about to be deleted."
        said = [f"Saved {format_count(len(self.new), 'conversation')} to {visible(self.folder)}, without secrets"]
        said += [f"{self.before:,} {'was' if self.before == 1 else 'were'} saved before"] if self.before else []
        for one in self.troubles[:1]:
            said.append(f"{format_count(len(self.troubles), 'one')} could not be saved: {one.why}")
        return f"{'; '.join(said)}."


def save_transcripts(paths: Iterable[str]) -> SavedTranscripts:
    """Copy these transcripts, each as a whole or not at all; a transcript that is saved as it is now is left
    alone."""
    folder = saved_transcripts_folder()
    new, before, troubles = [], 0, Troubles()
    for path in dict.fromkeys(paths):
        target = os.path.join(folder, os.path.basename(os.path.dirname(path)), os.path.basename(path))
        file = source.open_plain_file(path, troubles)
        if file is None:
            continue
        with file:
            at = os.fstat(file.fileno()).st_mtime_ns
            if os.path.lexists(target) and os.lstat(target).st_mtime_ns == at:
                before += 1
                continue
            try:
                _copy_without_secrets(file, target, at)
            except OSError as error:
                troubles.append(ReadTrouble(path, 0, (error.strerror or "it cannot be saved").lower()))
                continue
        new.append(target)
    return SavedTranscripts(folder, tuple(new), before, tuple(troubles))


def _copy_without_secrets(file: BinaryIO, target: str, at: int) -> None:
    """Write a copy of a transcript without secrets, with the time of the original. Raise OSError."""
    os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
    with replace_whole_file(target) as copy:
        # a very long line comes in parts
        for line in iter(lambda: file.readline(source.LONGEST_JSON_LINE), b""):
            copy.write(_redact_line(line))
        copy.flush()
        os.utime(copy.fileno(), ns=(at, at))


def _redact_line(line: bytes) -> bytes:
    """Return a line of a transcript without secrets."""
    text = line.decode("utf-8", "replace")
    try:
        value = json.loads(text)
        return f"{json.dumps(redact_tree(value), ensure_ascii=False)}\n".encode("utf-8", "replace")
    except (ValueError, RecursionError, TypeError, MemorandaError):  # no JSON, or too deep
        return redact(text).encode("utf-8", "replace")


# Secrets that a report names: what the redactor cuts, without what only looks like one. The redactor cuts in doubt,
# which does no harm; a report that is wrong is not read again.

# characters of a secret that is shown in part, with dots behind it
LONGEST_MASKED = 24
# samples, those of every guide to JWT, AWS and Telegram too; a reference to a vault; the name of a session,
# `agent:main:telegram:42`; the id of a client of Google
_SAMPLE_SECRET = re.compile(
    r"1234567890abcd|abcdef1234567890|^[a-z]+(?::[^\s:/]+){2,}$|KEY-----(?:\\n|\s)*\.\.\."
    r"|eyJzdWIiOiIxMjM0NTY3ODkwI|^123456:|0123456789-0123456789|AKIA\w+EXAMPLE|^op://|^\s|^test[!@#$]{0,4}\d{1,5}$|^\d{9,14}-[a-z0-9]{30,}",
    re.IGNORECASE,
)
_TEST_KEY = re.compile(r"(?:^|[-_])(?:test|dev|development|demo|your)[-_](?!.*\d{6})", re.IGNORECASE)
_ADDRESS_PASSWORD = re.compile(r"(?P<user>[^\s:/@]*):(?P<password>[^\s:/@]+)@(?P<host>[\w.-]*)")
_COMMON_PASSWORDS = ("password", "postgres", "root", "admin", "pass", "secret")
_PUBLIC_KEY_BEFORE = re.compile(
    r"(?:public|uuid)[ _-]?key\W{0,6}\Z|alt=media&(?:amp;|#x26;)?token=\Z", re.IGNORECASE
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ASSIGNMENT_BEFORE = re.compile(r"[:\uff1a=|>][\s`*_\"'|]*\Z|--\w[\w-]* \Z")
# of a blockchain, which everybody may know, where nothing says that it is private
_CHAIN_ADDRESS = re.compile(r"[1-9A-HJ-NP-Za-km-z]{43,44}")
_PRIVATE_WORD = re.compile("secret|private|api|token|auth|pass", re.IGNORECASE)
_WORDS_ONLY = re.compile(r"[a-z]+(?:[-_][a-z]+)+")
_PASSWORD_WORD = re.compile("pass|pwd|clave|contras", re.IGNORECASE)
_ASSIGNED_LABEL = "HARDCODED_CREDENTIAL"
# characters before a secret that may say what it is
CONTEXT_CHARACTERS = 24


def find_sure_secrets(text: str) -> Iterator[SecretFinding]:
    """Yield the secrets of a text that are not samples, names, halves, or default passwords of a local database."""
    for one in find_secrets(text):
        value = text[one.start : one.end]
        if len(value) < LONGEST_MASKED and (
            value.endswith(("...", "…")) or text.startswith(("...", "…"), one.end)
        ):
            continue
        before = text[max(0, one.start - CONTEXT_CHARACTERS) : one.start]
        if _SAMPLE_SECRET.search(value) or (one.label == _ASSIGNED_LABEL and _is_harmless_key(value, before)):
            continue
        # a name
        if one.label == "SERVICE_KEY" and value.isalpha() and value.islower():
            continue
        if value.startswith("![") or (value.isupper() and "_" in value and not any(map(str.isdigit, value))):
            continue
        if not _is_default_password(value):
            yield one


def _is_harmless_key(value: str, before: str) -> bool:
    """Tell whether a key is public, of a test, or only words: `hello-world`."""
    # the token `…` was revoked: its id
    if _UUID.fullmatch(value) and not _ASSIGNMENT_BEFORE.search(before):
        return True
    if (
        _PUBLIC_KEY_BEFORE.search(before)
        or _TEST_KEY.search(value)
        or (_CHAIN_ADDRESS.fullmatch(value) and not _PRIVATE_WORD.search(before))
    ):
        return True
    return _WORDS_ONLY.fullmatch(value) is not None and not _PASSWORD_WORD.search(before)


def _is_default_password(value: str) -> bool:
    """Tell whether a value is an address on this machine with a password that everybody knows:
    `postgres:postgres@db`."""
    found = _ADDRESS_PASSWORD.search(value)
    return (
        found is not None
        and (
            found["password"].lower() in (found["user"].lower(), *_COMMON_PASSWORDS)
            or found["password"] == "DB_PASSWORD"
        )
        and ("." not in found["host"] or found["host"] in ("127.0.0.1", "host.docker.internal"))
    )


# after which Claude Code deletes a transcript, unless `cleanupPeriodDays` says otherwise
CLEANUP_DAYS = 30
EXPIRING_DAYS = 7
DAY_SECONDS = 86_400  # seconds
# bytes that are searched at a time; one with a secret is searched again
SEARCH_BLOCK = 1 << 17
# bytes in all, from which on several processes search
LARGE_SEARCH = 16 << 20
# file → kind of secret → (its first line, how often it is there)
SecretCounts = dict[str, dict[str, list[int]]]
# of the same length
JSON_ESCAPES = ((b"\\n", b" \n"), (b"\\t", b" \t"), (b'\\"', b' "'))


def claude_cleanup_days(machine: Machine) -> int:
    """Return after how many days Claude Code deletes a transcript."""
    days = read_claude_settings(machine).get("cleanupPeriodDays", CLEANUP_DAYS)
    return days if isinstance(days, int) and days > 0 else CLEANUP_DAYS


def find_expiring(folders: Sequence[str], days: int, now: float) -> list[ScanFinding]:
    """Return the transcripts that Claude Code deletes within a week; `now` is seconds since 1970."""
    found = []
    for folder in folders:
        for path in list_transcripts(folder, []):
            # another program may delete it
            with suppress(OSError):
                left = days - (now - os.stat(path).st_mtime) / DAY_SECONDS
                if left <= EXPIRING_DAYS:
                    when = f"in {max(1, round(left))} d" if left > 0 else "at its next start"
                    found.append(ScanFinding("expiring", path, 1, f"Claude Code deletes it {when}"))
    return found


def list_conversation_files(tool: ForeignTool, places: Sequence[str], troubles: Troubles) -> list[str]:
    """List the files of conversations of an agent; what cannot be read is a trouble."""
    found = [path for place in places for path in tool.list_conversations(place, troubles)]
    for path in found:
        if os.path.isfile(path) and not os.access(path, os.R_OK):
            source.note_unreadable(troubles, path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
    return found


def find_transcript_secrets(
    paths: Sequence[str], progress: Callable[[int, int], None], processes: int = 0
) -> list[ScanFinding]:
    """Return the secrets in clear in files of conversations, a finding for each file and kind. `progress` is
    called with the bytes done and in all."""
    sizes = {path: os.path.getsize(path) for path in paths if os.path.isfile(path)}
    total, done = sum(sizes.values()), 0
    found: list[ScanFinding] = []
    for path, several in _search_files(sizes, processes or min(4, os.cpu_count() or 1), total):
        done += sizes[path]
        progress(done, total)
        found += several
    return sorted(found, key=lambda one: (one.path, one.line))


def _search_files(sizes: dict[str, int], processes: int, total: int) -> Iterator[tuple[str, list[ScanFinding]]]:
    """Search the files, the largest first."""
    paths = sorted(sizes, key=lambda path: -sizes[path])
    if total < LARGE_SEARCH or processes < 2:
        for path in paths:
            yield path, search_file(path)
        return
    with get_context("spawn").Pool(processes) as pool:
        yield from zip(paths, pool.imap(search_file, paths), strict=True)


def search_file(path: str) -> list[ScanFinding]:
    """Return the kinds of secrets in one file, each with its first line and how often it is there."""
    file = source.open_plain_file(path, [], SEARCH_BLOCK)
    if file is None:
        return []
    counts: dict[str, list[int]] = {}
    with file:
        line = 1
        while block := file.read(SEARCH_BLOCK):
            if not block.endswith(b"\n"):
                block += file.readline(source.LONGEST_JSON_LINE)
            _search_block(block, line, counts)
            line += block.count(b"\n")
    return secret_findings({path: counts})


def count_turn_secrets(turn: FoundTurn, told: SecretCounts) -> None:
    """Count the secrets in a turn of a database."""
    counts = told.setdefault(turn.path, {})
    for one in find_sure_secrets(turn.text):
        counts.setdefault(one.label, [turn.line, 0])[1] += 1


def secret_findings(told: SecretCounts) -> list[ScanFinding]:
    """Return the counted secrets as findings."""
    return [
        ScanFinding("secret", path, first, f"{label}, {number} times" if number > 1 else label)
        for path, counts in told.items()
        for label, (first, number) in counts.items()
    ]


def _search_block(block: bytes, line: int, counts: dict[str, list[int]]) -> None:
    """Count the secrets in a block of lines that begins at `line`."""
    for escaped, plain in JSON_ESCAPES:
        block = block.replace(escaped, plain)
    text = block.decode("utf-8", "replace")
    here, last = line, 0
    for one in find_sure_secrets(text):
        # an escaped end of a line is a space and an end now, and no line of the file
        here += text.count("\n", last, one.start) - text.count(" \n", last, one.start)
        last = one.start
        held = counts.setdefault(one.label, [here, 0])
        held[1] += 1
