"""What is left of a text: every row of the memory, and every byte of every file, read by another process.

Not in this one: closing a handle on the database would drop the locks that SQLite holds on it here.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from store.base.errors import StorageError
from store.conversations import hook_spool
from store.database.database import Database
from store.database.values import storable
from store.documents.documents import Documents
from store.purge import documents as files
from store.purge.column_scan import RemainingMatch, elsewhere
from store.purge.pattern import Copies, Words
from store.purge.registry import of_person, of_store
from store.records.fact_rows import text_hash

LOOKS = 3  # at the list of files, which others change
READER = os.path.join(os.path.dirname(__file__), "byte_scanner.py")
# what nobody here can read: said with every proof
OUT_OF_REACH = (
    "Not looked at: snapshots of the file system, freed blocks of the disk, your shell's history, copies of other"
    " people and programs, and the history of git, which keeps every version of a file that was ever committed."
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One file: its `size` in bytes, -1 if it could not be read, and the encodings in which a text was `found`."""

    file: str
    size: int
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Traces:
    """What is left of texts: a verdict on every file, and the `places` that hold them, in the memory and in files."""

    verdicts: tuple[Verdict, ...]
    places: tuple[RemainingMatch, ...]

    @property
    def found(self) -> tuple[Verdict, ...]:
        """The files in which something stands."""
        return tuple(one for one in self.verdicts if one.found)

    @property
    def unread(self) -> tuple[Verdict, ...]:
        """The files of which nothing can be said."""
        return tuple(one for one in self.verdicts if one.size < 0)

    @property
    def none(self) -> bool:
        """Whether nothing is left, as far as every file could be read."""
        return not (self.found or self.places or self.unread)


def trace(
    database: Database,
    documents: Documents,
    texts: Sequence[str],
    names: Sequence[str] = (),
    *,
    erased: bool = False,
) -> Traces:
    """Look for texts, and for names that only they said, wherever Memoranda keeps text: row by row, and byte by byte in
    every file. This is the search before a purge, its proof, and `verify-forgotten`.

    Where the texts were `erased` and no row holds them, what stands in the file all the same was left there by a
    program that deletes without wiping, and the file is written anew. Raises StorageError."""
    texts = list(map(storable, texts))
    words, copies = Words(texts), Copies(texts, names)
    places = elsewhere(database, words, copies, ())
    stored = bool(places)
    if words and hook_spool.holding(database.path, words):
        places.append(RemainingMatch("spool", "spool", "[]", "not brought in yet", ""))
    places += files.places(database, documents.places, words)
    sought = [*texts, *names]
    verdicts = _prove_all(sought, database, documents)
    if erased and not stored and any(one.found for one in verdicts if one.file == database.path):
        database.vacuum()
        verdicts = _prove_all(sought, database, documents)
    return Traces(tuple(verdicts), tuple(places))


def _prove_all(sought: Sequence[str], database: Database, documents: Documents) -> list[Verdict]:
    """A verdict on every file. Other programs write beside the memory meanwhile: a file that is gone holds nothing, and
    one that it was renamed to is looked at too. Raises StorageError."""
    verdicts: dict[str, Verdict] = {}
    for _ in range(LOOKS):
        if not (new := [file for file in files_of(database, documents) if file not in verdicts]):
            break
        verdicts |= {one.file: one for one in prove(sought, new)}
    return [one for one in verdicts.values() if one.size >= 0 or os.path.lexists(one.file)]


def files_of(database: Database, documents: Documents) -> list[str]:
    """Every file in which Memoranda keeps or reads text, each once."""
    base = documents.places.base
    paths = [*of_store(database.path), *(file for file, _ in of_person(database.path, base))]
    paths += [found.place.path for found in documents.places.walk(lambda name, why: None)]
    seen: dict[str, str] = {}
    for path in paths:
        seen.setdefault(os.path.realpath(path), path)
    return list(seen.values())


def prove(texts: Iterable[str], paths: Sequence[str]) -> list[Verdict]:
    """Look for the texts in these files. Raises StorageError when the other process cannot do it."""
    texts = list(map(storable, texts))  # a command line may hold bytes that are no text
    asked = json.dumps({"texts": texts, "digests": [text_hash(text) for text in texts], "files": list(paths)})
    done = subprocess.run(
        [sys.executable, "-I", READER], input=asked, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode:
        raise StorageError("The process that reads the files ended without a word.", "Try again.")
    return [Verdict(one["file"], one["size"], tuple(one["found"])) for one in json.loads(done.stdout)]
