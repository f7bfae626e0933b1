"""A person, the application and git work on one file in any order, and no line is lost: see `bench.sync`."""

from pathlib import Path

import pytest
from conftest import examples

from bench.sync import Lost, Schedule


def lived(folder: Path, seed: int, git: bool) -> None:
    schedule = Schedule(str(folder / str(seed)), seed, git)
    try:
        schedule.live()
    finally:
        schedule.close()


@pytest.mark.parametrize("git", [False, True])
def test_no_schedule_loses_a_line(tmp_path: Path, git: bool) -> None:
    for seed in range(examples(1 if git else 2)):
        lived(tmp_path, seed, git)


@pytest.mark.slow
@pytest.mark.sampled(40)
@pytest.mark.parametrize("batch", range(40))
def test_none_of_many_schedules_loses_a_line(tmp_path: Path, batch: int) -> None:
    for seed in range(100 + 5 * batch, 105 + 5 * batch):
        lived(tmp_path, seed, git=True)


def test_a_line_that_is_lost_is_noticed(tmp_path: Path) -> None:
    schedule = Schedule(str(tmp_path), 1, git=False)
    with schedule.memory.database.write("agent", "lose it") as write:
        write.execute("UPDATE facts SET status = 'forgotten' WHERE id = 1")
    with pytest.raises(Lost, match="does not hold"):
        schedule.check()
    schedule.close()
