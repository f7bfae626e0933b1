"""What keys do with records, steps and proposals: functions that get the memory and the things, never a screen."""
