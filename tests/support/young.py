"""New memories: empty, with one record of a kind, with a few; and with or without embeddings.

All their texts are about the team, so that a question about it has an answer wherever there are records."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from conftest import Clock
from support import embedding_models

from store.base.vocabulary import CITATION_LETTERS, DOMAINS, SEARCHABLE
from store.conversations.summaries import Summaries
from store.conversations.turns import NewTurn
from store.embedding.vectors import Vectors
from store.memory import Memory
from store.search.query_parser import IS_VALUES

WORD = "team"
# the values of each filter, and one invalid value
VALUES: dict[str, tuple[str, ...]] = {
    "kind": (*SEARCHABLE, "fact,decision", "nonsense"),
    "domain": (*DOMAINS, "nonsense"),
    "is": (*IS_VALUES, "nonsense"),
    "author": ("ana", "josé", "user", "agent", "nobody"),
    "by": ("ana", "josé", "user", "agent", "nobody"),
    "tag": ("people", "none"),
    "since": ("2026-11-20", "1d", "yesterday", "2030-01-01", "nonsense"),
    "before": ("2026-11-20", "1d", "2001-01-01", "nonsense"),
    "branch": ("main", "nowhere"),
    "iteration": ("1", "I#1", "999", "nonsense"),
    "related": (*(f"{letter}#1" for letter in CITATION_LETTERS.values()), "MEMORY.md#L1", "F#999", "nonsense"),
    "linked": (*(f"{letter}#1" for letter in CITATION_LETTERS.values()), "MEMORY.md#L1", "F#999", "nonsense"),
    "in": ("code", "nonsense"),
}
FILTERED = [f"{name}:{value}" for name, values in VALUES.items() for value in values]
VECTORS = ("no vectors", "some", "all")
_SHA = "a1b2c3d" * 5 + "abcde"


def _said(memory: Memory) -> None:
    memory.turns.add_turns("s", [NewTurn("user", f"The {WORD} meets at nine", "Ana", "2026-11-20T09:00:00.000Z")])


def _summarised(memory: Memory) -> None:
    _said(memory)
    Summaries(memory.database).summarize_due("s", all_of_it=True)


def _document(memory: Memory) -> None:
    folder = Path(memory.location.path).parent.parent
    (folder / "MEMORY.md").write_text(f"# The {WORD}\n\nIt has four people.\n")
    memory.documents.update_index()


# how to create a record of each kind; a summary needs turns
BEGUN: dict[str, Callable[[Memory], object]] = {
    "fact": lambda memory: memory.facts.remember(f"{WORD.title()} of 4", domain="work", tags=["people"]),
    "decision": lambda memory: memory.decisions.decide(f"How the {WORD} meets", "every Monday"),
    "commit": lambda memory: memory.commits.log(
        _SHA, message=f"feat: the {WORD} page", author="José <j@x.org>", committed_at="2026-11-19T10:00:00.000Z"
    ),
    "event": lambda memory: memory.events.log("gate_passed", phase="build", payload={"by": f"the {WORD}"}),
    "iteration": lambda memory: memory.iterations.start_iteration("feature", f"the {WORD} page"),
    "task": lambda memory: memory.tasks.add_task(f"Ask the {WORD}"),
    "checkpoint": lambda memory: memory.checkpoints.take_checkpoint(f"the {WORD} agreed"),
    "turn": _said,
    "summary": _summarised,
    "document": _document,
}
assert set(BEGUN) == set(SEARCHABLE)
SIZES = ("nothing", *BEGUN, "many")


def begin(memory: Memory, size: str, vectors: str) -> None:
    """Fill an empty memory: `nothing`, one record of a kind, or `many` of all; with `some` embeddings half are done,
    the other half pending."""
    wanted = [make for kind, make in BEGUN.items() if size in (kind, "many")]
    half = (len(wanted) + 1) // 2
    for number, make in enumerate(wanted):
        if number == half and vectors == "some":
            embed(memory)
        make(memory)
    if size == "many":
        for number in range(12):
            memory.facts.remember(f"The {WORD} has room number {number}", domain="general")
            memory.database.clock.advance(days=20)  # type: ignore[attr-defined]
    if vectors == "all" or (vectors == "some" and len(wanted) < 2):
        embed(memory)
    if vectors == "some" and len(wanted) == 1:
        memory.facts.remember("Deploys on Fridays")


def embed(memory: Memory) -> None:
    """Embed the pending texts."""
    Vectors(memory.database).embed_queue(embedding_models.nano())


@contextlib.contextmanager
def begun(folder: Path, size: str, vectors: str) -> Iterator[Memory]:
    """Yield such a memory of a project in a new folder."""
    with Memory.open(str(folder / ".memoranda" / "memory.db"), "cli", Clock()) as memory:
        begin(memory, size, vectors)
        yield memory
