"""`memoranda[fastembed]` as a user sets it up: install, choose, download, index, find.

    python -m bench.fastembed [--model FOLDER] [--folder PATH]

A new virtual environment gets this tree with its extra `fastembed` from the package index, a new home gets a memory of
three facts, and the commands run one after the other; their output is printed. The model (0.5 GB) is downloaded from
Hugging Face; if that cannot be reached, the application's message is printed and the exit status is 2. `--model` is an
existing folder with `model.onnx`, `tokenizer.json` and `tokenizer_config.json`; then nothing is downloaded."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from bench.store import ROOT, heading

FACTS = ("Deploys go out on Thursdays", "Ana is allergic to peanuts", "The billing service uses PostgreSQL")
QUESTION, ANSWER = "which food is dangerous for her?", "peanuts"
UNREACHED = 2


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="", help="a folder of a model that is here already")
    parser.add_argument("--folder", help="where the environment is made; the temporary directory otherwise")
    options = parser.parse_args(arguments)
    heading("fastembed")
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-", dir=options.folder) as folder:
        return _tried(folder, os.path.abspath(options.model) if options.model else "")


def _tried(folder: str, model: str) -> int:
    base = getattr(sys, "_base_executable", sys.executable)
    venv, home = os.path.join(folder, "venv"), os.path.join(folder, "home")
    os.mkdir(home)
    command = os.path.join(venv, "bin", "memoranda")
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "MEMORANDA_", "PYTHON"))
    }

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        start = time.perf_counter()
        done = subprocess.run(
            words, cwd=home, env={**kept, "HOME": home}, text=True, capture_output=True, stdin=subprocess.DEVNULL
        )
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        print(f"\n$ {' '.join([os.path.basename(words[0]), *words[1:]])}")
        print(*(f"  {line}" for line in said[-6:]), f"  exit {done.returncode}", sep="\n", end="")
        print(f", {time.perf_counter() - start:.1f} s", flush=True)
        return done

    if run(base, "-m", "venv", venv).returncode:
        return 1
    install = (os.path.join(venv, "bin", "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check")
    if run(*install, f"{ROOT}[fastembed]").returncode:
        print("\nThe package index was not reached, or has no fastembed for this Python: nothing was tried.")
        return UNREACHED
    for fact in FACTS:
        run(command, "remember", fact)
    run(command, "config", "embedding.provider", "fastembed")
    if model:
        run(command, "config", "embedding.model", model)
    else:
        run(command, "index")  # reports the missing model, and how to download it
        if run(command, "index", "download").returncode:
            print(
                "\nThe model could not be fetched here; see what was said above. Where Hugging Face cannot be reached,"
            )
            print("bring its folder along: python -m bench.fastembed --model FOLDER")
            return UNREACHED
    indexed = run(command, "index")
    found = run(command, "search", QUESTION)
    run(command, "doctor")
    right = not indexed.returncode and ANSWER in found.stdout
    print(f"\nfound by the model of fastembed: {'ok' if right else 'MISS'}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
