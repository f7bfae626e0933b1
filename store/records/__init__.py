"""One module for each kind of record, and what several share: tags, ageing, the timeline. Bulk changes of records are
in `history`, `inbox` or `purge`."""
