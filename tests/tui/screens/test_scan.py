"""The scan in the application: each number opens what it counts, a key saves conversations, another searches them."""

import os
from pathlib import Path

import pytest
from support.samples import copied
from support.screen import NARROW, WIDE, opened
from support.stories import Story, copy

from tui.screens.tools import ScanScreen, lines_around

KEY = "AKIAQ7RM3XKD2WUZ5VTN"


@pytest.fixture
def story(tmp_path: Path) -> Story:
    """A project, and a home folder with a memory of Claude Code whose conversation is about to be deleted."""
    home = Path(os.environ["HOME"])
    copied("claude-code", tmp_path)
    (home / ".claude").mkdir()
    (tmp_path / "claude-code" / "projects").rename(home / ".claude" / "projects")
    for path in home.rglob("*.jsonl"):
        os.utime(path, (1_790_000_000,) * 2)  # September 2026
    return copy(tmp_path / "billing-api")


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_each_number_opens_what_it_counts(story: Story, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as user:
        await user.press("0", "c")
        await user.until(lambda: user.sees("SCAN", "1 tool", "Secrets in clear", "5  memories of Claude Code"))
        await user.press("enter")
        await user.until(lambda: user.sees("AWS_KEY", "[REDACTED:AWS_KEY]"))
        assert not user.sees(KEY)
        await user.press("escape")
        await user.until(lambda: user.sees("memories of Claude Code"))
        while not user.sees("▸      5  memories of Claude Code"):
            await user.press("j")
        await user.press("enter")
        await user.until(lambda: user.sees("~/.claude/projects/", "line "))
        await user.press("escape", "escape")
        await user.until(lambda: not isinstance(user.app.screen, ScanScreen))


async def test_what_is_about_to_go_is_saved_and_conversations_are_searched(story: Story) -> None:
    async with opened(story.folder, WIDE) as user:
        await user.command("scan")
        await user.until(lambda: user.sees("conversations not searched"))
        await user.press("s")
        await user.until(lambda: any("Saved 1 conversation" in said for said in user.toasts))
        await user.press("t")
        await user.until(lambda: user.sees("2  Secrets in clear"))
        assert not user.sees("conversations not searched")


def test_a_file_is_shown_around_a_line_and_nothing_else_is_read(tmp_path: Path) -> None:
    text = tmp_path / "a.md"
    text.write_text("\n".join(f"line {number} {KEY if number == 50 else ''}" for number in range(1, 101)))
    shown = "\n".join("".join(part for part, _ in line) for line in lines_around(str(text), 50))
    assert "line 38 " in shown and "line 62 " in shown and "line 63" not in shown and KEY not in shown
    pipe, link, base = tmp_path / "pipe", tmp_path / "link", tmp_path / "a.db"
    os.mkfifo(pipe)
    link.symlink_to(text)
    base.write_bytes(b"SQLite format 3\0" + b"x" * 100)
    for path, says in ((pipe, "not a plain file"), (link, "symbolic"), (base, "record 3 of a database")):
        assert says in str(lines_around(str(path), 3)).lower() or path is link
    assert len(lines_around(str(link), 3)) == 1
