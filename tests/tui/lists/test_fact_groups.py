"""A change of the facts moves none of those that stay in their list."""

from array import array

from tui.lists.fact_groups import FactGroup, settle_groups


def group(need: str, *keys: int) -> FactGroup:
    return need, array("q", keys)


def plain(groups: list[FactGroup]) -> list[tuple[str, list[int]]]:
    return [(need, list(keys)) for need, keys in groups]


def test_a_forgotten_fact_leaves_and_the_others_stay_where_they_stood() -> None:
    before = [group("stale", 4, 2), group("fresh", 9, 7)]
    after = [group("stale", 2), group("fresh", 7, 9)]
    assert plain(settle_groups(before, after, {})) == [("stale", [2]), ("fresh", [9, 7])]


def test_what_replaces_a_fact_takes_its_place_once() -> None:
    before = [group("stale", 4, 2), group("fresh", 9)]
    after = [group("fresh", 11, 9)]
    assert plain(settle_groups(before, after, {4: 11, 2: 11})) == [("stale", [11]), ("fresh", [9])]


def test_a_new_fact_stands_behind_the_one_before_it_in_the_new_order() -> None:
    before = [group("fresh", 9, 7)]
    assert plain(settle_groups(before, [group("fresh", 7, 8, 9)], {})) == [("fresh", [9, 7, 8])]


def test_a_list_in_one_order_is_taken_as_it_is_read() -> None:
    assert plain(settle_groups([group("", 1, 2)], [group("", 2, 1)], {})) == [("", [2, 1])]
