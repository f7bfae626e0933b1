"""The memories of other tools as they lie in their own files: listed, searched, corrected and deleted one by one, each
change with a backup and an undo. What a tool keeps besides is not touched."""
