"""A restore that is killed before any of its writes: every file is the one or the other, and nothing that was kept is
lost."""

import json
import shutil
import signal
from pathlib import Path

import pytest
from conftest import examples
from support.forks import run_program
from support.guarded import SETTINGS, GuardedHome
from support.killing import COUNTER

CHILD = f"""
import json, sys
{COUNTER}
folder, number, now, settings = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4])
left = number
vfs = Killing()
apsw.set_default_vfs("killing")
for name in ("rename", "link", "unlink", "fsync"):
    def counted(*words, real=getattr(os, name), **more):
        count()
        return real(*words, **more)
    setattr(os, name, counted)

from store.tools import guard_moments
from store.tools.source import Machine

at = guard_moments.Occasion(settings, Machine(folder), now)
plan = guard_moments.plan_guard_restore(at, 1)
counting = True
guard_moments.run_guard_restore(at, plan)
counting = False
print(number - left)
"""


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GuardedHome:
    """One moment: a note went, another was reworded, a third came."""
    home = _at(tmp_path / "told", monkeypatch)
    for name in ("tides", "deploy"):
        home.write(f"{name}.md", f"About {name}.\nThe second line.\n")
    home.look()
    home.now += 3_600_000
    home.remove("tides.md")
    home.write("deploy.md", "Shorter.\n")
    home.write("merged.md", "All in one.\n")
    home.look()
    return home


def _at(place: Path, monkeypatch: pytest.MonkeyPatch) -> GuardedHome:
    """A guarded home below `place`, which has its own data and state."""
    (place / "guarded").mkdir(parents=True)
    monkeypatch.setenv("XDG_DATA_HOME", str(place / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(place / "state"))
    return GuardedHome(place / "guarded")


def killed(home: GuardedHome, number: int) -> tuple[int, str]:
    done = run_program(CHILD, home.folder, str(number), str(home.now + 60_000), json.dumps(SETTINGS))
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode, done.stdout.strip()


def test_killed_before_any_write(told: GuardedHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, kept = tmp_path / "told", tmp_path / "kept"
    shutil.copytree(place, kept, symlinks=True)
    before = told.content()
    wanted = {f"{name}.md": f"About {name}.\nThe second line.\n".encode() for name in ("tides", "deploy")}
    status, counted = killed(told, 0)
    assert status == 0 and told.content() == wanted
    seen, now = set[int](), told.now
    for number in range(1, int(counted) + 1, 1 if examples(1) > 1 else 3):  # every third, unless all is tried
        shutil.rmtree(place)
        shutil.copytree(kept, place, symlinks=True)
        told.now = now
        assert killed(told, number)[0] == -signal.SIGKILL
        between = told.content()
        for name in before.keys() | wanted.keys():
            assert between.get(name) in (before.get(name), wanted.get(name)), (number, name)
        done = {name for name in before.keys() | wanted.keys() if between.get(name) != before.get(name)}
        seen.add(len(done))
        told.look(5)
        assert told.look(5).moments == []
        restores = [one for one in told.moments() if one.restores]
        assert {Path(file.file.path).name for one in restores for file in one.files} == done, number
        if restores:
            told.restore()
        assert told.content() == before, number
        told.restore(1)
        assert told.content() == wanted, number
    assert seen == {0, 1, 2, 3}
