"""import: of another tool's memory; of an export, a backup or a memory file see `exchange`."""

import os

from store.base.errors import Declined, InvalidInput
from store.base.vocabulary import SOURCE_NAMES
from tui.commands import Outcome, Session
from tui.commands.files import exchange
from tui.commands.interrupt import Interrupt
from tui.render.plurals import count, said_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.services.source_import import SourceImport, SourceImportReport, SourcePreview
    from tui.input.argument_parser import ParsedArguments

NOTHING = "Nothing of {} is new here; nothing was changed."
UNREAD = "Nothing of {} could be read; nothing was changed."
SHUT = "permission denied"
TOLD = 10  # troubles that are listed one by one


def import_any(session: Session, given: "ParsedArguments") -> Outcome:
    if given.source is None:
        return _found(session)
    if given.source in SOURCE_NAMES:
        return _import_source(session, given)
    if given.path or given.trust or given.all or given.only:
        raise InvalidInput(
            f"{given.source} is not one of the tools that can be read.", f"They are: {', '.join(SOURCE_NAMES)}."
        )
    given.set("file", given.source)
    return exchange.import_file(session, given)


def _found(session: Session) -> Outcome:
    from store.services.source_import import found_sources
    from store.sources.registry import reader as source_reader
    from tui.theme.escape import visible

    found = found_sources(session.memory)
    lines = [
        f"{name:<18}  {source_reader(name).title}: {visible(place)}"
        for name, places in found.items()
        for place in places
    ]
    return Outcome(
        "" if found else "No other tool's memory was found here. Name one: memoranda import SOURCE PATH.",
        lambda: [{"source": name, "places": places} for name, places in found.items()],
        lines,
    )


def _import_source(session: Session, given: "ParsedArguments") -> Outcome:
    from store.services.source_import import SourceImport

    path = os.path.abspath(os.path.join(session.cwd, os.path.expanduser(given.path))) if given.path else ""
    source = SourceImport(session.memory, given.source, path, given.all, given.only or "")
    title = source.reader.title
    try:
        seen = source.look(lambda done: session.wait(f"Reading {title}: {done:,}"))
    finally:
        session.wait("")
    lines = _seen(seen, given.limit)
    if given.dry_run:
        said = UNREAD.format(title) if _unread(seen) else f"Importing {title} would bring {_amount(seen)}."
        return Outcome(said, lambda: _data(source, seen, given), lines, status=int(_unread(seen)))
    if not seen.fresh and not seen.turns:
        said = (UNREAD if _unread(seen) else NOTHING).format(title)
        return Outcome(said, lambda: _data(source, seen, given), lines, status=int(_unread(seen)))
    becomes = "as they are" if given.trust else "as proposals"
    question = f"Import {title}: {_amount(seen)} would come, {becomes}. Go on?"
    if not given.yes and not session.ask(question, lines):
        raise Declined("Nothing was changed.")
    try:
        done = _applied(session, source, given.trust)
    finally:
        session.wait("")
    return Outcome(_brought(title, done), lambda: _data(source, seen, given, done), lines)


def _applied(session: Session, source: "SourceImport", trust: bool) -> "SourceImportReport":
    """Bring it in with progress; on the command line ^C stops it."""

    def progress(done: int) -> None:
        session.wait(f"Importing {source.reader.title}: {done:,}")

    with Interrupt() as interrupt:
        return source.apply(trust, progress, lambda: interrupt.asked)


def _amount(seen: "SourcePreview") -> str:
    numbers = ((len(seen.fresh) - seen.decisions, "fact"), (seen.decisions, "decision"), (seen.turns, "turn"))
    *parts, last = [count(number, word) for number, word in numbers if number] or ["nothing"]
    return f"{', '.join(parts)} and {last}" if parts else last


def _brought(title: str, done: "SourceImportReport") -> str:
    parts = []
    if done.proposed:
        parts.append(f"{count(done.proposed, 'proposal')} {said_of(done.proposed, 'wait in the inbox')}")
    if done.accepted:
        parts.append(f"{count(done.accepted, 'record')} imported unchanged")
    if done.turns:
        parts.append(f"{count(done.turns, 'turn')} of {count(done.sessions, 'session')} imported")
    if not parts and not done.stopped:
        return NOTHING.format(title)
    said = f"{'Stopped importing' if done.stopped else 'Imported'} {title}: {', '.join(parts) or 'nothing yet'}."
    if done.steps:
        *steps, last = [f"`undo {step}`" for step in reversed(done.steps)]
        said = f"{said} {', '.join(steps)} and {last} undo it." if steps else f"{said} {last} undoes it."
    return f"{said} The same import continues." if done.stopped else said


def _seen(seen: "SourcePreview", limit: int) -> list[str]:
    """Preview an import: the first memories, what is left out and why, what could not be read."""
    from tui.commands.record_lines import cut
    from tui.theme.escape import visible

    lines = []
    for one in seen.fresh[:limit]:
        kind = "decision" if one.decision else "fact"
        name = os.path.basename(one.path)
        place = f"{name}, {one.place}" if one.place else f"{name}:{one.line}"
        lines.append(f"+ {kind:<9} {cut(_shown(one.text))}  {visible(place)}")
    if len(seen.fresh) > limit:
        lines.append(f"… and {len(seen.fresh) - limit:,} more; --limit shows them")
    for number, says in (
        (seen.secret, "hold a secret, which is cut out"),
        (seen.flagged, "look like instructions to agents"),
        (seen.known, "repeat what is known, was decided on or stands above"),
        (seen.purged, "stay out, as erased here once"),
        (seen.elsewhere + seen.turns_elsewhere, "are left out, as of other projects; --all brings them"),
        (seen.long, "are too long for a fact, and left out"),
    ):
        if number:
            lines.append(f"{number:,} {said_of(number, says)}")
    if prose := len(seen.documents):
        stays = said_of(prose, "stay in place")
        lines.append(f"{count(prose, 'file')} of prose {stays}; documents.extraPaths makes prose searchable")
    for trouble in seen.troubles[:TOLD]:
        at = f", line {trouble.line:,}" if trouble.line else ""
        lines.append(f"{visible(trouble.path)}{at}: {trouble.why}")
    if len(seen.troubles) > TOLD:
        lines.append(f"… and {len(seen.troubles) - TOLD:,} more that cannot be read")
    if any(trouble.why == SHUT for trouble in seen.troubles):
        lines.append("Look at the permissions of what is named, and of the folders above it, then import again.")
    return lines


def _unread(seen: "SourcePreview") -> bool:
    """Return whether nothing came out of a source, as files or folders of it cannot be read."""
    found = seen.fresh, seen.known, seen.purged, seen.elsewhere, seen.turns_elsewhere, seen.long, seen.turns
    return not any((*found, seen.documents)) and any(not trouble.line for trouble in seen.troubles)


def _shown(text: str) -> str:
    from store.database.values import clean as clean_text

    return clean_text(text)


def _data(
    source: "SourceImport", seen: "SourcePreview", given: "ParsedArguments", done: "SourceImportReport | None" = None
) -> dict[str, object]:
    return {
        "source": source.name,
        "places": source.places,
        "new": len(seen.fresh),
        "decisions": seen.decisions,
        "turns": seen.turns,
        "known": seen.known,
        "purged": seen.purged,
        "elsewhere": seen.elsewhere + seen.turns_elsewhere,
        "long": seen.long,
        "flagged": seen.flagged,
        "secrets": seen.secret,
        "documents": seen.documents,
        "troubles": [{"path": one.path, "line": one.line, "problem": one.why} for one in seen.troubles],
        "records": [
            {
                "kind": "decision" if one.decision else "fact",
                "text": _shown(one.text),
                "path": one.path,
                "line": one.line,
                "created": one.created,
            }
            for one in seen.fresh[: given.limit]
        ],
        "steps": done.steps if done else [],
        "proposed": done.proposed if done else 0,
        "taken": done.accepted if done else 0,
        "added_turns": done.turns if done else 0,
        "stopped": bool(done and done.stopped),
    }
