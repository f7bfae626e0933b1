"""The memory for programs of others: `from store import Memory`. docs/api.md is made from the docstrings here.

Each function is a line or two over the part that does the work, as the verbs of the shell and the tools of agents are.
The examples run as tests, each in a new memory that docs/make.py fills.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Protocol

from store.base.citations import Citation, cite, parse_typed_citation
from store.base.clock import Clock, from_ms, utc_now
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.models import Checkpoint, Decision, Fact, GlobalFact, Proposal, Record, Step
from store.base.vocabulary import PURGEABLE_KINDS, SEARCHABLE
from store.context.builder import Context
from store.database.tombstones import is_purge_pending
from store.exchange.exporter import export_markdown, export_text, save_export
from store.exchange.importer import Import
from store.history.restore_plan import PlannedChange, Plans, RestorePlan, select_changes
from store.inbox.duplicates import find_similar_facts
from store.inbox.inbox import record_text
from store.librarian.answer import CitedSentence, LibrarianAnswer
from store.librarian.librarian import Librarian
from store.librarian.model_selection import open_named_model
from store.memory import Memory as Parts
from store.personal.memory import get_cited_globals
from store.projects.locating import locate
from store.purge.proof import find_traces
from store.records.commits import read_moment
from store.records.facts import AGE_STATES, clean_fact_text, text_hash
from store.records.tags import parse_tags
from store.search.lookup import get_record, records_by_key
from store.search.query_parser import require_valid_query
from store.search.results import Hit, SearchAnswer
from store.text.dates import parse_typed_moment
from store.text.fence import is_suspicious
from store.text.words import normalize_text
from store.upkeep.optional import find_sharing, with_shared_places
from store.upkeep.session_flush import summarize_ended_sessions

# what `store` exports of it, for type checkers
__all__ = [
    "CitedSentence",
    "Clock",
    "Context",
    "ExportReport",
    "Hit",
    "ImportReport",
    "LibrarianAnswer",
    "Memory",
    "PlannedChange",
    "Proof",
    "PurgeResult",
    "RestoreResult",
    "SearchAnswer",
    "parse_moment",
    "utc_now",
]
Moment = date | str
"""A `datetime`, a `date`, or what a person types: `2026-11-01`, `7d`, `last monday`, `v1.0`."""
Reference = int | str | Record
"""A record: its id, its citation, or itself."""
FactState = Literal["fresh", "aging", "low", "stale", "pinned", "flagged", "contradicted", "replaced", "forgotten"]
"""The state of a fact by its age, or another; `flagged` looks like an order to agents."""

_STATUS_OF_STATE = {"contradicted": "contradicted", "replaced": "superseded", "forgotten": "forgotten"}
_IMPORT_COLUMNS = ("text", "domain", "confidence", "tags", "scope", "at", "source", "pin", "key")
# of a table's cell that pins nothing
_PIN_WORDS = ("", "0", "false", "no")


class TextFile(Protocol):
    """What text can be written to."""

    def write(self, text: str, /) -> object: ...


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether a text is gone: `result` is `gone`, `stays` (in the `places`: citations and files) or `unfinished`
    (erasing waits, or a file could not be read). `files` is how many were read to the last byte."""

    result: Literal["gone", "stays", "unfinished"]
    places: tuple[str, ...]
    files: int


@dataclass(frozen=True, slots=True)
class PurgeResult:
    """What `purge` erased, or with `dry_run` would: citations. `remaining` are the places that keep the words, `proof`
    is None for a dry run."""

    purged: tuple[str, ...]
    remaining: tuple[str, ...]
    proof: Proof | None


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """What `restore` changed, or with `dry_run` would; `step` undoes it, `before` is the checkpoint taken just before.
    Both are None for a dry run."""

    changes: tuple[PlannedChange, ...]
    step: Step | None
    before: Checkpoint | None


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What `export` wrote: to which file (None for an open one), and how much."""

    path: Path | None
    size: int


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What `import_` brought, or with `dry_run` would: how many records are new, how many were known, how many were
    changed. `step` undoes the import of an export; of rows each is a step."""

    new: int
    known: int
    changed: int
    step: int | None


def parse_moment(text: str, now: datetime | None = None) -> datetime:
    """Return the moment that a text names, in the time zone of this machine: `2026-11-01`, `7d`, `yesterday 18:00`,
    `last monday`, `ayer a las tres`. What is relative is so to `now`. The functions of a memory take such words
    themselves, and also versions (`v1.0`). Raises InvalidInput.

    >>> parse_moment("2026-11-01").day
    1
    """
    at = parse_typed_moment(text, utc_now() if now is None else _format_moment(now))
    return datetime.fromisoformat(at).astimezone()


class Memory:
    """A memory, open: one SQLite file. `Memory.open` opens it, for one thread, and `with` closes it.

    What a function returns are records with `id`, `citation`, `text` and `created`, lists of them, or the results
    below. A record is named by its id, its citation (`"F#12"`) or itself; a moment by a `datetime`, a `date` or in
    words (`"7d"`, `"last monday"`, `"2026-11-01"`). Every error is a MemorandaError that says what to do next.

    `parts` holds the objects that do the work; these may change between versions.
    """

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.path = Path(parts.location.path)
        self.is_open = True

    def __repr__(self) -> str:
        state = "" if self.is_open else ", closed"
        return f"<Memory {self.path}{', read-only' if self.parts.location.look else ''}{state}>"

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        create: bool = False,
        read_only: bool = False,
        clock: Clock = utc_now,
    ) -> Memory:
        """Open the memory in a file; without a path that of this folder, as `memoranda open --where` names it. `create`
        makes one where there is none, `read_only` looks and writes nothing.

        Raises NotFound where there is none, NotOurs for a file that came from elsewhere, ForeignFile for one that is no
        memory.

        >>> with Memory.open("notes.db", create=True) as notes:
        ...     print(notes.remember("The wiki moves in May").citation)
        F#1
        """
        location = locate(None if path is None else os.fspath(path), os.environ, os.getcwd())
        if (read_only or not create) and not os.path.lexists(location.path):
            raise NotFound(f"There is no memory at {location.path}.", "To start one: Memory.open(…, create=True).")
        location.look = read_only
        return cls(Parts(location, "cli", clock))

    def close(self) -> None:
        """Close the file. Closing it again does nothing.

        >>> memory.close()
        >>> memory.is_open
        False
        """
        if self.is_open:
            self.is_open = False
            self.parts.close()

    # write

    def remember(
        self,
        text: str,
        *,
        domain: str = "general",
        confidence: str = "high",
        tags: str | Iterable[str] = (),
        scope: str = "project",
        at: Moment | None = None,
        source: str = "",
        pin: bool = False,
        key: str = "",
        actor: str = "user",
        even_if_purged: bool = False,
    ) -> Fact | GlobalFact:
        """Remember a fact, and return it. One that is known, in other capitals or spaces, is confirmed instead:
        `is_new` tells. `tags` are a list, or a text with commas; `at` is when it was learned, if not now; `source` is
        what it rests on. With scope `global` it is kept in the personal memory, for every project. The same `key` again
        writes nothing. A domain that is not in DOMAINS becomes a tag.

        Raises InvalidInput, and Purged for a text that was erased, unless `even_if_purged`.

        >>> fact = memory.remember("Backups run at night", tags="ops, backup", at="2026-11-02", source="minutes.md")
        >>> fact.citation, fact.tags, fact.created.day, fact.is_new
        ('F#3', ('ops', 'backup'), 2, True)
        >>> memory.remember("backups run at night.").is_new
        False
        """
        parts = self._use()
        given = dict[str, Any](
            domain=domain,
            confidence=confidence,
            tags=_split_tags(tags),
            at=self._past_moment(at),
            evidence=(source,) if source else (),
            pinned=pin,
            key=key,
            actor=actor,
            again=even_if_purged,
        )
        if scope == "global":
            number, is_new = parts.globals.remember(text, **given)
            [found] = get_cited_globals(parts.database, [number])
            return GlobalFact(replace(found.own, is_new=is_new)) if isinstance(found, GlobalFact) else found
        number, is_new = parts.facts.remember(text, scope=scope, **given)
        return replace(parts.facts.get(number), is_new=is_new)

    def decide(
        self,
        title: str,
        chosen: str,
        *,
        context: str = "",
        alternatives: str | Iterable[str] = (),
        rationale: str = "",
        impact: str = "medium",
        at: Moment | None = None,
        supersedes: Reference | None = None,
        key: str = "",
        actor: str = "user",
    ) -> Decision:
        """Record a decision, and return it: what was `chosen`, instead of which `alternatives`, and why. `at` is when
        it was made, if not now. The one that it `supersedes` is marked as replaced. The same `key` again writes
        nothing.

        Raises InvalidInput, NotFound, Conflict, Purged.

        >>> memory.decide("Queue", "PostgreSQL", alternatives=["Redis"], rationale="one server less").citation
        'D#2'
        """
        parts = self._use()
        number = parts.decisions.decide(
            title,
            chosen,
            context=context,
            alternatives=(alternatives,) if isinstance(alternatives, str) else list(alternatives),
            rationale=rationale,
            impact=impact,
            at=self._past_moment(at),
            supersedes=None if supersedes is None else _number_of(supersedes, "decision"),
            key=key,
            actor=actor,
        )
        return parts.decisions.get(number)

    def correct(self, id: Reference, text: str, *, actor: str = "user") -> Fact | Decision:
        """Replace the text of a fact, or what a decision chose; return the new one, which supersedes the old.

        Raises NotFound, InvalidInput, Conflict, Purged.

        >>> memory.correct("F#1", "We deploy on Thursdays").supersedes
        1
        """
        parts = self._use()
        if (named := _cite_one_of(id, "fact", "decision")).kind == "decision":
            return parts.decisions.get(parts.decisions.correct(int(named.target), text, actor=actor))
        return parts.facts.get(parts.facts.correct(int(named.target), text, actor=actor))

    def confirm(self, *ids: Reference, actor: str = "user") -> list[Fact | Decision]:
        """Record that facts, or decisions of agents, still hold: their ages start again. All of them or none.

        Raises NotFound, Conflict, InvalidInput.

        >>> [fact.text for fact in memory.confirm(1, "F#2")]
        ['We deploy on Tuesdays', 'Ana owns the billing service']
        """
        parts = self._use()
        kind, numbers = _one_kind(ids, "confirm")
        if kind == "decision":
            parts.decisions.confirm(numbers, actor=actor)
            return [*parts.decisions.get_many(numbers)]
        parts.facts.confirm(numbers, actor=actor)
        return [*parts.facts.get_many(numbers)]

    def forget(self, *ids: Reference, actor: str = "user") -> Step:
        """Hide facts or decisions, until undone; return the step of history. All of them or none.

        Raises NotFound, Conflict, InvalidInput.

        >>> step = memory.forget(1, 2)
        >>> [fact.citation for fact in memory.facts()], step.text
        ([], 'forget F#1 F#2')
        """
        parts = self._use()
        kind, numbers = _one_kind(ids, "forget")
        (parts.decisions if kind == "decision" else parts.facts).forget(numbers, actor=actor)
        return self._newest_step()

    def purge(self, *ids: Reference, query: str | None = None, dry_run: bool = False) -> PurgeResult:
        """Erase records for good, with all their versions, their history and their copies in backups, and prove that
        their words are gone. Name the records, or a `query` all of whose words they contain. This cannot be undone;
        `dry_run` says what would go.

        Raises NotFound, InvalidInput, Conflict, StorageError.

        >>> memory.purge("F#2", dry_run=True).purged
        ('F#2',)
        >>> memory.purge("F#2").proof.result
        'gone'
        """
        parts = self._use()
        if bool(ids) == bool(query):
            raise InvalidInput("Purging takes records or a query.", 'purge("F#12"), or purge(query="…").')
        if query:
            plan = parts.purge.plan(*parts.purge.list_by_words(parts.search, query))
        else:
            named = [_cite_one_of(one, "fact", *PURGEABLE_KINDS) for one in ids]
            plan = parts.purge.plan([(one.kind, int(one.target)) for one in named])
        plan = with_shared_places(parts, plan)
        purged = tuple(one.citation for one in plan.going)
        if dry_run:
            cut = plan.default_places()
            left = [place for index, place in enumerate(plan.places) if index not in cut]
            return PurgeResult(purged, tuple(place.citation for place in left), None)
        done = parts.purge.run_plan(plan)
        if sharing := find_sharing(parts):
            sharing.erase_purged(parts)
        proof = _prove(parts, plan.texts, plan.names, erased=not done.finished.pending)
        return PurgeResult(purged, tuple(place.citation for place in done.left), proof)

    # read

    def facts(
        self,
        *,
        words: str = "",
        domain: str | None = None,
        state: FactState | None = None,
        tag: str | None = None,
        scope: str | None = None,
        since: Moment | None = None,
        before: Moment | None = None,
        sort: Literal["newest", "oldest", "domain", "text", "state"] = "newest",
        limit: int | None = None,
    ) -> list[Fact | GlobalFact]:
        """List facts, the newest first; created from `since` on, and `before` a moment. `words` are a part of the text.
        Without a `state` those in force. A state is one of those by its age (`fresh`, `aging`, `low` in priority,
        `stale`), `pinned`, `flagged` (it looks like an order to agents), `contradicted`, `replaced` or `forgotten`.
        Those of every project are listed with scope `global`.

        Raises InvalidInput.

        >>> [fact.text for fact in memory.facts(tag="deploy", since="7d")]
        ['We deploy on Tuesdays']
        """
        parts = self._use()
        if state is not None and state not in (*AGE_STATES, "pinned", "flagged", *_STATUS_OF_STATE):
            states = ", ".join((*AGE_STATES, "pinned", "flagged", *_STATUS_OF_STATE))
            raise InvalidInput(f"There is no state {state} of a fact.", f"Choose one of: {states}.")
        narrowed = dict[str, Any](
            statuses=(_STATUS_OF_STATE.get(state or "", "active"),),
            state=AGE_STATES.index(state) if state in AGE_STATES else None,
            pinned=True if state == "pinned" else None,
            domain=domain,
            tag=tag,
            words=words,
            since=self._timestamp(since) or None,
            before=self._timestamp(before) or None,
            sort=sort,
            limit=-1 if limit is None or state == "flagged" else limit,
        )
        found: Sequence[Fact | GlobalFact]
        if scope == "global":
            found = get_cited_globals(parts.database, parts.globals.order(parts.now, **narrowed))
        else:
            found = parts.facts.get_many(parts.facts.ids(parts.now, scope=scope, **narrowed))
        if state == "flagged":
            found = [fact for fact in found if is_suspicious(fact.text)][:limit]
        return [*found]

    def decisions(
        self,
        *,
        words: str = "",
        status: Literal["active", "superseded", "forgotten"] = "active",
        since: Moment | None = None,
        before: Moment | None = None,
        limit: int | None = None,
    ) -> list[Decision]:
        """List decisions, the newest first; `words` are a part of what one says. Made from `since` on, and `before` a
        moment.

        Raises InvalidInput.

        >>> [(one.title, one.chosen) for one in memory.decisions(words="wal")]
        [('Database', 'SQLite in WAL mode')]
        """
        parts = self._use()
        first, end, sought = self._timestamp(since), self._timestamp(before) or "~", normalize_text(words)
        found = (
            one
            for one in parts.decisions.get_many(parts.decisions.ids(statuses=(status,)))
            if first <= one.decided_at < end and sought in normalize_text(record_text(one))
        )
        return list(islice(found, limit))

    def timeline(
        self,
        *,
        since: Moment | None = None,
        until: Moment | None = None,
        kinds: str | Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[Record]:
        """List what happened, the newest first: decisions, commits, events, iterations and checkpoints; `summary` is
        one more of the `kinds`. From `since` on, and before `until`.

        Raises InvalidInput.

        >>> [record.text for record in memory.timeline(kinds="decision")]
        ['Database: SQLite in WAL mode']
        """
        parts = self._use()
        stream = parts.timeline.stream(
            _listed(kinds), self._timestamp(since), self._timestamp(until), -1 if limit is None else limit
        )
        keys = [key for key, _ in stream]
        found = records_by_key(parts.database, keys)
        return [found[key] for key in keys if key in found]

    def get(self, citation: str) -> Record:
        """Return the record that a citation names: `F#12`, `D#3`, `C#a1b2c3d`, `notes.md#L10-L22`.

        Raises NotFound, InvalidInput.

        >>> memory.get("D#1").rationale
        'one file to copy'
        """
        return get_record(self._use().database, parse_typed_citation(citation))

    def search(
        self,
        query: str,
        *,
        kinds: str | Sequence[str] | None = None,
        since: Moment | None = None,
        before: Moment | None = None,
        limit: int = 20,
    ) -> SearchAnswer:
        """Search all records by words and meaning; iterate over the hits, the best first. The query may hold filters
        (`kind:decision is:stale tag:deploy`). `kinds` are among SEARCHABLE.

        Raises InvalidInput.

        >>> found = memory.search("deploy", kinds="fact")
        >>> found.verdict, [hit.record.text for hit in found]
        ('exact', ['We deploy on Tuesdays'])
        """
        parts = self._use()
        require_valid_query(parts.database, query)
        if unknown := [kind for kind in _listed(kinds) if kind not in SEARCHABLE]:
            raise InvalidInput(
                f"There is no kind {unknown[0]} to search.", f"Choose among: {', '.join(SEARCHABLE)}."
            )
        return parts.search(
            query, limit, kinds=_listed(kinds), since=self._timestamp(since), before=self._timestamp(before)
        )

    def ask(self, question: str, *, model: str | None = None) -> LibrarianAnswer:
        """Answer a question from the records, which the answer cites. Without a `model` rules answer, at once; a model
        is one of the local model server, by its name.

        Raises InvalidInput, and ModelFailed where that model cannot be asked.

        >>> answer = memory.ask("Who owns the billing service?")
        >>> answer.text, answer.citations
        ('“Ana owns the billing service” [F#2].', ('F#2',))
        """
        parts = self._use()
        require_valid_query(parts.database, question)
        with closing(open_named_model(parts.config, model)) if model else nullcontext() as chat:
            return Librarian(parts).ask(question, chat)

    def context(self, task: str = "", *, max_tokens: int = 1200) -> Context:
        """Return what an agent is sent for a task; `str` of it is the text.

        Raises InvalidInput for a limit that is too small.

        >>> context = memory.context("Who deploys, and when?")
        >>> context.tokens <= 1200, "We deploy on Tuesdays" in str(context)
        (True, True)
        """
        return self._use().context(task, limit=max_tokens)

    def prove_forgotten(self, text: str) -> Proof:
        """Look for a text in every row of the memory, and in every byte of every file that Memoranda writes.

        Raises InvalidInput, StorageError.

        >>> memory.prove_forgotten("Ana owns the billing service").result
        'stays'
        """
        if not text.strip():
            raise InvalidInput("There is nothing to look for in an empty text.", 'prove_forgotten("the words")')
        return _prove(self._use(), [text])

    # history

    def history(
        self, *, record: Reference | None = None, since: Moment | None = None, limit: int | None = None
    ) -> list[Step]:
        """List the steps of history, the newest first: who changed what, and when; those of one record, or since a
        moment.

        Raises InvalidInput.

        >>> [(step.id, step.text, step.actor) for step in memory.history(record="F#2")]
        [(2, 'remember F#2', 'user')]
        """
        named = [] if record is None else [_cite_one_of(record, "fact", "decision", "task", "proposal")]
        return self._use().history.steps(
            record=next(((one.kind, int(one.target)) for one in named), None),
            since=self._timestamp(since),
            limit=-1 if limit is None else limit,
        )

    def undo(self, step: int | Step | None = None, *, actor: str = "user") -> Step:
        """Undo a step, or the newest that a person made; return it.

        Raises NotFound where there is none, Conflict where later steps changed the same records.

        >>> memory.undo(memory.forget("F#1")).text
        'forget F#1'
        """
        history = self._use().history
        return history.get(history.undo(step.seq if isinstance(step, Step) else step, actor=actor).seq)

    def redo(self, *, actor: str = "user") -> Step:
        """Redo what the last undo took back; return the step that is in force again.

        Raises NotFound, Conflict.

        >>> step = memory.undo()
        >>> memory.redo().id == step.id
        True
        """
        return self._use().history.redo(actor=actor)

    def checkpoint(self, name: str = "", *, actor: str = "user") -> Checkpoint:
        """Take a checkpoint of this moment, to which `restore` goes back.

        Raises InvalidInput.

        >>> memory.checkpoint("before the import").citation
        'K#1'
        """
        checkpoints = self._use().checkpoints
        return checkpoints.get(checkpoints.take_checkpoint(name, actor=actor))

    def restore(
        self,
        checkpoint: Reference,
        *,
        strategy: Literal["replace", "add", "mine"] = "replace",
        only: Reference | Iterable[Reference] | None = None,
        dry_run: bool = False,
    ) -> RestoreResult:
        """Bring facts, decisions and tasks back to a checkpoint: its id, its citation or its name. `add` only brings
        back what is gone, `mine` keeps what a person changed since; `only` names records. One step, which undo takes
        back.

        Raises NotFound, Conflict, InvalidInput.

        >>> before = memory.checkpoint("monday")
        >>> step = memory.forget("F#1")
        >>> [(change.citation, change.says) for change in memory.restore("monday").changes]
        [('F#1', 'comes back')]
        """
        parts = self._use()
        plan = Plans(parts.database).plan_checkpoint(self._find_checkpoint(checkpoint))
        plan = Plans(parts.database).keep_mine(plan) if strategy == "mine" else plan
        chosen = Plans(parts.database).propose_changes(plan, strategy)
        if only is not None:
            chosen = _changes_of(plan, [only] if isinstance(only, int | str | Record) else only)
        changes = tuple(select_changes(plan, chosen)) if chosen else ()
        if dry_run:
            return RestoreResult(changes, None, None)
        if not chosen:
            raise Conflict("Nothing would change.", "See what differs: restore(…, dry_run=True).")
        applied = Plans(parts.database).apply_plan(plan, chosen)
        before = parts.checkpoints.get(applied.checkpoint) if applied.checkpoint else None
        return RestoreResult(changes, parts.history.get(applied.seq), before)

    # inbox

    def proposals(
        self,
        *,
        state: Literal["waiting", "accepted", "rejected"] = "waiting",
        source: str | None = None,
        limit: int | None = None,
    ) -> list[Proposal]:
        """List the proposals in the inbox, the newest first: those that wait, or were answered; of one source.

        Raises InvalidInput.

        >>> [(one.citation, one.kind, one.text, one.origin) for one in memory.proposals()]
        [('P#1', 'add', 'Standup is at 9:30', 'mcp:codex')]
        """
        inbox = self._use().inbox
        return inbox.get_many(inbox.ids(state=state, origin=source, limit=-1 if limit is None else limit))

    def propose(
        self,
        kind: Literal["add", "correct", "confirm", "forget"],
        *,
        text: str = "",
        target: Reference | None = None,
        evidence: str | Iterable[str] = (),
        source: str,
    ) -> Proposal:
        """Propose a change, which waits in the inbox for a person's answer; return the proposal. `target` is the fact
        to be corrected, confirmed or forgotten, `evidence` are citations, `source` is who proposes. The same is not
        proposed twice.

        Raises InvalidInput, NotFound, Conflict, Purged.

        >>> memory.propose("correct", target="F#1", text="We deploy on Fridays", source="my-script").state
        'waiting'
        """
        inbox = self._use().inbox
        number = inbox.propose(
            kind,
            {"fact": text} if text else {},
            target=None if target is None else _number_of(target, "fact"),
            evidence=[{"citation": one, "quote": ""} for one in _listed(evidence)],
            origin=source,
        )
        return inbox.get(number)

    def answer(
        self,
        proposal: Reference,
        answer: Literal["accept", "reject", "merge"],
        *,
        anyway: bool = False,
        actor: str = "user",
    ) -> Proposal:
        """Answer a proposal, and return it. `merge` puts it into the fact that says the same, or nearly. One whose
        evidence changed is accepted and merged only `anyway`.

        Raises NotFound, Conflict, InvalidInput, Purged.

        >>> done = memory.answer("P#1", "accept")
        >>> done.state, memory.get(f"F#{done.made}").text
        ('accepted', 'Standup is at 9:30')
        """
        parts = self._use()
        number = _number_of(proposal, "proposal")
        if answer == "accept":
            parts.inbox.accept(number, anyway=anyway, actor=actor)
        elif answer == "reject":
            parts.inbox.reject([number], actor=actor)
        elif answer == "merge":
            found = parts.inbox.get(number)
            alike = find_similar_facts(parts.database, parts.facts, found.text)
            if not (found.target or alike):
                raise InvalidInput(f"No fact says nearly what {found.citation} says.", "Accept it instead.")
            parts.inbox.merge(number, found.target or alike[0].fact.id, anyway=anyway, actor=actor)
        else:
            raise InvalidInput(f"{answer} is no answer to a proposal.", "Choose one of: accept, reject, merge.")
        return parts.inbox.get(number)

    # export and import

    def export(
        self,
        to: str | Path | TextFile,
        *,
        format: Literal["json", "markdown"] = "json",
        replace: bool = False,
    ) -> ExportReport:
        """Write the whole memory to a file, or to one that is open for text. JSON can be imported again; Markdown is to
        be read. A file that is there is replaced only with `replace`; a name that ends in `.gz` is compressed.

        Raises Conflict, StorageError, InvalidInput.

        >>> memory.export("notes.md", format="markdown").path.name
        'notes.md'
        """
        parts = self._use()
        if format not in ("json", "markdown"):
            raise InvalidInput(f"There is no format {format}.", "Choose one of: json, markdown.")

        def document() -> Any:
            if format == "json":
                return export_text(parts.database)
            return export_markdown(parts.database, parts.location.display_name, parts.now)

        if not isinstance(to, str | Path):
            with closing(document()) as pieces:
                return ExportReport(
                    None, sum(len(piece) for piece in pieces if to.write(piece) is not NotImplemented)
                )
        path = os.path.abspath(to)
        if not replace and os.path.lexists(path):
            raise Conflict(f"{path} is there already.", "Name another file, or: export(…, replace=True).")
        size = save_export(parts.database, path, replace, path.endswith(".gz"), document)
        return ExportReport(Path(path), size)

    def import_(
        self, source: str | Path | Iterable[Mapping[str, object]], *, dry_run: bool = False
    ) -> ImportReport:
        """Import an export, a backup or another memory's file; or rows, as `csv.DictReader` reads them, each a fact by
        the arguments of `remember`: `text`, `domain`, `confidence`, `tags`, `scope`, `at`, `source`, `pin`, `key`. All
        rows are looked at before the first is written.

        Raises NotFound, InvalidInput, BrokenDocument, Purged.

        >>> rows = [{"text": "The office closes at six", "tags": "office", "at": "2026-10-01"}]
        >>> memory.import_(rows).new
        1
        """
        parts = self._use()
        if not isinstance(source, str | Path):
            return self._import_rows([dict(row) for row in source], dry_run)
        with Import(parts.database, os.path.abspath(source)) as found:
            step = None
            if found.changes and not dry_run:
                if not found.whole:
                    parts.checkpoints.take_checkpoint(f"before: import {found.name}"[:200])
                step = found.apply_import()
                if not found.whole:
                    summarize_ended_sessions(parts)
            counts = found.counts.values()
            new, changed = sum(one.new for one in counts), sum(one.changed for one in counts)
            return ImportReport(new, sum(one.same + one.differ for one in counts) - changed, changed, step)

    def _import_rows(self, rows: Sequence[dict[str, object]], dry_run: bool) -> ImportReport:
        """Remember a fact for each row. Raise InvalidInput, naming the row, before the first is written."""
        parts, facts, known = self._use(), [], 0
        for number, row in enumerate(rows, 1):
            given = dict[str, Any]({name: value for name, value in row.items() if value not in (None, "")})
            if unknown := [str(name) for name in given if name not in _IMPORT_COLUMNS]:
                raise InvalidInput(
                    f"Row {number} has a column {unknown[0][:40]}.",
                    f"Those of a fact: {', '.join(_IMPORT_COLUMNS)}.",
                )
            try:
                text = clean_fact_text(str(given.pop("text", "")))
                given["tags"] = _split_tags(given.get("tags", ()))
                given["at"] = self._past_moment(given.get("at")) or None
            except InvalidInput as error:
                raise InvalidInput(f"Row {number}: {error.message}", error.next) from None
            given["pin"] = str(given.get("pin", "")).lower() not in _PIN_WORDS
            facts.append((text, given))
        if dry_run:
            same = "SELECT 1 FROM facts WHERE text_hash = ? AND status = 'active' LIMIT 1"
            known = sum(parts.database.value(same, (text_hash(text),)) is not None for text, _ in facts)
            return ImportReport(len(facts) - known, known, 0, None)
        new = sum(self.remember(text, **given).is_new for text, given in facts)
        return ImportReport(new, len(facts) - new, 0, None)

    # shared

    def _use(self) -> Parts:
        """Return the parts. Raise Conflict for a memory that is closed."""
        if not self.is_open:
            raise Conflict(f"The memory {self.path} is closed.", "Open it again: Memory.open(path).")
        return self.parts

    def _timestamp(self, moment: Moment | None) -> str:
        """Return a moment as it is stored; empty where none is given. Raise InvalidInput."""
        if moment is None or moment == "":
            return ""
        return read_moment(self._use().database, moment) if isinstance(moment, str) else _format_moment(moment)

    def _past_moment(self, moment: Moment | None) -> str:
        """As `_timestamp`. Raise InvalidInput for a moment to come."""
        at = self._timestamp(moment)
        if at > self._use().now:
            raise InvalidInput(
                f"{moment} is still to come.", "Give the moment at which it was learned or decided."
            )
        return at

    def _newest_step(self) -> Step:
        """Return the step that this connection wrote last."""
        return self.parts.history.get(self.parts.database.last_step or 0)

    def _find_checkpoint(self, named: Reference) -> int:
        """Return the id of a checkpoint, named by its id, citation or name, the newest of that name. Raise NotFound."""
        if isinstance(named, str):
            for one in self._use().checkpoints.list_newest_first():
                if one.name == named:
                    return one.id
        return _number_of(named, "checkpoint")


def _format_moment(moment: date) -> str:
    """Return a moment as it is stored; one without a zone is of this machine's, and a date its first moment."""
    whole = moment if isinstance(moment, datetime) else datetime.combine(moment, time())
    return from_ms(round(whole.timestamp() * 1000))


def _listed(texts: str | Iterable[str] | None) -> list[str]:
    """Return one text, or several, as a list."""
    return [texts] if isinstance(texts, str) else list(texts or ())


def _split_tags(tags: str | Iterable[str]) -> list[str]:
    """Return tags as they are stored. Raise InvalidInput."""
    return [tag for text in _listed(tags) if text.strip() for tag in parse_tags(text)]


def _cite_one_of(reference: Reference, *kinds: str) -> Citation:
    """Return the citation of a record of one of these kinds; a number is of the first. Raise InvalidInput."""
    text = str(reference) if isinstance(reference, int | str) else reference.citation
    citation = parse_typed_citation(text, kinds[0])
    if citation.kind not in kinds:
        raise InvalidInput(f"{citation} is no {' or '.join(kinds)} of this memory.", f"Name {cite(kinds[0], 12)}.")
    return citation


def _number_of(reference: Reference, kind: str) -> int:
    """Return the id of a record of this kind. Raise InvalidInput."""
    return int(_cite_one_of(reference, kind).target)


def _one_kind(references: Sequence[Reference], verb: str) -> tuple[str, list[int]]:
    """Return the kind and the ids of facts or of decisions. Raise InvalidInput for both, and for none."""
    named = list(dict.fromkeys(_cite_one_of(one, "fact", "decision") for one in references))
    if not named:
        raise InvalidInput(f"Nothing to {verb} was named.", f"Name records by id or citation: {verb}(12, 'F#13').")
    if len({one.kind for one in named}) > 1:
        raise InvalidInput("Facts and decisions are not changed in one step.", f"Call {verb} once for each kind.")
    return named[0].kind, [int(one.target) for one in named]


def _changes_of(plan: RestorePlan, references: Iterable[Reference]) -> frozenset[int]:
    """Return the changes of these records, and what they need. Raise NotFound for one that would not change."""
    places = {change.citation: index for index, change in enumerate(plan.changes)}
    chosen = frozenset[int]()
    for one in references:
        citation = str(_cite_one_of(one, "fact", "decision", "task", "proposal"))
        if citation not in places:
            raise NotFound(f"{citation} is not among what would change.", "See restore(…, dry_run=True).")
        chosen |= plan.requirements_of(places[citation])
    return chosen


def _prove(parts: Parts, texts: Sequence[str], names: Sequence[str] = (), *, erased: bool = False) -> Proof:
    """Look for texts in a memory, and in the person's own beside it."""
    found = [find_traces(parts.database, parts.documents, texts, names, erased=erased)]
    if (own := parts.personal) not in (None, parts):
        found.append(find_traces(own.database, own.documents, texts, names, erased=erased))
    read = {os.path.realpath(one.file): one for traces in found for one in traces.verdicts}.values()
    places = [place.citation for traces in found for place in traces.places]
    places += [one.file for one in read if one.found]
    waits = is_purge_pending(parts.database) or any(one.size < 0 for one in read)
    result: Literal["gone", "stays", "unfinished"] = "unfinished" if waits else "stays" if places else "gone"
    return Proof(result, tuple(dict.fromkeys(places)), len(read))
