"""The verbs of the command line and of the `:` bar, a module for each group; they draw nothing."""
