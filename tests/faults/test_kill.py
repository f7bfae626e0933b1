"""Kill -9, again and again: what was acknowledged is there, and nothing is ever half there. It is tried twenty times,
and a hundred times by `pytest -m faults`.

Several writers at once on one memory, each killed at a random moment of its life and replaced by another: short ones,
which are the installed command with one verb each, and long ones, which write through the public API in a loop and
spend nearly all their time inside a transaction. An acknowledgement is a whole line read from a writer's pipe.
"""

import hashlib
import json
import os
import random
import re
import signal
import stat
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from support.soundness import unsound

from store.database import change_capture
from store.database.schema import RECORDED_TABLES
from store.memory import Memory

ROOT = Path(__file__).parents[2]
COMMAND = os.path.join(os.path.dirname(sys.executable), "memoranda")
LANES = 3  # writers at the same time, one more than the machines of our CI have cores
LOOP_SECONDS = 0.3  # the longest that a loop writes before it is killed

# each act is acknowledged after it returned, as any front door does it
LOOP = """
import random, sys, time
from store.base.errors import MemorandaError
from store.memory import Memory

path, name, seed = sys.argv[1:]
dice = random.Random(seed)
facts, decisions = [], []
with Memory.open(path) as memory:
    print("ready", flush=True)
    for number in range(1_000_000):
        text = f"loop {name} says {number} " + "at length " * dice.choice((0, 0, 0, 40, 900))
        act = dice.randrange(8) if facts else 0
        try:
            if act <= 2:
                facts.append(memory.facts.remember(text)[0])
                print(f"Remembered F#{facts[-1]}.", flush=True)
            elif act == 3:
                old = facts.pop(dice.randrange(len(facts)))
                new = memory.facts.correct(old, text)
                facts.append(new)
                print(f"F#{new} replaces F#{old}.", flush=True)
            elif act == 4:
                gone = facts.pop(dice.randrange(len(facts)))
                memory.facts.forget([gone])
                print(f"Forgot F#{gone}.", flush=True)
            elif act == 5:
                decisions.append(memory.decisions.decide(text, "yes", alternatives=["no", text]))
                print(f"Recorded D#{decisions[-1]}.", flush=True)
            elif act == 6:
                time.sleep(0.002)  # within one millisecond of the last there is nothing to change, and no step
                memory.facts.confirm(dice.sample(facts, min(3, len(facts))))
                print("Confirmed.", flush=True)
            else:
                step = memory.history.undo()
                print(f"Undid step {step.seq}: {step.reason}.", flush=True)
        except MemorandaError as error:  # another writer forgot it first, or took it back
            if error.code not in ("conflict", "not-found"):
                raise
"""


class Acknowledged:
    """What writers said they had done, and what they were told to say, by line."""

    def __init__(self, commands: int, loops: int) -> None:
        self.wanted = {"command": commands, "loop": loops}  # kills
        self.enough = commands + loops  # writes, at least: kills that came earlier would say little
        self.lock = threading.Lock()
        self.lines: list[tuple[str, str]] = []  # (the line, the text that it was about)
        self.trouble: list[str] = []
        self.kills = Counter[str]()

    def heard(self, output: bytes, errors: bytes, text: str, accepted: tuple[bytes, ...] = ()) -> int:
        """Take down what a dead writer had said; how many whole lines. The last one may have been cut by the kill."""
        # commands say in which memory, too
        whole = re.sub(r" in project(?=\.\n)| In project\.(?=\n)", "", output.decode()).split("\n")[:-1]
        with self.lock:
            self.lines += [(line, text) for line in whole if line != "ready"]
            if errors.strip() and not any(piece in errors for piece in accepted):
                self.trouble.append(errors.decode())
        return len(whole)


def too_wide(folder: Path) -> list[str]:
    """The files that others could read. A -wal may vanish while we look."""
    wide = []
    for entry in os.scandir(folder):
        try:
            if stat.S_IMODE(entry.stat(follow_symlinks=False).st_mode) & 0o177:
                wide.append(entry.name)
        except FileNotFoundError:
            continue
    return wide


# what a command may answer instead of an acknowledgement, when another lane was faster
FASTER = (b"is forgotten already", b"is superseded", b"cannot be undone", b"nothing to undo", b"There is no fact")


def started(words: list[str], folder: Path) -> subprocess.Popen[bytes]:
    """Start a writer that leaves all rights to whatever it makes."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(words, cwd=folder, umask=0, **pipes)


def kill_commands(project: Path, said: Acknowledged, dice: random.Random, lifetime: float) -> None:
    """Start commands of every writing kind, one after the other, and kill each at a random moment of its life."""
    number = 0
    while said.kills["command"] < said.wanted["command"]:
        number += 1
        text = f"n{threading.get_ident()} {number}"
        with said.lock:
            known = [line.split("#")[1].rstrip(".") for line, _ in said.lines if line.startswith("Remembered F#")][-20:]
        old = dice.choice(known) if known else "1"
        decided = ["decide", text, "--chosen", "yes", "--alternative", "no"]
        words = dice.choice((*3 * [["remember", text]], ["correct", old, text], ["forget", old], decided, ["undo"]))
        writer = started([COMMAND, *words], project)
        # most of a command's life is Python's own start: two of three kills fall into the part after it
        time.sleep(lifetime * dice.choice((dice.random(), dice.uniform(0.5, 1.1), dice.uniform(0.6, 1.0))))
        writer.send_signal(signal.SIGKILL)
        output, errors = writer.communicate()
        said.heard(output, errors, f"forget F#{old}" if words[0] == "forget" else text, FASTER)
        with said.lock:
            said.kills["command"] += writer.returncode == -signal.SIGKILL
            said.trouble += too_wide(project / ".memoranda")


def kill_loops(project: Path, said: Acknowledged, dice: random.Random) -> None:
    """Start writers that never end, one after the other, and kill each in the middle of its work; on a busy machine, as
    many as it takes for enough to be acknowledged."""
    path = str(project / ".memoranda" / "memory.db")
    loops = said.wanted["loop"]
    while said.kills["loop"] < (loops if len(said.lines) >= said.enough else 10 * loops):
        name = f"{dice.getrandbits(40):x}"
        writer = started([sys.executable, "-c", LOOP, path, name, name], ROOT)
        assert writer.stdout is not None
        ready = writer.stdout.readline()
        time.sleep(dice.random() * LOOP_SECONDS)
        writer.send_signal(signal.SIGKILL)
        output, errors = writer.communicate()
        said.heard(ready + output, errors, f"loop {name} says ")
        with said.lock:
            said.kills["loop"] += writer.returncode == -signal.SIGKILL
            said.trouble += too_wide(project / ".memoranda")


def lifetime_of(project: Path) -> float:
    """How many seconds a command lives on this machine while the others of its kind run beside it."""
    measured = []

    def measure() -> None:
        for number in range(2):
            started = time.perf_counter()
            words = [COMMAND, "remember", f"{threading.get_ident()} {number}"]
            subprocess.run(words, cwd=project, check=True, capture_output=True)
            measured.append(time.perf_counter() - started)

    together(*[threading.Thread(target=measure) for _ in range(LANES)])
    return statistics.median(measured)


def together(*threads: threading.Thread) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# the checks ---------------------------------------------------------------------------------------------------------


def history_explains_all(memory: Memory) -> None:
    """The chain of digests holds from the first step to the last, and told from the beginning it gives every row that
    is in the tables now: no row without its step, no step without its rows."""
    database = memory.database
    digest = b""
    told: dict[str, dict[str, dict[str, object]]] = {table: {} for table in RECORDED_TABLES}
    header = "seq, at, actor, door, reason, undoes, changes, rows_root, digest"
    steps = database.rows(f"SELECT {header} FROM history ORDER BY seq")
    assert [step[0] for step in steps] == list(range(1, len(steps) + 1)), "a step is missing"
    for *head, root, recorded in steps:
        columns = "tbl, pk, op, indirect, before, after, salt, leaf"
        rows = database.rows(f"SELECT {columns} FROM history_row WHERE seq = ? ORDER BY n", head[:1])
        leaves = hashlib.sha256()
        for table, key, op, indirect, before, after, salt, leaf in rows:
            hashed = change_capture.encode_for_hash(table, key, op, indirect, before, after)
            assert hashlib.sha256(salt + hashed).digest() == leaf
            leaves.update(leaf)
            if op == "DELETE":
                del told[table][key]
            else:
                told[table][key] = {**told[table].get(key, {}), **json.loads(after)}
        assert len(rows) == head[-1] and leaves.digest() == root
        digest = hashlib.sha256(digest + change_capture.encode_for_hash(*head) + root).digest()
        assert digest == recorded, f"the chain breaks at step {head[0]}"
    for table in RECORDED_TABLES:
        names = change_capture.list_table_columns(database.connection, table)
        there = [dict(zip(names, row, strict=True)) for row in database.rows(f"SELECT * FROM {table}")]
        wanted = [{name: row[name] for name in names} for row in told[table].values()]
        assert sorted(map(str, there)) == sorted(map(str, wanted))


def same(stored: str, text: str) -> bool:
    """Whether this is what the writer was told to write; of a loop we know how its texts begin."""
    return stored.startswith(text) if text.startswith("loop ") else stored == text


def acknowledged_is_there(memory: Memory, lines: list[tuple[str, str]]) -> None:
    """Each line stands for one step of history, which holds what the line was about."""
    database = memory.database
    steps = Counter(row[0] for row in database.rows("SELECT reason FROM history"))
    inserts = "FROM history_row JOIN history USING (seq) WHERE op = 'INSERT' AND undoes IS NULL"
    rows = database.rows(f"SELECT tbl, pk, after {inserts}")
    written = {(table, json.loads(key)[0]): json.loads(after) for table, key, after in rows}
    promised = Counter[str]()
    for line, text in lines:
        if found := re.fullmatch(r"Remembered F#(\d+)\.", line):
            promised[f"remember F#{found[1]}"] += 1
            assert same(written["facts", int(found[1])]["fact"], text)
        elif found := re.fullmatch(r"F#(\d+) replaces F#(\d+)\.", line):
            promised[f"correct F#{found[2]}"] += 1
            fact = written["facts", int(found[1])]
            assert same(fact["fact"], text) and fact["supersedes"] == int(found[2])
        elif found := re.fullmatch(r"Recorded D#(\d+)\.", line):
            promised[f"decide D#{found[1]}"] += 1
            assert same(written["decisions", int(found[1])]["title"], text)
        elif re.match(r"Forgot F#\d+\. Undo", line):
            promised[text] += 1
        elif found := re.fullmatch(r"Forgot (F#\d+)\.", line):
            promised[f"forget {found[1]}"] += 1
        elif found := re.match(r"Undid step (\d+): ", line):
            promised[f"undo {found[1]}"] += 1
        else:
            assert line == "Confirmed.", f"a writer said something that no writer says: {line}"
    assert promised - steps == Counter(), "acknowledged, and not in the file"
    confirmed = sum(count for reason, count in steps.items() if reason.startswith("confirm "))
    assert confirmed >= sum(line == "Confirmed." for line, _ in lines)


# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("commands, loops", [(12, 8), pytest.param(60, 40, marks=pytest.mark.faults)])
def test_many_kills(tmp_path: Path, seed: int, commands: int, loops: int):
    """Commands and loops die of SIGKILL, three writers at any time; then everything is looked through."""
    project = tmp_path / "project"
    path = project / ".memoranda" / "memory.db"
    with Memory.open(str(path)) as memory:
        memory.facts.remember("the first fact")
    lifetime = lifetime_of(project)
    said = Acknowledged(commands, loops)
    print(f"a command lives {lifetime * 1000:.0f} ms")  # pytest shows it when the test fails
    dice = [random.Random(seed + lane) for lane in range(LANES)]
    lanes = [(project, said, dice[lane], lifetime) for lane in range(LANES)]
    together(*[threading.Thread(target=kill_commands, args=given) for given in lanes])
    together(*[threading.Thread(target=kill_loops, args=(project, said, dice[lane])) for lane in range(LANES)])

    assert said.trouble == []
    assert all(said.kills[kind] >= wanted for kind, wanted in said.wanted.items())
    done = subprocess.run([COMMAND, "remember", "and life goes on"], cwd=project, capture_output=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith(b"Remembered F#"), done.stderr
    with Memory.open(str(path)) as memory:
        assert unsound(memory) == []
        history_explains_all(memory)
        acknowledged_is_there(memory, said.lines)
        steps = memory.database.value("SELECT count(*) FROM history")
    assert too_wide(project / ".memoranda") == []
    assert len(said.lines) >= said.enough
    print(f"{len(said.lines)} acknowledged, {steps} steps, {dict(said.kills)}")
