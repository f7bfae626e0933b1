"""Which backup is looked at, and which one the verdict is about."""

from pathlib import Path

import pytest
from conftest import Clock

from store.base.errors import NotFound
from store.exchange.backups import find_backups, make_backup, verify_backup
from store.memory import Memory


def test_the_newest_is_looked_at_unless_one_is_named(memory: Memory, clock: Clock) -> None:
    with pytest.raises(NotFound, match="no backup yet"):
        verify_backup(memory.database)
    made = []
    for fact in ("the team is five", "the team is six", "the team is seven"):
        memory.facts.remember(fact)
        made.append(make_backup(memory.database))
        clock.advance(days=1)
    first, middle, newest = [one for one in made if one]
    Path(first.path).write_bytes(b"")
    assert verify_backup(memory.database) == (newest.path, "")
    Path(newest.path).write_bytes(b"")
    assert verify_backup(memory.database, middle.name) == (middle.path, "")
    for named in (None, first.name, first.path):
        path, problem = verify_backup(memory.database, named)
        assert path == (first.path if named else newest.path) and problem
    assert [(one.name, bool(one.problem)) for one in find_backups(memory.database)] == [
        (newest.name, True),
        (middle.name, False),
        (first.name, True),
    ]
