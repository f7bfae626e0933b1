"""The pane `context`: its declaration, and what only it does."""
