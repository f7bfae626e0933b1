"""Sentences of a turn: what the person says themselves, what they pass on, and what each sentence does.

Quoted text in a turn, which the person only passed on: in quotation marks, code, tags, after a label, in a log.

Where both ends are found it is struck. Where it is only announced, or has no end, it is not known where the person's
words continue: from there only an explicit request for memory counts, as a proposal. What may have been pasted is
doubtful. Every pattern here takes time in proportion to the text (`tests/store/test_linear_time.py`).
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from store.text.fence import find_invisible
from store.text.language import detect_language
from store.text.sentences import find_sentence_spans, mask_quotation_ends
from store.text.words import fold_text, list_languages, read_language_file

# Grammar of the learning rules: patterns of requests to remember, lasting rules, corrections, confirmations.
#
# The data are in `es.toml`, `en.toml` and `forms.toml` in `grammar`; their first lines explain the tables. A sentence
# may be in either language, so each pattern here combines both. Patterns match one line of text without capitals and
# accents (`fold_text`), in time proportional to its length (`tests/store/test_linear_time.py`). Loaded at first use
# and cached.

GRAMMAR_FOLDER = os.path.join(os.path.dirname(__file__), "grammar")
# the file of what is put together of the words of all languages
FORMS_FILE = "forms"
GRAMMAR_LANGUAGES = tuple(language for language in list_languages(GRAMMAR_FOLDER) if language != FORMS_FILE)
# letters within which a marker must end
MARKER_WINDOW = 240
# least letters of a marker's word in which one typo is accepted
MIN_TYPO_LETTERS = 7

_NAMED_PART = re.compile(r"\{([a-z_]+)\}")
_SLIPS = re.compile(r"~([a-z]+)")


class Trigger(NamedTuple):
    """A phrase in a sentence that states something, at its beginning if not in [[told]]: the `domain` of the fact;
    `unless`, a pattern that excludes the sentence; `sure`, the name in [verbs] of the forms by which its group `verb`
    tells whether it is certain."""

    domain: str
    phrase: re.Pattern[str]
    unless: re.Pattern[str] | None
    sure: str

    def find_phrase(self, folded: str, anywhere: bool = False) -> re.Match[str] | None:
        """Return the match of the phrase at the beginning of a sentence that is not excluded; or anywhere in it."""
        if self.unless and self.unless.match(folded):
            return None
        return self.phrase.search(folded) if anywhere else self.phrase.match(folded)


@cache
def word_pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of this name in [patterns], which ends at the end of a word. Raise KeyError."""
    every = [
        one for language, table in _language_tables("patterns") for one in _fill_phrases(language, table[name])
    ]
    return re.compile(f"{_any_pattern(every)}(?!(?<=\\w)\\w)")


def sign_alternatives(name: str) -> str:
    """Return the alternatives of this name in [signs], of both languages, to be inserted into a pattern. Raise
    KeyError."""
    return _any_pattern(one for _, table in _language_tables("signs") for one in table[name])


@cache
def sign_pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of this name in [signs], without a word boundary at its end. Raise KeyError."""
    return re.compile(sign_alternatives(name))


def form_table(name: str) -> Any:
    """Return what `forms.toml` says under a name. Raise KeyError."""
    return read_language_file(GRAMMAR_FOLDER, FORMS_FILE)[name]


@cache
def form_pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of this name in `forms.toml`; for a list, a pattern of any of its items. Raise KeyError."""
    told = form_table(name)
    return compose_pattern(told if isinstance(told, str) else "|".join(told))


@cache
def compose_pattern(text: str) -> re.Pattern[str]:
    """Return a pattern in which each `{name}` stands for the words of this name in [signs]."""
    return re.compile(_NAMED_PART.sub(lambda part: sign_alternatives(part[1]), text))


@cache
def load_rule_words(name: str) -> frozenset[str]:
    """Return the words of this name in [words], of both languages."""
    return frozenset(word for _, table in _language_tables("words") for word in table.get(name, "").split())


def verb_forms(name: str) -> list[tuple[str, str]]:
    """Return the (form, verdict) pairs of this name in [verbs], of both languages."""
    return [(form, says) for _, table in _language_tables("verbs") for form, says in table.get(name, ())]


@cache
def find_triggers(name: str) -> tuple[Trigger, ...]:
    """Return the triggers of this name, such as [[kept]], in order. Raise KeyError."""
    return tuple(
        Trigger(
            one["domain"],
            re.compile(_any_pattern(_fill_phrases(language, one["phrases"]))),
            re.compile(_any_pattern(_fill_phrases(language, one["unless"]))) if "unless" in one else None,
            one.get("sure", ""),
        )
        for language, listed in _language_tables(name)
        for one in listed
    )


def _language_tables(name: str) -> list[tuple[str, Any]]:
    """Return (language, the table of this name) for each language."""
    return [
        (language, read_language_file(GRAMMAR_FOLDER, language).get(name, {})) for language in GRAMMAR_LANGUAGES
    ]


def _any_pattern(phrases: Iterable[str]) -> str:
    """Return a pattern of any of these phrases."""
    return f"(?:{'|'.join(phrases)})"


def _fill_phrases(language: str, phrases: Sequence[str]) -> list[str]:
    """Return phrases with their parts inserted, and with variants for typos."""
    return [_SLIPS.sub(lambda word: typo_pattern(word[1]), _insert_parts(language, phrase)) for phrase in phrases]


@cache
def _expand_part(language: str, name: str) -> str:
    """Return the pattern of a part, with its own parts inserted."""
    part = read_language_file(GRAMMAR_FOLDER, language)["parts"][name]
    return _insert_parts(language, _any_pattern([part] if isinstance(part, str) else part))


def _insert_parts(language: str, phrase: str) -> str:
    """Insert the parts that a phrase names."""
    return _NAMED_PART.sub(lambda match: _expand_part(language, match[1]), phrase)


def typo_pattern(word: str) -> str:
    """Return a pattern for a word and its typos: one letter too many, one missing, one replaced, two exchanged; not in
    the first and the last two letters, where another ending is another word. A short word matches only itself."""
    if len(word) < MIN_TYPO_LETTERS:
        return word
    found = dict.fromkeys([word])
    for at in range(1, len(word) - 2):
        found[f"{word[:at]}{word[at + 1 :]}"] = None
        found[f"{word[:at]}{word[at + 1]}{word[at]}{word[at + 2 :]}"] = None
        found[f"{word[:at]}[a-z]{word[at + 1 :]}"] = None
        found[f"{word[:at]}[a-z]{word[at:]}"] = None
    return f"(?:{'|'.join(found)})"


# Clauses of a sentence, and markers in them: words that ask for memory, set a rule, correct or confirm.
#
# Matched on folded text, within `WINDOW` letters of the beginning of each clause.

# most filler words before a marker, and most words that join two requests
MOST_LEADS = 6
# kinds that a colon may follow
HEAD_KINDS = ("asked", "pointing", "storing", "lasting", "corrects")
COLON_MARKS = frozenset(":—–-")
TRIM_MARKS = " \t.!;,…:\u2014\u2013-?¿("

_CLAUSE_MARK = re.compile(
    r"\s*+(?:(?<![,;:.…—–()])(?:[,;:…]|(?<=\w\w)\)|\.\.)[,;:.…—–()]*+(?=\s|$)|(?<=\s)[-–—]{1,2}(?=\s)|—|(?<=\s)\((?=\w))"
    r"[\s¡¿]*+"
)
_LEADING_SPACE = re.compile(r"[\s¡!¿.,;*_\"'-]*")


class Clause(NamedTuple):
    """A clause of a sentence: start, end, and the punctuation mark after it, empty at the end."""

    start: int
    end: int
    mark: str

    def text_in(self, text: str) -> str:
        """Return the words of the clause in its sentence."""
        return text[self.start : self.end]


class Marker(NamedTuple):
    """A marker: its kind, which is the name of its pattern; its clause; start and end."""

    kind: str
    clause: Clause
    start: int
    end: int


def split_clauses(folded: str) -> list[Clause]:
    """Return the clauses of a sentence, separated by punctuation."""
    found, start = list[Clause](), len(folded) - len(folded.lstrip(" ¡¿"))
    for match in _CLAUSE_MARK.finditer(folded):
        if match.start() > start:
            found.append(Clause(start, match.start(), match[0].lstrip()[0]))
        start = match.end()
    end = len(folded.rstrip(" .!?…"))
    if end > start:
        found.append(Clause(start, end, ""))
    return found


def content_starts(folded: str, start: int, end: int) -> list[int]:
    """Return where the content of a clause may begin: after none, one, … of its filler words."""
    found = [_LEADING_SPACE.match(folded, start, end).end()]  # type: ignore[union-attr]
    while (
        len(found) <= MOST_LEADS
        and (lead := form_pattern("lead").match(folded, found[-1], end))
        and lead.end() > found[-1]
    ):
        found.append(lead.end())
    return found


def content_start(folded: str) -> int:
    """Return where the content of a sentence begins, after all its filler words."""
    return content_starts(folded, 0, len(folded))[-1]


def match_leading(kind: str, folded: str) -> re.Match[str] | None:
    """Return the match of a pattern at the beginning of a text, or after some of its filler words."""
    places = (0, *content_starts(folded, 0, len(folded)))
    return next(filter(None, (word_pattern(kind).match(folded, place) for place in places)), None)


def find_first_marker(
    kind: str, folded: str, parts: Sequence[Clause], inside: bool = False, whole: bool = False
) -> Marker | None:
    """Return the first marker of a kind at the beginning of a clause; with `inside` also after an "and" within a
    clause; with `whole` only a marker that is all of its clause."""
    for part in parts:
        places = content_starts(folded, part.start, part.end)
        if inside:
            for conjunction in list(sign_pattern("joins_requests").finditer(folded, part.start, part.end))[
                :MOST_LEADS
            ]:
                places += content_starts(folded, conjunction.end(), part.end)
        for place in places:
            match = word_pattern(kind).match(folded, place, place + MARKER_WINDOW)
            if match and not (whole and folded[match.end() : part.end].strip(" .!")):
                return Marker(kind, part, place, match.end())
    return None


def find_marker_within(kind: str, folded: str, parts: list[Clause]) -> Marker | None:
    """Return the first marker of a kind anywhere in a clause."""
    for part in parts:
        place = content_starts(folded, part.start, part.end)[0]
        if match := word_pattern(kind).search(folded[place : min(part.end, place + MARKER_WINDOW)]):
            return Marker(kind, part, place + match.start(), place + match.end())
    return None


def is_reported(folded: str, end: int) -> bool:
    """Return whether the text before `end` attributes what follows to somebody else, or supposes it."""
    return bool(
        match_leading("supposes", folded) or match_leading("reports", folded[max(0, end - MARKER_WINDOW) : end])
    )


def announces_own_words(folded: str) -> bool:
    """Return whether a text before a colon announces the person's own words, to be remembered."""
    text = folded[-MARKER_WINDOW:] + ":"
    return any(find_first_marker(kind, text, split_clauses(text), inside=True) for kind in HEAD_KINDS)


def start_behind_colon(folded: str, marker: Marker) -> int:
    """Return where the text after the colon begins that ends the marker's clause or a later one; 0 if there is none, or
    if somebody else speaks after it."""
    for part in split_clauses(folded):
        if (
            part >= marker.clause
            and part.mark
            and part.mark in COLON_MARKS
            and folded[part.end + 1 :].strip(TRIM_MARKS)
        ):
            return 0 if is_reported(folded, part.end) else part.end + 1
    return 0


def has_verb(rest: str, strict: bool = False) -> bool:
    """Return whether there is a verb, by its form. An ending of one language does not count in a text of the other;
    with `strict` it does not count in a text of unknown language either."""
    if word_pattern("finite").search(rest):
        return True
    tongue = detect_language(rest)
    tongues = [tongue] if tongue else [] if strict else ["es", "en"]
    return any(word_pattern(f"finite_{one}").search(rest) for one in tongues)


# Whether what follows "siempre", "nunca", "always" or "me llamo" is a rule or a name, or only tells what happens.
#
# "Siempre usá uv" and "siempre tenés razón" begin alike; so do "nunca uses npm" and "nunca compiló". An ambiguous form
# becomes a proposal. Accents count in Spanish: "usá" is an imperative, "usa" may be one; "probé" is past, "respondé" is
# not.

SURE, PERHAPS, NO = True, None, False
INFINITIVE = r"\w{2,}[aei]r(?:se|me|te|nos|l[aeo]s?)?"
CLITIC = r"(?:me|te|nos|se|l[aeo]s?){1,2}"
IMPERATIVE_ENDINGS = {"ar": ("a", "e", "en"), "er": ("e", "a", "an"), "ir": ("i", "e", "a", "an")}
# how the last letter of a stem is written before an e
HARD_LETTERS = {"c": "qu", "g": "gu", "z": "c"}
_SOFT = re.compile("[cgz]$")
_PART = re.compile(r"<(\w+)>")


@cache
def _all_imperatives() -> frozenset[str]:
    """Return imperatives of vos, tú, usted and ustedes, folded, of verbs used with an assistant."""
    made = set(load_rule_words("given"))
    for kind, ends in IMPERATIVE_ENDINGS.items():
        made |= {stem + end for stem in load_rule_words(kind) for end in ends}
    return frozenset(
        made | {_SOFT.sub(lambda last: HARD_LETTERS[last[0]], stem) + "e" for stem in load_rule_words("ar")}
    )


@cache
def _verb_patterns(name: str) -> list[tuple[re.Pattern[str], bool | None]]:
    """Return the (pattern, verdict) pairs of the verb forms of this name in [verbs]."""
    parts = {"imperative": "|".join(_all_imperatives()), "infinitive": INFINITIVE, "clitic": CLITIC}

    def filled(part: re.Match[str]) -> str:
        return f"(?:{parts.get(part[1]) or '|'.join(load_rule_words(part[1]))})"

    verdicts = {"sure": SURE, "perhaps": PERHAPS, "no": NO}
    return [(re.compile(_PART.sub(filled, form)), verdicts[says]) for form, says in verb_forms(name)]


def rule_certainty(forms: str, word: str, folded: str) -> bool | None:
    """Return SURE, PERHAPS or NO: whether a sentence, in `folded` without accents, is what it sounds like. `forms` is a
    name in [verbs], for the `word` that tells; empty where there is none."""
    if sign_pattern("over").search(folded):
        return NO
    both = f"{word} {fold_text(word)}"
    verdict = next((says for form, says in _verb_patterns(forms) if form.fullmatch(both)), NO) if forms else SURE
    return PERHAPS if verdict is SURE and sign_pattern("maybe").search(folded) else verdict


def tells_what_fails(folded: str) -> bool:
    """Return whether a clause tells what fails or happens to the person, and not how to do something."""
    return bool(word_pattern("happens").match(folded))


def is_command(folded: str) -> bool:
    """Return whether a clause without accents begins with an imperative, with or without pronouns: "compara …",
    "pasamelo"."""
    first = folded.split(maxsplit=1)[0] if folded.strip() else ""
    bare = re.sub(f"{CLITIC}$", "", first)
    return first not in load_rule_words("no_command") and not _all_imperatives().isdisjoint((first, bare))


# level of a character, as above; OWN: the person's
STRUCK, PASSED, DOUBTED, OWN = 0, 1, 2, 3
# characters of a line by which its kind is recognised
LINE_HEAD = 300

_COLON = re.compile(r":(?=\s|$)")
_SENTENCE = re.compile(r"[.!?…]\s")

# start, end, highest level
MarkedPart = tuple[int, int, int]
_LOWERED_LEVELS = [bytes(min(one, level) for one in range(256)) for level in range(OWN + 1)]


class QuotedSpans:
    """The level of each character of a text (`own`: STRUCK to OWN), and the place from which a paragraph or a log went
    before (`later`): there a rule in passing, "always …", becomes a proposal."""

    def __init__(self, text: str) -> None:
        self.own = bytearray([OWN]) * len(text)
        self.later = len(text)
        parts = [*_mark_spans(text), *self._mark_lines(text)]
        ending = [part for part in parts if part[1] == len(text)]
        first = {level: (start, end, level) for start, end, level in sorted(ending, reverse=True)}
        for start, end, level in (*(part for part in parts if part[1] < len(text)), *first.values()):
            self.own[start:end] = self.own[start:end].translate(_LOWERED_LEVELS[level])

    def _mark_lines(self, text: str) -> Iterator[MarkedPart]:
        """Yield lines by their form, and what they announce."""
        patch = bool(form_pattern("patch").search(text))
        # after the last line
        begun = quoted = indented = False
        # a paragraph is to follow, or the lines are part of it
        announced = cut = False
        end, length = 0, len(text)
        for line in text.splitlines(keepends=True):
            start, end, head = end, end + len(line), line[:LINE_HEAD].strip()
            if not head:
                self.later = min(self.later, start) if begun else self.later
                quoted = cut = False
                continue
            begun = True
            announced, cut = False, cut or announced
            if cut or (indented and line[:2].isspace()):
                yield start, end, STRUCK
                continue
            indented = bool(form_pattern("indents").match(head))
            if form_pattern("forwarded").match(head):
                yield start, end, STRUCK
                yield start, length, PASSED
                return
            if form_pattern("begins_other").match(head):
                yield start, length, DOUBTED
            if indented or form_pattern("machine").match(line[:LINE_HEAD]) or (patch and line[:1] in "+-"):
                self.later = min(self.later, start)
                yield start, end, STRUCK
                quoted = head[:1] == ">"
                continue
            if quoted or form_pattern("odd").match(head):
                yield start, end, DOUBTED
            parts = list(_mark_announced(text, start, line))
            # somebody else speaks behind its colon, where nothing follows on the line
            announced = len(parts) == 2 and parts[1][2] == PASSED and not text[parts[0][0] : end].strip()
            self.later = min([self.later, *(part[1] for part in parts if part[2] == STRUCK)])
            yield from parts


def _mark_spans(text: str) -> Iterator[MarkedPart]:
    """Yield what stands between two marks, anywhere in the text."""
    for match in form_pattern("code").finditer(text):
        yield *match.span(), STRUCK
    for match in form_pattern("single_quoted").finditer(text):
        yield *match.span(), DOUBTED if "\n" in match[0] else STRUCK
    # the end is empty where it is the same as the beginning
    for begins, ends, between in form_table("enclosed"):
        opens = list(compose_pattern(begins).finditer(text))
        closes = list(compose_pattern(ends).finditer(text)) if ends else opens[1::2]
        yield from _mark_enclosed(opens if ends else opens[::2], closes, len(text), between)
    if entity := form_pattern("entity").search(text):
        yield entity.start(), len(text), DOUBTED


def _mark_announced(text: str, start: int, line: str) -> Iterator[MarkedPart]:
    """Yield what a line announces: the rest of it, the rest of the text."""
    folded, end, length = fold_text(line.strip()), start + len(line), len(text)
    colon = _COLON.search(line)
    after = start + colon.end() if colon else end
    if sign_pattern("asks_for_work_on").search(folded) and (
        colon or sign_pattern("points_at_text").search(folded)
    ):
        yield after, length, PASSED
        return
    if colon is None:
        if any(
            sign_pattern(name).search(folded) for name in ("announces_other", "shows_text", "asks_for_work_on")
        ):
            yield end, length, DOUBTED
        return
    before = line[: colon.start()]
    lead = _SENTENCE.split(fold_text(before))[-1].strip(" *_-¡!")[-LINE_HEAD:]
    if word_pattern("own").search(lead):
        return
    if sign_pattern("announces_other").search(lead):
        yield after, end, STRUCK
        yield end, length, PASSED
    elif not line[colon.end() :].strip():
        yield after, length, DOUBTED
    elif not announces_own_words(lead):
        yield after, end, STRUCK
        # "Name: what they said"
        if before.strip()[:1].isupper() and len(before.split()) <= 3:
            yield end, length, DOUBTED


def _mark_enclosed(
    opens: Sequence[re.Match[str]], closes: Sequence[re.Match[str]], length: int, between: int
) -> Iterator[MarkedPart]:
    """Yield what stands between opening and closing marks: each pair where they alternate, else all from the first to
    the last. A closing mark without an opening one makes the whole text doubtful; an opening one without a closing one
    reaches to the end."""
    first = opens[0].start() if opens else length
    ends = [mark.end() for mark in closes if mark.end() > first]
    if len(ends) < len(closes):
        yield 0, length, DOUBTED
    places = [place for pair in zip((mark.start() for mark in opens), ends, strict=False) for place in pair]
    if places == sorted(places) and len(opens) - len(ends) in (0, 1):
        yield from ((start, end, STRUCK) for start, end in zip(places[::2], places[1::2], strict=True))
        if len(ends) > 1:
            yield first, ends[-1], between
    elif ends:
        yield first, ends[-1], STRUCK
    if len(opens) > len(ends):
        yield opens[-1].start(), length, PASSED


# Sentences of a turn that the person said themselves, and those that they only passed on (`passed`).
#
# What somebody else certainly said is left out. What may have been pasted (a list, a very long turn, what follows an
# unexplained colon) has a `doubt`: it is never enough for a fact without confirmation.

# characters from which a turn was probably not typed
LONG_TURN = 2_000
# characters read at each end of a turn; the middle of a longer one was probably pasted
READ_EACH_END = 5_000
# least words of a thing to remember
MIN_WORDS = 2
# characters of a sentence that can be one thing to remember
LONGEST_SENTENCE = 400
_LIST_MARK = re.compile(r"(?:^|\n)[ \t]*(?:[-*+•–—]|\d{1,2}[.)])\s+\Z")
# characters before a sentence that are searched for a bullet or number
BULLET_REACH = 12


class Sentence(NamedTuple):
    """One sentence: `text` in one line; `folded` the same without capitals and accents, letter by letter; `quote` as it
    stands in the turn. `doubt` says why it may not be the person's own, empty if it is. `passed`: probably not their
    own, so only an explicit request for memory counts; `later`: a paragraph or a log went before; `bullet`: it is a
    list item; `own`: the number of its letters before somebody else's words in it."""

    text: str
    folded: str
    quote: str
    doubt: str
    passed: bool = False
    later: bool = False
    bullet: bool = False
    own: int = LONGEST_SENTENCE

    @property
    def question(self) -> bool:
        """Whether it asks something; "…, ok?" at the end of an order does not."""
        if sign_pattern("order_tag").search(self.folded[-40:]):
            return False
        return self.text.rstrip("!.… \"'”’»)]").endswith("?")


def split_own_sentences(turn: str) -> list[Sentence]:
    """Return what the person said in a turn, sentence by sentence, without what they certainly only passed on."""
    ends = [turn] if len(turn) <= 2 * READ_EACH_END else [turn[:READ_EACH_END], turn[-READ_EACH_END:]]
    return [sentence for end in ends for sentence in _split_end(end, len(turn) > LONG_TURN)]


def _split_end(turn: str, long: bool) -> Iterator[Sentence]:
    """Yield the sentences of one end of a turn."""
    hidden = find_invisible(turn)
    places = [place for place in range(len(turn)) if place not in hidden]
    text = "".join(turn[place] for place in places)
    marks = QuotedSpans(text)
    for start, end in find_sentence_spans(mask_quotation_ends(text)):
        level = marks.own[start]
        if level == STRUCK:
            continue
        flat = " ".join(text[start:end].split())
        quote = turn[places[start] : places[end - 1] + 1]
        whole = len(flat) <= LONGEST_SENTENCE
        doubts = (
            (len(quote) > end - start, "something in it was hidden"),
            (long, "it stands in a long text"),
            (level == PASSED, "it may be somebody else's words"),
            (not whole, "it is long for one thing to remember"),
            (level == DOUBTED, "it may have been pasted"),
        )
        doubt = next((why for doubted, why in doubts if doubted), "")
        passed = level == PASSED or not whole
        bullet = bool(_LIST_MARK.search(text, max(0, start - BULLET_REACH), start))
        yield Sentence(
            flat,
            fold_text(flat),
            quote,
            doubt,
            passed,
            start >= marks.later,
            bullet,
            _own_letters(marks, text, start, end),
        )


def _own_letters(marks: QuotedSpans, text: str, start: int, end: int) -> int:
    """Return the number of letters of a sentence before a part, up to its end, that is not the person's own."""
    place = end
    while place > start and marks.own[place - 1] < OWN:
        place -= 1
    return len(" ".join(text[start:place].split()))


# Whether a clause states something lasting: a habit, of the person and theirs, of a thing with a name or a figure; or
# nothing: a request, an exclamation, praise, a remark about now. Matched by its form, on text without capitals and
# accents (`fold_text`).

NAME_PATTERN = re.compile(r"(?<=[^\W_] )(?!I\b)[A-Z][^\W_]+|\b[^\W\d_]+[A-Z]\w*|\b[A-Z]{2,}\b")
FIGURE_PATTERN = re.compile(r"\d|\b\w+[._/@-]\w+[._/@-]?\w*\b(?<!-)")
# least words of a clause for the form `telling` to count
MIN_TELLING_WORDS = 3
LASTING_SIGNS = ("habit", "decided_past", "likes", "wishes")
ONESELF_SIGNS = ("theirs", "lasting_verb", "third_person")


def asks_for_action(folded: str) -> bool:
    """Return whether a sentence begins with a request to do something now."""
    return begins_with_request(folded) and not sign_pattern("every_time").search(folded)


def begins_with_request(folded: str) -> bool:
    """Return whether a sentence begins with an order or a request, for now or in general."""
    return bool(form_pattern("request").match(folded)) or is_command(folded)


def states_nothing_lasting(folded: str) -> bool:
    """Tell whether a clause is a question, an exclamation, praise, or about this moment only."""
    every_time = sign_pattern("every_time").search(folded)
    if not every_time and (
        begins_with_request(folded)
        or sign_pattern("asked_for").search(folded)
        or form_pattern("to_you").match(folded)
    ):
        return True
    if any(form_pattern(name).match(folded) for name in ("short_answers", "let_go", "exclaims")):
        return True
    return bool(
        form_pattern("of_now").search(folded)
        or sign_pattern("for_now").search(sign_pattern("lasting_time").sub("", folded))
    )


def states_lasting(folded: str, written: str) -> bool:
    """Return whether a clause states something lasting: a habit, of the person and theirs, a thing with a name or a
    figure."""
    if states_nothing_lasting(folded):
        return False
    if any(
        one.search(folded) for one in (*map(sign_pattern, LASTING_SIGNS), word_pattern("from_now"), FIGURE_PATTERN)
    ):
        return True
    if any(not sign_pattern("day_name").fullmatch(fold_text(name[0])) for name in NAME_PATTERN.finditer(written)):
        return True
    if sign_pattern("once_past").search(written):
        return False
    first = sign_pattern("first_person").match(folded)
    return bool(
        any(sign_pattern(name).search(folded) for name in ONESELF_SIGNS)
        or any(
            (one["does"] or one["is"]) not in load_rule_words("of_now")
            for one in sign_pattern("of_oneself").finditer(folded)
        )
        or (first and first[1] not in load_rule_words("no_verb"))
        or sign_pattern("of_things").match(folded)
        or (len(folded.split()) >= MIN_TELLING_WORDS and form_pattern("telling").search(folded))
    )
