"""Render a record in full as lines of (text, style) pieces, for the app's preview and `memoranda show`.

Styles are names that the preview widget knows (`title`, `label`, `dim`, `cite`, `glyph-…`); the command line drops
them. Texts are raw: the caller escapes them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from typing import Any

from store.base import models
from store.base.citations import cite, parse_citation
from store.base.clock import format_age, format_how_long_ago, format_local_time
from store.base.errors import MemorandaError
from store.base.vocabulary import PERSON_ORIGIN
from store.conversations.summaries import Summaries
from store.database.values import clean_text
from store.doors.agent_log import AgentActivity, AgentCall, Injection
from store.evidence.evidence import BoundEvidence
from store.history.history import HISTORY_KINDS, change_sign, describe_change
from store.history.restore_plan import Plans
from store.inbox.inbox import Doubt
from store.memory import Memory
from store.records.facts import AGE_STATES, AGEING_DAYS
from store.records.workflow import proposal_fact_ids
from store.search.lookup import PART_QUERIES, find_records, get_records, list_part_ids
from store.search.pipeline import searchable_text
from store.text.display import agree_verb, format_count, visible
from store.text.fence import is_suspicious
from tui.input.key_table import key_name
from tui.render.lines import (
    EVIDENCE_BADGES,
    FACT_BADGES,
    LABEL_WIDTH,
    ORDER_WARNING,
    WARNING_SIGN,
    StyledLine,
    color_markdown,
    compare_rows,
    event_words,
    fact_badge,
    format_when,
    heading_of_record,
    indent_text,
    label_row,
    looks_like_order,
    said_by_row,
    state_word,
    summarize_record,
    writer_name,
)
from tui.render.proposals import (
    LIKENESS_WORDS,
    SIMILAR_FACTS,
    decisions_beside,
    facts_beside,
)

# Render agents' activity as lines of text.


def activity_lines(one: AgentActivity, now: str) -> list[str]:
    """Summarise an agent in a line, with a second line for its pending proposals."""
    state = "at work" if one.at_work else f"last seen {format_how_long_ago(now, one.last_at)}"
    model = f" ({one.model})" if one.model else ""
    did = f"{format_count(one.calls_today, 'call')} today, {one.tokens_today:,} tokens sent today"
    lines = [visible(f"{one.agent}{model}  {state}; {did}, {format_count(one.proposed, 'proposal')} made")]
    if one.waiting:
        waits = agree_verb(one.waiting, "wait in the inbox")
        lines.append(f"  {format_count(one.waiting, 'proposal')} of it {waits}")
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


# The parts of a description: rows, sections and lists of what is cited.


def _label_rows(*rows: tuple[str, str]) -> list[StyledLine]:
    """Return the labels with their values, without those that have none."""
    return [label_row(label, value) for label, value in rows if value]


def _text_section(label: str, text: str) -> list[StyledLine]:
    """Return a label with a text of several lines; nothing for an empty text."""
    if not text:
        return []
    first, *rest = text.replace("\r\n", "\n").split("\n")
    return [label_row(label, first), *([(" " * LABEL_WIDTH, ""), (line, "")] for line in rest)]


def _label_first(label: str, lines: Iterable[StyledLine]) -> list[StyledLine]:
    """Return lines beside a label, which only the first of them has."""
    return [[(("" if place else label).ljust(LABEL_WIDTH), "label"), *line] for place, line in enumerate(lines)]


def _section(heading: str, lines: Sequence[StyledLine]) -> list[StyledLine]:
    """Return lines below a heading; nothing if there are none."""
    return [[], [(heading, "heading")], *lines] if lines else []


def _cited_line(citation: str, *pieces: tuple[str, str], here: bool = False) -> StyledLine:
    """Return a line of a section that begins with a citation, with a mark if it is the record that is shown."""
    return [("▸ " if here else "  ", "dim"), (citation, "cite"), *pieces]


def _more_lines(number: int) -> list[StyledLine]:
    """Return the last line of a section that leaves so many out; nothing if it leaves none out."""
    return [[(f"  … and {number:,} more", "dim")]] if number > 0 else []


def _during_row(record: models.Decision | models.Commit | models.Event | models.Task) -> list[StyledLine]:
    """Return the iteration that a record belongs to; nothing if it belongs to none."""
    number = record.iteration_id
    return [] if number is None else [label_row("During", cite("iteration", number), "cite")]


def _first_line(text: str) -> str:
    """Return the first line of a text."""
    return text.partition("\n")[0]


# Render lines of a document from the disk, numbered, with context lines; those of the index where the file has changed
# since. The preview colours them; `memoranda show` prints them.

# context lines before and after
CONTEXT_LINES = 4
# maximum characters of a line
LONGEST_SHOWN_LINE = 2_000
# maximum characters of a context line
LONGEST_CONTEXT = 200


def passage_lines(memory: Memory, chunk: models.Chunk, coloured: bool = False) -> list[StyledLine]:
    """Return the lines of a chunk, or of a part of a chunk, with the lines around it."""
    try:
        first = max(1, chunk.first - CONTEXT_LINES)
        found = memory.documents.read_lines(chunk.path, first, chunk.last + CONTEXT_LINES - first + 1)
    except MemorandaError as error:
        note = f"{error.message} This is what it said when it was read."
        return [[(note, "warning")], *indexed_lines(chunk)]
    lines = found.text.replace("\r\n", "\n").split("\n") if found.last else []
    cited = lines[chunk.first - first : chunk.last - first + 1]
    if not _is_unchanged(chunk, cited):
        return [[("The file changed since it was read. This is what it said.", "warning")], *indexed_lines(chunk)]
    if chunk.first == chunk.last:
        # may be a part of a very long line
        cited = [chunk.text]
    around = [
        _number_line(number, [(line[:LONGEST_CONTEXT], "dim")], chunk.last)
        for number, line in enumerate(lines, first)
    ]
    below = around[chunk.last - first + 1 :]
    return [*around[: chunk.first - first], *_cited_lines(chunk, cited, coloured), *below]


def indexed_lines(chunk: models.Chunk) -> list[StyledLine]:
    """Return the lines of a chunk as indexed."""
    return _cited_lines(chunk, chunk.text.replace("\r\n", "\n").split("\n"), False)


def _cited_lines(chunk: models.Chunk, lines: list[str], coloured: bool) -> list[StyledLine]:
    """Return the lines of a chunk, numbered, colored if wanted."""
    lines = [line if len(line) <= LONGEST_SHOWN_LINE else line[:LONGEST_SHOWN_LINE] + "…" for line in lines]
    pieces: list[StyledLine] = color_markdown(lines) if coloured else [[(line, "")] for line in lines]
    return [_number_line(number, line, chunk.last, True) for number, line in enumerate(pieces, chunk.first)]


def _is_unchanged(chunk: models.Chunk, lines: list[str]) -> bool:
    """Tell whether the lines on the disk still equal the indexed lines."""
    text = clean_text("\n".join(lines))
    return text == chunk.text or (chunk.first == chunk.last and bool(lines) and chunk.text in text)


def _number_line(number: int, line: StyledLine, last: int, cited: bool = False) -> StyledLine:
    """Put the number before a line, and a mark if the chunk contains it."""
    width = len(str(last + CONTEXT_LINES))
    return [(f"{'▸' if cited else ' '} {number:>{width}}  ", "label"), *line]


# Render the source of a fact as lines: its citations, with the sentence of a turn that contains it.

# maximum quoted pieces of evidence; the rest is only cited
MOST_QUOTES = 4
# maximum characters of a quotation
QUOTE_LENGTH = 200


def _quote_evidence(memory: Memory, fact: models.Fact, bound: Sequence[BoundEvidence]) -> list[StyledLine]:
    """Return the evidence of a fact besides what it is `bound` to. A turn that contains it is quoted; one that is
    deleted, or differs in its words, is cited."""
    lines: list[StyledLine] = []
    cited: list[str] = []
    apart = {str(one.item) for one in bound}
    for place, citation in enumerate(one for one in fact.evidence if one not in apart):
        words = _quoted_sentence(memory, citation, fact.fact) if place < MOST_QUOTES else ""
        if words:
            lines.append([(f"[{citation}]  ", ""), (f"“{words}”", "dim")])
        else:
            cited.append(f"[{citation}]")
    if cited:
        lines.append([(" ".join(cited), "")])
    return _label_first("Evidence", lines)


def _bound_lines(bound: Sequence[BoundEvidence]) -> list[StyledLine]:
    """Return what a record is bound to, each with its state, where it is now, and when it was looked at."""
    lines: list[StyledLine] = []
    for one in bound:
        glyph, word = EVIDENCE_BADGES[one.state]
        now = f" → {visible(one.place)}" if one.place else ""
        state = (f"{glyph} {word}", f"evidence-{one.state or 'unseen'}")
        lines.append([state, (f"  {visible(one.item.typed_form)}{now}", "")])
    return _label_first("Rests on", lines)


def _quoted_sentence(memory: Memory, citation: str, fact: str) -> str:
    """Return the sentence of a turn that contains a fact verbatim; empty if there is none."""
    try:
        found = parse_citation(citation)
        text = memory.turns.get(int(found.target)).text if found.kind == "turn" else ""
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


# most characters of the title of what is linked
TITLE_LENGTH = 60
# maximum steps of a record's history
MOST_STEPS = 12
CHAIN_LENGTH = 8
# maximum records of a step, or changed since a checkpoint
CHANGES_SHOWN = 40
# maximum decisions, commits or tasks of an iteration
MOST_BELONGING = 30
OPERATION_WORDS = {"INSERT": "came", "DELETE": "went", "UPDATE": "changed"}
MUTE_WORDS = {"INSERT": "not sent to agents", "DELETE": "sent to agents again", "UPDATE": "not sent to agents"}
CHANGE_LOOKS = {"+": "added", "-": "removed", "~": "glyph-aging"}
# by what is at the other end
LINK_WORDS = {
    "commit": {"implements": "Implemented", "reverts": "Reverted", "relates": "Related"},
    "decision": {"implements": "Implements", "reverts": "Reverts", "relates": "Relates to"},
}


def describe_record(memory: Memory, record: models.Record, coloured: bool = False) -> list[StyledLine]:
    """Return everything known of a record: its text, its sources, its links. With `coloured`, which callers pass only
    off the event loop, read a document from the disk and colour it."""
    if isinstance(record, models.Chunk):
        lines = _describe_chunk(memory, record, coloured)
    else:
        lines = DESCRIBERS[type(record)](memory, record, memory.now)
    if not isinstance(record, models.Proposal) and is_suspicious(searchable_text(record)):
        # a proposal says it in its own words
        lines.insert(1, [(ORDER_WARNING, "warning")])
    return lines


def plain_lines(lines: Iterable[StyledLine]) -> list[str]:
    """Return the lines without their styles."""
    return ["".join(text for text, _ in line).rstrip() for line in lines]


def _describe_fact(
    memory: Memory,
    fact: models.Fact,
    now: str,
    shown: models.GlobalFact | None = None,
    cited: Callable[[str], str] = str,
) -> list[StyledLine]:
    """Describe a fact of `memory`; a global one as it is `shown` in a project, with the facts in a text `cited` as
    there."""
    badge = fact_badge(fact, now)
    glyph, word = FACT_BADGES[badge]
    bound = memory.evidence.list_bound("fact", fact.id) if fact.evidence else []
    label, scope = "Scope", f"{fact.scope} {fact.session}, and ends with it" if fact.session else fact.scope
    if shown is not None:
        scope = "global: kept in your personal memory, seen in every project"
    elif moved := memory.moves.moved_to(fact.id):
        label, scope = "Moved", f"to [{moved}], seen in every project"
    chain = [
        _cited_line(
            cite("global" if shown else "fact", one.id),
            (f"  {one.fact}", ""),
            (f"  {state_word(one.status)}, from {format_local_time(one.created_at)[:-6]}", "dim"),
            here=one.id == fact.id,
        )
        for one in memory.facts.chain(fact.id)
    ]
    return [
        [
            *heading_of_record("global fact" if shown else "fact", shown or fact, fact.domain),
            (" · ", "dim"),
            (f"{glyph} {word}", f"glyph-{badge}"),
        ],
        *indent_text(fact.fact, "title"),
        *(_section("What it said over time", chain[-CHAIN_LENGTH:]) if len(chain) > 1 else []),
        [],
        _confirmed_row(fact, badge, now),
        *_bound_lines(bound),
        label_row("Learned", format_when(fact.created_at, now)),
        said_by_row(fact.origin, fact.source, f"confidence {fact.confidence}"),
        *_label_rows(
            (label, scope if scope != "project" else ""),
            ("Tags", ", ".join(fact.tags)),
            ("Muted", "not sent to agents" if memory.mutes.filter_muted_facts([fact.id]) else ""),
        ),
        *_quote_evidence(memory, fact, bound),
        *_history_lines(
            memory, "fact", fact.id, now, "History, in your personal memory" if shown else "History", cited
        ),
    ]


def _describe_global(memory: Memory, shown: models.GlobalFact, now: str) -> list[StyledLine]:
    return _describe_fact(memory.require_personal(), shown.own, now, shown, memory.globals.as_cited)


def _confirmed_row(fact: models.Fact, badge: str, now: str) -> StyledLine:
    """Return when a fact was confirmed, and if that is why it is aging, low or stale, from when on it is."""
    when = format_when(fact.last_confirmed_at, now)
    if badge not in ("aging", "low", "stale"):
        return label_row("Confirmed", when)
    limit = AGEING_DAYS[fact.confidence][AGE_STATES.index(badge) - 1]
    return label_row(f"Why {badge}", f"confirmed {when}; {badge} after {limit} d")


def _describe_decision(memory: Memory, decision: models.Decision, now: str) -> list[StyledLine]:
    status = "" if decision.status == "active" else state_word(decision.status)
    links = memory.commits.links_of_decision(decision.id)
    bound = memory.evidence.list_bound("decision", decision.id) if decision.evidence else []
    replaced = (("Replaces", decision.supersedes), ("Replaced by", memory.decisions.successor(decision.id)))
    return [
        heading_of_record("decision", decision, decision.impact, decision.phase, status),
        [(decision.title, "title")],
        [(format_when(decision.decided_at, now), "dim")],
        [],
        *_text_section("Chosen", decision.chosen),
        *_text_section("Because", decision.rationale),
        *_label_first("Instead of", ([(one, "")] for one in decision.alternatives)),
        *_text_section("Context", decision.context),
        *(_link_lines(memory, links, "commit") if links else [label_row("Commits", "none linked", "dim")]),
        *_bound_lines(bound),
        *_label_rows(("Tags", ", ".join(decision.tags))),
        said_by_row(decision.origin),
        *(label_row(label, cite("decision", other), "cite") for label, other in replaced if other is not None),
        *_during_row(decision),
        *_history_lines(memory, "decision", decision.id, now),
    ]


def _describe_commit(memory: Memory, commit: models.Commit, now: str) -> list[StyledLine]:
    gone = "no branch leads to this commit any more; it is kept here"
    return [
        heading_of_record("commit", commit, commit.author),
        [(commit.subject, "title")],
        [(format_when(commit.committed_at, now), "dim")],
        [
            (f"{commit.files_changed} file{'' if commit.files_changed == 1 else 's'}  ", "dim"),
            (f"+{commit.insertions}", "added"),
            ("  ", ""),
            (f"−{commit.deletions}", "removed"),
        ],
        *(indent_text(f"\n{commit.body}", "") if commit.body else []),
        [],
        [(commit.sha, "dim")],
        *_during_row(commit),
        *([] if commit.reachable else [label_row("Gone", gone, "dim")]),
        *_link_lines(memory, memory.commits.links_of_commit(commit.id), "decision"),
    ]


def _link_lines(memory: Memory, links: list[models.Link], other: str) -> list[StyledLine]:
    """Return the other ends of a record's links, grouped by type, each with its title."""
    ends = [(link.link_type, link.commit if other == "commit" else link.decision) for link in links]
    found = find_records(memory.database, (parse_citation(end) for _, end in ends))
    titles = {one.citation: summarize_record(one)[0] for one in found}
    lines: list[StyledLine] = []
    for link_type, word in LINK_WORDS[other].items():
        of_type = [end for kind, end in ends if kind == link_type]
        named: list[StyledLine] = []
        for number, end in enumerate(of_type, 1):
            # the others may be below the edge
            place = f" {number}/{len(of_type)}" if len(of_type) > 1 else ""
            named.append([(end, "cite"), (f"{place}  {titles.get(end, '')[:TITLE_LENGTH]}".rstrip(), "dim")])
        lines += _label_first(word, named)
    return lines


def _describe_event(memory: Memory, event: models.Event, now: str) -> list[StyledLine]:
    payload = "" if event.payload is None else "\n" + json.dumps(event.payload, ensure_ascii=False, indent=2)
    return [
        heading_of_record("event", event, event.phase),
        [(event_words(event), "title")],
        [(format_when(event.created_at, now), "dim")],
        [],
        said_by_row(event.origin),
        *_during_row(event),
        *([(line, "")] for line in payload.split("\n") if payload),
    ]


def _describe_iteration(memory: Memory, iteration: models.Iteration, now: str) -> list[StyledLine]:
    """Describe an iteration, with the records that belong to it."""
    ended = format_when(iteration.completed_at, now) if iteration.completed_at else ""
    lines: list[StyledLine] = [
        heading_of_record("iteration", iteration, iteration.command, iteration.status),
        [(iteration.description or iteration.command, "title")],
        [],
        *_label_rows(
            ("Started", format_when(iteration.started_at, now)),
            ("Ended", ended),
            ("Phases", ", ".join(map(str, iteration.phases_completed))),
            ("Artifacts", ", ".join(map(str, iteration.artifacts))),
        ),
    ]
    for name in PART_QUERIES:
        lines += _belonging_lines(memory, name, iteration.id)
    return lines


def _belonging_lines(memory: Memory, name: str, iteration: int) -> list[StyledLine]:
    """Return the records of a kind that belong to an iteration, up to a limit."""
    ids = list_part_ids(memory.database, name, iteration)
    lines: list[StyledLine] = []
    for record in get_records(memory.database, name.removesuffix("s"), ids[:MOST_BELONGING]):
        text, extra = summarize_record(record)
        beside = [(f"  {extra}", "dim")] if isinstance(record, models.Task) else []
        lines.append(_cited_line(record.citation, (f"  {text}", ""), *beside))
    return _section(name.capitalize(), [*lines, *_more_lines(len(ids) - MOST_BELONGING)])


def _describe_task(memory: Memory, task: models.Task, now: str) -> list[StyledLine]:
    changed = format_when(task.updated_at, now) if task.updated_at != task.created_at else ""
    return [
        heading_of_record("task", task, state_word(task.status)),
        *indent_text(task.text, "title"),
        [],
        *_label_rows(("Added", format_when(task.created_at, now)), ("Changed", changed)),
        *_during_row(task),
        *_label_rows(("Tags", ", ".join(task.tags))),
        said_by_row(task.origin),
        *_history_lines(memory, "task", task.id, now),
    ]


def _describe_turn(memory: Memory, turn: models.Turn, now: str) -> list[StyledLine]:
    """Describe a turn, with the turns around it."""
    nearness = "" if turn.continuity is None else f"{turn.continuity:.2f} to the turn before"
    around = [
        _cited_line(
            one.citation, (f"  {one.speaker or one.role}: {_first_line(one.text)}", ""), here=one.id == turn.id
        )
        for one in memory.turns.get_with_neighbours(turn.id)
    ]
    return [
        heading_of_record("turn", turn, turn.speaker or turn.role),
        *indent_text(turn.text, "title"),
        [],
        label_row("Said", format_when(turn.at, now)),
        label_row("Session", f"{turn.session}, turn {turn.number}"),
        label_row("Tokens", f"{turn.tokens:,}"),
        *_label_rows(("Continuity", nearness), ("Recorded by", turn.origin)),
        *(_section("What was said around it", around) if len(around) > 1 else []),
    ]


def _describe_summary(memory: Memory, found: models.Summary, now: str) -> list[StyledLine]:
    """Describe a summary, with the turns that it covers."""
    active = any(one.id == found.id for one in Summaries(memory.database).active(found.session))
    turns = memory.turns.since(found.session, found.first - 1, found.last - found.first + 1)
    return [
        heading_of_record("summary", found, "active" if active else "archived"),
        *indent_text(found.title or "Small talk", "title"),
        [],
        *_label_rows(
            ("Outcome", found.outcome),
            ("Discussed", ", ".join(found.discussed)),
            *(("Decided", one) for one in found.decisions),
            *(("Open", one) for one in found.open_questions),
            ("Session", f"{found.session}, turns {found.first} to {found.last}"),
            ("Said", f"{format_when(found.created_at, now)}, {found.tokens} tokens"),
        ),
        [],
        [("What was said", "heading")],
        *(
            _cited_line(one.citation, (f"  {one.speaker or one.role}: ", "dim"), (_first_line(one.text), ""))
            for one in turns
        ),
    ]


# Describe a proposal: the request, its author and reason, its evidence, and the related facts.

INJECTION_WARNING = f"{ORDER_WARNING}: accept it only if you would write it yourself"
# effect of accepting, by kind; keys appear as remapped by the user
ACCEPT_EFFECTS = {
    "add": "remember it",
    "correct": "replace",
    "supersede": "replace",
    "conflict": "use the file's text instead of",
    "confirm": "confirm: still true",
    "merge": "merge",
    "forget": "forget",
}


def _proposal_heading(proposal: models.Proposal) -> list[StyledLine]:
    """Return the first lines of a proposal, which need no query."""
    state = "" if proposal.state == "waiting" else proposal.state
    head = heading_of_record(proposal.kind, proposal, f"from {writer_name(proposal.origin)}", state)
    warning: list[StyledLine] = [[(INJECTION_WARNING, "warning")]] if looks_like_order(proposal) else []
    return [head, *indent_text(proposal.text, "title"), *warning]


def _describe_proposal(memory: Memory, proposal: models.Proposal, now: str) -> list[StyledLine]:
    """Describe a proposal with everything that is needed to decide it."""
    cited = " ".join(fact.citation for fact in memory.facts.get_many(proposal_fact_ids(proposal)))
    decision = proposal.change.get("decision")
    act = ACCEPT_EFFECTS[proposal.kind]
    if decision:
        act = "record the decision"
        if old := [one.citation for one in proposal.evidence if one.citation.startswith("D#")]:
            act, cited = f"{act}, in the place of", old[0]
    does = [*label_row("Accepting", f"would {act}"), (f" {cited}" if cited else "", "cite")]
    rows = [("Because", proposal.reason)]
    if decision:
        rows = [
            ("Chosen", decision["chosen"]),
            ("Instead of", "; ".join(map(str, decision.get("alternatives") or ()))),
            ("Rationale", decision.get("rationale")),
            ("Context", decision.get("context")),
            *rows,
        ]
    lines = [*_proposal_heading(proposal), [], does, *(_one_line_row(*row) for row in rows if row[1])]
    waiting = proposal.state == "waiting" and not memory.database.moment
    if waiting:
        lines += _similar_lines(memory, proposal, now)
    lines += _evidence_lines(proposal, memory.inbox.doubts(proposal) if waiting else [])
    fields = [str(proposal.change[name]) for name in ("domain", "confidence", "scope") if name in proposal.change]
    fields += [f"#{tag}" for tag in proposal.change.get("tags", ())]
    lines.append([])
    if fields:
        lines.append(_one_line_row("As", ", ".join(fields)))
    lines.append(label_row("Asked", format_when(proposal.created_at, now), "dim"))
    if proposal.decided_at:
        came = f", and {cite('fact', proposal.made)} came of it" if proposal.made else ""
        lines.append(label_row(proposal.state.capitalize(), f"{format_local_time(proposal.decided_at)}{came}"))
    return lines


def _evidence_lines(proposal: models.Proposal, found: Iterable[Doubt]) -> list[StyledLine]:
    """Return the evidence of a proposal, and what is doubtful about it."""
    quotes = [(one.citation, " ".join(one.quote.split())) for one in proposal.evidence]
    lines = _section(
        "Evidence", [[(cited, "cite"), (f"  «{quote}»" if quote else "", "")] for cited, quote in quotes]
    )
    for doubt in found:
        lines += [[], [(f"{WARNING_SIGN} {doubt.says}", "warning")]]
        for label, said, look in (("  then  ", doubt.then, "removed"), ("  now   ", doubt.now, "added")):
            lines += [[(label, "label"), (" ".join(said.split())[:400], look)]] if said else []
    return lines if quotes else [*lines, [], [("No evidence was given.", "dim")]]


def _similar_lines(memory: Memory, proposal: models.Proposal, now: str) -> list[StyledLine]:
    """Return the facts that a proposal is about, and the similar facts, each with the differences; then decisions."""
    lines: list[StyledLine] = []
    for fact, how in facts_beside(memory, proposal):
        badge = fact_badge(fact, now)
        glyph, word = FACT_BADGES[badge]
        by = f" {format_how_long_ago(now, fact.last_confirmed_at)}, from {writer_name(fact.origin)}"
        state: StyledLine = [(f"  {glyph} {word}", f"glyph-{badge}"), (by, "dim")]
        lines += [[], [(fact.citation, "cite"), *state, *_likeness(how)]]
        same: list[StyledLine] = [[("  = ", "label"), (fact.fact, "")]]
        lines += same if fact.fact == proposal.text else word_diff(fact.fact, proposal.text)
    for one in decisions_beside(memory, proposal)[:SIMILAR_FACTS]:
        decision = one.decision
        decided = (f"  decided {format_how_long_ago(now, decision.decided_at)}", "dim")
        lines += [[], [(decision.citation, "cite"), decided, *_likeness(one.how)]]
        lines += [[("  ◆ ", "label"), (decision.title, "")]]
        lines += [[("    chosen ", "label"), (" ".join(decision.chosen.split()), "")]]
    if not lines and proposal.kind == "add":
        lines = [[], [("Nothing like it is known.", "dim")]]
    return lines


def _likeness(how: str) -> StyledLine:
    """Return how a record is like a proposal; nothing where it is what the proposal is about."""
    if how == "contradicts":
        return [(f"  {WARNING_SIGN} {LIKENESS_WORDS[how]}", "warning")]
    return [(f"  {LIKENESS_WORDS[how]}", "accent")] if how else []


def word_diff(old: str, new: str) -> list[StyledLine]:
    """Return two texts, one below the other, with the differing words highlighted."""
    before, after = old.split(), new.split()
    first: StyledLine = [("  − ", "label")]
    second: StyledLine = [("  + ", "label")]
    for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        same = tag == "equal"
        if before[i:j]:
            first.append((" ".join(before[i:j]) + " ", "dim" if same else "removed"))
        if after[k:m]:
            second.append((" ".join(after[k:m]) + " ", "dim" if same else "added"))
    return [first, second]


def _one_line_row(label: str, value: object) -> StyledLine:
    """Return a label with its value in a single line."""
    return label_row(label, " ".join(str(value).split()))


def brief_lines(record: models.Checkpoint | models.Chunk | models.Proposal) -> list[StyledLine]:
    """Return the first lines of a record whose full description takes longer than a frame."""
    if isinstance(record, models.Proposal):
        return _proposal_heading(record)
    if isinstance(record, models.Chunk):
        return [heading_of_record("document", record), *([[(record.heading, "title")]] if record.heading else [])]
    level = record.level if record.is_automatic else ""
    return [heading_of_record("checkpoint", record, level), [(record.title, "title")]]


def _describe_chunk(memory: Memory, chunk: models.Chunk, coloured: bool) -> list[StyledLine]:
    then = "Files are shown as they are now: what they said then is not kept."
    edit = f"{key_name('record.edit')} opens it there in your editor"
    return [
        *brief_lines(chunk),
        *([[(then, "warning")]] if memory.database.moment else []),
        [],
        *passage_lines(memory, chunk, coloured),
        [],
        label_row("Of", format_when(chunk.at, memory.now)),
        label_row("File", chunk.path),
        *([] if memory.database.moment else [[(edit, "dim")]]),
    ]


def _describe_checkpoint(memory: Memory, checkpoint: models.Checkpoint, now: str) -> list[StyledLine]:
    """Describe a checkpoint, with its contents and what changed since."""
    changes = Plans(memory.database).plan_since(checkpoint.seq).changes
    by_hand = checkpoint.trigger == "person" and checkpoint.origin == PERSON_ORIGIN
    who = "a person" if checkpoint.origin == PERSON_ORIGIN else checkpoint.origin
    changed: list[StyledLine] = []
    for change in changes[:CHANGES_SHOWN]:
        sign = change_sign(change.then, change.now)
        changed.append(
            [
                (f"  {sign} ".replace("-", "−"), CHANGE_LOOKS[sign]),
                (change.citation, "cite" if change.kind != "link" else "dim"),
                (f"  {describe_change(change.then, change.now)}  ", "dim"),
                (_first_line(change.title), "cut"),
            ]
        )
    back = (
        f"{key_name('checkpoint.restore')}, or :restore {checkpoint.citation}, shows what going back would change"
    )
    return [
        *brief_lines(checkpoint),
        [(format_when(checkpoint.created_at, now), "dim")],
        [],
        *_label_rows(
            ("Taken", f"by {who}" if checkpoint.trigger == "person" else checkpoint.reason),
            # a person's own is of no session: what was said last is kept with it
            ("Last chat" if by_hand else "Session", checkpoint.session),
            ("At step", str(checkpoint.seq)),
            ("Since then", f"{format_count(len(changes), 'record')} changed" if changes else "nothing changed"),
        ),
        *_contents_lines(memory, checkpoint, now),
        *_section("Changed since", [*changed, *_more_lines(len(changes) - CHANGES_SHOWN)]),
        *([] if memory.database.moment else [[], [(back, "dim")]]),
    ]


def _contents_lines(memory: Memory, checkpoint: models.Checkpoint, now: str) -> list[StyledLine]:
    """Return what is needed to resume work at a checkpoint: its subject, what recovering it costs, its tasks,
    decisions, turns and names."""
    found = memory.checkpoints.contents(checkpoint.id)
    about = (found.summary if found.summary != checkpoint.title else "", found.changed)
    lines = _label_rows(
        ("About", " · ".join(filter(None, about))),
        (
            "To recover",
            f"{format_count(checkpoint.tokens, 'token')}; {key_name('checkpoint.recover')} recovers it",
        ),
        ("Recovered", format_when(checkpoint.recovered_at, now) if checkpoint.recovered_at else ""),
    )
    sections = {
        "To do": [(one["citation"], f"{state_word(one['status'])}: {one['text']}") for one in found.tasks],
        "Decided": [(one["citation"], f"{one['title']}: {one['chosen']}") for one in found.decisions],
        "Said last": [(one["citation"], f"{one['speaker'] or one['role']}: {one['text']}") for one in found.turns],
    }
    for heading, said in sections.items():
        listed = [_cited_line(cited, (f"  {' '.join(text.split())}", "cut")) for cited, text in said]
        lines += _section(heading, listed)
    return [*lines, *([[], label_row("Named", ", ".join(found.entities))] if found.entities else [])]


def _history_lines(
    memory: Memory, kind: str, number: int, now: str, title: str = "History", cited: Callable[[str], str] = str
) -> list[StyledLine]:
    """Return the steps of history that changed a record, newest first."""
    return _section(
        title,
        [
            [
                (f"{format_age(now, step.at):>6}  ", "dim"),
                (f"{cited(step.reason):<16}", "dim" if step.undone_by else ""),
                (f"  {writer_name(step.actor)}, {step.door}{', undone' if step.undone_by else ''}", "dim"),
            ]
            for step in memory.history.steps(record=(kind, number), limit=MOST_STEPS)
        ],
    )


DESCRIBERS: dict[type[Any], Callable[[Memory, Any, str], list[StyledLine]]] = {
    models.Fact: _describe_fact,
    models.GlobalFact: _describe_global,
    models.Decision: _describe_decision,
    models.Commit: _describe_commit,
    models.Event: _describe_event,
    models.Iteration: _describe_iteration,
    models.Task: _describe_task,
    models.Turn: _describe_turn,
    models.Summary: _describe_summary,
    models.Proposal: _describe_proposal,
    models.Checkpoint: _describe_checkpoint,
}


def describe_step(memory: Memory, step: models.Step) -> list[StyledLine]:
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
        by = memory.history.get(step.undone_by)
        some = f": {by.changes} of {step.changes} records"
        partly = by.undoes == step.seq and by.changes < step.changes
        lines.append(label_row("Undone", f"by step {by.seq}{some if partly else ''}", "dim"))
    elif not memory.database.moment:
        rest = "" if step.actor == PERSON_ORIGIN else f", or all that {step.actor} wrote"
        lines += [[], [(f"{key_name('step.undo')} undoes this step, or those marked{rest}", "dim")]]
    changes = memory.history.changes(step.seq, limit=CHANGES_SHOWN)
    for change in changes:
        lines += [[], *_change_lines(change)]
    if step.changes > len(changes):
        lines += [[], [(f"… and {step.changes - len(changes):,} more records", "dim")]]
    return lines


def _change_lines(change: models.Change) -> list[StyledLine]:
    """Return a record's change: its citation, the operation, and the columns before and after."""
    muting = change.table == "mutes"
    kind = "fact" if muting else HISTORY_KINDS.get(change.table)
    cited = cite(kind, change.key[0]) if kind else "link"
    word = (MUTE_WORDS if muting else OPERATION_WORDS)[change.op]
    states = [] if muting else compare_rows(change.before, change.after)
    return [[(cited, "cite"), (f"  {word}", "heading")], *states]
