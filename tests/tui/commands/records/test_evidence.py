"""`memoranda bind --check` on the command line."""

from pathlib import Path

from support.commands import Do


def test_what_it_says_of_one_and_of_several(do: Do, tmp_path: Path) -> None:
    do("init")
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text("x = 1\n")
        do("remember", f"It is one in {name}")
    do("bind", "1", "a.py:1-1")
    assert do("bind", "--check").out == "1 holds.\n"
    do("bind", "2", "b.py:1-1")
    assert do("bind", "--check").out == "2 hold.\n"
    (tmp_path / "a.py").unlink()
    assert do("bind", "--check").err == "1 piece of evidence changed or is gone.\n"
    (tmp_path / "b.py").write_text("x = 2\n")
    assert do("bind", "--check").err == "2 pieces of evidence changed or are gone.\n"
