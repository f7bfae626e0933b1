"""What git, ssh and curl say when something is wrong with a remote, as they said it, in a person's words."""

from __future__ import annotations

from support.tables import each

from store.team.remote import MalformedStream, RemoteRefuses, StreamOvertaken, remote_error

REF = "refs/memoranda/aaaaaaaaaaaa"


@each(
    "verb, complaint, kind, words",
    [
        ("push", f"To r\n ! [rejected] {REF} -> {REF} (non-fast-forward)", StreamOvertaken, "does not have"),
        ("push", f"To r\n ! [rejected] {REF} -> {REF} (fetch first)", StreamOvertaken, "does not have"),
        ("push", f"To r\n ! [rejected] {REF} -> {REF} (stale info)", StreamOvertaken, "does not have"),
        (
            "push",
            f"remote: no\nTo r\n ! [remote rejected] {REF} -> {REF} (pre-receive hook declined)",
            RemoteRefuses,
            "remote: no",
        ),
        (
            "fetch",
            "error: object 8a: hasDotgit: contains '.git'\nfatal: fsck error in packed object",
            MalformedStream,
            "hasDotgit",
        ),
        ("fetch", "git@h: Permission denied (publickey).\nfatal: Could not read", None, "wants a login"),
        ("fetch", "Host key verification failed.\nfatal: Could not read", None, "wants a login"),
        ("fetch", "fatal: unable to access 'u': The requested URL returned error: 403", None, "wants a login"),
        ("fetch", "ssh: Could not resolve hostname h: Name or service not known", None, "cannot be reached"),
        ("push", "error: RPC failed; curl 28 Operation too slow.", None, "cannot be reached"),
        ("fetch", "fatal: repository 'u' not found", None, "no git repository"),
        ("fetch", "fatal: write error: No space left on device", None, "no room left"),
        ("fetch", "fatal: early EOF\nfatal: fetch-pack: invalid index-pack output", None, "was cut"),
        ("fetch", "error: 3 bytes of length header were received", None, "was cut"),
        ("fetch", "fatal: something new.", None, "git fetch failed: fatal: something new."),
        ("update-ref", "", None, "git update-ref failed: update-ref."),
    ],
)
def test_what_is_said(verb: str, complaint: str, kind: type | None, words: str) -> None:
    found = remote_error(verb, complaint)
    assert words in found.message and ".." not in found.message
    assert found.next or kind in (StreamOvertaken, MalformedStream)
    assert kind is None or type(found) is kind
