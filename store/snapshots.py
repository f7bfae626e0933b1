"""Snapshots: the last messages of a session that was cleared, as a Markdown file beside the project's notes [001].

`memory/snapshots/<slug>.md`: private, whole or not there at all, and never written over another.
"""

import os
import re
import unicodedata
from collections.abc import Sequence

from store.clock import local_time
from store.errors import StorageError
from store.models import Turn
from store.vocabulary import PERSON

MESSAGES = 15
FOLDER = ("memory", "snapshots")
WORDS, LONGEST = 6, 48  # of a slug: words, characters
MOST = 1_000  # snapshots of one slug

_STOP = frozenset(
    """
    a al an and are as at be con como could de del do el en es esta este for from had has have hay how i in is it la las
    le lo los me mi my no of on or para pero por puede puedes que se si sobre su te that the this to tu un una was we
    what with y ya you your please hola hello hi gracias thanks
    """.split()
)


def slug(turns: Sequence[Turn], day: str) -> str:
    """What a snapshot is called: its day, and the first words that tell what it was about."""
    return named(next((turn.text for turn in turns if turn.role == PERSON), turns[0].text if turns else ""), day)


def named(said: str, day: str) -> str:
    """A day, and the first words of a text that tell something, as a file may be called."""
    plain = unicodedata.normalize("NFKD", re.sub(r"```.*?(?:```|\Z)|https?://\S+", " ", said, flags=re.DOTALL).lower())
    words = re.findall(r"[a-z0-9]+", "".join(sign for sign in plain if not unicodedata.combining(sign)))
    name = day
    for word in [word for word in words if word not in _STOP][:WORDS] or ["session"]:
        if len(name) + len(word) < LONGEST:
            name += f"-{word}"
    return name


def text(session: str, title: str, turns: Sequence[Turn], said: int, now: str) -> str:
    """A snapshot's Markdown: every line of what was said is indented, so that none passes for a heading of ours. With
    spaces alone, for a purge looks for a text whatever spaces are in it."""
    lines = [
        f"# {' '.join(title.split())}",
        "",
        f"The last {len(turns)} of {said:,} messages of session `{session}`, cleared on {local_time(now)}.",
    ]
    for turn in turns:
        lines += ["", f"## {turn.speaker or turn.role}, {local_time(turn.at)} [{turn.citation}]", ""]
        lines += [f"    {line}".rstrip() for line in turn.text.splitlines()]
    return "\n".join(lines) + "\n"


def write(base: str, name: str, content: str) -> str:
    """Write a snapshot below the folder `base`; its path. Raises StorageError; nothing is left of it then."""
    try:
        folder = _folder(base)
        try:
            return os.path.join(base, *FOLDER, _put(folder, name, content.encode("utf-8", "replace")))
        finally:
            os.close(folder)
    except OSError as error:
        where = os.path.join(base, *FOLDER)
        raise StorageError(
            f"The snapshot cannot be written to {where}: {error.strerror}.", "Look at that folder; nothing was cleared."
        ) from None


def _folder(base: str) -> int:
    """A handle on the folder of snapshots, made private where it is missing, reached through no link."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    handle = os.open(base, flags)
    for step in FOLDER:
        try:
            os.mkdir(step, 0o700, dir_fd=handle)
        except FileExistsError:
            pass
        try:
            below = os.open(step, flags | os.O_NOFOLLOW, dir_fd=handle)
        finally:
            os.close(handle)
        handle = below
    return handle


def _put(folder: int, name: str, raw: bytes) -> str:
    """Write a new file, under the first free name; that name."""
    part = f".{name}.{os.urandom(4).hex()}.part"
    handle = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        for number in range(1, MOST):
            final = f"{name}.md" if number == 1 else f"{name}-{number}.md"
            try:
                os.link(part, final, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            except FileExistsError:
                continue
            os.fsync(folder)
            return final
        raise FileExistsError(17, "there are too many of that name")
    finally:
        os.unlink(part, dir_fd=folder)
