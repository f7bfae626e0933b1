"""The pane `checkpoints`: its declaration, and what only it does."""
