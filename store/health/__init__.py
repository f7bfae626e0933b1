"""The doctor: find what is wrong with a memory or around it, why, and how to repair it. Nothing is repaired here,
except a purge that was not finished.

Every check is a generator of findings, in a module of its own kind; `examine` runs them all, reads in slices, so that
no writer waits and no log grows, and continues where one of them meets damage.
"""
