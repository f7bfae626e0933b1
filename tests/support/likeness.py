"""Pairs of facts with a person's judgement of each; `likeness.toml` holds them, and says what the judgements mean."""

import tomllib
from pathlib import Path

_PAIRS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
DEVELOPED, HELD, BY_MEANING = ([tuple(pair) for pair in _PAIRS[name]] for name in ("developed", "held", "by_meaning"))
