"""Verbs on the installation: settings, health, model, agents and how they connect."""
