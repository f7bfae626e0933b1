"""The command `memoranda`: a verb, or the application."""

from __future__ import annotations

import gc
import os
import sys

import store


def main() -> None:
    """Run the console script, and end the process."""
    # before any file is created
    os.umask(0o077)
    # what imports make stays: looking through it takes a tenth of a command
    gc.set_threshold(50_000, 20, 20)
    _open_closed_streams()
    sys.unraisablehook = _report_unraisable
    _check_store()
    if "hook" in sys.argv[1:4] and sys.argv[-1] not in ("-h", "--help"):
        _run_hook()
    # of the package that was checked; and a hook needs none of it
    from tui.cli import run_process

    run_process(sys.argv[1:])


def _run_hook() -> None:
    """Answer an agent's hook, or one of git, and end the process, with 0; return if it is another command. The same
    file that agents run by its path does it, started more slowly."""
    words = sys.argv[1:]
    before, after = words[: words.index("hook")], words[words.index("hook") + 1 :]
    if before and not (len(before) == 2 and before[0] == "--db"):
        return
    if after[:1] == ["git"]:
        from store.doors.hook_process import run

        run([*before, *after], sys.stdin.buffer, sys.stdout.buffer)
        os._exit(0)
    from store.doors import memoranda_hook

    memoranda_hook.main([*before, *after])


def _report_unraisable(problem: sys.UnraisableHookArgs) -> None:
    """Print an exception that could not be raised, as Python does, except that SQLite's log quoted bytes of a file that
    are no text; opening the file reports what is wrong with it."""
    if not isinstance(problem.exc_value, UnicodeDecodeError):
        sys.__unraisablehook__(problem)


def _open_closed_streams() -> None:
    """Open /dev/null for standard streams that the parent process closed, before the memory's file gets their
    numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open until the end


def _check_store() -> None:
    """Check that `store` is the package installed with `tui`, since both are common names."""
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found = os.path.dirname(os.path.dirname(os.path.abspath(store.__file__ or "")))
    if found != home or not hasattr(store, "__memoranda__"):
        sys.exit(
            f"memoranda: another package named `store` is in the way, in {found}. "
            "Install memoranda into an environment of its own: pipx install memoranda."
        )


if __name__ == "__main__":
    main()
