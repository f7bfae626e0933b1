"""Verify what was fetched of other writers' streams and merge it; say what is wrong with one, and keep what was good.

Every exchange looks at all streams anew, so that a stream which its writer mended carries no warning any more.
"""

from collections.abc import Iterator, Sequence, Set

from store.base.clock import DAY_MS, to_ms
from store.team.operation import Operation, Refused
from store.team.remote.repository import INCOMING, StreamRepository
from store.team.remote.signatures import Signature, doubt
from store.team.stream import Seen, Segment, decoded, digest, follows
from store.team.team_file import StreamState, TeamFile
from store.team.view import SharedRecord

NOBODY = StreamState("")
GONE = ("gone", "purge")  # what a rewritten line of a purged record becomes


class StreamMerge:
    """The merging of one exchange. `rewritten` says whether a stream was replaced, so that all is merged anew."""

    def __init__(self, team: TeamFile, streams: StreamRepository, now: str) -> None:
        self._team = team
        self._streams = streams
        self._now = now
        self.operations = 0
        self.rewritten = False
        self._ahead: dict[str, int] = {}  # milliseconds of a writer's clock before this one
        self._fresh: set[str] = set()  # streams that were not known here before
        self.notes: list[str] = []  # about what arrived, for a person to read

    def others(self, writer: str, waiting: Set[str] = frozenset()) -> None:
        """Merge every stream but one's own, and those `waiting` to be sent. Raise GitError."""
        incoming = self._streams.heads(INCOMING)
        known = self._team.streams()
        for state in known.values():
            if state.head and not self._team.digests(state.writer):  # an earlier version did not note them
                for segment, newest in self._verified(state.writer, state.head):
                    self._note(segment, newest)
        new = [head for other, head in incoming.items() if other != writer and head != known.get(other, NOBODY).head]
        signed = self._streams.signatures(new)
        self._fresh = {other for other in incoming if not known.get(other, NOBODY).at}
        verified = {}
        for other in sorted({*incoming, *known, *self._streams.refused} - {writer, *waiting}):
            state = known.get(other) or StreamState(other)
            head = incoming.get(other, "")
            self._one(state, head, signed.get(head, Signature()))
            if why := self._streams.refused.get(other):
                state.said = f"refused after number {state.seq}: {why}"
            self._team.put_stream(state)
            verified[other] = state.head
            self._clock(state)
        self._streams.point({other: head for other, head in verified.items() if head})
        if self.rewritten:
            self.again(writer)
        self._compare(writer)

    def again(self, writer: str) -> None:
        """Merge every stream from its first operation, one's own too, and remove what none holds any more."""
        heads = {other: state.head for other, state in self._team.streams().items()}
        heads |= {other: head for other, head in self._streams.heads().items() if other == writer}
        self._team.forget_records()
        for other, head in heads.items():
            state = self._team.streams().get(other) or StreamState(other)
            if head:
                self._append(state, self._verified(other, head), head)
            self._team.put_stream(state)
        self._streams.prune()

    def own(self, writer: str) -> list[Operation]:
        """Merge what one's own stream has beyond what is known of it, as after a kill; return that."""
        head = self._streams.heads().get(writer, "")
        state = self._team.streams().get(writer) or StreamState(writer)
        if not head or head == state.head:
            return []
        if state.head and digest(next(self._streams.segments(writer, [head]))) == state.digest:
            state.head = head  # its newest commit was signed
            self._team.put_stream(state)
            return []
        found = list(self._verified(writer, head, state))
        self._append(state, iter(found), head)
        self._team.put_stream(state)
        return [one for segment, _ in found for one in segment.operations]

    def added(self, state: StreamState, segments: Sequence[bytes], commits: Sequence[str]) -> None:
        """Merge segments that were just written to one's own stream, as these commits."""
        for data, commit in zip(segments, commits, strict=True):
            self._take(state, decoded(data, state.writer), digest(data), commit)
        self._team.put_stream(state)

    def to_say(self, writer: str, again: bool = False) -> Seen:
        """Return what `writer` has seen of others' streams and did not say yet, or with `again` all of it."""
        said = {about: at for witness, about, *at in self._team.seen() if witness == writer and not again}
        return {
            other: (state.seq, state.digest)
            for other, state in self._team.streams().items()
            if other != writer and state.head and not state.said and said.get(other) != [state.seq, state.digest]
        }

    def _compare(self, writer: str) -> None:
        """Say where what others saw of a stream is not in it. One that its author rewrote after a purge holds no old
        segment but names the last: to who knew it that is no news, and who comes new is told of who did not see it."""
        states = self._team.streams()
        for witness, about, seq, seen in self._team.seen():
            state = states.get(about, StreamState(about))
            if writer in (witness, about) or state.said or seen in self._team.digests(about):
                continue
            who = states.get(witness, StreamState(witness)).shown
            rewritten = self._team.rewritten(about)
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
                    f"{state.shown}: its stream was rewritten, as after a purge. {who} saw it before, and has not said"
                    " since that they saw this one."
                )

    def read(self, writer: str, head: str) -> list[Operation]:
        """Return all operations of a verified stream. Raise Refused or GitError."""
        return [one for segment, _ in self._verified(writer, head) for one in segment.operations]

    def worded(self, writer: str, head: str, ids: Set[str]) -> set[str]:
        """Return those of these records of which a verified stream has words."""
        return {one.id for one in self.read(writer, head) if one.id in ids and one.fields} if head and ids else set()

    def without(self, writer: str, head: str, erased: Set[str]) -> list[Operation]:
        """Return the operations of a verified stream without the words of the records that are `erased`."""
        return [
            Operation(writer, one.seq, one.at, "gone", one.id) if one.id in erased and one.op != "purge" else one
            for one in (self.read(writer, head) if head else ())
        ]

    def _clock(self, state: StreamState) -> None:
        """Note a clock that is ahead of this machine's by days."""
        ahead = self._ahead.get(state.writer, 0)
        if ahead >= DAY_MS:
            days = round(ahead / DAY_MS)
            self.notes.append(
                f"{state.shown}: its clock, or the one here, is wrong: {days} days ahead. Order is by number, and times"
                " count from the arrival, so nothing else comes of it."
            )

    def _one(self, state: StreamState, head: str, signature: Signature) -> None:
        """Bring one stream up to what was fetched, or say why not."""
        state.said = ""
        if head == state.head:
            return
        try:
            if not head:
                state.said = "its stream is gone from the remote"
            elif waits := doubt(state, signature):
                state.said = waits
            elif not state.head or self._streams.descends(head, state.head):
                self._append(state, self._verified(state.writer, head, state), head)
            elif self._streams.descends(state.head, head):
                state.said = "its stream was cut short on the remote"
            else:
                self._replace(state, head)
        except Refused as error:
            state.said = f"refused after number {state.seq}: {error.message.rstrip('.')}"

    def _verified(self, writer: str, head: str, since: StreamState | None = None) -> Iterator[tuple[Segment, str]]:
        """Yield the segments of a stream since a state, each checked against the one before, with its digest."""
        seq, newest, after = (since.seq, since.digest, since.head) if since else (0, "", "")
        commits = self._streams.commits(writer, head, after)
        for data in self._streams.segments(writer, commits):
            segment = decoded(data, writer)
            follows(segment, seq, newest)
            seq, newest = segment.operations[-1].seq, digest(data)
            yield segment, newest

    def _append(self, state: StreamState, segments: Iterator[tuple[Segment, str]], head: str) -> None:
        """Merge whole segments one after the other: what is good before a bad one stays."""
        commits = self._streams.commits(state.writer, head, state.head)
        for commit, (segment, newest) in zip(commits, segments, strict=False):
            self._take(state, segment, newest, commit)

    def _take(self, state: StreamState, segment: Segment, newest: str, commit: str) -> None:
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
                touched[one.id] = self._team.record(one.id)
            touched[one.id].take(one)
        self._team.put_records(touched.values())
        self._note(segment, newest)
        self.operations += len(segment.operations)
        state.head, state.seq, state.digest, state.at = commit, segment.operations[-1].seq, newest, self._now

    def _note(self, segment: Segment, newest: str) -> None:
        """Note a segment, with its digest `newest`, and what it says that its writer saw."""
        self._team.put_segment(segment.writer, segment.operations[-1].seq, newest, segment.rewrites)
        for other, (seq, seen) in segment.seen.items():
            if other != segment.writer:
                self._team.put_seen(segment.writer, other, seq, seen)

    def _replace(self, state: StreamState, head: str) -> None:
        """Take a stream that its writer replaced after a purge; raise Refused for any other that does not go on."""
        new = list(self._verified(state.writer, head))
        lines = [one for segment, _ in new for one in segment.operations]
        erased = {one.id for one in lines if one.op == "purge"}
        old = self.read(state.writer, state.head)
        if len(lines) < len(old) or not new[0][0].rewrites:
            raise Refused("it was replaced by another stream")
        for before, after in zip(old, lines, strict=False):
            if before.line() != after.line() and not (
                after.op in (GONE if after.own else GONE[:1]) and after.id == before.id and after.id in erased
            ):
                raise Refused("it was rewritten")
        state.head = head
        self.rewritten = True
