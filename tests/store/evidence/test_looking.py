"""What a fact rests on is looked at again: it holds, moved, changed, or is gone; no checkout can do harm by it."""

import os
from pathlib import Path

import pytest
from support.bound import PAY, BoundProject

from store.base.errors import Conflict, InvalidInput
from store.documents.files import LARGEST_FILE
from store.evidence import items
from store.evidence.items import ProjectSources
from store.memory import Memory
from store.upkeep import maintenance


def test_lines_hold_whatever_else_changes(project: BoundProject) -> None:
    project.bind("src/pay.py:4-5")
    project.put("src/pay.py", PAY.replace("return 3", "return 4"))
    assert project.seen() == [("holds", "")]
    project.put("src/pay.py", PAY.replace("\n", "  \r\n"))
    assert project.seen() == [("holds", "")], "what is white at the end of a line does not count"


def test_lines_are_followed_to_where_they_are_now(project: BoundProject) -> None:
    project.bind("src/pay.py:4-5")
    project.put("src/pay.py", "# one\n# two\n" + PAY)
    assert project.seen() == [("moved", "src/pay.py:6-7")]
    project.git("mv", "src/pay.py", "src/billing.py")
    project.commit("rename")
    assert project.seen() == [("moved", "src/billing.py:6-7")]
    project.commit("change", {"src/billing.py": PAY.replace("sum(rows)", "max(rows)")})
    assert project.seen() == [("changed", "src/billing.py:4-5")]


def test_of_equal_lines_the_nearest_is_taken(project: BoundProject) -> None:
    project.put("src/twice.py", "\n".join(["a", "b", *["x"] * 8, "a", "b"]))
    project.bind("src/twice.py:11-12")
    project.put("src/twice.py", "\n".join(["a", "b", *["x"] * 10, "a", "b"]))
    assert project.seen() == [("moved", "src/twice.py:13-14")]


def test_changed_lines_are_shown_where_git_has_them_now(project: BoundProject) -> None:
    project.bind("src/pay.py:5")
    project.commit("change", {"src/pay.py": "# new\n" * 3 + PAY.replace("sum(rows)", "max(rows)")})
    assert project.seen() == [("changed", "src/pay.py:8")]


def test_deleted_lines_are_gone_and_so_is_a_deleted_file(project: BoundProject) -> None:
    project.bind("src/pay.py:4-5")
    project.commit("without", {"src/pay.py": PAY.replace("def total(rows):\n    return sum(rows)\n", "")})
    assert project.seen() == [("gone", "")]
    (project.folder / "src" / "pay.py").unlink()
    assert project.seen() == [("gone", "")]


def test_a_whole_file(project: BoundProject) -> None:
    project.bind("src/pay.py")
    (project.folder / "src" / "pay.py").rename(project.folder / "pay.py")  # git was not told
    assert project.seen() == [("moved", "pay.py")]
    project.put("pay.py", "other = 1\n")
    assert project.seen() == [("gone", "")]
    project.put("src/pay.py", PAY + "# more\n")
    assert project.seen() == [("changed", "")]


def test_a_symbol_is_the_same_wherever_it_is_in_its_file(project: BoundProject) -> None:
    project.bind("src/pay.py::total", "src/pay.py::Fee.of", "src/pay.py::Fee")
    project.put("src/pay.py", "# a\n" * 40 + PAY)
    assert [state for state, _ in project.seen()] == ["holds"] * 3
    project.put("src/pay.py", PAY.replace("return 3", "return 4"))
    assert project.seen() == [("holds", ""), ("changed", "src/pay.py:9-10"), ("changed", "src/pay.py:8-10")]


def test_a_symbol_is_found_in_another_file(project: BoundProject) -> None:
    project.bind("src/pay.py::total")
    total = "def total(rows):\n    return sum(rows)\n"
    project.put("src/pay.py", PAY.replace(total, ""))
    assert project.seen() == [("gone", "")]
    project.put("lib/sums.py", "x = 1\n\n" + total)
    assert project.seen() == [("moved", "lib/sums.py::total")]
    project.put("lib/sums.py", total.replace("sum", "max"))
    assert project.seen() == [("changed", "lib/sums.py::total")]


@pytest.mark.parametrize(
    ("name", "text", "symbol", "other"),
    [
        ("a.go", "package a\n\nfunc (s *S) Total(x int) int {\n\treturn x\n}\n\nfunc B() {\n}\n", "Total", "return x"),
        ("a.ts", "export function total(x) {\n  return x\n}\n\nexport const fee = 3\n", "total", "return x"),
        ("b.ts", "export function año() {\n  return x\n}\n\nexport const fee = 3\n", "año", "return x"),
        ("a.rs", "pub struct Fee {\n    of: u8,\n}\n\nimpl Fee {}\n", "Fee", "of: u8"),
        ("a.c", "#include <a.h>\n\nint total(int x)\n{\n    return x;\n}\n\nint b(void)\n{\n}\n", "total", "return x"),
        ("a.md", "# Rules\n\nFew.\n\n## How we pay\n\nAt once.\n\n## Other\n", "How_we_pay", "At once"),
        ("a.py", "def f(:\n    pass\n\ndef tally(x):\n    return x\n", "tally", "return x"),  # no Python that parses
    ],
)  # fmt: skip
def test_symbols_of_other_languages(project: BoundProject, name: str, text: str, symbol: str, other: str) -> None:
    project.put(name, text)
    project.bind(f"{name}::{symbol}")
    project.put(name, f"\n\n{text}".replace("package a", "package b"))
    assert project.seen() == [("holds", "")]
    project.put(name, text.replace(other, other + "s"))
    assert project.seen()[0][0] == "changed"
    project.put(name, "\n")
    assert project.seen()[0][0] == "gone"


def test_commits(project: BoundProject) -> None:
    sha = project.commit("second", {"b.txt": "b"})
    project.bind(f"C#{sha[:10]}", sha)
    assert [state for state, _ in project.seen()] == ["holds"], "one commit is one piece"
    project.git("reset", "-q", "--hard", "HEAD~1")
    assert [state for state, _ in project.seen()] == ["gone"]


def test_a_commit_that_was_written_again_moved(project: BoundProject) -> None:
    sha = project.commit("Round half up", {"b.txt": "b\n"})
    maintenance.run_maintenance(project.memory, str(project.folder))
    project.bind(sha)
    project.git("commit", "--amend", "--quiet", "--no-edit", "--date=2026-01-01T00:00:00Z")
    maintenance.run_maintenance(project.memory, str(project.folder))
    again = project.git("rev-parse", "HEAD")
    assert again != sha
    assert project.seen() == [("moved", f"C#{again}")]
    project.memory.evidence.bind_again("fact", project.fact)
    assert project.memory.facts.get(project.fact).evidence == (f"C#{again}",)


def test_without_git_lines_are_still_found_in_their_file(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("one\ntwo\nthree\n")
    fact = memory.facts.remember("Two follows one")[0]
    memory.evidence.bind("fact", fact, ["notes.txt:2-3"], str(tmp_path))
    (tmp_path / "notes.txt").write_text("zero\none\ntwo\nthree\n")
    assert [(one.state, one.place) for one in memory.evidence.verify()] == [("moved", "notes.txt:3-4")]
    (tmp_path / "notes.txt").unlink()
    assert [one.state for one in memory.evidence.verify()] == ["gone"]


# a hostile checkout


def test_no_link_is_followed_out_of_the_project(project: BoundProject, tmp_path_factory: pytest.TempPathFactory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.txt").write_text("one\ntwo\n")
    (project.folder / "link.txt").symlink_to(outside / "secret.txt")
    (project.folder / "folder").symlink_to(outside)
    for text in ("link.txt", "folder/secret.txt", "../secret.txt", str(outside / "secret.txt"), ".git/config"):
        with pytest.raises(InvalidInput):
            project.bind(text)
    project.put("real.txt", "one\ntwo\n")
    project.bind("real.txt:1-2")
    (project.folder / "real.txt").unlink()
    (project.folder / "real.txt").symlink_to(outside / "secret.txt")
    assert project.seen() == [("changed", "")], "the same text behind a link is not what was bound"


def test_pipes_and_large_files_are_not_read_and_binary_ones_are_compared(project: BoundProject) -> None:
    os.mkfifo(project.folder / "pipe")
    project.put("large.bin", b"\0" * (LARGEST_FILE + 1))
    for text, why in (("pipe", "not a plain file"), ("large.bin", "larger than")):
        with pytest.raises(InvalidInput, match=why):
            project.bind(text)
    project.put("small.bin", b"\0\xff\n\xfe\x01")
    project.bind("small.bin")
    assert project.seen() == [("holds", "")]
    project.put("small.bin", b"\0\xff\n\xfe\x02")
    assert project.seen() == [("changed", "")]
    (project.folder / "small.bin").unlink()
    os.mkfifo(project.folder / "small.bin")
    assert project.seen() == [("changed", "")]


def test_nothing_that_the_repository_names_is_run(project: BoundProject) -> None:
    project.bind("src/pay.py:4-5", "src/pay.py::total")
    mark = project.folder / "ran"
    settings = "filter.evil.clean filter.evil.smudge diff.evil.command diff.evil.textconv core.fsmonitor"
    for setting in settings.split():
        project.git("config", setting, f"touch {mark}; cat")
    project.put(".gitattributes", "* filter=evil diff=evil\n")
    project.put("src/pay.py", PAY.replace("sum", "max"))
    assert [state for state, _ in project.seen()] == ["changed", "changed"]
    assert not mark.exists()


def test_names_with_spaces_accents_and_marks(project: BoundProject) -> None:
    for name in ("mis notas/año #1 [x].txt", "a@b ~c.txt", "100%25.txt"):
        project.put(name, "uno\ndos\n")
        project.bind(f"{name}:2")
        assert project.memory.evidence.list_bound("fact", project.fact)[-1].item.target == name
    assert [state for state, _ in project.seen()] == ["holds"] * 3


@pytest.mark.parametrize(
    "text",
    ["", " ", *"src/pay.py:5-2 src/pay.py:99 nothing.py src/pay.py::nothing C#ffffffff ftp://x.org/a src".split()],
)
def test_what_cannot_be_bound_is_refused_and_nothing_changes(project: BoundProject, text: str) -> None:
    before = project.memory.history.steps(limit=1)
    with pytest.raises(InvalidInput):
        project.bind("src/pay.py", text)
    assert project.memory.history.steps(limit=1) == before


def test_a_forgotten_fact_is_not_bound(project: BoundProject) -> None:
    project.memory.facts.forget([project.fact])
    with pytest.raises(Conflict):
        project.bind("src/pay.py")


def test_git_is_asked_once_for_many_and_a_file_is_read_once_in_a_look(project: BoundProject, monkeypatch):
    for number in range(20):
        project.bind(f"src/pay.py:{number % 9 + 1}")
    project.commit("away", {"src/pay.py": "\n".join(f"{number}!" for number in range(12))})
    asked = []
    real = items.find_file_moves
    monkeypatch.setattr(items, "find_file_moves", lambda *given: asked.append(given) or real(*given))
    assert {state for state, _ in project.seen()} <= {"changed", "gone"}
    assert len(asked) == 1
    sources = ProjectSources(str(project.folder))
    first = sources.read_lines("src/pay.py")
    project.put("src/pay.py", "other\n")
    assert sources.read_lines("src/pay.py") is first
