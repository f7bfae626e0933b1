"""The parts of `.ci/slow`, each asked for by its mark."""

import subprocess
import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parent
TEST = "import pytest\n@pytest.mark.browser\ndef test_{}(): {}\n"
SKIPPED, PASSED = TEST.format("the_page", "pytest.skip('no Chromium')"), TEST.format("the_address", "pass")
CASES = [(SKIPPED, "browser", 5), (SKIPPED + PASSED, "browser", 0), (SKIPPED, "not slow", 0)]


@pytest.mark.parametrize(("text", "mark", "status"), CASES, ids=["skipped", "passed", "not asked for"])
def test_a_part_of_which_everything_was_skipped_did_not_pass(tmp_path: Path, text: str, mark: str, status: int) -> None:
    (tmp_path / "test_part.py").write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = browser\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "support.parts", "-p", "no:cacheprovider", "-m", mark]
    done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(SUPPORT)}, capture_output=True, text=True)
    assert "1 skipped" in done.stdout and done.returncode == status, done.stdout + done.stderr
