"""Check the parts that a memory needs and that are not in its file: versions, the vector extension, models,
documents."""

import platform
from collections.abc import Iterator

from store.health.finding import NOTE, OK, SHOWN, WRONG, CheckContext, Finding


def versions(visit: CheckContext) -> Iterator[Finding]:
    """Check which versions read and write this file, and whether they have all that is needed."""
    import apsw

    from store.database.schema.version import SCHEMA_VERSION
    from store.version import __version__

    schema = visit.database.connection.pragma("user_version")
    text = f"Memoranda {__version__}, SQLite {apsw.sqlite_lib_version()}, APSW {apsw.apsw_version()}"
    text += f", Python {platform.python_version()}, schema {schema}"
    modules = {name for (name,) in visit.database.rows("SELECT name FROM pragma_module_list")}
    if "fts5" not in modules:
        yield Finding("versions", WRONG, f"{text}: this SQLite has no FTS5.", "pip install --force-reinstall apsw")
    elif schema > SCHEMA_VERSION:
        says = f"{text}: a newer Memoranda wrote it, and here it can only be read."
        yield Finding("versions", WRONG, says, "pip install --upgrade memoranda")
    else:
        yield Finding("versions", OK, f"{text}.")


def extension(visit: CheckContext) -> Iterator[Finding]:
    """Check the vector extension."""
    from store.embedding import vector_backends

    if vector_backends.load(visit.database.connection):
        yield Finding("vec0", OK, "The vector extension loads.")
    else:
        says = "The vector extension does not load here; numpy looks for the nearest vectors, also if vec0 was chosen."
        yield Finding("vec0", NOTE, says, "pip install sqlite-vec")


def model(visit: CheckContext) -> Iterator[Finding]:
    """Report which model makes vectors, why no other does, and what waits for it."""
    from store.embedding import provider_selection
    from store.embedding.vectors import Vectors

    visit.progress("models", 0, 0)
    status = Vectors(visit.database).status()
    steps = provider_selection.explain(visit.memory.config)
    for step in steps:
        yield Finding("model", OK if step.taken else NOTE, f"{step.provider}: {step.reason}", step.next)
    if not any(step.taken for step in steps):
        yield Finding("model", NOTE, "No embedding model is available; search uses keywords only.")
    if status.serving:
        made = f"{status.total - status.left:,} of {status.total:,} texts, by {status.provider} {status.model}"
        yield Finding("vectors", OK, f"There for {made}.")
    if status.building:
        yield Finding("vectors", NOTE, f"Being rebuilt by {status.building.partition(' ')[0]}.")
    if status.left:
        wait = "text waits" if status.left == 1 else "texts wait"
        step_ = "memoranda index embeds them; so does the application, beside everything else."
        yield Finding("vectors", NOTE, f"{status.left:,} {wait} to be embedded.", step_, "index")
    if status.refused:
        says = f"{status.refused:,} text{'' if status.refused == 1 else 's'} could not be embedded; keywords find them."
        yield Finding("vectors", NOTE, says, "They are tried again when they change.")
    if status.error:
        missing = not any(step.taken for step in steps)  # it repeats the steps
        says = f"The last run ended: {status.error}"
        yield Finding("vectors", NOTE if missing else WRONG, says, "memoranda index", "index")


def agent(visit: CheckContext) -> Iterator[Finding]:
    """Report which model the agent uses, and why not another; without one rules answer, which is not wrong."""
    from store.llm.endpoint import server, short
    from store.llm.model_selection import ORDER
    from store.llm.status import model_status

    visit.progress("the agent's model", 0, 0)
    found = model_status(visit.memory.config)
    if found.model:
        at = f"{server(found.look.address)} {found.look.version}".strip() + f" at {short(found.look.address)}"
        cold = "" if found.state == "ready" else ", which is loaded when it is asked first"
        yield Finding("agent", OK, f"{at} has {found.model}{cold}: {found.taken.reason}")
    else:
        reason = (
            found.taken.reason
            if found.taken.reason.endswith("answers come from the records.")
            else f"{found.taken.reason} Answers come from the records."
        )
        yield Finding("agent", NOTE, reason, "memoranda model shows what to do.", "model")
    passed = [step for step in found.steps if not step.taken and step.next]
    for step in passed:  # models that somebody named, and that are not available
        if step.who in ORDER[:2]:
            yield Finding("agent", NOTE, f"{step.who}: {step.reason}", step.next, "model")


def documents(visit: CheckContext) -> Iterator[Finding]:
    """Report the documents that could not be read."""
    found = visit.memory.documents
    problems = found.problems()
    if not problems:
        count = found.count()
        yield Finding("documents", OK, f"{count:,} document{'' if count == 1 else 's'} read.")
    for path, why in problems[:SHOWN]:
        yield Finding(
            "documents", WRONG, f"{path}: {why}.", "Mend the file, then memoranda index documents.", "index documents"
        )
    if len(problems) > SHOWN:
        says = f"And {len(problems) - SHOWN:,} more."
        yield Finding("documents", WRONG, says, "memoranda index documents names all.", "index documents")


def synced(visit: CheckContext) -> Iterator[Finding]:
    """Report the files that are kept in sync, and those that could not be the last time."""
    for file in visit.memory.sync.files():
        if file.problem:
            verb = f"sync {file.path}"
            yield Finding("sync", WRONG, file.problem, f"memoranda {verb} tries it again.", verb)
        else:
            yield Finding("sync", OK, f"{file.path} is kept in sync.")


def backups(visit: CheckContext) -> Iterator[Finding]:
    """Report the age of the newest backup, and whether the last check found all of them whole."""
    from store.exchange.backups.backup import backup_status

    state, says, _ = backup_status(visit.database, visit.memory.now)
    mended = "memoranda backups lists them; memoranda backup makes a new one. Look at the disk."
    step = {OK: "", NOTE: "memoranda backup makes one now.", WRONG: mended}[state]
    yield Finding("backups", state, says, step, "backup" if step else "")


def purges(visit: CheckContext) -> Iterator[Finding]:
    """Report a purge whose cleaning is not finished; finish it here, if possible now."""
    from store.database.erasure.purge_state import pending
    from store.purge.purge import finish

    if not pending(visit.database):
        return
    why = finish(visit.database).pending
    if pending(visit.database):
        says = "Erasing is not finished: bytes of the erased text may still be in the file or in a backup."
        step = "Close what else has this memory open; the next Memoranda finishes it."
        yield Finding("purge", WRONG, f"{says} {why}".rstrip(), step)
    else:
        yield Finding("purge", OK, "Erasing that was not finished is finished now.")


def learning(visit: CheckContext) -> Iterator[Finding]:
    """Report the turns that could not be learned from, or still wait."""
    from store.conversations import extraction_queue as pending

    waiting, given_up = pending.counts(visit.database)
    if given_up:
        turns = "1 turn" if given_up == 1 else f"{given_up:,} turns"
        says = f"Nothing could be learned from {turns}, tried {pending.ATTEMPTS} times; what was said is kept."
        yield Finding("learning", WRONG, says, "memoranda flush tries again.", "flush")
    if waiting:
        turns = "1 turn waits" if waiting == 1 else f"{waiting:,} turns wait"
        yield Finding("learning", NOTE, f"{turns} to be learned from.", "The application does it, or flush.", "flush")
