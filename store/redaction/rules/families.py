"""The families of secrets, read from `rules.toml` when the first text is searched."""

from functools import cache
from typing import Any

from store.redaction.placeholders import is_mixed, is_token
from store.redaction.rules import assignment, checks, passwords, sentences
from store.redaction.rules.encoded import EncodedFamily, base64_forms
from store.redaction.rules.family import LEFT, RIGHT, Check, Family, expand, expand_words, read_rules

PERSONAL = ("EMAIL", "IBAN", "CARD", "DNI_ES", "NIE_ES", "CUIT_AR", "CPF_BR", "SSN_US", "DNI_AR", "PHONE")
"""What `store.redaction.personal_data` finds: not secret, and cut only when a person asks for it."""

CHECKS: dict[str, Check | None] = {
    "any": None,
    "token": is_token,
    "mixed": is_mixed,
    "random": checks.is_drawn,
    "after_filler": checks.is_after_filler,
    "long_lived": checks.is_long_lived,
    "aws_key": checks.is_aws_key,
    "has_password": checks.has_password,
    "has_digit": checks.has_digit,
    "bearer": checks.is_bearer,
    "sent": checks.is_sent,
    "base64": checks.is_base64,
    "npm_login": checks.is_npm_login,
    "random_user": checks.is_random_user,
    "webhook": checks.is_webhook,
    "parameter": checks.is_parameter,
    "short": checks.is_short,
    "phrase": checks.is_phrase,
    "service_key": checks.is_service_key,
    "service_value": checks.is_service_value,
    "password": passwords.is_password,
    "given": passwords.is_given,
    "chosen": passwords.is_chosen,
    "chosen_word": passwords.is_chosen_word,
    "second_line": passwords.is_second_line,
    "user": passwords.is_user,
    "option": passwords.is_option,
    "line": passwords.is_line,
    "defined": passwords.is_defined,
    "cookie": passwords.is_cookie,
    "data": passwords.is_data,
    "told": sentences.is_told,
    "pair": sentences.is_pair,
    "used": sentences.is_used,
    "assigned": assignment.is_assigned,
    "set": assignment.is_set,
    "element": assignment.is_element,
}
"""What a rule names as its check; its match is cut where the check says so."""


@cache
def load_families() -> tuple[Family, ...]:
    """Return all families, in the order in which they are tried."""
    return (*load_token_families(), *(_family(rule, "any") for rule in read_rules()["contexts"]))


@cache
def load_token_families() -> tuple[Family, ...]:
    """Return the families of what an issuer gave a prefix."""
    return tuple(_family({"edges": True} | rule, "token") for rule in read_rules()["tokens"])


@cache
def load_labels() -> tuple[str, ...]:
    """Return the label of each family once, in the order of the families."""
    return tuple(dict.fromkeys(family.label for family in load_families()))


def _family(rule: dict[str, Any], usual_check: str) -> Family:
    pattern = expand(rule["pattern"])
    keywords = expand_words(rule["keywords"])
    decode = rule.get("decode", False)
    return (EncodedFamily if decode else Family)(
        rule["label"],
        base64_forms(keywords) if decode else keywords,
        LEFT + pattern + RIGHT if rule.get("edges") else pattern,
        needs=rule.get("needs", ""),
        fold=rule.get("fold", False),
        back=_distances(rule.get("back", "")),
        gate=expand(rule.get("gate", "")),
        accept=CHECKS[rule.get("check", usual_check)],
    )


def _distances(back: str) -> tuple[int, ...]:
    """Read `0 5-9`: numbers, and ranges with their ends."""
    found: list[int] = []
    for part in back.split():
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return tuple(found)
