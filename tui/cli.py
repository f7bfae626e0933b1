"""The command line: parse arguments, open the memory, run a verb, print its result.

With --json print one object or list; errors are one sentence on standard error, or one object; the exit status is
one of `ExitStatus`. Ask nothing if standard input is not a terminal. All output is escaped first, including names of
folders and checkpoints, which may be untrusted."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from itertools import takewhile
from typing import NoReturn

from store.base.errors import ExitStatus, InvalidInput, MemorandaError, StorageError
from store.projects.locating import locate
from store.text.display import visible
from store.version import __version__
from tui import cli_output
from tui.input import verb_table
from tui.input.arguments import UsageError, help_text, parse_arguments, split_global_options

HELP_WORDS = ("-h", "--help", "help")
# are pages of the help
FORMER_PAGES = (["completion"], ["man"])
TRY_AGAIN = "Nothing was changed in part; check the disk and the memory of the system, and try again."


def run_process(arguments: Sequence[str]) -> NoReturn:
    """Run one command, and end the process as it says."""
    status = run_command(arguments)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        # the reader closed the pipe
        pass
    except OSError:
        # reported already, if possible
        status = status or ExitStatus.CANNOT
    # the memory is closed: nothing is left to finalise
    os._exit(status)


def run_command(arguments: Sequence[str]) -> ExitStatus:
    """Run one command; return the exit status."""
    cli_output.use_ascii_fallback()
    rest, options = split_global_options(arguments)
    try:
        return _run_line(rest, options)
    except MemorandaError as error:
        cli_output.print_error(error, "--json" in options)
        return error.exit_status
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except BrokenPipeError:
        # the reader, such as `| head`, closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return ExitStatus.DONE
    except OSError as error:  # too many open files, for example, while importing a module
        reason = StorageError(f"The system refused: {error.strerror or type(error).__name__}.", TRY_AGAIN)
        cli_output.print_error(reason, "--json" in options)
        return reason.exit_status


def _run_line(rest: list[str], options: dict[str, str | None]) -> ExitStatus:
    """Run one command line, without the options of all commands, which come apart; return the exit status."""
    option, as_json = options.get("--db"), "--json" in options
    # an empty `--db "$UNSET"` must not open another file
    if "--db" in options and not option:
        raise UsageError("--db wants the path of a memory file.", "memoranda --db PATH list")
    cli_output.set_database_option(option)
    if rest[:1] in FORMER_PAGES:
        rest = ["help", *rest]
    if rest and rest[0] in HELP_WORDS:
        cli_output.print_text(_help_about(rest[1:]))
        return ExitStatus.DONE
    if rest and rest[0] in ("-V", "--version"):
        print(f"memoranda {__version__}")
        return ExitStatus.DONE
    cwd = cli_output.current_folder()
    place = locate(option, os.environ, cwd)
    place.look = "--look" in options
    found = verb_table.find_verb(rest)
    if found and (former := verb_table.former_words(rest)) and sys.stderr.isatty():
        today = " ".join("…" if part in ("1", "2") else part for part in verb_table.FORMER_WORDS[former].split())
        cli_output.print_notice(f"`memoranda {former}` is `memoranda {today}` now.")
    if rest and found is None:
        word = verb_table.command_word(rest)
        near = verb_table.suggest_verb(word)
        hint = f"Did you mean `memoranda {near}`?" if near else "See `memoranda --help`."
        raise UsageError(f"There is no command “{visible(word[:40])}”.", hint)
    verb, typed = found or (None, [])
    if verb and any(word in HELP_WORDS[:2] for word in takewhile("--".__ne__, typed)):
        cli_output.print_text(cli_output.printable(help_text(verb.name, verb.summary, verb.arguments)))
        return ExitStatus.DONE
    given = parse_arguments(verb.name, verb.arguments, typed) if verb else None
    # help and version need neither a memory nor the application
    from tui import run_verb

    if verb is None or given is None:
        return run_verb.show_memory(place, cwd, as_json)
    return run_verb.run_verb(place, cwd, as_json, verb, given)


def _help_about(words: list[str]) -> str:
    """Return the help of a verb, the overall help without words, or the verbs that do what the words say. Raise
    InvalidInput where there are none."""
    if not words:
        return cli_output.printable(overall_help())
    if found := verb_table.find_verb(words):
        verb = found[0]
        return cli_output.printable(help_text(verb.name, verb.summary, verb.arguments))
    if words[0] in ("completion", "complete", "man"):
        # they know all settings and keys
        from tui.input import completion

        if words[0] == "man":
            return completion.manual_page(__version__).removesuffix("\n")
        shell, line = [*words[1:3], "", ""][:2]
        if words[0] == "completion":
            return completion.completion_script(shell)
        return "\n".join(completion.offer_completions(shell, line))
    verbs = verb_table.verbs_about(words)
    if not verbs:
        raise InvalidInput(
            f"No command is about “{visible(' '.join(words)[:40])}”.", "memoranda --help lists them."
        )
    width = max(len(verb.name) for verb in verbs)
    return cli_output.printable("\n".join(f"  memoranda {verb.name:<{width}}  {verb.summary}" for verb in verbs))


def overall_help() -> str:
    """Return the text of `memoranda --help`."""
    width = max(map(len, verb_table.VERB_GROUPS))
    return "\n".join(
        [
            "Memoranda: see, ask, correct, undo and forget what AI agents remember.",
            "",
            "  memoranda                 the application",
            "  memoranda COMMAND …       one command; memoranda COMMAND --help tells its arguments",
            "",
            *(f"  {title:<{width}}  {'  '.join(names)}" for title, names in verb_table.VERB_GROUPS.items()),
            "",
            "  --db PATH   another memory file        --json   one object or list, for scripts",
            "  --look      whosever memory it is, read-only",
            "  help WORDS  finds a command by what it does: help delete, help deshacer",
            "",
            *(f"  ends with {status.value}  {status.says}" for status in ExitStatus if status < ExitStatus.HANGUP),
        ]
    )
