"""A file that is kept in sync: what a person changes in it is in the memory, what the memory learns is in it, and
nothing is lost on the way."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from conftest import Clock
from support.notebook import Notebook

from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.vocabulary import FILE_ORIGIN, PERSON_ORIGIN
from store.config.configuration import user_settings_path, write_setting
from store.context.selection import find_accepted_ids
from store.documents.files import Unreadable
from store.memory import Memory
from store.sync import sync

Remembered = Callable[[int], list[str]]


def section(notebook: Notebook) -> list[str]:
    """The lines between the marks that are not blank."""
    lines = [line for line in notebook.text.split("\n") if line.strip()]
    first, last = (at for at, line in enumerate(lines) if line.startswith("<!-- memoranda "))
    return lines[first + 1 : last]


# written


def test_nothing_is_written_until_a_person_asks_for_it(memory: Memory, tmp_path: Path) -> None:
    memory.facts.remember("The team is five")
    (tmp_path / "MEMORY.md").write_text("# Ours\n")
    assert memory.sync.list_due() == [] and memory.sync.sync_due() == []
    with pytest.raises(NotFound, match="not kept in sync"):
        memory.sync.sync_file()
    assert (tmp_path / "MEMORY.md").read_text() == "# Ours\n"


def test_facts_are_written_under_headings_by_domain_with_their_citations(notebook: Notebook) -> None:
    work = ["## Work", "- The team is five [F#1]", "- Deploys are on Fridays [F#3]"]
    assert section(notebook) == [*work, "## Preferences", "- Tea, not coffee [F#2]"]
    assert notebook.text.startswith("# Memory\n\n<!-- memoranda ")


def test_only_what_an_agent_may_be_sent_is_written(notebook: Notebook, clock: Clock) -> None:
    facts = notebook.memory.facts
    facts.remember("I guessed wrong", domain="self_correction")
    facts.remember("My doctor is Ana", domain="personal")
    facts.remember("An agent thinks so", actor="mcp:kiwi")
    notebook.memory.mutes.mute([2])
    notebook.sync()
    assert notebook.items == ["The team is five", "Deploys are on Fridays"]
    clock.advance(days=200)
    facts.confirm([3])
    notebook.sync()
    assert notebook.items == ["Deploys are on Fridays"], "the other one is stale"
    assert notebook.active().count("The team is five") == 1


def test_the_personal_memorys_file_has_what_is_personal(tmp_path: Path, clock: Clock) -> None:
    with Memory.open(str(tmp_path / "personal" / "memory.db"), "cli", clock) as memory:
        memory.facts.remember("My doctor is Ana", domain="personal")
        memory.sync.start_file()
        memory.sync.sync_file()
    assert "## Personal\n\n- My doctor is Ana [F#1]" in (tmp_path / "personal" / "MEMORY.md").read_text()


def test_a_sync_without_a_change_writes_nothing_and_is_not_due(notebook: Notebook) -> None:
    os.utime(notebook.path, (1_700_000_000, 1_700_000_000))
    notebook.sync()
    before, steps = notebook.path.stat(), notebook.memory.history.steps(limit=1)
    assert notebook.memory.sync.list_due() == []
    assert not notebook.sync().has_news
    assert notebook.path.stat().st_mtime_ns == before.st_mtime_ns
    assert notebook.memory.history.steps(limit=1) == steps


def test_what_the_memory_learns_is_due_and_written_and_the_persons_own_text_stays(notebook: Notebook) -> None:
    own = "# Shop\n\nHow we work.   \n\n"
    notebook.save(notebook.text.replace("# Memory\n\n", own) + "\n## Notes\n\n- mine\n")
    notebook.sync()
    notebook.memory.facts.remember("Invoices are in cents", domain="work")
    assert notebook.memory.sync.list_due() == ["MEMORY.md"]
    [report] = notebook.memory.sync.sync_due()
    assert report.written and report.step is None
    assert notebook.text.startswith(own) and notebook.text.endswith("end -->\n\n## Notes\n\n- mine\n")
    assert "- Invoices are in cents [F#4]\n" in notebook.text
    assert "mine" not in notebook.active()


def test_a_corrected_fact_takes_the_place_of_its_line_and_a_forgotten_one_leaves(notebook: Notebook) -> None:
    notebook.memory.facts.correct(1, "The team is six")
    notebook.memory.facts.forget([2])
    notebook.sync()
    assert section(notebook) == ["## Work", "- The team is six [F#4]", "- Deploys are on Fridays [F#3]"]


def test_the_section_is_not_searched_twice(notebook: Notebook) -> None:
    notebook.save(notebook.text + "\nA line of my own about coffee.\n")
    notebook.sync()
    notebook.memory.documents.update_index()
    chunks = notebook.memory.database.rows("SELECT first, text FROM chunks")
    assert "coffee" in "".join(text for _, text in chunks) and "Tea" not in "".join(text for _, text in chunks)
    whole = notebook.text.split("\n")
    assert all(text.split("\n")[0] == whole[first - 1] for first, text in chunks), "the numbers of lines are the file's"


# read


def test_an_edit_an_addition_and_a_deletion_are_one_step_that_undo_takes_back(notebook: Notebook) -> None:
    lunch = ("- Tea, not coffee [F#2]\n", "- Lunch is at one\n")
    report = notebook.edit(("The team is five", "The team is seven"), lunch)
    assert notebook.active() == ["Deploys are on Fridays", "The team is seven", "Lunch is at one"]
    assert (report.corrected, report.added, report.forgotten) == ([(1, 4)], [5], [2])
    lunch = notebook.memory.facts.get(5)
    assert (lunch.origin, lunch.domain) == (FILE_ORIGIN, "preferences")
    step = notebook.memory.history.get(report.step or 0)
    assert (step.actor, step.reason) == (FILE_ORIGIN, "sync add F#5, correct F#1 F#4, forget F#2")
    notebook.memory.history.undo(report.step)
    assert sorted(notebook.active()) == ["Deploys are on Fridays", "Tea, not coffee", "The team is five"]
    notebook.sync()
    assert sorted(notebook.items) == sorted(notebook.active()), "and the file follows"


def test_what_an_editor_wrote_holds_and_no_agent_is_sent_it_until_it_is_accepted(notebook: Notebook) -> None:
    notebook.edit(("The team is five", "The team is seven"))
    fact = notebook.memory.facts.get(4)
    assert fact.status == "active" and not find_accepted_ids(notebook.memory.database, [fact])
    assert "F#4" not in notebook.memory.context("How large is the team?").text
    assert notebook.waiting() == [("confirm", "The team is seven")]
    notebook.memory.inbox.accept(1)
    assert find_accepted_ids(notebook.memory.database, [fact])
    assert "F#4" in notebook.memory.context("How large is the team?").text
    assert not notebook.sync().step and notebook.items[0] == "The team is seven"


def test_what_is_rejected_is_taken_out_and_what_it_replaced_is_back(notebook: Notebook) -> None:
    notebook.edit(("The team is five", "The team is seven\n- Lunch is at one"))
    assert sorted(notebook.waiting()) == [("confirm", "Lunch is at one"), ("confirm", "The team is seven")]
    notebook.memory.inbox.reject([1, 2])
    assert sorted(notebook.active()) == ["Deploys are on Fridays", "Tea, not coffee", "The team is five"]
    notebook.sync()
    assert sorted(notebook.items) == sorted(notebook.active())
    notebook.memory.history.undo()
    assert "The team is seven" in notebook.active(), "a rejection is undone like any other"


def test_reordering_wrapping_and_other_bullets_change_nothing(notebook: Notebook) -> None:
    moved = "* Deploys are on Fridays [F#3]\n1. The\n   team is five [F#1]"
    notebook.edit(("- Deploys are on Fridays [F#3]\n", ""), ("- The team is five [F#1]", moved))
    assert notebook.last.step is None
    assert notebook.items == ["Deploys are on Fridays", "The team is five", "Tea, not coffee"], "the order stays"


def test_a_line_under_another_heading_is_of_that_domain_or_tag(notebook: Notebook) -> None:
    notebook.edit(("- Deploys are on Fridays [F#3]\n", ""), ("- Tea", "- Deploys are on Fridays [F#3]\n- Tea"))
    assert notebook.memory.facts.get(3).domain == "preferences"
    assert notebook.last.moved == [3] and len(notebook.active()) == 3
    notebook.edit(("## Preferences", "## Night shift\n\n- Nobody deploys\n\n## Preferences"))
    fact = notebook.memory.facts.get(4)
    assert (fact.domain, fact.tags) == ("general", ("Night-shift",))


def test_a_line_that_lost_its_citation_is_still_that_fact(notebook: Notebook) -> None:
    notebook.edit((" [F#1]", ""), ("Deploys are on Fridays [F#3]", "Deploys are on Friday mornings"))
    assert notebook.last.corrected == [(3, 4)] and not notebook.last.added
    assert "- The team is five [F#1]" in notebook.text


def test_an_older_line_without_its_citation_is_still_that_fact(notebook: Notebook) -> None:
    old = notebook.text.replace(" [F#1]", "")
    notebook.memory.facts.correct(1, "Seven of us work on it since March")
    notebook.sync()
    notebook.save(old)
    notebook.sync()
    assert notebook.last.step is None and not notebook.waiting()
    assert "Seven of us work on it since March" in notebook.items and "The team is five" not in notebook.items


def test_a_new_line_that_resembles_one_without_its_citation_is_a_new_fact(notebook: Notebook) -> None:
    notebook.edit(("- The team is five [F#1]", "- The team is five\n- The team is fine"))
    assert notebook.last.corrected == [] and len(notebook.last.added) == 1
    assert {"The team is five", "The team is fine"} <= set(notebook.active())


def test_a_fact_of_several_lines_is_one_item(notebook: Notebook) -> None:
    text = "How to release:\n\n```\nmake release\n```"
    notebook.memory.facts.remember(text)
    notebook.sync()
    notebook.edit(("  make release\n", "  make all release\n"))
    assert notebook.active()[-1] == text.replace("make", "make all")


def test_neither_the_end_of_an_address_nor_of_a_text_is_taken_for_a_citation(notebook: Notebook) -> None:
    notebook.edit(("- Tea, not", "- Search at https://example.org/?q=[F#1]\n- Tea, not"))
    assert notebook.active()[-1] == "Search at https://example.org/?q=[F#1]"
    assert notebook.memory.facts.get(1).status == "active" and notebook.last.corrected == []
    notebook.memory.facts.remember("Read the rule of deploys first, [F#3]", domain="work")
    notebook.sync()
    notebook.edit((" [F#3] [F#5]", " [F#3]"))
    assert notebook.last.step is None and "[F#3] [F#5]" in notebook.text


def test_a_copied_line_is_a_new_fact_if_its_words_differ_and_the_same_fact_if_not(notebook: Notebook) -> None:
    line = "- The team is five [F#1]\n"
    notebook.edit((line, f"{line}- The team in Lyon is five [F#1]\n{line}"))
    assert notebook.active()[-1] == "The team in Lyon is five" and notebook.last.corrected == []
    assert notebook.items.count("The team is five") == 1


def test_a_citation_of_a_fact_that_is_not_in_the_file_changes_nothing_of_it(notebook: Notebook) -> None:
    notebook.memory.facts.remember("My doctor is Ana", domain="personal")
    notebook.edit(("- Tea, not", "- Ignore the doctor [F#4]\n- Tea, not"))
    assert notebook.memory.facts.get(4).status == "active"
    assert (notebook.memory.facts.get(5).fact, notebook.memory.facts.get(5).supersedes) == ("Ignore the doctor", None)


def test_what_is_no_fact_is_kept_below_the_section(notebook: Notebook) -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    notebook.edit(("- Tea, not coffee [F#2]\n", f"- Tea, not coffee [F#2]\n\n{table}\n\n```\n- no item\n```\n"))
    assert notebook.last.step is None and notebook.last.others == 6
    after = notebook.text.partition("end -->\n")[2]
    assert table in after and "```\n- no item\n```" in after


def test_many_deletions_at_once_are_asked_about(notebook: Notebook, remembered: Remembered) -> None:
    texts = remembered(6)
    notebook.save("\n".join(line for line in notebook.text.split("\n") if "Rule" not in line))
    notebook.sync()
    assert set(texts) <= set(notebook.active()) and notebook.waiting() == [("forget", text) for text in texts]
    notebook.sync()
    assert len(notebook.waiting()) == 6 and len(notebook.items) == 3, "the lines stay out while it waits"
    notebook.memory.inbox.accept(1)
    notebook.memory.inbox.reject([2])
    notebook.sync()
    assert texts[0] not in notebook.active()
    assert [text for text in texts if text in notebook.items] == [texts[1]], "what was rejected is written again"
    notebook.edit((f"- {texts[1]} [F#5]\n", ""))
    assert texts[1] not in notebook.active(), "and can be deleted by itself"


def test_sync_review_asks_about_everything(notebook: Notebook) -> None:
    write_setting(user_settings_path(), "sync.review", "true")
    with Memory.open(notebook.memory.database.path, "cli", notebook.memory.database.clock) as memory:
        book = Notebook(memory)
        book.edit(("The team is five", "The team is six"), ("- Tea, not coffee [F#2]\n", "- New\n"))
        assert sorted(book.active()) == ["Deploys are on Fridays", "Tea, not coffee", "The team is five"]
        asked = [("add", "New"), ("correct", "The team is six"), ("forget", "Tea, not coffee")]
        assert sorted(book.waiting()) == asked
        assert "The team is six [F#1]" in book.text and "- New\n" in book.text, "the lines stay as they were written"
        book.sync()
        assert len(book.waiting()) == 3
        for one in book.memory.inbox.waiting():
            book.memory.inbox.accept(one.id)
        book.sync()
        assert sorted(book.items) == sorted(book.active()) == ["Deploys are on Fridays", "New", "The team is six"]
        assert not book.waiting()


def test_what_both_changed_waits_with_both_texts(notebook: Notebook) -> None:
    notebook.memory.facts.correct(1, "The team is six")
    notebook.edit(("The team is five", "The team is seven"))
    [proposal] = notebook.memory.inbox.waiting()
    assert (proposal.kind, proposal.text, proposal.target) == ("conflict", "The team is seven", 4)
    assert "The team is six" in notebook.active() and "The team is seven [F#1]" in notebook.text
    notebook.memory.inbox.accept(proposal.id)
    notebook.sync()
    assert "The team is seven" in notebook.active() and "The team is six" not in notebook.active()
    assert "The team is seven [F#5]" in notebook.text


def test_a_conflict_that_is_rejected_writes_what_the_memory_says(notebook: Notebook) -> None:
    notebook.memory.facts.correct(1, "The team is six")
    notebook.edit(("The team is five", "The team is seven"))
    notebook.memory.inbox.reject([1])
    notebook.sync()
    assert "The team is six" in notebook.items and "The team is seven" not in notebook.items
    assert not notebook.waiting()


def test_a_line_that_was_deleted_here_and_changed_there_waits(notebook: Notebook) -> None:
    notebook.memory.facts.correct(1, "The team is six")
    notebook.memory.facts.forget([2])
    notebook.edit(("- The team is five [F#1]\n", ""), ("Tea, not coffee", "Green tea"))
    assert sorted(notebook.waiting()) == [("add", "Green tea"), ("forget", "The team is six")]
    assert "The team is six" in notebook.active() and "- Green tea [F#2]" in notebook.text
    notebook.sync()
    assert len(notebook.waiting()) == 2


def test_an_editor_that_saves_an_older_version_takes_nothing_back(notebook: Notebook) -> None:
    old = notebook.text
    notebook.memory.facts.remember("Invoices are in cents", domain="work")
    notebook.memory.facts.correct(2, "Coffee, not tea")
    notebook.sync()
    notebook.save(old.replace("The team is five", "The team is six"))
    notebook.sync()
    held = ["Coffee, not tea", "Deploys are on Fridays", "Invoices are in cents", "The team is six"]
    assert sorted(notebook.active()) == held
    assert sorted(notebook.items) == sorted(notebook.active())
    notebook.save(old.replace("The team is five", "The team is sixteen"))  # it never read the file again
    notebook.sync()
    assert "The team is sixteen" in notebook.active() and "The team is six" not in notebook.active()
    assert not [kind for kind, _ in notebook.waiting() if kind == "conflict"]


def test_a_secret_is_proposed_cut_and_not_rewritten(notebook: Notebook) -> None:
    secret = "AKIAQ7RM3XKD2WUZ5VTN"
    notebook.edit(("- Tea", f"- The key is {secret}\n- Tea"))
    [proposal] = notebook.memory.inbox.waiting()
    assert proposal.kind == "add" and secret not in proposal.text and "secret" in proposal.reason
    assert f"- The key is {secret}\n" in notebook.text


def test_a_purged_text_does_not_come_back(notebook: Notebook) -> None:
    purge = notebook.memory.purge
    purge.run_plan(purge.plan([("fact", 2)]))
    notebook.sync()
    assert "Tea" not in notebook.text
    notebook.edit(("## Work", "## Work\n\n- Tea, not coffee"))
    [(number, why)] = notebook.last.left
    assert "purged" in why and notebook.text.split("\n")[number - 1] == "- Tea, not coffee"
    assert "Tea, not coffee" not in notebook.active()


# the person's editor


def test_what_is_written_in_our_editor_is_the_persons_own_word(notebook: Notebook) -> None:
    before = notebook.path.read_bytes()
    after = before.replace(b"The team is five", b"The team is six") + b"\nAsk me before you delete.\n"
    report = notebook.memory.sync.sync_edited("MEMORY.md", before, after)
    fact = notebook.memory.facts.get(4)
    assert (fact.origin, fact.source, fact.confidence) == (PERSON_ORIGIN, "explicit", "high")
    assert notebook.waiting() == []
    assert "- The team is six [F#4]" in notebook.text and notebook.text.endswith("Ask me before you delete.\n")
    assert notebook.memory.sync.waiting()[1] == []
    assert notebook.memory.history.undo().seq == report.step, "`u` takes it back"


def test_an_edit_is_merged_with_what_was_changed_meanwhile(notebook: Notebook) -> None:
    before = notebook.path.read_bytes()
    notebook.save(notebook.text.replace("Tea, not coffee", "Green tea"))
    notebook.memory.sync.sync_edited("MEMORY.md", before, before.replace(b"The team is five", b"The team is six"))
    assert sorted(notebook.active()) == ["Deploys are on Fridays", "Green tea", "The team is six"]
    assert [notebook.memory.facts.get(number).origin for number in (4, 5)] == [FILE_ORIGIN, PERSON_ORIGIN]
    assert sorted(notebook.items) == sorted(notebook.active())


def test_an_edit_outside_of_the_section_that_another_made_too_is_refused(notebook: Notebook) -> None:
    before = notebook.path.read_bytes()
    notebook.save(notebook.text + "theirs\n")
    with pytest.raises(Conflict, match="outside of its section"):
        notebook.memory.sync.sync_edited("MEMORY.md", before, before + b"mine\n")
    assert notebook.text.endswith("theirs\n") and "mine" not in notebook.text


def test_accepting_a_file_accepts_its_facts_and_its_text(notebook: Notebook) -> None:
    notebook.save(notebook.text.replace("- Tea", "- Lunch is at one\n- Tea") + "\nAsk before you delete.\n")
    notebook.sync()
    proposals, lines = notebook.memory.sync.waiting()
    assert ([one.text for one in proposals], lines) == (["Lunch is at one"], ["Ask before you delete."])
    notebook.memory.sync.accept("MEMORY.md", [one.id for one in proposals], lines)
    assert notebook.memory.sync.waiting() == ([], [])
    assert find_accepted_ids(notebook.memory.database, [notebook.memory.facts.get(4)])
    notebook.save(notebook.text.replace("Ask before you", "Never"))
    assert notebook.memory.sync.waiting()[1] == ["Never delete."], "what was changed since is not"


# files that are not as they should be


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_line_ends_and_a_byte_order_mark_stay(notebook: Notebook, newline: str, bom: str) -> None:
    text = notebook.text.replace("The team is five", "The team is six").replace("\n", newline)
    notebook.save(bom + text)
    notebook.memory.facts.remember("Invoices are in cents")
    notebook.sync()
    raw = notebook.path.read_bytes().decode()
    assert raw.startswith(f"{bom}# Memory{newline}") and f"- Invoices are in cents [F#4]{newline}" in raw
    assert raw.count("\n") == raw.count(newline) and "The team is six" in notebook.active()


CONFLICT = ["<<<<<<< HEAD", "- mine", "=======", "- theirs", ">>>>>>> branch"]


def damaged(text: str, how: str) -> bytes:
    lines = text.split("\n")
    begin = next(at for at, line in enumerate(lines) if line.startswith("<!-- memoranda "))
    end = next(at for at, line in enumerate(lines) if "end -->" in line)
    if how == "conflict":
        lines[begin + 2 : begin + 2] = CONFLICT
    elif how == "conflict in code":
        lines[begin + 2 : begin + 2] = ["- Run:", "```", *CONFLICT, "```"]
    elif how == "conflict in open code":
        lines += ["```", *CONFLICT]
    elif how == "no end":
        del lines[end]
    elif how == "no begin":
        del lines[begin]
    elif how == "twice":
        lines += lines[begin : end + 1]
    elif how == "latin":
        return "\n".join(lines).replace("Tea", "Té").encode("latin-1")
    return "\n".join(lines).encode()


def test_an_example_of_a_conflict_in_code_is_no_conflict(notebook: Notebook) -> None:
    example = "\n".join(["```sh", *CONFLICT, "```", ""])
    text = notebook.text.replace("The team is five", "The team is six")
    notebook.save(f"# How to merge\n\n{example}\n{text}\n{example}")
    notebook.sync()
    assert "The team is six" in notebook.active() and notebook.text.count(example) == 2


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("conflict", "conflict markers of git from line 5 to line 9"),
        ("conflict in code", "conflict markers of git from line 7 to line 11"),
        ("conflict in open code", "conflict markers of git from line 17 to line 21"),
        ("no end", "line 3 begins it"),
        ("no begin", "line 13 ends it"),
        ("twice", "begins or ends more or less than once"),
        ("latin", "not UTF-8"),
    ],
)
def test_a_damaged_file_is_left_as_it_is_and_nothing_is_forgotten(notebook: Notebook, how: str, says: str) -> None:
    raw = damaged(notebook.text, how)
    notebook.path.write_bytes(raw)
    notebook.memory.facts.remember("Invoices are in cents")
    before = notebook.active()
    with pytest.raises((InvalidInput, Conflict), match=says) as error:
        notebook.sync()
    assert "MEMORY.md" in error.value.message and "Nothing was changed." in error.value.next
    [report] = notebook.memory.sync.sync_due()
    assert says in report.problem == notebook.memory.sync.files()[0].problem
    assert notebook.memory.sync.list_due() == [], "it is said once"
    assert notebook.path.read_bytes() == raw and notebook.active() == before


@pytest.mark.parametrize("left", [None, b"", b"# Ours\n"])
def test_a_file_that_is_gone_or_empty_forgets_nothing(notebook: Notebook, left: bytes | None) -> None:
    before = notebook.active()
    if left is None:
        notebook.path.unlink()
    else:
        notebook.path.write_bytes(left)
    [report] = notebook.memory.sync.sync_due()
    assert "nothing was forgotten" in report.problem == notebook.memory.sync.files()[0].problem
    assert (notebook.path.read_bytes() if left is not None else None) == left, "and it is not made by itself"
    notebook.sync()
    assert notebook.active() == before and sorted(notebook.items) == sorted(before)
    assert notebook.text.startswith((left or b"").decode()) and notebook.memory.sync.files()[0].problem == ""


def test_a_link_and_a_protected_file_are_refused(notebook: Notebook, tmp_path: Path) -> None:
    notebook.path.chmod(0o444)
    notebook.memory.facts.remember("Invoices are in cents")
    with pytest.raises(Unreadable, match="write-protected"):
        notebook.sync()
    target = tmp_path / "elsewhere"
    os.replace(notebook.path, target)
    before = target.read_bytes()
    notebook.path.symlink_to(target)
    with pytest.raises(Unreadable, match=r"MEMORY\.md: symbolic links are not followed"):
        notebook.sync()
    assert target.read_bytes() == before


def test_a_section_of_another_memory_is_only_text(notebook: Notebook, tmp_path: Path, clock: Clock) -> None:
    with Memory.open(str(tmp_path / "other" / ".memoranda" / "memory.db"), "cli", clock) as memory:
        other = Notebook(memory)
        other.path.write_text(notebook.text)
        memory.facts.remember("Ours alone")
        memory.sync.start_file()
        other.sync()
        assert other.active() == ["Ours alone"] and other.text.startswith(notebook.text)
        other.edit(("The team is five", "The team is nine"))
        assert other.active() == ["Ours alone"]


@pytest.mark.parametrize("name", ["../MEMORY.md", "/tmp/x.md", ".hidden.md", "notes.txt", "a//b.md", "docs/.x/y.md"])
def test_only_markdown_inside_of_the_project_can_be_synced(memory: Memory, name: str) -> None:
    with pytest.raises(InvalidInput, match="Only a Markdown file inside"):
        memory.sync.start_file(name)


def test_several_files_are_kept_and_one_can_be_let_go(notebook: Notebook) -> None:
    notebook.memory.sync.start_file("AGENTS.md")
    notebook.memory.sync.sync_file("AGENTS.md")
    agents = notebook.path.with_name("AGENTS.md")
    agents.write_text(agents.read_text().replace("The team is five", "The team is six"))
    assert notebook.memory.sync.list_due() == ["AGENTS.md"]
    notebook.memory.sync.sync_due()
    notebook.memory.sync.sync_due()
    assert "The team is six" in notebook.text, "what one file says is in the other"
    notebook.memory.sync.stop_file("AGENTS.md")
    notebook.memory.facts.remember("Invoices are in cents")
    notebook.memory.sync.sync_due()
    assert "cents" in notebook.text and "cents" not in agents.read_text()
    assert [file.path for file in notebook.memory.sync.files()] == ["MEMORY.md"]


def test_too_many_lines_are_refused(notebook: Notebook) -> None:
    many = "".join(f"- line {number}\n" for number in range(2_001))
    raw = notebook.text.replace("- Tea", f"{many}- Tea")
    notebook.path.write_text(raw)
    with pytest.raises(InvalidInput, match="has 2,004 lines, and at most 2,000 are synced"):
        notebook.sync()
    assert notebook.text == raw and len(notebook.active()) == 3


def test_a_run_cut_anywhere_is_repeated_to_the_same_end(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped before each of its transactions and before the file is written, as by a power cut."""
    from store.database.database import Database
    from store.documents import files

    changes = (("The team is five", "The team is six"), ("- Tea, not coffee [F#2]\n", "- Lunch is at one\n"))
    text = notebook.text
    for old, new in changes:
        text = text.replace(old, new)

    class Cut(Exception):
        pass

    for stop in range(1, 9):
        notebook.save(text)
        notebook.memory.facts.remember(f"Learned meanwhile {stop}")
        left = stop
        with monkeypatch.context() as patched:
            for owner, name in ((Database, "write"), (files, "replace_file")):
                real = getattr(owner, name)

                def act(*words: object, real: Callable[..., object] = real) -> object:
                    nonlocal left
                    left -= 1
                    if not left:
                        raise Cut
                    return real(*words)

                patched.setattr(owner, name, act)
            try:
                notebook.sync()
            except Cut:
                pass
        notebook.sync()
        expected = ["Deploys are on Fridays", "The team is six", "Lunch is at one"]
        expected += [f"Learned meanwhile {number}" for number in range(1, stop + 1)]
        assert sorted(notebook.active()) == sorted(expected) == sorted(notebook.items)
        assert not [kind for kind, _ in notebook.waiting() if kind != "confirm"]


def test_a_version_of_another_run_is_not_written_twice(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process noted what version 2 will say, and has not written the file yet."""
    real = sync.format_section
    notebook.memory.facts.remember("Learned before")

    def meanwhile(items: Iterable[tuple[str, str, int | None]]) -> list[str]:
        monkeypatch.setattr(sync, "format_section", real)
        with Memory.open(notebook.memory.database.path, "app", notebook.memory.database.clock) as other:
            [file] = other.sync.files()
            with other.database.write(FILE_ORIGIN, "sync") as write:
                sync.note_section_version(write, file.id, 2, {1: b"another text"})
        return real(items)

    monkeypatch.setattr(sync, "format_section", meanwhile)
    notebook.sync()
    [file] = notebook.memory.sync.files()
    assert file.version == 3 and f" {file.version}: " in notebook.text
    assert notebook.memory.sync.sync_file().step is None and sorted(notebook.items) == sorted(notebook.active())


@pytest.mark.parametrize("lines", [10, 11])
def test_a_checkpoint_is_taken_before_many_changes_of_a_file(notebook: Notebook, lines: int) -> None:
    added = "\n".join(f"- Rule {number} of the house" for number in range(lines))
    notebook.edit(("- The team is five [F#1]", f"{added}\n- The team is five [F#1]"))
    taken = [one.name for one in notebook.memory.checkpoints.list_newest_first()]
    assert taken == (["before: sync MEMORY.md"] if lines > 10 else [])
    assert len(notebook.active()) == 3 + lines
    assert notebook.memory.history.undo(notebook.last.step) and len(notebook.active()) == 3
