"""Which sessions may search, so that a group chat cannot read what a person said in private.

A session's key is the name that its agent gives it, parts joined by colons: `direct`, `discord:channel:7`,
`telegram:direct:ana`.
"""

from collections.abc import Sequence

CHAT_TYPES = ("direct", "group", "channel")


def denied(session: str, rules: Sequence[str], default: str) -> str:
    """Return why this session may not search, or an empty text if it may. An empty `session` is a person at the screen,
    who may.

    A rule is `allow` or `deny` and one condition: `chatType=` one of CHAT_TYPES, or `keyPrefix=` the beginning of the
    key. The first rule that matches decides, else `default` (allow or deny). A rule that cannot be read denies, so that
    a typo grants nothing.
    """
    if not session:
        return ""
    for number, rule in enumerate(rules, start=1):
        action, _, condition = rule.strip().partition(" ")
        name, _, value = condition.strip().partition("=")
        if action not in ("allow", "deny") or name not in ("chatType", "keyPrefix") or not value:
            return f"rule {number} of search.scopeRules cannot be read"
        fits = value in session.split(":") if name == "chatType" else session.startswith(value)
        if fits:
            return "" if action == "allow" else f"rule {number} of search.scopeRules denies it: {rule.strip()}"
    return "" if default == "allow" else "no rule of search.scopeRules allows it, and search.scope is deny"
