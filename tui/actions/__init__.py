"""What the keys do to the memory, by group. Each takes a host (`host.ActionHost`), never a screen class."""
