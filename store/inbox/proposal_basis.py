"""The basis of a proposal: the current state of the facts it is about, the digests that identify the same proposal, and
the stored form of its change and its evidence. Called by the inbox alone."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from store.base.citations import cite, parse
from store.base.clock import from_ms, to_ms
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.vocabulary import CONFIDENCES, DOMAINS, IMPACTS
from store.database.database import Transaction
from store.database.erasure import tombstones
from store.database.values import Verbatim

MAX_QUOTE = 1_000  # characters of a quoted span; a longer one is stored by its beginning


@dataclass(frozen=True, slots=True)
class ProposalQuestion:
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


def holding(write: Transaction, number: int) -> tuple[str, str, str]:
    """Return (text, status, last confirmed) of an active fact. Raise NotFound or Conflict."""
    row: tuple[str, str, str] | None = write.execute(
        "SELECT fact, status, last_confirmed_at FROM facts WHERE id = ?", (number,)
    ).get
    if row is None:
        raise NotFound(f"There is no fact {cite('fact', number)}.", "List them with `memoranda facts --all`.")
    if row[1] != "active":
        raise Conflict(f"{cite('fact', number)} is {row[1]}.", "Propose something about a fact that holds.")
    return row


def based_on(write: Transaction, about: Sequence[Sequence[str]]) -> str:
    """Return a digest of the texts and states of the facts that a proposal is about; empty without any."""
    if not about:
        return ""
    return tombstones.keyed(write, json.dumps([list(one[:2]) for one in about], ensure_ascii=False))


def asked(
    write: Transaction,
    kind: str,
    text: str,
    target: int | None,
    others: Sequence[int],
    based_on: str,
    confirmed: Sequence[str],
) -> str:
    """Return the digest of a proposal: one that adds, by its text; one that replaces a fact, by that fact too; one that
    only changes facts, by those, and one that confirms, by the last confirmation."""
    basis: list[object] = [kind]
    if others:
        basis += sorted([target or 0, *others])
    elif kind in ("confirm", "forget"):
        basis += [target, based_on, *(confirmed if kind == "confirm" else ())]
    else:
        basis += [target, based_on, tombstones.normal(text)]
    return tombstones.keyed(write, json.dumps(basis, ensure_ascii=False))


def asked_before(write: Transaction, asked: str, kind: str, question: ProposalQuestion) -> int | None:
    """Return the earlier proposal of the same that still counts: it waits, a person rejected it (and did not say the
    same themselves since), or the fact that resulted is there. A fact that they forgot later counts as rejected."""
    row = write.execute(
        "SELECT p.id, p.state, coalesce(p.decided_at, ''), f.status FROM proposals AS p"
        " LEFT JOIN facts AS f ON f.id = p.made WHERE p.asked = ? AND (? OR p.origin = ?)"
        " ORDER BY p.state = 'waiting' DESC, p.id DESC LIMIT 1",
        (Verbatim(asked), int(question.anyone), question.origin),
    ).get
    if row is None:
        return None
    number, state, decided, status = row
    if state == "accepted" and status != "forgotten":
        # after a merge or a forgetting was undone the facts are there again, or nobody could propose it
        again = kind in ("merge", "forget") or status != "active"
    else:
        again = state != "waiting" and question.said > decided
    return None if again else int(number)


def tidy(change: Mapping[str, Any]) -> dict[str, Any]:
    """Return the other fields of the fact, in the form of `Facts.remember`. Raise InvalidInput."""
    fields = {name: value for name, value in change.items() if value not in (None, "", [], ())}
    domain = str(fields.get("domain", "general")).strip().lower()
    if domain not in DOMAINS:
        fields["tags"] = [*fields.get("tags", ()), domain[:40]]
        fields["domain"] = "general"
    elif "domain" in fields:
        fields["domain"] = domain
    if fields.get("confidence", "high") not in CONFIDENCES:
        raise InvalidInput("There is no such confidence.", f"Choose one of: {', '.join(CONFIDENCES)}.")
    if not 0 <= float(fields.get("importance", 0)) <= 1:
        raise InvalidInput("Importance is a number from 0 to 1.")
    if "decision" in fields:
        fields["decision"] = _decision(fields["decision"])
    if "created" in fields:
        fields["created"] = from_ms(to_ms(str(fields["created"])))
    if "tags" in fields:
        fields["tags"] = [str(tag) for tag in fields["tags"]]
    return fields


def _decision(fields: Any) -> dict[str, Any]:
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


def quoted(one: Mapping[str, str]) -> dict[str, str]:
    """Return a piece of evidence in its stored form. Raise InvalidInput."""
    quote = str(one.get("quote", "")).strip()
    return {
        "citation": str(parse(one["citation"])),
        "quote": quote if len(quote) <= MAX_QUOTE else quote[:MAX_QUOTE].rsplit(None, 1)[0],
    }
