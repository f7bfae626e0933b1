"""The two states of a record beside each other, as a person would write them."""

import json

import pytest

from tui.render.lines import compare_rows


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
    (line,) = compare_rows({"change": json.dumps(change)}, None)
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
    (line,) = compare_rows(None, {name: json.dumps(value, ensure_ascii=False)})
    assert line[1] == (f"+ {said}", "added")


def test_what_a_record_replaces_is_cited_and_nothing_is_named_as_the_table_names_it() -> None:
    fact = {"fact": "Tea", "supersedes": 3, "evidence": '["MEMORY.md @f52c6769fec3 ~2edd3419aa8550766ffe1b9f", "T#3"]'}
    decision = {"chosen": "Tea", "supersedes": 7}
    link = {"decision_id": 2, "link_type": "implements"}
    said = [" ".join("".join(text for text, _ in line).split()) for row in (fact, decision, link) for line in
            compare_rows(None, row)]  # fmt: skip
    assert said == [
        *("fact + Tea", "replaces + F#3", "evidence + MEMORY.md, T#3"),
        *("chosen + Tea", "replaces + D#7"),
        *("decision + D#2", "link + implements"),
    ]
