"""The actions behind keys, one module a group. Each takes a host (`support.ActionHost`), never a screen class."""
