"""The cases of `bench.mutations` are about the code as it is."""

from pathlib import Path

import pytest

from bench.mutations import CASES, FAULTS, ROOT, changed, read


@pytest.mark.parametrize("path", [CASES, FAULTS])
def test_each_change_can_be_made_and_its_tests_are_there(path: Path) -> None:
    gone = []
    for number, case in enumerate(read(path), start=1):
        module = ROOT / case["file"]
        text = module.read_text(encoding="utf-8") if module.is_file() else ""
        if changed(text, case["was"], case["now"]) is None:
            gone.append(f"{number}: {case['file']}: {case['was']}")
        tests = case.get("tests", ())
        gone += [f"{number}: {name}" for name in tests if not (ROOT / name.partition("::")[0]).exists()]
    assert gone == [], "python -m bench.mutations --run NUMBER runs one anew"
