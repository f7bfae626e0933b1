"""Purging: a text is taken out of the memory for good, wherever it stands, and it is proved that it is gone.

The recipe is RELIABILITY §1 "Purge". `Purge.plan` says what would go and where else the words stand; `Purge.run` does
it in one transaction; `finish` then cleans what a transaction cannot (index, log, backups), now or when whoever holds
the log lets go; `prove` reads every byte.
"""

from store.purge.erasing import Done, Going, Purge, PurgePlan
from store.purge.finishing import Finished, finish, pending
from store.purge.places import Place
from store.purge.proof import OUT_OF_REACH, Verdict, documents_of, files_of, prove, proven

__all__ = [
    "OUT_OF_REACH",
    "Done",
    "Finished",
    "Going",
    "Place",
    "Purge",
    "PurgePlan",
    "Verdict",
    "documents_of",
    "files_of",
    "finish",
    "pending",
    "prove",
    "proven",
]
