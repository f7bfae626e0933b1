"""What a search leaves behind: queries, accesses, latencies. None of it changes a result."""
