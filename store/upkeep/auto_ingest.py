"""Automatic import of conversations: find the files that the configuration names, and import what was added to them.

In a process of its own, `python -m store.upkeep.auto_ingest FILE`: reading 100 MB in this process would halve the
speed of every key press. With the names of agents behind FILE it reads what those keep of the project, once.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence

from store import parts  # noqa: F401  # for what is asked of an optional part
from store.base.errors import MemorandaError
from store.base.runtime import read_file_size, require_extension
from store.database.database import Lease, LeaseLost
from store.ingest.formats import note_checked_size, source_name, transcript_folder
from store.ingest.runner import IngestReport, ingest_file
from store.memory import Memory
from store.upkeep.maintenance import keep_renewing
from store.upkeep.optional import ForeignMemories
from store.upkeep.session_flush import flush_after_import

INGESTED_SUFFIX = ".jsonl"
INGEST_LEASE = "ingest"
NICE = 10


def list_ingest_sources(memory: Memory) -> list[str]:
    """List the existing files that are to be imported automatically."""
    config = memory.config
    if memory.database.read_only or not config["enabled"]:
        return []
    project = memory.location.project
    named = [os.path.expanduser(path) for path in config["ingest.paths"]]
    if project and config["ingest.claude"]:
        named.append(transcript_folder(project))
    found = [file for path in named for file in _transcripts_in(os.path.join(project or "", path))]
    return list(dict.fromkeys(os.path.realpath(file) for file in found))


def _transcripts_in(path: str) -> Iterator[str]:
    """Yield the transcripts of a folder in order, or the path itself if it is a file."""
    try:
        with os.scandir(path) as entries:
            yield from sorted(
                entry.path for entry in entries if entry.name.endswith(INGESTED_SUFFIX) and entry.is_file()
            )
    except NotADirectoryError:
        yield path
    except OSError:
        # missing, or not yet there
        return


def list_changed_sources(memory: Memory) -> list[str]:
    """List the files to import whose size changed since they were last checked; cheap."""
    files = list_ingest_sources(memory)
    if not files:
        return []
    known = {path: sizes for path, *sizes in memory.database.rows("SELECT path, size, looked FROM sources")}
    return [path for path in files if read_file_size(path) not in known.get(source_name(path), ())]


def ingest_changed_sources(memory: Memory, cancelled: Callable[[], bool] = lambda: False) -> IngestReport | None:
    """Import what was added, and summarise what left the windows of sessions under way; return None if another process
    is doing it. A file that cannot be read does not stop the others: it is among the troubles, with line 0."""
    files, report = list_changed_sources(memory), IngestReport()
    if not files:
        return report
    lease = Lease(memory.database, INGEST_LEASE)
    if not lease.acquire():
        return None
    ends = keep_renewing(memory.database, lease, cancelled)
    project = memory.location.project or ""
    try:
        for path in files:
            size = read_file_size(path)
            try:
                ingest_file(memory.database, path, project=project, report=report, cancelled=ends)
            except LeaseLost:
                return None
            except MemorandaError as error:
                report.troubles.append((source_name(path), 0, str(error)))
            except (ValueError, OSError) as error:
                report.troubles.append((source_name(path), 0, type(error).__name__))
            if cancelled():
                break
            if size is not None:
                note_checked_size(memory.database, path, size)
        flush_after_import(memory)
        return report
    finally:
        lease.release()


def ingest_agents(memory: Memory, agents: Sequence[str], cancelled: Callable[[], bool]) -> IngestReport:
    """Import the conversations that these agents keep of the project. Raise Unsupported without the part `tools`."""
    return require_extension("tools", ForeignMemories).read_conversations(memory, agents, cancelled)


class IngestProcess:
    """`ingest_changed_sources`, or with `agents` `read_agents`, in a process of its own, at low priority; what it read
    is kept when it is ended."""

    def __init__(self, path: str, agents: Sequence[str] = ()) -> None:
        self._path = path
        self._agents = agents
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def run_ingest(self) -> dict[str, object]:
        """Wait for the process. Return the main fields of its IngestReport; empty if it was ended or failed."""
        if self._ended:
            return {}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "store.upkeep.auto_ingest", self._path, *self._agents],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        output, _ = self._process.communicate()
        try:
            state: dict[str, object] = json.loads(output)
        except ValueError:
            return {}
        return state

    def end_ingest(self) -> None:
        """End the process now; its transaction is rolled back."""
        self._ended = True
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()


def main(path: str, *agents: str) -> None:
    """Import what is due for the memory at `path`, or what these agents keep of its project; print the result as one
    JSON object."""
    os.umask(0o077)
    os.nice(NICE)
    parent = os.getppid()
    try:
        with Memory.open(path, "worker") as memory:
            ended = lambda: os.getppid() != parent  # noqa: E731
            done = ingest_agents(memory, agents, ended) if agents else ingest_changed_sources(memory, ended)
        result: dict[str, object] = {} if done is None else {"added": done.added, "sessions": len(done.sessions)}
        if done is not None and done.troubles:
            path, number, why = done.troubles[0]
            result["trouble"] = f"{path}, line {number}: {why}" if number else why
    except MemorandaError as error:
        result = {"trouble": str(error)}
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
