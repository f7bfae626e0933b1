"""What Memoranda knows of each client: where its configuration lies, what is written there, and how it says it is fine.

One module a client, and as much of it as possible data: clients change weekly. `client.py` has what they share.
"""
