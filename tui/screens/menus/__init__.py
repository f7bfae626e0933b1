"""Menus over the main screen, of which one choice is taken: filters, memories, further screens."""
