"""Commits, and the links between them and decisions."""

import re
from collections.abc import Iterable, Sequence

from store.base.citations import SHORT_SHA, cite
from store.base.clock import parse_moment
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.vocabulary import LINK_TYPES, PERSON
from store.database.database import Database, Transaction
from store.database.values import Verbatim
from store.records.timeline.iterations import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from store.base.models import Commit, Link

# the shas next to a commit's own, in order: its shortest form must differ from both
NEIGHBOURS = (
    "(SELECT max(sha) FROM commits AS before WHERE before.sha < c.sha),"
    " (SELECT min(sha) FROM commits AS after WHERE after.sha > c.sha)"
)
COLUMNS = (
    "c.id, c.sha, c.message, c.author, c.files_changed, c.insertions, c.deletions, c.committed_at, c.iteration_id,"
    f" c.reachable, c.origin, {NEIGHBOURS}"
)
# a commit belongs to the iteration during which it was made, unless another is named
INSERT = """
INSERT INTO commits(id, sha, message, author, files_changed, insertions, deletions, committed_at, origin, iteration_id)
SELECT ?8, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?11, coalesce(?10, (SELECT id FROM iterations
  WHERE started_at <= ?9 AND (completed_at IS NULL OR completed_at >= ?7) ORDER BY started_at DESC LIMIT 1))
WHERE true ON CONFLICT(sha) DO NOTHING
"""
# the first line of a commit that releases a version
_RELEASES = re.compile(
    r"(?:(?:release|bump|tag|version|prepare|preparing|to|for)\W+)*v?(\d+(?:\.\d+)+)\W*(?:\(#\d+\))?"
)
GIT = "git"  # the origin of what was read from the repository
WHOLE_SECOND = ".000Z"  # git has no fractions of a second; an iteration's start has milliseconds


class Commits:
    """The commits of one memory. A journal: logging one again is ignored."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def log(
        self,
        sha: str,
        *,
        message: str = "",
        author: str = "",
        files_changed: int = 0,
        insertions: int = 0,
        deletions: int = 0,
        committed_at: str | None = None,
        decisions: Sequence[int] = (),
        iteration_id: int | None = None,
        actor: str = "agent",
    ) -> bool:
        """Log one commit, and that it implements these `decisions`; return whether the commit was new. It belongs to
        the iteration of its time, unless another is named. A known commit is not changed; see `implement` for its
        links. Raise InvalidInput, NotFound or Conflict; nothing is logged then."""
        with self._database.write(actor, "commit") as write:
            at = parse_moment(committed_at, write.at) if committed_at else write.at
            named = None if iteration_id is None else joined(write, iteration_id)
            new = add(
                write, sha, message, author, files_changed, insertions, deletions, at, iteration=named, origin=actor
            )
            if decisions:
                implement(write, sha, decisions)
            return new

    def get(self, sha: str) -> "Commit":
        """Return the commit whose sha starts with this. Raise NotFound, or Conflict when several do."""
        return self.by_id(self.resolve(sha))

    def by_id(self, number: int) -> "Commit":
        found = self.many([number])
        if not found:
            raise NotFound("There is no such commit in this memory.")
        return found[0]

    def many(self, numbers: Sequence[int]) -> "list[Commit]":
        """Return the commits of these ids that exist, in this order."""
        import json

        rows = self._database.rows(
            f"SELECT {COLUMNS} FROM commits AS c WHERE c.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(numbers)),),
        )
        by_id = {row[0]: _commit(row) for row in rows}
        return [by_id[number] for number in numbers if number in by_id]

    def resolve(self, sha: str) -> int:
        """Return the id of the commit whose sha starts with this. Raise NotFound or Conflict."""
        prefix = sha.lower()
        if not prefix or set(prefix) - set("0123456789abcdef"):
            raise InvalidInput("That is not the sha of a commit.", "Write at least four of its hexadecimal digits.")
        rows = self._database.rows(
            "SELECT id, sha FROM commits WHERE sha >= ? AND sha < ? ORDER BY sha LIMIT 3", (prefix, prefix + "g")
        )
        if not rows:
            raise NotFound(f"There is no commit {cite('commit', prefix)} here.", "Look at `memoranda timeline`.")
        if len(rows) > 1 and rows[0][1] != prefix:  # a short sha that was logged as it is must remain accessible
            longer = ", ".join(cite("commit", full[:12]) for _, full in rows)
            raise Conflict(f"Several commits start with {prefix}.", f"Write more of it: {longer}.")
        number: int = rows[0][0]
        return number

    # links

    def link(self, sha: str, decision: int, link_type: str = "implements", *, actor: str = PERSON) -> bool:
        """Record that a commit implements, reverts or relates to a decision; return False if that is known, and change
        nothing. Raise NotFound or InvalidInput; Conflict if they are linked with another type."""
        if link_type not in LINK_TYPES:
            raise InvalidInput("There is no such kind of link.", f"Choose one of: {', '.join(LINK_TYPES)}.")
        commit = self.resolve(sha)
        with self._database.write(actor, f"link {cite('commit', sha.lower())} {cite('decision', decision)}") as write:
            return _link(write, commit, sha.lower(), decision, link_type)

    def unlink(self, sha: str, decision: int, *, actor: str = PERSON) -> None:
        """Delete a link. Raise NotFound."""
        commit = self.resolve(sha)
        with self._database.write(actor, f"unlink {cite('commit', sha.lower())} {cite('decision', decision)}") as write:
            write.execute("DELETE FROM commit_links WHERE commit_id = ? AND decision_id = ?", (commit, decision))
            if not self._database.connection.changes():
                raise NotFound(f"{cite('commit', sha)} and {cite('decision', decision)} are not linked.")

    def links_of_commit(self, number: int) -> "list[Link]":
        """Return the decisions that a commit belongs to."""
        return self._links("l.commit_id = ?", number)

    def links_of_decision(self, number: int) -> "list[Link]":
        """Return the commits that belong to a decision, oldest first."""
        return self._links("l.decision_id = ?", number)

    def _links(self, where: str, number: int) -> "list[Link]":
        from store.base.models import Link

        rows = self._database.rows(
            f"SELECT c.sha, {NEIGHBOURS}, l.decision_id, l.link_type"
            " FROM commit_links AS l JOIN commits AS c ON c.id = l.commit_id"
            f" WHERE {where} ORDER BY c.committed_at, c.id, l.decision_id",
            (number,),
        )
        return [
            Link(cite("commit", _short(sha, before, after)), cite("decision", decision), kind)
            for sha, before, after, decision, kind in rows
        ]


def _link(write: Transaction, commit: int, sha: str, decision: int, link_type: str) -> bool:
    """Link a commit and a decision inside a transaction; return False if they have this link already."""
    if write.execute("SELECT 1 FROM decisions WHERE id = ?", (decision,)).get is None:
        raise NotFound(f"There is no decision {cite('decision', decision)}.", "See `memoranda decisions`.")
    ends = cite("commit", sha[:SHORT_SHA]), cite("decision", decision)
    known = write.execute(
        "SELECT link_type FROM commit_links WHERE commit_id = ? AND decision_id = ?", (commit, decision)
    ).get
    if known is not None and known != link_type:
        label = {"relates": "relates to"}.get(known, known)
        raise Conflict(f"{ends[0]} {label} {ends[1]} already.", f"First: memoranda unlink {ends[0]} {ends[1]}")
    if known is None:
        write.insert(
            "commit_links", commit_id=commit, decision_id=decision, link_type=Verbatim(link_type), origin=write.actor
        )
    return known is None


def implement(write: Transaction, sha: str, decisions: Sequence[int]) -> None:
    """Link a commit that is there to the decisions that it implements, inside a transaction. A link that its message
    made as a mention says so from then on, one of another type stays. Raise NotFound."""
    name = sha.strip().lower()
    number: int = write.execute("SELECT id FROM commits WHERE sha = ?", (Verbatim(name),)).get
    write.reason = f"commit {cite('commit', name[:SHORT_SHA])}"
    for decision in decisions:
        linked = write.execute(
            "SELECT link_type, origin FROM commit_links WHERE commit_id = ? AND decision_id = ?", (number, decision)
        ).fetchone()
        if linked is None:
            _link(write, number, name, decision, "implements")
        elif linked[0] == "relates" and linked[1] != PERSON:
            write.execute(
                "UPDATE commit_links SET link_type = ?, origin = ? WHERE commit_id = ? AND decision_id = ?",
                (Verbatim("implements"), write.actor, number, decision),
            )


def add(
    write: Transaction,
    sha: str,
    message: str,
    author: str,
    files_changed: int,
    insertions: int,
    deletions: int,
    committed_at: str,
    number: int | None = None,
    iteration: int | None = None,
    origin: str = GIT,
) -> bool:
    """Add one commit inside a transaction, with a reserved id or the next one, to the iteration of its time or the one
    named; return False if it exists. `origin` is who reports it. Raise InvalidInput for an invalid sha."""
    name = sha.strip().lower()
    if not 7 <= len(name) <= 64 or set(name) - set("0123456789abcdef"):
        raise InvalidInput("That is not the sha of a commit.", "Give its hexadecimal digits, all 40 of them.")
    values = (
        Verbatim(name),
        message.strip(),
        author,
        files_changed,
        insertions,
        deletions,
        Verbatim(committed_at),
        number,
        Verbatim(f"{committed_at[:19]}.999Z" if committed_at.endswith(WHOLE_SECOND) else committed_at),
        iteration,
        origin,
    )
    write.execute(INSERT, values)
    return bool(write.database.connection.changes())


def reserve(write: Transaction, count: int) -> int:
    """Reserve `count` ids, so that commits read newest first can be numbered oldest first; return the highest of them.

    Commits of the same second (a rebase makes many) are then in the timeline in the order of history.
    """
    last: int = write.execute("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'commits'), 0)").get
    write.execute("DELETE FROM sqlite_sequence WHERE name = 'commits'")
    write.execute("INSERT INTO sqlite_sequence(name, seq) VALUES ('commits', ?)", (last + count,))
    return last + count


def known(database: Database, shas: Iterable[str]) -> set[str]:
    """Return which of these shas are in the memory."""
    import json

    found = database.rows(
        "SELECT sha FROM commits WHERE sha IN (SELECT value FROM json_each(?))", (json.dumps(list(shas)),)
    )
    return {sha for (sha,) in found}


def released(database: Database) -> dict[str, str]:
    """Return each version that the first line of a commit says is released → its `committed_at`."""
    rows = database.rows("SELECT substr(message, 1, 80), committed_at FROM commits ORDER BY committed_at")
    heads = ((_RELEASES.fullmatch(message.partition("\n")[0].strip().lower()), at) for message, at in rows)
    return {match[1]: at for match, at in heads if match}


def reachable(database: Database) -> set[str]:
    """Return the commits that a branch leads to, as far as is known. Not those that were logged by an abbreviated sha:
    git's own list cannot confirm them."""
    rows = database.rows("SELECT sha FROM commits WHERE reachable = 1 AND length(sha) IN (40, 64)")
    return {sha for (sha,) in rows}


def read_from_git(write: Transaction, shas: Iterable[str]) -> None:
    """Record that git has these commits, whoever reported them before."""
    import json

    write.execute(
        f"UPDATE commits SET origin = '{GIT}' WHERE origin <> '{GIT}' AND sha IN (SELECT value FROM json_each(?))",
        (Verbatim(json.dumps(list(shas))),),
    )


def mark(write: Transaction, shas: Iterable[str], reachable: bool) -> None:
    """Record whether a branch leads to these commits. A column of a journal: it is not recorded history."""
    import json

    write.execute(
        "UPDATE commits SET reachable = ?1 WHERE reachable <> ?1 AND sha IN (SELECT value FROM json_each(?2))",
        (int(reachable), Verbatim(json.dumps(list(shas)))),
    )


def _commit(row: "tuple[Any, ...]") -> "Commit":
    from store.base.models import Commit

    *columns, reachable, origin, before, after = row
    return Commit(*(*columns, bool(reachable), _short(row[1], before, after), origin))


def _short(sha: str, before: str | None, after: str | None) -> str:
    """Return the shortest prefix of a sha that differs from its neighbours, SHORT_SHA characters or more."""
    length = SHORT_SHA
    for other in (before or "", after or ""):
        while length < len(sha) and other.startswith(sha[:length]):
            length += 1
    return sha[:length]
