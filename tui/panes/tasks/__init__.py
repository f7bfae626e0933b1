"""The pane `tasks`: its declaration, and what only it does."""
