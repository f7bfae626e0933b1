"""The client of one file and the resident that answers it, as real processes: each case in which one of them, or the
machine, is not as usual. No event is lost, no agent is held up, and what was not cut is in no file."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.confined import PROCESSES, SOCKETS, refusing
from support.hook_machine import (
    ALONE,
    CLIENT,
    FACT,
    LOOKS_OFTEN,
    QUESTION,
    HookMachine,
    children_of,
    command_line,
    context,
    resident_megabytes,
)
from support.secrets import BODY
from support.waiting import until

from store.base import hook_resident, state_files
from store.config.configuration import write_setting
from store.conversations import hook_spool
from store.doors import hook_resident as resident
from store.doors import memoranda_hook
from store.memory import Memory
from store.version import __version__

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found and watched as Linux shows them")
ROOT = os.getuid() == 0
OTHER = 54_321  # a user of nobody's, for what another one may not do
SECRET = f"sk-ant-api03-{BODY * 2}"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HookMachine]:
    machine = HookMachine(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", machine.environ["XDG_STATE_HOME"])
    monkeypatch.setenv("HOME", machine.environ["HOME"])
    with Memory.open(machine.path) as memory:
        memory.facts.remember(FACT)
    yield machine
    until(lambda: not children_of(machine, "store.doors.hook_background"))
    machine.kill()


def files_with(folder: Path, text: str) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


# a session ----------------------------------------------------------------------------------------------------------


def test_one_resident_answers_whatever_is_asked_first_and_after(machine: HookMachine) -> None:
    """Between events it holds no file of a memory."""
    assert "memory_search" in machine.ask(machine.event("SessionStart", source="startup"))
    first = machine.pid()
    assert "heron-7" in machine.ask()
    assert machine.ask(machine.event("Stop", last_assistant_message="It is heron-7 [F#1].")) == ""
    assert machine.pid() == first != 0
    assert machine.turns() == [QUESTION, "It is heron-7 [F#1]."]
    assert machine.socket_path.stat().st_mode & 0o077 == 0
    for path in Path(f"/proc/{machine.pid()}/fd").iterdir():
        assert ".memoranda" not in os.path.realpath(path)
    with Memory.open(machine.path) as memory:
        assert memory.database.checkpoint_wal(), "somebody reads"


def test_an_event_of_several_megabytes_arrives_whole_cold_and_warm(machine: HookMachine) -> None:
    for _ in ("cold", "warm"):
        long = "a word and another " * 150_000
        machine.ask(machine.event(prompt=QUESTION + long))
        until(lambda: machine.turns()[-1:] and machine.turns()[-1].startswith(QUESTION))
        assert machine.pid()
    assert len(machine.turns()) == 2


def test_the_folder_and_the_variables_of_an_event_choose_its_memory(machine: HookMachine) -> None:
    paths = {name: str(machine.folder / name / "memory.db") for name in ("variable", "option")}
    for name, path in paths.items():
        with Memory.open(path) as memory:
            memory.facts.remember(f"The staging database is called {name}")
    assert "heron-7" in machine.ask()
    environ = {**machine.environ, "MEMORANDA_DB": paths["variable"]}
    assert "called variable" in machine.ask(env=environ)
    words = [*CLIENT, "claude-code", "--db", paths["option"]]
    assert "called option" in machine.run(words, machine.event(), env=environ)
    assert "heron-7" in machine.ask(machine.event(cwd="/nowhere/at/all"), cwd=machine.project)
    assert machine.ask(machine.event(cwd="/nowhere/at/all"), cwd="/") == ""
    assert len(machine.turns()) == 2


@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "HOME"])
def test_other_settings_than_the_residents_count_for_whoever_has_them(machine: HookMachine, variable: str) -> None:
    other = machine.folder / "other"
    base = other if variable == "XDG_CONFIG_HOME" else other / ".config"
    write_setting(str(base / "memoranda" / "config.toml"), "agents.recall", "false")
    assert "heron-7" in machine.ask()
    assert machine.ask(env={**machine.environ, variable: str(other)}) == ""
    assert "heron-7" in machine.ask()
    assert len(machine.turns()) == 3


def test_a_report_as_the_last_argument_is_taken_too(machine: HookMachine) -> None:
    machine.resident()
    said = machine.event("agent-turn-complete", type="agent-turn-complete")
    said = said.replace(b'"prompt":', b'"last-assistant-message":')
    assert machine.run([*CLIENT, "codex", said.decode()], b"") == ""
    assert machine.turns() == [QUESTION]


def test_streams_that_an_agent_closed_are_no_trouble(machine: HookMachine) -> None:
    for number, closed in enumerate(("<&-", ">&-", "2>&-", "<&- >&- 2>&-"), 1):
        command = f"{' '.join(CLIENT)} codex '{machine.event().decode()}' {closed}"
        subprocess.run(["sh", "-c", command], env=machine.environ, cwd=machine.project, check=True)
        until(lambda number=number: machine.turns() == [QUESTION] * number)


def test_what_is_no_report_is_answered_with_nothing(machine: HookMachine) -> None:
    for given in (b"", b"{", b"[1]", b"\xff\0{", b'{"hook_event_name": "SessionStart"}'):
        for client in (["claude-code"], ["nobody"], [""], []):
            assert machine.run([*CLIENT, *client], given) == "", (given, client)


# no resident --------------------------------------------------------------------------------------------------------


def test_without_a_resident_what_is_not_cut_yet_is_in_no_file(machine: HookMachine) -> None:
    machine.ask(machine.event(prompt=f"{QUESTION} with {SECRET}"))
    until(lambda: machine.turns())
    assert machine.turns()[0].startswith(QUESTION) and SECRET not in machine.turns()[0]
    assert files_with(machine.folder, SECRET) == []
    machine.kill()
    with Memory.open(machine.path) as other, other.database.write("user", "long"):
        machine.ask(machine.event(prompt=f"{QUESTION} with {SECRET}"))
        until(lambda: hook_spool.has_waiting_lines(machine.path))
        assert files_with(machine.folder, SECRET) == []


def test_first_events_at_once_are_all_answered_and_one_resident_stays(machine: HookMachine) -> None:
    started = [(machine.start([*CLIENT, "claude-code"]), machine.event()) for _ in range(4)]
    for process, event in started:
        assert process.stdin is not None
        process.stdin.write(event)
    outs = [process.communicate()[0] for process, _ in started]
    assert all("heron-7" in context(out) for out in outs)
    assert len(machine.turns()) == 4
    until(lambda: children_of(machine, memoranda_hook.RESIDENT) == [machine.pid()])


def test_of_a_killed_resident_nothing_is_left_to_do(machine: HookMachine) -> None:
    machine.resident().kill()
    until(lambda: not machine.pid())
    assert machine.socket_path.exists()
    assert "heron-7" in machine.ask()
    assert machine.pid()


def test_an_event_that_a_resident_had_when_it_was_killed_goes_to_the_next(machine: HookMachine) -> None:
    first = machine.resident()
    with busy(machine):
        waiting = machine.start([*CLIENT, "claude-code"])
        assert waiting.stdin is not None
        waiting.stdin.write(machine.event())
        waiting.stdin.close()
        until(lambda: received(first.pid) > resident.THREADS)
        first.kill()
        assert waiting.stdout is not None
        assert "heron-7" in context(waiting.stdout.read())
    assert waiting.wait() == 0
    assert machine.turns() == [QUESTION] and machine.pid() != first.pid


def test_where_the_folder_for_state_cannot_be_written_it_is_answered_as_by_one_process(machine: HookMachine) -> None:
    environ = {**machine.environ, "XDG_STATE_HOME": str(machine.folder / "file")}
    (machine.folder / "file").write_text("")
    event = machine.event()
    assert machine.ask(event, env=environ) == machine.run([*ALONE, "claude-code"], event, env=environ) == ""
    until(lambda: not children_of(machine, memoranda_hook.RESIDENT))


@pytest.mark.parametrize("refused", [PROCESSES, SOCKETS])
@pytest.mark.parametrize("size", [0, 300_000])
def test_in_a_sandbox_without_processes_or_sockets_an_event_is_answered_all_the_same(
    machine: HookMachine, size: int, refused: tuple[str, ...]
) -> None:
    """The client becomes the process that answers it, with the event on a pipe, or in memory where a pipe is too
    small."""
    confine = refusing(*refused)
    if confine is None:
        pytest.skip("no sandbox is known for this machine")
    event = machine.event(ignored="x" * size)
    assert "heron-7" in machine.ask(event, preexec_fn=confine)
    assert not machine.socket_path.exists() and machine.turns() == [QUESTION]


# a resident that cannot, or must not, answer ------------------------------------------------------------------------


class busy:
    """Clients that take all threads of a resident, as long as this lasts: each tells half of an event."""

    def __init__(self, machine: HookMachine) -> None:
        self.connections = [machine.connect() for _ in range(resident.THREADS)]

    def __enter__(self) -> None:
        for one in self.connections:
            assert one.recv(64) == memoranda_hook.greeting()
            one.sendall(memoranda_hook.EVENT)

    def __exit__(self, *error: object) -> None:
        for one in self.connections:
            one.close()


def received(pid: int) -> int:
    """Return how many clients a resident has taken."""
    links = [os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir()]
    return sum(link.startswith("socket:") for link in links) - 1


@pytest.mark.parametrize("size", [0, 600_000])
def test_of_a_busy_resident_nobody_waits_long_and_the_turn_is_stored(machine: HookMachine, size: int) -> None:
    """A large event does not fit into the socket of one that does not read: another process takes it."""
    machine.resident()
    environ = {**machine.environ, memoranda_hook.WAIT_VARIABLE: "1"}
    with busy(machine):
        answer = machine.ask(machine.event(ignored="x" * size), env=environ)
        assert ("heron-7" in answer) == bool(size)
    until(lambda: machine.turns() == [QUESTION])


def test_a_resident_that_hangs_costs_an_agent_nothing_but_the_wait(machine: HookMachine) -> None:
    hung = machine.resident()
    os.kill(hung.pid, signal.SIGSTOP)
    assert "heron-7" in machine.ask(env={**machine.environ, memoranda_hook.WAIT_VARIABLE: "1"})
    os.kill(hung.pid, signal.SIGCONT)
    assert "heron-7" in machine.ask()
    assert machine.pid() == hung.pid and len(machine.turns()) == 2


def test_a_resident_of_another_version_ends_and_the_next_one_answers(machine: HookMachine) -> None:
    code = "from store.doors import memoranda_hook; memoranda_hook.VERSION = '0.0.9'"
    old = machine.resident(code=code)
    assert "heron-7" in machine.ask()
    assert old.wait() == 0
    assert "heron-7" in machine.ask()
    with machine.connect() as connection:
        assert connection.recv(64) == memoranda_hook.greeting()
    assert len(machine.turns()) == 2


def test_an_old_line_is_answered_by_the_new_resident_and_an_old_client_by_itself(machine: HookMachine) -> None:
    """The line that earlier versions wrote, and a client whose version the resident does not have."""
    new = machine.resident()
    memoranda = str(Path(sys.executable).with_name("memoranda"))
    assert "heron-7" in machine.run([memoranda, "hook", "claude-code"], machine.event())
    assert machine.pid() == new.pid
    other = str(machine.folder / "tmp" / "memory.db")
    with Memory.open(other) as memory:
        memory.facts.remember("The staging database is called otter")
    assert "otter" in machine.run([memoranda, "--db", other, "hook", "claude-code"], machine.event())
    old = machine.folder / "memoranda_hook.py"
    text = Path(memoranda_hook.__file__).read_text()
    old.write_text(text.replace(f'VERSION = "{__version__}"', 'VERSION = "0.0.9"'))
    assert "heron-7" in machine.run([sys.executable, "-IS", str(old), "claude-code"], machine.event())
    assert new.wait() == 0
    assert len(machine.turns()) == 2


@pytest.mark.skipif(not ROOT, reason="only root may be somebody else")
def test_another_user_is_neither_answered_nor_told_anything(machine: HookMachine) -> None:
    listening = machine.resident()
    for path in (*machine.folder.parents, machine.folder, machine.state.parent, machine.state, machine.socket_path):
        path.chmod(path.stat().st_mode | 0o777)
    other = f"import os, socket, sys; os.setuid({OTHER}); s = socket.socket(socket.AF_UNIX); "
    asked = [sys.executable, "-c", f"{other} s.connect(sys.argv[1]); print(s.recv(64))", str(machine.socket_path)]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("b''\n", 0)
    assert "heron-7" in machine.ask()
    listening.kill()
    until(lambda: not machine.pid())
    machine.socket_path.unlink()
    code = (  # one that listens in our place
        f"{other} s.bind(sys.argv[1]); s.listen(); print(flush=True)\n"
        f"while True:\n c, _ = s.accept(); c.sendall({memoranda_hook.greeting()!r}); print(c.recv(9999), flush=True)"
    )
    words = [sys.executable, "-c", code, str(machine.socket_path)]
    stranger = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert stranger.stdout is not None and stranger.stdout.readline() == "\n"
    machine.socket_path.chmod(0o777)
    assert "heron-7" in machine.ask(), "the stranger's socket is in the way of nobody"
    stranger.kill()
    assert set(stranger.stdout.read().split()) <= {"b''"}
    stranger.wait()


def test_a_mac_tells_the_user_in_its_own_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """As its header has it: a version, the user, and groups. No Mac ran this."""

    class Connection:
        def getsockopt(self, level: int, option: int, size: int) -> bytes:
            assert (level, option, size) == (0, 1, 76)
            return told

    monkeypatch.setattr(sys, "platform", "darwin")
    told = (0).to_bytes(4, sys.byteorder) + (501).to_bytes(4, sys.byteorder) + bytes(68)
    assert memoranda_hook.peer_user(Connection()) == 501  # type: ignore[arg-type]
    told = (7).to_bytes(4, sys.byteorder) + told[4:]
    assert memoranda_hook.peer_user(Connection()) is None  # type: ignore[arg-type]
    monkeypatch.setattr(sys, "platform", "other")
    assert memoranda_hook.peer_user(Connection()) is None  # type: ignore[arg-type]


def test_work_that_goes_on_behind_an_event_holds_nobody_up_and_none_of_our_sockets(machine: HookMachine) -> None:
    module = "store.doors.hook_background"
    with Memory.open(machine.path) as other, other.database.write("user", "long"):
        assert machine.ask(machine.event("Stop", last_assistant_message="It is heron-7.")) == ""
        until(lambda: children_of(machine, module))
        (child,) = children_of(machine, module)
        assert os.getsid(child) == child
        until(lambda: os.getpriority(os.PRIO_PROCESS, child) > 0)
        links = [os.readlink(path) for path in Path(f"/proc/{child}/fd").iterdir()]
        assert not [link for link in links if link.startswith(("socket:", "pipe:"))]
    until(lambda: not children_of(machine, module))
    assert "Z" not in [line[7] for line in processes_below(machine.pid())]


def processes_below(pid: int) -> list[str]:
    """Return the lines of /proc that tell the state of each child."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [Path(f"/proc/{child}/status").read_text().partition("State:\t")[2] for child in children]


def test_a_full_disk_costs_the_event_and_not_the_resident(machine: HookMachine) -> None:
    disk = machine.folder / "disk"
    disk.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=2400k", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a disk to fill")
    try:
        path = str(disk / ".memoranda" / "memory.db")
        with Memory.open(path) as memory:
            memory.facts.remember(FACT)
        listening = machine.resident()
        with (disk / "fill").open("ab", buffering=0) as file, pytest.raises(OSError, match="No space"):
            while file.write(b"x" * 512):
                pass
        alone = machine.run([*ALONE, "claude-code"], machine.event(cwd=str(disk)))
        assert machine.ask(machine.event(cwd=str(disk))) == alone
        (disk / "fill").unlink()
        assert "heron-7" in machine.ask(machine.event(cwd=str(disk)))
        assert machine.pid() == listening.pid
    finally:
        subprocess.run(["umount", str(disk)], check=True)


# the end of a resident ----------------------------------------------------------------------------------------------


def test_without_events_it_ends_and_leaves_no_socket(machine: HookMachine) -> None:
    assert machine.resident("idle=0.2").wait() == 0
    assert not machine.socket_path.exists()
    assert "heron-7" in machine.ask()


def test_at_rest_it_becomes_a_new_process_that_answers_on_the_same_socket(machine: HookMachine) -> None:
    listening = machine.resident("rest=0", code=LOOKS_OFTEN)
    for _ in range(3):
        assert "heron-7" in machine.ask()
        until(lambda: any(word.startswith("listening=") for word in command_line(listening.pid)))
    assert machine.pid() == listening.pid and len(machine.turns()) == 3


def test_it_ends_when_it_is_asked_to_and_when_its_folder_is_gone(machine: HookMachine, monkeypatch: pytest.MonkeyPatch):
    first = machine.resident()
    assert hook_resident.end_resident() and first.wait() == 0 and not machine.socket_path.exists()
    assert hook_resident.end_resident() and hook_resident.release_memories(), "nobody is there"
    code = "from store.doors import hook_resident as resident; resident.SOCKET_LOOK_SECONDS = 0.05"
    second = machine.resident(code=code)
    machine.socket_path.unlink()
    third = machine.resident() if second.wait() == 0 else None
    assert third is not None and machine.pid() == third.pid


def test_what_was_purged_is_not_in_the_memory_of_the_process_either(machine: HookMachine) -> None:
    word = "quokka" + "burgh"
    machine.ask(machine.event(prompt=f"{QUESTION} of {word}"))
    pid = machine.pid()
    with Memory.open(machine.path) as memory:
        memory.purge.run_plan(memory.purge.plan([("turn", 1)]))
    assert machine.pid() == pid and any(line.startswith("listening=") for line in command_line(pid))
    held = memory_of(pid)
    assert b"hook_resident" in held and word.encode() not in held  # what is there is seen
    assert "heron-7" in machine.ask()


def test_a_restore_has_it_let_go(machine: HookMachine) -> None:
    machine.ask()
    pid = machine.pid()
    with Memory.open(machine.path) as memory:
        before = memory.checkpoints.take_checkpoint("before")
        memory.facts.forget([1])
        assert not any(line.startswith("listening=") for line in command_line(pid))
        memory.checkpoints.restore(before)
    assert machine.pid() == pid and any(line.startswith("listening=") for line in command_line(pid)), "it began anew"


def memory_of(pid: int) -> bytes:
    """Return all that a process has in its memory, as far as it may be read."""
    parts = []
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            bounds, rights = line.split()[:2]
            if rights.startswith("rw"):
                start, end = (int(bound, 16) for bound in bounds.split("-"))
                with contextlib.suppress(OSError):  # a part given back since the list was read, or one of a device
                    memory.seek(start)
                    parts.append(memory.read(end - start))
    return b"".join(parts)


def test_an_event_that_is_being_answered_is_waited_for_before_the_memories_are_let_go(machine: HookMachine) -> None:
    listening = machine.resident()
    with Memory.open(machine.path) as other, other.database.write("user", "long"):
        asked = machine.start([*CLIENT, "claude-code"])
        assert asked.stdin is not None
        asked.stdin.write(machine.event())
        asked.stdin.close()
        until(lambda: any(".memoranda" in os.readlink(path) for path in Path(f"/proc/{listening.pid}/fd").iterdir()))
        assert hook_resident.release_memories()
        assert asked.wait() == 0
        assert hook_spool.has_waiting_lines(machine.path), "what it could not write was not lost"


def test_its_memory_stays_small(machine: HookMachine) -> None:
    for _ in range(12):
        machine.ask(machine.event("SessionStart", source="startup"))
        machine.ask()
    assert resident_megabytes(machine.pid()) <= 40


# the client's own ---------------------------------------------------------------------------------------------------


def test_the_client_starts_with_next_to_nothing(machine: HookMachine) -> None:
    words = [sys.executable, "-X", "importtime", *CLIENT[1:]]
    told = subprocess.run(words, env=machine.environ, input=b"", capture_output=True, check=True).stderr.decode()
    found = {line.rpartition("|")[2].strip() for line in told.splitlines()}
    assert "_socket" in found and not {"json", "selectors", "socket", "store", "struct"} & found


def test_it_has_the_version_and_the_folder_of_the_product(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert __version__ == memoranda_hook.VERSION
    assert {memoranda_hook.RELEASE, memoranda_hook.END} == {hook_resident.RELEASE, hook_resident.END}
    for named in ("", "  ", str(tmp_path), "~/state"):
        monkeypatch.setenv("XDG_STATE_HOME", named)
        assert memoranda_hook.state_folder() == state_files.state_folder()
        assert memoranda_hook.socket_path() == os.path.join(state_files.state_folder(), hook_resident.SOCKET)


def test_on_a_mac_it_finds_the_same_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    from platformdirs.macos import MacOS

    monkeypatch.setattr(memoranda_hook.sys, "platform", "darwin")
    for named in ("", "/var/state"):
        monkeypatch.setenv("XDG_STATE_HOME", named)
        assert memoranda_hook.state_folder() == MacOS("memoranda", False).user_state_dir
