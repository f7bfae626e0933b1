"""A program's file of state becomes an iteration, its phases and events; what is no such file becomes nothing."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from store.config.configuration import user_settings_path
from store.doors import hook_handlers as state_file
from store.memory import Memory

STATE: dict[str, Any] = {
    "comando": "feature",
    "descripcion": "Export of invoices",
    "fase_actual": "arquitectura",
    "fase_numero": 2,
    "fases_completadas": [
        {"nombre": "producto", "resultado": "aprobado", "artefactos": ["docs/prd.md"], "completada_en": "2026-02-01"}
    ],
    "artefactos": ["docs/prd.md"],
    "creado_en": "2026-02-01T09:00:00Z",
}


def write(root: Path, state: object, name: str = state_file.ALFRED_STATE_FILE) -> None:
    path = root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(state if isinstance(state, str) else json.dumps(state))


def follow(memory: Memory, root: Path) -> int | None:
    return state_file.follow_state_files(memory, str(root), "hook:claude-code")


def told(memory: Memory) -> list[tuple[str, str, object]]:
    events = memory.events.get_many(memory.events.ids())
    return [(event.event_type, event.phase, event.payload) for event in events][::-1]


def test_the_life_of_a_piece_of_work(memory: Memory, tmp_path: Path) -> None:
    write(tmp_path, STATE)
    assert follow(memory, tmp_path) == 1
    assert follow(memory, tmp_path) is None  # it says nothing new
    iteration = memory.iterations.get(1)
    assert (iteration.command, iteration.description, iteration.status) == ("feature", "Export of invoices", "active")
    started = ("iteration_started", "", {"comando": "feature", "descripcion": "Export of invoices"})
    product: dict[str, object] = {"fase": "producto", "resultado": "aprobado", "completada_en": "2026-02-01"}
    product["artefactos"] = ["docs/prd.md"]
    assert told(memory) == [started, ("phase_completed", "producto", product)]

    phases = [*STATE["fases_completadas"], "arquitectura"]
    write(tmp_path, {**STATE, "fase_actual": "desarrollo", "fases_completadas": phases})
    follow(memory, tmp_path)
    assert told(memory)[2:] == [("phase_completed", "arquitectura", {"fase": "arquitectura"})]

    write(tmp_path, {**STATE, "fase_actual": "completado", "fases_completadas": phases})
    follow(memory, tmp_path)
    iteration = memory.iterations.get(1)
    assert (iteration.status, len(iteration.phases_completed)) == ("completed", 2)
    assert iteration.artifacts == ("docs/prd.md",)
    assert told(memory)[3:] == [("iteration_completed", "", {"comando": "feature", "total_fases": 2})]

    write(tmp_path, {**STATE, "fase_actual": "completado", "fases_completadas": phases, "actualizado_en": "later"})
    follow(memory, tmp_path)
    assert memory.iterations.ids() == [1] and len(told(memory)) == 4  # it opens no empty one

    write(tmp_path, {**STATE, "comando": "fix", "creado_en": "2026-02-03T09:00:00Z", "fases_completadas": []})
    assert follow(memory, tmp_path) == 2


def test_an_iteration_that_a_person_began_is_joined(memory: Memory, tmp_path: Path) -> None:
    number = memory.iterations.start_iteration("feature", "mine")
    write(tmp_path, STATE)
    assert follow(memory, tmp_path) == number
    assert [kind for kind, *_ in told(memory)] == ["phase_completed"]


@pytest.mark.parametrize(
    "state",
    [
        *("", "{", "[]", "null", '"x"', {"comando": "feature"}, {"comando": 1, "fase_actual": "x"}, "[" * 5_000),
        {"comando": "feature", "fase_actual": None},
    ],
)
def test_what_is_no_state_is_nothing(memory: Memory, tmp_path: Path, state: object) -> None:
    write(tmp_path, state)
    assert follow(memory, tmp_path) is None
    assert not memory.iterations.ids()


def test_strange_values_are_left_out(memory: Memory, tmp_path: Path) -> None:
    phases = [None, 3, {"nombre": 4}, {"nombre": " "}, "x"]
    strange = {"descripcion": 7, "fases_completadas": phases, "artefactos": 1, "fase_actual": "completado"}
    write(tmp_path, {**STATE, **strange})
    follow(memory, tmp_path)
    assert [kind for kind, *_ in told(memory)] == ["iteration_started", "phase_completed", "iteration_completed"]


def test_a_file_outside_of_the_project_is_not_read(memory: Memory, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.json"
    outside.write_text(json.dumps(STATE))
    (tmp_path / ".claude").mkdir()
    os.symlink(outside, tmp_path / state_file.ALFRED_STATE_FILE)
    assert follow(memory, tmp_path) is None
    os.unlink(tmp_path / state_file.ALFRED_STATE_FILE)
    os.mkfifo(tmp_path / state_file.ALFRED_STATE_FILE)
    assert follow(memory, tmp_path) is None


def test_any_file_by_a_table_of_ones_own(memory: Memory, tmp_path: Path) -> None:
    folder = Path(user_settings_path()).parent / state_file.USER_TABLES_FOLDER
    folder.mkdir(parents=True)
    (folder / "board.toml").write_text(
        """
file = "board.json"
needs = ["kind", "column"]
[iteration]
command = "kind"
description = "title"
artifacts = "files"
known_by = ["id"]
state = "column"
completed = "Done"
[started]
event = "card_started"
payload = { title = "title" }
[phase]
list = "moves"
name = "to"
event = "card_moved"
payload = { to = "to" }
[over]
event = "card_done"
payload = { id = "id" }
count = "moves"
"""
    )
    card = {"id": "C1", "kind": "card", "title": "Export", "column": "Done", "moves": [{"to": "Doing"}, {"to": "Done"}]}
    write(tmp_path, card, "board.json")
    assert follow(memory, tmp_path) == 1
    assert [kind for kind, *_ in told(memory)] == ["card_started", "card_moved", "card_moved", "card_done"]
    assert [phase for _, phase, _ in told(memory)] == ["", "Doing", "Done", ""]
    (folder / "broken.toml").write_text('file = "board.json"\n')
    write(tmp_path, {**card, "id": "C2"}, "board.json")
    assert follow(memory, tmp_path) == 2  # a table that is none keeps no other from being read


def test_what_is_not_to_be_captured_is_not(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / ".memoranda" / "config.toml").write_text("enabled = false\n")
    (tmp_path / ".memoranda" / "config.toml").chmod(0o600)
    write(tmp_path, STATE)
    assert follow(memory, tmp_path) is None
