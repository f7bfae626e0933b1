"""One module for each kind of record, and what belongs to several: tags, ageing, the timeline. What changes records
in bulk is in `history`, `inbox` or `purge`."""
