"""Whether a clause states something lasting: a habit, of the person and theirs, of a thing with a name or a figure. It
is matched by its form, on text without capitals and accents (`sentences.fold`)."""

import re
from functools import cache

from store.learning import small_talk
from store.learning.grammar import pattern
from store.learning.sentences import fold

SAID = 3  # words of a clause in which a telling word counts

NAME = re.compile(r"(?<=[^\W_] )(?!I\b)[A-Z][^\W_]+|\b[^\W\d_]+[A-Z]\w*|\b[A-Z]{2,}\b")
FIGURE = re.compile(r"\d|\b\w+[._/@-]\w+[._/@-]?\w*\b(?<!-)")
_DAY = re.compile(
    r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|lunes|martes|miercoles|jueves|viernes|sabado|domingo"
    r"|january|february|march|april|may|june|july|august|september|october|november|december|claude|qwen)"
)
_HABIT = re.compile(
    r"\b(?:siempre(?! (?:es|fue|tuyo))|nunca|jamas|cada|tod[oa]s (?:los|las)|los (?:lunes|martes|miercoles|jueves"
    r"|viernes|sabados|domingos)|de noche|a diario|always(?! (?:a|nice|good)\b)|never|every|each|usually|weekly|daily"
    r"|nightly|once a|twice a|on (?:mon|tues|wednes|thurs|fri|satur|sun)days)\b"
)
_THEIRS = re.compile(r"\b(?:my|our|mine|ours|mi|mis|nuestr[oa]s?)\b")
_ENGLISH = re.compile(
    r"\b(?:i|we) (?:(?:also|usually|mostly|often|only|still|really|both|all|don't|do not|can't|cannot|no longer|used to"
    r"|have to|must|have) )*([\w']+)|\b(?:i'm|i am|we're|we are|i've been|we've been) (\w+)"
)
# what a person does now, feels or says by the way: "I think", "we start", "I'm back"
_OF_NOW = frozenset(
    "start begin go come continue proceed wait try see look talk meet move stop finish think guess know mean hope"
    " wonder feel say said bet love appreciate agree get got give gave need want like slept had went came saw heard"
    " felt woke forgot laughed missed enjoyed watched tried thought knew found told took made did was were could would"
    " should might may will shall just am are do does don't ll back so very here tired done ready sorry glad happy"
    " sure fine good great ok okay late early off on in at going getting having about almost stuck lost busy bored"
    " hungry believe imagine understand remember forget regret hear wish didn't wasn't couldn't wouldn't haven't"
    " hadn't weren't all sleepy starving excited impressed afraid leaving coming thinking looking trying feeling"
    " loving not".split()
)
_TOLD_PAST = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:finally |already )?(?:chose|decided(?! to (?:grab|go|take|have|eat|sleep|rest|call"
    r"|stop))|settled|agreed|picked|went with|moved|switched|dropped|adopted|hired|signed|migrated|replaced|bought"
    r"|studied|grew up|was born|married)\b"
)
_LIKES = re.compile(
    r"\bi (?:really |don't |do not )*(?:like|love|need|want) (?!it\b|that\b|this\b|you\b|a \w+$|to\b|where\b|how\b"
    r"|what\b|when\b|the way\b)\w+"
)
_WISH = re.compile(
    r"(?:quiero|quisiera|necesito|me gustaria) que (?:l[oa]s? )?\w|(?:your|tus?) (?:\w+ ){1,3}(?:should|must|deb\w+)\b"
)
_SPANISH = re.compile(
    r"\b(?:soy|somos|tengo|tenemos|trabajo|trabaj\w+mos|vivo|vivimos|uso|prefiero|odio|detesto|naci|estudie"
    r"|me gustan?(?= \w)|me llamo|me cas\w+|me encarg\w+|me ocup\w+|me mud\w+|cobro|pago|elegi|decidi|sigo usando"
    r"|me (?!siento|muero|rio|olvido|quedo|alegro|pregunto|imagino|pierdo|confundo|canso|duermo)\w{3,}o"
    r"|(?!(?:vamos|seguimos|sigamos|arrancamos|arranquemos|empezamos|empecemos|vemos|veamos|volvemos|volvamos|estamos"
    r"|hablamos|hablemos|podemos|hagamos|hicimos|ibamos|terminamos|dejemos|tengamos|esperemos|pasemos|probemos|miremos"
    r"|tomemos|supimos|fuimos|tuvimos|pudimos|probamos|salimos|llegamos|sabemos|debemos|digamos|avancemos|queremos"
    r"|necesitamos|logramos|tomamos)\b)\w{2,}[aei]mos)\b"
)
_FIRST = re.compile(r"(?:(?:yo|no|ya|solo|tambien|todavia) )*(\w{2,}o)\b")
_NO_VERB = frozenset(
    "vuelvo vengo veo creo pienso espero quiero necesito puedo salgo entro llego empiezo pruebo miro bueno listo"
    " claro perfecto buenisimo cierto correcto exacto todo mucho poco eso esto algo como lo no yo digo entiendo siento"
    " supongo hago tanto solo primero segundo cuando ando barbaro lindo nuevo mismo otro cuanto hecho cero paso"
    " agradezco amo ahorro largo rapido caro medio tremendo tomo".split()
)
_OTHERS = re.compile(
    r"\b(?:(?:is|are) called|runs?|lives?|located|based (?:in|on)|belongs?|owns?|owned|depends?|expires?|costs?|hosted"
    r"|written in|built (?:with|on|in)|deployed|reports? to|responsible|in charge|prefers?|uses?|requires?|needs?|must"
    r"|loaded|stored|speaks?|plays|teaches|studies|supports?|handles|approves?"
    r"|se llaman?|viven?|quedan? en|corren? en|pertenecen?|dependen?|vencen?|cuestan?|tarda[n]?|maneja[n]?|usan?"
    r"|aprueba[n]?|requieren?|necesitan?|habla[n]?|juega[n]?|estudia[n]?|trabaja[n]?|se encarga[n]?|a cargo|responsable"
    r"|esta[n]? (?:en|a) (?!punto)|se (?!me\b|te\b|le\b|nos\b|vien|larg|nubl|escuch|oye|nota|ve\b|siente"
    r"|hace\b)\w+[ae]n?)\b"
)
# what happened once, and is told without a name or a figure
_EVENT = re.compile(
    r"\b(?:had|got|forgot|froze|fell|slept|jumped|walked|came|ate|drank|saw|broke|lost|left(?!-)|spilled|ran)\b"
    r"|\b(?!(?:decidi|aprob|eligi|pidi|acord|contrat|mud|cambi|compr|migr|reemplaz|jubil|naci|muri|cas)ó)\w{2,}ó\b",
    re.IGNORECASE,
)
_PAST = re.compile(r"(?!need|feed|embed|seed|shed)\w{2,}ed")
_DEFINITE = re.compile(
    r"(?:almost |casi )?(?:the|all|only|el|la|los|las|todos los|todas las|ningun\w*) (?!(?:weather|rain|sun|coffee"
    r"|day|morning|night|weekend|week|traffic|music|game|match|lunch|dinner|joke|heat|cold|idea|answer|code looks|rest"
    r"|thing|clima|tiempo|lluvia|sol|calor|frio|cafe|dia|manana|tarde|noche|finde|fin|semana|trafico|musica|partido"
    r"|almuerzo|mate|chiste|verdad|idea|respuesta|cosa|proxima|stack|log|logs|output|error"
    r"|trace)\b)[\w-]+(?: [\w'-]+){0,4}? (?:is|are|has|have|goes|go|es|son|tienen?|va|van|\w{2,}[^s\W]s|\w{2,}[ae]n?)\b"
    r"|(?!this|thanks|always|sometimes|looks|sounds|seems|feels|makes|works|news|things|was)[a-z-]{3,}s"
    r" (?:are|aren't|have|go|come|must|can|need|use|run|get|cost|take|start|end|live|belong|depend|expire)\b"
    r"|(?:there are|hay) (?:two|three|four|five|six|seven|eight|nine|ten|dos|tres|cuatro|cinco|seis|siete|ocho|nueve"
    r"|diez)\b|(?:nobody|no one|everybody|everyone|nadie) \w+"
)


def states(folded: str, written: str) -> bool:
    """Whether a clause tells something lasting: a habit, of the person and theirs, a thing with a name or a figure."""
    if small_talk.refused(folded):
        return False
    if any(sign.search(folded) for sign in (_HABIT, pattern("from_now"), _TOLD_PAST, _LIKES, _WISH, FIGURE)):
        return True
    if any(not _DAY.fullmatch(fold(name[0])) for name in NAME.finditer(written)):
        return True
    if _EVENT.search(written):
        return False
    if any(_lasts(one[1] or one[2]) for one in _ENGLISH.finditer(folded)) or _THEIRS.search(folded):
        return True
    first = _FIRST.match(folded)
    if _SPANISH.search(folded) or (first and first[1] not in _NO_VERB):
        return True
    if _OTHERS.search(folded) or _DEFINITE.match(folded):
        return True
    return len(folded.split()) >= SAID and bool(_telling().search(folded))


@cache
def _telling() -> re.Pattern[str]:
    return re.compile(rf"\b{pattern('telling').pattern}")


def _lasts(verb: str) -> bool:
    """Whether what a person says of themselves with this verb may hold for longer."""
    return verb not in _OF_NOW and not _PAST.fullmatch(verb)
