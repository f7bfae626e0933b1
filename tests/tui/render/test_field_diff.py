"""The two states of a record beside each other, as a person would write them."""

import json

import pytest

from tui.render.field_diff import compare


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tags": ["importar", "csv"]}, "tags importar, csv"),
        ({"domain": "work", "pinned": True, "tags": []}, "domain work; pinned yes"),
        (
            {"decision": {"chosen": "CSV", "alternatives": ["Excel", "ODS"], "rationale": "", "impact": "high"}},
            "chosen CSV; alternatives Excel, ODS; impact high",
        ),
    ],
)
def test_what_a_proposal_would_set_is_written_in_words(change: dict[str, object], said: str) -> None:
    (line,) = compare({"change": json.dumps(change)}, None)
    assert line[1] == (f"− {said}", "removed")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("tags", ["importar", "csv"], "importar, csv"),
        ("alternatives", ["Excel"], "Excel"),
        ("evidence", [{"citation": "F#4", "quote": "one process"}], "F#4 “one process”"),
    ],
)
def test_a_list_is_written_with_commas(name: str, value: list[object], said: str) -> None:
    (line,) = compare(None, {name: json.dumps(value, ensure_ascii=False)})
    assert line[1] == (f"+ {said}", "added")
