"""What a command gave, for tests that run it in their own process or in one of its own."""

import json
import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

COMMAND = os.path.join(os.path.dirname(sys.executable), "memoranda")


class Said(NamedTuple):
    """What a command gave."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The one JSON value on standard output."""
        return json.loads(self.out)


Do = Callable[..., Said]
