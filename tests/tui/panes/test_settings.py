"""The settings in their groups, each changed where it is listed and undone; and the model that is asked. Real files, a
real server."""

import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.cases import load_cases
from support.model_server import ModelServer
from support.ollama_server import OllamaServer, Serve
from support.pane_screen import PaneScreen
from support.screen import TWO_SIZES, opened
from support.stories import Clock, Story, copy
from textual.theme import BUILTIN_THEMES

from store.config.configuration import load_config, user_settings_path
from store.librarian import structured_output as usage
from store.librarian.model_selection import USUAL_MODEL, InstalledModel, ModelStatus, ServerInfo
from store.librarian.structured_output import ModelStats
from tui.panes.pane import Heading
from tui.panes.settings import PANE, model_rows, pull_model, undo_change
from tui.theme.line_filters import pieces_width
from tui.workers.engine import Engine
from tui.workers.model_worker import ModelWorker, model_status_forms, short_model_name


@pytest.fixture
def story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Story:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return copy(tmp_path / "billing-api")


@pytest.fixture
def screen(story: Story) -> Iterator[PaneScreen]:
    screen = PaneScreen(PANE, Engine(story.location, str(story.folder), lambda call, *given: call(*given), Clock()))
    yield screen
    screen.close()


def written() -> dict[str, Any]:
    path = Path(user_settings_path())
    return tomllib.loads(path.read_text()) if path.exists() else {}


FOLLOW, CORRECT, FORGET = "preview.follow", "record.correct", "record.forget"


@pytest.mark.parametrize(("chosen", "listed", "left_out"), load_cases(__file__)["listed"])
def test_which_are_listed(screen: PaneScreen, chosen: dict[str, str], listed: list[str], left_out: list[str]) -> None:
    Path(user_settings_path()).parent.mkdir(parents=True, exist_ok=True)
    Path(user_settings_path()).write_text("[agent]\nseconds = 7\n")
    rows = screen.read(**chosen)
    names = [entry.key for entry in rows.entries if not isinstance(entry, Heading)]
    assert set(listed) <= set(names) and not set(left_out) & set(names)
    assert not rows.entries or not isinstance(rows.entries[-1], Heading), "no heading without rows"
    for width in (40, 76):
        assert all(len(line) <= width for line in screen.lines(width, **chosen))
    if "ageing" in listed:
        text = " ".join(screen.lines(200, **chosen))
        assert "one is stale after 180 days if its confidence is high, 120 if it is medium or low." in text


def test_each_says_its_value_and_its_source(screen: PaneScreen, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_RETENTION_DAYS", "30")
    own = story.folder / ".memoranda" / "config.toml"
    own.write_text("capture_commits = false\n")
    own.chmod(0o600)
    told = screen.more("retention_days")
    said = "Keep events (days)  retention_days|Value        30|Default      365|$MEMORANDA_RETENTION_DAYS"
    assert all(words in told for words in said.split("|"))
    drawn = screen.lines()
    row = next(place for place, line in enumerate(drawn) if "Read commits" in line)
    assert drawn[row].startswith("● ") and drawn[row].endswith("off  project")
    assert drawn[row + 1] == "  Capture the commits of the git checkout"
    assert any("Keep events (days)" in line and line.endswith("30  variable") for line in drawn)
    assert all(name in screen.more("theme") for name in (*BUILTIN_THEMES, "high-contrast-dark"))
    assert "only your own file sets it" in screen.more("editor")
    screen.press(FOLLOW, "retention_days")
    assert screen.said == ["$MEMORANDA_RETENTION_DAYS sets retention_days over every file: change it there."]


CHANGES: list[tuple[str, str, list[str | None], dict[str, Any], str]] = [
    (FOLLOW, "badges", [], {"badges": "ascii"}, "badges is ascii: written to "),
    (CORRECT, "backup.daily", [], {"backup": {"daily": False}}, "backup.daily is false: written to "),
    (FOLLOW, "agent.seconds", ["9"], {"agent": {"seconds": 9}}, "agent.seconds is 9: written to "),
    (FOLLOW, "agent.seconds", ["x", None], {}, "agent.seconds takes a whole number"),
    (FOLLOW, "agent.seconds", ["5"], {}, "agent.seconds is 5 already: nothing was changed."),
    (FOLLOW, "theme", ["Nord"], {"theme": "nord"}, "theme is nord: written to "),
    (FOLLOW, "theme", ["light", None], {}, "There is no theme “light”. There are "),
    (FOLLOW, "theme", ["textual-dark"], {}, "theme is textual-dark already: nothing was changed."),
    (FOLLOW, "theme", [""], {}, "theme is the default already: nothing was changed."),
    (FOLLOW, "theme", [None], {}, ""),
    (FOLLOW, "documents.extraPaths", ["a.md, b.md"], {"documents": {"extraPaths": ["a.md", "b.md"]}}, "documents.ext"),
    (FOLLOW, "enabled", [None], {}, ""),
    (FOLLOW, "enabled", [""], {"enabled": False}, "enabled is false: written to "),
]


@pytest.mark.parametrize(("key", "name", "typed", "file", "said"), CHANGES, ids=lambda value: str(value)[:20])
def test_one_is_changed_in_its_file_and_undone(
    screen: PaneScreen, key: str, name: str, typed: list[str | None], file: dict[str, Any], said: str
) -> None:
    """A switch and a choice at once, another in a form; what is refused is said, and asked for again."""
    screen.types = typed.copy()
    screen.press(key, name, words=name)
    assert written() == file and (screen.said[0].startswith(said) if said else not screen.said)
    assert not screen.types and len(screen.forms) == len(typed), "what was refused was asked for again"
    if file:
        assert screen.app.config[name] == load_config(screen.engine.location)[name], "it counts at once"
        undo_change(screen, [])  # type: ignore[arg-type]
        assert screen.said[-1].startswith(f"Undone: {name} is ") and not any(written().values())
    undo_change(screen, [])  # type: ignore[arg-type]
    assert screen.said[-1] == "Nothing that was changed here is left to undo."


def test_one_is_taken_out_of_its_file_and_put_back(screen: PaneScreen) -> None:
    target = Path(user_settings_path())
    target.parent.mkdir(parents=True)
    target.write_text('# mine\ndocuments.extraPaths = ["a.md", "b.md"]\nkeys."record.forget" = "X"\n')
    before = target.read_text()
    for name, is_now in (("documents.extraPaths", ' is ""'), ("keys.record.forget", "")):
        screen.press(FORGET, name)
        assert screen.said[-1] == f"{name}{is_now}: taken out of {target}"
        undo_change(screen, [])  # type: ignore[arg-type]
        assert "# mine\n" in target.read_text() and tomllib.loads(target.read_text()) == tomllib.loads(before)
    screen.types = [""]
    screen.press(FOLLOW, "documents.extraPaths")
    assert "extraPaths" not in target.read_text(), "an emptied value is the default"
    assert not screen.press(FORGET, "theme")


# the model ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def server(serve: Serve) -> ModelServer:
    return serve(ModelServer())


def look(screen: PaneScreen) -> list[str]:
    """What is known of the model, once its server was looked at."""
    screen.lines(shows="model")
    screen.until(lambda: screen.app.modeller.status is not None and not screen.app.modeller._looking)
    return screen.lines(shows="model")


def test_which_is_asked_and_why_not_the_others(screen: PaneScreen, server: ModelServer, story: Story) -> None:
    hostile = "[@click=app.quit]x[/]"
    server.installed = {"llama3.2:1b": 1_300_000_000, "nomic-embed-text:latest": 274_302_450, hostile: 10**400}
    with story.open() as memory:
        usage.count_model_call(memory.database, "slug", USUAL_MODEL, 1200, "", '{"words": ["a"]}', "Too few words.")
        usage.count_fallback(memory.database, "slug")
    lines = look(screen)
    assert f"The model  Ollama 0.12.6 at 127.0.0.1:{server.port} ─" in lines[0]
    assert screen.line("the first qwen2.5", shows="model").endswith("Ollama has no qwen2.5.")
    line = partial(screen.line, shows="model")
    assert line("any other model").startswith("✓") and "for vectors only" in line("nomic")
    assert line("llama3.2:1b").startswith("●") and "1.3 GB  3.1B Q4_K_M" in line("llama3.2:1b")
    assert line(hostile) and "Too few words; instead: the first" in line("slug")
    for key, words in (
        ("model llama3.2:1b", "It is the one that is asked: llama3.2:1b, the first model that Ollama has."),
        ("model llama3.2:1b", "Enter writes it to your settings"),
        ("model nomic-embed-text:latest", "It cannot be asked: it makes vectors only."),
        ("order qwen2.5", "Where nobody chose: "),
        ("call 1", 'Dropped: Too few words.\nUsed instead: the first words of what was said.\n{"words": ["a"]}'),
    ):
        assert words in screen.more(key, shows="model")
    assert "Enter" not in screen.more("model nomic-embed-text:latest", shows="model")
    assert not screen.press(FOLLOW, "model nomic-embed-text:latest", shows="model") and "cold" in screen.title
    assert len(screen.lines(shows="model", words="vectors only")) == 2, "words find rows about the model too"


def test_it_says_how_to_get_ollama(screen: PaneScreen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_WITHOUT", "model")
    monkeypatch.setenv("PATH", str(tmp_path))
    lines = look(screen)
    assert any(line.startswith("Ollama  is not on this machine") for line in lines)
    assert screen.line("macOS", shows="model")
    assert "Everything works without it" in screen.more("install Linux", shows="model")
    screen.press(FOLLOW, "install Linux", shows="model")
    assert screen.ran == ["curl -fsSL https://ollama.com/install.sh | sh"]


def test_a_model_and_a_mode_are_chosen(screen: PaneScreen, server: ModelServer) -> None:
    server.installed = {USUAL_MODEL: 1, "llama3.2:1b": 1}
    look(screen)
    for key in ("model llama3.2:1b", "mode smart", "mode off"):
        screen.press(FOLLOW, key, shows="model")
    assert written() == {"agent": {"model": "llama3.2:1b", "mode": "off"}}
    look(screen)
    assert screen.line("off", shows="model").startswith("●") and screen.app.config["agent.mode"] == "off"


def test_a_model_is_fetched_stopped_and_resumed(screen: PaneScreen, server: ModelServer) -> None:
    """It goes on by itself; the title says how far it is."""
    look(screen)
    server.step = 800_000_000
    server.hold.clear()
    screen.types = ["llama3.2:1b "]
    screen.press(FOLLOW, "pull", shows="model")
    screen.until(lambda: "0 B of 1.9 GB" in screen.line("Stop the pull", 100, shows="model"))
    assert screen.title == "pulling llama3.2:1b 0 %"
    pull_model(screen, "another")  # type: ignore[arg-type]
    assert screen.said == ["One is being fetched already: “Stop the pull” stops it."]
    screen.press(FOLLOW, "stop", shows="model")
    stopped = "Stopped at 0 %; pulled again, it continues from there."
    screen.until(lambda: stopped in " ".join(screen.lines(100, shows="model")))
    assert server.left.wait(30) and "llama3.2:1b" not in server.installed
    server.pulled["sha256:5ee4f07cdb9b"] = 800_000_000
    pull_model(screen, "llama3.2:1b")  # type: ignore[arg-type]
    screen.until(lambda: "41 %  800 MB of 1.9 GB" in screen.line("Stop the pull", 100, shows="model"))
    server.hold.set()
    screen.until(lambda: "is there." in " ".join(screen.lines(shows="model")) and "llama3.2:1b" in server.installed)
    screen.press(FOLLOW, "stop", shows="model")
    assert "is there." not in " ".join(screen.lines(shows="model"))
    server.breaks = 'Get "https://registry.ollama.ai/v2/": dial tcp: lookup registry.ollama.ai: no such host'
    screen.press(FOLLOW, f"pull {USUAL_MODEL}", shows="model")
    screen.until(lambda: screen.app.modeller.pull is not None and screen.app.modeller.pull.trouble)
    assert "could not be fetched." in screen.line(USUAL_MODEL, shows="model")
    told = screen.more("stop", shows="model")
    assert "Ollama could not reach its library on the network." in told and "Next  Pull it again" in told


def test_a_model_is_tried(screen: PaneScreen, server: ModelServer) -> None:
    """What is being waited for is said, then how quick it is, and that it was cold; without one, what to do."""
    look(screen)
    screen.press(FOLLOW, "test", shows="model")
    screen.until(lambda: "There is no model to test." in screen.more("test", shows="model"))
    assert f"memoranda config model pull {USUAL_MODEL}" in screen.more("test", shows="model")
    server.installed, server.says = {USUAL_MODEL: 1}, "\x1b[2J [/nope] ok"
    server.hold.clear()
    screen.press(FOLLOW, "look", shows="model")
    screen.until(lambda: screen.app.modeller.status and screen.app.modeller.status.model)
    screen.press(FOLLOW, "test", shows="model")
    assert "A cold model is loaded first" in screen.more("test", shows="model") and server.held.wait(30)
    server.hold.set()
    screen.until(lambda: "30 a second" in screen.more("test", shows="model"))
    told = screen.more("test", shows="model")
    assert "took 2.5 s" in told and "[/nope] ok”" in told and "\x1b" not in told
    screen.until(lambda: screen.lines(shows="model") and "ready" in screen.title)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (USUAL_MODEL, "qwen2.5:3b"),
        ("qwen2.5-coder:0.5b-instruct-q4_K_M", "qwen2.5-coder:0.5b"),
        ("llama3.2:latest", "llama3.2"),
        ("hf.co/bartowski/Qwen2.5-3B-Instruct-GGUF:Q4_K_M", "Qwen2.5-3B-Instru…"),
    ],
)
def test_names_are_short(name: str, said: str) -> None:
    assert short_model_name(name) == said


def test_each_form_of_the_status_is_shorter_than_the_one_before() -> None:
    """So that the first that fits says most."""
    found = ModelWorker(lambda: None)
    assert model_status_forms(found, ModelStats()) == [], "nothing is known yet"
    for model in ("", USUAL_MODEL):
        found.status = ModelStatus(model, "fast", (), ServerInfo("http://127.0.0.1:11434"))
        widths = [pieces_width(form) for form in model_status_forms(found, ModelStats(0.6, 3, 41, 2))]
        assert widths == sorted(widths, reverse=True) and widths[-1] <= 10


def test_only_a_model_that_can_be_taken_says_what_enter_writes() -> None:
    models = (InstalledModel("qwen2.5:3b", 1 << 31), InstalledModel("bge-m3", 1 << 30))
    found = ModelStatus("", "fast", (), ServerInfo("http://127.0.0.1:11434", "0.5.1", models))
    rows = {row.name: row for row in model_rows(ModelWorker(lambda: None), found, ModelStats())}
    assert rows["qwen2.5:3b"].enter and "Enter writes it" in " ".join(rows["qwen2.5:3b"].more)  # type: ignore[union-attr]
    assert not rows["bge-m3"].enter and "cannot be asked" in " ".join(rows["bge-m3"].more)  # type: ignore[union-attr]


# in the application ---------------------------------------------------------------------------------------------------


@TWO_SIZES
async def test_they_are_changed_in_the_application(story: Story, size: tuple[int, int]) -> None:
    async with opened(story.folder, size) as person:
        await person.command("config")
        assert person.place == "settings" and person.sees("▸· Theme", "enter change", "Expert 37", "Model")
        await person.put_cursor("badges")
        await person.pilot.press("enter", "enter", "enter", "u")  # the keys of a burst wait for one another
        await person.settle()
        assert written() == {"badges": "unicode"} and person.toasts[-1].startswith("Undone: badges is unicode")
        await person.press("f", "f")
        await person.put_cursor("theme")
        await person.follow(("enter down", "textual-light"), ("ctrl+u > nord", lambda: person.app.theme == "nord"))
        assert "to undo" in person.toasts[-1]
        await person.follow(
            ("f", lambda: person.app.theme == "textual-dark" and written() == {}),
            ("slash > half score", "▸· search.halfLifeDays", "“half score” ×"),
            ("escape escape", lambda: person.place == "facts"),
        )


async def test_the_model_is_set_up_in_the_application(story: Story, server: ModelServer) -> None:
    server.installed = {USUAL_MODEL: 1, "llama3.2:1b": 1}
    async with opened(story.folder) as person:
        await person.follow((":config model", "● qwen2.5:3b-instruct", "Which is asked"))
        await person.put_cursor("model llama3.2:1b")
        await person.follow(("enter", "● llama3.2:1b", "✓ agent.model"))
        assert "agent.model is llama3.2:1b" in person.toasts[-1] and person.app.config["agent.model"] == "llama3.2:1b"
        server.hold.clear()
        await person.put_cursor("pull")
        await person.pilot.press("enter")
        await person.fill("smollm2:135m")
        await person.until(lambda: person.sees("↓ Stop the pull") and "pulling smollm2:135m" in person.title)
        server.hold.set()  # nobody presses a key: it is read again by itself
        await person.until(lambda: person.sees("✓ smollm2:135m", "is there."))
        await person.put_cursor("test")
        await person.follow(("enter", "It was cold", "“Nothing is lost.”"))
        server.fault = "hangs"
        await person.put_cursor("look")
        await person.press("enter", "escape", "escape")
        assert person.place == "facts", "a server that hangs is not felt"


async def test_ten_questions_are_asked_beside_everything_else(story: Story, serve: Serve) -> None:
    serve(OllamaServer("No"))
    async with opened(story.folder) as person:
        await person.command("config model try")
        await person.until(lambda: any("of 10 right" in line for line in person.preview))
