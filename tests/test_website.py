"""The site of the documents: every page is in its menu, and what is wrong with a built one is found."""

from pathlib import Path

import pytest
import yaml
from support.cases import load_cases

from docs import website

ROOT = Path(__file__).parents[1]


class Loader(yaml.SafeLoader):
    """Reads mkdocs' file without making what it names."""


Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda loader, suffix, node: None)


def listed(part: object) -> list[str]:
    if isinstance(part, str):
        return [part]
    values = part.values() if isinstance(part, dict) else part
    return [page for value in values for page in listed(value)]  # type: ignore[attr-defined]


def test_every_document_is_in_the_menu() -> None:
    menu = listed(yaml.load((ROOT / "docs" / "mkdocs.yml").read_text("utf-8"), Loader)["nav"])
    pages = [path for pattern in website.COPIED for path in ROOT.glob(pattern) if path.suffix == ".md"]
    assert sorted(menu) == sorted(str(path.relative_to(ROOT)) for path in pages)


@pytest.mark.parametrize(("text", "said"), load_cases(__file__)["wrong"])
def test_what_is_wrong_with_a_page_is_named(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(text)
    (tmp_path / "other.html").write_text('<h2 id="here">Here</h2>')
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "index.html").write_text("")
    found = list(website.troubles(tmp_path))
    assert len(found) == bool(said) and said in "".join(found)


def test_versions_are_offered_the_newest_first(tmp_path: Path) -> None:
    for name in ("0.2", "0.10", "1.0", "images"):
        (tmp_path / name).mkdir()
    website._offer(tmp_path)
    offered = yaml.safe_load((tmp_path / "versions.json").read_text())
    assert [one["version"] for one in offered] == ["1.0", "0.10", "0.2"]
    assert 'url=1.0/"' in (tmp_path / "index.html").read_text()
