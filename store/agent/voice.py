"""A person's voice: which sentences of a turn they said themselves, and which they only passed on.

What stands in quotation marks, in code, in tags, after a label or in a log was said by somebody else, and is no
sentence here at all. What may have been pasted (a list, a very long turn, what follows an unexplained colon) is a
sentence with a doubt: never enough for a fact that nobody is asked about.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from unicodedata import normalize

LONG = 2_000  # characters of a turn: who writes by hand writes less
MOST = 400  # characters of a sentence that can be one thing to remember
# characters that nobody sees, and that could hide words or turn them round; not the joiner of emoji
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b\u200c\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\U000e0000-\U000e01ef]"
)
_LETTERS_JOINED = re.compile(r"(?<=[^\W\d_])\u200d|\u200d(?=[^\W\d_])")

_FENCE = re.compile(r"```|~~~")
# what is somebody else's, whole: inline code, tags with what is in them, quotations
_PASSED_ON = (
    re.compile(r"`[^`\n]*`"),
    re.compile(r"<([A-Za-z][\w-]*)\b[^<>]*>.*?(?:</\1\s*>|\Z)", re.DOTALL),
    re.compile(r"“.*?(?:”|\Z)", re.DOTALL),
    re.compile(r"«.*?(?:»|\Z)", re.DOTALL),
    re.compile(r"„.*?(?:[“”]|\Z)", re.DOTALL),
    re.compile(r"(?<![\w])'(?=\S)[^\n]*?(?<=\S)'(?!\w)"),
    re.compile(r"(?<![\w])‘(?=\S)[^\n]*?(?<=\S)’(?!\w)"),
)
# lines that a program or a mail program wrote
_MACHINE = re.compile(
    r"""^(?:
      [ ]{4,}\S | \t | \s*> | \s*[|{}\[] | \s*"
    | \s*\[?\d{4}-\d\d-\d\d | \s*\[?\d\d:\d\d(?::\d\d)?\b
    | \s*(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL|CRITICAL)\b
    | \s*(?:\$|>>>|%|\#+)\s | \s*(?:@@|diff[ ]--git|index[ ]|\+\+\+|---) | [+-]\S
    | \s*(?:Traceback\b|File[ ]"|at[ ][\w.$]+\() | \s*[-*+]\s*\[[ xX]\]
    | \s*//|\s*/\*
    )""",
    re.VERBOSE,
)
_BULLET = re.compile(r"\s*(?:[-*+•–—]|\d{1,2}[.)])\s+")
# somebody speaks from here to the end: the head of a mail, a role of a transcript
_FORWARDED = re.compile(
    r"^\s*(?:-{3,}.*(?:original|forwarded|reenviado|mensaje).*|(?:from|de|to|para|subject|asunto|fwd?|rv|re)\s*:.*"
    r"|(?:\W*(?:user|human|assistant|system|tool|ai|bot|usuario|asistente|sistema|humano)\W*):.*)$",
    re.IGNORECASE,
)
# a sentence that announces somebody else's text, or asks for something to be done with a text that follows
_ANNOUNCES = re.compile(
    r"\b(?:says?|said|wrote|writes|reads|contains?|told|sent|answered|replied|output|prints?|shows?|log|logs|e-?mail"
    r"|message|readme|article|post|page|document|transcript|quote|imagine|suppose|pretend|example"
    r"|dice|dijo|dicen|dijeron|escribio|escribieron|mando|mandaron|envio|enviaron|contesto|respondio|pone|ponia|salida"
    r"|correo|mail|mensaje|articulo|pagina|documento|cita|imagina|imaginate|supongamos|suponete|ejemplo)\b"
)
_ASKS_FOR_WORK_ON = re.compile(
    r"\b(?:translat\w+|summari[sz]\w+|proofread\w*|rewrit\w+|rephras\w+|paraphras\w+|classif\w+"
    r"|fix the (?:text|grammar)"
    r"|explain|review|traduc\w+|resum(?:i|e|ir|eme|ime)\b|correg\w+|reescrib\w+|explic\w+|revis\w+|clasific\w+)"
)
_POINTS_AT = re.compile(r"\b(?:this|these|following|below|attached|est[aeo]s?|siguientes?|abajo|adjunt\w+|aca|aqui)\b")
NOTES = (
    *("nota", "importante", "ojo", "pd", "ps", "aclaracion", "aviso", "recordatorio", "regla", "reglas", "atencion"),
    *("note", "important", "fyi", "nb", "reminder", "rule", "rules", "heads up", "btw", "also", "one more thing"),
    *(
        "for future reference",
        "for your reference",
        "for the record",
        "para que sepas",
        "para el futuro",
        "para la proxima",
    ),
)
# a colon after these announces the person's own words
_OWN_COLON = re.compile(
    r"(?:record\w+|recuerd\w+|acord\w+|acuerd\w+|anot\w+|apunt\w+|remember\w*|memori[sz]\w+|olvid\w+|forget|mind|note|nota"
    r"|siguiente|following|decid\w+|prefier\w+|prefer|presente|en cuenta|reunion|meeting)\W*$"
)
_ENDS = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s|$)|\n+|$")
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|p\. ?ej|ej|sr|sra|dr|dra|mr|mrs|ms|vs|aprox|etc|nro|num)|\b[A-Z])\.$", re.I
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """What was said: `text` in one line, `folded` the same without capitals and accents, letter by letter; `quote` as
    it stands in the turn. `doubt` says why it may not be the person's own; empty if it is."""

    text: str
    folded: str
    quote: str
    doubt: str

    @property
    def question(self) -> bool:
        """Whether something is asked; an "…, ok?" at the end of an order asks nothing."""
        if _TAG.search(self.folded):
            return False
        return "?" in self.text[-4:] or self.text.startswith("¿")


_TAG = re.compile(r",\s*¿?(?:ok|okay|right|please|dale|si|vale|de acuerdo|porfa|por favor|entendido)\s*\?+$")


def fold(text: str) -> str:
    """A text without capitals and accents, as long as it was."""
    if text.isascii():
        return text.lower()
    return "".join(_bare(char) for char in text)


def _bare(char: str) -> str:
    found = normalize("NFD", char.lower())[:1]
    return {"’": "'", "‘": "'"}.get(found, found or char)


def sentences(turn: str) -> list[Sentence]:
    """What the person said in a turn, sentence by sentence; what they passed on is left out."""
    text, places = _seen(turn)
    hidden = len(text) < len(turn)
    own, doubtful = _own(text)
    long = len(text) > LONG
    found = []
    for start, end in _spans(text):
        if not own[start]:
            continue
        said = " ".join(text[start:end].split())
        if len(said) > MOST:
            continue
        quote = turn[places[start] : places[end - 1] + 1]
        doubt = ""
        if hidden and _HIDDEN.search(quote):
            doubt = "something in it was hidden"
        elif long:
            doubt = "it stands in a long text"
        elif doubtful[start]:
            doubt = "it may have been pasted"
        found.append(Sentence(said, fold(said), quote, doubt))
    return found


def _seen(turn: str) -> tuple[str, list[int] | range]:
    """The turn without what nobody sees, and where each of its characters stood."""
    if turn.isascii() and turn.isprintable():
        return turn, range(len(turn))
    out = {match.start() for match in _HIDDEN.finditer(turn)}
    out |= {match.start() for match in _LETTERS_JOINED.finditer(turn)}
    if not out:
        return turn, range(len(turn))
    places = [place for place in range(len(turn)) if place not in out]
    return "".join(turn[place] for place in places), places


def _own(text: str) -> tuple[bytearray, bytearray]:
    """Of each character whether it is the person's own, and whether that is in doubt."""
    own, doubtful = bytearray(b"\1" * len(text)), bytearray(len(text))

    def strike(start: int, end: int) -> None:
        own[start:end] = bytes(end - start)

    fences = [match.start() for match in _FENCE.finditer(text)]
    for first, second in zip(fences[::2], fences[1::2], strict=False):
        strike(first, second + 3)
    if len(fences) % 2:  # one of them has no end, and nobody knows which
        strike(fences[0], len(text))
    elif len(fences) > 2:  # what was pasted between two may hold some itself
        doubtful[fences[0] : fences[-1]] = b"\1" * (fences[-1] - fences[0])
    for pattern in _PASSED_ON:
        for match in pattern.finditer(text):
            strike(*match.span())
    for start, end in _quoted(text):
        strike(start, end)
    place = 0
    patch = bool(re.search(r"^(?:diff --git|@@ |\+\+\+ )", text, re.MULTILINE))
    for line in text.splitlines(keepends=True):
        start, place = place, place + len(line)
        folded = fold(line.strip())
        if _MACHINE.match(line) or (patch and line[:1] in "+-"):
            strike(start, place)
            continue
        if _FORWARDED.match(line):
            strike(start, len(text))
            break
        if bullet := _BULLET.match(line):
            doubtful[start : start + bullet.end()] = b"\1" * bullet.end()
            doubtful[start:place] = b"\1" * (place - start)
        colon = re.search(r":(?=\s|$)", line)
        if _ASKS_FOR_WORK_ON.search(folded) and (colon or _POINTS_AT.search(folded)):
            strike(start + colon.end() if colon else place, len(text))
            break
        if colon is None:
            continue
        lead = re.split(r"[.!?…]\s", fold(line[: colon.start()]))[-1].strip(" *_-¡!")
        after = start + colon.end()
        if lead in NOTES or _OWN_COLON.search(lead):
            continue
        if _ANNOUNCES.search(lead):
            strike(after, len(text))
            break
        if text[after:place].strip():
            strike(after, place)
        else:
            doubtful[after:] = b"\1" * (len(text) - after)
    return own, doubtful


def _quoted(text: str) -> Iterator[tuple[int, int]]:
    """The spans between straight quotation marks. Of a paragraph with more than one pair, all from the first mark to
    the last: what was pasted between quotation marks may hold some itself. One without an end goes to the end."""
    marks = [match.start() for match in re.finditer(r'(?<!\d)"|"(?=[^\W\d])', text)]
    for first, second in zip(marks[::2], marks[1::2], strict=False):
        yield first, second + 1
    if len(marks) % 2:
        yield marks[-1], len(text)
    for paragraph in re.finditer(r"(?:[^\n]|\n(?!\s*\n))+", text):
        within = [mark for mark in marks if paragraph.start() <= mark < paragraph.end()]
        if len(within) > 2:
            yield within[0], within[-1] + 1


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence starts and ends, without the spaces and bullets around it."""
    start = 0
    for match in _ENDS.finditer(text):
        end = match.end()
        if match[0].startswith(".") and _ABBREVIATED.search(text[start : match.start() + 1]):
            continue
        if bullet := _BULLET.match(text, start, end):
            start = bullet.end()
        while start < end and text[start].isspace():
            start += 1
        last = end
        while last > start and text[last - 1].isspace():
            last -= 1
        if last > start:
            yield start, last
        start = end
