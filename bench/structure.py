"""Figures of size and form of the code, those of `.ci/measure.py`, beside those of another checkout.

python -m bench.structure --before CHECKOUT"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.store import heading

ROOT = Path(__file__).parents[1]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, metavar="CHECKOUT")
    options = parser.parse_args(arguments)
    heading("structure", "store, tui and tests")
    now = figures(ROOT)
    before = figures(options.before) if options.before else {}
    print(f"{'figure':22}{'before':>12}{'now':>12}")
    for name, value in now.items():
        print(f"{name:22}{before.get(name, ''):>12}{value:>12}")


def figures(checkout: Path) -> dict[str, str]:
    """Return each figure of a checkout, as printed."""
    command = [sys.executable, ROOT / ".ci" / "measure.py", checkout]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r"^(\w+) +([\d.,e+]+)", printed, re.MULTILINE))


if __name__ == "__main__":
    main()
