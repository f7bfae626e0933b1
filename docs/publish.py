"""Make everything that is published: `python docs/publish.py [FOLDER]`, from the repository's root (dist without one).

Source distribution and wheel; `sbom.cdx.json`, what the wheel and everything that it installs are (CycloneDX); and
`licences.md`, under which licence each is. For that the wheel is installed into a clean environment, with the extra
`serve`. Needs the extra `publish`: `pip install -e '.[publish]'`. Nothing of it is committed.
"""

import json
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sysconfig.get_path("scripts"))


def run(*words: str | Path) -> None:
    """Run a program of this environment. Raises CalledProcessError."""
    program, *rest = map(str, words)
    subprocess.run([str(BIN / program), *rest], check=True, cwd=ROOT, stdout=sys.stderr)


def publish(folder: Path) -> list[Path]:
    """Write all of it into `folder`, and return what was written. Raises CalledProcessError."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        built = Path(scratch) / "built"
        run("python", "-m", "build", "--outdir", built, ROOT)
        run("twine", "check", "--strict", *built.iterdir())
        (wheel,) = built.glob("*.whl")
        environment = Path(scratch) / "environment"
        run("uv", "venv", "--quiet", "--python", sys.executable, environment)
        run("uv", "pip", "install", "--quiet", "--python", environment, f"{wheel}[serve]")
        sbom, licences = folder / "sbom.cdx.json", folder / "licences.md"
        options = ("--of", "JSON", "--pyproject", ROOT / "pyproject.toml", "--output-reproducible")
        run("cyclonedx-py", "environment", environment, *options, "-o", sbom)
        listing = ("--format", "markdown", "--with-urls", "--order", "name", "--output-file", licences)
        run("pip-licenses", "--python", environment / "bin" / "python", *listing)
        made = [sbom, licences]
        for path in built.iterdir():
            made.append(Path(shutil.move(path, folder / path.name)))
    return made


def main(arguments: Sequence[str]) -> int:
    if arguments[:1] in (["-h"], ["--help"]) or len(arguments) > 1:
        print(__doc__, end="")
        return 0 if arguments[0] in ("-h", "--help") else 2
    made = publish(Path(arguments[0]).resolve() if arguments else ROOT / "dist")
    for path in sorted(made):
        print(f"{path.name}: {path.stat().st_size:,} bytes")
    parts = json.loads(next(path for path in made if path.suffix == ".json").read_text("utf-8"))["components"]
    print(f"{len(parts)} parts; {sum(not part.get('licenses') for part in parts)} say no licence")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
