"""The Librarian: questions about the past, answered from the records alone, each sentence with its citation; and the
language model's server: select a model, ask it within a deadline, report failures with their cause. What a model is
told is in `learning`, and in the files of a language here."""
