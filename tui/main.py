"""The command `memoranda`: a verb, or the application."""

import os
import sys


def main() -> None:
    """The console script. Ends the process."""
    os.umask(0o077)  # before anything can be written
    _open_closed_streams()
    sys.unraisablehook = _unraisable
    _guard()
    if "hook" in sys.argv[1:4] and sys.argv[-1] not in ("-h", "--help"):
        _hook()
    from tui.cli import run

    status = run(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass  # the reader has left; so do we
    except OSError:
        status = status or 1  # said already, where it could be
    # the memory is closed by now, and taking an interpreter apart costs a command 2 ms of its 30
    os._exit(status)


def _hook() -> None:
    """Answer an agent's hook and end the process, with 0; return if it is another command. It runs at every event, so
    nothing of a command line is imported for it."""
    words = sys.argv[1:]
    before, after = words[: words.index("hook")], words[words.index("hook") + 1 :]
    if before and not (len(before) == 2 and before[0] == "--db"):
        return
    import gc

    from store import hook_process

    gc.disable()  # it ends before there is anything to collect
    hook_process.run([*before, *after], sys.stdin.buffer, sys.stdout.buffer)
    os._exit(0)


def _unraisable(problem: "sys.UnraisableHookArgs") -> None:
    """Show what could not be raised, as Python does, but not that SQLite's log quoted bytes of a file that are no text;
    what is wrong with the file is said by whoever opens it."""
    if not isinstance(problem.exc_value, UnicodeDecodeError):
        sys.__unraisablehook__(problem)


def _open_closed_streams() -> None:
    """Put /dev/null where whoever started us closed a standard stream, before the memory gets its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open until the end


def _guard() -> None:
    """`store` and `tui` are plain names; make sure that the `store` Python found is the one that came with us."""
    import store

    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found = os.path.dirname(os.path.dirname(os.path.abspath(store.__file__ or "")))
    if found != home or not hasattr(store, "__memoranda__"):
        sys.exit(
            f"memoranda: another package named `store` is in the way, in {found}. "
            "Install memoranda into an environment of its own: pipx install memoranda."
        )


if __name__ == "__main__":
    main()
