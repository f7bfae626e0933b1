"""Tell whether a repository holds an object, from its files alone: without starting git."""

from __future__ import annotations

import os

IDX_MAGIC = b"\xfftOc\0\0\0\2"
FANOUT_START, NAMES_START = 8, 8 + 256 * 4
MOST_ALTERNATES = 10


def has_object(git: str, sha: str, depth: int = MOST_ALTERNATES) -> bool:
    """Return whether the repository with the common git directory `git` holds the object of a full hexadecimal `sha`,
    loose, packed, or by a repository that it borrows from. What cannot be read holds nothing."""
    try:
        raw = bytes.fromhex(sha)
    except ValueError:
        return False
    objects = os.path.join(git, "objects")
    return len(raw) in (20, 32) and _is_in_store(objects, raw, depth)


def _is_in_store(objects: str, raw: bytes, depth: int) -> bool:
    sha, packs = raw.hex(), os.path.join(objects, "pack")
    if os.path.isfile(os.path.join(objects, sha[:2], sha[2:])):
        return True
    try:
        indexes = [name for name in os.listdir(packs) if name.endswith(".idx")]
    except OSError:
        indexes = []
    if any(_is_in_index(os.path.join(packs, name), raw) for name in indexes):
        return True
    try:
        with open(os.path.join(objects, "info", "alternates"), "rb") as file:
            others = [
                os.fsdecode(line) for line in file.read(8_192).splitlines() if line and not line.startswith(b"#")
            ]
    except OSError:
        return False
    return depth > 0 and any(_is_in_store(os.path.join(objects, one), raw, depth - 1) for one in others)


def _is_in_index(path: str, raw: bytes) -> bool:
    """Return whether the index of a pack, in the form that git has written since 2007, names an object."""
    try:
        with open(path, "rb") as file:
            head = file.read(NAMES_START)
            if not head.startswith(IDX_MAGIC) or len(head) < NAMES_START:
                return False
            low, high = (
                int.from_bytes(head[FANOUT_START + 4 * at : FANOUT_START + 4 * at + 4]) if at >= 0 else 0
                for at in (raw[0] - 1, raw[0])
            )
            while low < high:
                middle = (low + high) // 2
                file.seek(NAMES_START + middle * len(raw))
                if (found := file.read(len(raw))) == raw:
                    return True
                low, high = (middle + 1, high) if found < raw else (low, middle)
    except OSError:
        pass
    return False
