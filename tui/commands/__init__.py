"""The verbs of the command line and of the box that `:` opens, a module for each group; they draw nothing."""
