"""The pane `inbox`: its declaration, and what only it does."""
