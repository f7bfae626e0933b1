"""The doctor and salvage where old history is packed: the same promises, wherever a row of history stands."""

import shutil
from pathlib import Path

import apsw
import pytest
from support.ours import ours

from bench.damage import live, look
from store.database.schema import RECORDED_TABLES
from store.history import compression
from store.memory import Memory
from store.rescue.salvage import salvage_file
from tests.support.chain import read_all_rows


@pytest.fixture(autouse=True)
def without_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A memory whose older steps are packed, in blocks of a thousand rows; 60 steps are not."""
    path = str(tmp_path_factory.mktemp("packed") / "memory.db")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("MEMORANDA_WITHOUT", "model")
        with Memory.open(path) as memory:
            live(memory, 1, 700)
            packed = compression.pack_history(memory.database, 36_500, 60, least=100)
            assert packed == 1 or memory.database.value("SELECT count(*) FROM history_block")
    return path


@pytest.fixture
def path(packed: str, tmp_path: Path) -> str:
    """A copy of it."""
    path = shutil.copy(packed, tmp_path / "memory.db")
    ours(path)
    return str(path)


def told(path: str) -> tuple[object, ...]:
    """Every record, every row of history wherever it stands, and the head."""
    with Memory.open(path) as memory:
        rows = {table: memory.database.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in RECORDED_TABLES}
        head = memory.database.value("SELECT digest FROM history ORDER BY seq DESC LIMIT 1")
        return rows, list(read_all_rows(memory.database)), head


def test_packed_history_is_healthy(path: str):
    with Memory.open(path) as memory:
        assert memory.database.value("SELECT count(*) FROM history_block") >= 1
        assert memory.database.value("SELECT count(*) FROM history_row") < 150
    assert look(path) == []


@pytest.mark.parametrize("column", ["directory", "texts", "salts"])
def test_a_block_that_was_changed_is_noticed(path: str, column: str):
    before = told(path)[0]
    connection = apsw.Connection(path)
    raw = bytearray(connection.execute(f"SELECT {column} FROM history_block LIMIT 1").get)
    raw[len(raw) // 2] ^= 4
    first = "(SELECT min(id) FROM history_block)"
    connection.execute(f"UPDATE history_block SET {column} = ? WHERE id = {first}", (bytes(raw),))
    connection.close()
    assert look(path) != []
    into = f"{path}.new"
    salvage_file(path, into)
    assert look(into) == []
    assert told(into)[0] == before, "the records are all there"


def test_a_record_that_was_changed_is_noticed(path: str):
    connection = apsw.Connection(path)
    connection.execute("UPDATE facts SET importance = 0.75 WHERE id = 3")
    connection.close()
    assert any(line.startswith("records: 1 record is not as history says: F#3") for line in look(path))


def test_packed_history_is_salvaged_whole(path: str):
    """Every row of history, in its table now, every digest worked out, the head the same."""
    salvage_file(path, f"{path}.new")
    assert told(f"{path}.new") == told(path) and look(f"{path}.new") == []
    with Memory.open(f"{path}.new") as memory:
        assert memory.database.value("SELECT count(*) FROM history WHERE digest = x'' OR rows_root = x''") == 0


def test_facts_are_made_again_from_packed_history(path: str):
    before = told(path)[0]
    connection = apsw.Connection(path)
    sql = "SELECT pageno FROM dbstat WHERE name = 'facts' AND pagetype = 'leaf'"
    pages = [page for (page,) in connection.execute(sql)]
    connection.close()
    raw = Path(path).read_bytes()
    for page in pages:
        raw = raw[: (page - 1) * 4096] + bytes(4096) + raw[page * 4096 :]
    Path(path).write_bytes(raw)
    salvage_file(path, f"{path}.new")
    assert told(f"{path}.new")[0] == before and look(f"{path}.new") == []
