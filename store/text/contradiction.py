"""Cues by which two sentences, in Spanish or English, may say the same or contradict each other. They nominate only.

Two texts are taken apart into a frame, the words both have, and what each has alone. A `no` on one side, an opposite,
another number, day or version, another value of the same name: that is a contradiction in all likelihood, however
alike the texts are to a model, which is nearly blind to all four (bench.duplicates).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from unicodedata import normalize

SAME, ALIKE, AGAINST, APART = "same", "alike", "contradicts", ""
ENOUGH = 0.6  # of the words of the shorter text that both must have, for a cue to mean anything
CLOSE = 0.8  # of two words, as rapidfuzz's ratio from 0 to 1: another ending or a typo
TELLING = 0.75  # calibrated similarity from which two texts mean the same

_WORD = re.compile(r"[^\W_]+(?:[.:'\u2019+#/-][^\W_]+)*[+#]*")
_NUMBER = re.compile(r"v?\d[\d.,:/-]*(?:st|nd|rd|th|[ap]m|[a-z]{1,2}|%)?")
_DIGITS = re.compile(r"\d[\d.,:/-]*")
# what turns a sentence round; an n't is taken apart before
_NOT = frozenset(
    "no not never neither nor without none nobody nothing cannot stopped avoid avoids avoided dropped quit refuse"
    " refuses nunca jamas sin ni tampoco ningun ninguna ninguno nada nadie evita evitar evitamos evito dejo dejamos"
    " abandono abandonamos".split()
)
_AFTER_NOT = frozenset("longer mas anymore".split())  # `no longer`, `ya no`: part of the no
_EMPTY = frozenset(
    "a an the of to in on at for by with and or is are was were be been it its this that these those as from we our us"
    " you your he she his her they their i my me do does did has have had will would can could should must may when"
    " only also very just so than then there here if s re ve ll d un una unos unas el la los las lo de del al en y e o"
    " u por para con que se su sus mi mis tu tus nuestro nuestra nuestros nuestras es son era fue ser esta estan como"
    " ya muy mas solo tambien cuando si le les me nos te ha han he hay hacer hace va van a"
    " each every all cada todo toda todos todas".split()
)
_COUNT = {
    **{
        word: str(number)
        for number, words in enumerate(
            (
                "zero cero", "uno", "two dos twice", "three tres", "four cuatro", "five cinco",
                "six seis", "seven siete", "eight ocho", "nine nueve", "ten diez",
            )
        )
        for word in words.split()
    },
    "twelve": "12", "doce": "12", "twenty": "20", "veinte": "20", "thirty": "30", "treinta": "30",
    "hundred": "100", "cien": "100", "thousand": "1000", "mil": "1000",
}  # fmt: skip
# words of one closed list: of two sentences that differ by them, one is wrong
_LISTS = (
    "monday lunes|tuesday martes|wednesday miercoles|thursday jueves|friday viernes|saturday sabado|sunday domingo",
    "january enero|february febrero|march marzo|april abril|mayo|june junio|july julio|august agosto"
    "|september septiembre|october octubre|november noviembre|december diciembre",
    "morning manana|afternoon tarde|evening night noche",
    "daily diario diariamente|weekly semanal semanalmente|monthly mensual mensualmente|yearly anual",
    "red rojo roja|green verde|blue azul|black negro negra|white blanco blanca|yellow amarillo amarilla",
)
_OPPOSITES = (
    "like likes love loves prefer prefers enjoy enjoys gusta gustan encanta prefiere prefiero ama"
    "|dislike dislikes hate hates detesta odia odio molesta",
    "enable enables enabled activar activado activada activa activo habilitado habilitada"
    "|disable disables disabled desactivar desactivado desactivada inactivo deshabilitado deshabilitada",
    "allow allows allowed permit permitted permite permitir permitido puede"
    "|forbid forbids forbidden ban banned prohibe prohibir prohibido prohibida denied",
    "always siempre|never nunca jamas",
    "before antes|after despues",
    "light claro clara|dark oscuro oscura",
    "short brief breve breves corto corta cortas cortos|long largo larga largas largos detailed detallado detalladas",
    "public publico publica|private privado privada",
    "sync synchronous sincrono|async asynchronous asincrono",
    "tabs tabulador tabuladores|spaces espacios",
    "required mandatory obligatorio obligatoria requerido|optional opcional",
    "merge|rebase|squash",
    "formal|informal",
    "open abierto abierta|closed cerrado cerrada",
    "start starts started empieza empezo begin begins|stop stops termina termino end ends finished",
    "increase increased aumento subio|decrease decreased redujo",
    "remote remoto remota|onsite presencial",
    "male varon|female mujer",
    "married casado casada|single soltero soltera divorced divorciado divorciada",
    "free gratis gratuito|paid pago",
    "use uses used usa usan usamos uso utiliza utilizamos|replaced reemplazo removed elimino eliminamos",
)
# and more of them, that tell two questions apart, though sentences may well hold both
_CONTRARY = (
    *_OPPOSITES,
    "choose chose chosen pick picked adopt adopted elegimos elegir elegido adoptamos"
    "|reject rejected drop dropped discard discarded descartamos descartar descartado rechazamos rechazar",
    "first primero primera|last ultimo ultima",
    "fast faster fastest rapido rapida|slow slower slowest lento lenta",
    "best mejor mejores|worst peor peores",
    "most maximum max maximo maxima|least minimum min minimo minima",
    "add added adding agregar agregamos añadir anadir|remove removed removing delete deleted quitar borrar eliminar",
    "import imports imported importar importan|export exports exported exportar exportan",
    "accept accepts accepted approve approved acepta aceptar aprobar aprobo"
    "|refuse refuses refused reject rejected rechaza rechazar rechazo",
    "production prod produccion|staging preproduccion|development desarrollo",
    "login|logout",
    "install installed instalar|uninstall uninstalled desinstalar",
    "upload subir|download bajar descargar",
    "encrypt cifrar|decrypt descifrar",
    "lock bloquear|unlock desbloquear",
    "oldest antiguo antigua|newest",
    "internal interno interna|external externo externa",
    "input entrada|output salida",
    "instead vez lugar|besides ademas",
    "was were era eran fue|is are es son",
)
_IS = re.compile(r"^(?P<name>[^:=]{2,60}?)\s*(?::|=|->|→)\s+(?P<value>\S.*)$", re.DOTALL)
_COPULA = re.compile(
    r"^(?P<name>(?:the|our|my|his|her|their|el|la|los|las|nuestr[oa]s?|mis?|sus?|[\w-]+'s)\b.{2,60}?)\s+"
    r"(?:is|are|es|son|is called|is named|se llama|sera|will be)\s+(?:called |named )?(?P<value>\S.*)$"
)
_LIVES = re.compile(
    r"^(?P<name>.{0,60}?\b(?:lives?|vive|vivo|works?|trabaja|trabajo|based|born|nacio)\b)\s+(?:in|at|en|para|for)\s+"
    r"(?P<value>\S.*)$"
)


def _index(lists: Iterable[str]) -> dict[str, tuple[int, int]]:
    """word → (which list, which of its places)."""
    return {
        word: (which, place)
        for which, words in enumerate(lists)
        for place, group in enumerate(words.split("|"))
        for word in group.split()
    }


_IN_LIST = _index(_LISTS)
_OPPOSED = _index(_OPPOSITES)
_FIXED = frozenset((*_IN_LIST, *_OPPOSED))  # words of which another form may say the contrary


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A text taken apart: its plain words, how often it says no, the `words` that carry sense, its `values` (numbers
    and members of closed lists), and `capitals`, the words it writes large, the first left out."""

    plain: str
    negations: int
    words: tuple[str, ...]
    values: frozenset[str]
    capitals: frozenset[str]


def taken_apart(text: str) -> ParsedSentence:
    """What `compare` compares; made once for each text of many."""
    plain = folded(text)
    capitals = frozenset(
        folded(match[0])
        for match in list(_WORD.finditer(text))[1:]  # the first word begins large whatever it is
        if any(letter.isupper() for letter in match[0])
    )
    negations, words, values = 0, list[str](), set[str]()
    said = [match[0].strip("'\u2019") for match in _WORD.finditer(re.sub(r"n['\u2019]t\b", " not", plain))]
    for place, word in enumerate(said):
        if word in _NOT:
            negations += 1
            if word in _OPPOSED and word not in ("no",):
                words.append(word)
        elif word in _AFTER_NOT and place and said[place - 1] in _NOT:
            continue
        elif _NUMBER.fullmatch(word) or word in _COUNT:
            figures = _DIGITS.search(word)
            values.add(figures[0].rstrip(".,:/-") if figures else _COUNT[word])
        elif (listed := _IN_LIST.get(word) or _IN_LIST.get(word.removesuffix("s"))) is not None:
            values.add(f"={listed[0]}/{listed[1]}")
        elif word not in _EMPTY:
            words.append(word)
    return ParsedSentence(plain, negations, tuple(words), frozenset(values), capitals)


def folded(text: str) -> str:
    """A text without capitals, accents and doubled spaces."""
    apart = normalize("NFD", text.casefold())
    return " ".join("".join(letter for letter in apart if not "\u0300" <= letter <= "\u036f").split())


def compare(one: ParsedSentence, other: ParsedSentence, likeness: float, meaning: float | None = None) -> str:
    """SAME, ALIKE, AGAINST or APART. `likeness` is rapidfuzz's ratio of the texts and `meaning` their calibrated
    similarity, both from 0 to 1; None where no model tells."""
    if one.plain.rstrip(".!;, ") == other.plain.rstrip(".!;, "):
        return SAME
    shared, mine, yours = _parted(one.words, other.words)
    smaller = min(len(one.words), len(other.words))
    near = shared >= ENOUGH * smaller and shared >= 1 if smaller else likeness >= CLOSE
    opposed = _opposed(mine, yours)
    if opposed and shared + 1 >= ENOUGH * smaller and not _even(one, other):
        return AGAINST
    told = meaning is not None and meaning >= TELLING
    if (near or told) and (one.negations + other.negations) % 2 and not (mine and yours):
        return AGAINST
    if (near and not (mine and yours)) or (told and not len(mine) == 1 == len(yours)):
        for which in (None, *range(len(_LISTS))):
            first, second = _of(one.values, which), _of(other.values, which)
            if first and second and not first <= second and not second <= first:
                return AGAINST
    if _another_value(one, other):
        return AGAINST
    if (one.negations + other.negations) % 2 or opposed:
        return APART
    if told and not _substituted(one, other, mine, yours) and not (smaller == shared == 1 and (mine or yours)):
        return ALIKE
    if likeness >= CLOSE and not (mine and yours) and one.values == other.values:
        return ALIKE
    return APART


def _even(one: ParsedSentence, other: ParsedSentence) -> bool:
    """Whether an opposite is turned round again by a no: `never` and `not always`."""
    return (one.negations + other.negations) % 2 == 1 and not ({"never", "nunca", "jamas"} & {*one.words, *other.words})


def _of(values: frozenset[str], which: int | None) -> set[str]:
    """The numbers among values, or the members of one closed list."""
    if which is None:
        return {value for value in values if not value.startswith("=")}
    return {value for value in values if value.startswith(f"={which}/")}


def _parted(one: Sequence[str], other: Sequence[str]) -> tuple[int, list[str], list[str]]:
    """(how many words both have, in whatever form; those of the one alone; those of the other alone)."""
    from rapidfuzz.fuzz import ratio

    left = list(dict.fromkeys(other))
    mine, shared = [], 0
    for word in dict.fromkeys(one):
        if word in left:
            left.remove(word)
            shared += 1
            continue
        best = max(left, key=lambda candidate: ratio(word, candidate), default=None)
        if best is not None and _form_of(word, best) and ratio(word, best) >= 100 * CLOSE:
            left.remove(best)
            shared += 1
        else:
            mine.append(word)
    return shared, mine, left


def _form_of(word: str, other: str) -> bool:
    """Whether two words may be forms of one: they begin alike."""
    return word[:3] == other[:3] and word not in _FIXED


def _opposed(mine: Iterable[str], yours: Iterable[str]) -> bool:
    """Whether a word of the one is an opposite of one of the other."""
    places: dict[int, set[int]] = {}
    for word in yours:
        if word in _OPPOSED:
            which, place = _OPPOSED[word]
            places.setdefault(which, set()).add(place)
    return any(word in _OPPOSED and places.get(_OPPOSED[word][0], set()) - {_OPPOSED[word][1]} for word in mine)


def contrary(one: str, other: str) -> bool:
    """Whether of two questions the one asks for the opposite of the other: they hold opposites, or other members of a
    closed list, that the other does not hold too."""
    first, second = ({match[0] for match in _WORD.finditer(folded(text))} for text in (one, other))
    for group in (*_CONTRARY, *_LISTS):
        places = [set(words.split()) for words in group.split("|")]
        held = [{place for place, words in enumerate(places) if words & said} for said in (first, second)]
        if held[0] - held[1] and held[1] - held[0]:
            return True
    return False


def _another_value(one: ParsedSentence, other: ParsedSentence) -> bool:
    """Whether both say what something is, and not the same: `primary LLM: Kimi` and `primary LLM: Qwen`."""
    for form in (_IS, _COPULA, _LIVES):
        first, second = form.match(one.plain), form.match(other.plain)
        if not first or not second or first["name"] != second["name"]:
            continue
        values = first["value"].rstrip(".!;, "), second["value"].rstrip(".!;, ")
        if values[0] == values[1] or values[0] in values[1] or values[1] in values[0]:
            return False
        if form is not _COPULA:
            return True
        names = [match[0] if (match := _WORD.search(value)) else "" for value in values]
        return names[0] in one.capitals and names[1] in other.capitals
    return False


def _substituted(one: ParsedSentence, other: ParsedSentence, mine: Sequence[str], yours: Sequence[str]) -> bool:
    """Whether they are one sentence about two things: `Ana likes tea`, `Eva likes tea`. A model takes such for the
    same."""
    if one.values and other.values and one.values != other.values:
        return True
    names = [word for word in mine if word in one.capitals], [word for word in yours if word in other.capitals]
    if names[0] and names[1]:
        return True
    return len(mine) == 1 == len(yours) and len(one.words) == len(other.words)
