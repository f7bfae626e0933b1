"""Where the words of a purge are: in texts, columns, history, and the index.

Match the words to be purged, whatever the capitals, spaces and accents, and cut them out of a text.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple
from unicodedata import normalize

from ahocorasick_rs import AhoCorasick, Implementation

from store.base.citations import cite
from store.base.vocabulary import KIND_BY_TABLE
from store.database.change_capture import PURGED_MARK
from store.database.database import Database
from store.database.tombstones import (
    MIN_PURGED_LETTERS,
    NAME_DIGEST,
    PURGE_COUNT_KEY,
    PURGE_KEY,
    PURGE_NOTE,
    SPACED_SCRIPTS,
    compared_word_spans,
    digest_forms,
    find_digest_forms,
    fold_word,
    split_written_words,
)
from store.database.values import dump_compact_json
from store.history.compression import every_row_view
from store.history.history import primary_key
from store.purge.registry import (
    COPY_TABLE,
    DROPPED_TABLE,
    HISTORY_TABLE,
    INPUT_TABLE,
    REBUILT_TABLE,
    RECORD_TABLE,
    WORDLESS_TABLE,
    TextTable,
    list_text_tables,
)
from store.text.language import extract_names
from store.text.words import load_stop_words

# letters from which on a query that is part of a text identifies it
MIN_IDENTIFYING_LETTERS = 12
MAX_SINGLE_TEXTS = (
    # up to so many texts are looked for one by one; more of them together, each by its rarest run of letters
    20
)
FINAL_MARKS = ".!;, "
# end of a text that was cut short
ELLIPSIS = "\u2026"
# words before it that are compared
MAX_END_WORDS = 400
# of JSON
JSON_OPENINGS = ("{", "[", '"')
# equal to the second in any capitals, and `lower` leaves them unchanged
OTHER_SMALL_LETTERS = (("\u0130", "i"), ("\u0131", "i"), ("\u017f", "s"))
# the same in JSON, composed or not; only capitals differ
_ASCII_RUN = re.compile(r"[A-Za-z0-9]{3,}")
_ANY_WORD = re.compile(r"\w+")

# index of the string, start and end
StringHit = tuple[int, int, int]
FindStrings = Callable[..., list[StringHit]]


class PurgedTexts:
    """Texts that are purged, to be looked for in others. Those too short to be looked for are left out."""

    def __init__(self, texts: Iterable[str]) -> None:
        found = dict.fromkeys(text for text in map(_trim_text, texts) if is_long_enough(text))
        # a text that contains another is cut first
        self.texts = tuple(sorted(found, key=len, reverse=True))
        # made when first needed
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._runs = [_ascii_runs(text) for text in self.texts]
        self._always = [place for place, runs in enumerate(self._runs) if not runs]
        self._by_run: list[list[int]] = []
        self._find = self._index_runs() if len(self.texts) > MAX_SINGLE_TEXTS else None
        self._whole = "\0".join(_fold_nfc(" ".join(text.split())) for text in self.texts)

    def _index_runs(self) -> FindStrings:
        """Find a run of letters of each text, in one pass."""
        often = Counter(run for runs in self._runs for run in set(runs))
        by_run: dict[str, list[int]] = {}
        for place, runs in enumerate(self._runs):
            if runs:
                by_run.setdefault(min(runs, key=lambda run: (often[run], -len(run))), []).append(place)
        self._by_run = [*by_run.values()]
        return make_string_finder(by_run)

    def __bool__(self) -> bool:
        return bool(self.texts)

    def probes(self) -> list[str] | None:
        """Return letters that any text with a match must contain, for SQL's LIKE, which does not know the other
        characters that count as i, k and s; None where every row must be read."""
        if len(self.texts) > MAX_SINGLE_TEXTS:
            return None
        probes = [max(re.split("[iks ]", " ".join(runs)), key=len, default="") for runs in self._runs]
        return probes if all(probes) else None

    def occur_in(self, value: object) -> bool:
        """Tell whether a text, or any string in its JSON, contains one of the purged texts."""
        return isinstance(value, str) and self._may_occur_in(value) and bool(self.cut(value) != value)

    def _may_occur_in(self, text: str) -> bool:
        """Tell whether a text, or any string in its JSON, may contain one of the purged texts."""
        return ("\\u" in text and text[:1] in JSON_OPENINGS) or bool(self._likely_texts(text))

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the positions of the purged texts in a text, as (start, end); they may overlap."""
        return [
            match.span() for wanted in self._likely_texts(text) for match in self._pattern(wanted).finditer(text)
        ]

    def select_occurring(self, text: str) -> set[str]:
        """Return the purged texts that a text contains, as they are in `texts`."""
        return {wanted for wanted in self._likely_texts(text) if self._pattern(wanted).search(text)}

    def contain_part(self, part: str) -> bool:
        """Tell whether one of the texts contains this part, if it has enough letters to identify a text."""
        folded = _fold_nfc(" ".join(part.split()))
        return len(folded) >= MIN_IDENTIFYING_LETTERS and folded in self._whole

    def excerpt(self, value: object) -> str:
        """Return the text around the first purged text in it, in one line, to be shown."""
        text = str(value)
        found = next(
            (match for text_ in self._likely_texts(text) if (match := self._pattern(text_).search(text))), None
        )
        if found is None:
            return " ".join(text.split())[:120]
        start = max(0, found.start() - 24)
        return ("…" if start else "") + " ".join(text[start : start + 160].split())

    def cut(self, value: Any) -> Any:
        """Return a text with each purged text in it replaced by a mark; of JSON, in each of its strings."""
        if not isinstance(value, str):
            return value
        if value[:1] in JSON_OPENINGS:
            try:
                tree = json.loads(value)
            except ValueError:
                return self._cut_text(value)
            cut = map_strings(tree, self.cut, self._cut_text)
            return value if cut == tree else dump_compact_json(cut)
        return self._cut_text(value)

    def _cut_text(self, text: str) -> str:
        """Return a text with each of the purged texts in it replaced by a mark."""
        for wanted in self._likely_texts(text):
            text = self._pattern(wanted).sub(PURGED_MARK, text)
        return text

    def _pattern(self, wanted: str) -> re.Pattern[str]:
        made = self._patterns.get(wanted)
        if made is None:
            made = self._patterns[wanted] = compile_text_pattern(wanted)
        return made

    def _likely_texts(self, text: str) -> list[str]:
        """Return the texts that may occur in this one, the longest first."""
        low = _lower_letters(text)
        places: Iterable[int] = range(len(self.texts))
        if self._find is not None:
            hits = find_hits(self._find, low)
            if not hits and not self._always:
                return []
            found = {place for run in {hit[0] for hit in hits} for place in self._by_run[run]}
            places = sorted(found.union(self._always))
        return [self.texts[place] for place in places if all(run in low for run in self._runs[place])]


class PurgedCopies(PurgedTexts):
    """The same for copies that Memoranda made: also cut `names` that only these texts contain, and their beginnings
    where a copy was cut short or an input was not completed."""

    def __init__(self, texts: Iterable[str], names: Iterable[str] = ()) -> None:
        texts, names = list(texts), list(names)
        super().__init__([*texts, *names])
        self._forms: dict[str, set[str]] = {}
        for kind, letters in (
            *(form for text in texts for form in digest_forms(text)),
            *(form for name in names for form in digest_forms(name, NAME_DIGEST)),
        ):
            self._forms.setdefault(letters, set()).add(kind)
        self._begun: dict[str, list[list[str]]] = {}
        for text in self.texts:
            words = [word for word, _, _ in compared_word_spans(normalize("NFC", text))]
            self._begun.setdefault(words[0][:MIN_PURGED_LETTERS] if words else "", []).append(words)

    def occur_in_input(self, text: str) -> bool:
        """Tell whether an input contains a purged text or a part of it, or ends with the beginning of one."""
        return (
            self.occur_in(text)
            or self.contain_part(text)
            or any(find_digest_forms(text, lambda letters: self._forms.get(letters, ())))
        )

    def probes(self) -> list[str] | None:
        """Return the letters that any match must contain, and the ellipsis at the end of a text that was cut
        short."""
        probes = super().probes()
        return None if probes is None else [*probes, ELLIPSIS]

    def _may_occur_in(self, text: str) -> bool:
        return ELLIPSIS in text or super()._may_occur_in(text)

    def _cut_text(self, text: str) -> str:
        text = super()._cut_text(text)
        if ELLIPSIS not in text:
            return text
        *parts, last = normalize("NFC", text).split(ELLIPSIS)
        return "".join(self._cut_beginning(part) for part in parts) + last

    def _cut_beginning(self, text: str) -> str:
        """Return a text that an ellipsis follows: with the beginning of a purged text at its end replaced by a
        mark, or else with the ellipsis."""
        tokens = compared_word_spans(text)
        for place in range(max(0, len(tokens) - MAX_END_WORDS), len(tokens)):
            following = [word for word, _, _ in tokens[place:]]
            letters = sum(map(len, following))
            for words in self._begun.get(following[0][:MIN_PURGED_LETTERS], ()):
                if letters >= min(
                    MIN_IDENTIFYING_LETTERS, max(MIN_PURGED_LETTERS, sum(map(len, words)) // 2)
                ) and _is_beginning(words, following):
                    return text[: tokens[place][1]] + PURGED_MARK
        return text + ELLIPSIS


def _is_beginning(words: list[str], following: list[str]) -> bool:
    """Return whether one begins with the other, whose last word may be cut short."""
    *whole, last = following
    return words[: len(whole)] == whole and len(words) > len(whole) and words[len(whole)].startswith(last)


def map_strings(tree: Any, change: Callable[[str], str], change_name: Callable[[str], str] | None = None) -> Any:
    """Return a copy of a JSON value with every string changed, and the names in objects by `change_name`."""
    if isinstance(tree, str):
        return change(tree)
    if isinstance(tree, list):
        return [map_strings(item, change, change_name) for item in tree]
    if isinstance(tree, dict):
        named = change_name or str
        return {named(name): map_strings(item, change, change_name) for name, item in tree.items()}
    return tree


def find_strings(tree: Any, names: bool = False) -> Iterator[str]:
    """Yield every string in a JSON value, with `names` those of objects too."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, list | dict):
        items = [*(tree if names else ()), *tree.values()] if isinstance(tree, dict) else tree
        for item in items:
            yield from find_strings(item, names)


def find_hits(find: FindStrings, text: str) -> list[StringHit]:
    """Return the matches of an automaton in a text, overlapping ones too."""
    try:
        return find(text, True)
    except UnicodeEncodeError:  # an unpaired surrogate of UTF-16, which no letters looked for contain
        return find(text.encode("utf-8", "replace").decode(), True)


def make_string_finder(wanted: Iterable[str]) -> FindStrings:
    """Return a function that finds these exact strings in one pass over a text."""
    made = AhoCorasick(wanted, implementation=Implementation.ContiguousNFA, store_patterns=False)
    return made.find_matches_as_indexes


def _lower_letters(text: str) -> str:
    """Return a text in small letters, with every character that equals i or s in another case as this letter."""
    if not text.isascii():
        for sign, letter in OTHER_SMALL_LETTERS:
            if sign in text:
                text = text.replace(sign, letter)
    return text.lower()


def is_long_enough(text: str) -> bool:
    """Return whether a text is long enough to be looked for elsewhere."""
    return sum(map(len, _ANY_WORD.findall(text))) >= MIN_PURGED_LETTERS


def compile_text_pattern(text: str) -> re.Pattern[str]:
    """Return a pattern for a text in any capitals, with any space between its words and accents composed or not; not as
    the beginning or the end of longer words: `team of 5` does not match in `team of 50`."""
    whole = r"\s+".join("".join(map(_letter_regex, word)) for word in normalize("NFC", text).split())
    before = f"(?<![{SPACED_SCRIPTS}])" if re.match(f"[{SPACED_SCRIPTS}]", text[0]) else ""
    behind = f"(?![{SPACED_SCRIPTS}])" if re.match(f"[{SPACED_SCRIPTS}]", text[-1]) else ""
    return re.compile(before + whole + behind, re.IGNORECASE)


def _letter_regex(letter: str) -> str:
    """Return a pattern for a letter, composed or not."""
    apart = normalize("NFD", letter)
    return re.escape(letter) if apart == letter else f"(?:{re.escape(letter)}|{re.escape(apart)})"


def _trim_text(text: str) -> str:
    """Return a text without surrounding spaces and final punctuation."""
    return text.strip().rstrip(FINAL_MARKS) or text.strip()


def _ascii_runs(text: str) -> list[str]:
    """Return the runs of plain ASCII letters and figures of a text, the longest first: any text that contains it
    contains each of them."""
    runs = _ASCII_RUN.findall(normalize("NFC", text))
    return sorted({run.lower() for run in runs}, key=len, reverse=True)


def _fold_nfc(text: str) -> str:
    """Return a text in NFC without capitals."""
    return normalize("NFC", text).casefold()


# Find the other places in the memory that contain the purged words: every column of every table that the registry
# lists as holding them, and history. `store/purge/file_eraser.py` searches files.

# a table, and a key as history writes it: a JSON list
RowRef = tuple[str, str]

TABLE_LABELS = {
    "queries": "a query you asked",
    "contexts": "a question that an agent was given a context for",
    "injections": "what an agent was sent",
    "agent_sessions": "a session of an agent",
    "agent_calls": "a call of an agent",
    "agent_tasks": "an entry of an agent's list of tasks",
    "answers_cache": "an answer that was kept",
    "model_calls": "an answer of the model",
    "discarded": "what was said and not kept",
    "context_usage": "how full a session's window was",
    "sources": "a file that was brought in",
    "meta": "a setting of this file",
    "leases": "a process at work",
}
TOO_SHORT_NOTE = "too short to be cut out of it: purge it, or change it"
NAME_NOTE = "a name, which is not changed"
_WORD_CHARACTER = re.compile(r"\w")


class RemainingMatch(NamedTuple):
    """A place that contains words which are purged elsewhere.

    `citation` names it, `table` and `key` are its row, or ("file", its path). `what` describes it, `text` is the text
    around the words, of a file what would be cut. `can` is whether Memoranda can remove them; it does so unless a
    person deselects the place. `note` is what remains even then. Of a file, `span` is what would be cut, in characters,
    and `digest` is of the bytes that it refers to.
    """

    citation: str
    table: str
    key: str
    what: str
    text: str
    can: bool = True
    note: str = ""
    span: tuple[int, int] = (0, 0)
    digest: bytes = b""


class MemorySearch:
    """A search through the memory that reads each table once: every row that contains the words, except the records
    that are `going`."""

    def __init__(self, database: Database, words: PurgedTexts, going: Collection[RowRef]) -> None:
        self._database = database
        self._words = words
        self._going = going
        self._tables = [
            (table, kept, keys)
            for table, kept in list_text_tables(database)
            if (keys := primary_key(database.connection, table))
        ]

    def find_records(self) -> list[RemainingMatch]:
        """Return the records that contain the words."""
        return self._find_in_tables((RECORD_TABLE,), self._words)

    def find_rest(
        self, records: Iterable[RemainingMatch], copies: PurgedCopies, dropped: bool
    ) -> list[RemainingMatch]:
        """Return these records and all else: of the copies that Memoranda made, every row that contains the `copies` of
        the words, also in its history or in a name; with `dropped`, the rows that a purge deletes anyway too."""
        copied = (COPY_TABLE, INPUT_TABLE, DROPPED_TABLE) if dropped else (COPY_TABLE, INPUT_TABLE)
        places = [*records, *self._find_in_tables(copied, copies)]
        # in the order of `tables`
        places.sort(key=lambda place: place.table)
        seen = {(place.table, place.key) for place in places}
        for table, key in _matching_history(self._database, self._words, self._going):
            if (table, key) not in seen:
                cited = _cite_row(self._database, table, key)
                places.append(RemainingMatch(cited, table, key, "what it said before", "in its history"))
        return [*places, *self._find_in_names()]

    def _find_in_tables(self, become: Collection[str], words: PurgedTexts) -> list[RemainingMatch]:
        """Return the matches in tables of these sorts."""
        found: list[RemainingMatch] = []
        for table, kept, keys in self._tables:
            if kept.becomes in become:
                for key, texts in _matching_rows(self._database, table, kept, keys, words, self._going):
                    text = next((text for text in texts if words.occur_in(text)), texts[0])
                    cited = _cite_row(self._database, table, key)
                    found.append(RemainingMatch(cited, table, key, _table_label(table), words.excerpt(text)))
        return found

    def _find_in_names(self) -> Iterator[RemainingMatch]:
        """Yield the matches in names of writers, files and steps, which are never cut."""
        for table, kept, keys in self._tables:
            if kept.names and kept.becomes in (RECORD_TABLE, COPY_TABLE, WORDLESS_TABLE):
                for key, text in _matching_names(self._database, table, kept, keys, self._words):
                    if (table, key) not in self._going:
                        around = self._words.excerpt(text)
                        cited = f"{_cite_row(self._database, table, key)} by {around}"
                        yield RemainingMatch(cited, table, key, NAME_NOTE, around, can=False)


def find_remaining_matches(
    database: Database, words: PurgedTexts, copies: PurgedCopies, going: Collection[RowRef], dropped: bool = True
) -> list[RemainingMatch]:
    """List every row in the memory that contains the words, and of the copies that Memoranda made every row that
    contains the `copies` of them. Leave out the records that are `going`, and unless `dropped` the rows that a purge
    deletes anyway."""
    if not copies:
        return []
    search = MemorySearch(database, words, going)
    return search.find_rest(search.find_records(), copies, dropped)


def find_short_matches(database: Database, texts: Collection[str]) -> list[RemainingMatch]:
    """List the records that contain a text as a whole word, where the text is too short to be cut out of others: a
    person decides."""
    wanted = {text.casefold() for text in texts if text}
    find = make_string_finder(wanted)
    found: list[RemainingMatch] = []
    for table, kept in list_text_tables(database) if wanted else ():
        keys = primary_key(database.connection, table)
        if kept.becomes != RECORD_TABLE or not keys or not kept.words:
            continue
        columns = ", ".join(kept.words)
        for key, *values in database.rows(f"SELECT json_array({', '.join(keys)}), {columns} FROM {table}"):
            said = next((value for value in values if value and _is_whole_word(find, value)), None)
            if said is not None:
                found.append(
                    RemainingMatch(
                        _cite_row(database, table, key), table, key, TOO_SHORT_NOTE, said[:120], can=False
                    )
                )
    return found


def _is_whole_word(find: FindStrings, text: str) -> bool:
    """Return whether any of the texts that `find` finds stands in a text as a word, and not within a longer one."""
    folded = text.casefold()
    return any(
        not _WORD_CHARACTER.match(folded, end) and not (start and _WORD_CHARACTER.match(folded, start - 1))
        for _, start, end in find_hits(find, folded)
    )


def list_word_columns(database: Database, table: str) -> tuple[str, ...]:
    """Return the columns of a table that may hold a person's words."""
    return next((kept.words for name, kept in list_text_tables(database) if name == table), ())


def row_key_condition(database: Database, table: str) -> str:
    """Return SQL for the row of a table whose key is the parameter, a JSON list."""
    return " AND ".join(
        f"{name} = json_extract(?1, '$[{place}]')"
        for place, name in enumerate(primary_key(database.connection, table))
    )


def _matching_rows(
    database: Database,
    table: str,
    kept: TextTable,
    keys: list[str],
    words: PurgedTexts,
    going: Collection[RowRef],
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (key, texts) of the rows that contain the words and are not in `going`."""
    if not words or not kept.words:
        return
    typed = words.occur_in_input if isinstance(words, PurgedCopies) and kept.becomes == INPUT_TABLE else None
    condition, parameters = ("true", []) if typed else likely_rows_condition(kept.words, words)
    for key, *texts in database.rows(
        f"SELECT json_array({', '.join(keys)}), {', '.join(kept.words)} FROM {table} WHERE {condition}",
        parameters,
    ):
        if (table, key) not in going and any(map(typed or words.occur_in, filter(None, texts))):
            yield key, tuple(text or "" for text in texts)


def _matching_names(
    database: Database, table: str, kept: TextTable, keys: list[str], words: PurgedTexts
) -> Iterator[tuple[str, str]]:
    """Yield (key, name) of the rows whose name contains the words, once for each name."""
    if not words:
        return
    condition, parameters = likely_rows_condition(kept.names, words)
    for key, *names in database.rows(
        f"SELECT min(json_array({', '.join(keys)})), {', '.join(kept.names)} FROM {table} WHERE {condition}"
        f" GROUP BY {', '.join(kept.names)}",
        parameters,
    ):
        text = next(filter(words.occur_in, names), None)
        if text is not None:
            yield key, text


def _matching_history(database: Database, words: PurgedTexts, going: Collection[RowRef]) -> Iterator[RowRef]:
    """Yield the records not in `going` whose history contains the words."""
    if not words:
        return
    condition, parameters = likely_rows_condition(["before", "after"], words)
    seen = set(going)
    for table, key, *texts in database.rows(
        f"SELECT tbl, pk, before, after FROM {every_row_view(database)} WHERE purged <> 1 AND ({condition})",
        parameters,
    ):
        if (table, key) not in seen and any(words.occur_in(text) for text in texts):
            seen.add((table, key))
            yield table, key


def likely_rows_condition(names: Collection[str], words: PurgedTexts) -> tuple[str, list[str]]:
    """Return SQL and its parameters for the rows in which a column may contain the words."""
    if not words:
        return "false", []
    probes = words.probes()
    if probes is None:
        return "true", []
    return " OR ".join(f"{name} LIKE ?" for name in names for _ in probes), [
        f"%{probe}%" for _ in names for probe in probes
    ]


def _table_label(table: str) -> str:
    """Return what a row of a table is called for a person."""
    return TABLE_LABELS.get(table) or KIND_BY_TABLE.get(table, table.replace("_", " ").removesuffix("s"))


def _cite_row(database: Database, table: str, key: str) -> str:
    """Return the citation of a row; for a table without citations what its row is called."""
    target = json.loads(key)[0]
    if table == "commits":
        return cite("commit", str(database.value("SELECT sha FROM commits WHERE id = ?", (target,))))
    if table in KIND_BY_TABLE and table not in ("commit_links", "mutes"):
        return cite(KIND_BY_TABLE[table], target)
    return _table_label(table)


# Find the words and names that only the purged records contained: they may be left in the names and summaries of
# checkpoints, and in search queries.

MIN_NAME_LETTERS = 4  # letters
# names of one purge: a purge of very many records need not count each of their words
MAX_COUNTED_NAMES = 10_000
# texts that are split into words at once
BATCH_TEXTS = 1_000
# names from which on the whole history is read for them, instead of a query for each row
MAX_QUERIED_NAMES = 40


def find_unique_words(
    database: Database, texts: Collection[str], going: Collection[RowRef], places: Iterable[RemainingMatch]
) -> list[str]:
    """Return the words and names of these texts that no kept record contains, not even within a longer word; the
    texts are cut out of `places`. Reads all of the memory, some 0.1 s for a megabyte."""
    names = {name.casefold(): name for name in extract_names(texts, MAX_COUNTED_NAMES)}
    for text in texts:
        for word, start, end in compared_word_spans(text):
            if len(word) >= MIN_NAME_LETTERS and not word.isdigit() and word not in load_stop_words("search"):
                names.setdefault(text[start:end].casefold(), text[start:end])
    names = {
        low: name
        for low, name in list(names.items())[:MAX_COUNTED_NAMES]
        if sum(map(str.isalnum, low)) >= MIN_NAME_LETTERS
    }
    if not names:
        return []
    cut = {(place.table, place.key) for place in places}
    words = PurgedTexts(texts)
    spelled: set[str] = set()
    staying = set(_read_kept_texts(database, going, cut, words))
    for some in _split_batches(staying):
        # no word continues in the next text
        spelled.update(split_written_words("\n".join(some)))
    folded = {word: fold_word(word) for word in spelled}
    tokens = {low: [word for word, _, _ in compared_word_spans(low)] for low in names}
    # a word within a longer one counts as contained; a name of several words only where all its words are
    standing = _contained_tokens(
        {token for some in tokens.values() for token in some}, "\0".join(set(folded.values()))
    )
    left = {low: name for low, name in names.items() if not standing.issuperset(tokens[low])}
    phrases = {low: f" {' '.join(tokens[low])} " for low in names if low not in left and len(tokens[low]) > 1}
    if phrases:
        unsaid = set(phrases.values())
        find, wanted = _make_finder(unsaid)
        for some in _split_batches(staying):
            joined = " \n ".join([" ".join([folded[word] for word in split_written_words(text)]) for text in some])
            unsaid -= {wanted[which] for which, _, _ in find_hits(find, f" {joined} ")}
            if not unsaid:
                break
        left |= {low: names[low] for low, phrase in phrases.items() if phrase in unsaid}
    if left:
        find, wanted = _make_finder(left)
        for text in _read_kept_history(database, going, list(left.values())):
            if not left.keys().isdisjoint({wanted[which] for which, _, _ in find_hits(find, text.casefold())}):
                for which, _, _ in find_hits(find, words.cut(text).casefold()):
                    left.pop(wanted[which], None)
    return sorted(left.values(), key=len, reverse=True)


def _contained_tokens(tokens: Iterable[str], text: str) -> set[str]:
    """Return the tokens that a text contains."""
    find, wanted = _make_finder(tokens)
    return {wanted[which] for which, _, _ in find_hits(find, text)}


def _make_finder(wanted: Iterable[str]) -> tuple[FindStrings, list[str]]:
    """Return a function that finds these strings in one pass, whatever their number, and the strings by index."""
    every = list(wanted)
    return make_string_finder(every), every


def _split_batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield texts in lists of BATCH_TEXTS."""
    waiting = iter(texts)
    while some := list(islice(waiting, BATCH_TEXTS)):
        yield some


def find_texts_elsewhere(database: Database, texts: Collection[str], going: Collection[RowRef]) -> set[str]:
    """Return the texts that a kept record contains or quotes."""
    words = PurgedTexts(texts)
    found: set[str] = set()
    for text in _read_kept_texts(database, going, (), words):
        found |= words.select_occurring(text)
    return {text for text in texts if _trim_text(text) in found}


def _read_kept_texts(
    database: Database, going: Collection[RowRef], cut: Collection[RowRef], words: PurgedTexts
) -> Iterator[str]:
    """Yield all texts of records, documents and the memory's own structure that remain once these are deleted: of
    history and of copies the names and other values, which are never cut."""
    # as the file holds it, without separators: a word may begin in one name and end in the next
    yield from database.column("SELECT type || name || tbl_name || ifnull(sql, '') FROM sqlite_schema")
    yield from PURGE_WORDS
    left_out = {(table, key) for table, key in going} | _deleted_summaries(database, going)
    for table, kept in list_text_tables(database):
        if kept.becomes == REBUILT_TABLE and table not in SOURCE_TABLES:
            continue
        columns = [
            name
            for name, kind in database.rows("SELECT name, type FROM pragma_table_info(?, 'main')", (table,))
            if kind == "TEXT"
        ]
        if kept.becomes in (COPY_TABLE, INPUT_TABLE, DROPPED_TABLE, HISTORY_TABLE):
            for name in (name for name in columns if name not in (*kept.words, *TIME_COLUMNS)):
                yield from (text for text in database.column(f"SELECT DISTINCT {name} FROM {table}") if text)
            continue
        if not columns:
            continue
        keys = ", ".join(primary_key(database.connection, table)) if kept.becomes == RECORD_TABLE else ""
        sql = f"SELECT json_array({keys}), {', '.join(columns)} FROM {table}"
        for key, *texts in database.rows(sql):
            if (table, key) in left_out:
                continue
            for text in filter(None, texts):
                yield words.cut(text) if table in SOURCE_TABLES or (table, key) in cut else text


# what a purge itself writes
PURGE_WORDS = ("purge", PURGE_NOTE, PURGE_COUNT_KEY, PURGE_KEY)
# without words, and another in each row
TIME_COLUMNS = ("at", "created_at", "recovered_at")
# made again from files, and so kept
SOURCE_TABLES = ("chunks", "documents")


def _deleted_summaries(database: Database, going: Collection[RowRef]) -> set[RowRef]:
    """Return the summaries that are deleted with turns."""
    rows = database.column(
        "SELECT DISTINCT json_array(s.id) FROM summaries s JOIN turns t ON t.session = s.session"
        " AND t.number BETWEEN s.first AND s.last JOIN json_each(?) g ON t.id = g.value",
        ("[" + ",".join(key[1:-1] for table, key in going if table == "turns") + "]",),
    )
    return {("summaries", key) for key in rows}


def _read_kept_history(database: Database, going: Collection[RowRef], names: list[str]) -> Iterator[str]:
    """Yield the history of kept records where it may contain one of the names."""
    condition, parameters = "true", list[str]()
    if len(names) <= MAX_QUERIED_NAMES:
        condition, parameters = likely_rows_condition(["before", "after"], PurgedTexts(names))
    for table, key, *states in database.rows(
        f"SELECT tbl, pk, before, after FROM {every_row_view(database)} WHERE purged <> 1 AND ({condition})",
        parameters,
    ):
        if (table, key) not in going:
            yield from filter(None, states)
