"""The screen that sets the model up, and the model beside the search."""

import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.model_server import ModelServer
from support.ollama_server import OllamaServer
from support.screen import HUGE, NARROW, WIDE, Person, opened
from support.stories import Clock, Story, copy

from store.config.configuration import user_settings_path
from store.database.database import Lease
from store.database.values import Verbatim
from store.librarian import chat as circuit_breaker
from store.librarian import structured_output as usage_stats
from store.librarian.model_selection import USUAL_MODEL, ModelStatus, ServerInfo
from store.librarian.structured_output import ModelStats
from store.memory import Memory
from tui.main_screen import background as model_status
from tui.screens.model import ModelScreen, model_status_forms, short_model_name
from tui.theme.line_filters import pieces_width
from tui.workers.model_worker import ModelWorker


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    server = ModelServer()
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    circuit_breaker.reset_breakers()
    yield server
    server.close()


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Story:
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
    return copy(tmp_path / "billing-api")


def setting_up(person: Person) -> bool:
    return isinstance(person.app.screen, ModelScreen)


async def set_up(person: Person) -> None:
    """Go to the screen, once it is known how it stands."""
    await person.until(lambda: person.app.modeller.status is not None)
    await person.pilot.press("P")
    await person.until(lambda: setting_up(person) and person.sees("WHICH IS ASKED"))


def written() -> dict[str, str]:
    return tomllib.loads(Path(user_settings_path()).read_text())["agent"]


async def choose(person: Person, row: str) -> None:
    """Put the cursor on the row that begins so, and press Enter."""
    await person.pilot.press("g")
    for _ in range(20):
        if any(line.startswith("▸") and line[3:].startswith(row) for line in person.lines):
            break
        await person.pilot.press("j")
    else:
        raise AssertionError("\n".join(["no such row:", row, *person.lines]))
    await person.pilot.press("enter")


# the screen -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_which_is_asked_and_why_not_the_others(story: Story, server: ModelServer, size: tuple[int, int]) -> None:
    server.installed = {"llama3.2:1b": 1_300_000_000, "nomic-embed-text:latest": 274_302_450}
    async with opened(story.folder, size=size) as person:
        await set_up(person)
        assert person.sees("MODEL  llama3.2:1b  cold", f"Ollama 0.12.6 at 127.0.0.1:{server.port}")
        assert person.sees("· $MEMORANDA_MODEL", "· the first qwen2.5", "✓ any other model")
        assert person.line("the first qwen2.5").endswith("Ollama has no qwen2.5.")
        assert person.line("▸").startswith("▸● llama3.2:1b"), "the cursor is on the model that is asked"
        assert "1.3 GB  3.1B Q4_K_M" in person.line("▸") and "for vectors only" in person.line("nomic")
        assert person.sees("It is the one that is asked: llama3.2:1b, the first model that Ollama has.")
        await person.press("escape")
        assert not setting_up(person)


async def test_it_says_how_to_get_ollama(story: Story, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And that all works by rule; Enter copies the line."""
    monkeypatch.setenv("PATH", str(tmp_path))
    async with opened(story.folder, size=NARROW) as person:
        await set_up(person)
        assert person.sees("MODEL  no model", "OLLAMA IS NOT THERE", "$ Linux", "$ macOS", "Nothing answers at")
        await choose(person, "Linux")
        await person.until(lambda: any("Copied the line" in toast for toast in person.toasts))
        assert person.sees("curl -fsSL https://ollama.com/install.sh | sh", "Everything works without it")


async def test_a_model_is_fetched_with_a_bar_stopped_and_resumed(story: Story, server: ModelServer) -> None:
    """It goes on when the screen is left, the search's line tells how far it is, and x stops it; again, it goes on from
    there."""
    server.step = 800_000_000
    server.hold.clear()
    async with opened(story.folder, size=NARROW) as person:
        await set_up(person)
        await choose(person, USUAL_MODEL)
        await person.until(lambda: person.sees("▇", "x stops") or person.sees("0 B of 1.9 GB"))
        server.hold.set()
        server.held.clear()
        await person.until(lambda: person.sees(f"● {USUAL_MODEL}"))
        assert person.sees("qwen2.5:3b-instruct is there.") and person.sees(f"MODEL  {USUAL_MODEL}  cold")
        server.hold.clear()
        server.pulled.clear()
        await person.pilot.press("p")
        await person.paste_now("llama3.2:1b")
        await person.pilot.press("enter")
        await person.until(lambda: server.held.is_set() and person.sees("0 B of 1.9 GB"))
        server.pulled["sha256:5ee4f07cdb9b"] = 800_000_000
        await person.pilot.press("escape")
        await person.until(lambda: not setting_up(person) and "pulling llama3.2:1b 0 %" in person.lines[1])
        await person.pilot.press("P")
        await person.until(lambda: setting_up(person) and person.sees("x stops"))
        await person.pilot.press("x")
        await person.until(lambda: person.sees("Stopped llama3.2:1b at 0 %; pulled again, it continues from there."))
        assert server.left.wait(30) and "llama3.2:1b" not in server.installed
        await person.pilot.press("p")
        await person.paste_now("llama3.2:1b")
        await person.pilot.press("enter")
        await person.until(lambda: person.sees("41 %", "800 MB of 1.9 GB"))
        server.hold.set()
        await person.until(lambda: "llama3.2:1b" in server.installed and person.sees("llama3.2:1b is there."))
        await person.press("x")
        assert not person.sees("is there.")


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_a_pull_that_fails_says_cause_and_next_step(
    story: Story, server: ModelServer, size: tuple[int, int]
) -> None:
    server.breaks = 'Get "https://registry.ollama.ai/v2/": dial tcp: lookup registry.ollama.ai: no such host'
    async with opened(story.folder, size=size) as person:
        await set_up(person)
        await choose(person, USUAL_MODEL)
        await person.until(lambda: person.sees(f"{USUAL_MODEL} could not be fetched"))
        await person.until(lambda: person.sees("Ollama could not reach its library on the network."))
        assert person.sees("Next  Pull it again: it continues where it stopped.")


async def test_a_pull_from_the_bar_whose_end_is_told_wherever_one_is(story: Story, server: ModelServer) -> None:
    server.hold.clear()
    async with opened(story.folder) as person:
        await person.command("model pull")
        await person.until(lambda: setting_up(person) and server.held.is_set())
        await person.pilot.press("escape")
        server.hold.set()
        await person.until(lambda: f"{USUAL_MODEL} is there." in person.toasts)
        await person.until(lambda: "qwen2.5:3b cold" in person.lines[1])


async def test_a_model_is_tried(story: Story, server: ModelServer) -> None:
    """What is being waited for is said, then how quick it is, and that it was cold."""
    server.installed = {USUAL_MODEL: 1}
    server.hold.clear()
    async with opened(story.folder, size=NARROW) as person:
        await set_up(person)
        await person.pilot.press("t")
        await person.until(lambda: person.sees("A cold model is loaded first") and server.held.is_set())
        server.hold.set()
        await person.until(lambda: person.sees("30 a second", "took 2.5 s", "“Nothing is lost.”"))
        await person.until(lambda: person.sees(f"MODEL  {USUAL_MODEL}  ready"))
        await person.press("escape")
        assert "qwen2.5:3b ready" in person.lines[1]


async def test_a_trial_without_a_model_says_what_to_do(server: ModelServer, narrow: Person) -> None:
    await narrow.command("model test")
    await narrow.until(lambda: setting_up(narrow) and narrow.sees("There is no model to test."))
    assert narrow.sees(f"memoranda config model pull {USUAL_MODEL}")


async def test_ten_questions_are_asked_from_the_application_too(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a thread, which no ^C reaches."""
    asked = OllamaServer("No")
    monkeypatch.setenv("OLLAMA_HOST", asked.address)
    try:
        async with opened(story.folder) as person:
            await person.command("model try")
            await person.until(lambda: any("of 10 right" in line for line in person.preview))
    finally:
        asked.close()


async def test_a_model_and_a_mode_are_chosen(story: Story, server: ModelServer) -> None:
    server.installed = {USUAL_MODEL: 1, "llama3.2:1b": 1}
    async with opened(story.folder) as person:
        await set_up(person)
        await choose(person, "llama3.2:1b")
        await person.until(lambda: person.sees("MODEL  llama3.2:1b", "✓ agent.model"))
        assert "llama3.2:1b is asked from now on." in person.toasts
        await choose(person, "smart")
        await person.until(lambda: person.line(" before an answer too").strip(" ▸").startswith("● smart"))
        await person.pilot.press("m")
        await person.until(lambda: person.sees("MODEL  no model"))
        assert written() == {"model": "llama3.2:1b", "mode": "off"}
        assert person.app.config["agent.mode"] == "off"


async def test_one_for_vectors_alone_cannot_be_chosen(story: Story, server: ModelServer) -> None:
    server.installed = {"nomic-embed-text:latest": 1}
    async with opened(story.folder) as person:
        await set_up(person)
        await choose(person, "nomic-embed-text")
        await person.settle()
        assert person.sees("It cannot be asked: it makes vectors only.") and "takes" not in person.lines[-1]
        assert not Path(user_settings_path()).exists()


async def test_a_hanging_server_is_not_felt(story: Story, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by the start, nor by the keys, nor when the screen or the app is left."""
    server.fault = "hangs"
    async with opened(story.folder, size=NARROW) as person:
        await person.until(lambda: "/api/tags" in server.paths)
        assert person.rows, "the lists were read meanwhile"
        await person.pilot.press("P")
        await person.until(lambda: setting_up(person))
        await person.pilot.press("t", "p")
        await person.paste_now("x")
        await person.pilot.press("enter")
        await person.until(lambda: "/api/pull" in server.paths)
        await person.pilot.press("escape")
        await person.until(lambda: not setting_up(person))
        await person.pilot.press("j", "k")
    assert not server.over.is_set(), "it hangs still"


async def test_what_a_server_says_cannot_act(story: Story, server: ModelServer) -> None:
    server.installed = {"[@click=app.quit]x[/]": 1, "a\u202eb:1": 1}
    server.says = "\x1b[2J [/nope] ok"
    async with opened(story.folder, size=NARROW) as person:
        await set_up(person)
        assert person.sees("[@click=app.quit]x[/]") and not any("\u202e" in line for line in person.lines)
        await person.pilot.press("t")
        await person.until(lambda: person.sees("[/nope] ok”"))
        assert not any("\x1b" in line for line in person.lines)


# beside the search ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [NARROW, WIDE, HUGE])
async def test_the_search_says_how_the_model_does(
    story: Story, server: ModelServer, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name, how it stands, its last answer; how many turns wait, and how often rules had to answer, where there is
    room; and that it works right now, whichever process it is that asks it."""
    monkeypatch.setattr(model_status, "MODEL_POLLS", 2)
    server.installed = {USUAL_MODEL: 1}
    server.loaded = {USUAL_MODEL}
    clock = Clock()
    row = 0 if size == HUGE else 1  # the sidebar has the names of the panes
    async with opened(story.folder, size=size, clock=clock) as person:
        await person.until(lambda: person.lines[row].rstrip().endswith("qwen2.5:3b ready"))
        with Memory.open(str(story.path), "worker", clock) as memory:
            for milliseconds, kind in ((1_200, ""), (600, "slow"), (640, "")):
                usage_stats.count_model_call(memory.database, "extract_facts", USUAL_MODEL, milliseconds, kind)
            usage_stats.count_fallback(memory.database, "extract_facts")
        await person.until(lambda: "qwen2.5:3b ready  0.6 s" in person.lines[row])
        assert "1 of 3 by rule" in person.lines[row]
        with Memory.open(str(story.path), "worker", clock) as memory, memory.database.write("agent", "lease") as write:
            write.execute("INSERT INTO leases VALUES ('model', 'other', ?)", (Verbatim("2099-01-01T00:00:00.000Z"),))
        await person.until(lambda: "qwen2.5:3b working" in person.lines[row])
        server.close()
        await person.until(lambda: person.lines[row].rstrip().endswith("no model"))
        await person.pilot.click(offset=(size[0] - 3, row))
        await person.until(lambda: setting_up(person))


async def test_a_model_at_work_is_looked_at_again(
    story: Story, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in memory by then, and the line says so without waiting for its next look."""
    monkeypatch.setattr(model_status, "MODEL_POLLS", 1_000_000)
    server.installed, clock = {USUAL_MODEL: 1}, Clock()
    async with opened(story.folder, clock=clock) as person:
        await person.until(lambda: person.lines[1].rstrip().endswith("qwen2.5:3b cold"))
        with Memory.open(str(story.path), "worker", clock) as memory:
            lease = Lease(memory.database, "model")
            assert lease.acquire()
            await person.until(lambda: "qwen2.5:3b working" in person.lines[1])
            usage_stats.count_model_call(memory.database, "extract_facts", USUAL_MODEL, 640, "")
            server.loaded = {USUAL_MODEL}
            lease.release()
        await person.until(lambda: "qwen2.5:3b ready  0.6 s" in person.lines[1])
        await person.pilot.press("P")
        await person.until(lambda: person.sees("Asked 1 time for this memory, the last answer took 0.6 s."))


async def test_a_size_beyond_all_numbers_is_only_a_size(story: Story, server: ModelServer) -> None:
    server.installed = {USUAL_MODEL: 10**400}
    async with opened(story.folder) as person:
        await set_up(person)
        assert person.sees(f"MODEL  {USUAL_MODEL}") and person.app.is_running


async def test_closing_meanwhile_hurts_nobody(
    story: Story, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its threads are not waited for, and may have something to tell at any moment."""
    heard: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", heard.append)
    async with opened(story.folder) as person:
        await person.until(lambda: person.app.modeller.status is not None)

        def closed(*arguments: object) -> bool:
            raise RuntimeError("Event loop is closed")

        told = threading.Thread(target=person.app._model_told)
        with monkeypatch.context() as patch:
            for name in ("call_later", "call_from_thread"):
                patch.setattr(person.app, name, closed)
            told.start()
            told.join(10)
    assert heard == []


async def test_switched_off_nobody_is_asked(story: Story, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model,agent")
    async with opened(story.folder, size=NARROW) as person:
        assert person.lines[1].rstrip().endswith("no model")
    assert server.paths == []


@pytest.mark.parametrize(
    "name, said",
    [
        (USUAL_MODEL, "qwen2.5:3b"),
        ("qwen2.5-coder:0.5b-instruct-q4_K_M", "qwen2.5-coder:0.5b"),
        ("llama3.2:latest", "llama3.2"),
        ("hf.co/bartowski/Qwen2.5-3B-Instruct-GGUF:Q4_K_M", "Qwen2.5-3B-Instru…"),
    ],
)
def test_names_are_short(name: str, said: str) -> None:
    assert short_model_name(name) == said


def test_each_form_is_shorter_than_the_one_before() -> None:
    """So that the first that fits says most."""
    found = ModelWorker(lambda: None)
    assert model_status_forms(found, ModelStats()) == [], "nothing is known yet"
    for model in ("", USUAL_MODEL):
        found.status = ModelStatus(model, "fast", (), ServerInfo("http://127.0.0.1:11434"))
        widths = [pieces_width(form) for form in model_status_forms(found, ModelStats(0.6, 3, 41, 2))]
        assert widths == sorted(widths, reverse=True) and widths[-1] <= 10


async def test_the_last_calls_stand_below_and_show_what_became_of_each(story: Story, server: ModelServer) -> None:
    with story.open() as memory:
        usage_stats.count_model_call(
            memory.database, "slug", USUAL_MODEL, 1200, "", '{"words": ["a"]}', "Too few words."
        )
        usage_stats.count_fallback(memory.database, "slug")
    async with opened(story.folder, HUGE) as person:
        await set_up(person)
        await person.until(lambda: person.sees("LAST CALLS"))
        assert person.sees("Too few words; instead: the first words")
        await person.pilot.press("G")
        await person.until(lambda: person.sees("Dropped: Too few words."))
        assert person.sees('{"words": ["a"]}')
