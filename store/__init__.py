"""The memory: one SQLite file, and what reads and writes it. No screen, no terminal.

This module is the store's public API (docs/api.md): a program of somebody else imports from `store` what PUBLIC lists.
Every name is imported when it is first asked for, so that `import store` costs nothing.
"""

from importlib import import_module

__memoranda__ = True  # `tui.main` makes sure by this that it found the right `store`

# name → the module that defines it
PUBLIC = {
    "Citation": "store.base.citations",
    "cite": "store.base.citations",
    "parse_citation": "store.base.citations",
    "parse_typed_citation": "store.base.citations",
    "Clock": "store.base.clock",
    "parse_moment": "store.base.clock",
    "utc_now": "store.base.clock",
    "Conflict": "store.base.errors",
    "Declined": "store.base.errors",
    "Defect": "store.base.errors",
    "DiskFull": "store.base.errors",
    "ForeignFile": "store.base.errors",
    "InvalidInput": "store.base.errors",
    "MemorandaError": "store.base.errors",
    "ModelFailed": "store.base.errors",
    "NotFound": "store.base.errors",
    "NotOurs": "store.base.errors",
    "Purged": "store.base.errors",
    "StorageError": "store.base.errors",
    "Location": "store.base.location",
    "locate": "store.base.location",
    "Change": "store.base.models",
    "Checkpoint": "store.base.models",
    "Chunk": "store.base.models",
    "Commit": "store.base.models",
    "Decision": "store.base.models",
    "Event": "store.base.models",
    "Fact": "store.base.models",
    "GlobalFact": "store.base.models",
    "Iteration": "store.base.models",
    "Link": "store.base.models",
    "Proposal": "store.base.models",
    "Record": "store.base.models",
    "Step": "store.base.models",
    "Summary": "store.base.models",
    "Task": "store.base.models",
    "Turn": "store.base.models",
    "as_json": "store.base.models",
    "CONFIDENCES": "store.base.vocabulary",
    "DOMAINS": "store.base.vocabulary",
    "FACT_STATUSES": "store.base.vocabulary",
    "IMPACTS": "store.base.vocabulary",
    "LINK_TYPES": "store.base.vocabulary",
    "SCOPES": "store.base.vocabulary",
    "SEARCHABLE": "store.base.vocabulary",
    "TASK_STATUSES": "store.base.vocabulary",
    "Config": "store.config.configuration",
    "load_config": "store.config.configuration",
    "SETTINGS": "store.config.settings",
    "Context": "store.context.builder",
    "NewTurn": "store.conversations.turns",
    "Backup": "store.exchange.backups",
    "backup_folder": "store.exchange.backups",
    "find_backups": "store.exchange.backups",
    "Import": "store.exchange.importer",
    "Finding": "store.health.checks",
    "examine": "store.health.doctor",
    "AppliedRestore": "store.history.restore_plan",
    "PlannedChange": "store.history.restore_plan",
    "RestorePlan": "store.history.restore_plan",
    "DoubtfulProposal": "store.inbox.inbox",
    "InboxChoice": "store.inbox.inbox",
    "InboxDecision": "store.inbox.inbox",
    "IngestReport": "store.ingest.runner",
    "ingest_file": "store.ingest.runner",
    "CitedSentence": "store.librarian.answer",
    "LibrarianAnswer": "store.librarian.answer",
    "Librarian": "store.librarian.librarian",
    "Memory": "store.memory",
    "PurgeVerdict": "store.purge.proof",
    "PurgePlan": "store.purge.purge",
    "PurgeResult": "store.purge.purge",
    "scan_secrets": "store.purge.secret_scan",
    "SalvageReport": "store.salvage.salvage",
    "salvage_file": "store.salvage.salvage",
    "parse_query": "store.search.query_parser",
    "Hit": "store.search.results",
    "SearchAnswer": "store.search.results",
    "PastMemory": "store.services.as_of",
    "PointInTime": "store.services.as_of",
    "point_in_time": "store.services.as_of",
    "read_past": "store.services.as_of",
    "Measures": "store.services.metrics",
    "measure": "store.services.metrics",
    "Trust": "store.trust.ownership",
    "require_trust": "store.trust.ownership",
}
__all__ = [*PUBLIC]


def __getattr__(name: str) -> object:
    """Import a public name from the module that defines it."""
    if name not in PUBLIC:
        raise AttributeError(f"module 'store' has no public name {name!r}; docs/api.md lists all of them", name=name)
    return getattr(import_module(PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *PUBLIC})
