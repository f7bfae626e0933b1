"""The measures of a memory as lines with small charts, for `stats`."""

from store.clock import ago
from tui.commands import count
from tui.commands.context import bar
from tui.commands.lines import cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.measures import Measures

BAR = 24  # cells of the longest bar
NAME = 16


def lines_of(found: "Measures", now: str) -> list[str]:
    """Each measure with its bar; what nothing is known of yet says so."""
    facts = sum(found.states.values())
    lines = [f"HEALTH  {count(facts, 'fact')}{_since(found.oldest, now)}"]
    lines += [_row(state, number, max(found.states.values())) for state, number in found.states.items() if facts]
    lines += ["", "TOKENS of conversations, newest first"]
    most = max((tokens for _, _, tokens in found.sessions), default=0)
    for session, turns, tokens in found.sessions:
        lines.append(f"{_row(cut(session, NAME), tokens, most)}  {count(turns, 'turn')}")
    if not found.sessions:
        lines.append("  none was told yet")
    looked, given, kept = found.answers
    each = f", {found.context_tokens:,} tokens each" if found.context_tokens is not None else ""
    took = "unknown until something is asked" if found.search_ms is None else f"{found.search_ms:.1f} ms by keywords"
    lines += [
        "",
        f"Contexts sent     {found.contexts:,}{each}",
        f"Of use            {_share(found.useful, 'unknown until an answer cites what it was sent')}",
        f"Answers at hand   {_share(given / looked if looked else None, 'none was looked for yet')}"
        + (f"  {given:,} of {looked:,}, {kept:,} kept" if looked else ""),
        f"Sessions covered  {_share(found.covered, 'no session yet')}",
        f"Search            {took}",
        f"On the disk       {', '.join(f'{name} {_bytes(size)}' for name, size in found.sizes.items())}",
    ]
    if found.queries:
        lines += ["", "ASKED last", *(f"  {cut(query, 70)}" for query in found.queries)]
    return lines


def _row(name: str, number: int, most: int) -> str:
    return f"  {name:<{NAME}}{number:>9,}  {bar(number, max(1, most), BAR)}".rstrip()


def _share(share: float | None, unknown: str) -> str:
    return unknown if share is None else f"{share:>4.0%}  {bar(round(share * 1000), 1000, BAR // 2)}"


def _since(oldest: str, now: str) -> str:
    return f", the oldest unconfirmed for {ago(now, oldest)}" if oldest else ""


def _bytes(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB" if size >= 100_000 else f"{size / 1000:.1f} kB"
