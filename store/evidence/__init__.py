"""Evidence that can be looked at again: files and lines, symbols, commits, addresses and commands that a fact or a
decision was bound to, and whether they still are what they were. Quotes are not here (`store/inbox/inbox.py`)."""
