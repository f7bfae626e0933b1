"""Find what is left of a text: read every row of the memory, and every byte of every file in another process.

Not in this process: closing a handle on the database would drop the locks that SQLite holds on it here.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from store.base.errors import MemorandaError, StorageError
from store.base.location import backup_folder
from store.conversations.hook_spool import count_matching_lines
from store.database.database import Database
from store.database.values import make_storable
from store.documents.documents import Documents
from store.purge.file_eraser import find_file_matches, find_guard_matches, guard_path, search_guard_bytes
from store.purge.registry import list_person_files, list_store_files
from store.purge.word_search import (
    PurgedCopies,
    PurgedTexts,
    RemainingMatch,
    find_remaining_matches,
    find_short_matches,
    is_long_enough,
)
from store.records.facts import text_hash

# readings of the list of files, which other processes change
MAX_LISTINGS = 3
BYTE_SCANNER = os.path.join(os.path.dirname(__file__), "byte_scanner.py")
# what cannot be read here: reported with every proof
NOT_SEARCHED_NOTE = (
    "Not looked at: snapshots of the file system, freed blocks of the disk, your shell's history, copies of other"
    " people and programs, and the history of git, which keeps every version of a file that was ever committed."
)


class PurgeVerdict(NamedTuple):
    """Result for one file: its `size` in bytes, -1 if it could not be read, and the encodings in which a text was
    `found`."""

    file: str
    size: int
    found: tuple[str, ...]


class PurgeTraces(NamedTuple):
    """What is left of texts: a verdict on every file, and the `places` in the memory and in files that contain them."""

    verdicts: tuple[PurgeVerdict, ...]
    places: tuple[RemainingMatch, ...]

    @property
    def files_with_text(self) -> tuple[PurgeVerdict, ...]:
        """The files that contain a text."""
        return tuple(one for one in self.verdicts if one.found)

    @property
    def unread_files(self) -> tuple[PurgeVerdict, ...]:
        """The files that could not be read."""
        return tuple(one for one in self.verdicts if one.size < 0)

    @property
    def is_clean(self) -> bool:
        """Whether nothing is left, and every file could be read."""
        return not (self.files_with_text or self.places or self.unread_files)


def find_traces(
    database: Database,
    documents: Documents,
    texts: Sequence[str],
    names: Sequence[str] = (),
    *,
    erased: bool = False,
) -> PurgeTraces:
    """Look for texts, and for names that only they contained, wherever Memoranda keeps text: row by row, and byte by
    byte in every file. Used for the search before a purge, its proof, and `purge --check`.

    Where the texts were `erased` and no row contains them, bytes that remain in the file were left by a program that
    deletes without wiping, and the file is rewritten. Raise StorageError.
    """
    texts = list(map(make_storable, texts))
    words, copies = PurgedTexts(texts), PurgedCopies(texts, names)
    places = find_remaining_matches(database, words, copies, ()) + find_short_matches(
        database, [text.strip() for text in texts if not is_long_enough(text)]
    )
    stored = bool(places)
    if words and count_matching_lines(database.path, words):
        places.append(RemainingMatch("spool", "spool", "[]", "not brought in yet", ""))
    places += find_file_matches(database, documents.roots, words)
    places += find_guard_matches(words)
    verdicts = _prove_all(texts, names, database, documents)
    if erased and not stored and any(one.found for one in verdicts if one.file == database.path):
        database.vacuum()
        verdicts = _prove_all(texts, names, database, documents)
    return PurgeTraces(tuple(verdicts), tuple(places))


def _prove_all(
    texts: Sequence[str], names: Sequence[str], database: Database, documents: Documents
) -> list[PurgeVerdict]:
    """Return a verdict on every file. Names are looked for only where records are copied to, in the memory, its backups
    and its exports: a single word in any other file, as in the list of memories with the names of folders, in settings
    or in what guard keeps, is not taken from a record. Other programs write beside the memory meanwhile: a file that
    was deleted holds nothing, and one that it was renamed to is read too. Raise StorageError."""
    verdicts: dict[str, PurgeVerdict] = {}
    base = documents.roots.base
    exports = {file for file, files in list_person_files(database, base) if files.derived}
    ours = (database.path, os.path.join(backup_folder(database.path), ""))
    for _ in range(MAX_LISTINGS):
        if not (new := [file for file in list_text_files(database, documents) if file not in verdicts]):
            break
        copied = [file for file in new if names and (file in exports or file.startswith(ours))]
        verdicts |= {one.file: one for one in search_files([*texts, *names], copied)} if copied else {}
        if others := [file for file in new if file not in copied]:
            verdicts |= {one.file: one for one in search_files(texts, others)}
    read = [one for one in verdicts.values() if one.size >= 0 or os.path.lexists(one.file)]
    return [*read, *_guard_verdicts(texts)]


def _guard_verdicts(texts: Sequence[str]) -> list[PurgeVerdict]:
    """Return a verdict on what guard keeps, unsealed; none where it keeps nothing."""
    try:
        found = search_guard_bytes(texts)
    except MemorandaError:
        return [PurgeVerdict(guard_path(), -1, ())]
    return [] if found is None else [PurgeVerdict(guard_path(), found[0], tuple(sorted(found[1])))]


def list_text_files(database: Database, documents: Documents) -> list[str]:
    """List every file in which Memoranda keeps or reads text, each once."""
    base = documents.roots.base
    paths = [*list_store_files(database.path), *(file for file, _ in list_person_files(database, base))]
    paths += [found.place.path for found in documents.roots.walk(lambda name, why: None)]
    seen: dict[str, str] = {}
    for path in paths:
        seen.setdefault(os.path.realpath(path), path)
    return list(seen.values())


def search_files(texts: Iterable[str], paths: Sequence[str]) -> list[PurgeVerdict]:
    """Look for the texts in these files. Raise StorageError when the other process fails."""
    # a command line may contain bytes that are not text
    texts = list(map(make_storable, texts))
    asked = json.dumps({"texts": texts, "digests": [text_hash(text) for text in texts], "files": list(paths)})
    done = subprocess.run(
        [sys.executable, "-I", BYTE_SCANNER],
        input=asked,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        raise StorageError("The process that reads the files ended without a word.", "Try again.")
    return [PurgeVerdict(one["file"], one["size"], tuple(one["found"])) for one in json.loads(done.stdout)]
