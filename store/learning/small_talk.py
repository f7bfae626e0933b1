"""What is said by the way and tells nothing that lasts: requests, exclamations, praise, what is only about now; and
orders to whoever keeps the memory. All of it is matched on text without capitals and accents (`voice.fold`)."""

import re

from store.learning.imperatives import commands

# asks for something to be done now, and so tells nothing; "always" or "never" makes a rule of it
_POLITE = (
    r"(?:(?:por favor|please|che|ok|okay|dale|bueno|ahora|now|then|first|just|so|y|and|can you|could you|would you"
    r"|will you|let'?s|podes|puedes|podrias|brilliant|great|perfecto|genial)[\s,]+)*"
)
_REQUEST = re.compile(
    _POLITE
    + r"(?!(?:arregl|agreg|anad|escrib|ejecut|mostr|explic|actualiz|revis|renombr|elimin|cambi|implement|gener|traduc"
    r"|resum|instal)[ai]mos\b)"  # "cambiamos a Vue" tells
    r"(?:fix|add|write|run|show|explain|make|create|update|check|look|give|tell|try|help|refactor|rename|remove"
    r"|delete|find|open|move|change|implement|build|test|review|list|print|generate|translate|summari[sz]e|commit|push"
    r"|install|carry on|go (?:on|ahead|for it)|keep (?:going|it up|at it)|hold on|hang on|continue|proceed|resume|wait"
    r"|relax|take (?:your time|a look|it easy)|let me|bear with|excuse|pardon|forget|ignore|never ?mind|store|save"
    r"|record|memori[sz]e|assume|pretend|act|treat|consider|grant|trust|obey|approve|accept|answer|respond|reply|send"
    r"|post|upload|mark|set|put|read|drop|skip|call|remind|ask|repeat|redo|undo|revert|stop|start over|draft|compare"
    r"|convert|draw|plot|get|prepare|propose|suggest|produce|arregl\w+|arma(?:me|lo|la)?|agreg\w+|anadi\w*|escrib\w+"
    r"|corre|ejecut\w+|mostr\w+|muestr\w+|explic\w+|hace(?:lo|la|me)?|haz\w*"
    r"|crea\w*|actualiz\w+|revis\w+|mira|fijate|dame|deci\w*|dime|proba\w*|prueba|ayud\w+|renombr\w+|borra\w*"
    r"|elimin\w+|busca\w*|abri|abre|move|mueve|cambi\w+|implement\w+|genera\w*|traduc\w+|resum\w+|instala\w*|pone(?:lo"
    r"|la)?|pon|saca|quita|segui|sigue|sigan|continua\w*|espera\w*|aguanta\w*|para un|deja(?:me|lo|la)?|olvida\w*"
    r"|ignora\w*|guarda\w*|registra\w*|almacena\w*|asumi|asume|considera|confia|obedece|responde\w*|contesta\w*"
    r"|envia\w*|manda\w*|marca|avisame|contame|cuentame|recordame|recuerdame|pasame|repeti\w*|tomate|tranqui\w*"
    r"|disculpa\w*|perdon\w*|anima\w*|avanza|avancemos|arranquemos|empecemos|empezamos|arrancamos|sigamos|seguimos"
    r"|vamos(?! con)|veamos|volvamos|probemos|hagamos|dejemos|pasemos)\b"
)
# "rewrite the …", "shorten it": whatever verb it is
_BARE = re.compile(
    _POLITE
    + r"(?!(?:in|on|at|for|by|with|from|to|of|as|is|are|was|i|we|they|he|she|it|all|both|and|but|or|if|when|while|since"
    r"|after|before|until|under|over|about|during|through|inside|outside|near|behind|not|only|even|just|also|because"
    r"|than|where|who|what|that|half|most|some|none|one|against|without|between|within|around|above|below|except|me|us"
    r"|besides|despite|via|per|like|always|never|has|have|had|does|do|did|se|en|no|not|usually|my|our|the|a|an)\b"
    r"|\w+(?:s|ed|ing)\b)[a-z]+ (?:the|this|that|these|those|it|them|me (?:the|an?|some|through)|us|my|our|your|both)\b"
    r"|(?:could|can|would|should|shall|may|will|is|are|do|does|did) (?:we|i|you|it|the|this|that|they)\b"
)
_ASKED = re.compile(
    r"\b(?:i(?:'d| would)? (?:need|want|like) you to|can you|could you|would you|help me|i need (?:a hand|help)"
    r"|(?:quiero|necesito|quisiera|me gustaria) que (?:me |l[oa]s? |te )?(?!las\b|sepas\b)\w{3,}[ae]s\b(?! \w+n\b)"
    r"|necesito (?:ayuda|una mano)|me (?:ayudas|pasas|explicas|mostras|muestras|das|decis|dices|haces|armas|avisas))\b"
    r"|\b(?:please|por favor|porfa)\W*$"
)
# gives something out of one's hands: no rule of it, however often it is to be done
_LET_GO = re.compile(
    _POLITE
    + r"(?:approve|grant|trust|obey|authori[sz]e|ignore|disregard|forget|pretend|override|bypass|disable|allow|let"
    r"|aprob[ae]\w*|aprueba\w*|autoriz[ae]\w*|confia\w*|obedec\w+|ignor[ae]\w*|olvid[ae]\w*|permit[ie]\w*"
    r"|desactiv[ae]\w*|salte\w*|otorg[au]\w*)\b"
)
_EVERY_TIME = re.compile(r"\b(?:siempre|nunca|jamas|cada|tod[oa]s l[oa]s|always|never|every|each)\b")
_SHORT = (
    r"gracias|genial|perfecto|buenisim[oa]|excelente|barbar[oa]|joya|listo|dale|ok|okay|vale|bien|muy|si|no|claro|che"
    r"|bueno|de una|por favor|porfa|uf+|ay|eh|ah|obvio|tal cual|de acuerdo|thanks|thank|you|great|awesome|cool|nice"
    r"|perfect|good|very|sure|yes|yeah|done|right|exactly|brilliant|please|wow|oh|well|yep|nope|lovely|amazing"
    r"|excellent|fair enough|got it|i see|sounds|makes sense|to me|work|job|one|stuff|point|never better|no worries"
)
_EXCLAMATIONS = re.compile(rf"(?:\W*(?:{_SHORT})\b)+\W*")
_EXCLAIMS = re.compile(
    r"\W*(?:(?:uf+|ay|ah|oh|wow|che|jaja\w*|haha\w*)\W+)*(?:que (?!\w+ (?:es|son)\b)\w+|vaya|menud[oa]|what an?\b"
    r"|how (?!we\b|i\b|the\b|our\b|to\b)\w+|happy|merry|feliz|felices|buen[oa]s?\b|good (?:morning|night|luck|job|work)"
    r"|nice (?:work|one|job|to)|great (?:work|job|to)|well done|bien hecho|sorry|perdon|almost(?! (?:all|every|no))"
    r"|casi(?! (?:tod|siempre|nunca|ningun))|(?:por fin|finally|at last)(?! (?:i|we|decid|elegi|acord|optamos"
    r"|nos quedamos))|ojala|nos vemos|hasta (?:el|la|luego|manana|pronto)|see you|talk (?:to you|soon)|bye|cheers"
    r"|enjoy|welcome back|long (?:day|week|night)|never ?mind|(?:looks?|sounds?|seems?|feels?) (?:like|good|great|as"
    r"|right|fine)|no (?:worries|rush|hurry|problem|way|idea)|sin apuro|ni idea|nunca (?:mejor|falla))"
)
# of whoever answers: praise, thanks, blame
_TO_YOU = re.compile(
    r"\W*(?:(?:and|but|so|y|pero|wow|jaja\w*|haha\w*|eh|ah|oh)\W+)*(?:you|you're|you've|you'd|u"
    r"|your)\b(?! (?:\w+ )?(?:should|must|need|have to))|\W*(?:thanks|thank|sos|eres|estuviste|tenes|tienes|andas|vos"
    r"|tu|te (?:pasaste|luciste|agradezco|quiero|amo|debo|felicito|admiro)|gracias"
    r"|i owe you|i (?:really )?(?:appreciate|love) (?:you|it|that|this))\b"
)
_YOU_DID = re.compile(
    r"\b(?!(?:triste|chiste|existe|insiste|consiste|resiste|asiste|viste|persiste|aliste|quiste|contraste"
    r"|desgaste)s?\b)\w{2,}(?:aste|iste)s?\b"
)
# of something that was just shown: says nothing by itself
_POINTS = re.compile(
    r"\W*(?:(?:and|but|so|y|pero|wow|si|no|ok|yes|yeah)\W+)*(?:(?:that|this|these|those)(?:'s|'ll|'d)?"
    r"(?: (?:is|are|was|were|will|would|did|does|do|made|makes|looks?|sounds?|seems?|works?|worked|helps?|helped|feels?"
    r"|one|just|really|all|should|could|must|might|can|went|came))+\b(?! an? \w)|(?:that|this|it)'(?:s|ll|d)"
    r"(?! (?:called|an? \w+ (?:app|project|service|library|repo|monorepo|site|team|company)))"
    r"|it (?:is|was|works?|worked|looks?|sounds?|seems?|made|makes|feels?|rains?|snows?|took|helps?|helped)\b"
    r"|(?:(?:eso|esto|asi|ahi|todo) (?:\w+ )?|(?:esta|este|ese|esa) )(?:es|esta|fue|era|anda|andaba|funciona|funciono"
    r"|quedo|va|salio|sirve|sirvio|parece|me|suena|tiene|estuvo|bien|mejor|perfecto|genial)\b"
    r"|ya esta\b|(?:everything|all) (?:is|works|looks|good|set|done|fine)\b"
    r"|(?:anda|andan|funciona|funciono|quedo|salio|suena|parece|esta (?:bien|mal|genial|perfecto|buenisimo|lindo)"
    r"|estuvo|estaba|llueve|llovio|nieva|hace (?:un |mucho |tanto )?(?:calor|frio|viento|sol|anos|rato))\b)"
)
_NOW = re.compile(
    r"\b(?:hoy|ayer|anoche|anteayer|ahora(?: mismo)?|recien|enseguida|en seguida|ahorita|en un (?:rato|minuto|segundo"
    r"|toque|momento)|un (?:rato|minuto|minutito|segundo|momento|toque)|esta (?:noche|tarde|manana|semana|vez)"
    r"|este (?:finde|fin de semana)|el (?:finde|fin de semana) (?:estuvo|fue|pas\w+)|ya (?:vuelvo|volvi|voy|vengo"
    r"|llegue|estoy|termine|casi)|me voy|voy (?:a \w+[aei]r(?:l[oa]s?|me)?\b|por)|vuelvo en|luego|mas tarde"
    r"|despues (?:sigo|seguimos|vemos|te|lo|la)|todavia (?:no|estoy)|estoy (?:volviendo|saliendo|llegando|yendo"
    r"|cansad\w+|muert\w+|listo|lista)|me (?:duele|duelen|rio|rei|alegr\w+|parece|parecio|encanto|encanta(?= (?:como"
    r"|eso|esto|que|la idea)|\W*$)|gusto|sorprend\w+|canse|perdi|confundi|muero"
    r"|hace (?:reir|falta)|hizo|fui|quede|dormi|levante)|today|yesterday|tonight|tomorrow|last night|last week(?:end)?"
    r"|right now|for now|at the moment|currently|this (?:morning|afternoon|evening|weekend|week|time)"
    r"|(?:over the weekend|the weekend was)|in a (?:bit|sec|second|minute|moment|while|few)"
    r"|(?:one|a|two|just a) (?:sec|second|minute|moment)|brb|be right|right back|be back|back (?:in|at|soon|to|from)"
    r"|i'm (?:back|here|tired|done|ready|stuck|late|going to|gonna|about to|heading|leaving|on my way|not sure)"
    r"|we're (?:back|off|done|ready|almost|nearly|going to|getting)"
    r"|i'll|we'll (?!go with|stick)|gonna|gotta|let's (?!go with|stick|use|always|never)"
    r"|need (?:a|some|my|more) (?:coffee|break|nap|drink|minute|moment|second|tea|snack|walk)|later|soon|raining"
    r"|snowing|just (?:(?!need)\w+ed|made|thought|had|got|woke|came|finished|arrived|saw|a)|(?:head|back|feet"
    r"|eyes) hurts?|made my (?:day|week)|(?:first|then),? (?:we|i|let)|until (?:then|later|monday))\b"
    r"|\b(?:asi|eso|esto)\W*$|\bfirst\W*$|\b(?:manana|tomorrow) (?:sigo|seguimos|vemos|we|i)\b"
    r"|\b(?:is|are|looks?|seems?) (?:\w+ )?(?:green|red|broken|down|back|ready|done|nice|good|great|fine|ok|okay"
    r"|perfect|late|cold|hot|funny|beautiful|lovely|amazing|awesome|terrible|awful|gone|over|failing|loading)\W*$"
    r"|\b(?:esta|estan|quedo|quedaron|salio|estuvo|anda|andan) (?:\w+ )?(?:verdes?|roj[oa]s?|rot[oa]s?|caid[oa]s?"
    r"|list[oa]s?|bien|mal|barbar[oa]|genial|lind[oa]s?|hermos[oa]s?|buenisim[oa]s?|perfect[oa]s?|fri[oa]|tremend[oa]"
    r"|terrible)\W*$"
)
# goes on just now: "is drilling again"; what one learns or builds goes on for longer
_UNDER_WAY = re.compile(
    r"(?:\b(?:am|are|is|esta[sn]?|estoy|estamos)|'(?:m|re|s)) (?:just |still |all |aca |todavia )?"
    r"(?!(?:train|learn|study|writ|build|migrat|mov|work|plann|us|teach|runn|replac|rewrit|sell|mak|sav|hir|aprend"
    r"|estudi|escrib|constru|migr|mud|trabaj|us|ense|reemplaz|reescrib|vend|ahorr|contrat|entren)[a-z]*)"
    r"(?:\w+ing|\w+[ai]e?ndo)\b|\bagain\W*$|\botra vez\b|\b(?:could use|all ears|about to|asleep|de fiesta|(?:glad"
    r"|happy) (?:we|you|that|to)|keeps? (?!their|the|our|my)\w+ing)\b|\bwould (?:love|laugh)\b"
    r"|\btengo (?:hambre|sed|sueno|frio|calor|ganas|miedo|prisa|razon|tiempo)\b"
    r"|\b(?:tengo que (?:ir|salir|cortar|colgar|atender)|have to (?:go|run|leave))"
    r"|\bhave (?:no idea|(?:\w+ )?time\b|an? (?:question|sec|minute|idea|feeling|moment|headache|cold|fever|call|plan"
    r"|thought|hunch|point))"
)
# words of the moment that speak of no moment
_LASTING = re.compile(
    r"\b(?:(?:de|por|a|cada|toda) (?:la )?mananas?|todas las mananas|every (?:day|morning|night|week))\b"
    r"|\b(?:a partir de|desde|from|starting|de) (?:ahora|hoy|manana|now|today|tomorrow)(?: on| en (?:mas|adelante))?\b"
)
_INTRODUCES = re.compile(r"(?::|\b(?:says?|said|reads|shows?|dicen?|muestra|sale|tira|follows|siguiente))\W*$")
_KEEPER = r"(?:facts?|memor(?:y|ies)|rules?|hechos?|memorias?|reglas?|truth|verdad)"
_HOSTILE = re.compile(
    r"(?<!\bwe )(?<!\bi )(?<!\bthey )\b(?:store|save|record|add|write|log|register|insert|treat|consider|mark|accept"
    r"|guarda\w*|registr[ae]\w*"
    rf"|agreg[ua]\w*|almacen[ae]\w*|graba|grabe|apunta|considera|marca|acepta|inserta"
    rf"|anade)\b[^.!?\n]{{0,40}}\b{_KEEPER}\b"
    rf"|\b(?:new|nueva|updated?|important) {_KEEPER} (?:for|to|of|para|de|del) (?:the |la |el )?(?:memory|memoria|agent"
    r"|agente|assistant|asistente|ai|ia|model|modelo|librarian)\b|\b(?:memory|memoria) (?:agent|assistant|system"
    r"|manager|keeper)\b|\bagente de (?:la )?memoria\b|\b(?:with|con) (?:high|maximum|full|alta|maxima"
    r"|total) (?:confidence|confianza)|\bcon confianza (?:alta|maxima)\b"
    r"|\b(?:the|el|la) (?:user|usuari[oa]) (?:has |have |already |ha |ya )*(?:authori[sz]\w+|approv\w+|allow\w+"
    r"|wants you|permits|trusts|grant\w*|agreed|autoriz\w+|aprob\w+|aprueba|permit\w+|quiere que|confia|acept\w+)\b"
    r"|\b(?:ignor[ae]\w*|disregard|forget|olvid[ae]\w*|override)\b[^.!?\n]{0,40}\b(?:instruc\w+|prompts?|rules|reglas"
    r"|ordenes|guardrails|above|previous|anterior\w*)\b"
)


def asks(folded: str) -> bool:
    """Whether a sentence begins by asking for something to be done now."""
    return requests(folded) and not _EVERY_TIME.search(folded)


def requests(folded: str) -> bool:
    """Whether a sentence begins with an order or a request, for now or for every time."""
    return bool(_REQUEST.match(folded) or _BARE.match(folded)) or commands(folded)


def introduces(folded: str) -> bool:
    """Whether a sentence only leads to what was pasted after it."""
    return bool(_INTRODUCES.search(folded))


def refused(folded: str) -> bool:
    """Whether a clause is said by the way: it asks, exclaims, praises, points at something, or is only about now."""
    if _EXCLAMATIONS.fullmatch(folded):
        return True
    if not _EVERY_TIME.search(folded) and (requests(folded) or _ASKED.search(folded) or _TO_YOU.match(folded)):
        return True
    if _LET_GO.match(folded) or _YOU_DID.search(folded):
        return True
    if _EXCLAIMS.match(folded) or _POINTS.match(folded) or _UNDER_WAY.search(folded):
        return True
    return bool(_NOW.search(_LASTING.sub("", folded)))


def hostile(folded: str) -> bool:
    """Whether a text tells whoever keeps the memory what to keep, or that everything is allowed."""
    return bool(_HOSTILE.search(folded))
