"""Apply an accepted proposal; called by the inbox alone, within its transaction.

Every refusal is raised before anything is written.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from store.base.citations import cite, parse_citation
from store.base.clock import from_ms, to_ms
from store.base.errors import Conflict, InvalidInput
from store.base.location import is_personal_memory
from store.base.models import Proposal
from store.base.vocabulary import CONFIDENCES, DOMAINS, FILE_ORIGIN, IMPACTS
from store.database.change_capture import PURGED_MARK
from store.database.database import Transaction
from store.database.tombstones import decision_text, keyed_digest, normal_form, refuse_purged
from store.database.values import Json, Verbatim
from store.records.facts import Facts, clean_fact_text, find_same_fact, insert_fact, set_fact_status
from store.records.mutes import pass_on_mute
from store.records.table import cite_all, require_one_of
from store.records.tags import merge_tags
from store.records.workflow import proposal_fact_ids

# The basis of a proposal: the current state of the facts it is about, the digests that identify the same proposal, and
# the stored form of its change and its evidence. Called by the inbox alone.

# characters of a quoted span; a longer one is stored by its beginning
MAX_QUOTE = 1_000


class ProposalQuestion(NamedTuple):
    """A proposal to be made; see `Inbox.propose`. `said` is when a person said it explicitly: it is proposed again if
    their rejection is older. With `anyone` an earlier proposal counts whatever its origin."""

    kind: str
    change: Mapping[str, Any]
    target: int | None = None
    evidence: tuple[Mapping[str, str], ...] = ()
    origin: str = "agent"
    reason: str = ""
    said: str = ""
    anyone: bool = False


def read_active_fact(write: Transaction, number: int) -> tuple[str, str, str]:
    """Return (text, status, last confirmed) of an active fact. Raise NotFound or Conflict."""
    row: tuple[str, str, str] = Facts.read_column(write, number, "fact, status, last_confirmed_at")
    if row[1] != "active":
        raise Conflict(f"{cite('fact', number)} is {row[1]}.", "Propose something about a fact that holds.")
    return row


def digest_basis(write: Transaction, about: Sequence[Sequence[str]]) -> str:
    """Return a digest of the texts and states of the facts that a proposal is about; empty without any."""
    if not about:
        return ""
    return keyed_digest(write, json.dumps([list(one[:2]) for one in about], ensure_ascii=False))


def digest_proposal(
    write: Transaction,
    kind: str,
    text: str,
    target: int | None,
    others: Sequence[int],
    based_on: str,
    confirmed: Sequence[str],
) -> str:
    """Return the digest that identifies a proposal: of an addition, by its text; of a replacement, by the replaced
    fact too; of a change of facts alone, by the facts, and of a confirmation, by the last confirmation too."""
    basis: list[object] = [kind]
    if others:
        basis += sorted([target or 0, *others])
    elif kind in ("confirm", "forget"):
        basis += [target, based_on, *(confirmed if kind == "confirm" else ())]
    else:
        basis += [target, based_on, normal_form(text)]
    return keyed_digest(write, json.dumps(basis, ensure_ascii=False))


def find_earlier_proposal(write: Transaction, asked: str, kind: str, question: ProposalQuestion) -> int | None:
    """Return the earlier proposal of the same that still counts: it waits, a person rejected it (and did not say the
    same themselves since), or the fact that resulted is there. A fact that they forgot later counts as rejected."""
    row = write.first(
        "SELECT p.id, p.state, coalesce(p.decided_at, ''), f.status FROM proposals AS p"
        " LEFT JOIN facts AS f ON f.id = p.made WHERE p.asked = ? AND (? OR p.origin = ?)"
        " ORDER BY p.state = 'waiting' DESC, p.id DESC LIMIT 1",
        (Verbatim(asked), int(question.anyone), question.origin),
    )
    if row is None:
        return None
    number, state, decided, status = row
    if state == "accepted" and status != "forgotten":
        # after a merge or a forgetting was undone the facts are there again, or nobody could propose it
        again = kind in ("merge", "forget") or status != "active"
    else:
        again = state != "waiting" and question.said > decided
    return None if again else int(number)


def clean_change(change: Mapping[str, Any]) -> dict[str, Any]:
    """Return the other fields of the fact, in the form of `Facts.remember`. Raise InvalidInput."""
    fields = {name: value for name, value in change.items() if value not in (None, "", [], ())}
    domain = str(fields.get("domain", "general")).strip().lower()
    if domain not in DOMAINS:
        fields["tags"] = [*fields.get("tags", ()), domain[:40]]
        fields["domain"] = "general"
    elif "domain" in fields:
        fields["domain"] = domain
    require_one_of("confidence", fields.get("confidence", "high"), CONFIDENCES)
    if not 0 <= float(fields.get("importance", 0)) <= 1:
        raise InvalidInput("Importance is a number from 0 to 1.")
    if "decision" in fields:
        fields["decision"] = _clean_decision(fields["decision"])
    if "created" in fields:
        fields["created"] = from_ms(to_ms(str(fields["created"])))
    if "tags" in fields:
        fields["tags"] = [str(tag) for tag in fields["tags"]]
    return fields


def _clean_decision(fields: Any) -> dict[str, Any]:
    """Return the fields of a decision besides its title. Raise InvalidInput."""
    if not isinstance(fields, Mapping) or not str(fields.get("chosen", "")).strip():
        raise InvalidInput("A decision has a chosen option.", "Say what was chosen.")
    return {
        "chosen": str(fields["chosen"]).strip(),
        "alternatives": [str(one) for one in fields.get("alternatives", ())],
        "rationale": str(fields.get("rationale", "")).strip(),
        "context": str(fields.get("context", "")).strip(),
        "impact": fields["impact"] if fields.get("impact") in IMPACTS else "medium",
    }


def clean_quote(one: Mapping[str, str]) -> dict[str, str]:
    """Return a piece of evidence in its stored form. Raise InvalidInput."""
    quote = str(one.get("quote", "")).strip()
    return {
        "citation": str(parse_citation(one["citation"])),
        "quote": quote if len(quote) <= MAX_QUOTE else quote[:MAX_QUOTE].rsplit(None, 1)[0],
    }


REPLACING_KINDS = ("correct", "supersede", "conflict")
SCOPES_BY_WIDTH = ("session", "project", "global")


class ProposalAcceptance:
    """An accepted proposal, with its text or in a person's own words (`edited`). `again` permits a text that was
    purged."""

    def __init__(self, write: Transaction, proposal: Proposal, edited: str | None, again: bool) -> None:
        self._write = write
        self._proposal = proposal
        self._own = edited is not None and edited.strip() != proposal.text
        self._text = clean_fact_text(edited if edited is not None else proposal.text)
        self._again = again
        # the decision that was recorded
        self.decision: int | None = None

    def accept(self) -> int | None:
        """Apply the proposal; return the resulting fact, None where one was forgotten, or a decision was made."""
        proposal = self._proposal
        target = proposal.target
        if decision := proposal.change.get("decision"):
            self._decide(decision)
            return None
        if target is None:
            return self._write_fact(None)
        if proposal.kind == "merge" or (proposal.kind in REPLACING_KINDS and proposal.others):
            return self._merge_facts()
        if proposal.kind == "forget":
            if self._own:
                raise self._forgetting_error("To say it in your own words, correct the fact itself.")
            self._require_active(target)
            self._set_status([target], "forgotten")
            return None
        if self._own or proposal.kind in REPLACING_KINDS:
            return self._write_fact(self._current_fact(target))
        self._require_active(target)
        return self._confirm_known(target)

    def merge(self, fact: int) -> int:
        """Merge the proposal into this fact."""
        proposal = self._proposal
        if proposal.kind == "forget":
            raise self._forgetting_error("To merge two facts, merge the facts themselves.")
        if proposal.kind == "merge":
            if fact not in proposal_fact_ids(proposal):
                cited = ", ".join(cite_all("fact", proposal_fact_ids(proposal)))
                raise InvalidInput(
                    f"{proposal.citation} proposes to merge {cited}.",
                    f"Accept it, and merge {cite('fact', fact)} with the result.",
                )
            return self._merge_facts()
        self._require_active(fact)
        if self._own:
            return self._write_fact(fact)
        return self._confirm_known(fact)

    def supersede(self, fact: int) -> int:
        """Supersede this fact by the proposal."""
        if self._proposal.kind == "forget":
            raise self._forgetting_error("To replace its text, correct the fact itself.")
        self._require_active(fact)
        return self._write_fact(fact)

    # applying

    def _decide(self, fields: dict[str, Any]) -> None:
        """Record the proposed decision, with the words that the person accepted as its title; that confirms it. An
        active decision among its evidence is superseded."""
        write, chosen = self._write, str(fields["chosen"])
        refuse_purged(write, decision_text(self._text, chosen), self._again)
        old = next(
            (parse_citation(one.citation) for one in self._proposal.evidence if one.citation.startswith("D#")),
            None,
        )
        if old is not None:
            write.execute(
                "UPDATE decisions SET status = 'superseded' WHERE id = ? AND status = 'active'",
                (int(old.target),),
            )
            old = old if write.changed_rows() else None
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
            decided_at=Verbatim(self._creation_moment()),
            status=Verbatim("active"),
            supersedes=int(old.target) if old else None,
            origin=self._proposal.origin,
            confirmed_at=write.at,
            tags=Json(list(self._proposal.change.get("tags", ()))),
        )

    def _write_fact(self, instead_of: int | None) -> int:
        """Return the fact with this text that supersedes `instead_of`: a new one, or the existing one with the same
        text, which then takes over the properties of `instead_of`."""
        write, text, change = self._write, self._text, self._proposal.change
        self._refuse_cut()
        known = find_same_fact(write, text)
        old: dict[str, Any] = {
            "domain": "general",
            "confidence": "medium",
            "scope": "global"
            if change.get("scope") == "global" and is_personal_memory(write.database.path)
            else "project",
            "session": "",
            "importance": 0.5,
            "pinned": 0,
        }
        evidence, tags = self._cited_evidence(), list(change.get("tags", ()))
        if instead_of is not None and instead_of != known:
            old = _read_fact_fields(write, instead_of)
            evidence = list(dict.fromkeys([*json.loads(old["evidence"]), *evidence]))
            tags = merge_tags(json.loads(old["tags"]), tags)
        if known is not None:
            if instead_of is not None and instead_of != known:
                self._take_over(known, [instead_of], [old])
                if known < instead_of:
                    evidence.append(cite("fact", instead_of))
            return self._confirm_known(known, evidence, tags)
        refuse_purged(write, text, self._again)
        if instead_of is not None:
            self._set_status([instead_of], "superseded")
        fields = {name: change.get(name, value) for name, value in old.items() if name not in ("evidence", "tags")}
        fields |= {"scope": old["scope"], "session": old["session"], "pinned": int(fields["pinned"])}
        gone = [] if instead_of is None else [instead_of]
        return self._insert_fact(fields, evidence, tags, gone, created=self._creation_moment())

    def _insert_fact(
        self,
        fields: dict[str, Any],
        evidence: Sequence[str],
        tags: Sequence[str],
        gone: Sequence[int],
        created: str = "",
    ) -> int:
        """Insert a new fact with this text and these fields, in the place of the first of those that are gone."""
        new = insert_fact(
            self._write,
            self._text,
            **fields | ({"confidence": "high"} if self._own else {}),
            source="explicit" if self._own else "inferred",
            origin=self._proposal.origin,
            evidence=Json(list(evidence)),
            tags=Json(list(tags)),
            supersedes=gone[0] if gone else None,
            created=created,
        )
        pass_on_mute(self._write, gone, new)
        return new

    def _creation_moment(self) -> str:
        """Return when it was written elsewhere, if the proposal says so and that is past; else now."""
        return min(str(self._proposal.change.get("created", self._write.at)), self._write.at)

    def _merge_facts(self) -> int:
        """Keep one of several facts: the one with this text, or a new one that replaces all."""
        write = self._write
        several = proposal_fact_ids(self._proposal)
        for fact in several:
            self._require_active(fact)
        known = find_same_fact(write, self._text)
        if known not in several:
            self._refuse_cut()
        rows = [_read_fact_fields(write, fact) for fact in several]
        gone = [fact for fact in several if fact != known]
        evidence = [one for row in rows for one in json.loads(row["evidence"])] + cite_all("fact", gone)
        tags = merge_tags([], [tag for row in rows for tag in json.loads(row["tags"])])
        if known is not None:
            self._take_over(known, gone, rows)
            return self._confirm_known(known, evidence, tags)
        refuse_purged(write, self._text, self._again)
        self._set_status(gone, "superseded")
        fields = {"domain": self._proposal.change.get("domain", rows[0]["domain"]), **_combine_fields(rows)}
        return self._insert_fact(fields, list(dict.fromkeys(evidence)), tags, gone)

    def _take_over(self, known: int, gone: Sequence[int], rows: Sequence[dict[str, Any]]) -> None:
        """Replace others, `rows`, by an existing fact: it becomes pinned or muted if one of them is, gets their highest
        confidence and widest scope, and a link to the last where ids allow (a chain never goes back)."""
        write = self._write
        self._set_status(gone, "superseded")
        fields = _combine_fields([_read_fact_fields(write, known), *rows])
        sets = ", ".join(f"{name} = ?" for name in fields)
        write.execute(f"UPDATE facts SET {sets} WHERE id = ?", (*fields.values(), known))
        if gone:
            write.execute(
                "UPDATE facts SET supersedes = ? WHERE id = ? AND supersedes IS NULL AND id > ?",
                (gone[-1], known, gone[-1]),
            )
        pass_on_mute(write, gone, known)

    def _confirm_known(self, fact: int, evidence: Iterable[str] = (), tags: Sequence[str] = ()) -> int:
        """Confirm a known fact, and add this evidence."""
        row = _read_fact_fields(self._write, fact)
        held = json.loads(row["evidence"])
        more = [
            one for one in dict.fromkeys([*held, *evidence, *self._cited_evidence()]) if one != cite("fact", fact)
        ]
        wanted = merge_tags(json.loads(row["tags"]), [*tags, *self._proposal.change.get("tags", ())])
        self._write.execute(
            "UPDATE facts SET last_confirmed_at = ?, evidence = ?, tags = ? WHERE id = ?",
            (self._write.at, Json(more), Json(wanted), fact),
        )
        return fact

    def _set_status(self, facts: Iterable[int | None], status: str) -> None:
        """Set the status of facts."""
        for fact in facts:
            self._write.execute("UPDATE facts SET status = ? WHERE id = ?", (Verbatim(status), fact))

    # checks before writing

    def _refuse_cut(self) -> None:
        """Raise for a text of which a purge left only a part, unless the person wrote it so."""
        if PURGED_MARK in self._text and not self._own:
            raise Conflict(
                f"Words of {self._proposal.citation} were purged.", "Say it in your own words, or reject it."
            )

    def _forgetting_error(self, instead: str) -> InvalidInput:
        """Return the error for something else than accepting or rejecting a proposal to forget a fact."""
        return InvalidInput(f"{self._proposal.citation} asks to forget a fact: accept it or reject it.", instead)

    def _cited_evidence(self) -> list[str]:
        """Return the citations of the proposal's evidence, each once."""
        return list(dict.fromkeys(one.citation for one in self._proposal.evidence))

    def _require_active(self, fact: int) -> None:
        """Raise unless this fact is active."""
        status = Facts.read_column(self._write, fact)
        if status != "active":
            raise Conflict(f"{cite('fact', fact)} is {status}.", "Choose one that holds today.")

    def _current_fact(self, fact: int) -> int | None:
        """Return the active fact that superseded this one; None if there is none."""
        seen: int | None = fact
        while seen is not None:
            row = self._write.first("SELECT status FROM facts WHERE id = ?", (seen,))
            if row == "active":
                return seen
            seen = self._write.first("SELECT max(id) FROM facts WHERE supersedes = ? AND id > ?", (seen, seen))
        return None


def undo_file_change(write: Transaction, proposal: Proposal) -> None:
    """Undo what a synced file did, when a person rejects it: the fact that it wrote is forgotten, and the fact
    that it superseded is active again."""
    if (proposal.origin, proposal.kind) != (FILE_ORIGIN, "confirm"):
        return
    row = write.first(
        "SELECT f.supersedes, o.status FROM facts AS f LEFT JOIN facts AS o ON o.id = f.supersedes"
        " WHERE f.id = ? AND f.origin = ? AND f.status = 'active'",
        (proposal.target, Verbatim(FILE_ORIGIN)),
    )
    if row is None:
        return
    set_fact_status(write, proposal.target, "forgotten")
    if row[1] == "superseded":
        set_fact_status(write, row[0], "active")


def _combine_fields(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what several facts have together: their highest confidence and importance, pinned if one of them is, and
    the widest scope, since a fact of one session does not narrow one of the project; if all are of a session, the
    first's."""
    scope = max((row["scope"] for row in rows), key=SCOPES_BY_WIDTH.index)
    return {
        "confidence": min((row["confidence"] for row in rows), key=CONFIDENCES.index),
        "scope": scope,
        "session": rows[0]["session"] if scope == "session" else "",
        "importance": max(row["importance"] for row in rows),
        "pinned": max(row["pinned"] for row in rows),
    }


def _read_fact_fields(write: Transaction, fact: int) -> dict[str, Any]:
    """Return the fields of a fact that a merge combines. Raise InvalidInput."""
    names = ("domain", "confidence", "scope", "session", "importance", "pinned", "evidence", "tags")
    values = write.first(f"SELECT {', '.join(names)} FROM facts WHERE id = ?", (fact,))
    if values is None:
        raise InvalidInput(f"There is no fact {cite('fact', fact)}.")
    return dict(zip(names, values, strict=True))
