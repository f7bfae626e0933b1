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


@pytest.fixture
def mine(memory: Memory) -> Lease:
    """A lease that was taken."""
    lease = Lease(memory.database)
    assert lease.acquire()
    return lease


@pytest.fixture
def theirs(neighbour: Memory) -> Lease:
    return Lease(neighbour.database)


def test_one_holder_at_a_time(memory, neighbour, mine, theirs):
    """While one holds the lease nobody else gets it, not even another of this process: two panes of one app do no job
    twice. The holder may ask as often as it likes, other work has a lease of its own, and none is a change of the
    memory."""
    assert mine.acquire()
    assert not theirs.acquire() and not Lease(memory.database).acquire()
    with pytest.raises(LeaseLost):
        renew(neighbour, theirs)
    assert mine.acquire()
    assert Lease(memory.database, "git").acquire() and Lease(memory.database, "index").acquire()
    mine.release()
    assert memory.history.steps() == []


def test_a_lease_lasts_until_it_runs_out(memory, mine, theirs, clock):
    """A killed holder is replaced after DURATION_MS, and not a moment sooner; one at work keeps it for as long as it
    renews."""
    for _ in range(4):
        clock.advance(milliseconds=LEASE_MS - 1_000)
        renew(memory, mine)
        assert not theirs.acquire()
    assert mine.acquire()
    clock.advance(milliseconds=LEASE_MS - 2)  # reading the clock adds one
    assert not theirs.acquire()
    assert theirs.acquire()


def test_a_holder_that_was_replaced_cannot_write(memory, neighbour, mine, theirs, clock):
    """A paused process wakes up, finds the lease gone, and what it was about to write is rolled back."""
    clock.advance(milliseconds=LEASE_MS)
    assert theirs.acquire()
    with pytest.raises(LeaseLost), memory.database.write("agent", "work") as write:
        write.execute("INSERT INTO meta(key, value) VALUES ('done', 'twice')")
        mine.renew(write)
    assert memory.database.value("SELECT value FROM meta WHERE key = 'done'") is None
    renew(neighbour, theirs)


def test_a_clock_set_back_does_not_keep_the_lease_for_ever(mine, theirs, clock):
    """With more time left than a lease can have, the clock was set back: the row says nothing and is taken over."""
    clock.advance(days=-30)
    assert theirs.acquire()
    assert not mine.acquire()


def test_released_is_free_at_once(mine, theirs):
    """Whoever ends its work well makes nobody wait; releasing what another holds does nothing."""
    theirs.release()
    assert not theirs.acquire()
    mine.release()
    assert theirs.acquire()
