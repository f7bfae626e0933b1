"""Render a proposal in full: the request, its author and reason, its evidence, and the related facts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher

from store.base.citations import cite, parse_citation
from store.base.clock import format_how_long_ago, format_local_time
from store.base.errors import InvalidInput, MemorandaError
from store.base.models import Fact, Proposal
from store.inbox.duplicates import find_decision_matches, find_similar_facts
from store.inbox.inbox import Doubt, InboxChoice
from store.memory import Memory
from store.records.workflow import proposal_fact_ids
from tui.render.lines import (
    FACT_BADGES,
    LABEL_WIDTH,
    ORDER_WARNING,
    WARNING_SIGN,
    StyledLine,
    fact_badge,
    looks_like_order,
    writer_name,
)
from tui.theme.escape import visible

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
    state = "" if proposal.state == "waiting" else f" · {proposal.state}"
    head: StyledLine = [
        (proposal.citation, "own"),
        (f"  {proposal.kind} · from {writer_name(proposal.origin)}{state}", "dim"),
    ]
    first, *rest = proposal.text.replace("\r\n", "\n").split("\n")
    lines: list[StyledLine] = [head, [(first, "title")], *([("  " + line, "title")] for line in rest)]
    if looks_like_order(proposal):
        lines.append([(INJECTION_WARNING, "warning")])
    return lines


def describe_proposal(memory: Memory, proposal: Proposal, now: str) -> list[StyledLine]:
    """Describe a proposal with everything that is needed to decide it."""
    lines = proposal_heading(proposal)
    about = _facts_about(memory, proposal)
    cited = " ".join(fact.citation for fact in about)
    decision = proposal.change.get("decision")
    act = "record the decision" if decision else ACCEPT_EFFECTS[proposal.kind]
    if decision and (
        old := next((one.citation for one in proposal.evidence if one.citation.startswith("D#")), "")
    ):
        act, cited = "record the decision, in the place of", old
    does: StyledLine = [("Accepting".ljust(LABEL_WIDTH), "label"), (f"would {act}", "")]
    lines += [[], [*does, (f" {cited}" if cited else "", "cite")]]
    if decision:
        lines.append(_proposal_row("Chosen", str(decision["chosen"])))
        if options := decision.get("alternatives"):
            lines.append(_proposal_row("Instead of", "; ".join(map(str, options))))
        for label, name in (("Rationale", "rationale"), ("Context", "context")):
            if decision.get(name):
                lines.append(_proposal_row(label, str(decision[name])))
    if proposal.reason:
        lines.append(_proposal_row("Because", proposal.reason))
    waiting = proposal.state == "waiting" and not memory.database.moment
    if waiting:
        lines += _similar_lines(memory, proposal, about, now)
    lines += _evidence_lines(proposal, memory.inbox.doubts(proposal) if waiting else [])
    fields = [str(proposal.change[name]) for name in ("domain", "confidence", "scope") if name in proposal.change]
    fields += [f"#{tag}" for tag in proposal.change.get("tags", ())]
    lines.append([])
    if fields:
        lines.append(_proposal_row("As", ", ".join(fields)))
    lines.append(
        _proposal_row(
            "Asked",
            f"{format_local_time(proposal.created_at)} ({format_how_long_ago(now, proposal.created_at)})",
            "dim",
        )
    )
    if proposal.decided_at:
        came = f", and {cite('fact', proposal.made)} came of it" if proposal.made else ""
        lines.append(_proposal_row(proposal.state.capitalize(), f"{format_local_time(proposal.decided_at)}{came}"))
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
        if doubt.then:
            lines.append([("  then  ", "label"), (" ".join(doubt.then.split())[:400], "removed")])
        if doubt.now:
            lines.append([("  now   ", "label"), (" ".join(doubt.now.split())[:400], "added")])
    if not proposal.evidence:
        lines += [[], [("No evidence was given.", "dim")]]
    return lines


def _facts_about(memory: Memory, proposal: Proposal) -> list[Fact]:
    return memory.facts.get_many(proposal_fact_ids(proposal))


def _similar_lines(memory: Memory, proposal: Proposal, about: list[Fact], now: str) -> list[StyledLine]:
    """Return the facts that a proposal is about, and the similar facts, each with the differences."""
    lines: list[StyledLine] = []
    for fact in about:
        if fact.fact != proposal.text or len(about) > 1:
            lines += [[], *_compare_fact(fact, proposal.text, now, "")]
    likes = find_similar_facts(memory.database, memory.facts, proposal.text, [fact.id for fact in about])
    for like in likes[:SIMILAR_FACTS]:
        lines += [[], *_compare_fact(like.fact, proposal.text, now, LIKENESS_WORDS[like.how])]
    for one in (
        find_decision_matches(memory.database, proposal.text)[:SIMILAR_FACTS] if proposal.kind != "forget" else ()
    ):
        decision, how = one.decision, LIKENESS_WORDS[one.how]
        head: StyledLine = [
            (decision.citation, "cite"),
            (f"  decided {format_how_long_ago(now, decision.decided_at)}", "dim"),
        ]
        head.append((f"  {WARNING_SIGN} {how}", "warning") if one.against else (f"  {how}", "accent"))
        lines += [[], head, [("  ◆ ", "label"), (decision.title, "")]]
        lines.append([("    chosen ", "label"), (" ".join(decision.chosen.split()), "")])
    if not lines and proposal.kind == "add":
        lines = [[], [("Nothing like it is known.", "dim")]]
    return lines


def _compare_fact(fact: Fact, text: str, now: str, how: str) -> list[StyledLine]:
    """Return a fact, with the words in which a text differs from it."""
    badge = fact_badge(fact, now)
    glyph, word = FACT_BADGES[badge]
    head: StyledLine = [(fact.citation, "cite"), (f"  {glyph} {word}", f"glyph-{badge}")]
    head += [(f" {format_how_long_ago(now, fact.last_confirmed_at)}, from {writer_name(fact.origin)}", "dim")]
    if how:
        look = "warning" if how == LIKENESS_WORDS["contradicts"] else "accent"
        head.append((f"  {WARNING_SIGN + ' ' if look == 'warning' else ''}{how}", look))
    if fact.fact == text:
        return [head, [("  = ", "label"), (fact.fact, "")]]
    return [head, *word_diff(fact.fact, text)]


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


def _proposal_row(label: str, value: str, style: str = "") -> StyledLine:
    """Return a label with its value in a single line."""
    return [(label.ljust(LABEL_WIDTH), "label"), (" ".join(value.split()), style)]


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
BLOCK_PATTERN = re.compile(r"(?P<word>\w+)\s+(?P<cited>\S+)(?:\s+(?P<rest>.*))?")
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
    before = [line for line in lines[:at] if not line.startswith(MISTAKE_PREFIX)]
    after = [line for line in lines[at:] if not line.startswith(MISTAKE_PREFIX)]
    if named is None:
        return "\n".join([f"{MISTAKE_PREFIX}{message}", *after])
    place = len(before) + 3  # with the message on top, and the one above the line
    message = f"{message[: named.start(1)]}{place}{message[named.end(1) :]}"
    return "\n".join([f"{MISTAKE_PREFIX}{message}", *before, f"{MISTAKE_PREFIX}the next line.", *after])


def related_fact_lines(memory: Memory, proposal: Proposal) -> list[str]:
    """List the facts that a proposal is about, and the similar facts, a line each."""
    facts = memory.facts.get_many(proposal_fact_ids(proposal))
    beside_facts = [(fact, "it is about this") for fact in facts if fact.fact != proposal.text or len(facts) > 1]
    likes = find_similar_facts(memory.database, memory.facts, proposal.text, [fact.id for fact in facts])
    beside_facts += [
        (like.fact, f"{WARNING_SIGN if like.how == 'contradicts' else '='} {LIKENESS_WORDS[like.how]}")
        for like in likes[:SIMILAR_FACTS]
    ]
    return [f"{fact.citation} {how}: {' '.join(visible(fact.fact).split())}" for fact, how in beside_facts]


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
    return "\n".join((*head, f"wait {proposal.citation}", *_indented_text(proposal))) + "\n"


def _indented_text(proposal: Proposal) -> list[str]:
    """Return the text of a proposal in indented lines."""
    return [BATCH_INDENT + line for line in visible(proposal.text, newlines=True).split("\n")]


def parse_batch(text: str, proposals: Sequence[Proposal]) -> list[InboxChoice]:
    """Parse the edited text: a choice for each block that is not left to wait. Raises InvalidInput, which names the
    line."""
    asked = {one.id: one for one in proposals}
    choices: list[InboxChoice] = []
    seen: set[int] = set()
    blocks = _split_blocks(text)
    for line, word, number, rest, said in blocks:
        verb = next((verb for verb in BATCH_VERBS if word.lower() in (verb, verb[0])), "")
        if word.lower() in ("edit", "e"):
            verb = "accept"
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
        fact = _parse_fact(line, verb, rest)
        own = "\n".join(said).strip()
        shown = "\n".join(one.removeprefix(BATCH_INDENT) for one in _indented_text(asked[number])).strip()
        if not own and verb != "reject":
            raise InvalidInput(f"The block of line {line} has no text.", "Write one below it, or reject it.")
        touched = own.split() != shown.split()  # an editor may rewrap lines or trim spaces
        choices.append(InboxChoice(number, verb, own if touched and verb != "reject" else None, fact))
    return choices


def _split_blocks(text: str) -> list[tuple[int, str, int, str, list[str]]]:
    """Split a text into (line, first word, proposal, rest of the line, the lines of text) for each block."""
    found: list[tuple[int, str, int, str, list[str]]] = []
    for at, line in enumerate(text.splitlines(), start=1):
        if not line.strip() and found:
            found[-1][4].append("")
        if line.startswith("#") or not line.strip():
            continue
        if line[0] in " \t":
            if not found:
                raise InvalidInput(f"Line {at} belongs to no proposal.", "Leave each text below its block.")
            found[-1][4].append(line.removeprefix(BATCH_INDENT).rstrip())
            continue
        match = BLOCK_PATTERN.fullmatch(line.strip())
        number = _parse_proposal(match["cited"]) if match else None
        if match is None or number is None:
            raise InvalidInput(f"Line {at} decides nothing.", "A block begins like this: accept P#8.")
        found.append((at, match["word"], number, (match["rest"] or "").strip(), []))
    return found


def _parse_proposal(cited: str) -> int | None:
    try:
        citation = parse_citation(cited)
    except InvalidInput:
        return None
    return int(citation.target) if citation.kind == "proposal" else None


def _parse_fact(line: int, verb: str, rest: str) -> int | None:
    """Parse the fact that a block names after its proposal."""
    if verb not in ("merge", "supersede"):
        return None
    if not rest:
        raise InvalidInput(f"Line {line} does not say with which fact.", f"Write it behind: {verb} P#8 F#12.")
    try:
        citation = parse_citation(rest.split()[0], "fact")
    except InvalidInput as error:
        raise InvalidInput(f"Line {line} does not say with which fact: {error.message}", error.next) from None
    if citation.kind != "fact":
        raise InvalidInput(f"{citation} in line {line} is not a fact.", f"Write one: {verb} P#8 F#12.")
    return int(citation.target)
