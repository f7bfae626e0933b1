"""The lease: one worker at a time, and a dead one soon replaced."""

import pytest

from store.database.database import LEASE_MS, Lease, LeaseLost
from store.memory import Memory


@pytest.fixture
def neighbour(memory: Memory, clock):  # type: ignore[no-untyped-def]
    """The same file, open a second time, as another process would have it."""
    with Memory.open(memory.location.path, "app", clock) as other:
        yield other


def renew(memory: Memory, lease: Lease) -> None:
    with memory.database.write("agent", "work") as write:
        lease.renew(write)


def test_one_holder_at_a_time(memory, neighbour):
    """While one holds the lease nobody else gets it; the holder may ask as often as it likes."""
    mine, theirs = Lease(memory.database), Lease(neighbour.database)
    assert mine.acquire() and mine.acquire()
    assert not theirs.acquire()
    with pytest.raises(LeaseLost):
        renew(neighbour, theirs)
    assert mine.acquire()


def test_two_leases_of_one_process_are_two_holders(memory):
    """The holder is the object, not the process: two panes of one app do no job twice."""
    first, second = Lease(memory.database), Lease(memory.database)
    assert first.acquire() and not second.acquire()


def test_leases_for_different_work_do_not_meet(memory):
    """Whoever indexes does not keep anybody from reading git."""
    assert Lease(memory.database, "git").acquire() and Lease(memory.database, "index").acquire()


def test_a_lease_lasts_until_it_runs_out(memory, neighbour, clock):
    """A killed holder is replaced after DURATION_MS, and not a moment sooner."""
    mine, theirs = Lease(memory.database), Lease(neighbour.database)
    assert mine.acquire()
    clock.advance(milliseconds=LEASE_MS - 2)  # reading the clock adds one
    assert not theirs.acquire()
    assert theirs.acquire()


def test_renewing_holds_it_for_longer(memory, neighbour, clock):
    """A holder at work keeps it for as long as it renews."""
    mine, theirs = Lease(memory.database), Lease(neighbour.database)
    assert mine.acquire()
    for _ in range(4):
        clock.advance(milliseconds=LEASE_MS - 1_000)
        renew(memory, mine)
        assert not theirs.acquire()


def test_a_holder_that_was_replaced_cannot_write(memory, neighbour, clock):
    """A paused process wakes up, finds the lease gone, and what it was about to write is rolled back."""
    mine, theirs = Lease(memory.database), Lease(neighbour.database)
    assert mine.acquire()
    clock.advance(milliseconds=LEASE_MS)
    assert theirs.acquire()
    with pytest.raises(LeaseLost), memory.database.write("agent", "work") as write:
        write.execute("INSERT INTO meta(key, value) VALUES ('done', 'twice')")
        mine.renew(write)
    assert memory.database.value("SELECT value FROM meta WHERE key = 'done'") is None
    renew(neighbour, theirs)


def test_a_clock_set_back_does_not_keep_the_lease_for_ever(memory, neighbour, clock):
    """With more time left than a lease can have, the clock was set back: the row says nothing and is taken over."""
    mine, theirs = Lease(memory.database), Lease(neighbour.database)
    assert mine.acquire()
    clock.advance(days=-30)
    assert theirs.acquire()
    assert not mine.acquire()


def test_released_is_free_at_once(memory, neighbour):
    """Whoever ends its work well makes nobody wait; releasing what another holds does nothing."""
    mine, theirs = Lease(memory.database), Lease(neighbour.database)
    assert mine.acquire()
    theirs.release()
    assert not theirs.acquire()
    mine.release()
    assert theirs.acquire()


def test_leases_leave_no_history(memory):
    """Operational rows are no change of the memory."""
    lease = Lease(memory.database)
    lease.acquire()
    lease.release()
    assert memory.history.steps() == []
