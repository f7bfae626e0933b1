"""Secrets that a report names: what the redactor cuts, without what only looks like one. The redactor cuts in doubt,
which does no harm; a report that is wrong is not read again."""

import re
from collections.abc import Iterator

from store.redaction.redactor import SecretFinding, findings

MASKED = 24  # characters of a secret that is shown in part, with dots behind it
# samples, those of every guide to JWT, AWS and Telegram too; a reference to a vault; the name of a session,
# `agent:main:telegram:42`; the id of a client of Google
_SAMPLE = re.compile(
    r"1234567890abcd|abcdef1234567890|^[a-z]+(?::[^\s:/]+){2,}$|KEY-----(?:\\n|\s)*\.\.\."
    r"|eyJzdWIiOiIxMjM0NTY3ODkwI|^123456:|0123456789-0123456789|AKIA\w+EXAMPLE|^op://|^\s|^test[!@#$]{0,4}\d{1,5}$|^\d{9,14}-[a-z0-9]{30,}",
    re.IGNORECASE,
)
_TEST = re.compile(r"(?:^|[-_])(?:test|dev|development|demo|your)[-_](?!.*\d{6})", re.IGNORECASE)
_DEFAULT = re.compile(r"(?P<user>[^\s:/@]*):(?P<password>[^\s:/@]+)@(?P<host>[\w.-]*)")
_SAID = ("password", "postgres", "root", "admin", "pass", "secret")
_PUBLIC = re.compile(r"(?:public|uuid)[ _-]?key\W{0,6}\Z|alt=media&(?:amp;|#x26;)?token=\Z", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ASSIGNS = re.compile(r"[:\uff1a=|>][\s`*_\"'|]*\Z|--\w[\w-]* \Z")
# of a blockchain, which everybody may know, where nothing says that it is private
_ADDRESS = re.compile(r"[1-9A-HJ-NP-Za-km-z]{43,44}")
_PRIVATE = re.compile("secret|private|api|token|auth|pass", re.IGNORECASE)
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
        if one.label == "SERVICE_KEY" and value.isalpha() and value.islower():  # a name
            continue
        if value.startswith("![") or (value.isupper() and "_" in value and not any(map(str.isdigit, value))):
            continue
        if not _is_default(value):
            yield one


def _is_named(value: str, before: str) -> bool:
    """Return whether a key is a public one, of a test, or words alone: `hello-world`."""
    if _UUID.fullmatch(value) and not _ASSIGNS.search(before):  # the token `…` was revoked: its id
        return True
    if _PUBLIC.search(before) or _TEST.search(value) or (_ADDRESS.fullmatch(value) and not _PRIVATE.search(before)):
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
