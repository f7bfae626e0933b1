"""Take a checkpoint, change a fact, go back, ask, and export: checkpoint_and_back.py MEMORY FILE"""

import sys

from store import Memory

with Memory.open(sys.argv[1]) as memory:
    point = memory.checkpoint("before renaming")
    memory.correct(memory.search("billing").hits[0].record, "Ana owns the invoicing service")
    print(len(memory.restore(point).changes), "records changed back")
    print(memory.ask("Who owns the billing service?").text)
    print(memory.export(sys.argv[2]).path, "is the whole memory")
