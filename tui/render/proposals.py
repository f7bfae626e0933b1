"""Render a proposal in full: the request, its author and reason, its evidence, and the related facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher

from store.base.citations import cite, parse_citation
from store.base.clock import format_how_long_ago, format_local_time
from store.base.errors import InvalidInput, MemorandaError
from store.base.models import Fact, Proposal
from store.inbox.duplicates import DecisionMatch, find_decision_matches, find_similar_facts
from store.inbox.inbox import Doubt, InboxChoice
from store.memory import Memory
from store.records.workflow import proposal_fact_ids
from store.text.display import visible
from tui.render.lines import (
    FACT_BADGES,
    ORDER_WARNING,
    WARNING_SIGN,
    StyledLine,
    fact_badge,
    format_when,
    heading_of_record,
    indent_text,
    label_row,
    looks_like_order,
    writer_name,
)

SIMILAR_FACTS = 4  # maximum similar facts
INJECTION_WARNING = f"{ORDER_WARNING}: accept it only if you would write it yourself"
# effect of accepting, by kind; keys appear as remapped by the user
ACCEPT_EFFECTS = {
    "add": "remember it",
    "correct": "replace",
    "supersede": "replace",
    "conflict": "use the file's text instead of",
    "confirm": "confirm: still true",
    "merge": "merge",
    "forget": "forget",
}
LIKENESS_WORDS = {"same": "says the same", "alike": "says nearly the same", "contradicts": "cannot hold beside it"}


def proposal_heading(proposal: Proposal) -> list[StyledLine]:
    """Return the first lines of a proposal, which need no query."""
    state = "" if proposal.state == "waiting" else proposal.state
    head = heading_of_record(proposal.kind, proposal, f"from {writer_name(proposal.origin)}", state)
    warning: list[StyledLine] = [[(INJECTION_WARNING, "warning")]] if looks_like_order(proposal) else []
    return [head, *indent_text(proposal.text, "title"), *warning]


def describe_proposal(memory: Memory, proposal: Proposal, now: str) -> list[StyledLine]:
    """Describe a proposal with everything that is needed to decide it."""
    cited = " ".join(fact.citation for fact in memory.facts.get_many(proposal_fact_ids(proposal)))
    decision = proposal.change.get("decision")
    act = ACCEPT_EFFECTS[proposal.kind]
    if decision:
        act = "record the decision"
        if old := [one.citation for one in proposal.evidence if one.citation.startswith("D#")]:
            act, cited = f"{act}, in the place of", old[0]
    does = [*label_row("Accepting", f"would {act}"), (f" {cited}" if cited else "", "cite")]
    rows = [("Because", proposal.reason)]
    if decision:
        options = "; ".join(map(str, decision.get("alternatives") or ()))
        why, context = decision.get("rationale"), decision.get("context")
        chosen = [
            ("Chosen", decision["chosen"]),
            ("Instead of", options),
            ("Rationale", why),
            ("Context", context),
        ]
        rows = [*chosen, *rows]
    lines = [*proposal_heading(proposal), [], does, *(_one_line_row(*row) for row in rows if row[1])]
    waiting = proposal.state == "waiting" and not memory.database.moment
    if waiting:
        lines += _similar_lines(memory, proposal, now)
    lines += _evidence_lines(proposal, memory.inbox.doubts(proposal) if waiting else [])
    fields = [str(proposal.change[name]) for name in ("domain", "confidence", "scope") if name in proposal.change]
    fields += [f"#{tag}" for tag in proposal.change.get("tags", ())]
    lines.append([])
    if fields:
        lines.append(_one_line_row("As", ", ".join(fields)))
    lines.append(label_row("Asked", format_when(proposal.created_at, now), "dim"))
    if proposal.decided_at:
        came = f", and {cite('fact', proposal.made)} came of it" if proposal.made else ""
        lines.append(label_row(proposal.state.capitalize(), f"{format_local_time(proposal.decided_at)}{came}"))
    return lines


def _evidence_lines(proposal: Proposal, found: Iterable[Doubt]) -> list[StyledLine]:
    """Return the evidence of a proposal, and what is doubtful about it."""
    lines: list[StyledLine] = []
    if proposal.evidence:
        lines += [[], [("Evidence", "heading")]]
    for one in proposal.evidence:
        quote = " ".join(one.quote.split())
        lines.append([(one.citation, "cite"), (f"  «{quote}»" if quote else "", "")])
    for doubt in found:
        lines += [[], [(f"{WARNING_SIGN} {doubt.says}", "warning")]]
        for label, said, look in (("  then  ", doubt.then, "removed"), ("  now   ", doubt.now, "added")):
            lines += [[(label, "label"), (" ".join(said.split())[:400], look)]] if said else []
    if not proposal.evidence:
        lines += [[], [("No evidence was given.", "dim")]]
    return lines


def _facts_beside(memory: Memory, proposal: Proposal) -> list[tuple[Fact, str]]:
    """Return the facts that a proposal is about, and the similar facts, each with how it is like the proposal."""
    about = memory.facts.get_many(proposal_fact_ids(proposal))
    likes = find_similar_facts(memory.database, memory.facts, proposal.text, [fact.id for fact in about])
    others = [(fact, "") for fact in about if fact.fact != proposal.text or len(about) > 1]
    return [*others, *((like.fact, like.how) for like in likes[:SIMILAR_FACTS])]


def _similar_lines(memory: Memory, proposal: Proposal, now: str) -> list[StyledLine]:
    """Return the facts that a proposal is about, and the similar facts, each with the differences; then decisions."""
    lines: list[StyledLine] = []
    for fact, how in _facts_beside(memory, proposal):
        badge = fact_badge(fact, now)
        glyph, word = FACT_BADGES[badge]
        by = f" {format_how_long_ago(now, fact.last_confirmed_at)}, from {writer_name(fact.origin)}"
        state: StyledLine = [(f"  {glyph} {word}", f"glyph-{badge}"), (by, "dim")]
        lines += [[], [(fact.citation, "cite"), *state, *_likeness(how)]]
        same: list[StyledLine] = [[("  = ", "label"), (fact.fact, "")]]
        lines += same if fact.fact == proposal.text else word_diff(fact.fact, proposal.text)
    for one in decisions_beside(memory, proposal)[:SIMILAR_FACTS]:
        decision = one.decision
        decided = (f"  decided {format_how_long_ago(now, decision.decided_at)}", "dim")
        lines += [[], [(decision.citation, "cite"), decided, *_likeness(one.how)]]
        lines += [[("  ◆ ", "label"), (decision.title, "")]]
        lines += [[("    chosen ", "label"), (" ".join(decision.chosen.split()), "")]]
    if not lines and proposal.kind == "add":
        lines = [[], [("Nothing like it is known.", "dim")]]
    return lines


def decisions_beside(memory: Memory, proposal: Proposal) -> list[DecisionMatch]:
    """Return the decisions that a proposal contradicts or repeats."""
    return find_decision_matches(memory.database, proposal.text) if proposal.kind != "forget" else []


def _likeness(how: str) -> StyledLine:
    """Return how a record is like a proposal; nothing where it is what the proposal is about."""
    if how == "contradicts":
        return [(f"  {WARNING_SIGN} {LIKENESS_WORDS[how]}", "warning")]
    return [(f"  {LIKENESS_WORDS[how]}", "accent")] if how else []


def word_diff(old: str, new: str) -> list[StyledLine]:
    """Return two texts, one below the other, with the differing words highlighted."""
    before, after = old.split(), new.split()
    first: StyledLine = [("  − ", "label")]
    second: StyledLine = [("  + ", "label")]
    for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        same = tag == "equal"
        if before[i:j]:
            first.append((" ".join(before[i:j]) + " ", "dim" if same else "removed"))
        if after[k:m]:
            second.append((" ".join(after[k:m]) + " ", "dim" if same else "added"))
    return [first, second]


def _one_line_row(label: str, value: object) -> StyledLine:
    """Return a label with its value in a single line."""
    return label_row(label, " ".join(str(value).split()))


# Write many proposals as one text to edit, a block each, like git's list of commits to rebase; and parse the
# result.

MOST_IN_BATCH = 200  # maximum proposals in one text
BATCH_HEADER = """\
# The first word of each block decides; what stands below it, indented, is the text.
#
#   wait       leave it in the inbox (a block that is deleted waits too)
#   accept     do what is proposed; with another text below, in your words
#   reject     say no; it is not asked again
#   merge      it says what a fact says:          merge P#8 F#12
#   supersede  it takes the place of a fact:      supersede P#8 F#12
#
# One letter is enough: a, r, m, s, w. Lines that begin with # are left out. All of it is one step, which one undo
# takes back.
"""
BATCH_VERBS = ("accept", "reject", "merge", "supersede", "wait")
BATCH_WORDS = {word: verb for verb in BATCH_VERBS for word in (verb, verb[0])} | {"edit": "accept", "e": "accept"}
BLOCK_PATTERN = re.compile(r"(\w+)\s+\[?P#(\d{1,18})\]?(?:\s+(.*))?", re.IGNORECASE)
BATCH_INDENT = "    "
MISTAKE_PREFIX = f"# {WARNING_SIGN} Not yet: "
LINE_PATTERN = re.compile(r"\b[Ll]ine (\d+)")


def write_batch(
    proposals: Sequence[Proposal], beside: Callable[[Proposal], Sequence[str]] = lambda one: ()
) -> str:
    """Return the text to edit, with nothing decided yet. `beside` gives the related facts of each proposal."""
    return BATCH_HEADER + "".join(f"\n{_proposal_block(one, beside(one))}" for one in proposals)


def add_mistake(text: str, error: MemorandaError) -> str:
    """Return a text with an error message at its top, and at the line that the message names; without earlier
    messages."""
    message = " ".join(visible(str(error)).split())
    named = LINE_PATTERN.search(message)
    at = int(named[1]) - 1 if named else 0
    lines = text.split("\n")
    before, after = (
        [line for line in part if not line.startswith(MISTAKE_PREFIX)] for part in (lines[:at], lines[at:])
    )
    if named is not None:
        # with the message on top, and the one above the line
        place = len(before) + 3
        message = f"{message[: named.start(1)]}{place}{message[named.end(1) :]}"
        before.append(f"{MISTAKE_PREFIX}the next line.")
    return "\n".join([f"{MISTAKE_PREFIX}{message}", *before, *after])


def related_fact_lines(memory: Memory, proposal: Proposal) -> list[str]:
    """List the facts that a proposal is about, and the similar facts, a line each."""
    lines = []
    for fact, how in _facts_beside(memory, proposal):
        sign = WARNING_SIGN if how == "contradicts" else "="
        says = f"{sign} {LIKENESS_WORDS[how]}" if how else "it is about this"
        lines.append(f"{fact.citation} {says}: {' '.join(visible(fact.fact).split())}")
    return lines


def _proposal_block(proposal: Proposal, beside: Sequence[str]) -> str:
    """Return the block of a proposal, with comments about it."""
    about = " ".join(filter(None, (f"F#{proposal.target}" if proposal.target else "", *proposal.others)))
    head = [f"# {proposal.kind}{f' {about}' if about else ''}, from {visible(writer_name(proposal.origin))}"]
    if proposal.reason:
        head.append(f"# {visible(proposal.reason)}")
    if looks_like_order(proposal):
        head.append(f"# {ORDER_WARNING}")
    head += [f"# {line}" for line in beside]
    head += [f"# {one.citation} «{visible(one.quote)}»" for one in proposal.evidence if one.quote]
    text = [BATCH_INDENT + line for line in visible(proposal.text, newlines=True).split("\n")]
    return "\n".join((*head, f"wait {proposal.citation}", *text)) + "\n"


def parse_batch(text: str, proposals: Sequence[Proposal]) -> list[InboxChoice]:
    """Parse the edited text: a choice for each block that is not left to wait. Raises InvalidInput, which names the
    line."""
    asked = {one.id: one for one in proposals}
    choices: list[InboxChoice] = []
    seen: set[int] = set()
    for line, word, number, rest, said in _split_blocks(text):
        verb = BATCH_WORDS.get(word.lower())
        if not verb:
            raise InvalidInput(
                f"Line {line} begins with no word that decides.", f"Use one of: {', '.join(BATCH_VERBS)}."
            )
        if number not in asked or number in seen:
            why = "was decided above already" if number in seen else "is none of those in this text"
            raise InvalidInput(f"P#{number} in line {line} {why}.", "Leave each block in its place.")
        seen.add(number)
        if verb == "wait":
            continue
        fact = _parse_fact(line, verb, rest) if verb in ("merge", "supersede") else None
        own = "\n".join(said).strip()
        if not own and verb != "reject":
            raise InvalidInput(f"The block of line {line} has no text.", "Write one below it, or reject it.")
        # an editor may rewrap lines or trim spaces
        touched = verb != "reject" and own.split() != visible(asked[number].text, newlines=True).split()
        choices.append(InboxChoice(number, verb, own if touched else None, fact))
    return choices


def _split_blocks(text: str) -> list[tuple[int, str, int, str, list[str]]]:
    """Split a text into (line, first word, proposal, rest of the line, the lines of text) for each block."""
    found: list[tuple[int, str, int, str, list[str]]] = []
    for at, line in enumerate(text.splitlines(), start=1):
        if line.startswith("#"):
            continue
        if not line.strip() or line[0] in " \t":
            if found:
                found[-1][4].append(line.removeprefix(BATCH_INDENT).rstrip())
            elif line.strip():
                raise InvalidInput(f"Line {at} belongs to no proposal.", "Leave each text below its block.")
            continue
        match = BLOCK_PATTERN.fullmatch(line.strip())
        if match is None:
            raise InvalidInput(f"Line {at} decides nothing.", "A block begins like this: accept P#8.")
        word, number, rest = match.groups("")
        found.append((at, word, int(number), rest.strip(), []))
    return found


def _parse_fact(line: int, verb: str, rest: str) -> int:
    """Parse the fact that a block names after its proposal."""
    if not rest:
        raise InvalidInput(f"Line {line} does not say with which fact.", f"Write it behind: {verb} P#8 F#12.")
    try:
        citation = parse_citation(rest.split()[0], "fact")
    except InvalidInput as error:
        raise InvalidInput(f"Line {line} does not say with which fact: {error.message}", error.next) from None
    if citation.kind != "fact":
        raise InvalidInput(f"{citation} in line {line} is not a fact.", f"Write one: {verb} P#8 F#12.")
    return int(citation.target)
