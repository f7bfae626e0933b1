"""What is started by its name: actions, commands of the `:` bar, the line that asks, plans of a restore or undo."""
