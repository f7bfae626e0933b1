"""What clients report of a session, event by event, and what each report is answered.

`process.py` is all of `memoranda hook`: it is started for every event, so nothing is imported that the event does not
need. It ends with 0 and prints what its client can read, or nothing, whatever happens.
"""
