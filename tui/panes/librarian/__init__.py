"""The pane `librarian`: its declaration and its own code."""
