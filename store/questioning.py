"""What a question to a person rests on: the facts it is about as they are now, the digests by which the same one is
known again, and what a proposal keeps of its change and its evidence. Called by the inbox alone."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from store.citations import cite, parse
from store.database import Write
from store.digest import sha256
from store.errors import Conflict, InvalidInput, NotFound
from store.facts import text_hash
from store.vocabulary import CONFIDENCES, DOMAINS

MAX_QUOTE = 1_000  # characters of a quoted span; what is longer is told by its beginning


def holding(write: Write, number: int) -> tuple[str, str, str]:
    """(text, status, last confirmed) of a fact that holds today. Raises NotFound, Conflict."""
    row: tuple[str, str, str] | None = write.execute(
        "SELECT fact, status, last_confirmed_at FROM facts WHERE id = ?", (number,)
    ).get
    if row is None:
        raise NotFound(f"There is no fact {cite('fact', number)}.", "List them with `memoranda facts --all`.")
    if row[1] != "active":
        raise Conflict(f"{cite('fact', number)} is {row[1]}.", "Propose something about a fact that holds.")
    return row


def digest(about: Sequence[Sequence[str]]) -> str:
    """Of the texts and states of the facts that a proposal is about; empty without any."""
    if not about:
        return ""
    return _sum(json.dumps([list(one[:2]) for one in about], ensure_ascii=False))


def told_apart(
    kind: str, text: str, target: int | None, others: Sequence[int], based_on: str, confirmed: Sequence[str]
) -> str:
    """Of a question: by its text; of one that only changes facts, by them, and to confirm one by when it last was."""
    if others:
        return _sum(json.dumps([kind, sorted([target, *others], key=str)]))
    if kind in ("confirm", "forget"):
        return _sum(json.dumps([kind, target, based_on, *(confirmed if kind == "confirm" else ())]))
    return text_hash(text)


def _sum(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def tidy(change: Mapping[str, Any]) -> dict[str, Any]:
    """What else the fact would have, as `Facts.remember` would have it. Raises InvalidInput."""
    told = {name: value for name, value in change.items() if value not in (None, "", [], ())}
    domain = str(told.get("domain", "general")).strip().lower()
    if domain not in DOMAINS:
        told["tags"] = [*told.get("tags", ()), domain[:40]]
        told["domain"] = "general"
    elif "domain" in told:
        told["domain"] = domain
    if told.get("confidence", "high") not in CONFIDENCES:
        raise InvalidInput("There is no such confidence.", f"Choose one of: {', '.join(CONFIDENCES)}.")
    if not 0 <= float(told.get("importance", 0)) <= 1:
        raise InvalidInput("Importance is a number from 0 to 1.")
    if "tags" in told:
        told["tags"] = [str(tag) for tag in told["tags"]]
    return told


def quoted(one: Mapping[str, str]) -> dict[str, str]:
    """A piece of evidence as it is kept. Raises InvalidInput."""
    quote = str(one.get("quote", "")).strip()
    return {
        "citation": str(parse(one["citation"])),
        "quote": quote if len(quote) <= MAX_QUOTE else quote[:MAX_QUOTE].rsplit(None, 1)[0],
    }
