"""The memory: one SQLite file, and what reads and writes it. No screen, no terminal.

This module is the store's public API (docs/api.md): a program of somebody else imports from `store` what PUBLIC lists.
Every name is imported when it is first asked for, so that `import store` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from store.version import __version__ as __version__

if TYPE_CHECKING:  # for editors and type checkers: the same names as in PUBLIC
    from store.base.citations import Citation as Citation
    from store.base.citations import cite as cite
    from store.base.citations import parse_citation as parse_citation
    from store.base.citations import parse_typed_citation as parse_typed_citation
    from store.base.clock import Clock as Clock
    from store.base.clock import parse_moment as parse_moment
    from store.base.clock import utc_now as utc_now
    from store.base.errors import Conflict as Conflict
    from store.base.errors import Declined as Declined
    from store.base.errors import Defect as Defect
    from store.base.errors import DiskFull as DiskFull
    from store.base.errors import ForeignFile as ForeignFile
    from store.base.errors import InvalidInput as InvalidInput
    from store.base.errors import MemorandaError as MemorandaError
    from store.base.errors import ModelFailed as ModelFailed
    from store.base.errors import NotFound as NotFound
    from store.base.errors import NotOurs as NotOurs
    from store.base.errors import Purged as Purged
    from store.base.errors import StorageError as StorageError
    from store.base.location import Location as Location
    from store.base.location import locate as locate
    from store.base.models import Change as Change
    from store.base.models import Checkpoint as Checkpoint
    from store.base.models import Chunk as Chunk
    from store.base.models import Commit as Commit
    from store.base.models import Decision as Decision
    from store.base.models import Event as Event
    from store.base.models import Fact as Fact
    from store.base.models import GlobalFact as GlobalFact
    from store.base.models import Iteration as Iteration
    from store.base.models import Link as Link
    from store.base.models import Proposal as Proposal
    from store.base.models import Record as Record
    from store.base.models import Step as Step
    from store.base.models import Summary as Summary
    from store.base.models import Task as Task
    from store.base.models import Turn as Turn
    from store.base.models import as_json as as_json
    from store.base.vocabulary import CONFIDENCES as CONFIDENCES
    from store.base.vocabulary import DOMAINS as DOMAINS
    from store.base.vocabulary import FACT_STATUSES as FACT_STATUSES
    from store.base.vocabulary import IMPACTS as IMPACTS
    from store.base.vocabulary import LINK_TYPES as LINK_TYPES
    from store.base.vocabulary import SCOPES as SCOPES
    from store.base.vocabulary import SEARCHABLE as SEARCHABLE
    from store.base.vocabulary import TASK_STATUSES as TASK_STATUSES
    from store.config.configuration import Config as Config
    from store.config.configuration import load_config as load_config
    from store.config.settings import SETTINGS as SETTINGS
    from store.context.builder import Context as Context
    from store.conversations.turns import NewTurn as NewTurn
    from store.exchange.backups import Backup as Backup
    from store.exchange.backups import backup_folder as backup_folder
    from store.exchange.backups import find_backups as find_backups
    from store.exchange.importer import Import as Import
    from store.history.restore_plan import AppliedRestore as AppliedRestore
    from store.history.restore_plan import PlannedChange as PlannedChange
    from store.history.restore_plan import RestorePlan as RestorePlan
    from store.inbox.inbox import DoubtfulProposal as DoubtfulProposal
    from store.inbox.inbox import InboxChoice as InboxChoice
    from store.inbox.inbox import InboxDecision as InboxDecision
    from store.ingest.runner import IngestReport as IngestReport
    from store.ingest.runner import ingest_file as ingest_file
    from store.librarian.answer import CitedSentence as CitedSentence
    from store.librarian.answer import LibrarianAnswer as LibrarianAnswer
    from store.librarian.librarian import Librarian as Librarian
    from store.memory import Memory as Memory
    from store.purge.proof import PurgeVerdict as PurgeVerdict
    from store.purge.purge import PurgePlan as PurgePlan
    from store.purge.purge import PurgeResult as PurgeResult
    from store.purge.secret_scan import scan_secrets as scan_secrets
    from store.salvage.salvage import SalvageReport as SalvageReport
    from store.salvage.salvage import salvage_file as salvage_file
    from store.search.query_parser import parse_query as parse_query
    from store.search.results import Hit as Hit
    from store.search.results import SearchAnswer as SearchAnswer
    from store.trust.ownership import Trust as Trust
    from store.trust.ownership import require_trust as require_trust
    from store.upkeep.as_of import PastMemory as PastMemory
    from store.upkeep.as_of import PointInTime as PointInTime
    from store.upkeep.as_of import point_in_time as point_in_time
    from store.upkeep.as_of import read_past as read_past
    from store.upkeep.checks import Finding as Finding
    from store.upkeep.doctor import examine as examine
    from store.upkeep.metrics import Measures as Measures
    from store.upkeep.metrics import measure as measure

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
    "Finding": "store.upkeep.checks",
    "examine": "store.upkeep.doctor",
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
    "PastMemory": "store.upkeep.as_of",
    "PointInTime": "store.upkeep.as_of",
    "point_in_time": "store.upkeep.as_of",
    "read_past": "store.upkeep.as_of",
    "Measures": "store.upkeep.metrics",
    "measure": "store.upkeep.metrics",
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
