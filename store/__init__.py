"""The memory: one SQLite file, and what reads and writes it. No screen, no terminal.

This module is the store's public API (docs/api.md): a program imports from `store` what API lists. The command line and
the application see nothing else of the store; what only they need is in FOR_THE_APPLICATION, and may change. Every name
is imported when it is first asked for, so that `import store` costs nothing.
"""

__version__ = "0.1.0"
__memoranda__ = True  # `tui.main` makes sure by this that it found the right `store`

# part → module → names; `name=other` is called `other` in its module, `name=` is the module
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
FOR_THE_APPLICATION = {
    "the memory, where it is, whose it is": {
        "store.base.installation": "installation_trouble=trouble",
        "store.base.location": """
            MEMORY_FILE=FILE MEMORY_FOLDER=FOLDER checkout_root here is_personal location= personal_path
        """,
        "store.trust.ownership": "ownership=",
    },
    "errors": {
        "store.database.connection": "DISK_ERRORS understood_error=understood",
    },
    "records, and how they are cited": {
        "store.base.citations": "find_citations=find without_citations=without",
        "store.base.feature_flags": "feature_off=without",
        "store.base.record_keys": "pack_key=pack unpack_key=unpack",
        "store.base.token_count": "token_count=",
        "store.base.vocabulary": """
            EXPORT_FORMS FACT_ORDERS GUEST_TOOLS MODEL PERSON PROPOSAL_STATES PURGEABLE SETTING_NAMES SOURCE_NAMES
            SOURCE_PARTS TALK TASK_STATUSES TASK_WORDS TIMELINE_KINDS
        """,
        "store.records.ageing": "AGEING_STATES=STATES AGEING_TABLE=TABLE ageing_state=state",
        "store.records.timeline.checkpoint_levels": "checkpoint_percent=percent",
        "store.records.facts": "FACT_SORTS=SORTS",
        "store.records.mutes": "MUTED_KINDS=KINDS",
        "store.records.proposals": "proposals_about=about",
        "store.records.tagging": "TAGGED_TABLES=TABLES",
        "store.records.tags": "listed_tags=listed",
        "store.records.tasks": "OPEN_TASKS=OPEN",
        "store.records.trends": "Trend trends",
    },
    "time": {
        "store.base.clock": "DAY_MS ago from_ms how_long_ago local_time to_ms",
    },
    "settings": {
        "store.config.configuration": "SettingValue=Value asking_settings=asking configuration=",
        "store.config.files": """
            project_config_path=project_path put_setting=put remove_setting=remove user_config_path=user_path
        """,
        "store.config.grants": "grant_setting=grant revoke_setting=revoke",
        "store.config.settings": "SETTING_KEYS=KEYS known_setting=known nearest_setting=nearest",
    },
    "search": {
        "store.search.corpus": "corpus=",
        "store.search.signals.fts": "FullTextIndex",
        "store.search.linked_records": "linked_records=",
        "store.search.lookup": "kind_of lookup= many_records=many record_key=key",
        "store.search.pipeline": "record_body=body",
        "store.search.query.filters": "check_query=check",
        "store.search.query.query_parser": "query_filters=filters query_hints=hints",
        "store.search.snippets": "SnippetMarker=Marker",
        "store.search.waiting": "search_for_person=search",
        "store.search.signals.spelling": "spellings",
        "store.text.similarity.contradiction": "AGAINST SAME",
        "store.text.prompt_injection": "suspicious",
    },
    "history, checkpoints and restore": {
        "store.history.change_summary": """
            CHANGED_KINDS=KINDS CHANGED_TABLES=TABLES FOLLOWING_KINDS=FOLLOWS change_sign=sign change_summary=
            change_text=happened change_title=title
        """,
        "store.history.checkpoint_payload": "checkpoint_prompt=prompt",
        "store.history.checkpoints": "MANY_RECORDS=MANY Recovered",
        "store.history.compression": "every_row",
        "store.history.history": "HISTORY_KINDS=KINDS History",
        "store.history.restore_plan": "check_restore=checked restore_citations=citations",
        "store.services.as_of": "PastState",
    },
    "conversations, and what is learned from them": {
        "store.conversations.extraction_queue": "EXTRACTION_ATTEMPTS=ATTEMPTS extraction_queue=",
        "store.ingest.discard": "kept_lines=kept",
        "store.ingest.parsed_line": "LONGEST_LINE=LONGEST",
        "store.learning.model_due": "model_due=",
        "store.learning.model_pass": "ModelPassResult model_pass=",
        "store.learning.rule_pass": "RulePassResult rule_pass=",
        "store.learning.summarizers": "rank_before_context=before_a_context summarizers=",
    },
    "what waits for a person": {
        "store.inbox.decision_conflicts": "find_decision_matches=find_matches",
        "store.inbox.duplicates": "alike_facts=alike nominate_duplicates=nominate",
        "store.inbox.evidence": "Doubt",
        "store.inbox.new_fact_check": "new_fact_check=",
    },
    "what an agent is sent": {
        "store.context.budget": """
            ANSWER_TOKENS=ANSWER CONTEXT_LIMITS=LIMITS ContextPart=Part ContextPiece PROMPT_TOKENS=PROMPT
        """,
        "store.context.reasons": "ConsideredFact=Considered RELEVANT_FROM=ABOVE",
    },
    "the Librarian and its model": {
        "store.llm.endpoint": "LOCAL_HOSTS=NEAR endpoint= model_host=host short_model_name=short",
        "store.llm.model_pull": "ModelPuller PullResult RateMeter",
        "store.librarian.trial": "TrialResult trial_of_model=run_trial trial_questions=questions",
        "store.llm.model_selection": """
            MODEL_SWITCH=SWITCH USUAL_MODEL=USUAL found_models=found named_chat why_no_model=why_none
        """,
        "store.llm.call_log": "CALL_DAYS=DAYS LoggedCall model_calls=recent",
        "store.llm.usage_stats": "ModelStats model_stats",
        "store.llm.probe": "ProbeResult probe_model=probe",
        "store.llm.server_info": "InstalledModel=Installed",
        "store.llm.status": "ModelStatus model_status",
    },
    "evidence that is looked at again": {
        "store.evidence.evidence": "BoundEvidence",
        "store.evidence.items": "RUN_EVIDENCE=RUN",
    },
    "the meaning of texts, and Markdown files": {
        "store.documents.indexer": "DocumentScan=Scan",
        "store.documents.watcher": "DocumentWatch=Watch",
        "store.sync.advice": "large_file=large MovablePart movable_parts=movable",
        "store.sync.file_run": "SyncReport",
        "store.sync.synced_files": "synced_files=listed",
        "store.embedding.indexer": "EmbeddingRun=Indexed",
        "store.embedding.provider_selection": "embedding_provider=",
        "store.embedding.providers.fastembed": "fastembed=",
        "store.embedding.vectors": "Vectors",
    },
    "the team": {
        "store.team.collect": "SHAREABLE_DOMAINS=SHAREABLE SharedLocal=Local ShareChoice",
        "store.team.commits": "shared_identity",
        "store.team.exchange": "Exchanged Team",
        "store.team.postgres.reader": "ReplicaFound ReplicaReader ReplicaRecord ReplicaTeam",
        "store.team.postgres.replica": "Replica",
        "store.team.sharing": "erase_shared git_name purge_with_shared=with_shared shares",
        "store.team.team_file": "StreamState",
        "store.team.view": "SharedRecord",
    },
    "secrets and purge": {
        "store.database.database": "Database",
        "store.database.writing.disk_reserve": "disk_reserve=",
        "store.database.files": "refuse_lost",
        "store.database.packed_ids": "ID_CHUNK=CHUNK packed_ids=packed",
        "store.database.erasure.purge_state": "pending_purge=pending",
        "store.database.erasure.tombstones": "purged_times=times",
        "store.database.values": "clean_text=clean",
        "store.database.writing.wal": "wal=",
        "store.purge.scan.column_scan": "RemainingMatch",
        "store.purge.proof": "OUT_OF_REACH PurgeTraces=Traces trace_purge=trace",
        "store.purge.scan.scanners": "PEOPLE_SCANNERS=PEOPLE SECRET_SCANNERS=SECRETS",
        "store.purge.secret_scan": """
            SecretCut=Cut SecretLeak=Leak count_secrets=counted make_cuts=made note_cuts=noted scrub_secrets=scrub
        """,
        "store.redaction.allowlist": "allow_secret=allow allowed_secrets=allowances disallow_secret=disallow",
        "store.redaction.rules.families": "SECRET_LABELS=LABELS",
    },
    "export, import, backup": {
        "store.exchange.backups.backup": "backup= backup_status",
        "store.exchange.backups.due": "backup_folder=folder_of",
        "store.exchange.exporter": "exporter=",
        "store.exchange.folder_export": "folder_export=",
        "store.exchange.markdown_export": "markdown_export=",
        "store.scan.machine_scan": "scan_machine=scan",
        "store.scan.saving": "SavedTranscripts save_transcripts=save",
        "store.scan.report": """
            ScanFinding ScanReport SourceInventory SCAN_KINDS=KINDS SCAN_PRICE=PRICE scan_dollars=dollars
        """,
        "store.services.source_import": """
            SourceImport SourceImportReport SourcePreview found_conversations found_sources this_machine=machine
        """,
        "store.sources.registry": "source_reader=reader",
        "store.sources.source": "Machine",
    },
    "versions of other tools' memory files": {
        "store.guard.comparing": "GuardLine=DiffLine guard_difference=difference guard_lines=lines_of",
        "store.guard.database": "forget_guard=forget_all guard_place=place opened_guard=opened",
        "store.guard.looking": "GuardLook=LookResult guard_now=now_ms look_guard=look",
        "store.guard.watching": "watched_guard=watched",
        "store.guard.restoring": """
            GuardRestore=RestorePlan guard_target=target plan_guard_restore=plan restore_guard=run
        """,
        "store.guard.moments": """
            GuardedChange GuardMoment=Moment guard_moment=get guard_moment_number=number_of
            named_guard_files=named recent_guard_moments=recent tell_guard_moments=tell untold_guard_moments=untold
        """,
    },
    "texts of other tools, edited in place": {
        "store.guests.changing": """
            GuestPlan plan_guest_correction=plan_correction plan_guest_deletion=plan_deletion plan_guest_undo=plan_undo
            run_guest_plan=run
        """,
        "store.guests.guest_text": "GuestText",
        "store.guests.listing": """
            GuestList find_guest_text=find guest_texts=listed guest_title=title
            matching_guest_texts=matching
        """,
        "store.guests.secrets": "shown_guest_text=shown",
    },
    "the doctor, salvage, upkeep": {
        "store.health.finding": "FINDING_NOTE=NOTE FINDING_OK=OK FINDING_WRONG=WRONG quiet_findings=quiet",
        "store.services.adoption": "adoption= examine_adoption=examine",
        "store.services.auto_ingest": "IngestProcess auto_ingest=",
        "store.services.automatic_checkpoints": "automatic_checkpoints=",
        "store.services.background_embedding": "background_embedding=",
        "store.services.daily_log": "daily_log=",
        "store.services.maintenance": "maintenance=",
        "store.services.metrics": """
            ConversationCost ExtractionStats IndexMetrics RecoveryMetrics=Recoveries RequestMetrics=Requests
            SearchMetrics=Searches TREND_DAYS
        """,
        "store.services.related_records": "related_records=related",
        "store.services.session_flush": "session_flush=",
    },
    "agents at the door": {
        "store.doors.connect.claude_plugin": "claude_plugin=",
        "store.doors.connect.client_health": "client_health=",
        "store.doors.clients.client": "agent_clients= AgentPlace=Place",
        "store.doors.connect.config_edit": "InTheWay",
        "store.doors.connect.connection": "agent_connection= ConnectionPlan",
        "store.doors.connect.connection_check": "examine_agents",
        "store.doors.connect.git_hooks": "git_hooks= InstalledHook",
        "store.doors.connect.removal": "removal=",
        "store.doors.hooks.process": "hook_process=",
        "store.doors.session.calls": "AgentActivity AgentCall agent_calls=",
        "store.doors.session.injections": "Injection injections=",
        "store.doors.mcp.opening": "serve_mcp=run",
        "store.doors.pause": "agent_pause=",
    },
}


def _places() -> dict[str, tuple[str, str]]:
    """name → (module, what it is called there, empty for the module itself)."""
    found = {}
    for parts in (API, FOR_THE_APPLICATION):
        for modules in parts.values():
            for module, names in modules.items():
                for name in names.split():
                    own, renamed, inner = name.partition("=")
                    found[own] = (module, inner if renamed else own)
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
    return getattr(found, inner) if inner else found


def __dir__() -> list[str]:
    return sorted({*globals(), *PLACES})
