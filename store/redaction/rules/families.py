"""The table of families: the best known in their order, tokens of issuers, then those that need context.

Specific before generic: a later family does not see what an earlier one cut.
"""

from store.redaction.placeholders import is_credential, is_template, is_token
from store.redaction.rules.assignment import ASSIGNMENT, ELEMENT, LABEL, PAIR, SETTER, names_credential
from store.redaction.rules.command_rules import COMMANDS
from store.redaction.rules.context_rules import CONTEXTS
from store.redaction.rules.encoded import BASE64
from store.redaction.rules.family import LEFT as _LEFT
from store.redaction.rules.family import MASK, RIGHT, Family
from store.redaction.rules.passwords import LINE, PASSWORDS
from store.redaction.rules.sentence_rules import SENTENCES
from store.redaction.rules.service_rules import SERVICE_KEY, SERVICE_VALUE
from store.redaction.rules.token_rules import TOKENS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

__all__ = ["ASSIGNMENT_LABEL", "FAMILIES", "LABELS", "MASK", "PERSONAL", "Family", "is_credential", "names_credential"]

_SAMPLE = "://user:pass@"


def _has_password(match: "re.Match[str]", value: str) -> bool:
    return not is_template(match[1]) and _SAMPLE not in match[0].lower()


def _is_aws_key(match: "re.Match[str]", value: str) -> bool:
    """Accept AWS's own examples too, which end in EXAMPLE: cutting one does no harm."""
    return value.endswith("EXAMPLE") or is_token(match, value)


SEED: tuple[Family, ...] = (
    Family(
        "AWS_KEY",
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        _LEFT + r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}" + RIGHT,
        accept=_is_aws_key,
    ),
    Family("ANTHROPIC_KEY", ("sk-ant-",), _LEFT + r"sk-ant-[\w-]{20,}", accept=is_token),
    # A dash in the body only after a known prefix, in a long one of capitals and digits, or after 20 letters and
    # digits: sk-fading-circle-spinner is a CSS class.
    Family(
        "SK_KEY",
        ("sk-",),
        _LEFT + r"sk-(?:(?:proj|svcacct|admin|None|or-v1|lf)-[\w-]{20,}"
        r"|[a-z]{2,8}-(?=[\w-]{0,64}[A-Z])(?=[\w-]{0,64}\d)[\w-]{32,}|[A-Za-z0-9]{20,}+[\w-]*)",
        accept=is_token,
    ),
    # the first letter after gh: personal, OAuth, user-to-server, server-to-server, refresh
    Family(
        "GITHUB_TOKEN",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        _LEFT + r"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{20,})",
        accept=is_token,
    ),
    Family(
        "SLACK_TOKEN",
        ("xox", "xapp-"),
        _LEFT + r"(?:(?:xoxe\.)?xox[a-eoprs]-[A-Za-z0-9%-]{10,}|xapp-\d-[A-Za-z0-9-]{20,})",
        accept=is_token,
    ),
    Family("GOOGLE_KEY", ("AIza",), _LEFT + r"AIza[\w-]{35}(?![\w-])", accept=is_token),
    Family("SENDGRID_KEY", ("SG.",), _LEFT + r"SG\.[\w-]{22,}+\.[\w-]{22,}", accept=is_token),
    # Through the END line, or to the end: half a key is still a key. The dot is any character, so that markers and
    # newlines written as \n are matched too.
    Family(
        "PRIVATE_KEY",
        ("-----BEGIN ",),
        r"-----BEGIN [A-Z0-9 ]{0,64}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)"
        r"(?:-----END [A-Z0-9 ]{0,64}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    ),
    Family("PRIVATE_KEY", ("Private-Lines: ",), r"Private-Lines: \d{1,4}\s(?s:.*?)(?:Private-MAC: [0-9a-f]{32,}|\Z)"),
    # The left edge excludes base64url's whole alphabet, else eyJ-eyJ-eyJ-… would be read to its end from each eyJ. Five
    # segments are an encrypted one (JWE).
    Family(
        "JWT",
        ("eyJ", "eyA", "ewo"),  # {", { and a newline
        r"(?<![\w-])e(?:yJ|yA|wo)[\w-]{8,}+\.(?:[\w-]{4,}+\.[\w-]{8,}+(?:\.[\w-]{8,}+\.[\w-]{16,}+)?|eyJ[\w-]{8,}+\.?)",
    ),
    # To the end of the URL, whose query may hold a second password. host:5432/… is no password.
    Family(
        "CONNECTION_STRING",
        ("mysql", "postgres", "mongodb", "redis", "amqp"),
        r"""(?:mysql|postgres(?:ql)?|mongodb|rediss?|amqps?)(?:\+[a-z0-9]{1,16})?://[^\s:/"'`\\\0]{0,128}+"""
        r""":(?!\d{1,5}[/?,])([^\s@"'`\\\0]{1,256}+)@(?:[^\s"'`<>\\\0,;)\]}]++|,(?=\w))*+""",
        needs="://",
        fold=True,
        accept=_has_password,
    ),
    # Some JSON writers escape a slash as \/.
    Family(
        "SLACK_WEBHOOK",
        ("hooks.slack.com",),
        r"hooks\.slack\.com\\?/(?:services|workflows|triggers)(?:\\?/[\w-]{6,}+){3,}",
        fold=True,
    ),
    Family(
        "DISCORD_WEBHOOK",
        ("discord",),
        r"discord(?:app)?\.com\\?/api(?:\\?/v\d{1,2})?\\?/webhooks\\?/\d{10,25}\\?/[\w-]{20,}",
        fold=True,
    ),
)

FAMILIES: tuple[Family, ...] = (
    *SEED,
    *TOKENS,
    *CONTEXTS,
    *PASSWORDS,
    *COMMANDS,
    *SENTENCES,
    BASE64,
    ASSIGNMENT,
    PAIR,
    SETTER,
    ELEMENT,
    LINE,
    SERVICE_KEY,
    SERVICE_VALUE,
)
"""Tried in this order."""

LABELS: tuple[str, ...] = tuple(dict.fromkeys(family.label for family in FAMILIES))
ASSIGNMENT_LABEL = LABEL
PERSONAL = ("EMAIL", "IBAN", "CARD", "DNI_ES", "NIE_ES", "CUIT_AR", "CPF_BR", "SSN_US", "DNI_AR", "PHONE")
"""What `store.redaction.personal_data` finds: not secret, and cut only when a person asks for it."""
