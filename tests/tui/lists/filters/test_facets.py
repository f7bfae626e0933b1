"""Filters by themselves: their letters, chips, and how one that is typed goes on."""

from store.search.query_parser import IS_VALUES
from tui.lists.fact_groups import state_facet
from tui.lists.filters import (
    MOST_CHOICES,
    SHOW_ALL_KEY,
    Facet,
    FacetChoice,
    assign_letters,
    complete_filter,
    counted_facet,
    facet_chips,
    filter_completions,
    filters_in_query,
    narrow_query,
    next_choice,
    search_facets,
    writer_facet,
)
from tui.theme.line_filters import pieces_width

COUNTS = {"active": 118, "stale": 13, "low": 7, "aging": 34, "fresh": 64, "pinned": 2, "superseded": 11, "forgotten": 6}
DOMAINS = counted_facet("domain", "Domain", [("work", 55), ("projects", 17), ("preferences", 15), ("personal", 9)])
WRITERS = writer_facet("origin", [("user", 70), ("import:notes", 11), ("mcp:claude-code", 10)])


def test_each_choice_has_a_letter_of_its_own_and_those_of_the_states_never_change() -> None:
    tags = counted_facet("tag", "Tag", [(f"tag-{number}", 30 - number) for number in range(20)])
    columns = assign_letters([state_facet(COUNTS, every=True), DOMAINS, WRITERS, tags])
    assert [letter for letter, _ in columns[0]] == ["s", "l", "a", "p", "f", "r", "g"]
    assert [letter for letter, _ in columns[1]] == ["w", "o", "e", "n"], "the first of its word that is free"
    letters = [letter for column in columns for letter, _ in column]
    assert len(set(letters)) == len(letters) and SHOW_ALL_KEY not in letters and "" not in letters
    assert len(columns[3]) == MOST_CHOICES


def test_the_next_chip_is_one_that_leaves_records_and_the_last_is_followed_by_all() -> None:
    facet = Facet("kind", "Kind", (FacetChoice("a", "A", 2), FacetChoice("b", "B", 0), FacetChoice("c", "C")))
    assert [next_choice(facet, now) for now in (None, "a", "c", "gone")] == ["a", "c", None, None]


def test_what_somebody_wrote_is_never_an_action_of_its_own() -> None:
    """An origin with quotes stays the argument of its chip."""
    hostile = "x')\nforget('"
    facet = writer_facet("actor", [(hostile, 1)])
    actions = [piece[2] for piece in facet_chips(facet, {}, 80) if len(piece) == 3]
    assert f"only('actor', {hostile!r})" in actions
    for piece in facet_chips(facet, {"actor": hostile, "words": "[/nope]"}, 80):
        assert "\n" not in piece[0]


def test_filters_of_other_facets_are_chips_too() -> None:
    text = "".join(
        piece[0] for piece in facet_chips(state_facet(COUNTS), {"domain": "self_correction", "tag": "vat"}, 200)
    )
    assert " self correction × " in text and " #vat × " in text and "Stale 13" in text
    assert pieces_width(facet_chips(state_facet(COUNTS), {}, 60)) <= 60 + 5


TAGS = counted_facet("tag", "Tag", [("infra", 1)])
FACETS = search_facets(
    [state_facet(COUNTS, every=True), DOMAINS, WRITERS, TAGS],
    {"fact": 118, "decision": 34},
    [("infra", 3)],
    ["Ana", "user"],
)


def test_a_filter_that_is_typed_is_completed_with_numbers() -> None:
    assert filter_completions("invoices is:s", FACETS) == [("is:stale", 13)]
    assert ("is:replaced", 11) in filter_completions("is:", FACETS) and ("is:fresh", 62) not in filter_completions(
        "is:", FACETS
    )
    assert filter_completions("kind:d", FACETS) == [("kind:decision", 34)]
    assert filter_completions("author:claude", FACETS) == [("author:mcp:claude-code", None)]
    assert filter_completions("author:a", FACETS) == [("author:Ana", None)], "of commits"
    assert filter_completions("by:u", FACETS) == [("by:user", None)], "facts are not all that one wrote"
    assert filter_completions("tag:in", FACETS) == [("tag:infra", 3)], "of all kinds, as the search finds them"
    assert filter_completions("since:y", FACETS) == [("since:yesterday", None)]
    for whole in ("", "stale", "is:stale", "is:stale ", "nothing:s", "is:zebra"):
        assert filter_completions(whole, FACETS) == [], whole
    assert complete_filter("invoices is:s", "is:stale") == "invoices is:stale "


def test_every_state_that_a_search_knows_is_completed() -> None:
    for state in IS_VALUES:
        shown = {"superseded": "replaced"}.get(state, state)
        if state not in ("active", "contradicted"):
            assert f"is:{shown}" in [text for text, _ in filter_completions(f"is:{shown[:-1]}", FACETS)], state


def test_a_filter_takes_the_place_of_another_of_its_field() -> None:
    assert filters_in_query('blue by:agent since:"2 weeks ago" author:x') == {"by:": "x", "since:": "2 weeks ago"}
    assert narrow_query("blue kind:fact is:stale", {"kind:": "decision"}) == "blue is:stale kind:decision"
    assert narrow_query("author:x blue", {"by:": ""}) == "blue"
    assert narrow_query("blue", {"since:": "2 weeks ago"}) == 'blue since:"2 weeks ago"'
