"""What Memoranda knows of each client: where its configuration is, what is written there, and how it reports its state.

One module a client, and as much of it as possible data: clients change weekly. `client.py` has what they share.
"""
