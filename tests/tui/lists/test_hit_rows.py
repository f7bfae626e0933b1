"""Search hits by themselves: a title stands apart from what follows it."""

from support.tables import each

from store.base.models import Checkpoint, Commit, Decision, Event, Fact
from store.search.pipeline import searchable_text
from store.search.results import Hit
from tui.commands.search import _excerpt
from tui.lists.record_rows import hit_rows
from tui.render.search_results import densest_mark

NOW = "2026-11-21T12:00:00.000Z"
DECISION = Decision(7, None, "Use SQLite", "We need transactions", "One file", ("MySQL",), "", "high", "", NOW,
                    "active", None, "user")  # fmt: skip
EVENT = Event(3, None, "gate_passed", "test", {"rounding_cases": 16, "off": 0}, NOW, "agent")
LEARNED, CONFIRMED = "2026-01-25T12:00:00.000Z", "2026-11-19T12:00:00.000Z"
FACT = Fact(5, "work", "Uses tabs", "high", "explicit", "project", "active", None, LEARNED, CONFIRMED, 0.5, False,
            "user", (), ())  # fmt: skip
MESSAGE = "Fix pool option warnings\r\n\r\n* set the level\r\n* use the new option"


def commit(message: str, reachable: bool = True) -> Commit:
    return Commit(1, "e724abd" * 5, message, "Ana", 1, 2, 3, NOW, None, reachable, "e724abd")


def drawn(hit: Hit, width: int = 60) -> list[list[tuple[str, str]]]:
    return hit_rows([("", [hit])], NOW).lines(0, width)


def found(record: Decision | Event, *words: str) -> Hit:
    """A hit of the whole record, with these words of it marked."""
    text = searchable_text(record)
    marks = [(start := text.index(word), start + len(word)) for word in words]
    return Hit("decision" if isinstance(record, Decision) else "event", record, text, marks, 1.0)


def words_of(lines: list[list[tuple[str, str]]]) -> list[str]:
    return [" ".join("".join(text for text, _ in line).split()) for line in lines]


@each("width", [40, 60, 120])
def test_what_a_decision_chose_stands_below_its_title(width: int) -> None:
    lines = drawn(found(DECISION, "SQLite", "file"), width)
    title, *below = words_of(lines)
    assert title.startswith("◆ Use SQLite ") and "One" not in title
    assert " ".join(below) == "One file · We need transactions · MySQL"
    assert [text for line in lines for text, look in line if look == "match"] == ["SQLite", "file"]
    assert {look for text, look in lines[1] if text.strip() and look != "match"} == {"dim"}


@each(
    "hit, lines",
    [
        (found(EVENT, "passed", "rounding"), ["· gate passed test E#3 · now", "rounding cases: 16, off: 0"]),
        (Hit("decision", DECISION, "Use SQLite", [], 1.0), ["◆ Use SQLite D#7 · now"]),
        # learned 300 days ago and confirmed two days ago: the lists say 2 d, and so does a search
        (Hit("fact", FACT, "Uses tabs", [], 1.0), ["• Uses tabs fresh · F#5 · 2 d"]),
        # line ends of Windows, as in the messages of commits that were merged on the web
        (
            Hit("commit", commit(MESSAGE), MESSAGE, [(27, 28)], 1.0),
            ["○ Fix pool option warnings C#e724abd · now", "* set the level · * use the new option"],
        ),
        (Hit("commit", commit("Paint", False), "Paint", [], 1.0), ["○ Paint gone · C#e724abd · now"]),
    ],
)
def test_a_hit_says_what_it_is(hit: Hit, lines: list[str]) -> None:
    assert words_of(drawn(hit)) == lines


def test_an_automatic_checkpoint_is_named_by_its_topic() -> None:
    point = Checkpoint(18, "", NOW, 4, "interval", "agent", "meso", "s1", None, 90, None, "Which report", "2 turns")
    assert searchable_text(point) == "Which report"


@each("width", [40, 50, 60, 70])
def test_a_long_text_that_begins_before_its_match_begins_at_a_word(width: int) -> None:
    text = "One server at Hetzner runs it all, three copies a day are kept elsewhere, and the pager is off: " * 2
    text += "SQLite needs no server, so there is nobody on call for it."
    record = Decision(7, None, text, "", "", (), "", "", "", NOW, "active", None, "user")
    start = text.index("nobody")
    lines = drawn(Hit("decision", record, text, [(start, start + 6)], 1.0), width)
    first = "".join(part for part, _ in lines[0]).removeprefix("◆ ").partition("  ")[0].split()[0]
    assert first.startswith("…") and first.removeprefix("…") in text.split(), first


def test_a_row_begins_where_most_of_the_words_are() -> None:
    """Not where the commonest of them is."""
    text = "The size of the pool is in the guide. " * 8 + "Invoices are numbered by quarter, with no size."
    marks = [(at, at + 4) for at in range(len(text)) if text.startswith("size", at)]
    marks += [(at := text.index(word), at + len(word)) for word in ("Invoices", "numbered", "quarter")]
    assert "Invoices are numbered by quarter" in " ".join(
        words_of(drawn(Hit("event", EVENT, text, sorted(marks), 1.0)))
    )
    assert "«Invoices» are «numbered» by «quarter»" in _excerpt(text, sorted(marks))
    assert densest_mark("a b a", [(0, 1), (2, 3), (4, 5)], 9) == 0


@each("offset", range(12))
def test_a_line_of_the_command_line_begins_and_ends_with_whole_words(offset: int) -> None:
    tail = " Numbered by quarter." + " Kept in Lisbon." * 20
    text = "x" * offset + " The size of the ledger is in the guide." * 6 + tail
    at = text.index("Numbered")
    shown = _excerpt(text, [(at, at + 8)])
    words = shown.removeprefix("… ").removesuffix(" …").replace("«", "").replace("»", "").split()
    assert shown.startswith("… ") and shown.endswith(" …") and {words[0], words[-1]} <= set(text.split())
    assert "«Numbered»" in shown and len(shown) <= 160 + 6
