# __init__.pyi: written by `python docs/make.py` from the tables of `__init__.py`
from store.base import (
    location,
    token_count,
)
from store.base.citations import (
    Citation,
    cite,
    find as find_citations,
    named as named_citation,
    parse as parse_citation,
    without as without_citations,
)
from store.base.clock import (
    Clock,
    DAY_MS,
    ago,
    from_ms,
    how_long_ago,
    local_time,
    parse_moment,
    to_ms,
    utc_now,
)
from store.base.errors import (
    Conflict,
    Declined,
    Defect,
    DiskFull,
    ForeignFile,
    InvalidInput,
    MemorandaError,
    ModelFailed,
    NotFound,
    NotOurs,
    Purged,
    StorageError,
)
from store.base.feature_flags import (
    without as feature_off,
)
from store.base.installation import (
    trouble as installation_trouble,
)
from store.base.location import (
    FILE as MEMORY_FILE,
    FOLDER as MEMORY_FOLDER,
    Location,
    checkout_root,
    here,
    is_personal,
    locate,
    personal_path,
)
from store.base.models import (
    Change,
    Checkpoint,
    Chunk,
    Commit,
    Decision,
    Event,
    Fact,
    GlobalFact,
    Iteration,
    Link,
    Proposal,
    Record,
    Step,
    Summary,
    Task,
    Turn,
    as_json,
)
from store.base.record_keys import (
    pack as pack_key,
    unpack as unpack_key,
)
from store.base.vocabulary import (
    CONFIDENCES,
    DOMAINS,
    EXPORT_FORMS,
    FACT_ORDERS,
    FACT_STATUSES,
    GUEST_TOOLS,
    IMPACTS,
    LINK_TYPES,
    MODEL,
    PERSON,
    PROPOSAL_STATES,
    PURGEABLE,
    SCOPES,
    SEARCHABLE,
    SETTING_NAMES,
    SOURCE_NAMES,
    SOURCE_PARTS,
    TALK,
    TASK_STATUSES,
    TASK_WORDS,
    TIMELINE_KINDS,
)
from store.config import (
    configuration,
)
from store.config.configuration import (
    Config,
    Value as SettingValue,
    asking as asking_settings,
    load as load_config,
)
from store.config.files import (
    project_path as project_config_path,
    put as put_setting,
    remove as remove_setting,
    user_path as user_config_path,
)
from store.config.grants import (
    grant as grant_setting,
    revoke as revoke_setting,
)
from store.config.settings import (
    KEYS as SETTING_KEYS,
    SETTINGS,
    known as known_setting,
    nearest as nearest_setting,
)
from store.context.budget import (
    ANSWER as ANSWER_TOKENS,
    ContextPiece,
    LIMITS as CONTEXT_LIMITS,
    PROMPT as PROMPT_TOKENS,
    Part as ContextPart,
)
from store.context.reasons import (
    ABOVE as RELEVANT_FROM,
    Considered as ConsideredFact,
)
from store.context.result import (
    Context,
)
from store.conversations import (
    extraction_queue,
)
from store.conversations.extraction_queue import (
    ATTEMPTS as EXTRACTION_ATTEMPTS,
)
from store.conversations.turns import (
    NewTurn,
)
from store.database.connection import (
    DISK_ERRORS,
    understood as understood_error,
)
from store.database.database import (
    Database,
)
from store.database.erasure.purge_state import (
    pending as pending_purge,
)
from store.database.erasure.tombstones import (
    times as purged_times,
)
from store.database.files import (
    refuse_lost,
)
from store.database.packed_ids import (
    CHUNK as ID_CHUNK,
    packed as packed_ids,
)
from store.database.values import (
    clean as clean_text,
)
from store.database.writing import (
    disk_reserve,
    wal,
)
from store.documents.indexer import (
    Scan as DocumentScan,
)
from store.documents.watcher import (
    Watch as DocumentWatch,
)
from store.doors import (
    pause as agent_pause,
)
from store.doors.clients import (
    client as agent_clients,
)
from store.doors.clients.client import (
    Place as AgentPlace,
)
from store.doors.connect import (
    claude_plugin,
    client_health,
    connection as agent_connection,
    git_hooks,
    removal,
)
from store.doors.connect.config_edit import (
    InTheWay,
)
from store.doors.connect.connection import (
    ConnectionPlan,
)
from store.doors.connect.connection_check import (
    examine_agents,
)
from store.doors.connect.git_hooks import (
    InstalledHook,
)
from store.doors.hooks import (
    process as hook_process,
)
from store.doors.mcp.opening import (
    run as serve_mcp,
)
from store.doors.session import (
    calls as agent_calls,
    injections,
)
from store.doors.session.calls import (
    AgentActivity,
    AgentCall,
)
from store.doors.session.injections import (
    Injection,
)
from store.embedding import (
    provider_selection as embedding_provider,
)
from store.embedding.indexer import (
    Indexed as EmbeddingRun,
)
from store.embedding.providers import (
    fastembed,
)
from store.embedding.vectors import (
    Vectors,
)
from store.evidence.evidence import (
    BoundEvidence,
)
from store.evidence.items import (
    RUN as RUN_EVIDENCE,
)
from store.exchange import (
    exporter,
    folder_export,
    markdown_export,
)
from store.exchange.backups import (
    backup,
)
from store.exchange.backups.backup import (
    Backup,
    backup_status,
    backups,
)
from store.exchange.backups.due import (
    folder_of as backup_folder,
)
from store.exchange.importer import (
    Import,
)
from store.guard.comparing import (
    DiffLine as GuardLine,
    difference as guard_difference,
    lines_of as guard_lines,
)
from store.guard.database import (
    forget_all as forget_guard,
    opened as opened_guard,
    place as guard_place,
)
from store.guard.looking import (
    LookResult as GuardLook,
    look as look_guard,
    now_ms as guard_now,
)
from store.guard.moments import (
    GuardedChange,
    Moment as GuardMoment,
    get as guard_moment,
    named as named_guard_files,
    number_of as guard_moment_number,
    recent as recent_guard_moments,
    tell as tell_guard_moments,
    untold as untold_guard_moments,
)
from store.guard.restoring import (
    RestorePlan as GuardRestore,
    plan as plan_guard_restore,
    run as restore_guard,
    target as guard_target,
)
from store.guard.watching import (
    watched as watched_guard,
)
from store.guests.changing import (
    GuestPlan,
    plan_correction as plan_guest_correction,
    plan_deletion as plan_guest_deletion,
    plan_undo as plan_guest_undo,
    run as run_guest_plan,
)
from store.guests.guest_text import (
    GuestText,
)
from store.guests.listing import (
    GuestList,
    find as find_guest_text,
    listed as guest_texts,
    matching as matching_guest_texts,
    title as guest_title,
)
from store.guests.secrets import (
    shown as shown_guest_text,
)
from store.health.doctor import (
    examine,
)
from store.health.finding import (
    Finding,
    NOTE as FINDING_NOTE,
    OK as FINDING_OK,
    WRONG as FINDING_WRONG,
    quiet as quiet_findings,
)
from store.history import (
    change_summary,
)
from store.history.change_summary import (
    FOLLOWS as FOLLOWING_KINDS,
    KINDS as CHANGED_KINDS,
    TABLES as CHANGED_TABLES,
    happened as change_text,
    sign as change_sign,
    title as change_title,
)
from store.history.checkpoint_payload import (
    prompt as checkpoint_prompt,
)
from store.history.checkpoints import (
    MANY as MANY_RECORDS,
    Recovered,
)
from store.history.compression import (
    every_row,
)
from store.history.history import (
    History,
    KINDS as HISTORY_KINDS,
)
from store.history.restore_plan import (
    AppliedPlan as AppliedRestore,
    Plan as RestorePlan,
    PlannedChange,
    checked as check_restore,
    citations as restore_citations,
)
from store.inbox import (
    new_fact_check,
)
from store.inbox.decision_conflicts import (
    find_matches as find_decision_matches,
)
from store.inbox.duplicates import (
    alike as alike_facts,
    nominate as nominate_duplicates,
)
from store.inbox.evidence import (
    Doubt,
)
from store.inbox.inbox import (
    Decided as InboxDecision,
    Doubtful as DoubtfulProposal,
    InboxChoice,
)
from store.ingest.discard import (
    kept as kept_lines,
)
from store.ingest.parsed_line import (
    LONGEST as LONGEST_LINE,
)
from store.ingest.runner import (
    IngestReport,
    ingest as ingest_file,
)
from store.learning import (
    model_due,
    model_pass,
    rule_pass,
    summarizers,
)
from store.learning.model_pass import (
    ModelPassResult,
)
from store.learning.rule_pass import (
    RulePassResult,
)
from store.learning.summarizers import (
    before_a_context as rank_before_context,
)
from store.librarian.answer import (
    Answer as LibrarianAnswer,
    CitedSentence,
)
from store.librarian.librarian import (
    Librarian,
)
from store.librarian.trial import (
    TrialResult,
    questions as trial_questions,
    run_trial as trial_of_model,
)
from store.llm import (
    endpoint,
)
from store.llm.call_log import (
    DAYS as CALL_DAYS,
    LoggedCall,
    recent as model_calls,
)
from store.llm.endpoint import (
    NEAR as LOCAL_HOSTS,
    host as model_host,
    short as short_model_name,
)
from store.llm.model_pull import (
    ModelPuller,
    PullResult,
    RateMeter,
)
from store.llm.model_selection import (
    SWITCH as MODEL_SWITCH,
    USUAL as USUAL_MODEL,
    found as found_models,
    named_chat,
    why_none as why_no_model,
)
from store.llm.probe import (
    ProbeResult,
    probe as probe_model,
)
from store.llm.server_info import (
    Installed as InstalledModel,
)
from store.llm.status import (
    ModelStatus,
    model_status,
)
from store.llm.usage_stats import (
    ModelStats,
    model_stats,
)
from store.memory import (
    Memory,
)
from store.purge.proof import (
    OUT_OF_REACH,
    Traces as PurgeTraces,
    Verdict as PurgeVerdict,
    trace as trace_purge,
)
from store.purge.purge import (
    Done as PurgeResult,
    PurgePlan,
)
from store.purge.scan.column_scan import (
    RemainingMatch,
)
from store.purge.scan.scanners import (
    PEOPLE as PEOPLE_SCANNERS,
    SECRETS as SECRET_SCANNERS,
)
from store.purge.secret_scan import (
    Cut as SecretCut,
    Leak as SecretLeak,
    counted as count_secrets,
    made as make_cuts,
    noted as note_cuts,
    scan as scan_secrets,
    scrub as scrub_secrets,
)
from store.records.ageing import (
    STATES as AGEING_STATES,
    TABLE as AGEING_TABLE,
    state as ageing_state,
)
from store.records.facts import (
    SORTS as FACT_SORTS,
)
from store.records.mutes import (
    KINDS as MUTED_KINDS,
)
from store.records.proposals import (
    about as proposals_about,
)
from store.records.tagging import (
    TABLES as TAGGED_TABLES,
)
from store.records.tags import (
    listed as listed_tags,
)
from store.records.tasks import (
    OPEN as OPEN_TASKS,
)
from store.records.timeline.checkpoint_levels import (
    percent as checkpoint_percent,
)
from store.records.trends import (
    Trend,
    trends,
)
from store.redaction.allowlist import (
    allow as allow_secret,
    allowances as allowed_secrets,
    disallow as disallow_secret,
)
from store.redaction.rules.families import (
    LABELS as SECRET_LABELS,
)
from store.salvage.salvage import (
    SalvageReport,
    salvage as salvage_file,
)
from store.scan.machine_scan import (
    scan as scan_machine,
)
from store.scan.report import (
    KINDS as SCAN_KINDS,
    PRICE as SCAN_PRICE,
    ScanFinding,
    ScanReport,
    SourceInventory,
    dollars as scan_dollars,
)
from store.scan.saving import (
    SavedTranscripts,
    save as save_transcripts,
)
from store.search import (
    corpus,
    linked_records,
    lookup,
)
from store.search.lookup import (
    key as record_key,
    kind_of,
    many as many_records,
)
from store.search.pipeline import (
    body as record_body,
)
from store.search.query.filters import (
    check as check_query,
)
from store.search.query.query_parser import (
    filters as query_filters,
    hints as query_hints,
    parse as parse_query,
)
from store.search.results import (
    Answer as SearchAnswer,
    Hit,
)
from store.search.signals.fts import (
    FullTextIndex,
)
from store.search.signals.spelling import (
    spellings,
)
from store.search.snippets import (
    Marker as SnippetMarker,
)
from store.search.waiting import (
    search as search_for_person,
)
from store.services import (
    adoption,
    auto_ingest,
    automatic_checkpoints,
    background_embedding,
    daily_log,
    maintenance,
    session_flush,
)
from store.services.adoption import (
    examine as examine_adoption,
)
from store.services.as_of import (
    PastMemory,
    PastState,
    read as read_past,
)
from store.services.auto_ingest import (
    IngestProcess,
)
from store.services.metrics import (
    ConversationCost,
    ExtractionStats,
    IndexMetrics,
    Measures,
    Recoveries as RecoveryMetrics,
    Requests as RequestMetrics,
    Searches as SearchMetrics,
    TREND_DAYS,
    measure,
)
from store.services.point_in_time import (
    PointInTime,
    moment as point_in_time,
)
from store.services.related_records import (
    related as related_records,
)
from store.services.source_import import (
    SourceImport,
    SourceImportReport,
    SourcePreview,
    found_conversations,
    found_sources,
    machine as this_machine,
)
from store.sources.registry import (
    reader as source_reader,
)
from store.sources.source import (
    Machine,
)
from store.sync.advice import (
    MovablePart,
    large as large_file,
    movable as movable_parts,
)
from store.sync.file_run import (
    SyncReport,
)
from store.sync.synced_files import (
    listed as synced_files,
)
from store.team.collect import (
    Local as SharedLocal,
    SHAREABLE as SHAREABLE_DOMAINS,
    ShareChoice,
)
from store.team.commits import (
    shared_identity,
)
from store.team.exchange import (
    Exchanged,
    Team,
)
from store.team.postgres.reader import (
    ReplicaFound,
    ReplicaReader,
    ReplicaRecord,
    ReplicaTeam,
)
from store.team.postgres.replica import (
    Replica,
)
from store.team.sharing import (
    erase_shared,
    git_name,
    shares,
    with_shared as purge_with_shared,
)
from store.team.team_file import (
    StreamState,
)
from store.team.view import (
    SharedRecord,
)
from store.text.prompt_injection import (
    suspicious,
)
from store.text.similarity.contradiction import (
    AGAINST,
    SAME,
)
from store.trust import (
    ownership,
)
from store.trust.ownership import (
    Trust,
    require as require_trust,
)

__version__: str
__memoranda__: bool
API: dict[str, dict[str, str]]
FOR_THE_APPLICATION: dict[str, dict[str, str]]
PLACES: dict[str, tuple[str, str]]

__all__ = [
    "AGAINST",
    "AGEING_STATES",
    "AGEING_TABLE",
    "ANSWER_TOKENS",
    "AgentActivity",
    "AgentCall",
    "AgentPlace",
    "AppliedRestore",
    "Backup",
    "BoundEvidence",
    "CALL_DAYS",
    "CHANGED_KINDS",
    "CHANGED_TABLES",
    "CONFIDENCES",
    "CONTEXT_LIMITS",
    "Change",
    "Checkpoint",
    "Chunk",
    "Citation",
    "CitedSentence",
    "Clock",
    "Commit",
    "Config",
    "Conflict",
    "ConnectionPlan",
    "ConsideredFact",
    "Context",
    "ContextPart",
    "ContextPiece",
    "ConversationCost",
    "DAY_MS",
    "DISK_ERRORS",
    "DOMAINS",
    "Database",
    "Decision",
    "Declined",
    "Defect",
    "DiskFull",
    "DocumentScan",
    "DocumentWatch",
    "Doubt",
    "DoubtfulProposal",
    "EXPORT_FORMS",
    "EXTRACTION_ATTEMPTS",
    "EmbeddingRun",
    "Event",
    "Exchanged",
    "ExtractionStats",
    "FACT_ORDERS",
    "FACT_SORTS",
    "FACT_STATUSES",
    "FINDING_NOTE",
    "FINDING_OK",
    "FINDING_WRONG",
    "FOLLOWING_KINDS",
    "Fact",
    "Finding",
    "ForeignFile",
    "FullTextIndex",
    "GUEST_TOOLS",
    "GlobalFact",
    "GuardLine",
    "GuardLook",
    "GuardMoment",
    "GuardRestore",
    "GuardedChange",
    "GuestList",
    "GuestPlan",
    "GuestText",
    "HISTORY_KINDS",
    "History",
    "Hit",
    "ID_CHUNK",
    "IMPACTS",
    "Import",
    "InTheWay",
    "InboxChoice",
    "InboxDecision",
    "IndexMetrics",
    "IngestProcess",
    "IngestReport",
    "Injection",
    "InstalledHook",
    "InstalledModel",
    "InvalidInput",
    "Iteration",
    "LINK_TYPES",
    "LOCAL_HOSTS",
    "LONGEST_LINE",
    "Librarian",
    "LibrarianAnswer",
    "Link",
    "Location",
    "LoggedCall",
    "MANY_RECORDS",
    "MEMORY_FILE",
    "MEMORY_FOLDER",
    "MODEL",
    "MODEL_SWITCH",
    "MUTED_KINDS",
    "Machine",
    "Measures",
    "MemorandaError",
    "Memory",
    "ModelFailed",
    "ModelPassResult",
    "ModelPuller",
    "ModelStats",
    "ModelStatus",
    "MovablePart",
    "NewTurn",
    "NotFound",
    "NotOurs",
    "OPEN_TASKS",
    "OUT_OF_REACH",
    "PEOPLE_SCANNERS",
    "PERSON",
    "PROMPT_TOKENS",
    "PROPOSAL_STATES",
    "PURGEABLE",
    "PastMemory",
    "PastState",
    "PlannedChange",
    "PointInTime",
    "ProbeResult",
    "Proposal",
    "PullResult",
    "PurgePlan",
    "PurgeResult",
    "PurgeTraces",
    "PurgeVerdict",
    "Purged",
    "RELEVANT_FROM",
    "RUN_EVIDENCE",
    "RateMeter",
    "Record",
    "Recovered",
    "RecoveryMetrics",
    "RemainingMatch",
    "Replica",
    "ReplicaFound",
    "ReplicaReader",
    "ReplicaRecord",
    "ReplicaTeam",
    "RequestMetrics",
    "RestorePlan",
    "RulePassResult",
    "SAME",
    "SCAN_KINDS",
    "SCAN_PRICE",
    "SCOPES",
    "SEARCHABLE",
    "SECRET_LABELS",
    "SECRET_SCANNERS",
    "SETTINGS",
    "SETTING_KEYS",
    "SETTING_NAMES",
    "SHAREABLE_DOMAINS",
    "SOURCE_NAMES",
    "SOURCE_PARTS",
    "SalvageReport",
    "SavedTranscripts",
    "ScanFinding",
    "ScanReport",
    "SearchAnswer",
    "SearchMetrics",
    "SecretCut",
    "SecretLeak",
    "SettingValue",
    "ShareChoice",
    "SharedLocal",
    "SharedRecord",
    "SnippetMarker",
    "SourceImport",
    "SourceImportReport",
    "SourceInventory",
    "SourcePreview",
    "Step",
    "StorageError",
    "StreamState",
    "Summary",
    "SyncReport",
    "TAGGED_TABLES",
    "TALK",
    "TASK_STATUSES",
    "TASK_WORDS",
    "TIMELINE_KINDS",
    "TREND_DAYS",
    "Task",
    "Team",
    "Trend",
    "TrialResult",
    "Trust",
    "Turn",
    "USUAL_MODEL",
    "Vectors",
    "adoption",
    "ageing_state",
    "agent_calls",
    "agent_clients",
    "agent_connection",
    "agent_pause",
    "ago",
    "alike_facts",
    "allow_secret",
    "allowed_secrets",
    "as_json",
    "asking_settings",
    "auto_ingest",
    "automatic_checkpoints",
    "background_embedding",
    "backup",
    "backup_folder",
    "backup_status",
    "backups",
    "change_sign",
    "change_summary",
    "change_text",
    "change_title",
    "check_query",
    "check_restore",
    "checkout_root",
    "checkpoint_percent",
    "checkpoint_prompt",
    "cite",
    "claude_plugin",
    "clean_text",
    "client_health",
    "configuration",
    "corpus",
    "count_secrets",
    "daily_log",
    "disallow_secret",
    "disk_reserve",
    "embedding_provider",
    "endpoint",
    "erase_shared",
    "every_row",
    "examine",
    "examine_adoption",
    "examine_agents",
    "exporter",
    "extraction_queue",
    "fastembed",
    "feature_off",
    "find_citations",
    "find_decision_matches",
    "find_guest_text",
    "folder_export",
    "forget_guard",
    "found_conversations",
    "found_models",
    "found_sources",
    "from_ms",
    "git_hooks",
    "git_name",
    "grant_setting",
    "guard_difference",
    "guard_lines",
    "guard_moment",
    "guard_moment_number",
    "guard_now",
    "guard_place",
    "guard_target",
    "guest_texts",
    "guest_title",
    "here",
    "hook_process",
    "how_long_ago",
    "ingest_file",
    "injections",
    "installation_trouble",
    "is_personal",
    "kept_lines",
    "kind_of",
    "known_setting",
    "large_file",
    "linked_records",
    "listed_tags",
    "load_config",
    "local_time",
    "locate",
    "location",
    "look_guard",
    "lookup",
    "maintenance",
    "make_cuts",
    "many_records",
    "markdown_export",
    "matching_guest_texts",
    "measure",
    "model_calls",
    "model_due",
    "model_host",
    "model_pass",
    "model_stats",
    "model_status",
    "movable_parts",
    "named_chat",
    "named_citation",
    "named_guard_files",
    "nearest_setting",
    "new_fact_check",
    "nominate_duplicates",
    "note_cuts",
    "opened_guard",
    "ownership",
    "pack_key",
    "packed_ids",
    "parse_citation",
    "parse_moment",
    "parse_query",
    "pending_purge",
    "personal_path",
    "plan_guard_restore",
    "plan_guest_correction",
    "plan_guest_deletion",
    "plan_guest_undo",
    "point_in_time",
    "probe_model",
    "project_config_path",
    "proposals_about",
    "purge_with_shared",
    "purged_times",
    "put_setting",
    "query_filters",
    "query_hints",
    "quiet_findings",
    "rank_before_context",
    "read_past",
    "recent_guard_moments",
    "record_body",
    "record_key",
    "refuse_lost",
    "related_records",
    "removal",
    "remove_setting",
    "require_trust",
    "restore_citations",
    "restore_guard",
    "revoke_setting",
    "rule_pass",
    "run_guest_plan",
    "salvage_file",
    "save_transcripts",
    "scan_dollars",
    "scan_machine",
    "scan_secrets",
    "scrub_secrets",
    "search_for_person",
    "serve_mcp",
    "session_flush",
    "shared_identity",
    "shares",
    "short_model_name",
    "shown_guest_text",
    "source_reader",
    "spellings",
    "summarizers",
    "suspicious",
    "synced_files",
    "tell_guard_moments",
    "this_machine",
    "to_ms",
    "token_count",
    "trace_purge",
    "trends",
    "trial_of_model",
    "trial_questions",
    "understood_error",
    "unpack_key",
    "untold_guard_moments",
    "user_config_path",
    "utc_now",
    "wal",
    "watched_guard",
    "why_no_model",
    "without_citations",
]
