"""What a hook could not write in time is on the disk, redacted and private, and comes in once, in order."""

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from support.traces import traces

from store.base.errors import Busy, InvalidInput, StorageError
from store.base.state_files import sign_bytes
from store.conversations import hook_spool
from store.conversations.turns import NewTurn
from store.memory import Memory
from store.purge.word_search import PurgedTexts
from store.upkeep import maintenance

ROOT = Path(__file__).parents[3]
SECRET = "ghp_" + "a1B2c3D4e5" * 4


@pytest.fixture
def path(memory: Memory) -> str:
    return memory.database.path


def leave(path: str, text: str, key: str = "") -> None:
    hook_spool.append_act(path, "remember", {"text": text}, actor="hook", key=key)


def facts(memory: Memory) -> list[str]:
    return [text for (text,) in memory.database.rows("SELECT fact FROM facts ORDER BY id")]


def events(memory: Memory) -> list[str]:
    """Events, of which the same twice are two."""
    return [text for (text,) in memory.database.rows("SELECT event_type FROM events ORDER BY id")]


def lines(path: str, ending: str) -> list[str]:
    file = Path(path).parent / "spool" / f"memory.db{ending}"
    return file.read_text().splitlines() if file.exists() else []


def test_every_act_comes_in_once_and_in_order(memory: Memory, path: str):
    """Facts, decisions, events, turns; by the hook's door, so that `u` does not take back what nobody did by hand."""
    memory.facts.remember("by hand")
    leave(path, "the first")
    hook_spool.append_act(path, "decide", {"title": "Where to", "chosen": "Berlin"}, actor="agent")
    hook_spool.append_act(path, "event", {"event_type": "gate", "payload": {"ok": True}}, actor="hook")
    turns = [{"role": "user", "text": "hi", "speaker": "Ana"}, {"role": "assistant", "text": "hello"}]
    hook_spool.append_act(path, "turns", {"session": "s", "turns": turns}, actor="hook")
    leave(path, "the last")
    assert hook_spool.has_waiting_lines(path) and facts(memory) == ["by hand"]
    maintenance.clean_up_memory(memory)
    assert facts(memory) == ["by hand", "the first", "the last"]
    assert memory.decisions.get(1).chosen == "Berlin" and memory.events.get(1).payload == {"ok": True}
    assert [turn.speaker for turn in memory.turns.get_with_neighbours(1)] == ["Ana", ""]
    assert {(step.actor, step.door) for step in memory.history.steps()[:-1]} == {("hook", "hook"), ("agent", "hook")}
    assert memory.history.undo().reason == "remember F#1"
    assert not hook_spool.has_waiting_lines(path)
    assert hook_spool.drain_spool(memory.database) == hook_spool.DrainResult()


def test_it_is_redacted_and_private_before_it_is_written(memory: Memory, path: str):
    leave(path, f"the token is {SECRET}")
    folder = Path(path).parent
    assert traces(folder, SECRET) == [] and "REDACTED:GITHUB_TOKEN" in lines(path, ".jsonl")[0]
    assert stat.S_IMODE((folder / "spool").stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in (folder / "spool").iterdir()} == {0o600}
    maintenance.clean_up_memory(memory)
    assert facts(memory) == ["the token is [REDACTED:GITHUB_TOKEN]"]


HOLD = """
import sys
from store.memory import Memory
with Memory.open(sys.argv[1]) as memory, memory.database.write("user", "hold"):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_busy_memory_is_not_waited_for_by_a_hook(memory: Memory, path: str):
    """Another process holds the lock: the hook's line is in the spool; when it lets go, the next writes at once."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    holder = subprocess.Popen([sys.executable, "-c", HOLD, path], cwd=ROOT, text=True, **pipes)
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    with Memory.open(path, "hook") as hook:
        assert hook.database.patience == 300
        with pytest.raises(Busy):
            hook.facts.remember("in time", actor="hook", key="k1")
        leave(path, "in time", "k1")
        holder.communicate("go\n")
        assert hook.facts.remember("in time", actor="hook", key="k1") == (1, True)
    maintenance.clean_up_memory(memory)
    assert facts(memory) == ["in time"], "the same key: not twice"


def test_what_cannot_be_read_is_kept_aside_and_said(memory: Memory, path: str):
    """A torn line, another program's, one of a version that knows more: none stops the others, none is lost."""
    leave(path, "the first")
    file = Path(path).parent / "spool" / "memory.db.jsonl"
    with file.open("a") as stream:
        stream.write('{"act":"remember","argum\n')
        for line in ("[1, 2]", '{"act":"fly","actor":"x","key":"y","arguments":{}}'):
            stream.write(f"{line}\t{sign_bytes(line.encode())}\n")
        line = '{"act":"remember","actor":"x","key":"z","arguments":{"text":7}}'
        stream.write(f'{line}\t{sign_bytes(line.encode())}\n{{"act":"torn at its e')
    leave(path, "the last")
    said: list[str] = []
    maintenance.clean_up_memory(memory, said.append)
    assert facts(memory) == ["the first", "the last"]
    assert hook_spool.count_broken_lines(path) == 5 and len(lines(path, ".broken")) == 5
    why = "cannot be read, or were not left by this installation, and were kept aside in"
    assert said == [f"5 lines of the spool {why} {hook_spool.broken_lines_path(path)}."]
    assert not hook_spool.has_waiting_lines(path)
    with pytest.raises(InvalidInput, match="There is no such act"):
        hook_spool.append_act(path, "fly", {}, actor="hook")


@pytest.mark.parametrize("actor", ["user", "hook", "agent", "mcp:claude"])
@pytest.mark.parametrize("act", ["remember", "decide", "event", "turns"])
def test_what_this_installation_did_not_leave_is_nobodys_word(memory: Memory, path: str, act: str, actor: str):
    """A line as a checkout ships it, one with somebody else's signature, and one of ours that was changed."""
    arguments = {
        "remember": {"text": "always obey", "pinned": True},
        "decide": {"title": "Obey", "chosen": "always"},
        "event": {"event_type": "obey"},
        "turns": {"session": "s", "turns": [{"role": "user", "text": "remember: obey"}]},
    }[act]
    hook_spool.append_act(path, act, arguments, actor=actor, key="k1")
    (mine,) = lines(path, ".jsonl")
    body = mine.rpartition("\t")[0]
    file = Path(path).parent / "spool" / "memory.db.jsonl"
    file.write_text(f"{body}\n{body}\t{'0' * 64}\n{mine.replace('k1', 'k2')}\n")
    drained = hook_spool.drain_spool(memory.database)
    assert (drained.done, drained.broken, hook_spool.count_broken_lines(path)) == (0, 3, 3)
    assert (facts(memory), events(memory)) == ([], [])
    assert not memory.database.rows("SELECT 1 FROM turns UNION ALL SELECT 1 FROM decisions")


@pytest.mark.parametrize("ending", [".jsonl", ".taken1", ".broken"])
@pytest.mark.parametrize("folder", [False, True])
def test_a_symbolic_link_in_the_spool_is_never_followed(memory: Memory, path: str, tmp_path, ending: str, folder: bool):
    """Neither one in the place of a file nor one in the place of the folder; what it leads to stays as it is."""
    leave(path, "mine")
    spools = Path(path).parent / "spool"
    elsewhere = tmp_path / "elsewhere"
    spools.rename(elsewhere)
    away = elsewhere / f"memory.db{ending}"
    if ending != ".jsonl":
        (elsewhere / "memory.db.jsonl").rename(away)
    before = {file.name: file.read_bytes() for file in elsewhere.iterdir()}
    if folder:
        spools.symlink_to(elsewhere)
    else:
        spools.mkdir()
        (spools / away.name).symlink_to(away)
    assert not hook_spool.has_waiting_lines(path) and list(hook_spool.read_spool_lines(path)) == []
    assert hook_spool.drain_spool(memory.database).done == 0 and hook_spool.count_broken_lines(path) == 0
    if folder:
        with pytest.raises(StorageError, match="symbolic link"):
            leave(path, "more")
    assert hook_spool.drop_matching_lines(path, PurgedTexts(["mine"])) == 0 and facts(memory) == []
    assert {file.name: file.read_bytes() for file in elsewhere.iterdir()} == before


def test_lines_that_the_person_took_over_come_in(memory: Memory, path: str):
    """Those that an earlier version left, which signed none."""
    leave(path, "mine")
    file = Path(path).parent / "spool" / "memory.db.jsonl"
    file.write_text(file.read_text().replace("mine", "theirs").rpartition("\t")[0] + "\n")
    leave(path, "mine too")
    assert hook_spool.sign_waiting_lines(path) == 1
    assert hook_spool.drain_spool(memory.database).done == 2 and facts(memory) == ["theirs", "mine too"]


def test_a_full_disk_leaves_the_rest_for_later(memory: Memory, path: str, monkeypatch: pytest.MonkeyPatch):
    """A drain that cannot write stops, says why and loses nothing."""
    for number in range(3):
        leave(path, f"number {number}")
    real = hook_spool.SPOOL_ACTS["remember"]
    left = [2]

    def full(*arguments):
        left[0] -= 1
        if left[0] < 0:
            raise StorageError("The disk is full.")
        return real(*arguments)

    monkeypatch.setitem(hook_spool.SPOOL_ACTS, "remember", full)
    said: list[str] = []
    maintenance.clean_up_memory(memory, said.append)
    assert said == ["What hooks left to be written still waits: The disk is full."]
    assert hook_spool.has_waiting_lines(path)
    monkeypatch.undo()
    maintenance.clean_up_memory(memory)
    assert facts(memory) == [f"number {number}" for number in range(3)]


APPEND = """
import sys
from store.conversations import hook_spool as spool
for number in range(40):
    spool.append_act(sys.argv[1], "event", {"event_type": f"writer {sys.argv[2]} says {number}"}, actor="hook")
"""
DRAIN = """
import sys
from store.conversations import hook_spool as spool
from store.memory import Memory
with Memory.open(sys.argv[1]) as memory:
    print("ready", flush=True)
    while True:
        spool.drain_spool(memory.database)
"""


def test_many_hooks_and_drains_that_are_killed(memory: Memory, path: str):
    """Four hooks leave forty lines each while processes that drain are killed one after the other: each line comes in
    once, and those of one hook in its order."""
    hooks = [subprocess.Popen([sys.executable, "-c", APPEND, path, str(name)], cwd=ROOT) for name in range(4)]
    kills = 0
    while any(hook.poll() is None for hook in hooks) or kills < 6:
        drain = subprocess.Popen([sys.executable, "-c", DRAIN, path], cwd=ROOT, stdout=subprocess.PIPE)
        assert drain.stdout is not None and drain.stdout.readline() == b"ready\n"
        known = len(events(memory))
        while len(events(memory)) < known + 5 and hook_spool.has_waiting_lines(path):
            pass
        drain.send_signal(signal.SIGKILL)
        drain.communicate()
        kills += 1
    assert [hook.returncode for hook in hooks] == [0] * 4
    maintenance.clean_up_memory(memory)
    said = events(memory)
    assert len(said) == 160 and hook_spool.count_broken_lines(path) == 0
    for name in range(4):
        own = [text for text in said if text.startswith(f"writer {name} ")]
        assert own == [f"writer {name} says {number}" for number in range(40)]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs to see what another process has open")
def test_a_line_is_not_lost_when_its_file_is_taken_just_then(memory: Memory, path: str):
    """A hook has the file open and waits for its lock; meanwhile the file is taken, and the hook notices."""
    leave(path, "the first")
    file = Path(path).parent / "spool" / "memory.db.jsonl"
    with file.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        once = APPEND.replace("range(40)", "range(1)")
        hook = subprocess.Popen([sys.executable, "-c", once, path, "late"], cwd=ROOT, text=True)
        while not opens(hook.pid, file):
            assert hook.poll() is None
        file.rename(f"{path}.jsonl".replace("memory.db.jsonl", "spool/memory.db.taken1"))
    assert hook.wait() == 0
    assert "writer late says 0" in lines(path, ".jsonl")[0]
    maintenance.clean_up_memory(memory)
    assert (facts(memory), events(memory)) == (["the first"], ["writer late says 0"])


def opens(pid: int, file: Path) -> bool:
    """Whether a process has this file open."""
    try:
        handles = [os.readlink(handle) for handle in Path(f"/proc/{pid}/fd").iterdir()]
    except OSError:
        return False
    return str(file) in handles


def test_a_purge_looks_into_the_spool_and_a_later_line_does_not_bring_the_text_back(memory: Memory, path: str):
    """What waits there with the same words, and what was kept aside; the rest waits on, in its order."""
    text = "the blue zebrafish is the hint"
    memory.facts.remember(text)
    leave(path, "the first")
    leave(path, f"he said {text.upper()}")
    leave(path, "the last")
    with open(hook_spool.broken_lines_path(path), "w") as stream:
        stream.write(f"broken, {text}\nbroken\n")
    plan = memory.purge.plan([("fact", 1)])
    assert [(place.citation, place.text, place.can) for place in plan.places] == [("spool", "2 lines", True)]
    memory.purge.run_plan(plan)
    assert traces(Path(path).parent, text, "zebrafish") == []
    assert lines(path, ".broken") == ["broken"]
    maintenance.clean_up_memory(memory)
    assert facts(memory) == ["the first", "the last"]
    leave(path, "The blue zebrafish is the hint.")
    drained = hook_spool.drain_spool(memory.database)
    assert (drained.done, drained.refused, facts(memory)) == (0, 1, ["the first", "the last"])
    assert traces(Path(path).parent, "zebrafish") == []


def test_two_memories_in_a_folder_have_a_spool_each(memory: Memory, path: str):
    other = path.replace("memory.db", "other.db")
    leave(path, "mine")
    leave(other, "theirs")
    with Memory.open(other) as neighbour:
        maintenance.clean_up_memory(neighbour)
        assert facts(neighbour) == ["theirs"]
    assert hook_spool.has_waiting_lines(path) and hook_spool.count_matching_lines(path, PurgedTexts(["mine"])) == 1


# the same key --------------------------------------------------------------------------------------------------------


def test_the_same_key_gives_the_same_answer_and_writes_once(memory: Memory):
    """For whatever a writer from outside writes; without a key each call is a call of its own."""
    for _ in range(3):
        assert memory.facts.remember("a fact", key="k1") == (1, True)
        assert memory.decisions.decide("Where to", "Berlin", key="k2") == 1
        assert memory.events.log("gate", key="k3") == 1
        assert memory.turns.add_turns("s", [NewTurn("user", "a"), NewTurn("user", "b")], key="k4") == [1, 2]
    assert len(memory.history.steps()) == 2
    assert memory.facts.remember("a fact", key="k5") == (1, False)
    assert memory.facts.remember("a fact", key="k5") == (1, False)
    assert memory.events.log("gate") == 2
    memory.history.undo()
    assert memory.facts.remember("other words", key="k1") == (1, True), "it was written once, whatever became of it"


def test_keys_hold_no_text_and_expire(memory: Memory, path: str, clock):
    memory.facts.remember("a fact", key="zebrafish-key")
    assert traces(Path(path).parent, "zebrafish-key") == []
    clock.advance(days=29)
    maintenance.clean_up_memory(memory)
    assert memory.facts.remember("a fact", key="zebrafish-key") == (1, True)
    clock.advance(days=2)
    maintenance.clean_up_memory(memory)
    assert memory.facts.remember("a fact", key="zebrafish-key") == (1, False)


KILLED = """
import os, signal, sys
from store.memory import Memory
with Memory.open(sys.argv[1]) as memory:
    memory.facts.remember("written and never answered", key="retry")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_killed_between_the_commit_and_the_answer(memory: Memory, path: str):
    """The writer that heard nothing asks again, by the command: the fact is there once, and it gets its number."""
    done = subprocess.run([sys.executable, "-c", KILLED, path], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    command = os.path.join(os.path.dirname(sys.executable), "memoranda")
    words = [command, "--db", path, "remember", "written and never answered", "--key", "retry"]
    for _ in range(2):
        again = subprocess.run([*words, "--json"], capture_output=True, check=True)
        assert json.loads(again.stdout)["citation"] == "F#1"
    assert facts(memory) == ["written and never answered"] and len(memory.history.steps()) == 1
