"""The actions behind keys, one module a group. Each takes a host (`host.ActionHost`), never a screen class."""
