"""Lines of text for people: badges, counts, times, differences; for the command line and the application alike.

Compare two states of a record column by column, as lines of (text, style) pieces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from store.base import models
from store.base.citations import cite
from store.base.clock import format_how_long_ago, format_local_time
from store.base.vocabulary import PERSON_ORIGIN, TASK_STATUS_LABELS
from store.records.facts import age_state
from store.records.table import LoggedRedaction
from store.text.display import shorten
from store.text.fence import is_suspicious

# The glyph and the label of every state and kind, the same in all views.

# badge → (glyph, word); the badge is also the style's name, `glyph-fresh`
FACT_BADGES = {
    "fresh": ("•", "fresh"),
    "aging": ("◐", "aging"),
    "low": ("▽", "low"),
    "stale": ("▲", "stale"),
    "pinned": ("★", "pinned"),
    "superseded": ("↷", "replaced"),
    "contradicted": ("≠", "contradicted"),
    "forgotten": ("✕", "forgotten"),
}
# what a record rests on → (glyph, word); the other axis beside its age
EVIDENCE_BADGES = {
    "holds": ("✓", "holds"),
    "moved": ("→", "moved"),
    "changed": ("≠", "changed"),
    "gone": ("⊘", "gone"),
    "": ("·", "not looked at"),
}
# states of evidence that a list shows beside a record's age
DOUBTFUL_STATES = ("moved", "changed", "gone")
WARNING_SIGN = "⚠"
ORDER_WARNING = f"{WARNING_SIGN} looks like an instruction to agents"
KIND_GLYPHS = {
    "fact": "•",
    "global": "•",
    "decision": "◆",
    "commit": "○",
    "event": "·",
    "iteration": "↻",
    "task": "☐",
    "checkpoint": "▪",
    "turn": "“",
    "summary": "≡",
    "document": "¶",
    "proposal": "◇",
}
TASK_GLYPHS = {"pending": "☐", "in_progress": "◧", "done": "☑"}


def state_word(status: str) -> str:
    """Return the label of a status: `superseded` is stored and shown as `replaced`, `pending` as `open`."""
    return TASK_STATUS_LABELS.get(status) or FACT_BADGES.get(status, ("", status))[1]


def fact_badge(fact: models.Fact, now: str) -> str:
    """Return a fact's badge: its status if it is not active, else pinned, else its age."""
    if fact.status != "active":
        return fact.status
    return "pinned" if fact.pinned else age_state(now, fact.last_confirmed_at, fact.confidence, fact.pinned)


StyledLine = list[tuple[str, str]]

# cells of the label column
LABEL_WIDTH = 13
COLUMN_NAMES = {
    "last_confirmed_at": "confirmed", "created_at": "made", "updated_at": "changed", "decided_at": "decided",
    "supersedes": "replaces", "link_type": "link",
}  # fmt: skip
# columns that hold JSON
JSON_LIST_COLUMNS = ("tags", "evidence", "alternatives", "others")
# how a file was when it became evidence
_AS_TAKEN = re.compile(r" @(?:[0-9a-f]{12}|-) ~[0-9a-f]{24}$")
# columns that mean nothing to a user
SILENT_COLUMNS = frozenset(("id", "text_hash", "commit_id", "scope", "importance", "asked", "based_on"))


def origin_name(origin: str) -> str:
    """Return the name of an origin; `you` for the person."""
    return "you" if origin == PERSON_ORIGIN else origin


def compare_rows(before: Mapping[str, object] | None, after: Mapping[str, object] | None) -> list[StyledLine]:
    """Compare two states of a row column by column: the old value in red with −, the new one in green with +."""
    lines: list[StyledLine] = []
    names = dict.fromkeys([*(before or {}), *(after or {})])
    for name in names:
        if name in SILENT_COLUMNS:
            continue
        old, new = (_format_column(name, state) for state in (before, after))
        if old == new:
            continue
        label = COLUMN_NAMES.get(name, name.removesuffix("_id").replace("_", " ")).ljust(LABEL_WIDTH)
        for sign, text, look in (("−", old, "removed"), ("+", new, "added")):
            if text:
                first, *rest = text.split("\n")
                lines.append([(f"  {label}", "label"), (f"{sign} {first}", look)])
                lines += [[(" " * (LABEL_WIDTH + 4), "label"), (line, look)] for line in rest]
                label = " " * LABEL_WIDTH
    return lines


def _format_column(name: str, state: Mapping[str, object] | None) -> str:
    """Format a column's value; empty if it is empty or missing."""
    value = None if state is None else state.get(name)
    if value in (None, "", "[]", "{}", "null"):
        return ""
    if name.endswith("_at"):
        return format_local_time(str(value))
    if name in JSON_LIST_COLUMNS:
        return format_list(value)
    if name in COLUMN_FORMS:
        return COLUMN_FORMS[name](value)
    kind = "decision" if name == "supersedes" and state and "chosen" in state else CITED_COLUMNS.get(name)
    return cite(kind, value) if kind and isinstance(value, int) else str(value)


def format_list(value: object) -> str:
    """Return a list, or its JSON, as people write it."""
    return ", ".join(map(_format_item, value if isinstance(value, list) else json.loads(str(value))))


def _proposed_fields(change: Mapping[str, object]) -> str:
    """Return the fields that a proposal would set, and their values; those of a decision, which has fields of its own,
    in their place."""
    words = []
    for name, value in change.items():
        if isinstance(value, dict):
            words.append(_proposed_fields(value))
        elif isinstance(value, bool):
            words.append(f"{name} {'yes' if value else 'no'}")
        elif value not in (None, "", []):
            words.append(f"{name} {format_list(value) if isinstance(value, list) else value}")
    return "; ".join(filter(None, words))


def _format_item(item: object) -> str:
    """Return a member of a list; of what a proposal quotes, what it cites and the quote."""
    if isinstance(item, dict):
        return f"{item.get('citation', '')} “{item.get('quote', '')}”"
    return _AS_TAKEN.sub("", str(item))


COLUMN_FORMS: dict[str, Callable[[Any], str]] = {
    "pinned": lambda value: "yes" if value else "",
    "change": lambda value: _proposed_fields(json.loads(str(value))),
    "status": lambda value: state_word(value).replace("_", " "),
    "origin": origin_name,
}
CITED_COLUMNS = {"supersedes": "fact", "target": "fact", "decision_id": "decision", "iteration_id": "iteration"}


# The parts of a record's description: a heading, a label with its value, a text, a time.

OWN_ORIGINS = {PERSON_ORIGIN: "you", "duplicates": "Memoranda"}
"""Origins that are no agent's → who they are."""
RESERVED_NAMES = {name.casefold() for name in (*OWN_ORIGINS, *OWN_ORIGINS.values())}
# characters of one, which agents name conversations by
UUID_LENGTH = 36


def heading_of_record(kind: str, record: models.Record, *words: str) -> StyledLine:
    """Return the first line of a description: the citation, the kind and further words."""
    extra = "".join(f" · {word}" for word in (*words, branch_mark(record)) if word)
    return [(record.citation, "own"), (f"  {kind}{extra}", "dim")]


def format_when(at: str, now: str) -> str:
    """Format a time, with how long ago it was."""
    return f"{format_local_time(at)} ({format_how_long_ago(now, at)})"


def label_row(label: str, value: str, style: str = "") -> StyledLine:
    """Return a label with its value."""
    return [(label.ljust(LABEL_WIDTH), "label"), (value, style)]


def indent_text(text: str, style: str) -> list[StyledLine]:
    """Split a text into lines and indent all but the first, so that none can pass for a line of the interface."""
    first, *rest = text.replace("\r\n", "\n").split("\n")
    return [[(first, style)], *([("  " + line, style)] for line in rest)]


def said_by_row(origin: str, *words: str) -> StyledLine:
    """Return who said a record, and how."""
    return label_row("Said by", ", ".join((origin_name(origin), *words)))


def writer_name(origin: str) -> str:
    """Return who wrote a record, as people name them: `you`, an agent, `import from notes`, a conversation by
    the beginning of its UUID; in full, with the door, an agent that calls itself what only these are called."""
    if origin in OWN_ORIGINS:
        return OWN_ORIGINS[origin]
    door, _, name = origin.partition(":")
    # with the identity of whoever bears that name
    if door == "team":
        name = name.partition(" (")[0]
    if name.strip().casefold() in RESERVED_NAMES:
        return origin
    if door == "talk" and len(name) == UUID_LENGTH and name.count("-") == 4:
        return f"chat {name[:8]}"
    return f"import from {name}" if name and door == "import" else name or origin


# Report what was redacted from a write: the rules and the places, never a value, and how to allow it.

SHOWN_CUTS = 3
ALLOW_COMMAND = "memoranda secrets allow"


def cuts_notice(cuts: Sequence[LoggedRedaction]) -> str:
    """Return the sentences on what was redacted, where, and how to allow it."""
    if not cuts:
        return ""
    return cuts_words([(cut.rule, cut.count, f"{cut.citation} {cut.field}") for cut in cuts])


def cuts_words(cuts: Sequence[tuple[str, int, str]]) -> str:
    """Return the sentences on what was redacted, for (rule, count, place) tuples."""
    places = [
        f"{rule}{f' ×{number}' if number > 1 else ''} in {place}" for rule, number, place in cuts[:SHOWN_CUTS]
    ]
    if len(cuts) > SHOWN_CUTS:
        places.append(f"{len(cuts) - SHOWN_CUTS:,} more")
    rules = dict.fromkeys(rule for rule, _, _ in cuts)
    rule = next(iter(rules)) if len(rules) == 1 else "RULE"
    return (
        f"Cut as a secret: {', '.join(places)}. If it is none: {ALLOW_COMMAND} {rule} [SHAPE], then say it again."
    )


def cuts_json(cuts: Sequence[LoggedRedaction]) -> list[dict[str, Any]]:
    """Return redactions for scripts."""
    return [{name: getattr(cut, name) for name in ("citation", "field", "rule", "count")} for cut in cuts]


def add_cuts(data: Callable[[], object], cuts: Sequence[LoggedRedaction]) -> Callable[[], object]:
    """Wrap a script's answer so that it includes the redactions, if it is an object."""

    def both() -> object:
        found = data()
        return {**found, "redacted": cuts_json(cuts)} if isinstance(found, dict) else found

    return both


# Summarise a record in one line: its time and its text.


# cells of the branch of a record
BRANCH_CELLS = 40
# the first that a record has
TIME_FIELDS = ("created_at", "decided_at", "committed_at", "started_at", "at")


def record_time(record: models.Record) -> str:
    """Return a record's time, as the timeline orders it."""
    held = record.own if isinstance(record, models.GlobalFact) else record
    return next(str(getattr(held, name)) for name in TIME_FIELDS if hasattr(held, name))


def event_words(event: models.Event) -> str:
    """Return an event's type and phase as people say them: `gate_passed` as “Gate passed”."""
    words = " ".join(event.event_type.replace("_", " ").split())
    return ": ".join(filter(None, (f"{words[:1].upper()}{words[1:]}", event.phase.replace("_", " "))))


def _commit_size(commit: models.Commit) -> str:
    return f"{'' if commit.reachable else 'gone '}+{commit.insertions} −{commit.deletions}"


SUMMARIES: dict[type[Any], Callable[[Any], tuple[str, str]]] = {
    models.Fact: lambda one: (one.fact, one.domain),
    models.GlobalFact: lambda one: (one.fact, f"global · {one.own.domain}"),
    models.Decision: lambda one: (one.title, one.impact if one.status == "active" else state_word(one.status)),
    models.Commit: lambda one: (one.headline, _commit_size(one)),
    models.Event: lambda one: (event_words(one), ""),
    models.Iteration: lambda one: (f"{one.command}: {one.description}".removesuffix(": "), one.status),
    models.Task: lambda one: (one.text, state_word(one.status)),
    models.Turn: lambda one: (one.text, one.speaker or one.role),
    models.Summary: lambda one: (one.title or "small talk", one.outcome),
    models.Chunk: lambda one: (" › ".join(filter(None, (one.heading, " ".join(one.text.split())))), ""),
    models.Proposal: lambda one: (one.text, f"{one.kind} {one.state}"),
    models.Checkpoint: lambda one: (f"checkpoint “{one.title}”", one.reason if one.is_automatic else ""),
}


def branch_mark(record: models.Record) -> str:
    """Return the branch on which a record was made, in words; empty where it is the current one, or not known."""
    return shorten(getattr(record, "branch_note", ""), BRANCH_CELLS)


def summarize_record(record: models.Record) -> tuple[str, str]:
    """Summarise a record as (its text, a short label beside it)."""
    return SUMMARIES[type(record)](record)


def looks_like_order(proposal: models.Proposal) -> bool:
    """Tell whether a proposal looks like an instruction to agents, which is always shown with a warning."""
    return any(map(is_suspicious, (proposal.text, proposal.reason, *(one.quote for one in proposal.evidence))))


BAR_EIGHTHS: tuple[str, ...] = ("", *"▏▎▍▌▋▊▉")


def draw_bar(tokens: int, limit: int, width: int) -> str:
    """Draw the used share of a token limit as a bar, to an eighth of a cell; at least an eighth if it is not zero."""
    eighths = max(int(tokens > 0), round(8 * width * tokens / limit))
    return "█" * (eighths // 8) + BAR_EIGHTHS[eighths % 8]


# Diffs and Markdown as coloured lines, by Pygments' lexers, which are imported when the first is rendered.

Styles = Sequence[tuple[str, str]]
"""Kinds of tokens, each with the style of all that it holds; the first that fits counts."""


def _color_text(language: str, text: str, styles: Styles, plain: str, **options: bool) -> list[StyledLine]:
    """Return the lines of a text with its tokens in their styles, as the lexer of a language finds them, the others
    `plain`."""
    # with a lexer 11 ms, which the start need not wait for
    from pygments.lexers import get_lexer_by_name

    lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False, **options)
    lines: list[StyledLine] = [[]]
    for token, value in lexer.get_tokens(text):
        kind = str(token).removeprefix("Token.")
        style = next((style for name, style in styles if f"{kind}.".startswith(f"{name}.")), plain)
        for index, part in enumerate(value.split("\n")):
            if index:
                lines.append([])
            if part:
                lines[-1].append((part, style))
    return lines if lines[-1] else lines[:-1]


_DIFF_STYLES = (
    ("Generic.Inserted", "added"),
    ("Generic.Deleted", "removed"),
    ("Generic.Heading", "hunk"),
    ("Generic.Subheading", "hunk"),
)
# maximum characters of a line: a minified file's would be megabytes wide
LONGEST_DIFF_LINE = 400


def color_diff(text: str) -> list[StyledLine]:
    """Return the lines of a unified diff, each as a single piece with its style."""
    return [
        [
            (part if len(part) <= LONGEST_DIFF_LINE else part[:LONGEST_DIFF_LINE] + "…", style)
            for part, style in line
        ]
        for line in _color_text("diff", text, _DIFF_STYLES, "plain")
    ]


_MARKDOWN_STYLES = (
    ("Generic.Heading", "heading"),
    ("Generic.Subheading", "heading"),
    ("Generic.Strong", "title"),
    ("Literal.String", "code"),
    ("Keyword", "accent"),
    ("Name", "accent"),
)
# maximum characters of a line to colour: a pattern may take quadratic time
LONGEST_COLORED = 1_000


def color_markdown(lines: list[str]) -> list[StyledLine]:
    """Return each line as its pieces. Text inside a fenced block is not parsed as Markdown."""
    if any(len(line) > LONGEST_COLORED for line in lines):
        return [[(line, "")] for line in lines]
    text = "".join(f"{line}\n" for line in lines)
    return _color_text("markdown", text, _MARKDOWN_STYLES, "", handlecodeblocks=False)[: len(lines)]
