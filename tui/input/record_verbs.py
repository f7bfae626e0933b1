"""Commands that write, list and link records: facts, proposals, decisions, tasks, iterations, events."""

from store.base.vocabulary import (
    DOMAINS,
    PURGEABLE_KINDS,
)
from tui.input.arguments import (
    DRY_RUN_OPTION,
    LIMIT_OPTION,
    MOMENT_EXAMPLES,
    SINCE_OPTION,
    YES_OPTION,
    Argument,
    row,
)

# Commands that search, show, ask, and restore: history, undo, checkpoints.

MOMENT_ARGUMENT = Argument("time", "one", "TIME", f"{MOMENT_EXAMPLES}, a step of history, or a record: K#3, D#12")
PERSONAL_OPTION = Argument("global", "flag", "", "in your personal memory, where the global facts are")
RELATED_OPTION = Argument("related", "flag", "", "and what the memory knows beside it")

READING_COMMANDS = (
    row(
        "history",
        "Who changed what, and when; newest first",
        "history.list_steps",
        Argument("actor", "value", "A", "user, agent, import:notes …"),
        Argument("record", "value", "ID", "only what happened to F#12 or D#3"),
        SINCE_OPTION,
        Argument("changes", "flag", "", "each step's records too, before and after"),
        PERSONAL_OPTION,
        LIMIT_OPTION,
        looks=True,
    ),
    row(
        "diff",
        "What changed since a moment, or between two, record by record",
        "history.diff",
        Argument("since", "one", "SINCE", f"{MOMENT_EXAMPLES}, a step, or a checkpoint, K#3"),
        Argument("until", "maybe", "UNTIL", "another moment (now)"),
        LIMIT_OPTION,
        looks=True,
    ),
    row(
        "undo",
        "Undo your newest change, or the step named",
        "history.undo",
        Argument("seq", "maybe", "STEP", "a step of `memoranda history`", whole=True),
        Argument("all-by", "value", "AUTHOR", "instead: all that this one wrote, import:notes"),
        Argument(
            "session",
            "value",
            "S",
            "with --all-by: only what an agent wrote in this session, by its server and its hooks",
            "",
        ),
        Argument("keep", "list", "ID", "leave this record as it is (repeatable)"),
        Argument("overwrite", "list", "ID", "undo it although it changed since (repeatable)"),
        PERSONAL_OPTION,
        DRY_RUN_OPTION,
        YES_OPTION,
        slash=("undo",),
        looks=True,
    ),
    row("redo", "Redo what the last undo removed", "history.redo", PERSONAL_OPTION, slash=("redo",), looks=True),
    row(
        "checkpoint",
        "Create a checkpoint, to come back to",
        "history.take_checkpoint",
        Argument("name", "any", "NAME", "what to call it"),
        Argument("remove", "value", "K", "instead: remove this checkpoint, for good; the steps of history stay"),
        Argument("tokens", "value", "N", "instead: report how full an agent's context window is", whole=True),
        Argument("session-end", "flag", "", "instead: an agent's session ended"),
        Argument("session", "value", "S", "which session that is; the newest without it", ""),
        YES_OPTION,
        slash=("checkpoint",),
    ),
    row(
        "recover",
        "What a checkpoint holds, to go on there: tasks, decisions, the last turns",
        "history.recover",
        Argument("checkpoint", "maybe", "K", "a checkpoint's number, or K#3; the newest without it"),
        RELATED_OPTION,
        looks=True,
    ),
    row(
        "restore",
        "Put facts, decisions, links and tasks back to where a checkpoint found them",
        "history.restore",
        Argument("checkpoint", "one", "K", "a checkpoint's number, or K#3"),
        Argument("only", "list", "ID", "only this record, F#12 or D#3 (repeatable)"),
        Argument(
            "kind",
            "list",
            "KIND",
            "only facts, decisions, tasks or links: fact … (repeatable)",
            choices=("fact", "decision", "task", "link"),
        ),
        Argument(
            "strategy",
            "value",
            "S",
            "replace all, keep what is mine, or only add what is gone",
            "replace",
            choices=("replace", "mine", "add"),
        ),
        RELATED_OPTION,
        DRY_RUN_OPTION,
        YES_OPTION,
        slash=("restore",),
        looks=True,
    ),
)


STATE_CHOICES = ("pinned", "fresh", "aging", "low", "stale")
DOMAIN_LIST = ", ".join(DOMAINS)

RECORD_COMMANDS = (
    row(
        "purge",
        "Erase records with all old versions; this cannot be undone",
        "privacy.purge",
        Argument(
            "ids", "any", "ID", "a fact's number, or G#5, D#3, A#5, T#9, E#42, P#8; or words, as with --query"
        ),
        Argument("query", "value", "Q", "instead: all that a search by keywords finds"),
        Argument("origin", "value", "O", "instead: all that this one wrote, import:notes"),
        Argument("before", "value", "TIME", "instead: all that is older than 2026-08-01, 90d, v1.0, K#3 …"),
        Argument(
            "kind", "value", "K", f"with --before: only {', '.join(PURGEABLE_KINDS)}", choices=PURGEABLE_KINDS
        ),
        Argument(
            "leave", "list", "ID", "leave the words as they are here: T#9, all, MEMORY.md, files (repeatable)"
        ),
        Argument("scrub", "list", "ID", "cut them only here, and not in every other place (repeatable)"),
        Argument("dry-run", "flag", "", "only show what would be erased, and what else holds the words"),
        YES_OPTION,
        frees=True,
    ),
    row(
        "verify-forgotten",
        "Prove that no byte of a text is left in any file of the store",
        "privacy.verify_forgotten",
        Argument("text", "many", "TEXT", "the text; - reads it from standard input, past the shell's history"),
        looks=True,
    ),
)
