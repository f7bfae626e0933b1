"""The wheel and the source distribution: complete, well-formed, and installed as people install applications."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from support.packaging import ROOT, fresh_copy, opens, run, tracked

pytestmark = pytest.mark.wheels

BIN = Path(sysconfig.get_path("scripts"))
NETWORK = ("pip_", "uv_", "ssl_cert", "requests_ca", "http_proxy", "https_proxy", "no_proxy", "all_proxy")
"""How variables begin that say where packages come from."""
PLATFORMS = ("linux", "aarch64-unknown-linux-gnu", "macos", "x86_64-apple-darwin", "windows")


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    copy = fresh_copy(tmp_path_factory.mktemp("fresh") / "memoranda")
    run([sys.executable, "-m", "build", "--outdir", str(folder), str(copy)], copy)
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (path,) = dist.glob("memoranda-*.whl")
    return path


def test_both_are_well_formed(dist: Path, wheel: Path) -> None:
    """What an index would refuse, or show wrong; and what does not belong in a wheel."""
    run([str(BIN / "twine"), "check", "--strict", *map(str, dist.iterdir())], dist)
    run([str(BIN / "check-wheel-contents"), "--config", str(ROOT / "pyproject.toml"), str(wheel)], dist)


def test_the_wheel_holds_every_file_of_both_packages_and_nothing_else(wheel: Path) -> None:
    """Byte for byte: modules, SQL, words, prompts, the demo's commits; the licence, the manual page, the command."""
    with zipfile.ZipFile(wheel) as archive:
        (page,) = [name for name in archive.namelist() if name.endswith(".data/data/share/man/man1/memoranda.1")]
        assert archive.read(page).startswith(b".TH MEMORANDA 1")
        names = {name for name in archive.namelist() if ".dist-info/" not in name} - {page}
        assert names == set(tracked("store", "tui"))
        assert {Path(name).suffix for name in names} >= {".py", ".sql", ".toml", ".txt", ".js", ".json", ".typed"}
        assert not [name for name in names if archive.read(name) != (ROOT / name).read_bytes()]
        (entry_points,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
        assert "memoranda = tui.main:main" in archive.read(entry_points).decode()
        assert any(name.endswith("/licenses/LICENSE") for name in archive.namelist())


def test_the_source_distribution_holds_what_git_holds(dist: Path) -> None:
    (path,) = dist.glob("memoranda-*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= {name for name in tracked() if not name.startswith(".git")}
    assert names - set(tracked()) == {"PKG-INFO"}


# each installs the command, with a home that holds nothing, and says where the command is then
INSTALLERS = {
    "uv tool install": (["uv", "tool", "install", "--python", sys.executable], ["memoranda"]),
    "pipx install": (["pipx", "install", "--python", sys.executable], ["memoranda"]),
    "uvx": (None, ["uvx", "--python", sys.executable, "--from", "WHEEL", "memoranda"]),
}


@pytest.mark.parametrize("installer", INSTALLERS)
def test_it_is_installed_as_people_do(installer: str, wheel: Path, tmp_path: Path) -> None:
    """In an empty home, outside of any checkout, with no variable that a shell's profile would set: the version, the
    demo in a real terminal, a first fact, the doctor, and removing it again."""
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    programs = tmp_path / "bin"  # these two alone, and not the `memoranda` beside them
    programs.mkdir()
    for name in ("uv", "uvx", "pipx"):
        (programs / name).symlink_to(BIN / name)
    bare = {"HOME": str(home), "PATH": f"{home}/.local/bin:{programs}:/usr/bin:/bin", "LANG": "C.UTF-8"}
    bare |= {"UV_PYTHON_DOWNLOADS": "never", **{n: v for n, v in os.environ.items() if n.lower().startswith(NETWORK)}}
    install, start = INSTALLERS[installer]
    if install:
        run([*_found(install, bare), str(wheel)], project, bare)
    command = _found([str(wheel) if word == "WHEEL" else word for word in start], bare)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert run([*command, "--version"], project, bare) == f"memoranda {version}\n"
    opens([*command, "demo"], project, bare, "billing-api", "All 1", ": more")
    assert run([*command, "remember", "the team is five"], project, bare) == "Remembered F#1.\n"
    assert run([*command, "doctor", "--quick"], project, bare)
    if install:
        run(_found([install[0], *(["tool"] if install[0] == "uv" else []), "uninstall", "memoranda"], bare), home, bare)
        assert not (home / ".local" / "bin" / "memoranda").exists()


def _found(words: list[str], env: dict[str, str]) -> list[str]:
    path = shutil.which(words[0], path=env["PATH"])
    assert path, f"{words[0]} is not on {env['PATH']}"
    return [path, *words[1:]]


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_dependency_has_a_wheel(platform: str, python: str, tmp_path: Path) -> None:
    """A dry run for other systems: nothing has to be compiled there. Windows is not supported, but not for this."""
    options = ["--python-platform", platform, "--python-version", python, "--only-binary", ":all:"]
    wanted = run([str(BIN / "uv"), "pip", "compile", "--quiet", *options, str(ROOT / "pyproject.toml")], tmp_path)
    assert "apsw==" in wanted and "textual==" in wanted
