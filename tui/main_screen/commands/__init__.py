"""Everything started by name: actions, commands of the `:` bar, prompts, plans of a restore or undo."""
