"""The two interfaces for people: the application and the command line."""
