"""Who may search: rules on the session that asks, so that a group does not read what one person said.

A session's key is what its agent calls it, parts with colons: `direct`, `discord:channel:7`, `telegram:direct:ana`.
"""

from collections.abc import Sequence

CHAT_TYPES = ("direct", "group", "channel")


def denied(session: str, rules: Sequence[str], default: str) -> str:
    """Why this session may not search, or an empty text if it may; a person at the screen has no session, and may.

    A rule is `allow` or `deny` and one condition, `chatType=` one of CHAT_TYPES or `keyPrefix=` how the key begins;
    the first that fits counts, else `default` (allow or deny). A rule that cannot be read denies what follows it: a
    typo opens nothing.
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
