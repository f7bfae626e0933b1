"""The command ask: the Librarian's answer, with its sources."""

from __future__ import annotations

from contextlib import nullcontext

from store.base.citations import parse_citation, remove_citations
from store.base.models import as_json
from store.librarian import model_selection
from store.librarian.answer import CitedSentence, LibrarianAnswer
from store.librarian.librarian import Librarian
from store.librarian.model_selection import why_no_model
from store.search.lookup import find_records
from store.search.query_parser import require_valid_query
from tui.commands.call import STOP_HINT, Interrupt, Outcome, Session
from tui.commands.record_lines import shorten
from tui.input.arguments import ParsedArguments
from tui.render.lines import format_count, summarize_record

MODEL_LOADING = "the model is being loaded …"
ORDER_KEPT = "The order stays as it is."


def ask(session: Session, given: ParsedArguments) -> Outcome:
    """At a terminal show what the search found before a model reads it, and progress until the answer is complete; ^C
    stops the model there."""
    memory, question = session.memory, " ".join(given.question)
    require_valid_query(memory.database, question)
    limit, cites = float(memory.config["agent.patience"]), memory.config["citations"]
    shown: list[str] = []

    def tell(*lines: str) -> None:
        for line in lines:
            if session.tell is not None:
                session.tell(remove_citations(line) if cites == "off" else line)

    with Interrupt() if session.tell is not None and not given.no_model else nullcontext() as interrupt:
        stops = f"  {STOP_HINT}" if interrupt is not None else ""
        stopped = lambda: interrupt is not None and interrupt.asked  # noqa: E731
        loading = lambda: session.wait(f"{MODEL_LOADING}{stops}")  # noqa: E731
        chat = (
            None
            if given.no_model
            else model_selection.open_selected_model(
                memory.config, cancelled=stopped, loading=loading, seconds=limit
            )
        )
        name = chat.name if chat is not None else ""
        why = "" if chat or given.no_model else why_no_model(memory.config, ends=True)

        def first(parts: tuple[CitedSentence, ...]) -> None:
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
                waiting=lambda done, total: session.wait(f"{reading_progress(name, done, total)}{stops}"),
            )
        finally:
            session.wait("")
            if chat is not None:
                chat.close()
    if shown and "\n".join(answer.sentences).endswith("\n".join(shown)):
        tell(f"{answer.sentences[0].removesuffix(shown[0])}{ORDER_KEPT}")
    else:
        tell(*answer.sentences)
    lines = [*([] if session.tell else answer.sentences), "", *answer_notes(answer)]
    if cites == "off":
        lines = [remove_citations(line) for line in lines]
    elif cites == "on":
        lines += _answer_sources(session, answer)
    return Outcome(lines=lines, data=lambda: answer_json(session, answer))


def _answer_sources(session: Session, answer: LibrarianAnswer) -> list[str]:
    """Return a line for each record that an answer cites."""
    found = find_records(session.memory.database, map(parse_citation, answer.citations))
    return [f"Source: {record.citation}  {shorten(summarize_record(record)[0], 100)}" for record in found]


def reading_progress(name: str, done: int, total: int) -> str:
    """Return the progress message while a model has read `done` of `total` records."""
    return f"{name} reads {done + 1} of {format_count(total, 'record')} …"


def answer_notes(answer: LibrarianAnswer) -> list[str]:
    """Return the lines below an answer: the filter that the question was read as, the model, the number of records, and
    warnings."""
    near = [answer.near.text] if answer.near else []
    filters = [f"filter: {answer.filter}"] if answer.filter else []
    return [*near, *filters, answer.line, *([answer.note] if answer.note else [])]


def answer_json(session: Session, answer: LibrarianAnswer) -> dict[str, object]:
    """Return an answer as `--json` prints it, with the records that it cites."""
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
        "records": [as_json(record) for record in find_records(database, map(parse_citation, answer.citations))],
    }
