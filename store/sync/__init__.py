"""Files that say what the memory says, two ways: `MEMORY.md`, and `CLAUDE.md`, `AGENTS.md` or `GEMINI.md` if asked.

Here is what reads and writes their section, and merges both sides. Not here: what an index or a search reads of files
(`store/documents`), and the memories of other tools (`store/tools`).
"""
