"""`memoranda ask`: what it prints, and what it says while a person waits."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable

import pytest
from support.chats import Scripted
from support.ollama_server import MODEL, OllamaServer, Serve

from bench.terminal import Terminal
from store.librarian.librarian import Librarian
from store.memory import Memory
from tui.commands.call import Call
from tui.commands.search import answer_json, ask

QUESTION = "why do we use SQLite?"
COMMAND = [sys.executable, "-P", "-m", "tui.main", "ask", *QUESTION.split()]
REASON = "The reason: “One file and no service to run” [D#1]."


@pytest.fixture
def told(memory: Memory) -> Memory:
    memory.decisions.decide("Use SQLite", "SQLite in WAL mode", rationale="One file and no service to run")
    return memory


@pytest.fixture
def call(told: Memory) -> Call:
    return Call(told.location, told, "", lambda question: False)


def test_what_is_waited_for_is_said_before_the_answer(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a model that must be loaded; what passes begins with `…`."""
    lines: list[str] = []

    def found(
        config: object, *, cancelled: Callable[[], bool], loading: Callable[[], None], seconds: float
    ) -> Scripted:
        assert seconds == 60 and not cancelled()
        loading()
        return Scripted("{}")

    monkeypatch.setattr("store.librarian.model_selection.open_selected_model", found)
    call.tell, call.wait = lines.append, lambda words: lines.append(f"… {words}") if words else None
    outcome = ask(call, QUESTION.split())
    assert lines[:2] == ["… the model is being loaded …  ^C stops it", "By rule, while scripted:1b reads:"]
    assert lines[3] == REASON
    assert lines[4:] == ["", "… scripted:1b reads 1 of 1 record …  ^C stops it", "The order stays as it is."]
    assert outcome.lines[1].startswith("1 source · scripted:1b")


def test_the_answer_is_printed_below_the_search(call: Call, told: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    told.decisions.decide("Use DuckDB for reports", "DuckDB beside SQLite")
    chat = Scripted("{}", leans=lambda asked: -3.0 if "DuckDB" in asked.partition("Question")[0] else 3.0)
    monkeypatch.setattr("store.librarian.model_selection.open_selected_model", lambda config, **how: chat)
    lines: list[str] = []
    call.tell = lines.append
    ask(call, ["SQLite?"])
    first, settled = lines[1 : lines.index("")], lines[lines.index("") + 1 :]
    assert "[D#2]" in first[0] and "[D#1]" in settled[0] and len(settled) > 1


@pytest.mark.parametrize("tells", [True, False])
def test_in_a_pipe_only_the_answer_is_printed(call: Call, monkeypatch: pytest.MonkeyPatch, tells: bool) -> None:
    chat = None if tells else Scripted("{}")
    monkeypatch.setattr("store.librarian.model_selection.open_selected_model", lambda config, **how: chat)
    lines: list[str] = []
    call.tell = lines.append if tells else None
    outcome = ask(call, QUESTION.split())
    said = [*lines, *outcome.lines]
    assert said[1] == REASON and not any(line.startswith("By rule, while") for line in said)


def test_a_question_of_the_data_prints_its_filter(call: Call) -> None:
    outcome = ask(call, ["how many", "decisions are there?"], no_model=True)
    assert "filter: kind:decision" in outcome.lines
    data = answer_json(call, Librarian(call.memory).ask("how many decisions are there?"))
    assert (data["filter"], data["kind"]) == ("kind:decision", "statistics")


def test_scripts_get_each_quote_with_its_place(call: Call) -> None:
    data = answer_json(call, Librarian(call.memory).ask(QUESTION))
    quote = {"citation": "D#1", "field": "rationale", "start": 0, "end": 30, "text": "One file and no service to run"}
    assert quote in data["quotes"]  # type: ignore[operator]


def test_a_record_that_is_gone_is_left_out_of_what_scripts_get(call: Call, told: Memory) -> None:
    number, _ = told.facts.remember("The old note says see [D#99] for the kumquat plan")
    answer = Librarian(told).ask("what does the kumquat plan say?")
    data = answer_json(call, answer)
    assert data["citations"] == [f"F#{number}"]
    assert [record["citation"] for record in json.loads(json.dumps(data["records"]))] == [f"F#{number}"]
    told.purge.run_plan(told.purge.plan([("fact", number)]), [])
    assert answer_json(call, answer)["records"] == []


@pytest.fixture
def server(serve: Serve) -> OllamaServer:
    server = serve(OllamaServer("Yes"))
    server.loaded = set()
    return server


def test_at_a_terminal_what_is_waited_for_is_shown_and_goes(told: Memory, server: OllamaServer) -> None:
    """A model that is loaded first, and a real process."""
    with Terminal([*COMMAND, "--db", told.location.path], {"OLLAMA_HOST": server.address}, (80, 24)) as terminal:
        terminal.wait_for("the model is being loaded …")
        terminal.wait_for(f"1 source · {MODEL}")
        shown = "\n".join(terminal.screen)
    assert "The reason:" in shown and "being loaded" not in shown and "reads 1" not in shown


@pytest.mark.parametrize("loads", [True, False])
def test_records_stand_there_meanwhile_and_ctrl_c_stops_it(told: Memory, server: OllamaServer, loads: bool) -> None:
    """Or is being loaded."""
    server.load_hangs, server.loaded, server.fault = loads, set() if loads else {MODEL}, "hangs"
    with Terminal([*COMMAND, "--db", told.location.path], {"OLLAMA_HOST": server.address}, (100, 24)) as terminal:
        terminal.wait_for(f"By rule, while {MODEL} reads:")
        terminal.wait_for(re.escape(REASON))
        terminal.wait_for(r"the model is being loaded …  \^C" if loads else r"reads 1 of 1 record …  \^C")
        assert server.begun.wait(30)
        terminal.write(b"\x03")
        terminal.wait_for("stopped before the model had answered; this is the order of the search")
        assert terminal.process.wait(30) == 0
        shown = "\n".join(terminal.screen)
    assert "The order stays as it is." in shown and "· stopped" in shown and shown.count("The reason:") == 1


def test_where_nobody_looks_nothing_is_said_of_it(told: Memory, server: OllamaServer) -> None:
    environment = {**os.environ, "OLLAMA_HOST": server.address}
    done = subprocess.run([*COMMAND, "--db", told.location.path], env=environment, capture_output=True, text=True)
    assert REASON in done.stdout and (done.stderr, done.returncode) == ("", 0)
