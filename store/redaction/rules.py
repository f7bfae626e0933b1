"""The families of secrets, read from `rules.toml` when the first text is searched."""

from functools import cache
from typing import Any

from store.redaction.checks import (
    has_digit,
    has_password,
    is_after_filler,
    is_assigned,
    is_aws_key,
    is_base64,
    is_bearer,
    is_chosen,
    is_chosen_word,
    is_cookie,
    is_data,
    is_defined,
    is_drawn,
    is_element,
    is_given,
    is_line,
    is_long_lived,
    is_mixed,
    is_npm_login,
    is_option,
    is_pair,
    is_parameter,
    is_password,
    is_phrase,
    is_random_user,
    is_second_line,
    is_sent,
    is_service_key,
    is_service_value,
    is_set,
    is_short,
    is_token,
    is_told,
    is_used,
    is_user,
    is_webhook,
)
from store.redaction.family import (
    LEFT,
    RIGHT,
    Check,
    EncodedFamily,
    Family,
    base64_forms,
    expand_pattern,
    expand_words,
    read_rules,
)

PERSONAL_LABELS = ("EMAIL", "IBAN", "CARD", "DNI_ES", "NIE_ES", "CUIT_AR", "CPF_BR", "SSN_US", "DNI_AR", "PHONE")
"""What `store.redaction.personal_data` finds: not secret, and cut only when a person asks for it."""

VALUE_CHECKS: dict[str, Check | None] = {
    "any": None,
    "token": is_token,
    "mixed": is_mixed,
    "random": is_drawn,
    "after_filler": is_after_filler,
    "long_lived": is_long_lived,
    "aws_key": is_aws_key,
    "has_password": has_password,
    "has_digit": has_digit,
    "bearer": is_bearer,
    "sent": is_sent,
    "base64": is_base64,
    "npm_login": is_npm_login,
    "random_user": is_random_user,
    "webhook": is_webhook,
    "parameter": is_parameter,
    "short": is_short,
    "phrase": is_phrase,
    "service_key": is_service_key,
    "service_value": is_service_value,
    "password": is_password,
    "given": is_given,
    "chosen": is_chosen,
    "chosen_word": is_chosen_word,
    "second_line": is_second_line,
    "user": is_user,
    "option": is_option,
    "line": is_line,
    "defined": is_defined,
    "cookie": is_cookie,
    "data": is_data,
    "told": is_told,
    "pair": is_pair,
    "used": is_used,
    "assigned": is_assigned,
    "set": is_set,
    "element": is_element,
}
"""What a rule names as its check; its match is cut where the check says so."""


@cache
def load_families() -> tuple[Family, ...]:
    """Return all families, in the order in which they are tried."""
    return (*load_token_families(), *(_family_of_rule(rule, "any") for rule in read_rules()["contexts"]))


@cache
def load_token_families() -> tuple[Family, ...]:
    """Return the families of what an issuer gave a prefix."""
    return tuple(_family_of_rule({"edges": True} | rule, "token") for rule in read_rules()["tokens"])


@cache
def load_labels() -> tuple[str, ...]:
    """Return the label of each family once, in the order of the families."""
    return tuple(dict.fromkeys(family.label for family in load_families()))


def _family_of_rule(rule: dict[str, Any], usual_check: str) -> Family:
    pattern = expand_pattern(rule["pattern"])
    keywords = expand_words(rule["keywords"])
    decode = rule.get("decode", False)
    return (EncodedFamily if decode else Family)(
        rule["label"],
        base64_forms(keywords) if decode else keywords,
        LEFT + pattern + RIGHT if rule.get("edges") else pattern,
        needs=rule.get("needs", ""),
        fold=rule.get("fold", False),
        back=_parse_distances(rule.get("back", "")),
        gate=expand_pattern(rule.get("gate", "")),
        accept=VALUE_CHECKS[rule.get("check", usual_check)],
    )


def _parse_distances(back: str) -> tuple[int, ...]:
    """Read `0 5-9`: numbers, and ranges with their ends."""
    found: list[int] = []
    for part in back.split():
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return tuple(found)
