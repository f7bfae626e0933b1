"""Readers of agents that keep their conversations alone."""
