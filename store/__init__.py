"""The memory: one SQLite file, and what reads and writes it. No screen, no terminal.

This module is the store's public API (docs/api.md): a program of somebody else imports from `store` what PUBLIC lists.
Every name is imported when it is first asked for, so that `import store` costs nothing.
"""

from typing import TYPE_CHECKING

from store.version import __version__ as __version__

# for editors and type checkers, which run nothing
if TYPE_CHECKING:
    from store.api import *  # noqa: F403
    from store.base.errors import *  # noqa: F403
    from store.base.models import *  # noqa: F403
    from store.base.vocabulary import *  # noqa: F403

# `tui.main` makes sure by this that it found the right `store`
__memoranda__ = True

# name → the module that defines it
PUBLIC = {
    "Memory": "store.api",
    "parse_moment": "store.api",
    "ExportReport": "store.api",
    "ImportReport": "store.api",
    "Proof": "store.api",
    "PurgeResult": "store.api",
    "RestoreResult": "store.api",
    "Fact": "store.base.models",
    "GlobalFact": "store.base.models",
    "Decision": "store.base.models",
    "Commit": "store.base.models",
    "Iteration": "store.base.models",
    "Event": "store.base.models",
    "Task": "store.base.models",
    "Checkpoint": "store.base.models",
    "Turn": "store.base.models",
    "Summary": "store.base.models",
    "Chunk": "store.base.models",
    "Proposal": "store.base.models",
    "Quote": "store.base.models",
    "Step": "store.base.models",
    "Record": "store.base.models",
    "as_json": "store.base.models",
    "Hit": "store.search.results",
    "SearchAnswer": "store.search.results",
    "LibrarianAnswer": "store.librarian.answer",
    "CitedSentence": "store.librarian.answer",
    "Context": "store.context.builder",
    "PlannedChange": "store.history.restore_plan",
    "MemorandaError": "store.base.errors",
    "BrokenDocument": "store.base.errors",
    "Busy": "store.base.errors",
    "Conflict": "store.base.errors",
    "DamagedFile": "store.base.errors",
    "Defect": "store.base.errors",
    "DiskFull": "store.base.errors",
    "ForeignFile": "store.base.errors",
    "InvalidInput": "store.base.errors",
    "ModelFailed": "store.base.errors",
    "NewerFile": "store.base.errors",
    "NotFound": "store.base.errors",
    "NotOurs": "store.base.errors",
    "Purged": "store.base.errors",
    "StorageError": "store.base.errors",
    "UnsafeFile": "store.base.errors",
    "Unsupported": "store.base.errors",
    "CONFIDENCES": "store.base.vocabulary",
    "DECISION_STATUSES": "store.base.vocabulary",
    "DOMAINS": "store.base.vocabulary",
    "IMPACTS": "store.base.vocabulary",
    "PROPOSAL_KINDS": "store.base.vocabulary",
    "PURGEABLE_KINDS": "store.base.vocabulary",
    "SCOPES": "store.base.vocabulary",
    "SEARCHABLE": "store.base.vocabulary",
    "TIMELINE_KINDS": "store.base.vocabulary",
    "Clock": "store.base.clock",
    "utc_now": "store.base.clock",
}
__all__ = [*PUBLIC]


def __getattr__(name: str) -> object:
    """Import a public name from the module that defines it."""
    if name not in PUBLIC:
        raise AttributeError(
            f"module 'store' has no public name {name!r}; docs/api.md lists all of them", name=name
        )
    # late: `import store` imports nothing
    from store.parts import load_attribute

    return load_attribute(PUBLIC[name], name)


def __dir__() -> list[str]:
    return sorted({*globals(), *PUBLIC})
