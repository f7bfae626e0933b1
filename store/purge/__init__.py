"""Purging: a text is taken out of the memory for good, wherever it stands, and it is proved that it is gone.

`Purge.plan` says what would go and where else the words stand; `Purge.run` does it in one transaction; `finish` then
cleans what a transaction cannot (index, log, backups), now or when whoever holds the log lets go; `trace` reads every
row and every byte. Every place that keeps text stands in `registry`.
"""

from store.database.purge_state import pending
from store.purge.column_scan import RemainingMatch
from store.purge.finalize import Finished
from store.purge.proof import OUT_OF_REACH, Traces, Verdict, prove, trace
from store.purge.purge import SAID, Done, Going, Purge, PurgePlan, finish
from store.purge.registry import of_store

__all__ = [
    "OUT_OF_REACH",
    "SAID",
    "Done",
    "Finished",
    "Going",
    "Purge",
    "PurgePlan",
    "RemainingMatch",
    "Traces",
    "Verdict",
    "finish",
    "of_store",
    "pending",
    "prove",
    "trace",
]
