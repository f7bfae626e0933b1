"""What lies around the application: the terminal that it reads and draws on, the clipboard, the editor, the list of
recent files."""
