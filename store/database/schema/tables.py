"""The four kinds of table, which determine how history treats their rows.

A test compares these lists with the schema, so a new table without a kind fails.
"""

# every change kept in history, undoable, restorable; in the order an export lists them
RECORDED = ("facts", "decisions", "commit_links", "tasks", "proposals", "mutes")
# append-only, never rolled back
JOURNAL = ("iterations", "commits", "events", "checkpoints", "turns", "summaries", "history", "history_row")
# also a journal, in another form: rows of history_row; an export lists them as changes
PACKED = ("history_block",)
# of this machine and this moment: no history, no export
OPERATIONAL = (
    *("meta", "leases", "queries", "accesses", "month_words", "backups", "tombstones", "answers", "redactions"),
    *("context_usage", "sessions", "sources", "ingested", "discarded", "pending_extraction"),
    *("contexts", "sent", "answers_cache", "uncompared", "searches", "model_use", "model_calls"),
    *("agent_sessions", "agent_calls", "agent_tasks", "injections", "injected", "muted"),
    *("synced_files", "synced_lines", "synced_proposals", "evidence_looks", "moves"),
)
# derived, rebuilt from scratch
DERIVED = (
    "documents",
    "chunks",
    "corpus",
    "passages",
    "corpus_fts",
    "corpus_words",
    "embedding_models",
    "embeddings",
    "vectors",
    "vector_blocks",
    "embedding_queue",
    "meaning_space",
)

# SQL for a row of `summaries`: the time of the last turn that it sums up. `created_at` is that time too, but in rows of
# an older version it is when they were made; of turns that have expired the next one counts
SUMMED_UP = (
    "min(created_at, coalesce((SELECT t.at FROM turns t WHERE t.session = summaries.session AND t.number >= last"
    " ORDER BY t.number LIMIT 1), created_at))"
)
