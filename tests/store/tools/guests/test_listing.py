"""What other tools remember, by name and by words; hostile files are named, and harm nothing."""

import os
from pathlib import Path

from support.guests import GuestHome
from support.tables import refuses

from store.base.errors import InvalidInput, NotFound
from store.base.vocabulary import GUEST_TOOLS
from store.tools import guests
from store.tools.guests import filter_guest_texts


def troubles(home: GuestHome) -> dict[str, str]:
    return {os.path.basename(one.path): one.why for one in guests.list_guest_texts(home.machine).troubles}


def test_the_samples_of_four_tools(home: GuestHome) -> None:
    found = guests.list_guest_texts(home.machine)
    assert {one.tool for one in found.texts} == set(GUEST_TOOLS) and not found.troubles
    assert {one.tool for one in home.texts("engram")} == {"engram"}
    assert not [one for one in found.texts if "mejillon" in one.text and one.tool == "engram"]  # it is deleted
    refuses(InvalidInput, "Memories of mem0 cannot be edited in place", home.texts, "mem0")


def test_words_are_found_in_any_case_and_without_accents(home: GuestHome) -> None:
    found = filter_guest_texts(home.texts(), "ines COMMITS pequenos")
    assert {one.tool for one in found} == {"claude-code", "basic-memory", "openclaw", "engram"}
    assert filter_guest_texts(home.texts("openclaw"), "nothing like it") == []


def test_a_name_finds_its_text_until_that_changes(home: GuestHome) -> None:
    one = home.text("percebe", "openclaw")
    assert guests.find_guest_text(home.machine, one.short) == one
    home.correct(one, "The staging host is called navaja.")
    refuses(NotFound, "or it changed since", guests.find_guest_text, home.machine, one.short)
    for name in ("abc", "not a name", ""):
        refuses(InvalidInput, "no name of a text", guests.find_guest_text, home.machine, name)


def test_the_persons_own_instructions_are_not_told(home: GuestHome) -> None:
    (home.folder / ".claude" / "CLAUDE.md").write_text("- mine\n", encoding="utf-8")
    assert not [one for one in home.texts() if one.path.endswith("CLAUDE.md")]


def test_hostile_files_are_named_and_not_followed(home: GuestHome, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("Not a memory.\n", encoding="utf-8")
    many = len(home.texts())
    (home.claude / "link.md").symlink_to(outside)
    (home.claude / "loop").symlink_to(home.claude)
    os.mkfifo(home.claude / "pipe.md")
    with (home.claude / "large.md").open("wb") as file:
        file.truncate(1 << 30)
    (home.claude / "latin.md").write_bytes(b"caf\xe9\n")
    (home.claude / "binary.md").write_bytes(b"a\0b\n")
    (home.claude / "shut.md").write_text("Shut.\n", encoding="utf-8")
    assert troubles(home) == {
        "link.md": "symbolic links are not followed",
        "pipe.md": "it is not a plain file",
        "large.md": "it is longer than 16,000,000 bytes",
        "latin.md": "a part of it is not UTF-8",
        "binary.md": "it is binary, not text",
    }
    assert len(home.texts()) == many + 1
    home.age()
    home.correct(home.text("Shut."), "Open.")
    assert outside.read_text(encoding="utf-8") == "Not a memory.\n"
