"""Render a proposal in full: the request, its author and reason, its evidence, and the related facts."""

from collections.abc import Iterable

from store.base.citations import cite
from store.base.clock import how_long_ago, local_time
from store.base.models import Fact, Proposal
from store.memory import Memory
from store.text.prompt_injection import suspicious
from tui.render.badges import FACT_BADGES, ORDER, WARNING, fact_badge
from tui.render.field_diff import LABEL, Line
from tui.render.line_parts import writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.inbox.evidence import Doubt

SHOWN = 4  # maximum similar facts
INJECTION = f"{ORDER}: accept it only if you would write it yourself"
# effect of accepting, by kind; keys appear as remapped by the user
DOES = {
    "add": "remember it",
    "correct": "replace",
    "supersede": "replace",
    "conflict": "use the file's text instead of",
    "confirm": "confirm: still true",
    "merge": "merge",
    "forget": "forget",
}
AGAINST = {"same": "says the same", "alike": "says nearly the same", "contradicts": "cannot hold beside it"}


def heading(proposal: Proposal) -> list[Line]:
    """Return the first lines, which need no query."""
    state = "" if proposal.state == "waiting" else f" · {proposal.state}"
    head: Line = [(proposal.citation, "own"), (f"  {proposal.kind} · from {writer(proposal.origin)}{state}", "dim")]
    first, *rest = proposal.text.replace("\r\n", "\n").split("\n")
    lines: list[Line] = [head, [(first, "title")], *([("  " + line, "title")] for line in rest)]
    if flagged(proposal):
        lines.append([(INJECTION, "warning")])
    return lines


def flagged(proposal: Proposal) -> bool:
    """Return whether a proposal looks like an instruction to agents, which is always shown with a warning."""
    return any(map(suspicious, (proposal.text, proposal.reason, *(one.quote for one in proposal.evidence))))


def describe_proposal(memory: Memory, proposal: Proposal, now: str) -> list[Line]:
    """Return everything that the decision needs."""
    lines = heading(proposal)
    about = _about(memory, proposal)
    cited = " ".join(fact.citation for fact in about)
    decision = proposal.change.get("decision")
    act = "record the decision" if decision else DOES[proposal.kind]
    if decision and (old := next((one.citation for one in proposal.evidence if one.citation.startswith("D#")), "")):
        act, cited = "record the decision, in the place of", old
    does: Line = [("Accepting".ljust(LABEL), "label"), (f"would {act}", "")]
    lines += [[], [*does, (f" {cited}" if cited else "", "cite")]]
    if decision:
        lines.append(_row("Chosen", str(decision["chosen"])))
        if options := decision.get("alternatives"):
            lines.append(_row("Instead of", "; ".join(map(str, options))))
        for label, name in (("Rationale", "rationale"), ("Context", "context")):
            if decision.get(name):
                lines.append(_row(label, str(decision[name])))
    if proposal.reason:
        lines.append(_row("Because", proposal.reason))
    waiting = proposal.state == "waiting" and not memory.database.moment
    if waiting:
        lines += _beside(memory, proposal, about, now)
    lines += _evidence(proposal, memory.inbox.doubts(proposal) if waiting else [])
    fields = [str(proposal.change[name]) for name in ("domain", "confidence", "scope") if name in proposal.change]
    fields += [f"#{tag}" for tag in proposal.change.get("tags", ())]
    lines.append([])
    if fields:
        lines.append(_row("As", ", ".join(fields)))
    lines.append(_row("Asked", f"{local_time(proposal.created_at)} ({how_long_ago(now, proposal.created_at)})", "dim"))
    if proposal.decided_at:
        came = f", and {cite('fact', proposal.made)} came of it" if proposal.made else ""
        lines.append(_row(proposal.state.capitalize(), f"{local_time(proposal.decided_at)}{came}"))
    return lines


def _evidence(proposal: Proposal, found: "Iterable[Doubt]") -> list[Line]:
    lines: list[Line] = []
    if proposal.evidence:
        lines += [[], [("Evidence", "heading")]]
    for one in proposal.evidence:
        quote = " ".join(one.quote.split())
        lines.append([(one.citation, "cite"), (f"  «{quote}»" if quote else "", "")])
    for doubt in found:
        lines += [[], [(f"{WARNING} {doubt.says}", "warning")]]
        if doubt.then:
            lines.append([("  then  ", "label"), (" ".join(doubt.then.split())[:400], "removed")])
        if doubt.now:
            lines.append([("  now   ", "label"), (" ".join(doubt.now.split())[:400], "added")])
    if not proposal.evidence:
        lines += [[], [("No evidence was given.", "dim")]]
    return lines


def _about(memory: Memory, proposal: Proposal) -> list[Fact]:
    from store.records.proposals import about

    return memory.facts.many(about(proposal))


def _beside(memory: Memory, proposal: Proposal, about: list[Fact], now: str) -> list[Line]:
    """Return the facts that it is about, and the similar ones, each with the differences."""
    from store.inbox.decision_conflicts import find_matches
    from store.inbox.duplicates import alike

    lines: list[Line] = []
    for fact in about:
        if fact.fact != proposal.text or len(about) > 1:
            lines += [[], *_compared(fact, proposal.text, now, "")]
    likes = alike(memory.database, memory.facts, proposal.text, [fact.id for fact in about])
    for like in likes[:SHOWN]:
        lines += [[], *_compared(like.fact, proposal.text, now, AGAINST[like.how])]
    for one in find_matches(memory.database, proposal.text)[:SHOWN] if proposal.kind != "forget" else ():
        decision, how = one.decision, AGAINST[one.how]
        head: Line = [(decision.citation, "cite"), (f"  decided {how_long_ago(now, decision.decided_at)}", "dim")]
        head.append((f"  {WARNING} {how}", "warning") if one.against else (f"  {how}", "accent"))
        lines += [[], head, [("  ◆ ", "label"), (decision.title, "")]]
        lines.append([("    chosen ", "label"), (" ".join(decision.chosen.split()), "")])
    if not lines and proposal.kind == "add":
        lines = [[], [("Nothing like it is known.", "dim")]]
    return lines


def _compared(fact: Fact, text: str, now: str, how: str) -> list[Line]:
    badge = fact_badge(fact, now)
    glyph, word = FACT_BADGES[badge]
    head: Line = [(fact.citation, "cite"), (f"  {glyph} {word}", f"glyph-{badge}")]
    head += [(f" {how_long_ago(now, fact.last_confirmed_at)}, from {writer(fact.origin)}", "dim")]
    if how:
        look = "warning" if how == AGAINST["contradicts"] else "accent"
        head.append((f"  {WARNING + ' ' if look == 'warning' else ''}{how}", look))
    if fact.fact == text:
        return [head, [("  = ", "label"), (fact.fact, "")]]
    return [head, *word_diff(fact.fact, text)]


def word_diff(old: str, new: str) -> list[Line]:
    """Return two texts, one below the other, with the differing words highlighted."""
    from difflib import SequenceMatcher

    before, after = old.split(), new.split()
    first: Line = [("  − ", "label")]
    second: Line = [("  + ", "label")]
    for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        same = tag == "equal"
        if before[i:j]:
            first.append((" ".join(before[i:j]) + " ", "dim" if same else "removed"))
        if after[k:m]:
            second.append((" ".join(after[k:m]) + " ", "dim" if same else "added"))
    return [first, second]


def _row(label: str, value: str, style: str = "") -> Line:
    return [(label.ljust(LABEL), "label"), (" ".join(value.split()), style)]
