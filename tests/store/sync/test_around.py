"""What else of Memoranda meets a synced file: the doctor, a purge, an export."""

from support.notebook import Notebook

from store.exchange import exporter
from store.memory import Memory
from store.upkeep.checks import OK, WRONG
from store.upkeep.doctor import examine


def said(notebook: Notebook) -> list[tuple[str, str]]:
    """What the doctor says of synced files."""
    return [(one.state, one.says) for one in examine(notebook.memory.location) if one.subject == "sync"]


def test_the_doctor_says_which_files_are_kept_and_what_is_wrong_with_one(notebook: Notebook, memory: Memory) -> None:
    assert said(notebook) == [(OK, "MEMORY.md is kept in sync.")]
    notebook.save(notebook.text.replace("end -->", "-->"))
    memory.sync.sync_due()
    [(state, says)] = said(notebook)
    assert state == WRONG and "MEMORY.md: its section begins or ends more or less than once" in says
    memory.sync.stop_file("MEMORY.md")
    assert said(notebook) == []


def test_a_purge_reaches_every_synced_file_also_its_own_text(notebook: Notebook, memory: Memory) -> None:
    memory.sync.start_file("AGENTS.md")
    memory.sync.sync_file("AGENTS.md")
    agents = notebook.path.with_name("AGENTS.md")
    agents.write_text(agents.read_text() + "\nAs always: Tea, not coffee.\nAnd lunch.\n")
    memory.documents.update_index()
    memory.purge.run_plan(memory.purge.plan([("fact", 2)]))
    for file in (agents, notebook.path):
        assert "Tea" not in file.read_text(), file
    memory.sync.sync_due()
    assert "And lunch." in agents.read_text() and "The team is five" in agents.read_text()
    assert not memory.facts.get_many([2]) or "Tea" not in memory.facts.get(2).fact


def test_nothing_of_a_synced_file_is_in_an_export(notebook: Notebook, memory: Memory) -> None:
    assert "synced" not in "".join(exporter.export_text(memory.database))
