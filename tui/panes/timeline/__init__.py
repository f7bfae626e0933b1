"""The pane `timeline`: its declaration and its own code."""
