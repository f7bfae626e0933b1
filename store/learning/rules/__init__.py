"""What rules make of a turn by its words: requests, rules, corrections, repetitions. Nothing is read or written."""
