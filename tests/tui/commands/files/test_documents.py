"""Documents as people meet them: found as they change, shown as they are on the disk, opened at their line."""

import contextlib
import threading
import time
from pathlib import Path

import pytest
from support.commands import Do, Said, runner
from support.screen import WIDE, Person, opened
from support.stories import Clock, location

from store.base.models import Chunk
from store.base.vocabulary import pack_key
from store.memory import Memory
from tui.desktop.programs import command_at_line
from tui.render.lines import color_markdown

NOTES = """# Billing

All of it.

## Rounding

Invoices are rounded *half to even*, as `decimal` does.
See F#1 for who said so.

```python
# not a heading
```

## Fax

Nobody sends a marmalade fax.
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a memory, a fact and two documents; no git."""
    folder = tmp_path / "billing"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Long-term\n\n- Deploys on Fridays\n")
    (folder / "memory" / "notes.md").write_text(NOTES)
    with Memory.open(str(folder / ".memoranda" / "memory.db"), "cli", Clock()) as memory:
        memory.facts.remember("The tax office wants half to even")
    return folder


async def hit(person: Person, query: str) -> None:
    """Search, and stand on the first hit with its document in the preview."""
    await person.search(query)
    await person.press("enter")
    await person.until(lambda: isinstance(person.record, Chunk) and any("Of " in line for line in person.preview))


async def test_a_document_is_found_and_shown_as_it_is_on_the_disk(project: Path) -> None:
    """Numbered, the cited lines marked and coloured, those around them there and dim."""
    async with opened(project) as person:
        await hit(person, "decimal")
        assert person.record is not None and person.record.citation == "memory/notes.md#L5-L12"
        text = person.preview
        assert text[0] == "memory/notes.md#L5-L12  document"
        assert text[1] == "Billing › Rounding"
        assert "   1  # Billing" in text and "▸  5  ## Rounding" in text and "▸ 12  ```" in text
        assert "  14  ## Fax" in text and "  17" not in "".join(text)
        styles = {piece: style for row in person.main.pane.preview._rows for piece, style, _ in row}
        assert styles["## Rounding"] == "heading" and styles["# Billing"] == "dim"
        assert styles["# not a heading"] != "heading"
        assert [str(found) for found in person.main.pane.preview.citations] == ["F#1"]


async def test_what_changed_on_the_disk_is_said_and_found_within_seconds(project: Path) -> None:
    """Without a key pressed: the file is watched, read, and the search that stands is answered anew."""
    async with opened(project) as person:
        await person.search("marmalade")
        await person.until(lambda: person.main.engine and person.main.engine.documents._watch)
        assert len(person.hits) == 1
        for number in range(5):  # what is written before the watching is under way goes unseen
            (project / "memory" / "new.md").write_text(f"A second marmalade, in another file, {number}.\n")
            with contextlib.suppress(AssertionError):
                await person.until(lambda: len(person.hits) == 2, seconds=4)
                break
        assert len(person.hits) == 2
        (project / "memory" / "new.md").unlink()
        await person.until(lambda: len(person.hits) == 1)
        worker = person.main.engine.documents
        for worker.resting in (True, False):
            assert worker._watch._resting() is worker.resting
    assert not [thread for thread in threading.enumerate() if thread.name == "watch" and _lives(thread)]


def _lives(thread: threading.Thread) -> bool:
    thread.join(2)
    return thread.is_alive()


async def test_without_watching_a_scan_finds_it(project: Path) -> None:
    """`sync.watch = false`: nothing is watched, and `:index documents` reads what changed."""
    (project / ".memoranda" / "config.toml").write_text("[sync]\nwatch = false\n")
    (project / ".memoranda" / "config.toml").chmod(0o600)
    async with opened(project) as person:
        assert person.main.engine is not None and person.main.engine.documents._watch is None
        assert not person.main.engine.documents.is_scan_due(person.main.engine.present)
        (project / "memory" / "new.md").write_text("Strawberries\n")
        await person.command("index documents")
        await person.until(lambda: any("1 new document" in said for said in person.toasts) or person.sees("1 new doc"))
        await person.search("strawberries")
        assert len(person.hits) == 1


async def test_a_file_that_changed_or_went_since_is_said_and_the_index_speaks(project: Path) -> None:
    (project / ".memoranda" / "config.toml").write_text("[sync]\nwatch = false\n")
    (project / ".memoranda" / "config.toml").chmod(0o600)
    async with opened(project) as person:
        path = project / "memory" / "notes.md"
        path.write_text("all of it is something else\n" * 20)
        await hit(person, "marmalade")
        assert "The file changed since it was read. This is what it said." in " ".join(person.preview)
        assert any("Nobody sends a marmalade fax." in line for line in person.preview)
        path.unlink()
        await person.press("escape", "escape", "escape")
        await hit(person, "marmalade")
        assert "There is no such document on the disk" in " ".join(person.preview)


async def test_a_citation_of_a_document_is_a_link(project: Path) -> None:
    with Memory(location(project), "cli", Clock()) as memory:
        memory.facts.remember("Faxes, see memory/notes.md#L16 about them")
    async with opened(project) as person:
        await person.put_cursor(pack_key("fact", 2))
        await person.press("enter", "enter")
        await person.until(lambda: isinstance(person.record, Chunk) and any("Of " in line for line in person.preview))
        assert person.record is not None and person.record.citation == "memory/notes.md#L16"
        assert [line for line in person.preview if line.startswith("▸")] == ["▸ 16  Nobody sends a marmalade fax."]
        await person.press("backspace")
        assert person.record is not None and person.record.citation == "F#2"


async def test_the_editor_opens_the_file_at_its_line(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`record.edit` on a document: the file itself, `+line` first; and what was written is read right after."""
    ran: list[list[str]] = []

    def run(words: list[str], leave: object) -> int:
        ran.append(words)
        (project / "memory" / "notes.md").write_text(NOTES + "\nWritten in the editor.\n")
        return 0

    from contextlib import nullcontext

    monkeypatch.setattr("tui.desktop.programs.run_editor", run)
    monkeypatch.setattr("tui.app.Memoranda.suspend", lambda app: nullcontext())
    monkeypatch.setenv("VISUAL", "sh")
    monkeypatch.setattr("tui.desktop.programs.PLUS_LINE_EDITORS", frozenset(["sh"]))
    async with opened(project, WIDE) as person:
        await hit(person, "decimal")
        await person.command("record.edit")
        assert ran == [["sh", "+5", str(project / "memory" / "notes.md")]]
        await person.press("escape", "escape")
        await person.search("written")
        assert len(person.hits) == 1


def test_what_each_editor_is_told() -> None:
    assert command_at_line(["/usr/bin/vim", "-p"], "/a b.md", 10) == ["/usr/bin/vim", "-p", "+10", "/a b.md"]
    assert command_at_line(["code", "--wait"], "/a.md", 3) == ["code", "--wait", "--goto", "/a.md:3"]
    assert command_at_line(["code", "--wait", "--goto"], "/a.md", 3) == ["code", "--wait", "--goto", "/a.md:3"]
    assert command_at_line(["subl", "-w"], "/a.md", 3) == ["subl", "-w", "/a.md:3"]
    assert command_at_line(["ed"], "/a.md", 3) == ["ed", "/a.md"]


async def test_what_a_file_says_is_only_text(project: Path) -> None:
    """Escapes, directions and markup are drawn as marks, also in the file's name."""
    name = "evil [red]\u202egnp.md"
    (project / "memory" / name).write_text("marzipan \x1b[31mred\x1b[0m [bold]x[/] \u202eabc\n")
    async with opened(project) as person:
        await hit(person, "marzipan")
        shown = "\n".join(person.preview)
        assert "␛[31mred" in shown and "[bold]x[/]" in shown and "⟨U+202E⟩" in shown
        assert "\x1b" not in shown and "\u202e" not in shown and "\u202e" not in "\n".join(person.lines)
        assert getattr(person.record, "citation", "").startswith("memory/evil%20%5Bred%5D%E2%80%AEgnp.md#L1")


def test_long_lines_are_not_given_to_the_colours() -> None:
    """A pattern may take the square of a line's length."""
    start = time.process_time()
    for line in ("*" * 100_000, "`" * 100_000, "[" * 100_000, "**a" * 30_000):
        assert color_markdown([line]) == [[(line, "")]]
    assert time.process_time() - start < 5  # the square of 100,000 takes minutes
    for line in ("*" * 1000, "`" * 1000, "[" * 1000, "- " * 500, "**a" * 300, "~~" * 500):
        color_markdown([line] * 100)
    assert time.process_time() - start < 50


@pytest.fixture
def do(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Do:
    """Runs one command in the project."""
    monkeypatch.chdir(project)
    return runner(capsys)


def test_the_command_line_shows_what_the_preview_does(do: Do, project: Path) -> None:
    """`show` of lines of a document; the index is brought up to date first, by `search` too."""
    assert "memory/notes.md#L14-L16" in do("search", "marmalade").out
    (project / "memory" / "notes.md").write_text("new first line\n" + NOTES)
    out = do("show", "memory/notes.md#L17").out
    assert "▸ 17  Nobody sends a marmalade fax." in out and "  15  ## Fax" in out
    data = do("show", "[memory/notes.md#L15-L17]", "--json").data
    assert data["citation"] == "memory/notes.md#L15-L17" and data["text"].splitlines()[0] == "## Fax"
    missing = do("show", "memory/notes.md#L99")
    assert missing.status == 1 and "No document of this memory has that line." in missing.err


def test_scan_counts_and_names_what_it_cannot_read(do: Do, project: Path) -> None:
    (project / "memory" / "picture.md").write_bytes(b"\x89PNG\0\0")
    told = "Read the documents: 3 new documents.\nmemory/picture.md: it is binary, not text\n"
    assert do("index", "documents") == Said(0, told, "")
    problems = [{"path": "memory/picture.md", "problem": "it is binary, not text"}]
    counts = {"new": 0, "changed": 0, "gone": 0, "unchanged": 3, "remaining": 0}
    assert do("index", "documents", "--json").data == {**counts, "problems": problems}


def test_extra_paths_are_set_as_a_list(do: Do, project: Path) -> None:
    """With commas between them; shown so, and read at once."""
    far, near = Path.home() / "notes" / "far.md", project.parent / "docs" / "near.md"
    for path, word in ((far, "Lingonberries"), (near, "Cloudberries")):
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{word}\n")
    said = do("config", "documents.extraPaths", "../docs, ~/notes").out
    assert "documents.extraPaths is now ../docs, ~/notes, in " in said
    assert do("config", "documents.extraPaths").out.startswith("documents.extraPaths is ../docs, ~/notes\n")
    for word, path in (("lingonberries", far), ("cloudberries", near)):
        assert f"{path}#L1" in do("search", word).out
    assert do("config", "documents.extraPaths", "--unset").status == 0
    assert "0 found" in do("search", "lingonberries").out
