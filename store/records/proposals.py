"""Read proposals. Changes to them are in the inbox."""

import json
from collections.abc import Sequence
from typing import Any

from store.base.citations import parse_citation
from store.base.models import Proposal, Quote
from store.database.database import Database

PROPOSAL_COLUMNS = (
    "id, kind, text, change, target, others, based_on, evidence, reason, origin, state, created_at, decided_at, made"
)


def get_proposals(database: Database, numbers: Sequence[int]) -> list[Proposal]:
    """Return the proposals of these ids that exist, in this order."""
    rows = database.rows(
        f"SELECT {PROPOSAL_COLUMNS} FROM proposals WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(numbers)),),
    )
    by_id = {row[0]: _proposal_of_row(row) for row in rows}
    return [by_id[number] for number in numbers if number in by_id]


def proposal_fact_ids(proposal: Proposal) -> list[int]:
    """Return the ids of the facts that a proposal is about, its target first."""
    others = [int(parse_citation(one).target) for one in proposal.others]
    return others if proposal.target is None else [proposal.target, *others]


def _proposal_of_row(row: Sequence[Any]) -> Proposal:
    """Return a proposal from its row of PROPOSAL_COLUMNS."""
    number, kind, text, change, target, others, based_on, evidence, *rest = row
    quotes = tuple(Quote(one["citation"], one["quote"]) for one in json.loads(evidence))
    return Proposal(
        number, kind, text, json.loads(change), target, tuple(json.loads(others)), based_on, quotes, *rest
    )
