"""Remember the rows of a CSV file with the columns text, date and tags: facts_from_csv.py FILE MEMORY"""

import csv
import sys

from store import Memory

with open(sys.argv[1], newline="", encoding="utf-8") as file, Memory.open(sys.argv[2], create=True) as memory:
    for row in csv.DictReader(file):
        fact = memory.remember(row["text"], at=row["date"], tags=row["tags"], source=sys.argv[1])
        print(fact.citation, fact.created.date(), ", ".join(fact.tags), "new" if fact.is_new else "known")
