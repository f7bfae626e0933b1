"""Rules about words that need neither a model nor a memory: folding, clauses, dates, language, contradiction; and how
texts and numbers are written for people."""
