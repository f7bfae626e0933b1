"""Other tools' memories, read only: one module for each tool, which finds and reads what that tool keeps. What is done
with it does not belong here (store/upkeep/source_import.py, store/scan)."""
