"""The screen of the model, and the texts that say how it is."""
