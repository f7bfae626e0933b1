"""Filters by themselves: their letters, chips, and how one that is typed goes on."""

from store.search.query.query_parser import IS
from tui.lists.filters.facets import ALL, MOST, Choice, Facet, chips, counted, following, lettered, written_by
from tui.lists.filters.query_filters import completed, completions, filters_of, narrowed, of_search
from tui.lists.pane_facets import states
from tui.theme.pieces import width

COUNTS = {"active": 118, "stale": 13, "low": 7, "aging": 34, "fresh": 64, "pinned": 2, "superseded": 11, "forgotten": 6}
DOMAINS = counted("domain", "Domain", [("work", 55), ("projects", 17), ("preferences", 15), ("personal", 9)])
WRITERS = written_by("origin", [("user", 70), ("import:notes", 11), ("mcp:claude-code", 10)])


def test_each_choice_has_a_letter_of_its_own_and_those_of_the_states_never_change() -> None:
    tags = counted("tag", "Tag", [(f"tag-{number}", 30 - number) for number in range(20)])
    columns = lettered([states(COUNTS, every=True), DOMAINS, WRITERS, tags])
    assert [letter for letter, _ in columns[0]] == ["s", "l", "a", "p", "f", "r", "g"]
    assert [letter for letter, _ in columns[1]] == ["w", "o", "e", "n"], "the first of its word that is free"
    letters = [letter for column in columns for letter, _ in column]
    assert len(set(letters)) == len(letters) and ALL not in letters and "" not in letters
    assert len(columns[3]) == MOST


def test_the_next_chip_is_one_that_leaves_records_and_the_last_is_followed_by_all() -> None:
    facet = Facet("kind", "Kind", (Choice("a", "A", 2), Choice("b", "B", 0), Choice("c", "C")))
    assert [following(facet, now) for now in (None, "a", "c", "gone")] == ["a", "c", None, None]


def test_what_somebody_wrote_is_never_an_action_of_its_own() -> None:
    """An origin with quotes stays the argument of its chip."""
    hostile = "x')\nforget('"
    facet = written_by("actor", [(hostile, 1)])
    actions = [piece[2] for piece in chips(facet, {}, 80) if len(piece) == 3]
    assert f"only('actor', {hostile!r})" in actions
    for piece in chips(facet, {"actor": hostile, "words": "[/nope]"}, 80):
        assert "\n" not in piece[0]


def test_filters_of_other_facets_are_chips_too() -> None:
    text = "".join(piece[0] for piece in chips(states(COUNTS), {"domain": "self_correction", "tag": "vat"}, 200))
    assert " self correction × " in text and " #vat × " in text and "Stale 13" in text
    assert width(chips(states(COUNTS), {}, 60)) <= 60 + 5


TAGS = counted("tag", "Tag", [("infra", 1)])
FACETS = of_search(
    [states(COUNTS, every=True), DOMAINS, WRITERS, TAGS], {"fact": 118, "decision": 34}, [("infra", 3)], ["Ana", "user"]
)


def test_a_filter_that_is_typed_is_completed_with_numbers() -> None:
    assert completions("invoices is:s", FACETS) == [("is:stale", 13)]
    assert ("is:replaced", 11) in completions("is:", FACETS) and ("is:fresh", 62) not in completions("is:", FACETS)
    assert completions("kind:d", FACETS) == [("kind:decision", 34)]
    assert completions("author:claude", FACETS) == [("author:mcp:claude-code", None)]
    assert completions("author:a", FACETS) == [("author:Ana", None)], "of commits"
    assert completions("by:u", FACETS) == [("by:user", None)], "facts are not all that one wrote"
    assert completions("tag:in", FACETS) == [("tag:infra", 3)], "of all kinds, as the search finds them"
    assert completions("since:y", FACETS) == [("since:yesterday", None)]
    for whole in ("", "stale", "is:stale", "is:stale ", "nothing:s", "is:zebra"):
        assert completions(whole, FACETS) == [], whole
    assert completed("invoices is:s", "is:stale") == "invoices is:stale "


def test_every_state_that_a_search_knows_is_completed() -> None:
    for state in IS:
        shown = {"superseded": "replaced"}.get(state, state)
        if state not in ("active", "contradicted"):
            assert f"is:{shown}" in [text for text, _ in completions(f"is:{shown[:-1]}", FACETS)], state


def test_a_filter_takes_the_place_of_another_of_its_field() -> None:
    assert filters_of('blue by:agent since:"2 weeks ago" author:x') == {"by:": "x", "since:": "2 weeks ago"}
    assert narrowed("blue kind:fact is:stale", {"kind:": "decision"}) == "blue is:stale kind:decision"
    assert narrowed("author:x blue", {"by:": ""}) == "blue"
    assert narrowed("blue", {"since:": "2 weeks ago"}) == 'blue since:"2 weeks ago"'
