"""The doctor: what is wrong with a memory or around it, why, and what mends it. Nothing is mended here, but for a
purge that was not finished.

Every check is a generator of findings, in a module of its own kind; `examine` walks through them all, reads in slices,
so that no writer waits and no log grows, and goes on where one of them meets damage.
"""
