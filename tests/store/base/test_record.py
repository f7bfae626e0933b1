"""A record behaves as a frozen dataclass with slots does."""

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from store.base import models
from store.base.record import record


class Point:
    """Two numbers and a name."""

    x: int
    y: int
    name: str = "origin"

    @property
    def sum(self) -> int:
        return self.x + self.y


Own: Any = record(frozen=True, slots=True)(Point)
Theirs: Any = dataclasses.dataclass(frozen=True, slots=True)(Point)
models.Point = Own  # type: ignore[attr-defined]  # where pickle looks for it
Own.__module__ = "store.base.models"


@pytest.mark.parametrize("made", [Own, Theirs])
def test_it_holds_its_fields(made: Any) -> None:
    one = made(1, y=2)
    assert (one.x, one.y, one.name, one.sum) == (1, 2, "origin", 3)
    assert one == made(1, 2, "origin") != made(1, 2, name="other") and one != (1, 2, "origin")
    assert len({one, made(1, 2), made(2, 1)}) == 2
    assert repr(one) == "Point(x=1, y=2, name='origin')"
    assert made.__doc__ == "Two numbers and a name." and made.__match_args__ == ("x", "y", "name")
    assert not hasattr(one, "__dict__")


@pytest.mark.parametrize("made", [Own, Theirs])
@pytest.mark.parametrize(
    "arguments", [((1,), {}), ((1, 2, "n", 4), {}), ((1, 2), {"z": 3}), ((1, 2), {"x": 3}), ((1, 2, "n"), {"x": 1})]
)
def test_wrong_arguments_are_refused(made: Any, arguments: tuple[Any, Any]) -> None:
    values, named = arguments
    with pytest.raises(TypeError):
        made(*values, **named)


@pytest.mark.parametrize("made", [Own, Theirs])
def test_it_is_frozen(made: Any) -> None:
    one = made(1, 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del one.x
    with pytest.raises((AttributeError, TypeError)):
        one.other = 2
    assert one.x == 1


@pytest.mark.parametrize("made", [Own, Theirs])
def test_functions_of_dataclasses_work_on_it(made: Any) -> None:
    one = made(1, 2)
    assert dataclasses.is_dataclass(one) and [field.name for field in dataclasses.fields(one)] == ["x", "y", "name"]
    assert dataclasses.replace(one, y=5) == made(1, 5)
    assert dataclasses.asdict(one) == {"x": 1, "y": 2, "name": "origin"}
    assert dataclasses.astuple(one) == (1, 2, "origin")


def test_it_is_copied_and_pickled() -> None:
    one = Own(1, 2)
    assert copy.copy(one) == copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one


def test_the_records_are_such() -> None:
    when = "2026-11-21T12:00:00.000Z"
    task = models.Task(1, "renew", "pending", when, when, None, "user")
    assert task.citation == "A#1" and models.as_json(task)["text"] == "renew"
