"""A program's file of state becomes an iteration, its phases and events; what is no such file becomes nothing."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.cases import load_cases

from store.config.configuration import user_settings_path
from store.doors import hook_handlers as state_file
from store.memory import Memory

CASES = load_cases(__file__)
STATE: dict[str, Any] = CASES["state"]


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


@pytest.mark.parametrize(("steps", "wanted"), CASES["whose"].values(), ids=CASES["whose"])
def test_a_piece_of_work_has_its_own_iteration(
    memory: Memory, tmp_path: Path, steps: list[list[Any]], wanted: list[list[str]]
) -> None:
    for verb, *rest in steps:
        if verb == "start":
            memory.iterations.start_iteration(*rest)
        elif verb == "end":
            memory.iterations.end_iteration(abandoned=True)
        elif verb == "older":
            with memory.database.write("user", "test") as step:
                step.execute("UPDATE meta SET value = '{\"digest\": \"x\"}' WHERE key LIKE 'state_file.%'")
        else:
            names = ("descripcion", "creado_en", "fase_actual", "fases_completadas")
            write(tmp_path, {"comando": verb, **dict(zip(names, rest, strict=True))})
            follow(memory, tmp_path)
    found = memory.iterations.get_many(sorted(memory.iterations.ids()))
    assert [[one.command, one.description, one.status] for one in found] == wanted


def test_new_records_are_of_the_persons_own_iteration_and_phases_are_noted(memory: Memory, tmp_path: Path) -> None:
    mine = memory.iterations.start_iteration("fix", "mine")
    write(tmp_path, STATE)
    theirs = follow(memory, tmp_path)
    assert theirs and memory.iterations.get(theirs).phases_completed == ("producto",)
    decision, task = memory.decisions.decide("Cache", "none"), memory.tasks.add_task("write")
    memory.events.log("Phase completed", phase="design")
    memory.events.log("phase_completed", phase="design", actor="user")
    memory.commits.log("a" * 40)
    records: list[Any] = [memory.decisions.get(decision), memory.tasks.get(task)]
    records += [memory.events.get(4), memory.commits.get("a" * 40)]
    assert [one.iteration_id for one in records] == [mine] * 4
    assert memory.iterations.end_iteration() == mine
    assert memory.iterations.get(mine).phases_completed == ("design",)


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
    card = CASES["own"]["card"]
    (folder / "board.toml").write_text(CASES["own"]["table"])
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
