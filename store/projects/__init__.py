"""Which memory a folder has: what lies there, what this installation knows of it, and the rules that decide."""
