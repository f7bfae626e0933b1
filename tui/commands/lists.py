"""The commands list and timeline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Annotated, Any, NamedTuple

from store.base import models, vocabulary
from store.base.clock import format_age, format_how_long_ago, format_local_time
from store.base.errors import InvalidInput
from store.base.models import as_json
from store.conversations.sessions import Sessions
from store.conversations.summaries import Summaries
from store.exchange.backups import Backup, find_backups
from store.ingest.runner import list_discarded
from store.memory import Memory
from store.records.commits import read_moment
from store.records.facts import AGE_STATES
from store.records.workflow import OPEN_STATUSES
from store.search.lookup import records_by_key
from store.text.display import format_count, shorten, visible
from store.upkeep.as_of import PastMemory, point_in_time, read_past
from tui.commands import record_lines
from tui.commands.call import Call, Outcome
from tui.commands.record_lines import empty_list_line, entry_line
from tui.input.arguments import IterationText, MomentText, Shown, UsageError, verb

PAST_KINDS = ("facts", "decisions", "tasks")
FILTERS = ("words", "domain", "status", "origin", "tag", "scope", "type", "iteration", "since")


class Narrowing(NamedTuple):
    """What a list is narrowed to."""

    words: Sequence[str] = ()
    all: bool = False
    domain: str | None = None
    status: str | None = None
    origin: str | None = None
    tag: str | None = None
    scope: str | None = None
    sort: str | None = None
    type: str | None = None
    iteration: int | None = None
    since: str = ""
    discarded: bool = False
    summaries: bool = False


class Listing(NamedTuple):
    """How records of a kind are listed: what reads so many of them, the options that the kind has, and the line and the
    JSON of each."""

    read: Callable[[Memory, int, Narrowing], Sequence[Any]]
    options: str
    line: Callable[[Any, str], str]
    json: Callable[[Any], object] = as_json


def fact_filters(words: Sequence[str], domain: str | None) -> tuple[str, str | None]:
    """Return the words and the domain of a list of facts; a single word that names a domain is the domain."""
    if len(words) == 1 and domain is None and words[0].lower() in vocabulary.DOMAINS:
        return "", words[0].lower()
    return " ".join(words), domain


def read_facts(memory: Memory, most: int, narrow: Narrowing) -> list[models.Fact | models.GlobalFact]:
    """Read the global facts first: they are few, and a limit does not hide them."""
    status, scope = narrow.status, narrow.scope
    words, domain = fact_filters(narrow.words, narrow.domain)
    # a state of those in force, as `is:` and the chips call it
    aged = status in AGE_STATES
    active = aged or status == "pinned" or not (narrow.all or status)
    filters: dict[str, Any] = {
        "statuses": ("active",) if active else vocabulary.FACT_STATUSES if narrow.all else (status,),
        "state": AGE_STATES.index(str(status)) if aged else None,
        "pinned": True if status == "pinned" else None,
        "domain": domain,
        "origin": narrow.origin,
        "tag": narrow.tag,
        "words": words,
        "sort": narrow.sort or "oldest",
        "limit": most,
    }
    shared = memory.globals.order(memory.now, **filters) if scope in (None, "global") else ()
    found: list[models.Fact | models.GlobalFact] = [*memory.globals.get_many(shared)]
    if not (scope == "global" and shared):
        found += memory.facts.get_many(memory.facts.ids(memory.now, scope=scope, **filters))
    return found


def read_decisions(memory: Memory, most: int, narrow: Narrowing) -> list[models.Decision]:
    statuses = vocabulary.DECISION_STATUSES if narrow.all else ("active",)
    ids = memory.decisions.ids(statuses=statuses, iteration_id=narrow.iteration, limit=most)
    return memory.decisions.get_many(ids)


def read_tasks(memory: Memory, most: int, narrow: Narrowing) -> list[models.Task]:
    named = (narrow.status.replace(" ", "_").replace("-", "_"),) if narrow.status else OPEN_STATUSES
    statuses = vocabulary.TASK_STATUSES if narrow.all else named
    return memory.tasks.get_many(memory.tasks.ids(statuses=statuses, iteration_id=narrow.iteration, limit=most))


def read_iterations(memory: Memory, most: int, narrow: Narrowing) -> list[tuple[models.Iteration, int, int]]:
    """Read iterations, each with how many decisions and commits belong to it."""
    found = memory.iterations.get_many(memory.iterations.ids(most))
    belonging = memory.iterations.count_belonging([one.id for one in found])
    return [(one, *belonging[one.id]) for one in found]


def iteration_json(found: tuple[models.Iteration, int, int]) -> dict[str, object]:
    return {**as_json(found[0]), "decisions": found[1], "commits": found[2]}


def read_events(memory: Memory, most: int, narrow: Narrowing) -> list[models.Event]:
    kind, number = narrow.type or "", narrow.iteration
    ids = memory.events.ids(event_type=kind, iteration_id=number, since=narrow.since, limit=most)
    return memory.events.get_many(ids)


Conversation = tuple[models.Session, list[models.Summary], bool]


def read_sessions(memory: Memory, most: int, narrow: Narrowing) -> list[Conversation]:
    """Read sessions, each with its summaries, and whether these are shown."""
    found = Sessions(memory.database).list_newest(most)
    return [(one, Summaries(memory.database).active(one.id), narrow.summaries) for one in found]


def session_line(found: Conversation, now: str) -> str:
    one, summaries, shown = found
    when = format_local_time(one.ended_at or one.last_at)
    state = f"ended {when}" if one.ended_at else f"last said {when}"
    lines = [f"  [{summary.citation}] {summary.prompt_line}" for summary in summaries if shown]
    return "\n".join([f"{one.id}  {format_count(one.turns, 'turn')}, {state}", *lines])


def session_json(found: Conversation) -> dict[str, object]:
    return {**as_json(found[0]), "summaries": [as_json(summary) for summary in found[1]]}


def discarded_line(one: dict[str, str], now: str) -> str:
    """Format a discarded text: when it was said, what, why it was discarded, and when it is deleted."""
    said = f"{format_age(now, one['at']):>6}  {one['role']:<9}  {shorten(one['text'], 100)}"
    gone = f"gone {format_local_time(one['until'])}"
    return f"{said}\n        {one['why']}, in {shorten(one['session'], 40)}; {gone}"


def backup_line(one: Backup, now: str) -> str:
    looked = f"intact {format_how_long_ago(now, one.verified_at)}" if one.verified_at else "never checked"
    verdict = f"DAMAGED: {visible(one.problem)}" if one.problem else looked
    size = f"{one.size:>13,}" if one.size is not None else f"{'gone':>13}"
    by = "daily" if one.scheduled else "by hand"
    return f"{format_local_time(one.made_at):>17}  {size}  {by:<7}  {verdict}  {visible(one.name)}"


LISTINGS = {
    "facts": Listing(read_facts, "words all domain status origin tag scope sort", record_lines.fact_line),
    "decisions": Listing(read_decisions, "all iteration", lambda one, now: entry_line("decision", one)),
    "tasks": Listing(read_tasks, "all status iteration", record_lines.task_line),
    "iterations": Listing(read_iterations, "", lambda one, now: record_lines.iteration_line(*one), iteration_json),
    "events": Listing(read_events, "type iteration since", lambda one, now: entry_line("event", one)),
    "sessions": Listing(read_sessions, "discarded summaries", session_line, session_json),
    "checkpoints": Listing(
        lambda memory, most, narrow: memory.checkpoints.list_newest_first(most, every=narrow.all),
        "all",
        lambda one, now: record_lines.checkpoint_line(one),
    ),
    "backups": Listing(lambda memory, most, narrow: find_backups(memory.database), "", backup_line, asdict),
}
EMPTY_LISTS = {
    "facts": 'No facts here. Add one: memoranda remember "team of 5"',
    "decisions": 'No decisions yet. Record one: memoranda decide "Use SQLite" --chosen "SQLite, WAL"',
    "tasks": 'No tasks here. Add one: memoranda task add "renew the certificate"',
    "iterations": 'No iterations yet. Start one: memoranda iteration start feature "store invoices"',
    "events": "No events here. Log one: memoranda iteration event phase_completed --phase design",
    "sessions": "No conversations yet. Bring one in: memoranda ingest FILE",
    "checkpoints": "No checkpoints yet. Take one: memoranda checkpoint before",
    "backups": "No backup yet; memoranda backup makes one.",
}
NOTHING_DISCARDED = (
    "Nothing is set aside. Greetings, thanks and what tools wrote are listed here for a day after they"
    " were written."
)


def find_listing(narrow: Narrowing, at: str | None = None) -> tuple[str, Narrowing]:
    """Return the kind that is listed, facts unless the first word names another, and what it is narrowed to. Raise
    UsageError for an option that the kind does not have."""
    kind, options = "--at", "words all"
    if at is None:
        named = bool(narrow.words) and narrow.words[0] in LISTINGS
        kind = narrow.words[0] if named else "facts"
        narrow = narrow._replace(words=narrow.words[named:])
        options = LISTINGS[kind].options
    for name, value in narrow._asdict().items():
        if name not in options.split() and value not in (None, False, "", [], ()):
            what = f"word “{visible(value[0][:40])}”" if name == "words" else f"option --{name}"
            has = ", ".join(f"--{one}" for one in f"{options} limit".split() if one != "words")
            raise UsageError(f"list {kind} has no {what}; it has: {has}.", "See `memoranda list --help`.")
    return kind, narrow


@verb("list", looks=True)
def list_records(
    call: Call,
    words: Annotated[list[str], Shown("KIND|WORDS", tuple(dict.fromkeys((*LISTINGS, *vocabulary.DOMAINS))))] = [],
    *,
    at: Annotated[str | None, Shown("TIME")] = None,
    all: bool = False,
    domain: Annotated[str | None, Shown("D", vocabulary.DOMAINS)] = None,
    status: Annotated[str | None, Shown("S", (*vocabulary.FACT_STATUSES, "pinned", *AGE_STATES))] = None,
    origin: Annotated[str | None, Shown("O")] = None,
    tag: str | None = None,
    scope: Annotated[str | None, Shown("S", vocabulary.SCOPES)] = None,
    sort: Annotated[str | None, Shown("ORDER", vocabulary.FACT_ORDERS)] = None,
    type: str | None = None,
    iteration: IterationText = None,
    since: MomentText = None,
    discarded: bool = False,
    summaries: bool = False,
    limit: int = 50,
) -> Outcome:
    """List facts, the longest unconfirmed first; or decisions, tasks, checkpoints and more, newest first.

    words: facts, decisions, tasks, iterations, events, sessions, checkpoints or backups; of facts, a domain or words
    at: facts, decisions and tasks as they stood then: 2026-11-01, 2d, last monday, v1.0, a step of history, K#3, D#12
    all: the replaced and forgotten, the done, or the automatic ones too
    domain: only facts of this domain
    status: of facts active, superseded, forgotten, or their state: pinned, fresh, aging, low, stale; of tasks pending …
    origin: who wrote it: user, agent, import:notes …
    tag: only facts with this tag
    scope: only facts of this scope: project, session or global
    sort: facts by oldest (usual), newest, domain, text or state
    type: only events of this type
    iteration: only decisions, tasks or events of this iteration, I#5
    since: only events since 2026-11-01, 2d, last monday, v1.0
    discarded: instead of sessions: what was set aside until a day after it was written, and why
    summaries: what each session was about too: its active summaries
    """
    number = call.optional(iteration, "iteration")
    start = read_moment(call.memory.database, since) if since else ""
    narrow = Narrowing(
        words, all, domain, status, origin, tag, scope, sort, type, number, start, discarded, summaries
    )
    kind, narrow = find_listing(narrow, at)
    if at is not None:
        return list_past(call, at, narrow, limit)
    every = "list tasks --all" if kind == "tasks" else f"list {kind}"
    empty = empty_list_line(every, EMPTY_LISTS[kind], *(getattr(narrow, name) for name in FILTERS))
    memory, listing, now = call.memory, LISTINGS[kind], call.memory.now
    if discarded:
        texts = list_discarded(memory.database, now, limit + 1)
        return call.listed(texts, limit, [NOTHING_DISCARDED], lambda one: discarded_line(one, now), dict)
    found = listing.read(memory, limit + 1, narrow)
    note = _note_unlisted(call, kind, all)
    if note and kind == "checkpoints":
        empty = []
    outcome = call.listed(found, limit, empty, lambda one: listing.line(one, now), listing.json)
    outcome.lines += [note] if note else []
    return outcome


def _note_unlisted(call: Call, kind: str, every: bool) -> str:
    """Return what is said below a list of what it does not show."""
    if kind == "facts" and (why := call.memory.globals.read_problem):
        return f"Your global facts are not shown: {why}"
    hidden = call.memory.checkpoints.count_automatic() if kind == "checkpoints" and not every else 0
    themselves = "itself" if hidden == 1 else "themselves"
    return f"{hidden:,} taken by {themselves} not shown: --all shows them" if hidden else ""


def list_past(call: Call, at: str, narrow: Narrowing, limit: int) -> Outcome:
    """List the records of some kinds as they stood at a moment, in the usual order of their lists."""
    if unknown := [word for word in narrow.words if word not in PAST_KINDS]:
        raise InvalidInput(
            f"There is nothing called “{unknown[0][:40]}” to look at.", f"Choose: {', '.join(PAST_KINDS)}."
        )
    when = point_in_time(call.memory, at)
    lines = [f"As of {when.words}"]
    data = {"at": when.at, "seq": when.seq}
    with PastMemory(call.location, call.memory.database.door, read_past(call.memory, when)) as then:
        for kind in [one for one in PAST_KINDS if one in (narrow.words or PAST_KINDS)]:
            found = LISTINGS[kind].read(then, -1, Narrowing(all=narrow.all))
            shown = [LISTINGS[kind].line(one, then.now) for one in found[:limit]] or ["none"]
            more = record_lines.more_line(len(found) - limit, limit)
            lines += ["", f"{kind.upper()} {len(found):,}", *shown, *more]
            data[kind] = [as_json(one) for one in found[:limit]]
    return Outcome(data=lambda: data, lines=lines)


@verb(reads=True, looks=True)
def timeline(
    call: Call,
    *,
    since: MomentText = None,
    before: MomentText = None,
    kind: Annotated[list[str], Shown("KIND", vocabulary.TIMELINE_KINDS)] = [],
    iteration: IterationText = None,
    limit: int = 50,
) -> Outcome:
    """Decisions, commits, events and iterations, newest first.

    before: up to, and without, this time
    kind: decision, commit, event … (repeatable)
    """
    memory = call.memory
    start, end = (read_moment(memory.database, text) if text else "" for text in (since, before))
    number = call.optional(iteration, "iteration")
    keys = [key for key, _ in memory.timeline.stream(kind, start, end, limit + 1, number)]
    found = records_by_key(memory.database, keys)
    shown = [(vocabulary.unpack_key(key)[0], found[key]) for key in keys if key in found]
    return call.listed(
        shown,
        limit,
        empty_list_line("timeline", "Nothing happened here yet.", kind, start, end, number),
        lambda one: entry_line(*one),
        lambda one: {"kind": one[0], **as_json(one[1])},
    )
