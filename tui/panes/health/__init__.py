"""The pane `health`: its declaration and its own code."""
