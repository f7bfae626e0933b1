"""The two ways in for people: the application and the command line."""
