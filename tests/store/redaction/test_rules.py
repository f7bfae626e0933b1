"""The rules of redaction as a file: all of them are there, and each new or changed one tells where it comes from."""

import datetime
import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from store.redaction.family import Family, read_rules
from store.redaction.rules import VALUE_CHECKS, load_families, load_token_families

EARLIER = frozenset(Path(__file__).with_name("rules_without_source.txt").read_text(encoding="ascii").split())
"""The digests of the rules from before sources were kept."""
RULES: list[dict[str, Any]] = [*read_rules()["tokens"], *read_rules()["contexts"]]


def digest(family: Family) -> str:
    check = next(name for name, accept in VALUE_CHECKS.items() if accept is family.accept)
    told = (family.label, family.keywords, family.pattern, family.needs, family.fold, family.back, family.gate, check)
    return hashlib.sha256(repr(told).encode()).hexdigest()[:10]


def is_accounted_for(rule: dict[str, Any], family: Family) -> bool:
    """Return whether a rule has its source and date, or is one of before and unchanged."""
    if "source" in rule or "date" in rule:
        return bool(rule.get("source", "").strip()) and isinstance(rule.get("date"), datetime.date)
    return digest(family) in EARLIER


def test_no_rule_is_lost() -> None:
    assert (len(load_token_families()), len(load_families())) == (268, 347)


def test_each_rule_has_its_source_and_date_or_is_unchanged_since_before_they_were_kept() -> None:
    rules = zip(RULES, load_families(), strict=True)
    lacking = [f"{family.label} {family.pattern}" for rule, family in rules if not is_accounted_for(rule, family)]
    assert lacking == [], "give them source = and date = in rules.toml"


@pytest.mark.parametrize(
    ("known", "accepted"),
    [
        ({}, False),
        ({"source": "https://example.org/tokens"}, False),
        ({"date": datetime.date(2026, 1, 31)}, False),
        ({"source": " ", "date": datetime.date(2026, 1, 31)}, False),
        ({"source": "https://example.org/tokens", "date": "January"}, False),
        ({"source": "https://example.org/tokens", "date": datetime.date(2026, 1, 31)}, True),
    ],
)
def test_a_rule_that_is_added_or_changed_needs_both(known: dict[str, Any], accepted: bool) -> None:
    rule, family = RULES[0], load_families()[0]
    assert is_accounted_for(rule, family)
    added = Family("EXAMPLE_KEY", ("exa_",), "exa_[a-z]{40}")
    for changed in (added, replace(family, pattern=family.pattern + "?"), replace(family, keywords=("AKIA",))):
        assert is_accounted_for(rule | known, changed) is accepted


def test_each_check_is_named_by_a_rule() -> None:
    assert {"token", *(rule["check"] for rule in RULES if "check" in rule)} == set(VALUE_CHECKS)
