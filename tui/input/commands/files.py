"""Commands for conversations, documents, the file, its health and the settings."""

from store import EXPORT_FORMS, SETTING_NAMES, SOURCE_NAMES
from tui.input.argument_parser import Argument
from tui.input.commands.command import DRY_RUN, LIMIT, YES, Verb

ALLOW = "allow"  # instead of a setting: allow the project's settings that reach outside of it
REDACTION_ACTS = (ALLOW, "cut", "rules")
MODEL_ACTS = ("status", "pull", "test", "try", "calls", "use", "fast", "smart", "off")
SHELLS = ("bash", "zsh", "fish")

FILE_COMMANDS = (
    Verb(
        "ingest",
        "Bring in conversations: transcripts of Claude Code, files of `role: text`, JSON lines",
        "records.conversations.ingest",
        Argument("source", "many", "FILE|-", "a file, a folder of .jsonl, or - for standard input", file=True),
        Argument("session", "value", "S", "the conversation's name, where the lines have none", ""),
    ),
    Verb(
        "sessions",
        "List conversations, the one spoken in last first; sessions start begins one",
        "records.conversations.sessions",
        Argument("what", "maybe", "start", "begin a session, or go on with it", choices=("start",)),
        Argument("name", "maybe", "NAME", "what it is called (by the moment)"),
        Argument("discarded", "flag", "", "what was set aside for a day, and why"),
        Argument("summaries", "flag", "", "what each was about too: its active summaries"),
        LIMIT,
    ),
    Verb(
        "flush",
        "Before a context is cut: summarise all of a session, and take a checkpoint of it",
        "records.conversations.flush",
        Argument("session", "value", "S", "which session; the newest without it", ""),
    ),
    Verb(
        "clear",
        "End a session; its last 15 messages are kept in memory/snapshots",
        "records.conversations.clear",
        Argument("session", "value", "S", "which session; the newest without it", ""),
        slash=("clear",),
    ),
    Verb(
        "export",
        "Write the whole memory as one document: JSON, or Markdown to read",
        "files.exchange.export",
        Argument("file", "maybe", "FILE", "standard output without one; .gz packs it, .md is Markdown", file=True),
        Argument("gzip", "flag", "", "packed, whatever FILE is called"),
        Argument("markdown", "flag", "", "as Markdown, to be read and not imported"),
        Argument(
            "form",
            "value",
            "F",
            "as a new folder FILE with a file for each fact and decision: Claude Code's own memory, or an OKF bundle",
            choices=EXPORT_FORMS,
        ),
        YES,
        slash=("memory export",),
    ),
    Verb(
        "import",
        "Bring in the memory of another tool, an export, a backup or another memory: seen first",
        "files.source_import.import_any",
        Argument(
            "source",
            "maybe",
            "SOURCE|FILE",
            "a tool, an export, packed or not, or a memory file; without it, list what was found here",
            choices=SOURCE_NAMES,
            file=True,
        ),
        Argument("path", "maybe", "PATH", "where the tool's memory is (where it lies by default)", file=True),
        Argument("trust", "flag", "", "of a tool: take all as it is, instead of asking about each in the inbox"),
        Argument("all", "flag", "", "of a tool: what belongs to other projects too"),
        Argument(
            "strategy",
            "value",
            "S",
            "of an export, where a record differs: mine keeps what is here, replace takes the document's",
            "mine",
            choices=("mine", "replace"),
        ),
        Argument("limit", "value", "N", "how many records of each kind are shown (10)", 10, whole=True),
        DRY_RUN,
        YES,
    ),
    Verb(
        "backup",
        "Copy the memory file, and prove the copy; or look at one again, or go back to it",
        "files.exchange.backup",
        Argument("file", "maybe", "FILE", "where to (the folder backups, beside the memory)", file=True),
        Argument("verify", "flag", "", "restore FILE (an export too), or the newest backup, and compare it row by row"),
        Argument("restore", "flag", "", "put facts, decisions, links and tasks back to where FILE found them"),
        DRY_RUN,
        YES,
    ),
    Verb(
        "backups",
        "List backups, newest first, with what was found when they were looked at",
        "files.exchange.backups",
        LIMIT,
    ),
    Verb("stats", "Count what there is, and show the health of the memory", "records.browse.stats", reads=True),
    Verb(
        "index",
        "Check the search index, and embed what waits; index documents reads MEMORY.md and memory/**/*.md now",
        "files.index.index",
        Argument(
            "what",
            "maybe",
            "documents|rebuild|download",
            "documents: read them now; rebuild: make the index again, from nothing; download: fetch fastembed's model"
            " first",
            choices=("documents", "rebuild", "download"),
        ),
    ),
    Verb(
        "redactions",
        "Where secrets were cut out of what was written; say what is no secret, or take that back",
        "privacy.secrets.redactions",
        Argument(
            "what", "maybe", "allow|cut|rules", "allow a rule, cut it again, or list them", choices=REDACTION_ACTS
        ),
        Argument("rule", "maybe", "RULE", "a rule, as in SK_KEY"),
        Argument("shape", "maybe", "SHAPE", "only what looks so, sk-ticket*: * stands for any characters"),
        LIMIT,
    ),
    Verb(
        "scan-secrets",
        "Look for secrets in all that is stored, also what was stored before a rule was known",
        "privacy.secrets.scan",
        Argument("purge", "flag", "", "cut them out of the records and their history, for good"),
        Argument("personal", "flag", "", "look for e-mails, phones, ids, accounts and cards of people instead"),
        YES,
    ),
    Verb(
        "doctor",
        "Look for what is wrong with the memory, and say what mends it",
        "system.health.doctor",
        Argument("quick", "flag", "", "leave out what reads every record"),
        Argument("head", "value", "HEX", "a head that an earlier doctor named: are its steps still there?", ""),
        opens="nothing",
    ),
    Verb(
        "model",
        "The model that the agent asks: its state, fetch one, try it, its last calls, choose one, and when it is asked",
        "system.model.model",
        Argument(
            "what",
            "maybe",
            "status|pull|test|try|calls|use|fast|smart|off",
            "calls: the last ones; fast: asked only after an answer; smart: before one too; off: never",
            choices=MODEL_ACTS,
        ),
        Argument(
            "name", "maybe", "NAME", "a model, qwen2.5:3b-instruct; use auto: any that is found; calls 7: that one"
        ),
        opens="nothing",
    ),
    Verb(
        "salvage",
        "Write what can be read of a damaged memory to a new one; the damaged file stays as it is",
        "system.health.salvage",
        Argument("file", "one", "FILE", "the damaged memory file", file=True),
        Argument("into", "value", "NEW", "where to (beside it, with -salvaged in its name)", file=True),
        opens="nothing",
        apart=True,
    ),
    Verb(
        "scan",
        "Report on the memories that other tools keep on this machine; nothing is changed",
        "files.scan.scan",
        Argument("folder", "any", "FOLDER", "folders of Markdown to read too", file=True),
        Argument("md", "flag", "", "as a Markdown document"),
        Argument("check", "flag", "", "exit status 1 if something is wrong, for CI"),
        Argument("no-transcripts", "flag", "", "do not search conversations for secrets"),
        Argument("limit", "value", "N", "how many findings of each kind are shown (5)", 5, whole=True),
        opens="nothing",
        apart=True,
    ),
    Verb("init", "Start a memory for this folder", "files.location.init", opens="nothing"),
    Verb(
        "open",
        "Open the memory of another project; without a place, list those that were open before",
        "files.location.open_other",
        Argument("place", "maybe", "PLACE", "a project's folder, or a memory file"),
        opens="nothing",
    ),
    Verb(
        "demo",
        "Open an invented project with a year of memory, to try everything on",
        "files.demo.demo",
        Argument(
            "folder", "maybe", "FOLDER", "make it there, and keep it (a temporary place, for as long as it is open)"
        ),
        Argument("keep", "flag", "", "keep it in the temporary place"),
        opens="nothing",
    ),
    Verb(
        "adopt",
        "Take a memory that came from elsewhere: whole, or as proposals",
        "files.location.adopt",
        Argument("whole", "flag", "", "as it is: it is yours from then on"),
        Argument("as-proposals", "flag", "", "put it aside, and ask about each fact in the inbox of a new memory"),
        Argument("yes", "flag", "", "whole, without asking: for containers and CI"),
        opens="nothing",
    ),
    Verb("where", "Which memory file is used here, and why", "files.location.where", opens="nothing"),
    Verb(
        "config",
        "Settings: what they are and where from; with a value, set one",
        "system.settings.config",
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
        "system.settings.completion",
        Argument("shell", "one", "SHELL", "bash, zsh or fish", choices=SHELLS),
        opens="nothing",
    ),
)
