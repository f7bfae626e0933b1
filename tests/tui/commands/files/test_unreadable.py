"""Files and folders that may not be read: named with the reason, and never counted as read or empty."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.commands import COMMAND, Said
from support.permissions import ordinary
from support.repositories import create

LINE = {"type": "user", "sessionId": "a", "uuid": "1", "timestamp": "2026-08-01T10:00:00Z"}
LINE |= {"message": {"role": "user", "content": "The potto likes figs."}}


class Place:
    """A project with a home folder of its own, in which Claude Code keeps one conversation about it."""

    def __init__(self, base: Path) -> None:
        self.home = base / "home"
        self.project = base / "project"
        create(self.project)
        name = "".join(one if one.isascii() and one.isalnum() else "-" for one in os.path.realpath(self.project))
        self.claude = self.home / ".claude" / "projects" / name
        self.claude.mkdir(parents=True)
        (self.claude / "ok.jsonl").write_text(json.dumps({**LINE, "cwd": str(self.project)}) + "\n")
        self._shut: list[Path] = []

    def shut(self, path: Path) -> Path:
        path.chmod(0)
        self._shut.append(path)
        return path

    def open(self) -> None:
        for path in self._shut:
            path.chmod(0o700)

    def do(self, *words: str) -> Said:
        names = ("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "CODEX_HOME", "MEMORY_FILE_PATH")
        kept = {name: value for name, value in os.environ.items() if name not in names}
        options: Any = {"cwd": self.project, "env": {**kept, "HOME": str(self.home)}, "stdin": subprocess.DEVNULL}
        done = subprocess.run([COMMAND, *words], capture_output=True, text=True, preexec_fn=ordinary, **options)
        return Said(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.open()


def test_an_unreadable_folder_is_not_an_empty_one(place: Place) -> None:
    """Be it the project's folder, those of all projects, or of the tool itself."""
    for folder in (place.claude, place.claude.parent, place.claude.parent.parent):
        place.shut(folder)
        done = place.do("import", "claude-code", "--yes")
        said = ["Nothing of Claude Code could be read; nothing was changed.", f"{place.claude}: permission denied"]
        assert (done.status, done.out.splitlines()[:2]) == (1, said)
        assert "Look at the permissions" in done.out
        data = place.do("import", "claude-code", "--yes", "--json").data
        assert data["troubles"] == [{"path": str(place.claude), "line": 0, "problem": "permission denied"}]
        assert place.do("import", "claude-code", "--dry-run").status == 1
        place.open()
    assert "1 turn of 1 session imported" in place.do("import", "claude-code", "--yes").out


@pytest.mark.parametrize("tool", ["claude-code", "codex", "gemini", "markdown", "okf", "obsidian", "server-memory"])
def test_every_reader_names_the_folder_that_it_cannot_read(place: Place, tool: str) -> None:
    folder = place.project / "notes"
    folder.mkdir()
    place.shut(folder)
    done = place.do("import", tool, "notes", "--yes")
    assert done.status == 1, done
    assert f"{folder}: permission denied" in done.out


def test_what_can_be_read_is_read_beside_what_cannot(place: Place) -> None:
    place.shut(_copy(place.claude, "shut.jsonl"))
    done = place.do("import", "claude-code", "--yes")
    assert done.status == 1 and "1 turn of 1 session imported" in done.out
    assert f"{place.claude / 'shut.jsonl'}: permission denied" in done.out


def _copy(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes((folder / "ok.jsonl").read_bytes())
    return path


def test_a_folder_that_is_ingested_is_read_past_what_cannot_be(place: Place) -> None:
    """A pipe, a folder called like a file, a link to nothing, a file without permission."""
    os.mkfifo(place.claude / "aaa.jsonl")
    (place.claude / "bbb.jsonl").mkdir()
    (place.claude / "ccc.jsonl").symlink_to("nowhere")
    place.shut(_copy(place.claude, "ddd.jsonl"))
    done = place.do("ingest", str(place.claude))
    assert (done.status, done.out.splitlines()[0]) == (1, "Brought in 1 turn of 1 session.")
    for name in ("aaa.jsonl", "bbb.jsonl", "nowhere", "ddd.jsonl"):
        assert f"{name} " in done.out
    troubles = place.do("ingest", str(place.claude), "--json").data["troubles"]
    found = [(os.path.basename(one["file"]), one["line"]) for one in troubles]
    assert found == [(f"{name}.jsonl", 0) for name in ("aaa", "bbb", "ccc", "ddd")]


def test_a_folder_that_cannot_be_ingested_is_named(place: Place) -> None:
    place.do("init")
    shut = place.shut(place.claude)
    done = place.do("ingest", str(shut))
    assert (done.status, done.out) == (1, "")
    assert done.err == f"{shut} cannot be read: Permission denied. Look at its name and permissions.\n"


def test_a_scan_tells_what_it_could_not_read(place: Place) -> None:
    path = place.shut(_copy(place.claude, "shut.jsonl"))
    some = place.do("scan")
    assert some.status == 1 and "Nothing is wrong with what was read." in some.out
    assert f"{path}  permission denied" in some.out
    assert "## Could not be read (1)\n" in place.do("scan", "--md").out
    place.shut(place.claude)
    none = place.do("scan")
    assert none.status == 1 and "Nothing could be read." in none.out and "Nothing is wrong" not in none.out
    assert place.do("scan", "--json").data["troubles"][0]["path"] == str(place.claude)


def test_an_unreadable_document_is_no_new_one(place: Place) -> None:
    (place.project / "memory").mkdir()
    path = place.project / "memory" / "a.md"
    path.write_text("# note on the galago\n")
    place.shut(path)
    for _ in range(2):
        done = place.do("index", "documents")
        assert (done.status, done.out) == (1, "memory/a.md: permission denied\n")
        assert "No document could be read; mend what is named and try again.\n" in done.err
    place.open()
    assert place.do("index", "documents").out == "Read the documents: 1 new document.\n"


def test_a_link_is_said_to_be_one(place: Place) -> None:
    (place.project / "note.md").write_text("- figs\n")
    (place.project / "link.md").symlink_to("note.md")
    done = place.do("import", "markdown", "link.md")
    assert done.status == 1
    assert f"{place.project / 'link.md'}: symbolic links are not followed" in done.out
