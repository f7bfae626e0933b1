"""Secrets drawn by lot that only what stands before them gives away: headers, and the names of clouds and services."""

from store.redaction.family import LEFT, Family
from store.redaction.placeholders import is_basic, is_random, is_serial

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re


def _is_bearer(match: "re.Match[str]", value: str) -> bool:
    return is_random(value) or is_serial(value, 24)


def _is_base64(match: "re.Match[str]", value: str) -> bool:
    return is_basic(value)


def _is_drawn(match: "re.Match[str]", value: str) -> bool:
    return is_random(value)


_SEPARATED = r"""\\*["'`]?\]?\s{0,4}(?:=>|:=|[=:,])\s{0,4}\\*["'`]?"""

CONTEXTS: tuple[Family, ...] = (
    # 40 letters of Base64 beside the id; a session token is several hundred
    Family(
        "AWS_SECRET",
        ("secret_access_key", "secretaccesskey", "secret_key", "secretkey", "aws_secret", "awssecret"),
        rf"(?:(?:aws_?)?secret_?(?:access_?)?key(?:_?id)?|aws_?secret){_SEPARATED}(?P<value>[A-Za-z0-9+/]{{40}})(?![\w+/=-])",
        word=40,
        apart=True,
        fold=True,
        accept=_is_drawn,
    ),
    Family(
        "AWS_SESSION_TOKEN",
        ("session_token", "sessiontoken", "security_token", "securitytoken", "security-token"),
        rf"(?:session|security)[_-]?token{_SEPARATED}(?P<value>[A-Za-z0-9+/]{{100,}}+={{0,2}})",
        word=100,
        apart=True,
        fold=True,
        accept=_is_drawn,
    ),
    Family(
        "AZURE_KEY",
        ("accountkey=", "sharedaccesskey=", "accesskey="),
        r"(?:account|sharedaccess|access)key=(?P<value>[A-Za-z0-9+/]{40,}+={0,2})",
        word=50,
        apart=True,
        fold=True,
        accept=_is_drawn,
    ),
    Family("AZURE_SAS", ("sig=",), r"(?<=[?&;])sig=(?P<value>[A-Za-z0-9%+/]{40,}+={0,2})", word=44, fold=True),
    Family(
        "AUTHORIZATION_HEADER",
        ("bearer ",),
        r"bearer\s{1,4}(?P<value>[\w.~+/-]{16,}+={0,2})",
        fold=True,
        accept=_is_bearer,
    ),
    Family(
        "AUTHORIZATION_HEADER",
        ("basic ",),
        r"(?<=[\s:\"'=])basic\s{1,4}(?P<value>[A-Za-z0-9+/]{6,}+={0,2})",
        needs="auth",
        fold=True,
        accept=_is_base64,
    ),
    Family(
        "AUTHORIZATION_HEADER",
        ("authorization",),
        r"""authorization\\*["']?\s{0,4}[:=,]\s{0,4}\\*["']?(?:(?:token|apikey|api-key|key|ssws|discogs|bot|klaviyo-api-key|genie"""
        r"""key)[ =]{1,2})?(?P<value>[\w.~+/=-]{16,}+)""",
        fold=True,
        accept=_is_drawn,
    ),
    Family(
        "PASSWORD_HASH",
        ("$2a$", "$2b$", "$2y$", "$1$", "$5$", "$6$", "$y$", "$apr1$", "$argon2"),
        r"\$(?:2[aby]\$\d\d\$[./A-Za-z0-9]{53}|(?:1|apr1)\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}"
        r"|[56]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43,86}|y\$[./A-Za-z0-9]{2,6}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}"
        r"|argon2(?:id|i|d)\$v=\d{1,3}\$m=[^\s$\0]{1,40}\$[A-Za-z0-9+/]{8,64}\$[A-Za-z0-9+/]{16,90})(?![\w./])",
        word=30,
        apart=True,
    ),
    Family(
        "TEAMS_WEBHOOK",
        ("webhook.office.com/",),
        r"webhook\.office\.com/webhookb2/[0-9a-f-]{36}@[0-9a-f-]{36}/[A-Za-z]{4,40}/[0-9a-f]{32}/[0-9a-f-]{36}[\w/-]*+",
        fold=True,
    ),
    Family("ZAPIER_WEBHOOK", ("hooks.zapier.com",), r"hooks\.zapier\.com/hooks/[a-z]{3,20}/\d{4,}/\w{5,}", fold=True),
)


def _is_serial(match: "re.Match[str]", value: str) -> bool:
    return is_random(value) or is_serial(value, 24)


# A service's name, then a word for a credential, then the credential: prose, tables, calls. Digits drawn by lot alone.
_SERVICES = (
    "algolia asana auth0 azure bitbucket cloudflare codecov coinbase datadog digitalocean discord dropbox facebook "
    "fastly github gitlab heroku jira launchdarkly linkedin mailchimp mailgun mapbox mistral netlify newrelic "
    "new_relic okta opsgenie pagerduty paypal salesforce segment sendgrid sentry shodan snyk sonar splunk telegram "
    "trello twilio twitch twitter vercel virustotal zendesk"
).split()
SERVICE_KEY = Family(
    "SERVICE_KEY",
    tuple(_SERVICES),
    LEFT
    + "(?:"
    + "|".join(_SERVICES)
    + r""")[^\n\0]{0,40}?(?:key|token|secret|passw|auth|cred|access|api|sid|pat)[^\n\0]{0,20}?[\s"'`=:,>(](?P<value>"""
    r"(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[A-Za-z0-9_-]{24,80}))(?![\w./@+=-])",
    word=24,
    apart=True,
    fold=True,
    accept=_is_serial,
)
