"""A report on the memories that other tools keep on this machine: what is in them and what is wrong with it. Reads
without changing a byte; needs no memory of ours, no model and no network."""
