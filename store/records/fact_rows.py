"""One row of `facts`: check its text, find it by text, insert it."""

from hashlib import sha256

from store.base.errors import InvalidInput
from store.base.vocabulary import PERSON
from store.database.database import Transaction
from store.database.erasure import tombstones
from store.database.values import Json, Verbatim, clean

MAX_CHARACTERS = 20_000
NO_TAGS = Verbatim("[]")


def text_hash(text: str) -> str:
    """Return a hash of a fact's text that ignores capitals, spaces and final punctuation."""
    return sha256(tombstones.normal(text).encode()).hexdigest()[:32]


def checked(text: str) -> str:
    """Return a fact's text as it will be stored. Raise InvalidInput."""
    fact = clean(text).strip()
    if not fact:
        raise InvalidInput("There is nothing to remember in an empty text.", 'Write the fact: remember "team of 5".')
    if len(fact) > MAX_CHARACTERS:
        raise InvalidInput(
            f"A fact holds at most {MAX_CHARACTERS:,} characters, and this has {len(fact):,}.",
            "Say it in a sentence or two.",
        )
    return fact


def same(write: Transaction, fact: str) -> int | None:
    """Return the active fact with the same text, in any spelling."""
    found: int | None = write.execute(
        "SELECT id FROM facts WHERE text_hash = ? AND status = 'active' ORDER BY id LIMIT 1",
        (Verbatim(text_hash(fact)),),
    ).get
    return found


def insert(
    write: Transaction,
    fact: str,
    *,
    domain: str,
    confidence: str,
    source: str,
    origin: str,
    evidence: Json | Verbatim,
    tags: Json | Verbatim = NO_TAGS,
    scope: str = "project",
    importance: float = 0.5,
    pinned: int = 0,
    supersedes: int | None = None,
    session: str = "",
    at: str = "",
    created: str = "",
) -> int:
    """Insert an active fact, confirmed now or `at`, and created then, or earlier at `created`; return its id. `fact` is
    `checked` already, and so are the words of closed lists."""
    return write.insert(
        "facts",
        domain=Verbatim(domain),
        fact=Verbatim(fact),
        text_hash=Verbatim(text_hash(fact)),
        confidence=Verbatim(confidence),
        source=Verbatim(source),
        scope=Verbatim(scope),
        status=Verbatim("active"),
        supersedes=supersedes,
        created_at=Verbatim(created or at or write.at),
        last_confirmed_at=Verbatim(at or write.at),
        importance=importance,
        pinned=pinned,
        origin=origin,
        evidence=evidence,
        tags=tags,
        session=session,
    )


def supersede(write: Transaction, number: int, fact: str) -> int:
    """Put a fact, `checked` already, in the place of the active fact `number`, by the transaction's actor; return its
    id. It is muted if that was."""
    from store.records.mutes import hand_on

    old = write.execute(
        "SELECT domain, confidence, scope, importance, pinned, evidence, tags, session FROM facts WHERE id = ?",
        (number,),
    ).get
    write.execute("UPDATE facts SET status = 'superseded' WHERE id = ?", (number,))
    new = insert(
        write,
        fact,
        domain=old[0],
        confidence="high" if write.actor == PERSON else old[1],
        source="explicit" if write.actor == PERSON else "inferred",
        scope=old[2],
        session=old[7],
        supersedes=number,
        importance=old[3],
        pinned=old[4],
        origin=write.actor,
        evidence=Verbatim(old[5]),
        tags=Verbatim(old[6]),
    )
    hand_on(write, [number], new)
    return new
