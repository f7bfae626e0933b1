"""What a repository tells us, and what a repository cannot make us do. Every repository here is a real one."""

import os
import shutil
import subprocess
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from support.repositories import FIRST_COMMIT_AT, build_repository, commit, create, fast_import, git, lose

from store.git.process import GitError
from store.git.repository import CommitInfo, Repository

COMMITS, MERGES = 1_700, 40
NOWHERE = "0123456789" * 4


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Every process started from here on: the real ones, only noted."""
    started: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *arguments, **options) -> None:  # type: ignore[no-untyped-def]
            super().__init__(*arguments, **options)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    return started


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("year")
    build_repository(path, COMMITS, MERGES)
    return path


def everything(path: str | Path) -> list[CommitInfo]:
    repository = Repository(str(path))
    return list(repository.read_commits(repository.list_new_commits([])))


def gone(process: subprocess.Popen[bytes]) -> bool:
    """Ended and reaped: not even a zombie is left."""
    if process.returncode is None:
        return False
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return True
    return False


def put_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Make `git` a shell script."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


# -- history ----------------------------------------------------------------------------------------------------------


def test_a_year_of_history_is_read_whole_in_the_order_asked(year: Path) -> None:
    repository = Repository(str(year))
    shas = repository.list_new_commits([])
    assert len(shas) == COMMITS  # 70 KB on git's standard input, more than a pipe holds
    commits = list(repository.read_commits(shas))
    assert [each.sha for each in commits] == shas
    dates = [each.committed_at for each in commits]
    assert dates == sorted(dates, reverse=True)
    assert dates[-1] == "2026-01-01T00:00:00.000Z"
    assert sum(each.message.startswith("Merge branch") for each in commits) == MERGES

    backwards = shas[::-1][:50]
    assert [each.sha for each in repository.read_commits(backwards)] == backwards


def test_sizes_agree_with_what_git_counts_file_by_file(year: Path) -> None:
    commits = everything(year)
    merges = [each for each in commits if each.message.startswith("Merge branch")]
    for each in [*merges[:5], *commits[:20], commits[-1]]:
        rows = git(year, "show", "-m", "--first-parent", "--numstat", "--format=", each.sha).splitlines()
        counts = [tuple(map(int, row.split("\t")[:2])) for row in rows]
        assert each.files_changed == len(counts) > 0
        assert (each.insertions, each.deletions) == (sum(c[0] for c in counts), sum(c[1] for c in counts))


def test_the_same_call_builds_the_same_repository(tmp_path: Path) -> None:
    assert build_repository(tmp_path / "a", 60, 3) == build_repository(tmp_path / "b", 60, 3)
    counts = [git(tmp_path / "a", "rev-list", "--count", *merges, "HEAD") for merges in ([], ["--merges"])]
    assert counts == ["60", "3"] and git(tmp_path / "a", "status", "--porcelain") == ""


def test_an_unborn_repository_has_no_history_and_reading_nothing_is_not_reading_head(tmp_path: Path) -> None:
    create(tmp_path)
    repository = Repository(str(tmp_path))
    assert (repository.tips(), repository.list_new_commits([]), [*repository.read_commits([])]) == ([], [], [])
    commit(tmp_path, "one")
    assert list(Repository(str(tmp_path)).read_commits([])) == []


def test_one_commit_in_full(tmp_path: Path) -> None:
    message = "feat: añade el índice\n\nCuerpo.\n\n"
    sha = commit(tmp_path, message, {"a.txt": "1\n2\n", "ñ.txt": "x"}, when=1_795_302_747)
    (told,) = everything(tmp_path)
    assert (told.sha, told.message, told.author) == (sha, message.rstrip(), "Lucía Fernández")
    assert told.committed_at == "2026-11-21T23:12:27.000Z"
    assert (told.files_changed, told.insertions, told.deletions, told.measured) == (2, 3, 0, True)
    repeated = Repository(str(tmp_path)).read_commits([sha, sha.upper(), sha])
    assert [each.sha for each in repeated] == [sha]


def test_what_is_missing_after_new_commits_is_only_them(tmp_path: Path) -> None:
    commit(tmp_path, "one", {"a": "1"})
    repository = Repository(str(tmp_path))
    seen = repository.tips()
    assert repository.list_new_commits(seen) == []
    second = commit(tmp_path, "two", {"a": "2"})
    git(tmp_path, "switch", "--quiet", "--create", "topic")
    third = commit(tmp_path, "three", {"a": "3"})
    assert repository.tips() == sorted([second, third])
    assert repository.list_new_commits(seen) == [third, second]
    assert repository.list_new_commits([second.upper()]) == [third]


def test_amended_history_shows_the_new_commit_and_forgives_the_tip_that_is_gone(tmp_path: Path) -> None:
    base = commit(tmp_path, "one", {"a": "1"})
    old = commit(tmp_path, "twoo", {"a": "2"})
    new = commit(tmp_path, "two", amend=True)
    repository = Repository(str(tmp_path))
    assert repository.list_new_commits([old]) == [new]
    git(tmp_path, "reflog", "expire", "--expire=now", "--all")
    git(tmp_path, "gc", "--quiet", "--prune=now")
    assert repository.list_new_commits([old]) == [new, base]
    assert repository.list_new_commits([old, base, NOWHERE]) == [new]


def test_no_parent_comes_before_its_child_even_when_clocks_lie(tmp_path: Path) -> None:
    root = commit(tmp_path, "root", when=FIRST_COMMIT_AT)
    parent = commit(tmp_path, "parent", when=FIRST_COMMIT_AT + 1000)
    git(tmp_path, "branch", "topic")
    late = commit(tmp_path, "late child", when=FIRST_COMMIT_AT + 2000)
    git(tmp_path, "switch", "--quiet", "topic")
    early = commit(tmp_path, "child made on a computer without a clock", when=0)
    assert Repository(str(tmp_path)).list_new_commits([]) == [late, early, parent, root]


# -- repositories of every shape --------------------------------------------------------------------------------------


def test_a_merge_is_measured_and_shown_against_its_first_parent(tmp_path: Path) -> None:
    commit(tmp_path, "base", {"a": "1\n"})
    git(tmp_path, "switch", "--quiet", "--create", "topic")
    commit(tmp_path, "topic", {"topic.txt": "t\n" * 7})
    git(tmp_path, "switch", "--quiet", "main")
    commit(tmp_path, "main", {"main.txt": "m\n" * 3})
    git(tmp_path, "merge", "--quiet", "--no-ff", "-m", "merge topic", "topic", when=FIRST_COMMIT_AT + 999)
    merge = everything(tmp_path)[0]
    assert (merge.message, merge.files_changed, merge.insertions, merge.deletions) == ("merge topic", 1, 7, 0)
    text = Repository(str(tmp_path)).diff(merge.sha).text
    assert "topic.txt" in text and "main.txt" not in text


@pytest.mark.parametrize("columns", [44, 78])
def test_the_files_of_a_diff_fit_the_columns_that_are_given(tmp_path: Path, columns: int) -> None:
    sha = commit(tmp_path, "long", {"billing/importing/clients.py": "x = 1\n" * 300})
    line = next(one for one in Repository(str(tmp_path)).diff(sha, columns=columns).text.split("\n") if " | " in one)
    assert columns - 2 <= len(line) <= columns and "clients.py" in line and line.endswith("+")


def test_a_root_commit_is_compared_with_nothing(tmp_path: Path) -> None:
    sha = commit(tmp_path, "root", {"a.txt": "uno\n"})
    git(tmp_path, "config", "log.showRoot", "false")
    (root,) = everything(tmp_path)
    assert (root.files_changed, root.insertions) == (1, 1)
    assert "new file mode" in (text := Repository(str(tmp_path)).diff(sha).text)
    assert "+uno\n" in text


def test_empty_commits_renames_modes_binaries_and_tags(tmp_path: Path) -> None:
    commit(tmp_path, "files", {"old.txt": "".join(f"{n}\n" for n in range(50)), "b.bin": b"\0\1", "run": "x\n"})
    empty = commit(tmp_path, "")
    git(tmp_path, "mv", "old.txt", "new.txt")
    renamed = commit(tmp_path, "rename")
    binary = commit(tmp_path, "binary", {"b.bin": b"\0\2"})
    (tmp_path / "run").chmod(0o755)
    commit(tmp_path, "mode")
    git(tmp_path, "tag", "-a", "-m", "annotated", "v1")
    git(tmp_path, "tag", "light")
    sizes = {each.message: (each.files_changed, each.insertions, each.deletions) for each in everything(tmp_path)}
    expected = {"files": (3, 51, 0), "": (0, 0, 0), "rename": (1, 0, 0), "binary": (1, 0, 0), "mode": (1, 0, 0)}
    assert sizes == expected
    repository = Repository(str(tmp_path))
    assert "rename from old.txt\nrename to new.txt\n" in repository.diff(renamed).text
    assert "Binary files a/b.bin and b/b.bin differ\n" in repository.diff(binary).text
    assert (repository.diff(empty).text, repository.diff(empty).truncated) == ("", False)
    assert len(repository.tips()) == 1


def test_a_detached_head_is_a_tip(tmp_path: Path) -> None:
    first = commit(tmp_path, "one", {"a": "1"})
    second = commit(tmp_path, "two", {"a": "2"})
    git(tmp_path, "checkout", "--quiet", "--detach", first)
    loose = commit(tmp_path, "loose", {"a": "3"})
    repository = Repository(str(tmp_path))
    assert repository.tips() == sorted([second, loose])
    assert set(repository.list_new_commits([])) == {first, second, loose}


def test_a_worktree_and_a_folder_inside_see_the_repository(tmp_path: Path) -> None:
    main = tmp_path / "main"
    first = commit(main, "one", {"deep/down/a": "1\n", "b": "2\n"})
    git(main, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    second = commit(tmp_path / "side", "two", {"deep/down/a": "2\n", "b": "3\n"})
    git(main, "config", "diff.relative", "true")
    for folder in (main, tmp_path / "side", main / "deep" / "down"):
        repository = Repository(str(folder))
        assert repository.list_new_commits([]) == [second, first]
        assert [each.files_changed for each in repository.read_commits([second, first])] == [2, 2]
        assert "+++ b/b\n" in repository.diff(second).text


def test_a_shallow_clone_and_a_bare_one(tmp_path: Path) -> None:
    shas = [commit(tmp_path / "whole", str(number), {"a": f"{number}\n"}) for number in range(5)]
    for name, options in (("shallow", ["--depth=2"]), ("bare", ["--bare"])):
        git(tmp_path, "clone", "--quiet", *options, f"file://{tmp_path / 'whole'}", name)
    assert [each.sha for each in everything(tmp_path / "shallow")] == [shas[4], shas[3]]
    assert [each.sha for each in everything(tmp_path / "bare")] == shas[::-1]
    repository = Repository(str(tmp_path / "shallow"))
    assert repository._walk_by_hand(repository.tips(), lambda: False) == (shas[:2:-1], [])
    assert "+3\n" in repository.diff(shas[3]).text
    with pytest.raises(GitError):
        repository.diff(shas[0])


def test_a_submodule_is_one_line_and_its_repository_is_not_entered(tmp_path: Path) -> None:
    commit(tmp_path / "library", "one", {"secret.txt": "inside\n"})
    commit(tmp_path / "main", "one", {"a": "1"})
    git(tmp_path / "main", "submodule", "--quiet", "add", f"file://{tmp_path / 'library'}", "lib")
    git(tmp_path / "main", "config", "diff.submodule", "diff")
    git(tmp_path / "main", "config", "submodule.lib.ignore", "all")
    sha = commit(tmp_path / "main", "add the library")
    assert everything(tmp_path / "main")[0].files_changed == 2  # lib and .gitmodules
    text = Repository(str(tmp_path / "main")).diff(sha).text
    assert "+Subproject commit " in text
    assert "inside" not in text


def test_a_repository_of_sha256(tmp_path: Path) -> None:
    try:
        git(tmp_path, "init", "--quiet", "--initial-branch=main", "--object-format=sha256")
    except AssertionError:
        pytest.skip("this git knows no sha256")
    sha = commit(tmp_path, "one", {"a": "1\n"})
    assert len(sha) == 64
    assert [(each.sha, each.insertions) for each in everything(tmp_path)] == [(sha, 1)]
    assert "+1" in Repository(str(tmp_path)).diff(sha).text
    assert Repository(str(tmp_path)).list_new_commits([NOWHERE]) == [sha]


# -- bytes that nobody promised ---------------------------------------------------------------------------------------

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
FORGED = ["\x1e\x1f", f"{NOWHERE}\n", "\n 3 files changed, 1 insertion(+)\n", "\x01\x02%x00", "commit :1\n"]
forged = st.sampled_from([*FORGED, "\r\n", "1\t2\ta"])
messages = st.lists(st.lists(text | forged, max_size=4).map("".join), min_size=1, max_size=8)


@settings(max_examples=examples(3), deadline=None)
@given(messages)
def test_any_message_comes_back_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, written: list[str]) -> None:
    path = tmp_path_factory.mktemp("messages")
    stream = []
    for number, message in enumerate(written):
        data = message.encode()
        head = b"commit refs/heads/main\ncommitter Ana <a@example.org> %d +0000\n" % (FIRST_COMMIT_AT + number)
        change = b"M 100644 inline a\ndata %d\n%d\n" % (len(str(number)), number) if number % 2 else b""
        stream.append(head + b"data %d\n" % len(data) + data + b"\n" + change + b"\n")
    fast_import(path, b"".join(stream))
    commits = everything(path)[::-1]
    assert [each.message for each in commits] == [message.rstrip("\r\n") for message in written]
    assert [each.files_changed for each in commits] == [number % 2 for number in range(len(written))]
    shutil.rmtree(path)


def test_other_encodings_and_no_encoding_at_all(tmp_path: Path) -> None:
    stream = b"".join(
        [
            b"commit refs/heads/main\nauthor I\xf1igo <i@example.org> 5 +0000\n",
            b"committer I\xf1igo <i@example.org> 5 +0000\n",
            b"encoding ISO-8859-1\ndata 8\nma\xf1ana \xe1\nM 100644 inline caf\xe9.txt\ndata 3\n\xe9\xff\n\n",
            b"commit refs/heads/main\ncommitter Z\xff <z@example.org> 6 +0000\n",
            b"data 10\nraw \xff\xfe! \xc3\xb1\n",
            b"commit refs/heads/main\ncommitter Z <z@example.org> 7 +0000\nencoding klingon\ndata 3\n\xe9!!\n",
        ]
    )
    fast_import(tmp_path, stream)
    git(tmp_path, "config", "i18n.logOutputEncoding", "ISO-8859-1")
    klingon, raw, latin = everything(tmp_path)
    assert (latin.message, latin.author, latin.files_changed) == ("mañana á", "Iñigo", 1)
    assert (raw.message, raw.author) == ("raw \ufffd\ufffd! ñ", "Zÿ")
    assert klingon.message == "é!!"
    assert latin.committed_at == "1970-01-01T00:00:05.000Z"
    diff = Repository(str(tmp_path)).diff(latin.sha)
    assert "caf\ufffd.txt" in diff.text
    assert "+\ufffd\ufffd\n" in diff.text


@pytest.mark.parametrize("date", [b"99999999999999 +0000", b"18446744073709551615 +0000", b"yesterday"])
def test_a_broken_date_does_not_stop_the_history(tmp_path: Path, date: bytes) -> None:
    commit(tmp_path, "one", {"a": "1"})
    tree = git(tmp_path, "rev-parse", "HEAD^{tree}").encode()
    body = b"tree %b\nauthor A <a@example.org> %b\ncommitter A <a@example.org> %b\n\nodd\n" % (tree, date, date)
    sha = git(tmp_path, "hash-object", "-t", "commit", "-w", "--literally", "--stdin", stdin=body)
    (odd,) = Repository(str(tmp_path)).read_commits([sha])
    assert (odd.message, odd.committed_at) == ("odd", "1970-01-01T00:00:00.000Z")


# -- diffs ------------------------------------------------------------------------------------------------------------


def test_a_diff_has_a_summary_and_a_patch_whatever_the_configuration_of_diffs(tmp_path: Path) -> None:
    commit(tmp_path, "one", {"ñandú.txt": "uno\ndos\n"})
    sha = commit(tmp_path, "two", {"ñandú.txt": "uno\ntres\n"})
    plain = Repository(str(tmp_path)).diff(sha)
    assert plain.text.startswith(" ñandú.txt | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\ndiff --git a/")
    assert plain.text.endswith("\n uno\n-dos\n+tres\n") and not plain.truncated
    settings = "color.diff=always color.ui=always diff.noprefix=true diff.context=0 diff.orderFile=/nowhere"
    for setting in f"{settings} diff.renames=false".split():
        git(tmp_path, "config", *setting.split("="))
    assert [Repository(str(tmp_path)).diff(name) for name in (sha, sha[:10])] == [plain, plain]
    assert len(everything(tmp_path)) == 2


def test_a_huge_diff_is_cut_without_being_read(tmp_path: Path, children: list[subprocess.Popen[bytes]]) -> None:
    sha = commit(tmp_path, "huge", {"huge.txt": "".join(f"línea {number}\n" for number in range(300_000))})
    children.clear()
    tracemalloc.start()
    diff = Repository(str(tmp_path)).diff(sha, max_bytes=100_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert diff.truncated and 99_000 < len(diff.text.encode()) <= 100_000 and diff.text.endswith("\n")
    assert peak < 2_000_000
    (child,) = children
    assert gone(child)
    assert child.returncode < 0  # killed, with most of the diff unsaid


def test_a_diff_of_ten_megabytes_begins_at_once(tmp_path: Path) -> None:
    """Two files of 5 MB, every line of them different."""
    old = "".join(f"line number {number}\n" for number in range(250_000))
    commit(tmp_path, "old", {"big.txt": old})
    sha = commit(tmp_path, "new", {"big.txt": old.replace("\n", "x\n"), "b.bin": b"\0" * 1_000})
    del old
    tracemalloc.start()
    start = time.monotonic()
    diff = Repository(str(tmp_path)).diff(sha)
    took = time.monotonic() - start
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    binary = (" b.bin   |    Bin 0 -> 1000 bytes\n", "Binary files /dev/null and b/b.bin differ\n")
    assert diff.truncated and all(line in diff.text for line in (*binary, "-line number 0\n"))
    assert took < 15 and peak < 4_000_000


def test_a_file_too_large_to_compare_counts_as_binary(tmp_path: Path) -> None:
    """git would take ten times its size of memory, whatever limit the repository's configuration names."""
    sha = commit(tmp_path, "huge", {"huge.txt": "a line\n" * 10_000_000})
    git(tmp_path, "config", "core.bigFileThreshold", "100g")
    (read,) = everything(tmp_path)
    assert (read.files_changed, read.insertions) == (1, 0)
    assert "Binary files /dev/null and b/huge.txt differ\n" in Repository(str(tmp_path)).diff(sha).text


def test_an_endless_line_is_cut_between_characters_and_what_just_fits_is_whole(tmp_path: Path) -> None:
    sha = commit(tmp_path, "line", {"a": "ñ" * 100_000})
    for limit in (5_000, 5_001):
        diff = Repository(str(tmp_path)).diff(sha, max_bytes=limit)
        assert diff.truncated and limit - 2 < len(diff.text.encode()) <= limit and diff.text.endswith("ñ")
    sha = commit(tmp_path, "one", {"a": "1\n"})
    repository = Repository(str(tmp_path))
    whole = repository.diff(sha)
    size = len(whole.text.encode())
    assert repository.diff(sha, max_bytes=size) == whole
    assert repository.diff(sha, max_bytes=size - 1).truncated


# -- stopping ---------------------------------------------------------------------------------------------------------


def test_a_reading_that_is_closed_or_cancelled_leaves_no_process(year: Path, children: list[subprocess.Popen[bytes]]):
    """And one that was cancelled beforehand starts none."""
    repository = Repository(str(year))
    assert list(repository.read_commits([NOWHERE], cancelled=lambda: True)) == []
    assert children == []
    commits = repository.read_commits(repository.list_new_commits([]))
    next(commits)
    assert children[-1].poll() is None
    commits.close()
    assert all(gone(child) for child in children)
    read: list[CommitInfo] = []
    for each in repository.read_commits(repository.list_new_commits([]), cancelled=lambda: len(read) >= 10):
        read.append(each)
    assert len(read) == 10
    assert all(gone(child) for child in children)


@pytest.mark.parametrize("method", ["commits", "tips", "missing", "lost", "reachable", "by hand"])
def test_every_wait_can_be_cancelled(tmp_path: Path, monkeypatch, children: list[subprocess.Popen[bytes]], method: str):
    put_on_path(tmp_path, monkeypatch, "exec sleep 60")  # stands for a git stuck on a dead network disk
    repository = Repository(str(tmp_path))
    start = time.monotonic()

    def cancelled() -> bool:
        return time.monotonic() > start + 0.2

    found = {
        "commits": lambda: list(repository.read_commits([NOWHERE], cancelled=cancelled)),
        "tips": lambda: repository.tips(cancelled),
        "missing": lambda: repository.list_new_commits([], [NOWHERE], cancelled),
        "lost": lambda: repository.list_lost_commits([NOWHERE], [NOWHERE[::-1]], cancelled),
        "reachable": lambda: repository.list_reachable_commits([NOWHERE], cancelled),
        "by hand": lambda: repository._walk_by_hand([NOWHERE], cancelled),
    }[method]()
    assert time.monotonic() - start < 30 and (method != "commits" or found == [])
    (child,) = children
    assert gone(child)


# -- hostile repositories and surroundings ----------------------------------------------------------------------------


@pytest.fixture
def trap(tmp_path: Path) -> Iterator[tuple[Path, str, Path]]:
    """A repository whose configuration names a program wherever git would run one; it leaves a file when it runs."""
    path, sprung, program = tmp_path / "repository", tmp_path / "sprung", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{sprung}'\ncat\n")
    program.chmod(0o755)
    commit(path, "one", {"a.doc": "1\n", ".gitattributes": "*.doc diff=doc filter=doc\n"})
    commit(path, "two", {"a.doc": "2\n"})
    signed = "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n AA==\n -----END PGP SIGNATURE-----\n\n"
    raw = git(path, "cat-file", "commit", "HEAD").replace("\n\n", signed, 1)
    sha = git(path, "hash-object", "-t", "commit", "-w", "--stdin", stdin=f"{raw}\n".encode())
    git(path, "update-ref", "refs/heads/main", sha)
    keys = "core.fsmonitor core.pager core.sshCommand diff.doc.command diff.doc.textconv diff.external"
    keys += " filter.doc.process filter.doc.smudge gpg.program pager.diff-tree pager.log"
    for key in keys.split():
        git(path, "config", key, str(program))
    git(path, "config", "log.showSignature", "true")
    yield path, sha, sprung


@pytest.mark.parametrize("control", [["show", "HEAD"], ["log", "-1"], ["show", "--ext-diff"], ["status"]])
def test_the_trap_works_on_those_who_walk_in(trap: tuple[Path, str, Path], control: list[str]) -> None:
    path, _, sprung = trap
    subprocess.run(["git", "-C", str(path), *control], capture_output=True, check=False)
    assert sprung.exists()


def test_the_configuration_of_a_repository_runs_no_program(trap: tuple[Path, str, Path]) -> None:
    path, sha, sprung = trap
    assert [each.message for each in everything(path)] == ["two", "one"]
    assert "-1\n+2\n" in Repository(str(path)).diff(sha).text
    assert not sprung.exists()


def test_a_partial_clone_fetches_nothing(tmp_path: Path) -> None:
    """And its commits are told all the same, without their sizes."""
    first = commit(tmp_path / "whole", "one", {"a": "1\n"})
    sha = commit(tmp_path / "whole", "two", {"a": "2\n"})
    git(tmp_path / "whole", "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--bare", "--filter=blob:none", f"file://{tmp_path / 'whole'}", "partial")
    git(tmp_path / "partial", "config", "protocol.allow", "always")
    git(tmp_path / "partial", "config", "protocol.file.allow", "always")
    repository = Repository(str(tmp_path / "partial"))
    assert repository.list_new_commits([]) == [sha, first]
    told = [(each.message, each.measured, each.insertions) for each in repository.read_commits([sha, first])]
    assert told == [("two", False, 0), ("one", False, 0)]
    with pytest.raises(GitError, match="--filter"):
        repository.diff(sha)
    assert git(tmp_path / "partial", "rev-list", "--objects", "--missing=print", "HEAD").count("?") == 2


def test_the_surroundings_of_a_hook_do_not_lead_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, elsewhere = commit(tmp_path / "here", "here"), tmp_path / "elsewhere"
    commit(elsewhere, "elsewhere")
    paths = {"DIR": "", "INDEX_FILE": "/index", "OBJECT_DIRECTORY": "/objects"}
    variables = {name: f"{elsewhere}/.git{end}" for name, end in paths.items()} | {"WORK_TREE": str(elsewhere)}
    variables |= {"EXTERNAL_DIFF": "false", "CONFIG_PARAMETERS": "'core.bare=true'", "TRACE": "1"}
    for name, value in variables.items():
        monkeypatch.setenv(f"GIT_{name}", value)
    assert Repository(str(tmp_path / "here")).tips() == [here]


def test_a_replaced_commit_is_still_what_its_sha_says(tmp_path: Path) -> None:
    old = commit(tmp_path, "true", {"a": "1"})
    new = commit(tmp_path, "false", amend=True)
    git(tmp_path, "replace", old, new)
    assert [each.message for each in Repository(str(tmp_path)).read_commits([old])] == ["true"]


@pytest.mark.parametrize("sha", ["--output=/tmp/x", "HEAD", "", "main..topic", "^" + NOWHERE, NOWHERE + "\n", "é" * 40])
def test_what_is_not_a_sha_never_reaches_git(tmp_path: Path, children: list[subprocess.Popen[bytes]], sha: str) -> None:
    repository = Repository(str(tmp_path))
    for ask, one in ((repository.diff, sha), (repository.read_commits, [sha]), (repository.list_new_commits, [sha])):
        with pytest.raises(GitError, match="sha"):
            ask(one)
    assert children == []


# -- what is not there ------------------------------------------------------------------------------------------------


def test_an_unknown_sha_is_an_error_with_a_cause_and_a_next_step(tmp_path: Path) -> None:
    commit(tmp_path, "one", {"a": "1"})
    blob = git(tmp_path, "rev-parse", "HEAD:a")
    repository = Repository(str(tmp_path))
    for sha in (NOWHERE, blob):
        with pytest.raises(GitError) as diff:
            repository.diff(sha)
        assert sha in diff.value.message and (diff.value.code, bool(diff.value.next)) == ("git", True)


def test_what_git_does_not_have_is_left_out(tmp_path: Path) -> None:
    """A branch was deleted and collected after its commits were listed."""
    shas = [commit(tmp_path, str(number), {"a": f"{number}\n"}) for number in range(3)]
    repository = Repository(str(tmp_path))
    asked = [shas[2], NOWHERE, shas[1], NOWHERE[::-1], shas[0]]
    assert [each.sha for each in repository.read_commits(asked)] == shas[::-1]
    assert list(repository.read_commits([NOWHERE])) == []


def test_a_lost_file_or_tree_costs_the_size_of_its_commits_and_nothing_else(tmp_path: Path) -> None:
    shas = [commit(tmp_path, str(number), {"a": f"{number}\n" * 9}) for number in range(30)]
    lose(tmp_path, f"{shas[20]}:a")
    lose(tmp_path, f"{shas[10]}^{{tree}}", b"rubbish")
    repository = Repository(str(tmp_path))
    read = list(repository.read_commits(shas[::-1]))
    assert [(each.sha, each.message) for each in read] == [(sha, str(29 - n)) for n, sha in enumerate(shas[::-1])]
    assert [each.message for each in read if not each.measured] == ["21", "20", "11", "10"]
    for each in read:
        assert (each.insertions, each.files_changed) == ((9, 1) if each.measured else (0, 0))
    with pytest.raises(GitError, match="not in this repository"):
        repository.diff(shas[20])


@pytest.mark.parametrize("content", [None, b"rubbish", b""], ids=["lost", "damaged", "empty"])
def test_a_lost_commit_costs_what_only_it_leads_to(tmp_path: Path, content: bytes | None) -> None:
    """git itself lists nothing then. The trunk is whole by another way; a side branch breaks off."""
    trunk = [commit(tmp_path, str(number), {"a": f"{number}\n"}, when=FIRST_COMMIT_AT + number) for number in range(4)]
    git(tmp_path, "switch", "--quiet", "--create", "side", trunk[1])
    side = [commit(tmp_path, f"side {n}", {"b": f"{n}\n"}, when=FIRST_COMMIT_AT + 10 + n) for n in range(3)]
    git(tmp_path, "switch", "--quiet", "main")
    git(tmp_path, "merge", "--quiet", "--no-ff", "-m", "merge", "side", when=FIRST_COMMIT_AT + 99)
    lose(tmp_path, side[1], content)
    repository = Repository(str(tmp_path))
    merge = git(tmp_path, "rev-parse", "HEAD")
    whole = [merge, side[2], trunk[3], trunk[2], trunk[1], trunk[0]]
    assert repository.list_reachable_commits(repository.tips()) == (whole, [side[1]])
    read = list(repository.read_commits([*whole, side[1]]))
    assert [each.sha for each in read] == whole
    assert [each.sha for each in read if not each.measured] == [side[2]]


def test_walking_by_hand_gives_gits_own_order(year: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a repository with a lost commit reads like the others."""
    repository = Repository(str(year))
    order, broken = repository.list_reachable_commits(repository.tips())
    assert (len(order), broken) == (COMMITS, [])
    by_hand, broken = repository._walk_by_hand(repository.tips(), lambda: False)
    assert (set(by_hand), broken) == (set(order), [])
    place = {sha: number for number, sha in enumerate(by_hand)}
    for line in git(year, "rev-list", "--parents", "HEAD").splitlines():
        child, *parents = line.split()
        assert all(place[child] < place[parent] for parent in parents)


def test_a_branch_whose_commit_is_lost_does_not_hide_the_others(tmp_path: Path) -> None:
    first, second = commit(tmp_path, "one", {"a": "1"}), commit(tmp_path, "two", {"a": "2"})
    git(tmp_path, "branch", "old", first)
    lose(tmp_path, second)
    (tmp_path / ".git/refs/heads/garbage").write_text("nonsense\n")
    repository = Repository(str(tmp_path))
    assert repository.tips() == sorted([first, second])
    assert repository.list_reachable_commits(repository.tips()) == ([first], [second])
    git(tmp_path, "update-ref", "-d", "refs/heads/old")
    with pytest.raises(GitError):
        repository.list_reachable_commits(repository.tips())


def test_no_repository_no_folder_and_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    (tmp_path / "plain").mkdir()
    for name, why in (("plain", "no git repository"), ("absent", "could not open the folder")):
        with pytest.raises(GitError, match=why):
            Repository(str(tmp_path / name)).tips()
    monkeypatch.setenv("PATH", str(tmp_path / "plain"))
    with pytest.raises(GitError, match="not installed") as caught:
        Repository(str(tmp_path)).tips()
    assert "Install git" in caught.value.next


def test_a_repository_of_another_user_is_refused_with_the_way_to_trust_it(tmp_path: Path, monkeypatch):
    path = tmp_path / "theirs"
    sha = commit(path, "one")
    # The real git, told by its own test switch to see another owner: only root could make one.
    put_on_path(tmp_path, monkeypatch, f"GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec '{shutil.which('git')}' \"$@\"")
    with pytest.raises(GitError, match="another user") as caught:
        Repository(str(path)).tips()
    assert f"git config --global --add safe.directory {path}" in caught.value.next
    for name, value in (("COUNT", "1"), ("KEY_0", "safe.directory"), ("VALUE_0", str(path))):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    assert Repository(str(path)).tips() == [sha]


def test_a_tag_has_the_time_of_its_commit(tmp_path: Path) -> None:
    create(tmp_path)
    for name, when in ((".travis.yml", 86_400), ("docs/Guide.md", 2 * 86_400)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", name, "--date=@3600 +0000", when=when)
        git(tmp_path, "tag", *(("-a", "v1.0", "-m", "first") if when == 86_400 else ("v2.0",)), when=9 * 86_400)
    git(tmp_path, "tag", "files", "HEAD^{tree}")
    tags = Repository(str(tmp_path)).tags()
    assert tags == {"v1.0": "1970-01-02T00:00:00.000Z", "v2.0": "1970-01-03T00:00:00.000Z"}
