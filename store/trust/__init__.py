"""Whose a memory is. It is ours if this installation made or adopted it: outside of every checkout it keeps, by place,
the identity that the file holds, and a step of its history.

- A file in its place is ours if it holds that identity and that step: an older state of it that comes back is not.
- One that was moved is told by its inode, where nothing is left in its old place.
- A copy is told by its original: it says the same, page by page. One that says anything else, wherever it comes from,
  is somebody else's until the person says so; so is what git tracks, for whoever can push can write it.
"""
