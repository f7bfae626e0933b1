"""The cases of `bench.mutations` are about the code as it is."""

from bench.mutations import ROOT, changed, read


def test_each_change_can_be_made_and_its_tests_are_there() -> None:
    gone = []
    for number, case in enumerate(read(), 1):
        path = ROOT / case["file"]
        if not path.is_file() or changed(path.read_text(encoding="utf-8"), case["was"], case["now"]) is None:
            gone.append(f"{number}: {case['file']}: {case['was']}")
        gone += [f"{number}: {name}" for name in case["tests"] if not (ROOT / name.partition("::")[0]).exists()]
    assert gone == [], "python -m bench.mutations --run NUMBER runs one anew"
