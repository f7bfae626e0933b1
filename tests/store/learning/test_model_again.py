"""A turn that a model reads again, since there was no room for all that it tells."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from support.asked import asking
from support.learned import hear

from store.learning import model_pass
from store.librarian.chat import ChatMessage
from store.librarian.structured_output import ModelSession
from store.memory import Memory

NAMES = ("Ana", "Bruno", "Carla", "Diego", "Elena", "Fabio")


def find_bakeries(messages: Sequence[ChatMessage]) -> dict[str, object]:
    lines = enumerate(messages[-1][1].splitlines(), 1)
    return {"facts": [{"sentence": number, "domain": "work"} for number, line in lines if "panadería" in line]}


def test_what_waits_keeps_its_number_and_only_the_rest_is_asked(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person who is about to answer P#2 answers the same question a moment later."""

    @contextmanager
    def model(*_: object, **__: object) -> Iterator[ModelSession]:
        yield asking(find_bakeries, database=memory.database)[0]

    monkeypatch.setattr(model_pass, "open_model_session", model)
    monkeypatch.setattr(model_pass, "MOST_MODEL_PROPOSALS", 4)
    hear(memory, " ".join(f"{name} tiene una panadería en la calle {name}." for name in NAMES))
    assert model_pass.run_model_pass(memory).asked == (1, 2, 3, 4)
    first = [memory.inbox.get(number).text for number in (2, 3, 4)]
    memory.inbox.reject([1])
    assert model_pass.run_model_pass(memory).asked == (5,)
    assert sorted(memory.inbox.ids()) == [2, 3, 4, 5]
    assert [memory.inbox.get(number).text for number in (2, 3, 4)] == first
