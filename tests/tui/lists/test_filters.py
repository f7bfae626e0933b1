"""Filters by themselves: their chips, and how one that is typed goes on."""

from support.tables import each

from store.search.query_parser import IS_VALUES
from tui.lists import filters
from tui.lists.filters import Facet, FacetChoice, facet_chips, filter_completions, narrow_query, writer_facet
from tui.panes.records import kind_facet
from tui.theme.line_filters import pieces_width

STATES = Facet(
    "state",
    "State",
    tuple(
        FacetChoice(value, word, number, glyph)
        for value, word, number, glyph in (
            *(
                ("stale", "Stale", 13, "▲"),
                ("low", "Low", 7, "▽"),
                ("aging", "Aging", 34, "◐"),
                ("pinned", "Pinned", 2, "★"),
            ),
            *(("fresh", "Fresh", 62, "•"), ("superseded", "Replaced", 11, "↷"), ("forgotten", "Forgotten", 6, "✕")),
        )
    ),
    118,
)
WORDS = ("Stale", "Low", "Aging", "Pinned", "Fresh", "Replaced", "Forgotten")
DOMAINS = filters.counted_facet("domain", "Domain", [("work", 55), ("projects", 17), ("preferences", 15)])
WRITERS = writer_facet("origin", [("user", 70), ("import:notes", 11), ("mcp:claude-code", 10)])
TAGS = filters.counted_facet("tag", "Tag", [("infra", 1)])
FACETS = filters.search_facets(
    [STATES, DOMAINS, WRITERS, TAGS], {"fact": 118, "decision": 34}, [("infra", 3)], ["Ana", "user"]
)


def text_of(pieces: list) -> str:
    return "".join(piece[0] for piece in pieces)


def test_the_next_chip_is_one_that_leaves_records_and_the_last_is_followed_by_all() -> None:
    facet = Facet("kind", "Kind", (FacetChoice("a", "A", 2), FacetChoice("b", "B", 0), FacetChoice("c", "C")))
    assert [filters.next_choice(facet, now) for now in (None, "a", "c", "gone")] == ["a", "c", None, None]


@each("state", [None, "stale", "fresh"])
def test_chips_without_room_are_folded_and_the_chosen_one_never_is(state: str | None) -> None:
    for room in range(45, 120):
        pieces = facet_chips(STATES, {"state": state} if state else {}, room)
        text = text_of(pieces)
        assert pieces_width(pieces) <= max(room, 48), (room, text)
        assert ("×" in text) is (state is not None) and text.startswith(" All 118 ")
        assert ("+" in text) is not all(word in text for word in WORDS)


def test_filters_of_other_facets_are_chips_and_what_somebody_wrote_is_never_an_action_of_its_own() -> None:
    """An origin with quotes stays the argument of its chip."""
    text = text_of(facet_chips(STATES, {"domain": "self_correction", "tag": "vat"}, 200))
    assert " self correction × " in text and " #vat × " in text and "Stale 13" in text
    hostile = "x')\nforget('"
    facet = writer_facet("actor", [(hostile, 1)])
    assert f"only_by('actor', {hostile!r})" in [piece[2] for piece in facet_chips(facet, {}, 80) if len(piece) == 3]
    for piece in facet_chips(facet, {"actor": hostile, "words": "[/nope]"}, 80):
        assert "\n" not in piece[0]


def test_the_kinds_of_the_timeline_add_up_to_all_and_what_is_apart_says_so() -> None:
    facet = kind_facet({"decision": 3, "commit": 4, "summary": 2})
    apart = [one for one in facet.choices if "not in All" in one.word]
    assert sum(one.number or 0 for one in facet.choices if one not in apart) == facet.total == 7
    assert [one.word for one in apart] == ["Summaries, not in All"]


@each(
    "typed, completions",
    [
        ("invoices is:s", [("is:stale", 13)]),
        ("kind:d", [("kind:decision", 34)]),
        ("author:claude", [("author:mcp:claude-code", None)]),
        ("author:a", [("author:Ana", None)]),  # of commits
        ("by:u", [("by:user", None)]),  # facts are not all that one wrote
        ("tag:in", [("tag:infra", 3)]),  # of all kinds, as the search finds them
        ("since:y", [("since:yesterday", None)]),
        *((whole, []) for whole in ("", "stale", "is:stale", "is:stale ", "nothing:s", "is:zebra")),
    ],
)
def test_a_filter_that_is_typed_is_completed_with_numbers(typed: str, completions: list) -> None:
    assert filter_completions(typed, FACETS) == completions


def test_every_state_that_a_search_knows_is_completed() -> None:
    offered = filter_completions("is:", FACETS)
    assert ("is:replaced", 11) in offered and ("is:fresh", 62) not in offered
    assert filters.complete_filter("invoices is:s", "is:stale") == "invoices is:stale "
    for state in IS_VALUES:
        shown = {"superseded": "replaced"}.get(state, state)
        if state not in ("active", "contradicted"):
            assert f"is:{shown}" in [text for text, _ in filter_completions(f"is:{shown[:-1]}", FACETS)], state


def test_a_filter_takes_the_place_of_another_of_its_field() -> None:
    assert filters.filters_in_query('blue by:agent since:"2 weeks ago" author:x') == {
        "by:": "x",
        "since:": "2 weeks ago",
    }
    assert narrow_query("blue kind:fact is:stale", {"kind:": "decision"}) == "blue is:stale kind:decision"
    assert narrow_query("author:x blue", {"by:": ""}) == "blue"
    assert narrow_query("blue", {"since:": "2 weeks ago"}) == 'blue since:"2 weeks ago"'
