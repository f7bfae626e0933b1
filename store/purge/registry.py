"""Every place that keeps text: the columns of every table, and the files and folders that Memoranda writes.

The search for purged words and the proof that none is left read what is listed here; a test compares it with the schema
and with what the public writers leave on the disk. Of a table or column that is missing here every TEXT column is
searched all the same.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from store.base.location import FOLDER, saved_transcripts
from store.database.database import Database
from store.database.files import is_database
from store.exchange import noted_exports

# what a purge does to a table's words
RECORD = "record"  # cut out of a row, in a record and in its history
COPY = "copy"  # the same, for copies that Memoranda made of other text: names are cut out of them too
INPUT = "input"  # a row is deleted whole
DROPPED = "dropped"  # all rows are deleted, whatever they hold: they may contain it in other words
REBUILT = "rebuilt"  # follows its source, which is searched
HISTORY = "history"  # reported with the records that it is of
NONE = "none"  # no words of people


@dataclass(frozen=True, slots=True)
class Table:
    """A table: `words` are the columns that hold words of people; `names` those that hold names of writers, files and
    steps, which are reported where they contain the words and never cut; `other` those with neither: closed lists,
    times, digests, numbers and vectors."""

    becomes: str
    words: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    other: tuple[str, ...] = ()


def _table(becomes: str, words: str = "", names: str = "", other: str = "") -> Table:
    return Table(becomes, tuple(words.split()), tuple(names.split()), tuple(other.split()))


TABLES = {
    # records
    "facts": _table(
        RECORD,
        "fact evidence tags session",
        "origin",
        "domain text_hash confidence source scope status created_at last_confirmed_at",
    ),
    "decisions": _table(
        RECORD,
        "title context chosen alternatives rationale phase evidence tags",
        "origin",
        "impact decided_at status confirmed_at",
    ),
    "tasks": _table(RECORD, "text tags", "origin", "status created_at updated_at"),
    "commit_links": _table(NONE, "", "origin", "link_type"),
    "proposals": _table(
        RECORD, "text change others evidence reason", "origin", "kind asked based_on state created_at decided_at"
    ),
    "mutes": _table(NONE, "", "origin", "at"),
    "iterations": _table(
        RECORD,
        "command description phases_completed artifacts",
        "origin",
        "status started_at completed_at",
    ),
    "commits": _table(RECORD, "message author", "origin", "sha committed_at"),
    "events": _table(RECORD, "event_type phase payload", "origin", "created_at"),
    "turns": _table(RECORD, "session speaker text", "origin", "role at"),
    "summaries": _table(RECORD, "session topic discussed outcome decisions open_questions", "origin", "created_at"),
    "sessions": _table(RECORD, "id source cwd", "", "started_at ended_at"),
    "sources": _table(RECORD, "path", "", "at mark"),
    "context_usage": _table(RECORD, "session", "", "at"),
    "agent_sessions": _table(RECORD, "session", "client model", "started_at last_at"),
    "agent_calls": _table(RECORD, "session", "client name", "at door problem reads writes"),
    # copies of other text
    "checkpoints": _table(
        COPY,
        "name session summary changed working tasks decisions entities",
        "origin",
        "created_at trigger level recovered_at digest",
    ),
    "contexts": _table(COPY, "session question", "", "at"),
    "agent_tasks": _table(INPUT, "session said", "", "number seen"),
    "injections": _table(COPY, "session question text", "client", "at event"),
    "discarded": _table(COPY, "session text", "", "role kind at"),
    "queries": _table(INPUT, "text", "", "at"),
    "answers_cache": _table(DROPPED, "normal question answer citations found", "", "basis fingerprint at vector"),
    # history
    "history": _table(HISTORY, "", "actor reason", "at door rows_root digest"),
    "history_row": _table(HISTORY, "before after", "pk", "tbl op salt leaf"),
    "history_block": _table(HISTORY, "", "", "records directory texts salts"),
    # derived from other tables
    "documents": _table(REBUILT, "", "path", "at problem digest"),
    "chunks": _table(REBUILT, "heading text"),
    "corpus": _table(REBUILT, "title text context", "", "kind at status"),
    "passages": _table(NONE),
    "embeddings": _table(REBUILT, "", "", "digest vector used_at"),
    "embedding_models": _table(NONE, "", "", "fingerprint mean created_at"),
    "meaning_space": _table(NONE, "", "", "fingerprint centres turn"),
    "embedding_queue": _table(NONE),
    "vectors": _table(NONE),
    "vector_blocks": _table(NONE, "", "", "ids signs"),
    # of this machine and this moment
    "meta": _table(NONE, "", "value", "key"),
    "leases": _table(NONE, "", "holder", "name expires_at"),
    "backups": _table(NONE, "", "name", "made_at sums digest verified_at problem"),
    "redactions": _table(NONE, "", "actor", "at rule tbl field door"),
    "accesses": _table(NONE, "", "", "at"),
    "answers": _table(NONE, "", "", "key answer at"),
    "ingested": _table(NONE, "", "", "key"),
    "model_calls": _table(DROPPED, "answer dropped", "model", "at task fallback"),
    "model_use": _table(NONE, "", "model", "task kind at"),
    "month_words": _table(NONE, "", "", "month words"),
    "pending_extraction": _table(NONE, "", "", "task next_at error"),
    "searches": _table(NONE, "", "", "at"),
    "sent": _table(NONE),
    "injected": _table(NONE, "", "", "why"),
    "muted": _table(NONE, "", "", "at"),
    "synced_files": _table(NONE, "", "path head problem", "digest day own"),
    "synced_lines": _table(NONE, "", "", "digest"),
    "synced_proposals": _table(NONE, "", "", "digest"),
    "evidence_looks": _table(INPUT, "item place", "", "digest at"),
    "moves": _table(NONE, "", "project", "token kind state door at"),
    "tombstones": _table(NONE, "", "", "hash at"),
    "uncompared": _table(NONE),
}


def tables(database: Database) -> Iterator[tuple[str, Table]]:
    """Yield every table of a file, with its entry in the registry; one without an entry is treated as records."""
    for (name,) in database.rows(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%'"
        " ESCAPE '\\' ORDER BY name"
    ):
        here = [
            column for column, kind in database.rows("SELECT name, type FROM pragma_table_info(?, 'main')", (name,))
            if kind == "TEXT"
        ]  # fmt: skip
        known = TABLES.get(name, Table(RECORD))
        new = [column for column in here if column not in (*known.words, *known.names, *known.other)]
        yield (
            name,
            Table(
                known.becomes,
                (*(column for column in known.words if column in here), *new),
                tuple(column for column in known.names if column in here),
                known.other,
            ),
        )


# files


@dataclass(frozen=True, slots=True)
class Files:
    """Files that may keep text: `find` returns their paths for a memory, of a project's folder or of none.
    `reach` describes how a purge changes them, empty where it cannot: then they are only named. `derived` is whether
    they are written from records: a single word in any other file is not taken from a record."""

    what: str
    reach: str
    find: Callable[[Database, str | None], Iterator[str]]
    derived: bool = False


def of_store(path: str) -> list[str]:
    """List the files of the store of the memory at `path`: its own folder whole, else the files beside it with its
    name, and the folders that every memory has beside it."""
    from store.base.installation import team_folder

    folder, name = os.path.split(path)
    shared = list(_all_in(team_folder(path)))
    if os.path.basename(folder) == FOLDER:
        return [*_all_in(folder), *shared]
    beside = [
        found
        for found in _names(folder)
        if found.startswith((name, *PARTS)) and os.path.isfile(os.path.join(folder, found))
    ]
    inner = [file for room in BESIDE for file in _all_in(os.path.join(folder, room))]
    return [*(os.path.join(folder, found) for found in beside), *inner, *shared]


BESIDE = ("backups", "spool", "logs")  # folders beside a memory that has no folder of its own
PARTS = (
    ".snapshot-",
)  # what is being written beside a memory under another name (store/conversations/session_snapshot.py)
EXPORTS = (".json", ".json.gz")  # beside a memory also those that it did not note, as of another copy of it


def _store(database: Database, base: str | None) -> Iterator[str]:
    yield from of_store(database.path)


def _exports(database: Database, base: str | None) -> Iterator[str]:
    for folder in dict.fromkeys(filter(None, (os.path.dirname(database.path), base))):
        yield from (os.path.join(folder, name) for name in _names(folder) if name.endswith(EXPORTS))
    yield from (file for file in _noted(database) if not is_database(file))


def _copies(database: Database, base: str | None) -> Iterator[str]:
    yield from filter(is_database, _noted(database))


def _noted(database: Database) -> Iterator[str]:
    """Yield the files that the memory was exported to, wherever they are; of a folder the Markdown in it. Not the
    memory itself, which is a backup that was noted where one was opened."""
    for path in noted_exports.noted(database):
        if os.path.realpath(path) != os.path.realpath(database.path):
            yield from (file for file in _all_in(path) if file.endswith(".md")) if os.path.isdir(path) else (path,)


def _settings(database: Database, base: str | None) -> Iterator[str]:
    from store.config.files import user_path

    yield user_path()


def _connections(database: Database, base: str | None) -> Iterator[str]:
    from store.base.installation import folder

    yield from _all_in(os.path.join(folder(), "connections"))


def _recent(database: Database, base: str | None) -> Iterator[str]:
    from platformdirs import user_state_path

    from store.base.installation import TEAMS

    state = str(user_state_path("memoranda", appauthor=False))
    yield from (file for file in _all_in(state) if not file.startswith(os.path.join(state, TEAMS, "")))


def _saved(database: Database, base: str | None) -> Iterator[str]:
    yield from _all_in(saved_transcripts())


FILES = (
    Files("the memory, its log, its backups, its spool and what else lies in its folder", "erased", _store, True),
    Files("an export: export again, and delete it", "", _exports, derived=True),
    Files("a backup elsewhere: make a new one, and delete it", "", _copies, derived=True),
    Files("your settings: edit them", "", _settings),
    Files("a file of an agent as it was before it was connected: disconnect it", "", _connections),
    Files("a conversation that you saved from a scan: delete it", "", _saved),
    Files("the list of memories that were open before: open others", "", _recent),
)


def of_person(database: Database, base: str | None) -> Iterator[tuple[str, Files]]:
    """Yield (path, what it is) of the existing files that a purge cannot change, each once: those that do not belong to
    the store, and exports."""
    seen = set[str]()
    store = set(of_store(database.path))
    for files in FILES:
        if not files.reach:
            for file in files.find(database, base):
                if file not in seen and (files.derived or file not in store) and os.path.isfile(file):
                    seen.add(file)
                    yield file, files


def _all_in(folder: str) -> Iterator[str]:
    for place, _, names in sorted(os.walk(folder)):
        yield from (os.path.join(place, name) for name in sorted(names) if os.path.isfile(os.path.join(place, name)))


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
