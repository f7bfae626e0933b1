"""Import: what left comes back, into an empty memory byte for byte, into one that has data by identity; what is broken
or hostile changes nothing and is told where."""

import gzip
import hashlib
import json
import os
import random
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import Clock, examples
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.cases import load_cases

from store.base.errors import BrokenDocument, Conflict, InvalidInput, MemorandaError, NewerFile, NotFound, UnsafeFile
from store.context.selection import find_accepted_ids
from store.conversations.summaries import Summaries
from store.conversations.turns import NewTurn
from store.database.change_capture import encode_for_hash
from store.database.schema import JOURNAL_TABLES, RECORDED_TABLES, SCHEMA_VERSION
from store.database.tombstones import add_tombstones, decision_text
from store.doors.trust import get_unconfirmed_origin, task_origins
from store.exchange import backups, exporter
from store.exchange.export_schema import EXPORT_TABLES, export_columns, export_json_schema
from store.exchange.importer import END_COLUMNS, IDENTITY_COLUMNS, UNMERGED_TABLES, Import, merge_memory
from store.history.restore_plan import Plans
from store.memory import Memory
from store.search import fulltext as corpus

SECRET = "ghp_" + "Zq7Xv2Lk9Rt4Wm1Bn8Pc5Hd3Jf6Gs0Ya2UeQ"  # put together here, so that no scanner finds it
SHA = "a1b2c3d4" * 5
STORES = int(os.environ.get("MEMORANDA_STORES", "7"))  # that the round trip is tried on; 2,000 for a whole proof


def document(memory: Memory) -> bytes:
    return b"".join(exporter.export_bytes(memory.database))


def imported(memory: Memory, path: object, strategy: str = "mine") -> Import:
    """A document that was brought in."""
    with Import(memory.database, os.fspath(path), strategy) as found:  # type: ignore[call-overload]
        if found.changes:
            found.apply_import()
        return found


def refused(memory: Memory, path: object, error: type[MemorandaError], why: str) -> None:
    with pytest.raises(error, match=why):
        Import(memory.database, os.fspath(path))  # type: ignore[call-overload]


def state(memory: Memory, tables: Sequence[str] = EXPORT_TABLES) -> list[list[tuple[Any, ...]]]:
    """Every row of every table that an export holds."""
    return [memory.database.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables]


def whole(memory: Memory) -> None:
    """Nothing refers into the void, and the index agrees with the records."""
    assert memory.database.rows("PRAGMA foreign_key_check") == []
    corpus.check_text_index(memory.database)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Memory]:
    """A second memory, empty."""
    with Memory.open(str(tmp_path / "other" / ".memoranda" / "memory.db"), "cli", Clock()) as memory:
        yield memory


@pytest.fixture
def told(memory: Memory, tmp_path: Path, live: Any) -> Path:
    """An export of a memory with something in every table."""
    live(memory, range(200))
    memory.turns.add_turns("a session", [NewTurn("user", "hello"), NewTurn("assistant", "hi")])
    Summaries(memory.database).summarize_due(all_of_it=True)
    memory.mutes.mute(memory.facts.ids(memory.now)[:1])
    memory.inbox.propose("add", {"fact": "the office moves to Girona"}, origin="mcp:claude-code")
    assert all(memory.database.value(f"SELECT count(*) FROM {table}") for table in (*RECORDED_TABLES, *JOURNAL_TABLES))
    path = tmp_path / "told.json"
    exporter.save_export(memory.database, str(path))
    return path


# the form -------------------------------------------------------------------------------------------------------------


def published_schema() -> Any:
    return json.loads((Path(exporter.__file__).parent / "export.schema.json").read_text(encoding="utf-8"))


def test_no_column_is_left_out_of_export_schema_or_import(memory, told, other):
    """Found from the schema of the file: each column of each recorded and journal table is in the published schema, in
    each row of an export, and has its value again after an import. The published file is the one that the schema gives.
    """
    published = published_schema()
    current = export_json_schema(memory.database.connection, SCHEMA_VERSION)
    assert published == current, "run python -m store.exchange.export_schema"
    rows = json.loads(told.read_text(encoding="utf-8"))["tables"]
    imported(other, told)
    for table in (*RECORDED_TABLES, *JOURNAL_TABLES):
        names = [name for (name,) in memory.database.rows("SELECT name FROM pragma_table_info(?)", (table,))]
        described = published["properties"]["tables"]["properties"][table]["items"]
        assert described["required"] == list(described["properties"]) == names
        assert all(list(row) == names for row in rows[table])
        for name in names:
            values = [memory.database.rows(f"SELECT {name} FROM {table} ORDER BY 1") for memory in (memory, other)]
            assert values[0] == values[1] and values[0], f"{table}.{name}"


def test_every_table_is_merged_by_an_identity_or_stays_for_a_reason():
    """A new table fails here until somebody has thought about what the same record in another file is."""
    assert {*IDENTITY_COLUMNS, *END_COLUMNS, *UNMERGED_TABLES} == {*RECORDED_TABLES, *JOURNAL_TABLES}


def test_what_is_exported_is_valid_by_the_published_schema(memory, told):
    """Types, closed lists, patterns and required names, checked value by value."""
    validator = Draft202012Validator(published_schema())
    assert list(validator.iter_errors(json.loads(told.read_text(encoding="utf-8")))) == []
    broken = json.loads(told.read_text(encoding="utf-8"))
    broken["tables"]["facts"][0]["confidence"] = "hgih"
    broken["tables"]["facts"][1]["more"] = True
    del broken["tables"]["facts"][2]["fact"]
    faults = sorted(error.json_path for error in validator.iter_errors(broken))
    assert faults == ["$.tables.facts[0].confidence", "$.tables.facts[1]", "$.tables.facts[2]"]


def test_the_checksums_can_be_verified_with_ordinary_tools(told):
    """As the published schema describes them: of the bytes between a table's brackets, and of all before the last."""
    data = told.read_bytes()
    claimed = json.loads(data)
    for table, digest in claimed["checksums"].items():
        start = data.index(f'"{table}": [\n'.encode()) + len(f'"{table}": [\n')
        end = re.compile(rb"^\],?$", re.MULTILINE).search(data, start)
        assert end and hashlib.sha256(data[start : end.start()]).hexdigest() == digest
    assert hashlib.sha256(data[: data.index(b'"checksum":')]).hexdigest() == claimed["checksum"]


def test_packed_it_is_the_same_document_and_the_same_bytes_each_time(memory, told, tmp_path):
    """No time and no name in it, and `gunzip` gives the document."""
    for name in ("one.json.gz", "two.gz"):
        exporter.save_export(memory.database, str(tmp_path / name), compressed=True)
    packed = (tmp_path / "one.json.gz").read_bytes()
    assert packed == (tmp_path / "two.gz").read_bytes()
    assert gzip.decompress(packed) == told.read_bytes() and len(packed) < len(told.read_bytes()) / 3


# into an empty memory -------------------------------------------------------------------------------------------------


def plans() -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, 10_000), max_size=40)


@given(plans(), plans())
@example([], [])
@settings(deadline=None, max_examples=STORES, suppress_health_check=list(HealthCheck))
def test_what_left_comes_back_byte_for_byte_and_twice_changes_nothing(tmp_path_factory, live, mine, theirs):
    """For any life of a memory: export → import → export gives the same bytes. Brought into a memory with a life of its
    own it loses nothing that was there; the second time nothing changes, whichever side wins; and one undo takes the
    records back."""
    folder = tmp_path_factory.mktemp("stores")
    path = folder / "told.json.gz"
    with Memory.open(str(folder / "one.db"), "cli", Clock()) as one:
        live(one, mine)
        exporter.save_export(one.database, str(path), compressed=True)
        before = document(one)
    with Memory.open(str(folder / "two.db"), "mcp", Clock("2027-01-01T00:00:00.000Z")) as two:
        imported(two, path)
        assert document(two) == before
        again = imported(two, path)
        assert again.changes == 0 and document(two) == before
        whole(two)
    with Memory.open(str(folder / "three.db"), "cli", Clock("2026-11-21T12:00:00.100Z")) as three:
        live(three, theirs)
        facts = three.database.rows("SELECT id, fact FROM facts")
        recorded = state(three, RECORDED_TABLES)
        with Import(three.database, str(path)) as found:
            step = found.apply_import() if found.changes else None
        assert set(facts) <= set(three.database.rows("SELECT id, fact FROM facts"))
        whole(three)
        once = state(three)
        assert imported(three, path).changes == 0 and state(three) == once
        imported(three, path, "replace")
        assert imported(three, path, "replace").changes == 0
        whole(three)
    if step is not None:
        with Memory.open(str(folder / "three.db"), "cli", Clock("2026-11-22T12:00:00.100Z")) as three:
            for later in three.history.steps():
                if later.seq >= step:
                    three.history.undo(later.seq)
            assert state(three, RECORDED_TABLES) == recorded


def test_a_life_goes_on_where_it_came_to(told, other):
    """Undo, history and new ids go on as they would have in the first memory."""
    imported(other, told)
    last = other.database.value("SELECT seq FROM sqlite_sequence WHERE name = 'facts'")
    assert other.facts.remember("after the import") == (last + 1, True)
    step = other.history.undo()
    assert step.reason == f"remember F#{last + 1}"
    other.history.undo()
    whole(other)


def test_a_backup_and_another_memory_can_be_brought_in_too(memory, told, other, tmp_path):
    """A memory file instead of a document, also one that somebody has open; this memory itself cannot."""
    imported(other, memory.location.path)
    assert document(other) == told.read_bytes()
    refused(memory, memory.location.path, InvalidInput, "this memory itself")
    (tmp_path / "link.db").symlink_to(memory.location.path)
    refused(memory, str(tmp_path / "link.db"), InvalidInput, "this memory itself")


def test_nothing_is_left_of_the_reading(memory, told, other):
    """The scratch database has no name while it is filled, and none afterwards; nothing wider than 0600 was made."""
    folder = os.path.dirname(other.location.path)
    with Import(other.database, str(told)):
        log = ["memory.db-shm", "memory.db-wal"]
        assert sorted(os.listdir(folder)) == [".gitignore", "memory.db", "memory.db-ballast", *log]
    imported(other, told)
    assert all(stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) == 0o600 for name in os.listdir(folder))


# by identity ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def project(memory: Memory, tmp_path: Path) -> Path:
    """A small story with references in it, exported: a fact that supersedes another and rests on a decision, that
    decision with a commit, a task and an iteration."""
    memory.iterations.start_iteration("feature", "invoices")
    decision = memory.decisions.decide("Use SQLite", "SQLite, WAL")
    memory.commits.log(SHA, message="store: schema v1")
    memory.commits.link(SHA, decision)
    old, _ = memory.facts.remember("team of four", evidence=[f"D#{decision}", "C#a1b2c3d", "[K#1] and I#1", "F#99"])
    memory.facts.correct(old, "team of five")
    memory.tasks.add_task("write the migration")
    memory.turns.add_turns("s", [NewTurn("user", "hello")])
    memory.checkpoints.take_checkpoint("here")
    path = tmp_path / "project.json"
    exporter.save_export(memory.database, str(path))
    return path


def test_every_reference_follows_its_record(project, other):
    """The same ids are other records here: supersedes, iterations, links and citations in evidence come to mean the
    records that came along; what stays behind is cited as of its own file."""
    for text in ("one", "two", "three"):
        other.facts.remember(text)
    other.decisions.decide("Ours", "ours")
    other.iterations.start_iteration("fix", "ours")
    other.iterations.end_iteration()
    imported(other, project)
    new = other.facts.get(5)
    assert (new.fact, new.supersedes, new.origin) == ("team of five", 4, "user")
    assert other.facts.get(4).evidence == ("D#2", "C#a1b2c3d", "[project/K#1] and I#2", "project/F#99")
    assert [link.citation for link in other.facts.chain(5)] == ["F#4", "F#5"]
    decision = other.decisions.get(2)
    assert (decision.title, decision.iteration_id) == ("Use SQLite", 2)
    assert [link.commit for link in other.commits.links_of_decision(2)] == ["C#a1b2c3d"]
    assert other.tasks.get(1).iteration_id == 2
    assert other.iterations.get(2).description == "invoices"


def test_an_import_is_one_step_that_undo_takes_back(project, other):
    """By `import:NAME`, so that history says who; the journal keeps what came."""
    other.facts.remember("ours")
    before = state(other, RECORDED_TABLES)
    with Import(other.database, str(project)) as found:
        step = found.apply_import()
    assert step == 2 and other.history.get(2).actor == "import:project"
    assert Plans(other.database).plan_origin("import:project").changes
    other.history.undo(2)
    assert state(other, RECORDED_TABLES) == before
    assert other.commits.get(SHA).message == "store: schema v1"


def test_what_is_known_is_not_told_twice(project, other):
    """An active fact of the same text, in other capitals, is that fact; a superseded one is another record."""
    other.facts.remember("TEAM OF FIVE.")
    with Import(other.database, str(project)) as found:
        assert (found.counts["facts"].new, found.counts["facts"].differ) == (1, 1)
        found.apply_import()
    assert [fact.fact for fact in other.facts.get_many([1, 2])] == ["TEAM OF FIVE.", "team of four"]


def test_a_fact_that_was_corrected_there_is_corrected_here(memory, other, tmp_path):
    """Both had it; there it was superseded since. Keeping both active would be a contradiction."""
    memory.facts.remember("team of four")
    exporter.save_export(memory.database, str(tmp_path / "a.json"))
    other.facts.remember("something else")
    imported(other, tmp_path / "a.json")
    memory.facts.correct(1, "team of five")
    exporter.save_export(memory.database, str(tmp_path / "b.json"))
    with Import(other.database, str(tmp_path / "b.json")) as found:
        assert [one.sign for one in found.list_records() if one.kind == "fact"] == ["+", "~", "="]
        found.apply_import()
    facts = [(fact.fact, fact.status) for fact in other.facts.get_many([2, 3])]
    assert facts == [("team of four", "superseded"), ("team of five", "active")]


def test_mine_keeps_what_differs_and_replace_takes_it(memory, other, tmp_path):
    """The state of a record that both have; never its text, which is what it is known by. Both are undone in one."""
    for mem in (memory, other):
        mem.database.clock = Clock()
        mem.facts.remember("deploys on Fridays")
        mem.tasks.add_task("renew the certificate")
    other.facts.pin([1])
    memory.facts.forget([1])
    memory.tasks.move(1, "done")
    path = tmp_path / "theirs.json"
    exporter.save_export(memory.database, str(path))
    found = imported(other, path)
    assert (found.changes, found.counts["facts"].differ, found.counts["tasks"].differ) == (0, 1, 1)
    assert (other.facts.get(1).status, other.tasks.get(1).status) == ("active", "pending")
    imported(other, path, "replace")
    fact = other.facts.get(1)
    assert (fact.status, fact.pinned, other.tasks.get(1).status) == ("forgotten", False, "done")
    other.history.undo(other.history.steps(limit=1)[0].seq)
    assert (other.facts.get(1).status, other.facts.get(1).pinned) == ("active", True)
    with pytest.raises(InvalidInput, match="no such strategy"):
        Import(other.database, str(path), "theirs")


ORIGINS = [("user", True), ("mcp:codex", True), ("hook:git", True), ("talk:s", True), ("mcp:codex", False)]
ORIGINS += [("agent", False), ("hook:codex", False)]


@pytest.mark.parametrize("kind", ["export", "memory", "another's export"])
def test_an_import_confirms_nothing_and_keeps_what_was_confirmed(memory, other, tmp_path, kind):
    """Nor does it say which iteration is under way: the document's is abandoned where another is active here. Of this
    installation the origins stay; of another `import:NAME` wrote what was confirmed, and an agent there the rest."""
    memory.iterations.start_iteration("feature", "theirs")
    for number, (origin, confirmed) in enumerate(ORIGINS, 1):
        memory.decisions.decide(f"D{number}", "so", actor=origin)
        memory.tasks.add_task(f"A{number}", actor=origin)
        memory.facts.remember(f"F{number}", actor=origin)
        if confirmed and origin != "user":
            memory.decisions.confirm([number])
            memory.tasks.move(number, "done")
            memory.facts.confirm([number])
    path = Path(memory.location.path) if kind == "memory" else tmp_path / "theirs.json"
    own = kind != "another's export"
    exporter.save_export(memory.database, str(tmp_path / "theirs.json"))
    if not own:
        edit(path, lambda rows: None, seal=True)
    for here in (other, memory):
        here.database.clock = Clock("2027-01-01T00:00:00.000Z")
    other.facts.remember("ours")
    other.tasks.add_task("ours")
    other.decisions.decide("ours", "so")
    other.iterations.start_iteration("fix", "ours")
    merged = merge_memory(other.database, str(path))
    for place, (origin, confirmed) in enumerate(ORIGINS):
        number = place + 2
        agent = f"{'' if ':' in origin else 'mcp:'}{origin}@theirs"
        came = origin if own else "import:theirs" if confirmed else agent
        decision, task, fact = other.decisions.get(number), other.tasks.get(number), other.facts.get(number)
        assert (decision.origin, task.origin, fact.origin) == (came, came, came)
        was = memory.decisions.get(number - 1)
        assert (decision.decided_at, decision.confirmed_at) == (was.decided_at, was.confirmed_at)
        assert bool(get_unconfirmed_origin(decision)) is not confirmed
        assert bool(task_origins(other.database, [task])[task.citation]) is not confirmed
        assert (fact.id in find_accepted_ids(other.database, [fact])) is confirmed
        assert merged.numbers[was.citation] == decision.citation
    assert other.iterations.get(2).status == "abandoned" and other.iterations.active().id == 1
    before = state(other)
    again = merge_memory(other.database, str(path))
    assert (again.changes, again.numbers) == (0, merged.numbers) and state(other) == before


def test_what_was_erased_does_not_come_back(project, other):
    """What has a tombstone here stays out with its links, and what rests on it comes without it, also into a memory
    that is empty."""
    tables = json.loads(Path(project).read_text())["tables"]
    texts = [fact["fact"] for fact in tables["facts"]]
    texts += [decision_text(decision["title"], decision["chosen"]) for decision in tables["decisions"]]
    with other.database.write("user", "purge") as write:
        add_tombstones(write, [text for text in texts if text.startswith(("Use SQL", "team of f"))])
    for strategy in ("mine", "replace"):
        with Import(other.database, str(project), strategy) as f:
            assert [f.counts[table].left for table in ("facts", "decisions", "commit_links")] == [2, 1, 1]
            if f.changes:
                f.apply_import()
        assert other.database.value("SELECT count(*) FROM facts") == 0
        assert other.database.value("SELECT count(*) FROM decisions") == 0
        assert other.tasks.get(1).text == "write the migration"
    whole(other)


def test_a_memory_that_moved_on_is_not_merged_blindly(project, other):
    """What was shown is what is done: a write between the look and the yes is met."""
    other.facts.remember("ours")
    with Import(other.database, str(project)) as found:
        with Memory.open(other.location.path, "mcp", Clock()) as elsewhere:
            elsewhere.facts.remember("team of five")
        before = state(other)
        with pytest.raises(Conflict, match="changed since"):
            found.apply_import()
    assert state(other) == before
    imported(other, project)


def test_a_secret_in_a_document_is_cut_and_its_history_still_verifies(memory, other, tmp_path):
    """A document of a time before there was a rule: redacted like any other text, and in the rows of history too, which
    are then as a purge leaves them: without salt, and with the leaf that the chain needs."""
    memory.facts.remember("token PLACE")
    memory.facts.remember("harmless")
    path = tmp_path / "old.json"
    exporter.save_export(memory.database, str(path))
    path.write_text(path.read_text().replace("PLACE", SECRET))
    data = json.loads(path.read_text())
    previous = b""
    for step, row in zip(data["tables"]["history"], data["tables"]["history_row"], strict=True):
        said = encode_for_hash(*(row[name] for name in ("tbl", "pk", "op", "indirect", "before", "after")))
        row["leaf"] = hashlib.sha256(bytes.fromhex(row["salt"]) + said).hexdigest()
        step["rows_root"] = hashlib.sha256(bytes.fromhex(row["leaf"])).hexdigest()
        head = encode_for_hash(*(step[name] for name in ("seq", "at", "actor", "door", "reason", "undoes", "changes")))
        previous = hashlib.sha256(previous + head + bytes.fromhex(step["rows_root"])).digest()
        step["digest"] = previous.hex()
    write(path, data, seal=True)
    with Import(other.database, str(path)) as found:
        assert (found.whole, found.torn) == (True, "")
        assert found.redacted == {("facts", "fact", "GITHUB_TOKEN"): 1, ("history_row", "after", "GITHUB_TOKEN"): 1}
        found.apply_import()
    assert other.facts.get(1).fact == "token [REDACTED:GITHUB_TOKEN]"
    assert SECRET.encode() not in document(other)
    assert other.database.rows("SELECT purged, salt IS NULL FROM history_row ORDER BY seq") == [(1, 1), (0, 0)]
    again = str(tmp_path / "again.json")
    exporter.save_export(other.database, again)
    with Memory.open(str(tmp_path / "third.db")) as third, Import(third.database, again) as found:
        assert (found.whole, found.torn) == (True, "")


# broken and hostile ---------------------------------------------------------------------------------------------------


def edit(path: Path, change: Callable[[dict[str, Any]], object], seal: bool = False) -> None:
    """Change a document's rows as a program might, in its own layout; with `seal` the checksums are right again."""
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data["tables"])
    write(path, data, seal)


def write(path: Path, data: dict[str, Any], seal: bool) -> None:
    head = {name: data[name] for name in ("format", "version", "schema")}
    text = json.dumps(head)[:-1] + ',\n"tables": {\n'
    for place, (table, rows) in enumerate(data["tables"].items()):
        body = ",\n".join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
        body = body + "\n" if rows else ""
        text += f'"{table}": [\n{body}]' + (",\n" if place < len(data["tables"]) - 1 else "\n")
        if seal and "checksums" in data:
            data["checksums"][table] = hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
    text += f'}},\n"sequence": {json.dumps(data["sequence"])}'
    if "checksums" in data:
        text += f',\n"checksums": {json.dumps(data["checksums"])},\n'
        sum_ = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() if seal else data["checksum"]
        text += f'"checksum": "{sum_}"'
    path.write_bytes((text + "\n}\n").encode("utf-8", "surrogatepass"))


def changed(**values: object) -> Callable[[dict[str, Any]], object]:
    """A change of the second fact."""
    return lambda rows: rows["facts"][1].update(values)


def respelt(old: str, new: str) -> Callable[[dict[str, Any]], object]:
    """The second fact as JSON that no program of ours writes."""
    return lambda rows: rows["facts"].__setitem__(1, json.dumps(rows["facts"][1]).replace(old, new))


def instead(row: object) -> Callable[[dict[str, Any]], object]:
    """Something else in the place of the second fact."""
    return lambda rows: rows["facts"].__setitem__(1, row)


HOSTILE: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    **{name: (changed(**values), says) for name, (values, says) in load_cases(__file__)["changed"].items()},
    "a number that is none": (respelt("0.5", "NaN"), "facts, row 2: NaN is not a number"),
    "an exponent without end": (respelt("0.5", "1e999"), "facts, row 2: importance is a number that cannot be there"),
    "thousands of digits": (respelt("0.5", "9" * 5000), "facts, row 2 is not JSON"),
    "a name twice": (respelt("{", '{"id":1,'), "facts, row 2: id is there twice"),
    "a text that is nothing": (changed(fact=None), "facts, row 2: fact is not a text"),
    "a text without end": (changed(fact="x" * 20_001), "facts, row 2: fact has more than 20,000 characters"),
    "a column too few": (lambda rows: rows["facts"][1].pop("fact"), "facts, row 2: fact is missing"),
    "a row that is a list": (instead([["id", 1]]), "facts, row 2 is not an object"),
    "a row that is nested": (instead("[" * 100_000 + "]" * 100_000), "facts, row 2 is nested too deeply"),
    "a payload that is nested": (
        lambda rows: rows["events"].append({**EVENT, "payload": "[" * 900 + "]" * 900}),
        "events, row 1: payload is nested too deeply",
    ),
    "a link to nowhere": (
        lambda rows: rows["commit_links"][0].update(decision_id=5),
        "commit_links, row 1: decision_id refers to a row",
    ),
    "a commit that is none": (lambda rows: rows["commits"][0].update(sha="x"), "commits, row 1: sha has not the form"),
    "a blob that is none": (lambda rows: rows["history"][0].update(digest="xy"), "row 1: digest is not in hexadecimal"),
    "a turn told twice": (
        lambda rows: rows["turns"].append({**rows["turns"][0], "id": 2}),
        "turns, row 2: another row has the same session and number",
    ),
    "an unknown table": (lambda rows: rows.update(secrets=[]), "begins a table that is not expected there"),
    "bytes that are no text": (changed(fact="\udcff\ud800x"), "is not UTF-8"),
}
EVENT = {"id": 1, "iteration_id": None, "event_type": "x", "phase": "", "payload": "null", "origin": "agent"}
EVENT["created_at"] = "2026-11-21T12:00:00.000Z"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("empty", [True, False], ids=["into an empty memory", "into one that has data"])
def test_what_cannot_be_is_refused_and_said_where(project, other, name, empty):
    """Even if its checksums are right. Nothing is changed, nothing of the text is repeated, and the memory works on."""
    change, says = HOSTILE[name]
    edit(project, change, seal=True)
    if not empty:
        other.facts.remember("ours")
    before = state(other)
    with pytest.raises(BrokenDocument) as caught:
        Import(other.database, str(project))
    assert says in caught.value.message and caught.value.next == "Nothing was changed."
    assert state(other) == before
    assert other.facts.remember("and it works on")[1]


def test_a_cut_file_says_where_it_ends(project, other, tmp_path):
    """At any byte, packed or not: refused, or whole."""
    data = project.read_bytes()
    packed = gzip.compress(data)
    dice = random.Random(4)
    for source in (data, packed):
        for end in sorted(dice.sample(range(len(source) - 2), examples(20))):
            cut = tmp_path / "cut.json"
            cut.write_bytes(source[:end])
            refused(other, str(cut), BrokenDocument, "cannot be imported")
    middle = data.index(b'"decisions": [')
    (tmp_path / "cut.json").write_bytes(data[:middle])
    refused(other, str(tmp_path / "cut.json"), BrokenDocument, "it ends after facts, row 2")
    assert sum(map(len, state(other))) == 0


def test_any_changed_byte_is_noticed(project, other, tmp_path):
    """Documents and packed ones: refused, or (a bit that gzip has no use for) the same text."""
    dice = random.Random(5)
    text = project.read_bytes()
    for source in (text, gzip.compress(text, mtime=0)):
        for place in dice.sample(range(len(source)), examples(50)):
            data = bytearray(source)
            data[place] ^= 1 << dice.randrange(8)
            (tmp_path / "hurt.json").write_bytes(data)
            try:
                with Import(other.database, str(tmp_path / "hurt.json")) as found:
                    assert source is not text and gzip.decompress(data) == text and found.counts["facts"].new == 2
            except MemorandaError as error:
                assert "Defect" not in type(error).__name__
    assert sum(map(len, state(other))) == 0


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda rows: rows["history"][1].update(actor="somebody"), "step 2"),
        (lambda rows: rows["history_row"][1].update(after='{"status":"active"}'), "row 0 of step 2"),
        (lambda rows: rows["history_row"].pop(1), "the rows of step 2"),
        (lambda rows: rows["history_row"].pop(), "the rows of step 5"),
        (lambda rows: rows["history"][2].update(digest="00" * 32), "step 3"),
    ],
)
def test_a_history_that_does_not_hold_together_is_named_and_stays_behind(project, other, change, where):
    """Its rows were changed and the checksums made anew: the records come, as one step of this memory's own history."""
    edit(project, change, seal=True)
    with Import(other.database, str(project)) as found:
        assert not found.whole and found.torn == where
        found.apply_import()
    assert [step.actor for step in other.history.steps()] == ["import:project"]
    assert other.facts.get(2).fact == "team of five"


def test_an_edited_document_needs_its_checksum_and_moments_that_are_yet_to_come_are_told(project, other):
    """They are somebody's wrong clock: taken as they are, and said."""
    other.database.clock = Clock("2027-01-01T00:00:00.000Z")
    future = changed(created_at="2999-01-01T00:00:00.000Z")
    edit(project, future)
    refused(other, str(project), BrokenDocument, "the checksum of facts is another")
    edit(project, future, seal=True)
    with Import(other.database, str(project)) as found:
        assert found.ahead == {"facts": 1}


def test_an_older_document_is_read(project, other):
    """Version 1 had no checksums and spaces behind its colons; tables and columns that came later get what a migration
    gives them."""
    data = json.loads(project.read_text(encoding="utf-8"))
    data |= {"version": 1, "schema": 1}
    del data["checksums"], data["checksum"], data["tables"]["turns"]
    for fact in data["tables"]["facts"]:
        del fact["tags"]
    write(project, data, seal=False)
    imported(other, project)
    assert other.facts.get(2).tags == () and other.database.value("SELECT count(*) FROM turns") == 0
    data["schema"] = SCHEMA_VERSION  # where nothing is older, nothing may be missing
    write(project, data, seal=False)
    refused(other, str(project), BrokenDocument, "facts, row 1: tags is missing")


@pytest.mark.parametrize("field", ["version", "schema"])
def test_a_newer_document_is_refused_in_a_sentence(project, other, field):
    data = json.loads(project.read_text(encoding="utf-8"))
    data[field] += 1
    write(project, data, seal=True)
    with pytest.raises(NewerFile, match=r"project\.json was written by a newer Memoranda") as caught:
        Import(other.database, str(project))
    assert "pip install --upgrade" in caught.value.next


@pytest.mark.parametrize(
    "content, says",
    [
        (b"", "it ends after its first line"),
        (b"{}\n", "not an export of Memoranda"),
        (b"[1, 2]\n", "not an export of Memoranda"),
        (b"\x1f\x8bnot gzip at all", "the gzip file"),
        (b"SQLite format 3\0" + b"x" * 5000, "damaged"),
        (b'{"format": "memoranda-export", "version": "2", "schema": 2,\n', "names no version"),
        (b"# Notes\n", "not an export of Memoranda"),
    ],
)
def test_what_is_no_document_is_said_so(other, tmp_path, content, says):
    (tmp_path / "thing").write_bytes(content)
    refused(other, str(tmp_path / "thing"), BrokenDocument, says)


def test_what_is_no_export_for_programs_is_called_what_it_is(memory, other, tmp_path):
    """An export as Markdown, a folder, a pipe, nothing."""
    path = str(tmp_path / "thing.md.gz")
    text = partial(exporter.export_markdown, memory.database, "x", memory.now)
    exporter.save_export(memory.database, path, compressed=True, text=text)
    with pytest.raises(BrokenDocument, match=r"thing\.md\.gz is an export as Markdown, for people") as caught:
        Import(other.database, path)
    assert "JSON" in caught.value.next
    os.mkfifo(tmp_path / "fifo")
    for name, error in (("", UnsafeFile), ("fifo", UnsafeFile), ("nothing", NotFound)):
        with pytest.raises(error):
            Import(other.database, str(tmp_path / name))


def test_the_memory_file_that_is_damaged_is_named(memory, other, live, tmp_path):
    """Whichever page is, also within a table whose beginning can be read: never the memory that it is brought into."""
    live(memory, range(60))
    path = tmp_path / "copy.db"
    backups.save_backup_as(memory.database, str(path))
    whole, said = path.read_bytes(), list[MemorandaError]()
    for page in range(1, len(whole) // 4096, 2):
        path.write_bytes(whole[: page * 4096] + b"Z" * 4096 + whole[page * 4096 + 4096 :])
        try:
            Import(other.database, str(path)).close()
        except MemorandaError as error:
            said.append(error)
    assert [one.message for one in said if not one.message.startswith("copy.db cannot be imported: ")] == []
    assert len(said) > 10
    assert f"memoranda health --salvage {path}" in said[-1].next


def test_a_large_document_is_read_in_little_memory(memory, other, tmp_path):
    """Three thousand events: what Python holds of them at once is a fraction of the file."""
    import tracemalloc

    with memory.database.write("agent", "bulk") as write_:
        write_.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
            " INSERT INTO events(event_type, payload, created_at, origin)"
            " SELECT 'measured', json_quote(hex(zeroblob(150)) || i), '2026-11-21T12:00:00.000Z', 'agent' FROM n"
        )
    size = exporter.save_export(memory.database, str(tmp_path / "large.json"))
    tracemalloc.start()
    imported(other, tmp_path / "large.json")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < size / 5
    assert other.database.value("SELECT count(*) FROM events") == 3_000


def test_columns_know_their_words(memory):
    """Closed lists are read from the schema's own checks: a new one needs nothing here."""
    facts = {column.name: column for column in export_columns(memory.database.connection, "facts")}
    assert facts["pinned"].words == (0, 1) and "self_correction" in facts["domain"].words
    assert facts["created_at"].is_moment and not facts["fact"].pattern
