"""The pane `inbox`: its declaration and its own code."""
