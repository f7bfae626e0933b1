"""ask."""

from tui.commands import Outcome, Session
from tui.render.plurals import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.librarian.answer import Answer, CitedSentence
    from tui.input.argument_parser import ParsedArguments

LOADING = "the model is being loaded …"
KEPT = "The order stays as it is."


def ask(session: Session, given: "ParsedArguments") -> Outcome:
    """At a terminal show what the search found before a model reads it, and progress until the answer is complete; ^C
    stops the model there."""
    from contextlib import nullcontext

    from store.base.citations import without
    from store.librarian.librarian import Librarian
    from store.llm.model_selection import found
    from store.llm.model_selection import why_none as why_no_model
    from store.search.query.filters import check as check_query
    from tui.commands.interrupt import STOPS, Interrupt

    memory, question = session.memory, " ".join(given.question)
    check_query(memory.database, question)
    limit, cites = float(memory.config["agent.patience"]), memory.config["citations"]
    shown: list[str] = []

    def tell(*lines: str) -> None:
        for line in lines:
            if session.tell is not None:
                session.tell(without(line) if cites == "off" else line)

    with Interrupt() if session.tell is not None and not given.no_model else nullcontext() as interrupt:
        stops = f"  {STOPS}" if interrupt is not None else ""
        stopped = lambda: interrupt is not None and interrupt.asked  # noqa: E731
        loading = lambda: session.wait(f"{LOADING}{stops}")  # noqa: E731
        chat = None if given.no_model else found(memory.config, cancelled=stopped, loading=loading, seconds=limit)
        name = chat.name if chat is not None else ""
        why = "" if chat or given.no_model else why_no_model(memory.config, ends=True)

        def first(parts: "tuple[CitedSentence, ...]") -> None:
            if chat is not None and parts and session.tell is not None:
                shown.extend(part.text for part in parts)
                tell(f"By rule, while {name} reads:", *shown, "")

        try:
            answer = Librarian(memory).ask(
                question,
                chat,
                why=why,
                first=first,
                cancelled=stopped,
                waiting=lambda done, total: session.wait(f"{reading(name, done, total)}{stops}"),
            )
        finally:
            session.wait("")
            if chat is not None:
                chat.close()
    if shown and "\n".join(answer.sentences).endswith("\n".join(shown)):
        tell(f"{answer.sentences[0].removesuffix(shown[0])}{KEPT}")
    else:
        tell(*answer.sentences)
    lines = [*([] if session.tell else answer.sentences), "", *told(answer)]
    if cites == "off":
        lines = [without(line) for line in lines]
    elif cites == "on":
        lines += _sources(session, answer)
    return Outcome(lines=lines, data=lambda: as_json(session, answer))


def _sources(session: Session, answer: "Answer") -> list[str]:
    """Return a line for each record that an answer cites."""
    from store.base.citations import parse
    from store.search import lookup as records
    from tui.commands.record_lines import cut
    from tui.render.summary_line import summary

    found = records.there(session.memory.database, map(parse, answer.citations))
    return [f"Source: {record.citation}  {cut(summary(record)[0], 100)}" for record in found]


def reading(name: str, done: int, total: int) -> str:
    """Return the progress message while a model has read `done` of `total` records."""
    return f"{name} reads {done + 1} of {count(total, 'record')} …"


def told(answer: "Answer") -> list[str]:
    """Return the lines below an answer: the filter that the question was read as, the model, the number of records, and
    warnings."""
    near = [answer.near.text] if answer.near else []
    filters = [f"filter: {answer.filter}"] if answer.filter else []
    return [*near, *filters, answer.line, *([answer.note] if answer.note else [])]


def as_json(session: Session, answer: "Answer") -> dict[str, object]:
    """Return an answer as `--json` prints it, with the records that it cites."""
    from store.base.citations import parse
    from store.base.models import as_json
    from store.search import lookup as records

    database = session.memory.database
    return {
        "question": answer.asked.text,
        "language": answer.asked.language,
        "kind": answer.asked.kind,
        "answer": answer.text,
        "sentences": list(answer.sentences),
        "citations": list(answer.citations),
        "nothing": answer.nothing,
        "near": list(answer.near.citations) if answer.near else [],
        "by": answer.by or "rule",
        "seconds": round(answer.seconds, 3),
        "note": answer.note,
        "filter": answer.filter,
        "quotes": [quote._asdict() for sentence in answer.parts for quote in sentence.quotes],
        "odds": dict(answer.odds),
        "looked_at": list(answer.sources),
        "records": [as_json(record) for record in records.there(database, map(parse, answer.citations))],
    }
