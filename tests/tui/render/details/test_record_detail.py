"""A record in full, as text: what the preview and `memoranda show` say of each kind."""

import re
from pathlib import Path

import pytest
from support.stories import NOON, Story, copy

from store.base.citations import parse_citation
from store.base.models import Record
from store.history.restore_plan import rewind_to_step
from store.memory import Memory
from store.search.lookup import get_record
from tui.render.details import MOST_BELONGING, describe_record, plain_lines
from tui.render.lines import record_time, summarize_record

FULL = Path(__file__).with_name("record_details.txt").read_text("utf-8").split("----\n\n")


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return copy(tmp_path_factory.mktemp("describe") / "billing-api")


def said(memory: Memory, citation: str) -> list[str]:
    return plain_lines(describe_record(memory, _record(memory, citation)))


def _record(memory: Memory, citation: str) -> Record:
    return get_record(memory.database, parse_citation(citation))


@pytest.mark.parametrize("text", FULL, ids=lambda text: text.partition(" ")[0])
def test_a_record_in_full(story: Story, text: str) -> None:
    with story.open() as memory:
        assert "\n".join(said(memory, text.partition(" ")[0])) == text.rstrip("\n")


def test_what_a_fact_rests_on_and_that_it_is_forgotten(story: Story) -> None:
    with story.open() as memory:
        assert "Evidence     [D#1]" in said(memory, "F#12")
        first, *_, forgot, remembered = said(memory, "F#13")
        assert first == "F#13  fact · general · ✕ forgotten"
        assert (forgot, remembered) == ("  29 d  forget F#13 F#14  you, cli", "  30 d  remember F#13     you, cli")


def test_a_chain_of_corrections_is_seen_from_each_of_its_links(story: Story) -> None:
    with story.open() as memory:
        for here, mark in (("F#3", 0), ("F#4", 1), ("F#5", 2)):
            lines = said(memory, here)
            at = lines.index("What it said over time")
            assert at <= 3, "below its text: a low preview shows it too"
            chain = lines[at + 1 : at + 4]
            assert all(re.search(r"  \w+, from \d+ \w+ \d{4}$", line) for line in chain)
            assert [line[2:].split()[0] for line in chain] == ["F#3", "F#4", "F#5"]
            assert [line.startswith("▸") for line in chain] == [index == mark for index in range(3)]


def test_a_decision_and_the_one_it_gave_way_to(story: Story) -> None:
    with story.open() as memory:
        old, new = said(memory, "D#2"), said(memory, "D#3")
        assert old[0].endswith(" · replaced") and "Replaced by  D#3" in old
        assert any(line.startswith(f"Reverted     {_cited(story, 'memory')}  ") for line in old)
        assert "Replaces     D#2" in new and "Replaced by" not in "".join(new)
        assert said(memory, "D#5")[0] == "D#5  decision · low · forgotten"


def test_a_commit_that_history_lost(story: Story, tmp_path: Path) -> None:
    lost = copy(tmp_path / "lost")
    with lost.open() as memory:
        memory.database.connection.execute("UPDATE commits SET reachable = 0 WHERE sha = ?", (lost.shas["cache"],))
        gone = "Gone         no branch leads to this commit any more; it is kept here"
        assert gone in said(memory, f"C#{lost.shas['cache']}")


def test_lines_that_end_as_on_windows_end_without_a_mark(memory: Memory) -> None:
    """commander.js has such commits. A return inside of a line is shown: it would overwrite what stands there."""
    memory.commits.log("a" * 40, message="Subject\r\n\r\none\r\ntwo\rthree\r\nfour", author="Ana")
    lines = describe_record(memory, _record(memory, "C#aaaaaaa"))
    shown = ["".join(text for text, _ in line).strip(" ") for line in lines]
    assert "one" in shown and "four" in shown and "two\rthree" in shown


def test_what_an_event_and_an_iteration_leave_out(story: Story) -> None:
    with story.open() as memory:
        assert "{" not in said(memory, "E#2"), "it carries nothing"
        lines = said(memory, "I#2")
        tasks = ["A#1  write the migration  done", "A#2  probar el redondeo  in progress", "A#3  ask for a logo  open"]
        assert lines[-4:] == ["Tasks", *(f"  {task}" for task in tasks)]
        assert not any(line.startswith("Ended") for line in lines)


def test_a_task_that_moved_later_says_when(story: Story, tmp_path: Path) -> None:
    moved = copy(tmp_path / "moved")
    with moved.open() as memory:
        memory.tasks.move(3, "done")
        assert "Changed      21 Nov 2026 12:00 (just now)" in said(memory, "A#3")
        assert not any(line.startswith("Changed") for line in said(memory, "A#2"))


def test_an_iteration_of_much_shows_the_first_and_counts_the_rest(tmp_path: Path) -> None:
    with Memory.open(str(tmp_path / "m" / "memory.db")) as memory:
        memory.iterations.start_iteration("feature", "many things")
        for number in range(MOST_BELONGING + 2):
            memory.tasks.add_task(f"task number {number}")
        lines = said(memory, "I#1")
        assert lines[-2:] == [f"  A#{MOST_BELONGING}  task number {MOST_BELONGING - 1}  open", "  … and 2 more"]


def test_a_checkpoint(story: Story) -> None:
    with story.open() as memory:
        lines = said(memory, "K#1")
        assert lines[:3] == ["K#1  checkpoint", "before refactor", "20 Nov 2026 00:00 (1 d ago)"]
        assert "Taken        by a person" in lines
        assert lines[-1] == "R, or :restore K#1, shows what going back would change"
        changed = len(rewind_to_step(memory.database, memory.checkpoints.get(1).seq))
        assert f"Since then   {changed} records changed" in lines


def test_the_time_of_day_is_the_persons(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    with story.open() as memory:
        assert said(memory, "D#1")[2] == "18 Nov 2026 18:36 (3 d ago)"


def test_summary_and_moment_of_every_kind(story: Story) -> None:
    with story.open() as memory:
        expected = {
            "F#6": ("Uses Jenkins for the nightly build", "work"),
            "D#1": ("Use SQLite, not PostgreSQL", "high"),
            "D#2": ("Cache in Redis", "replaced"),
            f"C#{story.shas['memory']}": ("fix: keep the cache in memory", "+2 −1"),
            "E#1": ("Phase completed: architecture", ""),
            "I#2": ("fix: redondeo de céntimos", "active"),
            "A#2": ("probar el redondeo", "in progress"),
            "K#1": ("checkpoint “before refactor”", ""),
        }
        for citation, words in expected.items():
            record = _record(memory, citation)
            assert summarize_record(record) == words
            assert "2026-07-01" < record_time(record) < NOON


def _cited(story: Story, name: str) -> str:
    return f"C#{story.shas[name][:7]}"


def test_no_line_of_a_text_passes_for_one_of_ours(story: Story) -> None:
    """What a stranger wrote below the first line is indented: `Said by` at the edge is ours alone."""
    forged = "harmless\nSaid by      user, explicit, confidence high"
    with story.open() as memory:
        number, _ = memory.facts.remember(forged, actor="import:web")
        memory.commits.log("ab" * 20, message=forged)
        for citation in (f"F#{number}", "C#abababab"):
            rows = [line for line in said(memory, citation) if line.startswith("Said by")]
            assert rows == (["Said by      import:web, explicit, confidence high"] if citation[0] == "F" else [])
