"""The remote that a team shares through, by git: its address, refs, fetch and push, signatures, what it refuses."""
