"""Evidence in the application: bound by a key, seen in list and preview, looked at again, taken, run after a yes."""

from pathlib import Path

import pytest
from support.screen import NARROW, WIDE, opened
from support.stories import Story, copy

from tui.screens.health import EvidenceScreen

TAX = "def tax(cents):\n    return cents // 5\n"


@pytest.fixture
def story(tmp_path: Path) -> Story:
    found = copy(tmp_path / "billing-api")
    (found.folder / "tax.py").write_text(TAX)
    return found


def bind(story: Story, *texts: str, fact: int = 1) -> None:
    with story.open() as memory:
        memory.evidence.bind("fact", fact, texts, str(story.folder))


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_a_fact_is_bound_by_a_key_and_looked_at_again(story: Story, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as user:
        await user.press("B")
        await user.paste("tax.py::tax")
        await user.press("enter")
        await user.until(lambda: user.sees("Rests on", "✓ holds", "tax.py::tax"))
        (story.folder / "tax.py").write_text(TAX.replace("5", "4"))
        await user.press("0", "e")
        await user.until(lambda: user.sees("EVIDENCE", "1 piece, 1 changed or gone", "≠ F#", "It is not what it was"))
        await user.press("b")
        await user.until(lambda: user.sees("✓ F#", "1 piece, 0 changed or gone"))
        await user.press("escape")
        await user.until(lambda: not isinstance(user.app.screen, EvidenceScreen))
        await user.until(lambda: user.sees("✓ holds"))
        await user.press("u")
        await user.until(lambda: user.sees("not looked at"))


async def test_a_doubt_is_in_the_list_beside_the_age_and_leads_to_the_record(story: Story) -> None:
    bind(story, "tax.py:1-2", fact=2)
    (story.folder / "tax.py").unlink()
    async with opened(story.folder, WIDE) as user:
        await user.until(lambda: user.sees("⊘ gone", "What 1 record rests on changed or is gone"))
        await user.command("bind --check")
        await user.until(lambda: user.sees("EVIDENCE", "1 changed or gone"))
        await user.press("enter")
        await user.until(lambda: user.sees("F#2", "Rests on", "⊘ gone"))


async def test_a_command_is_shown_and_runs_after_a_yes_alone(story: Story) -> None:
    mark = story.folder / "mark"
    bind(story, f"$ echo 5 > {mark.name}", "tax.py")
    async with opened(story.folder, WIDE) as user:
        await user.command("bind --check")
        await user.until(lambda: user.sees("2 pieces", "not looked at", "It is looked at only when you run it"))
        await user.press("r")
        await user.until(lambda: user.sees("run “echo 5 > mark”?", "It runs in the folder of the project, as you."))
        await user.press("n")
        await user.until(lambda: user.sees("It is looked at only when you run it"))
        await user.press("r")
        await user.until(lambda: user.sees("y runs it"))
        assert not mark.exists()
        await user.press("y")
        await user.until(lambda: user.sees("holds: $ echo 5 > mark"))
        assert mark.read_text() == "5\n"
        await user.press("x")
        await user.until(lambda: user.sees("1 piece,"))


async def test_what_goes_wrong_is_said(story: Story) -> None:
    bind(story, "tax.py")
    async with opened(story.folder, WIDE) as user:
        await user.press("B")
        await user.paste("nothing.py")
        await user.press("enter")
        await user.until(lambda: any("there is no such file" in said for said in user.toasts))
        (story.folder / "tax.py").unlink()
        await user.command("bind --check")
        await user.until(lambda: user.sees("⊘ F#1"))
        await user.press("b")
        await user.until(lambda: any("tax.py is gone" in said for said in user.toasts))
        await user.press("r")
        await user.until(lambda: any("Only commands and addresses are run" in said for said in user.toasts))
        (story.folder / "tax.py").write_text(TAX)
        await user.press("l")
        await user.until(lambda: user.sees("✓ F#1"))
