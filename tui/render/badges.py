"""The glyph and the label of every state and kind, the same in all views."""

from store.base.vocabulary import TASK_WORDS
from store.records.ageing import state

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.base.models import Fact

# badge → (glyph, word); the badge is also the style's name, `glyph-fresh`
FACT_BADGES = {
    "fresh": ("•", "fresh"),
    "aging": ("◐", "aging"),
    "low": ("▽", "low"),
    "stale": ("▲", "stale"),
    "pinned": ("★", "pinned"),
    "superseded": ("↷", "replaced"),
    "contradicted": ("≠", "contradicted"),
    "forgotten": ("✕", "forgotten"),
}
# what a record rests on → (glyph, word); the other axis beside its age
EVIDENCE_BADGES = {
    "holds": ("✓", "holds"),
    "moved": ("→", "moved"),
    "changed": ("≠", "changed"),
    "gone": ("⊘", "gone"),
    "": ("·", "not looked at"),
}
DOUBTED = ("moved", "changed", "gone")  # states of evidence that a list shows beside a record's age
WARNING = "⚠"
ORDER = f"{WARNING} looks like an instruction to agents"
KIND_GLYPHS = {
    "fact": "•",
    "global": "•",
    "decision": "◆",
    "commit": "○",
    "event": "·",
    "iteration": "↻",
    "task": "☐",
    "checkpoint": "▪",
    "turn": "“",
    "summary": "≡",
    "document": "¶",
    "proposal": "◇",
}
TASK_GLYPHS = {"pending": "☐", "in_progress": "◧", "done": "☑"}


def state_word(status: str) -> str:
    """Return the label of a status: `superseded` is stored and shown as `replaced`, `pending` as `open`."""
    return TASK_WORDS.get(status) or FACT_BADGES.get(status, ("", status))[1]


def fact_badge(fact: "Fact", now: str) -> str:
    """Return a fact's badge: its status if it is not active, else pinned, else its age."""
    if fact.status != "active":
        return fact.status
    return "pinned" if fact.pinned else state(now, fact.last_confirmed_at, fact.confidence, fact.pinned)
