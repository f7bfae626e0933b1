"""Secrets that a report names: what the redactor cuts, without what only looks like one. The redactor cuts in doubt,
which does no harm; a report that is wrong is not read again."""

import re
from collections.abc import Iterator

from store.redaction.redactor import SecretFinding, findings

MASKED = 24  # characters of a secret that is shown in part, with dots behind it
# samples, and the names of a session: `agent:main:telegram:42`
_SAMPLE = re.compile(
    r"1234567890abcd|abcdef1234567890|^[a-z]+(?::[\w+-]+){2,}$|KEY-----(?:\\n|\s)*\.\.\.", re.IGNORECASE
)
_TEST = re.compile(r"(?:^|[-_])test[-_](?!.*\d{6})", re.IGNORECASE)
_DEFAULT = re.compile(r"(?P<user>[^\s:/@]*):(?P<password>[^\s:/@]+)@(?P<host>[\w.-]*)")
_SAID = ("password", "postgres", "root", "admin", "pass", "secret")
_PUBLIC = re.compile(r"public[ _-]?key\W{0,6}\Z", re.IGNORECASE)
_WORDS = re.compile(r"[a-z]+(?:[-_][a-z]+)+")
_SPOKEN = re.compile("pass|pwd|clave|contras", re.IGNORECASE)
_ASSIGNED = "HARDCODED_CREDENTIAL"
NEAR = 24  # characters before a secret that may say what it is


def surely(text: str) -> Iterator[SecretFinding]:
    """Yield the secrets of a text that are no samples, no names, no halves, and no defaults of a database at hand."""
    for one in findings(text):
        value = text[one.start : one.end]
        if len(value) < MASKED and (value.endswith(("...", "…")) or text.startswith(("...", "…"), one.end)):
            continue
        before = text[max(0, one.start - NEAR) : one.start]
        if _SAMPLE.search(value) or (one.label == _ASSIGNED and _is_named(value, before)):
            continue
        if value.startswith("![") or (value.isupper() and "_" in value and not any(map(str.isdigit, value))):
            continue
        if not _is_default(value):
            yield one


def _is_named(value: str, before: str) -> bool:
    """Return whether a key is a public one, of a test, or words alone: `hello-world`."""
    if _PUBLIC.search(before) or _TEST.search(value):
        return True
    return _WORDS.fullmatch(value) is not None and not _SPOKEN.search(before)


def _is_default(value: str) -> bool:
    """Return whether a value is an address on this machine whose password everybody knows: `postgres:postgres@db`."""
    found = _DEFAULT.search(value)
    return (
        found is not None
        and (found["password"].lower() in (found["user"].lower(), *_SAID) or found["password"] == "DB_PASSWORD")
        and ("." not in found["host"] or found["host"] in ("127.0.0.1", "host.docker.internal"))
    )
