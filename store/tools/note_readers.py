"""Markdown as people and tools write memories in it: front matter, bullets, prose."""

import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from store.ingest.formats import fence_after_line
from store.text.words import remove_between
from store.tools.source import (
    SKIPPED_FOLDERS,
    FoundDecision,
    FoundDocument,
    FoundItem,
    FoundMemory,
    Machine,
    MemorySource,
    Troubles,
    existing_paths,
    files_below,
    list_source_files,
    modification_time,
    parse_foreign_time,
    read_json_file,
    read_text_file,
    stripped_text,
)

_BULLET = re.compile(r" {0,3}[-*+][ \t]+(?P<text>\S.*)")
_TASK = re.compile(r"\[.\](?:\s|$)")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?P<text>.*)")
_MARK = re.compile(r"^\s*[-*+][ \t]+")
_LABEL = re.compile(r"[^\n]*[:\uff1a][ \t]*(?:\*\*|__)?[ \t]*(?:(?:\*\*|__|[*_])\([^()\n]*\)(?:\*\*|__|[*_]))?")
COMMENT_LINES = 20  # that a comment above a bullet may have
LONGEST_FRONT_MATTER = 65_536  # characters of front matter


class Bullet(NamedTuple):
    """A bullet with the indented lines that belong to it, lines `line` to `last`; `above` is a comment above it, since
    the last bullet, that begins in line `comment`."""

    text: str
    line: int
    last: int
    heading: str
    above: str
    comment: int = 0


def parse_front_matter(text: str) -> tuple[dict[str, object], str, int]:
    """Return the front matter, the rest of the text, and how many lines the front matter takes. Front matter that
    is not YAML is empty; every scalar in it is a text."""
    if not text.startswith("---\n"):
        return {}, text, 0
    end = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE).search(text, 4)
    if end is None or end.start() > LONGEST_FRONT_MATTER:
        return {}, text, 0
    return _parse_yaml(text[4 : end.start()]), text[end.end() :], text.count("\n", 0, end.end())


def _parse_yaml(head: str) -> dict[str, object]:
    """Parse front matter; return an empty dict if it is not a YAML mapping."""
    import yaml

    try:
        value = yaml.load(
            head, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        )  # the one in C is not everywhere
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    return {str(key): one for key, one in value.items()} if isinstance(value, dict) else {}


def parse_tag_list(value: object) -> tuple[str, ...]:
    """Parse the tags of front matter: a list, or a text with commas."""
    parts = value if isinstance(value, list) else str(value or "").split(",")
    found = (str(one).strip().removeprefix("#") for one in parts if isinstance(one, str))
    return tuple(one for one in dict.fromkeys(found) if one)


def parse_bullets(text: str, first: int = 1) -> Iterator[Bullet]:
    """Yield the bullets of a text that are not tasks, outside of code and quotes; `first` is the number of its
    first line. A bullet continues in indented lines."""
    lines = text.split("\n")
    heading, above, fence, place, comment = "", "", "", 0, 0
    while place < len(lines):
        line = lines[place]
        inside, fence = fence, fence_after_line(line, fence)
        if inside or fence:
            place += 1
            continue
        if named := _HEADING.fullmatch(line):
            heading, above = named["text"].rstrip().rstrip("#").rstrip(), ""
        elif "<!--" in line and not _says_something(line):
            ahead = "\n".join(lines[place : place + COMMENT_LINES])
            start = ahead.index("<!--")
            if (end := ahead.find("-->", start)) >= 0:
                above, comment = ahead[start + 4 : end].strip(), first + place
                place += ahead.count("\n", 0, end)
        elif found := _BULLET.fullmatch(line):
            end = _bullet_end(lines, _comment_end(lines, place))
            if not _TASK.match(found["text"]):
                rest = _dedent_lines(lines[place + 1 : end])
                whole = "\n".join([found["text"].rstrip(), *rest]).strip()
                yield Bullet(whole, first + place, first + end - 1, heading, above, comment if above else 0)
            above = ""
            place = end
            continue
        place += 1


def _says_something(line: str) -> bool:
    """Tell whether a line is a bullet that says something beside comments; the last comment may end further below."""
    found = _BULLET.fullmatch(remove_between(line, "<!--", "-->").rstrip())
    return found is not None and not found["text"].startswith("<!--")


def _comment_end(lines: list[str], place: int) -> int:
    """Return the index of the line in which a comment ends that begins in the bullet at `place`; `place` if there
    is none."""
    if "<!--" in remove_between(lines[place], "<!--", "-->"):
        for ahead in range(place + 1, min(place + COMMENT_LINES, len(lines))):
            if "-->" in lines[ahead]:
                return ahead
    return place


def _bullet_end(lines: list[str], place: int) -> int:
    """Return the index behind the last line of the bullet at `place`."""
    end = ahead = place + 1
    while ahead < len(lines):
        line = lines[ahead]
        if line.startswith(("  ", "\t")) and line.strip():
            end = ahead + 1
        elif line.strip():
            break
        ahead += 1
    return end


def _dedent_lines(lines: list[str]) -> list[str]:
    """Remove the indentation that all lines share."""
    wide = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[wide:].rstrip() for line in lines]


def is_unfilled(text: str) -> bool:
    """Tell whether a bullet has only labels, as a template does: `**Name:**`, `**Pronouns:** _(optional)_`."""
    lines = (_MARK.sub("", line, count=1).strip() for line in text.split("\n") if line.strip())
    return all(_LABEL.fullmatch(line) for line in lines)


def prose_paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text that are neither headings, bullets, code nor comments."""
    found: list[str] = []
    held: list[str] = []
    fence, place = "", 0
    lines = remove_between(text, "<!--", "-->").split("\n")
    while place < len(lines):
        line = lines[place]
        inside, fence = fence, fence_after_line(line, fence)
        if not inside and not fence and _BULLET.fullmatch(line):
            place = _bullet_end(lines, place)
        elif inside or fence or not line.strip() or _HEADING.fullmatch(line):
            place += 1
        else:
            held.append(line.rstrip())
            place += 1
            continue
        if held:
            found.append("\n".join(held))
            held = []
    return [*found, "\n".join(held)] if held else found


# Tools that keep their memory as notes: basic-memory, Markdown, Obsidian, OKF, OpenClaw.

OBSERVATION_BULLET = re.compile(r"\[(?P<category>[^\[\]()]{2,60})\]\s+(?P<text>\S.*)", re.DOTALL)
_TRAILING_CONTEXT = re.compile(r"(?<!\s)\s+\([^()]*\)$")
_WORD = re.compile(r"\S+")
_HASH_TAG = re.compile(r"#([^#]+)")
_NO_TAG = re.compile(r"(?<!\S)\\#")
_RELATION = re.compile(
    r"\w[\w-]{0,60}(?: [\w-]{1,60}){0,8} (?:\[\[[^\]]+\]\]|\[[^\]]+\]\([^)]+\))(?:\s+\([^()]*\))?"
)
OBSERVATION_DOMAINS = {"preference": "preferences", "decision": "decisions", "person": "personal"}


def read_observation_note(path: str, troubles: Troubles, plain_bullets: bool = False) -> Iterator[FoundItem]:
    """Yield what a note holds: a note of type `decision` is one decision, of any other its observations are facts, and
    its prose is a document. With `plain_bullets` other bullets are facts too."""
    text = read_text_file(path, troubles)
    if text is None:
        return
    head, body, above = parse_front_matter(text)
    if stripped_text(head.get("status")) == "deprecated":
        return
    dated = (parse_foreign_time(stripped_text(head.get(name))) for name in ("created", "created_at", "date"))
    created = next(filter(None, dated), "") or modification_time(path)
    title, tags = stripped_text(head.get("title")), parse_tag_list(head.get("tags"))
    paragraphs = prose_paragraphs(body)
    several = list(parse_bullets(body, above + 1))
    observed = [(bullet, found) for bullet in several if (found := OBSERVATION_BULLET.fullmatch(bullet.text))]
    if stripped_text(head.get("type")) == "decision" and title:
        first = above + 1
        by: dict[str, list[str]] = {}
        for _, found in observed:
            said, marks = split_observation(found["text"])
            by.setdefault(found["category"].lower(), []).append(said)
            tags = tuple(dict.fromkeys((*tags, *marks)))
        chosen = "\n".join(by.pop("decision", [])) or (paragraphs.pop(0) if paragraphs else title)
        alternatives = tuple(by.pop("alternative", []))
        why = by.pop("rationale", [])
        rest = [f"{category}: {one}" for category, several in by.items() for one in several]
        yield FoundMemory(
            text=title,
            path=path,
            line=first,
            last=first + body.rstrip("\n").count("\n"),
            created=created,
            tags=tags,
            domain="decisions",
            decision=FoundDecision(chosen, alternatives, "\n\n".join([*paragraphs, *why, *rest])),
        )
        return
    for bullet, found in observed:
        category = found["category"].lower()
        said, marks = split_observation(found["text"])
        yield _observation_fact(said, bullet, path, created, marks, OBSERVATION_DOMAINS.get(category, "general"))
    if plain_bullets:
        seen = {bullet.line for bullet, _ in observed}
        for bullet in several:
            if bullet.line not in seen and not _RELATION.fullmatch(bullet.text):
                said, marks = split_observation(bullet.text)
                yield _observation_fact(said, bullet, path, created, marks, "general")
    if paragraphs:
        yield FoundDocument(path, body.strip())


def _observation_fact(
    text: str, bullet: Bullet, path: str, created: str, tags: tuple[str, ...], domain: str
) -> FoundMemory:
    """Return an observation as a fact."""
    return FoundMemory(
        text=text, path=path, line=bullet.line, last=bullet.last, created=created, tags=tags, domain=domain
    )


def split_observation(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text of an observation and its tags, without the context at its end; a tag behind a backslash
    stays in the text."""
    said = _TRAILING_CONTEXT.sub("", text.strip()) if "\n" not in text else text.strip()
    words = list(_WORD.finditer(said))
    tags: list[str] = []
    while len(words) > 1 and (found := _HASH_TAG.fullmatch(words[-1][0])):
        tags.append(found[1])
        words.pop()
    return _NO_TAG.sub("#", said[: words[-1].end()] if tags else text.strip()), tuple(reversed(tags))


# basic-memory: folders of notes, `~/basic-memory` and those that `~/.basic-memory/config.json` names. The files keep
# no dates, so a memory's is that of its file.


def detect_basic_memory(machine: Machine) -> list[str]:
    """List the folders of basic-memory's projects that exist."""
    named = [os.path.join(machine.home, "basic-memory")]
    config = read_json_file(os.path.join(machine.home, ".basic-memory", "config.json"), [])
    projects = config.get("projects") if isinstance(config, dict) else None
    for project in projects.values() if isinstance(projects, dict) else ():
        path = project.get("path") if isinstance(project, dict) else project
        if isinstance(path, str):
            named.append(os.path.join(machine.home, path.removeprefix("~/")))
    return existing_paths(*named)


def read_basic_memory(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the facts, decisions and documents of a note or a folder of notes."""
    for file in list_source_files(path, ".md", troubles):
        yield from read_observation_note(file, troubles)


# A folder of Markdown files, or one file: bullets are facts, prose is a document. Tasks, labels without a text, code,
# quotes and hidden files are left alone.


def read_markdown(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the facts and the prose of a file or a folder of Markdown."""
    for file in list_source_files(path, ".md", troubles):
        text = read_text_file(file, troubles)
        if text is not None:
            yield from parse_markdown_notes(file, text)


def parse_markdown_notes(path: str, text: str) -> Iterator[FoundItem]:
    """Yield the facts of a file with this text, then its prose."""
    head, body, above = parse_front_matter(text)
    created = (
        parse_foreign_time(stripped_text(head.get("created")))
        or parse_foreign_time(stripped_text(head.get("date")))
        or modification_time(path)
    )
    tags = parse_tag_list(head.get("tags"))
    for bullet in parse_bullets(body, above + 1):
        if not is_unfilled(bullet.text):
            yield FoundMemory(bullet.text, path, bullet.line, bullet.last, created=created, tags=tags)
    if prose_paragraphs(body):
        yield FoundDocument(path, body.strip())


# A vault of Obsidian: the folder with `.obsidian`. Comments, block ids, embeds, queries and templates are no text.

TEMPLATE_FOLDERS = frozenset(("Templates", "templates", "Plantillas", "plantillas"))
_OBSIDIAN_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
_BLOCK_ID = re.compile(r"(?<!\s)[ \t]+\^[\w-]+$", re.MULTILINE)
_EMBED = re.compile(r"!\[\[[^\[\]\n]*\]\]")
_WIKI_LINK = re.compile(r"\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]+)\]\]")
_TRAILING_TAG = re.compile(r"(?<!\s)\s+#(?P<tag>[\w/-]+)$")


def detect_obsidian(machine: Machine) -> list[str]:
    """List the vaults that Obsidian's own configuration names."""
    base = machine.find_folder("XDG_CONFIG_HOME", ".config")
    if machine.system == "darwin":
        base = os.path.join(machine.home, "Library", "Application Support")
    config = read_json_file(os.path.join(base, "obsidian", "obsidian.json"), [])
    vaults = config.get("vaults") if isinstance(config, dict) else None
    found = []
    for vault in vaults.values() if isinstance(vaults, dict) else ():
        path = vault.get("path") if isinstance(vault, dict) else None
        if isinstance(path, str) and os.path.isdir(os.path.join(path, ".obsidian")):
            found.append(path)
    return found


def read_obsidian(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the facts and the prose of a note or a vault, without templates."""
    for file in list_source_files(path, ".md", troubles, SKIPPED_FOLDERS | TEMPLATE_FOLDERS):
        text = read_text_file(file, troubles)
        if text is None or "{{title}}" in text:
            continue
        for one in parse_markdown_notes(file, obsidian_markdown(text)):
            yield _move_trailing_tags(one) if isinstance(one, FoundMemory) else one


def obsidian_markdown(text: str) -> str:
    """Convert the text of a note to plain Markdown; the numbers of its lines stay."""
    text = _OBSIDIAN_COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    return _WIKI_LINK.sub(r"\1", _EMBED.sub("", _BLOCK_ID.sub("", text)))


def _move_trailing_tags(memory: FoundMemory) -> FoundMemory:
    """Move the tags at the end of a memory's text to its tags."""
    text, tags = memory.text, list[str]()
    while found := _TRAILING_TAG.search(text):
        tags.insert(0, found["tag"])
        text = text[: found.start()]
    return memory._replace(text=text, tags=parse_tag_list([*memory.tags, *tags])) if text.strip() else memory


# OKF bundles: folders of Markdown in which every concept has a `type`. `index.md` and `log.md` are no concepts; what
# is deprecated is left out.

OKF_RESERVED_FILES = ("index.md", "log.md")


def detect_nothing(machine: Machine) -> list[str]:
    """Return no place: Markdown files and bundles are read only where they are named."""
    return []


def read_okf(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the facts, decisions and documents of a concept or a bundle."""
    for file in list_source_files(path, ".md", troubles):
        if os.path.basename(file) not in OKF_RESERVED_FILES:
            yield from read_observation_note(file, troubles, plain_bullets=True)


# OpenClaw: a workspace of Markdown files, `~/.openclaw/workspace`, that of another profile or agent, or as the
# environment or `openclaw.json` name them.
#
# The bullets of MEMORY.md and USER.md are facts; the days in `memory` are documents. What makes the agent (SOUL,
# AGENTS,
# IDENTITY, BOOTSTRAP) is no memory.

# JSON5: names without quotes, comments
_WORKSPACE = re.compile(r"""\bworkspace["']?\s*:\s*["']([^"'\n]+)["']""")
OBSERVED_DATE = re.compile(r"observed:\s*(?P<date>[^|]+?)\s*(?:\||$)")
STATUS_MARK = re.compile(r"status:\s*(?P<status>\w+)")
PLACEHOLDER_TEXT = re.compile(r"YYYY-MM-DD|^(?:Prefer|Always|Never|Avoid):?\s*(?:\.\.\.|…)$")


def detect_openclaw(machine: Machine) -> list[str]:
    """List the workspaces of OpenClaw that exist."""
    own = os.path.join(machine.home, ".openclaw")
    bases = [machine.environment.get("OPENCLAW_STATE_DIR", ""), own, *_folders_starting_with(f"{own}-")]
    named = [machine.environment.get("OPENCLAW_WORKSPACE_DIR", "")]
    for base in filter(None, bases):
        named += [os.path.join(base, "workspace"), *_folders_starting_with(os.path.join(base, "workspace-"))]
        config = os.path.join(base, "openclaw.json")
        text = read_text_file(config, []) if os.path.isfile(config) else None
        for folder in _WORKSPACE.findall(text or ""):
            place = os.path.join(machine.home, folder.removeprefix("~/"))
            named += [
                place,
                *(one for one in _folders_starting_with(os.path.join(place, "")) if _is_workspace(one)),
            ]
    return [place for place in existing_paths(*named) if os.path.isdir(place)]


def _folders_starting_with(start: str) -> list[str]:
    """List the folders whose paths begin with `start`."""
    folder, name = os.path.split(start)
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.path for entry in entries if entry.name.startswith(name) and entry.is_dir())
    except OSError:
        return []


def _is_workspace(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "SOUL.md"))


def read_openclaw(path: str, troubles: Troubles) -> Iterator[FoundItem]:
    """Yield the facts and the days of a workspace, or the facts of a file."""
    if os.path.isfile(path):
        yield from _openclaw_facts(path, troubles)
        return
    for name in ("MEMORY.md", "USER.md"):
        if os.path.lexists(file := os.path.join(path, name)):
            yield from _openclaw_facts(file, troubles)
    for file in files_below(os.path.join(path, "memory"), ".md", troubles):
        text = read_text_file(file, troubles)
        if text and text.strip():
            yield FoundDocument(file, parse_front_matter(text)[1].strip())


def _openclaw_facts(path: str, troubles: Troubles) -> Iterator[FoundMemory]:
    """Yield the bullets of a file that are active and no placeholders."""
    text = read_text_file(path, troubles)
    if text is None:
        return
    _, body, above = parse_front_matter(text)
    of_person = os.path.basename(path) == "USER.md"
    for bullet in parse_bullets(body, above + 1):
        status = STATUS_MARK.search(bullet.above)
        observed = OBSERVED_DATE.search(bullet.above)
        if (
            (status and status["status"] != "active")
            or PLACEHOLDER_TEXT.search(bullet.text)
            or is_unfilled(bullet.text)
        ):
            continue
        if observed and PLACEHOLDER_TEXT.search(observed["date"]):
            continue
        yield FoundMemory(
            text=bullet.text,
            path=path,
            line=bullet.line,
            last=bullet.last,
            created=(parse_foreign_time(observed["date"]) if observed else "") or modification_time(path),
            domain="preferences" if of_person else "general",
            tags=(bullet.heading,) if bullet.heading and not of_person else (),
        )


NOTE_SOURCES = (
    MemorySource("basic-memory", "basic-memory", detect_basic_memory, read_basic_memory),
    MemorySource("markdown", "Markdown files", detect_nothing, read_markdown),
    MemorySource("obsidian", "an Obsidian vault", detect_obsidian, read_obsidian),
    MemorySource("okf", "an OKF bundle", detect_nothing, read_okf),
    MemorySource("openclaw", "OpenClaw", detect_openclaw, read_openclaw),
)
