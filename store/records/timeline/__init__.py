"""What is ordered by time: events, commits, iterations, the levels of checkpoints, and the counts of what is open."""
