"""The pane `history`: its declaration and its own code."""
