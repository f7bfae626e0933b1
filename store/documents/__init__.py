"""Documents: Markdown files of the project, in chunks that can be found and cited by their lines.

They are the project's own `MEMORY.md` and `memory/**/*.md`, and the paths in `documents.extraPaths`. They are only
read, and written only by a purge that a person requested (`store/purge/file_eraser.py`); the index can be rebuilt from
them; reading them is no capture, so `enabled = false` does not stop it.
"""
