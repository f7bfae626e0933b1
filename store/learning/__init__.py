"""Facts from conversations: by rule at once, by a model later. What is uncertain becomes a proposal. How a model is
reached is in `llm`."""
