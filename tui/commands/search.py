"""The commands search, show, ask and context."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import closing, nullcontext
from typing import Annotated

from store.base.citations import parse_citation, parse_typed_citation, remove_citations
from store.base.clock import format_local_time
from store.base.errors import InvalidInput
from store.base.models import Commit, Decision, Fact, GlobalFact, Proposal, as_json, select_fields
from store.context.selection import ANSWER_TOKENS, ContextPart
from store.learning.tasks import context_ranker
from store.librarian import model_selection
from store.librarian.answer import CitedSentence, LibrarianAnswer
from store.librarian.librarian import Librarian
from store.memory import Memory
from store.search.lookup import find_records, get_record, json_with_links, key_of_record
from store.search.pipeline import search_for_person
from store.search.query_parser import query_hints, require_valid_query
from store.search.results import Hit
from store.text.display import format_count, shorten, visible
from store.text.fence import is_suspicious
from store.upkeep.maintenance import timeline_repository
from store.upkeep.optional import find_sharing
from tui.commands.call import STOP_HINT, Call, Interrupt, Outcome
from tui.input.arguments import IterationText, Shown, verb
from tui.render.details import describe_record, plain_lines
from tui.render.lines import (
    FACT_BADGES,
    KIND_GLYPHS,
    WARNING_SIGN,
    draw_bar,
    fact_badge,
    record_time,
    summarize_record,
    writer_name,
)
from tui.render.search_results import densest_mark, group_hits, none_exact_words, score_lines

MODEL_LOADING = "the model is being loaded …"
EXCERPT = 160  # characters of a hit
ORDER_KEPT = "The order stays as it is."


@verb(reads=True, looks=True)
def search(
    call: Call,
    query: list[str],
    *,
    limit: int = 20,
    iteration: IterationText = None,
    explain: bool = False,
    keywords: bool = False,
) -> Outcome:
    """Search everything (kind: domain: is: tag: author: iteration: since: before:).

    query: words and filters, "cache kind:decision since:3w"
    limit: how many at the most (20)
    explain: why each one is there: what each signal gave to its place
    keywords: by keywords alone, without a model
    """
    if not "".join(query).strip():
        raise InvalidInput(
            "There is nothing to search for.", 'Give words or a filter: memoranda search "is:pinned"'
        )
    text, memory = " ".join(query), call.memory
    number = call.optional(iteration, "iteration") or 0
    require_valid_query(memory.database, text)
    answer = search_for_person(memory.search, memory.database, text, limit, not keywords, number)
    # agents run this too: how many wait, and what they say only where asked for
    waits, answer.waiting = answer.waits, []
    hints = query_hints(text)
    lines = [visible(one) for one in (*hints, none_exact_words(text, answer)) if one]
    for heading, hits in group_hits(text, answer):
        lines += [heading] if heading else []
        for place, hit in enumerate(hits):
            lines += [""] if explain and place else []
            lines += _hit_lines(hit, memory.config["citations"], explain)
    if answer.left_out:
        hidden = format_count(answer.left_out, "record")
        lines.append(f"{hidden} hidden (forgotten or replaced): is:replaced is:forgotten")
    if waits:
        shows = f"memoranda search {shlex.join(['in:inbox', *query])}"
        lines.append(f"{format_count(waits, 'proposal')} in the inbox: {shows}")
    more = answer.total - len(answer.hits)
    found = f"{answer.total:,} found in {answer.milliseconds:.0f} ms"
    found += f", {more:,} not shown: --limit {answer.total}" if more > 0 else ""
    return Outcome(
        lines=[*lines, found, *answer.notes],
        data=lambda: {
            **select_fields(answer, "total", "verdict", "exact", "left_out"),
            "waiting": waits,
            **select_fields(answer, "provider", "signals"),
            "milliseconds": round(answer.milliseconds, 3),
            "notes": [*hints, *answer.notes],
            "hits": [_hit_json(hit) for hit in answer.hits],
            "nearest": [_hit_json(hit) for hit in answer.nearest],
        },
        after=lambda: memory.search.log.log_answer(answer),
    )


def _hit_lines(hit: Hit, cites: str, explain: bool) -> list[str]:
    """Format a hit: its citation unless citations are off, whose it is, and its text around the matches."""
    record = hit.record
    marks = "" if cites == "off" else f"{hit.citation:<9}  "
    marks += "global: " if isinstance(record, GlobalFact) else ""
    marks += f"{visible(writer_name(record.origin))}: " if isinstance(record, Proposal) else ""
    marks += "gone: " if isinstance(record, Commit) and not record.reachable else ""
    marks += f"{WARNING_SIGN} " if is_suspicious(hit.snippet) else ""
    lines = [f"{KIND_GLYPHS[hit.kind]} {marks}{visible(_excerpt(hit.snippet, hit.marks))}"]
    lines += [f"  Source: {hit.citation}, {format_local_time(record_time(record))}"] if cites == "on" else []
    return [*lines, *(f"  {line}" for line in (score_lines(hit) if explain else ()))]


def _hit_json(hit: Hit) -> dict[str, object]:
    own = select_fields(hit, "kind", "level", "snippet", "start", "line", "score", "similarity", "why")
    return {**as_json(hit.record), **own, "flagged": is_suspicious(hit.snippet)}


def _excerpt(text: str, marks: list[tuple[int, int]]) -> str:
    """Return one line of whole words around the most matches, with the matched words in «»."""
    text = text.replace("\n", " ")
    start, end = 0, len(text)
    if end > EXCERPT:
        first = marks[densest_mark(text, marks, EXCERPT - 40)][0] if marks else 0
        if first > 40:
            start = text.find(" ", first - 41, first) + 1 or first - 40
        if end > start + EXCERPT:
            last = start + EXCERPT
            end = text.rfind(" ", last - 40, last + 1)
            end = max([last if end < 0 else end, *(right for _, right in marks if right <= last)])
    pieces, at = [], start
    for left, right in marks:
        if left >= at and right <= end:
            pieces += [text[at:left], "«", text[left:right], "»"]
            at = right
    pieces.append(text[at:end])
    return ("… " if start else "") + "".join(pieces) + (" …" if len(text) > end else "")


@verb(reads=True, looks=True)
def show(call: Call, citation: str, *, diff: bool = False) -> Outcome:
    """Show a record with all that belongs to it.

    citation: F#12, G#5, D#3, C#a1b2c3d, I#5, E#42, K#3, A#5, P#8, notes.md#L3
    diff: a commit's diff too
    """
    memory = call.memory
    record = get_record(memory.database, parse_typed_citation(citation, "fact"))
    # a name with a newline cannot add a line
    lines = [visible(line) for line in plain_lines(describe_record(memory, record))]
    data = json_with_links(memory.database, record)
    sharing = find_sharing(memory)
    shared = sharing.record_identity(memory, record) if sharing and isinstance(record, Decision | Fact) else ""
    if shared:
        lines.append(f"Shared as {shared}: on every machine, as in a commit that ends in `Decision: {shared}`.")
        data["shared"] = shared
    if diff:
        text = _commit_diff(call, record)
        lines += ["", *text.split("\n")]
        data["diff"] = text
    return Outcome(
        data=lambda: data, lines=lines, after=lambda: memory.search.log.count_opened([key_of_record(record)])
    )


def _commit_diff(call: Call, record: object) -> str:
    if not isinstance(record, Commit):
        raise InvalidInput("Only a commit has a diff.")
    source = timeline_repository(call.memory, call.cwd)
    if source is None:
        raise InvalidInput("There is no git repository here.", "Run it inside the project's checkout.")
    diff = source.diff(record.sha)
    return diff.text + ("\n… the diff is longer" if diff.truncated else "")


@verb(reads=True, looks=True)
def ask(call: Call, question: list[str], *, no_model: bool = False) -> Outcome:
    """Ask about the past: a short answer, each sentence with the record it rests on.

    question: in English or Spanish: why do we use SQLite? ¿cuándo se decidió?
    no_model: by rule: the records themselves
    """
    memory, text = call.memory, " ".join(question)
    require_valid_query(memory.database, text)
    cites = memory.config["citations"]
    shown: list[str] = []

    def drop_citations(lines: list[str]) -> list[str]:
        return [remove_citations(line) for line in lines] if cites == "off" else lines

    def tell(*lines: str) -> None:
        if call.tell is not None:
            for line in drop_citations([*lines]):
                call.tell(line)

    def tell_found(parts: tuple[CitedSentence, ...], name: str) -> None:
        if parts and call.tell is not None:
            shown.extend(part.text for part in parts)
            tell(f"By rule, while {name} reads:", *shown, "")

    answer = _answer(call, text, no_model, tell_found)
    if shown and "\n".join(answer.sentences).endswith("\n".join(shown)):
        tell(f"{answer.sentences[0].removesuffix(shown[0])}{ORDER_KEPT}")
    else:
        tell(*answer.sentences)
    lines = drop_citations([*([] if call.tell else answer.sentences), "", *answer_notes(answer)])
    if cites == "on":
        found = find_records(memory.database, map(parse_citation, answer.citations))
        lines += [f"Source: {one.citation}  {shorten(summarize_record(one)[0], 100)}" for one in found]
    return Outcome(lines=lines, data=lambda: answer_json(call, answer))


def _answer(
    call: Call, text: str, no_model: bool, tell_found: Callable[[tuple[CitedSentence, ...], str], None]
) -> LibrarianAnswer:
    """Answer a question. At a terminal show what the search found before a model reads it, and progress until the
    answer is complete; ^C stops the model there."""
    if no_model:
        return Librarian(call.memory).ask(text)
    interrupt, stops = Interrupt(), "" if call.tell is None else f"  {STOP_HINT}"
    with nullcontext() if call.tell is None else interrupt:
        try:
            return ask_librarian(
                call.memory,
                text,
                cancelled=lambda: interrupt.asked,
                progress=lambda words: call.wait(f"{words}{stops}"),
                first=lambda parts, name: tell_found(parts, name) if name else None,
                ends=True,
            )
        finally:
            call.wait("")


def ask_librarian(
    memory: Memory,
    question: str,
    *,
    cancelled: Callable[[], bool],
    progress: Callable[[str], None],
    first: Callable[[tuple[CitedSentence, ...], str], None],
    last: LibrarianAnswer | None = None,
    ends: bool = False,
) -> LibrarianAnswer:
    """Answer a question, with the model that is selected if there is one, within `agent.patience`; call `progress` with
    each step, and `first` with the search's hits before a model reads them, and the model's name. `last` and `ends` are
    those of `Librarian.ask` and `why_no_model`. Raises MemorandaError."""
    config = memory.config
    chat = model_selection.open_selected_model(
        config,
        cancelled=cancelled,
        loading=lambda: progress(MODEL_LOADING),
        seconds=float(config["agent.patience"]),
    )
    with closing(chat) if chat else nullcontext():
        name = chat.name if chat else ""
        return Librarian(memory).ask(
            question,
            chat,
            last=last,
            why="" if chat else model_selection.why_no_model(config, ends=ends),
            first=lambda parts: first(parts, name),
            cancelled=cancelled,
            waiting=lambda done, total: progress(reading_progress(name, done, total)),
        )


def reading_progress(name: str, done: int, total: int) -> str:
    """Return the progress message while a model has read `done` of `total` records."""
    return f"{name} reads {done + 1} of {format_count(total, 'record')} …"


def answer_notes(answer: LibrarianAnswer) -> list[str]:
    """Return the lines below an answer: the filter that the question was read as, the model, the number of records, and
    warnings."""
    near = answer.near.text if answer.near else ""
    asked = f"filter: {answer.filter}" if answer.filter else ""
    return [one for one in (near, asked, answer.line, answer.note) if one]


def answer_json(call: Call, answer: LibrarianAnswer) -> dict[str, object]:
    """Return an answer as `--json` prints it, with the records that it cites."""
    found = find_records(call.memory.database, map(parse_citation, answer.citations))
    return {
        "question": answer.asked.text,
        **select_fields(answer.asked, "language", "kind"),
        "answer": answer.text,
        "sentences": list(answer.sentences),
        "citations": list(answer.citations),
        "nothing": answer.nothing,
        "near": list(answer.near.citations) if answer.near else [],
        "by": answer.by or "rule",
        "seconds": round(answer.seconds, 3),
        **select_fields(answer, "note", "filter"),
        "quotes": [quote._asdict() for sentence in answer.parts for quote in sentence.quotes],
        "odds": dict(answer.odds),
        "looked_at": list(answer.sources),
        "records": [as_json(record) for record in found],
    }


# context: what an agent is sent

PART_NAMES = {"static": "fixed text", "own": "your text", "log": "today", "window": "last turns"}
"""Names of parts of a context as a person reads them, where they are others than in `--json`."""
# cells of a bar for the whole budget
BAR_CELLS = 24


@verb(reads=True, looks=True)
def context(call: Call, query: list[str] = [], *, session: Annotated[str, Shown("S")] = "") -> Outcome:
    """What an agent would be sent for a question: what it costs, and why each fact is in or out.

    query: the question (the last one that was asked)
    session: an agent's session (the newest)
    """
    memory = call.memory
    with context_ranker(memory) as rank:
        built = memory.context(" ".join(query), session, rank=rank)
    opened = [key for key, _ in built.record_tokens()]
    asked = f"“{shorten(built.question, 60)}”" if built.question else "no question"
    whose = f", session {shorten(built.session, 40)}" if built.session else ""
    lines = [f"{built.tokens:,} of {built.limit:,} tokens for {asked}{whose}; {ANSWER_TOKENS} are the answer's"]
    lines += [f"! {built.warning}"] if built.warning else []
    lines.append("")
    for part in built.parts:
        left = f"  {left_out_words(part)}" if part.left_out else ""
        cost = built.costs[part.name]
        lines.append(
            f"{part_name(part.name):<10} {cost:>5,}  {draw_bar(cost, built.limit, BAR_CELLS)}{left}".rstrip()
        )
    lines.append("")
    lines += [f"Ordered by {built.ranked_by}."] if built.ranked_by != "rules" else []
    for one in built.considered:
        glyph, _ = FACT_BADGES[fact_badge(one.fact, memory.now)]
        where = "in " if one.included else "out"
        warned = f"{WARNING_SIGN} " if one.is_suspicious else ""
        lines.append(
            f"{where}  {glyph} {one.record.citation:<6}  {warned}{shorten(one.fact.fact, 60)}  {shorten(one.why, 90)}"
        )
    if not built.considered:
        lines.append("No fact is near this question, and none is pinned.")
    for part in built.parts:
        cited = part.flagged if part.name != "facts" else ()
        lines += [f"{WARNING_SIGN} {one} looks like an instruction to agents" for one in dict.fromkeys(cited)]
    lines += [*built.notes, "", "As it is sent:", "", *built.text.split("\n")]
    return Outcome(lines=lines, data=built.as_dict, after=lambda: memory.search.log.count_opened(opened))


def part_name(part: str) -> str:
    """Return the name of a context's part as a person reads it."""
    return PART_NAMES.get(part, part)


def left_out_words(part: ContextPart) -> str:
    """Return what of a context's part had no room."""
    return "its middle had no room" if part.name == "question" else f"{part.left_out:,} had no room"
