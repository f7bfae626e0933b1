"""Does what is due in a memory, and ends: `python -m store.doors.upkeep_process PATH FOLDER`. Retention, git, what
was said and waits to be read, checkpoints, documents, backups, vectors; each under a lease, so that nothing is done
twice."""

import os
import sys
import time

from store import parts  # noqa: F401  # for what is asked of an optional part
from store.base.errors import MemorandaError
from store.conversations.extraction_queue import has_due_entries
from store.learning.rule_pass import run_rule_pass
from store.memory import Memory
from store.projects.locating import locate
from store.upkeep.background_embedding import embed_waiting, is_embedding_due
from store.upkeep.maintenance import make_due_backup, run_maintenance, take_due_checkpoint
from store.upkeep.session_flush import flush_due_sessions

# that it embeds at most
MAX_UPKEEP_SECONDS = 1_800
LEARNING_SECONDS = 5.0


def main(path: str, cwd: str) -> None:
    """Do what is due in the memory at `path`, used from the folder `cwd`, until the process that started this ends."""
    os.nice(10)
    started, parent = time.monotonic(), os.getppid()

    def over() -> bool:
        return time.monotonic() - started > MAX_UPKEEP_SECONDS or os.getppid() != parent

    with Memory(locate(path, {}, cwd), "worker", create=False) as memory:
        if memory.database.read_only or not memory.config["enabled"]:
            return
        for work in (
            lambda: run_maintenance(memory, cwd, cancelled=over),
            lambda: _learn_from_queue(memory),
            lambda: flush_due_sessions(memory),
            lambda: take_due_checkpoint(memory),
            lambda: memory.sync.sync_due(over),
            lambda: memory.documents.update_index(cancelled=over),
            lambda: make_due_backup(memory, over),
            lambda: is_embedding_due(memory) and embed_waiting(memory, cancelled=over),
        ):
            if over():
                return
            try:
                work()
            except MemorandaError:
                # the next may succeed; doctor reports what cannot be done
                continue


def _learn_from_queue(memory: Memory) -> None:
    """Learn by rules from what was said and waits to be read."""
    if has_due_entries(memory.database, memory.now):
        run_rule_pass(memory, seconds=LEARNING_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
