"""Proposals that wait for a person, with their evidence; duplicates, conflicts of decisions."""
