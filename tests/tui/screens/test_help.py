"""The help: every key and command with what it does."""

from tui.screens.help import HelpRows, entries


def test_a_long_name_and_its_description_stand_apart() -> None:
    rows = HelpRows(entries({}))
    first = ["".join(text for text, _ in rows.lines(index, 100)[0]) for index in range(len(rows))]
    assert next(line for line in first if "verify-forgotten" in line).startswith("  verify-forgotten Prove that")
    for index, line in enumerate(first):
        key = str(rows.key(index))
        if key.startswith("verb:"):
            assert line.startswith(f"  {key.removeprefix('verb:')} "), line
