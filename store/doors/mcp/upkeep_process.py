"""Does what is due in a memory, and ends: `python -m store.doors.mcp.upkeep_process PATH FOLDER`. Retention, git, what
was said and waits to be read, checkpoints, documents, backups, vectors; each under a lease, so that nothing is done
twice."""

import os
import sys
import time

from store.base.errors import MemorandaError
from store.base.location import locate
from store.memory import Memory

SECONDS = 1_800  # that it embeds at most
READING_SECONDS = 5.0


def main(path: str, cwd: str) -> None:
    """Do what is due in the memory at `path`, used from the folder `cwd`, until the process that started this ends."""
    from store.services import automatic_checkpoints, background_embedding, maintenance, session_flush

    os.nice(10)
    started, parent = time.monotonic(), os.getppid()

    def over() -> bool:
        return time.monotonic() - started > SECONDS or os.getppid() != parent

    with Memory(locate(path, {}, cwd), "worker", create=False) as memory:
        if memory.database.read_only or not memory.config["enabled"]:
            return
        for work in (
            lambda: maintenance.start(memory, cwd, cancelled=over),
            lambda: _read(memory),
            lambda: session_flush.flush_due(memory),
            lambda: automatic_checkpoints.take_due_checkpoint(memory),
            lambda: memory.sync.run_due(over),
            lambda: memory.documents.scan(cancelled=over),
            lambda: maintenance.keep_backups(memory, over),
            lambda: background_embedding.waiting(memory) and background_embedding.embed(memory, cancelled=over),
        ):
            if over():
                return
            try:
                work()
            except MemorandaError:
                continue  # the next may succeed; doctor reports what cannot be done


def _read(memory: Memory) -> None:
    """Learn by rules from what was said and waits to be read."""
    from store.conversations import extraction_queue

    if extraction_queue.due(memory.database, memory.now):
        from store.learning import rule_pass

        rule_pass.run(memory, seconds=READING_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
