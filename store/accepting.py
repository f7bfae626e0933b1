"""What a person's yes does to the facts; called by the inbox alone, within its transaction.

Everything that can refuse does so before anything is written.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from store import tombstones
from store.citations import cite, parse
from store.database import Json, Verbatim, Write
from store.errors import Conflict, InvalidInput, NotFound
from store.facts import checked, insert, same
from store.models import Proposal
from store.tags import joined

INSTEAD = ("correct", "supersede", "conflict")


class Accepting:
    """A proposal that was accepted, as it was asked or in a person's own words (`edited`). `again` lets a text that was
    purged come back."""

    def __init__(self, write: Write, proposal: Proposal, edited: str | None, again: bool) -> None:
        self._write = write
        self._proposal = proposal
        self._own = edited is not None and edited.strip() != proposal.text
        self._text = checked(edited if edited is not None else proposal.text)
        self._again = again

    def accept(self) -> int | None:
        """Do what was proposed; the fact that came of it, None where one was forgotten."""
        proposal = self._proposal
        target = proposal.target
        if target is None:
            return self._new(None)
        if proposal.kind == "merge" or (proposal.kind in INSTEAD and proposal.others):
            return self._one_of_many(target)
        if self._own or proposal.kind in INSTEAD:
            return self._new(self._current(target))
        self._holds(target)
        if proposal.kind == "forget":
            self._step_aside([target], "forgotten")
            return None
        return self._told_again(target)

    def merge(self, fact: int) -> int:
        """The proposal says what this fact says."""
        self._holds(fact)
        if self._own:
            return self._new(fact)
        return self._told_again(fact)

    def supersede(self, fact: int) -> int:
        """The proposal holds instead of this fact."""
        self._holds(fact)
        return self._new(fact)

    # what is done

    def _new(self, instead_of: int | None) -> int:
        """The fact with this text, where `instead_of` steps aside: a new one, or the one that says so already."""
        write, text, change = self._write, self._text, self._proposal.change
        known = same(write, text)
        if known is not None:
            if instead_of not in (None, known):
                self._step_aside([instead_of], "superseded")
            return self._told_again(known)
        tombstones.refuse(write, text, self._again)
        old: dict[str, Any] = {"domain": "general", "confidence": "medium", "scope": "project", "importance": 0.5}
        evidence, tags = self._evidence(), list(change.get("tags", ()))
        if instead_of is not None:
            old = _row(write, instead_of)
            evidence = list(dict.fromkeys([*json.loads(old["evidence"]), *evidence]))
            tags = joined(json.loads(old["tags"]), tags)
            self._step_aside([instead_of], "superseded")
        return insert(
            write,
            text,
            domain=change.get("domain", old["domain"]),
            confidence="high" if self._own else change.get("confidence", old["confidence"]),
            source="explicit" if self._own else "inferred",
            scope=old["scope"],
            importance=change.get("importance", old["importance"]),
            pinned=int(change.get("pinned", old.get("pinned", 0))),
            origin=self._proposal.origin,
            evidence=Json(evidence),
            tags=Json(tags),
            supersedes=instead_of,
        )

    def _one_of_many(self, target: int) -> int:
        """Of several facts one stays, the one that has this text, or takes the place of all."""
        write = self._write
        several = [target, *(int(parse(one).target) for one in self._proposal.others)]
        for fact in several:
            self._holds(fact)
        known = same(write, self._text)
        rows = [_row(write, fact) for fact in several]
        gone = [fact for fact in several if fact != known]
        evidence = [one for row in rows for one in json.loads(row["evidence"])] + [cite("fact", one) for one in gone]
        tags = joined([], [tag for row in rows for tag in json.loads(row["tags"])])
        if known is None:
            tombstones.refuse(write, self._text, self._again)
        self._step_aside(gone, "superseded")
        if known is not None:
            write.execute(
                "UPDATE facts SET supersedes = ? WHERE id = ? AND supersedes IS NULL AND id > ?",
                (gone[-1], known, gone[-1]),
            )
            write.execute("UPDATE facts SET pinned = 1 WHERE id = ? AND ?", (known, max(row["pinned"] for row in rows)))
            return self._told_again(known, evidence, tags)
        first = rows[0]
        return insert(
            write,
            self._text,
            domain=self._proposal.change.get("domain", first["domain"]),
            confidence="high" if self._own else first["confidence"],
            source="explicit" if self._own else "inferred",
            scope=first["scope"],
            importance=max(row["importance"] for row in rows),
            pinned=max(row["pinned"] for row in rows),
            origin=self._proposal.origin,
            evidence=Json(list(dict.fromkeys(evidence))),
            tags=Json(tags),
            supersedes=target,
        )

    def _told_again(self, fact: int, evidence: Iterable[str] = (), tags: Sequence[str] = ()) -> int:
        """A fact that is known is confirmed, and rests on this evidence as well."""
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

    # what is asked first

    def _evidence(self) -> list[str]:
        return list(dict.fromkeys(one.citation for one in self._proposal.evidence))

    def _holds(self, fact: int) -> None:
        """Raise unless this fact holds today."""
        status = self._write.execute("SELECT status FROM facts WHERE id = ?", (fact,)).get
        cited = cite("fact", fact)
        if status is None:
            raise NotFound(f"There is no fact {cited}.", "List them with `memoranda facts --all`.")
        if status != "active":
            raise Conflict(f"{cited} is {status}.", "Choose one that holds today.")

    def _current(self, fact: int) -> int | None:
        """The fact that holds today in the place of this one; None if none does."""
        seen: int | None = fact
        while seen is not None:
            row = self._write.execute("SELECT status FROM facts WHERE id = ?", (seen,)).get
            if row == "active":
                return seen
            seen = self._write.execute("SELECT max(id) FROM facts WHERE supersedes = ? AND id > ?", (seen, seen)).get
        return None


def _row(write: Write, fact: int) -> dict[str, Any]:
    names = ("domain", "confidence", "scope", "importance", "pinned", "evidence", "tags")
    values = write.execute(f"SELECT {', '.join(names)} FROM facts WHERE id = ?", (fact,)).get
    if values is None:
        raise InvalidInput(f"There is no fact {cite('fact', fact)}.")
    return dict(zip(names, values, strict=True))
