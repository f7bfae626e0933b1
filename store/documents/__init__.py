"""Documents: Markdown files of the project, in chunks that can be found and cited by their lines.

They are the project's own `MEMORY.md` and `memory/**/*.md`, and what `documents.extraPaths` names. They are read, and
written by nothing but a purge that a person told to (`store/purge/documents.py`); what is kept of them can be made
again from them; reading them is no capture, so `enabled = false` does not stop it.
"""
