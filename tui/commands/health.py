"""doctor: what is wrong with this memory or around it, why, and what mends it."""

from tui.commands import Outcome, Session, count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.memory import Memory
    from tui.arguments import Given

SHOWN = 3  # documents that are named


class Finding:
    """One thing that was looked at: `state` is ok, note (nothing is broken) or wrong; `next` is what mends it."""

    __slots__ = ("next", "says", "state", "subject")

    def __init__(self, subject: str, state: str, says: str, next: str = "") -> None:
        self.subject = subject
        self.state = state
        self.says = says
        self.next = next


SIGNS = {"ok": "ok   ", "note": "note ", "wrong": "WRONG"}


def doctor(session: Session, given: "Given") -> Outcome:
    from tui.visible import visible

    memory = session.memory
    found = [
        *_file(memory),
        *_keywords(memory),
        *_extension(memory),
        *_model(memory),
        *_documents(memory),
        *_backups(memory),
    ]
    wrong = sum(one.state == "wrong" for one in found)
    width = max(len(one.subject) for one in found)
    lines = [
        f"{SIGNS[one.state]}  {one.subject:<{width}}  {visible(f'{one.says} {one.next}'.strip())}" for one in found
    ]
    lines.append(f"{count(wrong, 'thing')} to be mended." if wrong else "Nothing is wrong.")
    return Outcome(
        lines=lines,
        data=lambda: {
            "wrong": wrong,
            "findings": [
                {"subject": one.subject, "state": one.state, "says": one.says, "next": one.next} for one in found
            ],
        },
        status=1 if wrong else 0,
    )


def _file(memory: "Memory") -> list[Finding]:
    import apsw

    try:
        said = [row[0] for row in memory.database.rows("PRAGMA quick_check(3)")]
    except apsw.Error as error:
        said = [type(error).__name__]
    if said != ["ok"]:
        return [Finding("file", "wrong", f"SQLite finds damage: {said[0]}.", "Keep a copy, then memoranda export.")]
    found = [Finding("file", "ok", memory.location.path)]
    return [*found, *(Finding("file", "note", warning) for warning in memory.database.warnings)]


def _keywords(memory: "Memory") -> list[Finding]:
    from store.errors import ForeignFile
    from store.search import corpus

    if memory.database.read_only:
        return [Finding("keywords", "note", "This file may only be read, so its index was not checked.")]
    try:
        rows = corpus.check(memory.database)
    except ForeignFile:
        says = "The index does not agree with the records."
        return [Finding("keywords", "wrong", says, "memoranda index rebuild makes it again.")]
    return [Finding("keywords", "ok", f"The index agrees with the records: {count(rows, 'record')}.")]


def _extension(memory: "Memory") -> list[Finding]:
    from store.embedding import bits

    if bits.load(memory.database.connection):
        return [Finding("vec0", "ok", "The vector extension loads.")]
    says = "The vector extension does not load here; vectors are compared without it, only slower to begin with."
    return [Finding("vec0", "note", says, "pip install sqlite-vec")]


def _model(memory: "Memory") -> list[Finding]:
    from store.embedding import Vectors, choice

    status = Vectors(memory.database).status()
    steps = choice.explain(memory.config)
    found = [
        Finding("model", "ok" if step.taken else "note", f"{step.provider}: {step.reason}", step.next) for step in steps
    ]
    if not any(step.taken for step in steps):
        found.append(Finding("model", "note", "No model answers here; keywords find alone."))
    if status.serving:
        made = f"{status.total - status.left:,} of {status.total:,} texts, by {status.provider} {status.model}"
        found.append(Finding("vectors", "ok", f"There for {made}."))
    if status.building:
        found.append(Finding("vectors", "note", f"Being made anew by {status.building.partition(' ')[0]}."))
    if status.left:
        step = "memoranda index embeds them; so does the application, beside everything else."
        found.append(Finding("vectors", "note", f"{count(status.left, 'text')} wait to be embedded.", step))
    if status.refused:
        says = f"{count(status.refused, 'text')} could not be embedded; keywords find what is in them."
        found.append(Finding("vectors", "note", says, "They are tried again when they change."))
    if status.error:
        missing = not any(step.taken for step in steps)  # it says the same as the steps
        found.append(
            Finding("vectors", "note" if missing else "wrong", f"The last run ended: {status.error}", "memoranda index")
        )
    return found


def _backups(memory: "Memory") -> list[Finding]:
    from store.exchange.backup import standing

    state, says, _ = standing(memory.database, memory.now)
    wrong = "memoranda backups lists them; memoranda backup makes a new one. Look at the disk."
    step = {"ok": "", "note": "memoranda backup makes one now.", "wrong": wrong}[state]
    return [Finding("backups", state, says, step)]


def _documents(memory: "Memory") -> list[Finding]:
    problems = memory.documents.problems()
    if not problems:
        return [Finding("documents", "ok", f"{count(memory.documents.count(), 'document')} read.")]
    found = [
        Finding("documents", "wrong", f"{path}: {why}.", "Mend the file, then memoranda scan.")
        for path, why in problems[:SHOWN]
    ]
    if len(problems) > SHOWN:
        found.append(Finding("documents", "wrong", f"And {len(problems) - SHOWN:,} more.", "memoranda scan names all."))
    return found
