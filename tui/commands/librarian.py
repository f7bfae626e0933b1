"""ask."""

from tui.commands import Outcome, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.librarian import Answer
    from tui.arguments import Given


def ask(session: Session, given: "Given") -> Outcome:
    """At a terminal each sentence is printed as soon as it stands."""
    from store.agent.model import found
    from store.librarian import Librarian

    memory = session.memory
    chat = None if given.no_model else found(memory.config)
    tell = session.tell or _quietly
    try:
        answer = Librarian(memory).ask(" ".join(given.question), chat, said=tell)
    finally:
        if chat is not None:
            chat.close()
    said = [] if session.tell else list(answer.sentences)
    return Outcome(lines=[*said, "", *told(answer)], data=lambda: as_json(session, answer))


def told(answer: "Answer") -> list[str]:
    """What stands below an answer: who gave it, from how much, and what a person should know of it."""
    return [answer.line, *([answer.note] if answer.note else [])]


def as_json(session: Session, answer: "Answer") -> dict[str, object]:
    """An answer as `--json` prints it, with the records that it cites."""
    from store import records
    from store.citations import parse
    from store.models import as_json

    database = session.memory.database
    return {
        "question": answer.question,
        "language": answer.language,
        "kind": answer.kind,
        "answer": answer.text,
        "sentences": list(answer.sentences),
        "citations": list(answer.citations),
        "nothing": answer.nothing,
        "by": answer.by or "rule",
        "seconds": round(answer.seconds, 3),
        "cut": list(answer.doubts),
        "note": answer.note,
        "looked_at": list(answer.sources),
        "records": [as_json(records.lookup(database, parse(citation))) for citation in answer.citations],
    }


def _quietly(sentence: str) -> None:
    """Nobody waits for it."""
