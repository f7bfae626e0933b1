"""Render records as lines of text, for the command line and the preview alike. No Textual."""
