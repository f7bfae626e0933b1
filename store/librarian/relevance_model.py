"""Whether a record answers a question, as a model judges it: one record at a time, by how likely it is to say yes.

A search finds the record that answers under the first few, put in whatever words; which of them that is, or that none
is, no measure of words or of nearness tells. A small model that is asked to choose chooses badly, and so does its yes
or no. How much likelier the one is than the other tells well, above all against the other records: some questions it
is loath to say yes to, whatever it reads, and others not (`bench.agent`).
"""

import statistics
import time
from collections.abc import Collection, Sequence
from typing import NamedTuple

from store.base import token_count
from store.librarian.sources import Source
from store.llm.chat import Chat, Message
from store.text.fence import harmless

LOOKED = 8  # records that are judged
READ = 120  # tokens of a record that are read
# a record answers from so much: the logarithm of its odds, and by how much that is above the middle one of the others
YES = 0.9
STRANGE = 2.0  # and from so much, where it lacks a name of the question
SURELY = 1.4  # from so much it is told though the answer says that nothing is recorded
USUAL = -0.8  # the logarithm of the odds of a record that does not answer
OTHERS = 3  # records that are taken for the others, at least
PLAIN = 2.5  # logarithm of the odds, from which no further record is looked at
_YES, _NO = ("Yes", "Sí", "Si", "S"), ("No",)
_WHO = {
    "en": "You judge whether a record of a project tells the answer to a question. Answer Yes only if the record itself"
    " says what is asked: that person, thing, reason, number or date. If it is only about the same subject, answer No."
    " Answer with one word.",
    "es": "Juzgas si un registro de un proyecto dice la respuesta a una pregunta. Responde Sí solo si el registro mismo"
    " dice lo que se pregunta: esa persona, cosa, razón, número o fecha. Si solo trata del mismo tema, responde No."
    " Responde con una palabra.",
}
_FORM = {
    "en": "Record: {}\nQuestion: {}\nDoes it answer?",
    "es": "Registro: {}\nPregunta: {}\n¿La responde?",
}
_EXAMPLES = {
    "en": (
        ("The door was painted in May", "why is the door red?", "No"),
        ("Red was chosen for the door, so that couriers find it", "why is the door that colour?", "Yes"),
        ("The plants are from Chile", "who waters the plants?", "No"),
        ("Lena moved the parcels to the back room", "where did the boxes go?", "Yes"),
    ),
    "es": (
        ("La puerta se pintó en mayo", "¿por qué es roja la puerta?", "No"),
        ("Se eligió el rojo para la puerta, así la encuentran los mensajeros", "¿por qué ese color de puerta?", "Sí"),
        ("Las plantas son de Chile", "¿quién riega las plantas?", "No"),
        ("Lena pasó los paquetes al cuarto de atrás", "¿a dónde fueron las cajas?", "Sí"),
    ),
}


class Judged(NamedTuple):
    """The sources that answer, the surest first, whether that one surely does, and those that do not; what was not read
    is in neither."""

    yes: list[Source]
    sure: bool
    no: list[Source]


def judged(
    chat: Chat,
    question: str,
    language: str,
    sources: Sequence[Source],
    seconds: float,
    strange: Collection[str] = (),
) -> Judged:
    """Which of these sources answer a question: one that plainly does ends the reading. `strange` are the citations of
    those that lack a name of the question. All within the `seconds`. Raises ModelFailed."""
    until = time.monotonic() + seconds
    odds: list[float] = []
    for source in sources:
        said = messages(question, language, source)
        odds.append(chat.leaning(said, yes=_YES, no=_NO, seconds=until - time.monotonic()))
        if odds[-1] >= PLAIN and source.citation not in strange:
            break
    yes, no = list[tuple[float, Source]](), list[Source]()
    for at, (one, source) in enumerate(zip(odds, sources, strict=False)):
        mark = one + one - _middle([*odds[:at], *odds[at + 1 :]])
        if mark >= (STRANGE if source.citation in strange else YES):
            yes.append((mark, source))
        else:
            no.append(source)
    yes.sort(key=lambda one: -one[0])
    return Judged([source for _, source in yes], bool(yes) and yes[0][0] >= SURELY, no)


def _middle(others: list[float]) -> float:
    return statistics.median([*others, *[USUAL] * (OTHERS - len(others))])


def messages(question: str, language: str, source: Source) -> list[Message]:
    """What is asked of one record. All but the end is the same for each, which a server reads once."""
    said: list[Message] = [("system", _WHO[language])]
    for record, asked, answer in _EXAMPLES[language]:
        said += [("user", _FORM[language].format(record, asked)), ("assistant", answer)]
    text = token_count.cut(" ".join(harmless(source.text).split()), READ)
    return [*said, ("user", _FORM[language].format(text, harmless(question)))]
