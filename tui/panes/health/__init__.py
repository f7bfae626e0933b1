"""The pane `health`: its declaration, and what only it does."""
