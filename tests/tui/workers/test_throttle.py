"""What is done beside takes a small part of the time while others write, and all of it once they have paused."""

from pathlib import Path

import pytest
from support.stories import Clock, location

from store.memory import Memory
from tui.workers import background as throttle
from tui.workers.background import CONTINUOUS_SECONDS, PIECE_REST, PIECE_SECONDS, LearningWorker, Pace, Share


class Time:
    """The clock of `pace`, in a test's hands."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr(throttle, "monotonic", time)
    return time


def test_one_write_delays_nothing_and_a_row_of_them_does(time: Time) -> None:
    one = Pace()
    one.note_write()
    assert not one.busy()
    time.now += CONTINUOUS_SECONDS
    one.note_write()
    assert not one.busy(), "now and then is not a lot"
    for _ in range(10):
        time.now += 0.5
        one.note_write()
        assert one.busy()
    time.now += CONTINUOUS_SECONDS
    assert not one.busy()


def test_a_work_takes_its_share_and_no_more(time: Time) -> None:
    """At 20 writes a second, for ten minutes: a thirtieth of the time; a second later it may take all."""
    others = Pace()
    share = Share(others)
    worked = 0.0
    others.note_write()
    for _ in range(1_200):
        time.now += 0.5
        others.note_write()
        if not share.resting():
            with share:
                while not share.is_spent():
                    time.now += PIECE_SECONDS / 3
                    worked += PIECE_SECONDS / 3
    assert 0 < worked <= 600 / PIECE_REST + 2 * PIECE_SECONDS
    time.now += CONTINUOUS_SECONDS
    assert not share.resting()
    with share:
        time.now += 60
        assert not share.is_spent()
    assert not share.resting()


def test_learning_goes_on_a_piece_at_a_time(tmp_path: Path, time: Time) -> None:
    """What waits is all looked at in the end, and nothing of it while it rests."""
    place = location(tmp_path)
    others = Pace()

    def slow() -> bool:  # a batch takes that long
        time.now += PIECE_SECONDS + 0.1
        others.note_write()
        return False

    learner = LearningWorker(place, Clock(), type("Keys", (), {"give_way": staticmethod(slow)}), others)
    with Memory(place, "cli", Clock()) as memory:
        for number in range(70):
            memory.facts.remember(f"The service number {number} is deployed on Tuesdays")
        left = [70]
        for _ in range(10):
            others.note_write()
            others.note_write()
            assert learner.is_learning_due(memory) or left[-1] == 0
            learner.run_rules()
            left.append(memory.database.value("SELECT count(*) FROM uncompared"))
            assert not learner.is_learning_due(memory), "it rests"
            time.now += (PIECE_REST + 2) * 10
            if not left[-1]:
                break
    assert left[-1] == 0 and left == sorted(left, reverse=True) and len(left) > 2
