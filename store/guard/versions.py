"""Versions of files, in pieces that are each stored once, and how long they are kept."""

import os

from store.base.clock import DAY_MS
from store.base.errors import NotFound
from store.guard.database import KeptVersions

PIECE = 1 << 18  # bytes; a database changes in few of them
SAFE_MS = DAY_MS  # what changed so recently is never dropped for its size


def file_of(kept: KeptVersions, tool: str, path: str) -> int:
    """Return the number of a file, which is new where it was never seen."""
    name = path.encode("utf-8", "surrogateescape")
    digest = kept.sealer.digest(name)
    if found := kept.row("SELECT id FROM files WHERE digest = ?", (digest,)):
        return int(found[0])
    kept.connection.execute(
        "INSERT INTO files(tool, digest, path) VALUES (?, ?, ?)", (tool, digest, kept.sealer.seal(name, digest))
    )
    return kept.connection.last_insert_rowid()


def path_of(kept: KeptVersions, digest: bytes, sealed: bytes) -> str:
    """Return the path of a row of `files`."""
    return kept.sealer.unseal(sealed, digest).decode("utf-8", "surrogateescape")


def keep(kept: KeptVersions, file: int, raw: bytes, mode: int) -> int:
    """Store a version of a file, unless it is kept already; return its number."""
    digest = kept.sealer.digest(raw)
    if found := kept.row("SELECT id FROM versions WHERE file = ? AND digest = ?", (file, digest)):
        return int(found[0])
    kept.connection.execute(
        "INSERT INTO versions(file, digest, size, mode) VALUES (?, ?, ?, ?)", (file, digest, len(raw), mode)
    )
    version = kept.connection.last_insert_rowid()
    kept.connection.executemany(
        "INSERT INTO version_pieces(version, place, piece) VALUES (?, ?, ?)",
        [(version, at // PIECE, _piece(kept, raw[at : at + PIECE])) for at in range(0, len(raw), PIECE)],
    )
    return version


def erase(kept: KeptVersions, version: int) -> None:
    """Erase the content of a version: it is still told that there was one."""
    digest = os.urandom(32)
    kept.connection.execute("UPDATE versions SET erased = 1, size = 0, digest = ? WHERE id = ?", (digest, version))
    kept.connection.execute("DELETE FROM version_pieces WHERE version = ?", (version,))


def replace(kept: KeptVersions, file: int, version: int, raw: bytes) -> None:
    """Let a version of a file have another content, everywhere that it is told of."""
    mode = kept.row("SELECT mode FROM versions WHERE id = ?", (version,))
    other = keep(kept, file, raw, mode[0] if mode else 0o600)
    for table, column in (("files", "version"), ("changes", "before"), ("changes", "after")):
        kept.connection.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (other, version))


def _piece(kept: KeptVersions, part: bytes) -> int:
    digest = kept.sealer.digest(part)
    if found := kept.row("SELECT id FROM pieces WHERE digest = ?", (digest,)):
        return int(found[0])
    sealed = kept.sealer.seal(part, digest)
    kept.connection.execute("INSERT INTO pieces(digest, sealed) VALUES (?, ?)", (digest, sealed))
    return kept.connection.last_insert_rowid()


def content(kept: KeptVersions, version: int) -> bytes:
    """Return the bytes of a version. Raise NotFound where they were erased, StorageError where they cannot be
    opened."""
    if kept.row("SELECT 1 FROM versions WHERE id = ? AND erased", (version,)):
        raise NotFound(
            "That version was erased, for what was purged from it.", "Another moment may have what you need."
        )
    return b"".join(
        kept.sealer.unseal(sealed, digest)
        for digest, sealed in kept.rows(
            "SELECT p.digest, p.sealed FROM version_pieces v JOIN pieces p ON p.id = v.piece WHERE v.version = ?"
            " ORDER BY v.place",
            (version,),
        )
    )


def erased(kept: KeptVersions, version: int) -> bool:
    """Return whether the content of a version was erased."""
    return kept.row("SELECT 1 FROM versions WHERE id = ? AND erased", (version,)) is not None


def same(kept: KeptVersions, version: int | None, raw: bytes | None) -> bool:
    """Return whether a version has these bytes; None is no file."""
    if version is None or raw is None:
        return version is None and raw is None
    found = kept.row("SELECT digest FROM versions WHERE id = ?", (version,))
    return found is not None and found[0] == kept.sealer.digest(raw)


def size(kept: KeptVersions) -> int:
    """Return how many bytes are kept, as they are stored."""
    found = kept.row("SELECT coalesce(sum(length(sealed)), 0) FROM pieces")
    return int(found[0]) if found else 0


def prune(kept: KeptVersions, days: int, most: int, now: int) -> int:
    """Drop moments older than `days` (0: none), then the oldest until `most` bytes are kept, never one of the last day;
    return how many went. What is there now is always kept."""
    gone = 0
    if days:
        gone += _drop(kept, "last_at < ?", now - days * DAY_MS)
    sweep(kept)
    while size(kept) > most and (
        oldest := kept.row(
            "SELECT id FROM moments WHERE NOT pending AND last_at < ? ORDER BY last_at, id LIMIT 1", (now - SAFE_MS,)
        )
    ):
        gone += _drop(kept, "id = ?", int(oldest[0]))
        sweep(kept)
    return gone


def _drop(kept: KeptVersions, where: str, value: int) -> int:
    kept.connection.execute(f"DELETE FROM moments WHERE NOT pending AND {where}", (value,))
    return kept.connection.changes()


def sweep(kept: KeptVersions) -> None:
    """Delete versions that no moment and no present file needs, and what only they needed."""
    kept.connection.execute(
        "DELETE FROM versions WHERE id NOT IN (SELECT version FROM files WHERE version IS NOT NULL"
        " UNION SELECT before FROM changes WHERE before IS NOT NULL"
        " UNION SELECT after FROM changes WHERE after IS NOT NULL)"
    )
    kept.connection.execute("DELETE FROM pieces WHERE id NOT IN (SELECT piece FROM version_pieces)")
    kept.connection.execute("DELETE FROM files WHERE version IS NULL AND id NOT IN (SELECT file FROM changes)")
