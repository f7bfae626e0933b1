"""Commits, and the links between them and decisions."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from store.base.citations import SHORT_SHA_LENGTH, cite
from store.base.clock import parse_moment
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.location import checkout_root
from store.base.models import Commit, Link
from store.base.vocabulary import LINK_TYPES, PERSON_ORIGIN
from store.database.database import Database, Transaction
from store.database.values import Verbatim
from store.git.process import GitError, capture_git_output
from store.git.repository import CommitInfo, Repository
from store.projects.locating import locate
from store.records.table import RecordTable, require_one_of
from store.records.workflow import iteration_for_record
from store.text.dates import ReleaseMoments, find_release, newest_release, parse_typed_moment

# the shas next to a commit's own, in order: its shortest form must differ from both
NEIGHBOUR_SHAS = (
    "(SELECT max(sha) FROM commits AS before WHERE before.sha < c.sha),"
    " (SELECT min(sha) FROM commits AS after WHERE after.sha > c.sha)"
)
# a commit belongs to the iteration during which it was made, unless another is named
INSERT_COMMIT = """
INSERT INTO commits(id, sha, message, author, files_changed, insertions, deletions, committed_at, origin, iteration_id)
SELECT ?8, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?11, coalesce(?10, (SELECT id FROM iterations
  WHERE started_at <= ?9 AND (completed_at IS NULL OR completed_at >= ?7)
  ORDER BY origin = 'user' DESC, started_at DESC LIMIT 1))
WHERE true ON CONFLICT(sha) DO NOTHING
"""
# the first line of a commit that releases a version
_RELEASES = re.compile(
    r"(?:(?:release|bump|tag|version|prepare|preparing|to|for)\W+)*v?(\d+(?:\.\d+)+)\W*(?:\(#\d+\))?"
)
# the origin of what was read from the repository
GIT_ORIGIN = "git"
# git has no fractions of a second; an iteration's start has milliseconds
WHOLE_SECOND = ".000Z"


class Commits(RecordTable[Commit]):
    """The commits of one memory. A journal: logging one again is ignored."""

    kind, source = "commit", "commits AS c"
    columns = (
        "c.id, c.sha, c.message, c.author, c.files_changed, c.insertions, c.deletions, c.committed_at, c.iteration_id,"
        f" c.reachable, c.origin, {NEIGHBOUR_SHAS}"
    )
    absence = "There is no such commit in this memory.", ""

    @staticmethod
    def _of_row(row: tuple[Any, ...]) -> Commit:
        *columns, reachable, origin, before, after = row
        return Commit(*(*columns, bool(reachable), _shortest_prefix(row[1], before, after), origin))

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
        the iteration of its time, unless another is named. A known commit is not changed; see `link_implemented` for
        its links. Raise InvalidInput, NotFound or Conflict; nothing is logged then."""
        with self._database.write(actor, "commit") as write:
            at = parse_moment(committed_at, write.at) if committed_at else write.at
            named = None if iteration_id is None else iteration_for_record(write, iteration_id)
            info = CommitInfo(sha, message, author, at, files_changed, insertions, deletions)
            new = log_commit(write, info, named, actor)
            if decisions:
                link_implemented(write, sha, decisions)
            return new

    def get(self, number: int | str) -> Commit:
        """Return the commit of this id, or whose sha starts with this. Raise NotFound, or Conflict when several do."""
        return super().get(self.resolve(number) if isinstance(number, str) else number)

    def resolve(self, sha: str) -> int:
        """Return the id of the commit whose sha starts with this. Raise NotFound or Conflict."""
        prefix = sha.lower()
        if not prefix or set(prefix) - set("0123456789abcdef"):
            raise InvalidInput(
                "That is not the sha of a commit.", "Write at least four of its hexadecimal digits."
            )
        rows = self._database.rows(
            "SELECT id, sha FROM commits WHERE sha >= ? AND sha < ? ORDER BY sha LIMIT 3", (prefix, prefix + "g")
        )
        if not rows:
            raise NotFound(f"There is no commit {cite('commit', prefix)} here.", "Look at `memoranda timeline`.")
        # a short sha that was logged as it is must remain accessible
        if len(rows) > 1 and rows[0][1] != prefix:
            longer = ", ".join(cite("commit", full[:12]) for _, full in rows)
            raise Conflict(f"Several commits start with {prefix}.", f"Write more of it: {longer}.")
        number: int = rows[0][0]
        return number

    def book(self, number: int, iteration: int, *, actor: str = PERSON_ORIGIN) -> bool:
        """Put a commit into an iteration; return False where it is in that one already."""
        with self._database.write(actor, "commit") as write:
            write.execute(
                "UPDATE commits SET iteration_id = ?1 WHERE id = ?2 AND iteration_id IS NOT ?1",
                (iteration, number),
            )
            return bool(write.changed_rows())

    # links

    def link(self, sha: str, decision: int, link_type: str = "implements", *, actor: str = PERSON_ORIGIN) -> bool:
        """Record that a commit implements, reverts or relates to a decision; return False if that is known, and change
        nothing. Raise NotFound or InvalidInput; Conflict if they are linked with another type."""
        require_one_of("kind of link", link_type, LINK_TYPES)
        commit = self.resolve(sha)
        with self._database.write(
            actor, f"link {cite('commit', sha.lower())} {cite('decision', decision)}"
        ) as write:
            return _link_commit(write, commit, sha.lower(), decision, link_type)

    def unlink(self, sha: str, decision: int, *, actor: str = PERSON_ORIGIN) -> None:
        """Delete a link. Raise NotFound."""
        commit = self.resolve(sha)
        with self._database.write(
            actor, f"unlink {cite('commit', sha.lower())} {cite('decision', decision)}"
        ) as write:
            write.execute("DELETE FROM commit_links WHERE commit_id = ? AND decision_id = ?", (commit, decision))
            if not write.changed_rows():
                raise NotFound(f"{cite('commit', sha)} and {cite('decision', decision)} are not linked.")

    def links_of_commit(self, number: int) -> list[Link]:
        """Return the decisions that a commit belongs to."""
        return self._links("l.commit_id = ?", number)

    def links_of_decision(self, number: int) -> list[Link]:
        """Return the commits that belong to a decision, oldest first."""
        return self._links("l.decision_id = ?", number)

    def _links(self, where: str, number: int) -> list[Link]:
        rows = self._database.rows(
            f"SELECT c.sha, {NEIGHBOUR_SHAS}, l.decision_id, l.link_type"
            " FROM commit_links AS l JOIN commits AS c ON c.id = l.commit_id"
            f" WHERE {where} ORDER BY c.committed_at, c.id, l.decision_id",
            (number,),
        )
        return [
            Link(cite("commit", _shortest_prefix(sha, before, after)), cite("decision", decision), kind)
            for sha, before, after, decision, kind in rows
        ]


def _link_commit(write: Transaction, commit: int, sha: str, decision: int, link_type: str) -> bool:
    """Link a commit and a decision inside a transaction; return False if they have this link already. Raise
    NotFound, or Conflict if they are linked with another type."""
    if write.first("SELECT 1 FROM decisions WHERE id = ?", (decision,)) is None:
        raise NotFound(f"There is no decision {cite('decision', decision)}.", "See `memoranda list decisions`.")
    ends = cite("commit", sha[:SHORT_SHA_LENGTH]), cite("decision", decision)
    known = write.first(
        "SELECT link_type FROM commit_links WHERE commit_id = ? AND decision_id = ?", (commit, decision)
    )
    if known is not None and known != link_type:
        label = {"relates": "relates to"}.get(known, known)
        raise Conflict(f"{ends[0]} {label} {ends[1]} already.", f"First: memoranda link {ends[0]} {ends[1]} --off")
    if known is None:
        write.insert(
            "commit_links",
            commit_id=commit,
            decision_id=decision,
            link_type=Verbatim(link_type),
            origin=write.actor,
        )
    return known is None


def link_implemented(write: Transaction, sha: str, decisions: Sequence[int]) -> None:
    """Link a commit that is there to the decisions that it implements, inside a transaction. A link that its message
    made as a mention says so from then on, one of another type stays. Raise NotFound."""
    name = sha.strip().lower()
    number: int = write.first("SELECT id FROM commits WHERE sha = ?", (Verbatim(name),))
    write.reason = f"commit {cite('commit', name[:SHORT_SHA_LENGTH])}"
    for decision in decisions:
        linked = write.execute(
            "SELECT link_type, origin FROM commit_links WHERE commit_id = ? AND decision_id = ?",
            (number, decision),
        ).fetchone()
        if linked is None:
            _link_commit(write, number, name, decision, "implements")
        elif linked[0] == "relates" and linked[1] != PERSON_ORIGIN:
            write.execute(
                "UPDATE commit_links SET link_type = ?, origin = ? WHERE commit_id = ? AND decision_id = ?",
                (Verbatim("implements"), write.actor, number, decision),
            )


def add_commit(
    write: Transaction,
    info: CommitInfo,
    number: int | None = None,
    iteration: int | None = None,
    origin: str = GIT_ORIGIN,
) -> bool:
    """Add a commit inside a transaction, with a reserved id or the next free id, to the named iteration or the
    iteration of its time; return False if the commit exists. `origin` is who reports it. Raise InvalidInput for
    an invalid sha."""
    name, at = info.sha.strip().lower(), info.committed_at
    if not 7 <= len(name) <= 64 or set(name) - set("0123456789abcdef"):
        raise InvalidInput("That is not the sha of a commit.", "Give its hexadecimal digits, all 40 of them.")
    values = (
        Verbatim(name),
        info.message.strip(),
        info.author,
        info.files_changed,
        info.insertions,
        info.deletions,
        Verbatim(at),
        number,
        Verbatim(f"{at[:19]}.999Z" if at.endswith(WHOLE_SECOND) else at),
        iteration,
        origin,
    )
    write.execute(INSERT_COMMIT, values)
    return bool(write.changed_rows())


def log_commit(
    write: Transaction, info: CommitInfo, iteration: int | None = None, origin: str = GIT_ORIGIN
) -> bool:
    """Add a commit that is made now, on the branch that is checked out, as `add_commit`."""
    if not add_commit(write, info, iteration=iteration, origin=origin):
        return False
    write.note_checkout(
        "commit", write.first("SELECT id FROM commits WHERE sha = ?", (Verbatim(info.sha.strip().lower()),))
    )
    return True


def reserve_commit_ids(write: Transaction, count: int) -> int:
    """Reserve `count` ids, so that commits read newest first can be numbered oldest first; return the highest of them.

    Commits of the same second (a rebase makes many) are then in the timeline in the order of history.
    """
    last: int = write.first("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'commits'), 0)")
    write.execute("DELETE FROM sqlite_sequence WHERE name = 'commits'")
    write.execute("INSERT INTO sqlite_sequence(name, seq) VALUES ('commits', ?)", (last + count,))
    return last + count


def find_known_shas(database: Database, shas: Iterable[str]) -> set[str]:
    """Return which of these shas are in the memory."""
    return set(
        database.column(
            "SELECT sha FROM commits WHERE sha IN (SELECT value FROM json_each(?))", (json.dumps(list(shas)),)
        )
    )


def released_versions(database: Database) -> dict[str, str]:
    """Return each version that the first line of a commit says is released → its `committed_at`."""
    rows = database.rows("SELECT substr(message, 1, 80), committed_at FROM commits ORDER BY committed_at")
    heads = ((_RELEASES.fullmatch(message.partition("\n")[0].strip().lower()), at) for message, at in rows)
    return {match[1]: at for match, at in heads if match}


def reachable_shas(database: Database) -> set[str]:
    """Return the commits that a branch leads to, as far as is known. Not those that were logged by an abbreviated sha:
    git's own list cannot confirm them."""
    return set(database.column("SELECT sha FROM commits WHERE reachable = 1 AND length(sha) IN (40, 64)"))


def mark_read_from_git(write: Transaction, shas: Iterable[str]) -> None:
    """Record that git has these commits, whoever reported them before."""
    write.execute(
        f"UPDATE commits SET origin = '{GIT_ORIGIN}' WHERE origin <> "
        f"'{GIT_ORIGIN}' AND sha IN (SELECT value FROM json_each(?))",
        (Verbatim(json.dumps(list(shas))),),
    )


def mark_reachable(write: Transaction, shas: Iterable[str], reachable: bool) -> None:
    """Record whether a branch leads to these commits. A column of a journal: it is not recorded history."""
    write.execute(
        "UPDATE commits SET reachable = ?1 WHERE reachable <> ?1 AND sha IN (SELECT value FROM json_each(?2))",
        (int(reachable), Verbatim(json.dumps(list(shas)))),
    )


def _shortest_prefix(sha: str, before: str | None, after: str | None) -> str:
    """Return the shortest prefix of a sha that differs from its neighbours, SHORT_SHA characters or more."""
    length = SHORT_SHA_LENGTH
    for other in (before or "", after or ""):
        while length < len(sha) and other.startswith(sha[:length]):
            length += 1
    return sha[:length]


# Versions of a project and when each was released, as the tags of its git repository or the records say.

# seconds that git has for its tags; then there are none
TAG_SECONDS = 2.0


def memory_repository(database: Database) -> Repository | None:
    """Return the repository of the project whose memory it is."""
    folder = locate(database.path, {}, "").project
    root = checkout_root(folder) if folder is not None else None
    return Repository(root) if root else None


def read_releases(database: Database) -> ReleaseMoments:
    """Return the versions of the repository's tags up to now, without a leading `v`; without tags, the versions
    that commits release."""
    source = memory_repository(database)
    end, now = time.monotonic() + TAG_SECONDS, database.clock()
    try:
        tags = source.tags(lambda: time.monotonic() > end) if source is not None else {}
    except GitError:
        tags = {}
    known = {name.lower().removeprefix("v"): at for name, at in tags.items() if at <= now}
    return known or released_versions(database)


def release_moment(database: Database, name: str = "") -> str:
    """Return the timestamp of a version or a tag, of the last release without a name; empty where it is not known."""
    return find_release(name, read_releases(database)) if name else last_release_moment(database)


def read_moment(database: Database, text: str) -> str:
    """Return the moment that a person or an agent typed, in words or not (see `parse_typed_moment`), with the releases
    of this memory. Raise InvalidInput."""
    return parse_typed_moment(text, database.clock(), partial(release_moment, database))


def last_release_moment(database: Database) -> str:
    """Return the timestamp of the last release: an event of that type, the end of the last iteration that shipped one,
    or the commit of a version; empty where there is none."""
    at: str | None = database.value(
        "SELECT max(at) FROM (SELECT max(created_at) AS at FROM events WHERE event_type LIKE '%release%'"
        " UNION SELECT max(coalesce(completed_at, started_at)) FROM iterations WHERE command LIKE '%ship%'"
        " OR command LIKE '%release%' OR description LIKE '%release%')"
    )
    return max(at or "", newest_release(read_releases(database)))


# Who the person is among the authors of a repository's commits.


def own_author_name(database: Database) -> str:
    """Return the name under which the person commits to the repository that a project's memory is in, after the
    mailmap; empty where git has none."""
    source = memory_repository(database)
    if source is None:
        return ""
    # of several values of a setting the last counts
    lines = capture_git_output(source.root, "config", "--get-regexp", r"^user\.").splitlines()
    # a setting may have no value, or one of several lines
    said = dict(line.partition(" ")[::2] for line in lines)
    name, email = said.get("user.name", ""), said.get("user.email", "")
    mapped = capture_git_output(source.root, "check-mailmap", f"{name} <{email}>") if name and email else ""
    return mapped.rpartition(" <")[0] or name
