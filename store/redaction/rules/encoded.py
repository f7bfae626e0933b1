"""Secrets in another encoding: percent-encoded as in addresses, or in Base64 as in manifests and headers.

Encoded text is decoded and matched against the same table. Of a percent-encoded text the exact places are cut; of
Base64 the whole run, as its letters do not map to single characters.
"""

from store.redaction.rules.family import Family

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable

# What makes a text worth decoding: prefixes of issuers, schemes of addresses, names of credentials.
_MARKS = (
    "AKIA ASIA ghp_ gho_ ghs_ ghu_ github_pat_ glpat- gldt- npm_ pypi-AgE xoxb- xoxp- xapp- xoxe sk-ant- sk-proj- "
    "sk_live_ rk_live_ sk_test_ whsec_ AIza ya29. GOCSPX- hf_ gsk_ pplx- xai- dop_v1_ shpat_ shpss_ SG. hvs. dckr_pat_ "
    "lin_api_ ntn_ sntrys_ glsa_ figd_ NRAK- PMAK- rubygems_ tskey- ATATT3 postgres:// postgresql:// mysql:// "
    "mongodb:// mongodb+srv:// redis:// amqp:// -----BEGIN password PASSWORD passwd _token _TOKEN secret SECRET "
    "api_key apiKey API_KEY apikey AccountKey= _PASS= PASSWD pass="
).split()
_FEWEST = 4
"""Letters of Base64 that a mark must determine, else they occur in most words."""

_percents: "list[re.Pattern[str]]" = []


def percent(copy: str) -> tuple[str, list[int]] | None:
    """Decode `%3A` and the like; return the text and, for each character and for the end, its offset in the original;
    None if there is none of them."""
    if not _percents:
        import re

        _percents.append(re.compile("%(?:0[9AD]|2[0-9A-F]|[3-6][0-9A-F]|7[0-9A-E])", re.IGNORECASE))
    parts: list[str] = []
    places: list[int] = []
    last = 0
    for match in _percents[0].finditer(copy):
        parts += (copy[last : match.start()], chr(int(match[0][1:], 16)))
        places.extend(range(last, match.start() + 1))
        last = match.end()
    if not last:
        return None
    parts.append(copy[last:])
    places.extend(range(last, len(copy) + 1))
    return "".join(parts), places


def _in_base64(mark: str) -> set[str]:
    """Return the Base64 of a mark at each of the three offsets in a group: the letters that hold no bit of the text
    around it."""
    import binascii

    looks = set()
    for before in range(3):
        coded = binascii.b2a_base64(bytes(before) + mark.encode(), newline=False).decode()
        fixed = coded[-(-8 * before // 6) : 8 * (before + len(mark)) // 6]
        if len(fixed) >= _FEWEST:
            looks.add(fixed)
    return looks


class _Base64(Family):
    """Runs of Base64, of either alphabet, in which the table finds something; `reads` applies the table."""

    __slots__ = ("reads",)

    reads: "Callable[[str], object]"

    def spans(self, copy: str, anchors: list[int]) -> list[tuple[int, int]]:
        spans = []
        waiting = iter(anchors)
        at = next(waiting, -1)
        for match in self.compiled().finditer(copy, max(0, anchors[0] - LONGEST)):
            while 0 <= at < match.start():
                at = next(waiting, -1)
            if at < 0:
                break
            if at < match.end() and (decoded := _decoded(match[0])) and self.reads(decoded):
                spans.append(match.span())
        return spans


LONGEST = 20_000
"""Letters of one run that are decoded together."""


def _decoded(run: str) -> str:
    """Return the text of a run of Base64; empty if it is not ASCII."""
    import binascii

    run = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        decoded = binascii.a2b_base64(run[: len(run) - (len(run) % 4 == 1)] + "=" * (-len(run) % 4))
    except binascii.Error:
        return ""
    text = decoded.decode("ascii", "replace")
    return text if text.isascii() else ""


BASE64 = _Base64(
    "ENCODED_SECRET",
    tuple(sorted(set().union(*map(_in_base64, _MARKS)))),
    rf"[A-Za-z0-9+/_-]{{16,{LONGEST}}}+={{0,2}}",
)
