"""The proof that a text is gone: every byte of every file of the store, read by another process.

Not in this one: closing a handle on the database would drop the locks that SQLite holds on it here.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from store.database import Database
from store.documents.places import Places
from store.errors import StorageError
from store.facts import text_hash
from store.location import FOLDER

READER = os.path.join(os.path.dirname(__file__), "reading.py")
BESIDE = ("backups", "spool", "logs")  # folders beside a memory that is not in a folder of its own
# what nobody here can read: said with every proof
OUT_OF_REACH = (
    "Not looked at: snapshots of the file system, freed blocks of the disk, copies of other people and programs, and"
    " the history of git, which keeps every version of a file that was ever committed."
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """One file: its `size` in bytes, -1 if it could not be read, and the encodings in which a text was `found`."""

    file: str
    size: int
    found: tuple[str, ...]


def files_of(path: str) -> list[str]:
    """The files of the store of the memory at `path`: the whole of its own folder, else what lies beside it by its
    name, with backups, spool and logs."""
    folder, name = os.path.split(path)
    if os.path.basename(folder) == FOLDER:
        return list(_all_in(folder))
    beside = [
        found for found in _names(folder) if found.startswith(name) and os.path.isfile(os.path.join(folder, found))
    ]
    inner = [file for room in BESIDE for file in _all_in(os.path.join(folder, room))]
    return [*(os.path.join(folder, found) for found in beside), *inner]


def documents_of(database: Database, places: Places) -> list[str]:
    """The documents that the memory reads, where they are on the disk."""
    from store.errors import MemorandaError

    found = []
    for (path,) in database.rows("SELECT path FROM documents ORDER BY path"):
        try:
            found.append(places.named(path).path)
        except MemorandaError:
            continue  # gone, or no longer among the places
    return found


def prove(texts: Iterable[str], files: Sequence[str]) -> list[Verdict]:
    """Look for the texts in these files. Raises StorageError when the other process cannot do it."""
    texts = list(texts)
    asked = json.dumps({"texts": texts, "digests": [text_hash(text) for text in texts], "files": list(files)})
    done = subprocess.run(
        [sys.executable, "-I", READER], input=asked, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode:
        raise StorageError("The process that reads the files ended without a word.", "Try again.")
    return [Verdict(one["file"], one["size"], tuple(one["found"])) for one in json.loads(done.stdout)]


def _all_in(folder: str) -> Iterable[str]:
    for place, _, names in sorted(os.walk(folder)):
        yield from (os.path.join(place, name) for name in sorted(names) if os.path.isfile(os.path.join(place, name)))


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def proven(database: Database, texts: Sequence[str], clean: bool) -> list[Verdict]:
    """`prove` for the files of a memory's own store. Where it is `clean`, nothing stored holds the texts any more: what
    stands in the file all the same was left there by a program that deletes without wiping, and the file is written
    anew. Raises StorageError."""
    files = files_of(database.path)
    verdicts = prove(texts, files)
    if clean and any(one.found for one in verdicts if one.file == database.path):
        database.write_anew()
        verdicts = prove(texts, files)
    return verdicts
