"""The pane `checkpoints`: its declaration and its own code."""
