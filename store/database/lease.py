"""The `worker` lease: background work is done by the process that holds it, and a killed holder is soon replaced.

A lease is a row that expires. Its holder renews it inside the transactions in which it works, so a holder that was
paused and replaced cannot overwrite the work of its successor.
"""

import os

from store.base.clock import from_ms, to_ms
from store.base.errors import MemorandaError
from store.database.database import Database, Transaction
from store.database.values import Verbatim

DURATION_MS = 5_000


class LeaseLost(MemorandaError):
    """Another process took over the work."""

    code = "lease-lost"


class Lease:
    """A claim on the work called `name`, by this object alone."""

    def __init__(self, database: Database, name: str = "worker") -> None:
        self._database = database
        self._name = name
        self._holder = f"{os.getpid()}-{os.urandom(6).hex()}"

    def take(self) -> bool:
        """Take the lease if it is free or has expired; return whether it is held."""
        with self._database.write("agent", "lease") as write:
            return self._claim(write)

    def renew(self, write: Transaction) -> None:
        """Extend the lease, in the transaction that does the work. Raise LeaseLost."""
        if not self._claim(write):
            raise LeaseLost("Another process took this work over.")

    def release(self) -> None:
        """Release the lease at once."""
        with self._database.write("agent", "lease") as write:
            mine = (Verbatim(self._name), Verbatim(self._holder))
            write.execute("DELETE FROM leases WHERE name = ? AND holder = ?", mine)

    def _claim(self, write: Transaction) -> bool:
        now = to_ms(write.at)
        row = write.execute("SELECT holder, expires_at FROM leases WHERE name = ?", (Verbatim(self._name),)).get
        if row and row[0] != self._holder:
            left = to_ms(row[1]) - now
            # more time left than a lease can have: the clock was set back, and that holder ended long ago
            if 0 < left <= DURATION_MS:
                return False
        write.execute(
            "INSERT INTO leases(name, holder, expires_at) VALUES (?, ?, ?)"
            " ON CONFLICT(name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at",
            (Verbatim(self._name), Verbatim(self._holder), Verbatim(from_ms(now + DURATION_MS))),
        )
        return True
