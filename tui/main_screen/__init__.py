"""The main screen and its parts. Screens shown on top of it are in `screens`."""
