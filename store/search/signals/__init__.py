"""What ranks a result: keywords, vectors, spelling, recency, variety, and the verdict. No query is parsed here."""
