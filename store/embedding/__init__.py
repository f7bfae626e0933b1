"""Embedding vectors of all passages of the corpus: computed by a model, stored in the memory, searched.

`choose_provider` selects a provider; `Vectors` reads and searches what it computed. No command that writes
records waits for this package.
"""

import os

# OpenBLAS's threads spin for a while after each matrix product, on the processors that the model needs next: a query
# took 45 ms instead of 28. The variable is read once, when numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
