"""Text of strangers on every widget that shows data: nothing in it is obeyed, and nothing hides."""

import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import repositories, stories
from support.screen import NARROW, WIDE, Person, opened
from support.strangers import PAYLOADS, PROJECT, tell
from textual.app import App
from textual.strip import Strip
from textual.widgets import Input

import tui
from bench.terminal import Terminal
from store.base.vocabulary import pack_key
from store.memory import Memory
from tui.app import Memoranda
from tui.widgets.record_list import RecordList

OBEYED = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
HIDDEN = re.compile("[\u200b\u200c\u2060\ufeff\xad\U000e0000-\U000e0fff]")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tell(tmp_path_factory.mktemp("hostile") / PROJECT)


@pytest.fixture(params=["first", "second"])
def layer(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Only this one of the two layers: each alone must hold back what a terminal obeys."""
    if request.param == "first":
        monkeypatch.setattr(Memoranda, "get_line_filters", App.get_line_filters)
    else:
        for name, module in list(sys.modules.items()):
            if name.startswith("tui.") and hasattr(module, "visible"):
                monkeypatch.setattr(module, "visible", lambda text, newlines=False: text.replace("\n", " "))
    return str(request.param)


def judge(person: Person, layer: str = "both") -> None:
    """What is on the screen: no control character, nothing hidden, nothing to click, no line wider than the screen."""
    width = person.app.size.width
    for strip in person.strips:
        for text, style, control in strip:
            assert not control
            assert not (found := OBEYED.search(text)), (found, text)
            if layer != "second":  # which lets pass what does nothing but hide
                assert not (found := HIDDEN.search(text)), (found, text)
            if style is not None:
                assert "@click" not in style.meta and style.link is None, text
        assert strip.cell_length == width, strip.text


def no_markup(person: Person, *literals: str) -> None:
    """Markup stands there letter by letter, in the style of its line."""
    strips = person.strips
    for literal in literals:
        lines = [strip for strip in strips if literal in strip.text]
        assert lines, f"{literal} is not shown as it is"
        for strip in lines:
            at = strip.text.index(literal)
            styles = {style for style, place in _styles(strip) if at <= place < at + len(literal)}
            assert len(styles) == 1, (literal, strip.text)


def _styles(strip: Strip) -> Iterator[tuple[object, int]]:
    place = 0
    for text, style, _ in strip:
        for _ in text:
            yield style, place
            place += 1


@pytest.mark.sampled(2)
async def test_every_record_in_lists_hits_and_preview(hostile: Path, layer: str) -> None:
    """Facts, timeline, proposals; tasks and checkpoints by their citations; what a search finds by each name."""
    size = NARROW if layer == "first" else WIDE
    async with opened(hostile, size) as person:
        for pane in "231":
            await person.press(pane)
            found = person.record_list
            assert found.rows is not None and len(found.rows) >= len(PAYLOADS)
            for index in range(len(found.rows)):
                if found.rows.selectable(index):
                    found.select(found.rows.key(index))
                    await (person.settle() if pane == "1" else person.pilot.pause())
                    judge(person, layer)
                    assert person.record is not None
        for number in range(1, len(PAYLOADS) + 1):
            for citation in (f"A#{number}", f"K#{number}"):
                person.main.open_citation(citation)
                await person.settle()
                assert person.record is not None and person.record.citation == citation
                judge(person, layer)
        for name in PAYLOADS:
            person.main.search_for(name)
            await person.until(lambda name=name: any(name in hit for hit in person.hits))
            judge(person, layer)
        await person.press("enter", "j", "G")
        judge(person, layer)


async def test_markup_is_only_text(hostile: Path) -> None:
    """In lists, preview, editor, hits, a report and the help."""
    number = list(PAYLOADS).index("action") + 1
    async with opened(hostile, (400, 60)) as person:
        fact = next(number for number, text in _facts(hostile).items() if text.startswith("markup:"))
        await person.put_cursor(pack_key("fact", fact))
        no_markup(person, "[/nope]", "[red]red[/red]")
        await person.press("c")
        no_markup(person, "[/nope]", "[red]red[/red]")
        await person.press("escape", "3")
        for kind in ("decision", "event", "iteration", "checkpoint"):
            await person.put_cursor(pack_key(kind, number))
            no_markup(person, "[@click=app.bell]x[/]")
        await person.command(f"show A#{number}")
        no_markup(person, "[@click=app.bell]x[/]")
        await person.search("variable kind:decision")
        no_markup(person, "$primary [$error]e[/]")  # the word that was found is marked
        await person.press("escape")
        await person.command("list facts --status active")
        no_markup(person, "$variable $primary [$error]e[/]")
        await person.press("question_mark")
        person.app.screen.query_one("#help-list", RecordList).select("verb:remember")
        await person.settle()
        no_markup(person, "[--domain D]", "[--confidence C]")
        judge(person)


async def test_a_strangers_commit_its_diff_and_reports(hostile: Path, layer: str) -> None:
    sha = repositories.git(hostile, "rev-parse", "HEAD")
    async with opened(hostile) as person:
        person.main.open_citation(f"C#{sha}")
        await person.until(lambda: any("diff --git" in line for line in person.preview))
        assert any("Eve" in line for line in person.preview)
        for line in ",list facts --status active,list decisions --all,timeline --limit 200 --since 2000-01-01".split(
            ","
        ):
            if line:
                await person.command(line)
            preview = person.main.pane.preview
            assert len(person.preview) > 5, line
            for y in range(0, min(len(person.preview), 300), 35):
                preview.scroll_to(y=y, animate=False, force=True)
                await person.pilot.pause()
                judge(person, layer)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("third", range(3))
async def test_what_is_edited_is_only_text(hostile: Path, third: int) -> None:
    with Memory(stories.location(hostile), "cli") as memory:
        steps = memory.history.steps(limit=1)
    async with opened(hostile) as person:
        for number, text in list(_facts(hostile).items())[third::3]:
            await person.put_cursor(pack_key("fact", number))
            await person.press("c")
            judge(person)
            await person.press("enter")
            said = f"F#{number} says exactly that. Confirm it instead, if it is still true."
            assert person.toasts[-1] == said, text[:40]
            judge(person)
            person.app.clear_notifications()
    with Memory(stories.location(hostile), "cli") as memory:
        assert memory.history.steps(limit=1) == steps


def _facts(folder: Path) -> dict[int, str]:
    with Memory(stories.location(folder), "cli") as memory:
        return {fact.id: fact.fact for fact in memory.facts.get_many(memory.facts.ids(stories.NOON))}


async def test_a_correction_keeps_the_lines_and_gains_nothing_hidden(tmp_path: Path) -> None:
    story = stories.copy(tmp_path / "p")
    with story.open() as memory:
        number, _ = memory.facts.remember("one\ntwo\u202e\u200b")
    async with opened(story.folder) as person:
        await person.put_cursor(pack_key("fact", number))
        await person.press("c", "!", "enter")
        assert person.toasts[0].endswith(f"replaces F#{number}, u to undo") and len(person.toasts) == 1
    with story.open() as memory:
        assert memory.facts.get(number + 1).fact == "one\ntwo⟨U+202E⟩⟨U+200B⟩!"


@pytest.mark.sampled(2)
async def test_messages_titles_box_forms_and_plans(tmp_path: Path, layer: str) -> None:
    folder = tmp_path / PROJECT
    folder.mkdir()
    repositories.create(folder)
    async with opened(folder) as person:
        judge(person, layer)
        if layer == "first":
            assert "b␛]52;c;eA==␇␛[2J[red]⟨U+202E⟩[@click=app.bell]i⟨U+009B⟩2J ⏎ lling" in person.lines[0]
        for name, text in (
            ("markup", PAYLOADS["markup"]),
            ("action", PAYLOADS["action"]),
            ("controls", "".join(PAYLOADS[name] for name in ("clear", "c1", "bidi"))),
        ):
            await person.press("colon")
            await person.paste(f"{text} is no verb")
            if layer == "second":  # for the first what is typed is the person's own
                judge(person, layer)
            await person.press("enter")
            judge(person, layer)
            await person.command(f"remember {name} {text}")
            judge(person, layer)
            await person.command(f"checkpoint {text}")
            taken = person.toasts[-1].removeprefix("Checkpoint ").rstrip(".")
            await person.command(f"remember and another {name}")
            await person.command(f"restore {taken}")
            await person.until(lambda: person.planning)
            assert person.sees("1 of 1 chosen")
            judge(person, layer)
            await person.press("escape")
            await person.command(f"list facts {text}")
            judge(person, layer)
            await person.command("list facts")
            person.app.clear_notifications()
        for _ in range(2):
            await person.command("/memory export")
            judge(person, layer)
        assert person.sees("Replace it?")


async def test_what_is_typed_or_pasted(hostile: Path) -> None:
    """The second layer stands behind the inputs: their text is the person's own, and stays as it was typed."""
    async with opened(hostile) as person:
        for text in PAYLOADS.values():
            person.main.search_for(text.replace("\n", " ")[:200])
            await person.pilot.pause()
            judge(person, "second")
        await person.settle()
        assert person.main.query_one("#query", Input).value == "日本語" * 30


# a real terminal: the bytes themselves

_SEQUENCE = re.compile(r"\x1b(?:\[([?>=<]?)[0-9;:]*([ -/]*[@-~])|(\][0-9]+|[P_^XN-O]|[^\[\]]))")


def _kinds(output: str) -> set[str]:
    """The kinds of escape sequences in a session: `[m`, `[?h`, `]52` …"""
    return {f"[{found[1]}{found[2]}" if found[2] else found[3] for found in _SEQUENCE.finditer(output)}


def _session(folder: Path) -> str:
    environment = {"PYTHONPATH": str(Path(tui.__file__).parent.parent), "TZ": "UTC", "COLUMNS": "", "LINES": ""}
    words = [sys.executable, "-P", "-m", "tui.main", "--db", f"{folder}/.memoranda/memory.db"]
    with Terminal(words, environment) as it:
        it.wait_for("All \\d")
        it.quiet()
        for keys in "jjj jjjjjjjj G 3jjjjjj \x06 jjjjjj G \r\x1b[C\r \x7f 2 2 c \x1b".split(" "):
            it.write(keys)
            it.quiet(0.1)
        for keys in ("/kind:fact\r", "jjj", "\x1b", ":timeline\r", "\x1b[6~", "\x1b", "?", " ", "\x1b", "q"):
            it.write(keys)
            it.quiet(0.15)
        it.process.wait(30)
        it.quiet()  # what it said last
        return it.output.decode("utf-8")


def test_the_bytes_of_a_session(hostile: Path, tmp_path: Path) -> None:
    calm = stories.copy(tmp_path / "calm")
    quiet, loud = _session(calm.folder), _session(hostile)
    assert "␛]52;c;" in loud and "⟨U+202E⟩" in loud, "the payloads were on the screen"
    assert _kinds(loud) <= _kinds(quiet)
    assert "]52" not in _kinds(loud) and "]8" not in _kinds(loud) and "P" not in _kinds(loud)
    assert loud.count("\x1b[2J") == quiet.count("\x1b[2J")
    assert not [c for c in loud if unicodedata.category(c) in ("Cc", "Cs") and c not in "\x1b\r\n\x07\t"]
    assert loud.count("\x07") == quiet.count("\x07")
    assert not OBEYED.search(re.sub("[\x1b\r\n\x07\t]", "", loud))
    assert not HIDDEN.search(loud)
