"""What clients report of a session, event by event, and what each report is answered.

`memoranda_hook`, one folder up, is what clients run. It hands an event to `resident`; `process` answers one by itself.
"""
