"""Passwords chosen by a person: they do not look random, and only their context identifies them.

Contexts are the configuration files and command lines of common programs, addresses, calls, and plain sentences.
"""

from store.redaction.placeholders import is_basic, is_filler, is_naming, is_random, is_template
from store.redaction.rules.assignment import BOLD, GATE, names_credential
from store.redaction.rules.family import Family, line_before

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

# Names of passwords in examples.
_SAID = frozenset(
    "password passwd pass pwd secret pw token user username mypassword mypass changeme test example xxx admin "
    "your_password yourpassword p@ssword userpass none null true false required optional prompt file stdin".split()
)
_PASS = r"(?:pass(?:word|wort|wd|phrase|code)?|pwd|(?<![a-z])p(?:w|sw|swd|word)|contrase[ñn]a|(?<![a-z])clave)"
_LONGEST_LINE = 120
_BARE = r"[^\s\"'`,;(){}\[\]<>\0\\]"


def is_password(match: "re.Match[str]", value: str) -> bool:
    """Return whether a match is a user and a password, or the password alone: only the last part is checked."""
    password = value.rpartition(":")[2]
    if len(password) < 3 or is_template(password) or is_filler(password):
        return False
    bare = password.lower().strip("\"'#\\")
    if bare[-1:].isdigit() and not bare[-2:-1].isdigit():  # pass1
        bare = bare[:-1]
    return password.lower() not in _SAID and bare not in _SAID and not password.startswith(("$", "{", "<", "%", "..."))


def is_given(match: "re.Match[str]", value: str) -> bool:
    """Return whether a value without quotes is a password, and not the name of another place."""
    return is_password(match, value) and not is_name(value) and "/" not in value[:1]


def is_name(value: str) -> bool:
    """Return whether a value names a place that holds a password: `dbPassword`, `form2_password`, `password2`. One run
    of letters and digits with more in it than such names have, `supersecret99`, is a password."""
    if not names_credential(value):
        return False
    chosen = value.isalnum() and any(map(str.isdigit, value))
    return not chosen or is_naming(value.rstrip("0123456789"))


def _is_second(match: "re.Match[str]", value: str) -> bool:
    """Judge the second of two lines, user and password. A program has blanks around the sign where it assigns a
    variable; without them any word is the password itself."""
    if is_given(match, value):
        return True
    lines = match[0].strip().splitlines()
    joined = all("=" in line and " " not in line.strip() for line in (lines[0], lines[-1]))
    return joined and is_password(match, value) and not is_naming(value)


def _is_user(match: "re.Match[str]", value: str) -> bool:
    """Return whether a value is `user:password` for curl; with nothing after the colon the user is a key."""
    if value.endswith(":"):
        return is_given(match, value[:-1]) and any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return is_password(match, value)


def is_chosen(match: "re.Match[str]", value: str) -> bool:
    """Return whether a word is a chosen password: letters with digits or punctuation, where a name has letters
    alone."""
    if not is_given(match, value) or not any(map(str.isalpha, value)) or value[0] in "-+":
        return False
    if value.replace(".", "_").isidentifier() and not (value.isalnum() and any(map(str.isdigit, value))):
        return False
    return any(map(str.isdigit, value)) or not _is_path(value)


def _is_option(match: "re.Match[str]", value: str) -> bool:
    """Judge the value of an option: `--db-password …`, and not of a word, as in a two-pass check."""
    start = match.start()
    while start and (match.string[start - 1].isalnum() or match.string[start - 1] in "-_"):
        start -= 1
    return match.string[start] == "-" and is_chosen(match, value)


def _is_path(value: str) -> bool:
    for sign in "-./":
        value = value.replace(sign, "_")
    return value.isidentifier()


def _is_line(match: "re.Match[str]", value: str) -> bool:
    """Return whether name and value are alone on a line, as in a file of settings and seldom in a program; or are
    surrounded by blanks, as in a list of environment variables."""
    text = match.string
    joined = text[match.end("name") : match.start("value")] == "="
    start = match.start()
    while start and (text[start - 1].isalnum() or text[start - 1] in "_.-"):
        start -= 1
    if (
        joined
        and text[start : match.end("name")].isupper()
        and text[start - 1 : start] in ("", " ", "\t", "\n", '"', "'")
    ):
        glued = match["name"] == "PASS" and text[match.start() - 1 : match.start()].isalpha()  # COMPASS
        if glued and not any(map(str.isdigit, value)):
            return False
        return is_given(match, value) and not is_naming(value) and value[0] not in "-+./~" and not value.isupper()
    if match["name"] in ("SECRET", "SECRET_KEY") or not is_chosen(match, value):
        return False
    if not any(char.isascii() and char.isalnum() for char in value) or (value.isupper() and "_" in value):
        return False
    before = line_before(text, match.start())
    if before is None or len(before) > _LONGEST_LINE:
        return False
    if joined and value.isalnum() and any(map(str.isdigit, value)) and _is_listed(before):
        return True
    if text[match.end() : match.end() + 1] in ('"', "'") or any(sign in before for sign in "\"'`()=<>{}[]$\0"):
        return False
    if joined and value.isalnum() and any(map(str.isdigit, value)):
        return True
    if text[match.end() : match.end() + _LONGEST_LINE].lstrip(" \t")[:1] not in ("", "\r", "\n", "#"):
        return False
    if match["sign"] == ":" or not value.isidentifier():
        return match["name"] != "clave" or sum(map(str.isdigit, value)) >= 2
    low = value.lower()
    return sum(map(str.isdigit, value)) >= 2 and not any(word in low for word in ("pass", "pwd", "secret", "token"))


def _is_listed(before: str) -> bool:
    """Return whether another `name=value` precedes, separated by a blank: `host=db user=ada password=…`."""
    words = before.split(" ")
    if len(words) < 2:
        return False
    name, sign, value = words[-2].partition("=")
    return bool(sign and value) and _is_path(name) and all(char.isalnum() or char in "._-:/" for char in value)


def _is_defined(match: "re.Match[str]", value: str) -> bool:
    return is_password(match, value) and "put your unique phrase" not in value and not is_name(value)


def _is_base64(match: "re.Match[str]", value: str) -> bool:
    return is_basic(value)


def _is_cookie(match: "re.Match[str]", value: str) -> bool:
    """Return whether one of the cookies is random."""
    return any(is_random(part.partition("=")[2]) for part in value.replace(" ", "").split(";"))


def _is_data(match: "re.Match[str]", value: str) -> bool:
    """Return whether the values of a Kubernetes Secret are present, and not those of a template."""
    values = [line.partition(":")[2].strip().strip("\"'") for line in value.splitlines()]
    return any(len(item) >= 4 and item[:1] not in "{$<%[&*!|>" and not is_filler(item) for item in values)


_QUOTE = r"""\\*["'`]"""
_ARGUMENT = rf"{_QUOTE}[^\n\"'`\0]{{0,200}}+{_QUOTE}\s{{0,40}},\s{{0,40}}"

PASSWORDS: tuple[Family, ...] = (
    Family(
        "NETRC_PASSWORD",
        ("machine ", "default "),
        r"(?:machine\s+[^\s\0]{1,200}+\s+(?:(?:login|account)\s+[^\s\0]{1,200}+\s+){0,2}|default\s+login\s+[^\s\0]{1,200}+\s+)password\s+(?P<value>[^\s\0]{3,}+)",
        needs="password",
        fold=True,
        accept=is_password,
    ),
    # ~/.pgpass: host:port:database:user:password
    Family(
        "PGPASS_PASSWORD",
        (":5432:", ":5433:", ":6432:", ":*:"),
        r":(?:\d{4}|\*):[^\s:\0]{1,100}+:[^\s:\0]{1,100}+:(?P<value>[^\s:\"'`\0]{3,200}+)(?!\S)",
        accept=is_password,
    ),
    # ~/.npmrc, ~/.docker/config.json
    Family(
        "DOCKER_AUTH",
        ('auth"', "auth\\"),
        r"""auth\\*"\s{0,4}:\s{0,4}\\*"(?P<value>[A-Za-z0-9+/]{8,}+={0,2})\\*\"""",
        needs='"',
        accept=_is_base64,
    ),
    Family(
        "NPM_AUTH",
        ("_auth", "_password"),
        r"(?<![a-z0-9])_(?:auth|password)[ \t]{0,4}=[ \t]{0,4}[\"']?(?P<value>[A-Za-z0-9+/]{8,}+={0,2})(?![\w.-])",
        accept=lambda match, value: match[0].startswith("_p") or is_basic(value),
    ),
    # BUNDLE_GEMS__EXAMPLE__COM=user:password
    Family(
        "BUNDLER_CREDENTIALS",
        ("BUNDLE_",),
        r"BUNDLE_[A-Z0-9_]{1,60}[\"']?[ \t]{0,4}[=:][ \t]{0,4}[\"']?(?P<value>[^\s:/\"'`\0]{3,80}+:[^\s:/\"'`\0]{6,})",
        needs="__",
        accept=is_password,
    ),
    Family(
        "CURL_USER",
        ("curl ",),
        r"""curl(?=\s)(?:[^\n\\\0]|\\\n|\\(?!\n)){0,200}?\s(?:-[a-zA-Z]{0,4}u|--user|--proxy-user)[ =]{0,2}"""
        r"""["']?(?P<value>[^\s"':\0]{0,128}:[^\s"'\0]{3,}|[^\s"':\0]{10,128}:(?=["'\s]|\Z))""",
        accept=_is_user,
    ),
    # scheme://user:password@host
    Family(
        "URL_CREDENTIALS",
        ("://",),
        r"""://(?P<value>[^\s:/?#@"'`<>()\[\]\\\0]{0,128}+:(?!\d{1,5}[/?,])[^\s@/"'`<>\\\0]{3,256}+)@[\w.\[$-]""",
        accept=is_password,
    ),
    Family(
        "URL_CREDENTIALS",
        ("://",),
        r"://(?P<value>[A-Za-z0-9_.~-]{20,256}+)@[\w.\[$-]",
        accept=lambda match, value: is_random(value, 20),
    ),
    Family(
        "URL_CREDENTIALS",
        ("password=", "passwd=", "pwd="),
        r"(?<=[?&])(?:password|passwd|pwd)=(?P<value>[^\s&;#\"'`<>\\\0]{4,256}+)",
        needs="://",
        fold=True,
        accept=is_given,
    ),
    # Server=…;User Id=…;Password=…
    Family(
        "CONNECTION_PASSWORD",
        ("password=", "pwd=", "password =", "pwd ="),
        r"(?:(?<=;)|(?<=[\s\"'])(?=[^\s;\"'`\0]{1,12}\s?=\s?[^\s;\"'`\0]{1,200};))(?:password|pwd)\s?=\s?"
        r"(?P<value>[^\s;\"'`<>(){}\[\]$\0]{3,})(?=[;\"'`\s]|\Z)",
        needs=";",
        fold=True,
        accept=is_password,
    ),
    # two lines of a file of settings: user = …, password = …
    Family(
        "LOGIN_PASSWORD",
        ("user", "login"),
        r"(?:user|login)(?:_?name|_?id)?[\"']?[ \t]{0,8}[=:][ \t]{0,8}(?!str|text|varchar)[^\s\0]{1,80}[ \t]*\r?\n"
        r"(?:[ \t]*(?:#|//)[^\n\0]{0,120}\n){0,3}"
        r"[ \t]*[\w.-]{0,40}?(?:password|passwd|pass|pwd)[ \t]{0,8}[=:][ \t]{0,8}"
        r"(?P<value>[^\s\"'`,;(){}\[\]<>$&|\0]{6,}+)[ \t]*(?:[\r\n]|\Z)",
        needs="pass",
        fold=True,
        accept=_is_second,
    ),
    # a user and a password as arguments
    Family(
        "LOGIN_PASSWORD",
        (
            "networkcredential",
            "directoryentry",
            "passwordcredential",
            "passwordauthentication",
            "basicauth",
            "basic_auth",
        ),
        r"(?:networkcredential|directoryentry|usernamepasswordcredentials?|passwordauthentication|basic_?auth)\s{0,4}\(\s{0,40}"
        rf"(?:{_ARGUMENT}){{1,3}}{_QUOTE}(?P<value>[^\s\"'`\0]{{4,200}}){_QUOTE}",
        needs="(",
        fold=True,
        accept=is_password,
    ),
    Family(
        "LOGIN_PASSWORD",
        (".login(", "auth=(", "auth = (", "getconnection("),
        rf"(?:\.login|auth ?= ?|getconnection)\(\s{{0,40}}(?:{_ARGUMENT}){{1,2}}"
        rf"{_QUOTE}(?P<value>[^\s\"'`\0]{{6,200}}){_QUOTE}\s{{0,40}}[,)]",
        fold=True,
        accept=is_chosen,
    ),
    Family(
        "COMMAND_PASSWORD",
        ("sshpass ", "psexec", "mysql", "docker login", "az login", "redis-cli", "sqlcmd"),
        r"(?:sshpass|psexec(?:64)?(?:\.exe)?|mysql(?:dump|admin)?|docker login|az login|redis-cli|sqlcmd)"
        r"\b[^\n\0|]{0,200}?\s-[pa]\s{0,2}(?!\d+\s)"
        r"[\"']?(?P<value>[^\s\"'`\0-][^\s\"'`\0]{4,})",
        fold=True,
        accept=is_given,
    ),
    Family(
        "COMMAND_PASSWORD",
        (
            "ldapsearch ",
            "ldapadd ",
            "ldapmodify ",
            "ldappasswd ",
            "mongosh ",
            "mongodump ",
            "mongorestore ",
            "redis-cli ",
        ),
        r"(?:ldap[a-z]{3,8}|mongo[a-z]{2,7}|redis-cli)\b[^\n\0|]{0,200}?\s-[apw]\s{0,2}[\"']?(?P<value>[^\s\"'`\0-][^\s\"'`\0]{4,})",
        fold=True,
        accept=is_chosen,
    ),
    # --password …, -storepass …, -passin pass:…
    Family(
        "COMMAND_PASSWORD",
        ("-pass", "-pwd", "-storepass", "-keypass"),
        r"-(?:pass(?:word|wd|phrase)?|pwd|storepass|keypass|pass(?:in|out)(?=[ =]pass:))(?:=|[ \t]{1,2})(?:pass:)?"
        rf"[\"']?(?P<value>{_BARE}{{6,128}}+)",
        fold=True,
        accept=_is_option,
    ),
    # httpie -a user:password, smbclient -U user%password, lftp -u user,password
    Family(
        "COMMAND_PASSWORD",
        ("http ", "https ", "smbclient ", "rpcclient ", "lftp "),
        r"(?:https?[ \t](?:[^\n\0|]{0,200}?\s)?(?:-a|--auth)[ =]{1,2}[\"']?[^\s:\"'\0]{1,80}:"
        r"|(?:smb|rpc)client\s[^\n\0|]{0,200}?-U\s?[\"']?[^\s%\"'\0]{1,80}%"
        r"|lftp\s[^\n\0|]{0,200}?-u\s?[\"']?[^\s,\"'\0]{1,80},)(?P<value>[^\s\"'\0]{3,128})",
        fold=True,
        accept=is_password,
    ),
    # echo user:password | chpasswd, echo password | sudo -S
    Family(
        "COMMAND_PASSWORD",
        ("echo ",),
        r"echo[ \t]{1,4}[\"']?(?P<value>[^\s\"'\0|]{3,128})[\"']?[ \t]{0,4}\|[ \t]{0,4}"
        r"(?:(?:sudo[ \t]{1,4})?chpasswd|sudo -S|passwd --stdin|docker login[^\n\0|]{0,120}--password-stdin)",
        fold=True,
        accept=is_given,
    ),
    # define('DB_PASSWORD', '…')
    Family(
        "LOGIN_PASSWORD",
        ("define(",),
        r"define\(\s{0,4}[\"']\w{0,40}?(?:pass(?:word|wd)?|pwd|secret|auth_key|in_key|nonce_key|salt|token)[\"']\s{0,4},\s{0,20}"
        r"(?:\"(?P<double>[^\n\"\0]{4,256})\"|'(?P<value>[^\n'\0]{4,256})')\s{0,4}\)",
        fold=True,
        accept=_is_defined,
    ),
    Family(
        "COMMAND_PASSWORD",
        ("convertto-securestring",),
        r"convertto-securestring\s{1,4}(?:-[a-z]{1,20}\s{1,4}){0,2}[\"'](?P<value>[^\n\"'\0]{4,128})[\"']",
        fold=True,
        accept=is_password,
    ),
    # Cookie: sessionid=…
    Family(
        "SESSION_COOKIE",
        ("cookie:", 'cookie":', "cookie':"),
        r"cookie[\"']?:\s{0,4}[\"']?(?P<value>[\w.-]{1,80}=[^\s\"'`\0,;]{8,4096}+"
        r"(?:;[ ]?[^\s\"'`\0,;=]{1,80}=[^\s\"'`\0,;]{0,4096}+){0,40}+)",
        fold=True,
        accept=_is_cookie,
    ),
    # the whole of `data:` in a manifest of a Kubernetes Secret
    Family(
        "KUBERNETES_SECRET",
        ("data:",),
        r"data:[ \t]*\r?\n[ \t]++(?P<value>[\w.-]++:[ \t]++[^\s\0]++(?:[ \t]*\r?\n[ \t]++[\w.-]++:[ \t]++[^\s\0]++)*+)",
        needs="kind: secret",
        fold=True,
        accept=_is_data,
    ),
)

# One line of a file of settings, and PGPASSWORD=… before a command: after the assignment rule.
LINE = Family(
    "LOGIN_PASSWORD",
    ("pass", "pw", "psw", "contrase", "clave", "secret", "secret_key"),
    rf"(?P<name>{_PASS}(?:_?\d)?|(?-i:SECRET(?:_KEY)?)){BOLD}[ \t]{{0,8}}(?P<sign>[:=]){BOLD}[ \t]{{0,8}}"
    rf"(?P<value>{_BARE}{{5,128}}+)(?=[\s\"']|\Z)",
    fold=True,
    gate=GATE,
    accept=_is_line,
)
