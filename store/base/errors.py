"""The errors shown to a person: each has its cause in one sentence and the next step in another.

No message contains the text of a record: errors are written to logs and terminals without redaction.
"""

from enum import IntEnum


class ExitStatus(IntEnum):
    """How a command ends: the number that a script sees, and what it `says`, for the help and the documents."""

    says: str

    def __new__(cls, number: int, says: str = "") -> "ExitStatus":
        status = int.__new__(cls, number)
        status._value_ = number
        status.says = says
        return status

    DONE = 0, "done"
    CANNOT = 1, "it could not be done, or only in part; the error says why and what to do"
    USAGE = 2, "wrong usage, or a question that nobody was there to answer"
    ELSEWHERE = 3, "done here; what still holds it elsewhere is named"
    UNFINISHED = 4, "stopped midway, or something is left to do; it says how to go on"
    PERSON = 5, "something needs a person; it is named"
    HANGUP = 129, "ended by SIGHUP: the terminal was closed"
    INTERRUPTED = 130, "ended by SIGINT: ^C"
    TERMINATED = 143, "ended by SIGTERM"


class MemorandaError(Exception):
    """Base of every error shown to a person.

    `message` is the cause, `next` the step that repairs it (may be empty); `code` is stable and for scripts;
    `exit_status` is that of the command line.
    """

    code = "error"
    exit_status = ExitStatus.CANNOT

    def __init__(self, message: str, next: str = "") -> None:
        self.message = message
        self.next = next

    def __str__(self) -> str:
        return f"{self.message} {self.next}".strip()


class InvalidInput(MemorandaError):
    """The request is not valid as written."""

    code = "invalid"
    exit_status = ExitStatus.USAGE


class NotFound(MemorandaError):
    """No such record, checkpoint or step."""

    code = "not-found"


class Conflict(MemorandaError):
    """The change conflicts with a later one and would overwrite it."""

    code = "conflict"


class Unsupported(MemorandaError):
    """Valid, and not implemented yet."""

    code = "unsupported"


class UnsafeFile(MemorandaError):
    """A symlink, another person's file, a directory, a network file system: not usable for a memory."""

    code = "unsafe-file"


class ForeignFile(MemorandaError):
    """A file that is not a memory of ours, or no longer readable as one."""

    code = "foreign-file"


class DamagedFile(ForeignFile):
    """A memory that the disk, a copy or a program damaged: keep it unchanged, and salvage it."""

    code = "damaged-file"


class NotOurs(MemorandaError):
    """A memory that this installation neither made nor adopted: it came with a checkout, an archive or a share.

    `unmarked` is one from before memories had an identity, which may be the person's own.
    """

    code = "not-ours"

    def __init__(self, message: str, next: str = "", unmarked: bool = False) -> None:
        super().__init__(message, next)
        self.unmarked = unmarked


class NoMemoryHere(MemorandaError):
    """The folder has no memory to read or write: which one is to be asked (`outcome` is `ask`), something there cannot
    be used (`refuse`), or the person turned it off (`off`)."""

    def __init__(self, message: str, next: str, outcome: str) -> None:
        super().__init__(message, next)
        self.outcome = self.code = outcome


class NewerFile(MemorandaError):
    """The file was written by a newer version; it is read-only."""

    code = "newer-file"


class StorageError(MemorandaError):
    """The disk or the file system refused: full, read-only, failing, or held by another program for too long."""

    code = "storage"


class DiskFull(StorageError):
    """No space is left. What only deletes frees the ballast first (store/database/files.py)."""


class Busy(StorageError):
    """Another program held the file for longer than this door waits."""


class Purged(MemorandaError):
    """The text was purged before, and is stored again only if a person wants it."""

    code = "purged"


class Defect(MemorandaError):
    """An internal error; the message names the kind of error and never its text."""

    code = "defect"

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"Internal error ({type(error).__name__}); nothing was changed.", "Please report it.")


class Declined(MemorandaError):
    """The person was asked and said no; nothing was changed."""

    code = "declined"


class BrokenDocument(MemorandaError):
    """A document to be imported is incomplete, not ours, or inconsistent; the message names section and row."""

    code = "broken-document"


class PastIsReadOnly(MemorandaError):
    """A moment of the past is shown, and cannot be changed. `words` name that moment."""

    code = "past"

    def __init__(self, words: str) -> None:
        super().__init__(f"You are looking at {words}, where nothing can be changed.", "esc comes back to now.")


class ModelFailed(MemorandaError):
    """A model could not be asked, or did not answer; the caller has a rule as a fallback.

    `kind` is one of absent (nothing listens), missing (the server has no such model), busy, slow (out of time), cut
    (the answer ends too soon), broken (it is no valid answer), refused (the server rejects any question), long (the
    question is too long), unloaded (the server could not load the model), stopped (the caller cancelled), and cold (it
    would have to be loaded first, and the caller does not wait).
    """

    code = "model"

    def __init__(self, kind: str, message: str, next: str = "") -> None:
        super().__init__(message, next)
        self.kind = kind
        if kind == "stopped":
            self.exit_status = ExitStatus.UNFINISHED
