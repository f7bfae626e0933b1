"""Render a record in full as lines of (text, style) pieces, for the app's preview and `memoranda show`.

Styles are names that the preview widget knows (`title`, `label`, `dim`, `cite`, `glyph-…`); the command line drops
them. Texts are raw: the caller escapes them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from store.base.citations import cite, parse_citation
from store.base.clock import format_age, format_how_long_ago, format_local_time
from store.base.errors import MemorandaError
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
)
from store.base.vocabulary import PERSON_ORIGIN
from store.conversations.summaries import Summaries
from store.database.values import clean_text
from store.doors.agent_log import AgentActivity, AgentCall, Injection
from store.evidence.evidence import BoundEvidence
from store.history.history import HISTORY_KINDS, change_sign, describe_change
from store.history.restore_plan import Plans
from store.memory import Memory
from store.records.facts import AGE_STATES, AGEING_DAYS
from store.search.lookup import PART_QUERIES, find_records, get_records, list_part_ids
from store.search.pipeline import searchable_text
from store.text.fence import is_suspicious
from tui.input.key_table import key_name
from tui.render.lines import (
    EVIDENCE_BADGES,
    FACT_BADGES,
    LABEL_WIDTH,
    ORDER_WARNING,
    StyledLine,
    compare_rows,
    event_words,
    fact_badge,
    format_count,
    format_when,
    heading_of_record,
    indent_text,
    label_row,
    said_by_row,
    state_word,
    summarize_record,
    writer_name,
)
from tui.render.proposals import describe_proposal, proposal_heading
from tui.render.syntax import color_markdown
from tui.theme.escape import visible

# Render agents' activity as lines of text.


def activity_lines(one: AgentActivity, now: str) -> list[str]:
    """Summarise an agent in a line, with a second line for its pending proposals."""
    state = "at work" if one.at_work else f"last seen {format_how_long_ago(now, one.last_at)}"
    model = f" ({one.model})" if one.model else ""
    did = f"{format_count(one.calls_today, 'call')} today, {one.tokens_today:,} tokens sent today"
    lines = [visible(f"{one.agent}{model}  {state}; {did}, {format_count(one.proposed, 'proposal')} made")]
    if one.waiting:
        lines.append(
            f"  {format_count(one.waiting, 'proposal')} of it wait{'s' if one.waiting == 1 else ''} in the inbox"
        )
    return lines


def agent_call_line(call: AgentCall, now: str) -> str:
    """Format one call: time, tool, duration, what it read and wrote."""
    parts = [f"{format_local_time(call.at)}  {call.name}  {call.milliseconds:.0f} ms"]
    if call.problem:
        parts.append(call.problem)
    if call.reads:
        parts.append(f"read {_some_citations(call.reads)}")
    if call.writes:
        parts.append(f"wrote {_some_citations(call.writes)}")
    return visible("  ".join(parts))


def injection_line(one: Injection, now: str) -> str:
    """Format one injected text: its number, time, purpose and contents."""
    used = f"; used {_some_citations(one.used)}" if one.used else ""
    return visible(
        f"{one.id:>5}  {format_local_time(one.at)}  {one.event}  {one.tokens:,} "
        f"tokens  {_some_citations(tuple(one.why))}{used}"
    )


def _some_citations(citations: tuple[str, ...]) -> str:
    """Return up to six citations, and how many more there are."""
    more = f" +{len(citations) - 6}" if len(citations) > 6 else ""
    return f"{' '.join(citations[:6])}{more}"


# Render a checkpoint's contents as lines, for resuming work; see `describe`.


def checkpoint_contents(memory: Memory, checkpoint: Checkpoint, now: str) -> list[StyledLine]:
    """Return the contents of a checkpoint: its subject, what recovering it costs, its tasks, decisions, turns and
    names."""
    found = memory.checkpoints.contents(checkpoint.id)
    about = " · ".join(filter(None, (found.summary if found.summary != checkpoint.title else "", found.changed)))
    cost = f"{checkpoint.tokens:,} token{'' if checkpoint.tokens == 1 else 's'}"
    lines: list[StyledLine] = [_contents_row("About", about)] if about else []
    lines.append(_contents_row("To recover", f"{cost}; {key_name('checkpoint.recover')} recovers it"))
    if at := checkpoint.recovered_at:
        lines.append(_contents_row("Recovered", format_when(at, now)))
    lines += _contents_section("To do", found.tasks, lambda one: f"{state_word(one['status'])}: {one['text']}")
    lines += _contents_section("Decided", found.decisions, lambda one: f"{one['title']}: {one['chosen']}")
    lines += _contents_section(
        "Said last", found.turns, lambda one: f"{one['speaker'] or one['role']}: {one['text']}"
    )
    if found.entities:
        lines += [[], _contents_row("Named", ", ".join(found.entities))]
    return lines


def _contents_section(
    heading: str, things: tuple[dict[str, Any], ...], text: Callable[[dict[str, Any]], str]
) -> list[StyledLine]:
    """Return a heading, and a line for each of these things; nothing if there are none."""
    lines: list[StyledLine] = [[], [(heading, "heading")]] if things else []
    for one in things:
        lines.append([("  ", ""), (one["citation"], "cite"), (f"  {' '.join(text(one).split())}", "cut")])
    return lines


def _contents_row(label: str, value: str) -> StyledLine:
    """Return a label with its value."""
    return [(label.ljust(LABEL_WIDTH), "label"), (value, "")]


# Render conversations in full: a turn with its neighbours, and a summary with the turns that it covers.


def turn_detail(memory: Memory, turn: Turn, now: str) -> list[StyledLine]:
    """Describe a turn, with the turns around it."""
    lines: list[StyledLine] = [
        heading_of_record("turn", turn, turn.speaker or turn.role),
        *indent_text(turn.text, "title"),
        [],
        label_row("Said", format_when(turn.at, now)),
        label_row("Session", f"{turn.session}, turn {turn.number}"),
        label_row("Tokens", f"{turn.tokens:,}"),
        *(
            [label_row("Continuity", f"{turn.continuity:.2f} to the turn before")]
            if turn.continuity is not None
            else []
        ),
        label_row("Recorded by", turn.origin),
    ]
    around = memory.turns.get_with_neighbours(turn.id)
    if len(around) > 1:
        lines += [[], [("What was said around it", "heading")]]
        for near in around:
            mark = "▸ " if near.id == turn.id else "  "
            first = near.text.partition("\n")[0]
            lines.append([(mark, "dim"), (near.citation, "cite"), (f"  {near.speaker or near.role}: {first}", "")])
    return lines


def summary_detail(memory: Memory, found: Summary, now: str) -> list[StyledLine]:
    """Describe a summary, with the turns that it covers."""
    active = any(one.id == found.id for one in Summaries(memory.database).active(found.session))
    lines: list[StyledLine] = [
        heading_of_record("summary", found, "active" if active else "archived"),
        *indent_text(found.title or "Small talk", "title"),
        [],
        *([label_row("Outcome", found.outcome)] if found.outcome else []),
        *([label_row("Discussed", ", ".join(found.discussed))] if found.discussed else []),
        *(label_row("Decided", one) for one in found.decisions),
        *(label_row("Open", one) for one in found.open_questions),
        label_row("Session", f"{found.session}, turns {found.first} to {found.last}"),
        label_row("Said", f"{format_when(found.created_at, now)}, {found.tokens} tokens"),
        [],
        [("What was said", "heading")],
    ]
    for turn in memory.turns.since(found.session, found.first - 1, found.last - found.first + 1):
        lines.append(
            [
                ("  ", ""),
                (turn.citation, "cite"),
                (f"  {turn.speaker or turn.role}: ", "dim"),
                (_first_line(turn.text), ""),
            ]
        )
    return lines


def _first_line(text: str) -> str:
    """Return the first line of a text."""
    return text.partition("\n")[0]


# Render lines of a document from the disk, numbered, with context lines; those of the index where the file has changed
# since. The preview colours them; `memoranda show` prints them.

CONTEXT_LINES = 4  # context lines before and after
LONGEST_SHOWN_LINE = 2_000  # maximum characters of a line
LONGEST_CONTEXT = 200  # maximum characters of a context line


def passage_lines(memory: Memory, chunk: Chunk, coloured: bool = False) -> list[StyledLine]:
    """Return the lines of a chunk, or of a part of a chunk, with the lines around it."""
    try:
        first = max(1, chunk.first - CONTEXT_LINES)
        found = memory.documents.read_lines(chunk.path, first, chunk.last + CONTEXT_LINES - first + 1)
    except MemorandaError as error:
        return [
            [(f"{error.message} This is what it said when it was read.", "warning")],
            *indexed_lines(chunk),
        ]
    lines = found.text.replace("\r\n", "\n").split("\n") if found.last else []
    cited = lines[chunk.first - first : chunk.last - first + 1]
    if not _is_unchanged(chunk, cited):
        return [[("The file changed since it was read. This is what it said.", "warning")], *indexed_lines(chunk)]
    if chunk.first == chunk.last:
        cited = [chunk.text]  # may be a part of a very long line
    before, after = lines[: chunk.first - first], lines[chunk.last - first + 1 :]
    return [
        *(
            _number_line(number, [(line[:LONGEST_CONTEXT], "dim")], chunk.last)
            for number, line in enumerate(before, first)
        ),
        *_cited_lines(chunk, cited, coloured),
        *(
            _number_line(number, [(line[:LONGEST_CONTEXT], "dim")], chunk.last)
            for number, line in enumerate(after, chunk.last + 1)
        ),
    ]


def indexed_lines(chunk: Chunk) -> list[StyledLine]:
    """Return the lines of a chunk as indexed."""
    return _cited_lines(chunk, chunk.text.replace("\r\n", "\n").split("\n"), False)


def _cited_lines(chunk: Chunk, lines: list[str], coloured: bool) -> list[StyledLine]:
    """Return the lines of a chunk, numbered, colored if wanted."""
    lines = [line if len(line) <= LONGEST_SHOWN_LINE else line[:LONGEST_SHOWN_LINE] + "…" for line in lines]
    pieces: list[StyledLine] = [[(line, "")] for line in lines]
    if coloured:
        pieces = color_markdown(lines)
    return [_number_line(number, line, chunk.last, True) for number, line in enumerate(pieces, chunk.first)]


def _is_unchanged(chunk: Chunk, lines: list[str]) -> bool:
    """Tell whether the lines on the disk still equal the indexed lines."""
    text = clean_text("\n".join(lines))
    return text == chunk.text or (chunk.first == chunk.last and bool(lines) and chunk.text in text)


def _number_line(number: int, line: StyledLine, last: int, cited: bool = False) -> StyledLine:
    """Put the number before a line, and a mark if the chunk contains it."""
    width = len(str(last + CONTEXT_LINES))
    return [(f"{'▸' if cited else ' '} {number:>{width}}  ", "label"), *line]


# Render the source of a fact as lines: its citations, with the sentence of a turn that contains it.

MOST_QUOTES = 4  # maximum quoted pieces of evidence; the rest is only cited
QUOTE_LENGTH = 200  # maximum characters of a quotation


def evidence_quotes(memory: Memory, fact: Fact, bound: Sequence[BoundEvidence]) -> list[StyledLine]:
    """Return the evidence of a fact besides what it is `bound` to. A turn that contains it is quoted; one that is
    deleted, or differs in its words, is cited."""
    quoted: list[tuple[str, str]] = []
    cited: list[str] = []
    apart = {str(one.item) for one in bound}
    for place, citation in enumerate(one for one in fact.evidence if one not in apart):
        words = _quoted_sentence(memory, citation, fact.fact) if place < MOST_QUOTES else ""
        if words:
            quoted.append((f"[{citation}]  ", f"“{words}”"))
        else:
            cited.append(f"[{citation}]")
    if cited:
        quoted.append((" ".join(cited), ""))
    labels = ["Evidence", *[""] * len(quoted)]
    return [
        [(label.ljust(LABEL_WIDTH), "label"), (where, ""), (words, "dim")]
        for label, (where, words) in zip(labels, quoted, strict=False)
    ]


def bound_evidence(bound: Sequence[BoundEvidence]) -> list[StyledLine]:
    """Return what a record is bound to, each with its state, where it is now, and when it was looked at."""
    lines: list[StyledLine] = []
    for place, one in enumerate(bound):
        glyph, word = EVIDENCE_BADGES[one.state]
        label = "" if place else "Rests on"
        now = f" → {visible(one.place)}" if one.place else ""
        lines.append(
            [
                (label.ljust(LABEL_WIDTH), "label"),
                (f"{glyph} {word}", f"evidence-{one.state or 'unseen'}"),
                (f"  {visible(one.item.typed_form)}{now}", ""),
            ]
        )
    return lines


def _quoted_sentence(memory: Memory, citation: str, fact: str) -> str:
    """Return the sentence of a turn that contains a fact verbatim; empty if there is none."""
    try:
        found = parse_citation(citation)
        if found.kind != "turn":
            return ""
        text = memory.turns.get(int(found.target)).text
    except MemorandaError:
        return ""
    return sentence_with(text, fact)


def sentence_with(text: str, fact: str) -> str:
    """Return the sentence of a text that contains a fact, ignoring case; empty if none does."""
    plain = " ".join(text.split())
    match = re.search(re.escape(fact), plain, re.IGNORECASE)
    if match is None:
        return ""
    start = max((end.end() for end in re.finditer(r"[.!?…]\s", plain[: match.start()])), default=0)
    end = re.compile(r"[.!?…](?=\s|$)").search(plain, match.end())
    sentence = plain[start : end.end() if end else len(plain)].strip()
    return sentence if len(sentence) <= QUOTE_LENGTH else sentence[: QUOTE_LENGTH - 1] + "…"


TITLE_LENGTH = 60  # most characters of the title of what is linked
MOST_STEPS = 12  # maximum steps of a record's history
CHAIN_LENGTH = 8
CHANGES_SHOWN = 40  # maximum records of a step, or changed since a checkpoint
MOST_BELONGING = 30  # maximum decisions, commits or tasks of an iteration
OPERATION_WORDS = {"INSERT": "came", "DELETE": "went", "UPDATE": "changed"}
MUTE_WORDS = {"INSERT": "not sent to agents", "DELETE": "sent to agents again", "UPDATE": "not sent to agents"}
FILES_ARE_OF_NOW = "Files are shown as they are now: what they said then is not kept."


def describe_record(memory: Memory, record: Record, coloured: bool = False) -> list[StyledLine]:
    """Return everything known of a record: its text, its sources, its links. With `coloured`, which callers pass only
    off the event loop, read a document from the disk and colour it."""
    lines = _describe_kind(memory, record, coloured)
    if not isinstance(record, Proposal) and is_suspicious(
        searchable_text(record)
    ):  # a proposal says it in its own words
        lines.insert(1, [(ORDER_WARNING, "warning")])
    return lines


def _describe_kind(memory: Memory, record: Record, coloured: bool) -> list[StyledLine]:
    """Return the lines of `describe`, without the warning."""
    now = memory.now
    if isinstance(record, Fact):
        return _describe_fact(memory, record, now)
    if isinstance(record, GlobalFact):
        return _describe_fact(memory.require_personal(), record.own, now, record, memory.globals.as_cited)
    if isinstance(record, Decision):
        return _describe_decision(memory, record, now)
    if isinstance(record, Commit):
        return _describe_commit(memory, record, now)
    if isinstance(record, Event):
        return _describe_event(record, now)
    if isinstance(record, Iteration):
        return _describe_iteration(memory, record, now)
    if isinstance(record, Task):
        return _describe_task(memory, record, now)
    if isinstance(record, Turn):
        return turn_detail(memory, record, now)
    if isinstance(record, Summary):
        return summary_detail(memory, record, now)
    if isinstance(record, Chunk):
        of_now: list[StyledLine] = [[(FILES_ARE_OF_NOW, "warning")]] if memory.database.moment else []
        return [
            *brief_lines(record),
            *of_now,
            [],
            *passage_lines(memory, record, coloured),
            [],
            *_document_rows(memory, record, now),
        ]
    if isinstance(record, Proposal):
        return describe_proposal(memory, record, now)
    return _describe_checkpoint(memory, record, now)


def plain_lines(lines: Iterable[StyledLine]) -> list[str]:
    """Return the lines without their styles."""
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def _text_section(label: str, text: str) -> list[StyledLine]:
    """Return a label with a text of several lines; nothing for an empty text."""
    if not text:
        return []
    first, *rest = text.replace("\r\n", "\n").split("\n")
    return [label_row(label, first), *([(" " * LABEL_WIDTH, ""), (line, "")] for line in rest)]


def _describe_fact(
    memory: Memory, fact: Fact, now: str, shown: GlobalFact | None = None, cited: Callable[[str], str] = str
) -> list[StyledLine]:
    """Describe a fact of `memory`; a global one as it is `shown` in a project, with the facts in a text `cited` as
    there."""
    badge = fact_badge(fact, now)
    glyph, word = FACT_BADGES[badge]
    bound = memory.evidence.list_bound("fact", fact.id) if fact.evidence else []
    lines: list[StyledLine] = [
        [
            *heading_of_record("global fact" if shown else "fact", shown or fact, fact.domain),
            (" · ", "dim"),
            (f"{glyph} {word}", f"glyph-{badge}"),
        ],
        *indent_text(fact.fact, "title"),
        [],
        _confirmed_row(fact, badge, now),
        *bound_evidence(bound),
        label_row("Learned", format_when(fact.created_at, now)),
        said_by_row(fact.origin, fact.source, f"confidence {fact.confidence}"),
    ]
    if shown is not None:
        lines.append(label_row("Scope", "global: kept in your personal memory, seen in every project"))
    elif moved := memory.moves.moved_to(fact.id):
        lines.append(label_row("Moved", f"to [{moved}], seen in every project"))
    elif fact.scope != "project":
        lines.append(
            label_row("Scope", f"{fact.scope} {fact.session}, and ends with it" if fact.session else fact.scope)
        )
    lines += _tag_rows(fact)
    if memory.mutes.filter_muted_facts([fact.id]):
        lines.append(label_row("Muted", "not sent to agents"))
    lines += evidence_quotes(memory, fact, bound)
    chain = memory.facts.chain(fact.id)
    if len(chain) > 1:
        lines += [[], [("What it said over time", "heading")]]
        for link in chain[-CHAIN_LENGTH:]:
            mark = "▸ " if link.id == fact.id else "  "
            lines.append(
                [
                    (mark, "dim"),
                    (cite("global" if shown else "fact", link.id), "cite"),
                    (f"  {link.fact}", ""),
                    (f"  {state_word(link.status)}", "dim"),
                ]
            )
    title = "History, in your personal memory" if shown else "History"
    return lines + _history_lines(memory, "fact", fact.id, now, title, cited)


def _tag_rows(record: Fact | Decision | Task) -> list[StyledLine]:
    """Return the row of a record's tags; nothing if it has none."""
    return [label_row("Tags", ", ".join(record.tags))] if record.tags else []


def _confirmed_row(fact: Fact, badge: str, now: str) -> StyledLine:
    """Return when a fact was confirmed, and if that is why it is aging, low or stale, from when on it is."""
    if badge not in ("aging", "low", "stale"):
        return label_row("Confirmed", format_when(fact.last_confirmed_at, now))
    limit = AGEING_DAYS[fact.confidence][AGE_STATES.index(badge) - 1]
    return label_row(
        f"Why {badge}", f"confirmed {format_when(fact.last_confirmed_at, now)}; {badge} after {limit} d"
    )


def _describe_decision(memory: Memory, decision: Decision, now: str) -> list[StyledLine]:
    """Describe a decision."""
    status = "" if decision.status == "active" else state_word(decision.status)
    lines: list[StyledLine] = [
        heading_of_record("decision", decision, decision.impact, decision.phase, status),
        [(decision.title, "title")],
        [(format_when(decision.decided_at, now), "dim")],
        [],
        *_text_section("Chosen", decision.chosen),
        *_text_section("Because", decision.rationale),
    ]
    for index, alternative in enumerate(decision.alternatives):
        lines.append(label_row("" if index else "Instead of", alternative))
    lines += _text_section("Context", decision.context)
    links = memory.commits.links_of_decision(decision.id)
    lines += _link_lines(memory, links, "commit") if links else [label_row("Commits", "none linked", "dim")]
    if decision.evidence:
        lines += bound_evidence(memory.evidence.list_bound("decision", decision.id))
    lines += _tag_rows(decision)
    lines.append(said_by_row(decision.origin))
    if decision.supersedes is not None:
        lines.append(label_row("Replaces", cite("decision", decision.supersedes), "cite"))
    successor = memory.decisions.successor(decision.id)
    if successor is not None:
        lines.append([("Replaced by".ljust(LABEL_WIDTH), "label"), (cite("decision", successor), "cite")])
    if decision.iteration_id is not None:
        lines.append(label_row("During", cite("iteration", decision.iteration_id), "cite"))
    return lines + _history_lines(memory, "decision", decision.id, now)


def _describe_commit(memory: Memory, commit: Commit, now: str) -> list[StyledLine]:
    """Describe a commit."""
    files = f"{commit.files_changed} file{'' if commit.files_changed == 1 else 's'}"
    lines: list[StyledLine] = [
        heading_of_record("commit", commit, commit.author),
        [(commit.subject, "title")],
        [(format_when(commit.committed_at, now), "dim")],
        [
            (f"{files}  ", "dim"),
            (f"+{commit.insertions}", "added"),
            ("  ", ""),
            (f"−{commit.deletions}", "removed"),
        ],
        *(indent_text(f"\n{commit.body}", "") if commit.body else []),
        [],
        [(commit.sha, "dim")],
    ]
    if commit.iteration_id is not None:
        lines.append(label_row("During", cite("iteration", commit.iteration_id), "cite"))
    if not commit.reachable:
        lines.append(label_row("Gone", "no branch leads to this commit any more; it is kept here", "dim"))
    return lines + _link_lines(memory, memory.commits.links_of_commit(commit.id), "decision")


def _link_lines(memory: Memory, links: list[Link], other: str) -> list[StyledLine]:
    """Return the other ends of a record's links, grouped by type, each with its title."""
    words = {
        "commit": {"implements": "Implemented", "reverts": "Reverted", "relates": "Related"},
        "decision": {"implements": "Implements", "reverts": "Reverts", "relates": "Relates to"},
    }[other]
    ends = [(link.link_type, link.commit if other == "commit" else link.decision) for link in links]
    titles = {
        one.citation: one.subject if isinstance(one, Commit) else one.title
        for one in find_records(memory.database, (parse_citation(end) for _, end in ends))
        if isinstance(one, Commit | Decision)
    }
    lines: list[StyledLine] = []
    for link_type, word in words.items():
        of_type = [end for kind, end in ends if kind == link_type]
        for number, end in enumerate(of_type, 1):  # the others may be below the edge
            title = (
                f"{f' {number}/{len(of_type)}' if len(of_type) > 1 else ''}  {titles.get(end, '')[:TITLE_LENGTH]}"
            )
            lines.append([(word.ljust(LABEL_WIDTH), "label"), (end, "cite"), (title.rstrip(), "dim")])
            word = ""
    return lines


def _describe_event(event: Event, now: str) -> list[StyledLine]:
    """Describe an event."""
    lines: list[StyledLine] = [
        heading_of_record("event", event, event.phase),
        [(event_words(event), "title")],
        [(format_when(event.created_at, now), "dim")],
        [],
        said_by_row(event.origin),
    ]
    if event.iteration_id is not None:
        lines.append(label_row("During", cite("iteration", event.iteration_id), "cite"))
    if event.payload is not None:
        text = json.dumps(event.payload, ensure_ascii=False, indent=2)
        lines += [[], *([(line, "")] for line in text.split("\n"))]
    return lines


def _describe_iteration(memory: Memory, iteration: Iteration, now: str) -> list[StyledLine]:
    """Describe an iteration, with the records that belong to it."""
    lines: list[StyledLine] = [
        heading_of_record("iteration", iteration, iteration.command, iteration.status),
        [(iteration.description or iteration.command, "title")],
        [],
        label_row("Started", format_when(iteration.started_at, now)),
    ]
    if iteration.completed_at:
        lines.append(label_row("Ended", format_when(iteration.completed_at, now)))
    for label, things in (("Phases", iteration.phases_completed), ("Artifacts", iteration.artifacts)):
        if things:
            lines.append(label_row(label, ", ".join(map(str, things))))
    for name in PART_QUERIES:
        lines += _belonging_lines(memory, name, iteration.id)
    return lines


def _belonging_lines(memory: Memory, name: str, iteration: int) -> list[StyledLine]:
    """Return the records of a kind that belong to an iteration, up to a limit."""
    ids = list_part_ids(memory.database, name, iteration)
    if not ids:
        return []
    lines: list[StyledLine] = [[], [(name.capitalize(), "heading")]]
    for record in get_records(memory.database, name.removesuffix("s"), ids[:MOST_BELONGING]):
        text, extra = summarize_record(record)
        beside = extra if isinstance(record, Task) else ""
        lines.append([("  ", ""), (record.citation, "cite"), (f"  {text}", ""), (f"  {beside}", "dim")])
    if len(ids) > MOST_BELONGING:
        lines.append([(f"  … and {len(ids) - MOST_BELONGING:,} more", "dim")])
    return lines


def _describe_task(memory: Memory, task: Task, now: str) -> list[StyledLine]:
    """Describe a task."""
    lines: list[StyledLine] = [
        heading_of_record("task", task, state_word(task.status)),
        *indent_text(task.text, "title"),
        [],
        label_row("Added", format_when(task.created_at, now)),
    ]
    if task.updated_at != task.created_at:
        lines.append(label_row("Changed", format_when(task.updated_at, now)))
    if task.iteration_id is not None:
        lines.append(label_row("During", cite("iteration", task.iteration_id), "cite"))
    lines += _tag_rows(task)
    lines.append(said_by_row(task.origin))
    return lines + _history_lines(memory, "task", task.id, now)


def brief_lines(record: Checkpoint | Chunk | Proposal) -> list[StyledLine]:
    """Return the first lines of a record whose full description takes longer than a frame."""
    if isinstance(record, Proposal):
        return proposal_heading(record)
    if isinstance(record, Checkpoint):
        return [
            heading_of_record("checkpoint", record, record.level if record.is_automatic else ""),
            [(record.title, "title")],
        ]
    return [heading_of_record("document", record), *([[(record.heading, "title")]] if record.heading else [])]


def _document_rows(memory: Memory, chunk: Chunk, now: str) -> list[StyledLine]:
    lines = [label_row("Of", format_when(chunk.at, now)), label_row("File", chunk.path)]
    if memory.database.moment:
        return lines
    return [*lines, [(f"{key_name('record.edit')} opens it there in your editor", "dim")]]


def _describe_checkpoint(memory: Memory, checkpoint: Checkpoint, now: str) -> list[StyledLine]:
    changes = Plans(memory.database).plan_since(checkpoint.seq).changes
    changed = len(changes)
    by_hand = checkpoint.trigger == "person" and checkpoint.origin == PERSON_ORIGIN
    who = "a person" if checkpoint.origin == PERSON_ORIGIN else checkpoint.origin
    lines: list[StyledLine] = [
        *brief_lines(checkpoint),
        [(format_when(checkpoint.created_at, now), "dim")],
        [],
        label_row("Taken", f"by {who}" if checkpoint.trigger == "person" else checkpoint.reason),
        # a person's own is of no session: what was said last is kept with it
        *([label_row("Last chat" if by_hand else "Session", checkpoint.session)] if checkpoint.session else []),
        label_row("At step", str(checkpoint.seq)),
        label_row(
            "Since then",
            f"{changed:,} record{'' if changed == 1 else 's'} changed" if changed else "nothing changed",
        ),
        *checkpoint_contents(memory, checkpoint, now),
    ]
    if changes:
        lines += [[], [("Changed since", "heading")]]
    for change in changes[:CHANGES_SHOWN]:
        sign = change_sign(change.then, change.now)
        looks = {"+": "added", "-": "removed", "~": "glyph-aging"}
        lines.append(
            [
                (f"  {sign} ".replace("-", "−"), looks[sign]),
                (change.citation, "cite" if change.kind != "link" else "dim"),
                (f"  {describe_change(change.then, change.now)}  ", "dim"),
                (change.title.partition("\n")[0], "cut"),
            ]
        )
    if changed > CHANGES_SHOWN:
        lines.append([(f"  … and {changed - CHANGES_SHOWN:,} more", "dim")])
    if memory.database.moment:
        return lines
    back = (
        f"{key_name('checkpoint.restore')}, or :restore {checkpoint.citation}, shows what going back would change"
    )
    return [*lines, [], [(back, "dim")]]


def _history_lines(
    memory: Memory, kind: str, number: int, now: str, title: str = "History", cited: Callable[[str], str] = str
) -> list[StyledLine]:
    """Return the steps of history that changed a record, newest first."""
    steps = memory.history.steps(record=(kind, number), limit=MOST_STEPS)
    lines: list[StyledLine] = [[], [(title, "heading")]] if steps else []
    for step in steps:
        back = ", undone" if step.undone_by else ""
        line: StyledLine = [
            (f"{format_age(now, step.at):>6}  ", "dim"),
            (f"{cited(step.reason):<16}", "dim" if step.undone_by else ""),
        ]
        lines.append([*line, (f"  {writer_name(step.actor)}, {step.door}{back}", "dim")])
    return lines


def describe_step(memory: Memory, step: Step) -> list[StyledLine]:
    """Return a step of history: author, time, door, reason, and every record before and after."""
    now = memory.now
    lines: list[StyledLine] = [
        [(f"step {step.seq}", "own"), (f"  {writer_name(step.actor)}, {step.door}", "dim")],
        [(step.reason, "title")],
        [(format_when(step.at, now), "dim")],
    ]
    if step.undoes is not None:
        lines.append(label_row("Undoes", f"step {step.undoes}"))
    if step.undone_by is not None:
        lines.append(label_row("Undone", _undone_words(memory, step), "dim"))
    elif not memory.database.moment:
        rest = "" if step.actor == PERSON_ORIGIN else f", or all that {step.actor} wrote"
        lines += [[], [(f"{key_name('step.undo')} undoes this step, or those marked{rest}", "dim")]]
    changes = memory.history.changes(step.seq, limit=CHANGES_SHOWN)
    for change in changes:
        lines += [[], *_change_lines(change)]
    if step.changes > len(changes):
        lines += [[], [(f"… and {step.changes - len(changes):,} more records", "dim")]]
    return lines


def _undone_words(memory: Memory, step: Step) -> str:
    """Return which step undid a step, and whether completely."""
    by = memory.history.get(step.undone_by or 0)
    if by.undoes == step.seq and by.changes < step.changes:
        return f"by step {by.seq}: {by.changes} of {step.changes} records"
    return f"by step {by.seq}"


def _change_lines(change: Change) -> list[StyledLine]:
    """Return a record's change: its citation, the operation, and the columns before and after."""
    muting = change.table == "mutes"
    kind = "fact" if muting else HISTORY_KINDS.get(change.table)
    cited = cite(kind, change.key[0]) if kind else "link"
    word = (MUTE_WORDS if muting else OPERATION_WORDS)[change.op]
    states = [] if muting else compare_rows(change.before, change.after)
    return [[(cited, "cite"), (f"  {word}", "heading")], *states]
