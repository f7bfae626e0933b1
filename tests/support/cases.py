"""Texts and questions that tests are tried on: beside a file of tests, and those of `bench/cases`."""

import json
import tomllib
from pathlib import Path
from typing import Any

BENCH_CASES = Path(__file__).parents[2] / "bench" / "cases"


def load_cases(tests: str) -> dict[str, Any]:
    """Return the tables beside a file of tests, which passes its `__file__`: `test_x.toml` for `test_x.py`."""
    return tomllib.loads(Path(tests).with_suffix(".toml").read_text("utf-8"))


def bench_cases(*names: str) -> list[dict[str, Any]]:
    """Return the cases of these files of `bench/cases`, one after the other."""
    texts = [(BENCH_CASES / f"{name}.jsonl").read_text("utf-8") for name in names]
    return [json.loads(line) for text in texts for line in text.splitlines()]
