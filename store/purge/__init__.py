"""Purging: a text is taken out of the memory for good, wherever it stands, and it is proved that it is gone.

`Purge.plan` says what would go and where else the words stand; `Purge.run` does it in one transaction; `finish` then
cleans what a transaction cannot (index, log, backups), now or when whoever holds the log lets go; `trace` reads every
row and every byte. Every place that keeps text stands in `registry`.
"""
