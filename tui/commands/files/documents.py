"""index documents."""

from tui.commands import Outcome, Session
from tui.render.plurals import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.documents.indexer import Scan


def scan(session: Session) -> Outcome:
    from tui.theme.escape import visible

    result = session.memory.documents.scan()
    problems = [f"{visible(path)}: {visible(why)}" for path, why in result.problems]
    said = summary(result)
    unread = bool(problems) and not (said or result.unchanged or result.remaining)
    nothing = f"Nothing changed: {count(result.unchanged, 'document')}"
    return Outcome(
        message="" if unread else f"{said or nothing}.",
        status=int(unread),
        error="No document could be read; mend what is named and try again." if unread else "",
        lines=problems,
        data=lambda: {
            "new": result.new,
            "changed": result.changed,
            "gone": result.gone,
            "unchanged": result.unchanged,
            "remaining": result.remaining,
            "problems": [{"path": path, "problem": why} for path, why in result.problems],
        },
    )


def summary(result: "Scan") -> str:
    """Summarise a scan in a few words; empty if nothing changed."""
    if result.elsewhere:
        return "Another process is reading the documents right now"
    words = [f"{number:,} {word}" for number, word in ((result.changed, "changed"), (result.gone, "gone")) if number]
    if result.new:
        words.insert(0, count(result.new, "new document"))
    if not words:
        return ""
    rest = f"; {result.unchanged:,} as they were" if result.unchanged else ""
    return f"Read the documents: {', '.join(words)}{rest}"
