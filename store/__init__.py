"""The memory: one SQLite file, and what reads and writes it. No screen, no terminal.

This module is the store's public API (docs/api.md): a program imports from `store` what API lists. Every name is
imported when it is first asked for, so that `import store` costs nothing.
"""

__memoranda__ = True  # `tui.main` makes sure by this that it found the right `store`


# part → module → names; `name=other` is called `other` in its module
API = {
    "the memory, where it is, whose it is": {
        "store.base.location": "Location locate",
        "store.memory": "Memory",
        "store.trust.ownership": "Trust require_trust=require",
    },
    "errors": {
        "store.base.errors": """
            Conflict Declined Defect DiskFull ForeignFile InvalidInput MemorandaError ModelFailed NotFound NotOurs
            Purged StorageError
        """,
    },
    "records, and how they are cited": {
        "store.base.citations": "Citation cite named_citation=named parse_citation=parse",
        "store.base.models": """
            Change Checkpoint Chunk Commit Decision Event Fact GlobalFact Iteration Link Proposal Record Step Summary
            Task Turn as_json
        """,
        "store.base.vocabulary": "CONFIDENCES DOMAINS FACT_STATUSES IMPACTS LINK_TYPES SCOPES SEARCHABLE TASK_STATUSES",
    },
    "time": {
        "store.base.clock": "Clock parse_moment utc_now",
    },
    "settings": {
        "store.config.configuration": "Config load_config=load",
        "store.config.settings": "SETTINGS",
    },
    "search": {
        "store.search.query_parser": "parse_query=parse",
        "store.search.results": "Hit SearchAnswer=Answer",
    },
    "history, checkpoints and restore": {
        "store.history.restore_plan": "AppliedRestore=AppliedPlan PlannedChange RestorePlan=Plan",
        "store.services.as_of": "PastMemory read_past=read",
        "store.services.as_of": "PointInTime point_in_time=moment",
    },
    "conversations, and what is learned from them": {
        "store.conversations.turns": "NewTurn",
        "store.ingest.runner": "IngestReport ingest_file=ingest",
    },
    "what waits for a person": {
        "store.inbox.inbox": "DoubtfulProposal=Doubtful InboxChoice InboxDecision=Decided",
    },
    "what an agent is sent": {
        "store.context.builder": "Context",
    },
    "the Librarian and its model": {
        "store.librarian.answer": "CitedSentence LibrarianAnswer=Answer",
        "store.librarian.librarian": "Librarian",
    },
    "secrets and purge": {
        "store.purge.proof": "PurgeVerdict=Verdict",
        "store.purge.purge": "PurgePlan PurgeResult=Done",
        "store.purge.secret_scan": "scan_secrets=scan",
    },
    "export, import, backup": {
        "store.exchange.backups": "Backup backups",
        "store.exchange.backups": "backup_folder=folder_of",
        "store.exchange.importer": "Import",
    },
    "the doctor, salvage, upkeep": {
        "store.health.doctor": "examine",
        "store.health.checks": "Finding",
        "store.salvage.salvage": "SalvageReport salvage_file=salvage",
        "store.services.metrics": "Measures measure",
    },
}


def _places() -> dict[str, tuple[str, str]]:
    """name → (module, what it is called there)."""
    found = {}
    for modules in API.values():
        for module, names in modules.items():
            for name in names.split():
                own, _, inner = name.partition("=")
                found[own] = (module, inner or own)
    return found


PLACES = _places()
__all__ = [name.partition("=")[0] for modules in API.values() for names in modules.values() for name in names.split()]


def __getattr__(name: str) -> object:
    """Import a name of the API. Nothing is kept here: the module that it is of has it."""
    try:
        module, inner = PLACES[name]
    except KeyError:
        raise AttributeError(f"module 'store' has no attribute {name!r}") from None
    found = __import__(module, fromlist=("",))
    return getattr(found, inner)


def __dir__() -> list[str]:
    return sorted({*globals(), *PLACES})
