"""The pane `librarian`: its declaration, and what only it does."""
