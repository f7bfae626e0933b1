"""`memoranda config model`: its state, fetch one, try it, choose one, as a person at a prompt meets it."""

import json
import os
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.commands import COMMAND, Do, Said
from support.model_server import ModelServer
from support.ollama_server import OllamaServer, Serve

from bench.terminal import Terminal
from store.config.configuration import user_settings_path
from store.librarian import chat as circuit_breaker
from store.librarian import structured_output as usage_stats
from store.librarian.model_selection import USUAL_MODEL, WORKS_WITHOUT_MODEL
from store.memory import Memory
from store.text.display import format_bytes, format_seconds
from tui import cli
from tui.commands.settings import NO_CALLS


@pytest.fixture
def do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Do:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
    circuit_breaker.reset_breakers()

    def do(*words: str) -> Said:
        capsys.readouterr()
        return Said(cli.run_command(("model", *words)), *capsys.readouterr())

    return do


@pytest.fixture
def server(serve: Serve) -> ModelServer:
    return serve(ModelServer())


def written() -> dict[str, Any]:
    return tomllib.loads(Path(user_settings_path()).read_text())["agent"]


def test_without_ollama_it_says_how_to_get_it(do: Do, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said = do()
    assert said.status == 0 and said.err == ""
    assert said.out.startswith("No model is asked: answers come from the records.\nNothing answers at 127.0.0.1:9.\n")
    ways = ("Linux   curl -fsSL https://ollama.com/install.sh | sh", "macOS   brew install ollama")
    assert all(line in said.out for line in (*ways, WORKS_WITHOUT_MODEL))
    assert list(tmp_path.iterdir()) == [], "a memory was made"
    (tmp_path / "ollama").write_text("#!/bin/sh\n")
    (tmp_path / "ollama").chmod(0o755)
    said = do("status")
    assert "Start it" in said.out and "ollama serve" in said.out and "curl" not in said.out


def test_how_it_stands(do: Do, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.installed = {"llama3.2:1b": 10**9, USUAL_MODEL: 1_929_903_332, "nomic-embed-text:latest": 274_302_450}
    lines = do().out.splitlines()
    assert lines[0] == f"{USUAL_MODEL} is asked, fast; it is cold: it is loaded when it is asked first."
    assert lines[1] == f"Ollama 0.12.6 at 127.0.0.1:{server.port}"
    assert [line[0] for line in lines[3:8]] == ["·", "·", "✓", "·", "·"]
    assert any(line.startswith(f"● {USUAL_MODEL}") and "1.9 GB  3.1B Q4_K_M" in line for line in lines)
    assert any("nomic" in line and "for vectors only" in line for line in lines)
    monkeypatch.setenv("MEMORANDA_MODEL", "mistral")
    data = do("status", "--json").data
    assert (data["model"], data["state"], data["version"], data["trouble"]) == (USUAL_MODEL, "cold", "0.12.6", None)
    assert data["order"][0] == {
        "who": "$MEMORANDA_MODEL",
        "taken": False,
        "reason": "Ollama has no model mistral.",
        "next": "ollama pull mistral",
    }
    assert [one["name"] for one in data["installed"]] == list(server.installed)


def test_how_it_fared_in_this_memory(do: Do, server: ModelServer, tmp_path: Path) -> None:
    assert do("--json").data["use"] is None
    with Memory.open(str(tmp_path / ".memoranda" / "memory.db")) as memory:
        for kind in ("", "slow", ""):
            usage_stats.count_model_call(memory.database, "extract_facts", USUAL_MODEL, 640, kind)
        usage_stats.count_fallback(memory.database, "extract_facts")
    said = "Asked 3 times for this memory, answered from the records instead 1 time, the last answer took 0.6 s."
    assert said in do().out.splitlines()
    assert do("--json").data["use"] == {"asked": 3, "by_rule": 1, "seconds": 0.64, "queued": 0, "working": False}


def test_a_server_on_another_machine_is_not_installed_from_here(do: Do, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.2:9")
    said = do()
    assert "Nothing answers at 127.0.0.2:9." in said.out and "install" not in said.out


def test_a_model_is_fetched_and_how_far_it_is_shown_beside(do: Do, server: ModelServer) -> None:
    """The usual one without a name; nothing is asked."""
    said = do("pull")
    assert said.status == 0 and said.out.startswith(f"{USUAL_MODEL} is there: 1.9 GB, in ")
    told = said.err.splitlines()
    assert told[0] == f"{USUAL_MODEL}: pulling manifest" and len(told) < 20
    assert any(" 62 %" in line and "1.2 GB of 1.9 GB" in line for line in told)
    said = do("pull", "llama3.2:1b", "--json")
    assert said.data == {"pulled": "llama3.2:1b", "size": 1_929_903_332}
    assert set(server.installed) == {USUAL_MODEL, "llama3.2:1b"}


def test_a_pull_that_fails_names_cause_and_next_step(do: Do, server: ModelServer) -> None:
    server.breaks = "pull model manifest: file does not exist"
    said = do("pull", "nosuch", "--json")
    assert said.status == 1 and said.out == ""
    error = json.loads(said.err.splitlines()[-1])["error"]
    assert error["message"] == "Ollama's library has no model nosuch." and "ollama.com/library" in error["next"]


def test_a_pull_is_stopped_by_the_keys_for_it_and_goes_on(server: ModelServer, tmp_path: Path) -> None:
    """A real process and a real ^C; the server hears that it was left, and keeps what it has."""
    server.step = 1_000_000_000
    server.hold.clear()
    environment = {**os.environ, "OLLAMA_HOST": server.address}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([COMMAND, "model", "pull"], cwd=tmp_path, env=environment, **pipes) as child:
        assert server.held.wait(60)
        child.send_signal(2)
        out, err = child.communicate(timeout=60)
    assert child.returncode == 4 and out == b""
    assert err.decode().splitlines()[-1] == f"{USUAL_MODEL} is not there yet. Run again, it continues where it stopped."
    assert server.left.wait(30) and not server.installed


def test_a_model_is_tried(do: Do, server: ModelServer) -> None:
    server.installed = {USUAL_MODEL: 1, "llama3.2:1b": 1}
    said = do("test")
    assert said.status == 0
    first, cold, answer = said.out.splitlines()
    assert first.startswith(f"{USUAL_MODEL} answers: 24 tokens in ") and first.endswith(", 30 a second.")
    assert "took 2.5 s of that to be loaded" in cold and answer == "“Nothing is lost.”"
    assert len(do("test").out.splitlines()) == 2, "it is warm by now"
    assert do("test", "llama3.2:1b", "--json").data["model"] == "llama3.2:1b"


def test_what_a_model_says_cannot_act(do: Do, server: ModelServer) -> None:
    server.installed, server.says = {USUAL_MODEL: 1}, "\x1b[2J \x1b]52;c;aGk=\x07 [bold]hi"
    assert "\x1b" not in do("test").out and "[bold]hi" in do("test").out


def test_nothing_to_try(do: Do, server: ModelServer) -> None:
    said = do("test")
    assert said.status == 1 and "memoranda config model pull qwen2.5:3b-instruct" in said.err
    server.close()
    assert do("test").err == f"Nothing answers at 127.0.0.1:{server.port}. Start Ollama: ollama serve\n"


def test_a_trial_shows_how_far_it_is_and_ctrl_c_keeps_that(tmp_path: Path, monkeypatch, serve: Serve) -> None:
    """In a real terminal, whose last line is the progress."""
    monkeypatch.chdir(tmp_path)
    server, going = serve(OllamaServer("Yes")), threading.Event()

    def say(messages: object) -> str:
        if len(server.asked) > 7:  # three records each: two questions are answered
            going.set()
            server.over.wait(60)
        return "Yes"

    server.say = say
    argv = [sys.executable, "-P", "-m", "tui.main", "model", "try"]
    with Terminal(argv, {"OLLAMA_HOST": server.address}, (100, 24)) as terminal:
        terminal.wait_for(r"answers 1 of 10 …  \^C stops it")
        terminal.wait_for(r"answers 3 of 10 …")
        assert going.wait(30)
        terminal.write(b"\x03")
        terminal.wait_for(r"of 2 right, .* each; stopped before the other 8\.")
        assert terminal.process.wait(30) == 4
        shown = terminal.screen
    assert sum(line.startswith(("right", "wrong")) for line in shown) == 2
    assert not any("answers" in line for line in shown)


def test_a_trial_tells_all_ten(do: Do, serve: Serve) -> None:
    serve(OllamaServer("No"))
    data = do("try", "--json").data
    assert (data["asked"], data["of"], len(data["questions"])) == (10, 10, 10)
    said = do("try")
    assert said.err == "" and "of 10 right" in said.out and "stopped" not in said.out


def test_a_model_is_chosen_and_the_way_it_is_asked(do: Do, server: ModelServer) -> None:
    server.installed = {USUAL_MODEL: 1, "llama3.2:1b": 1}
    assert do("use", "llama3.2:1b").out.startswith("llama3.2:1b is asked, fast;")
    assert written() == {"model": "llama3.2:1b"}
    assert do("smart").out == "The agent's model is smart now: asked before an answer too, for agent.seconds at most.\n"
    assert written() == {"model": "llama3.2:1b", "mode": "smart"}
    said = do("use", "mistral").out
    assert "Ollama has no model mistral." in said and f"{USUAL_MODEL} is asked, smart" in said
    assert do("use", "auto").out.startswith(f"{USUAL_MODEL} is asked, smart;")
    assert do("off").status == 0 and do("--json").data["state"] == "rules"


def test_what_a_project_says_counts(do: Do, server: ModelServer, tmp_path: Path) -> None:
    """And the person hears that what they chose does not count here."""
    server.installed = {USUAL_MODEL: 1, "llama3.2:1b": 1}
    (tmp_path / ".memoranda").mkdir(mode=0o700)
    (tmp_path / ".memoranda" / "memory.db").touch(0o600)
    file = tmp_path / ".memoranda" / "config.toml"
    file.write_text('[agent]\nmodel = "llama3.2:1b"\n')
    file.chmod(0o600)
    said = do("use", USUAL_MODEL).out
    assert said.startswith(f"agent.model is {USUAL_MODEL} in your file, but ")
    assert "llama3.2:1b, which counts here" in said


@pytest.mark.parametrize("words", [("brew",), ("use",), ("smart", "qwen2.5"), ("status", "x")])
def test_words_that_mean_nothing(do: Do, words: tuple[str, ...]) -> None:
    said = do(*words)
    assert said.status == 2 and said.out == "" and said.err
    assert not Path(user_settings_path()).exists()


def test_figures_are_short() -> None:
    assert [
        format_bytes(n) for n in (68, 1_400, 812e6, 1_929_903_264, 47e9)
    ] == "68 B|1.4 kB|812 MB|1.9 GB|47 GB".split("|")
    assert [format_seconds(n) for n in (0.04, 9.94, 42.3, 95, 7_500)] == "0.0 s|9.9 s|42 s|1 min 35 s|2 h 5 min".split(
        "|"
    )


def test_the_last_calls_are_listed_and_each_can_be_opened(do: Do) -> None:
    assert do("calls").out.strip() == NO_CALLS
    with Memory.open(str(Path(".memoranda/memory.db")), "cli") as memory:
        assert memory.location
        reply = '{"words": ["a"]}'
        usage_stats.count_model_call(memory.database, "slug", "qwen2.5:1.5b", 1200, "", reply, "Too few words.")
        usage_stats.count_fallback(memory.database, "slug")
        usage_stats.count_model_call(memory.database, "answer", "qwen2.5:1.5b", 800, "", "odds: \x1b[31mF#1 +1.20")
    first, second = do("calls").out.splitlines()
    assert "answer" in first and first.endswith("used")
    assert second.endswith("Too few words; instead: the first words of what was said")
    opened = do("calls", "1").out
    assert "Dropped: Too few words." in opened and '{"words": ["a"]}' in opened
    assert "\x1b" not in do("calls", "2").out
    assert [one["task"] for one in json.loads(do("calls", "--json").out)] == ["answer", "slug"]
    assert do("calls", "9").status != 0
