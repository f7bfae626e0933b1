"""Build the site of the documents: `python docs/website.py [FOLDER]`, from the repository's root (or into dist/site).

It is in FOLDER/VERSION, beside those of other versions, which the site offers to choose among. The build fails for a
link that leads nowhere, in Markdown or in HTML, for a page that is in no menu, and for anything that another site is
asked for. Needs the extra `docs`: `pip install -e '.[docs]'`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlparse

ROOT = Path(__file__).resolve().parent.parent
COPIED = (
    "*.md",
    "docs/*.md",
    "bench/RESULTS.md",
    "screenshots/*.svg",
    "store/exchange/export.schema.json",
    "LICENSE",
)
COPIED += ("store/team/schema.sql", ".ci/run", ".ci/slow")
LOADED = {"img": "src", "script": "src", "source": "srcset", "link": "href", "iframe": "src"}
"""What a browser loads by itself, by the attribute that says from where."""


def version() -> str:
    """The version of the documents: major and minor, since a patch does not change what they say."""
    whole: str = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return ".".join(whole.split(".")[:2])


def build(folder: Path) -> Path:
    """Build this version's site; return its folder. Raises CalledProcessError for a warning of mkdocs."""
    made = folder / version()
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "source"
        for pattern in COPIED:
            for path in ROOT.glob(pattern):
                place = source / path.relative_to(ROOT)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, place)
        settings = {"INHERIT": str(ROOT / "docs" / "mkdocs.yml"), "docs_dir": str(source), "site_dir": str(made)}
        config = Path(scratch) / "mkdocs.yml"
        config.write_text("\n".join(f"{name}: {json.dumps(value)}" for name, value in settings.items()), "utf-8")
        command = [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--quiet",
            "--strict",
            "--clean",
            "--config-file",
            str(config),
        ]
        subprocess.run(command, check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    _offer(folder)
    return made


def _offer(folder: Path) -> None:
    """List the versions that are there, the newest first, and lead to it."""
    numbers = [path.name for path in folder.iterdir() if re.fullmatch(r"\d+\.\d+", path.name)]
    numbers.sort(key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    listed = [{"version": name, "title": name, "aliases": []} for name in numbers]
    (folder / "versions.json").write_text(json.dumps(listed), "utf-8")
    (folder / "index.html").write_text(
        f'<!DOCTYPE html><title>Memoranda</title><meta http-equiv="refresh" content="0; url={numbers[0]}/">',
        "utf-8",
    )


class Page(HTMLParser):
    """The addresses in a page: (tag, address, whether a browser loads it by itself), and its anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[tuple[str, str, bool]] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors.update(filter(None, (given.get("id"), given.get("name"))))
        loads = LOADED.get(tag)
        if tag == "link" and given.get("rel") not in ("stylesheet", "icon", "preconnect"):
            loads = None
        for name in ("href", "src", "srcset"):
            if address := given.get(name):
                self.links.append((tag, address, name == loads))


def troubles(site: Path) -> Iterator[str]:
    """Yield what is wrong with a built site, a sentence each."""
    pages = {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}
    for path, page in pages.items():
        here = path.relative_to(site)
        for tag, address, loaded in page.links:
            parts = urlparse(address)
            if parts.scheme or parts.netloc:
                if loaded and parts.scheme != "data":
                    yield f"{here} loads {address} from another site"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                yield f"{here}: <{tag}> leads to {address}, which is not there"
            elif target in pages and unquote(parts.fragment) not in {"", *pages[target].anchors}:
                yield f"{here}: {address} leads to no heading"


def main(arguments: Sequence[str]) -> int:
    if arguments[:1] in (["-h"], ["--help"]) or len(arguments) > 1:
        print(__doc__, end="")
        return 0 if arguments[0] in ("-h", "--help") else 2
    site = build(Path(arguments[0]) if arguments else ROOT / "dist" / "site")
    wrong = list(troubles(site))
    print(*wrong, f"{site}: {len(list(site.rglob('*.html')))} pages, {len(wrong)} troubles", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
