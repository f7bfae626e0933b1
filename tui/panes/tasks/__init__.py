"""The pane `tasks`: its declaration and its own code."""
