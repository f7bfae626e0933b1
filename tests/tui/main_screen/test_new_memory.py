"""The application and the command line on a memory that has just begun: each filter is answered."""

from pathlib import Path
from typing import Any

import pytest
from support.commands import Said
from support.screen import Person, opened
from support.young import FILTERED, VALUES, VECTORS, WORD, begun

from store.base.errors import Defect
from tui import cli
from tui.workers.engine import SearchWorker

BROKEN = Defect(ValueError()).message.partition(" (")[0]
STATES = [("nothing", "no vectors"), ("nothing", "all"), *(("fact", state) for state in VECTORS), ("many", "some")]
# words for the command line: each verb that narrows what it lists or asks
LOOKING = (
    *(("search", WORD, one) for one in FILTERED[::8]),
    *(("search", one, "--explain") for one in FILTERED[1::16]),
    *(("ask", f"{WORD} {one}") for one in FILTERED[2::16]),
    *(("context", f"{WORD} {one}") for one in FILTERED[3::16]),
    ("list", "facts", "--domain", "work"),
    ("list", "facts", "--tag", "none"),
    *(("list", kind) for kind in ("decisions", "tasks", "iterations", "sessions", "checkpoints")),
    *((verb,) for verb in ("merge", "today", "timeline", "history", "health", "secrets")),
    ("health", "--check"),
    ("secrets", "--scan"),
)


def place(tmp_path: Path, *state: str) -> Path:
    """A project whose memory has just begun."""
    folder = tmp_path / "billing"
    folder.mkdir()
    with begun(folder, *state):
        pass
    return folder


def broken(person: Person) -> bool:
    return any(BROKEN in toast for toast in person.toasts)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("state", STATES, ids=" ".join)
def test_every_verb_that_narrows_answers(
    tmp_path: Path,
    meaning: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    state: tuple[str, str],
) -> None:
    monkeypatch.chdir(place(tmp_path, *state))
    for words in LOOKING:
        said = Said(cli.run_command(words), *capsys.readouterr())
        refused = said.status == 2 and said.err.startswith("The filter ") and words[0] in ("search", "ask")
        assert refused or (said.status in (0, 1, 5) and said.out), (words, said)
        assert "Traceback" not in said.err, words
        assert BROKEN not in said.out + said.err, words


@pytest.mark.sampled(2)
@pytest.mark.parametrize("turn", range(3))
async def test_a_search_in_the_application_comes_to_its_end(tmp_path: Path, meaning: None, turn: int) -> None:
    """Nothing, one record, a few; a third of the kinds of filter each, and all of them by one that passes nothing."""
    async with opened(place(tmp_path, *STATES[1::2][turn])) as person:
        for one in ("kind:decision", *(f"{name}:{VALUES[name][1]}" for name in list(VALUES)[1:][turn::3])):
            await person.search(f"{WORD} {one}")
            assert "found" in person.lines[1] and "… meaning" not in person.lines[1]
            assert not broken(person)
            await person.press("escape")
        await person.press("slash")
        await person.paste(f"which {WORD}s are there? kind:decision ?")
        await person.press("enter")
        assert (person.place == "ask" and person.sees("by rule")) or person.sees("Nothing"), person.lines
        assert not broken(person)


@pytest.mark.parametrize("ends", ["a defect", "interrupted"])
async def test_a_search_that_ends_waits_for_no_meaning(
    tmp_path: Path, meaning: None, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    """Whatever happens on the way: the keywords' answer stands, and Enter goes to it at once."""

    search = SearchWorker.search

    def fails(worker: SearchWorker, query: str, meaning: bool, *more: Any) -> Any:
        if meaning and ends == "a defect":
            raise ValueError("of ours")
        return None if meaning else search(worker, query, meaning, *more)

    monkeypatch.setattr(SearchWorker, "search", fails)
    async with opened(place(tmp_path, "fact", "all")) as person:
        await person.press("slash")
        await person.paste_now(f"which {WORD}")
        bar = person.main.search_bar
        await person.until(lambda: "found" in person.lines[1] and not (bar.waiting or bar.thinking))
        assert "… meaning" not in person.lines[1]
        await person.until(lambda: broken(person) == (ends == "a defect"))
        await person.press("enter")
        assert (person.place, person.at) == ("found", "list")


def test_a_defect_of_a_questions_vector_is_said(tmp_path: Path, meaning: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """It happens on a thread of its own, where nobody would hear of it."""

    def candidates(*given: Any, **more: Any) -> None:
        raise ValueError("of ours")

    with begun(tmp_path, "fact", "all") as memory:
        monkeypatch.setattr("store.embedding.vector_codes.CodeMatrix.candidates", candidates)
        with pytest.raises(ValueError, match="of ours"):
            memory.search("who is it?")
