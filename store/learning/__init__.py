"""Learning facts from conversations: by rules at once, by a model later. What is uncertain becomes a proposal. The
model's client is in `llm`."""
