"""The families of secrets, one record each, in the order of seed 000 ("Patrones detectados"): specific before generic.

Writing a record:

- `keywords` are plain substrings, one of which stands where the pattern begins: the text is searched for them first,
  and the pattern is tried only there (so it says its own left edge with a lookbehind).
- What is already cut, or was a marker to begin with, is masked with NUL: a negated class must leave NUL out.
- A named group is what is cut; without one the whole match is.
- Bodies are greedy or possessive, and end where no letter or digit follows, so that no cut makes room for the next.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable

MASK = "\0"


class Family:
    """A label and how its secrets look. The pattern is compiled at the first text that holds one of the keywords.

    `needs`: one more substring, anywhere, without which the keywords are not looked for (words as common as "redis").
    `fold`: keywords (lower case) and pattern ignore case. `accept`: a last word on a match, False for a placeholder.
    """

    __slots__ = ("_compiled", "accept", "fold", "keywords", "label", "needs", "pattern")

    def __init__(
        self,
        label: str,
        keywords: tuple[str, ...],
        pattern: str,
        *,
        needs: str = "",
        fold: bool = False,
        accept: "Callable[[re.Match[str], str], bool] | None" = None,
    ) -> None:
        self.label = label
        self.keywords = keywords
        self.pattern = pattern
        self.needs = needs
        self.fold = fold
        self.accept = accept
        self._compiled: re.Pattern[str] | None = None

    def compiled(self) -> "re.Pattern[str]":
        """The pattern; `\\w` and case mean ASCII, since the text has been through NFKC."""
        if self._compiled is None:
            import re

            self._compiled = re.compile(self.pattern, re.ASCII | (re.IGNORECASE if self.fold else re.NOFLAG))
        return self._compiled


# --- Placeholders ---

# Only templates and stars: what stands for a password in a connection string that was written to be copied.
_TEMPLATE = (
    r"<[^<>]*>|\$\{[^{}]*\}|\$\([^()]*\)|\$[A-Z_][A-Z0-9_]*|\{\{?[^{}]*\}?\}|%\([^()]*\)s|%[a-z]|%[A-Z_]+%"
    r"|(?:[xX]{3,}|[*.\u2022_]+|[-xX*]{3,})"
)
# Parts of a value that a program fills in: what is left without them has to be a secret by itself.
_HOLE = r"<[^<>]*>|\$\{[^{}]*\}|\{\{[^{}]*\}\}|%\([^()]*\)s"
_SAMPLE = (
    r"[<\[{(]?(?:change.?(?:me|it|this)|(?:your|insert|replace|enter|put)[-_ .]|example|sample"
    r"|your(?:api|app|auth|access|client|key|pass|secret|token)|placeholder|dummy|fake|todo\b|fixme\b|redacted"
    r"|(?:none|null|nil|undefined|false|true)$|os\.environ|os\.getenv|process\.env|getenv\(|env[.(\[:])"
)
# "access_token", "db-password", "API KEY": the value names a credential and is none.
_NAMING = (
    r"(?:(?:a|the|my|new|old|next|prev|input|output|page|api|app|aws|client|csrf|db|user|admin|role|root|session"
    r"|master|private|public|login|refresh|access|auth|authorization|basic|bearer|secret|token|key|id|name|field|type"
    r"|pass(?:word|wd|phrase|code)?|pwd|credentials?|value|here)[-_ ./:]?){1,8}"
)
_LONGEST_NAMING = 64
_SHORTEST_VALUE = 8
_SHORTEST_BARE_VALUE = 16

_placeholders: "list[re.Pattern[str]]" = []


def _rules() -> "list[re.Pattern[str]]":
    if not _placeholders:
        import re

        any_case = re.IGNORECASE | re.ASCII
        _placeholders.append(re.compile(_TEMPLATE, re.ASCII))
        _placeholders.append(re.compile(_HOLE, re.ASCII))
        _placeholders.append(re.compile(_SAMPLE, any_case))
        _placeholders.append(re.compile(_NAMING, any_case))
    return _placeholders


def is_template(value: str) -> bool:
    """Whether the whole value is a hole to be filled: `${PASS}`, `<password>`, `%s`, `****`, `xxxx`."""
    return _rules()[0].fullmatch(value) is not None


def is_credential(value: str) -> bool:
    """Whether a value given to a credential's name is one: 8 characters or more, and no placeholder."""
    value = value.strip()
    if len(value) < _SHORTEST_VALUE or value.count(value[0]) == len(value):
        return False
    template, hole, sample, naming = _rules()
    if template.fullmatch(value) or sample.match(value) or "example" in value.lower():
        return False
    if len(hole.sub("", value)) < _SHORTEST_VALUE:
        return False
    return not (len(value) <= _LONGEST_NAMING and naming.fullmatch(value))


def _has_password(match: "re.Match[str]", value: str) -> bool:
    return not is_template(match[1])


def _is_assigned(match: "re.Match[str]", value: str) -> bool:
    if match.lastgroup != "bare":
        return is_credential(value)
    # Without quotes only ENV style counts, API_KEY=…: a lower-case name is an argument or an attribute in most code.
    return (
        match[1].isupper()
        and len(value) >= _SHORTEST_BARE_VALUE
        and any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and is_credential(value)
    )


# --- Names of credentials ---

_KEY_OF = ("api", "app", "auth", "access", "account", "encryption", "master", "private", "secret", "session", "signing")
# Each lookbehind has its own width, which is why they stand one by one.
_KEY = "key(?:" + "|".join(f"(?<={word}key)|(?<={word}[-_ ]key)" for word in _KEY_OF) + ")"
_NAME = rf"((?:(?<![a-z])pass|pass(?:word|wd|phrase|code)|pwd|secret|token|credentials?|contrase(?:ñ|n)a|{_KEY}))"
_NAME_WORDS = ("pass", "pwd", "secret", "token", "credential", "contrase", "key")
_NAME_END = r"(?:[-_]?\d{1,2})?"

_name: "list[re.Pattern[str]]" = []


def names_credential(name: str) -> bool:
    """Whether a key of a mapping is one of the names of the assignment rule: `password`, `apiKey`, `client_secret`."""
    low = name.lower()
    if not any(word in low for word in _NAME_WORDS):
        return False
    if not _name:
        import re

        _name.append(re.compile(_NAME + _NAME_END + r"\s*$", re.IGNORECASE | re.ASCII))
    return _name[0].search(name) is not None


# The end of the text closes a quote as well: previews and hook payloads are often cut short. A raw string (r"…") is
# a regular expression, as in a lexer's `token = r'\w+'`.
_QUOTED = (
    r"""[bBfFuU@$]{0,2}(?:"""
    r""""(?:"")?(?P<double>(?:[^"\\\n]++|\\.?)*+)(?:"|\Z)"""
    r"""|'(?:'')?(?P<single>(?:[^'\\\n]++|\\.?)*+)(?:'|\Z)"""
    r"""|`(?P<back>[^`\n]*+)(?:`|\Z)"""
    r"""|\\+"(?P<escaped>(?:[^"\\\n]++|\\++(?!"))*+)(?:\\+"|\Z)"""
    r"""|\\+'(?P<escaped_single>(?:[^'\\\n]++|\\++(?!'))*+)(?:\\+'|\Z))"""
)
_ASSIGNMENT = (
    _NAME + _NAME_END + r"""(?:=(?P<bare>[\w+/.~-]{16,}+={0,2}+)(?![(\[])"""
    r"""|(?:\\*["'`]\]?)?"""
    # password: str = "…", token: &str = "…"
    r"""(?:[ \t]{0,4}:[ \t]{0,4}&?[A-Za-z_][\w.]{0,40}(?:\[[\w., |]{0,40}\])?(?=[ \t]{0,4}=))?"""
    r"""[ \t]{0,16}(?:=>|:=|={1,3}|:)[ \t]{0,16}""" + _QUOTED + ")"
)

# --- The table ---

_LEFT = r"(?<![A-Za-z0-9])"  # risk-…, MSG.…: the prefix is part of a word

FAMILIES: tuple[Family, ...] = (
    Family("AWS_KEY", ("AKIA",), _LEFT + r"AKIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Family("ANTHROPIC_KEY", ("sk-ant-",), _LEFT + r"sk-ant-[\w-]{20,}"),
    # A dash in the body only after a known prefix or 20 letters and digits: sk-fading-circle-spinner is a CSS class.
    Family("SK_KEY", ("sk-",), _LEFT + r"sk-(?:(?:proj|svcacct|admin|None|or-v1)-[\w-]{20,}|[A-Za-z0-9]{20,}+[\w-]*)"),
    Family("GITHUB_TOKEN", ("ghp_", "github_pat_"), _LEFT + r"(?:ghp_[A-Za-z0-9]{36,}|github_pat_\w{20,})"),
    Family("SLACK_TOKEN", ("xox",), _LEFT + r"xox[bpsa]-[A-Za-z0-9-]{10,}"),
    Family("GOOGLE_KEY", ("AIza",), _LEFT + r"AIza[\w-]{35,}"),
    Family("SENDGRID_KEY", ("SG.",), _LEFT + r"SG\.[\w-]{22,}+\.[\w-]{22,}"),
    # Through the END line, or to the end: half a key is still a key. The dot is any character, so that markers and
    # newlines written as \n are inside as well.
    Family(
        "PRIVATE_KEY",
        ("-----BEGIN ",),
        r"-----BEGIN [A-Z0-9 ]{0,64}PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z0-9 ]{0,64}PRIVATE KEY-----|\Z)",
    ),
    # The left edge is base64url's whole alphabet, else eyJ-eyJ-eyJ-… would be read to its end from each eyJ. Five
    # segments are an encrypted one (JWE).
    Family(
        "JWT",
        ("eyJ",),
        r"(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{4,}+\.[\w-]{8,}+(?:\.[\w-]{8,}+\.[\w-]{16,}+)?",
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
    # \/ is how some JSON writers put a slash.
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
    Family("HARDCODED_CREDENTIAL", _NAME_WORDS, _ASSIGNMENT, fold=True, accept=_is_assigned),
)

ASSIGNMENT_LABEL = FAMILIES[-1].label
