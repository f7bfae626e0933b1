"""A record in one line."""

import pytest

from store.base.models import Event
from tui.render.lines import summarize_record

AT = "2026-11-21T12:00:00.000Z"


@pytest.mark.parametrize(
    "type_, phase, said",
    [
        ("gate_passed", "architecture", "Gate passed: architecture"),
        ("phase_completed", "", "Phase completed"),
        ("deployed", "feature_flags", "Deployed: feature flags"),
        ("OOM kill", "", "OOM kill"),
    ],
)
def test_an_event_is_said_in_words(type_: str, phase: str, said: str) -> None:
    assert summarize_record(Event(1, None, type_, phase, None, AT, "agent")) == (said, "")
