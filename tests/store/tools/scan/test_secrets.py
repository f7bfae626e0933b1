"""What only looks like a secret is not reported: each text is of a public memory of an agent, its value changed."""

import tomllib
from pathlib import Path

from support.tables import each

from store.tools.transcript_scan import find_sure_secrets

TEXTS = tomllib.loads(Path(__file__).with_name("secrets.toml").read_text(encoding="utf-8"))


@each("text", TEXTS["kept"])
def test_what_only_looks_like_a_secret(text: str) -> None:
    assert list(find_sure_secrets(text)) == []


@each("text", TEXTS["secrets"])
def test_what_is_one(text: str) -> None:
    assert len(list(find_sure_secrets(text))) == 1
