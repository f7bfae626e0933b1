"""The pane `timeline`: its declaration, and what only it does."""
