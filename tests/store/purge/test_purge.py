"""Forgotten means gone: a person purges, and no byte of the text is left; everything around it is as it was."""

import gzip
import hashlib
import json
import shutil
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from unittest.mock import Mock

import apsw
import pytest
from support.ours import ours
from support.traces import traces

from store.base.errors import Conflict, InvalidInput, NotFound, Purged
from store.base.location import backup_folder
from store.conversations.turns import NewTurn
from store.database import change_capture
from store.database.database import Database
from store.database.tombstones import count_removals, is_purge_pending
from store.database.values import Verbatim
from store.embedding.provider import digest_input_text, format_input_text
from store.exchange import backups as backup
from store.exchange import exporter
from store.history import compression
from store.history.restore_plan import Plans
from store.memory import Memory
from store.purge import word_search as column_scan
from store.purge.proof import PurgeVerdict, find_traces, search_files
from store.purge.registry import list_store_files as files_of
from store.purge.word_search import PurgedTexts
from store.search import fulltext as corpus
from store.upkeep import maintenance
from store.upkeep.checks import WRONG
from store.upkeep.doctor import examine
from tests.support.chain import read_all_rows

TEXT = "José's password hint is «the blue zebrafish»"
SHA = "a1b2c3d4" * 5
STONES = "SELECT hash FROM tombstones WHERE length(hash) = 32"


@pytest.fixture
def folder(memory: Memory) -> Path:
    return Path(memory.database.path).parent


def all_places(memory: Memory, *records: tuple[str, int]):
    """Purge records, and cut their words wherever they can be cut."""
    plan = memory.purge.plan(records)
    return memory.purge.run_plan(plan, [at for at, place in enumerate(plan.places) if place.can])


def chain_holds(memory: Memory) -> None:
    """Every digest follows from the one before it and from the leaves; a leaf from its row, unless it was purged."""
    previous = b""
    for *head, root, recorded in memory.database.rows(
        "SELECT seq, at, actor, door, reason, undoes, changes, rows_root, digest FROM history ORDER BY seq"
    ):
        leaves = hashlib.sha256()
        for *row, salt, leaf, purged in memory.database.rows(
            "SELECT tbl, pk, op, indirect, before, after, salt, leaf, purged FROM history_row WHERE seq = ? ORDER BY n",
            head[:1],
        ):
            assert (salt is None) == bool(purged)
            assert purged or hashlib.sha256(salt + change_capture.encode_for_hash(*row)).digest() == leaf
            leaves.update(leaf)
        previous = hashlib.sha256(previous + change_capture.encode_for_hash(*head) + root).digest()
        assert (root, recorded) == (leaves.digest(), previous)


def sound(memory: Memory) -> None:
    assert memory.database.value("PRAGMA integrity_check") == "ok"
    assert memory.database.rows("PRAGMA foreign_key_check") == []
    corpus.check_text_index(memory.database)
    chain_holds(memory)


# gone ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [40, pytest.param(500, marks=pytest.mark.whole)])
def test_many_facts_leave_no_byte(memory: Memory, folder: Path, count: int):
    """Remembered, corrected, confirmed, tagged, undone among as many others; then purged at once: in no file, in none
    of five encodings, in no word that only they had. The others are all there."""
    texts = {}
    for number in range(count):
        secret = f"canary{number:04}x {TEXT} {number} " + "and so on, at length, " * (number % 5 * 40)
        fact, _ = memory.facts.remember(secret.strip(), tags=[f"tag-canary{number:04}x"], evidence=["C#a1b2c3d"])
        texts[fact] = secret.strip()
        memory.facts.remember(f"what stays, number {number}")
        if number % 3 == 0:
            memory.facts.pin([fact])
        if number % 4 == 0:
            memory.facts.forget([fact])
            memory.history.undo()
    stay = memory.database.value("SELECT count(*) FROM facts") - count
    memory.purge.run_plan(memory.purge.plan(("fact", fact) for fact in texts))
    words = [text.split()[0] for text in texts.values()]  # that nothing else has
    assert traces(folder, *texts.values(), *words) == []
    assert traces(folder, "what stays, number 1"), "the scan sees what is there"
    left = memory.database.value("SELECT count(*) FROM facts")
    assert memory.facts.count_by_state(memory.now)["active"] == stay == left
    assert not memory.search("zebrafish").hits
    sound(memory)


def test_whoever_holds_some_in_view_can_tell_that_something_went(memory: Memory) -> None:
    """Of any kind, also of one that leaves no tombstone and no step of history."""
    memory.events.log("deployed", phase="operations", payload={"version": "0.9.0"})
    memory.turns.add_turns("s1", [NewTurn("user", "the hamster of the director", "")])
    number, _ = memory.facts.remember("the team is five")
    assert count_removals(memory.database) == 0
    for done, record in enumerate([("event", 1), ("turn", 1), ("fact", number)], 1):
        memory.purge.run_plan(memory.purge.plan([record]), [])
        assert count_removals(memory.database) == done


def test_the_whole_record_goes_with_its_chain_and_its_twins(memory: Memory, folder: Path):
    """What it superseded, what superseded that, and the same said before and forgotten; with their vectors."""
    first, _ = memory.facts.remember(TEXT)
    memory.facts.forget([first])
    second, _ = memory.facts.remember(f"{TEXT}!")
    third = memory.facts.correct(second, "the hint was about the blue zebrafish, and is no more")
    other, _ = memory.facts.remember("the team is five")
    embed(memory, first, second, third, other)
    plan = memory.purge.plan([("fact", third)])
    why = [("F#1", "says the same"), ("F#2", "replaced by one of them"), ("F#3", "")]
    assert [(one.citation, one.why) for one in plan.going] == why
    assert plan.places == ()
    done = memory.purge.run_plan(plan)
    assert (done.purged, done.scrubbed, done.left, done.finished.pending) == (3, 0, (), "")
    assert traces(folder, TEXT, "zebrafish") == []
    assert memory.database.rows("SELECT id FROM facts") == [(other,)]
    assert [memory.database.value(f"SELECT count(*) FROM {table}") for table in ("embeddings", "vectors")] == [1, 1]
    sound(memory)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("named", [1, 2, 3])
def test_facts_that_were_merged_go_together(memory: Memory, folder: Path, named: int, packed: bool):
    """Whichever is named: no column links the older one, which stays, to those merged into it. What only cites one of
    them as its evidence stays."""
    for text in (TEXT, "the hint is a zebrafish that is blue", "blue zebrafish: the hint"):
        memory.facts.remember(text)
    citing, _ = memory.facts.remember("Ana asks about hints", evidence=["F#1", "F#2"])
    memory.inbox.join_facts(1, [2, 3])
    if packed:
        compression.pack_history(memory.database, 0, 0, least=1)
    plan = memory.purge.plan([("fact", named)])
    assert [one.citation for one in plan.going] == ["F#1", "F#2", "F#3"]
    why = {one.why for one in plan.going if one.citation != f"F#{named}"}
    assert why <= {"replaced by one of them", "replaces one of them"}
    memory.purge.run_plan(plan)
    assert traces(folder, TEXT, "zebrafish") == []
    assert memory.database.rows("SELECT id FROM facts") == [(citing,)]
    if not packed:  # it reads the rows as they are
        sound(memory)


def test_a_merge_that_was_undone_links_nothing(memory: Memory):
    for text in (TEXT, "the hint is a zebrafish that is blue"):
        memory.facts.remember(text)
    memory.inbox.join_facts(1, [2])
    memory.history.undo()
    assert [one.citation for one in memory.purge.plan([("fact", 1)]).going] == ["F#1"]


def embed(memory: Memory, *facts: int) -> None:
    """A vector for each of these facts, as indexing stores them, and one in the cache that nobody has any more."""
    with memory.database.write("agent", "embedding") as write:
        write.execute("INSERT INTO embedding_models VALUES (0, 'a model', 2, 0, 1, x'00', 1, ?)", (Verbatim(write.at),))
        for fact in facts:
            text = write.execute("SELECT fact FROM facts WHERE id = ?", (fact,)).get
            digest = digest_input_text("a model", format_input_text("fact", "", text))
            sql = "INSERT INTO embeddings(digest, vector, used_at) VALUES (?, x'00', ?)"
            write.execute(sql, (digest, Verbatim(write.at)))
            number = memory.database.connection.last_insert_rowid()
            if fact != facts[0]:  # that one's record was embedded anew since: only the cache knows it
                write.execute("INSERT INTO vectors VALUES (?, ?)", (fact * 16 * 2, number))


@pytest.mark.parametrize("kind", ["decision", "task", "turn", "event"])
def test_other_kinds_are_purged_too(memory: Memory, folder: Path, kind: str):
    """A decision with its links and its successor, a task whose text was corrected in place, a turn between others, an
    event's payload."""
    write: dict[str, Callable[[], int]] = {
        "decision": lambda: memory.decisions.decide(f"About {TEXT}", TEXT, context=TEXT, alternatives=[TEXT, "no"]),
        "task": lambda: memory.tasks.add_task(TEXT),
        "turn": lambda: memory.turns.add_turns("s", [NewTurn("user", "before"), NewTurn("user", TEXT)])[1],
        "event": lambda: memory.events.log("gate", payload={"deep": [{"said": TEXT}]}),
    }
    number = write[kind]()
    if kind == "decision":
        memory.commits.log(SHA, message="store: a link", author="José")
        memory.commits.link(SHA, number)
        memory.decisions.correct(number, f"no longer {TEXT}")
    if kind == "task":
        memory.tasks.correct(number, "something harmless")
    if kind == "turn":
        memory.turns.add_turns("s", [NewTurn("assistant", "after")])
    all_places(memory, (kind, number))
    assert traces(folder, TEXT, "zebrafish") == []
    with pytest.raises(NotFound):
        memory.purge.plan([(kind, number)])
    sound(memory)


# elsewhere ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def quoted(memory: Memory, tmp_path: Path) -> dict[str, str]:
    """A fact, and its words wherever else a memory can hold them, in other capitals, spaces and accents."""
    memory.facts.remember(TEXT)
    memory.decisions.decide("Change the hint", "soon", rationale=f"Because {TEXT.upper()}, they said")
    memory.facts.remember(f"Somebody wrote: {TEXT}", evidence=[TEXT], tags=["zebra"])
    task = memory.tasks.add_task(f"ask about {TEXT}")
    memory.tasks.correct(task, "ask about it")
    memory.turns.add_turns("s", [NewTurn("user", TEXT.replace(" ", "\n  ")), NewTurn("user", "hm")])
    memory.events.log("note", payload={TEXT: [TEXT.replace("é", "e\u0301")]})
    memory.commits.log(SHA, message=f"fix: {TEXT}", author="José")
    memory.iterations.start_iteration("fix", TEXT)
    memory.checkpoints.take_checkpoint(TEXT)
    memory.search.log.add_query(TEXT)
    (tmp_path / "MEMORY.md").write_text(f"# Notes\n\n{TEXT}\n")
    memory.documents.update_index()
    exporter.save_export(memory.database, str(tmp_path / "old.json"))
    (tmp_path / "theirs.json").write_text(json.dumps({"said": TEXT}))
    return {}


def test_every_other_place_is_named_and_chosen(memory: Memory, quoted):
    """Found from the registry, each with what stands there; all that can be scrubbed is, unless a person says so."""
    plan = memory.purge.plan([("fact", 1)])
    assert [one.citation for one in plan.going] == ["F#1"]
    assert {
        place.citation: (place.what, at in plan.default_places(), place.can) for at, place in enumerate(plan.places)
    } == {
        "D#1": ("decision", True, True),
        "F#2": ("fact", True, True),
        "A#1": ("what it said before", True, True),
        "T#1": ("turn", True, True),
        "E#1": ("event", True, True),
        "C#a1b2c3d": ("commit", True, True),
        "I#1": ("iteration", True, True),
        "K#1": ("checkpoint", True, True),
        "a query you asked": ("a query you asked", True, True),
        "MEMORY.md#L3": ("your file", True, True),
        "old.json": ("an export: export again, and delete it", False, False),
    }
    with pytest.raises(InvalidInput, match="cannot be erased: an export"):
        memory.purge.run_plan(plan, range(len(plan.places)))
    assert memory.facts.get(1).fact == TEXT, "nothing was done"


def test_what_is_left_out_stays_and_is_reported(memory: Memory, folder: Path, quoted):
    plan = memory.purge.plan([("fact", 1)])
    done = memory.purge.run_plan(plan, [at for at, place in enumerate(plan.places) if place.table == "queries"])
    left = ("D#1", "F#2", "A#1", "T#1", "E#1", "C#a1b2c3d", "I#1", "K#1", "MEMORY.md#L3", "old.json")
    assert {place.citation for place in done.left} == {*left}
    assert memory.facts.get(2).fact == f"Somebody wrote: {TEXT}", "not chosen, not touched"
    assert memory.search.log.recent_queries() == []
    assert {form for _, form in traces(folder, TEXT)} >= {"raw"}


def test_scrubbed_everywhere_there_is_no_byte(memory: Memory, folder: Path, tmp_path: Path, quoted):
    """Once the old export is deleted; the rest of what was quoted in stays, and can still be taken back."""
    (tmp_path / "old.json").unlink()
    done = all_places(memory, ("fact", 1))
    assert (done.purged, done.scrubbed, done.left) == (1, 10, ())
    assert (tmp_path / "MEMORY.md").read_text() == "# Notes\n\n"
    assert traces(folder, TEXT, TEXT.replace("é", "e\u0301"), "zebrafish") == []
    assert [one for one in search_files([TEXT], files_of(memory.database.path)) if one.found] == []
    assert memory.facts.get(2).fact == "Somebody wrote: [purged]"
    assert memory.facts.get(2).evidence == ("[purged]",) and memory.facts.get(2).tags == ("zebra",)
    assert memory.decisions.get(1).rationale == "Because [purged], they said"
    assert memory.events.get(1).payload == {"[purged]": ["[purged]"]}
    assert memory.turns.get(1).text == "[purged]" and memory.turns.get(2).text == "hm"
    assert memory.commits.get(SHA).message == "fix: [purged]"
    assert memory.facts.remember("Somebody wrote: [purged]") == (2, False), "its hash follows its text"
    sound(memory)
    memory.history.undo(step_of(memory, "correct A#1"))
    assert memory.tasks.get(1).text == "ask about [purged]"


def step_of(memory: Memory, reason: str) -> int:
    return next(step.seq for step in memory.history.steps() if step.reason == reason)


def test_words_that_are_too_short_or_parts_of_others_are_left_alone(memory: Memory):
    """`WAL` stands in too many texts to mean the same; a short word is looked for whole."""
    texts = ["cat", "a cat sat", "tests", "attests to it", "the Tests pass", "the team has 5", "the team has 50 people"]
    for text in (*texts, "日本語の秘密", "彼は日本語の秘密を知っている"):
        memory.facts.remember(text)
    for purged, quoted in ((1, []), (3, ["F#5"]), (6, []), (8, ["F#9"])):
        assert [place.citation for place in memory.purge.plan([("fact", purged)]).places] == quoted


@pytest.mark.parametrize("text", ["été", "ab", "🦄", "5 %"])
def test_a_text_that_is_too_short_to_be_cut_is_named_where_it_is_left(memory: Memory, text: str):
    """By the proof, as a word of a record; a file with its bytes does not say which."""
    memory.facts.remember(text)
    task = memory.tasks.add_task(f"buy {text} soon")
    memory.facts.remember("something else")
    plan = memory.purge.plan([("fact", 1)])
    memory.purge.run_plan(plan)
    left = find_traces(memory.database, memory.documents, plan.texts, plan.names, erased=True)
    assert [(place.citation, place.can) for place in left.places] == [(f"A#{task}", False)]
    memory.purge.run_plan(memory.purge.plan([("task", task)]))
    assert find_traces(memory.database, memory.documents, plan.texts, plan.names).places == ()


def test_many_short_texts_are_looked_for_in_one_reading(memory: Memory, monkeypatch: pytest.MonkeyPatch):
    """A purge of many old turns has hundreds of them: *ok*, *no*, *sí*."""
    for text in ("Así es, OK? sí", "okay, knob", "it is 5 %, no more"):
        memory.facts.remember(text)
    read, rows = list[str](), Database.rows
    monkeypatch.setattr(Database, "rows", lambda self, sql, *rest: read.append(sql) or rows(self, sql, *rest))
    texts = ["ok", "no", "SÍ", "5 %", "ok", "", *(f"z{number}" for number in range(99))]
    found = column_scan.find_short_matches(memory.database, texts)
    assert [place.citation for place in found] == ["F#1", "F#3"]
    assert sum("FROM facts" in sql for sql in read) == 1


def test_many_texts_are_found_as_one_is():
    """Looked for by their rarest words when there are many: the same is found, in the same texts."""
    texts = [f"José's old office number {number}" for number in range(40)] + ["日本語の秘密", "a b cd"]
    held = [f"(JOSE\u0301'S  old\noffice number {number})" for number in range(0, 60, 7)]
    held += ["x日本語の秘密y", "A  B cd!", "zebra"]
    many = PurgedTexts(texts)
    for text in held:
        assert many.occur_in(text) == any(PurgedTexts([one]).occur_in(text) for one in texts), text
    assert sum(map(many.occur_in, held)) == 8


def test_words_are_cut_out_of_json_and_never_break_it():
    """An escape before the word, a key, a text inside a text that is JSON itself."""
    words = PurgedTexts(["necklace of gold", 'say "no" twice'])
    for tree in (
        {"a": "\necklace of gold \\necklace of gold", "necklace of gold": 1},
        {"inner": json.dumps(["a necklace  of\tGold", 'SAY "no" twice'])},
        ["necklace of gold"],
    ):
        cut = words.cut(json.dumps(tree))
        json.loads(cut)
        assert not words.occur_in(cut) and "gold" not in cut.lower().replace("\\necklace of gold", "")
    assert words.cut("{ not JSON, necklace of gold") == "{ not JSON, [purged]"


def test_what_was_told_of_it_goes_with_it(memory: Memory):
    """Where secrets were cut out of it; and how full the window of a session was, of which no turn is left."""
    secret = "ghp" + "_" + "a1B2c3D4e5" * 4
    memory.facts.remember(f"{TEXT}, with {secret}")
    memory.facts.remember(f"what stays, with {secret}")
    for session in ("gone", "stays", "never said a word"):
        memory.checkpoints.record_usage(150_000, session=session)
    memory.turns.add_turns("gone", [NewTurn("user", f"one {secret}"), NewTurn("user", "two")])
    memory.turns.add_turns("stays", [NewTurn("user", "three"), NewTurn("user", "four")])
    all_places(memory, ("fact", 1), ("turn", 1), ("turn", 3))
    assert memory.database.rows("SELECT tbl, record FROM redactions") == [("facts", 2)]
    told = "SELECT session FROM context_usage ORDER BY 1"
    assert memory.database.rows(told) == [("gone",), ("never said a word",), ("stays",)], "there are turns left"
    all_places(memory, ("turn", 2))
    assert memory.database.rows(told) == [("never said a word",), ("stays",)]


# what stays ---------------------------------------------------------------------------------------------------------


def test_neighbours_can_be_undone_and_the_purged_cannot(memory: Memory):
    """`u` goes past the purge; a step that was about others too takes them back; one that was about it alone says why
    not; an undo of everything somebody wrote, a restore and a look back know that something was there."""
    memory.facts.remember("the team is five")
    memory.facts.remember(TEXT)
    memory.checkpoints.take_checkpoint("both")
    memory.facts.forget([1, 2])
    memory.facts.pin([memory.facts.remember("deploys on Fridays")[0]])
    all_places(memory, ("fact", 2))
    with pytest.raises(Conflict, match="holds text that was erased"):
        memory.history.undo(2)
    reasons = [memory.history.undo().reason for _ in range(3)]
    assert reasons == ["pin F#3", "remember F#3", "forget F#1 F#2"]
    assert memory.facts.get(1).status == "active"
    memory.history.redo()
    assert memory.facts.get(1).status == "forgotten"
    plan = Plans(memory.database).plan_checkpoint(1)
    blocked = {change.citation: change.blocked for change in plan.changes}
    assert blocked == {"F#1": "", "F#2": "What F#2 said was erased."}
    assert [change.title for change in plan.changes if change.blocked] == ["[purged]"]
    assert [change.citation for change in Plans(memory.database).plan_origin("user").changes] == ["F#1"]
    assert TEXT not in str([memory.history.changes(step.seq) for step in memory.history.steps()])
    sound(memory)


@pytest.mark.parametrize("seed", range(4))
def test_after_any_life_the_rest_of_history_still_reverses(memory: Memory, live, seed: int):
    """A random life, then one fact and one decision purged: the chain holds, and what the others are is explained."""
    live(memory, range(seed * 200, seed * 200 + 120))
    memory.facts.remember(TEXT)
    memory.decisions.decide("Whether " + TEXT, "yes")
    fact, decision = (memory.database.value(f"SELECT max(id) FROM {table}") for table in ("facts", "decisions"))
    start = Plans(memory.database).plan_since(0)
    all_places(memory, ("fact", fact), ("decision", decision))
    sound(memory)
    now = {change.citation: change.now for change in Plans(memory.database).plan_since(0).changes if change.now}
    then = {change.citation: change.now for change in start.changes if change.now}
    assert now == {name: then[name] for name in then.keys() - {f"F#{fact}", f"D#{decision}"}}


def test_another_project_is_not_touched(memory: Memory, tmp_path: Path):
    """The same text in a neighbour's memory, in the same folder even, and in rows that were not shown."""
    beside = str(tmp_path / ".memoranda" / "other.db")
    with Memory.open(beside) as other:
        other.facts.remember(TEXT)
        before = other.database.rows("SELECT * FROM facts")
        (tmp_path / ".memoranda" / "backups").mkdir()
        shutil.copy(make_copy(other, tmp_path), tmp_path / ".memoranda" / "backups" / "other-1.db")
    memory.facts.remember(TEXT)
    memory.facts.remember("the team is five")
    memory.tasks.add_task("buy tea")
    kept = {table: memory.database.rows(f"SELECT * FROM {table}") for table in ("tasks", "decisions", "turns")}
    memory.purge.run_plan(memory.purge.plan([("fact", 1)]))
    assert kept == {table: memory.database.rows(f"SELECT * FROM {table}") for table in kept}
    assert memory.database.rows("SELECT id FROM facts") == [(2,)]
    with Memory.open(beside) as other:
        assert other.database.rows("SELECT * FROM facts") == before
    ours(tmp_path / ".memoranda" / "backups" / "other-1.db")
    with Memory.open(str(tmp_path / ".memoranda" / "backups" / "other-1.db")) as backup:
        assert backup.facts.get(1).fact == TEXT


def test_what_changed_while_it_was_shown_is_not_purged(memory: Memory):
    memory.facts.remember(TEXT)
    plan = memory.purge.plan([("fact", 1)])
    memory.facts.correct(1, "another text that nobody was shown")
    with pytest.raises(Conflict, match="Something changed while you looked; nothing was purged"):
        memory.purge.run_plan(plan)
    assert memory.database.value("SELECT count(*) FROM facts") == 2 and not is_purge_pending(memory.database)


def test_by_origin_goes_what_it_wrote_and_nothing_else(memory: Memory, folder: Path):
    memory.facts.remember("the team is five")
    for number in range(20):
        memory.facts.remember(f"{TEXT}, number {number}", actor="import:x")
    memory.tasks.add_task("from the notes, do it", actor="import:x")
    memory.events.log("import", payload="what was read in the notes", actor="import:xy")
    records = memory.purge.list_by_origin("import:x")
    assert len(records) == 21
    memory.purge.run_plan(memory.purge.plan(records))
    assert traces(folder, TEXT, "from the notes, do it") == []
    assert memory.facts.ids(memory.now) == [1] and memory.events.get(1).origin == "import:xy"
    with pytest.raises(NotFound, match="Nothing here was written by that origin"):
        memory.purge.list_by_origin("import:x")


# it does not come back ------------------------------------------------------------------------------------------------


def test_a_purged_text_is_known_again(memory: Memory, folder: Path):
    """By a keyed hash: however it is written, whoever writes it; and kept if a person says so."""
    memory.facts.remember(TEXT)
    memory.decisions.decide("Where to", "Berlin, all of us")
    all_places(memory, ("fact", 1), ("decision", 1))
    for text in (TEXT, f"  {TEXT.upper()}.", TEXT.replace(" ", "\t")):
        with pytest.raises(Purged, match="was purged on 2026-11-21"):
            memory.facts.remember(text, actor="import:notes")
    with pytest.raises(Purged):
        memory.decisions.decide("Where to", "Berlin, all of us.")
    with pytest.raises(Purged):
        memory.tasks.add_task(TEXT)
    memory.facts.remember("a hint")
    with pytest.raises(Purged):
        memory.facts.correct(2, TEXT)
    assert memory.facts.get(2).status == "active" and traces(folder, TEXT) == []
    number, new = memory.facts.remember(TEXT, again=True)
    assert new and memory.facts.get(number).fact == TEXT
    memory.facts.forget([number])
    assert memory.facts.remember(TEXT) == (number + 1, True), "its tombstone is gone"


def test_a_tombstone_tells_nothing_without_the_key(memory: Memory):
    """Two memories that purged the same text hold different hashes, and none is a plain hash of it."""
    memory.facts.remember(TEXT)
    all_places(memory, ("fact", 1))
    (stone,) = memory.database.rows(STONES)
    with Memory.open(memory.database.path.replace("memory.db", "other.db")) as other:
        other.facts.remember(TEXT)
        all_places(other, ("fact", 1))
        assert other.database.rows(STONES) != [stone]
    from store.database.tombstones import normal_form

    words = {hash for (hash,) in memory.database.rows("SELECT hash FROM tombstones WHERE length(hash) = 16")}
    plain = {hashlib.sha256(word.encode()).digest()[:15] for word in ("zebrafish", "blue", "the blue zebrafish")}
    assert words and not plain & {hash[:-1] for hash in words}
    assert hashlib.sha256(normal_form(TEXT).encode()).digest() != stone[0]


# backups ------------------------------------------------------------------------------------------------------------


def make_copy(memory: Memory, folder: Path) -> str:
    """A backup as SQLite makes it."""
    path = str(folder / f"copy-{memory.database.value('SELECT count(*) FROM history')}.db")
    target = apsw.Connection(path)
    with target.backup("main", memory.database.connection, "main") as backup:
        backup.step()
    target.close()
    return path


def test_backups_are_rewritten(memory: Memory, folder: Path):
    """Ours, beside the memory: without the text, with all the rest, as old as they were; also after a kill, when only
    tombstones tell what was purged."""
    backups = Path(backup_folder(memory.database.path))
    backups.mkdir(parents=True)
    memory.facts.remember("the team is five")
    memory.facts.remember(TEXT)
    memory.facts.remember(f"he said {TEXT}")
    shutil.move(make_copy(memory, folder), backups / "1.db")
    memory.facts.forget([2])
    shutil.move(make_copy(memory, folder), backups / "2.db")
    (backups / "3.db").write_bytes(b"not a memory at all")
    old = (backups / "1.db").stat().st_mtime_ns
    done = all_places(memory, ("fact", 2))
    assert (done.finished.rewritten, done.finished.removed) == (("1.db", "2.db"), ())
    assert done.finished.unread == ("3.db",)
    assert traces(folder, TEXT, "zebrafish") == traces(backups, TEXT, "zebrafish") == []
    assert (backups / "1.db").stat().st_mtime_ns == old
    ours(backups / "1.db")
    with Memory.open(str(backups / "1.db")) as backup:
        assert [fact.fact for fact in backup.facts.get_many([1, 2, 3])] == ["the team is five", "he said [purged]"]
        sound(backup)
    assert sorted(path.name for path in backups.iterdir()) == ["1.db", "2.db", "3.db"]


def test_a_backup_that_was_rewritten_is_still_whole(memory: Memory, folder: Path):
    """It was changed on purpose, and is not taken for rotten; its text is gone from it all the same."""
    memory.facts.remember("the team is five")
    memory.facts.remember(TEXT)
    made = backup.make_backup(memory.database)
    memory.facts.remember(f"only later: {TEXT}")
    later = backup.make_backup(memory.database)
    assert made is not None and later is not None
    done = memory.purge.run_plan(memory.purge.plan([("fact", 2)]), [])
    assert done.finished.rewritten == (made.name, later.name)
    assert backup.verify_backup(memory.database, made.path) == (made.path, "")
    done = memory.purge.run_plan(memory.purge.plan([("fact", 3)]))
    assert done.finished.rewritten == (later.name,), "there was nothing in the first any more"
    assert backup.verify_backup(memory.database, made.path) == (made.path, "")
    assert backup.verify_backup(memory.database) == (later.path, "") and traces(folder, TEXT, "zebrafish") == []
    raw = bytearray(Path(made.path).read_bytes())
    raw[80] = 1  # of the header, where SQLite does not look
    Path(made.path).write_bytes(raw)
    memory.facts.remember("one more")
    memory.purge.run_plan(memory.purge.plan([("fact", 4)]))
    assert "its bytes are not those" in backup.verify_backup(memory.database, made.path)[1], "rot is not taken for ours"


def test_a_backup_that_cannot_be_rewritten_is_removed(memory: Memory, folder: Path):
    (folder / "backups").mkdir()
    memory.facts.remember(TEXT)
    backup = folder / "backups" / "1.db"
    shutil.move(make_copy(memory, folder), backup)
    raw = apsw.Connection(str(backup))
    raw.execute("DROP TABLE facts")
    raw.close()
    done = memory.purge.run_plan(memory.purge.plan([("fact", 1)]))
    assert done.finished.removed == ("1.db",) and not backup.exists()


def test_what_another_program_left_is_written_over(memory: Memory, folder: Path):
    """A tool that deletes without wiping leaves text in free pages: the proof sees it, and the file is written anew."""
    memory.facts.remember("the team is five")
    raw = apsw.Connection(memory.database.path)
    raw.pragma("secure_delete", 0)
    raw.execute("CREATE TABLE notes(text TEXT)")
    raw.executemany("INSERT INTO notes VALUES (?)", [(f"{TEXT} " * 30,) for _ in range(50)])
    raw.execute("DROP TABLE notes")
    raw.close()
    memory.facts.remember(TEXT)
    plan = memory.purge.plan([("fact", 2)])
    memory.purge.run_plan(plan)
    assert traces(folder, TEXT) != [], "the test needs something to find"
    assert find_traces(memory.database, memory.documents, plan.texts, plan.names, erased=True).is_clean
    assert traces(folder, TEXT) == [] and memory.facts.get(1).fact == "the team is five"


# the proof ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["José's zebrafish is «blue» today", "日本語の秘密の文章です", "plain words, all of them"]
)
def test_the_proof_reads_six_encodings(tmp_path: Path, text: str):
    """Each in a file of its own, among other bytes and over the edge of a part; in other capitals, spaces, accents."""
    import base64
    import unicodedata
    import urllib.parse

    pad = b"\x00\x01" * ((2 << 20) - 3)  # to just before the first part's end
    escaped = json.dumps(f'"{text}')[3:-1]
    files = {
        "raw": text.encode(),
        "capitals": text.upper().encode(),
        "apart": unicodedata.normalize("NFD", text).encode(),
        "spaces": text.replace(" ", "\r\n  ").encode(),
        "json": escaped.encode(),
        "le": text.encode("utf-16-le"),
        "be": text.lower().encode("utf-16-be"),
        "base64-0": base64.b64encode(text.encode()),
        "base64-1": base64.b64encode(b"a" + text.encode()),
        "base64-2": base64.b64encode(b"ab" + text.encode()),
        "other.gz": gzip.compress(b"unpacked: " + text.encode()),
        "gzip by another name": gzip.compress(b"unpacked: " + text.encode("utf-16-le")),
        "percent": b"?q=" + urllib.parse.quote(text).encode(),
        "plus": b"?q=" + urllib.parse.quote_plus(text.upper()).encode(),
        "nothing": b"nothing of the kind",
    }
    for name, raw in files.items():
        (tmp_path / name).write_bytes((b"" if "gz" in name else pad) + raw + (b"" if "gz" in name else b"  end"))
    found = {Path(one.file).name: one.found for one in search_files([text], [str(tmp_path / name) for name in files])}
    wanted = {"raw", "capitals", "apart", "spaces", "le", "be", "base64-0", "base64-1", "base64-2", "other.gz"}
    wanted |= {"gzip by another name", "percent", "plus"}
    if "\\" in escaped:
        wanted.add("json")
        assert found["json"] == ("JSON",)
    assert {name for name, how in found.items() if how} - {"json"} == wanted - {"json"}
    assert found["percent"] == found["plus"] == ("percent",)
    assert found["le"] == ("UTF-16LE",) and found["be"] == ("UTF-16BE",) and found["base64-1"] == ("base64",)
    assert search_files([text], [str(tmp_path / "missing")])[0].size == -1


def test_files_that_others_rename_and_remove_during_the_proof(memory: Memory, folder: Path, monkeypatch):
    """Another process writes beside the memory: what is gone holds nothing, and what it was renamed to is read too."""
    memory.facts.remember(TEXT)
    for name in ("renamed.part", "removed.part"):
        (folder / name).write_text(TEXT)

    def late(texts: Iterable[str], paths: Sequence[str]) -> list[PurgeVerdict]:
        if str(folder / "removed.part") in paths:
            (folder / "removed.part").unlink()
            (folder / "renamed.part").rename(folder / "renamed")
        return search_files(texts, paths)

    monkeypatch.setattr("store.purge.proof.search_files", late)
    left = find_traces(memory.database, memory.documents, [TEXT])
    assert not left.unread_files
    assert folder / "renamed" in {Path(one.file) for one in left.files_with_text}
    assert not {"renamed.part", "removed.part"} & {Path(one.file).name for one in left.verdicts}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_each_of_many_texts_is_found_as_it_is_alone(tmp_path: Path, encoding: str):
    """Texts of the same words but for a figure or two, far from the longest of them, and some without any run of plain
    letters: whatever tells one from the others, it is found wherever it stands."""
    texts = [f"Deploy target staging {number}" for number in range(30)]
    texts += [f"{number} is of a b c d e f g h i j k l m n o p q the internationalization" for number in range(30)]
    texts += [f"ñandú ñandú {sign} ñu" for sign in "áéíóú"] + ["日本語の秘密の文章です", "日本語の秘密の文章だ"]
    for place, text in enumerate(texts):
        (tmp_path / str(place)).write_bytes(b"\0" * 600 + f" {text.upper()} ".encode(encoding) + b"\0" * 600)
    paths = [str(tmp_path / str(place)) for place in range(len(texts))]
    together = search_files(texts, paths)
    for text, path, one in zip(texts[::12], paths[::12], together[::12], strict=True):
        assert search_files([text], [path])[0].found == one.found, text
    assert [text for text, one in zip(texts, together, strict=True) if not one.found] == []


def test_a_long_text_is_found_by_a_piece(tmp_path: Path):
    """SQLite spreads a long text over pages: a part that was left behind is a trace too."""
    text = " ".join(f"word{number}" for number in range(400))
    (tmp_path / "part").write_bytes(b"...." + text[1000:1300].encode() + b"....")
    assert search_files([text], [str(tmp_path / "part")])[0].found == ("raw",)


def test_the_proof_reads_every_file_of_the_store(memory: Memory, tmp_path: Path):
    """A project's memory: the whole folder, exports and spool in it too. One named by a person: what has its name."""
    folder = tmp_path / ".memoranda"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "log").write_text(TEXT)
    names = {Path(file).name for file in files_of(memory.database.path)}
    assert {"memory.db", "memory.db-wal", "memory.db-shm", "memory.db-ballast", ".gitignore", "log"} == names
    (tmp_path / "notes.txt").write_text("somebody else's")
    (tmp_path / "backups").mkdir()
    (tmp_path / "backups" / "1.db").write_text("")
    with Memory.open(str(tmp_path / "named.db")) as named:
        files = {str(Path(file).relative_to(tmp_path)) for file in files_of(named.database.path)}
    assert files == {"named.db", "named.db-ballast", "named.db-shm", "named.db-wal", "backups/1.db"}


# unfinished ---------------------------------------------------------------------------------------------------------


def test_the_note_of_an_unfinished_purge_holds_no_text(memory: Memory, monkeypatch: pytest.MonkeyPatch, quoted):
    """A query's key is its text: what is noted for later is in the file until then."""
    monkeypatch.setattr("store.purge.cleanup.merge_search_index", Mock(side_effect=KeyboardInterrupt))
    plan = memory.purge.plan([("fact", 1)])
    with pytest.raises(KeyboardInterrupt):
        memory.purge.run_plan(plan, [at for at, place in enumerate(plan.places) if place.can])
    note = memory.database.value("SELECT value FROM meta WHERE key = 'purge.pending'")
    assert "zebrafish" not in note and json.loads(note) == {"left": [], "guard": False}
    monkeypatch.undo()
    assert maintenance.is_cleanup_due(memory)
    maintenance.clean_up_memory(memory)
    assert not maintenance.is_cleanup_due(memory) and not is_purge_pending(memory.database)


def test_the_ballast_is_private_comes_back_and_holds_no_word_by_chance(memory: Memory):
    ballast = Path(f"{memory.database.path}-ballast")
    assert ballast.stat().st_size == 128 << 10 and stat.S_IMODE(ballast.stat().st_mode) == 0o600
    ballast.unlink()
    maintenance.clean_up_memory(memory)
    assert ballast.stat().st_size == 128 << 10
    no_text = set(b"\xc0\xc1") | set(range(0xF5, 0x100))
    assert set(ballast.read_bytes()) == no_text
    ballast.write_bytes(b"..zip..")  # as an older version may have
    memory.facts.remember("zip")
    memory.purge.run_plan(memory.purge.plan([("fact", 1)]))
    assert not any(verdict.found for verdict in search_files(["zip"], [str(ballast)]))
    assert set(ballast.read_bytes()) == no_text


def test_packed_history_is_purged_too(memory: Memory, folder: Path):
    """The record's own rows and another's that quote it, in blocks; the neighbours stay, and the chain is whole."""
    memory.facts.remember("the team is five")
    memory.facts.remember(TEXT)
    memory.tasks.add_task(f"ask about {TEXT}")
    memory.tasks.correct(1, "ask about it")
    assert compression.pack_history(memory.database, 0, 0, least=1) >= 1
    done = all_places(memory, ("fact", 2))
    assert not done.finished.pending
    assert traces(folder, TEXT, "zebrafish") == []
    inside = [row for row in read_all_rows(memory.database) if "zebrafish" in repr(row)]
    assert inside == [] and memory.history.changes(1)[0].after is not None
    assert [one.says for one in examine(memory.location) if one.state == WRONG] == []
    assert memory.history.undo(1).seq == 1


def test_the_proof_sees_what_is_packed(memory: Memory, folder: Path):
    """Compressed, its bytes tell nothing: blocks are unpacked, by the same other process."""
    memory.tasks.add_task(TEXT)
    memory.tasks.correct(1, "ask somebody")
    assert compression.pack_history(memory.database, 0, 0, least=1) >= 1
    memory.database.checkpoint_wal()
    assert TEXT.encode() not in Path(memory.location.path).read_bytes()
    (found,) = [one.file for one in search_files([TEXT], files_of(memory.database.path)) if one.found]
    assert found == memory.location.path
    packed = folder / "copy"
    packed.write_bytes(gzip.compress(Path(memory.location.path).read_bytes()))
    assert search_files([TEXT], [str(packed)])[0].found == ("raw",), "a memory that somebody packed"
