"""Run one verb: open its memory, bring up to date what it reads, print what it says."""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from tempfile import TemporaryDirectory

from store.base.errors import DiskFull, ExitStatus, InvalidInput, NotFound, NotOurs
from store.base.location import Location
from store.database.files import free_reserve, refuse_lost_file
from store.database.tombstones import is_purge_pending
from store.memory import Memory
from store.text.display import visible
from store.trust.ownership import ADOPT_ADVICE
from tui.cli_output import print_notice, print_result_line, print_text, printable, write_utf8
from tui.commands.call import Call, Outcome
from tui.input.arguments import ParsedArguments, Verb, settle

# says no more than which record was written
WRITTEN_RECORD = re.compile(r"(\w+ [A-Z]#\w+)\.")


def run_verb(place: Location, cwd: str, as_json: bool, verb: Verb, given: ParsedArguments) -> ExitStatus:
    """Run a verb on the memory at `place`, print what it says, and return the exit status."""

    def ask(question: str, lines: Sequence[str] = ()) -> bool:
        return _ask_on_terminal(question, lines, as_json, verb.can_be_tried)

    alone = settle(verb.opens, given) == "nothing"
    for_agents = verb.name == "context" or (verb.name == "checkpoint" and given.read)
    if place.look and for_agents:
        raise NotOurs(f"{place.path} is only looked at: no agent is served from it.", ADOPT_ADVICE)
    with nullcontext() if alone else _open_for_verb(place, verb, verb.makes_none(given)) as memory:
        call = Call(place, memory, cwd, ask, as_json, wait=ProgressLine())
        if memory is None:
            call.application = _application if _at_a_terminal(as_json) else None
        else:
            call.tell = print_result_line if sys.stdout.isatty() and not as_json else None
            if settle(verb.reads, given):
                _catch_up(memory, cwd, verb.name == "ask" or (verb.name == "search" and not given.keywords))
            elif is_purge_pending(memory.database):
                _catch_up(memory)
        before = memory and memory.database.last_step
        outcome = call.run(verb, given)
        if memory is not None and memory.database.last_step != before:
            say_where(outcome, memory.location)
        print_outcome(outcome, as_json)
        if outcome.error:
            print_notice(outcome.error)
        outcome.after()
    return outcome.status


def show_memory(place: Location, cwd: str, as_json: bool) -> ExitStatus:
    """Open the application, or print what the memory holds where there is no terminal; return the exit status."""
    shown = _at_a_terminal(as_json) or _in_a_browser()
    return _application(place, cwd) if shown else _overview(place, cwd, as_json)


def _open_for_verb(place: Location, verb: Verb, looks: bool) -> AbstractContextManager[Memory]:
    """Open the memory for a command, and close it afterwards. A command that only reads gets an empty memory where
    there is none, which is deleted afterwards."""
    if place.problem is not None:
        raise place.problem
    if looks and not place.look and _is_absent(place.path):
        print_notice("There is no memory here yet, and none was started: memoranda open --new does.")
        return _empty_memory(place)
    memory = _open_memory(place, verb)
    _announce(memory)
    return memory


@contextmanager
def _empty_memory(place: Location) -> Iterator[Memory]:
    """Open an empty memory in a temporary folder."""
    with TemporaryDirectory(prefix="memoranda-") as folder:
        path = os.path.join(folder, os.path.basename(place.path))
        with Memory(Location(path, place.kind, place.reason, place.project), "cli", passing=True) as new:
            yield new


def _open_memory(place: Location, verb: Verb) -> Memory:
    """Open the memory. On a full disk, a verb that only frees space may use that of the ballast. Ask before opening one
    that an earlier version may have made."""
    try:
        return Memory(place, "cli")
    except NotOurs as error:
        if not (error.unmarked and sys.stdin.isatty() and _ask_on_terminal(f"{error.message} Did you make it?")):
            raise
        # rare: an earlier build made the file
        from store.upkeep.adoption import adopt_whole

        adopt_whole(place, earlier=True)
    except DiskFull:
        if not verb.frees or not free_reserve(place.path):
            raise
    return Memory(place, "cli")


def say_where(outcome: Outcome, place: Location) -> None:
    """Have an outcome that wrote say to which memory, to scripts too; unless the command named it, which knows."""
    where, said = visible(place.where), outcome.message
    if place.kind != "option":
        short = WRITTEN_RECORD.fullmatch(said)
        outcome.message = f"{short[1]} in {where}." if short else f"{said} In {where}.".strip()
    data = outcome.data
    outcome.data = lambda: {**found, "memory": place.as_dict()} if isinstance(found := data(), dict) else found


def print_outcome(outcome: Outcome, as_json: bool) -> None:
    """Print the outcome of a verb: a document in pieces, an object as JSON, or its message and lines."""
    if outcome.document:
        write_utf8()
        # its reads must end before the memory is closed
        with closing(outcome.document()) as pieces:
            for piece in pieces:
                print_text(piece, end="", flush=False)
        print_text("", end="")
        return
    if as_json:
        write_utf8()
        print_text(json.dumps(outcome.data(), ensure_ascii=False))
        return
    texts = [outcome.message, *outcome.lines] if outcome.message else outcome.lines
    if texts:
        print_text("\n".join(map(printable, texts)))


class ProgressLine:
    """Shows a progress message on a terminal's standard error, replacing the last one; without a message, clears it."""

    def __init__(self) -> None:
        self._shown = False

    def __call__(self, words: str) -> None:
        if (words or self._shown) and sys.stderr.isatty():
            print("\r\x1b[K", end="", flush=True, file=sys.stderr)
            print_notice(words[: shutil.get_terminal_size().columns - 1], end="")
            self._shown = bool(words)


def _at_a_terminal(as_json: bool) -> bool:
    """Return whether input and output are a terminal that the application can run in."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not as_json


def _in_a_browser() -> bool:
    """Return whether `memoranda serve` started this process, for a browser to show the application; then prepare it.
    What this process starts is in no browser."""
    if not os.environ.pop("MEMORANDA_SERVED", ""):
        return False
    os.environ["TEXTUAL_DRIVER"] = "tui.desktop.drivers:BrowserDriver"
    return True


def _application(place: Location, cwd: str) -> ExitStatus:
    """Run the application on a memory; return the exit status."""
    # until the first frame: see `tui/screens/base.py`
    gc.disable()
    from tui.app import Memoranda, own_terminal

    with own_terminal():
        app = Memoranda(place, cwd)
        app.run()
    return ExitStatus(app.return_code or 0)


def _overview(place: Location, cwd: str, as_json: bool) -> ExitStatus:
    """Print the overview, if there is no terminal for the application. Raise NotFound where there is no memory: nobody
    asked for one."""
    # counting takes modules that no verb needs
    from tui.commands.health import memory_figures, overview_lines

    if not place.look and _is_absent(place.path):
        raise NotFound(
            "There is no memory here yet, and no terminal in which the application could start one.",
            "`memoranda open --new` starts one; `memoranda` in a terminal opens the application.",
        )
    with Memory(place, "cli") as memory:
        _announce(memory)
        _catch_up(memory, cwd)
        session = Call(place, memory, cwd, _ask_on_terminal)
        print_outcome(
            Outcome(data=lambda: memory_figures(session), lines=[] if as_json else overview_lines(session)),
            as_json,
        )
    return ExitStatus.DONE


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


def _catch_up(memory: Memory, cwd: str | None = None, meaning: bool = False) -> None:
    """Bring up to date what a verb reads, in the folder `cwd`; `meaning`: vectors too. Without a folder only finish a
    purge that was interrupted or had to wait."""
    # it reads git, documents and vectors, which takes a command that writes its time
    from store.upkeep import catch_up

    if cwd is None:
        catch_up.finish_purge(memory, print_notice)
    else:
        catch_up.catch_up(memory, cwd, meaning, print_notice)


def _ask_on_terminal(
    question: str, lines: Sequence[str] = (), as_json: bool = False, seen_first: bool = False
) -> bool:
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
