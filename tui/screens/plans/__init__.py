"""The screens that show changes before they are made. Not what a change does."""
