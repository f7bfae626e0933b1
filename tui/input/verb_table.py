"""The single table of verbs, from which command line, `:` bar, slash commands, keys, footer and help are made.

Its rows are in `record_verbs` and `file_verbs`. Handlers are named, not imported: a command imports its own.
"""

from collections.abc import Iterable

from tui.input.arguments import Verb
from tui.input.file_verbs import AGENT_COMMANDS, FILE_COMMANDS
from tui.input.record_verbs import READING_COMMANDS, RECORD_COMMANDS

MEMORY_WORD = "memory"  # before any verb, as in `/memory forget 12`
PREFIX_WORDS = (MEMORY_WORD, "memoranda")  # the second as in a shell
VERBS: tuple[Verb, ...] = (*RECORD_COMMANDS, *READING_COMMANDS, *FILE_COMMANDS, *AGENT_COMMANDS)
VERBS_BY_NAME = {verb.name: verb for verb in VERBS}
VERBS_BY_SLASH = {slash: verb for verb in VERBS for slash in verb.slash}


def find_verb(words: list[str]) -> tuple[Verb, list[str]] | None:
    """Split a typed line into its verb and the rest: `/memory add x`, `memory add x`, `remember x`, `memory undo`."""
    if not words:
        return None
    first = words[0].removeprefix("/").lower()
    both = f"{first} {words[1].lower()}" if len(words) > 1 else ""
    for verb in VERBS:
        if both in verb.slash:
            return verb, words[2:]
        if first == verb.name or first in verb.slash:
            return verb, words[1:]
    return find_verb(words[1:]) if first in PREFIX_WORDS else None


def typed_command(text: str) -> tuple[str, bool]:
    """Return the command that a search or a question is, empty if it is none, and whether that is certain:
    `/memory forget 12` is; `memory forget 12` may also be words to look for, after the `/` that opens a search."""
    words = text.split()
    if not words or not (words[0].startswith("/") or words[0].lower() == MEMORY_WORD):
        return "", False
    certain = words[0].startswith("/")
    known = find_verb(words) is not None or (certain and len(words) > 1 and words[0].lower() == f"/{MEMORY_WORD}")
    return (text.strip(), certain) if known else ("", False)


def command_word(words: list[str]) -> str:
    """Return the word of a line that should name its verb: the second one of `/memory forgt 12`."""
    return words[1] if len(words) > 1 and words[0].removeprefix("/").lower() in PREFIX_WORDS else words[0]


# Other words for the verbs, as people know them from git, editors and other memories: for the palette, and for what is
# offered instead of a verb that does not exist.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "remember": ("add", "note", "save fact", "new fact", "learn", "recordar"),
    "facts": ("list", "memories", "ls", "hechos"),
    "correct": ("edit", "fix", "change", "update", "amend", "rewrite", "corregir"),
    "confirm": ("still true", "keep", "refresh"),
    "forget": ("delete", "remove", "hide", "rm", "archive", "olvidar", "borrar"),
    "purge": ("erase", "wipe", "shred", "destroy", "purgar"),
    "move": ("global", "everywhere", "every project", "scope"),
    "pin": ("star", "favourite", "favorite", "sticky", "fijar"),
    "mute": ("silence", "exclude", "ignore"),
    "tag": ("label", "etiquetar"),
    "inbox": ("proposals", "suggestions", "review", "bandeja"),
    "accept": ("approve", "aceptar"),
    "reject": ("decline", "dismiss", "deny", "rechazar"),
    "merge": ("combine", "join", "fusionar"),
    "duplicates": ("dedupe", "repeated"),
    "bind": ("evidence", "attach", "source", "prove"),
    "unbind": ("detach",),
    "verify": ("check evidence", "verify fact", "drift", "outdated"),
    "decide": ("decision", "record decision", "adr", "decidir"),
    "task": ("todo", "tarea"),
    "tasks": ("todos", "tareas"),
    "search": ("find", "grep", "look for", "buscar"),
    "show": ("view", "cat", "details", "info", "ver"),
    "ask": ("question", "librarian", "query", "preguntar"),
    "context": ("prompt", "sent", "injected"),
    "timeline": ("commits", "cronologia"),
    "history": ("changes", "log", "audit", "blame", "historial"),
    "as-of": ("past", "at time", "time travel"),
    "diff": ("compare", "since"),
    "undo": ("revert", "back", "rollback", "roll back", "deshacer"),
    "redo": ("again", "rehacer"),
    "checkpoint": ("snapshot", "save", "savepoint", "commit", "guardar"),
    "restore": ("reset", "go back", "checkout", "restaurar"),
    "ingest": ("transcripts", "read conversations"),
    "sessions": ("conversations", "chat", "chats", "chat log"),
    "export": ("download", "dump", "exportar"),
    "import": ("load", "upload", "bring in", "importar"),
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
    "share": ("publish", "send", "push", "compartir"),
    "team": ("people", "colleagues", "members"),
    "sync": ("synchronise", "synchronize", "pull", "exchange", "sincronizar"),
    "replicate": ("postgres", "postgresql", "database"),
    "replica": ("organisation", "organization"),
    "init": ("create", "new memory", "start"),
    "open": ("switch", "project", "other memory", "abrir"),
    "where": ("path", "location", "which"),
    "config": ("settings", "set", "options", "preferences", "ajustes", "configuracion"),
    "agents": ("clients", "connected"),
    "pause": ("stop agents", "mute agents"),
    "connect": ("install", "setup", "set up", "instalar"),
    "uninstall": ("remove memoranda", "deinstall", "desinstalar"),
    "disconnect": ("unlink agent",),
}
"""Words for a verb that are no verb of their own."""
KEY_SYNONYMS: dict[str, tuple[str, ...]] = {
    "list.day": ("jump", "date", "go to date", "week", "month"),
    "past.look": ("past", "time travel", "yesterday", "last week", "back in time"),
    "record.tag": ("label",),
    "more.open": ("settings", "plots", "growth", "agents", "menu"),
    "theme.choose": (
        "colours",
        "colors",
        "dark mode",
        "light mode",
        "night mode",
        "appearance",
        "tema",
        "modo oscuro",
    ),
    "app.quit": ("exit", "close", "leave", "salir", "cerrar"),
    "help.open": ("keys", "shortcuts", "ayuda"),
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
# of one, how alike a word is spelled that may be meant: one letter in four is another word, `exit` and `edit`
SPELLING_CUTOFF = 0.8
_VERB_OF = {word: verb for verb, words in SYNONYMS.items() for word in words}


def suggest_verb(word: str, verbs: Iterable[str]) -> str | None:
    """Return the verb that a misspelt word probably means: a synonym, or the nearest spelling; None if there is
    none."""
    word = word.lower()
    if word in _VERB_OF:
        return _VERB_OF[word]
    from difflib import get_close_matches  # of a mistake only

    names = {name: name for name in verbs} | _VERB_OF
    swapped = [name for name in names if sorted(name) == sorted(word)]
    near = swapped or get_close_matches(word, names, n=1, cutoff=SPELLING_CUTOFF)
    return names[near[0]] if near else None
