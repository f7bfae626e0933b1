"""Purging: remove a text from the memory for good, in every place that holds it, and prove that none is left.

`Purge.plan` lists what would be removed and where else the words are; `Purge.run` removes it in one transaction;
`finish` then cleans what a transaction cannot (index, log, backups), now or once no other connection holds the log;
`find_traces` reads every row and every byte. `registry` lists every place that keeps text.
"""
