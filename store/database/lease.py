"""The `worker` lease: background work is done by whichever process holds it, and a killed holder is soon replaced.

A lease is a row that runs out. Its holder renews it inside the very transactions in which it works, so a holder that
was paused and replaced cannot write over the one that took its place.
"""

import os

from store.base.clock import from_ms, to_ms
from store.base.errors import MemorandaError
from store.database.database import Database, Transaction
from store.database.values import Verbatim

DURATION_MS = 5_000


class LeaseLost(MemorandaError):
    """Another process took the work over."""

    code = "lease-lost"


class Lease:
    """A claim on the work called `name`, by this object alone."""

    def __init__(self, database: Database, name: str = "worker") -> None:
        self._database = database
        self._name = name
        self._holder = f"{os.getpid()}-{os.urandom(6).hex()}"

    def take(self) -> bool:
        """Hold the lease from now on, if it is free or has run out."""
        with self._database.write("agent", "lease") as write:
            return self._claim(write)

    def renew(self, write: Transaction) -> None:
        """Hold it for a while longer, in the transaction that does the work. Raises LeaseLost."""
        if not self._claim(write):
            raise LeaseLost("Another process took this work over.")

    def release(self) -> None:
        """Let the next one in at once."""
        with self._database.write("agent", "lease") as write:
            mine = (Verbatim(self._name), Verbatim(self._holder))
            write.execute("DELETE FROM leases WHERE name = ? AND holder = ?", mine)

    def _claim(self, write: Transaction) -> bool:
        now = to_ms(write.at)
        row = write.execute("SELECT holder, expires_at FROM leases WHERE name = ?", (Verbatim(self._name),)).get
        if row and row[0] != self._holder:
            left = to_ms(row[1]) - now
            # more time left than a lease can have: the clock was set back, and that holder is long gone
            if 0 < left <= DURATION_MS:
                return False
        write.execute(
            "INSERT INTO leases(name, holder, expires_at) VALUES (?, ?, ?)"
            " ON CONFLICT(name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at",
            (Verbatim(self._name), Verbatim(self._holder), Verbatim(from_ms(now + DURATION_MS))),
        )
        return True
