"""context, mute, unmute."""

from store.base.citations import parse
from store.base.errors import InvalidInput
from tui.commands import Outcome, Session
from tui.commands.records.facts import EVERYWHERE, all_global
from tui.render.plurals import cited, count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.context.budget import Part as ContextPart
    from store.context.result import Context
    from tui.input.argument_parser import ParsedArguments

NAMES = {"static": "fixed text", "own": "your text", "log": "today", "window": "last turns"}
"""Names of parts of a context as a person reads them, where they are others than in `--json`."""
BAR = 24  # cells of a bar for the whole budget
EIGHTHS: tuple[str, ...] = ("", *"▏▎▍▌▋▊▉")


def show(session: Session, given: "ParsedArguments") -> Outcome:
    from store.learning.summarizers import before_a_context

    with before_a_context(session.memory) as rank:
        built = session.memory.context(" ".join(given.query), given.session, rank=rank)
    opened = [key for key, _ in built.records()]
    return Outcome(
        lines=_lines(built, session.memory.now),
        data=lambda: as_json(built),
        after=lambda: session.memory.search.accesses.add(opened),
    )


def mute(session: Session, given: "ParsedArguments") -> Outcome:
    if shared := all_global(given.ids):
        session.memory.globals.mute(shared)
        return Outcome(f"Muted {cited('global', shared)}{EVERYWHERE}", lambda: _global_facts(session, shared))
    ids, keys = _named(given.ids)
    if keys:
        session.memory.mutes.mute_keys(keys)
        return Outcome(
            f"Muted {count(len(keys), 'record')}: agents are not sent them.", lambda: _records(session, keys)
        )
    session.memory.mutes.mute(ids)
    return Outcome(f"Muted {cited('fact', ids)}: not sent to agents.", lambda: _facts(session, ids))


def unmute(session: Session, given: "ParsedArguments") -> Outcome:
    if shared := all_global(given.ids):
        session.memory.globals.mute(shared, False)
        return Outcome(f"Unmuted {cited('global', shared)}{EVERYWHERE}", lambda: _global_facts(session, shared))
    ids, keys = _named(given.ids)
    if keys:
        session.memory.mutes.unmute_keys(keys)
        return Outcome(f"Unmuted {count(len(keys), 'record')}.", lambda: _records(session, keys))
    session.memory.mutes.unmute(ids)
    return Outcome(f"Unmuted {cited('fact', ids)}.", lambda: _facts(session, ids))


def _global_facts(session: Session, ids: list[int]) -> list[dict[str, object]]:
    from store.base.models import as_json

    return [as_json(fact) for fact in session.memory.globals.many(ids)]


def _named(texts: list[str]) -> tuple[list[int], list[int]]:
    """Return the numbers of the facts if only facts are named, else the keys of all records. Raises InvalidInput."""
    from store.base.record_keys import pack as pack_key
    from store.records.mutes import KINDS as MUTED_KINDS

    named = list(dict.fromkeys(parse(text, "fact") for text in texts))
    for one in named:
        if one.kind not in MUTED_KINDS:
            raise InvalidInput(f"{one} cannot be muted.", "Facts, decisions, tasks and summaries can be.")
    if all(one.kind == "fact" for one in named):
        return [int(one.target) for one in named], []
    return [], [pack_key(one.kind, int(one.target)) for one in named]


def _records(session: Session, keys: list[int]) -> list[dict[str, object]]:
    from store.base.models import as_json
    from store.search import lookup

    found = lookup.by_key(session.memory.database, keys)
    return [as_json(found[key]) for key in keys if key in found]


def _facts(session: Session, ids: list[int]) -> list[dict[str, object]]:
    from store.base.models import as_json

    return [as_json(fact) for fact in session.memory.facts.many(ids)]


def as_json(built: "Context") -> dict[str, object]:
    """Return a context as `--json` prints it."""
    from store.base.models import as_json

    return {
        "question": built.question,
        "session": built.session,
        "tokens": built.tokens,
        "limit": built.limit,
        "warning": built.warning,
        "ranked_by": built.ranked_by,
        "parts": [
            {
                "name": part.name,
                "tokens": part.tokens,
                "records": [piece.citation for piece in part.pieces],
                "flagged": [piece.citation or piece.start.strip(" :") for piece in part.pieces if piece.flagged],
                "left_out": part.left_out,
                "text": part.text,
            }
            for part in built.parts
        ],
        "facts": [
            {
                **as_json(one.record),
                "included": one.included,
                "flagged": one.flagged,
                "reason": one.word,
                "why": one.why,
                "similarity": one.similarity,
                "tokens": one.tokens,
            }
            for one in built.considered
        ],
        "notes": list(built.notes),
        "milliseconds": round(built.milliseconds, 3),
        "text": built.text,
    }


def _lines(built: "Context", now: str) -> list[str]:
    """Format the cost, the selected facts with reasons, and the full text as it is sent."""
    from store.context.budget import ANSWER
    from tui.commands.record_lines import cut
    from tui.render.badges import FACT_BADGES, WARNING, fact_badge

    asked = f"“{cut(built.question, 60)}”" if built.question else "no question"
    session = f", session {cut(built.session, 40)}" if built.session else ""
    lines = [f"{built.tokens:,} of {built.limit:,} tokens for {asked}{session}; {ANSWER} are the answer's"]
    lines += [f"! {built.warning}"] if built.warning else []
    lines.append("")
    for part in built.parts:
        left = f"  {no_room(part)}" if part.left_out else ""
        cost = built.costs[part.name]
        lines.append(f"{named(part.name):<10} {cost:>5,}  {bar(cost, built.limit, BAR)}{left}".rstrip())
    lines.append("")
    lines += [f"Ordered by {built.ranked_by}."] if built.ranked_by != "rules" else []
    for one in built.considered:
        glyph, _ = FACT_BADGES[fact_badge(one.fact, now)]
        where = "in " if one.included else "out"
        warned = f"{WARNING} " if one.flagged else ""
        lines.append(f"{where}  {glyph} {one.record.citation:<6}  {warned}{cut(one.fact.fact, 60)}  {cut(one.why, 90)}")
    if not built.considered:
        lines.append("No fact is near this question, and none is pinned.")
    for part in built.parts:
        cited = [
            piece.citation or piece.start.strip(" :") for piece in part.pieces if piece.flagged and part.name != "facts"
        ]
        lines += [f"{WARNING} {one} looks like an instruction to agents" for one in dict.fromkeys(cited)]
    return [*lines, *built.notes, "", "As it is sent:", "", *built.text.split("\n")]


def named(part: str) -> str:
    """Return the name of a part as a person reads it."""
    return NAMES.get(part, part)


def no_room(part: "ContextPart") -> str:
    """Say what of a part had no room."""
    return "its middle had no room" if part.name == "question" else f"{part.left_out:,} had no room"


def bar(tokens: int, limit: int, width: int) -> str:
    """Draw the used share of a token limit as a bar, to an eighth of a cell; at least an eighth if it is not zero."""
    eighths = max(int(tokens > 0), round(8 * width * tokens / limit))
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8]
