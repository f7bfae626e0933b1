"""The tools that write. Facts from an agent wait for a person; decisions and commits are logged at once, and marked as
the agent's until a person confirms them."""

import os
import re
from typing import Any

from store.base.citations import cite, parse
from store.base.errors import Conflict, InvalidInput, NotFound, Unsupported
from store.base.vocabulary import PERSON
from store.config.configuration import captures
from store.context.acceptance import BELIEVE
from store.database.erasure.tombstones import normal
from store.doors import commit_record
from store.doors.mcp.answers import ToolAnswer
from store.doors.mcp.caller import Caller
from store.doors.trust import BELIEVE_QUOTED, HOOK, OFF, policy
from store.git.process import GitError
from store.git.process import run as git
from store.memory import Memory
from store.text.clauses import statements
from store.text.similarity.contradiction import taken_apart

SHORTEST = 3  # words of a quote that may be believed
WAITS = "It waits for the person's yes: do not count on it."


def may_write(memory: Memory, caller: Caller) -> None:
    """Raise Unsupported where the person lets this client read alone."""
    if policy(memory.config, caller.client) == OFF:
        raise Unsupported(
            f"The person lets {caller.client} read this memory, not write.",
            f"They can change it: memoranda config trust.mcp.{caller.client} propose",
        )


def remember(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """memory_remember: a proposal; a fact where the person trusts quotes of this client and this one is true."""
    quote, turn = given.get("quote", ""), given.get("turn", "")
    quoted_turn = _said(memory, quote, turn) if quote.strip() else None
    change = {"fact": given["text"]}
    change |= {name: given[name] for name in ("domain", "confidence", "tags") if name in given}
    note = ""
    if policy(memory.config, caller.client) == BELIEVE_QUOTED:
        if quoted_turn is not None:
            return _believed(memory, caller, given, quoted_turn)
        note = " The quote stands in no turn of the person that a hook recorded." if quote else ""
    evidence = [{"citation": cite("turn", quoted_turn), "quote": quote}] if quoted_turn is not None else []
    reason = "" if quoted_turn is not None or not quote else f"quotes “{quote[:300]}”, which stands in no turn of yours"
    number = memory.inbox.propose("add", change, evidence=evidence, origin=caller.origin, reason=reason)
    return _proposed(memory, number, note)


def _said(memory: Memory, quote: str, turn: str) -> int | None:
    """Return the turn in which the person said a quote, word for word, by what a hook recorded; None if there is
    none."""
    words = _words(quote)
    if len(words.split()) < SHORTEST:
        return None
    number = 0
    if turn:
        citation = parse(turn, "turn")
        if citation.kind != "turn":
            raise InvalidInput("turn is the citation of a turn.", "Write it as T#9, or leave it out.")
        number = int(citation.target)
    rows = memory.database.rows(
        "SELECT id, text FROM turns WHERE role = ?1 AND origin LIKE ?2 AND (?3 = 0 OR id = ?3) ORDER BY id DESC"
        " LIMIT 500",
        (PERSON, f"{HOOK}%", number),
    )
    return next((found for found, text in rows if f" {words} " in f" {_words(text)} "), None)


def _words(text: str) -> str:
    """Return a text's words as they stand, with what parts them made one space."""
    return " ".join(re.findall(r"[^\s.,;:!?¡¿\"“”«»()\[\]]+", text)).lower()


def _believed(memory: Memory, caller: Caller, given: dict[str, Any], quoted_turn: int) -> ToolAnswer:
    from store.learning.candidate_filter import decided

    source, words = memory.turns.get(quoted_turn), _words(given["text"])
    negations = taken_apart(given["text"]).negations
    stated = [one for one in statements(source.text) if f" {words} " in f" {_words(one)} "]
    if not any(taken_apart(one).negations == negations and decided(one) for one in stated):
        raise Conflict("The fact says more than the words that are quoted.", "Quote the person's words as the fact.")
    number, new = memory.facts.remember(
        given["text"],
        actor=caller.origin,
        domain=given.get("domain", "general"),
        confidence=given.get("confidence", "high"),
        tags=given.get("tags", ()),
        evidence=[source.citation],
        verb=BELIEVE,
    )
    cited = cite("fact", number)
    state = "active" if new else "confirmed"
    text = f"{cited} is {state}: the person said so in {source.citation}."
    return ToolAnswer({"citation": cited, "waiting": False, "status": state}, text, (), (cited,))


def _proposed(memory: Memory, number: int, note: str = "") -> ToolAnswer:
    found = memory.inbox.get(number)
    waiting = found.state == "waiting"
    outcome = WAITS if waiting else f"It was {found.state} before, and is not asked again."
    data = {"citation": found.citation, "waiting": waiting, "kind": found.kind, "state": found.state}
    return ToolAnswer(
        data, f"{found.citation} ({found.kind}). {outcome}{note}", (), (found.citation,) if waiting else ()
    )


def confirm(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """memory_confirm: a proposal that a fact still holds."""
    citation = parse(given["id"], "fact")
    if citation.kind == "global":
        raise InvalidInput("The person alone confirms a global fact.", f"Ask them: memoranda confirm {citation}.")
    if citation.kind != "fact":
        raise InvalidInput("Only facts are confirmed so.", "Name one: F#12.")
    number = memory.inbox.propose("confirm", {}, target=int(citation.target), origin=caller.origin)
    return _proposed(memory, number)


def log_decision(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """memory_log_decision. The same again, while it holds, is the decision that is there."""
    if not captures(memory.config, "decisions"):
        raise Unsupported("The person turned off that agents log decisions.", "memoranda config capture_decisions true")
    title, chosen = given["title"], given["chosen"]
    known = next(
        (
            one
            for one in memory.decisions.many(memory.decisions.ids(limit=200))
            if (normal(one.title), normal(one.chosen)) == (normal(title), normal(chosen))
        ),
        None,
    )
    number = known.id if known else memory.decisions.decide(title, chosen, actor=caller.origin, **_about(given))
    made = memory.decisions.get(number)
    joined = cite("iteration", made.iteration_id) if made.iteration_id else None
    cited = made.citation
    note = f"{cited} was logged before." if known else f"Logged {cited}{f' in {joined}' if joined else ''}."
    mine = "" if made.origin == PERSON or made.confirmed_at else " It counts as yours until the person confirms it."
    data = {"citation": cited, "decision_id": number, "iteration": joined, "duplicate": known is not None}
    return ToolAnswer(data, note + mine, (), () if known else (cited,))


def _about(given: dict[str, Any]) -> dict[str, Any]:
    names = ("context", "alternatives", "rationale", "impact", "phase")
    return {name: given[name] for name in names if name in given}


def log_commit(memory: Memory, caller: Caller, given: dict[str, Any]) -> ToolAnswer:
    """memory_log_commit. What git has of it is kept as git tells it, with the decisions that its message names, if it
    was made here. The same sha again is no error: what is linked besides is added."""
    from store.services import maintenance  # a server that logs no commit loads none of it

    if not captures(memory.config, "commits"):
        raise Unsupported("The person turned off that agents log commits.", "memoranda config capture_commits true")
    numbers = list(dict.fromkeys(given.get("decision_ids", ())))
    known = {one.id for one in memory.decisions.many(numbers)}
    if missing := [number for number in numbers if number not in known]:
        raise NotFound(f"There is no decision {cite('decision', missing[0])}.", "Find it with memory_search.")
    source = maintenance.repository(memory, os.getcwd())
    root = source.root if source else ""
    sha = _whole(memory, root, given["sha"].strip().lower())
    by, iteration = caller.origin, given.get("iteration_id")
    new = bool(root) and commit_record.record(memory, root, sha, by, numbers, iteration)
    new = new or memory.commits.log(
        sha, message=given.get("message", ""), decisions=numbers, iteration_id=iteration, actor=by
    )
    found = memory.commits.get(sha)
    links = [link.decision for link in memory.commits.links_of_commit(found.id)]
    note = f"Logged [{found.citation}]." if new else f"[{found.citation}] was known; nothing else changed."
    if numbers or (new and links):
        note = f"{note.rstrip('.').partition(';')[0]}, linked to {', '.join(links)}."
    data = {"citation": found.citation, "duplicate": not new, "linked": links}
    return ToolAnswer(data, note, (), (found.citation,) if new or numbers else ())


def _whole(memory: Memory, root: str, sha: str) -> str:
    """Return the whole hash of the commit that begins with `sha`, as `git commit` prints it, by git or else by the
    memory; as it is where neither knows one, and one alone."""
    if not re.fullmatch("[0-9a-f]{7,39}", sha):
        return sha
    try:
        if root:
            with git(root, "rev-parse", "--verify", "--quiet", f"{sha}^{{commit}}") as child:
                if found := child.words(lambda: False, accepted=(0, 1)):
                    return str(found[0])
    except GitError:
        pass  # several begin so, or git cannot be run
    try:
        return memory.commits.get(sha).sha
    except (NotFound, Conflict):
        return sha
