"""A project under git, whose files a test changes, and records of its memory that rest on them."""

from pathlib import Path

from support import repositories

from store.memory import Memory

PAY = (
    "import os\n\n\ndef total(rows):\n    return sum(rows)\n\n\nclass Fee:\n    def of(self, row):\n        return 3\n"
)


class BoundProject:
    """The folder of a memory, and a fact and a decision that rest on its files. `seen` looks again."""

    def __init__(self, memory: Memory, folder: Path) -> None:
        self.memory = memory
        self.folder = folder
        self.fact = memory.facts.remember("Totals are plain sums")[0]
        self.decision = memory.decisions.decide("Fees", "A fee is fixed")
        self.commit("first", {"src/pay.py": PAY, ".gitignore": ".memoranda\n"})

    def put(self, name: str, text: str | bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    def commit(self, message: str, files: dict[str, str] | None = None) -> str:
        return repositories.commit(self.folder, message, files or {})

    def git(self, *arguments: str) -> str:
        return repositories.git(self.folder, *arguments)

    def bind(self, *texts: str, kind: str = "fact") -> None:
        number = self.fact if kind == "fact" else self.decision
        self.memory.evidence.bind(kind, number, texts, str(self.folder))

    def seen(self) -> list[tuple[str, str]]:
        """What each piece of evidence is now: (state, place)."""
        return [(one.state, one.place) for one in self.memory.evidence.verify()]
