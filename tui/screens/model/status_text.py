"""The model's status beside the search: name, state, duration of the last answer; in fewer words if there is less
room."""

from __future__ import annotations

from store.llm.usage_stats import ModelStats
from tui.theme.pieces import Piece
from tui.workers.model_worker import ModelWorker

ACTION = "model"
NAME = 18  # maximum cells of a model's name


def forms(modeller: ModelWorker, faring: ModelStats) -> list[list[Piece]]:
    """Return the forms of the status, longest first. Empty while it is unknown."""
    pull, found = modeller.pull, modeller.status
    if pull is not None and not pull.ended:
        far = f"{100 * pull.far.done // pull.far.total} %" if pull.far.total else "…"
        return [
            [(f"pulling {short(pull.name)} ", "$text-accent", ACTION), (far, "bold", ACTION)],
            [(f"pulling {far}", "$text-accent", ACTION)],
            [(f"↓ {far}", "$text-accent", ACTION)],
        ]
    if found is None:
        return []
    if not found.model:
        return [[("no model", "$dim", ACTION)]]  # no count of waiting requests: there may never be a model
    name = short(found.model)
    state = "working" if faring.working or modeller.trying else found.state
    look = {"working": "$text-accent", "ready": "$text-success"}.get(state, "$dim")
    last = f"  {faring.seconds:.1f} s" if faring.seconds is not None else ""
    queue = f"  {faring.queued:,} queued" if faring.queued else ""
    rules = f"  {faring.by_rule:,} of {faring.asked:,} by rule" if faring.by_rule else ""
    said: list[Piece] = [(f"{name} ", "", ACTION), (state, look, ACTION)]
    return [
        [*said, (last, "", ACTION), (f"{queue}{rules}", "$dim", ACTION)],
        [*said, (last, "", ACTION), (queue, "$dim", ACTION)],
        [*said, (last, "", ACTION)],
        said,
        [(name, look, ACTION)],
        [(name.partition(":")[0], look, ACTION)],
    ]


def short(name: str) -> str:
    """Shorten a model's name by its owner and its training: `qwen2.5:3b-instruct` to `qwen2.5:3b`."""
    name = name.rpartition("/")[2]
    model, colon, size = name.partition(":")
    name = model if size in ("", "latest") else f"{model}{colon}{size.partition('-')[0]}"
    return name if len(name) <= NAME else f"{name[: NAME - 1]}…"
