"""Passwords in commands, in SQL statements and in settings of servers."""

from store.redaction.rules.family import Family
from store.redaction.rules.passwords import is_chosen, is_password

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_VALUE = r"[\"']?(?P<value>[^\s\"'`<>(){}\[\]$|;\0-][^\s\"'`<>(){}\[\]$|;\0]{4,127}+)"
_NAME = r"(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token|key)"


def _is_mixed(match: "re.Match[str]", value: str) -> bool:
    """Return whether a word has letters and digits, as no name of a file or an option has both."""
    return is_chosen(match, value) and any(map(str.isdigit, value)) and "." not in value and "/" not in value


COMMANDS: tuple[Family, ...] = (
    Family(
        "COMMAND_PASSWORD",
        ("podman login", "registry login", "twine upload", "useradd ", "usermod ", "mongo "),
        rf"(?:podman login|registry login|twine upload|user(?:add|mod)|mongo)\b[^\n\0|]{{0,200}}?\s-p\s{{0,2}}{_VALUE}",
        fold=True,
        accept=_is_mixed,
    ),
    # htpasswd -b users ada …
    Family(
        "COMMAND_PASSWORD",
        ("htpasswd ",),
        rf"htpasswd\s(?:-[a-zA-Z]{{1,4}}\s(?:\d{{1,2}}\s)?){{0,3}}?-[a-zA-Z]{{0,4}}b[a-zA-Z]{{0,4}}\s[^\n\0|]{{1,200}}?\s[^\s\0]{{1,64}}\s{_VALUE}(?=\s|\Z)",
        accept=_is_mixed,
    ),
    # the case of the letter counts: `unzip -p` prints a file
    Family(
        "COMMAND_PASSWORD",
        ("zip ", "7z ", "7za ", "ssh-keygen ", "openssl enc"),
        rf"(?:zip\s(?:[^\n\0|]{{0,200}}?\s)?-P\s{{0,2}}|7za?\s[^\n\0|]{{0,200}}?\s-p"
        rf"|ssh-keygen\s(?:[^\n\0|]{{0,200}}?\s)?-N\s{{1,2}}|openssl enc\s[^\n\0|]{{0,200}}?\s-k\s{{1,2}}){_VALUE}",
        accept=_is_mixed,
    ),
    # net user ada …, net use z: \\host\share … /user:ada
    Family(
        "COMMAND_PASSWORD",
        ("net use",),
        rf"net[ \t](?:user[ \t]{{1,4}}[^\s/*\0]{{1,64}}"
        rf"|use[ \t][^\n\0|]{{0,120}}?\\\\[^\s\0]{{1,120}})[ \t]{{1,4}}{_VALUE}",
        fold=True,
        accept=_is_mixed,
    ),
    # sqlplus scott/…@orcl, jdbc:oracle:thin:scott/…@host
    Family(
        "COMMAND_PASSWORD",
        ("sqlplus ", "oracle:thin:"),
        r"(?:sqlplus\s(?:-\w{1,8}\s){0,3}|oracle:thin:)[\"']?\w{1,40}/(?P<value>[^\s\"'`/@\0]{3,128})@",
        fold=True,
        accept=is_password,
    ),
    # --from-literal=password=…, --set db.password=…, --data-urlencode 'password=…'
    Family(
        "COMMAND_PASSWORD",
        ("--from-literal", "--set", "--build-arg", "--env", "--data-urlencode"),
        rf"--(?:from-literal|set(?:-string)?|build-arg|env|data-urlencode)[ =][\"']?[\w.-]{{0,60}}?{_NAME}={_VALUE}",
        fold=True,
        accept=_is_mixed,
    ),
    # in a Dockerfile
    Family("COMMAND_PASSWORD", ("ENV ",), rf"ENV[ \t]+\w{{0,40}}?(?i:{_NAME})[ \t]+{_VALUE}", accept=_is_mixed),
    # IDENTIFIED BY '…', SET PASSWORD FOR ada = '…'
    Family(
        "COMMAND_PASSWORD",
        ("identified ", "set password "),
        r"(?:identified\s(?:with\s[\"']?\w{1,40}[\"']?\s)?by\s(?:password\s)?"
        r"|set\spassword\s(?:for\s[^\n=;\0]{1,80})?=\s?(?:password\()?)[\"'](?P<value>[^\s\"'\0]{4,128})[\"']",
        fold=True,
        accept=is_password,
    ),
    Family(
        "COMMAND_PASSWORD",
        ("requirepass ", "masterauth ", "identify ", "enable secret", "enable password", "snmp-server community "),
        r"(?:requirepass|masterauth|(?<=nickserv )identify|(?<=/)identify"
        rf"|enable\s(?:secret|password)(?:\s\d)?|snmp-server\scommunity)\s{_VALUE}",
        fold=True,
        accept=_is_mixed,
    ),
    # of a wireless network, also in the form of its QR code
    Family(
        "COMMAND_PASSWORD",
        ("psk=", "psk:", 'psk"', "wifi:"),
        r"(?:(?<![a-z])psk[\"']?\s{0,2}[=:]\s{0,2}[\"']?|wifi:(?:[sth]:[^;\n\0]{0,64};){1,3}p:)(?P<value>[^\s\"'`;,()\0]{8,63})",
        fold=True,
        accept=is_chosen,
    ),
)
