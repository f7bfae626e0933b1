"""Connecting a client: its configuration, git's hooks, the plugin, and the check of both. Nothing of a session."""
