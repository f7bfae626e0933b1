"""The agent's room: what is learned from conversations. Each task is one module with a result type and a heuristic that
gives it; a model that gives the same type takes the heuristic's place, and falls back on it."""
