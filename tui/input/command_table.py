"""The one table of verbs: command line, `:` bar, slash commands, keys, footer and help are all made from it.

A verb that is not built is not in the table. Handlers are named, not imported: a command pays for its own verb alone.
"""

from store.base.vocabulary import (
    CONFIDENCES,
    DOMAINS,
    FACT_ORDERS,
    FACT_STATUSES,
    IMPACTS,
    LINK_TYPES,
    PROPOSAL_STATES,
    PURGEABLE,
    SETTING_NAMES,
    TIMELINE_KINDS,
)
from tui.input.argument_parser import Argument


class Verb:
    """One verb: its summary, its arguments, and `handler`, a `module.function` below `tui.commands`.

    `opens`: `memory` needs the file, `new` may make it (both give the handler an open Memory), `nothing` gets none.
    `reads`: a one-shot command first lets the timeline catch up with git for a moment. `frees`: on a full
    disk it may take the room of the ballast. `apart`: it only waits for a process of its own, and in the application
    no write waits for it.
    """

    __slots__ = ("apart", "arguments", "frees", "handler", "name", "opens", "reads", "slash", "summary")

    def __init__(
        self,
        name: str,
        summary: str,
        handler: str,
        *arguments: Argument,
        opens: str = "new",
        reads: bool = False,
        frees: bool = False,
        apart: bool = False,
        slash: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.summary = summary
        self.handler = handler
        self.arguments = arguments
        self.opens = opens
        self.reads = reads
        self.frees = frees
        self.apart = apart
        self.slash = slash


ALLOW = "allow"  # in the place of a setting: let those of the project count that reach outside of it
REDACTION_ACTS = (ALLOW, "cut", "rules")
MODEL_ACTS = ("status", "pull", "test", "use", "fast", "smart", "off")
SHELLS = ("bash", "zsh", "fish")
_DOMAINS = ", ".join(DOMAINS)
_LIMIT = Argument("limit", "value", "N", "how many at the most (50)", 50, whole=True)
_FACTS = Argument("ids", "many", "ID", "a fact's number, or F#12")
_TAG = Argument("tag", "one", "TAG", "one word, or several joined by dashes")
_MOMENT = Argument("time", "one", "TIME", "2026-11-01, 2d, yesterday, a step of history, or a record: K#3, D#12")
_DRY = Argument("dry-run", "flag", "", "only show what would change, record by record")
_AGAIN = Argument("yes", "flag", "", "even if the text was purged once")
_RELATED = Argument("related", "flag", "", "and what the memory knows beside it")
_ITERATION = Argument("iteration", "value", "I", "only what belongs to this iteration, I#5")
_YES = Argument("yes", "flag", "", "do it without asking")
_PROPOSALS = Argument("ids", "any", "ID", "a proposal's number, or P#8")
_ASKED_BY = Argument("origin", "value", "O", "instead: all that this one asks, import:notes")
_ANYWAY = Argument("anyway", "flag", "", "although what it rests on is no longer what it was")

VERBS = (
    Verb(
        "remember",
        "Remember a fact; one that is known already is confirmed",
        "facts.remember",
        Argument("text", "many", "TEXT", "the fact, as a sentence"),
        Argument("domain", "value", "D", f"one of {_DOMAINS}", "general", choices=DOMAINS),
        Argument("confidence", "value", "C", "high, medium or low", "high", choices=CONFIDENCES),
        Argument("scope", "value", "S", "project or session", "project", choices=("project", "session")),
        Argument("session", "value", "ID", "with --scope session: which one, instead of the one that is open", ""),
        Argument("tag", "list", "TAG", "a word to find it by (repeatable)"),
        Argument("pin", "flag", "", "it never ages"),
        Argument("key", "value", "K", "for scripts: the same key again writes nothing, and gives the same answer", ""),
        _AGAIN,
        slash=("remember", "memory add"),
    ),
    Verb(
        "facts",
        "List facts, the longest unconfirmed first",
        "facts.list_facts",
        Argument("words", "any", "WORDS", "only facts of this domain, or that contain this text", choices=DOMAINS),
        Argument("all", "flag", "", "the superseded and forgotten ones too"),
        Argument("domain", "value", "D", f"one of {_DOMAINS}", choices=DOMAINS),
        Argument("status", "value", "S", "active, superseded or forgotten", choices=FACT_STATUSES),
        Argument("origin", "value", "O", "who wrote it: user, agent, import:notes …"),
        Argument("tag", "value", "TAG", "only facts with this tag"),
        Argument("sort", "value", "ORDER", "oldest, newest, domain, text or state", "oldest", choices=FACT_ORDERS),
        _LIMIT,
        slash=("facts", "memory list"),
    ),
    Verb(
        "correct",
        "Replace a fact (or what a decision chose); the old one stays, superseded",
        "facts.correct",
        Argument("id", "one", "ID", "a fact's number, or F#12, D#3, A#5"),
        Argument("text", "many", "TEXT", "what is true now"),
        _AGAIN,
        slash=("memory correct",),
    ),
    Verb(
        "confirm",
        "Say that facts still hold: their age starts again",
        "facts.confirm",
        _FACTS,
        slash=("memory confirm",),
    ),
    Verb(
        "forget",
        "Hide facts or decisions, until undone",
        "facts.forget",
        Argument("ids", "many", "ID", "a fact's number, or F#12, D#3"),
        frees=True,
        slash=("memory forget",),
    ),
    Verb(
        "purge",
        "Erase records with their past, for good: nothing undoes it",
        "purge.purge",
        Argument("ids", "any", "ID", "a fact's number, or D#3, A#5, T#9, E#42, P#8"),
        Argument("query", "value", "Q", "instead: all that a search by keywords finds"),
        Argument("origin", "value", "O", "instead: all that this one wrote, import:notes"),
        Argument("before", "value", "TIME", "instead: all that is older than 2026-08-01, 90d, K#3 …"),
        Argument("kind", "value", "K", f"with --before: only {', '.join(PURGEABLE)}", choices=PURGEABLE),
        Argument("leave", "list", "ID", "leave the words as they are here: T#9, all, MEMORY.md, files (repeatable)"),
        Argument("scrub", "list", "ID", "cut them only here, and not in every other place (repeatable)"),
        Argument("dry-run", "flag", "", "only show what would go, and what else holds the words"),
        _YES,
        frees=True,
    ),
    Verb(
        "verify-forgotten",
        "Prove that no byte of a text is left in any file of the store",
        "purge.verify",
        Argument("text", "many", "TEXT", "the text; - reads it from standard input, past the shell's history"),
    ),
    Verb("pin", "Keep facts from ageing", "facts.pin", _FACTS),
    Verb("unpin", "Let facts age again", "facts.unpin", _FACTS),
    Verb("mute", "Keep facts out of every context; they stay facts", "context.mute", _FACTS),
    Verb("unmute", "Let facts into contexts again", "context.unmute", _FACTS),
    Verb("tag", "Give facts a tag, a word to find them by", "facts.tag", _FACTS, _TAG),
    Verb("untag", "Take a tag from facts", "facts.untag", _FACTS, _TAG),
    Verb(
        "inbox",
        "List what is proposed and waits for your word, newest first",
        "inbox.list_proposals",
        Argument("origin", "value", "O", "only what this one asks: mcp:claude-code, import:notes …"),
        Argument("state", "value", "S", "waiting, accepted or rejected", choices=PROPOSAL_STATES),
        _LIMIT,
    ),
    Verb(
        "accept",
        "Accept proposals: only now they are facts",
        "inbox.accept",
        _PROPOSALS,
        _ASKED_BY,
        Argument("supersedes", "value", "F", "it takes the place of this fact, F#12"),
        _ANYWAY,
        _YES,
    ),
    Verb(
        "edit",
        "Accept a proposal in your own words",
        "inbox.edit",
        Argument("id", "one", "ID", "a proposal's number, or P#8"),
        Argument("text", "many", "TEXT", "what is to be remembered"),
        _ANYWAY,
    ),
    Verb("reject", "Say no to proposals; the same is not asked again", "inbox.reject", _PROPOSALS, _ASKED_BY, _YES),
    Verb(
        "merge",
        "Make one of facts that say the same: merge 12 13; or of a proposal and a fact: merge P#8 12",
        "inbox.merge",
        Argument("ids", "many", "ID", "the one that stays, then the others: 12 13, or P#8 12"),
        _ANYWAY,
        _AGAIN,
    ),
    Verb(
        "duplicates",
        "Look for facts that say the same or contradict each other, and propose what to do",
        "inbox.duplicates",
    ),
    Verb(
        "decide",
        "Record a decision: what was chosen, instead of what, and why",
        "decisions.decide",
        Argument("title", "many", "TITLE", "the decision in a few words"),
        Argument("chosen", "value", "TEXT", "the option taken", required=True),
        Argument("context", "value", "TEXT", "the problem it solves", ""),
        Argument("alternative", "list", "TEXT", "an option not taken (repeatable)"),
        Argument("rationale", "value", "TEXT", "why", ""),
        Argument("impact", "value", "I", "low, medium, high or critical", "medium", choices=IMPACTS),
        Argument("phase", "value", "TEXT", "the phase of the work it belongs to", ""),
        Argument("supersedes", "value", "D", "the decision it replaces, D#3"),
        Argument("key", "value", "K", "for scripts: the same key again writes nothing, and gives the same answer", ""),
        _AGAIN,
    ),
    Verb(
        "decisions",
        "List decisions, newest first",
        "decisions.list_decisions",
        Argument("all", "flag", "", "the superseded and forgotten ones too"),
        _ITERATION,
        _LIMIT,
    ),
    Verb(
        "link",
        "Say that a commit implements, reverts or relates to a decision",
        "decisions.link",
        Argument("commit", "one", "COMMIT", "a sha, or C#a1b2c3d"),
        Argument("decision", "one", "DECISION", "a decision's number, or D#3"),
        Argument("type", "value", "TYPE", "implements, reverts or relates", "implements", choices=LINK_TYPES),
    ),
    Verb(
        "unlink",
        "Take such a link away",
        "decisions.unlink",
        Argument("commit", "one", "COMMIT", "a sha, or C#a1b2c3d"),
        Argument("decision", "one", "DECISION", "a decision's number, or D#3"),
    ),
    Verb(
        "task",
        "Add a task, or start, finish or reopen some: task add TEXT, task done 3 4",
        "tasks.task",
        Argument("what", "one", "add|start|done|reopen", "what to do"),
        Argument("words", "many", "TEXT|ID", "what is to be done; or a task's number, or A#5"),
        _AGAIN,
    ),
    Verb(
        "tasks",
        "List open tasks, those in progress first",
        "tasks.list_tasks",
        Argument("all", "flag", "", "the done ones too"),
        Argument("status", "value", "S", "pending, in_progress or done"),
        _ITERATION,
        _LIMIT,
    ),
    Verb(
        "iteration",
        "Start, complete or abandon a cycle of work: iteration start fix TEXT",
        "tasks.iteration",
        Argument("what", "one", "start|complete|abandon", "what to do"),
        Argument("words", "any", "COMMAND TEXT|ID", "feature, fix, spike … and what it is about; or I#5"),
        Argument("phase", "list", "TEXT", "at its end: a phase that was completed (repeatable)"),
        Argument("artifact", "list", "TEXT", "at its end: what it left, docs/design.md (repeatable)"),
    ),
    Verb("iterations", "List iterations, newest first, with what belongs to them", "tasks.list_iterations", _LIMIT),
    Verb(
        "event",
        "Log an event of the work: event phase_completed --phase design",
        "events.event",
        Argument("type", "one", "TYPE", "what happened, in one word: phase_completed, gate_passed, approval …"),
        Argument("phase", "value", "TEXT", "the phase of the work it belongs to", ""),
        Argument("payload", "value", "JSON", "what else is to be kept with it, any JSON"),
        Argument("iteration", "value", "I", "the iteration it belongs to (the active one)"),
        Argument("key", "value", "K", "for scripts: the same key again writes nothing, and gives the same answer", ""),
    ),
    Verb(
        "events",
        "List events, newest first; of one iteration its chronology",
        "events.list_events",
        Argument("type", "value", "TYPE", "only events of this type"),
        _ITERATION,
        Argument("since", "value", "T", "2026-11-01, 2d, 3w, yesterday", ""),
        _LIMIT,
    ),
    Verb(
        "search",
        "Search everything (kind: domain: is: tag: author: iteration: since: before:)",
        "browse.search",
        Argument("query", "many", "QUERY", 'words and filters, "cache kind:decision since:3w"'),
        Argument("limit", "value", "N", "how many at the most (20)", 20, whole=True),
        _ITERATION,
        Argument("explain", "flag", "", "why each one is there: what each signal gave to its place"),
        Argument("keywords", "flag", "", "by keywords alone, without a model"),
        reads=True,
    ),
    Verb(
        "show",
        "Show a record with all that belongs to it",
        "browse.show",
        Argument("citation", "one", "CITATION", "F#12, D#3, C#a1b2c3d, I#5, E#42, K#3, A#5, P#8, notes.md#L3"),
        Argument("diff", "flag", "", "a commit's diff too"),
        reads=True,
    ),
    Verb(
        "ask",
        "Ask about the past: a short answer, each sentence with the record it rests on",
        "librarian.ask",
        Argument("question", "many", "QUESTION", "in English or Spanish: why do we use SQLite? ¿cuándo se decidió?"),
        Argument("no-model", "flag", "", "by rule: the records themselves"),
        reads=True,
        slash=("ask",),
    ),
    Verb(
        "context",
        "What an agent would be sent for a question: what it costs, and why each fact is in or out",
        "context.show",
        Argument("query", "any", "QUERY", "the question (the last one that was asked)"),
        Argument("session", "value", "S", "an agent's session (the newest)", ""),
        reads=True,
    ),
    Verb(
        "timeline",
        "Decisions, commits, events and iterations, newest first",
        "browse.timeline",
        Argument("since", "value", "T", "2026-11-01, 2d, 3w, yesterday", ""),
        Argument("before", "value", "T", "up to, and without, this time", ""),
        Argument("kind", "list", "KIND", "decision, commit, event … (repeatable)", choices=TIMELINE_KINDS),
        _ITERATION,
        _LIMIT,
        reads=True,
    ),
    Verb(
        "history",
        "Who changed what, and when; newest first",
        "history.list_steps",
        Argument("actor", "value", "A", "user, agent, import:notes …"),
        Argument("record", "value", "ID", "only what happened to F#12 or D#3"),
        Argument("since", "value", "T", "2026-11-01, 2d, 3w, yesterday", ""),
        Argument("changes", "flag", "", "each step's records too, before and after"),
        _LIMIT,
    ),
    Verb(
        "as-of",
        "Show facts, decisions and tasks as they stood at a time, a step or a checkpoint",
        "as_of.as_of",
        _MOMENT,
        Argument("what", "any", "facts|decisions|tasks", "only these", choices=("facts", "decisions", "tasks")),
        Argument("all", "flag", "", "what was superseded, forgotten or done then too"),
        _LIMIT,
    ),
    Verb(
        "diff",
        "What changed since a moment, or between two, record by record",
        "as_of.diff",
        Argument("since", "one", "SINCE", "2026-11-01, 2d, yesterday, a step, or a checkpoint, K#3"),
        Argument("until", "maybe", "UNTIL", "another moment (now)"),
        _LIMIT,
    ),
    Verb(
        "undo",
        "Take back your newest change, or the step named",
        "restore.undo",
        Argument("seq", "maybe", "SEQ", "a step of `memoranda history`", whole=True),
        Argument("all-by", "value", "ORIGIN", "instead: all that this one wrote, import:notes"),
        Argument("keep", "list", "ID", "leave this record as it is (repeatable)"),
        Argument("overwrite", "list", "ID", "take it back although it changed since (repeatable)"),
        _DRY,
        _YES,
        slash=("undo",),
    ),
    Verb("redo", "Put back what the last undo took", "history.redo", slash=("redo",)),
    Verb(
        "checkpoint",
        "Name this moment, to come back to it",
        "checkpoints.take",
        Argument("name", "any", "NAME", "what to call it"),
        Argument("tokens", "value", "N", "instead: tell how full an agent's context window is", whole=True),
        Argument("session-end", "flag", "", "instead: an agent's session ended"),
        Argument("session", "value", "S", "which session that is; the newest without it", ""),
        slash=("checkpoint",),
    ),
    Verb(
        "checkpoints",
        "List checkpoints, newest first",
        "checkpoints.list_checkpoints",
        Argument("all", "flag", "", "those too that were taken by themselves"),
        _LIMIT,
    ),
    Verb(
        "recover",
        "What a checkpoint holds, to go on there: tasks, decisions, the last turns",
        "checkpoints.recover",
        Argument("checkpoint", "maybe", "K", "a checkpoint's number, or K#3; the newest without it"),
        _RELATED,
    ),
    Verb(
        "restore",
        "Put facts, decisions, links and tasks back to where a checkpoint found them",
        "restore.restore",
        Argument("checkpoint", "one", "K", "a checkpoint's number, or K#3"),
        Argument("only", "list", "ID", "only this record, F#12 or D#3 (repeatable)"),
        Argument("kind", "list", "KIND", "only facts, decisions, tasks or links: fact … (repeatable)"),
        Argument("strategy", "value", "S", "replace all, keep what is mine, or only add what is gone", "replace"),
        _RELATED,
        _DRY,
        _YES,
        slash=("restore",),
    ),
    Verb(
        "ingest",
        "Bring in conversations: transcripts of Claude Code, files of `role: text`, JSON lines",
        "conversations.ingest",
        Argument("source", "many", "FILE|-", "a file, a folder of .jsonl, or - for standard input", file=True),
        Argument("session", "value", "S", "the conversation's name, where the lines have none", ""),
    ),
    Verb(
        "sessions",
        "List conversations, the one spoken in last first; sessions start begins one",
        "conversations.sessions",
        Argument("what", "maybe", "start", "begin a session, or go on with it", choices=("start",)),
        Argument("name", "maybe", "NAME", "what it is called (by the moment)"),
        Argument("discarded", "flag", "", "what was set aside for a day, and why"),
        Argument("summaries", "flag", "", "what each was about too: its active summaries"),
        _LIMIT,
    ),
    Verb(
        "flush",
        "Before a context is cut: summarise all of a session, and take a checkpoint of it",
        "conversations.flush",
        Argument("session", "value", "S", "which session; the newest without it", ""),
    ),
    Verb(
        "clear",
        "End a session; its last 15 messages are kept in memory/snapshots",
        "conversations.clear",
        Argument("session", "value", "S", "which session; the newest without it", ""),
        slash=("clear",),
    ),
    Verb(
        "export",
        "Write the whole memory as one document: JSON, or Markdown to read",
        "exchange.export",
        Argument("file", "maybe", "FILE", "standard output without one; .gz packs it, .md is Markdown", file=True),
        Argument("gzip", "flag", "", "packed, whatever FILE is called"),
        Argument("markdown", "flag", "", "as Markdown, to be read and not imported"),
        _YES,
        slash=("memory export",),
    ),
    Verb(
        "import",
        "Bring in an export, a backup or another memory: seen first, told apart by identity",
        "exchange.import_file",
        Argument("file", "one", "FILE", "an export, packed or not, or a memory file", file=True),
        Argument(
            "strategy",
            "value",
            "S",
            "where a record differs: mine keeps what is here, replace takes the document's",
            "mine",
            choices=("mine", "replace"),
        ),
        Argument("limit", "value", "N", "how many records of each kind are shown (10)", 10, whole=True),
        _DRY,
        _YES,
    ),
    Verb(
        "backup",
        "Copy the memory file, and prove the copy; or look at one again, or go back to it",
        "exchange.backup",
        Argument("file", "maybe", "FILE", "where to (the folder backups, beside the memory)", file=True),
        Argument("verify", "flag", "", "restore FILE (an export too), or the newest backup, and compare it row by row"),
        Argument("restore", "flag", "", "put facts, decisions, links and tasks back to where FILE found them"),
        _DRY,
        _YES,
    ),
    Verb(
        "backups",
        "List backups, newest first, with what was found when they were looked at",
        "exchange.backups",
        _LIMIT,
    ),
    Verb("stats", "Count what there is, and tell how the memory fares", "browse.stats", reads=True),
    Verb(
        "index",
        "Check the search index, and embed what waits; index rebuild makes all of it again",
        "index.index",
        Argument(
            "what",
            "maybe",
            "rebuild",
            "rebuild: make it again, from nothing; download: fetch fastembed's model first",
            choices=("rebuild", "download"),
        ),
    ),
    Verb(
        "redactions",
        "Where secrets were cut out of what was written; say what is no secret, or take that back",
        "secrets.redactions",
        Argument(
            "what", "maybe", "allow|cut|rules", "allow a rule, cut it again, or list them", choices=REDACTION_ACTS
        ),
        Argument("rule", "maybe", "RULE", "a rule, as in SK_KEY"),
        Argument("shape", "maybe", "SHAPE", "only what looks so, sk-ticket*: * stands for any characters"),
        _LIMIT,
    ),
    Verb(
        "scan-secrets",
        "Look for secrets in all that is stored, also what was stored before a rule was known",
        "secrets.scan",
        Argument("purge", "flag", "", "cut them out of the records and their history, for good"),
        Argument("personal", "flag", "", "look for e-mails, phones, ids, accounts and cards of people instead"),
        _YES,
    ),
    Verb(
        "doctor",
        "Look for what is wrong with the memory, and say what mends it",
        "health.doctor",
        Argument("quick", "flag", "", "leave out what reads every record"),
        Argument("head", "value", "HEX", "a head that an earlier doctor named: are its steps still there?", ""),
        opens="nothing",
    ),
    Verb(
        "model",
        "The model that the agent asks: how it stands, fetch one, try it, choose one, and when it is asked",
        "model.model",
        Argument(
            "what",
            "maybe",
            "status|pull|test|use|fast|smart|off",
            "fast: asked only after an answer; smart: before one too; off: never",
            choices=MODEL_ACTS,
        ),
        Argument("name", "maybe", "NAME", "a model, qwen2.5:3b-instruct; use auto: whichever is found"),
        opens="nothing",
    ),
    Verb(
        "salvage",
        "Write what can be read of a damaged memory to a new one; the damaged file stays as it is",
        "health.salvage",
        Argument("file", "one", "FILE", "the damaged memory file", file=True),
        Argument("into", "value", "NEW", "where to (beside it, with -salvaged in its name)", file=True),
        opens="nothing",
        apart=True,
    ),
    Verb("scan", "Read the documents now: MEMORY.md, memory/**/*.md and the extra paths", "documents.scan"),
    Verb("init", "Start a memory for this folder", "location.init", opens="nothing"),
    Verb(
        "open",
        "Open the memory of another project; without a place, list those that were open before",
        "location.open_other",
        Argument("place", "maybe", "PLACE", "a project's folder, or a memory file"),
        opens="nothing",
    ),
    Verb(
        "demo",
        "Open an invented project with a year of memory, to try everything on",
        "demo.demo",
        Argument(
            "folder", "maybe", "FOLDER", "make it there, and keep it (a temporary place, for as long as it is open)"
        ),
        Argument("keep", "flag", "", "keep it in the temporary place"),
        opens="nothing",
    ),
    Verb(
        "adopt",
        "Take a memory that came from elsewhere: whole, or as proposals",
        "location.adopt",
        Argument("whole", "flag", "", "as it is: it is yours from then on"),
        Argument("as-proposals", "flag", "", "put it aside, and ask about each fact in the inbox of a new memory"),
        Argument("yes", "flag", "", "whole, without asking: for containers and CI"),
        opens="nothing",
    ),
    Verb("where", "Which memory file is used here, and why", "location.where", opens="nothing"),
    Verb(
        "config",
        "Settings: what they are and where from; with a value, set one",
        "settings.config",
        Argument(
            "name",
            "maybe",
            "NAME",
            "one setting, keys.record.forget for a key, or allow",
            choices=(ALLOW, *SETTING_NAMES),
        ),
        Argument("value", "maybe", "VALUE", "what it is to be, in your file"),
        Argument("project", "flag", "", "in the project's file, which wins over yours"),
        Argument("unset", "flag", "", "take it out of the file"),
        Argument("yes", "flag", "", "allow what the project's file sets without asking"),
        opens="nothing",
    ),
    Verb(
        "completion",
        "Print what makes a shell complete this command: bash, zsh or fish",
        "settings.completion",
        Argument("shell", "one", "SHELL", "bash, zsh or fish", choices=SHELLS),
        opens="nothing",
    ),
)

BY_NAME = {verb.name: verb for verb in VERBS}
SLASH = {slash: verb for verb in VERBS for slash in verb.slash}


def find(words: list[str]) -> tuple[Verb, list[str]] | None:
    """The verb that a typed line starts with, and the rest: `/memory add x`, `memory add x`, `remember x`."""
    if not words:
        return None
    first = words[0].removeprefix("/").lower()
    if len(words) > 1 and (verb := SLASH.get(f"{first} {words[1].lower()}")):
        return verb, words[2:]
    found = BY_NAME.get(first) or SLASH.get(first)
    return (found, words[1:]) if found else None
