"""Work that runs without a command, and views made of several parts: upkeep, embedding beside the application,
automatic checkpoints, figures, the memory as of a moment; and the doctor, which finds what is wrong with a memory or
around it, why, and how to repair it. The doctor repairs nothing, except a purge that was not finished.
"""
