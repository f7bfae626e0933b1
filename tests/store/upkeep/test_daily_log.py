"""The daily log: appended to by itself once it is turned on, whole, once, private; and reached by a purge."""

import os
import subprocess
import threading
from pathlib import Path

import pytest
from conftest import Clock
from support import repositories

from store.config.configuration import user_settings_path, write_setting
from store.conversations import sessions as session_snapshot
from store.conversations.turns import NewTurn
from store.memory import Memory
from store.purge.proof import find_traces
from store.upkeep import daily_log, maintenance, session_flush

DAY = "2026-11-21"


def again(memory: Memory) -> Memory:
    """The same memory, with the settings as they are now."""
    memory._config = None
    return memory


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


@pytest.fixture
def log(memory: Memory, tmp_path: Path) -> Path:
    write_setting(user_settings_path(), "log.daily", "true")
    again(memory)
    return tmp_path / "memory" / f"{DAY}.md"


def talk(memory: Memory, session: str, *texts: str) -> None:
    memory.turns.add_turns(session, [NewTurn(("user", "assistant")[at % 2], text) for at, text in enumerate(texts)])


def test_nothing_is_written_before_it_is_turned_on(memory: Memory, tmp_path: Path) -> None:
    memory.facts.remember("The team is five")
    assert daily_log.write_daily_log(memory) == 0
    assert not (tmp_path / "memory").exists()


def test_what_happens_is_a_line_with_its_citation_under_its_session(memory: Memory, log: Path, clock: Clock) -> None:
    memory.facts.remember("The team is five", domain="work")
    memory.events.log("phase_completed", phase="design")
    talk(memory, "s-1", "we decided to use SQLite for the ledger", "Then SQLite it is.")
    memory.decisions.decide("Storage", "SQLite, one file")
    memory.iterations.start_iteration("feature", "The ledger")
    assert daily_log.write_daily_log(memory) == 4
    assert log.read_text() == (
        "# 2026-11-21\n"
        "\n## Outside of sessions\n\n"
        "- 12:00 Remembered: The team is five [F#1]\n"
        "- 12:00 Phase completed: design [E#1]\n"
        "\n## Session s-1\n\n"
        "- 12:00 Decided: Storage: SQLite, one file [D#1]\n"
        "- 12:00 Started feature: The ledger [I#1]\n"
    )
    assert daily_log.write_daily_log(memory) == 0, "once"
    memory.iterations.end_iteration()
    assert daily_log.write_daily_log(memory) == 1
    assert log.read_text().endswith("- 12:00 Completed feature: The ledger [I#1]\n"), "below the same heading"
    clock.advance(days=1)
    memory.facts.remember("The team is six")
    daily_log.write_daily_log(memory)
    assert (log.parent / "2026-11-22.md").read_text().endswith("Remembered: The team is six [F#2]\n")


def test_what_a_flush_finds_is_there_too(memory: Memory, log: Path) -> None:
    talk(memory, "s-1", "¿Qué usamos? Decidimos usar Decimal para los importes.", "De acuerdo, Decimal.")
    session_flush.flush_session(memory, "s-1")
    text = log.read_text()
    assert "## Session s-1" in text and "Talked about: " in text and "[S#1]" in text
    assert "Decimal" in text, "the decision is said, not only that there was talk"
    assert ".." not in text and "?." not in text


def test_commits_are_written_as_they_are_read(memory: Memory, log: Path, tmp_path: Path, clock: Clock) -> None:
    repositories.commit(tmp_path, "Long ago", {"a": "a"})
    sha = repositories.commit(tmp_path, "Round half up\n\nAs at school", {"a": "b"}, when=1_795_262_400)
    clock.now = "2026-11-21T13:00:00.000Z"
    maintenance.run_maintenance(memory, str(tmp_path))
    assert f"Committed: Round half up [C#{sha[:7]}]" in log.read_text()
    assert "Long ago" not in log.read_text()


def test_only_what_a_person_accepted_nothing_private_and_no_secret(memory: Memory, log: Path) -> None:
    memory.facts.remember("Guessed by an agent", actor="agent")
    memory.facts.remember("Allergic to nuts", domain="personal")
    memory.facts.remember("I mistook the port", domain="self_correction")
    memory.facts.remember("The key is AKIAQ7RM3XKD2WUZ5VTN")
    memory.decisions.decide("Cache", "Redis", actor="mcp:codex")
    daily_log.write_daily_log(memory)
    text = log.read_text()
    assert "Decided: Cache: Redis (by mcp:codex, not confirmed) [D#1]" in text and "The key is" in text
    assert not any(word in text for word in ("Guessed", "nuts", "mistook", "AKIAQ7RM3XKD2WUZ5VTN"))


def test_what_is_in_the_file_is_never_changed(memory: Memory, log: Path) -> None:
    log.parent.mkdir()
    theirs = "# My day\n\nNo line end"
    log.write_text(theirs)
    memory.facts.remember("One line\nmore \u2028 ## of it\x07 and \u202eevil")
    daily_log.write_daily_log(memory)
    text = log.read_text()
    assert text.startswith(f"{theirs}\n\n## Outside of sessions\n\n- 12:00 Remembered: One line more")
    assert text.count("\n- ") == 1 and "\x07" not in text and "\u2028" not in text
    log.write_text(text + "- my own line\n")
    memory.facts.remember("Another")
    daily_log.write_daily_log(memory)
    assert log.read_text().startswith(text + "- my own line\n")


def test_several_writers_write_each_line_once(memory: Memory, log: Path) -> None:
    for number in range(30):
        memory.facts.remember(f"Rule number {number}")
    stop = threading.Barrier(4)

    def write() -> None:
        with Memory.open(memory.location.path, "worker", memory.database.clock) as own:
            stop.wait()
            daily_log.write_daily_log(own)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = log.read_text()
    assert [text.count(f"[F#{number}]") for number in range(1, 31)] == [1] * 30


def test_a_kill_after_writing_writes_nothing_twice(memory: Memory, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.facts.remember("The team is five")
    real = daily_log._append_entries

    def killed(*given: object) -> int:
        real(*given)
        raise KeyboardInterrupt

    monkeypatch.setattr(daily_log, "_append_entries", killed)
    with pytest.raises(KeyboardInterrupt):
        daily_log.write_daily_log(memory)
    monkeypatch.setattr(daily_log, "_append_entries", real)
    memory.facts.remember("The team is six")
    daily_log.write_daily_log(memory)
    assert [line[-5:] for line in log.read_text().splitlines() if line.startswith("- ")] == ["[F#1]", "[F#2]"]


# private


def git_sees(folder: Path) -> list[str]:
    done = subprocess.run(["git", "-C", str(folder), "status", "--porcelain", "-uall"], capture_output=True, text=True)
    return [line[3:] for line in done.stdout.splitlines()]


def test_git_does_not_see_it_unless_it_is_to(memory: Memory, log: Path, tmp_path: Path) -> None:
    repositories.commit(tmp_path, "first", {"README.md": "r", "memory/notes.md": "n", ".gitignore": ".memoranda\n"})
    talk(memory, "s-1", "We talked about rounding", "Yes.")
    session_flush.flush_session(memory, "s-1")
    assert "Talked about" in log.read_text()
    assert git_sees(tmp_path) == []
    write_setting(user_settings_path(), "snapshots.in_git", "true")
    memory.facts.remember("Another fact")
    daily_log.write_daily_log(again(memory))
    assert git_sees(tmp_path) == [f"memory/{DAY}.md"]


def test_where_git_would_see_it_nothing_of_conversations_is_in_it(memory: Memory, log: Path, tmp_path: Path) -> None:
    repositories.commit(tmp_path, "first", {"memory/.gitignore": "*.tmp\n", ".gitignore": ".memoranda\n"})
    talk(memory, "s-1", "We talked about rounding", "Yes.")
    memory.facts.remember("Rounds half up")
    session_flush.flush_session(memory, "s-1")
    assert "Rounds half up" in log.read_text() and "Talked about" not in log.read_text()
    assert (tmp_path / "memory" / ".gitignore").read_text() == "*.tmp\n", "rules of others are left alone"
    assert f"memory/{DAY}.md" in git_sees(tmp_path)


def test_a_purge_reaches_it_and_is_proved(memory: Memory, log: Path) -> None:
    memory.facts.remember("The ledger is called Zanzibar")
    memory.facts.remember("The team is five")
    daily_log.write_daily_log(memory)
    memory.documents.update_index()
    plan = memory.purge.plan([("fact", 1)])
    memory.purge.run_plan(plan)
    assert "Zanzibar" not in log.read_text() and "The team is five [F#2]" in log.read_text()
    assert find_traces(memory.database, memory.documents, ["The ledger is called Zanzibar"]).is_clean
    daily_log.write_daily_log(memory)
    assert "Zanzibar" not in log.read_text()


# where it is


TEAM_FOLDER = "notes/token=Zq8fR2xLw9Tn4Vb7"  # its name is no secret, but would be cut from a text


def test_a_purge_reaches_what_was_written_to_an_earlier_folder(memory: Memory, log: Path, tmp_path: Path) -> None:
    """Logs and snapshots are found there, cited and cut, whatever the setting says since."""
    memory.facts.remember("The zebrafish is the hint")
    talk(memory, "s-1", "remember that the zebrafish is the hint", "Noted.")
    write_setting(user_settings_path(), "files.folder", "notes/agent")
    assert daily_log.write_daily_log(again(memory)) > 0
    write_setting(user_settings_path(), "files.folder", TEAM_FOLDER)
    session_flush.clear_session(again(memory), "s-1")
    write_setting(user_settings_path(), "files.folder", "memory")
    again(memory).documents.update_index()

    def held() -> set[str]:
        files = [file for file in (tmp_path / "notes").rglob("*.md") if "zebrafish" in file.read_text()]
        return {file.relative_to(tmp_path).parts[1] for file in files}

    assert held() == {"agent", "token=Zq8fR2xLw9Tn4Vb7"}
    assert "notes/agent" in str([hit.record.citation for hit in memory.search("kind:document zebrafish").hits])
    plan = memory.purge.plan([("fact", 1)])
    memory.purge.run_plan(plan, plan.default_places())
    assert held() == set()
    assert find_traces(memory.database, memory.documents, ["The zebrafish is the hint"]).is_clean


def test_it_is_indexed_and_cited(memory: Memory, log: Path) -> None:
    memory.facts.remember("The harbour is deep")
    daily_log.write_daily_log(memory)
    memory.documents.update_index()
    assert memory.documents.chunk_at(f"memory/{DAY}.md", 5).path == f"memory/{DAY}.md"
    assert f"memory/{DAY}.md" in [hit.citation.partition("#")[0] for hit in memory.search("harbour kind:document").hits]


def test_another_folder_takes_logs_and_snapshots(memory: Memory, log: Path, tmp_path: Path) -> None:
    write_setting(user_settings_path(), "files.folder", "notes/agent")
    talk(again(memory), "s-1", "The lighthouse is red", "Yes.")
    memory.facts.remember("The harbour is deep")
    session_flush.clear_session(memory, "s-1")
    assert (tmp_path / "notes" / "agent" / f"{DAY}.md").exists()
    (snapshot,) = (tmp_path / "notes" / "agent" / "snapshots").glob("*.md")
    assert "lighthouse" in snapshot.read_text()
    assert not (tmp_path / "memory").exists()
    assert "The harbour is deep [F#1]" in memory.context("harbour").text, "today's log is in the context"
    memory.documents.update_index()
    found = {hit.citation.partition("#")[0] for hit in memory.search("harbour lighthouse kind:document").hits}
    assert found == {f"notes/agent/{DAY}.md", f"notes/agent/snapshots/{snapshot.name}"}
    assert session_snapshot.rename_cut_snapshot(str(snapshot)).endswith(f"{DAY}-session.md")


@pytest.mark.parametrize("folder", ["/tmp/elsewhere", "../elsewhere", "", ".git/hooks", "a//b"])
def test_a_folder_that_is_none_of_the_project_is_not_used(memory: Memory, log: Path, folder: str) -> None:
    write_setting(user_settings_path(), "files.folder", folder)
    again(memory).facts.remember("The harbour is deep")
    assert daily_log.write_daily_log(memory) == 1
    assert log.exists()


@pytest.mark.parametrize("way", ["link", "pipe", "folder", "second name", "linked folder"])
def test_nothing_is_written_through_what_is_no_plain_file(memory: Memory, log: Path, tmp_path: Path, way: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file.md").write_text("theirs\n")
    if way == "linked folder":
        log.parent.symlink_to(outside)
    else:
        log.parent.mkdir()
    if way == "link":
        log.symlink_to(outside / "file.md")
    elif way == "pipe":
        os.mkfifo(log)
    elif way == "folder":
        log.mkdir()
    elif way == "second name":
        os.link(outside / "file.md", log)
    memory.facts.remember("The harbour is deep")
    said: list[str] = []
    assert daily_log.write_daily_log(memory, said.append) == 0
    assert "The daily log cannot be written" in said[0]
    assert os.listdir(outside) == ["file.md"] and (outside / "file.md").read_text() == "theirs\n"
    if way == "folder":
        log.rmdir()
    elif way == "linked folder":
        log.parent.unlink()
    else:
        log.unlink()
    assert daily_log.write_daily_log(memory) == 1, "it is written as soon as it can be"
