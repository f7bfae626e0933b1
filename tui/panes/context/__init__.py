"""The pane `context`: its declaration and its own code."""
