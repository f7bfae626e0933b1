"""A file is replaced or removed only if it is what it was, also where a program saves it in the last moment."""

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from store.documents import files as atomic_write
from store.documents.files import DocumentPath, Unreadable

Save = Callable[[bytes], None]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "MEMORY.md"
    path.write_bytes(b"old\n")
    return path


def place(file: Path) -> DocumentPath:
    return DocumentPath(str(file.parent), (file.name,), file.name)


def digest(raw: bytes) -> bytes:
    return sha256(raw).digest()


def in_place(file: Path) -> Save:
    return file.write_bytes  # type: ignore[return-value]


def renamed(file: Path) -> Save:
    """As most editors do: a new file takes the name."""

    def save(raw: bytes) -> None:
        other = file.with_suffix(".tmp")
        other.write_bytes(raw)
        other.rename(file)

    return save


def after_the_last_look(monkeypatch: pytest.MonkeyPatch, save: Callable[[], None]) -> None:
    """A program saves the file between the last comparison and what follows."""
    real = atomic_write._require_digest

    def same(*given: object) -> None:
        real(*given)
        save()

    monkeypatch.setattr(atomic_write, "_require_digest", same)


def test_it_is_replaced_with_its_mode_and_removed(file: Path) -> None:
    file.chmod(0o640)
    atomic_write.replace_file(place(file), digest(b"old\n"), b"new\n")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"new\n", 0o640)
    assert os.listdir(file.parent) == [file.name], "nothing is left beside it"
    atomic_write.remove_file(place(file), digest(b"new\n"))
    assert os.listdir(file.parent) == []


@pytest.mark.parametrize("way", [in_place, renamed])
@pytest.mark.parametrize("act", ["replaced", "removed"])
def test_what_is_saved_in_the_last_moment_stays(file: Path, monkeypatch, act: str, way: Callable[[Path], Save]):
    after_the_last_look(monkeypatch, lambda: way(file)(b"typed\n"))
    with pytest.raises(Unreadable, match="changed meanwhile"):
        if act == "replaced":
            atomic_write.replace_file(place(file), digest(b"old\n"), b"new\n")
        else:
            atomic_write.remove_file(place(file), digest(b"old\n"))
    assert file.read_bytes() == b"typed\n"
    assert os.listdir(file.parent) == [file.name]


def test_of_what_is_saved_again_and_again_the_newest_stays(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    after_the_last_look(monkeypatch, lambda: renamed(file)(b"typed 0\n"))
    real, times = atomic_write._exchange_names, 0

    def exchange(*given: object) -> bool:
        nonlocal times
        done = real(*given)
        times += 1
        if times < 4:  # while the file has our content, or theirs was just put back
            renamed(file)(f"typed {times}\n".encode())
        return done

    monkeypatch.setattr(atomic_write, "_exchange_names", exchange)
    with pytest.raises(Unreadable, match="changed meanwhile"):
        atomic_write.replace_file(place(file), digest(b"old\n"), b"new\n")
    assert file.read_bytes() == b"typed 3\n", "nothing is lost but what its own writer replaced"
    assert os.listdir(file.parent) == [file.name]


@pytest.mark.parametrize("number", atomic_write.CANNOT_EXCHANGE)
def test_where_names_cannot_be_exchanged_it_is_renamed(file: Path, monkeypatch: pytest.MonkeyPatch, number: int):
    monkeypatch.setattr(atomic_write, "_load_exchange", lambda: lambda *given: number)
    atomic_write.replace_file(place(file), digest(b"old\n"), b"new\n")
    assert file.read_bytes() == b"new\n"
    monkeypatch.setattr(atomic_write, "_load_exchange", lambda: None)
    atomic_write.replace_file(place(file), digest(b"new\n"), b"newer\n")
    assert file.read_bytes() == b"newer\n"
    assert os.listdir(file.parent) == [file.name]


def test_a_link_that_takes_its_place_is_put_back(file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    target = tmp_path / "target.md"
    target.write_bytes(b"target\n")

    def link() -> None:
        file.unlink()
        file.symlink_to(target)

    after_the_last_look(monkeypatch, link)
    with pytest.raises(Unreadable):
        atomic_write.replace_file(place(file), digest(b"old\n"), b"new\n")
    assert file.is_symlink() and target.read_bytes() == b"target\n"
