"""Find the decisions that a commit's message names, and link them.

A `Decision:` trailer states the purpose of the commit; `D#12` in the text means at least that the two are related. In a
trailer `D12@3c7vjyhh2avx` names a decision that is shared by its writer, and means the same on every machine. A
decision recorded after the commit was read is not linked to it: `memoranda link` does that by hand.
"""

from collections.abc import Collection, Iterable, Sequence

from store.base.citations import cite, find
from store.database.database import Transaction
from store.database.values import Verbatim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.git.repository import CommitInfo

IMPORTER = "import:git"  # the origin of what is read from git's history
NAMED = 3  # links that the reason of a step lists one by one

_TRAILER = r"(?i)decision[ \t]*:[ \t]*(.*)"
# what may be between a verb and its decisions, and between them: "implements [D#1], D#2 and D#3"
_JOINT = r"(?i)(?:[ \t]|\n(?![ \t]*\n)|\[|\(|\]|\)|,|&|\+|:|\b(?:and|the|decisions?)\b)*"
_VERB = r"(?i)(?:(?P<implements>\bimplement(?:s|ing)?)|(?P<reverts>\b(?:revert(?:s|ing)?|undoes)))\b"
_DENIED = r"(?i)(?:\b(?:not|never|longer|cannot|without)|n't)\s+\Z"
_BEFORE = 200  # characters that are searched for those words
_SHARED = r"(?<![\w#@])D[1-9][0-9]{0,11}@[a-z2-7]{12}(?![\w@])"
_LONGEST = 20_000  # characters of a message that are read from its start, and for trailers from its end


def mentioned(message: str, titles: dict[str, list[int]], numbers: bool = True) -> dict[int, str]:
    """Return decision → kind of link, for every decision that a message names; `titles` are those of active decisions,
    as `folded` returns them. An explicit statement (a trailer, a verb) precedes a mere mention, and the first precedes
    the second. Without `numbers` only a trailer with a title counts. The caller checks that the decisions exist."""
    message = message.replace("\r\n", "\n").strip("\n")
    found: dict[int, str] = {}
    for value in _trailers(message[-_LONGEST:]):
        cited = [citation.target for _, _, citation in find(value) if citation.kind == "decision" and numbers]
        for number in titles.get(folded(value)) or cited:
            found.setdefault(int(number), "implements")
    if not numbers:
        return found
    message = message[:_LONGEST]
    related: list[int] = []
    reverted = _reverted_subject(message)
    last, verb = 0, ""
    for start, end, citation in find(message):
        if citation.kind != "decision":
            continue
        verb = _verb(message[max(last, start - _BEFORE) : start], verb) if start >= len(reverted) else "reverts"
        last = end
        if verb:
            found.setdefault(int(citation.target), verb)
        else:
            related.append(int(citation.target))
    for number in related:
        found.setdefault(number, "relates")
    return found


def link(write: Transaction, commits: "Sequence[CommitInfo]", made_here: "Collection[str]") -> int:
    """Link commits that were just added to the decisions their messages name, in the same transaction; return how many
    links.

    A number counts only in a commit that was `made_here`, by its sha: in one from elsewhere `D#12` is of another
    memory.

    Each commit is read only once, so a link that a person deleted is not made again. A number without a decision is
    skipped for good.
    """
    titles: dict[str, list[int]] = {}
    if any("decision" in info.message.lower() for info in commits):
        for number, title in write.rows("SELECT id, title FROM decisions WHERE status = 'active'"):
            titles.setdefault(folded(title), []).append(number)
    return add_links(
        write,
        [
            (info.sha, decision, kind)
            for info in commits
            for decision, kind in mentioned(info.message, titles, numbers=info.sha in made_here).items()
        ],
    )


def add_links(write: Transaction, links: "Iterable[tuple[str, int, str]]") -> int:
    """Add links (sha, decision, kind) of which commit and decision are there; return how many were new."""
    made = []
    for sha, decision, kind in links:
        write.execute(
            "INSERT INTO commit_links(commit_id, decision_id, link_type, origin)"
            " SELECT c.id, d.id, ?, ? FROM commits AS c, decisions AS d WHERE c.sha = ? AND d.id = ?"
            " ON CONFLICT DO NOTHING",
            (Verbatim(kind), Verbatim(IMPORTER), Verbatim(sha), decision),
        )
        if write.database.connection.changes():
            made.append(f"link {cite('commit', sha)} {cite('decision', decision)}")
    if made:
        write.reason = ", ".join(made) if len(made) <= NAMED else f"link {len(made)} commits and decisions"
    return len(made)


def shared(message: str) -> list[str]:
    """Return the shared decisions that the trailers of a message name by their writer."""
    import re

    message = message.replace("\r\n", "\n").strip("\n")[-_LONGEST:]
    return [found for value in _trailers(message) for found in re.findall(_SHARED, value)]


def folded(text: str) -> str:
    """Return a title in the form for comparison: spaces folded, without case."""
    return " ".join(text.split()).casefold()


def _trailers(message: str) -> list[str]:
    """Return the values of the `Decision:` lines in the last paragraph; the first paragraph is the subject, never
    trailers."""
    import re

    paragraphs = re.split(r"\n(?:[ \t]*\n)+", message)
    if len(paragraphs) == 1:
        return []
    lines: list[str] = []
    for line in paragraphs[-1].split("\n"):
        if line[:1] in (" ", "\t") and lines:
            lines[-1] += " " + line.strip()  # a long value continues, indented
        else:
            lines.append(line)
    return [match[1].strip() for line in lines if (match := re.fullmatch(_TRAILER, line))]


def _reverted_subject(message: str) -> str:
    """Return the subject of a commit that `git revert` made: it quotes the other's words, which now mean their
    opposite. Not that of the revert of a revert, which restores their meaning."""
    import re

    subject = message.partition("\n")[0]
    return subject if re.match(r'Revert "(?!Revert "|Reapply ")', subject) else ""


def _verb(before: str, inherited: str) -> str:
    """Return the kind of link that the words before a decision state, or that of the decision before it in the same
    list."""
    import re

    if re.fullmatch(_JOINT, before):
        return inherited
    for match in re.finditer(_VERB, before):
        if re.fullmatch(_JOINT, before[match.end() :]) and not re.search(_DENIED, before[: match.start()]):
            return "implements" if match["implements"] else "reverts"
    return ""
