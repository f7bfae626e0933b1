"""The main screen and its parts. Screens that cover it are in `screens`."""
