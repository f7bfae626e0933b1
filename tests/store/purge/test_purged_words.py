"""What was purged does not come back by being asked for, and a name that only it said goes with it."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.traces import traces

from store.base import state_files as installation
from store.base.errors import InvalidInput
from store.base.location import backup_folder
from store.conversations.turns import NewTurn
from store.database import tombstones as purged_words
from store.database.database import Database
from store.database.tombstones import is_purge_pending
from store.memory import Memory
from store.purge import registry
from store.purge.proof import find_traces
from store.purge.purge import complete_purge
from store.purge.word_search import PurgedCopies, find_unique_words
from store.search.answer_cache import AnswerCache

TEXT = "Zarahemla Quist owes the baker 300 euros"


@pytest.fixture
def folder(memory: Memory) -> Path:
    return Path(memory.database.path).parent


def standing(folder: Path) -> list[tuple[str, str]]:
    """Where half of a name stands; words so short are met by chance in base64."""
    return [(name, form) for name, form in traces(folder, "Zarah", "zarah", "Quis", "quis") if form != "base64"]


def purge(memory: Memory, *records: tuple[str, int]) -> None:
    memory.purge.run_plan(memory.purge.plan(records))


# names ---------------------------------------------------------------------------------------------------------------


def test_names_that_only_it_said_go_from_every_copy(memory: Memory, folder: Path):
    """From a checkpoint's name, entities and summary, which was cut short within a word; from questions and queries,
    whole and half typed; from the backups of all this. What others say too, stays."""
    memory.facts.remember("the baker is at the corner")
    long = f"About {'so much else and ' * 12}then again Zarahemla"
    memory.turns.add_turns("s", [NewTurn("user", f"{long} Quist owes him")])
    memory.facts.remember(TEXT)
    memory.checkpoints.take_checkpoint("before the talk with Zarahemla Quist")
    with memory.database.write("user", "test") as write:
        write.execute("UPDATE checkpoints SET summary = ?", (f"{long[:-2]}…",))
    for query in ("zarahemla", "zarah", "Quist, the baker", "what of quis", "the baker", "team"):
        memory.search.log.add_query(query)
    memory.context.sent_log.log_context(memory.context("Who is Zarahemla?", session="s"))
    (folder / "backups").mkdir()
    shutil.move(copied(memory), folder / "backups" / "1.db")
    plan = memory.purge.plan([("fact", 2), ("turn", 1)])
    assert {"Zarahemla", "Quist", "Zarahemla Quist", "owes"} <= set(plan.names) and "baker" not in plan.names
    done = memory.purge.run_plan(plan)
    assert done.left == () and done.finished.rewritten == ("1.db",)
    assert find_traces(memory.database, memory.documents, plan.texts, plan.names).is_clean
    assert standing(folder) == []
    assert memory.checkpoints.get(1).name == "before the talk with [purged]"
    assert sorted(memory.search.log.recent_queries()) == ["team", "the baker"]
    names = ["Zarahemla", "Quist", "zarahemla quist"]
    assert find_traces(memory.database, memory.documents, names).is_clean, "verify-forgotten says the same"


def copied(memory: Memory) -> str:
    import apsw

    path = f"{memory.database.path}-copy"
    target = apsw.Connection(path)
    with target.backup("main", memory.database.connection, "main") as backup:
        backup.step()
    target.pragma("journal_mode", "delete")
    target.close()
    return path


def test_the_name_of_a_folder_is_no_trace(memory: Memory, tmp_path: Path):
    """The list of memories on this computer contains the names of folders: a word of a purged record that is one of
    those too was not taken from it. The text itself is looked for there."""
    with Memory.open(str(tmp_path / "the-zebrafish-team" / ".memoranda" / "memory.db")) as other:
        other.facts.remember("unrelated")
    memory.facts.remember("Our zebrafish team is five")
    plan = memory.purge.plan([("fact", 1)])
    assert "zebrafish" in plan.names
    memory.purge.run_plan(plan)
    assert find_traces(memory.database, memory.documents, plan.texts, plan.names, erased=True).is_clean
    entry = Path(installation.state_folder()) / "note"
    entry.write_text("our zebrafish team is five")
    found = find_traces(memory.database, memory.documents, plan.texts, plan.names, erased=True).files_with_text
    assert [one.file for one in found] == [str(entry)]


def test_a_word_within_another_that_stays_is_no_name(memory: Memory):
    """`team` stands in `steam`, and nothing could prove that it is gone."""
    memory.facts.remember("the team is five")
    memory.facts.remember("full steam ahead")
    plan = memory.purge.plan([("fact", 1)])
    assert "team" not in plan.names and "five" in plan.names


# inputs --------------------------------------------------------------------------------------------------------------


def inputs(memory: Memory) -> list[str]:
    told = memory.database.rows("SELECT text FROM queries UNION ALL SELECT question FROM contexts")
    told += memory.database.rows("SELECT question FROM answers_cache")
    return [text for (text,) in told]


@pytest.mark.parametrize(
    "typed",
    [
        TEXT,
        f"  {TEXT.upper()}?",
        f"was it that {TEXT.lower()} or less",
        "Zarahemla",
        "zarah",
        "who is zaráhe",
        "kind:fact quist",
        "zarahemla quist owes the b",
    ],
)
def test_what_was_purged_is_not_kept_when_it_is_asked_for(memory: Memory, folder: Path, typed: str):
    """By a search, for an agent's context, as a question that was answered: whole, among other words, half typed, in
    other capitals and accents. Nothing of it reaches the file."""
    memory.facts.remember("the baker is at the corner")
    memory.facts.remember(TEXT)
    purge(memory, ("fact", 2))
    memory.search.log.add_query(typed)
    memory.context.sent_log.log_context(memory.context(typed, session="s"))
    AnswerCache(memory.database, memory.search).store_answer(f"{typed}?", "The baker is at the corner [F#1].", ["F#1"])
    assert set(inputs(memory)) <= {"[purged]"}
    assert standing(folder) == []


BAKER = ("the baker is at the corner", TEXT)
SERVER = ("The server moved to Lille, and Lyon has none", "The server moved to Lyon")
OTHERS = ["the baker", "zara", "quiet corner", "owl", "the team", "300 g of flour"]
COMMON = ["the", "the server", "server", "the server moved", "moved to", "lyon", "the serv"]


@pytest.mark.parametrize(
    ("stays", "purged", "typed", "kept"),
    [
        *((*BAKER, typed, True) for typed in OTHERS),
        *((*SERVER, typed, True) for typed in COMMON),
        *((*SERVER, typed, False) for typed in ("the server moved to Lyon", "so the server moved to lyon?")),
    ],
)
def test_what_others_say_is_kept_and_the_text_itself_is_not(memory: Memory, stays, purged, typed: str, kept: bool):
    """The beginning of a text keeps out what begins like it only where no record that stays begins so too."""
    for text in (stays, purged):
        memory.facts.remember(text)
    purge(memory, ("fact", 2))
    memory.search.log.add_query(typed)
    assert memory.search.log.recent_queries() == [typed] * kept


def test_what_is_said_again_may_be_asked_for_again(memory: Memory):
    """A name that the memory knows anew gives nothing away."""
    memory.facts.remember(TEXT)
    purge(memory, ("fact", 1))
    memory.search.log.add_query("zarahemla")
    assert memory.search.log.recent_queries() == []
    memory.facts.remember("Zarahemla likes tea")
    memory.search.log.add_query("zarahemla")
    assert memory.search.log.recent_queries() == ["zarahemla"]
    memory.facts.remember(TEXT, again=True)
    told = purged_words.make_digest_lookup(memory.database)
    assert told is not None and purged_words.find_purged_texts([TEXT], told)[0] == set()


def test_the_same_forms_are_sought_before_and_after(memory: Memory):
    """Whatever part of a text is typed: what a purge takes out of the queries is what is not kept after it."""
    dice = random.Random(7)
    texts = [TEXT, "Kimi", "日本語の秘密の文章です", "naïve Ångström", "a b c", "x" * 40]
    for text in texts:
        copies = PurgedCopies([text])
        forms = list(purged_words.digest_forms(text))
        for _ in range(60):
            start = dice.randrange(len(text))
            typed = f"{dice.choice(['', 'so '])}{text[: start + 1]}{dice.choice(['', ' and'])}"
            after = list(
                purged_words.find_digest_forms(
                    typed, lambda said, forms=forms: [kind for kind, of in forms if of == said]
                )
            )
            assert not after or copies.occur_in_input(typed), (text, typed)


# finished later ------------------------------------------------------------------------------------------------------


HOLDINGS: dict[str, Callable[[Memory], object]] = {
    "nothing": lambda memory: memory.facts.remember("deploys on Fridays"),
    "alike": lambda memory: memory.facts.remember("Zarahemla Quist owes the baker 300 eggs"),
    "the record": lambda memory: memory.facts.remember(TEXT),
    "a quotation": lambda memory: memory.turns.add_turns("s", [NewTurn("user", f"Look: {TEXT}. Well?")]),
    "its past": lambda memory: memory.tasks.correct(memory.tasks.add_task(f"ask why {TEXT}"), "ask"),
    "a query": lambda memory: memory.search.log.add_query(TEXT.lower()),
    "a name": lambda memory: memory.checkpoints.take_checkpoint("Zarahemla"),
}


@pytest.mark.parametrize("when", ["at once", "later"])
def test_a_backup_is_rewritten_if_it_holds_it(memory: Memory, folder: Path, monkeypatch: pytest.MonkeyPatch, when: str):
    """Each kind of holding in a backup of its own, another's among them, finished by the process that knows the words
    and by one that knows only their digests: none goes, none is changed that holds nothing, and nothing is left."""
    backups = Path(backup_folder(memory.database.path))
    backups.mkdir(parents=True)
    kept: dict[str, bytes] = {}
    for name, act in HOLDINGS.items():
        start = str(memory.history.steps()[0].seq) if memory.history.steps() else ""
        act(memory)
        shutil.move(copied(memory), backups / f"{name}.db")
        for table in ("facts", "turns", "tasks", "queries", "checkpoints", "history_row", "sessions"):
            with memory.database.write("user", "test") as write:  # as if it had never been, for the next backup
                write.stop_recording()
                write.execute(f"DELETE FROM {table}")
        assert start is not None
        kept[name] = (backups / f"{name}.db").read_bytes()
    memory.facts.remember(TEXT)
    real = Database.checkpoint_wal
    if when == "later":
        monkeypatch.setattr("store.purge.cleanup.clean_up_after_purge", lambda *about: (_ for _ in ()).throw(KeyError))
    plan = memory.purge.plan([("fact", memory.database.value("SELECT max(id) FROM facts"))])
    if when == "later":
        with pytest.raises(KeyError):
            memory.purge.run_plan(plan)
        monkeypatch.undo()
        assert is_purge_pending(memory.database) and Database.checkpoint_wal is real
        assert complete_purge(memory.database).pending == ""
    else:
        memory.purge.run_plan(plan)
    assert not is_purge_pending(memory.database)
    changed = {name for name in kept if (backups / f"{name}.db").read_bytes() != kept[name]}
    assert changed == set(HOLDINGS) - {"nothing", "alike"}
    assert traces(folder, TEXT) == traces(backups, TEXT) == []
    assert sorted(path.stem for path in backups.iterdir()) == sorted(kept)
    assert {name for name, _ in traces(backups, "Zarahemla")} == {"alike.db"}


# by age --------------------------------------------------------------------------------------------------------------


def test_what_is_older_than_a_moment_goes_and_nothing_else(memory: Memory, clock, folder: Path):
    """Of every kind, or of one; a newer one that took the place of an older stays, and so do words that it says too."""
    memory.facts.remember("old and only here: the quokka")
    memory.facts.remember("said then and now")
    memory.turns.add_turns("s", [NewTurn("user", "yes, do it"), NewTurn("user", "the old wombat")])
    memory.tasks.add_task("an old errand")
    memory.events.log("deployed", payload={"version": "1"})
    memory.checkpoints.take_checkpoint("the old quokka")
    clock.advance(days=10)
    newer = memory.facts.correct(1, "new: there are two of them")
    memory.turns.add_turns("s", [NewTurn("user", "yes, do it")])
    memory.facts.remember("also said then and now, said then and now")
    at = memory.now
    for kind, count in (("turn", 2), ("fact", 2), ("event", 1), ("summary", 0), ("decision", 0)):
        assert len(memory.purge.list_created_before(at[:10], kind)) == count, kind
    with pytest.raises(InvalidInput, match="cannot be purged"):
        memory.purge.list_created_before(at, "commit")
    plan = memory.purge.plan(memory.purge.list_created_before(at[:10]), alone=True)
    assert [one.citation for one in plan.going] == ["F#1", "F#2", "A#1", "T#1", "T#2", "E#1"]
    assert {place.citation for place in plan.places} == {"K#1"}
    done = memory.purge.run_plan(plan)
    assert done.left == () and traces(folder, "quokka", "wombat", "errand") == []
    assert set(memory.facts.ids(memory.now)) == {newer, newer + 1}
    assert memory.facts.get(newer).supersedes is None and memory.turns.get(3).text == "yes, do it"
    assert memory.database.rows("PRAGMA foreign_key_check") == []
    assert memory.facts.remember("yes, do it")[1], "no tombstone was left of what others say"


# what the memory says itself -----------------------------------------------------------------------------------------


def test_a_word_of_the_memory_s_own_is_no_name(memory: Memory):
    """`remember` is what a step of history is called, and `purge` the one that follows: nothing cuts them, and nothing
    could prove that they are gone."""
    memory.facts.remember("the build is on Debian")
    memory.facts.remember("Remember that a correction of Zarahemla confirms the decide, pending a purge")
    memory.checkpoints.take_checkpoint("before")
    memory.facts.confirm([1])
    memory.decisions.decide("Ship it", chosen="now")
    plan = memory.purge.plan([("fact", 2)])
    assert "Zarahemla" in plan.names and not {"Remember", "decide", "purge", "pending"} & set(plan.names)
    memory.purge.run_plan(plan)
    assert find_traces(memory.database, memory.documents, plan.texts, plan.names, erased=True).is_clean


def test_no_word_that_a_purge_never_cuts_is_a_name(memory: Memory):
    """Of every table: each word in a column that is neither a record's nor a copy of one stands, whatever wrote it."""
    for step in range(3):
        memory.facts.remember(f"fact {step}")
    memory.facts.correct(1, "fact nine")
    memory.inbox.join_facts(2, [3])
    memory.history.undo()
    memory.history.redo()
    memory.tasks.add_task("a task")
    memory.checkpoints.take_checkpoint("a checkpoint")
    memory.search.log.add_query("fact")
    memory.turns.add_turns("s", [NewTurn("user", "fact")])
    said = set[str]()
    for table, kept in registry.list_text_tables(memory.database):
        for column in kept.names if kept.becomes != registry.REBUILT_TABLE else ():
            for (text,) in memory.database.rows(f"SELECT DISTINCT {column} FROM {table}"):
                said |= {word for word, _, _ in purged_words.compared_word_spans(text or "")}
    assert {"remember", "correct", "redo"} <= said
    assert find_unique_words(memory.database, said, set(), []) == []


def test_a_word_in_a_file_that_no_record_is_copied_to_is_no_trace(memory: Memory, folder: Path):
    """Settings beside the memory, and what waits in the spool."""
    memory.facts.remember("Zarahemla owes us a horse")
    (folder / "config.toml").write_text('[agent]\nmodel = "zarahemla"\n')
    (folder / "spool").mkdir(exist_ok=True)
    (folder / "spool" / "x").write_text("{}\nZarahemla\n")
    plan = memory.purge.plan([("fact", 1)])
    assert "Zarahemla" in plan.names
    memory.purge.run_plan(plan)
    assert not find_traces(memory.database, memory.documents, plan.texts, plan.names, erased=True).files_with_text
