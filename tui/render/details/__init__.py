"""The lines of one record in full, for the preview and the command line. Lists are elsewhere."""
