"""The writers that this memory was before: after `team new`, or where its home was copied to another machine.

As long as nobody else adds to such a stream it still belongs to this person: what they forget, restore or purge of it
is done in that stream, as its writer would. A copy of the memory that goes on with it all the same is told so by its
next exchange, as of any other that went on elsewhere. Once somebody added to it, its writer is asked like any other.
"""

import json
from collections.abc import Callable, Set
from dataclasses import asdict, dataclass

from store.team.merge import StreamMerge
from store.team.operation import Operation
from store.team.remote.repository import INCOMING, StreamRepository
from store.team.stream import split
from store.team.team_file import StreamState, TeamFile

KEY = "former"
UNKNOWN = -1
TAKEN_BACK = ("purge", "gone", "forget", "restore")  # what one that was left gets when its owner does it from here


@dataclass(slots=True)
class FormerWriter:
    """One of them: up to which number its stream was known when it was left (UNKNOWN before the next fetch), whether
    somebody went on with it since, and the commit of the remote that the stream written here is to replace."""

    writer: str
    seq: int = UNKNOWN
    goes_on: bool = False
    replaces: str = ""

    @property
    def owned(self) -> bool:
        """Whether its stream is still this person's to write."""
        return self.seq != UNKNOWN and not self.goes_on


def read(team: TeamFile) -> dict[str, FormerWriter]:
    """Return the writers that one was before."""
    return {one["writer"]: FormerWriter(**one) for one in json.loads(team.get(KEY) or "[]")}


def keep(team: TeamFile, *changed: FormerWriter) -> None:
    """Store some of them."""
    every = read(team) | {one.writer: one for one in changed}
    team.put(KEY, json.dumps([asdict(one) for one in every.values()]))


class FormerStreams:
    """Their streams, in one exchange of `writer`, who one is now."""

    def __init__(self, team: TeamFile, streams: StreamRepository, merge: StreamMerge, writer: str) -> None:
        self._team = team
        self._streams = streams
        self._merge = merge
        self._writer = writer

    def fetched(self) -> set[str]:
        """Return those that were written here and that the remote still has as they were before: they are not merged.
        What was written to one that somebody else went on with meanwhile is dropped, and done anew or asked for."""
        incoming, here = self._streams.heads(INCOMING), self._streams.heads()
        waiting, dropped = set[str](), list[str]()
        for one in read(self._team).values():
            there = incoming.get(one.writer, "")
            if one.replaces and there == one.replaces:
                waiting.add(one.writer)
            elif one.replaces:
                one.replaces = ""
                keep(self._team, one)
                if there != here.get(one.writer, ""):  # else the remote took it, and its answer was lost
                    dropped.append(one.writer)
        for writer in dropped:
            state = self._team.streams()[writer]
            self._team.put_stream(StreamState(writer, name=state.name, believed=state.believed, key=state.key))
        if dropped:
            self._streams.point(dict.fromkeys(dropped, ""))
            self._merge.again(self._writer)
        return waiting

    def look(self) -> None:
        """Note up to where each was left, and who went on."""
        states = self._team.streams()
        for one in read(self._team).values():
            state = states.get(one.writer, StreamState(one.writer))
            if one.seq != UNKNOWN and state.seq > one.seq and not one.goes_on:
                new = [line for line in self._merge.read(one.writer, state.head) if line.seq > one.seq]
                one.goes_on = any(line.op not in TAKEN_BACK for line in new)
            if state.seq > one.seq:
                one.seq = state.seq
                keep(self._team, one)

    def take_back(self, now: str, gone: Set[str]) -> None:
        """Write what was forgotten, restored or purged here of what these writers shared to their streams, here; and
        take what they changed of records that are `gone` out of them."""
        former = read(self._team)
        me = {self._writer, *former}
        for one in former.values():
            operations: list[Operation] = []
            for record in self._team.questioned(one.writer) if one.owned else ():
                held = self._team.held_one(record.id)
                if me & record.questions["purge"].keys():
                    op = "purge"
                elif held and held.status != record.status and me & record.questions["forget"].keys():
                    op = "restore" if held.status == "active" else "forget"
                else:
                    continue
                seq = self._team.streams()[one.writer].seq + len(operations) + 1
                base = {"": record.confirmations()} if op == "forget" and record.confirmed else {}
                operations.append(Operation(one.writer, seq, now, op, record.id, base=base))
            if one.owned and (state := self._team.streams().get(one.writer)):
                told = {operation.id for operation in operations}
                changed = sorted(self._merge.worded(one.writer, state.head, gone - told))
                first = state.seq + len(operations) + 1
                operations += [Operation(one.writer, seq, now, "purge", id) for seq, id in enumerate(changed, first)]
            if operations:
                self._write(one, operations, now)

    def _write(self, one: FormerWriter, operations: list[Operation], now: str) -> None:
        state = self._team.streams()[one.writer]
        one.replaces = one.replaces or state.head
        erased = {line.id for line in operations if line.op == "purge"}
        if erased:
            kept = self._merge.without(one.writer, state.head, erased)
            seen = {about: (seq, digest) for who, about, seq, digest in self._team.seen() if who == one.writer}
            segments = split(one.writer, [*kept, *operations], "", state.digest, seen)
            state.head = self._streams.append(one.writer, segments, "", now)[-1]
            self._team.put_stream(state)
            self._streams.point({one.writer: ""}, INCOMING)
            self._merge.again(self._writer)
            for line in operations:
                if line.own and line.op == "purge":
                    self._team.drop_held(line.id)
        else:
            segments = split(one.writer, operations, state.digest)
            self._merge.added(state, segments, self._streams.append(one.writer, segments, state.head, now))
        one.seq = operations[-1].seq
        keep(self._team, one)

    def push(self, address: str, sign: Callable[[str, str], str] | None) -> None:
        """Send what was written to them; `sign` signs the newest commit of a writer. Raise GitError."""
        for one in read(self._team).values():
            if one.replaces:
                head = self._streams.heads()[one.writer]
                head = sign(one.writer, head) if sign else head
                self._team.keep()
                self._streams.push(address, one.writer, one.replaces)
                one.replaces = ""
                keep(self._team, one)
                self._streams.point({one.writer: head}, INCOMING)
                self._streams.prune()
