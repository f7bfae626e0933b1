"""What keywords and vectors found, as candidates for the ranking."""

import json
from collections.abc import Mapping

from store.database.database import Database
from store.search.signals.fts import FullTextResult
from store.search.signals.ranking import Candidate, Passage
from store.text.small_talk import says_something


def candidates(database: Database, found: FullTextResult, cosines: Mapping[int, float]) -> list[Candidate]:
    """Return the records of all passages that keywords or vectors found, with the fields that ranking uses."""
    scores = found.scores
    rows = database.rows(
        "SELECT p.id, p.row, p.start, p.line, p.code, substr(c.text, p.start + 1, p.end - p.start), c.kind,"
        " c.title, coalesce(u.at, c.at), coalesce(t.session, d.path), coalesce(t.number, k.id, 0), c.evergreen,"
        " c.kind <> 'turn' OR t.role = 'user', length(c.text)"
        " FROM json_each(?) j CROSS JOIN passages p ON p.id = j.value JOIN corpus c ON c.id = p.row"
        " LEFT JOIN turns t ON c.kind = 'turn' AND t.id = c.record_id"
        " LEFT JOIN chunks k ON c.kind = 'document' AND k.id = c.record_id"
        " LEFT JOIN documents d ON d.id = k.document_id"
        " LEFT JOIN summaries s ON c.kind = 'summary' AND s.id = c.record_id"  # as old as what it sums up
        " LEFT JOIN turns u ON u.session = s.session AND u.number = s.last",
        (json.dumps(list(dict.fromkeys((*scores, *cosines)))),),
    )
    records: dict[int, Candidate] = {}
    for id, row, start, line, code, text, kind, title, at, session, place, evergreen, own, length in rows:
        says = says_something(text if kind == "turn" else f"{title} {text}")
        if not says and id not in scores:
            continue  # older versions gave it a vector
        cosine = cosines.get(id) if says else None
        tier = (id in found.verbatim) + (id in found.whole)
        one = Passage(id, text, scores.get(id, 0.0), cosine, start, line, bool(code), tier, says)
        if row in records:
            records[row].passages.append(one)
        else:
            records[row] = Candidate(row, kind, title, at, [one], session, place, evergreen, own, length)
    return list(records.values())
