"""The effect of a purge on proposals that are kept: remove digests of purged texts, and close those that are empty."""

import json
from collections.abc import Collection, Iterable

from store.base.citations import cite
from store.database.database import Transaction
from store.database.values import Verbatim
from store.database.writing.change_capture import PURGED

DIGESTS = ("asked", "based_on")  # columns of a proposal that only show whether a text was this one


def about(write: Transaction, facts: Collection[int]) -> set[str]:
    """Return the keys of the proposals about these facts."""
    cited = [cite("fact", number) for number in facts]
    rows = write.rows(
        "SELECT json_array(id) FROM proposals WHERE target IN (SELECT value FROM json_each(?1))"
        " OR EXISTS (SELECT 1 FROM json_each(others) WHERE value IN (SELECT value FROM json_each(?2)))",
        (Verbatim(json.dumps(list(facts))), Verbatim(json.dumps(cited))),
    )
    return {key for (key,) in rows}


def drop_digests(write: Transaction, keys: Collection[str]) -> None:
    """Remove the digests, of their own texts and of the facts that they are about, from proposals and their history."""
    among = "IN (SELECT value FROM json_each(?))"
    chosen = (Verbatim(json.dumps(sorted(keys))),)
    gone = ", ".join(f"{name} = ''" for name in DIGESTS)
    write.rewrite(f"UPDATE proposals SET {gone} WHERE json_array(id) {among}", chosen)
    blank = ", ".join(f"'$.{name}', ''" for name in DIGESTS)
    write.rewrite(
        f"UPDATE history_row SET before = json_replace(before, {blank}), after = json_replace(after, {blank}),"
        f" salt = NULL, purged = max(purged, 2) WHERE tbl = 'proposals' AND pk {among}",
        chosen,
    )


def close_emptied(write: Transaction, keys: Iterable[str]) -> None:
    """Mark those of these proposals that are empty as rejected, so that nobody has to decide them."""
    for key in sorted(keys):
        write.execute(
            "UPDATE proposals SET state = 'rejected', decided_at = ?1"
            " WHERE id = ?2 AND state = 'waiting' AND trim(text, ' .!;,') = ?3",
            (Verbatim(write.at), json.loads(key)[0], Verbatim(PURGED)),
        )
