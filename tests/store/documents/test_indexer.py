"""Documents: files become chunks that can be found and cited by their lines; the files are believed in nothing else."""

import os
import socket
import stat
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import examples, tried
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.stories import Clock

from store.base.citations import parse_citation
from store.base.errors import InvalidInput, MemorandaError, NotFound, StorageError
from store.database.database import Lease
from store.documents import documents as indexer
from store.documents import files as places
from store.documents.documents import (
    CHUNK_OVERLAP,
    CHUNK_SIZE,
    DocumentScan,
    TextPiece,
    date_in_name,
    split_chunks,
    split_lines,
)
from store.memory import Memory
from store.search import lookup

OLD = 1_700_000_000  # seconds: long ago, so that a file's time tells of every change


@pytest.fixture
def root(memory: Memory) -> Path:
    """The project's folder, with a folder for documents."""
    folder = Path(memory.location.project or "")
    (folder / "memory").mkdir()
    return folder


def put(root: Path, name: str, text: str | bytes, at: float = OLD) -> Path:
    """A file below the project, last changed at a moment long ago."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, (at, at))
    return path


def scan(memory: Memory) -> dict[str, int]:
    """The figures of a scan that are not 0."""
    found = memory.documents.update_index()
    figures = {name: getattr(found, name) for name in "new changed gone unchanged remaining".split()}
    return {name: figure for name, figure in figures.items() if figure}


def rows(memory: Memory) -> list[tuple[object, ...]]:
    """What the index holds, whatever its ids."""
    return memory.database.rows(
        "SELECT d.path, d.at, d.evergreen, d.lines, d.problem, c.first, c.last, c.heading, c.text FROM documents d"
        " LEFT JOIN chunks c ON c.document_id = d.id ORDER BY d.path, c.first, c.last, c.text"
    )


def found(memory: Memory, word: str) -> list[str]:
    return [hit.citation for hit in memory.search(f"{word} ").hits]


@pytest.fixture
def extra(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets documents.extraPaths."""

    def set_(*paths: str) -> None:
        monkeypatch.setitem(memory.config._values, "documents.extraPaths", _Value(list(paths)))  # type: ignore[arg-type]

    return set_


class _Value:
    def __init__(self, value: object) -> None:
        self.value = value


# the chunks of a text -------------------------------------------------------------------------------------------------

MARKED = ["", "", "  ", "# One", "## Two ##", "###### Six", "```", "~~~~", "    code", "---", "===", "- a"]
texts = st.lists(
    st.one_of(
        st.sampled_from(MARKED),
        st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=60),
        st.integers(1, 900).map(lambda n: "lorem ipsum. " * (n // 10)),
        st.integers(1, 4000).map(lambda n: "x" * n),
    ),
    max_size=60,
)


@given(texts, st.sampled_from(["\n", "\r\n"]), st.booleans())
@example(["```", "x" * 1599, ""], "\n", True)
@example(["lorem ipsum. " * 10, "  ", "```", "0000", *("lorem ipsum. " * n for n in (20, 46, 46))], "\n", False)
@settings(max_examples=examples(17), deadline=None)
def test_chunks_are_the_lines_they_say(lines: list[str], end: str, last: bool) -> None:
    """Every line that is not blank is in one; its text is the file's own lines; none is larger than it may be."""
    lines = [line.removesuffix("\r") for line in lines]
    text = end.join(lines) + (end if last and lines else "")
    read = split_lines(text)
    assert read == (lines if last or not lines or lines[-1] else lines[:-1])
    pieces = split_chunks(read)
    covered: dict[int, str] = {}
    for piece in pieces:
        assert 1 <= piece.first <= piece.last <= len(read) and piece.text.strip()
        assert len(piece.text) <= CHUNK_SIZE
        whole = "\n".join(read[piece.first - 1 : piece.last])
        if whole == piece.text:
            covered.update(dict.fromkeys(range(piece.first, piece.last + 1), ""))
        else:  # a part of a giant line
            assert piece.first == piece.last and len(whole) > CHUNK_SIZE and piece.text in whole
            covered[piece.first] = covered.get(piece.first, "") + piece.text
    for number, line in enumerate(read, 1):
        if line.strip():
            assert number in covered and covered[number].strip() in ("", line.strip()), number
    assert [piece.first for piece in pieces] == sorted(piece.first for piece in pieces)


def test_a_chunk_is_a_section_under_its_headings() -> None:
    text = "---\ntags: x\n---\n# Guide\n\n## Use #\n\nfirst\n\n### Deep\nsecond\n\nOld way\n-------\nthird\n\n# Next\n"
    assert split_chunks(split_lines(text)) == [
        TextPiece(1, 3, "", "---\ntags: x\n---"),
        TextPiece(4, 8, "Guide › Use", "# Guide\n\n## Use #\n\nfirst"),
        TextPiece(10, 11, "Guide › Use › Deep", "### Deep\nsecond"),
        TextPiece(13, 15, "Guide › Old way", "Old way\n-------\nthird"),
        TextPiece(17, 17, "Next", "# Next"),
    ]


def test_a_fenced_block_stays_whole_and_its_comments_are_no_headings() -> None:
    code = "```sh\n" + "\n".join(f"# step {number} of the whole procedure" for number in range(20)) + "\n\n```"
    prose = "\n".join(f"line {number} of a paragraph that is rather long" for number in range(26))
    pieces = split_chunks(split_lines(f"# T\n\n{prose}\n\n{code}\n\nafter\n"))
    assert [piece.heading for piece in pieces] == ["T"] * len(pieces)
    assert sum("```sh" in piece.text for piece in pieces) == 1
    for piece in pieces:
        assert piece.text.count("```") in (0, 2)


def test_what_follows_in_a_section_repeats_the_end_of_what_came_before() -> None:
    """Up to 80 tokens of whole lines; nothing across a heading."""
    lines = [f"- item {number} of a list without a blank line" for number in range(200)]
    pieces = split_chunks(["# A", *lines, "# B", "end"])
    for one, other in pairwise(pieces[:-1]):
        repeated = one.last - other.first + 1
        assert 0 < sum(len(line) + 1 for line in one.text.split("\n")[-repeated:]) <= CHUNK_OVERLAP
    assert pieces[-1] == TextPiece(202, 203, "B", "# B\nend")


def test_a_giant_line_is_cut_at_its_sentences() -> None:
    line = "This is a sentence of some words. " * 200
    pieces = split_chunks(["before", line, "after"])
    assert "".join(piece.text for piece in pieces[1:-1]) == line
    assert all(piece.text.endswith(". ") for piece in pieces[1:-1])
    assert {(piece.first, piece.last) for piece in pieces[1:-1]} == {(2, 2)}


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "text", ["a\n" * 400_000, "```\n" * 400_000, "# a\n" * 300_000, "x" * 2_000_000, "a\n-\n" * 200_000]
)
def test_two_megabytes_of_anything_are_cut_in_seconds(text: str) -> None:
    start = time.process_time()
    split_chunks(split_lines(text))
    assert time.process_time() - start < 8  # below 1


# what a scan makes of the files ---------------------------------------------------------------------------------------


def test_the_files_of_the_layout_are_read_and_no_others(memory: Memory, root: Path) -> None:
    """MEMORY.md, and below memory every .md that is not hidden; not what lies beside them."""
    for name in ("MEMORY.md", "memory/a.md", "memory/gtd/deep/NEXT.MD", "memory/con espacio.md"):
        put(root, name, f"marmalade in {name}")
    for name in ("README.md", "memory/state.json", "memory/.git/x.md", "memory/.hidden.md", "notes/x.md"):
        put(root, name, "marmalade elsewhere")
    assert scan(memory) == {"new": 4}
    names = {"MEMORY.md", "memory/a.md", "memory/gtd/deep/NEXT.MD", "memory/con espacio.md"}
    assert {path for path, *_ in rows(memory)} == names
    for citation in found(memory, "marmalade"):
        assert lookup.get_record(memory.database, parse_citation(f"[{citation}]")).citation == citation
    assert "memory/con%20espacio.md#L1" in found(memory, "marmalade")


def test_a_day_in_the_name_is_when_it_was(memory: Memory, root: Path) -> None:
    """And such a document fades; all others are evergreen and as old as their last change."""
    for name in ("MEMORY.md", "memory/2026-02-20.md", "memory/2026-02-20-topic.md", "memory/2026-02-30.md"):
        put(root, name, "x")
    scan(memory)
    changed = "2023-11-14T22:13:20.000Z"
    assert [(path, at, evergreen) for path, at, evergreen, *_ in rows(memory)] == [
        ("MEMORY.md", changed, 1),
        ("memory/2026-02-20-topic.md", "2026-02-20T00:00:00.000Z", 0),
        ("memory/2026-02-20.md", "2026-02-20T00:00:00.000Z", 0),
        ("memory/2026-02-30.md", changed, 1),
    ]
    names = ("20260220.md", "2026-W08-5.md", "2026-02-201.md", "2026-02-20", "２０２６-02-20.md")
    assert {date_in_name(name) for name in names} == {""}


def test_only_what_changed_is_read_again(memory: Memory, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        put(root, f"memory/{number}.md", f"document {number}")
    put(root, "memory/huge.md", b"x" * (places.LARGEST_FILE + 1))  # is not even opened
    assert scan(memory) == {"new": 5}
    read: list[str] = []
    real = indexer.read_document_bytes
    monkeypatch.setattr(indexer, "read_document_bytes", lambda place: read.append(place.name) or real(place))
    version = memory.database.value("SELECT total_changes()")
    assert scan(memory) == {"unchanged": 5} and read == []
    assert memory.database.value("SELECT total_changes()") == version  # not even a lease
    put(root, "memory/1.md", "document 1", at=OLD + 5)
    assert scan(memory) == {"unchanged": 5} and read == ["memory/1.md"]
    put(root, "memory/2.md", "another text", at=OLD + 5)
    (root / "memory" / "3.md").unlink()
    put(root, "memory/9.md", "new")
    assert scan(memory) == {"new": 1, "changed": 1, "gone": 1, "unchanged": 3}
    assert found(memory, "another") == ["memory/2.md#L1"] and "memory/3.md#L1" not in found(memory, "document")


def test_a_chunk_that_says_the_same_keeps_its_row(memory: Memory, root: Path) -> None:
    """Its lines move; what hangs on it, as a vector does, stays."""
    put(root, "MEMORY.md", "# A\none\n# B\ntwo\n# C\nthree\n")
    scan(memory)
    before = dict(memory.database.rows("SELECT text, id FROM chunks"))
    with memory.database.write("agent", "test") as write:
        write.execute("DELETE FROM embedding_queue")
    put(root, "MEMORY.md", "# New\nfirst\n# A\none\n# B\nzwei\n# C\nthree\n", at=OLD + 1)
    assert scan(memory) == {"changed": 1}
    rows = memory.database.rows("SELECT text, id, first FROM chunks")
    after = {text: (number, first) for text, number, first in rows}
    assert after["# A\none"] == (before["# A\none"], 3) and after["# C\nthree"] == (before["# C\nthree"], 7)
    assert before["# B\ntwo"] not in [number for number, _ in after.values()]
    kept = {before["# A\none"] * 16 + 8, before["# C\nthree"] * 16 + 8}
    assert not kept & {number for (number,) in memory.database.rows("SELECT id FROM embedding_queue")}


edits = st.lists(
    st.tuples(
        st.sampled_from(["MEMORY.md", "memory/a.md", "memory/2026-01-02.md", "memory/sub/b.md"]),
        st.one_of(st.none(), texts.map(lambda lines: "\n".join(lines[:12]))),
    ),
    min_size=1,
    max_size=8,
)


@given(st.lists(edits, min_size=1, max_size=4))
@tried(3)
def test_scans_one_after_another_are_one_from_nothing(tmp_path_factory: pytest.TempPathFactory, rounds: list) -> None:
    """Whatever was written, changed and removed in between, the index is what a new memory would have."""
    root = tmp_path_factory.mktemp("project")
    moment = OLD
    with Memory.open(str(root / ".memoranda" / "memory.db"), "cli", Clock()) as memory:
        for edit in rounds:
            for name, text in edit:
                moment += 1
                if text is not None:
                    put(root, name, text.encode("utf-8", "replace"), at=moment)
                elif (root / name).exists():
                    (root / name).unlink()
            memory.documents.update_index()
        with Memory.open(str(root / "other.db"), "cli", Clock()) as fresh:
            fresh.documents.update_index()
            assert rows(memory) == rows(fresh)
        corpus, chunks = (memory.database.value(f"SELECT count(*) FROM {table}") for table in ("corpus", "chunks"))
        assert corpus == chunks


def test_a_change_within_the_clocks_tick_is_seen(memory: Memory, root: Path) -> None:
    """A file as young as the reading is read again: its time may not tell of the next change."""
    path = root / "MEMORY.md"
    path.write_text("aaaa")
    status = path.stat()
    scan(memory)
    path.write_text("bbbb")
    os.utime(path, ns=(status.st_mtime_ns, status.st_mtime_ns))
    scan(memory)
    assert found(memory, "bbbb") == ["MEMORY.md#L1"]


def test_a_large_document_is_written_in_short_transactions(memory: Memory, root: Path) -> None:
    """No other writer waits longer than for one of them, and what was cut off by a kill is done again."""
    put(root, "MEMORY.md", "".join(f"# Section {number}\ntext {number}\n" for number in range(1_000)))
    assert scan(memory) == {"new": 1}
    assert memory.database.value("SELECT count(*) FROM chunks") == 1_000
    with memory.database.write("agent", "test") as write:  # as if the last transactions had not come
        write.execute("UPDATE documents SET digest = x'', modified_ns = 0")
        write.execute("DELETE FROM chunks WHERE first > 1000")
    assert scan(memory) == {"changed": 1}
    assert memory.database.value("SELECT count(*) FROM chunks") == 1_000


# what cannot be read --------------------------------------------------------------------------------------------------


def test_one_file_that_cannot_be_read_stops_no_other(memory: Memory, root: Path, monkeypatch: pytest.MonkeyPatch):
    """Each has one line that says why, and it goes with the cause."""
    put(root, "memory/binary.md", b"PK\0\1\2")
    put(root, "memory/huge.md", b"x" * (places.LARGEST_FILE + 1))
    put(root, "memory/latin.md", "decisión marmalade".encode("latin-1"))
    put(root, "memory/mixed.md", "decisión ".encode() + b"\xff marmalade")
    put(root, "memory/utf16.md", "decisión marmalade".encode("utf-16"))
    put(root, "memory/bom.md", b"\xef\xbb\xbf# decisi\xc3\xb3n marmalade")
    os.mkfifo(root / "memory" / "pipe.md")
    with socket.socket(socket.AF_UNIX) as unix:
        monkeypatch.chdir(root)  # a socket's path is short
        unix.bind("memory/socket.md")
    put(root, "memory/fine.md", "decisión marmalade")
    os.symlink("/etc/passwd", root / "memory" / "link.md")
    result = memory.documents.update_index()
    expected = [
        ("memory/binary.md", "it is binary, not text"),
        ("memory/huge.md", "it is larger than 2 MB"),
        ("memory/latin.md", "it is not UTF-8, and was read as Windows-1252"),
        ("memory/mixed.md", "parts of it are not UTF-8, and are replaced"),
    ]
    assert result.problems == memory.documents.problems() == expected
    assert len(found(memory, "decisión")) == 5
    put(root, "memory/binary.md", "now text", at=OLD + 1)
    assert ("memory/binary.md", "it is binary, not text") not in memory.documents.update_index().problems


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_read_once_it_has_it(memory: Memory, root: Path) -> None:
    path = put(root, "memory/shut.md", "marmalade")
    path.chmod(0)
    assert memory.documents.update_index().problems == [("memory/shut.md", "permission denied")]
    assert scan(memory) == {"unchanged": 1}
    path.chmod(0o600)
    scan(memory)
    assert found(memory, "marmalade") == ["memory/shut.md#L1"] and not memory.documents.problems()


def test_a_file_that_goes_while_it_is_read_is_said(memory: Memory, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(root, "memory/a.md", "one")
    put(root, "memory/b.md", "two")
    scan(memory)
    put(root, "memory/a.md", "three", at=OLD + 1)
    put(root, "memory/b.md", "four", at=OLD + 1)
    real = indexer.read_document_bytes

    def vanish(place: places.DocumentPath) -> object:
        (root / "memory" / "a.md").unlink(missing_ok=True)
        return real(place)

    with monkeypatch.context() as gone:
        gone.setattr(indexer, "read_document_bytes", vanish)
        assert memory.documents.update_index().problems == [("memory/a.md", "it went away while it was read")]
    assert found(memory, "four") == ["memory/b.md#L1"]
    memory.documents.update_index()
    assert memory.documents.problems() == [] and not found(memory, "one")


def test_numbers_and_depths_have_bounds(memory: Memory, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "MOST_FILES", 3)
    monkeypatch.setattr(places, "MOST_DEPTH", 2)
    put(root, "memory/1/2/3/deep.md", "too deep")
    put(root, "memory/1/2/fine.md", "fine")
    assert memory.documents.update_index().problems == [("memory/1/2", "folders deeper than 2 are left out")]
    for number in range(5):
        put(root, f"memory/{number}.md", "x")
    result = memory.documents.update_index()
    assert ("memory", "more than 3 documents: the rest is left out") in result.problems
    assert memory.documents.count_documents() == 3


def test_secrets_are_cut_and_lines_stay_where_they_are(memory: Memory, root: Path) -> None:
    """Also a private key that chunks would have cut in two: it is cut out of the file before the file is cut."""
    body = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7" for _ in range(90))
    key = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    put(root, "MEMORY.md", f"# Keys\n\n{key}\n\nafter ghp_{'a1B2' * 9} marmalade\n")
    scan(memory)
    held = "".join(str(row) for row in rows(memory))
    assert "MIIE" not in held and "ghp_" not in held
    assert found(memory, "marmalade") == ["MEMORY.md#L1-L96"]
    passage = memory.documents.read_lines("MEMORY.md", 96, 1)
    assert "marmalade" in passage.text and "ghp_" not in passage.text and passage.total == 96


# links, and what lies outside -----------------------------------------------------------------------------------------


def test_no_symbolic_link_is_followed(memory: Memory, root: Path, extra: Callable[..., None]) -> None:
    """Neither a file, nor a folder, nor `memory` itself, nor an extra path."""
    outside = root.parent / "outside"
    put(outside, "secret.md", "marmalade")
    os.symlink(outside / "secret.md", root / "MEMORY.md")
    os.symlink(outside, root / "memory" / "sub")
    os.symlink(outside, root / "linked")
    extra("linked", str(outside / "missing"))
    linked = [(name, "symbolic links are not followed") for name in ("MEMORY.md", "linked")]
    missing = (str(outside / "missing"), "there is no such file or folder")
    assert memory.documents.update_index().problems == [missing, *linked]
    (root / "memory" / "sub").unlink()
    (root / "memory").rmdir()
    os.symlink(outside, root / "memory")
    assert ("memory", "symbolic links are not followed") in memory.documents.update_index().problems
    for path in ("MEMORY.md", "memory/secret.md", "linked/secret.md"):
        with pytest.raises(StorageError, match="links are not followed"):
            memory.documents.read_lines(path)
    assert not found(memory, "marmalade")


def test_a_file_that_becomes_a_link_between_the_look_and_the_opening(memory: Memory, root: Path, monkeypatch):
    """The look says it is a plain file; what is opened a moment later is none, and nothing of it is read."""
    (root / "secret").write_text("quetzalcoatlus")
    target = put(root, "MEMORY.md", "harmless")
    real = os.lstat

    def swap(path: str, **options: int) -> os.stat_result:
        seen = real(path, **options)
        if path == "MEMORY.md" and not target.is_symlink():
            target.unlink()
            os.symlink(root / "secret", target)
        return seen

    monkeypatch.setattr("store.documents.files.os.lstat", swap)
    with pytest.raises(MemorandaError):
        memory.documents.read_lines("MEMORY.md")
    assert target.is_symlink()


def test_a_folder_that_becomes_a_link_between_the_walk_and_the_reading(memory: Memory, root: Path, monkeypatch):
    """The way to a file is opened step by step, so a swap leads nowhere."""
    outside = root.parent / "outside"
    put(outside, "a.md", "marmalade")
    put(root, "memory/sub/a.md", "fine text")
    real = indexer.read_document_bytes

    def swap(place: places.DocumentPath) -> object:
        (root / "memory" / "sub").rename(root / "moved")
        os.symlink(outside, root / "memory" / "sub")
        return real(place)

    monkeypatch.setattr(indexer, "read_document_bytes", swap)
    assert memory.documents.update_index().problems == [("memory/sub/a.md", "symbolic links are not followed")]
    assert not found(memory, "marmalade")


NAMES = ".. . memory MEMORY.md a.md sub link out.md outside .git ~ a.md/ etc x\\..\\y.md".split()
steps = st.sampled_from([*NAMES, "", "\0"])


@given(st.lists(steps, min_size=1, max_size=6), st.booleans(), st.integers(1, 3))
@tried(34)
def test_no_path_leads_out_of_the_roots(outside: Memory, way: list[str], absolute: bool, first: int) -> None:
    """Whatever an agent asks for, it gets lines of a document or a sentence, and never a byte of another file."""
    path = ("/" if absolute else "") + "/".join(way)
    try:
        passage = outside.documents.read_lines(path, first)
    except (InvalidInput, NotFound, StorageError):
        return
    assert "INSIDE" in passage.text


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory with documents, links out of them, and other files around."""
    folder = tmp_path_factory.mktemp("roots")
    root = folder / "project"
    for name in ("MEMORY.md", "memory/a.md", "memory/sub/a.md"):
        put(root, name, "INSIDE\nINSIDE\nINSIDE\n")
    for name in ("a.md", "sub/a.md", "memory/.git/a.md", "../outside/a.md", "../a.md", "../MEMORY.md"):
        put(root, name, "secret\n" * 3)
    os.symlink(folder / "outside", root / "memory" / "link")
    os.symlink(folder / "outside" / "a.md", root / "memory" / "out.md")
    with Memory.open(str(root / ".memoranda" / "memory.db"), "cli", Clock()) as memory:
        yield memory


def test_extra_paths_are_folders_and_files(memory: Memory, root: Path, extra: Callable[..., None]) -> None:
    """Relative ones from the project, `~` is home; cited below the project by the way from there, else as they are."""
    home = Path(os.environ["HOME"])
    put(root, "docs/guide.md", "marmalade")
    put(root, "docs/.private/x.md", "marmalade")
    put(root.parent, "team/plan.md", "marmalade")
    put(home, "notes/.obsidian/x.md", "marmalade")
    single = put(home, "one.md", "marmalade")
    put(home, "two.txt", "marmalade")
    extra("docs", "../team/", "~/notes", str(single), "docs/guide.md", str(home / "two.txt"))
    assert memory.documents.update_index().problems == [(str(home / "two.txt"), "only .md files are documents")]
    plan = str(root.parent / "team" / "plan.md")
    assert sorted(found(memory, "marmalade")) == sorted([f"{single}#L1", f"{plan}#L1", "docs/guide.md#L1"])
    assert memory.documents.read_lines(plan).text == memory.documents.read_lines("docs/guide.md").text == "marmalade"
    for path in (str(root / "docs" / "guide.md"), str(home / "two.txt"), str(home / "other.md"), "docs/.private/x.md"):
        with pytest.raises(InvalidInput):
            memory.documents.read_lines(path)
    extra()
    assert scan(memory) == {"gone": 3}


# reading and citing ---------------------------------------------------------------------------------------------------


def test_lines_are_read_from_the_disk_and_no_error_holds_them(memory: Memory, root: Path) -> None:
    put(root, "memory/a.md", "one\r\ntwo\r\nthree")
    read = memory.documents.read_lines
    both = [(p.first, p.last, p.total, p.text) for p in (read("memory/a.md"), read("memory/a.md", 2, 1))]
    assert both == [(1, 3, 3, "one\ntwo\nthree"), (2, 2, 3, "two")]
    put(root, "memory/empty.md", "")
    assert (read("memory/empty.md").last, read("memory/empty.md").total) == (0, 0)
    for path, first, lines in (("a.md", 4, None), ("a.md", 0, None), ("a.md", 1, 0), ("a.txt", 1, None)):
        with pytest.raises(InvalidInput):
            read(f"memory/{path}", first, lines)
    with pytest.raises(NotFound):
        read("memory/none.md", 1, None)
    put(root, "memory/c.md", "hunter2\n")
    for path, first in (("memory/c.md", 9), ("memory/b.md", 1), ("/hunter2.md", 1)):
        with pytest.raises(MemorandaError) as caught:
            memory.documents.read_lines(path, first)
        assert "hunter2" not in str(caught.value)


def test_a_citation_gives_the_lines_it_names(memory: Memory, root: Path) -> None:
    """A part of a chunk, or several chunks; what no chunk holds is not found."""
    put(root, "MEMORY.md", "# A\none\ntwo\n\n# B\nthree\n")
    scan(memory)
    look = lambda text: lookup.get_record(memory.database, parse_citation(text))  # noqa: E731
    assert look("MEMORY.md#L2").text == "one" and look("MEMORY.md#L2").citation == "MEMORY.md#L2"  # type: ignore[union-attr]
    assert look("MEMORY.md#L2-L6").text == "one\ntwo\n\n# B\nthree"  # type: ignore[union-attr]
    assert look("MEMORY.md#L6-L60").citation == "MEMORY.md#L6"
    assert memory.documents.chunk_at("MEMORY.md", 3).heading == "A"
    for text in ("MEMORY.md#L7", "memory/none.md#L1"):
        with pytest.raises(NotFound):
            look(text)


# together with others -------------------------------------------------------------------------------------------------


def test_two_at_once_do_not_read_twice(memory: Memory, root: Path) -> None:
    put(root, "MEMORY.md", "x")
    with Memory(memory.location, "app", Clock()) as other:
        lease = Lease(other.database, indexer.DOCUMENTS_LEASE)
        assert lease.acquire()
        result = memory.documents.update_index()
        assert (result.elsewhere, result.remaining, result.new) == (True, 1, 0)
        lease.release()
    assert scan(memory) == {"new": 1}


def test_what_was_read_when_it_was_cancelled_stays(memory: Memory, root: Path) -> None:
    for number in range(300):
        put(root, f"memory/{number}.md", f"text {number}")
    told: list[tuple[int, int]] = []
    result: DocumentScan = memory.documents.update_index(lambda *now: told.append(now), lambda: len(told) > 1)
    assert 0 < result.new < 300 and result.new + result.remaining == 300
    assert scan(memory) == {"new": result.remaining, "unchanged": result.new}


def test_a_memory_that_is_only_read_one_without_capture_and_private_files(memory: Memory, root: Path) -> None:
    """Nothing is written to a file of a newer version; `enabled = false` stops captures, and reading files is none."""
    put(root, "MEMORY.md", "marmalade")
    memory.database.read_only = True
    assert scan(memory) == {}
    memory.database.read_only = False
    memory.config._values["enabled"] = _Value(False)  # type: ignore[assignment]
    assert scan(memory) == {"new": 1}
    for path in (root / ".memoranda").iterdir():
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077
