"""Whether what follows "siempre", "nunca", "always" or "from now on" can be an order, or only tells what happens.

"Siempre usá uv" and "siempre tenés razón" begin alike; so do "nunca uses npm" and "nunca compiló". What may be either
is asked about. Spanish is read with its accents: "usá" orders and "usa" may, "probé" is past and "respondé" is not.
"""

import re

from store.agent.folding import fold

SURE, PERHAPS, NO = True, None, False
FROM_NOW = (
    r"(?:a partir de|desde) (?:ahora|hoy|este momento|aca|aqui)\b",
    r"(?:de (?:ahora|hoy|aca|aqui) )?en adelante\b|de (?:ahora|aca|hoy|aqui) en mas\b",
    r"from (?:now|today|here) on(?:wards?)?\b|going forward\b|starting (?:now|today)\b",
)
LEAST = 3  # words of a rule: "Nunca cambies!" is none

# verbs that an assistant is told to do, without their endings; others are told by their form where that is enough
_AR = (
    "us utiliz ejecut contest agreg incorpor cre revis verific valid comprob prob teste pregunt avis confirm"
    " document nombr guard muestr mostr explic cit trat dej evit habl llam actualiz gener instal import consult mir"
    " busc borr elimin formate prepar separ compar esper consider recuper orden anot acord respet mencion"
    " aplic limit detall inform reemplaz modific cambi toc agrup cuid conserv indic marc envi mand anad declar aclar"
)
_ER = "respond corr le met respond devolv resolv mov proteg extend hac pon ten manten tra escog recog promet"
_IR = (
    "escrib ped sub abr segu inclu anad defin eleg prefer compart convert correg divid imprim med permit reduc repet"
    " resum serv traduc un constru cubr describ discut suger insist omit dec"
)
_GIVEN = (
    "haz pon ten mantén manten di ve sal haga hagan ponga pongan tenga tengan diga digan mantenga siga incluya pida"
)
_SUBJUNCTIVE = (
    "hagas pongas tengas digas vengas salgas traigas mantengas pidas leas corras metas escribas abras subas rompas"
    " respondas permitas incluyas anadas definas elijas compartas conviertas corrijas dividas imprimas reduzcas repitas"
    " resumas traduzcas unas construyas describas sugieras omitas protejas extiendas devuelvas resuelvas muevas des"
    " vayas seas sepas supongas asumas vuelvas olvides cierres empieces pierdas confies vendas"
)
_TOLD = (
    "comes haces dices pones tienes vienes sabes entiendes lees respondes vuelves puedes quieres debes corres escribes"
    " pierdes duermes sales eres estas pides sigues metes rompes crees ves les tardes lunes martes miercoles jueves"
    " viernes antes entonces meses veces"
)
_PLAIN = (
    "esta aca alla quiza mama papa sofa sera ojala ayer placer lugar mujer poder ser estar ver tener y o ni quise quiso"
    " tuve tuvo pude pudo hice hizo puse puso dije dijo vine vino supe supo fui estuve anduve"
)
_RARA = (  # "mirá" is no future, although it looks like "irá"
    "mira tira gira retira prepara separa compara declara para repara aclara genera espera opera considera recupera"
    " enumera libera supera numera"
)


def _forms() -> frozenset[str]:
    """Imperatives of vos, tú, usted and ustedes, folded, of the verbs above."""
    made = set(_GIVEN.split())
    for stem in _AR.split():
        made |= {stem + end for end in ("a", "e", "en")}
        made.add(re.sub("(?:c|g|z)$", lambda last: {"c": "qu", "g": "gu", "z": "c"}[last[0]], stem) + "e")
    for stem in _ER.split():
        made |= {stem + end for end in ("e", "a", "an")}
    for stem in _IR.split():
        made |= {stem + end for end in ("i", "e", "a", "an")}
    return frozenset(made)


_IMPERATIVES = _forms()
_STEMS = frozenset(f"{_AR} {_ER} {_IR}".split())
_NO_FORM = frozenset(f"{_TOLD} {_PLAIN}".split())
_FORBIDS = frozenset(_SUBJUNCTIVE.split())
_INFINITIVE = re.compile(r"\w{2,}[aei]r(?:se|me|te|nos|l[aeo]s?)?")
_CLITIC = re.compile(r"(?:me|te|nos|se|l[aeo]s?){1,2}$")
_SPANISH = re.compile(
    r"\W*(siempre|nunca|jam[aá]s)(?: m[aá]s| jam[aá]s)? (?:((?:me|te|se|nos|l[aeo]s?) ){0,2})(\w+)", re.I
)
_PAST_ENGLISH = (
    "did broke ran wrote left lost met paid kept began became bought brought built caught chose drew drove ate fell"
    " fought flew forgot gave grew held hid led meant rang rose sang slept spoke spent stood stole stuck taught threw"
    " understood woke wore won"
)
_IN_ING = "bring ring sing string ping spring cling fling sling sting swing wring"
_ENGLISH = re.compile(r"\W*(?:(i|we) )?(?:always|never)(?: ever)? (\w+)", re.I)
_OVER = re.compile(r"\b(?:any ?more|lately|these days|nowadays|ultimamente|jaja\w*|haha\w*|lol)\b")
_MAYBE = re.compile(r"\b(?:maybe|perhaps|quizas?|capaz|tal vez|i should|deberia)\b")


def spanish(text: str) -> bool | None:
    """SURE, PERHAPS or NO: whether "siempre …", "nunca …" orders."""
    match = _SPANISH.match(text)
    if not match or len(text.split()) < LEAST or _OVER.search(fold(text)):
        return NO
    never = match[1].lower() != "siempre"
    if match[3].lower() == "que" and not never:
        return _whenever(text[match.end() :])
    verdict = _forbids(match[3].lower()) if never else _orders(match[3].lower())
    return PERHAPS if verdict is SURE and _MAYBE.search(fold(text)) else verdict


def _whenever(rest: str) -> bool | None:
    """ "siempre que …": whether you do something, or it happens."""
    words = fold(rest).split()
    return SURE if words and words[0].endswith(("es", "as")) and words[0] not in _NO_FORM else PERHAPS


def _orders(word: str) -> bool | None:
    bare = fold(word)
    if bare in _PLAIN.split():
        return NO
    if _INFINITIVE.fullmatch(word):
        return SURE
    if word.endswith("á"):
        return PERHAPS if re.search("[aei]rá$", word) and bare not in _RARA.split() else SURE
    if word.endswith(("é", "í")):
        return SURE if bare in _IMPERATIVES else NO
    if word.endswith("mos"):  # "usamos" tells, or told
        return NO if re.search("(?:uv|ic|ij|us|ud|up|ab|ís|quis|fu)imos$|[áí][bn]?amos$", word) else PERHAPS
    if word.endswith("ó") or word[-1:] == "s" or re.search("(?:aba|ía|ieron|aron)n?$", word):
        return NO
    if word.endswith("o") and bare[:-1] in _STEMS:
        return SURE  # what the person does themselves
    base = _CLITIC.sub("", bare)
    if bare in _IMPERATIVES or (base != bare and base in _IMPERATIVES):
        return SURE
    return PERHAPS


def _forbids(word: str) -> bool | None:
    bare = fold(word)
    if bare in _PLAIN.split():
        return NO
    if _INFINITIVE.fullmatch(word):
        return SURE
    if bare in _FORBIDS:
        return SURE
    if bare.endswith("es"):  # of a verb in -ar, unless it is one that only tells
        return NO if bare in _NO_FORM else SURE
    if word.endswith(("é", "í", "ó")) or re.search("(?:aba|ía|ieron|aron|imos|amos|emos)n?$", word):
        return PERHAPS if word.endswith("mos") else NO
    if bare in _IMPERATIVES and bare.endswith(("e", "en")):
        return SURE  # usted
    return PERHAPS if word.endswith(("o", "n")) and not word.endswith("vo") else NO


def english(text: str) -> bool | None:
    """The same of "always …", "never …"."""
    match = _ENGLISH.match(text)
    folded = fold(text)
    if not match or _OVER.search(folded):
        return NO
    word = match[2].lower()
    if word in _PAST_ENGLISH.split() or (word.endswith("ing") and word not in _IN_ING.split()):
        return NO
    return PERHAPS if _MAYBE.search(folded) else SURE


_FROM_NOW = re.compile(rf"\W*(?:{'|'.join(FROM_NOW)})[\s,:]*")
_ASKS = re.compile(r"(?:what|how|why|which|who|when|where|should|shall|can|do|does|que|como|por que|cual|quien)\b")
_HAPPENS = re.compile(
    r"(?:(?:me|te|le|nos) (?!\w+(?:as|es)\b)\w+)|.{0,60}?\b(?:fails?|failing|failed|crash\w*|breaks?|broke|errors?"
    r"|timeouts?|hangs?|fallan?|fallando|falla|rompen?|duelen?|tardan?|no (?:anda|andan|funciona\w*|compila\w*"
    r"|arranca\w*|puedo|entra)|cuelga\w*|doesn't|won't|can't|stopped)\b"
)


def from_now(text: str) -> bool | None:
    """Whether "from now on …" sets a rule: not where it asks, or tells what goes wrong."""
    match = _FROM_NOW.match(folded := fold(text))
    start = match.end() if match else 0
    return NO if _ASKS.match(folded, start) or _HAPPENS.match(folded, start) else SURE


_NAMED = re.compile(r"\W*(?:me llamo|mi nombre es|my name is|my name's)\s+", re.I)
_NAME = re.compile(r"[^\W\d_]+(?: [^\W\d_]+)?\s*(?:[,.!;(]|$| (?:y|and|pero|but|aunque)\b)", re.I)
_NO_NAME = re.compile(r"(?:not|no|muy|so|too|very|on|in|en|un|una|a|an|the|el|la|mi|my)\b", re.I)


def name(text: str) -> bool | None:
    """Whether a name follows: a capital, or no more than two words."""
    match = _NAMED.match(text)
    if not match:
        return NO
    rest = text[match.end() :]
    return SURE if rest[:1].isupper() or (_NAME.match(rest) and not _NO_NAME.match(rest)) else NO


_NO_COMMAND = frozenset("una nombre informe elegi decidi limite detalle marca este para".split())


def commands(folded: str) -> bool:
    """Whether a clause without accents begins with an imperative, whatever it clings to: "compara …", "pasamelo"."""
    first = folded.split(maxsplit=1)[0] if folded.strip() else ""
    if first in _NO_COMMAND:
        return False
    return first in _IMPERATIVES or re.sub(_CLITIC, "", first) in _IMPERATIVES


_ROUND = re.compile(r"\W*(no )?(\w+) (?:siempre|nunca|jam[aá]s)\b", re.I)
_WISH = re.compile(
    r"\W*(?:quiero|necesito|quisiera|me gustar[ií]a) que|\W*(?:i|we)(?:'d| would)? (?:want|need|like)", re.I
)


def turned_round(text: str) -> bool | None:
    """Whether "usá siempre …", "quiero que siempre …", "I want you to always …" order."""
    if _OVER.search(fold(text)):
        return NO
    if _WISH.match(text):
        return SURE
    match = _ROUND.match(text)
    if not match:
        return PERHAPS
    word = match[2].lower()
    if match[1]:
        return _forbids(word) or NO
    return SURE if _orders(word) is SURE and not _INFINITIVE.fullmatch(word) else NO
