"""Verify what was fetched of other writers' streams and merge it; say what is wrong with one, and keep what was good.

Every exchange looks at all streams anew, so that a stream which its writer mended carries no warning any more.
"""

import json
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import asdict, dataclass

from store.base.clock import DAY_MS, to_ms
from store.team.remote import INCOMING_REFS, Signature, StreamRepository, signature_doubt
from store.team.stream import (
    Operation,
    RefusedStream,
    SeenStreams,
    SharedRecord,
    StreamSegment,
    parse_segment,
    require_follows,
    segment_digest,
    split_segments,
)
from store.team.team_file import StreamState, TeamFile

UNKNOWN_STREAM = StreamState("")
# what a rewritten line of a purged record becomes
ERASED_OPERATIONS = ("gone", "purge")


class StreamMerge:
    """The merging of one exchange. `rewritten` says whether a stream was replaced, so that all is merged anew."""

    def __init__(self, team: TeamFile, streams: StreamRepository, now: str) -> None:
        self._team = team
        self._streams = streams
        self._now = now
        self.operations = 0
        self.rewritten = False
        # milliseconds of a writer's clock before this one
        self._ahead: dict[str, int] = {}
        # streams that were not known here before
        self._fresh: set[str] = set()
        # about what arrived, for a person to read
        self.notes: list[str] = []

    def merge_others(self, writer: str, waiting: Set[str] = frozenset()) -> None:
        """Merge every other stream, except those `waiting` to be sent. Raise GitError."""
        incoming = self._streams.heads(INCOMING_REFS)
        known = self._team.stream_states()
        for state in known.values():
            # an earlier version did not note them
            if state.head and not self._team.segment_digests(state.writer):
                for segment, newest in self._verify_segments(state.writer, state.head):
                    self._note_segment(segment, newest)
        new = [
            head
            for other, head in incoming.items()
            if other != writer and head != known.get(other, UNKNOWN_STREAM).head
        ]
        signed = self._streams.read_signatures(new)
        self._fresh = {other for other in incoming if not known.get(other, UNKNOWN_STREAM).at}
        verified = {}
        for other in sorted({*incoming, *known, *self._streams.refused} - {writer, *waiting}):
            state = known.get(other) or StreamState(other)
            head = incoming.get(other, "")
            self._merge_stream(state, head, signed.get(head, Signature()))
            if why := self._streams.refused.get(other):
                state.said = f"refused after number {state.seq}: {why}"
            self._team.put_stream(state)
            verified[other] = state.head
            ahead = self._ahead.get(state.writer, 0)
            if ahead >= DAY_MS:
                days = round(ahead / DAY_MS)
                self.notes.append(
                    f"{state.display_name}: its clock, or the one here, is wrong: "
                    f"{days} days ahead. Order is by number, and times"
                    " count from the arrival, so nothing else comes of it."
                )
        self._streams.point_refs({other: head for other, head in verified.items() if head})
        if self.rewritten:
            self.merge_all_again(writer)
        self._compare_sightings(writer)

    def merge_all_again(self, writer: str) -> None:
        """Merge every stream from its first operation, one's own too, and remove what no stream holds any more."""
        heads = {other: state.head for other, state in self._team.stream_states().items()}
        heads |= {other: head for other, head in self._streams.heads().items() if other == writer}
        self._team.forget_records()
        for other, head in heads.items():
            state = self._team.stream_states().get(other) or StreamState(other)
            if head:
                self._merge_segments(state, self._verify_segments(other, head), head)
            self._team.put_stream(state)
        self._streams.prune_objects()

    def merge_own(self, writer: str) -> list[Operation]:
        """Merge what one's own stream has beyond what is known of it, as after a kill. Return these operations."""
        head = self._streams.heads().get(writer, "")
        state = self._team.stream_states().get(writer) or StreamState(writer)
        if not head or head == state.head:
            return []
        if state.head and segment_digest(next(self._streams.read_segments(writer, [head]))) == state.digest:
            # its newest commit was signed
            state.head = head
            self._team.put_stream(state)
            return []
        found = list(self._verify_segments(writer, head, state))
        self._merge_segments(state, iter(found), head)
        self._team.put_stream(state)
        return [one for segment, _ in found for one in segment.operations]

    def merge_written(self, state: StreamState, segments: Sequence[bytes], commits: Sequence[str]) -> None:
        """Merge segments that were just written to one's own stream, as these commits."""
        for data, commit in zip(segments, commits, strict=True):
            self._merge_segment(state, parse_segment(data, state.writer), segment_digest(data), commit)
        self._team.put_stream(state)

    def unsaid_sightings(self, writer: str, again: bool = False) -> SeenStreams:
        """Return what `writer` saw of others' streams and did not say yet; with `again` all of it."""
        said = {about: at for witness, about, *at in self._team.list_seen() if witness == writer and not again}
        return {
            other: (state.seq, state.digest)
            for other, state in self._team.stream_states().items()
            if other != writer and state.head and not state.said and said.get(other) != [state.seq, state.digest]
        }

    def _compare_sightings(self, writer: str) -> None:
        """Say where what others saw of a stream is not in it. One that its author rewrote after a purge holds no old
        segment but names the last: to who knew it that is no news, and who comes new is told of who did not see it."""
        states = self._team.stream_states()
        for witness, about, seq, seen in self._team.list_seen():
            state = states.get(about, StreamState(about))
            if writer in (witness, about) or state.said or seen in self._team.segment_digests(about):
                continue
            who = states.get(witness, StreamState(witness)).display_name
            rewritten = self._team.replaced_digest(about)
            if not state.head:
                self.notes.append(f"{who} saw a stream {about}, up to number {seq}, that is not on the remote.")
            elif not rewritten:
                state.said = (
                    f"{who} saw another stream of it, up to number {seq}: it was replaced as a whole, or they say so"
                    " wrongly; ask both before you accept what it shares"
                )
                self._team.put_stream(state)
            elif about in self._fresh and rewritten != seen:
                self.notes.append(
                    f"{state.display_name}: its stream was rewritten, as after a "
                    f"purge. {who} saw it before, and has not said"
                    " since that they saw this one."
                )

    def read_operations(self, writer: str, head: str) -> list[Operation]:
        """Return all operations of a verified stream. Raise RefusedStream or GitError."""
        return [one for segment, _ in self._verify_segments(writer, head) for one in segment.operations]

    def find_worded(self, writer: str, head: str, ids: Set[str]) -> set[str]:
        """Return which of these records a verified stream has words of."""
        return (
            {one.id for one in self.read_operations(writer, head) if one.id in ids and one.fields}
            if head and ids
            else set()
        )

    def operations_without(self, writer: str, head: str, erased: Set[str]) -> list[Operation]:
        """Return the operations of a verified stream without the words of the records that are `erased`."""
        return [
            Operation(writer, one.seq, one.at, "gone", one.id) if one.id in erased and one.op != "purge" else one
            for one in (self.read_operations(writer, head) if head else ())
        ]

    def _merge_stream(self, state: StreamState, head: str, signature: Signature) -> None:
        """Bring one stream up to what was fetched, or say why not."""
        state.said = ""
        if head == state.head:
            return
        try:
            if not head:
                state.said = "its stream is gone from the remote"
            elif waits := signature_doubt(state, signature):
                state.said = waits
            elif not state.head or self._streams.is_descendant(head, state.head):
                self._merge_segments(state, self._verify_segments(state.writer, head, state), head)
            elif self._streams.is_descendant(state.head, head):
                state.said = "its stream was cut short on the remote"
            else:
                self._replace_stream(state, head)
        except RefusedStream as error:
            state.said = f"refused after number {state.seq}: {error.message.rstrip('.')}"

    def _verify_segments(
        self, writer: str, head: str, since: StreamState | None = None
    ) -> Iterator[tuple[StreamSegment, str]]:
        """Yield the segments of a stream since a state, each checked against the segment before, with its digest."""
        seq, newest, after = (since.seq, since.digest, since.head) if since else (0, "", "")
        commits = self._streams.list_commits(writer, head, after)
        for data in self._streams.read_segments(writer, commits):
            segment = parse_segment(data, writer)
            require_follows(segment, seq, newest)
            seq, newest = segment.operations[-1].seq, segment_digest(data)
            yield segment, newest

    def _merge_segments(
        self, state: StreamState, segments: Iterator[tuple[StreamSegment, str]], head: str
    ) -> None:
        """Merge whole segments one after the other: what is good before a bad one stays."""
        commits = self._streams.list_commits(state.writer, head, state.head)
        for commit, (segment, newest) in zip(commits, segments, strict=False):
            self._merge_segment(state, segment, newest, commit)

    def _merge_segment(self, state: StreamState, segment: StreamSegment, newest: str, commit: str) -> None:
        """Merge one verified segment, with its digest `newest`."""
        touched: dict[str, SharedRecord] = {}
        newest_at = max(one.at for one in segment.operations)
        if newest_at > self._now:
            self._ahead[state.writer] = to_ms(newest_at) - to_ms(self._now)
        for one in segment.operations:
            if one.op == "name":
                state.name = str(one.fields["name"])
                continue
            if one.id not in touched:
                touched[one.id] = self._team.get_record(one.id)
            touched[one.id].merge_operation(one)
        self._team.put_records(touched.values())
        self._note_segment(segment, newest)
        self.operations += len(segment.operations)
        state.head, state.seq, state.digest, state.at = commit, segment.operations[-1].seq, newest, self._now

    def _note_segment(self, segment: StreamSegment, newest: str) -> None:
        """Note a segment, with its digest `newest`, and what it says that its writer saw."""
        self._team.put_segment(segment.writer, segment.operations[-1].seq, newest, segment.rewrites)
        for other, (seq, seen) in segment.seen.items():
            if other != segment.writer:
                self._team.put_seen(segment.writer, other, seq, seen)

    def _replace_stream(self, state: StreamState, head: str) -> None:
        """Take a stream that its writer replaced after a purge. Raise RefusedStream for any other stream that does
        not continue."""
        new = list(self._verify_segments(state.writer, head))
        lines = [one for segment, _ in new for one in segment.operations]
        erased = {one.id for one in lines if one.op == "purge"}
        old = self.read_operations(state.writer, state.head)
        if len(lines) < len(old) or not new[0][0].rewrites:
            raise RefusedStream("it was replaced by another stream")
        for before, after in zip(old, lines, strict=False):
            if before.as_line() != after.as_line() and not (
                after.op in (ERASED_OPERATIONS if after.own else ERASED_OPERATIONS[:1])
                and after.id == before.id
                and after.id in erased
            ):
                raise RefusedStream("it was rewritten")
        state.head = head
        self.rewritten = True


# The writers that this memory was before: after `team new`, or where its home was copied to another machine.
#
# As long as nobody else adds to such a stream it still belongs to this person: what they forget, restore or purge of it
# is done in that stream, as its writer would. A copy of the memory that goes on with it all the same is told so by its
# next exchange, as of any other that went on elsewhere. Once somebody added to it, its writer is asked like any other.

FORMER_KEY = "former"
UNKNOWN_NUMBER = -1
OWNER_OPERATIONS = (
    "purge",
    "gone",
    "forget",
    "restore",
)  # what one that was left gets when its owner does it from here


@dataclass(slots=True)
class FormerWriter:
    """One of them: up to which number its stream was known when it was left (UNKNOWN before the next fetch), whether
    somebody went on with it since, and the commit of the remote that the stream written here is to replace."""

    writer: str
    seq: int = UNKNOWN_NUMBER
    goes_on: bool = False
    replaces: str = ""

    @property
    def is_owned(self) -> bool:
        """Whether its stream is still this person's to write."""
        return self.seq != UNKNOWN_NUMBER and not self.goes_on


def read_former_writers(team: TeamFile) -> dict[str, FormerWriter]:
    """Return the writers that this memory was before, by name."""
    return {one["writer"]: FormerWriter(**one) for one in json.loads(team.get_choice(FORMER_KEY) or "[]")}


def store_former_writers(team: TeamFile, *changed: FormerWriter) -> None:
    """Store some of the former writers."""
    every = read_former_writers(team) | {one.writer: one for one in changed}
    team.put_choice(FORMER_KEY, json.dumps([asdict(one) for one in every.values()]))


class FormerStreams:
    """Their streams, in one exchange of `writer`, who one is now."""

    def __init__(self, team: TeamFile, streams: StreamRepository, merge: StreamMerge, writer: str) -> None:
        self._team = team
        self._streams = streams
        self._merge = merge
        self._writer = writer

    def find_waiting(self) -> set[str]:
        """Return the streams that were written here and that the remote still has as they were before; they are
        not merged. What was written to a stream that somebody else continued meanwhile is dropped, and is done
        anew or asked for."""
        incoming, here = self._streams.heads(INCOMING_REFS), self._streams.heads()
        waiting, dropped = set[str](), list[str]()
        for one in read_former_writers(self._team).values():
            there = incoming.get(one.writer, "")
            if one.replaces and there == one.replaces:
                waiting.add(one.writer)
            elif one.replaces:
                one.replaces = ""
                store_former_writers(self._team, one)
                # else the remote took it, and its answer was lost
                if there != here.get(one.writer, ""):
                    dropped.append(one.writer)
        for writer in dropped:
            state = self._team.stream_states()[writer]
            self._team.put_stream(StreamState(writer, name=state.name, believed=state.believed, key=state.key))
        if dropped:
            self._streams.point_refs(dict.fromkeys(dropped, ""))
            self._merge.merge_all_again(self._writer)
        return waiting

    def note_left_streams(self) -> None:
        """Note up to where each stream was left, and who continued it."""
        states = self._team.stream_states()
        for one in read_former_writers(self._team).values():
            state = states.get(one.writer, StreamState(one.writer))
            if one.seq != UNKNOWN_NUMBER and state.seq > one.seq and not one.goes_on:
                new = [line for line in self._merge.read_operations(one.writer, state.head) if line.seq > one.seq]
                one.goes_on = any(line.op not in OWNER_OPERATIONS for line in new)
            if state.seq > one.seq:
                one.seq = state.seq
                store_former_writers(self._team, one)

    def write_take_backs(self, now: str, gone: Set[str]) -> None:
        """Write what was forgotten, restored or purged here of what these writers shared to their streams, here; and
        take what they changed of records that are `gone` out of them."""
        former = read_former_writers(self._team)
        me = {self._writer, *former}
        for one in former.values():
            operations: list[Operation] = []
            for record in self._team.questioned_records(one.writer) if one.is_owned else ():
                held = self._team.get_held(record.id)
                if me & record.questions["purge"].keys():
                    op = "purge"
                elif held and held.status != record.status and me & record.questions["forget"].keys():
                    op = "restore" if held.status == "active" else "forget"
                else:
                    continue
                seq = self._team.stream_states()[one.writer].seq + len(operations) + 1
                base = {"": record.confirmations()} if op == "forget" and record.confirmed else {}
                operations.append(Operation(one.writer, seq, now, op, record.id, base=base))
            if one.is_owned and (state := self._team.stream_states().get(one.writer)):
                told = {operation.id for operation in operations}
                changed = sorted(self._merge.find_worded(one.writer, state.head, gone - told))
                first = state.seq + len(operations) + 1
                operations += [
                    Operation(one.writer, seq, now, "purge", id) for seq, id in enumerate(changed, first)
                ]
            if operations:
                self._write_operations(one, operations, now)

    def _write_operations(self, one: FormerWriter, operations: list[Operation], now: str) -> None:
        """Append operations to a former stream here; rewrite it if they purge something."""
        state = self._team.stream_states()[one.writer]
        one.replaces = one.replaces or state.head
        erased = {line.id for line in operations if line.op == "purge"}
        if erased:
            kept = self._merge.operations_without(one.writer, state.head, erased)
            seen = {
                about: (seq, digest) for who, about, seq, digest in self._team.list_seen() if who == one.writer
            }
            segments = split_segments(one.writer, [*kept, *operations], "", state.digest, seen)
            state.head = self._streams.append_segments(one.writer, segments, "", now)[-1]
            self._team.put_stream(state)
            self._streams.point_refs({one.writer: ""}, INCOMING_REFS)
            self._merge.merge_all_again(self._writer)
            for line in operations:
                if line.own and line.op == "purge":
                    self._team.drop_held(line.id)
        else:
            segments = split_segments(one.writer, operations, state.digest)
            self._merge.merge_written(
                state, segments, self._streams.append_segments(one.writer, segments, state.head, now)
            )
        one.seq = operations[-1].seq
        store_former_writers(self._team, one)

    def push_former(self, address: str, sign: Callable[[str, str], str] | None) -> None:
        """Send what was written to them; `sign` signs the newest commit of a writer. Raise GitError."""
        for one in read_former_writers(self._team).values():
            if one.replaces:
                head = self._streams.heads()[one.writer]
                head = sign(one.writer, head) if sign else head
                self._team.commit()
                self._streams.push(address, one.writer, one.replaces)
                one.replaces = ""
                store_former_writers(self._team, one)
                self._streams.point_refs({one.writer: head}, INCOMING_REFS)
                self._streams.prune_objects()
