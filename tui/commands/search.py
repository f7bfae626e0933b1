"""The commands search, show and timeline."""

from __future__ import annotations

import shlex

from store.base.citations import parse_typed_citation
from store.base.clock import format_local_time
from store.base.errors import InvalidInput
from store.base.models import Commit, Decision, Fact, GlobalFact, Proposal, as_json
from store.base.vocabulary import unpack_key
from store.search.lookup import get_record, json_with_links, key_of_record, records_by_key
from store.search.pipeline import search_for_person
from store.search.query_parser import query_hints, require_valid_query
from store.search.results import Hit
from store.text.fence import is_suspicious
from store.upkeep.maintenance import timeline_repository
from store.upkeep.optional import find_sharing
from tui.commands.call import Outcome, Session, parse_id
from tui.commands.record_lines import empty_list_line, keyed_line, more_line
from tui.input.arguments import ParsedArguments
from tui.render.details import describe_record, plain_lines
from tui.render.lines import KIND_GLYPHS, WARNING_SIGN, format_count, record_time, writer_name
from tui.render.search_results import densest_mark, group_hits, none_exact_words, score_lines
from tui.theme.escape import visible


def search(session: Session, given: ParsedArguments) -> Outcome:
    if not "".join(given.query).strip():
        raise InvalidInput(
            "There is nothing to search for.", 'Give words or a filter: memoranda search "is:pinned"'
        )
    cites = session.memory.config["citations"]
    iteration = parse_id(given.iteration, "iteration") if given.iteration else 0
    query, memory = " ".join(given.query), session.memory
    require_valid_query(memory.database, query)
    answer = search_for_person(memory.search, memory.database, query, given.limit, not given.keywords, iteration)
    waits, answer.waiting = (
        answer.waits,
        [],
    )  # agents run this too: how many, and what they say only where asked for
    said = none_exact_words(query, answer)
    hints = query_hints(query)
    lines = [*map(visible, hints), *([visible(said)] if said else [])]
    for heading, hits in group_hits(query, answer):
        lines += [heading] if heading else []
        for place, hit in enumerate(hits):
            if given.explain and place:
                lines.append("")
            cited = "" if cites == "off" else f"{hit.citation:<9}  "
            cited += "global: " if isinstance(hit.record, GlobalFact) else ""
            cited += f"{visible(writer_name(hit.record.origin))}: " if isinstance(hit.record, Proposal) else ""
            cited += "gone: " if isinstance(hit.record, Commit) and not hit.record.reachable else ""
            cited += f"{WARNING_SIGN} " if is_suspicious(hit.snippet) else ""
            lines.append(f"{KIND_GLYPHS[hit.kind]} {cited}{visible(_excerpt(hit.snippet, hit.marks))}")
            if cites == "on":
                lines.append(f"  Source: {hit.citation}, {format_local_time(record_time(hit.record))}")
            if given.explain:
                lines += [f"  {line}" for line in score_lines(hit)]
    more = answer.total - len(answer.hits)
    found = f"{answer.total:,} found in {answer.milliseconds:.0f} ms"
    if answer.left_out:
        lines.append(
            f"{format_count(answer.left_out, 'record')} hidden (forgotten or replaced): is:replaced is:forgotten"
        )
    if waits:
        lines.append(
            f"{format_count(waits, 'proposal')} in the inbox: memoranda search {shlex.join(['in:inbox', *given.query])}"
        )
    tail = [found + (f", {more:,} not shown: --limit {answer.total}" if more > 0 else ""), *answer.notes]
    return Outcome(
        lines=[*lines, *tail],
        data=lambda: {
            "total": answer.total,
            "verdict": answer.verdict,
            "exact": answer.exact,
            "left_out": answer.left_out,
            "waiting": waits,
            "provider": answer.provider,
            "signals": list(answer.signals),
            "milliseconds": round(answer.milliseconds, 3),
            "notes": [*hints, *answer.notes],
            "hits": [_hit_json(hit) for hit in answer.hits],
            "nearest": [_hit_json(hit) for hit in answer.nearest],
        },
        after=lambda: session.memory.search.log.log_answer(answer),
    )


def _hit_json(hit: Hit) -> dict[str, object]:
    return {
        **as_json(hit.record),
        "kind": hit.kind,
        "level": hit.level,
        "snippet": hit.snippet,
        "flagged": is_suspicious(hit.snippet),
        "start": hit.start,
        "line": hit.line,
        "score": hit.score,
        "similarity": hit.similarity,
        "why": hit.why,
    }


def _excerpt(text: str, marks: list[tuple[int, int]], width: int = 160) -> str:
    """Return one line of whole words around the most matches, with the matched words in «»."""
    text = text.replace("\n", " ")
    start, end = 0, len(text)
    if end > width:
        first = marks[densest_mark(text, marks, width - 40)][0] if marks else 0
        if first > 40:
            start = text.find(" ", first - 41, first) + 1 or first - 40
        if end > start + width:
            last = start + width
            end = text.rfind(" ", last - 40, last + 1)
            end = max([last if end < 0 else end, *(right for _, right in marks if right <= last)])
    pieces, at = [], start
    for left, right in marks:
        if left >= at and right <= end:
            pieces += [text[at:left], "«", text[left:right], "»"]
            at = right
    pieces.append(text[at:end])
    return ("… " if start else "") + "".join(pieces) + (" …" if len(text) > end else "")


def show(session: Session, given: ParsedArguments) -> Outcome:
    memory = session.memory
    record = get_record(memory.database, parse_typed_citation(given.citation, "fact"))
    lines = [
        visible(line) for line in plain_lines(describe_record(memory, record))
    ]  # a name with a newline cannot add a line
    data = json_with_links(memory.database, record)
    sharing = find_sharing(memory)
    shared = sharing.record_identity(memory, record) if sharing and isinstance(record, Decision | Fact) else ""
    if shared:
        lines.append(f"Shared as {shared}: on every machine, as in a commit that ends in `Decision: {shared}`.")
        data["shared"] = shared
    if given.diff:
        text = _commit_diff(session, record)
        lines += ["", *text.split("\n")]
        data["diff"] = text
    return Outcome(
        data=lambda: data, lines=lines, after=lambda: memory.search.log.count_opened([key_of_record(record)])
    )


def _commit_diff(session: Session, record: object) -> str:
    if not isinstance(record, Commit):
        raise InvalidInput("Only a commit has a diff.")
    source = timeline_repository(session.memory, session.cwd)
    if source is None:
        raise InvalidInput("There is no git repository here.", "Run it inside the project's checkout.")
    diff = source.diff(record.sha)
    return diff.text + ("\n… the diff is longer" if diff.truncated else "")


def timeline(session: Session, given: ParsedArguments) -> Outcome:
    memory = session.memory
    since = memory.typed_moment(given.since) if given.since else ""
    before = memory.typed_moment(given.before) if given.before else ""
    iteration = parse_id(given.iteration, "iteration") if given.iteration else None
    keys = [key for key, _ in memory.timeline.stream(given.kind, since, before, given.limit + 1, iteration)]
    found = records_by_key(memory.database, keys[: given.limit])
    shown = [(key, found[key]) for key in keys if key in found]
    lines = [keyed_line(key, record) for key, record in shown]
    if not lines:
        narrow = (given.kind, since, before, iteration)
        lines = empty_list_line("timeline", "Nothing happened here yet.", *narrow)
    return Outcome(
        data=lambda: [{"kind": unpack_key(key)[0], **as_json(record)} for key, record in shown],
        lines=[*lines, *more_line(len(keys) - given.limit, given.limit)],
    )
