"""Records: what they say of themselves."""

from support.tables import each

from store.base.models import Commit

LONG = "Implement issue #62: search for ADR dir in parents of current"


def commit(message: str) -> Commit:
    return Commit(1, "a" * 40, message, "Nat", 1, 1, 0, "2018-07-25T18:27:00.000Z", None, True, "a" * 7)


@each(
    "message, head, body",
    [
        ("fix: a comma", "fix: a comma", ""),
        ("fix: a comma\n\nBecause.\n", "fix: a comma", "Because."),
        (f"{LONG}\ndirectory.\n\nBecause.", f"{LONG}\ndirectory.", "Because."),
        (f"{LONG}\n{LONG}\ndirectory.", f"{LONG}\n{LONG}\ndirectory.", ""),
        # what is no more than a line below another is a body, as people write who leave no line between
        ("fix login\nand the logo", "fix login", "and the logo"),
        (f"{LONG}\n- docs\n- tests", LONG, "- docs\n- tests"),
        (f"{LONG}\n* docs", LONG, "* docs"),
        (f"{LONG}\nSigned-off-by: Nat <nat@example.org>", LONG, "Signed-off-by: Nat <nat@example.org>"),
        (f"{LONG}\n{LONG}\n{LONG}\n{LONG}", LONG, f"{LONG}\n{LONG}\n{LONG}"),  # a text, not a title
        ("feat: from Windows\r\n\r\nBecause.\r\nIt is.\r\n", "feat: from Windows", "Because.\r\nIt is."),
        (f"{LONG}\r\ndirectory.\r\n", f"{LONG}\r\ndirectory.", ""),
        ("", "", ""),
    ],
)
def test_the_subject_of_a_commit_goes_on_where_its_line_was_wrapped(message: str, head: str, body: str) -> None:
    """A subject that is cut in mid-sentence says something else than its author."""
    found = commit(message)
    assert (found.subject_lines, found.body) == (head, body)
    assert found.subject == head.replace("\r", "").replace("\n", " ") or "(no message)"
    assert found.message.startswith(found.subject_lines)
    assert found.headline == message.split("\n")[0].strip()[:200] or found.headline == "(no message)"
