"""The tools of the MCP server, those that read and those that write, and the session that runs them.

The tools that read: each takes a memory, the caller and checked arguments, and gives an answer. The resources and
the prompt, which give the same.
"""

import json
import logging
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from store.base.citations import Citation, cite, parse_citation, parse_typed_citation
from store.base.clock import Clock, format_local_time, utc_now
from store.base.errors import Conflict, Defect, InvalidInput, MemorandaError, NotFound, Unsupported
from store.base.location import Location
from store.base.models import Chunk, Decision, Fact, GlobalFact, Record
from store.base.runtime import is_part_disabled, read_file_identity, read_file_stamp
from store.base.vocabulary import DOMAINS, FILE_ORIGIN, PERSON_ORIGIN, SCOPES
from store.config.configuration import may_capture, project_settings_path, user_settings_path
from store.context.selection import find_accepted_ids
from store.database.tombstones import normal_form
from store.doors.agent_log import note_agent_call, note_agent_session
from store.doors.git_hooks import record_commit
from store.doors.mcp_answers import (
    MAX_SNIPPET,
    AnswerItem,
    Caller,
    RecordDescriber,
    ToolAnswer,
    caller_of,
    full_text_of,
    make_lines_answer,
    make_list_answer,
    parse_cursor,
    shorten_text,
    wrap_lines,
)
from store.doors.mcp_protocol import TOOL_SCHEMA_BY_NAME, check_arguments
from store.doors.pack import START_PACK_TOKENS, build_recovery_pack, build_task_pack, log_pack
from store.doors.trust import (
    HOOK_ORIGIN,
    POLICY_BELIEVE_QUOTED,
    POLICY_OFF,
    get_pause_end,
    get_write_policy,
    why_read_denied,
)
from store.embedding.vectors import Vectors
from store.git.process import GitError, run_git
from store.history.history import BELIEVE_VERB
from store.learning.rules import is_settled_statement
from store.memory import Memory
from store.personal.memory import find_personal_memory
from store.projects.locating import locate
from store.records.commits import read_moment
from store.records.facts import AGE_STATES, age_state_sql
from store.records.table import require_one_of
from store.search.lookup import get_record, json_with_links, list_part_ids, records_by_key
from store.search.query_parser import AGEING_WORDS, query_hints, require_valid_query
from store.text.fence import make_harmless
from store.text.sentences import extract_statements
from store.text.similarity import parse_sentence
from store.text.words import count_tokens
from store.upkeep.maintenance import timeline_repository

# facts that are counted beyond those listed
MAX_COUNTED_FACTS = 2_000
# of the resources
RESOURCE_SCHEME = "memory://"
RESOURCE_LETTERS = {"facts": "F", "decisions": "D"}
# that are listed
MAX_RESOURCE_RECORDS = 200
UNTOLD_FIELDS = (
    "domain",
    "confidence",
    "impact",
    "tags",
    "evidence",
    "session",
    "role",
)  # fields that no text says
# hits that are asked for beyond those wanted, in the place of those that may not be sent
SPARE_HITS = 20
LISTED_STATUSES = ("active", *AGEING_WORDS, "superseded", "forgotten", "contradicted", "pinned")
# states in which a stale fact may be listed
STALE_STATUSES = ("stale", "forgotten", "superseded", "contradicted")


class FactAuthor(NamedTuple):
    """Who wrote a fact."""

    id: int
    origin: str
    source: str


def answer_search(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """Answer the tool memory_search."""
    limit = given.get("limit") or given.get("maxResults") or 20
    start = parse_cursor(given.get("cursor", ""))
    scope = given.get("scope", "")
    asked_for = given.get("status", "")
    if scope not in SCOPES and (why_read_denied(memory.config, caller.client, scope) if scope else ""):
        return _nothing_found(given["query"])
    require_valid_query(memory.database, given["query"])
    _sync_files(memory)
    found = memory.search(
        given["query"],
        start + limit + SPARE_HITS,
        kinds=tuple(given.get("kinds", ())),
        domain=given.get("domain", ""),
        status=asked_for,
        since=read_moment(memory.database, given["since"]) if "since" in given else "",
        before=read_moment(memory.database, given["before"]) if "before" in given else "",
        iteration_id=given.get("iteration_id", 0),
        min_score=given.get("minScore", 0.0),
        scope=scope if scope in SCOPES else "",
    )
    describe = RecordDescriber(memory, caller)
    stale_too = asked_for in STALE_STATUSES or any(f"is:{word}" in given["query"] for word in STALE_STATUSES)
    hits = [
        hit
        for hit in found.hits
        if not describe.why_hidden(hit.record) and (stale_too or not describe.is_stale(hit.record))
    ]
    total = found.total - (len(found.hits) - len(hits))
    sources = memory.config["citations"]
    items = []
    for number, hit in enumerate(hits[start:], start=start + 1):
        text = full_text_of(hit.record) if isinstance(hit.record, Decision) else ""
        snippet = text if 0 < len(text) <= MAX_SNIPPET else shorten_text(hit.snippet)
        scores = {"score": round(hit.score, 3)}
        scores |= {"similarity": round(hit.similarity, 3)} if hit.similarity is not None else {}
        why = ", ".join(f"{name} {value:.2g}" for name, value in hit.why.items())
        if sources == "on" or (sources == "auto" and isinstance(hit.record, Chunk)):
            snippet = f"{snippet}\nSource: {hit.citation}"
        items.append(describe.make_item(hit.record, snippet, number, **scores, level=hit.level, why=why))
    signals = ", ".join(found.signals)
    exact = "" if found.exact else "; none holds it word for word"
    heading = (
        f"{total:,} found by {signals}{exact}." if items else "Nothing found in memory: say so, and do not guess."
    )
    return make_list_answer(
        "results",
        items,
        start=start,
        limit=limit,
        total=total,
        heading=heading,
        more={"signals": list(found.signals), "model": found.provider},
        notes=[*query_hints(given["query"]), *found.notes],
    )


def _sync_files(memory: Memory) -> None:
    """Sync the files that a person keeps so, if they or the memory changed: what they deleted there is not found."""
    try:
        memory.sync.sync_due()
    except MemorandaError:
        # the application and the next command say it
        return


def _nothing_found(query: str) -> ToolAnswer:
    """Return the answer of a search that finds nothing."""
    heading = "Nothing found in memory: say so, and do not guess."
    return make_list_answer("results", [], limit=0, total=0, heading=heading, more={"signals": []})


def answer_get(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """Answer the tool memory_get."""
    path, cited = given.get("path", ""), given.get("citation", "")
    if bool(path) == bool(cited):
        raise InvalidInput("memory_get takes a citation or a path.", 'citation: "F#12", or path: "MEMORY.md".')
    first, count = given.get("from", 1), given.get("lines")
    if path:
        return _document_answer(memory, path, first, count)
    citation = parse_typed_citation(cited)
    if citation.kind == "document":
        last = max(citation.last, citation.first)
        wanted = count if count is not None else last - citation.first + 1
        return _document_answer(memory, str(citation.target), given.get("from", citation.first), wanted)
    if citation.kind == "checkpoint":
        return answer_recovery(memory, caller, int(citation.target))
    record = get_record(memory.database, citation)
    describe = RecordDescriber(memory, caller)
    if why := describe.why_hidden(record):
        raise NotFound(f"{citation} is not for you: {why}", "Ask the person, or search for something else.")
    return _record_answer(memory, describe, record, first, count)


def answer_recovery(memory: Memory, caller: Caller, number: int | None) -> ToolAnswer:
    """Return what a checkpoint holds, for an agent that goes on with it; the newest without a number."""
    made = build_recovery_pack(memory, caller.client, caller.session, number)
    log_pack(memory, made, caller.client, caller.session)
    text = made.text or "That checkpoint holds nothing for you: no task, no decision, no conversation."
    return ToolAnswer(
        {"text": text, "tokens": made.tokens, "citations": list(made.citations)}, text, made.citations
    )


def _document_answer(memory: Memory, path: str, first: int, count: int | None) -> ToolAnswer:
    """Return lines of MEMORY.md or of a file below memory/, as they are on the disk; of nothing else."""
    if path != "MEMORY.md" and not path.startswith("memory/"):
        raise InvalidInput("Only MEMORY.md and memory/**/*.md can be opened.", "Give a path as in a citation.")
    found = memory.documents.read_lines(path)
    lines = found.text.split("\n")
    if first > max(1, len(lines)):
        raise InvalidInput(f"{path} has {len(lines):,} lines.", "Ask for an earlier one.")
    answer = make_lines_answer(
        lines, first, count, lambda text: {"path": path, "text": text}, f"{path}, {len(lines):,} lines:"
    )
    cited = str(Citation("document", path, first, max(first, first + answer.data["lines"] - 1)))
    return ToolAnswer({"citation": cited, **answer.data}, answer.text, (cited,))


def _record_answer(
    memory: Memory, describe: RecordDescriber, record: Record, first: int, count: int | None
) -> ToolAnswer:
    """Return a record whole, with what belongs to it."""
    fields = describe.describe_fields(record, "")
    fields.pop("snippet")
    for name in (
        "alternatives",
        "rationale",
        "context",
        "impact",
        "chosen",
        "evidence",
        "tags",
        "session",
        "role",
    ):
        if value := getattr(record, name, None):
            fields[name] = (
                [shorten_text(str(one)) for one in value]
                if isinstance(value, tuple)
                else shorten_text(str(value), 1_500)
            )
    linked = json_with_links(memory.database, record)
    related = [
        str(one["citation"]) for name in ("commits", "decisions") for one in _list_or_empty(linked.get(name))
    ]
    if related:
        fields["related"] = related[:50]
    shown = describe.make_item(record).start.removeprefix("- ").strip()
    if related:
        shown = f"{shown}\nWith it: {', '.join(related[:50])}."
    about = "; ".join(f"{name}: {_format_one_line(fields[name])}" for name in UNTOLD_FIELDS if name in fields)
    answer = make_lines_answer(
        wrap_lines(full_text_of(record)), first, count, lambda text: {**fields, "text": text}, shown, about
    )
    return ToolAnswer(answer.data, answer.text, (record.citation,))


def _format_one_line(value: object) -> str:
    """Return a value on one line; a list with commas."""
    return " ".join((", ".join(map(str, value)) if isinstance(value, list) else str(value)).split())


def _list_or_empty(value: object) -> Iterable[dict[str, Any]]:
    """Return a value if it is a list, else an empty list."""
    return value if isinstance(value, list) else ()


def answer_context(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """Answer the tool memory_context: what bears on a task, whether it was sent before or not."""
    limit = given.get("max_tokens", START_PACK_TOKENS)
    query = given.get("query", "")
    made = build_task_pack(memory, caller.client, caller.session, query, limit=limit)
    number = log_pack(memory, made, caller.client, caller.session)
    data: dict[str, Any] = {"pack": made.text, "tokens": made.tokens, "citations": list(made.citations)}
    text = made.text or "Nothing in memory bears on that."
    return ToolAnswer({**data, **({"injection": number} if number else {})}, text, made.citations)


def answer_facts(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """Answer the tool memory_facts."""
    status = given.get("status", "active") or "active"
    require_one_of("status", status, LISTED_STATUSES)
    limit, start = given.get("limit", 50), parse_cursor(given.get("cursor", ""))
    # most facts are active: SQLite would take them all from an index, and sort them, to list the newest
    column = "+status" if status in ("active", *AGEING_WORDS) and "domain" not in given else "status"
    where = [
        f"{column} = :status",
        "id NOT IN (SELECT fact_id FROM mutes)",
        "(scope <> 'session' OR session = :session)",
    ]
    if status == "pinned":
        where.append("pinned")
    if "domain" in given:
        where.append("domain = :domain")
    if status in AGEING_WORDS:
        where.append(f"{age_state_sql(memory.now)} = {AGE_STATES.index(status)}")
    elif status in ("active", "pinned"):  # a stale one is for the person to confirm, and no answer
        where.append(f"{age_state_sql(memory.now)} <> {AGE_STATES.index('stale')}")
    holds = " AND ".join(where)
    found = f"FROM facts WHERE {holds} AND id NOT IN (SELECT value FROM json_each(:hidden))"
    parameters = {
        "status": "active" if status in ("pinned", *AGEING_WORDS) else status,
        "session": caller.session,
        "domain": given.get("domain", ""),
        "hidden": json.dumps(_unaccepted_file_facts(memory)),
    }
    most = start + limit + MAX_COUNTED_FACTS
    total = memory.database.number(f"SELECT count(*) FROM (SELECT 1 {found} LIMIT {most})", parameters)
    shared, describe = _load_global_facts(memory, caller, holds, parameters), RecordDescriber(memory, caller)
    items = [_fact_item(describe, fact) for fact in shared[start : start + limit]]
    rows = memory.database.column(
        f"SELECT id {found} ORDER BY id DESC LIMIT :limit OFFSET :start",
        {**parameters, "limit": limit - len(items), "start": max(0, start - len(shared))},
    )
    items += [_fact_item(describe, fact) for fact in memory.facts.get_many(rows)]
    total += len(shared)
    heading = (
        f"{total:,}{' or more' if total - len(shared) == most else ''} {status} facts."
        if total
        else f"No {status} facts."
    )
    return make_list_answer("facts", items, start=start, limit=limit, total=total, heading=heading)


def _unaccepted_file_facts(memory: Memory) -> list[int]:
    """Return the ids of the facts that were written into a file, and that the person has not accepted."""
    rows = [
        FactAuthor(*row)
        for row in memory.database.rows("SELECT id, origin, source FROM facts WHERE origin = ?", (FILE_ORIGIN,))
    ]
    yes = find_accepted_ids(memory.database, rows) if rows else ()
    return [fact.id for fact in rows if fact.id not in yes]


def _load_global_facts(memory: Memory, caller: Caller, holds: str, parameters: dict[str, Any]) -> list[GlobalFact]:
    """Return the global facts for which a condition holds and which may be sent, newest first: they stand before the
    project's."""
    own = find_personal_memory(memory.database)
    if own is None:
        return []
    every = f"SELECT id FROM facts WHERE scope = 'global' AND {holds} ORDER BY id DESC LIMIT {MAX_COUNTED_FACTS}"
    rows = own.column(every, parameters)
    describe = RecordDescriber(memory, caller)
    return [fact for fact in memory.globals.get_many(rows) if not describe.why_hidden(fact)]


def _fact_item(describe: RecordDescriber, fact: Fact | GlobalFact) -> AnswerItem:
    """Return a fact as an item of a list."""
    found = describe.describe_fields(fact, "")
    text = shorten_text(fact.fact, 1_000)
    names = ("scope", "domain", "confidence", "age", "unconfirmed", "flagged")
    fields: dict[str, Any] = {name: found[name] for name in ("citation", *names) if name in found}
    notes = [fields[name] for name in names if name in fields]
    return AnswerItem(
        {**fields, "fact": text, "source": (fact.own if isinstance(fact, GlobalFact) else fact).source},
        f"- [{fact.citation}] ({'; '.join(notes)}) ",
        text,
    )


def answer_iteration(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """Answer the tool memory_get_iteration."""
    if "id" in given:
        found = memory.iterations.get(given["id"])
    else:
        active = memory.iterations.active()
        newest = memory.iterations.ids(limit=1)
        if active is None and not newest:
            shown = "There is no iteration yet: work is not divided into any."
            return ToolAnswer({"iteration": None, "decisions": [], "total_decisions": 0}, shown)
        found = active or memory.iterations.get(newest[0])
    describe = RecordDescriber(memory, caller)
    fields = {
        "citation": found.citation,
        "id": found.id,
        "command": shorten_text(found.command, 200),
        "description": shorten_text(found.description),
        "status": found.status,
        "started_at": found.started_at,
        "completed_at": found.completed_at,
        "phases_completed": [shorten_text(str(one), 200) for one in found.phases_completed[:20]],
        "artifacts": [shorten_text(str(one), 200) for one in found.artifacts[:20]],
    }
    decisions = describe.unmuted_decisions(
        memory.decisions.get_many(list_part_ids(memory.database, "decisions", found.id))
    )
    start = parse_cursor(given.get("cursor", ""))
    items = [describe.make_item(one) for one in decisions[start:]]
    ended = f" to {found.completed_at[:10]}" if found.completed_at else ""
    shown = f"[{found.citation}] {found.status}, {found.started_at[:10]}{ended}. {len(decisions)} decisions."
    head = describe.make_item(found)
    answer = make_list_answer(
        "decisions",
        [head, *items],
        start=start,
        limit=len(items) + 1,
        total=start + len(items) + 1,
        heading=shown,
    )
    rows = answer.data["decisions"][1:]
    data = {**answer.data, "iteration": fields, "decisions": rows, "total_decisions": len(decisions)}
    data.pop("total")
    if "cursor" in data:
        data["cursor"] = str(start + len(rows))
    return ToolAnswer(data, answer.text, answer.reads)


def answer_timeline(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """Answer the tool memory_get_timeline."""
    number = given["iteration_id"]
    found = memory.iterations.get(number)
    keys = [key for key, _ in memory.timeline.stream(iteration=number)][::-1]
    muted = memory.mutes.filter_muted_keys(keys)
    keys = [key for key in keys if key not in muted]
    start = parse_cursor(given.get("cursor", ""))
    records = records_by_key(memory.database, keys[start : start + 200])
    describe = RecordDescriber(memory, caller)
    items = [describe.make_item(records[key]) for key in keys[start : start + 200] if key in records]
    heading = f"[{found.citation}] {shorten_text(found.command, 80)}, oldest first: {len(keys):,} events."
    return make_list_answer("events", items, start=start, limit=len(items), total=len(keys), heading=heading)


def answer_stats(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """Answer the tool memory_stats."""
    database = memory.database
    counts = memory.facts.count_by_state(memory.now)
    tables = ("decisions", "iterations", "commits", "events", "tasks", "turns", "summaries", "checkpoints")
    serving = Vectors(database).serving
    figures: dict[str, Any] = {
        "facts": counts["active"],
        **{name: counts[name] for name in ("aging", "low", "stale")},
        **{table: database.value(f"SELECT count(*) FROM {table}") for table in tables},
        "proposals_waiting": memory.inbox.count_waiting(),
        "fts5": not is_part_disabled("fts5"),
        "schema": database.connection.pragma("user_version"),
        "created_at": database.value("SELECT value FROM meta WHERE key = 'created_at'"),
        "path": memory.location.path,
        "bytes": os.path.getsize(memory.location.path),
        "model": serving.fingerprint.partition(" ")[0] if serving else "",
        "domains": {
            domain: count
            for domain, count in database.rows(
                "SELECT domain, count(*) FROM facts WHERE status = 'active' GROUP BY domain"
            )
            if domain in DOMAINS
        },
    }
    return ToolAnswer(figures, "\n".join(f"{name}: {value}" for name, value in figures.items()))


def answer_resource(memory: Memory, caller: Caller, uri: str) -> ToolAnswer:
    """Return what a resource says: `memory://facts`, `memory://decisions`, each `/12`. Raise NotFound."""
    name, _, number = uri.removeprefix(RESOURCE_SCHEME).partition("/")
    if not uri.startswith(RESOURCE_SCHEME) or name not in RESOURCE_LETTERS:
        raise NotFound("There is no such resource.", "There are memory://facts and memory://decisions, each /ID.")
    if number:
        if not (number.isascii() and number.isdigit()):
            raise InvalidInput("The number of a record follows.", f"For example: {RESOURCE_SCHEME}{name}/12")
        return answer_get(memory, caller, {"citation": f"{RESOURCE_LETTERS[name]}#{number}"})
    if name == "facts":
        return answer_facts(memory, caller, {"limit": MAX_RESOURCE_RECORDS})
    describe = RecordDescriber(memory, caller)
    found = describe.unmuted_decisions(memory.decisions.get_many(memory.decisions.ids(limit=MAX_RESOURCE_RECORDS)))
    total = memory.database.value(
        "SELECT count(*) FROM decisions WHERE status = 'active' AND id * 16 + 1 NOT IN (SELECT key FROM muted)"
    )
    items = [describe.make_item(one) for one in found]
    heading = f"{total:,} decisions in force, newest first. memory_search finds one."
    return make_list_answer("decisions", items, limit=MAX_RESOURCE_RECORDS, total=total, heading=heading)


def make_recovery_prompt(memory: Memory, caller: Caller, arguments: dict[str, str] | None) -> str:
    """Return the text of the prompt `recover`. Raise NotFound, InvalidInput."""
    wanted = (arguments or {}).get("checkpoint", "").strip()
    number = None
    if wanted:
        citation = parse_citation(wanted, "checkpoint")
        if citation.kind != "checkpoint":
            raise InvalidInput("That is not a checkpoint.", "Write it as K#3, or leave it out for the newest.")
        number = int(citation.target)
    answer = answer_recovery(memory, caller, number)
    return f"Go on with the work of the last session. What memory holds of it:\n\n{answer.text}"


# The tools that write. Facts from an agent wait for a person; decisions and commits are logged at once, and marked as
# the agent's until a person confirms them.

# words of a quote that may be believed
MIN_QUOTE_WORDS = 3
WAITS_NOTE = "It waits for the person's yes: do not count on it."


def answer_remember(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """Answer the tool memory_remember: a proposal; a fact where the person trusts this client's quotes and the
    quote is true."""
    quote, turn = given.get("quote", ""), given.get("turn", "")
    quoted_turn = _find_quoted_turn(memory, quote, turn) if quote.strip() else None
    change = {"fact": given["text"]}
    change |= {name: given[name] for name in ("domain", "confidence", "tags") if name in given}
    note = ""
    if get_write_policy(memory.config, caller.client) == POLICY_BELIEVE_QUOTED:
        if quoted_turn is not None:
            return _believe_quote(memory, caller, given, quoted_turn)
        note = " The quote stands in no turn of the person that a hook recorded." if quote else ""
    evidence = [{"citation": cite("turn", quoted_turn), "quote": quote}] if quoted_turn is not None else []
    reason = (
        "" if quoted_turn is not None or not quote else f"quotes “{quote[:300]}”, which stands in no turn of yours"
    )
    number = memory.inbox.propose("add", change, evidence=evidence, origin=caller.origin, reason=reason)
    return _proposal_answer(memory, number, note)


def _find_quoted_turn(memory: Memory, quote: str, turn: str) -> int | None:
    """Return the turn in which the person said these words, as a hook recorded it; None if there is none."""
    words = _quote_words(quote)
    if len(words.split()) < MIN_QUOTE_WORDS:
        return None
    number = 0
    if turn:
        citation = parse_citation(turn, "turn")
        if citation.kind != "turn":
            raise InvalidInput("turn is the citation of a turn.", "Write it as T#9, or leave it out.")
        number = int(citation.target)
    rows = memory.database.rows(
        "SELECT id, text FROM turns WHERE role = ?1 AND origin LIKE ?2 AND (?3 = 0 OR id = ?3) ORDER BY id DESC"
        " LIMIT 500",
        (PERSON_ORIGIN, f"{HOOK_ORIGIN}%", number),
    )
    return next((found for found, text in rows if f" {words} " in f" {_quote_words(text)} "), None)


def _quote_words(text: str) -> str:
    """Return a text's words as they stand, with what parts them made one space."""
    return " ".join(re.findall(r"[^\s.,;:!?¡¿\"“”«»()\[\]]+", text)).lower()


def _believe_quote(memory: Memory, caller: Caller, given: dict[str, Any], quoted_turn: int) -> ToolAnswer:
    source, words = memory.turns.get(quoted_turn), _quote_words(given["text"])
    negations = parse_sentence(given["text"]).negations
    stated = [one for one in extract_statements(source.text) if f" {words} " in f" {_quote_words(one)} "]
    if not any(parse_sentence(one).negations == negations and is_settled_statement(one) for one in stated):
        raise Conflict(
            "The fact says more than the words that are quoted.", "Quote the person's words as the fact."
        )
    number, new = memory.facts.remember(
        given["text"],
        actor=caller.origin,
        domain=given.get("domain", "general"),
        confidence=given.get("confidence", "high"),
        tags=given.get("tags", ()),
        evidence=[source.citation],
        verb=BELIEVE_VERB,
    )
    cited = cite("fact", number)
    state = "active" if new else "confirmed"
    text = f"{cited} is {state}: the person said so in {source.citation}."
    return ToolAnswer({"citation": cited, "waiting": False, "status": state}, text, (), (cited,))


def _proposal_answer(memory: Memory, number: int, note: str = "") -> ToolAnswer:
    """Answer a tool with the proposal that it made."""
    found = memory.inbox.get(number)
    waiting = found.state == "waiting"
    outcome = WAITS_NOTE if waiting else f"It was {found.state} before, and is not asked again."
    data = {"citation": found.citation, "waiting": waiting, "kind": found.kind, "state": found.state}
    return ToolAnswer(
        data, f"{found.citation} ({found.kind}). {outcome}{note}", (), (found.citation,) if waiting else ()
    )


def answer_confirm(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """Answer the tool memory_confirm: a proposal that a fact still holds."""
    citation = parse_citation(given["id"], "fact")
    if citation.kind == "global":
        raise InvalidInput("The person alone confirms a global fact.", f"Ask them: memoranda confirm {citation}.")
    if citation.kind != "fact":
        raise InvalidInput("Only facts are confirmed so.", "Name one: F#12.")
    number = memory.inbox.propose("confirm", {}, target=int(citation.target), origin=caller.origin)
    return _proposal_answer(memory, number)


def answer_log_decision(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """Answer the tool memory_log_decision. A decision that is logged again while it holds is the decision that is
    there."""
    if not may_capture(memory.config, "decisions"):
        raise Unsupported(
            "The person turned off that agents log decisions.", "memoranda config capture_decisions true"
        )
    title, chosen = given["title"], given["chosen"]
    known = next(
        (
            one
            for one in memory.decisions.get_many(memory.decisions.ids(limit=200))
            if (normal_form(one.title), normal_form(one.chosen)) == (normal_form(title), normal_form(chosen))
        ),
        None,
    )
    number = (
        known.id
        if known
        else memory.decisions.decide(title, chosen, actor=caller.origin, **_decision_fields(given))
    )
    made = memory.decisions.get(number)
    joined = cite("iteration", made.iteration_id) if made.iteration_id else None
    cited = made.citation
    note = f"{cited} was logged before." if known else f"Logged {cited}{f' in {joined}' if joined else ''}."
    mine = (
        ""
        if made.origin == PERSON_ORIGIN or made.confirmed_at
        else " It counts as yours until the person confirms it."
    )
    data = {"citation": cited, "decision_id": number, "iteration": joined, "duplicate": known is not None}
    return ToolAnswer(data, note + mine, (), () if known else (cited,))


def _decision_fields(given: dict[str, Any]) -> dict[str, Any]:
    """Return the optional arguments of a decision that were given."""
    names = ("context", "alternatives", "rationale", "impact", "phase")
    return {name: given[name] for name in names if name in given}


def answer_log_commit(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """Answer the tool memory_log_commit. What git has of a commit is kept as git tells it, with the decisions that
    its message names, if it was made here. A sha that is logged again is no error: only new links are added."""
    if not may_capture(memory.config, "commits"):
        raise Unsupported(
            "The person turned off that agents log commits.", "memoranda config capture_commits true"
        )
    numbers = list(dict.fromkeys(given.get("decision_ids", ())))
    known = {one.id for one in memory.decisions.get_many(numbers)}
    if missing := [number for number in numbers if number not in known]:
        raise NotFound(f"There is no decision {cite('decision', missing[0])}.", "Find it with memory_search.")
    by, iteration = caller.origin, given.get("iteration_id")
    if iteration is not None and (status := memory.iterations.get(iteration).status) != "active":
        raise Conflict(
            f"{cite('iteration', iteration)} was {status}, so nothing is booked on it.",
            "Leave iteration_id out: a commit belongs to the iteration of its time.",
        )
    source = timeline_repository(memory, os.getcwd())
    root = source.root if source else ""
    sha = _complete_sha(memory, root, given["sha"].strip().lower())
    new = bool(root) and record_commit(memory, root, sha, by, numbers)
    new = new or memory.commits.log(sha, message=given.get("message", ""), decisions=numbers, actor=by)
    found = memory.commits.get(sha)
    links = [link.decision for link in memory.commits.links_of_commit(found.id)]
    where = []
    if iteration is not None:
        memory.commits.book(found.id, iteration, actor=by)
        where = [f"in {cite('iteration', iteration)}"]
    where += [f"linked to {', '.join(links)}"] if numbers or (new and links) else []
    note = f"Logged [{found.citation}]" if new else f"[{found.citation}] was known"
    note = ", ".join([note, *where]) if new or where else f"{note}; nothing else changed"
    data = {"citation": found.citation, "duplicate": not new, "linked": links}
    return ToolAnswer(data, f"{note}.", (), (found.citation,) if new or where else ())


def _complete_sha(memory: Memory, root: str, sha: str) -> str:
    """Return the whole hash of the commit that begins with `sha`, as `git commit` prints it, by git or else by the
    memory; unchanged unless exactly one commit begins so."""
    if not re.fullmatch("[0-9a-f]{7,39}", sha):
        return sha
    try:
        if root:
            with run_git(root, "rev-parse", "--verify", "--quiet", f"{sha}^{{commit}}") as child:
                if found := child.read_words(lambda: False, accepted=(0, 1)):
                    return str(found[0])
    except GitError:
        # several begin so, or git cannot be run
        pass
    try:
        return memory.commits.get(sha).sha
    except (NotFound, Conflict):
        return sha


# One client's connection to a memory: opens the file when it is first needed, answers calls on one thread, and notes
# each of them. Every error becomes an answer that says what is wrong and what to do.

ToolFunction = Callable[[Memory, Caller, dict[str, Any]], ToolAnswer]
TOOL_FUNCTIONS: dict[str, ToolFunction] = {
    "memory_search": answer_search,
    "memory_get": answer_get,
    "memory_context": answer_context,
    "memory_facts": answer_facts,
    "memory_remember": answer_remember,
    "memory_confirm": answer_confirm,
    "memory_log_decision": answer_log_decision,
    "memory_log_commit": answer_log_commit,
    "memory_get_iteration": answer_iteration,
    "memory_get_timeline": answer_timeline,
    "memory_stats": answer_stats,
}
WRITING_TOOLS = tuple(
    name for name, tool in TOOL_SCHEMA_BY_NAME.items() if not tool["annotations"]["readOnlyHint"]
)
# what a tool gives where the person's rules let a session see nothing
EMPTY_ANSWERS: dict[str, dict[str, Any]] = {
    "memory_search": {"results": [], "total": 0, "signals": []},
    "memory_get": {"text": "", "total": 0},
    "memory_context": {"pack": "", "tokens": 0, "citations": []},
    "memory_facts": {"facts": [], "total": 0},
    "memory_get_iteration": {"iteration": None, "decisions": [], "total_decisions": 0},
    "memory_get_timeline": {"events": [], "total": 0},
    "memory_stats": {},
}
NOTHING_FOUND_TEXT = "Nothing found in memory."
# that calls which follow each other without a pause may wait to be noted
MAX_UNNOTED_SECONDS = 1.0
_log = logging.getLogger("memoranda")


class McpSession:
    """Answers the calls of one connection, all on one thread. `session` is the key that the person gave to the server,
    empty if none."""

    def __init__(self, location: Location, session: str = "", clock: Clock = utc_now) -> None:
        self._location = location
        self._given = session
        self._clock = clock
        self._made_up = f"mcp-{clock()[:19].replace(':', '')}-{os.getpid()}"
        self._memory: Memory | None = None
        self._settings: tuple[object, ...] = ()
        # calls that are still to be noted
        self._notes: list[tuple[Caller, dict[str, Any]]] = []
        # when the first of them came
        self._first = 0.0
        # stops what is being read, from another thread
        self.interrupt: Callable[[], None] = lambda: None

    def call_tool(
        self, name: str, arguments: object, meta: Mapping[str, Any] | None, client: object
    ) -> ToolAnswer:
        """Answer one call of a tool; never raises for what a client did. Raise KeyError for a tool that there is
        not."""
        tool = TOOL_SCHEMA_BY_NAME[name]
        return self._answer_call(
            name, meta, client, lambda memory, who: self._run_tool(memory, who, tool, arguments)
        )

    def read_resource(self, uri: str, meta: Mapping[str, Any] | None, client: object) -> ToolAnswer:
        """Answer a reading of a resource; as `call_tool`."""

        def run(memory: Memory, who: Caller) -> ToolAnswer:
            if why_read_denied(memory.config, who.client, who.session):
                return ToolAnswer({}, NOTHING_FOUND_TEXT)
            return answer_resource(memory, who, uri)

        return self._answer_call("resources/read", meta, client, run)

    def get_recovery_prompt(
        self, arguments: dict[str, str] | None, meta: Mapping[str, Any] | None, client: object
    ) -> ToolAnswer:
        """Return the text of the prompt that gives what a session needs; as `call_tool`."""

        def run(memory: Memory, who: Caller) -> ToolAnswer:
            return ToolAnswer({}, make_recovery_prompt(memory, who, arguments))

        return self._answer_call("prompts/get", meta, client, run)

    def note_calls(self) -> None:
        """Note the calls that were answered since the last time, in one transaction. What keeps them from being noted
        is logged, and nothing else."""
        notes, self._notes = self._notes, []
        if not notes or self._memory is None or self._memory.database.read_only:
            return
        try:
            with self._memory.database.write(notes[-1][0].origin, "call") as write:
                for who, note in notes:
                    if note["writes"] or not who.own:
                        note_agent_session(write, who.session, who.client, who.model)
                    note_agent_call(write, client=who.client, session=who.session, door="mcp", **note)
        except MemorandaError as error:
            _log.warning("calls could not be noted: %s", error)

    def close(self) -> None:
        """Close the memory. On the thread that answers."""
        self.note_calls()
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def _run_tool(self, memory: Memory, who: Caller, tool: dict[str, Any], arguments: object) -> ToolAnswer:
        """Check the arguments of a call and the caller's rights, and run the tool."""
        name = tool["name"]
        given = check_arguments(tool, arguments)
        if name in WRITING_TOOLS:
            if get_write_policy(memory.config, who.client) == POLICY_OFF:
                raise Unsupported(
                    f"The person lets {who.client} read this memory, not write.",
                    f"They can change it: memoranda config trust.mcp.{who.client} propose",
                )
        elif why_read_denied(memory.config, who.client, who.session):
            return ToolAnswer(dict(EMPTY_ANSWERS[name]), NOTHING_FOUND_TEXT)
        return TOOL_FUNCTIONS[name](memory, who, given)

    def _answer_call(
        self,
        name: str,
        meta: Mapping[str, Any] | None,
        client: object,
        run: Callable[[Memory, Caller], ToolAnswer],
    ) -> ToolAnswer:
        """Open the memory, find out who calls, and answer; every error becomes an answer, and the call is noted."""
        start = time.perf_counter()
        who = step = None
        problem = ""
        try:
            if until := get_pause_end(self._location.path, self._clock()):
                return _error_answer(
                    "paused", f"The person paused memory until {format_local_time(until)}.", "Go on without it."
                )
            memory = self._open_memory(name in WRITING_TOOLS)
            who = caller_of(meta, client, self._given, self._made_up, memory.database)
            before = memory.database.last_step
            answer = run(memory, who)
            step = memory.database.last_step if memory.database.last_step != before else None
            if step is not None:
                if memory.database.here is not None:
                    # another may be checked out since the server was started
                    self._location.branch = memory.database.here.branch
                answer = answer._replace(
                    data={**answer.data, "memory": self._location.as_dict()},
                    text=f"{answer.text} In {make_harmless(self._location.where)}.",
                )
        except MemorandaError as error:
            problem = error.code
            answer = _error_answer(error.code, error.message, error.next)
        except Exception as error:
            _log.exception("%s failed", name)
            problem, defect = "defect", Defect(error)
            answer = _error_answer(defect.code, defect.message, defect.next)
        if who is not None:
            note = {
                "name": name,
                "milliseconds": (time.perf_counter() - start) * 1000,
                "tokens": count_tokens(answer.text),
                "problem": problem,
                "reads": answer.reads,
                "writes": answer.writes,
                "step": step,
            }
            self._notes.append((who, note))
            if len(self._notes) == 1:
                self._first = start
            elif start - self._first >= MAX_UNNOTED_SECONDS:
                self.note_calls()
        return answer

    def _open_memory(self, writes: bool) -> Memory:
        """Return the memory, opened anew when the person's settings or the file itself are others than they were. One
        that is not there yet is made by a call that writes."""
        if self._location.problem is not None:
            # the person may have chosen since
            self._location = locate(None, os.environ, os.getcwd())
        state = (
            read_file_stamp(user_settings_path()),
            read_file_stamp(project_settings_path(self._location) or ""),
            read_file_identity(self._location.path),
        )
        if self._memory is not None and state != self._settings:
            self.close()
        if self._memory is None:
            if not (writes or self._location.problem or os.path.lexists(self._location.path)):
                raise NotFound("There is no memory of this project yet.", "memory_log_decision begins one.")
            self._memory = Memory(self._location, "mcp", self._clock)
            self.interrupt = self._memory.database.interrupt
            self._settings = (*state[:2], read_file_identity(self._location.path))
        return self._memory


def _error_answer(code: str, message: str, step: str) -> ToolAnswer:
    """Return the answer that says what went wrong and what to do."""
    text = f"{message} {step}".strip()
    return ToolAnswer({"error": {"code": code, "message": message, "next": step}}, text, failed=True)
