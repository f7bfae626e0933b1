"""What an agent's session gets and leaves: the pack, recall, injections, calls, recovery. Not how it is connected."""
