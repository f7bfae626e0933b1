"""The rows of the models that a server has."""

from store.librarian.model_selection import InstalledModel, ModelStatus, ServerInfo
from store.librarian.structured_output import ModelStats
from tui.screens.model import model_rows


def test_only_a_model_that_can_be_taken_says_what_enter_writes() -> None:
    models = (InstalledModel("qwen2.5:3b", 1 << 31), InstalledModel("bge-m3", 1 << 30))
    found = ModelStatus("", "fast", (), ServerInfo("http://127.0.0.1:11434", "0.5.1", models))
    shown = {row.name: row for row in model_rows(found, ModelStats())}
    text = {name: " ".join(word for line in row.more for word, _ in line) for name, row in shown.items()}
    assert shown["qwen2.5:3b"].enter and "Enter writes it" in text["qwen2.5:3b"]
    assert not shown["bge-m3"].enter and "Enter" not in text["bge-m3"] and "cannot be asked" in text["bge-m3"]
