"""What waits for a person: proposals with their evidence, duplicates, conflicts of decisions."""
