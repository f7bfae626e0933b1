"""The language model's server: select a model, ask it within a deadline, report failures with their cause. The prompts
are in `learning` and `librarian`."""
