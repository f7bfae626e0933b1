"""Embeds what waits in a memory, in a process of its own: `python -m store.doors.mcp.embedding_process PATH SECONDS`.
The model goes with it when it ends."""

import os
import sys
import time

from store.base.location import locate
from store.memory import Memory


def main(path: str, seconds: float) -> None:
    """Embed what waits in the memory at `path`, for some seconds at most, or until whoever started it is gone."""
    from store.services import background_embedding

    os.nice(10)
    started, parent = time.monotonic(), os.getppid()

    def over() -> bool:
        return time.monotonic() - started > seconds or os.getppid() != parent

    with Memory(locate(path, {}, os.getcwd()), "worker", create=False) as memory:
        background_embedding.embed(memory, cancelled=over)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
