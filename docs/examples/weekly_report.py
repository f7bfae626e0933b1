"""Print the week's decisions and facts, and accept what waits from one agent: weekly_report.py MEMORY"""

import sys

from store import Memory

with Memory.open(sys.argv[1]) as memory:
    for record in [*memory.decisions(since="7d"), *memory.facts(since="7d")]:
        print(f"{record.created:%a %d %b}  {record.citation}  {record.text}")
    for proposal in memory.proposals(source="mcp:codex"):
        print("accepted:", memory.answer(proposal, "accept").text)
    print(len(memory.proposals()), "left in the inbox;", len(memory.facts(state="stale")), "facts are stale")
