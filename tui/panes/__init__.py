"""What the main screen lists: a module for each pane and view, which reads its rows and has its own keys."""
