"""The tables of commands, one for each group, and their synonyms. No key, and nothing that runs a command."""
