"""What only one pane of the main screen does. Panes are declared in `tui/input/key_table.py`; widgets are in
`widgets`."""
