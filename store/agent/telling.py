"""Which sentences of a turn may tell something that is worth a model's time: the person's own, surely, and neither a
question, nor small talk, nor a request."""

import re

from store.agent.extraction import WORDS
from store.agent.voice import Sentence, sentences
from store.ingest.discarding import small_talk
from store.suspicion import suspicious

SHOWN = 12  # sentences of one turn

# asks for something to be done now, and so tells nothing; "always" or "never" makes a rule of it
_REQUEST = re.compile(
    r"(?:(?:por favor|please|che|ok|dale|ahora|now|then|y|and|can you|could you|would you|let'?s|podes|puedes|podrias)"
    r"[\s,]+)*"
    r"(?:fix|add|write|run|show|explain|make|create|update|check|look|give|tell|try|help|refactor|rename|remove|delete"
    r"|find|open|move|change|implement|build|test|review|list|print|generate|translate|summari[sz]e|commit|push|install"
    r"|arregl\w+|agreg\w+|anadi\w*|escrib\w+|corre|corré|ejecut\w+|mostr\w+|muestr\w+|explic\w+|hace|haz|hacelo|crea\w*"
    r"|actualiz\w+|revis\w+|mira|fijate|dame|deci\w*|dime|proba\w*|prueba|ayud\w+|renombr\w+|borra\w*|elimin\w+|busca\w*"
    r"|abri|abre|move|mueve|cambi\w+|implement\w+|genera\w*|traduc\w+|resum\w+|instala\w*|pone|pon|saca|quita)\b"
)
_EVERY_TIME = re.compile(r"\b(?:siempre|nunca|jamas|cada|todos los|todas las|always|never|every|each)\b")
_EXCLAMATIONS = re.compile(
    r"(?:\W*(?:gracias|genial|perfecto|buenisimo|excelente|barbaro|joya|listo|dale|ok|okay|vale|bien|muy|si|no|claro"
    r"|thanks|thank|you|great|awesome|cool|nice|perfect|good|very|ok|sure|yes|yeah|no|done|right|exactly))+\W*"
)


def worth(role: str, text: str) -> list[Sentence]:
    """The sentences of a turn that may tell something, and that the person surely said themselves."""
    if role != "user" or small_talk(text):
        return []
    return [sentence for sentence in sentences(text) if _worth(sentence)][:SHOWN]


def _worth(sentence: Sentence) -> bool:
    if sentence.question or sentence.doubt or len(sentence.text.split()) < WORDS:
        return False
    if small_talk(sentence.text) or _EXCLAMATIONS.fullmatch(sentence.folded) or suspicious(sentence.quote):
        return False
    return not _REQUEST.match(sentence.folded.lstrip("¡!¿ ")) or bool(_EVERY_TIME.search(sentence.folded))
