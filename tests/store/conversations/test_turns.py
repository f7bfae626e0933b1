"""Turns, their window and how they go on; sessions that are flushed, cleared or break off; summaries, written once."""

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from support.embedding_models import nano
from support.older import begun
from support.ours import ours
from support.secrets import word

from store.base.clock import from_ms, to_ms
from store.base.errors import NotFound, StorageError
from store.base.models import Turn, format_summary_line
from store.config.configuration import user_settings_path, write_setting
from store.conversations import sessions as session_snapshot
from store.conversations.sessions import Sessions
from store.conversations.summaries import (
    MOST_ACTIVE,
    SUMMARY_TOKENS,
    Summaries,
    SummaryFields,
    fit_summary,
    summarize_by_rule,
)
from store.conversations.turns import (
    MAX_WINDOW_TURNS,
    MIN_WINDOW_TURNS,
    WINDOW_TOKENS,
    WINDOW_TURNS,
    NewTurn,
    window_size,
)
from store.embedding import indexer as turn_stats
from store.embedding.vectors import Vectors
from store.memory import Memory
from store.purge.registry import list_store_files as files_of
from store.text import words as token_count
from store.upkeep import maintenance, session_flush

STRIPE = "sk" + "_live_" + word(24)


def talk(memory: Memory, session: str = "s", many: int = 12, about: str = "question") -> list[int]:
    """Question and answer, in turn."""
    return memory.turns.add_turns(
        session, [NewTurn(("user", "assistant")[n % 2], f"{about} number {n}") for n in range(many)]
    )


def link(memory: Memory, session: str, values: Sequence[float | None]) -> None:
    """What the model would say of the last turns."""
    last = memory.turns.last_turns(session, len(values))
    with memory.database.write("agent", "test") as write:
        for turn, value in zip(last, values, strict=True):
            write.execute("UPDATE turns SET continuity = ? WHERE id = ?", (value, turn.id))


def embed(memory: Memory) -> None:
    model = nano()
    turn_stats.count_turn_tokens(memory.database, model, lambda: False)
    assert Vectors(memory.database).embed_queue(model, lambda *told: None, lambda: False, print) is not None


# the window -----------------------------------------------------------------------------------------------------------


def test_turns_are_added_as_they_are_told_whatever_their_times(memory: Memory) -> None:
    """(role, text, at), to the end of their session: the last of a session is the one that was told last."""
    said = [("user", "hello there", "2026-11-20T10:00:00Z"), ("assistant", "hi", "")]
    ids = memory.turns.add_turns("s", said, "hook")
    turns = memory.turns.last_turns("s", 9)
    assert [(turn.id, turn.number, turn.origin) for turn in turns] == [(ids[0], 1, "hook"), (ids[1], 2, "hook")]
    assert [turn.at[:10] for turn in turns] == ["2026-11-20", memory.now[:10]]
    assert [turn.number for turn in memory.turns.last_turns("s")] == [2]
    later = from_ms(to_ms(memory.now) - 5)
    ids = memory.turns.add_turns("t", [("user", "b", later), ("user", "a", "2026-01-01")])
    assert Sessions(memory.database).get("t").last_at == memory.turns.get(ids[1]).at


@pytest.mark.parametrize(
    ("continuity", "many"),
    [
        ((), WINDOW_TURNS),
        ((None, None), WINDOW_TURNS),
        ((0.2, 0.1), MIN_WINDOW_TURNS),
        ((None, 0.29), MIN_WINDOW_TURNS),
        ((0.2, 0.5), WINDOW_TURNS),
        ((0.3, 0.3), WINDOW_TURNS),
        ((0.7, 0.7), WINDOW_TURNS),
        ((0.71, 0.9), MAX_WINDOW_TURNS),
        ((0.71, None), MAX_WINDOW_TURNS),
        ((0.9, 0.2), WINDOW_TURNS),
    ],
)
def test_the_window_is_as_long_as_the_talk_goes_on(memory: Memory, continuity: tuple[float | None, ...], many: int):
    """Six turns; four where the last two wander, eight where they keep to one thing; what is unknown does not count."""
    talk(memory)
    link(memory, "s", continuity)
    assert window_size(continuity) == many
    assert [turn.number for turn in memory.turns.window("s")] == list(range(13 - many, 13))


LENGTHS = st.lists(st.integers(1, 3_000), min_size=1, max_size=12)


@given(LENGTHS, st.lists(st.none() | st.integers(0, 4_000), min_size=12, max_size=12), st.floats(0, 1))
@settings(deadline=None, max_examples=examples(7))
def test_the_window_never_holds_more_than_its_tokens(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], counted: list[int | None], continuity: float
) -> None:
    """By the tokenizer's count and by the estimate; the oldest go first, the last is always there."""
    path = tmp_path_factory.mktemp("window") / "memory.db"
    with Memory.open(str(path)) as memory:
        memory.turns.add_turns("s", [NewTurn("user", "ñ" * length) for length in lengths])
        with memory.database.write("agent", "test") as write:
            for number, many in enumerate(counted, start=1):
                write.execute("UPDATE turns SET tokens = ? WHERE id = ?", (many, number))
        link(memory, "s", [continuity])
        window = memory.turns.window("s")
        assert sum(turn.tokens for turn in window) <= WINDOW_TOKENS
        assert sum(token_count.count_tokens(turn.text) for turn in window) <= WINDOW_TOKENS
        numbers = [turn.number for turn in window]
        assert numbers == list(range(len(lengths) - len(window) + 1, len(lengths) + 1))
        assert 1 <= len(window) <= MAX_WINDOW_TURNS


# what a model tells ---------------------------------------------------------------------------------------------------


def test_a_real_model_tells_how_turns_go_on(memory: Memory) -> None:
    """Nothing is known until both are embedded, and of the first never; then what keeps to one thing is told from what
    does not, in two languages; a text that changes is judged again."""
    said = [
        "La importación busca cada tipo de IVA mil veces. ¿Puedes hacerla más rápida?",
        "La importación ya no busca cada tipo de IVA: lo guarda en una tabla y es más rápida.",
        "My daughter's birthday is next week. What should I cook for dinner?",
    ]
    memory.turns.add_turns("s", [NewTurn("user", text) for text in said])
    assert [turn.continuity for turn in memory.turns.last_turns("s", 3)] == [None, None, None]
    embed(memory)
    first, near, far = (turn.continuity for turn in memory.turns.last_turns("s", 3))
    assert first is None and near is not None and far is not None
    assert near > 0.7 and far < 0.3
    with memory.database.write("user", "test") as write:
        write.execute("UPDATE turns SET text = ? WHERE id = 3", (said[1],))
    embed(memory)
    assert memory.turns.last_turns("s")[0].continuity > 0.9
    with memory.database.write("user", "test") as write:
        write.execute("UPDATE turns SET text = ? WHERE id = 2", (said[2],))
    embed(memory)
    assert (memory.turns.last_turns("s")[0].continuity or 0) < 0.3, "the one before changed: it goes on from another"
    memory.turns.add_turns("s", [NewTurn("user", said[0])])  # what comes later is told by what was there
    embed(memory)
    assert memory.turns.last_turns("s")[0].continuity > 0.7


def test_tokens_are_estimated_until_a_real_tokenizer_counted_them(memory: Memory) -> None:
    """All of a text is counted, not what a model reads of it; a text cut meanwhile is counted anew."""
    long = "La función de importación busca cada tipo de IVA mil veces. " * 400
    memory.turns.add_turns("s", [NewTurn("user", "internationalization"), NewTurn("user", long)])
    assert [turn.tokens for turn in memory.turns.last_turns("s", 2)] == [5, token_count.count_tokens(long)]
    assert turn_stats.count_turn_tokens(memory.database, nano(), lambda: False) == 2
    short, whole = (turn.tokens for turn in memory.turns.last_turns("s", 2))
    assert 1 < short < 5 and 5_000 < whole < 7_000
    assert memory.database.value("SELECT count(*) FROM turns WHERE tokens IS NULL") == 0
    assert turn_stats.count_turn_tokens(memory.database, nano(), lambda: False) == 0


# summaries ------------------------------------------------------------------------------------------------------------


def turn(number: int, role: str, text: str) -> Turn:
    return Turn(number, "s", number, role, "", text, "2026-11-20T10:00:00.000Z", 5, None, "agent")


def test_a_summary_by_rule_says_what_was_said() -> None:
    found = summarize_by_rule(
        [
            turn(1, "user", "Hola! El importador falla con los IVA raros. Mira `tax.py`."),
            turn(2, "assistant", "```\nprint(1)\n```\nArreglé el parser: ahora lee la coma."),
            turn(3, "user", "Bien. Decidimos usar Decimal. ¿Y las fechas?"),
        ]
    )
    assert found.topic == "El importador falla con los IVA raros."
    assert found.outcome == "Arreglé el parser: ahora lee la coma."
    assert found.decisions == ("Decidimos usar Decimal.",)
    assert found.open_questions == ("¿Y las fechas?",)
    assert "tax.py" in found.discussed
    said = turn(1, "user", "Which queue? Let's go with SQLite."), turn(2, "assistant", "Done, it is in.")
    english = summarize_by_rule(said)
    assert (english.decisions, english.outcome) == (("Let's go with SQLite.",), "Done, it is in.")
    assert summarize_by_rule([turn(1, "user", "We have not decided anything yet.")]).decisions == ()


WORDS = st.text(max_size=400)


@given(WORDS, st.lists(WORDS, max_size=9), WORDS, st.lists(WORDS, max_size=9), st.lists(WORDS, max_size=9))
@settings(deadline=None, max_examples=examples(17))
def test_a_summary_is_never_longer_than_its_slot(
    topic: str, discussed: list[str], outcome: str, decisions: list[str], questions: list[str]
) -> None:
    one = fit_summary(topic, discussed, outcome, decisions, questions)
    text = format_summary_line(one.topic, one.discussed, one.outcome, one.decisions, one.open_questions)
    assert token_count.count_tokens(text) <= SUMMARY_TOKENS
    assert text.splitlines() in ([text], [])  # no line of it can pass for another's


def test_what_leaves_the_window_is_summarised_three_turns_at_a_time_and_once(memory: Memory) -> None:
    """Written once: the same turns are not summarised again; four are active, the older archived, cited and found."""
    talk(memory, many=WINDOW_TURNS + 2)
    assert Summaries(memory.database).summarize_due("s") == []  # two turns make none yet
    talk(memory, many=1)
    assert Summaries(memory.database).summarize_due("s") == [1]
    assert Summaries(memory.database).summarize_due("s") == []
    talk(memory, many=15, about="marmalade")
    Summaries(memory.database).summarize_due("s")
    spans = [(one.first, one.last) for one in Summaries(memory.database).list_of_session("s")]
    assert spans == [(1, 3), (4, 6), (7, 9), (10, 12), (13, 15), (16, 18)]
    active = Summaries(memory.database).active("s")
    assert [one.first for one in active] == [7, 10, 13, 16] and len(active) == MOST_ACTIVE
    assert all(one.tokens <= SUMMARY_TOKENS for one in active)
    before = Summaries(memory.database).get(1)
    session_flush.flush_session(memory, "s")
    assert Summaries(memory.database).get(1) == before
    assert [one.first for one in Summaries(memory.database).active("s")] == [13, 16, 19, 22]
    hits = memory.search("question number kind:summary").hits
    assert "S#1" in [hit.citation for hit in hits]


def test_words_that_go_take_the_summaries_of_them_along(memory: Memory) -> None:
    """A summary holds the beginning of what was said, which nobody would look for: it goes with its turn, and what is
    known of the session with its last one."""
    long = "We met the marmalade supplier behind the old harbour and he told us all that there is to know about oranges"
    memory.turns.add_turns(
        "s", [NewTurn("user", long), NewTurn("assistant", "Noted."), NewTurn("user", "Who else was there that day?")]
    )
    memory.turns.add_turns("t", [NewTurn("user", f"As I said: {long}")])
    for session in ("s", "t"):
        session_flush.flush_session(memory, session)
    assert [
        one.topic.startswith("We met the marmalade") for one in Summaries(memory.database).list_of_session("s")
    ] == [True]
    plan = memory.purge.plan([("turn", 1)])
    chosen = [at for at, place in enumerate(plan.places) if place.can]
    memory.purge.run_plan(plan, chosen)
    assert Summaries(memory.database).list_of_session("s") == Summaries(memory.database).list_of_session("t") == []
    assert memory.search("marmalade").total == 0
    plan = memory.purge.plan([("turn", 4)])
    memory.purge.run_plan(plan, [])
    assert [one.id for one in Sessions(memory.database).list_newest()] == ["s"]


def test_a_topic_that_changes_ends_a_summary(memory: Memory) -> None:
    said = [("user", "The importer fails."), ("user", "Otra cosa: ¿cuándo es la feria?"), ("assistant", "En mayo.")]
    memory.turns.add_turns("s", [NewTurn(*one) for one in said])
    session_flush.flush_session(memory)
    assert [(one.first, one.last) for one in Summaries(memory.database).list_of_session("s")] == [(1, 1), (2, 3)]


def test_another_maker_of_summaries_is_asked_in_the_same_way(memory: Memory) -> None:
    """The seam for a model: a function with the rule's result; two at once write each summary once."""
    talk(memory, many=6)
    calls: list[int] = []

    def by(part: Sequence[Turn]) -> SummaryFields:
        calls.append(part[0].number)
        if len(calls) == 1:
            with Memory.open(memory.database.path) as other:
                Summaries(other.database).summarize_due("s", all_of_it=True)
        return SummaryFields("by another")

    assert Summaries(memory.database).summarize_due("s", all_of_it=True, by=by) == []
    assert calls == [1], "and what another did is not asked about"
    assert [one.topic for one in Summaries(memory.database).list_of_session("s")] == [
        "question number 0",
        "question number 4",
    ]


# sessions -------------------------------------------------------------------------------------------------------------


def test_a_session_begins_ends_and_goes_on(memory: Memory, clock: Any) -> None:
    talk(memory, "one", 3)
    clock.advance(milliseconds=60_000)
    talk(memory, "two", 2)
    two, one = Sessions(memory.database).list_newest()
    assert (two.id, two.turns, one.id, one.turns, one.ended_at) == ("two", 2, "one", 3, None)
    assert one.started_at <= one.last_at < two.started_at
    session_flush.clear_session(memory, "one")
    assert Sessions(memory.database).get("one").ended_at is not None
    talk(memory, "one", 1)
    assert Sessions(memory.database).get("one").ended_at is None  # resumed
    with pytest.raises(NotFound, match="no session “three”"):
        Sessions(memory.database).get("three")


def test_a_session_that_broke_off_is_ended_at_the_next_start(memory: Memory, clock: Any) -> None:
    """Its end is when it was last spoken in; a checkpoint is taken as if somebody had said so, and it is still offered
    to be gone on with, for nobody did."""
    talk(memory, "one", 4)
    last = Sessions(memory.database).get("one").last_at
    assert maintenance.end_broken_off_sessions(memory) == 0  # it goes on
    clock.advance(milliseconds=31 * 60_000)
    talk(memory, "old", 1)
    with memory.database.write("agent", "test") as write:
        write.execute("UPDATE turns SET at = '2026-01-01T00:00:00.000Z' WHERE session = 'old'")
    clock.advance(milliseconds=31 * 60_000)
    talk(memory, "two", 4)
    clock.advance(milliseconds=31 * 60_000)
    assert maintenance.end_broken_off_sessions(memory) == 3
    assert maintenance.end_broken_off_sessions(memory) == 0
    assert Sessions(memory.database).get("one").ended_at == last
    (only,) = memory.checkpoints.list_newest_first()
    assert (only.session, only.level, only.trigger, only.origin) == ("two", "macro", "session_end", "agent")
    assert [one.last for one in Summaries(memory.database).active("two")] == [3, 4]
    assert Summaries(memory.database).list_of_session("old") == []  # nobody goes on with it
    offered = maintenance.offer_recovery(memory)
    assert offered is not None and offered.id == only.id


def test_a_kill_at_the_end_of_a_session_costs_no_summary(memory: Memory, clock: Any, monkeypatch: Any) -> None:
    talk(memory, "one", 7)
    clock.advance(milliseconds=31 * 60_000)

    def killed(*about: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch, pytest.raises(SystemExit):
        patch.setattr("store.conversations.summaries.summarize_by_rule", killed)
        maintenance.end_broken_off_sessions(memory)
    assert maintenance.end_broken_off_sessions(memory) == 1
    assert [one.last for one in Summaries(memory.database).list_of_session("one")] == [3, 6, 7]


def test_what_is_purged_while_it_is_summarised_leaves_nothing(memory: Memory) -> None:
    talk(memory, "one", 12)
    first = memory.turns.last_turns("one", 12)[0]

    def purged(part: Any) -> Any:
        made = summarize_by_rule(part)
        if memory.turns.get_many([first.id]):
            memory.purge.run_plan(memory.purge.plan([("turn", first.id)]))
        return made

    Summaries(memory.database).summarize_due("one", by=purged)
    assert [(one.first, one.last) for one in Summaries(memory.database).list_of_session("one")] == [(2, 4)]


def test_a_session_whose_end_was_told_is_not_ended_twice(memory: Memory, clock: Any) -> None:
    talk(memory)
    session_flush.clear_session(memory)
    clock.advance(days=1)
    assert maintenance.end_broken_off_sessions(memory) == 0
    assert len(memory.checkpoints.list_newest_first()) == 1
    assert maintenance.offer_recovery(memory) is None


def test_a_flush_makes_all_of_a_session_safe(memory: Memory) -> None:
    """Summaries of all that was said, and a checkpoint; again, there is nothing to do."""
    talk(memory, many=7)
    done = session_flush.flush_session(memory)
    assert [one.last for one in Summaries(memory.database).list_of_session("s")] == [3, 6, 7]
    assert done.summaries == (1, 2, 3)
    assert memory.checkpoints.get(done.checkpoint or 0).reason == "before a compaction"
    assert session_flush.flush_session(memory) == session_flush.FlushResult("s", (), None)
    with pytest.raises(NotFound):
        session_flush.flush_session(memory, "nobody")


def test_a_flush_is_due_by_messages_or_by_what_is_left_of_the_window(memory: Memory) -> None:
    talk(memory, many=19)
    assert session_flush.flush_due_sessions(memory) == 0
    assert len(Summaries(memory.database).list_of_session("s")) == 4  # of what left the window, at once
    talk(memory, many=1)
    assert session_flush.flush_due_sessions(memory) == 1
    assert session_flush.flush_due_sessions(memory) == 0
    talk(memory, many=2)
    session = Sessions(memory.database).get("s")
    assert not session_flush.is_flush_due(memory, session, 195_999)
    assert session_flush.is_flush_due(memory, session, 196_000)
    write_setting(user_settings_path(), "flush.messages", "2")
    with Memory.open(memory.database.path, clock=memory.database.clock) as asked:
        assert session_flush.flush_due_sessions(asked) == 1


def test_clearing_leaves_a_snapshot_of_the_last_fifteen(memory: Memory, tmp_path: Path) -> None:
    """Private, whole, redacted, cited, under a name that tells what it was about; nothing in it passes for a heading;
    another of that name does not take its place."""
    memory.turns.add_turns("s", [NewTurn("user", f"earlier {number}") for number in range(5)])
    said = "¿Cómo va la importación de facturas?\n# Not a heading\nuser: nor this"
    memory.turns.add_turns("s", [NewTurn("user", said)])
    memory.turns.add_turns("s", [NewTurn("assistant", f"answer {number}, key {STRIPE}") for number in range(14)])
    done = session_flush.clear_session(memory)
    assert done.path == str(tmp_path / "memory" / "snapshots" / "2026-11-21-va-importacion-facturas-not-heading.md")
    text = Path(done.path).read_text(encoding="utf-8")
    assert done.messages == 15 and text.count("\n## ") == 15
    assert "earlier" not in text and "[T#6]" in text and "15 of 20 messages" in text
    assert "\n    # Not a heading\n    user: nor this\n" in text
    assert STRIPE not in text and "[REDACTED:" in text
    assert stat.S_IMODE(os.stat(done.path).st_mode) == 0o600
    assert memory.checkpoints.get(done.checkpoint).trigger == "session_end"
    again = session_flush.clear_session(memory)
    assert again.path == done.path.replace(".md", "-2.md")
    assert Path(done.path).read_text(encoding="utf-8") == text
    there = os.listdir(tmp_path / "memory" / "snapshots")
    assert sorted(there) == sorted([".gitignore", *map(os.path.basename, [done.path, again.path])])


@pytest.mark.parametrize("error", [errno.EPERM, errno.EXDEV])
def test_where_no_links_are_to_be_had_a_snapshot_is_written_all_the_same(memory: Memory, monkeypatch, error: int):
    """On a stick, say; under another name where that one is taken."""
    talk(memory)

    def none(*about: object, **how: object) -> None:
        raise OSError(error, "no links here")

    monkeypatch.setattr(os, "link", none)
    first, second = session_flush.clear_session(memory), session_flush.clear_session(memory)
    assert Path(first.path).read_text("utf-8") and second.path == first.path.replace(".md", "-2.md")
    assert len(os.listdir(os.path.dirname(first.path))) == 3, "and the rule that keeps them out of git"


def test_a_kill_while_a_snapshot_is_written_leaves_nothing_that_a_proof_does_not_read(memory: Memory, tmp_path: Path):
    talk(memory)
    code = (
        "import os, sys\nfrom store.upkeep import session_flush as flushing\nfrom store.memory import Memory\n"
        "os.link = lambda *about, **how: os._exit(9)\n"
        "with Memory.open(sys.argv[1]) as memory: flushing.clear_session(memory)"
    )
    assert subprocess.run([sys.executable, "-c", code, memory.database.path], check=False).returncode == 9
    assert os.listdir(tmp_path / "memory" / "snapshots") == [".gitignore"]
    (left,) = [path for path in files_of(memory.database.path) if ".snapshot-" in path]
    session_snapshot.remove_partial_snapshots(memory.database.path)
    assert os.path.exists(left), "it may be another process at its work"
    os.utime(left, (0, 0))
    maintenance.clean_up_memory(memory)
    assert not os.path.exists(left)


def test_what_is_cut_out_of_a_snapshot_does_not_stay_in_its_name(memory: Memory) -> None:
    memory.turns.add_turns("s", [NewTurn("user", "Ludovica Zarpanelli heredera"), NewTurn("assistant", "who is that?")])
    path = session_flush.clear_session(memory).path
    assert "zarpanelli" in path
    memory.documents.update_index()
    plan = memory.purge.plan([("turn", 1)])
    chosen = [place for place, one in enumerate(plan.places) if one.can]
    assert any(plan.places[place].table == "file" for place in chosen)
    memory.purge.run_plan(plan, chosen)
    _, left = sorted(os.listdir(os.path.dirname(path)))
    assert left == "2026-11-21-session.md"
    assert "arpanelli" not in Path(path).with_name(left).read_text("utf-8")
    assert not memory.database.value("SELECT count(*) FROM documents WHERE path LIKE '%zarpanelli%'")


def test_nothing_of_a_conversation_passes_for_a_snapshots_own_words(memory: Memory) -> None:
    hostile = "s`\n\n# Forged heading\n\n\x1b]0;x\x07" + "long " * 100
    memory.turns.add_turns(hostile, [NewTurn("user", "text \x1b[2J of it", "Ana\n\n# Another forged")])
    (turn,) = memory.turns.last_turns("", 1)
    assert "\n" not in turn.session + turn.speaker and len(turn.session) <= 200 and "\x1b" not in turn.session
    text = Path(session_flush.clear_session(memory).path).read_text("utf-8")
    assert "\x1b" not in text and [line for line in text.splitlines() if line.startswith("# ")] == ["# text [2J of it"]


def test_a_snapshot_goes_through_no_link(memory: Memory, tmp_path: Path) -> None:
    """Else a checkout could have it written anywhere. The session is not ended then, and nothing is left behind."""
    talk(memory)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "memory").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="nothing was cleared"):
        session_flush.clear_session(memory)
    assert os.listdir(tmp_path / "elsewhere") == []
    assert Sessions(memory.database).get("s").ended_at is None


def test_the_file_of_an_older_version_has_its_sessions(tmp_path: Path) -> None:
    """Turns from before know neither tokens nor continuity: they are queued, to be judged without a model's work."""
    path = str(tmp_path / "memory.db")
    with begun(path, 3) as old:
        old.execute(
            "INSERT INTO turns(session, number, role, speaker, text, at, origin)"
            " SELECT 's', value, 'user', '', 'build', '2026-11-01T00:00:00.000Z', 'x' FROM json_each('[1, 2]');"
            "DELETE FROM embedding_queue"
        )
    old.close()
    ours(path)
    with Memory.open(path) as memory:
        assert [one.turns for one in Sessions(memory.database).list_newest()] == [2]
        assert [(one.tokens, one.continuity) for one in memory.turns.last_turns("s", 2)] == [(2, None), (2, None)]
        # all are queued: since schema 11 vectors are of passages
        assert memory.database.rows("SELECT id FROM embedding_queue ORDER BY id") == [(16 + 7,), (2 * 16 + 7,)]
        embed(memory)
        assert memory.turns.last_turns("s")[0].continuity == pytest.approx(1, abs=0.01)
