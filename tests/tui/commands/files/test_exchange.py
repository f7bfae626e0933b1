"""Leaving and coming back, as a person does it: export, import and backup, on the command line and in the app."""

import gzip
import json
import os
import subprocess
from pathlib import Path

import pexpect
import pytest
from support.commands import COMMAND, Do, runner
from support.screen import opened
from support.stories import NOON, Story, noon

from store.base.clock import from_ms, to_ms
from store.exchange import backups as backup


@pytest.fixture
def do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Do:
    """Runs one command in a folder of its own at the story's noon, with nobody at the keyboard."""
    noon(monkeypatch)
    monkeypatch.chdir(tmp_path)
    return runner(capsys)


def test_a_project_moves_to_another_machine(do: Do, story: Story, tmp_path: Path):
    """Packed here, brought in there: the same document, with the same citations; once more changes nothing."""
    assert do("--db", story.path, "export", "memory.json.gz").status == 0
    assert do("--db", "there.db", "import", "memory.json.gz", "--yes").status == 0
    assert do("--db", "there.db", "export").out.encode() == gzip.decompress((tmp_path / "memory.json.gz").read_bytes())
    again = do("--db", "there.db", "import", "memory.json.gz")
    assert (again.status, again.out) == (0, "All of memory is here already; nothing was changed.\n")


def test_a_dash_is_standard_output_and_no_name(do: Do, story: Story, tmp_path: Path):
    printed = do("--db", story.path, "export", "-")
    assert printed.status == 0 and printed.out == do("--db", story.path, "export").out
    for words in (["export", "-", "--form", "okf"], ["backup", "-"], ["import", "-"]):
        said = do("--db", story.path, *words)
        assert said.status == 2 and "- is the name of no file here." in said.err
    assert not (tmp_path / "-").exists()


def test_it_is_seen_before_it_is_done(do: Do, story: Story):
    """Counts, records and what stays behind; with --json for scripts; and nothing is changed. What is done is one step,
    which undo takes back."""
    do("--db", story.path, "export", "theirs.json")
    do("--db", "mine.db", "remember", "direct answers, NO hedging")
    seen = do("--db", "mine.db", "import", "theirs.json", "--dry-run", "--limit", "2")
    assert seen.status == 0
    lines = seen.out.splitlines()
    assert lines[0].startswith("Importing theirs would bring or change ")
    assert "facts         13 new, 1 different" in lines
    assert any(line.startswith("history row ") and line.endswith(" left out") for line in lines)
    assert "+ fact       Alérgica al maní" in lines and sum(line.startswith("+ fact") for line in lines) == 2
    assert "= F#1        Direct answers, no hedging" in lines
    assert lines[-1].startswith("Its history and its checkpoints stay in the document")
    data = do("--db", "mine.db", "import", "theirs.json", "--dry-run", "--json").data
    assert data["tables"]["facts"] == {"new": 13, "same": 0, "differ": 1, "changed": 0, "left": 0}
    assert data["step"] is None and not data["whole"] and len(data["records"]) > 10
    assert [fact["id"] for fact in do("--db", "mine.db", "facts", "--all", "--json").data] == [1]
    done = do("--db", "mine.db", "import", "theirs.json", "--yes")
    assert done.out.splitlines()[0].endswith("undo 2 undoes it. K#1 is how it was.")
    assert len(do("--db", "mine.db", "facts", "--all", "--json").data) == 14
    assert do("--db", "mine.db", "undo", "2").status == 0
    assert [fact["id"] for fact in do("--db", "mine.db", "facts", "--all", "--json").data] == [1]


def test_nobody_there_to_answer_means_no(do: Do, story: Story):
    do("--db", story.path, "export", "theirs.json")
    said = do("--db", "mine.db", "import", "theirs.json")
    assert said.status == 2 and "Add --yes, or --dry-run to see first what would change." in said.err
    assert do("--db", "mine.db", "facts", "--all", "--json").data == []


def test_at_a_terminal_it_shows_and_asks(do: Do, story: Story, tmp_path: Path):
    do("--db", story.path, "export", "theirs.json")
    words = ["--db", "mine.db", "import", "theirs.json"]
    terminal = pexpect.spawn(COMMAND, words, cwd=str(tmp_path), encoding="utf-8", timeout=60)
    terminal.expect("This memory is empty")
    terminal.expect("facts +14 new")
    terminal.expect(r"Import theirs: \d+ rows would come or change. Go on\? \[y/N\] ")
    terminal.sendline("n")
    terminal.expect("Nothing was changed")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 1


@pytest.mark.parametrize(
    "content, status, code, says",
    [
        (b"# my notes\n", 1, "broken-document", "not an export of Memoranda"),
        (b"\x1f\x8b\x08junk", 1, "broken-document", "gzip"),
        (b'{"format": "memoranda-export", "version": 9, "schema": 2,\n', 1, "newer-file", "newer Memoranda"),
        (None, 1, "not-found", "There is no file"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_or_one_object(do: Do, tmp_path: Path, content, status, code, says):
    if content is not None:
        (tmp_path / "thing").write_bytes(content)
    said = do("--db", "mine.db", "import", "thing", "--yes")
    assert said.status == status and says in said.err and said.out == ""
    error = json.loads(do("--db", "mine.db", "import", "thing", "--yes", "--json").err.splitlines()[-1])["error"]
    assert error["code"] == code


def test_markdown_is_for_people(do: Do, story: Story, tmp_path: Path):
    """Facts by domain with their badge's word, decisions with what was not chosen and their commits, tasks and the
    timeline; what is forgotten is not in it, and a text cannot draw anything."""
    do("--db", story.path, "remember", "# not a <b>heading</b>\n- nor *bold* \u202eevil")
    said = do("--db", story.path, "export", "--markdown")
    assert said.status == 0
    assert said.out.startswith("# What is remembered of billing-api\n")
    assert "\n### Personal\n\n- **F#1** Alérgica al maní  \n  *pinned, high confidence, " in said.out
    assert "### D#1 Use SQLite, not PostgreSQL" in said.out and "- Instead of: PostgreSQL; DuckDB" in said.out
    assert "- Implemented by C#" in said.out and "- [ ] **A#3** ask for a logo" in said.out
    assert "## Timeline" in said.out and "fax" not in said.out and "Stand-up at nine" not in said.out
    assert "** \\# not a \\<b\\>heading\\</b\\>  \n  \\- nor \\*bold\\* �evil" in said.out
    assert do("--db", story.path, "export", "out.md").status == 0
    assert (tmp_path / "out.md").read_text().splitlines()[4:] == said.out.splitlines()[4:]
    assert "cannot be imported" in do("--db", "mine.db", "import", "out.md").err


def test_a_packed_document_is_no_text_for_the_screen(do: Do, story: Story):
    assert do("--db", story.path, "export", "--gzip").status == 2
    assert do("--db", story.path, "export", "--markdown", "--json").status == 2


def test_a_backup_is_made_listed_proven_and_gone_back_to(do: Do, story: Story, tmp_path: Path):
    """The whole life of one, and what doctor says of it."""
    assert "No backup yet" in do("--db", story.path, "backups").out
    assert do("--db", story.path, "backup").out.endswith("it was restored and compared, and is intact.\n")
    (listed,) = do("--db", story.path, "backups", "--json").data
    assert listed["problem"] == "" and not listed["scheduled"]
    do("--db", story.path, "forget", "1")
    seen = do("--db", story.path, "backup", "--restore", "--dry-run")
    assert "Going back to" in seen.out and "F#1" in seen.out
    assert do("--db", story.path, "backup", "--restore").status == 2
    assert do("--db", story.path, "show", "1", "--json").data["status"] == "forgotten"
    assert "1 record changed" in do("--db", story.path, "backup", "--restore", listed["name"], "--yes").out
    assert do("--db", story.path, "show", "1", "--json").data["status"] == "active"
    assert do("--db", story.path, "undo").status == 0
    assert do("--db", story.path, "show", "1", "--json").data["status"] == "forgotten"
    whole = Path(listed["path"]).read_bytes()
    Path(listed["path"]).write_bytes(whole[:-4096])
    said = do("--db", story.path, "backup", "--verify")
    assert said.status == 5 and "is damaged" in said.out
    assert "DAMAGED" in do("--db", story.path, "backups").out
    findings = do("--db", story.path, "doctor", "--json").data["findings"]
    assert [one["state"] for one in findings if one["subject"] == "backups"] == ["wrong"]
    assert do("--db", story.path, "backup", "copy.db").status == 0
    assert do("--db", story.path, "backup", "--verify", tmp_path / "copy.db").status == 0


def test_a_command_that_reads_makes_the_daily_backup(do: Do, story: Story):
    """A day after the memory was made: the first reading makes one, the second finds it made; writing makes none."""
    with story.open() as memory, memory.database.write("agent", "older") as write:
        write.execute("UPDATE meta SET value = '2026-01-01T00:00:00.000Z' WHERE key = 'created_at'")
    do("--db", story.path, "remember", "something new")
    assert do("--db", story.path, "backups", "--json").data == []
    for _ in range(2):
        assert do("--db", story.path, "timeline", "--limit", "1").status == 0
        (made,) = do("--db", story.path, "backups", "--json").data
        assert made["scheduled"] and made["problem"] == ""


def test_backups_of_two_memories_in_one_folder_do_not_meet(do: Do, tmp_path: Path):
    for name in ("one", "two"):
        do("--db", f"{name}.db", "remember", name)
        assert do("--db", f"{name}.db", "backup").status == 0
    assert len(os.listdir(tmp_path / "backups")) == 2
    for name in ("one", "two"):
        (made,) = do("--db", f"{name}.db", "backups", "--json").data
        assert made["name"].startswith(f"{name}-") and do("--db", f"{name}.db", "backup", "--verify").status == 0


async def test_in_the_application_an_import_is_read_before_the_answer(story: Story, tmp_path: Path):
    """What it would do stands below the question; escape changes nothing, enter does it."""
    command = [COMMAND, "--db", str(tmp_path / "theirs.db")]
    subprocess.run([*command, "remember", "Quarters close on the tenth"], check=True, capture_output=True)
    subprocess.run([*command, "export", str(tmp_path / "theirs.json")], check=True, capture_output=True)
    async with opened(story.folder) as person:
        before = person.rows
        await person.follow((f":import {tmp_path}/theirs.json", "Go on?", "facts         1 new", "Quarters close"))
        await person.follow(("escape", "!Go on?", lambda: person.rows == before), (f":import {tmp_path}/theirs.json",))
        await person.hears(("enter", "Imported theirs: 1 row, u to undo. K#2 is how it was."))
    with story.open() as memory:
        fact = memory.facts.get(memory.database.value("SELECT max(id) FROM facts"))
        assert (fact.fact, fact.origin) == ("Quarters close on the tenth", "user")


async def test_the_top_line_tells_of_a_backup_that_is_not_whole(story: Story):
    """And of one that is days old; while all is well it says nothing."""
    with story.open(from_ms(to_ms(NOON) - 3_600_000)) as memory:
        made = backup.make_backup(memory.database)
    assert made is not None
    async with opened(story.folder) as person:
        assert not person.sees("backup")
    with open(made.path, "ab") as file:
        file.write(b"x")
    with story.open() as memory:
        assert backup.verify_backup(memory.database)[1]
    async with opened(story.folder) as person:
        await person.until(lambda: person.sees("backup damaged"))


def test_an_import_and_a_verb_of_many_records_take_a_checkpoint_first(do: Do, story: Story):
    """Named after what was done, and said; a verb of few takes none."""
    do("--db", story.path, "export", "theirs.json")
    do("--db", "mine.db", "remember", "direct answers, NO hedging")
    done = do("--db", "mine.db", "import", "theirs.json", "--yes")
    assert "K#1 is how it was." in done.out
    assert "before: import theirs" in do("--db", "mine.db", "checkpoints").out
    for number in range(11):
        do("--db", "mine.db", "remember", f"Invoice series {number}")
    facts = [one["id"] for one in json.loads(do("--db", "mine.db", "facts", "Invoice", "--json").out)]
    assert "K#" not in do("--db", "mine.db", "forget", *map(str, facts[:2])).out
    do("--db", "mine.db", "undo")
    assert do("--db", "mine.db", "forget", *map(str, facts)).out.endswith("Undo brings them back. K#2 is how it was.\n")
    assert "before: forget 11 facts" in do("--db", "mine.db", "checkpoints").out
    assert do("--db", "mine.db", "undo").status == 0
    assert do("--db", "mine.db", "pin", *map(str, facts)).out == "Pinned 11 facts: they never age. K#3 is how it was.\n"
    assert do("--db", "mine.db", "merge", *map(str, facts)).out.endswith("K#4 is how it was.\n")
    assert "before: merge 11 facts" in do("--db", "mine.db", "checkpoints").out
