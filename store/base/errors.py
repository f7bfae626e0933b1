"""The errors a person may meet: each says its cause in one sentence and the next step in another.

No message holds the text of a record: errors travel to logs and terminals that redaction does not guard.
"""


class MemorandaError(Exception):
    """Base of every error that is meant for a person.

    `message` is the cause, `next` the step that mends it (may be empty); `code` is stable and meant for scripts;
    `exit_status` is what the command line ends with (1 cannot, 2 usage).
    """

    code = "error"
    exit_status = 1

    def __init__(self, message: str, next: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next = next

    def __str__(self) -> str:
        return f"{self.message} {self.next}".strip()


class InvalidInput(MemorandaError):
    """What was asked for cannot be meant as written."""

    code = "invalid"
    exit_status = 2


class NotFound(MemorandaError):
    """No such record, checkpoint or step."""

    code = "not-found"


class Conflict(MemorandaError):
    """The change meets a later one and would destroy it."""

    code = "conflict"


class Unsupported(MemorandaError):
    """Understood, and not built yet."""

    code = "unsupported"


class UnsafeFile(MemorandaError):
    """A symlink, another person's file, a directory, a network file system: not a place for a memory."""

    code = "unsafe-file"


class ForeignFile(MemorandaError):
    """A file that is not a memory of ours, or no longer readable as one."""

    code = "foreign-file"


class DamagedFile(ForeignFile):
    """A memory that the disk, a copy or a program spoiled: to be kept as it is, and salvaged."""

    code = "damaged-file"


class NotOurs(MemorandaError):
    """A memory that this installation neither made nor adopted: it came with a checkout, an archive or a share.

    `unmarked` is one from before memories had an identity, which may be the person's own.
    """

    code = "not-ours"

    def __init__(self, message: str, next: str = "", unmarked: bool = False) -> None:
        super().__init__(message, next)
        self.unmarked = unmarked


class NewerFile(MemorandaError):
    """The file was written by a newer version; it can be read and not written."""

    code = "newer-file"


class StorageError(MemorandaError):
    """The disk or the file system refused: full, read-only, failing, or held by another program for too long."""

    code = "storage"


class DiskFull(StorageError):
    """There is no room left. What only takes away frees the ballast first (store/database/disk_reserve.py)."""


class Busy(StorageError):
    """Another program held the file for longer than this door waits."""


class Purged(MemorandaError):
    """That text was purged once, and is kept again only if a person says so."""

    code = "purged"


class Defect(MemorandaError):
    """Something that should not happen happened; the message names the kind of error and never its text."""

    code = "defect"

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"Internal error ({type(error).__name__}); nothing was changed.", "Please report it.")


class Declined(MemorandaError):
    """The person was asked and said no; nothing was changed."""

    code = "declined"


class BrokenDocument(MemorandaError):
    """A document to be imported is not whole, not ours, or says what cannot be; the message names section and row."""

    code = "broken-document"


class ThePast(MemorandaError):
    """What is shown is how things stood once, and nothing can be changed there. `words` say when that was."""

    code = "past"

    def __init__(self, words: str) -> None:
        super().__init__(f"You are looking at {words}, where nothing can be changed.", "esc comes back to now.")


class ModelFailed(MemorandaError):
    """A model could not be asked, or did not answer; whoever asked has a rule that answers instead.

    `kind` is one of absent (nothing listens), missing (the server has no such model), busy, slow (out of time), cut
    (the answer ends too soon), broken (it is no answer), refused (the server will not, whatever it is asked), long (the
    question is too long), unloaded (the server could not load the model), stopped (whoever asked did not want it any
    more), and cold (it would have to be loaded first, and whoever asked does not wait for that).
    """

    code = "model"

    def __init__(self, kind: str, message: str, next: str = "") -> None:
        super().__init__(message, next)
        self.kind = kind
