"""The tools that read: each takes a memory, the caller and checked arguments, and gives an answer. The resources and
the prompt, which give the same."""

import json
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from store.base.citations import Citation, named, parse
from store.base.errors import InvalidInput, MemorandaError, NotFound
from store.base.models import Chunk, Decision, Fact, GlobalFact, Record
from store.base.vocabulary import DOMAINS, FILE, SCOPES
from store.context.acceptance import accepted
from store.doors.mcp.answers import SNIPPET, AnswerItem, ToolAnswer, listed, of_lines, place, short, wrapped
from store.doors.mcp.caller import Caller
from store.doors.mcp.items import Describer, whole
from store.doors.session import pack
from store.doors.session.recovery import recovery_pack
from store.doors.trust import denied
from store.memory import Memory
from store.personal.beside import beside
from store.records.ageing import STATES, state_sql
from store.search import linked_records, lookup
from store.search.query.filters import check
from store.search.query.query_parser import AGEING, hints

COUNTED = 2_000  # facts that are counted beyond those listed
SCHEME = "memory://"  # of the resources
LETTERS = {"facts": "F", "decisions": "D"}
DECISIONS = 200  # that are listed
ABOUT = ("domain", "confidence", "impact", "tags", "evidence", "session", "role")  # fields that no text says
SPARE = 20  # hits that are asked for beyond those wanted, in the place of those that may not be sent
STATUSES = ("active", *AGEING, "superseded", "forgotten", "contradicted", "pinned")
STALE_ASKED = ("stale", "forgotten", "superseded", "contradicted")  # states in which a stale fact may be listed


class Written(NamedTuple):
    """Who wrote a fact."""

    id: int
    origin: str
    source: str


def search(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """memory_search."""
    limit = given.get("limit") or given.get("maxResults") or 20
    start = place(given.get("cursor", ""))
    scope = given.get("scope", "")
    asked_for = given.get("status", "")
    if scope not in SCOPES and (denied(memory.config, caller.client, scope) if scope else ""):
        return _nothing(given["query"])
    check(memory.database, given["query"])
    _sync_files(memory)
    found = memory.search(
        given["query"],
        start + limit + SPARE,
        kinds=tuple(given.get("kinds", ())),
        domain=given.get("domain", ""),
        status=asked_for,
        since=memory.typed_moment(given["since"]) if "since" in given else "",
        before=memory.typed_moment(given["before"]) if "before" in given else "",
        iteration_id=given.get("iteration_id", 0),
        min_score=given.get("minScore", 0.0),
        scope=scope if scope in SCOPES else "",
    )
    describe = Describer(memory, caller)
    stale_too = asked_for in STALE_ASKED or any(f"is:{word}" in given["query"] for word in STALE_ASKED)
    hits = [
        hit for hit in found.hits if not describe.hidden(hit.record) and (stale_too or not describe.stale(hit.record))
    ]
    total = found.total - (len(found.hits) - len(hits))
    sources = memory.config["citations"]
    items = []
    for number, hit in enumerate(hits[start:], start=start + 1):
        text = whole(hit.record) if isinstance(hit.record, Decision) else ""
        snippet = text if 0 < len(text) <= SNIPPET else short(hit.snippet)
        scores = {"score": round(hit.score, 3)}
        scores |= {"similarity": round(hit.similarity, 3)} if hit.similarity is not None else {}
        why = ", ".join(f"{name} {value:.2g}" for name, value in hit.why.items())
        if sources == "on" or (sources == "auto" and isinstance(hit.record, Chunk)):
            snippet = f"{snippet}\nSource: {hit.citation}"
        items.append(describe.item(hit.record, snippet, number, **scores, level=hit.level, why=why))
    signals = ", ".join(found.signals)
    exact = "" if found.exact else "; none holds it word for word"
    heading = f"{total:,} found by {signals}{exact}." if items else "Nothing found in memory: say so, and do not guess."
    return listed(
        "results",
        items,
        start=start,
        limit=limit,
        total=total,
        heading=heading,
        more={"signals": list(found.signals), "model": found.provider},
        notes=[*hints(given["query"]), *found.notes],
    )


def _sync_files(memory: Memory) -> None:
    """Sync the files that a person keeps so, if they or the memory changed: what they deleted there is not found."""
    try:
        memory.sync.run_due()
    except MemorandaError:
        return  # the application and the next command say it


def _nothing(query: str) -> ToolAnswer:
    heading = "Nothing found in memory: say so, and do not guess."
    return listed("results", [], limit=0, total=0, heading=heading, more={"signals": []})


def get(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """memory_get."""
    path, cited = given.get("path", ""), given.get("citation", "")
    if bool(path) == bool(cited):
        raise InvalidInput("memory_get takes a citation or a path.", 'citation: "F#12", or path: "MEMORY.md".')
    first, count = given.get("from", 1), given.get("lines")
    if path:
        return _document(memory, path, first, count)
    citation = named(cited)
    if citation.kind == "document":
        last = max(citation.last, citation.first)
        wanted = count if count is not None else last - citation.first + 1
        return _document(memory, str(citation.target), given.get("from", citation.first), wanted)
    if citation.kind == "checkpoint":
        return recovery(memory, caller, int(citation.target))
    record = lookup.lookup(memory.database, citation)
    describe = Describer(memory, caller)
    if why := describe.hidden(record):
        raise NotFound(f"{citation} is not for you: {why}", "Ask the person, or search for something else.")
    return _record(memory, describe, record, first, count)


def recovery(memory: Memory, caller: Caller, number: int | None) -> ToolAnswer:
    """Return what a checkpoint holds, for an agent that goes on with it; the newest without a number."""
    made = recovery_pack(memory, caller.client, caller.session, number)
    pack.keep(memory, made, caller.client, caller.session)
    text = made.text or "That checkpoint holds nothing for you: no task, no decision, no conversation."
    return ToolAnswer({"text": text, "tokens": made.tokens, "citations": list(made.citations)}, text, made.citations)


def _document(memory: Memory, path: str, first: int, count: int | None) -> ToolAnswer:
    """Return lines of MEMORY.md or of a file below memory/, as they are on the disk; of nothing else."""
    if path != "MEMORY.md" and not path.startswith("memory/"):
        raise InvalidInput("Only MEMORY.md and memory/**/*.md can be opened.", "Give a path as in a citation.")
    found = memory.documents.read(path)
    lines = found.text.split("\n")
    if first > max(1, len(lines)):
        raise InvalidInput(f"{path} has {len(lines):,} lines.", "Ask for an earlier one.")
    answer = of_lines(lines, first, count, lambda text: {"path": path, "text": text}, f"{path}, {len(lines):,} lines:")
    cited = str(Citation("document", path, first, max(first, first + answer.data["lines"] - 1)))
    return ToolAnswer({"citation": cited, **answer.data}, answer.text, (cited,))


def _record(memory: Memory, describe: Describer, record: Record, first: int, count: int | None) -> ToolAnswer:
    """Return a record whole, with what belongs to it."""
    fields = describe.fields(record, "")
    fields.pop("snippet")
    for name in ("alternatives", "rationale", "context", "impact", "chosen", "evidence", "tags", "session", "role"):
        if value := getattr(record, name, None):
            fields[name] = [short(str(one)) for one in value] if isinstance(value, tuple) else short(str(value), 1_500)
    linked = linked_records.as_json(memory.database, record)
    related = [str(one["citation"]) for name in ("commits", "decisions") for one in _rows(linked.get(name))]
    if related:
        fields["related"] = related[:50]
    shown = describe.item(record).start.removeprefix("- ").strip()
    if related:
        shown = f"{shown}\nWith it: {', '.join(related[:50])}."
    about = "; ".join(f"{name}: {_one_line(fields[name])}" for name in ABOUT if name in fields)
    answer = of_lines(wrapped(whole(record)), first, count, lambda text: {**fields, "text": text}, shown, about)
    return ToolAnswer(answer.data, answer.text, (record.citation,))


def _one_line(value: object) -> str:
    return " ".join((", ".join(map(str, value)) if isinstance(value, list) else str(value)).split())


def _rows(value: object) -> Iterable[dict[str, Any]]:
    return value if isinstance(value, list) else ()


def context(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """memory_context: what bears on a task, whether it was sent before or not."""
    limit = given.get("max_tokens", pack.START_TOKENS)
    query = given.get("query", "")
    made = pack.task_pack(memory, caller.client, caller.session, query, limit=limit)
    number = pack.keep(memory, made, caller.client, caller.session)
    data: dict[str, Any] = {"pack": made.text, "tokens": made.tokens, "citations": list(made.citations)}
    text = made.text or "Nothing in memory bears on that."
    return ToolAnswer({**data, **({"injection": number} if number else {})}, text, made.citations)


def facts(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """Answer the tool memory_facts."""
    status = given.get("status", "active") or "active"
    if status not in STATUSES:
        raise InvalidInput("There is no such status.", f"Choose one of: {', '.join(STATUSES)}.")
    limit, start = given.get("limit", 50), place(given.get("cursor", ""))
    # most facts are active: SQLite would take them all from an index, and sort them, to list the newest
    column = "+status" if status in ("active", *AGEING) and "domain" not in given else "status"
    where = [
        f"{column} = :status",
        "id NOT IN (SELECT fact_id FROM mutes)",
        "(scope <> 'session' OR session = :session)",
    ]
    if status == "pinned":
        where.append("pinned")
    if "domain" in given:
        where.append("domain = :domain")
    if status in AGEING:
        where.append(f"{state_sql(memory.now)} = {STATES.index(status)}")
    elif status in ("active", "pinned"):  # a stale one is for the person to confirm, and no answer
        where.append(f"{state_sql(memory.now)} <> {STATES.index('stale')}")
    holds = " AND ".join(where)
    found = f"FROM facts WHERE {holds} AND id NOT IN (SELECT value FROM json_each(:hidden))"
    parameters = {
        "status": "active" if status in ("pinned", *AGEING) else status,
        "session": caller.session,
        "domain": given.get("domain", ""),
        "hidden": json.dumps(_only_in_files(memory)),
    }
    most = start + limit + COUNTED
    total: int = memory.database.value(f"SELECT count(*) FROM (SELECT 1 {found} LIMIT {most})", parameters)
    shared, describe = _global_facts(memory, caller, holds, parameters), Describer(memory, caller)
    items = [_fact(describe, fact) for fact in shared[start : start + limit]]
    rows = memory.database.rows(
        f"SELECT id {found} ORDER BY id DESC LIMIT :limit OFFSET :start",
        {**parameters, "limit": limit - len(items), "start": max(0, start - len(shared))},
    )
    items += [_fact(describe, fact) for fact in memory.facts.many([number for (number,) in rows])]
    total += len(shared)
    heading = (
        f"{total:,}{' or more' if total - len(shared) == most else ''} {status} facts."
        if total
        else f"No {status} facts."
    )
    return listed("facts", items, start=start, limit=limit, total=total, heading=heading)


def _only_in_files(memory: Memory) -> list[int]:
    """Return the ids of the facts that were written into a file, and that the person has not accepted."""
    rows = [
        Written(*row) for row in memory.database.rows("SELECT id, origin, source FROM facts WHERE origin = ?", (FILE,))
    ]
    yes = accepted(memory.database, rows) if rows else ()
    return [fact.id for fact in rows if fact.id not in yes]


def _global_facts(memory: Memory, caller: Caller, holds: str, parameters: dict[str, Any]) -> list[GlobalFact]:
    """Return the global facts for which a condition holds and which may be sent, newest first: they stand before the
    project's."""
    own = beside(memory.database)
    if own is None:
        return []
    every = f"SELECT id FROM facts WHERE scope = 'global' AND {holds} ORDER BY id DESC LIMIT {COUNTED}"
    rows = own.rows(every, parameters)
    describe = Describer(memory, caller)
    return [fact for fact in memory.globals.many([number for (number,) in rows]) if not describe.hidden(fact)]


def _fact(describe: Describer, fact: Fact | GlobalFact) -> AnswerItem:
    found = describe.fields(fact, "")
    text = short(fact.fact, 1_000)
    names = ("scope", "domain", "confidence", "age", "unconfirmed", "flagged")
    fields: dict[str, Any] = {name: found[name] for name in ("citation", *names) if name in found}
    notes = [fields[name] for name in names if name in fields]
    return AnswerItem(
        {**fields, "fact": text, "source": (fact.own if isinstance(fact, GlobalFact) else fact).source},
        f"- [{fact.citation}] ({'; '.join(notes)}) ",
        text,
    )


def iteration(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """memory_get_iteration."""
    if "id" in given:
        found = memory.iterations.get(given["id"])
    else:
        active = memory.iterations.active()
        newest = memory.iterations.ids(limit=1)
        if active is None and not newest:
            shown = "There is no iteration yet: work is not divided into any."
            return ToolAnswer({"iteration": None, "decisions": [], "total_decisions": 0}, shown)
        found = active or memory.iterations.get(newest[0])
    describe = Describer(memory, caller)
    fields = {
        "citation": found.citation,
        "id": found.id,
        "command": short(found.command, 200),
        "description": short(found.description),
        "status": found.status,
        "started_at": found.started_at,
        "completed_at": found.completed_at,
        "phases_completed": [short(str(one), 200) for one in found.phases_completed[:20]],
        "artifacts": [short(str(one), 200) for one in found.artifacts[:20]],
    }
    decisions = describe.shown(memory.decisions.many(linked_records.part(memory.database, "decisions", found.id)))
    start = place(given.get("cursor", ""))
    items = [describe.item(one) for one in decisions[start:]]
    ended = f" to {found.completed_at[:10]}" if found.completed_at else ""
    shown = f"[{found.citation}] {found.status}, {found.started_at[:10]}{ended}. {len(decisions)} decisions."
    head = describe.item(found)
    answer = listed(
        "decisions", [head, *items], start=start, limit=len(items) + 1, total=start + len(items) + 1, heading=shown
    )
    rows = answer.data["decisions"][1:]
    data = {**answer.data, "iteration": fields, "decisions": rows, "total_decisions": len(decisions)}
    data.pop("total")
    if "cursor" in data:
        data["cursor"] = str(start + len(rows))
    return ToolAnswer(data, answer.text, answer.reads)


def timeline(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """memory_get_timeline."""
    number = given["iteration_id"]
    found = memory.iterations.get(number)
    keys = [key for key, _ in memory.timeline.stream(iteration=number)][::-1]
    muted = memory.mutes.of_keys(keys)
    keys = [key for key in keys if key not in muted]
    start = place(given.get("cursor", ""))
    records = lookup.by_key(memory.database, keys[start : start + 200])
    describe = Describer(memory, caller)
    items = [describe.item(records[key]) for key in keys[start : start + 200] if key in records]
    heading = f"[{found.citation}] {short(found.command, 80)}, oldest first: {len(keys):,} events."
    return listed("events", items, start=start, limit=len(items), total=len(keys), heading=heading)


def stats(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """Answer the tool memory_stats."""
    from store.base.feature_flags import without
    from store.embedding.vectors import Vectors

    database = memory.database
    counts = memory.facts.counts(memory.now)
    tables = ("decisions", "iterations", "commits", "events", "tasks", "turns", "summaries", "checkpoints")
    serving = Vectors(database).serving
    figures: dict[str, Any] = {
        "facts": counts["active"],
        **{name: counts[name] for name in ("aging", "low", "stale")},
        **{table: database.value(f"SELECT count(*) FROM {table}") for table in tables},
        "proposals_waiting": memory.inbox.count(),
        "fts5": not without("fts5"),
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


def resource(memory: Memory, caller: Caller, uri: str) -> ToolAnswer:
    """Return what a resource says: `memory://facts`, `memory://decisions`, each `/12`. Raise NotFound."""
    name, _, number = uri.removeprefix(SCHEME).partition("/")
    if not uri.startswith(SCHEME) or name not in LETTERS:
        raise NotFound("There is no such resource.", "There are memory://facts and memory://decisions, each /ID.")
    if number:
        if not (number.isascii() and number.isdigit()):
            raise InvalidInput("The number of a record follows.", f"For example: {SCHEME}{name}/12")
        return get(memory, caller, {"citation": f"{LETTERS[name]}#{number}"})
    if name == "facts":
        return facts(memory, caller, {"limit": DECISIONS})
    describe = Describer(memory, caller)
    found = describe.shown(memory.decisions.many(memory.decisions.ids(limit=DECISIONS)))
    total = memory.database.value(
        "SELECT count(*) FROM decisions WHERE status = 'active' AND id * 16 + 1 NOT IN (SELECT key FROM muted)"
    )
    items = [describe.item(one) for one in found]
    heading = f"{total:,} decisions in force, newest first. memory_search finds one."
    return listed("decisions", items, limit=DECISIONS, total=total, heading=heading)


def recovery_prompt(memory: Memory, caller: Caller, arguments: dict[str, str] | None) -> str:
    """Return the text of the prompt `recover`. Raise NotFound, InvalidInput."""
    wanted = (arguments or {}).get("checkpoint", "").strip()
    number = None
    if wanted:
        citation = parse(wanted, "checkpoint")
        if citation.kind != "checkpoint":
            raise InvalidInput("That is not a checkpoint.", "Write it as K#3, or leave it out for the newest.")
        number = int(citation.target)
    answer = recovery(memory, caller, number)
    return f"Go on with the work of the last session. What memory holds of it:\n\n{answer.text}"
