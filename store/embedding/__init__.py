"""Meaning: vectors of everything in the corpus, made by a model, kept in the memory, and searched.

`choice.open` finds a model, `Vectors` holds what it makes. Nothing here is on the way of a command that writes.
"""

import os

# numpy's library of products starts threads that go on spinning for a while after each, on the processors that the
# model needs next: a question took 45 ms instead of 28. It reads this when numpy is imported, and never again.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
