"""What the MCP server costs: start, calls, memory, CPU, tokens; and other memory servers beside it.

    python -m bench.mcp [--starts 7] [--calls 100] [--sizes 10000,100000] [--idle 30] [--rival NAME=COMMAND …]

A rival is a server that you installed, given by the command that starts it, as in --rival "server-memory=npx -y
@modelcontextprotocol/server-memory". Start is from the start of the process to the complete answer to `tools/list`, for
a client that sends its opening lines at once; tokens are a quarter of the bytes of all tool definitions; memory is
resident, as reported by the system. Those of RIVALS are also filled with texts by their own tools, and searched, beside
Memoranda with the same texts. Searches at --sizes are by words alone, then by meaning, with synthetic vectors and the
model loaded; no work in the background goes on meanwhile. The aims are in the table."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from bench.search_speed import prepared
from bench.store import ALONE, Writer, copy, environment, heading, installed, memory, quantile, verdict
from store.memory import Memory
from store.text import words as token_count

START_AIM, SEARCH_AIM, MEMORY_AIM, IDLE_AIM, TOKENS_AIM = 0.5, 80.0, 60.0, 0.3, 2_500.0
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
OPENING = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
)
QUERIES = (
    "which database do we use", "why postgres", "deploy", "migración de la base", "who owns the ledger", "tests fail",
    "cache of the sessions", "what did we decide about the queue", "release", "factura",
)  # fmt: skip
SAME = 1_000  # texts that Memoranda and each rival are filled with


class Rival(NamedTuple):
    """How another server is filled and searched: its tool for writing, the arguments that hold some texts, how many a
    call takes, its tool for searching."""

    write: str
    holding: Callable[[Sequence[str]], dict[str, Any]]
    at_once: int
    search: str


RIVALS = {
    "server-memory": Rival(
        "create_entities",
        lambda texts: {
            "entities": [{"name": text, "entityType": "note", "observations": [text]} for text in texts]
        },
        100,
        "search_nodes",
    ),
    "agent-logbook": Rival("remember", lambda texts: {"type": "decision", "content": texts[0]}, 1, "recall"),
}
SDK_ALONE = "import mcp.server.lowlevel, time; time.sleep(3)"  # the memory of the SDK alone


class Server:
    """A server process, and how long it took to answer the opening lines."""

    def __init__(self, command: Sequence[str], folder: str, variables: Mapping[str, str] | None = None) -> None:
        start = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={**environment(), **(variables or {})},
        )
        self.say(*OPENING)
        self.tools: list[Any] = self.answer(2)["tools"]
        self.seconds = time.perf_counter() - start

    def say(self, *messages: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{json.dumps(one)}\n" for one in messages).encode())
        self.process.stdin.flush()

    def answer(self, number: int) -> Any:
        """Return the result of a request. Raises RuntimeError for an error."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            found = json.loads(line)
            if found.get("id") == number:
                if "result" not in found:
                    raise RuntimeError(str(found.get("error")))
                return found["result"]
        raise RuntimeError("the server ended")

    def call(self, number: int, name: str, **arguments: Any) -> float:
        """Return the milliseconds of one call of a tool."""
        start = time.perf_counter()
        params = {"name": name, "arguments": arguments}
        self.say({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        self.answer(number)
        return (time.perf_counter() - start) * 1000

    @property
    def megabytes(self) -> float:
        return resident(self.process.pid)

    @property
    def busy(self) -> float:
        """Return the seconds of processor time so far."""
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def resident(pid: int) -> float:
    """Return the resident megabytes of a process and its children."""
    with open(f"/proc/{pid}/statm", encoding="utf-8") as file:
        own = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return own + sum(resident(int(child)) for child in file.read().split())


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=7)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--idle", type=float, default=30.0)
    parser.add_argument("--rival", action="append", default=[], metavar="NAME=COMMAND")
    options = parser.parse_args(arguments)
    programs = installed()
    heading("mcp", f"{options.starts} starts each in turn, {options.calls} searches a size")
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        small = os.path.join(folder, "small.db")
        Memory.open(small).close()
        commands = {"memoranda": [programs.memoranda, "--db", small, "mcp"]}
        for rival in options.rival:
            name, _, command = rival.partition("=")
            commands[name] = shlex.split(command)
        _servers(commands, folder, options.starts, options.idle)
        sdk = subprocess.Popen([programs.python, "-c", SDK_ALONE], env=environment())
        time.sleep(2.5)
        print(f"\n{'the SDK alone, imported':44} {resident(sdk.pid):6.1f} MB")
        sdk.wait()
        _same_texts(commands, folder, options.calls)
        for size in map(int, options.sizes.split(",")):
            _searches(programs.memoranda, memory(size // 2, size - size // 2), folder, size, options.calls, ALONE)
            _searches(programs.memoranda, prepared(size), folder, size, options.calls, {})


def _servers(commands: dict[str, list[str]], folder: str, starts: int, idle: float) -> None:
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    rows: dict[str, tuple[float, float, int, int]] = {}
    for run in range(starts):
        for name, command in list(commands.items()):
            try:
                server = Server(command, folder)
            except RuntimeError as error:
                print(f"{name}: {error}")
                del commands[name]
                continue
            seconds[name].append(server.seconds)
            if not run:
                time.sleep(6)  # until its start-up work is over
                before, began = server.busy, time.perf_counter()
                time.sleep(idle)
                share = (server.busy - before) / (time.perf_counter() - began) * 100
                text = json.dumps(server.tools, ensure_ascii=False, separators=(",", ":"))
                rows[name] = server.megabytes, share, len(server.tools), token_count.count_tokens(text)
            server.close()
    print(f"{'':24} start s  p95    resident MB  idle %  tools  tokens of them")
    for name in commands:
        megabytes, share, tools, tokens = rows[name]
        print(
            f"{name:24} {median(seconds[name]):6.2f} {quantile(seconds[name], 0.95):6.2f} {megabytes:12.1f}"
            f" {share:7.2f} {tools:6} {tokens:10,}"
        )
    ours = rows["memoranda"]
    print(
        f"\naims: start {verdict(median(seconds['memoranda']), START_AIM)}, resident {verdict(ours[0], MEMORY_AIM)},"
        f" idle {verdict(ours[1], IDLE_AIM)}, tokens {verdict(ours[3], TOKENS_AIM)}"
    )


def _same_texts(commands: dict[str, list[str]], folder: str, calls: int) -> None:
    """Print what a search costs in Memoranda and in each rival that is known, with the same texts."""
    writer = Writer(7)
    texts = [writer.sentence(6, 24, "en") for _ in range(SAME)]
    print(f"\n{'search call, ' + format(SAME, ',') + ' texts':24} median    p95 ms  resident MB")
    for name, command in commands.items():
        rival = RIVALS.get(name)
        home = os.path.join(folder, f"home-{name}")
        os.makedirs(home)
        if name == "memoranda":
            command = [command[0], "--db", os.path.join(home, "memory.db"), "mcp"]
            with Memory.open(command[2]) as own:
                for text in texts:
                    own.facts.remember(text)
        elif rival is None:
            continue
        variables = {**ALONE, "HOME": home, "MEMORY_FILE_PATH": os.path.join(home, "memory.jsonl")}
        if name == "memoranda":
            variables.pop("HOME")
        server = Server(command, home, variables)
        if rival:
            for number in range(0, SAME, rival.at_once):
                server.call(100 + number, rival.write, **rival.holding(texts[number : number + rival.at_once]))
        tool = rival.search if rival else "memory_search"
        times = [
            server.call(SAME * 2 + number, tool, query=" ".join(texts[number * 7 % SAME].split()[2:4]))
            for number in range(-3, calls)
        ][3:]
        print(f"{name:24} {median(times):6.1f} {quantile(times, 0.95):6.1f} {server.megabytes:15.1f}")
        server.close()


def _searches(program: str, source: str, folder: str, size: int, calls: int, variables: Mapping[str, str]) -> None:
    how = "words" if variables else "meaning"
    path = copy(source, os.path.join(folder, f"{size}-{how}.db"))
    server = Server([program, "--db", path, "mcp"], folder, variables)
    for number in range(10, 14):
        server.call(number, "memory_search", query=QUERIES[0])
    times = {
        name: [
            server.call(number, f"memory_{name}", **given(QUERIES[number % len(QUERIES)]))
            for number in range(calls)
        ]
        for name, given in {
            "search": lambda query: {"query": query},
            "context": lambda query: {"query": query},
            "facts": lambda query: {},
        }.items()
    }
    for name, values in times.items():
        aim = SEARCH_AIM if name == "search" and size <= 100_000 else None
        late = quantile(values, 0.95)
        print(
            f"memory_{name:8} {size:9,} records, {how:7}  median {median(values):6.1f} ms  p95 {late:6.1f} ms"
            f"  {verdict(late, aim)}"
        )
    print(f"{'':15} {size:9,} records, {how:7}  resident {server.megabytes:6.1f} MB")
    server.close()


if __name__ == "__main__":
    main()
