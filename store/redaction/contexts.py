"""Secrets that only what stands before them gives away: headers, addresses, configuration files, command lines."""

from store.redaction.assignment import names_credential
from store.redaction.family import LEFT, Family
from store.redaction.placeholders import is_filler, is_random, is_serial, is_template

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

# What a password is called in an example.
_SAID = frozenset(
    "password passwd pass pwd secret pw token user username mypassword mypass changeme test example xxx admin "
    "your_password yourpassword p@ssword userpass".split()
)


def _is_password(match: "re.Match[str]", value: str) -> bool:
    """Whether a user and a password, or the password alone, are meant: the last part is what counts."""
    password = value.rpartition(":")[2]
    if len(password) < 3 or is_template(password) or is_filler(password):
        return False
    return password.lower() not in _SAID and not password.startswith(("$", "{", "<", "%", "..."))


def _is_bearer(match: "re.Match[str]", value: str) -> bool:
    return is_random(value)


def _is_basic(match: "re.Match[str]", value: str) -> bool:
    """Whether the value is Base64 of `user:password`."""
    import binascii

    try:
        said = binascii.a2b_base64(value + "=" * (-len(value) % 4))
    except binascii.Error:
        return False
    user, colon, password = said.partition(b":")
    return bool(colon and user + password) and said.isascii() and said.decode("ascii").isprintable()


def _is_drawn(match: "re.Match[str]", value: str) -> bool:
    return is_random(value)


def _is_given(match: "re.Match[str]", value: str) -> bool:
    """Whether a password without quotes is one, and no name of another place."""
    return _is_password(match, value) and not names_credential(value) and "/" not in value[:1]


def _is_spoken(match: "re.Match[str]", value: str) -> bool:
    """In quotes any word; else one with letters and digits, which is no measure (256-bit)."""
    if not _is_given(match, value) or not any(map(str.isalpha, value)):
        return False
    if match.lastgroup == "quoted":
        return "%" not in value and "{" not in value
    digits = sum(map(str.isdigit, value))
    return bool(digits) and not value[0].isdigit() and value[-1] not in "=:"


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
        accept=_is_basic,
    ),
    Family(
        "AUTHORIZATION_HEADER",
        ("authorization",),
        r"""authorization\\*["']?\s{0,4}[:=,]\s{0,4}\\*["']?(?:(?:token|apikey|api-key|key|ssws|discogs|bot|klaviyo-api-key|genie"""
        r"""key)[ =]{1,2})?(?P<value>[\w.~+/=-]{16,}+)""",
        fold=True,
        accept=_is_drawn,
    ),
    # ~/.docker/config.json
    Family(
        "DOCKER_AUTH",
        ("auth",),
        r"""auth\\*"\s{0,4}:\s{0,4}\\*"(?P<value>[A-Za-z0-9+/]{8,}+={0,2})\\*\"""",
        needs='"',
        accept=_is_basic,
    ),
    Family(
        "NETRC_PASSWORD",
        ("machine ", "default "),
        r"(?:machine\s+[^\s\0]{1,200}+\s+(?:(?:login|account)\s+[^\s\0]{1,200}+\s+){0,2}|default\s+login\s+[^\s\0]{1,200}+\s+)password\s+(?P<value>[^\s\0]{3,}+)",
        needs="password",
        fold=True,
        accept=_is_password,
    ),
    Family(
        "CURL_USER",
        ("curl ",),
        r"""curl(?=\s)(?:[^\n\\\0]|\\\n|\\(?!\n)){0,200}?\s(?:-[a-zA-Z]{0,4}u|--user|--proxy-user)[ =]{0,2}"""
        r"""["']?(?P<value>[^\s"':\0]{1,128}:[^\s"'\0]{3,})""",
        accept=_is_password,
    ),
    # scheme://user:password@host
    Family(
        "URL_CREDENTIALS",
        ("://",),
        r"""://(?P<value>[^\s:/?#@"'`<>()\[\]\\\0]{0,128}+:(?!\d{1,5}[/?,])[^\s@/"'`<>\\\0]{3,256}+)@[\w.\[$-]""",
        accept=_is_password,
    ),
    # Server=…;User Id=…;Password=…
    Family(
        "CONNECTION_PASSWORD",
        ("password=", "pwd=", "password =", "pwd ="),
        r"(?<=[;\s\"'])(?:password|pwd)\s?=\s?(?P<value>[^\s;\"'`<>(){}\[\]$\0]{3,})(?=[;\"'`])",
        needs=";",
        fold=True,
        accept=_is_password,
    ),
    # two lines of a file of settings: user = …, password = …
    Family(
        "LOGIN_PASSWORD",
        ("user", "login"),
        r"(?:user|login)(?:_?name|_?id)?[\"']?[ \t]{0,8}[=:][ \t]{0,8}[^\s\0]{1,80}[ \t]*\r?\n"
        r"(?:[ \t]*(?:#|//)[^\n\0]{0,120}\n){0,3}"
        r"[ \t]*[\w.-]{0,40}?(?:password|passwd|pass|pwd)[ \t]{0,8}[=:][ \t]{0,8}"
        r"(?P<value>[^\s\"'`,;(){}\[\]<>$&|\0]{6,}+)[ \t]*(?:[\r\n]|\Z)",
        needs="pass",
        fold=True,
        accept=_is_given,
    ),
    Family(
        "COMMAND_PASSWORD",
        ("sshpass ", "psexec", "mysql", "docker login", "az login", "redis-cli", "sqlcmd"),
        r"(?:sshpass|psexec(?:64)?(?:\.exe)?|mysql(?:dump|admin)?|docker login|az login|redis-cli|sqlcmd)"
        r"\b[^\n\0|]{0,200}?\s-[paP]\s{0,2}"
        r"[\"']?(?P<value>[^\s\"'`\0-][^\s\"'`\0]{4,})",
        fold=True,
        accept=_is_given,
    ),
    # the password for the printer is "…"
    Family(
        "SPOKEN_PASSWORD",
        ("passw", "contrase"),
        r"(?:password|passwd|contraseña|contrasena)(?:[^\n\"'`:=\0]{0,40}?\s(?:is|es|was|era))?\s{1,2}"
        r"(?:[\"'`«“](?P<quoted>[^\s\"'`«»“”\0]{5,})[\"'`»”]|(?<=(?:is|es)\s)(?P<bare>[^\s\"'`,;(){}\[\]<>$\0]{6,}))",
        fold=True,
        accept=_is_spoken,
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
