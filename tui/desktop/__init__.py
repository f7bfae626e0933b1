"""Everything outside of the terminal: the clipboard, the editor, the list of recent files."""
