"""The one table of verbs: command line, `:` bar, slash commands, keys, footer and help are all made from it.

A verb that is not built is not in the table. Handlers are named, not imported: a command pays for its own verb alone.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Argument:
    """One argument as `argparse` takes it: its names (one bare name, or options) and the rest of its keywords."""

    __slots__ = ("keywords", "names")

    def __init__(self, *names: str, **keywords: "Any") -> None:
        self.names = names
        self.keywords = keywords


class Verb:
    """One verb: its summary, its arguments, and `handler`, a `module.function` below `tui.commands`.

    `opens`: `memory` needs the file, `new` may make it (both give the handler an open Memory), `nothing` gets none.
    `reads`: a one-shot command first lets the timeline catch up with git for a moment (DESIGN §9).
    """

    __slots__ = ("arguments", "handler", "name", "opens", "reads", "slash", "summary")

    def __init__(
        self,
        name: str,
        summary: str,
        handler: str,
        *arguments: Argument,
        opens: str = "new",
        reads: bool = False,
        slash: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.summary = summary
        self.handler = handler
        self.arguments = arguments
        self.opens = opens
        self.reads = reads
        self.slash = slash


_DOMAINS = "work, preferences, decisions, personal, projects, general, self_correction"
_LIMIT = Argument("--limit", type=int, default=50, metavar="N", help="how many at the most (50)")
_FACTS = Argument("ids", nargs="+", metavar="ID", help="a fact's number, or F#12")
_YES = Argument("--yes", action="store_true", help="do it without asking")

VERBS = (
    Verb(
        "remember",
        "Remember a fact; one that is known already is confirmed",
        "facts.remember",
        Argument("text", nargs="+", metavar="TEXT", help="the fact, as a sentence"),
        Argument("--domain", metavar="D", default="general", help=f"one of {_DOMAINS}"),
        Argument("--confidence", metavar="C", default="high", help="high, medium or low"),
        Argument("--scope", metavar="S", default="project", help="project or session"),
        Argument("--tag", metavar="TAG", action="append", default=[], help="a word to find it by (repeatable)"),
        Argument("--pin", action="store_true", help="it never ages"),
        slash=("remember", "memory add"),
    ),
    Verb(
        "facts",
        "List facts, the longest unconfirmed first",
        "facts.list_facts",
        Argument("words", nargs="*", metavar="WORDS", help="only facts that contain this text"),
        Argument("--all", action="store_true", help="the superseded and forgotten ones too"),
        Argument("--domain", metavar="D", help=f"one of {_DOMAINS}"),
        Argument("--status", metavar="S", help="active, superseded or forgotten"),
        Argument("--origin", metavar="O", help="who wrote it: user, agent, import:notes …"),
        Argument("--sort", metavar="ORDER", default="oldest", help="oldest, newest, domain, text or state"),
        _LIMIT,
        slash=("facts", "memory list"),
    ),
    Verb(
        "correct",
        "Replace a fact (or what a decision chose); the old one stays, superseded",
        "facts.correct",
        Argument("id", metavar="ID", help="a fact's number, or F#12, D#3"),
        Argument("text", nargs="+", metavar="TEXT", help="what is true now"),
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
        Argument("ids", nargs="+", metavar="ID", help="a fact's number, or F#12, D#3"),
        slash=("memory forget",),
    ),
    Verb("pin", "Keep facts from ageing", "facts.pin", _FACTS),
    Verb("unpin", "Let facts age again", "facts.unpin", _FACTS),
    Verb(
        "decide",
        "Record a decision: what was chosen, instead of what, and why",
        "decisions.decide",
        Argument("title", nargs="+", metavar="TITLE", help="the decision in a few words"),
        Argument("--chosen", metavar="TEXT", required=True, help="the option taken"),
        Argument("--context", metavar="TEXT", default="", help="the problem it solves"),
        Argument("--alternative", metavar="TEXT", action="append", default=[], help="an option not taken (repeatable)"),
        Argument("--rationale", metavar="TEXT", default="", help="why"),
        Argument("--impact", metavar="I", default="medium", help="low, medium, high or critical"),
        Argument("--phase", metavar="TEXT", default="", help="the phase of the work it belongs to"),
        Argument("--supersedes", metavar="D", help="the decision it replaces, D#3"),
    ),
    Verb(
        "decisions",
        "List decisions, newest first",
        "decisions.list_decisions",
        Argument("--all", action="store_true", help="the superseded and forgotten ones too"),
        _LIMIT,
    ),
    Verb(
        "link",
        "Say that a commit implements, reverts or relates to a decision",
        "decisions.link",
        Argument("commit", metavar="COMMIT", help="a sha, or C#a1b2c3d"),
        Argument("decision", metavar="DECISION", help="a decision's number, or D#3"),
        Argument("--type", metavar="TYPE", default="implements", help="implements, reverts or relates"),
    ),
    Verb(
        "unlink",
        "Take such a link away",
        "decisions.unlink",
        Argument("commit", metavar="COMMIT", help="a sha, or C#a1b2c3d"),
        Argument("decision", metavar="DECISION", help="a decision's number, or D#3"),
    ),
    Verb(
        "search",
        "Search everything: facts, decisions, commits, events (kind: domain: since: before: is:)",
        "reading.search",
        Argument("query", nargs="+", metavar="QUERY", help='words and filters, "cache kind:decision since:3w"'),
        Argument("--limit", type=int, default=20, metavar="N", help="how many at the most (20)"),
        reads=True,
    ),
    Verb(
        "show",
        "Show a record with all that belongs to it",
        "reading.show",
        Argument("citation", metavar="CITATION", help="F#12, D#3, C#a1b2c3d, I#5, E#42, K#3, A#5"),
        Argument("--diff", action="store_true", help="a commit's diff too"),
        reads=True,
    ),
    Verb(
        "timeline",
        "Decisions, commits, events and iterations, newest first",
        "reading.timeline",
        Argument("--since", metavar="T", default="", help="2026-11-01, 2d, 3w, yesterday"),
        Argument("--before", metavar="T", default="", help="up to, and without, this time"),
        Argument("--kind", metavar="KIND", action="append", default=[], help="decision, commit, event … (repeatable)"),
        _LIMIT,
        reads=True,
    ),
    Verb(
        "history",
        "Who changed what, and when; newest first",
        "history.list_steps",
        Argument("--actor", metavar="A", help="user, agent, import:notes …"),
        Argument("--record", metavar="ID", help="only what happened to F#12 or D#3"),
        _LIMIT,
    ),
    Verb(
        "undo",
        "Take back your newest change, or the step named",
        "history.undo",
        Argument("seq", nargs="?", type=int, metavar="SEQ", help="a step of `memoranda history`"),
        slash=("undo",),
    ),
    Verb("redo", "Put back what the last undo took", "history.redo", slash=("redo",)),
    Verb(
        "checkpoint",
        "Name this moment, to come back to it",
        "history.checkpoint",
        Argument("name", nargs="*", metavar="NAME", help="what to call it"),
        slash=("checkpoint",),
    ),
    Verb("checkpoints", "List checkpoints, newest first", "history.checkpoints", _LIMIT),
    Verb(
        "restore",
        "Put facts, decisions, links and tasks back to where a checkpoint found them",
        "history.restore",
        Argument("checkpoint", metavar="K", help="a checkpoint's number, or K#3"),
        _YES,
        slash=("restore",),
    ),
    Verb(
        "export",
        "Write the whole memory as one JSON document",
        "exporting.export",
        Argument("file", nargs="?", metavar="FILE", help="standard output without one"),
        _YES,
        slash=("memory export",),
    ),
    Verb("stats", "Count what there is", "reading.stats", reads=True),
    Verb("init", "Start a memory for this folder", "places.init", opens="nothing"),
    Verb("where", "Which memory file is used here, and why", "places.where", opens="nothing"),
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
