"""Find what is left of a text: read every row of the memory, and every byte of every file in another process.

Not in this process: closing a handle on the database would drop the locks that SQLite holds on it here.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from store.base.errors import MemorandaError, StorageError
from store.base.location import BACKUPS
from store.conversations import hook_spool
from store.database.database import Database
from store.database.values import storable
from store.documents.documents import Documents
from store.guard.database import place as guard_place
from store.purge import documents as files
from store.purge import guarded
from store.purge.registry import of_person, of_store
from store.purge.scan.column_scan import RemainingMatch, elsewhere, short
from store.purge.scan.pattern import Copies, Words, long
from store.records.fact_rows import text_hash

LOOKS = 3  # readings of the list of files, which other processes change
READER = os.path.join(os.path.dirname(__file__), "scan", "byte_scanner.py")
# what cannot be read here: reported with every proof
OUT_OF_REACH = (
    "Not looked at: snapshots of the file system, freed blocks of the disk, your shell's history, copies of other"
    " people and programs, and the history of git, which keeps every version of a file that was ever committed."
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result for one file: its `size` in bytes, -1 if it could not be read, and the encodings in which a text was
    `found`."""

    file: str
    size: int
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Traces:
    """What is left of texts: a verdict on every file, and the `places` in the memory and in files that contain them."""

    verdicts: tuple[Verdict, ...]
    places: tuple[RemainingMatch, ...]

    @property
    def found(self) -> tuple[Verdict, ...]:
        """The files that contain a text."""
        return tuple(one for one in self.verdicts if one.found)

    @property
    def unread(self) -> tuple[Verdict, ...]:
        """The files that could not be read."""
        return tuple(one for one in self.verdicts if one.size < 0)

    @property
    def none(self) -> bool:
        """Whether nothing is left, and every file could be read."""
        return not (self.found or self.places or self.unread)


def trace(
    database: Database,
    documents: Documents,
    texts: Sequence[str],
    names: Sequence[str] = (),
    *,
    erased: bool = False,
) -> Traces:
    """Look for texts, and for names that only they contained, wherever Memoranda keeps text: row by row, and byte by
    byte in every file. Used for the search before a purge, its proof, and `verify-forgotten`.

    Where the texts were `erased` and no row contains them, bytes that remain in the file were left by a program that
    deletes without wiping, and the file is rewritten. Raise StorageError.
    """
    texts = list(map(storable, texts))
    words, copies = Words(texts), Copies(texts, names)
    places = elsewhere(database, words, copies, ()) + short(
        database, [text.strip() for text in texts if not long(text)]
    )
    stored = bool(places)
    if words and hook_spool.holding(database.path, words):
        places.append(RemainingMatch("spool", "spool", "[]", "not brought in yet", ""))
    places += files.places(database, documents.places, words)
    places += guarded.places(words)
    verdicts = _prove_all(texts, names, database, documents)
    if erased and not stored and any(one.found for one in verdicts if one.file == database.path):
        database.vacuum()
        verdicts = _prove_all(texts, names, database, documents)
    return Traces(tuple(verdicts), tuple(places))


def _prove_all(texts: Sequence[str], names: Sequence[str], database: Database, documents: Documents) -> list[Verdict]:
    """Return a verdict on every file. Names are looked for only where records are copied to, in the memory, its backups
    and its exports: a single word in any other file, as in the list of memories with the names of folders, in settings
    or in what guard keeps, is not taken from a record. Other programs write beside the memory meanwhile: a file that
    was deleted holds nothing, and one that it was renamed to is read too. Raise StorageError."""
    verdicts: dict[str, Verdict] = {}
    base = documents.places.base
    exports = {file for file, files in of_person(database, base) if files.derived}
    ours = (database.path, os.path.join(os.path.dirname(database.path), BACKUPS, ""))
    for _ in range(LOOKS):
        if not (new := [file for file in files_of(database, documents) if file not in verdicts]):
            break
        copied = [file for file in new if names and (file in exports or file.startswith(ours))]
        verdicts |= {one.file: one for one in prove([*texts, *names], copied)} if copied else {}
        if others := [file for file in new if file not in copied]:
            verdicts |= {one.file: one for one in prove(texts, others)}
    read = [one for one in verdicts.values() if one.size >= 0 or os.path.lexists(one.file)]
    return [*read, *_of_guard(texts)]


def _of_guard(texts: Sequence[str]) -> list[Verdict]:
    """Return a verdict on what guard keeps, unsealed; none where it keeps nothing."""
    try:
        found = guarded.bytes_left(texts)
    except MemorandaError:
        return [Verdict(guard_place(), -1, ())]
    return [] if found is None else [Verdict(guard_place(), found[0], tuple(sorted(found[1])))]


def files_of(database: Database, documents: Documents) -> list[str]:
    """List every file in which Memoranda keeps or reads text, each once."""
    base = documents.places.base
    paths = [*of_store(database.path), *(file for file, _ in of_person(database, base))]
    paths += [found.place.path for found in documents.places.walk(lambda name, why: None)]
    seen: dict[str, str] = {}
    for path in paths:
        seen.setdefault(os.path.realpath(path), path)
    return list(seen.values())


def prove(texts: Iterable[str], paths: Sequence[str]) -> list[Verdict]:
    """Look for the texts in these files. Raise StorageError when the other process fails."""
    texts = list(map(storable, texts))  # a command line may contain bytes that are not text
    asked = json.dumps({"texts": texts, "digests": [text_hash(text) for text in texts], "files": list(paths)})
    done = subprocess.run(
        [sys.executable, "-I", READER], input=asked, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode:
        raise StorageError("The process that reads the files ended without a word.", "Try again.")
    return [Verdict(one["file"], one["size"], tuple(one["found"])) for one in json.loads(done.stdout)]
