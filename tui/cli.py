"""The command line: parse arguments, open the memory, run a verb, print its result.

With --json print one object or list; errors are one sentence on standard error, or one object; exit status 0 success, 1
failure, 2 usage. Ask nothing if standard input is not a terminal. All output is escaped first, including names of
folders and checkpoints, which may be untrusted."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from store.base.errors import DiskFull, InvalidInput, MemorandaError, NotFound, NotOurs, StorageError
from store.base.location import Location, locate
from store.database.files import free_reserve, refuse_lost_file
from store.memory import Memory
from tui.cli_output import (
    ProgressLine,
    current_folder,
    print_error,
    print_notice,
    print_outcome,
    print_result_line,
    print_text,
    printable,
    set_database_option,
    use_ascii_fallback,
)
from tui.commands.call import Outcome, Session
from tui.commands.dispatch import run_handler
from tui.input.arguments import ParsedArguments, UsageError, Verb, help_text, parse_arguments
from tui.input.verb_table import VERBS, VERBS_BY_NAME, command_word, find_verb, suggest_verb

HELP_WORDS = ("-h", "--help", "help")
SERVE_AGENTS = ("context", "recover")  # verbs that print what an agent is sent
BACKUP_BYTES = 16 << 20  # largest file that a command backs up daily
TRY_AGAIN = "Nothing was changed in part; check the disk and the memory of the system, and try again."
WAIT_SECONDS = 2.0  # maximum time that a read command spends to sync the timeline and the documents first


def run_command(arguments: Sequence[str]) -> int:
    """Run one command; return the exit status."""
    use_ascii_fallback()
    as_json = "--json" in _before_dashes(list(arguments))
    try:
        return _run_line(list(arguments))
    except MemorandaError as error:
        print_error(error, as_json)
        return error.exit_status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader, such as `| head`, closed the pipe
        return 0
    except OSError as error:  # too many open files, for example, while importing a module
        reason = StorageError(f"The system refused: {error.strerror or type(error).__name__}.", TRY_AGAIN)
        print_error(reason, as_json)
        return reason.exit_status


def _run_line(arguments: list[str]) -> int:
    """Run one command line; return the exit status."""
    option, as_json, look, rest = _global_options(arguments)
    set_database_option(option)
    if rest and rest[0] in HELP_WORDS:
        verb_asked = VERBS_BY_NAME.get(rest[1]) if len(rest) > 1 else None
        print_text(printable(_verb_help(verb_asked) if verb_asked else overall_help()))
        return 0
    if rest and rest[0] in ("-V", "--version"):
        from store.version import __version__

        print(f"memoranda {__version__}")
        return 0
    cwd = current_folder()
    place = locate(option, os.environ, cwd)
    place.look = look
    if not rest:
        shown = _at_a_terminal(as_json) or _in_a_browser()
        return _application(place, cwd) if shown else _overview(place, cwd, as_json)
    found = find_verb(rest)
    if found is None:
        raise _unknown_command(command_word(rest))
    verb, typed = found

    def ask(question: str, lines: Sequence[str] = ()) -> bool:
        return _ask_on_terminal(question, lines, as_json, verb.can_be_tried)

    if any(word in HELP_WORDS[:2] for word in _before_dashes(typed)):
        print_text(printable(_verb_help(verb)))
        return 0
    given = parse_arguments(verb.name, verb.arguments, typed)
    if verb.opens == "nothing":
        application = _application if _at_a_terminal(as_json) else None
        outcome = _run_verb(verb, Session(place, None, cwd, ask, as_json, application, wait=ProgressLine()), given)
        print_outcome(outcome, as_json)
        return outcome.status
    if look and verb.name in SERVE_AGENTS:
        from store.trust.ownership import ADOPT_ADVICE

        raise NotOurs(f"{place.path} is only looked at: no agent is served from it.", ADOPT_ADVICE)
    with _open_for_verb(place, verb, verb.makes_none(given)) as memory:
        lines = print_result_line if sys.stdout.isatty() and not as_json else None
        session = Session(place, memory, cwd, ask, as_json, tell=lines, wait=ProgressLine())
        if verb.reads:
            late = _catch_up(memory, cwd)
            if verb.name == "ask" or (verb.name == "search" and not given.keywords):
                _catch_up_with_meaning(memory, late)
        else:
            _finish_purge(memory)
        outcome = _run_verb(verb, session, given)
        print_outcome(outcome, as_json)
        if outcome.error:
            print_notice(outcome.error)
        outcome.after()
    return outcome.status


def _open_for_verb(place: Location, verb: Verb, looks: bool) -> AbstractContextManager[Memory]:
    """Open the memory for a command, and close it afterwards. A command that only reads gets an empty memory where
    there is none, which is deleted afterwards."""
    if looks and not place.look and _is_absent(place.path):
        return _empty_memory(place)
    memory = _open_memory(place, verb)
    _announce(memory)
    return memory


def _empty_memory(place: Location) -> AbstractContextManager[Memory]:
    """Open an empty memory in a temporary folder, and say that none was started."""
    from contextlib import contextmanager
    from tempfile import TemporaryDirectory

    @contextmanager
    def empty() -> Iterator[Memory]:
        print_notice("There is no memory here yet, and none was started: memoranda init does.")
        with TemporaryDirectory(prefix="memoranda-") as folder:
            path = os.path.join(folder, os.path.basename(place.path))
            with Memory(Location(path, place.kind, place.reason, place.project), "cli", passing=True) as new:
                yield new

    return empty()


def _open_memory(place: Location, verb: Verb) -> Memory:
    """Open the memory. On a full disk, a verb that only frees space may use that of the ballast. Ask before opening one
    that an earlier version may have made."""
    try:
        return Memory(place, "cli")
    except NotOurs as error:
        if not error.unmarked or not sys.stdin.isatty():
            raise
        if not _ask_on_terminal(f"{error.message} Did you make it?"):
            raise
        from store.services.adoption import adopt_whole

        adopt_whole(place, earlier=True)
        return Memory(place, "cli")
    except DiskFull:
        if not verb.frees or not free_reserve(place.path):
            raise
        return Memory(place, "cli")


def _run_verb(verb: Verb, session: Session, given: ParsedArguments) -> Outcome:
    return run_handler(session, verb.handler, given)


def _verb_help(verb: Verb) -> str:
    """Return the help of a verb."""
    return help_text(verb.name, verb.summary, verb.arguments)


def _before_dashes(words: list[str]) -> list[str]:
    """Return the words before `--`; all of them without it."""
    return words[: words.index("--")] if "--" in words else words


def overall_help() -> str:
    """Return the text of `memoranda --help`."""
    width = max(len(verb.name) for verb in VERBS)
    verbs = [f"  {verb.name:<{width}}  {verb.summary}" for verb in VERBS]
    return "\n".join(
        [
            "Memoranda: see, ask, correct, undo and forget what AI agents remember.",
            "",
            "  memoranda                 the application",
            "  memoranda COMMAND …       one command, for people and scripts",
            "  memoranda COMMAND --help  its arguments",
            "",
            *verbs,
            "",
            "  --db PATH   another memory file        --json   one object or list, for scripts",
            "  --look      whosever memory it is, read-only",
        ]
    )


def _global_options(arguments: list[str]) -> tuple[str | None, bool, bool, list[str]]:
    """Extract --db, --json and --look, which may be anywhere before a `--`, from the arguments."""
    option, as_json, look, rest = None, False, False, []
    words = iter(arguments)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word == "--json":
            as_json = True
        elif word == "--look":
            look = True
        elif word == "--db" or word.startswith("--db="):
            option = word.removeprefix("--db=") if "=" in word else next(words, None)
            if not option:  # an empty `--db "$UNSET"` must not open another file
                raise UsageError("--db wants the path of a memory file.", "memoranda --db PATH facts")
        else:
            rest.append(word)
    return option, as_json, look, rest


def _unknown_command(word: str) -> UsageError:
    from tui.theme.escape import visible

    verb = suggest_verb(word, VERBS_BY_NAME)
    said = f"There is no command “{visible(word[:40])}”."
    return UsageError(said, f"Did you mean `memoranda {verb}`?" if verb else "See `memoranda --help`.")


def _at_a_terminal(as_json: bool) -> bool:
    """Return whether input and output are a terminal that the application can run in."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not as_json


def _in_a_browser() -> bool:
    """Return whether `memoranda serve` started this process, for a browser to show the application; then prepare it.
    What this process starts is in no browser."""
    if not os.environ.pop("MEMORANDA_SERVED", ""):
        return False
    os.environ["TEXTUAL_DRIVER"] = "tui.browser.driver:BrowserDriver"
    return True


def _application(place: Location, cwd: str) -> int:
    """Run the application on a memory; return the exit status."""
    import gc

    gc.disable()  # until the first frame: see `tui.screens.base_screen`
    from tui.app import Memoranda, own_terminal

    with own_terminal():
        app = Memoranda(place, cwd)
        app.run()
    return app.return_code or 0


def _overview(place: Location, cwd: str, as_json: bool) -> int:
    """Print the overview, if there is no terminal for the application. Raise NotFound where there is no memory: nobody
    asked for one."""
    if not place.look and _is_absent(place.path):
        raise NotFound(
            "There is no memory here yet, and no terminal in which the application could start one.",
            "`memoranda init` starts one; `memoranda` in a terminal opens the application.",
        )
    from tui.commands.search import memory_figures, overview_lines

    with Memory(place, "cli") as memory:
        _announce(memory)
        _catch_up(memory, cwd)
        session = Session(place, memory, cwd, _ask_on_terminal)
        print_outcome(
            Outcome(data=lambda: memory_figures(session), lines=[] if as_json else overview_lines(session)), as_json
        )
    return 0


def _announce(memory: Memory) -> None:
    """Report once where a new memory was created, with notes on the file."""
    if memory.created:
        print_notice(f"Started a memory: {memory.location.path}")
    for warning in memory.database.warnings:
        print_notice(warning)


def _is_absent(path: str) -> bool:
    """Tell whether there is no file at a path; return False where opening the file will say why. Raise an error
    where backups of a lost memory are left."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        refuse_lost_file(path)
        return True
    except OSError:
        pass
    return False


def _finish_purge(memory: Memory) -> None:
    """Finish a purge that was interrupted or had to wait; without one this reads one row."""
    from store.database.tombstones import is_purge_pending

    if not is_purge_pending(memory.database):
        return
    from store.services.maintenance import finish_pending_purge

    try:
        finish_pending_purge(memory.database, print_notice)
    except MemorandaError as error:
        print_notice(f"Erasing is not finished: {error}")


def _catch_up(memory: Memory, cwd: str) -> Callable[[], bool]:
    """Sync the timeline with git and the index with the documents for a limited time, then report what remains; return
    a function that returns whether the time is over."""
    import time

    deadline = time.monotonic() + (0 if memory.location.look else WAIT_SECONDS)

    def late() -> bool:
        return time.monotonic() > deadline

    if memory.location.look:  # read-only: syncs nothing
        return late
    _compare_new(memory, late)  # first: takes milliseconds, and git may use up the time
    _catch_up_with_git(memory, cwd, late)
    _sync_files(memory, late)
    try:
        read = memory.documents.update_index(cancelled=late)
    except MemorandaError as error:
        print_notice(f"The documents could not be read: {error}")
        return late
    if read.elsewhere:
        print_notice("Another process is reading the documents right now.")
    elif read.remaining:
        print_notice(f"{read.remaining:,} documents remain to be read; the next command continues.")
    _keep_moments(memory, late)
    _keep_backups(memory, late)
    return late


def _keep_moments(memory: Memory, late: Callable[[], bool]) -> None:
    """Create the periodic checkpoint that is due, in milliseconds: the application may never run."""
    from store.services.maintenance import take_due_checkpoint

    if late():
        return
    try:
        take_due_checkpoint(memory)
    except MemorandaError as error:
        print_notice(f"No checkpoint could be taken: {error}")


def _compare_new(memory: Memory, late: Callable[[], bool]) -> None:
    """Compare new facts with the existing ones, some 2 ms for each."""
    from store.inbox.new_fact_check import compare_new_facts, has_uncompared_facts

    if not has_uncompared_facts(memory.database):
        return
    try:
        compare_new_facts(memory.database, memory.facts, memory.inbox, late)
    except MemorandaError as error:
        print_notice(f"What was remembered could not be compared: {error}")


def _sync_files(memory: Memory, late: Callable[[], bool]) -> None:
    """Sync the files that a person keeps so, if they or the memory changed; without any this reads one row."""
    from store.sync.synced_files import list_synced_files

    if not list_synced_files(memory.database):
        return
    try:
        reports = memory.sync.sync_due(late)
    except MemorandaError as error:
        print_notice(f"A file could not be synced: {error}")
        return
    if reports:
        from tui.commands.documents import sync_message

        for report in reports:
            print_notice(sync_message(report))


def _keep_backups(memory: Memory, late: Callable[[], bool]) -> None:
    """Create the daily backup of a small file; a larger one is left to the application."""
    from store.services.maintenance import make_due_backup

    if late():
        return
    try:
        make_due_backup(memory, late, BACKUP_BYTES)
    except MemorandaError as error:
        print_notice(f"No backup could be made: {error}")


def _catch_up_with_meaning(memory: Memory, late: Callable[[], bool]) -> None:
    """Embed pending texts in the remaining time, if an embedding model is ready: choosing one takes seconds of
    measurement, which the application and `memoranda index` do. Without one report nothing: doctor does."""
    from store.base.runtime import is_part_disabled

    if late() or is_part_disabled("model"):
        return
    from store.embedding.vectors import Vectors

    if Vectors(memory.database).serving is None:
        return
    from store.services.background_embedding import embed_waiting, is_embedding_due

    if not is_embedding_due(memory):
        return
    trouble: list[str] = []
    try:
        done = embed_waiting(memory, cancelled=late, trouble=trouble.append)
    except MemorandaError as error:
        print_notice(f"Index incomplete: {error}")
        return
    if done is None:
        print_notice("Another program is indexing; until it is done, some texts are found by their words alone.")
    elif done.left and not trouble:
        print_notice(
            f"{done.left:,} texts remain to be indexed; the next search continues, memoranda index does them all."
        )


def _catch_up_with_git(memory: Memory, cwd: str, late: Callable[[], bool]) -> None:
    """Read the commits that the timeline lacks, until `late` returns True, and report what remains."""
    from store.services.maintenance import readable_repository, run_maintenance

    remaining: int | None = None  # unknown until git has listed the commits

    def progress(done: int, total: int) -> None:
        nonlocal remaining
        remaining = total - done

    try:
        new = run_maintenance(memory, cwd, progress, late, print_notice)
    except MemorandaError as error:
        print_notice(f"The timeline could not catch up with git: {error}")
        return
    if new is None:
        print_notice("Another process is reading git's history right now.")
    elif remaining is None and late() and readable_repository(memory, cwd):
        print_notice("Reading git timed out; the next command tries again.")
    elif remaining:
        print_notice(f"{remaining:,} commits remain to be read; the next command continues.")


def _ask_on_terminal(question: str, lines: Sequence[str] = (), as_json: bool = False, seen_first: bool = False) -> bool:
    """Ask on the terminal, below the lines. Without a terminal say what would be asked, unless an error as JSON is to
    stand alone, and raise InvalidInput; `seen_first`: the command has --dry-run."""
    terminal = sys.stdin.isatty()
    for line in lines if terminal or not as_json else ():
        print_notice(line)
    if not terminal:
        if not as_json:
            print_notice(question)
        seen = ", or --dry-run to see first what would change" if seen_first else ""
        raise InvalidInput("Needs confirmation; nothing was changed.", f"Add --yes{seen}.")
    print_notice(f"{question} [y/N] ", end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes", "s", "sí", "si")
