"""Apply an accepted proposal; called by the inbox alone, within its transaction.

Every refusal is raised before anything is written.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from store.base.citations import cite, parse
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.location import is_personal
from store.base.models import Proposal
from store.base.vocabulary import CONFIDENCES, FILE
from store.database.database import Transaction
from store.database.erasure import tombstones
from store.database.values import Json, Verbatim
from store.database.writing.change_capture import PURGED
from store.records.fact_rows import checked, insert, same
from store.records.mutes import hand_on
from store.records.proposals import about
from store.records.tags import joined

INSTEAD = ("correct", "supersede", "conflict")
NARROWEST = ("session", "project", "global")


class Accepting:
    """An accepted proposal, with its text or in a person's own words (`edited`). `again` permits a text that was
    purged."""

    def __init__(self, write: Transaction, proposal: Proposal, edited: str | None, again: bool) -> None:
        self._write = write
        self._proposal = proposal
        self._own = edited is not None and edited.strip() != proposal.text
        self._text = checked(edited if edited is not None else proposal.text)
        self._again = again
        self.decision: int | None = None  # the decision that was recorded

    def accept(self) -> int | None:
        """Apply the proposal; return the resulting fact, None where one was forgotten, or a decision was made."""
        proposal = self._proposal
        target = proposal.target
        if decision := proposal.change.get("decision"):
            self._decide(decision)
            return None
        if target is None:
            return self._new(None)
        if proposal.kind == "merge" or (proposal.kind in INSTEAD and proposal.others):
            return self._one_of_many(target)
        if proposal.kind == "forget":
            if self._own:
                raise self._forgets("To say it in your own words, correct the fact itself.")
            self._holds(target)
            self._step_aside([target], "forgotten")
            return None
        if self._own or proposal.kind in INSTEAD:
            return self._new(self._current(target))
        self._holds(target)
        return self._told_again(target)

    def merge(self, fact: int) -> int:
        """Merge the proposal into this fact."""
        proposal = self._proposal
        if proposal.kind == "forget":
            raise self._forgets("To merge two facts, merge the facts themselves.")
        if proposal.kind == "merge":
            if fact not in about(proposal):
                cited = ", ".join(cite("fact", one) for one in about(proposal))
                raise InvalidInput(
                    f"{proposal.citation} proposes to merge {cited}.",
                    f"Accept it, and merge {cite('fact', fact)} with the result.",
                )
            return self._one_of_many(about(proposal)[0])
        self._holds(fact)
        if self._own:
            return self._new(fact)
        return self._told_again(fact)

    def supersede(self, fact: int) -> int:
        """Supersede this fact by the proposal."""
        if self._proposal.kind == "forget":
            raise self._forgets("To replace its text, correct the fact itself.")
        self._holds(fact)
        return self._new(fact)

    # applying

    def _decide(self, fields: dict[str, Any]) -> None:
        """Record the proposed decision, with the words that the person accepted as its title; that confirms it. An
        active decision among its evidence is superseded."""
        write, chosen = self._write, str(fields["chosen"])
        tombstones.refuse(write, tombstones.decision_text(self._text, chosen), self._again)
        old = next((parse(one.citation) for one in self._proposal.evidence if one.citation.startswith("D#")), None)
        if old is not None:
            write.execute(
                "UPDATE decisions SET status = 'superseded' WHERE id = ? AND status = 'active'", (int(old.target),)
            )
            old = old if write.database.connection.changes() else None
        self.decision = write.insert(
            "decisions",
            iteration_id=None,
            title=self._text,
            context=str(fields.get("context", "")),
            chosen=chosen,
            alternatives=Json(list(fields.get("alternatives", ()))),
            rationale=str(fields.get("rationale", "")),
            impact=Verbatim(fields.get("impact", "medium")),
            phase="",
            decided_at=Verbatim(self._created()),
            status=Verbatim("active"),
            supersedes=int(old.target) if old else None,
            origin=self._proposal.origin,
            confirmed_at=Verbatim(write.at),
        )

    def _new(self, instead_of: int | None) -> int:
        """Return the fact with this text that supersedes `instead_of`: a new one, or the existing one with the same
        text, which then takes over the properties of `instead_of`."""
        write, text, change = self._write, self._text, self._proposal.change
        self._refuse_cut()
        known = same(write, text)
        old: dict[str, Any] = {
            "domain": "general",
            "confidence": "medium",
            "scope": "global" if change.get("scope") == "global" and is_personal(write.database.path) else "project",
            "session": "",
            "importance": 0.5,
        }
        evidence, tags = self._evidence(), list(change.get("tags", ()))
        if instead_of is not None and instead_of != known:
            old = _row(write, instead_of)
            evidence = list(dict.fromkeys([*json.loads(old["evidence"]), *evidence]))
            tags = joined(json.loads(old["tags"]), tags)
        if known is not None:
            if instead_of is not None and instead_of != known:
                self._take_over(known, [instead_of], [old])
                if known < instead_of:
                    evidence.append(cite("fact", instead_of))
            return self._told_again(known, evidence, tags)
        tombstones.refuse(write, text, self._again)
        if instead_of is not None:
            self._step_aside([instead_of], "superseded")
        new = insert(
            write,
            text,
            domain=change.get("domain", old["domain"]),
            confidence="high" if self._own else change.get("confidence", old["confidence"]),
            source="explicit" if self._own else "inferred",
            scope=old["scope"],
            session=old["session"],
            importance=change.get("importance", old["importance"]),
            pinned=int(change.get("pinned", old.get("pinned", 0))),
            origin=self._proposal.origin,
            evidence=Json(evidence),
            tags=Json(tags),
            supersedes=instead_of,
            created=self._created(),
        )
        if instead_of is not None:
            hand_on(write, [instead_of], new)
        return new

    def _created(self) -> str:
        """Return when it was written elsewhere, if the proposal says so and that is past; else now."""
        return min(str(self._proposal.change.get("created", self._write.at)), self._write.at)

    def _one_of_many(self, target: int) -> int:
        """Keep one of several facts: the one with this text, or a new one that replaces all."""
        write = self._write
        several = [target, *(int(parse(one).target) for one in self._proposal.others)]
        for fact in several:
            self._holds(fact)
        known = same(write, self._text)
        if known not in several:
            self._refuse_cut()
        rows = [_row(write, fact) for fact in several]
        gone = [fact for fact in several if fact != known]
        evidence = [one for row in rows for one in json.loads(row["evidence"])] + [cite("fact", one) for one in gone]
        tags = joined([], [tag for row in rows for tag in json.loads(row["tags"])])
        if known is not None:
            self._take_over(known, gone, rows)
            return self._told_again(known, evidence, tags)
        tombstones.refuse(write, self._text, self._again)
        self._step_aside(gone, "superseded")
        first = rows[0]
        new = insert(
            write,
            self._text,
            domain=self._proposal.change.get("domain", first["domain"]),
            confidence="high" if self._own else _surest(rows),
            source="explicit" if self._own else "inferred",
            scope=_widest(rows),
            session=_session(rows),
            importance=max(row["importance"] for row in rows),
            pinned=max(row["pinned"] for row in rows),
            origin=self._proposal.origin,
            evidence=Json(list(dict.fromkeys(evidence))),
            tags=Json(tags),
            supersedes=target,
        )
        hand_on(write, gone, new)
        return new

    def _take_over(self, known: int, gone: Sequence[int], rows: Sequence[dict[str, Any]]) -> None:
        """Replace others, `rows`, by an existing fact: it becomes pinned or muted if one of them is, gets their highest
        confidence and widest scope, and a link to the last where ids allow (a chain never goes back)."""
        write = self._write
        self._step_aside(gone, "superseded")
        rows = [_row(write, known), *rows]
        write.execute(
            "UPDATE facts SET pinned = ?, confidence = ?, scope = ?, session = ?, importance = ? WHERE id = ?",
            (
                max(row["pinned"] for row in rows),
                Verbatim(_surest(rows)),
                Verbatim(_widest(rows)),
                _session(rows),
                max(row["importance"] for row in rows),
                known,
            ),
        )
        if gone:
            write.execute(
                "UPDATE facts SET supersedes = ? WHERE id = ? AND supersedes IS NULL AND id > ?",
                (gone[-1], known, gone[-1]),
            )
        hand_on(write, gone, known)

    def _told_again(self, fact: int, evidence: Iterable[str] = (), tags: Sequence[str] = ()) -> int:
        """Confirm a known fact, and add this evidence."""
        row = _row(self._write, fact)
        held = json.loads(row["evidence"])
        more = [one for one in dict.fromkeys([*held, *evidence, *self._evidence()]) if one != cite("fact", fact)]
        wanted = joined(json.loads(row["tags"]), [*tags, *self._proposal.change.get("tags", ())])
        self._write.execute(
            "UPDATE facts SET last_confirmed_at = ?, evidence = ?, tags = ? WHERE id = ?",
            (Verbatim(self._write.at), Json(more), Json(wanted), fact),
        )
        return fact

    def _step_aside(self, facts: Iterable[int | None], status: str) -> None:
        for fact in facts:
            self._write.execute("UPDATE facts SET status = ? WHERE id = ?", (Verbatim(status), fact))

    # checks before writing

    def _refuse_cut(self) -> None:
        """Raise for a text of which a purge left only a part, unless the person wrote it so."""
        if PURGED in self._text and not self._own:
            raise Conflict(
                f"Words of {self._proposal.citation} were purged.", "Say it in your own words, or reject it."
            )

    def _forgets(self, instead: str) -> InvalidInput:
        return InvalidInput(f"{self._proposal.citation} asks to forget a fact: accept it or reject it.", instead)

    def _evidence(self) -> list[str]:
        return list(dict.fromkeys(one.citation for one in self._proposal.evidence))

    def _holds(self, fact: int) -> None:
        """Raise unless this fact is active."""
        status = self._write.execute("SELECT status FROM facts WHERE id = ?", (fact,)).get
        cited = cite("fact", fact)
        if status is None:
            raise NotFound(f"There is no fact {cited}.", "List them with `memoranda facts --all`.")
        if status != "active":
            raise Conflict(f"{cited} is {status}.", "Choose one that holds today.")

    def _current(self, fact: int) -> int | None:
        """Return the active fact that superseded this one; None if there is none."""
        seen: int | None = fact
        while seen is not None:
            row = self._write.execute("SELECT status FROM facts WHERE id = ?", (seen,)).get
            if row == "active":
                return seen
            seen = self._write.execute("SELECT max(id) FROM facts WHERE supersedes = ? AND id > ?", (seen, seen)).get
        return None


def take_back(write: Transaction, proposal: Proposal) -> None:
    """Undo what a synced file did, where a person rejects it: the fact holds already, and is forgotten; the one that it
    superseded holds again."""
    if (proposal.origin, proposal.kind) != (FILE, "confirm"):
        return
    row = write.execute(
        "SELECT f.supersedes, o.status FROM facts AS f LEFT JOIN facts AS o ON o.id = f.supersedes"
        " WHERE f.id = ? AND f.origin = ? AND f.status = 'active'",
        (proposal.target, Verbatim(FILE)),
    ).get
    if row is None:
        return
    write.execute("UPDATE facts SET status = 'forgotten' WHERE id = ?", (proposal.target,))
    if row[1] == "superseded":
        write.execute("UPDATE facts SET status = 'active' WHERE id = ?", (row[0],))


def _surest(rows: Sequence[dict[str, Any]]) -> str:
    """Return the highest confidence among these facts."""
    return min((str(row["confidence"]) for row in rows), key=CONFIDENCES.index)


def _widest(rows: Sequence[dict[str, Any]]) -> str:
    """Return the widest scope among these facts: a fact of one session does not narrow one of the project."""
    return max((str(row["scope"]) for row in rows), key=NARROWEST.index)


def _session(rows: Sequence[dict[str, Any]]) -> str:
    """Return the session of these facts if the scope of all is one session: the first's."""
    return str(rows[0]["session"]) if _widest(rows) == "session" else ""


def _row(write: Transaction, fact: int) -> dict[str, Any]:
    names = ("domain", "confidence", "scope", "session", "importance", "pinned", "evidence", "tags")
    values = write.execute(f"SELECT {', '.join(names)} FROM facts WHERE id = ?", (fact,)).get
    if values is None:
        raise InvalidInput(f"There is no fact {cite('fact', fact)}.")
    return dict(zip(names, values, strict=True))
