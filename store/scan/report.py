"""What a scan finds, as plain data."""

from dataclasses import asdict, dataclass, field
from typing import Any

from store.sources.source import ReadTrouble

# kinds of findings, in the order of a report
DUPLICATE, CONTRADICTION, MISSING_FILE, MISSING_SYMBOL = (
    "duplicate",
    "contradiction",
    "missing-file",
    "missing-symbol",
)
DEAD_LINK, SECRET, INSTRUCTION, CROSS_PROJECT, EXPIRING = "dead-link", "secret", "instruction", "bleed", "expiring"
FINDING_KINDS = (
    *(
        SECRET,
        CONTRADICTION,
        DUPLICATE,
        MISSING_FILE,
        MISSING_SYMBOL,
        DEAD_LINK,
        CROSS_PROJECT,
        INSTRUCTION,
        EXPIRING,
    ),
)
KEPT_MEMORY, KEPT_DOCUMENT, KEPT_CONVERSATION, LOADED_LAYER, UNREAD_PART = (
    "memory",
    "document",
    "conversation",
    "layer",
    "unread",
)  # of a list
OLD_DAYS = 180  # of a memory that nobody changed
PRICE_PER_MILLION = 3.0  # dollars a million tokens that are read: a common price of 2026, to give an idea


@dataclass(frozen=True, slots=True)
class ScanFinding:
    """One thing to look at: at `line` of the file at `path`, and for a pair `other` as `path:line`."""

    kind: str
    path: str
    line: int
    says: str
    other: str = ""


@dataclass(frozen=True, slots=True)
class SourceInventory:
    """What one tool keeps: times are of its memories, empty where it has none; `old` ones are older than OLD_DAYS,
    `unread` is how many parts cannot be read."""

    source: str
    title: str
    places: tuple[str, ...]
    memories: int = 0
    documents: int = 0
    conversations: int = 0
    bytes: int = 0
    oldest: str = ""
    newest: str = ""
    old: int = 0
    unread: int = 0


@dataclass(frozen=True, slots=True)
class ContextLayer:
    """A file that an agent loads at each start in a folder, with its estimated tokens; `by` is the file that imports
    it."""

    agent: str
    path: str
    tokens: int
    by: str = ""


@dataclass(frozen=True, slots=True)
class ProjectStart:
    """What a start in a folder loads, and how often one began there in 30 days, as far as transcripts tell."""

    folder: str
    layers: tuple[ContextLayer, ...]
    starts: int

    @property
    def tokens(self) -> dict[str, int]:
        """Tokens by agent."""
        sums: dict[str, int] = {}
        for layer in self.layers:
            sums[layer.agent] = sums.get(layer.agent, 0) + layer.tokens
        return sums

    @property
    def month_tokens(self) -> int:
        """Tokens that 30 days of starts load, by the agent that has the transcripts."""
        return self.tokens.get("claude-code", 0) * self.starts


@dataclass(slots=True)
class ScanReport:
    """All of it. `transcripts` tells whether they were searched for secrets too."""

    sources: list[SourceInventory] = field(default_factory=list)
    findings: list[ScanFinding] = field(default_factory=list)
    starts: list[ProjectStart] = field(default_factory=list)
    troubles: list[ReadTrouble] = field(default_factory=list)
    transcripts: bool = False
    kept: dict[str, list[ScanFinding]] = field(default_factory=dict)
    """What each tool keeps, one by one, by its name; not in the report that is written."""

    def list_findings(self, kind: str, name: str = "") -> list[ScanFinding]:
        """Return what a number of the report counts: the findings of a kind; what the tool `name` keeps of a kind,
        the files that a start in the folder `name` loads, or what could not be read."""
        if kind == UNREAD_PART:
            return [ScanFinding(kind, one.path, max(1, one.line), one.why) for one in self.troubles]
        if kind == LOADED_LAYER:
            layers = [layer for start in self.starts if start.folder == name for layer in start.layers]
            return [ScanFinding(kind, one.path, 1, f"{one.tokens:,} tokens, {one.agent}", one.by) for one in layers]
        if kind in FINDING_KINDS:
            return [one for one in self.findings if one.kind == kind]
        return [one for one in self.kept.get(name, ()) if one.kind == kind]

    @property
    def counts(self) -> dict[str, int]:
        return {kind: sum(one.kind == kind for one in self.findings) for kind in FINDING_KINDS}

    def as_dict(self) -> dict[str, Any]:
        return {
            "sources": [asdict(one) for one in self.sources],
            "counts": self.counts,
            "findings": [asdict(one) for one in self.findings],
            "starts": [
                {
                    **asdict(one),
                    "tokens": one.tokens,
                    "month_tokens": one.month_tokens,
                    "month_dollars": cost_in_dollars(one.month_tokens),
                }
                for one in self.starts
            ],
            "troubles": [asdict(one) for one in self.troubles],
            "transcripts": self.transcripts,
        }


def cost_in_dollars(tokens: int) -> float:
    """Return the cost of reading this many tokens, at PRICE_PER_MILLION."""
    return round(tokens * PRICE_PER_MILLION / 1_000_000, 2)
