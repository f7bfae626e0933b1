"""Exchange with a team through a git remote: fetch, merge, share, push, and bring what arrived to the person."""

import os
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from store.base import installation
from store.base.errors import Conflict, InvalidInput
from store.memory import Memory
from store.purge.purge import PurgePlan
from store.purge.registry import INPUT, RECORD, TABLES
from store.purge.scan.column_scan import RemainingMatch
from store.team.arrivals import Arrivals, Arrived, came_from, recognise, settle, take_up
from store.team.collect import Collector, Local, ShareChoice, chosen, fold, touched
from store.team.commits import link_named
from store.team.former import FormerStreams, FormerWriter, keep, read
from store.team.kept_elsewhere import places
from store.team.merge import StreamMerge
from store.team.operation import NAME_CHARACTERS, Operation
from store.team.remote import own_settings
from store.team.remote.address import addresses, usual
from store.team.remote.repository import INCOMING, StreamRepository
from store.team.stream import split
from store.team.team_file import Held, StreamState, TeamFile
from store.team.view import SharedRecord

if TYPE_CHECKING:
    from store.embedding.provider import Provider
    from store.team.postgres.replica import Replica, Replicated

CHOICE, REMOTE_KEY, NAME_KEY, SEEN = "choice", "remote", "name", "seen"
STEP = "step"  # the newest step of history at the last exchange, with its digest
# commits of one's own that the remote may have, a single one where its answer arrived; those that a rewritten stream
# replaces there
PUSHED, REPLACED = "pushed", "replaced"
# the writer that one was, until its stream was read again, with the newest number of it that was sent from here
BEFORE = "before"
RECOGNISED = "recognised"  # set once it was looked whether the memory is a copy of one that shares
TRIED = "tried"  # when an exchange began last
SENT = "sent"  # the newest operation of one's own that the remote has


@dataclass(slots=True)
class Exchanged:
    """Result of an exchange: operations `sent` and `received`, what `arrived`, commits `linked` to decisions that they
    name by their writer, and what is wrong with streams."""

    sent: int = 0
    received: int = 0
    arrived: Arrived = field(default_factory=Arrived)
    linked: int = 0
    warnings: list[str] = field(default_factory=list)


class Team:
    """The team of one memory, for as long as it is open. Raise StorageError."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.folder = installation.team_folder(memory.database.path)
        self._file = TeamFile(self.folder)
        installation.know_team(memory.database.path)
        self._streams = StreamRepository(self.folder)

    def __enter__(self) -> "Team":
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def stop(self) -> None:
        """End an exchange that another thread runs, as soon as git can be ended: it raises GitError there."""
        self._streams.stop()

    # what is shared

    @property
    def choice(self) -> ShareChoice:
        return ShareChoice.of(self._file.get(CHOICE))

    def choose(self, choice: ShareChoice, name: str = "", remote: str = "") -> None:
        """Store what a person wants to share from now on, under which name and through which remote. What was shared
        before stays shared. Raise InvalidInput."""
        self._memory.database.refuse_unwritable()  # of somebody else's memory nothing is shared
        if name and (len(name) > NAME_CHARACTERS or not name.isprintable()):
            raise InvalidInput(f"A name has at most {NAME_CHARACTERS} characters on one line.")
        if remote:
            addresses(self._memory.location.project, remote)
        with self._file:
            self._file.put(CHOICE, choice.text())
            self._file.put(SEEN, "")
            for key, value in ((NAME_KEY, name), (REMOTE_KEY, remote)):
                if value:
                    self._file.put(key, value)

    def preview(self, choice: ShareChoice) -> list[Local]:
        """Return the records that would be shared and are not yet, as they would be."""
        held = {(one.id[0], one.number) for one in self._file.held().values()}
        return [one for one in chosen(self._memory, choice) if (one.kind[0].upper(), one.number) not in held]

    # the team

    def members(self) -> list[tuple[StreamState, int]]:
        """Return each known stream, one's own first, with the number of its records that are not purged."""
        counts = self._file.counts()
        states = sorted(
            self._file.streams().values(), key=lambda one: (one.writer != self.writer, one.name, one.writer)
        )
        return [(state, counts.get(state.writer, 0)) for state in states]

    def size(self, state: StreamState) -> int:
        """Return the bytes that a stream takes on this machine; 0 where that is not known."""
        return self._streams.size(state.head) if state.head and self._streams.exists() else 0

    def held(self) -> list[Held]:
        """Return the shared records that are in the memory: one's own, and those that were accepted."""
        return list(self._file.held().values())

    def records(self, writer: str) -> list[SharedRecord]:
        """Return the records of a writer, those that were purged left out, the newest first."""
        found = [one for one in self._file.view() if one.author == writer and one.status in ("active", "forgotten")]
        return sorted(found, key=lambda one: int(one.id[1:].partition("@")[0]), reverse=True)

    @property
    def writer(self) -> str:
        """One's own writer; empty before the first exchange."""
        return self._file.writer

    def you(self, writer: str) -> str:
        """Return `you` for one's own writer, `you before` for one that one was; empty for any other."""
        return "you" if writer == self.writer else "you before" if writer in read(self._file) else ""

    @property
    def name(self) -> str:
        """The name that others see; empty before it was chosen."""
        return self._file.get(NAME_KEY)

    @property
    def remote(self) -> str:
        """The name or address of the remote through which one shares."""
        return self._file.get(REMOTE_KEY) or usual(self._memory.location.project)

    @property
    def tried(self) -> str:
        """When an exchange began last; empty before the first."""
        return self._file.get(TRIED)

    def believe(self, writer: str, choice: ShareChoice) -> StreamState:
        """Take what a writer adds of these domains, and decisions, without a question from now on; nothing of an empty
        choice. `writer` may be the beginning of one, or of a name that only one has. Raise InvalidInput."""
        with self._file:
            found = self._called(writer)
            found.believed = choice.text()
            self._file.put_stream(found)
            return found

    def trust(self, writer: str) -> StreamState:
        """Take the key that a writer's stream is signed with at the next exchange, or none, for theirs. Raise
        InvalidInput."""
        with self._file:
            found = self._called(writer)
            found.key = ""
            self._file.put_stream(found)
            return found

    def was(self, writer: str) -> StreamState:
        """Take a writer for one that this person was, and with whom nobody goes on. Raise InvalidInput where nothing of
        this memory is what they shared."""
        with self._file:
            found = self._called(writer)
            if found.writer not in read(self._file) and not came_from(self._memory, self._file, found.writer):
                raise InvalidInput(
                    f"Nothing here is what {found.shown} shared, so that cannot have been this memory.",
                    "Ask them to purge it, or whoever runs the remote to delete the ref.",
                )
            keep(self._file, FormerWriter(found.writer, found.seq))
            return found

    def _called(self, writer: str) -> StreamState:
        start = writer.casefold()
        states = [one for one in self._file.streams().values() if one.writer != self.writer]
        found = [one for one in states if one.writer.startswith(start) or one.name.casefold().startswith(start)]
        if len(found) != 1:
            who = "Several people here are" if found else "Nobody here is"
            raise InvalidInput(f"{who} called {writer}.", "See their names with `team`.")
        return found[0]

    def export(self) -> str:
        """Return the merged records as text: equal on every machine that knows the same operations."""
        return "".join(f"{record.state()}\n" for record in self._file.view())

    def shared(self, plan: PurgePlan) -> list[RemainingMatch]:
        """Return the place of each record of a plan that was shared, by this writer or by another."""
        return places(self._memory, self._file, plan, self.remote, bool(self.writer or self.choice))

    # the exchange

    def exchange(self, wait: Callable[[str], None] = lambda words: None, bring: bool = True) -> Exchanged:
        """Fetch, merge, share and push, then `bring` what arrived into the inbox. Raise Conflict where this memory's
        stream was continued elsewhere, Busy, InvalidInput or GitError: then nothing was lost, or is half done."""
        self._memory.database.refuse_unwritable()
        address, target = addresses(self._memory.location.project, self._file.get(REMOTE_KEY))
        if not os.path.isabs(address) or self._memory.config["team.sign"]:
            self._streams.reaching = own_settings.environment(self._memory.location.project, self.folder)
        done = Exchanged()
        with self._file:
            self._file.put(TRIED, self._memory.now)
            self._file.keep()
            wait("Fetching")
            self._streams.create(address)
            writer = self._file.writer
            self._streams.fetch(address)
            if old := self._file.left:
                writer = self._leave(old)
            there = self._streams.heads(INCOMING).get(writer, "")
            merge = StreamMerge(self._file, self._streams, self._memory.now)
            before = FormerStreams(self._file, self._streams, merge, writer)
            waiting = before.fetched()
            if writer:
                self._check_memory(writer)
                self._check_own(writer, there)
                for one in merge.own(writer):
                    fold(self._file, one)
            merge.operations = 0
            merge.others(writer, waiting)
            done.received = merge.operations
            before.look()
            if old := self._file.get(BEFORE):
                take_up(self._memory, self._file, *old.split())
                self._file.put(BEFORE, "")
                self._streams.prune()  # what others purged meanwhile: their streams were merged as if they were new
            if not writer and not self._file.get(RECOGNISED):
                recognise(self._memory, self._file)
            self._file.put(RECOGNISED, "1")
            decided = settle(self._memory, self._file)
            self._file.keep()
            choice = self.choice
            if choice or writer:
                writer = writer or self._file.become()
                wait("Sharing")
                before.take_back(self._memory.now, self._write(writer, choice, merge, decided))
                self._file.keep()
                done.sent = self._push(writer, target, there)
                before.push(target, self._signed if self._memory.config["team.sign"] else None)
            if bring:
                wait("Comparing")
                done.arrived = Arrivals(self._memory, self._file, writer).bring()
            done.linked = link_named(self._memory, self._file)
        self._erase(done.arrived)
        done.warnings = [f"{one.shown}: {one.said}." for one in self._file.streams().values() if one.said]
        done.warnings += merge.notes
        return done

    def replicate(self, replica: "Replica", provider: "Provider | None" = None) -> "Replicated":
        """Bring a database up to what is known here of the team; compute vectors too, with a provider. Raise
        ReplicaError or GitError."""
        from store.team.postgres.replica import Replicated, batches

        done = Replicated()
        with self._file:
            merge = StreamMerge(self._file, self._streams, self._memory.now)
            there = replica.heads()
            touched: set[str] | None = set()
            streams = []
            for state in self._file.streams().values():
                seq, head = there.get(state.writer, (0, ""))
                if not state.head or head == state.head:
                    continue
                # a stream that was rewritten has other commits from the first on
                goes_on = bool(head) and self._streams.knows(head) and self._streams.descends(state.head, head)
                operations = [one for one in merge.read(state.writer, state.head) if not goes_on or one.seq > seq]
                streams.append((state, operations, bool(head) and not goes_on))
                if touched is not None and (goes_on or not head):
                    touched |= {one.id for one in operations if one.id}
                else:
                    touched = None
            records = self._file.view() if touched is None else map(self._file.record, sorted(touched))
            for several in batches(records):
                done.records += replica.put_records(several)
            for state, operations, replaces in streams:  # last: what was interrupted before is done again
                done.operations += replica.put(state, operations, replaces)
                done.replaced += replaces
        if provider is not None:
            done.embedded = replica.embed(provider)
        return done

    def erase(self) -> None:
        """Remove from the streams here what was purged from the memory; the next exchange removes it from the remote.
        Raise Busy or GitError."""
        writer = self._file.writer
        if writer and self._streams.exists() and not self._file.get(BEFORE):
            with self._file:
                self._check_memory(writer)
                merge = StreamMerge(self._file, self._streams, self._memory.now)
                gone = self._write(writer, self.choice, merge)
                FormerStreams(self._file, self._streams, merge, writer).take_back(self._memory.now, gone)

    def start_anew(self) -> str:
        """Go on as a new writer, after this memory's stream was continued elsewhere: what is not in that stream in the
        same words is shared under the new identity. Return it."""
        with self._file:
            self._streams.create()
            return self._leave(self._file.writer or self._file.left)

    def _leave(self, old: str) -> str:
        """Be a new writer from now on, and no more the one that was; return it."""
        self._streams.point({old: self._streams.heads(INCOMING).get(old, "")})
        self._file.forget_records()
        sent = self._file.get(SENT) or "0"
        for key in (SEEN, STEP, PUSHED, REPLACED, SENT):
            self._file.put(key, "")
        if old:
            self._file.put(BEFORE, f"{old} {sent}")
            keep(self._file, FormerWriter(old))
        writer = self._file.become()
        self._streams.prune()
        return writer

    def _write(self, writer: str, choice: ShareChoice, merge: StreamMerge, decided: Set[str] = frozenset()) -> set[str]:
        """Append what is new to one's own stream, on this machine; about the records `decided` the person was asked.
        Return the records that were purged, here or by their authors, since what moved was compared."""
        state = self._file.streams().get(writer) or StreamState(writer)
        newest = str(self._memory.database.value("SELECT max(seq) FROM history") or 0)
        operations: list[Operation] = []
        name = self._file.get(NAME_KEY)
        if name and name != state.name:
            operations.append(Operation(writer, state.seq + 1, self._memory.now, "name", "", {"name": name}))
        moved = {*self._file.moved(), *decided}
        if (seen := self._file.get(SEEN)) != newest or moved:
            collector = Collector(self._memory, self._file, writer, state.seq + len(operations), self._memory.now)
            operations += collector.collect(choice, touched(self._memory, seen), moved)
            self._file.put(SEEN, newest)
            self._file.put(STEP, self._step("ORDER BY seq DESC LIMIT 1"))
        purged = {one.id for one in operations if one.op == "purge"}
        gone = purged | self._file.purged()
        if erased := merge.worded(writer, state.head, gone):
            after = state.seq + len(operations) + 1
            follow = [
                Operation(writer, seq, self._memory.now, "purge", id)
                for seq, id in enumerate(sorted(erased - purged), after)
            ]
            self._rewrite(writer, state, [*operations, *follow], erased, merge)
        elif operations:
            segments = split(writer, operations, state.digest, seen=merge.to_say(writer))
            merge.added(state, segments, self._streams.append(writer, segments, state.head, self._memory.now))
        for one in operations:
            fold(self._file, one)
        return gone

    def _rewrite(
        self, writer: str, state: StreamState, operations: list[Operation], erased: set[str], merge: StreamMerge
    ) -> None:
        """Replace one's own stream by one without the words of the records that are `erased`, one's own and what one
        changed of others', and remove the old one here."""
        kept = merge.without(writer, state.head, erased)
        segments = split(writer, [*kept, *operations], "", state.digest, merge.to_say(writer, again=True))
        self._streams.append(writer, segments, "", self._memory.now)
        self._file.put(REPLACED, self._file.get(PUSHED))
        self._streams.point({writer: ""}, INCOMING)
        merge.again(writer)

    def _push(self, writer: str, address: str, there: str) -> int:
        """Send one's own stream, unless the remote has it: there it ends with the commit `there`. Return how many
        operations it lacked. Raise GitError."""
        head = self._streams.heads().get(writer, "")
        sent = int(self._file.get(SENT) or 0)
        if head not in ("", there):
            if self._memory.config["team.sign"]:
                head = self._signed(writer, head)
            self._file.put(PUSHED, f"{self._file.get(PUSHED)} {head}".strip())
            self._file.keep()
            self._streams.push(address, writer, there if there in self._file.get(REPLACED).split() else None)
            self._pushed(writer, head)
        return int(self._file.get(SENT) or 0) - sent

    def _signed(self, writer: str, head: str) -> str:
        """Return the newest commit of one's own stream, signed if it was not. Raise GitError."""
        state = self._file.streams()[writer]
        if not self._streams.signatures([head])[head].good:
            head = state.head = self._streams.sign(writer, head)
        state.key = self._streams.signatures([head])[head].shown
        self._file.put_stream(state)
        return head

    def _pushed(self, writer: str, head: str) -> None:
        """Note that the remote has one's own stream up to the commit `head`."""
        self._file.put(PUSHED, head)
        self._file.put(SENT, str(self._file.streams()[writer].seq))
        if self._file.get(REPLACED):
            self._file.put(REPLACED, "")
            self._streams.point({writer: head}, INCOMING)
            self._streams.prune()

    def _step(self, which: str) -> str:
        """Return a step of history with its digest; empty where there is none."""
        row = self._memory.database.row(f"SELECT seq, digest FROM history {which}")
        return f"{row[0]} {bytes(row[1]).hex()}" if row else ""

    def _check_memory(self, writer: str) -> None:
        """Raise Conflict for an older state of the memory that shared last, or one that went on from another: what it
        lacks was not purged, and its numbers mean other records."""
        step = self._file.get(STEP)
        if step and self._step(f"WHERE seq = {int(step.split()[0])}") != step:
            raise Conflict(
                f"This memory is an older state, or another copy, of the one that shares as {writer}.",
                "Nothing was sent. `memoranda team new` goes on here under a new identity.",
            )

    def _check_own(self, writer: str, there: str) -> None:
        """Raise Conflict where the remote has something of this writer, up to the commit `there`, that is not here."""
        here = self._streams.heads().get(writer, "")
        state = self._file.streams().get(writer)
        if there and there == here and not (there == self._file.get(PUSHED) and self._file.get(SENT)):
            self._pushed(writer, here)  # the remote took it, and its answer was lost
        if (
            not there
            or there in (here, *self._file.get(REPLACED).split())
            or (here and self._streams.descends(here, there))
        ):
            return
        if not here and state is None:  # the folder of streams was deleted: everything is on the remote
            self._streams.point({writer: there})
            return
        raise Conflict(
            f"Your stream {writer} was continued elsewhere: by a copy of this memory, or from an older state of it.",
            "Nothing was lost. `memoranda team new` goes on here under a new identity; the other half stays.",
        )

    def _erase(self, arrived: Arrived) -> None:
        """Purge here what its author purged, the copies that Memoranda made of it, and acceptances that were undone.
        What the person said or wrote elsewhere in the same words stays."""
        if arrived.purged:
            plan = self._memory.purge.plan(dict.fromkeys(arrived.purged))
            copies = [index for index in plan.proposed() if self._copy(plan.places[index])]
            self._memory.purge.run(plan, copies, actor="team")

    def _copy(self, place: RemainingMatch) -> bool:
        """Return whether a place is a copy that Memoranda made, or a fact whose acceptance was undone."""
        if place.table == "facts":
            return not self._memory.database.value(
                "SELECT 1 FROM facts WHERE id = json_extract(?, '$[0]')", (place.key,)
            )
        return (table := TABLES.get(place.table)) is not None and table.becomes not in (RECORD, INPUT)
