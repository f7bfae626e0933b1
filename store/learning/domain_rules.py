"""What a text is about: one of the domains of facts, by the words that tell. Task `classify_domain` without a model."""

import re
from dataclasses import dataclass

from store.learning.sentences import fold

# tried in this order where two have as many words
TELLING = {
    "personal": re.compile(
        r"\b(?:alergi\w*|allergi\w*|celiac\w*|coeliac|vegan\w*|vegetarian\w*|diabet\w*|cumpleanos|birthday|hij[oa]s?"
        r"|son|daughter|wife|husband|espos[oa]|pareja|partner|novi[oa]|herman[oa]s?|brother|sister|madre|padre|mother"
        r"|father|mama|papa|mum|mom|dad|perr[oa]|gat[oa]|dog|cat|vivo|live|naci|born|medic[oa]s?|doctor|salud|health"
        r"|me llamo|my name|mi nombre|anos de edad|years old|familia|family|casa|home|bod[ae]s?|wedding|aniversario"
        r"|anniversary|married|casad[oa]|suegr[oa]|cunad[oa]|abuel[oa]|tio|tia|uncle|aunt|cousin|prim[oa]|kids?"
        r"|children|bebe|baby|doctora|hospital|dentist\w*|pastillas?|medicin\w*|medication|marathon|maraton|gimnasio"
        r"|gym|dni|telefono|phone)\b"
    ),
    "work": re.compile(
        r"\b(?:trabaj\w*|work|works|working|empresa|company|jef[ea]|director\w*|boss|payday|payroll|manager|equipo|team|horario|cliente\w*|client"
        r"|clients|customer\w*|contrat\w*|contracts?|factura\w*|invoic\w*|presupuesto|budget|paga|sueldo|salary|oficina"
        r"|office|reunion\w*|meetings?|vacaciones|holidays?|turno|shift|proveedor\w*|ventas|sales|fintech)\b"
    ),
    "projects": re.compile(
        r"\b(?:deploy\w*|despliegue|produccion|production|prod|staging|servidor\w*|server\w*|base|bases|database\w*"
        r"|tabla|tablas|tables?|rama|ramas|branch\w*|repo|repos|repositor\w*|release\w*|version\w*|build\w*|ci|api"
        r"|apis|test|tests|pr|prs|commit\w*|merge\w*|main|docker|kubernetes|k8s|terraform|postgres\w*|mysql|sqlite"
        r"|redis|bazel|codigo|code|frontend|backend|endpoint\w*|migracion\w*|migrations?|esquema|schema|script\w*"
        r"|modulo|module\w*|config\w*|log|logs|ticket\w*|issue\w*|bug|bugs|qa|ship|cache|proxy|json|python|uv|pip"
        r"|linter|dependenc\w*|maquina|proyecto|replicas?|services?|servicios?|cluster\w*|queues?|colas?|containers?"
        r"|contenedor\w*|puerto|port|pipeline\w*|librar(?:y|ies)|librerias?|framework|paquetes?|packages?|parser"
        r"|plugin\w*|lambda|bucket|dashboard|panel|project)\b"
    ),
    "decisions": re.compile(
        r"\b(?:decid\w+|acord(?:amos|ado)|elegi(?:mos)?|optamos|chose|choose|chosen|we picked|we went with|agreed"
        r"|settled|ruled out|descart\w+|nos quedamos con)\b"
    ),
    "preferences": re.compile(
        r"\b(?:prefier\w*|prefer\w*|me gusta\w*|i like|i don't like|me encanta\w*|detesto|no soporto|i love"
        r"|can't stand|dislike|odio|hate|favorit\w*|favou?rite\w*|estilo|style)\b"
    ),
}


# what a sentence begins with says more than what it is about: a taste for a kind of code is a taste
_LEADS = {
    "decisions": re.compile(
        r"\W*(?:al final |finalmente |ya |in the end |finally |(?:que|por que|cuando|why|what|when)"
        r" (?:(?:did|had|have) )?)?(?:(?:i|we)(?:'ve| have)? (?:finally |already )?)?"
        r"(?:decid\w+|acordamos|acorde|elegimos|elegi|optamos|resolvimos|descartamos|chose|choose|settled|agreed"
        r"|picked|went with|ruled out)\b"
    ),
    "preferences": re.compile(
        r"\W*(?:(?:a mi )?(?:no )?me (?:gusta\w*|encanta\w*|molesta\w*)|prefiero|preferimos|odio|detesto|no soporto"
        r"|(?:i|we) (?:really |don't |do not |would |'d )*(?:like|love|hate|prefer|dislike)|i can't stand|i'd rather)\b"
    ),
}


@dataclass(frozen=True, slots=True)
class Domain:
    """The domain of a text, the words it was told by (`general` where none told), and who says so."""

    name: str
    words: tuple[str, ...]
    by: str = "rules"


def classify(text: str) -> Domain:
    """What a text is about."""
    folded = fold(text)
    found = {name: tuple(dict.fromkeys(telling.findall(folded))) for name, telling in TELLING.items()}
    for name, leads in _LEADS.items():
        if lead := leads.match(folded):
            return Domain(name, found[name] or (lead[0].strip(),))
    name = max(found, key=lambda one: len(found[one]))
    return Domain(name, found[name]) if found[name] else Domain("general", ())
