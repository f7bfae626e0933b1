"""The phrases by which a person says that something is to be remembered, in Spanish and English.

They are matched on a sentence without capitals and accents (`voice.fold`), from its beginning. What is ASKED for is
cut off; a trigger of KEPT belongs to what is remembered; the WEAK ones tell something lasting without asking for
anything. The first two are a person's own word and become facts (DESIGN §4), the rest is asked about.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from store.agent import orders


def _any(*phrases: str) -> re.Pattern[str]:
    """One of these, each a pattern in which a space is a space."""
    return re.compile(f"(?:{'|'.join(phrases)})")


class Trigger(NamedTuple):
    """A phrase that tells, the domain it speaks for, and what the sentence must not be although it begins so. `sure`
    looks at the sentence as it was written: True where it is believed, None where it is asked about, False for
    nothing."""

    domain: str
    phrase: re.Pattern[str]
    unless: re.Pattern[str] | None = None
    sure: Callable[[str], bool | None] | None = None


# what may stand before a trigger without saying anything
LEADS = re.compile(
    r"[\s¡!.,;*_-]*(?:(?:"
    r"y|e|ah|eh|oh|che|ok|okay|dale|bueno|bien|perfecto|listo|genial|gracias|ademas|tambien|entonces|por favor|porfa"
    r"|ojo|importante|nota|aviso|recordatorio|regla|atencion|hola|buenas|hey|de paso|por cierto|otra cosa"
    r"|una cosa(?: mas)?|al final|pd|ps"
    r"|and|but|pero|so|also|well|please|pls|thanks|thank you|yeah|yes|si(?=,)|no(?=,)|hi|hello|btw|by the way|note"
    r"|important|fyi|nb|one more thing|just|heads up|reminder|rule|finally|right(?=,)|sure|great|perfect"
    r"|(?:you(?:'re| are) right|tenes razon|tienes razon)(?=,)"
    r")(?![\w'])[\s,.:;!¡-]*)*"
)

# asks for memory: cut off, the rest is what is remembered
_SPANISH_ASKING = (
    r"(?:quiero|necesito|quisiera|me gustaria) que (?:recuerdes|te acuerdes|tengas (?:en cuenta|presente)|sepas)",
    r"recorda|recordate|recordar|recordemos|recuerda|recuerde|recorden|recuerden|recordad|acordate|acuerdate|acuerdese"
    r"|anota|anotate|apunta|memoriza|guarda",
    r"(?:tene|ten|tenga|tened|tengan) (?:en cuenta|presente)|no (?:te )?olvides|que no se te olvide|toma nota",
    r"que quede (?:claro|registrado)",
)
_ENGLISH_ASKING = (r"remember|keep in mind|bear in mind|do(?:n't| not) forget|make a note|take note|memori[sz]e",)
ASKED = _any(
    rf"(?:{'|'.join(_SPANISH_ASKING)})(?: siempre| bien| por favor|, por favor,)?"
    r"(?:(?: de)? que\b(?! tal)\s*|\s*:\s+)",
    rf"(?:(?:i|we)(?: want| need|'d like| would like) you to (?:always )?)?(?:{'|'.join(_ENGLISH_ASKING)})(?: please)?"
    r"(?: that\b(?! (?:time|day|night|moment|one|thing)\b)\s*|\s*:\s+)",
    r"(?:for (?:future|your) reference|for the record)\s*[:,]\s*",
    r"para (?:que sepas|el futuro|la proxima|futuras veces)\s*[:,]\s*",
)
# "remember: what …" asks something
ASKING = re.compile(r"(?:que|como|cuando|donde|quien|cual|por que|what|when|how|why|who|where|which)\b")

_NOT_A_RULE = _any(
    r"(?:siempre|jamas|nunca)(?:[\s,.!…]*$|,)",
    r"(?:siempre|jamas|nunca) (?:y cuando|tuy[oa]|lo mismo|igual|mejor|mas[\s.!,]*$|mente|digas nunca|te lo)\b",
    r"(?:siempre|jamas|nunca) (?:fue|fui|ha|han|he|hemos|habia|habian|hay|es|son|era|eran|esta|estan)\b",
    r"(?:siempre|jamas|nunca) (?:se|se \w+|entiendo|puedo|logro|consigo|pude|vi|vimos|supe|tuve|pense|imagine)\b",
    r"(?:siempre|jamas|nunca) (?:entendi|crei|dije\w*|dice\w*|da|dan|anda\w*|funciona\w*|falla\w*|tarda\w*)\b",
    r"(?:siempre|jamas|nunca) (?:pasa\w*|aparece\w*|sale\w*|devuelve\w*)\b",
    r"siempre que \w+o\b|siempre (?:me|te|se|lo|la|le|nos|les) ",
    r"(?:nunca|jamas) (?:me|te|se|lo|la|le|nos) \w+(?<!s)(?<!n)\b",
)
_ALWAYS = r"(?:(?:i|we) )?(?:always|never)"
_BASE_IN_ED = "embed|need|feed|seed|shed|speed|proceed|exceed|succeed"
_BASE_IN_S = "focus|pass|process|access|address|discuss|guess|compress|dismiss|express|bypass|miss|cross"
_NOT_AN_ORDER = _any(
    rf"{_ALWAYS}(?:[\s,.!…]*$|,)",
    rf"{_ALWAYS} (?:mind|again|better|ever(?! \w)|say never|in my|my|more|less|here|there|give up|a|an|the|too)\b",
    rf"{_ALWAYS} (?:nice|happy|good|great|glad|fun|welcome|was|were|would|could|been|had|has|seen|thought|knew)\b",
    rf"{_ALWAYS} (?:said|saw|heard|felt|found|got|went|came|made|took|told|know|forget|remember|understand)\b",
    rf"{_ALWAYS} (?:get|can|manage|think|feel|wonder|end up|struggle|look forward)\b",
    rf"{_ALWAYS} (?!(?:{_BASE_IN_ED})\b)\w+ed\b",
    rf"{_ALWAYS} (?!(?:{_BASE_IN_S})\b)\w+s\b",
)
_WHIM = _any(
    r".*\b(?:decidi|decidido|decidimos)(?: que)? (?:vos|tu|usted|ustedes)\b",
    r".*\bdecid\w+ .*\b(?:tomorrow|tonight|today|later|manana|esta noche|hoy|luego|despues|un rato)\W*$",
    r".*\bdecid\w+ (?:tomar(?:me|nos)|ir(?:me|nos)?|salir|dormir|comer|almorzar|cenar|parar|descansar|volver)\b",
    r".*\bdecided to (?:grab|go (?:for|to|home|out)|take a|have a|eat|sleep|rest|call it|get some|stop)\b",
    r".*\bdecid\w+ (?:nada|eso|esto|yet|that\W*$|it\W*$|nothing)",
    r".*\b(?:por ahora|for now|opcion \w|option \w)\b",
)
_THAT_ONE = re.compile(
    r".*?\b(?:prefer\w*|prefi\w+) (?:(?:eso|esto|asi|esa|ese|aquell\w+|no \w+(?:lo|la|me)?)\b"
    r"|(?:la|el|lo) (?:primer\w*|segund\w*|tercer\w*|otr[oa]|ultim\w+|anterior|de (?:arriba|abajo|antes)|opcion \w+)"
    r"|(?:that|this|it|those|these|neither|both)(?! \w)|(?:option|not to (?:know|say))\b"
    r"|the (?:first|second|third|other|last|former|latter|one)\b)"
)

# belong to what is remembered
KEPT = (
    Trigger("preferences", _any(r"siempre\b|jamas\b|nunca\b"), _NOT_A_RULE, orders.spanish),
    Trigger("preferences", _any(rf"{_ALWAYS}\b"), _NOT_AN_ORDER, orders.english),
    Trigger(
        "decisions",
        _any(
            r"(?:ya |al final |finalmente )?(?:he decidido|hemos decidido|decidi|decidimos|acabamos de decidir)\b",
            r"(?:i|we)(?:'ve| have)?(?: finally| already| just)? decided\b",
            r"it (?:was|has been|is) decided that\b",
        ),
        _WHIM,
    ),
    Trigger(
        "preferences",
        _any(
            r"(?:yo )?(?:prefiero|preferimos)\b",
            r"(?:i|we)(?: would|'d| really| generally| strongly)? prefer\b",
        ),
        _THAT_ONE,
    ),
    Trigger(
        "preferences",
        _any(*orders.FROM_NOW),
        sure=orders.from_now,
    ),
    Trigger(
        "personal",
        _any(r"me llamo\b|mi nombre es\b|my name is\b|my name's\b"),
        sure=orders.name,
    ),
)

# of the moment, and so no news for later
PASSING = re.compile(
    r"\b(?:hoy|ayer|manana|esta (?:noche|tarde|semana|vez)|ahora(?: mismo)?|un rato|por el momento|todavia|recien"
    r"|today|tonight|yesterday|tomorrow|right now|this (?:week|time|morning)|for now|at the moment|currently|yet)\b"
)
_HOLLOW = _any(r".{0,30}\b(?:eso|esto|asi|todo|esa|ese|that|this|it|them|those|these)\W*$")
_STABLE = (
    *("alergi\\w+", "allergic", "celiac\\w*", "coeliac", "vegan\\w*", "vegetarian\\w*", "intolerant\\w*"),
    *("diabet\\w+", "zurd[oa]", "left-handed", "daltonic[oa]", "colou?r-?blind", "dislexic[oa]", "dyslexic"),
    *("sord[oa]", "deaf"),
)
_KIN = r"hij[oa]|parej[ao]|espos[oa]|marido|mujer|novi[oa]|perr[oa]|gat[oa]|cumpleanos|herman[oa]|madre|padre"
_FAMILY = r"son|daughter|partner|wife|husband|dog|cat|birthday|sister|brother|mother|father"
# something lasting, told and not asked to be remembered
WEAK = (
    Trigger(
        "work",
        _any(
            r"(?:trabajo|trabajamos) (?:en|para|de|como|desde)\b",
            r"(?:i|we) work (?:at|for|in|as|from)\b",
            r"(?:mi|nuestr[oa]) (?:equipo|jef[ea]|empresa|cliente|horario) (?:es|son|se|esta|tiene|trabaja)\b",
            r"(?:my|our) (?:team|boss|company|manager|client|customer)(?:'s name)? (?:is|are|has|uses|works)\b",
        ),
        _HOLLOW,
    ),
    Trigger("personal", _any(rf"(?:soy|i'?m|i am)(?: an?| una?)? (?:{'|'.join(_STABLE)})\b")),
    Trigger(
        "personal",
        _any(
            r"(?:vivo|vivimos) en\b|(?:i|we) live in\b",
            rf"mi (?:{_KIN}) (?:es|se llama|tiene|vive|cumple)\b",
            rf"my (?:{_FAMILY})(?:'s (?:name|birthday))? (?:is|has|lives)\b",
        ),
        _HOLLOW,
    ),
    Trigger(
        "projects",
        _any(r"(?:usamos|utilizamos|uso|utilizo)\b|(?:we|i) use\b"),
        _any(r"(?:usamos|utilizamos|uso|utilizo|(?:we|i) use) (?:eso|esto|lo|la que|that|this|it|the one)\b"),
    ),
    Trigger(
        "preferences",
        _any(
            r"(?:no )?me gustan? (?:que|mas)\b|no me gustan?\b|odio\b|detesto\b",
            r"i (?:don't|do not|really don't) like\b|i (?:hate|dislike)\b",
        ),
        _any(r".{0,20}\b(?:como|eso|esto|asi|how|that|this|it|nada)\b"),
    ),
    Trigger(
        "decisions",
        _any(
            r"(?:vamos|nos quedamos|arrancamos|seguimos) con\b|(?:elegimos|acordamos|optamos por|quedamos en)\b",
            r"let'?s (?:go|stick) with\b|we(?:'ll| will) (?:go|stick) with\b",
            r"we (?:agreed|chose|settled on|went with)\b",
        ),
        _HOLLOW,
    ),
)
# asks for something to be done, perhaps every time; the verb of remembering is cut off
ALWAYS = Trigger(
    "preferences",
    _any(
        r"(?:no )?\w+ (?:siempre|nunca|jamas)\b",
        r"(?:quiero|necesito|quisiera|me gustaria) que (?:siempre|nunca|jamas)\b",
        r"hay que (?:siempre|nunca|\w+ siempre)\b|no hay que \w+ nunca\b",
        r"(?:i|we)(?: want| need|'d like| would like) you to (?:always|never)\b",
        r"(?:you|we|claude|everyone) (?:should|must|have to|need to) (?:always|never)\b|let'?s (?:always|never)\b",
    ),
    sure=orders.turned_round,
)
TO_DO = _any(
    r"(?:recorda|recuerda|acordate|acuerdate)(?: siempre)?(?: de)? (?=\w+[aei]r(?:lo|la|los|las|me|le|se)?\b)",
    r"no (?:te )?olvides(?: de)? (?=\w+[aei]r(?:lo|la|los|las|me|le|se)?\b)",
    r"(?:remember|don't forget|make sure) to (?!me\b)|remember, ",
    r"(?:please )?remember (?=(?:we|i|i'm|our|my|you|it's|all|every|no)\b)",
    r"(?:recorda|recordate|recuerda|acordate|acuerdate),? (?=(?:\w+mos|no|la|el|los|las|en|es|hay)\b)",
)
HEDGED = re.compile(
    r"\b(?:creo|me parece|supongo|quiza|quizas|tal vez|capaz|probablemente|no estoy segur[oa]|i think|i guess|i believe"
    r"|maybe|perhaps|probably|not sure|might)\b"
)
