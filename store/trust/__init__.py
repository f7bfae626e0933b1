"""Decide whether a memory is ours: made or adopted by this installation, which keeps, outside of every checkout and by
place, the identity in the file, and a step of its history.

- A file in its place is ours if it contains that identity and that step: an older state of it that is put back is not.
- One that was moved is recognised by its inode, if its old place is empty.
- A copy is recognised by its original, if both are equal page by page. Any other copy, wherever it comes from, is
  somebody else's until the person decides otherwise; so is what git tracks, since whoever can push can write it.
"""
