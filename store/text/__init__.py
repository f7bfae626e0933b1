"""Rules about words that need no model and no memory: folding, clauses, dates, language, contradiction."""
