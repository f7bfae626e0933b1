"""Random secrets that only the text before them identifies: headers, and the names of clouds and services."""

from store.redaction.placeholders import is_basic, is_credential, is_naming, is_opaque, is_random, is_serial, is_uuid
from store.redaction.rules.family import Family

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re


def _is_bearer(match: "re.Match[str]", value: str) -> bool:
    return is_random(value) or is_serial(value, 24)


def _is_sent(match: "re.Match[str]", value: str) -> bool:
    """Judge a value after `Authorization: Bearer`: any with a digit, or too long for a word, unless it is a
    placeholder."""
    if not is_credential(value) or is_naming(value.rstrip("0123456789")):
        return False
    return any(map(str.isdigit, value)) or is_opaque(value)


def _is_base64(match: "re.Match[str]", value: str) -> bool:
    return is_basic(value)


def _is_drawn(match: "re.Match[str]", value: str) -> bool:
    return is_random(value)


def _is_path(match: "re.Match[str]", value: str) -> bool:
    """Return whether the last part of a webhook's address is random."""
    return is_random(value, 20) or is_serial(value, 24) or (is_uuid(value) and any(map(str.isdigit, value)))


def _is_parameter(match: "re.Match[str]", value: str) -> bool:
    return is_random(value, 24) or is_opaque(value, 24)


_CODE = r"(?=[a-z0-9-]{0,64}\d)[a-z0-9]{4,8}(?:-[a-z0-9]{4,8}){1,7}"
_NO_WORDS = frozenset(
    "a an the and or for with was were are is from not but his has had of to in on at by be it as".split()
)


def _is_phrase(match: "re.Match[str]", value: str) -> bool:
    """Return whether a run of words is no sentence: the lists for such phrases do not contain these words."""
    return _NO_WORDS.isdisjoint(value.split())


def _is_short(match: "re.Match[str]", value: str) -> bool:
    """Judge a short value after a prefix that a name may begin with."""
    return is_random(value, 11) or is_opaque(value, 11)


_SEPARATED = r"""\\*["'`]?\]?\s{0,4}(?:=>|:=|[=:,])\s{0,4}\\*["'`]?"""

CONTEXTS: tuple[Family, ...] = (
    # 40 letters of Base64 beside the id; a session token is several hundred
    Family(
        "AWS_SECRET",
        ("secret_access_key", "secretaccesskey", "secret_key", "secretkey", "aws_secret", "awssecret"),
        rf"(?:(?:aws_?)?secret_?(?:access_?)?key(?:_?id)?|aws_?secret){_SEPARATED}(?P<value>[A-Za-z0-9+/]{{40}})(?![\w+/=-])",
        fold=True,
        accept=_is_drawn,
    ),
    Family(
        "AWS_SESSION_TOKEN",
        ("session_token", "sessiontoken", "security_token", "securitytoken", "security-token"),
        rf"(?:session|security)[_-]?token{_SEPARATED}(?P<value>[A-Za-z0-9+/]{{100,}}+={{0,2}})",
        fold=True,
        accept=_is_drawn,
    ),
    Family(
        "AZURE_KEY",
        ("accountkey=", "sharedaccesskey=", "accesskey="),
        r"(?:account|sharedaccess|access)key=(?P<value>[A-Za-z0-9+/]{40,}+={0,2})",
        fold=True,
        accept=_is_drawn,
    ),
    Family("AZURE_SAS", ("sig=",), r"(?<=[?&;])sig=(?P<value>[A-Za-z0-9%+/]{40,}+={0,2})", fold=True),
    Family(
        "AUTHORIZATION_HEADER",
        ("authorization",),
        r"""authorization\\*["']?\s{0,4}[:=,]\s{0,4}\\*["']?(?:bearer|token)\s{1,4}(?P<value>[\w.~+/=-]{8,}+)""",
        fold=True,
        accept=_is_sent,
    ),
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
    ),
    Family(
        "TEAMS_WEBHOOK",
        ("webhook.office.com/", "outlook.office"),
        r"(?:webhook\.office\.com/webhookb2|outlook\.office(?:365)?\.com/webhook)/[\w-]{36}@[\w-]{36}/[A-Za-z]{4,40}/\w{32}/[\w-]{36}[\w/-]*+",
        fold=True,
    ),
    Family("ZAPIER_WEBHOOK", ("hooks.zapier.com",), r"hooks\.zapier\.com/hooks/[a-z]{3,20}/\d{4,}/\w{5,}", fold=True),
    Family(
        "WEBHOOK_URL", ("oapi.dingtalk.com/",), r"oapi\.dingtalk\.com/robot/send\?access_token=[0-9a-f]{64}", fold=True
    ),
    Family(
        "WEBHOOK_URL",
        ("feishu.cn/", "larksuite.com/"),
        r"(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/[0-9a-f-]{36}",
        fold=True,
    ),
    Family(
        "WEBHOOK_URL",
        ("qyapi.weixin.qq.com/",),
        r"qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=[0-9a-f-]{36}",
        fold=True,
    ),
    Family("WEBHOOK_URL", ("webexapis.com/",), r"webexapis\.com/v1/webhooks/incoming/[\w-]{70,120}", fold=True),
    Family(
        "WEBHOOK_URL",
        ("chat.googleapis.com/",),
        r"chat\.googleapis\.com/v1/spaces/[\w-]{8,20}/messages\?[\w=%&-]{60,}",
        fold=True,
    ),
    Family(
        "WEBHOOK_URL",
        ("maker.ifttt.com/",),
        r"maker\.ifttt\.com/trigger/\w{1,80}(?:/json)?/with/key/[\w-]{20,64}",
        fold=True,
    ),
    Family(
        "WEBHOOK_URL",
        (".make.com/", ".integromat.com/"),
        r"\.(?:make|integromat)\.com/[a-z0-9]{30,40}(?![\w/])",
        fold=True,
    ),
    Family(
        "WEBHOOK_URL",
        ("/hooks/",),
        r"(?<=[a-z0-9])/hooks/(?:[a-z0-9]{26}|[A-Za-z0-9]{17}/[A-Za-z0-9]{40,})(?![\w/-])",
        accept=_is_drawn,
    ),
    # anybody with the address can post: its last part is the secret
    Family(
        "WEBHOOK_URL",
        ("/hook", "/webhook", "/services/", "/integration"),
        r"(?<=[a-z0-9])/(?:(?:web)?hooks?|services|integrations?)/(?:[\w-]{1,32}/){0,3}?(?P<value>[\w-]{20,128}+)(?![\w.])",
        needs="://",
        fold=True,
        accept=_is_path,
    ),
    # ?key=…, &signature=…
    Family(
        "URL_CREDENTIALS",
        ("?key=", "&key=", "?code=", "&code=", "?auth=", "&auth=", "signature="),
        r"(?:(?<=[?&])(?:x-(?:amz|goog)-)?signature|[?&](?:key|code|auth))=(?P<value>[\w.~+/%-]{24,512}+={0,2})",
        needs="://",
        fold=True,
        accept=_is_parameter,
    ),
    Family(
        "URL_CREDENTIALS",
        ("x-amz-signature=", "x-goog-signature="),
        r"x-(?:amz|goog)-signature=(?P<value>[0-9a-f]{64,1024})",
        fold=True,
        accept=_is_drawn,
    ),
    # the seed of an authenticator application
    Family(
        "OTP_SECRET",
        ("otp", "2fa", "mfa", "authenticator", "two-factor", "dos factores"),
        r"(?:otp|2fa|mfa|authenticator|two-factor|dos factores)[^\n\0]{0,24}?[\s:=?&\"']"
        r"(?P<value>(?-i:(?:[A-Z2-7]{4}[ -]?){3,15}[A-Z2-7]{4}))(?!\w)",
        fold=True,
        accept=lambda match, value: any(map(str.isdigit, value)),
    ),
    Family(
        "RECOVERY_CODE",
        ("recovery", "backup code", "scratch code", "rescue code", "código", "codigo"),
        r"(?:(?:recovery|backup|scratch|rescue)\s(?:codes?|keys?)|c[oó]digos? de (?:recuperaci[oó]n|respaldo))"
        rf"(?:\s(?:is|are|es|son))?\s?:?\s{{1,4}}(?P<value>{_CODE}(?:[\s,;]{{1,4}}{_CODE}){{0,19}})(?![\w-])",
        fold=True,
    ),
    # twelve words or more, the recovery phrase of a wallet
    Family(
        "SEED_PHRASE",
        ("seed", "mnemonic", "recovery phrase", "secret phrase", "semilla", "frase de recupera"),
        r"(?:(?:seed|recovery|secret|mnemonic)\s(?:phrase|words)|mnemonic|seed|(?:frase\s)?semilla"
        r"|frase de recuperaci[oó]n)"
        r"(?:\s(?:is|es))?[\"']?\s?[:=]?\s{0,2}[\"'`]?(?P<value>[a-z]{3,8}(?:[ ][a-z]{3,8}){11,23}+)(?![a-z])",
        fold=True,
        accept=_is_phrase,
    ),
    Family(
        "PASSWORD_HASH",
        ("{SHA", "{SSHA", "{SMD5}"),
        r"\{(?:S?SHA(?:256|384|512)?|SMD5)\}(?P<value>[A-Za-z0-9+/]{24,}={0,2})(?!\w)",
    ),
    Family(
        "PRIVATE_KEY",
        ("secret key",),
        r"(?:minisign|signify)[^\n\0]{0,40}secret key[^\n\0]{0,40}\s(?P<value>RW[A-Za-z0-9+/]{60,}={0,2})",
        back=range(8, 60),
        accept=_is_drawn,
    ),
    # an encrypted password and a key, as the program prints its settings
    Family(
        "ARTIFACTORY_KEY",
        ("AKC", *(f"AP{digit}" for digit in "0123456789ABCDEF")),
        r"(?<![^\s=:\"'])(?!APA91)(?:AKC|AP[0-9A-F])[A-Za-z0-9]{8,}(?![\w.-])",
        accept=_is_short,
    ),
    Family(
        "WIREGUARD_KEY",
        ("PrivateKey", "PresharedKey"),
        r"(?:PrivateKey|PresharedKey)\s{0,4}=\s{0,4}(?P<value>[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)",
    ),
    # the private part of a JSON web key
    Family(
        "PRIVATE_KEY",
        ('"kty"',),
        r"""["']kty["']\s{0,4}:[^{}\0]{0,3000}?["']d["']\s{0,4}:\s{0,4}["'](?P<value>[\w-]{40,})["']""",
        fold=True,
    ),
    # what a node prints for others to join a cluster
    Family(
        "KUBERNETES_TOKEN",
        ("kubeadm", "bootstrap-token", "bootstrap_token", "bootstraptoken"),
        r"""(?:kubeadm[^\n\0]{0,200}?--token|bootstrap[-_]?token)\\*["']?[\s:=]{1,4}\\*["']?"""
        r"""(?P<value>[a-z0-9]{6}\.[a-z0-9]{16})(?![\w.])""",
        fold=True,
        accept=lambda match, value: any(map(str.isdigit, value)),
    ),
    Family(
        "ARTIFACTORY_KEY",
        ("x-jfrog-art-api",),
        r"""x-jfrog-art-api\\*["']?\s{0,4}[:=,]\s{0,4}\\*["']?(?P<value>(?:AKC|AP[0-9A-F])[A-Za-z0-9]{8,})""",
        fold=True,
    ),
)
