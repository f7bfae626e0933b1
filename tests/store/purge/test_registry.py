"""Every place that keeps text is registered: the schema says which columns there are, and a canary which files."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.forks import run_command

from store.base import state_files as installation
from store.conversations.turns import NewTurn
from store.exchange import backups, exporter
from store.memory import Memory
from store.purge import file_eraser, registry
from store.purge.proof import find_traces
from store.purge.word_search import PurgedTexts

CANARY = "canaryquokka"
NUMBERS = ("INTEGER", "REAL")


def test_every_column_that_can_hold_text_is_registered(memory: Memory):
    """Each TEXT and BLOB column of the schema once, with what becomes of it; and nothing that the schema lacks."""
    columns = "SELECT name, type FROM pragma_table_info(?)"
    schema = {
        table: sorted(name for name, kind in memory.database.rows(columns, (table,)) if kind not in NUMBERS)
        for (table,) in memory.database.rows(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%'"
        )
    }
    known = registry.TEXT_TABLES.items()
    registered = {table: sorted([*kept.words, *kept.names, *kept.other]) for table, kept in known}
    assert registered == schema


def test_a_column_that_nobody_registered_is_searched_all_the_same(memory: Memory):
    """A table and a column of tomorrow: both are purged."""
    connection = memory.database.connection
    connection.execute("CREATE TABLE tomorrow(id INTEGER PRIMARY KEY, said TEXT, of TEXT)")
    connection.execute("ALTER TABLE turns ADD COLUMN heard TEXT")
    memory.facts.remember(f"the {CANARY} is blue")
    connection.execute(f"INSERT INTO tomorrow VALUES (1, 'no', 'the {CANARY} is blue')")
    memory.turns.add_turns("s", [NewTurn("user", "hm")])
    connection.execute(f"UPDATE turns SET heard = 'the {CANARY} is blue'")
    done = memory.purge.run_plan(memory.purge.plan([("fact", 1)]))
    assert done.scrubbed == 2 and done.left == ()
    assert find_traces(memory.database, memory.documents, [CANARY]).is_clean


def write_everything(memory: Memory, root: Path) -> None:
    """Say the canary by every writer that takes a person's words."""
    text = f"the {CANARY} is blue"
    memory.facts.remember(text, tags=[CANARY], evidence=[text])
    memory.facts.correct(1, f"{text} today")
    memory.decisions.decide(text, text, context=text, rationale=text, alternatives=[text], phase=CANARY)
    memory.tasks.add_task(text)
    memory.events.log(CANARY, phase=CANARY, payload={CANARY: text})
    memory.iterations.start_iteration(CANARY, text)
    memory.turns.add_turns(CANARY, [NewTurn("user", text, speaker=CANARY), NewTurn("assistant", f"{text}, yes")])
    memory.commits.log("a1b2c3d4" * 5, message=text, author=CANARY)
    memory.checkpoints.take_checkpoint(text)
    memory.checkpoints.record_usage(150_000, session=CANARY)
    memory.search.log.add_query(text)
    memory.context.sent_log.log_context(memory.context(text, session=CANARY))
    quote = {"citation": "T#1", "quote": text}
    memory.inbox.propose("add", {"fact": f"{text} again"}, evidence=[quote], origin=f"import:{CANARY}")
    (root / "MEMORY.md").write_text(f"# {text}\n\n{text}\n")
    memory.documents.update_index()
    backups.make_backup(memory.database)
    exporter.save_export(memory.database, str(root / "old.json"))


def test_no_column_holds_words_that_is_not_registered_to(memory: Memory, tmp_path: Path):
    write_everything(memory, tmp_path)
    tables = registry.list_text_tables(memory.database)
    columns = [(table, name) for table, kept in tables for name in (*kept.words, *kept.names, *kept.other)]
    look = f"SELECT 1 FROM {{}} WHERE CAST({{}} AS TEXT) LIKE '%{CANARY}%' LIMIT 1".format
    holding = {place for place in columns if memory.database.value(look(*place))}
    assert {("checkpoints", "name"), ("queries", "text"), ("proposals", "origin"), ("chunks", "text")} <= holding
    for table, name in holding:
        assert name not in registry.TEXT_TABLES[table].other, (table, name)


VERBS = (
    ("remember", f"the {CANARY} is blue"),
    ("decide", f"the {CANARY}", "--chosen", f"a blue {CANARY}"),
    ("task", "add", f"feed the {CANARY}"),
    ("facts",),
    ("search", CANARY),
    ("ask", f"what is the {CANARY}?"),
    ("context", CANARY),
    ("checkpoint", f"about the {CANARY}"),
    ("backup",),
    ("export", "old.json"),
    ("config", "agent.model", CANARY),
    ("timeline",),
    ("doctor",),
)


def test_no_file_holds_words_that_is_not_registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The public writers are run with a canary in a home of their own, also without a home's usual folders: wherever it
    stands afterwards, the registry has the file, and the proof reads it."""
    home = tmp_path / "home"
    project = home / "project"
    project.mkdir(parents=True)
    for name in ("CONFIG", "STATE", "CACHE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / f"xdg-{name.lower()}"))
    monkeypatch.setenv("HOME", str(home))
    assert run_command("init", cwd=project).returncode == 0
    with Memory.open(str(project / ".memoranda" / "memory.db")) as memory:
        write_everything(memory, project)
    for words in VERBS:
        run_command(*words, cwd=project)
    raw = CANARY.encode()
    holding = {str(file) for file in home.rglob("*") if file.is_file() and raw in file.read_bytes()}
    with Memory.open(str(project / ".memoranda" / "memory.db")) as memory:
        found = {one.file for one in find_traces(memory.database, memory.documents, [CANARY]).files_with_text}
        named = {place.key for place in find_traces(memory.database, memory.documents, [CANARY]).places}
    assert str(project / ".memoranda" / "memory.db") in holding and str(project / "old.json") in holding
    assert holding <= found, holding - found
    assert str(project / "old.json") in named and "MEMORY.md" in named


@pytest.mark.parametrize("what", ["settings", "recent", "export", "connection"])
def test_what_a_purge_cannot_reach_is_named_before_it_claims_anything(memory: Memory, tmp_path, monkeypatch, what: str):
    """In the plan, and after it; the proof is none."""
    from store.config.configuration import user_settings_path

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    memory.facts.remember(f"the {CANARY} is blue")
    if what == "export":
        exporter.save_export(memory.database, str(tmp_path / "old.json"))
    else:
        places = {"settings": user_settings_path(), "recent": os.path.join(installation.state_folder(), "recent")}
        path = Path(places.get(what, os.path.join(installation.state_folder(), "connections", "0123")))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# the {CANARY} is blue\n")
    plan = memory.purge.plan([("fact", 1)])
    (place,) = plan.places
    assert (
        not place.can
        and place.what
        == {
            "settings": "your settings: edit them",
            "connection": "a file of an agent as it was before it was connected: disconnect it",
            "recent": "the list of memories that were open before: open others",
            "export": "an export: export again, and delete it",
        }[what]
    )
    done = memory.purge.run_plan(plan)
    traces = find_traces(memory.database, memory.documents, plan.texts, plan.names, erased=True)
    assert done.left == (place,) and [one.file for one in traces.files_with_text] == [place.key]
    assert PurgedTexts(plan.texts).occur_in(f"the {CANARY} is blue")


def markdown(memory: Memory, path: Path, packed: bool = False) -> Path:
    def text():
        return exporter.export_markdown(memory.database, "x", memory.now)

    exporter.save_export(memory.database, str(path), compressed=packed, text=text)
    return path


EXPORTED: dict[str, Callable[[Memory, Path], Path]] = {
    "Markdown": lambda memory, folder: markdown(memory, folder / "out.md"),
    "packed Markdown": lambda memory, folder: markdown(memory, folder / "out", packed=True),
    "Markdown under another name": lambda memory, folder: markdown(memory, folder / "out.json"),
    "a document under another name": lambda memory, folder: saved(memory, folder / "out.txt"),
    "a packed document": lambda memory, folder: saved(memory, folder / "out", packed=True),
    "a document in the folder of the memory": lambda memory, folder: saved(
        memory, Path(memory.database.path).parent / "out.json.gz", packed=True
    ),
    "a bundle": lambda memory, folder: in_folder(memory, folder / "okf", "okf"),
    "a folder as Claude Code's": lambda memory, folder: in_folder(memory, folder / "notes", "claude-code"),
    "a backup elsewhere": lambda memory, folder: backed_up(memory, folder / "kept.db"),
}


def saved(memory: Memory, path: Path, packed: bool = False) -> Path:
    exporter.save_export(memory.database, str(path), compressed=packed)
    return path


def in_folder(memory: Memory, path: Path, form: str) -> Path:
    exporter.export_folder(memory.database, str(path), form)
    return path


def backed_up(memory: Memory, path: Path) -> Path:
    backups.save_backup_as(memory.database, str(path))
    return path


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", EXPORTED)
def test_every_export_is_named_wherever_it_was_written(tmp_path: Path, name: str):
    """Whatever its form and its name, also among signs that Markdown escapes and beside the memory itself: in the plan,
    and by the proof, until it is deleted."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    text = f"the *{CANARY}* is [blue] and_small"
    with Memory.open(str(tmp_path / "p" / ".memoranda" / "memory.db")) as memory:
        memory.facts.remember(text)
        path = EXPORTED[name](memory, elsewhere)
        plan = memory.purge.plan([("fact", 1)])
        assert plan.places and all(not place.can and place.table == "export" for place in plan.places)
        keys = {place.key for place in plan.places}
        memory.purge.run_plan(plan)
        left = find_traces(memory.database, memory.documents, plan.texts, plan.names, erased=True)
        found = {one.file for one in left.files_with_text} | keys
        assert {place.key for place in left.places} == keys
        assert all(file == str(path) or file.startswith(f"{path}/") for file in found), found
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        assert find_traces(memory.database, memory.documents, plan.texts, plan.names, erased=True).is_clean


def test_the_name_of_an_export_that_was_deleted_is_no_trace(memory: Memory, tmp_path: Path):
    memory.facts.remember(f"the {CANARY} is blue")
    saved(memory, tmp_path / f"the {CANARY} is blue.txt").unlink()
    plan = memory.purge.plan([("fact", 1)])
    memory.purge.run_plan(plan)
    assert find_traces(memory.database, memory.documents, plan.texts, plan.names, erased=True).is_clean


def test_a_backup_elsewhere_is_read_a_few_times_however_many_texts_are_purged(memory: Memory, tmp_path, monkeypatch):
    memory.facts.remember("the harbour is closed in winter")
    path = backed_up(memory, tmp_path / "kept.db")
    for number in range(100):
        memory.facts.remember(f"boat {number} is moored at pier {number}")
    boats = [("fact", number) for number in range(2, 102)]
    read, look = list[str](), file_eraser.search_file_bytes
    monkeypatch.setattr(file_eraser, "search_file_bytes", lambda file, search: read.append(file) or look(file, search))
    assert not memory.purge.plan(boats).places and len(read) == 1
    (place,) = memory.purge.plan([*boats, ("fact", 1)]).places
    assert (place.key, place.table, place.text) == (str(path), "export", "the harbour is closed in winter")
    assert len(read) < 12
