"""JSON with comments is changed by hand: what is not the change stays byte for byte."""

import json
from typing import Any

import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tables import each

from store.doors import config_edit as jsonc

COMMENTED = """{
    // what the person likes
    "theme": "dark", /* and not
    light */
    "mcpServers": {
        "other": {"command": "x"} // keep me
    },
    "last": [1, 2],
}
"""
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def test_a_member_is_added_behind_the_last_and_the_rest_stays() -> None:
    new = jsonc.set_jsonc_value(COMMENTED, ("mcpServers", "memoranda"), {"command": "m"})
    added = ',\n        "memoranda": {\n            "command": "m"\n        }'
    assert new == COMMENTED.replace('{"command": "x"} // keep me', f'{{"command": "x"}}{added} // keep me')
    assert jsonc.remove_jsonc_member(new, ("mcpServers", "memoranda")) == COMMENTED


def test_objects_on_the_way_are_made() -> None:
    new = jsonc.set_jsonc_value(COMMENTED, ("projects", "/a b/ñ", "x"), 1)
    assert jsonc.parse_jsonc(new) == {**jsonc.parse_jsonc(COMMENTED), "projects": {"/a b/ñ": {"x": 1}}}
    assert "// what the person likes" in new
    assert jsonc.remove_jsonc_member(new, ("projects",)) == COMMENTED


@pytest.mark.parametrize(
    "text", ["", "{}", "{}\n", '{"a": 1}', '{"a":1}\n', '{\n\t"a": 1\n}\n', '{\r\n  "a": 1\r\n}\r\n']
)
def test_what_was_added_is_taken_out_again(text: str) -> None:
    new = jsonc.set_jsonc_value(text, ("b",), {"c": [1]})
    assert jsonc.parse_jsonc(new) == {**(jsonc.parse_jsonc(text) if text else {}), "b": {"c": [1]}}
    assert ("\r\n" in new) == ("\r\n" in text)
    back = jsonc.remove_jsonc_member(new, ("b",))
    assert back == (text or "{}")


def test_an_element_goes_to_the_end_of_an_array() -> None:
    text = '{"hooks": {"Stop": [\n  {"a": 1}\n]}}'
    new = jsonc.append_jsonc_value(text, ("hooks", "Stop"), {"b": 2})
    assert jsonc.parse_jsonc(new)["hooks"]["Stop"] == [{"a": 1}, {"b": 2}]
    assert jsonc.remove_jsonc_member(new, ("hooks", "Stop"), 1) == text


@each(
    "text, why",
    [
        ('{"a": }', "line 1: a value is missing"),
        ('{\n"a" 1}', "line 2: a colon is missing"),
        ('{"a": 1 "b": 2}', "line 1: a comma is missing"),
        ('{"a": nul}', "line 1: “nul” is not a value"),
        ('{"a": "x}', "line 1: a text has no end"),
        ("{} x", "line 1: something follows the end"),
        ("/* x", "line 1: a comment has no end"),
        ("[" * 300, "line 1: it is too deep"),
        ("{a: 1}", "line 1: a name in quotes is missing"),
    ],
)
def test_what_is_no_json_is_said_by_its_line(text: str, why: str) -> None:
    with pytest.raises(jsonc.NotJson) as caught:
        jsonc.parse_jsonc(text)
    assert str(caught.value) == why


@settings(max_examples=examples(50), deadline=None)
@given(
    st.dictionaries(st.text(max_size=3), values, max_size=4),
    st.lists(st.text(max_size=3), min_size=1, max_size=3),
    values,
    st.sampled_from([None, 2, "\t"]),
)
def test_a_change_is_that_change_and_no_other(
    start: dict[str, Any], path: list[str], value: Any, indent: int | str | None
) -> None:
    text = json.dumps(start, indent=indent, ensure_ascii=False)
    wanted = json.loads(text)
    at = wanted
    for step in path[:-1]:
        at = at.setdefault(step, {})
        if not isinstance(at, dict):
            with pytest.raises(jsonc.NotJson):
                jsonc.set_jsonc_value(text, path, value)
            return
    known = path[-1] in at
    at[path[-1]] = value
    new = jsonc.set_jsonc_value(text, path, value)
    assert jsonc.parse_jsonc(new) == wanted
    if not known:
        del at[path[-1]]
        assert jsonc.parse_jsonc(jsonc.remove_jsonc_member(new, path)) == wanted


@settings(max_examples=examples(100), deadline=None)
@given(st.text(alphabet='{}[]":,/*\\ \n1ab', max_size=30))
def test_no_text_breaks_the_scanner(text: str) -> None:
    try:
        jsonc.parse_jsonc(text)
    except jsonc.NotJson:
        pass
    try:
        assert json.loads(text) == jsonc.parse_jsonc(text)
    except ValueError:
        pass
