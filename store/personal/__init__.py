"""The person's own memory beside a project's: opened, and its global facts read and changed. What moves a fact between
the two is in `store/history`; what belongs to one memory alone is elsewhere."""
