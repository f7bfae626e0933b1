"""What is shown has no secret, and what is written has no cut."""

import pytest
from support.tables import refuses

from store.base.errors import InvalidInput
from store.tools.guests import cut_secrets, restore_secrets

KEY, OTHER = "AKIAQ7RM3XKD2WUZ5VTN", "AKIAQ7RM3XKD2WUZ5VTQ"
CUT = "[REDACTED:AWS_KEY]"


def test_what_is_shown_is_cut() -> None:
    text = f"Backups go to faro, key {KEY}, region west."
    assert cut_secrets(text) == f"Backups go to faro, key {CUT}, region west."


@pytest.mark.parametrize(
    ("text", "typed", "written"),
    [
        (f"key {KEY}, region west.", f"Copies, with the key {CUT}.", f"Copies, with the key {KEY}."),
        (f"The key is {KEY}.", "The key is in the vault.", "The key is in the vault."),
        (f"The key is {KEY}.", f"Its key is {KEY}.", f"Its key is {KEY}."),
        (f"old {KEY} and new {OTHER}", f"new {CUT}", f"new {OTHER}"),
        (f"old {KEY} and new {OTHER}", f"the old {CUT}; the new {CUT}", f"the old {KEY}; the new {OTHER}"),
        (f"It was {CUT} once, {KEY} now", f"was {CUT} once, {CUT} now.", f"was {CUT} once, {KEY} now."),
    ],
    ids=["other words around it", "left out", "typed whole", "of two the second", "of two both", "cut in the file"],
)
def test_a_cut_stands_for_its_own_secret(text: str, typed: str, written: str) -> None:
    assert restore_secrets(text, typed) == written


def test_a_cut_of_which_it_is_not_clear_what_it_is_is_refused() -> None:
    both, one = f"old {KEY} and new {OTHER}", f"The key is {KEY}."
    thrice = f"{CUT} and {CUT} and {CUT}"
    for text, typed in ((both, f"new {CUT} and old {CUT}"), ("No secret here.", f"Now {CUT}."), (one, thrice)):
        refuses(InvalidInput, "not clear", restore_secrets, text, typed)


def test_a_new_secret_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"holds a secret \(AWS_KEY\)"):
        restore_secrets("The key is in the vault.", f"The key is {KEY}.")
