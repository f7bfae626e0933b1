"""What the Librarian gives: sentences made of quotes, each with the record, the field and the place it stands at."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from store.librarian.question import ParsedQuestion

if TYPE_CHECKING:
    from store.base.models import Record


class Quote(NamedTuple):
    """A part of a record's field, `text[start:end]` of it; `field` is a name, or of one of several `alternatives.0`."""

    citation: str
    field: str
    start: int
    end: int
    text: str

    def stands_in(self, record: "Record") -> bool:
        """Whether the record says just that, there."""
        name, _, place = self.field.partition(".")
        value = getattr(record, name, None)
        whole = value[int(place)] if place and isinstance(value, Sequence) and int(place) < len(value) else value
        return isinstance(whole, str) and whole[self.start : self.end] == self.text


class CitedSentence(NamedTuple):
    """A sentence of an answer, the citations that it makes itself, not those that stand in what it quotes, what it
    quotes, and whether the record reads like an order to an agent."""

    text: str
    citations: tuple[str, ...]
    quotes: tuple[Quote, ...] = ()
    hostile: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer. `parts` are its sentences, `citations` all that they make, `sources` the records that were looked at,
    in their order, `odds` how much a model was for each. `by` names the model that ordered them, empty where rules did,
    and `note` says why they did. `filter` is what a question of the data was read as. `nothing`: no record answers, and
    `near` names what comes nearest. `asked` is the question as the next one may lean on it, `ground` the citations of
    the answer that it leans on."""

    asked: ParsedQuestion
    parts: tuple[CitedSentence, ...]
    citations: tuple[str, ...]
    sources: tuple[str, ...]
    by: str
    seconds: float
    odds: tuple[tuple[str, float], ...] = ()
    filter: str = ""
    topic: ParsedQuestion | None = None
    ground: tuple[str, ...] = ()
    note: str = ""
    nothing: bool = False
    cancelled: bool = False
    near: CitedSentence | None = None

    @property
    def question(self) -> str:
        return self.asked.text

    @property
    def language(self) -> str:
        return self.asked.language

    @property
    def kind(self) -> str:
        return self.asked.kind

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(sentence.text for sentence in self.parts)

    @property
    def text(self) -> str:
        return " ".join(self.sentences)

    @property
    def line(self) -> str:
        """Who answered, from how much, and in how long: `2 sources · qwen2.5:3b · 1.4 s`."""
        count = len(self.citations)
        words = [] if self.nothing else [f"{count} source{'' if count == 1 else 's'}"]
        words += [self.by or "by rule", f"{self.seconds:.1f} s"]
        return " · ".join([*words, "stopped"] if self.cancelled else words)
