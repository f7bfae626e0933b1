"""Decide why a fact is in a context, or is not: one pure function, with its words for a person."""

from dataclasses import dataclass

from store.base.clock import whole_days
from store.base.record_keys import pack
from store.context.budget import LIMITS
from store.records.ageing import state
from store.text.prompt_injection import suspicious

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.base.models import Fact, GlobalFact

ABOVE = 0.4  # the calibrated similarity from which a fact is related to a question
LOW_ABOVE = 0.7  # and from which one of low priority is
MOST = 5  # facts that are included because they are related to a question


@dataclass(frozen=True, slots=True)
class Considered:
    """One fact that was considered. `word` is the reason in one word (see `judge`), `why` as part of a sentence;
    `similarity` to the question is calibrated, None where no model was used; `tokens` is its size if it is `included`.
    """

    fact: "Fact"
    included: bool
    word: str
    why: str
    similarity: float | None = None
    tokens: int = 0
    of_person: bool = False  # it is a global fact, of the person's own memory

    @property
    def record(self) -> "Fact | GlobalFact":
        """The fact as the project's memory shows and cites it."""
        from store.base.models import GlobalFact

        return GlobalFact(self.fact) if self.of_person else self.fact

    @property
    def key(self) -> int:
        """Its key (store/base/record_keys.py)."""
        return pack("global" if self.of_person else "fact", self.fact.id)

    @property
    def flagged(self) -> bool:
        """Whether it looks like an instruction to agents."""
        return suspicious(self.fact.fact)


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is known of a fact besides its own columns. `matched`: it shares a word with the question, or the question
    cites it; `by_words`: no fact is similar to the question in meaning, so words decide."""

    similarity: float | None = None
    matched: bool = False
    by_words: bool = False
    accepted: bool = True
    muted: bool = False
    said: str = ""  # where it was written or sent in the last turns, as a citation or a word; empty if it was not
    of_session: bool = True  # of this session, if its scope is a session


def judge(fact: "Fact", now: str, known: Circumstances) -> tuple[bool, str, str]:
    """Return (whether it may be included, the reason in one word, the reason in words). Permanent reasons are checked
    first, so that the words name what a person would have to change."""
    old = state(now, fact.last_confirmed_at, fact.confidence, fact.pinned)
    days = whole_days(now, fact.last_confirmed_at)
    near = "" if known.similarity is None else f" ({known.similarity:.2f} relevant)"
    if fact.status != "active":
        return False, fact.status, fact.status
    if not known.accepted:
        return False, "unaccepted", f"by {fact.origin}, not confirmed by you: confirm it to let it in"
    if known.muted:
        return False, "muted", "muted: unmute it to let it in"
    if not known.of_session:
        of = f"session {fact.session}" if fact.session else "an unnamed session"
        return False, "session", f"only for {of}"
    if old == "stale":
        return False, "stale", f"stale, {days} days: confirm it to bring it back"
    if old == "low" and fact.confidence == "low":
        return False, "weak", f"low confidence, {days} days unconfirmed: confirm it to bring it back"
    if known.said:
        return False, "said", f"said a moment ago ({known.said})"
    if old == "low":
        if known.similarity is None or known.similarity < LOW_ABOVE:
            return False, "low", f"low priority, {days} days: {_needed(known.similarity, LOW_ABOVE)}"
        return True, "low", f"low priority, {days} days, yet {known.similarity:.2f} relevant"
    if fact.pinned:
        return True, "pinned", f"pinned{near}"
    aging = f"aging, {days} days; " if old == "aging" else ""
    if known.similarity is not None and known.similarity >= ABOVE:
        return True, "aging" if aging else "relevant", f"{aging}{known.similarity:.2f} relevant"
    if known.matched and (known.by_words or known.similarity is None):
        return True, "aging" if aging else "words", f"{aging}shares words with the question{near}"
    return False, "far", _needed(known.similarity, ABOVE) if near else "shares no word with the question"


BEYOND = ("beyond", f"about the question, but not among the {MOST} nearest")
NO_ROOM = ("room", f"no room left: all facts together may take {LIMITS['facts']} tokens")


def _needed(similarity: float | None, threshold: float) -> str:
    """Say how relevant a fact is to the question, and how relevant it would have to be."""
    if similarity is None:
        return f"sent only if {threshold:.2f} relevant to the question"
    return f"{similarity:.2f} relevant to the question, {threshold:.2f} is needed"
