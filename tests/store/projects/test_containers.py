"""docs/containers.md, step by step: three machines, each with a home of its own."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from support.commands import COMMAND
from support.repositories import commit, git

PAGE = Path(__file__).parents[3] / "docs" / "containers.md"


def follow(heading: str, home: Path, folder: Path, *first: str) -> str:
    """Run the commands below a heading of the page on the machine of a home, after a first; return what they say."""
    section = PAGE.read_text("utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    env = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")} | {"HOME": str(home)}
    words = [*([first] if first else []), *(line.split() for line in re.findall(r"^\$ memoranda (.*)$", section, re.M))]
    done = [subprocess.run([COMMAND, *one], cwd=folder, env=env, capture_output=True, check=True) for one in words]
    return b"".join(one.stdout for one in done).decode()


def test_each_machine_has_its_own_memory_and_what_another_knew(tmp_path: Path) -> None:
    """The checkout is mounted where that is allowed, and copied elsewhere."""
    shop, mounted, clone = (tmp_path / name for name in ("shop", "workspaces", "clone"))
    commit(shop, "first")
    follow("On the laptop", tmp_path / "laptop", shop, "remember", "The window is Thursday")
    mounted.mkdir()
    is_mounted = not subprocess.run(["mount", "--bind", shop, mounted], capture_output=True).returncode
    shutil.copytree(shop, mounted, dirs_exist_ok=True) if not is_mounted else None
    try:
        said = follow("In the container", tmp_path / "container", mounted)
        assert "another installation has a memory of this project" in said and "The window is Thursday" in said
        git(tmp_path, "clone", "--quiet", str(mounted), str(clone))
        shutil.copy(shop / ".git" / "memory.json", clone)
        assert "1 new" in follow("On a server", tmp_path / "server", clone) and git(mounted, "status", "--short") == ""
    finally:
        is_mounted and subprocess.run(["umount", mounted], check=True)
