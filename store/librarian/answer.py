"""The Librarian's answer: sentences made of quotes, each with its record, field and position."""

from dataclasses import dataclass
from typing import NamedTuple

from store.librarian.question import ParsedQuestion


class Quote(NamedTuple):
    """A part of a record's field, `text[start:end]`; `field` is an attribute, or one item of it such as
    `alternatives.0` or `payload.gate`."""

    citation: str
    field: str
    start: int
    end: int
    text: str


class CitedSentence(NamedTuple):
    """A sentence of an answer; the citations it makes itself, without those inside quoted text; its quotes; and whether
    the record looks like an instruction to an agent."""

    text: str
    citations: tuple[str, ...]
    quotes: tuple[Quote, ...] = ()
    hostile: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer. `parts` are its sentences, `sources` the records considered, in order, `odds` a model's log odds for
    each. `by` is the model that ordered them, empty where rules did, and `note` says why they did. `filter` is the
    search-bar filter of a question about the data. `nothing`: no record answers; `near` then names the nearest.
    `exact`: False where rules quote records that are only the nearest. `asked` is the parsed question, `topic` the one
    that a following question may refer to, `ground` the citations that it may refer to."""

    asked: ParsedQuestion
    parts: tuple[CitedSentence, ...]
    sources: tuple[str, ...]
    by: str = ""
    seconds: float = 0.0
    odds: tuple[tuple[str, float], ...] = ()
    filter: str = ""
    topic: ParsedQuestion | None = None
    ground: tuple[str, ...] = ()
    note: str = ""
    nothing: bool = False
    cancelled: bool = False
    near: CitedSentence | None = None
    exact: bool = True

    @property
    def citations(self) -> tuple[str, ...]:
        """All citations that the sentences make, each once."""
        return tuple(dict.fromkeys(citation for part in self.parts for citation in part.citations))

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(sentence.text for sentence in self.parts)

    @property
    def text(self) -> str:
        return " ".join(self.sentences)

    @property
    def line(self) -> str:
        """What answered, the number of sources, and the time: `2 sources · qwen2.5:3b · 1.4 s`."""
        count = len(self.citations)
        words = [] if self.nothing else [f"{count} source{'' if count == 1 else 's'}"]
        words += [self.by or "by rule", f"{self.seconds:.1f} s"]
        return " · ".join([*words, "stopped"] if self.cancelled else words)
