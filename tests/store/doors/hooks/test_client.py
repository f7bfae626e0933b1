"""What the client of one file makes of what a resident sends: nothing that was not kept counts as answered."""

from socket import AF_UNIX, SOCK_STREAM, socketpair

from support.tables import each

from store.doors import memoranda_hook
from store.doors.memoranda_hook import DEFERRED_MARK, DONE_MARK


@each(
    "sent, answer",
    [
        (DONE_MARK + b"heron-7", b"heron-7"),
        (DONE_MARK, b""),
        (DEFERRED_MARK + DONE_MARK + b"heron-7", b"heron-7"),
        # it ended before the event was kept: another process has to take it
        (b"", None),
        (DEFERRED_MARK, None),
        (b"heron-7, and no mark that it was kept", None),
    ],
)
def test_an_event_that_a_resident_did_not_keep_is_not_taken_for_answered(sent: bytes, answer: bytes | None) -> None:
    ours, theirs = socketpair(AF_UNIX, SOCK_STREAM)
    with ours, theirs:
        theirs.sendall(sent)
        theirs.close()
        assert memoranda_hook._read_answer(ours) == answer


def test_a_resident_that_is_late_has_the_event() -> None:
    ours, theirs = socketpair(AF_UNIX, SOCK_STREAM)
    with ours, theirs:
        ours.settimeout(0.01)
        theirs.sendall(DONE_MARK + b"heron")
        assert memoranda_hook._read_answer(ours) == b""
