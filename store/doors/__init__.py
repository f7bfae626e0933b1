"""How agents reach a memory: their configuration, their hooks, what a repository tells, and the server they ask.

What belongs here: one module a client, the events that clients report and what they are answered, git's hooks, files in
which other programs keep their state. What does not: what is done with a memory, which is `store/services` and below.
"""
