"""Every place that keeps text: the columns of every table, and the files and folders that Memoranda writes.

The search for purged words and the proof that none is left read what is listed here; a test compares it with the schema
and with what the public writers leave on the disk. Of a table or column that is missing here every TEXT column is
searched all the same.
"""

import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from store.base.location import backup_folder, is_project_folder, saved_transcripts_folder
from store.base.state_files import TEAMS_FOLDER, state_folder, team_folder
from store.config.configuration import user_settings_path
from store.database.database import Database
from store.database.files import is_database
from store.exchange.exporter import list_noted_exports

# what a purge does to a table's words
# cut out of a row, in a record and in its history
RECORD_TABLE = "record"
# the same, for copies that Memoranda made of other text: names are cut out of them too
COPY_TABLE = "copy"
# a row is deleted whole
INPUT_TABLE = "input"
# all rows are deleted, whatever they hold: they may contain it in other words
DROPPED_TABLE = "dropped"
# follows its source, which is searched
REBUILT_TABLE = "rebuilt"
# reported with the records that it is of
HISTORY_TABLE = "history"
# no words of people
WORDLESS_TABLE = "none"


class TextTable(NamedTuple):
    """A table: `words` are the columns that hold words of people; `names` those that hold names of writers, files and
    steps, which are reported where they contain the words and never cut; `other` those with neither: closed lists,
    times, digests, numbers and vectors."""

    becomes: str
    words: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    other: tuple[str, ...] = ()


def _make_table(becomes: str, words: str = "", names: str = "", other: str = "") -> TextTable:
    """Make the entry of a table from columns in one text each, separated by spaces."""
    return TextTable(becomes, tuple(words.split()), tuple(names.split()), tuple(other.split()))


TEXT_TABLES = {
    # records
    "facts": _make_table(
        RECORD_TABLE,
        "fact evidence tags session",
        "origin",
        "domain text_hash confidence source scope status created_at last_confirmed_at",
    ),
    "decisions": _make_table(
        RECORD_TABLE,
        "title context chosen alternatives rationale phase evidence tags",
        "origin",
        "impact decided_at status confirmed_at",
    ),
    "tasks": _make_table(RECORD_TABLE, "text tags", "origin", "status created_at updated_at"),
    "commit_links": _make_table(WORDLESS_TABLE, "", "origin", "link_type"),
    "proposals": _make_table(
        RECORD_TABLE,
        "text change others evidence reason",
        "origin",
        "kind asked based_on state created_at decided_at",
    ),
    "mutes": _make_table(WORDLESS_TABLE, "", "origin", "at"),
    "iterations": _make_table(
        RECORD_TABLE,
        "command description phases_completed artifacts",
        "origin",
        "status started_at completed_at",
    ),
    "commits": _make_table(RECORD_TABLE, "message author", "origin", "sha committed_at"),
    "checkouts": _make_table(RECORD_TABLE, "", "branch worktree folder"),
    "made_in": _make_table(WORDLESS_TABLE),
    "events": _make_table(RECORD_TABLE, "event_type phase payload", "origin", "created_at"),
    "turns": _make_table(RECORD_TABLE, "session speaker text", "origin", "role at"),
    "summaries": _make_table(
        RECORD_TABLE, "session topic discussed outcome decisions open_questions", "origin", "created_at"
    ),
    "sessions": _make_table(RECORD_TABLE, "id source cwd", "", "started_at ended_at"),
    "sources": _make_table(RECORD_TABLE, "path", "", "at mark"),
    "context_usage": _make_table(RECORD_TABLE, "session", "", "at"),
    "agent_sessions": _make_table(RECORD_TABLE, "session", "client model", "started_at last_at"),
    "agent_calls": _make_table(RECORD_TABLE, "session", "client name", "at door problem reads writes"),
    # copies of other text
    "checkpoints": _make_table(
        COPY_TABLE,
        "name session summary changed working tasks decisions entities",
        "origin",
        "created_at trigger level recovered_at digest",
    ),
    "contexts": _make_table(COPY_TABLE, "session question", "", "at"),
    "agent_tasks": _make_table(INPUT_TABLE, "session said", "", "number seen"),
    "injections": _make_table(COPY_TABLE, "session question text", "client", "at event"),
    "discarded": _make_table(COPY_TABLE, "session text", "", "role kind at"),
    "queries": _make_table(INPUT_TABLE, "text", "", "at"),
    "answers_cache": _make_table(
        DROPPED_TABLE, "normal question answer citations found", "", "basis fingerprint at vector"
    ),
    # history
    "history": _make_table(HISTORY_TABLE, "", "actor reason", "at door rows_root digest"),
    "history_row": _make_table(HISTORY_TABLE, "before after", "pk", "tbl op salt leaf"),
    "history_block": _make_table(HISTORY_TABLE, "", "", "records directory texts salts"),
    # derived from other tables
    "documents": _make_table(REBUILT_TABLE, "", "path", "at problem digest"),
    "chunks": _make_table(REBUILT_TABLE, "heading text"),
    "corpus": _make_table(REBUILT_TABLE, "title text context", "", "kind at status"),
    "passages": _make_table(WORDLESS_TABLE),
    "embeddings": _make_table(REBUILT_TABLE, "", "", "digest vector used_at"),
    "embedding_models": _make_table(WORDLESS_TABLE, "", "", "fingerprint mean created_at"),
    "meaning_space": _make_table(WORDLESS_TABLE, "", "", "fingerprint centres turn"),
    "embedding_queue": _make_table(WORDLESS_TABLE),
    "vectors": _make_table(WORDLESS_TABLE),
    "vector_blocks": _make_table(WORDLESS_TABLE, "", "", "ids signs"),
    # of this machine and this moment
    "meta": _make_table(WORDLESS_TABLE, "", "value", "key"),
    "leases": _make_table(WORDLESS_TABLE, "", "holder", "name expires_at"),
    "backups": _make_table(WORDLESS_TABLE, "", "name", "made_at sums digest verified_at problem"),
    "redactions": _make_table(WORDLESS_TABLE, "", "actor", "at rule tbl field door"),
    "accesses": _make_table(WORDLESS_TABLE, "", "", "at"),
    "answers": _make_table(WORDLESS_TABLE, "", "", "key answer at"),
    "ingested": _make_table(WORDLESS_TABLE, "", "", "key"),
    "model_calls": _make_table(DROPPED_TABLE, "answer dropped", "model", "at task fallback"),
    "model_use": _make_table(WORDLESS_TABLE, "", "model", "task kind at"),
    "month_words": _make_table(WORDLESS_TABLE, "", "", "month words"),
    "pending_extraction": _make_table(WORDLESS_TABLE, "", "", "task next_at error"),
    "searches": _make_table(WORDLESS_TABLE, "", "", "at"),
    "sent": _make_table(WORDLESS_TABLE),
    "injected": _make_table(WORDLESS_TABLE, "", "", "why"),
    "muted": _make_table(WORDLESS_TABLE, "", "", "at"),
    "synced_files": _make_table(WORDLESS_TABLE, "", "path head problem", "digest day own"),
    "synced_lines": _make_table(WORDLESS_TABLE, "", "", "digest"),
    "synced_proposals": _make_table(WORDLESS_TABLE, "", "", "digest"),
    "evidence_looks": _make_table(INPUT_TABLE, "item place", "", "digest at"),
    "moves": _make_table(WORDLESS_TABLE, "", "project", "token kind state door at"),
    "tombstones": _make_table(WORDLESS_TABLE, "", "", "hash at"),
    "uncompared": _make_table(WORDLESS_TABLE),
}


def list_text_tables(database: Database) -> Iterator[tuple[str, TextTable]]:
    """Yield every table of a file with its entry in the registry; a table without an entry is treated as records."""
    for name in database.column(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%'"
        " ESCAPE '\\' ORDER BY name"
    ):
        here = [
            column for column, kind in database.rows("SELECT name, type FROM pragma_table_info(?, 'main')", (name,))
            if kind == "TEXT"
        ]  # fmt: skip
        known = TEXT_TABLES.get(name, TextTable(RECORD_TABLE))
        new = [column for column in here if column not in (*known.words, *known.names, *known.other)]
        yield (
            name,
            TextTable(
                known.becomes,
                (*(column for column in known.words if column in here), *new),
                tuple(column for column in known.names if column in here),
                known.other,
            ),
        )


# files


class TextFiles(NamedTuple):
    """Files outside of the store that may keep text, which a purge cannot change, and only names: `find` returns their
    paths for a memory, of a project's folder or of none. `derived` is whether they are written from records: a single
    word in any other file is not taken from a record."""

    what: str
    find: Callable[[Database, str | None], Iterator[str]]
    derived: bool = False


def list_store_files(path: str) -> list[str]:
    """List the files of the store of the memory at `path`: its own folder whole, else the files beside it with its
    name, and the folders that every memory has beside it."""
    folder, name = os.path.split(path)
    shared = list(_list_files_in(team_folder(path)))
    backups = backup_folder(path)
    shared += [] if backups.startswith(os.path.join(folder, "")) else _list_files_in(backups)
    if is_project_folder(folder):
        return [*_list_files_in(folder), *shared]
    beside = [
        found
        for found in _list_names(folder)
        if found.startswith((name, *PARTIAL_PREFIXES)) and os.path.isfile(os.path.join(folder, found))
    ]
    inner = [file for room in BESIDE_FOLDERS for file in _list_files_in(os.path.join(folder, room))]
    return [*(os.path.join(folder, found) for found in beside), *inner, *shared]


# folders beside a memory that has no folder of its own
BESIDE_FOLDERS = ("backups", "spool", "logs")
PARTIAL_PREFIXES = (
    ".snapshot-",
)  # what is being written beside a memory under another name (store/conversations/sessions.py)
# beside a memory also those that it did not note, as of another copy of it
EXPORT_ENDINGS = (".json", ".json.gz")


def _find_exports(database: Database, base: str | None) -> Iterator[str]:
    """Yield the exports beside the memory, in the project's folder, and wherever the memory was exported to."""
    for folder in dict.fromkeys(filter(None, (os.path.dirname(database.path), base))):
        yield from (os.path.join(folder, name) for name in _list_names(folder) if name.endswith(EXPORT_ENDINGS))
    yield from (file for file in _find_noted_exports(database) if not is_database(file))


def _find_noted_exports(database: Database) -> Iterator[str]:
    """Yield the files that the memory was exported to, wherever they are; of a folder the Markdown in it. Not the
    memory itself, which is a backup that was noted where one was opened."""
    for path in list_noted_exports(database):
        if os.path.realpath(path) != os.path.realpath(database.path):
            yield from (
                (file for file in _list_files_in(path) if file.endswith(".md")) if os.path.isdir(path) else (path,)
            )


def _find_recent(database: Database, base: str | None) -> Iterator[str]:
    """Yield the files of this installation's state, without the folders of teams."""
    state = state_folder()
    yield from (
        file for file in _list_files_in(state) if not file.startswith(os.path.join(state, TEAMS_FOLDER, ""))
    )


TEXT_FILES = (
    TextFiles("an export: export again, and delete it", _find_exports, derived=True),
    TextFiles(
        "a backup elsewhere: make a new one, and delete it",
        lambda database, base: filter(is_database, _find_noted_exports(database)),
        derived=True,
    ),
    TextFiles("your settings: edit them", lambda database, base: iter([user_settings_path()])),
    TextFiles(
        "a file of an agent as it was before it was connected: disconnect it",
        lambda database, base: _list_files_in(os.path.join(state_folder(), "connections")),
    ),
    TextFiles(
        "a conversation that you saved from a scan: delete it",
        lambda database, base: _list_files_in(saved_transcripts_folder()),
    ),
    TextFiles("the list of memories that were open before: open others", _find_recent),
)


def list_person_files(database: Database, base: str | None) -> Iterator[tuple[str, TextFiles]]:
    """Yield (path, what it is) of the existing files that a purge cannot change, each once: files outside of the
    store, and exports."""
    seen = set[str]()
    store = set(list_store_files(database.path))
    for files in TEXT_FILES:
        for file in files.find(database, base):
            if file not in seen and (files.derived or file not in store) and os.path.isfile(file):
                seen.add(file)
                yield file, files


def _list_files_in(folder: str) -> Iterator[str]:
    """Yield every file below a folder, in order."""
    for place, _, names in sorted(os.walk(folder)):
        yield from (
            os.path.join(place, name) for name in sorted(names) if os.path.isfile(os.path.join(place, name))
        )


def _list_names(folder: str) -> list[str]:
    """Return the sorted names in a folder; none if it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
