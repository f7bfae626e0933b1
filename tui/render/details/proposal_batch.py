"""Write many proposals as one text to edit, a block each, like git's list of commits to rebase; and parse the
result."""

import re
from collections.abc import Callable, Sequence

from store.base.errors import InvalidInput, MemorandaError
from store.base.models import Proposal
from store.inbox.inbox import InboxChoice
from store.memory import Memory
from tui.render.badges import ORDER, WARNING
from tui.render.details.proposal_detail import AGAINST, SHOWN, flagged
from tui.render.line_parts import writer
from tui.theme.escape import visible

MOST = 200  # maximum proposals in one text
HEADER = """\
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
VERBS = ("accept", "reject", "merge", "supersede", "wait")
BLOCK = re.compile(r"(?P<word>\w+)\s+(?P<cited>\S+)(?:\s+(?P<rest>.*))?")
INDENT = "    "
SLIP = f"# {WARNING} Not yet: "
LINE = re.compile(r"\b[Ll]ine (\d+)")


def written(proposals: Sequence[Proposal], beside: Callable[[Proposal], Sequence[str]] = lambda one: ()) -> str:
    """Return the text to edit, with nothing decided yet. `beside` gives the related facts of each proposal."""
    return HEADER + "".join(f"\n{_block(one, beside(one))}" for one in proposals)


def again(text: str, error: MemorandaError) -> str:
    """Return a text with an error message on top, and at the line that it names; without those of before."""
    message = " ".join(visible(str(error)).split())
    named = LINE.search(message)
    at = int(named[1]) - 1 if named else 0
    lines = text.split("\n")
    before = [line for line in lines[:at] if not line.startswith(SLIP)]
    after = [line for line in lines[at:] if not line.startswith(SLIP)]
    if named is None:
        return "\n".join([f"{SLIP}{message}", *after])
    place = len(before) + 3  # with the message on top, and the one above the line
    message = f"{message[: named.start(1)]}{place}{message[named.end(1) :]}"
    return "\n".join([f"{SLIP}{message}", *before, f"{SLIP}the next line.", *after])


def beside(memory: Memory, proposal: Proposal) -> list[str]:
    """List the facts that a proposal is about, and the similar ones, a line each."""
    from store.inbox.duplicates import alike
    from store.records.proposals import about

    facts = memory.facts.many(about(proposal))
    beside_facts = [(fact, "it is about this") for fact in facts if fact.fact != proposal.text or len(facts) > 1]
    likes = alike(memory.database, memory.facts, proposal.text, [fact.id for fact in facts])
    beside_facts += [
        (like.fact, f"{WARNING if like.how == 'contradicts' else '='} {AGAINST[like.how]}") for like in likes[:SHOWN]
    ]
    return [f"{fact.citation} {how}: {' '.join(visible(fact.fact).split())}" for fact, how in beside_facts]


def _block(proposal: Proposal, beside: Sequence[str]) -> str:
    about = " ".join(filter(None, (f"F#{proposal.target}" if proposal.target else "", *proposal.others)))
    head = [f"# {proposal.kind}{f' {about}' if about else ''}, from {visible(writer(proposal.origin))}"]
    if proposal.reason:
        head.append(f"# {visible(proposal.reason)}")
    if flagged(proposal):
        head.append(f"# {ORDER}")
    head += [f"# {line}" for line in beside]
    head += [f"# {one.citation} «{visible(one.quote)}»" for one in proposal.evidence if one.quote]
    return "\n".join((*head, f"wait {proposal.citation}", *_shown(proposal))) + "\n"


def _shown(proposal: Proposal) -> list[str]:
    return [INDENT + line for line in visible(proposal.text, newlines=True).split("\n")]


def read(text: str, proposals: Sequence[Proposal]) -> list[InboxChoice]:
    """Parse the edited text: a choice for each block that is not left to wait. Raises InvalidInput, which names the
    line."""
    asked = {one.id: one for one in proposals}
    choices: list[InboxChoice] = []
    seen: set[int] = set()
    blocks = _blocks(text)
    for line, word, number, rest, said in blocks:
        verb = next((verb for verb in VERBS if word.lower() in (verb, verb[0])), "")
        if word.lower() in ("edit", "e"):
            verb = "accept"
        if not verb:
            raise InvalidInput(f"Line {line} begins with no word that decides.", f"Use one of: {', '.join(VERBS)}.")
        if number not in asked or number in seen:
            why = "was decided above already" if number in seen else "is none of those in this text"
            raise InvalidInput(f"P#{number} in line {line} {why}.", "Leave each block in its place.")
        seen.add(number)
        if verb == "wait":
            continue
        fact = _fact(line, verb, rest)
        own = "\n".join(said).strip()
        shown = "\n".join(one.removeprefix(INDENT) for one in _shown(asked[number])).strip()
        if not own and verb != "reject":
            raise InvalidInput(f"The block of line {line} has no text.", "Write one below it, or reject it.")
        touched = own.split() != shown.split()  # an editor may rewrap lines or trim spaces
        choices.append(InboxChoice(number, verb, own if touched and verb != "reject" else None, fact))
    return choices


def _blocks(text: str) -> list[tuple[int, str, int, str, list[str]]]:
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
            found[-1][4].append(line.removeprefix(INDENT).rstrip())
            continue
        match = BLOCK.fullmatch(line.strip())
        number = _proposal(match["cited"]) if match else None
        if match is None or number is None:
            raise InvalidInput(f"Line {at} decides nothing.", "A block begins like this: accept P#8.")
        found.append((at, match["word"], number, (match["rest"] or "").strip(), []))
    return found


def _proposal(cited: str) -> int | None:
    from store.base.citations import parse

    try:
        citation = parse(cited)
    except InvalidInput:
        return None
    return int(citation.target) if citation.kind == "proposal" else None


def _fact(line: int, verb: str, rest: str) -> int | None:
    """Parse the fact that a block names after its proposal."""
    from store.base.citations import parse

    if verb not in ("merge", "supersede"):
        return None
    if not rest:
        raise InvalidInput(f"Line {line} does not say with which fact.", f"Write it behind: {verb} P#8 F#12.")
    try:
        citation = parse(rest.split()[0], "fact")
    except InvalidInput as error:
        raise InvalidInput(f"Line {line} does not say with which fact: {error.message}", error.next) from None
    if citation.kind != "fact":
        raise InvalidInput(f"{citation} in line {line} is not a fact.", f"Write one: {verb} P#8 F#12.")
    return int(citation.target)
