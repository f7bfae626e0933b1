"""Each change is shown, backed up, done to what was shown alone, and taken back by an undo."""

import os
from pathlib import Path

import pytest
from support.guests import GuestHome
from support.tables import refuses

from store.base.errors import Conflict, InvalidInput, NotFound
from store.documents import files as atomic_write
from store.purge import file_eraser as guarded
from store.purge.word_search import PurgedTexts
from store.tools import guard_moments, guests
from store.tools.guard_database import open_guard

KEY = "AKIAQ7RM3XKD2WUZ5VTN"


def changed(home: GuestHome, before: dict[str, bytes]) -> set[str]:
    after = home.files()
    return {os.path.basename(path) for path in before | after if before.get(path) != after.get(path)}


@pytest.mark.parametrize("tool", ["claude-code", "basic-memory", "openclaw"])
def test_a_correction_and_its_undo(home: GuestHome, tool: str) -> None:
    before = home.files()
    one = home.text("Inés prefiere commits", tool)
    plan = guests.plan_guest_correction(home.occasion, one, "Inés prefiere commits grandes.")
    assert home.files() == before
    [file] = plan.files
    assert "commits grandes" in next(line.text for line in file.difference if line.sign == "+")
    home.run(plan)
    assert changed(home, before) == {os.path.basename(one.path)}
    assert home.text("commits grandes", tool).text == "Inés prefiere commits grandes."
    home.undo()
    assert home.files() == before
    refuses(NotFound, "all of it was undone", home.undo)


def test_a_deletion_takes_the_line_of_the_index_along_and_the_undo_brings_both_back(home: GuestHome) -> None:
    before = home.files()
    home.delete(home.text("To rebuild the almanac", "claude-code"))
    assert changed(home, before) == {"runbook.md", "MEMORY.md"}
    assert not (home.claude / "runbook.md").exists()
    index = (home.claude / "MEMORY.md").read_bytes()
    assert b"runbook.md" not in index and index.count(b"\n") == 7
    home.undo()
    assert home.files() == before


def test_undo_takes_back_one_change_after_the_other(home: GuestHome) -> None:
    before = home.files()
    home.correct(home.text("percebe", "openclaw"), "The staging host is called navaja.")
    home.delete(home.text("navaja", "openclaw"))
    home.undo()
    assert home.text("navaja", "openclaw")
    home.undo()
    assert home.files() == before


def test_an_undo_of_a_file_that_changed_again_is_refused(home: GuestHome) -> None:
    home.correct(home.text("percebe", "openclaw"), "The staging host is called navaja.")
    path = home.openclaw / "MEMORY.md"
    path.write_bytes(path.read_bytes() + b"- written since\n")
    home.age()
    with pytest.raises(Conflict, match="changed again after M#1; nothing was undone") as error:
        home.undo()
    assert "memoranda files restore M#1" in error.value.next
    assert home.text("written since")


def test_another_text_of_the_file_may_have_changed_since_it_was_listed(home: GuestHome) -> None:
    one = home.text("percebe", "openclaw")
    path = home.openclaw / "MEMORY.md"
    path.write_bytes(b"- written since\n" + path.read_bytes())
    home.age()
    home.correct(one, "The staging host is called navaja.")
    assert path.read_bytes().startswith(b"- written since\n") and b"percebe" not in path.read_bytes()


def test_a_text_that_changed_since_is_refused(home: GuestHome) -> None:
    one = home.text("percebe", "openclaw")
    path = home.openclaw / "MEMORY.md"
    path.write_bytes(path.read_bytes().replace(b"percebe", b"almeja"))
    home.age()
    before = home.files()
    refuses(Conflict, "the text changed since it was shown", home.correct, one, "Other.")
    path.unlink()
    refuses(Conflict, "it is gone", home.correct, one, "Other.")
    assert changed(home, before) == {"MEMORY.md"}


def test_a_file_that_changes_between_showing_and_doing_is_refused(home: GuestHome) -> None:
    plan = guests.plan_guest_correction(home.occasion, home.text("percebe", "openclaw"), "Other.")
    path = home.openclaw / "MEMORY.md"
    path.write_bytes(path.read_bytes() + b"- theirs\n")
    home.age()
    refuses(Conflict, "it changed since it was shown", home.run, plan)
    assert path.read_bytes().endswith(b"- theirs\n") and b"percebe" in path.read_bytes()


def test_a_file_that_was_just_written_is_left_to_its_tool(home: GuestHome) -> None:
    one = home.text("percebe", "openclaw")
    plan = guests.plan_guest_correction(home.occasion, one, "Other.")
    os.utime(one.path, (home.now / 1000 + 59, home.now / 1000 + 59))
    refuses(Conflict, "less than 2 seconds ago", home.run, plan)
    plan = guests.plan_guest_correction(home.occasion, home.text("percebe", "engram"), "Other.")
    os.utime(home.engram, (home.now / 1000 + 60, home.now / 1000 + 60))
    refuses(Conflict, "less than 2 seconds ago", home.run, plan)


def test_a_program_that_saves_during_the_swap_keeps_its_bytes(home: GuestHome, monkeypatch: pytest.MonkeyPatch) -> None:
    one = home.text("percebe", "openclaw")
    path, exchange = Path(one.path), atomic_write._exchange_names

    def late(folder: int, part: str, name: str) -> bool:
        monkeypatch.setattr(atomic_write, "_exchange_names", exchange)
        path.write_bytes(b"- saved by its tool\n")
        return exchange(folder, part, name)

    monkeypatch.setattr(atomic_write, "_exchange_names", late)
    refuses(Conflict, "it was changed meanwhile", home.correct, one, "Other.")
    assert path.read_bytes() == b"- saved by its tool\n"


def test_a_folder_that_became_a_link_is_refused(home: GuestHome, tmp_path: Path) -> None:
    plan = guests.plan_guest_deletion(home.occasion, home.text("To rebuild", "claude-code"))
    home.claude.rename(tmp_path / "elsewhere")
    home.claude.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Conflict):
        home.run(plan)
    assert (tmp_path / "elsewhere" / "runbook.md").exists()


def test_a_cut_is_never_written(home: GuestHome) -> None:
    one = home.text("Backups of the tide archive", "openclaw")
    home.correct(one, "Copies go to the bucket faro-mareas with access key [REDACTED:AWS_KEY].")
    raw = (home.openclaw / "MEMORY.md").read_text(encoding="utf-8")
    assert f"Copies go to the bucket faro-mareas with access key {KEY}." in raw and "REDACTED" not in raw


def test_what_is_no_correction_is_refused(home: GuestHome) -> None:
    one = home.text("percebe", "openclaw")
    refused = {"  ": "no text", one.text: "what it says", f"key {KEY}": "holds a secret"}
    for text, why in {**refused, **dict.fromkeys(("a\x1b[2Jb", "a\udcffb"), "control characters")}.items():
        refuses(InvalidInput, why, home.correct, one, text)


def test_each_change_is_a_moment_of_the_guard_and_no_restore(home: GuestHome) -> None:
    home.correct(home.text("percebe", "openclaw"), "The staging host is called navaja.")
    with open_guard() as kept:
        [moment] = guard_moments.recent_moments(kept, 9)
        edit = (guard_moments.TEXT_EDIT, "openclaw", {"rewritten": 1})
        assert (moment.restores, moment.tool, moment.effect_counts) == edit
        refuses(NotFound, "Nothing was put back", guard_moments.find_last_restore, kept)


def test_a_purge_reaches_the_backups(home: GuestHome) -> None:
    home.correct(home.text("percebe", "openclaw"), "The staging host is called navaja.")
    home.correct(home.text("percebe", "engram"), "The staging host is called navaja.")
    for one in home.texts():
        if "percebe" in one.text:
            home.delete(one)
    words = PurgedTexts(["percebe"])
    found = guarded.find_guard_matches(words)
    assert {os.path.basename(place.key) for place in found} >= {"MEMORY.md", "engram.db"}
    assert guarded.cut_from_guard(found, words) == {}
    assert guarded.find_guard_matches(words) == []
    with pytest.raises(NotFound, match="erased"):
        for _ in range(9):
            home.undo()


def test_a_text_that_was_purged_here_can_be_corrected_there(home: GuestHome) -> None:
    """What is kept has the words no more; the file has, and its correction is what is missing."""
    home.correct(home.text("percebe", "openclaw"), "The staging host is called nécora.")
    words = PurgedTexts(["nécora"])
    assert guarded.cut_from_guard(guarded.find_guard_matches(words), words) == {}
    home.correct(home.text("nécora", "openclaw"), "The staging host is called navaja.")
    assert "nécora".encode() not in (home.openclaw / "MEMORY.md").read_bytes()
