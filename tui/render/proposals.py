"""What is known beside a proposal; and many proposals as one text to edit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from store.base.citations import parse_citation
from store.base.errors import InvalidInput, MemorandaError
from store.base.models import Fact, Proposal
from store.inbox.duplicates import DecisionMatch, find_decision_matches, find_similar_facts
from store.inbox.inbox import InboxChoice
from store.memory import Memory
from store.records.workflow import proposal_fact_ids
from store.text.display import visible
from tui.render.lines import (
    ORDER_WARNING,
    WARNING_SIGN,
    looks_like_order,
    writer_name,
)

# maximum similar facts
SIMILAR_FACTS = 4
LIKENESS_WORDS = {"same": "says the same", "alike": "says nearly the same", "contradicts": "cannot hold beside it"}


def facts_beside(memory: Memory, proposal: Proposal) -> list[tuple[Fact, str]]:
    """Return the facts that a proposal is about, and the similar facts, each with how it is like the proposal."""
    about = memory.facts.get_many(proposal_fact_ids(proposal))
    likes = find_similar_facts(memory.database, memory.facts, proposal.text, [fact.id for fact in about])
    others = [(fact, "") for fact in about if fact.fact != proposal.text or len(about) > 1]
    return [*others, *((like.fact, like.how) for like in likes[:SIMILAR_FACTS])]


def decisions_beside(memory: Memory, proposal: Proposal) -> list[DecisionMatch]:
    """Return the decisions that a proposal contradicts or repeats."""
    return find_decision_matches(memory.database, proposal.text) if proposal.kind != "forget" else []


# Write many proposals as one text to edit, a block each, like git's list of commits to rebase; and parse the
# result.

# maximum proposals in one text
MOST_IN_BATCH = 200
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
    for fact, how in facts_beside(memory, proposal):
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
