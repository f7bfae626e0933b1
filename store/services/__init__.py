"""Work that runs without a command, and views made of several parts: upkeep, embedding beside the application,
automatic checkpoints, figures, the memory as of a moment."""
