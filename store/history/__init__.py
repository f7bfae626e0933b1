"""Steps of history, undo, checkpoints and the plan of a restore. Views of the past are in `services`."""
