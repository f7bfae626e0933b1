"""Measurements: `python -m bench.NAME` prints a table."""

import os
import sys

# without its bytecode, every process would compile every module, and that would be measured
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
