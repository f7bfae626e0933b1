"""What other tools remember, text by text."""
