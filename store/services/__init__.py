"""Work that no person asks for in so many words, and views made of several parts: upkeep, embedding beside the
application, automatic checkpoints, figures, the memory as of a moment."""
