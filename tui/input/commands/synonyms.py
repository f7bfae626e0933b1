"""Other words for the verbs, as people know them from git, editors and other memories: for the palette, and for what is
offered instead of a verb that does not exist."""

from collections.abc import Iterable

SYNONYMS: dict[str, tuple[str, ...]] = {
    "remember": ("add", "note", "save fact", "new fact", "learn"),
    "facts": ("list", "memories", "ls"),
    "correct": ("edit", "fix", "change", "update", "amend", "rewrite"),
    "confirm": ("still true", "keep", "refresh"),
    "forget": ("delete", "remove", "hide", "rm", "archive"),
    "purge": ("erase", "wipe", "shred", "destroy"),
    "move": ("global", "everywhere", "every project", "scope"),
    "pin": ("star", "favourite", "favorite", "sticky"),
    "mute": ("silence", "exclude", "ignore"),
    "tag": ("label",),
    "inbox": ("proposals", "suggestions", "review"),
    "accept": ("approve",),
    "reject": ("decline", "dismiss", "deny"),
    "merge": ("combine", "join"),
    "duplicates": ("dedupe", "repeated"),
    "bind": ("evidence", "attach", "source", "prove"),
    "unbind": ("detach",),
    "verify": ("check evidence", "verify fact", "drift", "outdated"),
    "decide": ("decision", "record decision", "adr"),
    "task": ("todo",),
    "tasks": ("todos",),
    "search": ("find", "grep", "look for"),
    "show": ("view", "cat", "details", "info"),
    "ask": ("question", "librarian", "query"),
    "context": ("prompt", "sent", "injected"),
    "timeline": ("commits",),
    "history": ("changes", "log", "audit", "blame"),
    "as-of": ("past", "at time", "time travel"),
    "diff": ("compare", "since"),
    "undo": ("revert", "back", "rollback", "roll back"),
    "redo": ("again",),
    "checkpoint": ("snapshot", "save", "savepoint", "commit"),
    "restore": ("reset", "go back", "checkout"),
    "ingest": ("transcripts", "read conversations"),
    "sessions": ("conversations", "chat", "chats", "chat log"),
    "export": ("download", "dump"),
    "import": ("load", "upload", "bring in"),
    "backup": ("copy file",),
    "stats": ("health", "status", "metrics", "statistics"),
    "index": ("reindex", "rebuild", "embed"),
    "redactions": ("secrets cut", "censored"),
    "scan-secrets": ("secrets", "passwords", "leaks"),
    "doctor": ("check", "diagnose", "fsck", "problems"),
    "model": ("ollama", "llm", "qwen"),
    "salvage": ("repair", "recover file"),
    "guard": ("watch files", "versions", "protect", "recover files"),
    "guest": ("other tools", "claude memory", "basic-memory", "openclaw", "engram", "edit in place"),
    "share": ("publish", "send", "push"),
    "team": ("people", "colleagues", "members"),
    "sync": ("synchronise", "synchronize", "pull", "exchange"),
    "replicate": ("postgres", "postgresql", "database"),
    "replica": ("organisation", "organization"),
    "init": ("create", "new memory", "start"),
    "open": ("switch", "project", "other memory"),
    "where": ("path", "location", "which"),
    "config": ("settings", "set", "options", "preferences"),
    "agents": ("clients", "connected"),
    "pause": ("stop agents", "mute agents"),
    "connect": ("install", "setup", "set up"),
    "uninstall": ("remove memoranda", "deinstall"),
    "disconnect": ("unlink agent",),
}
"""Words for a verb that are no verb of their own."""
OF_KEYS: dict[str, tuple[str, ...]] = {
    "list.day": ("jump", "date", "go to date", "week", "month"),
    "past.look": ("past", "time travel", "yesterday", "last week", "back in time"),
    "record.tag": ("label",),
    "more.open": ("settings", "plots", "growth", "agents", "menu"),
    "theme.choose": ("colours", "colors", "dark", "light"),
    "preview.alone": ("maximise", "maximize", "full screen"),
    "checkpoint.recover": ("go on", "continue", "resume"),
}
"""Words for keys that run no verb, by the key's id."""

# words by which a person looks for a setting that are neither in its name nor in its meaning
SETTING_WORDS: dict[str, tuple[str, ...]] = {
    "enabled": ("record", "recording", "pause", "stop", "disable"),
    "retention_days": ("delete", "old", "expire", "age"),
    "theme": ("colour", "color", "dark", "light", "contrast", "appearance"),
    "badges": ("icons", "symbols", "glyphs"),
    "plain": ("accessibility", "blind"),
    "split": ("width", "layout", "columns"),
    "editor": ("vim", "vi", "nano", "emacs"),
    "embedding.provider": ("semantic", "similar", "model"),
    "agent.model": ("llm", "ollama"),
    "agents.recall": ("hook", "inject", "send"),
    "redaction.allow": ("password", "token"),
    "backup.daily": ("copy", "save"),
    "checkpoints.automatic": ("snapshot", "autosave", "save"),
    "team.minutes": ("share", "sync"),
}
_VERB_OF = {word: verb for verb, words in SYNONYMS.items() for word in words}


def meant(word: str, verbs: Iterable[str]) -> str | None:
    """Return the verb that a word which is none probably stands for: by a synonym, then by spelling; None for none."""
    word = word.lower()
    if word in _VERB_OF:
        return _VERB_OF[word]
    from difflib import get_close_matches  # of a mistake only

    names = {name: name for name in verbs} | _VERB_OF
    near = get_close_matches(word, names, n=1, cutoff=0.7)
    return names[near[0]] if near else None
