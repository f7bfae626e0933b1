"""When two words are the same: as they are written, as forms of one, or as the two languages' words for one thing. And
which words tell nothing: those that hold a sentence together, and those in which one speaks of records.

Every other word of a sentence tells something, and must be a record's. What weakens or strengthens (`only`, `all`,
`may`, `before`) tells something too.
"""

import re
from dataclasses import dataclass

from store.text import contradiction

STEM = 4  # letters that forms of one word have in common, at least
COGNATE = 5  # and that a word has in common with its fellow in the other language

# how a sentence is put together
FUNCTION = frozenset(
    """
    a about according also an and any are as at be because been being but by ca did do does doing for from had has
    have having he her here him his how however i in into is it its itself me my of on one or our per she since so some
    such than that the their them then there therefore these they this those through thus to too us was we were what
    where which who whose why will with wo would yes you your both own when while
    a ademas al aquella aquel asi aunque como con cual cuando cuya cuyo de del desde donde durante e el ella ellas ellos
    en entre era eran es esa ese eso esos esas esta estaba estan este esto estos estas fue fueron ha haber habia han hay
    hubo la las le les lo los mediante mi mientras nos nosotros nuestra nuestro o para pero por porque pues que quien
    se sea ser si sido sino sobre son su sus tambien tan tiene tienen tener tanto tu u un una unas uno unos y ya yo
    debido due
    """.split()
)
# how one speaks of a record, whatever it says
SPOKEN = frozenset(
    """
    record records recorded recording registro registros registrado registrada registrados registradas say says said
    saying mention mentions mentioned mentioning state states stated indicate indicates indicated note notes noted tell
    tells told fact facts decision decisions commit commits iteration event task date dated source sources answer
    dice dicen dijo segun menciona mencionan mencionado indica indican indicado anota anotado hecho hechos decisiones
    iteracion evento tarea fecha fuente fuentes respuesta
    """.split()
)
_CHOICE = """
    choose chose chosen choice chooses choosing select selected selects pick picked picks adopt adopted opt opted option
    decide decided decides use used uses using prefer preferred made make taken reason reasons motivo motivos razon
    razones solution eleccion elegir eligio elegido elegida elegidos elegidas elegimos eligieron escoger escogio
    escogido escogida escogimos selecciono seleccionado seleccionada adopto adoptado adoptada decidir decidio decidido
    decidida decidimos decidieron opto opcion prefirio prefirieron usar usa usan uso usado usada usamos utilizar
    utiliza utilizan utilizamos utilizado tomo tomada tomaron
"""
# of what sort that is which was chosen, where a sentence says that it was
_SORTS = """
    provider vendor supplier tool tools library framework engine technology technologies product approach method
    option options proveedor herramienta herramientas biblioteca motor tecnologia tecnologias producto enfoque metodo
    team project equipo proyecto
"""
_WORK = """
    implement implements implemented implementing implementation implementa implementan implemento implementado
    implementada implementamos implementar commited committed author authored autor autora made makes done did wrote
    writes written add added adds introduce introduced introduces change changed changes code codigo message mensaje
    hizo hecho hecha escribio escrito escrita agrego agregado agregada agregaron anadio anadido anadida introdujo
    introducido cambio cambiado realizo realizado realizada
"""
_NOTED = "remembered saved written down kept guardo guardado guardada guardaron anoto anotada recuerda"
_BEGAN = "begin began begun begins start started starts empezo empieza comenzo comienza inicio inicia arranco"
_ENDED = "end ended ends finish finished complete completed termino terminada terminado acabo finalizo concluyo cerro"
# by the kind of the record that is cited, what one says of such a record
FRAMES = {
    kind: frozenset(" ".join(texts).split())
    for kind, texts in {
        "decision": (_CHOICE, _SORTS, _WORK),
        "commit": (_WORK, _SORTS),
        "iteration": (_BEGAN, _SORTS),
        "event": ("happened occurred logged took place ocurrio sucedio paso",),
        "fact": (_NOTED,),
        "task": (_NOTED, "pending open pendiente abierta"),
        "checkpoint": ("taken tomo",),
    }.items()
}
ENDED = frozenset(_ENDED.split())
CHOSE = frozenset(_CHOICE.split()) - {"reason", "reasons", "motivo", "motivos", "razon", "razones", "option", "opcion"}

# how likely or how needful a thing is: a no may stand before it or after it
_MODAL = (
    "can could able may might puede pueden podia podian podria podrian pueda puedan|must should shall debe deben"
    " deberia deberian debia deba deban"
)
MODAL = frozenset(_MODAL.replace("|", " ").split())
GONE = frozenset("until before formerly previously previous hasta antes anterior anteriormente".split())
# what one thing is called in either language; of its forms those that `_ENDINGS` does not tell
_ONE_THING = (
    "monday lunes|tuesday martes|wednesday miercoles|thursday jueves|friday viernes|saturday sabado|sunday "
    "domingo|day dia|week semana|month mes meses|year ano|night noche|second sec secs segundo|minute min mins "
    "minuto|hour hora|today hoy|time times vez veces|time tiempo|percent porciento %|morning manana|afternoon "
    "tarde|daily diario diariamente|weekly semanal semanalmente|monthly mensual mensualmente|always siempre|need "
    "necesita necesitan necesito necesario|all every each cada todo toda todos todas|only solo solamente "
    "unicamente|more mas|very muy|until hasta|before antes|after despues tras|first primero primera|third tercer "
    "tercero tercera|last ultimo ultima|file archivo fichero|folder carpeta|invoice factura|deployment deploy "
    "despliegue|service servicio|server servidor|run running ejecutar ejecuta corre correr|depend depende "
    "depender|user usuario|client customer cliente|office oficina|order pedido|street calle|floor piso|sea mar|house "
    "casa|key clave llave|password contrasena|page pagina|cache cacheado cachear|query queries consulta|report "
    "reporte informe|test prueba|release version|route ruta|truck camion camiones|map mapa|fee tarifa|rate "
    "tarifa|cost costo coste|price precio|machine maquina|message mensaje|queue cola|job trabajo|network red "
    "redes|data datos|store guardar guarda guardan guardamos|keep kept guardar guarda guardan guardamos mantiene|save "
    "guardar guarda|open abrir abre abren|close closed cierra cierran cerrar|come viene vienen|live vive viven|work "
    "trabaja trabajan|like gusta gustan|eat comer|drink bebe beben|expire expira expiran vence vencen|allergic "
    "alergico alergica alergia allergy|peanut cacahuete mani|accountant contador contadora contable|session sesion "
    "sesiones|login acceso|retry retries reintenta reintento reintentos reintentar|fast rapido rapida|slow lento "
    "lenta|cheap barato barata|expensive caro cara|simple sencillo sencilla|small pequeno pequena|large big "
    "grande|external externo externa|internal interno interna|easy easier facil|charge cobro|payment pago|mail email "
    "correo|phone telefono|mobile movil|app application aplicacion|screen pantalla|color colour|name nombre|language "
    "idioma lengua|format formato|weigh pesa|send sent enviar envia enviamos manda mandamos|receive recibe|write "
    "wrote written escribir escribe escribio|read leer lee|speak habla hablan|team equipo|boss jefe jefa|replace "
    "reemplazar reemplaza reemplazo sustituye sustituyo|remove quitar quita quito eliminar elimina elimino|discard "
    "descartar descarta descarto descartada|two dos|three tres|people person persona gente|money dinero|model "
    "modelo|maintain mantener mantiene|approve aprueba aprobo|rule regla|everybody everyone todos|know sabe saben "
    "conoce conocen|attempt intento|limit limite|mode modo|space espacio|backup respaldo copia"
)
_SENSES: dict[str, set[int]] = {}
for _place, _group in enumerate(f"{_ONE_THING}|{_MODAL}".split("|")):
    for _word in _group.split():
        _SENSES.setdefault(_word, set()).add(_place)

# the endings by which the forms of one word differ: those of one line may stand for each other
_ENDINGS = tuple(
    frozenset("" if ending == "-" else ending for ending in line.split())
    for line in (
        "- s es ed ing ment ments",
        "- s d",
        "e es ed ing ion ions",
        "y ies ied ying",
        "o a os as",
        "a an o ar as aba aban ado ada ados adas amos ando aron ara aran e en",
        "e en o er ir es ia ian ido ida idos idas emos imos iendo io ieron era eran a an",
    )
)
_SHORT = frozenset(("", "s", "es", "ed", "ing"))  # of a word of three letters
# and those by which a word differs from its fellow in the other language
_FELLOWS = frozenset(
    "- e o a s en es al io ia ion cion tion ciones tions cional tional ico ica ic ical ty dad te to ta tes tos ent"
    " ente".replace("-", "").split(" ")
)
_NOT = frozenset(
    "no not never neither nor without none nobody nothing cannot nunca jamas sin ni tampoco ningun ninguna ninguno nada"
    " nadie".split()
)
_ON = frozenset("or nor ni o u neither".split())  # over which a no reaches
_SCOPE = re.compile(r"[,;:.!?()]+|\b(?:and|but|y|e|pero|sino)\b")
_TOKEN = re.compile(r"[\w+#%]+(?:[.'’][\w+#]+)*")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, without capitals and accents, and whether the text denies it."""

    text: str
    denied: bool


def told(text: str) -> tuple[list[Word], bool]:
    """(the words of a text, whether it has a no that denies none of them)."""
    plain = re.sub(r"n['’]t\b|\bcannot\b", " not", contradiction.folded(text))
    plain = re.sub(r"['’]s\b", "", re.sub(r"\b(?:per cent|por ciento)\b", "percent", plain))
    found, idle = list[Word](), False
    for stretch in _SCOPE.split(re.sub(r"(?<=\d)%", " %", plain)):
        denied = used = False
        for match in _TOKEN.finditer(stretch):
            if match[0] in _NOT:
                denied = True
                continue
            found.append(Word(match[0], denied))
            used = used or (denied and match[0] not in FUNCTION)
        idle = idle or (denied and not used)
    return found, idle


def same(one: str, other: str, across: bool = False) -> bool:
    """Whether two folded words are the same one, forms of one, or what one thing is called in both languages; `across`:
    they are of texts in different ones."""
    if one == other or _senses(one) & _senses(other):
        return True
    shared = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if shared < 3 or one[0].isdigit():
        return False
    ends = {one[shared:], other[shared:]}
    if across and shared >= COGNATE and ends <= _FELLOWS:
        return True
    single = {_single(one, shared), _single(other, shared)}
    if shared < STEM:
        return "" in single and single <= _SHORT
    return any(single <= group or ends <= group for group in _ENDINGS)


def _senses(word: str) -> set[int]:
    """The things that a word, or that of which it is the plural, is a name of."""
    return _SENSES.get(word) or _SENSES.get(word.removesuffix("s")) or _SENSES.get(word.removesuffix("es")) or set()


def _single(word: str, at: int) -> str:
    """The ending of a word from there on, without a consonant that is doubled before it: `dropped`."""
    doubled = word[at : at + 1] == word[at - 1] and word[at + 1 :] in ("ed", "ing")
    return word[at + 1 :] if doubled else word[at:]
