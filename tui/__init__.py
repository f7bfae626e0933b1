"""The front doors for people: the application and the command line."""
