"""claude-mem: a SQLite database, `~/.claude-mem/claude-mem.db`, and its export as JSON.

An observation says one thing four times (title, subtitle, facts, narrative): it becomes one memory. Older and newer
texts of one title lie side by side: both are brought, and each says so.
"""

import os
from collections.abc import Iterable, Iterator, Mapping

from store.sources.files import existing, read_json, text_of, texts_of
from store.sources.moments import utc
from store.sources.source import Found, FoundDecision, FoundMemory, FoundTurn, Machine, Source, Trouble
from store.sources.sqlite_copy import opened

FILE = "claude-mem.db"
REJECTED = "rejected:"
_OBSERVATION = (
    "id memory_session_id sdk_session_id project merged_into_project text type title subtitle facts narrative concepts"
    " created_at created_at_epoch"
)
_SUMMARY = (
    "id memory_session_id sdk_session_id project merged_into_project request investigated learned completed"
    " next_steps notes created_at created_at_epoch"
)
_PROMPT = "id content_session_id prompt_text created_at created_at_epoch"
_SESSION = "content_session_id project"

Row = Mapping[str, object]


def detect(machine: Machine) -> list[str]:
    base = machine.environment.get("CLAUDE_MEM_DATA_DIR") or os.path.join(machine.home, ".claude-mem")
    return existing(os.path.join(base, FILE))


def read(path: str, troubles: list[Trouble]) -> Iterator[Found]:
    if path.endswith(".json"):
        value = read_json(path, troubles)
        if isinstance(value, dict):
            yield from _document(path, value)
        elif value is not None:
            troubles.append(Trouble(path, 0, "it is not an export of claude-mem"))
        return
    file = os.path.join(path, FILE) if os.path.isdir(path) else path
    with opened(file, troubles) as database:
        if database is not None:
            newest = _newest(database.rows("observations", "title created_at created_at_epoch"))
            yield from _memories(file, database.rows("observations", _OBSERVATION, "id"), newest)
            yield from _summaries(file, database.rows("session_summaries", _SUMMARY, "id"))
            sessions = _projects(database.rows("sdk_sessions", _SESSION))
            yield from _prompts(file, database.rows("user_prompts", _PROMPT, "id"), sessions)


def _document(path: str, value: Mapping[str, object]) -> Iterator[Found]:
    observations = _listed(value.get("observations"))
    yield from _memories(path, observations, _newest(observations))
    yield from _summaries(path, _listed(value.get("summaries")))
    yield from _prompts(path, _listed(value.get("prompts")), _projects(_listed(value.get("sessions"))))


def _listed(value: object) -> list[Row]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _project(row: Row) -> str:
    """Return the name of a row's project; of a worktree, `name/worktree`, that of its repository."""
    return (text_of(row.get("merged_into_project")) or text_of(row.get("project"))).partition("/")[0]


def _projects(sessions: Iterable[Row]) -> dict[str, str]:
    return {text_of(row.get("content_session_id")): _project(row) for row in sessions}


def _when(row: Row) -> str:
    return utc(row.get("created_at_epoch")) or utc(row.get("created_at"))


def _newest(rows: Iterable[Row]) -> dict[str, str]:
    """Return the newest time of each title that several observations have."""
    newest: dict[str, str] = {}
    several = set()
    for row in rows:
        title = text_of(row.get("title")).casefold()
        if title and title in newest:
            several.add(title)
        newest[title] = max(newest.get(title, ""), _when(row))
    return {title: newest[title] for title in several}


def _memories(path: str, rows: Iterable[Row], newest: Mapping[str, str]) -> Iterator[FoundMemory]:
    for place, row in enumerate(rows, 1):
        title, facts = text_of(row.get("title")), texts_of(row.get("facts"))
        text = _body(row, facts)
        if not text:
            continue
        name = row.get("id")
        number = name if isinstance(name, int) and name > 0 else place
        decision = None
        if row.get("type") == "decision" and title:
            against = tuple(one[len(REJECTED) :].strip() for one in facts if one.lower().startswith(REJECTED))
            for_it = [one for one in facts if not one.lower().startswith(REJECTED)]
            decision = FoundDecision(text_of(row.get("narrative")) or "\n".join(for_it) or text, against)
        created, note = _when(row), ""
        if (last := newest.get(title.casefold())) is not None:
            note = "It is the newest of this title" if created == last else "There is a newer one of this title"
        yield FoundMemory(
            text=title if decision else text,
            path=path,
            line=number,
            place=f"observation {number}",
            id=str(number),
            session=text_of(row.get("memory_session_id")) or text_of(row.get("sdk_session_id")),
            project=_project(row),
            created=created,
            tags=texts_of(row.get("concepts")),
            note=f"{note}, “{title}”." if note else "",
            decision=decision,
        )


def _body(row: Row, facts: tuple[str, ...]) -> str:
    """Return all that an observation says, each thing once."""
    text = text_of(row.get("narrative")) or text_of(row.get("text"))
    more = [one for one in facts if one not in text and not one.lower().startswith(REJECTED)]
    if text and more:
        return "\n".join([text, *(f"- {one}" for one in more)])
    return text or "\n".join(more) or text_of(row.get("subtitle")) or text_of(row.get("title"))


def _summaries(path: str, rows: Iterable[Row]) -> Iterator[FoundTurn]:
    for place, row in enumerate(rows, 1):
        parts = [
            f"{name.replace('_', ' ').capitalize()}: {text}"
            for name in ("request", "investigated", "learned", "completed", "next_steps", "notes")
            if (text := text_of(row.get(name)))
        ]
        if parts:
            session = text_of(row.get("memory_session_id")) or text_of(row.get("sdk_session_id")) or "claude-mem"
            said, name = "\n".join(parts), f"summary/{row.get('id')}"
            yield FoundTurn(session, "assistant", said, path, place, _when(row), name, _project(row))


def _prompts(path: str, rows: Iterable[Row], projects: Mapping[str, str]) -> Iterator[FoundTurn]:
    for place, row in enumerate(rows, 1):
        if text := text_of(row.get("prompt_text")):
            session = text_of(row.get("content_session_id")) or "claude-mem"
            name, project = f"prompt/{row.get('id')}", projects.get(session, "")
            yield FoundTurn(session, "user", text, path, place, _when(row), name, project)


CLAUDE_MEM = Source("claude-mem", "claude-mem", detect, read)
