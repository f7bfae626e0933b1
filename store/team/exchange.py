"""Exchange with a team through a git remote: fetch, merge, share, push, and bring what arrived to the person."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from zlib import crc32

from store.base.errors import Conflict, InvalidInput
from store.base.models import select_fields
from store.base.state_files import save_team_path, team_folder
from store.config.configuration import may_capture
from store.embedding.provider import EmbeddingProvider
from store.git.process import capture_git_output
from store.memory import Memory
from store.purge.purge import PurgePlan
from store.purge.registry import INPUT_TABLE, RECORD_TABLE, TEXT_TABLES
from store.purge.word_search import RemainingMatch
from store.records.decisions import GIT_IMPORTER, add_commit_links, find_shared_decisions
from store.team.arrivals import (
    ArrivalResult,
    Arrivals,
    came_from_writer,
    hold_copied_records,
    hold_former_records,
    settle_offers,
)
from store.team.collect import (
    TEAM_ORIGIN,
    Collector,
    LocalRecord,
    ShareChoice,
    chosen_records,
    find_touched,
    fold_own_operation,
)
from store.team.merge import FormerStreams, FormerWriter, StreamMerge, read_former_writers, store_former_writers
from store.team.postgres import Replica, ReplicationResult, record_batches
from store.team.remote import (
    INCOMING_REFS,
    StreamRepository,
    reaching_environment,
    remote_addresses,
    usual_remote,
)
from store.team.stream import MOST_NAME_CHARACTERS, Operation, SharedRecord, identity_writer, split_segments
from store.team.team_file import HeldRecord, StreamState, TeamFile
from store.text.display import format_count, format_size, visible
from store.upkeep.optional import ExchangeReport

# Link commits to shared decisions that their messages name by their writer: `Decision: D12@3c7vjyhh2avx`.

# how many commits and which decisions there were when it was done last
LINKED_KEY = "linked"


def link_team_decisions(memory: Memory, team: TeamFile) -> int:
    """Link commits to the shared decisions that their messages mention; each pair once, so that a link which a
    person deleted is not made again. Return how many links were made."""
    held = {id: number for id, number in team.held_numbers().items() if id.startswith("D")}
    known = f"{memory.database.value('SELECT count(*) FROM commits')} {crc32(' '.join(sorted(held)).encode())}"
    if not held or team.get_choice(LINKED_KEY) == known or not may_capture(memory.config, "decisions"):
        return 0
    messages = memory.database.rows(
        "SELECT sha, message FROM commits WHERE message LIKE '%decision%@%' ORDER BY id"
    )
    pairs = [
        (sha, id)
        for sha, message in messages
        for id in find_shared_decisions(message)
        if id in held and team.note_link(id, sha)
    ]
    made = 0
    if pairs:
        with memory.database.write(GIT_IMPORTER, "git") as write:
            made = add_commit_links(write, [(sha, held[id], "implements") for sha, id in pairs])
    team.put_choice(LINKED_KEY, known)
    return made


# Where a shared record stays after a purge of it here: said before it is done.

REMOTE_REACH = "shared: `team sync` erases it from {} and from machines that exchange later; copies elsewhere stay"
FORMER_REACH = "as {}, who you were before, "
OTHERS_REACH = "shared by {}: until they purge it their stream keeps it, on {} and here"
ASKED_REACH = "; `team sync` asks them to"
CHANGE_REACH = "; your change of it leaves your stream with `team sync`, and stays with those who accepted it"


def find_shared_places(
    memory: Memory, team: TeamFile, plan: PurgePlan, remote: str, shares: bool
) -> list[RemainingMatch]:
    """Return the place of each record of a plan that was shared, by oneself or by somebody else. `shares` says whether
    there is a stream of one's own, or will be."""
    held = _shared_ids(memory, team)
    names = {state.writer: state.display_name for state in team.stream_states().values()}
    before = {one.writer for one in read_former_writers(team).values() if one.is_owned}
    found = []
    for one in plan.going:
        if id := held.get((one.kind[0].upper(), int(one.key.strip("[]")))):
            author = identity_writer(id)
            what = REMOTE_REACH.format(remote)
            if author in before:
                what = f"{FORMER_REACH.format(author)}{what}"
            elif author != team.writer:
                what = OTHERS_REACH.format(names.get(author, author), remote)
                what += ASKED_REACH if shares else ""
                what += (
                    CHANGE_REACH if any(map(team.get_record(id).was_changed_by, (team.writer, *before))) else ""
                )
            found.append(RemainingMatch(id, "team", one.key, what, one.text, can=False))
    return found


def _shared_ids(memory: Memory, team: TeamFile) -> dict[tuple[str, int], str]:
    """Return the shared record of each fact and decision here: also of what was accepted since the last exchange."""
    sql = (
        "SELECT id, made FROM proposals WHERE state = 'accepted' AND made "
        f"IS NOT NULL AND origin LIKE '{TEAM_ORIGIN}%'"
    )
    made = dict(memory.database.rows(sql))
    since = {("F", made[one.proposal]): one.id for one in team.list_offers().values() if one.proposal in made}
    return since | {(id[0], number): id for id, number in team.held_numbers().items()}


CHOICE_KEY, REMOTE_KEY, NAME_KEY, SEEN_STEP_KEY = "choice", "remote", "name", "seen"
# the newest step of history at the last exchange, with its digest
STEP_KEY = "step"
# commits of one's own that the remote may have, a single one where its answer arrived; those that a rewritten stream
# replaces there
PUSHED_KEY, REPLACED_KEY = "pushed", "replaced"
# the writer that one was, until its stream was read again, with the newest number of it that was sent from here
FORMER_WRITER_KEY = "before"
# set once it was looked whether the memory is a copy of one that shares
RECOGNIZED_KEY = "recognised"
# when an exchange began last
TRIED_KEY = "tried"
# the newest operation of one's own that the remote has
SENT_KEY = "sent"


@dataclass(slots=True)
class ExchangeResult:
    """Result of an exchange: operations `sent` and `received`, what `arrived`, commits `linked` to decisions that they
    name by their writer, and what is wrong with streams."""

    sent: int = 0
    received: int = 0
    arrived: ArrivalResult = field(default_factory=ArrivalResult)
    linked: int = 0
    warnings: list[str] = field(default_factory=list)

    def describe(self) -> str:
        """Return what the exchange did, in a sentence."""
        arrived = sum(self.arrived.new.values()) + sum(self.arrived.changed.values())
        if not (self.sent or self.received or arrived):
            return "Nothing new on either side."
        return f"Sent {format_count(self.sent, 'change')}, received {format_count(self.received, 'change')}."

    def describe_arrivals(self, names: Mapping[str, str]) -> list[str]:
        """Return what arrived, by writer, and what is wrong."""
        lines = []
        for writer in sorted({*self.arrived.new, *self.arrived.changed}):
            new, changed = self.arrived.new.get(writer, 0), self.arrived.changed.get(writer, 0)
            parts = [f"shared {new:,}" if new else "", f"changed {changed:,}" if changed else ""]
            lines.append(f"{names.get(writer, writer)} {', '.join(filter(None, parts))}: see the inbox.")
        if self.arrived.believed:
            lines.append(
                f"{format_count(self.arrived.believed, 'record')} of writers whom you believe were taken at once."
            )
        if self.arrived.erased:
            lines.append(
                f"Erased here, since their authors purged them: {format_count(self.arrived.erased, 'record')}."
            )
        if self.linked:
            lines.append(f"{format_count(self.linked, 'commit')} linked to decisions that they name.")
        return [*lines, *self.arrived.notes, *self.warnings]

    def as_dict(self) -> dict[str, object]:
        """Return the result for scripts."""
        return {
            "sent": self.sent,
            "received": self.received,
            "new": self.arrived.new,
            "changed": self.arrived.changed,
            "believed": self.arrived.believed,
            "purged": self.arrived.erased,
            "linked": self.linked,
            "notes": self.arrived.notes,
            "warnings": self.warnings,
        }


class Team:
    """The team of one memory, for as long as it is open. Raise StorageError."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.folder = team_folder(memory.database.path)
        self._file = TeamFile(self.folder)
        save_team_path(memory.database.path)
        self._streams = StreamRepository(self.folder)

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def stop_exchange(self) -> None:
        """End an exchange that another thread runs, as soon as git can be ended: it raises GitError there."""
        self._streams.stop_git()

    # what is shared

    @property
    def choice(self) -> ShareChoice:
        return ShareChoice.from_text(self._file.get_choice(CHOICE_KEY))

    def choose(self, choice: ShareChoice, name: str = "", remote: str = "") -> None:
        """Store what a person wants to share from now on, under which name and through which remote. What was shared
        before stays shared. Raise InvalidInput."""
        # of somebody else's memory nothing is shared
        self._memory.database.refuse_unwritable()
        if name and (len(name) > MOST_NAME_CHARACTERS or not name.isprintable()):
            raise InvalidInput(f"A name has at most {MOST_NAME_CHARACTERS} characters on one line.")
        if remote:
            remote_addresses(self._memory.location.project, remote)
        with self._file:
            self._file.put_choice(CHOICE_KEY, choice.as_text())
            self._file.put_choice(SEEN_STEP_KEY, "")
            for key, value in ((NAME_KEY, name), (REMOTE_KEY, remote)):
                if value:
                    self._file.put_choice(key, value)

    def list_unshared(self, choice: ShareChoice) -> list[LocalRecord]:
        """Return the records that would be shared and are not yet, as they would be."""
        held = {(one.id[0], one.number) for one in self._file.held_records().values()}
        return [
            one for one in chosen_records(self._memory, choice) if (one.kind[0].upper(), one.number) not in held
        ]

    # the team

    def members(self) -> list[tuple[StreamState, int]]:
        """Return each known stream, one's own first, with the number of its records that are not purged."""
        counts = self._file.count_records()
        states = sorted(
            self._file.stream_states().values(),
            key=lambda one: (one.writer != self.writer, one.name, one.writer),
        )
        return [(state, counts.get(state.writer, 0)) for state in states]

    def stream_size(self, state: StreamState) -> int:
        """Return the bytes that a stream takes on this machine; 0 where that is not known."""
        return self._streams.stream_size(state.head) if state.head and self._streams.exists() else 0

    def describe_member(self, state: StreamState, records: int) -> str:
        """Return in a line who shares, how much, and what is wrong with the stream."""
        size = self.stream_size(state)
        about = (
            self.you_label(state.writer),
            format_count(records, "record"),
            format_count(state.seq, "operation"),
            format_size(size) if size else "",
            f"last new {state.at[:10]}" if state.at else "",
            f"signed by {state.key}" if state.key else "not signed",
            f"believed for {state.believed.replace('+', '')}" if state.believed else "",
            state.said,
        )
        text = visible(", ".join(filter(None, about)))
        return f"{state.writer}  {visible(state.name or '(no name)'):<20}  {text}"

    def member_as_dict(self, state: StreamState, records: int) -> dict[str, object]:
        you = self.you_label(state.writer)
        return {
            **select_fields(state, "writer", "name", "at", "key"),
            "you": you == "you",
            "before": you == "you before",
            "records": records,
            "operations": state.seq,
            "bytes": self.stream_size(state),
            "believed": state.believed.split(),
            "warning": state.said,
        }

    def held_records(self) -> list[HeldRecord]:
        """Return the shared records that are in the memory: one's own, and those that were accepted."""
        return list(self._file.held_records().values())

    def writer_records(self, writer: str) -> list[SharedRecord]:
        """Return the records of a writer that are not purged, the newest first."""
        found = [
            one
            for one in self._file.all_records()
            if one.author == writer and one.status in ("active", "forgotten")
        ]
        return sorted(found, key=lambda one: int(one.id[1:].partition("@")[0]), reverse=True)

    @property
    def writer(self) -> str:
        """One's own writer; empty before the first exchange."""
        return self._file.writer

    def you_label(self, writer: str) -> str:
        """Return `you` for one's own writer, `you before` for one that one was; empty for any other."""
        return (
            "you" if writer == self.writer else "you before" if writer in read_former_writers(self._file) else ""
        )

    @property
    def own_name(self) -> str:
        """The name that others see; empty before it was chosen."""
        return self._file.get_choice(NAME_KEY)

    @property
    def remote(self) -> str:
        """The name or address of the remote through which one shares."""
        return self._file.get_choice(REMOTE_KEY) or usual_remote(self._memory.location.project)

    @property
    def last_attempt(self) -> str:
        """When an exchange began last; empty before the first."""
        return self._file.get_choice(TRIED_KEY)

    def believe(self, writer: str, choice: ShareChoice) -> StreamState:
        """Take what a writer adds of these domains, and decisions, without a question from now on; nothing of an empty
        choice. `writer` may be the beginning of one, or of a name that only one has. Raise InvalidInput."""
        with self._file:
            found = self._find_stream(writer)
            found.believed = choice.as_text()
            self._file.put_stream(found)
            return found

    def trust(self, writer: str) -> StreamState:
        """Take the key that a writer's stream is signed with at the next exchange, or none, for theirs. Raise
        InvalidInput."""
        with self._file:
            found = self._find_stream(writer)
            found.key = ""
            self._file.put_stream(found)
            return found

    def mark_as_former(self, writer: str) -> StreamState:
        """Mark a writer as one that this person was, and with whom nobody continues. Raise InvalidInput if nothing
        of this memory is what they shared."""
        with self._file:
            found = self._find_stream(writer)
            if found.writer not in read_former_writers(self._file) and not came_from_writer(
                self._memory, self._file, found.writer
            ):
                raise InvalidInput(
                    f"Nothing here is what {found.display_name} shared, so that cannot have been this memory.",
                    "Ask them to purge it, or whoever runs the remote to delete the ref.",
                )
            store_former_writers(self._file, FormerWriter(found.writer, found.seq))
            return found

    def _find_stream(self, writer: str) -> StreamState:
        """Return the stream whose writer or name begins so. Raise InvalidInput unless there is exactly one."""
        start = writer.casefold()
        states = [one for one in self._file.stream_states().values() if one.writer != self.writer]
        found = [one for one in states if one.writer.startswith(start) or one.name.casefold().startswith(start)]
        if len(found) != 1:
            who = "Several people here are" if found else "Nobody here is"
            raise InvalidInput(f"{who} called {writer}.", "See their names with `team`.")
        return found[0]

    def shared_places(self, plan: PurgePlan) -> list[RemainingMatch]:
        """Return the place of each record of a plan that was shared, by this writer or by another."""
        return find_shared_places(self._memory, self._file, plan, self.remote, bool(self.writer or self.choice))

    # the exchange

    def exchange(self, wait: Callable[[str], None] = lambda words: None, bring: bool = True) -> ExchangeResult:
        """Fetch, merge, share and push, then `bring` what arrived into the inbox. Raise Conflict where this memory's
        stream was continued elsewhere, Busy, InvalidInput or GitError: then nothing was lost, or is half done."""
        self._memory.database.refuse_unwritable()
        address, target = remote_addresses(self._memory.location.project, self._file.get_choice(REMOTE_KEY))
        if not os.path.isabs(address) or self._memory.config["team.sign"]:
            self._streams.reaching = reaching_environment(self._memory.location.project, self.folder)
        done = ExchangeResult()
        with self._file:
            self._file.put_choice(TRIED_KEY, self._memory.now)
            self._file.commit()
            wait("Fetching")
            self._streams.create(address)
            writer = self._file.writer
            self._streams.fetch(address)
            if old := self._file.left_writer:
                writer = self._become_new_writer(old)
            there = self._streams.heads(INCOMING_REFS).get(writer, "")
            merge = StreamMerge(self._file, self._streams, self._memory.now)
            before = FormerStreams(self._file, self._streams, merge, writer)
            waiting = before.find_waiting()
            if writer:
                self._check_memory(writer)
                self._check_own(writer, there)
                for one in merge.merge_own(writer):
                    fold_own_operation(self._file, one)
            merge.operations = 0
            merge.merge_others(writer, waiting)
            done.received = merge.operations
            before.note_left_streams()
            if old := self._file.get_choice(FORMER_WRITER_KEY):
                hold_former_records(self._memory, self._file, *old.split())
                self._file.put_choice(FORMER_WRITER_KEY, "")
                # what others purged meanwhile: their streams were merged as if they were new
                self._streams.prune_objects()
            if not writer and not self._file.get_choice(RECOGNIZED_KEY):
                hold_copied_records(self._memory, self._file)
            self._file.put_choice(RECOGNIZED_KEY, "1")
            decided = settle_offers(self._memory, self._file)
            self._file.commit()
            choice = self.choice
            if choice or writer:
                writer = writer or self._file.become_new_writer()
                wait("Sharing")
                before.write_take_backs(self._memory.now, self._write_stream(writer, choice, merge, decided))
                self._file.commit()
                done.sent = self._push_stream(writer, target, there)
                before.push_former(target, self._sign_head if self._memory.config["team.sign"] else None)
            if bring:
                wait("Comparing")
                done.arrived = Arrivals(self._memory, self._file, writer).bring_arrivals()
            done.linked = link_team_decisions(self._memory, self._file)
        self._purge_arrived(done.arrived)
        done.warnings = [
            f"{one.display_name}: {one.said}." for one in self._file.stream_states().values() if one.said
        ]
        done.warnings += merge.notes
        return done

    def report_exchange(self, wait: Callable[[str], None] = lambda words: None) -> ExchangeReport:
        """Exchange, and return what that did, in words too. Raise what `exchange` does."""
        done = self.exchange(wait)
        names = {state.writer: state.display_name for state, _ in self.members()}
        return ExchangeReport(done.describe(), done.describe_arrivals(names), done.as_dict())

    def replicate(self, replica: Replica, provider: EmbeddingProvider | None = None) -> ReplicationResult:
        """Bring a database up to what is known here of the team; compute vectors too, with a provider. Raise
        ReplicaError or GitError."""
        done = ReplicationResult()
        with self._file:
            merge = StreamMerge(self._file, self._streams, self._memory.now)
            there = replica.writer_heads()
            touched: set[str] | None = set()
            streams = []
            for state in self._file.stream_states().values():
                seq, head = there.get(state.writer, (0, ""))
                if not state.head or head == state.head:
                    continue
                # a stream that was rewritten has other commits from the first on
                goes_on = (
                    bool(head) and self._streams.has_commit(head) and self._streams.is_descendant(state.head, head)
                )
                operations = [
                    one for one in merge.read_operations(state.writer, state.head) if not goes_on or one.seq > seq
                ]
                streams.append((state, operations, bool(head) and not goes_on))
                if touched is not None and (goes_on or not head):
                    touched |= {one.id for one in operations if one.id}
                else:
                    touched = None
            records = self._file.all_records() if touched is None else map(self._file.get_record, sorted(touched))
            for several in record_batches(records):
                done.records += replica.put_records(several)
            # last: what was interrupted before is done again
            for state, operations, replaces in streams:
                done.operations += replica.put_operations(state, operations, replaces)
                done.replaced += replaces
        if provider is not None:
            done.embedded = replica.embed_records(provider)
        return done

    def erase_purged(self) -> None:
        """Remove from the streams here what was purged from the memory; the next exchange removes it from the remote.
        Raise Busy or GitError."""
        writer = self._file.writer
        if writer and self._streams.exists() and not self._file.get_choice(FORMER_WRITER_KEY):
            with self._file:
                self._check_memory(writer)
                merge = StreamMerge(self._file, self._streams, self._memory.now)
                gone = self._write_stream(writer, self.choice, merge)
                FormerStreams(self._file, self._streams, merge, writer).write_take_backs(self._memory.now, gone)

    def start_anew(self) -> str:
        """Go on as a new writer, after this memory's stream was continued elsewhere: what is not in that stream in the
        same words is shared under the new identity. Return it."""
        with self._file:
            self._streams.create()
            return self._become_new_writer(self._file.writer or self._file.left_writer)

    def _become_new_writer(self, old: str) -> str:
        """Become a new writer, and stop being the old one; return the new writer."""
        self._streams.point_refs({old: self._streams.heads(INCOMING_REFS).get(old, "")})
        self._file.forget_records()
        sent = self._file.get_choice(SENT_KEY) or "0"
        for key in (SEEN_STEP_KEY, STEP_KEY, PUSHED_KEY, REPLACED_KEY, SENT_KEY):
            self._file.put_choice(key, "")
        if old:
            self._file.put_choice(FORMER_WRITER_KEY, f"{old} {sent}")
            store_former_writers(self._file, FormerWriter(old))
        writer = self._file.become_new_writer()
        self._streams.prune_objects()
        return writer

    def _write_stream(
        self, writer: str, choice: ShareChoice, merge: StreamMerge, decided: Set[str] = frozenset()
    ) -> set[str]:
        """Append what is new to one's own stream, on this machine; about the records `decided` the person was asked.
        Return the records that were purged, here or by their authors, since what moved was compared."""
        state = self._file.stream_states().get(writer) or StreamState(writer)
        newest = str(self._memory.database.newest_step())
        operations: list[Operation] = []
        name = self._file.get_choice(NAME_KEY)
        if name and name != state.name:
            operations.append(Operation(writer, state.seq + 1, self._memory.now, "name", "", {"name": name}))
        moved = {*self._file.moved_records(), *decided}
        if (seen := self._file.get_choice(SEEN_STEP_KEY)) != newest or moved:
            collector = Collector(self._memory, self._file, writer, state.seq + len(operations), self._memory.now)
            operations += collector.collect_operations(choice, find_touched(self._memory, seen), moved)
            self._file.put_choice(SEEN_STEP_KEY, newest)
            self._file.put_choice(STEP_KEY, self._history_step("ORDER BY seq DESC LIMIT 1"))
        purged = {one.id for one in operations if one.op == "purge"}
        gone = purged | self._file.purged_records()
        if erased := merge.find_worded(writer, state.head, gone):
            after = state.seq + len(operations) + 1
            follow = [
                Operation(writer, seq, self._memory.now, "purge", id)
                for seq, id in enumerate(sorted(erased - purged), after)
            ]
            self._rewrite_stream(writer, state, [*operations, *follow], erased, merge)
        elif operations:
            segments = split_segments(writer, operations, state.digest, seen=merge.unsaid_sightings(writer))
            merge.merge_written(
                state, segments, self._streams.append_segments(writer, segments, state.head, self._memory.now)
            )
        for one in operations:
            fold_own_operation(self._file, one)
        return gone

    def _rewrite_stream(
        self, writer: str, state: StreamState, operations: list[Operation], erased: set[str], merge: StreamMerge
    ) -> None:
        """Replace one's own stream by one without the words of the records that are `erased`, one's own and what one
        changed of others', and remove the old one here."""
        kept = merge.operations_without(writer, state.head, erased)
        segments = split_segments(
            writer, [*kept, *operations], "", state.digest, merge.unsaid_sightings(writer, again=True)
        )
        self._streams.append_segments(writer, segments, "", self._memory.now)
        self._file.put_choice(REPLACED_KEY, self._file.get_choice(PUSHED_KEY))
        self._streams.point_refs({writer: ""}, INCOMING_REFS)
        merge.merge_all_again(writer)

    def _push_stream(self, writer: str, address: str, there: str) -> int:
        """Send one's own stream, unless the remote has it: there it ends with the commit `there`. Return how many
        operations it lacked. Raise GitError."""
        head = self._streams.heads().get(writer, "")
        sent = int(self._file.get_choice(SENT_KEY) or 0)
        if head not in ("", there):
            if self._memory.config["team.sign"]:
                head = self._sign_head(writer, head)
            self._file.put_choice(PUSHED_KEY, f"{self._file.get_choice(PUSHED_KEY)} {head}".strip())
            self._file.commit()
            self._streams.push(
                address, writer, there if there in self._file.get_choice(REPLACED_KEY).split() else None
            )
            self._note_pushed(writer, head)
        return int(self._file.get_choice(SENT_KEY) or 0) - sent

    def _sign_head(self, writer: str, head: str) -> str:
        """Return the newest commit of one's own stream, signed if it was not. Raise GitError."""
        state = self._file.stream_states()[writer]
        if not self._streams.read_signatures([head])[head].is_good:
            head = state.head = self._streams.sign_head(writer, head)
        state.key = self._streams.read_signatures([head])[head].display_key
        self._file.put_stream(state)
        return head

    def _note_pushed(self, writer: str, head: str) -> None:
        """Note that the remote has one's own stream up to the commit `head`."""
        self._file.put_choice(PUSHED_KEY, head)
        self._file.put_choice(SENT_KEY, str(self._file.stream_states()[writer].seq))
        if self._file.get_choice(REPLACED_KEY):
            self._file.put_choice(REPLACED_KEY, "")
            self._streams.point_refs({writer: head}, INCOMING_REFS)
            self._streams.prune_objects()

    def _history_step(self, which: str) -> str:
        """Return a step of history with its digest; empty where there is none."""
        row = self._memory.database.row(f"SELECT seq, digest FROM history {which}")
        return f"{row[0]} {bytes(row[1]).hex()}" if row else ""

    def _check_memory(self, writer: str) -> None:
        """Raise Conflict for an older state of the memory that shared last, or one that went on from another: what it
        lacks was not purged, and its numbers mean other records."""
        step = self._file.get_choice(STEP_KEY)
        if step and self._history_step(f"WHERE seq = {int(step.split()[0])}") != step:
            raise Conflict(
                f"This memory is an older state, or another copy, of the one that shares as {writer}.",
                "Nothing was sent. `memoranda team new` goes on here under a new identity.",
            )

    def _check_own(self, writer: str, there: str) -> None:
        """Raise Conflict where the remote has something of this writer, up to the commit `there`, that is not here."""
        here = self._streams.heads().get(writer, "")
        state = self._file.stream_states().get(writer)
        if (
            there
            and there == here
            and not (there == self._file.get_choice(PUSHED_KEY) and self._file.get_choice(SENT_KEY))
        ):
            # the remote took it, and its answer was lost
            self._note_pushed(writer, here)
        if (
            not there
            or there in (here, *self._file.get_choice(REPLACED_KEY).split())
            or (here and self._streams.is_descendant(here, there))
        ):
            return
        # the folder of streams was deleted: everything is on the remote
        if not here and state is None:
            self._streams.point_refs({writer: there})
            return
        raise Conflict(
            f"Your stream {writer} was continued elsewhere: by a copy of this memory, or from an older state of it.",
            "Nothing was lost. `memoranda team new` goes on here under a new identity; the other half stays.",
        )

    def _purge_arrived(self, arrived: ArrivalResult) -> None:
        """Purge here what its author purged, the copies that Memoranda made of it, and acceptances that were undone.
        What the person said or wrote elsewhere in the same words stays."""
        if arrived.purged:
            plan = self._memory.purge.plan(dict.fromkeys(arrived.purged))
            copies = [index for index in plan.default_places() if self._is_copy(plan.places[index])]
            self._memory.purge.run_plan(plan, copies, actor="team")

    def _is_copy(self, place: RemainingMatch) -> bool:
        """Tell whether a place is a copy that Memoranda made, or a fact whose acceptance was undone."""
        if place.table == "facts":
            return not self._memory.database.value(
                "SELECT 1 FROM facts WHERE id = json_extract(?, '$[0]')", (place.key,)
            )
        return (table := TEXT_TABLES.get(place.table)) is not None and table.becomes not in (
            RECORD_TABLE,
            INPUT_TABLE,
        )


def git_user_name(folder: str) -> str:
    """Return the name that git has for the person in a folder; empty without one."""
    name = capture_git_output(folder, "config", "--get", "user.name")
    return "".join(letter for letter in name if letter.isprintable())[:MOST_NAME_CHARACTERS].strip()
