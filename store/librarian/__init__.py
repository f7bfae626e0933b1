"""The Librarian: questions about the past, answered from the records alone, each sentence with its citation."""
