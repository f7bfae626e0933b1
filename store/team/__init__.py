"""Decisions and facts shared between machines and people through a git remote: streams, their merge, what arrives.
Not here: the documents of a checkout (`documents`), the history of a project (`git`)."""
