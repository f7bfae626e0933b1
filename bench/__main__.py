"""Run all benches in turn, each in a process of its own: `python -m bench [NAME …]`; `--list` shows them, `--results`
writes what they print into bench/RESULTS.md."""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from collections.abc import Sequence

from bench import results

UNMEASURED = 3  # exit status: a part of a bench lacks its data, as reported
NAMES = (
    *("redaction", "write", "exchange", "process", "contention", "git", "documents", "embedding", "start", "demo"),
    *(
        "screen_floor",
        "screen_text",
        "tasks",
        "keys",
        "typing",
        "ingest",
        "filling",
        "rest",
        "purge",
        "damage",
        "history",
        "duplicates",
        "extraction",
        "requests",
    ),
    *("context", "health", "live_updates", "agent", "librarian", "questions", "ablation", "opening", "structure"),
    *(
        "first_look",
        "mcp",
        "recall",
        "hooks",
        "hook_client",
        "scan",
        "scan_precision",
        "discovery",
        "guard",
        "source_import",
        "sync",
        "verify",
    ),
    *("team", "replica", "mutations", "long_history", "projects"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure; 1 if a bench could not be run.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {', '.join(NAMES)} (all of them)")
    parser.add_argument("--list", action="store_true", help="only say what each measures")
    parser.add_argument("--results", action="store_true", help="write what they print into bench/RESULTS.md")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in NAMES]:
        parser.error(f"there is no bench {unknown[0]}; choose among {', '.join(NAMES)}")
    for name in NAMES:
        about = (importlib.import_module(f"bench.{name}").__doc__ or "").partition("\n")[0]
        print(f"{name:14}{about}")
    if options.list:
        return 0
    broken = []
    for name in options.names or NAMES:
        print(f"\n── {name} {'─' * (100 - len(name))}\n", flush=True)
        head = results.machine()
        status, output = _run(name)
        if status not in (0, UNMEASURED):
            broken.append(name)
        elif options.results and status != UNMEASURED:
            results.put(name, head, results.printed(output))
    if broken:
        print(f"\nNot measured: {', '.join(broken)}")
    return 1 if broken else 0


def _run(name: str) -> tuple[int, str]:
    """Run a bench, and show what it prints while it does; return its exit status and all of that."""
    said = []
    with subprocess.Popen([sys.executable, "-m", f"bench.{name}"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            said.append(line)
    return process.returncode, "".join(said)


if __name__ == "__main__":
    sys.exit(main())
