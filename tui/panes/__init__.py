"""The panes of the main screen, a folder each: declaration, rows, behaviour. Their widgets are in `widgets`."""
