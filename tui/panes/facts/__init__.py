"""The pane `facts`: its declaration and its own code."""
