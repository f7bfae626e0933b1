"""The memory: one SQLite file, and what reads and writes it. No screen, no terminal.

This module is the store's public API (docs/api.md): a program imports from `store` what API lists. Every name is
imported when it is first asked for, so that `import store` costs nothing.
"""

from store.version import __version__ as __version__

__memoranda__ = True  # `tui.main` makes sure by this that it found the right `store`

TYPE_CHECKING = False
if TYPE_CHECKING:  # for editors and type checkers: the same names as in API
    from store.base.citations import Citation as Citation
    from store.base.citations import cite as cite
    from store.base.citations import named as named_citation
    from store.base.citations import parse as parse_citation
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
    from store.config.configuration import load as load_config
    from store.config.settings import SETTINGS as SETTINGS
    from store.context.result import Context as Context
    from store.conversations.turns import NewTurn as NewTurn
    from store.exchange.backups.backup import Backup as Backup
    from store.exchange.backups.backup import backups as backups
    from store.exchange.backups.due import folder_of as backup_folder
    from store.exchange.importer import Import as Import
    from store.health.doctor import examine as examine
    from store.health.finding import Finding as Finding
    from store.history.restore_plan import AppliedPlan as AppliedRestore
    from store.history.restore_plan import Plan as RestorePlan
    from store.history.restore_plan import PlannedChange as PlannedChange
    from store.inbox.inbox import Decided as InboxDecision
    from store.inbox.inbox import Doubtful as DoubtfulProposal
    from store.inbox.inbox import InboxChoice as InboxChoice
    from store.ingest.runner import IngestReport as IngestReport
    from store.ingest.runner import ingest as ingest_file
    from store.librarian.answer import Answer as LibrarianAnswer
    from store.librarian.answer import CitedSentence as CitedSentence
    from store.librarian.librarian import Librarian as Librarian
    from store.memory import Memory as Memory
    from store.purge.proof import Verdict as PurgeVerdict
    from store.purge.purge import Done as PurgeResult
    from store.purge.purge import PurgePlan as PurgePlan
    from store.purge.secret_scan import scan as scan_secrets
    from store.salvage.salvage import SalvageReport as SalvageReport
    from store.salvage.salvage import salvage as salvage_file
    from store.search.query.query_parser import parse as parse_query
    from store.search.results import Answer as SearchAnswer
    from store.search.results import Hit as Hit
    from store.services.as_of import PastMemory as PastMemory
    from store.services.as_of import read as read_past
    from store.services.metrics import Measures as Measures
    from store.services.metrics import measure as measure
    from store.services.point_in_time import PointInTime as PointInTime
    from store.services.point_in_time import moment as point_in_time
    from store.trust.ownership import Trust as Trust
    from store.trust.ownership import require as require_trust

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
        "store.search.query.query_parser": "parse_query=parse",
        "store.search.results": "Hit SearchAnswer=Answer",
    },
    "history, checkpoints and restore": {
        "store.history.restore_plan": "AppliedRestore=AppliedPlan PlannedChange RestorePlan=Plan",
        "store.services.as_of": "PastMemory read_past=read",
        "store.services.point_in_time": "PointInTime point_in_time=moment",
    },
    "conversations, and what is learned from them": {
        "store.conversations.turns": "NewTurn",
        "store.ingest.runner": "IngestReport ingest_file=ingest",
    },
    "what waits for a person": {
        "store.inbox.inbox": "DoubtfulProposal=Doubtful InboxChoice InboxDecision=Decided",
    },
    "what an agent is sent": {
        "store.context.result": "Context",
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
        "store.exchange.backups.backup": "Backup backups",
        "store.exchange.backups.due": "backup_folder=folder_of",
        "store.exchange.importer": "Import",
    },
    "the doctor, salvage, upkeep": {
        "store.health.doctor": "examine",
        "store.health.finding": "Finding",
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
