"""Decisions: what was chosen, instead of what, and why."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from store.base.citations import cite, find_citations
from store.base.errors import Conflict, InvalidInput
from store.base.models import Decision
from store.base.vocabulary import DECISION_STATUSES, EVIDENCE_STATES, IMPACTS, PERSON_ORIGIN
from store.database.database import Transaction
from store.database.files import run_with_reserve
from store.database.tombstones import decision_text, refuse_purged
from store.database.values import Json, Verbatim
from store.git.repository import CommitInfo
from store.records.table import RecordTable, cite_all, require_one_of
from store.records.workflow import iteration_for_record

# Find the decisions that a commit's message names, and link them.
#
# A `Decision:` trailer states the purpose of the commit; `D#12` in the text means at least that the two are related.
# In a trailer `D12@3c7vjyhh2avx` names a decision that is shared by its writer, and means the same on every machine.
# A decision recorded after the commit was read is not linked to it: `memoranda link` does that by hand.

# the origin of what is read from git's history
GIT_IMPORTER = "import:git"
# links that the reason of a step lists one by one
MOST_LISTED_LINKS = 3

_TRAILER = r"(?i)decision[ \t]*:[ \t]*(.*)"
# what may be between a verb and its decisions, and between them: "implements [D#1], D#2 and D#3"
_JOINT = r"(?i)(?:[ \t]|\n(?![ \t]*\n)|\[|\(|\]|\)|,|&|\+|:|\b(?:and|the|decisions?)\b)*"
_LINK_VERB = r"(?i)(?:(?P<implements>\bimplement(?:s|ing)?)|(?P<reverts>\b(?:revert(?:s|ing)?|undoes)))\b"
_DENIED = r"(?i)(?:\b(?:not|never|longer|cannot|without)|n't)\s+\Z"
# characters that are searched for those words
_VERB_REACH = 200
_SHARED_CITATION = r"(?<![\w#@])D[1-9][0-9]{0,11}@[a-z2-7]{12}(?![\w@])"
# characters of a message that are read from its start, and for trailers from its end
_MOST_CHARACTERS = 20_000


def find_mentioned_decisions(message: str, titles: dict[str, list[int]], numbers: bool = True) -> dict[int, str]:
    """Return decision → kind of link, for every decision that a message names. `titles` maps the titles of active
    decisions, folded by `fold_title`, to their ids. An explicit statement (a trailer, a verb) precedes a mere
    mention, and the first precedes the second. Without `numbers` only a trailer with a title counts. The caller
    checks that the decisions exist."""
    message = message.replace("\r\n", "\n").strip("\n")
    found: dict[int, str] = {}
    for value in _decision_trailers(message[-_MOST_CHARACTERS:]):
        cited = [
            citation.target for _, _, citation in find_citations(value) if citation.kind == "decision" and numbers
        ]
        for number in titles.get(fold_title(value)) or cited:
            found.setdefault(int(number), "implements")
    if not numbers:
        return found
    message = message[:_MOST_CHARACTERS]
    related: list[int] = []
    reverted = _reverted_subject(message)
    last, verb = 0, ""
    for start, end, citation in find_citations(message):
        if citation.kind != "decision":
            continue
        verb = (
            _link_kind(message[max(last, start - _VERB_REACH) : start], verb)
            if start >= len(reverted)
            else "reverts"
        )
        last = end
        if verb:
            found.setdefault(int(citation.target), verb)
        else:
            related.append(int(citation.target))
    for number in related:
        found.setdefault(number, "relates")
    return found


def link_mentioned_decisions(write: Transaction, commits: Sequence[CommitInfo], made_here: Collection[str]) -> int:
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
            titles.setdefault(fold_title(title), []).append(number)
    return add_commit_links(
        write,
        [
            (info.sha, decision, kind)
            for info in commits
            for decision, kind in find_mentioned_decisions(
                info.message, titles, numbers=info.sha in made_here
            ).items()
        ],
    )


def add_commit_links(write: Transaction, links: Iterable[tuple[str, int, str]]) -> int:
    """Add links (sha, decision, kind) whose commit and decision both exist; return how many were new."""
    made = []
    for sha, decision, kind in links:
        write.execute(
            "INSERT INTO commit_links(commit_id, decision_id, link_type, origin)"
            " SELECT c.id, d.id, ?, ? FROM commits AS c, decisions AS d WHERE c.sha = ? AND d.id = ?"
            " ON CONFLICT DO NOTHING",
            (Verbatim(kind), Verbatim(GIT_IMPORTER), Verbatim(sha), decision),
        )
        if write.changed_rows():
            made.append(f"link {cite('commit', sha)} {cite('decision', decision)}")
    if made:
        write.reason = (
            ", ".join(made) if len(made) <= MOST_LISTED_LINKS else f"link {len(made)} commits and decisions"
        )
    return len(made)


def find_shared_decisions(message: str) -> list[str]:
    """Return the shared decisions that the trailers of a message name, each as its writer cites it."""
    message = message.replace("\r\n", "\n").strip("\n")[-_MOST_CHARACTERS:]
    return [found for value in _decision_trailers(message) for found in re.findall(_SHARED_CITATION, value)]


def fold_title(text: str) -> str:
    """Return a title as it is compared: spaces folded, without case."""
    return " ".join(text.split()).casefold()


def _decision_trailers(message: str) -> list[str]:
    """Return the values of the `Decision:` lines in the last paragraph; the first paragraph is the subject, never
    trailers."""
    paragraphs = re.split(r"\n(?:[ \t]*\n)+", message)
    if len(paragraphs) == 1:
        return []
    lines: list[str] = []
    for line in paragraphs[-1].split("\n"):
        if line[:1] in (" ", "\t") and lines:
            # a long value continues, indented
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return [match[1].strip() for line in lines if (match := re.fullmatch(_TRAILER, line))]


def _reverted_subject(message: str) -> str:
    """Return the subject of a commit that `git revert` made: it quotes the other's words, which now mean their
    opposite. Not that of the revert of a revert, which restores their meaning."""
    subject = message.partition("\n")[0]
    return subject if re.match(r'Revert "(?!Revert "|Reapply ")', subject) else ""


def _link_kind(before: str, inherited: str) -> str:
    """Return the kind of link that the words before a decision state, or that of the decision before it in the same
    list."""
    if re.fullmatch(_JOINT, before):
        return inherited
    for match in re.finditer(_LINK_VERB, before):
        if re.fullmatch(_JOINT, before[match.end() :]) and not re.search(_DENIED, before[: match.start()]):
            return "implements" if match["implements"] else "reverts"
    return ""


class Decisions(RecordTable[Decision]):
    """The decisions of one memory."""

    kind, source = "decision", "decisions"
    columns = (
        "id, iteration_id, title, context, chosen, alternatives, rationale, impact, phase, decided_at, status,"
        " supersedes, origin, confirmed_at, coalesce(evidence, '[]'), coalesce(tags, '[]'),"
        " coalesce((SELECT max(state) FROM evidence_looks WHERE record = id * 16 + 1), 0)"
    )
    absence = "There is no decision {}.", "List them with `memoranda list decisions`."

    @staticmethod
    def _of_row(row: tuple[Any, ...]) -> Decision:
        *columns, evidence, tags, looked = row
        columns[5] = tuple(json.loads(columns[5]))
        return Decision(*(*columns, tuple(json.loads(evidence)), tuple(json.loads(tags)), EVIDENCE_STATES[looked]))

    def decide(
        self,
        title: str,
        chosen: str,
        *,
        context: str = "",
        alternatives: Sequence[str] = (),
        rationale: str = "",
        impact: str = "medium",
        phase: str = "",
        iteration_id: int | None = None,
        supersedes: int | None = None,
        evidence: Sequence[str] = (),
        tags: Sequence[str] = (),
        at: str = "",
        actor: str = PERSON_ORIGIN,
        key: str = "",
        again: bool = False,
    ) -> int:
        """Record a decision, made now or `at` a time; return its id. Without an iteration it joins the active one. The
        decision it supersedes is marked. With a `key` that was used before nothing is written, and the earlier id is
        returned. A purged text is recorded only `again` if a person wants it. Raise InvalidInput, NotFound, Conflict or
        Purged."""
        for name, text in (("title", title), ("chosen option", chosen)):
            if not text.strip():
                raise InvalidInput(f"A decision has a {name}.", 'decide "Use SQLite" --chosen "SQLite, WAL"')
        require_one_of("impact", impact, IMPACTS)
        with self._database.write(actor, "decide", key) as write:
            if (answer := write.earlier_answer) is not None:
                return int(answer)
            refuse_purged(write, decision_text(title, chosen), again)
            if supersedes is not None:
                self._require_active(write, supersedes)
                write.execute("UPDATE decisions SET status = 'superseded' WHERE id = ?", (supersedes,))
            number = write.insert(
                "decisions",
                iteration_id=iteration_for_record(write, iteration_id),
                title=title.strip(),
                context=context.strip(),
                chosen=chosen.strip(),
                alternatives=Json(list(alternatives)),
                rationale=rationale.strip(),
                impact=Verbatim(impact),
                phase=phase.strip(),
                decided_at=Verbatim(at or write.at),
                status=Verbatim("active"),
                supersedes=supersedes,
                origin=actor,
                evidence=Json(list(evidence)),
                tags=Json(list(tags)),
            )
            write.reason = f"decide {cite('decision', number)}"
            write.store_answer(number)
            return number

    def correct(self, number: int, chosen: str, *, actor: str = PERSON_ORIGIN, again: bool = False) -> int:
        """Add a decision like this one, but with another choice, that supersedes it; return its id. `again` is as in
        `decide`."""
        old = self.get(number)
        if old.chosen == chosen.strip():
            raise InvalidInput(f"{old.citation} chose exactly that.")
        return self.decide(
            old.title,
            chosen,
            context=old.context,
            alternatives=old.alternatives,
            rationale=old.rationale,
            impact=old.impact,
            phase=old.phase,
            iteration_id=old.iteration_id,
            supersedes=number,
            evidence=old.evidence,
            tags=old.tags,
            actor=actor,
            again=again,
        )

    def forget(self, numbers: Sequence[int], *, actor: str = PERSON_ORIGIN) -> None:
        """Hide decisions, until undone. All of them or none. On a full disk the ballast is freed."""
        run_with_reserve(self._database.path, lambda: self._forget(numbers, actor))

    def _forget(self, numbers: Sequence[int], actor: str) -> None:
        with self._database.write(actor, f"forget {' '.join(cite_all('decision', numbers[:10]))}") as write:
            for number in numbers:
                if self.read_column(write, number) == "forgotten":
                    raise Conflict(f"{cite('decision', number)} is forgotten already.", "Undo brings it back.")
                write.execute("UPDATE decisions SET status = 'forgotten' WHERE id = ?", (number,))

    def confirm(self, numbers: Sequence[int], *, actor: str = PERSON_ORIGIN) -> None:
        """Record that decisions logged by agents hold. All of them or none; those that a person made, or confirmed
        before, are unchanged. Raise NotFound, and Conflict for one that is no longer active, or when none needs it."""
        with self._database.write(actor, f"confirm {' '.join(cite_all('decision', numbers[:10]))}") as write:
            for number in numbers:
                self._require_active(write, number)
            marks = ", ".join("?" * len(numbers))
            write.execute(
                f"UPDATE decisions SET confirmed_at = ? WHERE id IN ({marks}) AND origin <> ? AND confirmed_at IS NULL",
                (write.at, *numbers, Verbatim(PERSON_ORIGIN)),
            )
            if not write.changed_rows():
                raise Conflict("Confirmed already.", "What you decide yourself needs no confirmation.")

    def ids(
        self, *, statuses: Sequence[str] = ("active",), iteration_id: int | None = None, limit: int = -1
    ) -> list[int]:
        """List the ids of decisions with these statuses, newest first; of all, or of one iteration."""
        for status in statuses:
            require_one_of("status", status, DECISION_STATUSES)
        among = () if iteration_id is None else (iteration_id,)
        return self._ids(
            f"WHERE status IN ({', '.join('?' * len(statuses))}){' AND iteration_id = ?' if among else ''}"
            " ORDER BY decided_at DESC, id DESC LIMIT ?",
            *(*statuses, *among, limit),
        )

    def successor(self, number: int) -> int | None:
        """Return the id of the decision that superseded this one."""
        found: int | None = self._database.value(
            "SELECT id FROM decisions WHERE supersedes = ? ORDER BY id DESC LIMIT 1", (number,)
        )
        return found

    def _require_active(self, write: Transaction, number: int) -> None:
        """Raise NotFound or Conflict unless the decision is active."""
        status = self.read_column(write, number)
        if status != "active":
            raise Conflict(f"{cite('decision', number)} is {status}.", "Supersede the one that took its place.")
