"""A purge and the person's own files: the sentence that holds the words is cut, if they say so, and nothing else."""

import os
import stat
import subprocess
from pathlib import Path

import pytest
from support.cases import load_cases
from support.tables import each
from support.traces import traces

from store.documents import files as atomic_write
from store.documents.files import DocumentPath
from store.exchange import backups as backup
from store.memory import Memory
from store.purge.file_eraser import find_cut_spans
from store.purge.purge import PurgePlan
from store.purge.word_search import PurgedTexts, RemainingMatch

TEXT = "the hint is the blue zebrafish"


@pytest.fixture
def document(tmp_path: Path) -> Path:
    return tmp_path / "MEMORY.md"


def planned(memory: Memory) -> PurgePlan:
    number, _ = memory.facts.remember(TEXT)
    return memory.purge.plan([("fact", number)])


def in_files(plan: PurgePlan) -> list[RemainingMatch]:
    return [place for place in plan.places if place.table == "file"]


def run(memory: Memory, plan: PurgePlan, *citations: str):
    """Purge, and cut the places of these citations."""
    return memory.purge.run_plan(plan, [at for at, place in enumerate(plan.places) if place.citation in citations])


# what is cut --------------------------------------------------------------------------------------------------------


@each("before, after", load_cases(__file__)["cut"])
def test_the_sentence_goes_or_the_line(before: str, after: str):
    """A line that says no more goes whole; of a table, a heading, a block of code the line; else the sentence."""
    text = before
    for start, end in reversed(find_cut_spans(before, PurgedTexts([TEXT]))):
        text = text[:start] + text[end:]
    assert text == after


def test_what_is_marked_is_cut_and_every_other_byte_stays(memory: Memory, document: Path, tmp_path: Path):
    """Two sentences of one file, each with its own mark; the mode stays, the index follows, no byte is left of the
    one that was cut, in backups neither."""
    document.write_bytes(
        "\ufeff# Notas de José\r\n\r\nBien. The hint is the blue zebrafish, he wrote. Adiós.  \r\n".encode()
        + b"- the hint is the blue zebrafish\r\n\r\n\tno newline at the end"
    )
    document.chmod(0o640)
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "2026-11-20.md").write_text(f"{TEXT}\n")
    memory.documents.update_index()
    made = backup.make_backup(memory.database)
    assert made is not None and traces(Path(made.path).parent, "zebrafish")
    plan = planned(memory)
    assert [(place.citation, place.text, place.can) for place in in_files(plan)] == [
        ("MEMORY.md#L3", "The hint is the blue zebrafish, he wrote.", True),
        ("MEMORY.md#L4", "- the hint is the blue zebrafish", True),
        ("memory/2026-11-20.md#L1", TEXT, True),
    ]
    done = run(memory, plan, "MEMORY.md#L3", "MEMORY.md#L4")
    left = "\ufeff# Notas de José\r\n\r\nBien. Adiós.  \r\n\r\n\tno newline at the end"
    assert document.read_bytes() == left.encode()
    assert stat.S_IMODE(document.stat().st_mode) == 0o640
    assert os.listdir(tmp_path / "memory") == ["2026-11-20.md"], "nothing was left beside it"
    assert [place.citation for place in done.left] == ["memory/2026-11-20.md#L1"]
    assert memory.documents.chunk_at("MEMORY.md", 3).text.count("Adiós") == 1, "the index has what it says now"
    assert memory.documents.chunk_at("memory/2026-11-20.md", 1).text == TEXT, "and what was left, as it is"
    plan = memory.purge.plan([("fact", memory.facts.remember(TEXT, again=True)[0])])
    assert run(memory, plan, "memory/2026-11-20.md#L1").left == ()
    assert traces(tmp_path, TEXT, "zebrafish") == [] and made.name in os.listdir(Path(made.path).parent)
    assert backup.verify_backup(memory.database) == (made.path, "")


def test_left_out_it_is_only_reported(memory: Memory, document: Path):
    document.write_text(f"{TEXT}\n")
    memory.documents.update_index()
    done = memory.purge.run_plan(planned(memory), [])
    assert document.read_text() == f"{TEXT}\n"
    assert [(place.citation, place.what) for place in done.left] == [("MEMORY.md#L1", "your file")]


def test_a_file_that_no_scan_has_read_yet_is_found_too(memory: Memory, document: Path):
    """What the index does not have as it is now is read where it lies; and what only the index still has, goes."""
    document.write_text(f"{TEXT}\n")
    memory.documents.update_index()
    document.write_text("nothing of the kind any more\n")
    (document.parent / "memory").mkdir()
    (document.parent / "memory" / "new.md").write_text(f"{TEXT}\n")
    plan = planned(memory)
    assert [place.citation for place in in_files(plan)] == ["memory/new.md#L1"]
    assert [place.citation for place in run(memory, plan).left] == ["memory/new.md#L1"]
    assert {name for name, _ in traces(document.parent, TEXT)} == {"new.md"}
    plan = memory.purge.plan([("fact", memory.facts.remember(TEXT, again=True)[0])])
    assert run(memory, plan, "memory/new.md#L1").left == ()
    assert traces(document.parent, TEXT, "zebrafish") == []


# what is left -------------------------------------------------------------------------------------------------------


def test_a_file_that_was_changed_meanwhile_is_left(memory: Memory, document: Path, monkeypatch: pytest.MonkeyPatch):
    """While the person looked, or at the last moment, when the new text is already written beside it."""
    document.write_text(f"one\n{TEXT}\n")
    plan = planned(memory)
    document.write_text(f"one\n{TEXT}\nand what they just typed\n")
    done = run(memory, plan, "MEMORY.md#L2")
    assert (done.purged, done.scrubbed) == (1, 0)
    (place,) = done.left
    assert (place.citation, place.what) == ("MEMORY.md#L2", "your file: it was changed meanwhile")
    assert document.read_text() == f"one\n{TEXT}\nand what they just typed\n"
    plan = memory.purge.plan([("fact", memory.facts.remember(TEXT, again=True)[0])])
    document.write_bytes(b"\xe9 is no UTF-8 any more")
    assert [place.what for place in run(memory, plan, "MEMORY.md#L2").left] == ["your file: it was changed meanwhile"]
    document.write_text(f"one\n{TEXT}\nand what they just typed\n")
    plan = memory.purge.plan([("fact", memory.facts.remember(TEXT, again=True)[0])])
    real = atomic_write.why_not_replaceable

    def typed(place: DocumentPath, largest: int) -> str:
        document.write_text("typed at the last moment")
        return real(place, largest)

    monkeypatch.setattr(atomic_write, "why_not_replaceable", typed)
    assert len(run(memory, plan, "MEMORY.md#L2").left) == 1
    assert document.read_text() == "typed at the last moment"
    assert not [name for name in os.listdir(document.parent) if name.endswith(".part")]


def test_what_is_not_only_ours_to_rewrite_is_left(memory: Memory, document: Path, tmp_path: Path):
    """A second name would keep the text; another encoding would be changed; a link is never followed; what lies outside
    of the project is not looked after here."""
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "linked.md").write_text(TEXT)
    os.link(folder / "linked.md", tmp_path / "second name.md")
    (folder / "wide.md").write_bytes(f"\ufeff{TEXT}".encode("utf-16-le"))
    outside = tmp_path / "outside.md"
    outside.write_text(TEXT)
    document.symlink_to(outside)
    plan = planned(memory)
    assert [(place.citation, place.what, place.can) for place in in_files(plan)] == [
        ("memory/linked.md#L1", "your file: edit it, for it has a second name, by a hard link", False),
        ("memory/wide.md#L1", "your file: edit it, for it is not UTF-8", False),
    ]


def test_a_folder_that_cannot_be_written_is_reported(memory: Memory, tmp_path: Path):
    folder = tmp_path / "memory"
    folder.mkdir()
    (folder / "notes.md").write_text(TEXT)
    plan = planned(memory)
    (folder / "notes.md").unlink()
    (folder / "notes.md").symlink_to(tmp_path / "elsewhere.md")
    (tmp_path / "elsewhere.md").write_text(TEXT)
    done = run(memory, plan, "memory/notes.md#L1")
    assert [place.what for place in done.left] == ["your file: symbolic links are not followed"]
    assert (tmp_path / "elsewhere.md").read_text() == TEXT


def test_git_keeps_what_was_committed(memory: Memory, document: Path, tmp_path: Path):
    document.write_text(TEXT)
    assert [place.note for place in in_files(planned(memory))] == [""]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (place,) = in_files(planned(memory))
    assert place.note == "git's history keeps what was ever committed of it, out of reach"
