"""The state of a shared record follows from the set of operations known, in whatever order they came."""

from __future__ import annotations

import itertools

from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.team_schedules import MOMENT, run
from store.team.stream import Operation, SharedRecord

ANA, BOB = "a" * 12, "b" * 12
ID = f"F1@{ANA}"


def op(writer: str, seq: int, name: str, fields: dict[str, object] | None = None, **base: tuple[str, ...]) -> Operation:
    known = {key.strip("_"): value for key, value in base.items()}
    return Operation(writer, seq, MOMENT, name, ID, fields or {}, known)


def merged(operations: list[Operation]) -> SharedRecord:
    """Merge operations in every order; they come to one state."""
    states = set()
    for order in itertools.permutations(operations):
        record = SharedRecord(ID)
        for one in (*order, order[0]):
            record.merge_operation(one)
        states.add(record.to_json())
    assert len(states) == 1
    return SharedRecord.from_json(states.pop())


ADD = op(ANA, 1, "add", {"fact": "Tuesdays", "domain": "work"})


@settings(max_examples=examples(50))
@given(st.integers(0, 2**32))
def test_five_writers_who_know_the_same_see_the_same(seed: int) -> None:
    views = [one.view() for one in run(seed)]
    assert all(view == views[0] for view in views)


def test_changes_of_different_fields_both_hold() -> None:
    record = merged([ADD, op(ANA, 2, "change", {"domain": "projects"}, domain=(ADD.reference,)),
                     op(BOB, 1, "change", {"fact": "Fridays"}, fact=(ADD.reference,))])  # fmt: skip
    assert record.shown_fields() == {"fact": "Fridays", "domain": "projects"} and record.conflicts() == {}


def test_changes_of_one_field_from_the_same_base_are_a_conflict_that_either_settles() -> None:
    first = op(ANA, 2, "change", {"fact": "Thursdays"}, fact=(ADD.reference,))
    second = op(BOB, 1, "change", {"fact": "Fridays"}, fact=(ADD.reference,))
    record = merged([ADD, first, second])
    assert record.conflicts() == {"fact": {first.reference: "Thursdays", second.reference: "Fridays"}}
    assert record.shown_value("fact") == "Thursdays", "the author's is shown meanwhile"
    settled = op(BOB, 2, "change", {"fact": "Fridays"}, fact=(first.reference, second.reference))
    record = merged([ADD, first, second, settled])
    assert record.conflicts() == {} and record.shown_value("fact") == "Fridays"


def test_forget_beats_a_confirmation_which_becomes_a_question() -> None:
    confirmed = op(BOB, 1, "confirm", __=(ADD.reference,))
    record = merged([ADD, confirmed, op(ANA, 2, "forget")])
    assert record.status == "forgotten" and record.unseen_confirmers() == [BOB]
    record = merged([ADD, confirmed, op(ANA, 2, "forget", __=(confirmed.reference,))])
    assert record.unseen_confirmers() == [], "its author had seen that"
    record = merged([ADD, op(ANA, 2, "confirm", __=(ADD.reference,)), op(ANA, 3, "forget")])
    assert record.unseen_confirmers() == [], "the author's own is none"


def test_only_the_author_forgets_and_brings_back() -> None:
    asked = op(BOB, 1, "forget")
    record = merged([ADD, asked])
    assert record.status == "active" and record.questions["forget"] == {BOB: 1}
    record = merged([ADD, op(ANA, 2, "forget"), op(ANA, 3, "restore")])
    assert record.status == "active"


def test_a_purge_by_its_author_leaves_nothing_whatever_else_arrives() -> None:
    later = op(BOB, 2, "change", {"fact": "Sundays"}, fact=(ADD.reference,))
    record = merged([ADD, op(ANA, 2, "purge"), op(BOB, 1, "accept"), later])
    assert record.status == "purged" and record.to_json() == f'{{"id":"{ID}","purged":true}}'
    assert merged([ADD, op(BOB, 1, "purge")]).status == "active", "a teammate's is a question"


def test_what_came_before_its_first_operation_waits_for_it() -> None:
    record = SharedRecord(ID)
    record.merge_operation(op(BOB, 1, "change", {"fact": "Fridays"}, fact=(ADD.reference,)))
    assert record.status == "unknown"
    record.merge_operation(ADD)
    assert record.status == "active" and record.shown_value("fact") == "Fridays"


@settings(max_examples=examples(20))
@given(st.integers(0, 2**32))
def test_a_record_is_kept_as_it_is(seed: int) -> None:
    for one in run(seed)[0].records.values():
        again = SharedRecord.from_packed(one.id, one.to_packed())
        assert again.to_json() == one.to_json() and again.to_packed() == one.to_packed()
        assert SharedRecord.from_json(one.to_json()).to_packed() == one.to_packed()


def test_a_record_is_seen_as_the_same_by_whoever_knows_the_same_of_it() -> None:
    """Without its first operation it is unknown to everybody, whatever else came: no one sees it as forgotten."""
    rest = [op(ANA, 2, "forget"), op(BOB, 1, "confirm", __=(ADD.reference,)), op(BOB, 2, "accept")]
    for count in range(1, len(rest) + 1):
        for several in itertools.combinations(rest, count):
            assert merged(list(several)).status == "unknown"
            assert merged([ADD, *several]).status == ("forgotten" if several[0].op == "forget" else "active")


def test_of_several_texts_the_authors_is_shown_whoever_comes_first_in_the_alphabet() -> None:
    record = SharedRecord(f"F1@{BOB}")
    first = Operation(BOB, 1, MOMENT, "add", record.id, {"fact": "Tuesdays", "domain": "work"})
    for one in (
        first,
        Operation(ANA, 1, MOMENT, "change", record.id, {"fact": "Fridays"}, {"fact": (first.reference,)}),
        Operation(BOB, 2, MOMENT, "change", record.id, {"fact": "Thursdays"}, {"fact": (first.reference,)}),
    ):
        record.merge_operation(one)
    assert record.shown_value("fact") == "Thursdays" and len(record.conflicts()["fact"]) == 2
