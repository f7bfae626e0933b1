"""Select the families that a text may contain, and their offsets: all keywords are searched in one pass over the text.

The automaton takes four milliseconds to import and to build, and a command or a hook writes a few short texts: those
are searched by the first three characters of the keywords, some ten microseconds a text. A pattern is compiled at the
first occurrence of one of its keywords.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence

    from store.redaction.rules.family import Family

    Find = Callable[..., list[tuple[int, int, int]]]
    Gate = Callable[[str, int], re.Match[str] | None]

    Meaning = tuple[bool, str, str, list[int]]
    Beginnings = dict[str, tuple[tuple[str, ...], list[tuple[str, str, int]]]]

_EDGED = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
"""Characters that may not precede a mark that begins a word, in lower case."""
_FIRST, _SHORT = 400, 600
"""Texts, and characters of one, that are searched before the automaton is built: so many cost what building it does."""


class KeywordIndex:
    """The keywords of some families. `families` are in the order in which they are tried."""

    __slots__ = ("_begun", "_find", "_first", "_gates", "_meant", "_short", "families")

    def __init__(self, families: "Sequence[Family]") -> None:
        self.families = families
        self._find: Find | None = None
        self._first = _FIRST
        self._gates: dict[str, Gate] = {}
        self._meant: list[list[Meaning]] = []
        self._begun: Beginnings = {}
        self._short: list[str] = []

    def _built(self) -> "Find":
        from ahocorasick_rs import AhoCorasick, Implementation

        wanted: dict[str, list[Meaning]] = {}
        for number, family in enumerate(self.families):
            edge, fold, gate = family.edge, family.fold, family.gate
            for keyword in family.keywords:
                exact = "" if fold else keyword
                meanings = wanted.setdefault(keyword if fold else keyword.lower(), [])
                for meaning in meanings:
                    if meaning[1] == exact and meaning[0] == edge and meaning[2] == gate:
                        if meaning[3][-1] != number:
                            meaning[3].append(number)
                        break
                else:
                    meanings.append((edge, exact, gate, [number]))
        self._meant = list(wanted.values())
        # five times as fast to build as a DFA, and a third slower to search with
        automaton = AhoCorasick(wanted, implementation=Implementation.ContiguousNFA, store_patterns=False)
        self._find = automaton.find_matches_as_indexes
        return self._find

    def _gate(self, pattern: str) -> "Gate":
        import re

        gate = self._gates[pattern] = re.compile(pattern, re.ASCII).match
        return gate

    def anchors(self, text: str) -> "list[tuple[Family, list[int]]]":
        """Return the families with a keyword in a text, in their order, each with the offsets where a match could
        begin, ascending."""
        lowered = text.lower()
        if self._first and len(text) <= _SHORT:
            self._first -= 1
            return self._likely(lowered, self._each(text, lowered))
        find = self._find or self._built()
        try:
            hits = find(lowered, True)
        except UnicodeEncodeError:  # an unpaired surrogate of UTF-16, which no keyword contains
            hits = find(lowered.encode("utf-8", "replace").decode(), True)
        if not hits:
            return []
        found: dict[int, list[int]] = {}
        gates = self._gates
        for keyword, start, end in hits:
            for edge, exact, gate, numbers in self._meant[keyword]:
                # most keywords are parts of ordinary words, and are rejected here
                if (
                    (edge and start and lowered[start - 1] in _EDGED)
                    or (exact and text[start:end] != exact)
                    or (gate and not (gates.get(gate) or self._gate(gate))(lowered, end))
                ):
                    continue
                for number in numbers:
                    if number in found:
                        found[number].append(start)
                    else:
                        found[number] = [start]
        return self._likely(lowered, found) if found else []

    def _each(self, text: str, lowered: str) -> dict[int, list[int]]:
        """Return the offsets of the keywords of each family, by its number, without the automaton: the keywords are
        looked up by their first three characters, or by both where they have no more."""
        begun = self._begun or self._by_start()
        places = [(at, lowered[at : at + 3]) for at in range(len(lowered) - 2) if lowered[at : at + 3] in begun]
        for start in self._short:
            at = lowered.find(start)
            while at >= 0:
                places.append((at, start))
                at = lowered.find(start, at + 1)
        found: dict[int, list[int]] = {}
        for at, start in places:
            keywords, meant = begun[start]
            for keyword, exact, number in meant if lowered.startswith(keywords, at) else ():
                if not lowered.startswith(keyword, at) or (exact and not text.startswith(exact, at)):
                    continue
                family = self.families[number]
                if (family.edge and at and lowered[at - 1] in _EDGED) or (
                    family.gate
                    and not (self._gates.get(family.gate) or self._gate(family.gate))(lowered, at + len(keyword))
                ):
                    continue
                found.setdefault(number, []).append(at)
        return found

    def _by_start(self) -> "Beginnings":
        meant: dict[str, list[tuple[str, str, int]]] = {}
        for number, family in enumerate(self.families):
            for keyword in family.keywords:
                folded = keyword if family.fold else keyword.lower()
                meant.setdefault(folded[:3], []).append((folded, "" if family.fold else keyword, number))
        self._short = [start for start in meant if len(start) < 3]
        self._begun = {start: (tuple({one[0] for one in some}), some) for start, some in meant.items()}
        return self._begun

    def _likely(self, lowered: str, found: dict[int, list[int]]) -> "list[tuple[Family, list[int]]]":
        """Return the families found, in their order, each with the offsets where a match could begin."""
        likely = []
        for number in sorted(found):
            family = self.families[number]
            if family.needs and family.needs not in lowered:
                continue
            starts = found[number]
            if family.back:
                starts = [at - distance for at in starts for distance in family.back if distance <= at]
            likely.append((family, starts if len(starts) == 1 else sorted(set(starts))))
        return likely
