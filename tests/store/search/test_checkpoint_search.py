"""Checkpoints are found by what they mean: by a question that shares no word with them, with the real model."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from store.conversations.turns import NewTurn
from store.memory import Memory
from store.upkeep import background_embedding

COMMAND = os.path.join(os.path.dirname(sys.executable), "memoranda")
# what the person asked last before each session ended → a question about it, in no word of it
ABOUT = {
    "The invoice total is one cent too high": "why were customers charged more than they owe?",
    "¿Cómo aceleramos el arranque de la aplicación?": "make the program launch faster",
    "The login page forgets who I am": "se pierde la sesión del usuario",
    "Please rename the export button": "give a control another label",
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A memory of some sessions, each with the checkpoint of its end, all of it embedded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMORANDA_WITHOUT", "")
        path = str(tmp_path_factory.mktemp("meant") / ".memoranda" / "memory.db")
        with Memory.open(path) as memory:
            for number, text in enumerate(ABOUT):
                memory.turns.add_turns(f"s{number}", [NewTurn("user", text), NewTurn("assistant", "Done.")])
                memory.checkpoints.record_session_end(session=f"s{number}")
            memory.facts.remember("The team has lunch at noon")
            assert background_embedding.embed_waiting(memory)
        yield path


@pytest.mark.parametrize("number", range(1, len(ABOUT) + 1))
def test_a_question_without_a_word_of_it_finds_a_checkpoint(path: str, number: int, monkeypatch: pytest.MonkeyPatch):
    """In `search`, and on the command line: the first of the checkpoints, and for its meaning alone."""
    monkeypatch.setenv("MEMORANDA_WITHOUT", "")
    summary, question = list(ABOUT.items())[number - 1]

    def words(text: str) -> set[str]:
        return set(re.findall(r"\w+", text.lower()))

    with Memory.open(path) as memory:
        assert memory.checkpoints.get(number).summary == summary and not words(summary) & words(question)
        without = memory.search(question, kinds=("checkpoint",), meaning=False)
        assert not without.hits, "words alone do not find it"
        hits = memory.search(question, kinds=("checkpoint",)).hits
        assert hits[0].citation == f"K#{number}"
        assert f"K#{number}" in [hit.citation for hit in memory.search(question).hits]
    said = subprocess.run(
        [COMMAND, "--db", path, "search", f"{question} kind:checkpoint", "--json"], capture_output=True, text=True
    )
    answer = json.loads(said.stdout)
    assert answer["hits"][0]["citation"] == f"K#{number}" and "meaning" in answer["signals"]
