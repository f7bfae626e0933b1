"""What a sentence means: the fact whose meaning is nearest, if it is near enough to be asked about."""

from store.base.clock import days_before
from store.base.models import Turn
from store.base.record_keys import NUMBERS, unpack
from store.config.configuration import Config
from store.database.database import Database
from store.learning.grammar import pattern
from store.learning.reconfirm_rules import ComparedText
from store.learning.sentences import Sentence
from store.search.filters import Filters
from store.search.query_parser import parse
from store.search.semantic import SemanticIndex

NEAR = 0.75  # calibrated similarity
WORDS = 3  # that tell something, of a sentence worth asking a model about
RECENT_DAYS = 30  # of a turn: what was said longer ago confirms nothing by its meaning
MOST = 200  # sentences of one run that a model is asked about


class NearestFact:
    """Looks sentences up by meaning, where a model's vectors are there; at most MOST of them."""

    def __init__(self, database: Database, config: Config, now: str) -> None:
        self._database = database
        self._meaning = SemanticIndex(database, config)
        self._since = days_before(now, RECENT_DAYS)
        self._filters = Filters(database, parse("kind:fact", now))
        self._left = MOST if self._meaning.serves else 0

    def nearest(self, turn: Turn, sentence: Sentence, words: ComparedText) -> int | None:
        """The active fact that means most nearly what a sentence says; None if none is near."""
        if (
            not self._left
            or turn.at < self._since
            or len(words.words) < WORDS
            or pattern("passing").search(sentence.folded)
        ):
            return None
        self._left -= 1
        look = self._meaning.look(sentence.text, {NUMBERS["fact"]})
        near = look.near(self._filters, [], 1) if look else {}
        for key, cosine in near.items():
            if look and look.calibrated(cosine) >= NEAR:
                return unpack(key)[1]
        return None
