"""What is shown has no secret, and what is written has no cut."""

import pytest

from store.base.errors import InvalidInput
from store.guests.changing import cut_secrets, restore_secrets

KEY, OTHER = "AKIAQ7RM3XKD2WUZ5VTN", "AKIAQ7RM3XKD2WUZ5VTQ"
CUT = "[REDACTED:AWS_KEY]"


def test_other_words_around_a_cut_keep_the_secret() -> None:
    text = f"Backups go to faro, key {KEY}, region west."
    assert cut_secrets(text) == f"Backups go to faro, key {CUT}, region west."
    assert (
        restore_secrets(text, f"Copies go to luarca, with the key {CUT}.")
        == f"Copies go to luarca, with the key {KEY}."
    )


def test_a_cut_that_is_left_out_takes_the_secret_away() -> None:
    assert restore_secrets(f"The key is {KEY}.", "The key is in the vault.") == "The key is in the vault."


def test_each_of_several_cuts_is_its_own_secret() -> None:
    text = f"old {KEY} and new {OTHER}"
    assert restore_secrets(text, f"new {CUT}") == f"new {OTHER}"
    assert restore_secrets(text, f"the old {CUT}; the new {CUT}") == f"the old {KEY}; the new {OTHER}"


def test_a_cut_of_which_it_is_not_clear_what_it_is_is_refused() -> None:
    text = f"old {KEY} and new {OTHER}"
    with pytest.raises(InvalidInput, match="not clear"):
        restore_secrets(text, f"new {CUT} and old {CUT}")
    with pytest.raises(InvalidInput, match="not clear"):
        restore_secrets("No secret here.", f"Now {CUT}.")
    with pytest.raises(InvalidInput, match="not clear"):
        restore_secrets(f"The key is {KEY}.", f"{CUT} and {CUT} and {CUT}")


def test_a_cut_that_the_file_itself_has_stays() -> None:
    assert (
        restore_secrets(f"It was {CUT} once, {KEY} now", f"was {CUT} once, {CUT} now.") == f"was {CUT} once, {KEY} now."
    )


def test_a_new_secret_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"holds a secret \(AWS_KEY\)"):
        restore_secrets("The key is in the vault.", f"The key is {KEY}.")
    assert restore_secrets(f"The key is {KEY}.", f"Its key is {KEY}.") == f"Its key is {KEY}."
