"""What is told about people is found, masked, and cut only when a person says so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.secrets import PERSONAL
from support.tables import each

from store.memory import Memory
from store.purge.secret_scan import PERSONAL_DATA_SCANNER, scan_secrets, scrub_secrets
from store.redaction.personal_data import find_personal_data, mask_personal_value
from store.redaction.redactor import count_markers, find_secrets, replace_findings
from store.redaction.rules import PERSONAL_LABELS, load_labels


def test_there_are_examples_of_every_kind() -> None:
    assert set(PERSONAL) == set(PERSONAL_LABELS) and not set(PERSONAL_LABELS) & set(load_labels())


@each("kind, text", [(kind, text) for kind, (good, _) in PERSONAL.items() for text in good])
def test_what_is_told_of_a_person_is_found_and_is_no_secret(kind: str, text: str) -> None:
    for around in ("{}", "see {} there", "({}),", "it is {}."):
        said = around.format(text)
        assert [one.label for one in find_personal_data(said)] == [kind]
        assert find_secrets(said) == []
    value = text.split(maxsplit=1)[-1] if kind in ("DNI_AR", "PHONE") else text
    assert value not in mask_personal_value(kind, value) and len(mask_personal_value(kind, value)) < len(value)


@each("text", [text for _, bad in PERSONAL.values() for text in bad])
def test_a_wrong_check_digit_or_another_number_is_none(text: str) -> None:
    assert find_personal_data(f"see {text} there") == []


@given(
    st.text(st.sampled_from("09+-. @aZ()xy/")),
    st.sampled_from([text for good, _ in PERSONAL.values() for text in good]),
)
def test_what_was_cut_is_not_found_again(around: str, text: str) -> None:
    said = f"{around} {text} {around}"
    once = replace_findings(said, find_personal_data(said))
    assert find_personal_data(once) == []
    assert sum(count_markers(once).values()) == len(find_personal_data(said))


def test_a_memory_lists_them_and_cuts_them_only_when_told(memory: Memory) -> None:
    """By record, field and kind, masked; history, the journal and lists too; then no byte of them is left."""
    memory.facts.remember("Ada is ada.lovelace@math.org", tags=["people"], evidence=["her phone: +34 612 345 678"])
    memory.events.log("seen", payload={"who": ["ada.lovelace@math.org"], "number": 4111111111111111})
    assert scan_secrets(memory.database) == [] and "ada.lovelace" in memory.facts.get(1).fact
    leaks = scan_secrets(memory.database, PERSONAL_DATA_SCANNER)
    assert {(leak.citation, leak.field, leak.rule, leak.seq, *leak.masked) for leak in leaks} == {
        ("F#1", "fact", "EMAIL", 0, "a…@….org"),
        ("F#1", "evidence", "PHONE", 0, "…78"),
        ("F#1", "fact", "EMAIL", 1, "a…@….org"),
        ("F#1", "evidence", "PHONE", 1, "…78"),
        ("E#1", "payload", "EMAIL", 0, "a…@….org"),
    }
    assert scrub_secrets(memory.database, leaks, scanner=PERSONAL_DATA_SCANNER)
    assert scan_secrets(memory.database, PERSONAL_DATA_SCANNER) == []
    assert memory.facts.get(1).fact == "Ada is [REDACTED:EMAIL]"
    assert memory.facts.get(1).evidence == ("her phone: [REDACTED:PHONE]",)
    assert memory.events.get(1).payload == {"who": ["[REDACTED:EMAIL]"], "number": 4111111111111111}


@pytest.mark.parametrize(
    ("said", "kinds"),
    [
        ("pay ES9121000418450200051332 2 times", ["IBAN"]),
        ("ES91 2100 0418 4502 0005 1332 EUR", ["IBAN"]),
        ("DE89370400440532013000 GB33BUKB20201555555555", ["IBAN", "IBAN"]),
        ("card 4111111111111111 123", ["CARD"]),
        ("ES9221000418450200051332 2 times", []),
    ],
)
def test_the_word_after_a_number_is_no_part_of_it(said: str, kinds: list[str]) -> None:
    """It looked like one more group, whose check digits then were wrong."""
    assert [one.label for one in find_personal_data(said)] == kinds
