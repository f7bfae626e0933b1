"""Start the wire server in a process of its own, where its engine can be told to wait without spinning.

    python -m tests.live.starting [--model 0.5b …] [--pullable NAME …] [--port 0] [--cached]

The address is the first line it prints; it ends with whoever started it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .fetching import MODELS, Unavailable, fetch
from .shelf import Shelf, tagged
from .wire import Wire

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
QUIET = {"OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0"}


@contextmanager
def serving(names: Sequence[str] = ("0.5b",), *options: str) -> Iterator[str]:
    """The address of a server of these models. Raises Unavailable where a model or the engine cannot be had."""
    try:
        import xllamacpp  # noqa: F401
    except ImportError as error:
        raise Unavailable(f"The engine is not installed ({error.name}): pip install -e '.[live]'.") from None
    for name in names:
        fetch(MODELS[name])
    command = [sys.executable, "-m", "tests.live.starting", *options]
    for name in names:
        command += ["--model", name]
    with subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **QUIET}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout
            address = process.stdout.readline().strip()
            if not address:
                raise Unavailable(f"The server of {', '.join(names)} ended before it began (exit {process.wait()}).")
            yield address
        finally:
            process.terminate()


def main() -> None:
    summary = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m tests.live.starting", description=summary)
    parser.add_argument("--model", action="append", choices=sorted(MODELS), help="installed (0.5b)")
    parser.add_argument("--pullable", action="append", default=[], metavar="NAME", help="names that a pull finds")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--cached", action="store_true", help="keep what prompts have in common, as Ollama does")
    options = parser.parse_args()
    from .engine import Qwen

    models = [MODELS[name] for name in options.model or ["0.5b"]]
    shelf = Shelf(
        {model.name: model for model in models},
        {tagged(name): models[0] for name in options.pullable},
        lambda model, context: Qwen(fetch(model), context, options.cached),
    )
    with Wire(shelf, options.port) as wire:
        print(wire.address, flush=True)
        threading.Thread(target=_orphaned, args=(os.getppid(),), daemon=True).start()
        wire.serve_forever()


def _orphaned(parent: int) -> None:
    """End with whoever started this, who may be killed."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(0)


if __name__ == "__main__":
    main()
