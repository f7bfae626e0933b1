"""The pane `facts`: its declaration, and what only it does."""
