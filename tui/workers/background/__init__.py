"""The workers that run without being asked. Not those that answer a person."""
