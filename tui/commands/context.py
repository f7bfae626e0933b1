"""The command context: what an agent is sent."""

from __future__ import annotations

from typing import Annotated

from store.context.selection import ANSWER_TOKENS, ContextPart
from store.learning.tasks import context_ranker
from store.text.display import shorten
from tui.commands.call import Call, Outcome
from tui.input.arguments import Shown, verb
from tui.render.lines import FACT_BADGES, WARNING_SIGN, fact_badge

PART_NAMES = {"static": "fixed text", "own": "your text", "log": "today", "window": "last turns"}
"""Names of parts of a context as a person reads them, where they are others than in `--json`."""
# cells of a bar for the whole budget
BAR_CELLS = 24
BAR_EIGHTHS: tuple[str, ...] = ("", *"▏▎▍▌▋▊▉")


@verb(reads=True, looks=True)
def context(call: Call, query: list[str] = [], *, session: Annotated[str, Shown("S")] = "") -> Outcome:
    """What an agent would be sent for a question: what it costs, and why each fact is in or out.

    query: the question (the last one that was asked)
    session: an agent's session (the newest)
    """
    memory = call.memory
    with context_ranker(memory) as rank:
        built = memory.context(" ".join(query), session, rank=rank)
    opened = [key for key, _ in built.record_tokens()]
    asked = f"“{shorten(built.question, 60)}”" if built.question else "no question"
    whose = f", session {shorten(built.session, 40)}" if built.session else ""
    lines = [f"{built.tokens:,} of {built.limit:,} tokens for {asked}{whose}; {ANSWER_TOKENS} are the answer's"]
    lines += [f"! {built.warning}"] if built.warning else []
    lines.append("")
    for part in built.parts:
        left = f"  {left_out_words(part)}" if part.left_out else ""
        cost = built.costs[part.name]
        lines.append(
            f"{part_name(part.name):<10} {cost:>5,}  {draw_bar(cost, built.limit, BAR_CELLS)}{left}".rstrip()
        )
    lines.append("")
    lines += [f"Ordered by {built.ranked_by}."] if built.ranked_by != "rules" else []
    for one in built.considered:
        glyph, _ = FACT_BADGES[fact_badge(one.fact, memory.now)]
        where = "in " if one.included else "out"
        warned = f"{WARNING_SIGN} " if one.is_suspicious else ""
        lines.append(
            f"{where}  {glyph} {one.record.citation:<6}  {warned}{shorten(one.fact.fact, 60)}  {shorten(one.why, 90)}"
        )
    if not built.considered:
        lines.append("No fact is near this question, and none is pinned.")
    for part in built.parts:
        cited = part.flagged if part.name != "facts" else ()
        lines += [f"{WARNING_SIGN} {one} looks like an instruction to agents" for one in dict.fromkeys(cited)]
    lines += [*built.notes, "", "As it is sent:", "", *built.text.split("\n")]
    return Outcome(lines=lines, data=built.as_dict, after=lambda: memory.search.log.count_opened(opened))


def part_name(part: str) -> str:
    """Return the name of a context's part as a person reads it."""
    return PART_NAMES.get(part, part)


def left_out_words(part: ContextPart) -> str:
    """Return what of a context's part had no room."""
    return "its middle had no room" if part.name == "question" else f"{part.left_out:,} had no room"


def draw_bar(tokens: int, limit: int, width: int) -> str:
    """Draw the used share of a token limit as a bar, to an eighth of a cell; at least an eighth if it is not zero."""
    eighths = max(int(tokens > 0), round(8 * width * tokens / limit))
    return "█" * (eighths // 8) + BAR_EIGHTHS[eighths % 8]
