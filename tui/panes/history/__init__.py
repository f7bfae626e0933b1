"""The pane `history`: its declaration, and what only it does."""
