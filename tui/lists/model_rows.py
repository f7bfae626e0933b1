"""Rows of the model's screen: the setting, the available models, when the model is used, its last calls; or how to
install Ollama."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from store.base.clock import how_long_ago
from store.llm import endpoint
from store.llm.call_log import LoggedCall
from store.llm.endpoint import short
from store.llm.model_selection import USUAL
from store.llm.server_info import Installed
from store.llm.status import ModelStatus
from store.llm.usage_stats import ModelStats
from tui.commands.system.model import (
    BY_RULE,
    MODES,
    about,
    call_lines,
    fares,
    installing,
    lacking,
    outcome,
    seconds,
    size,
)
from tui.lists.numbered_rows import NumberedRows
from tui.lists.wrapping import Pairs
from tui.lists.wrapping import row as laid_out
from tui.render.field_diff import Line
from tui.theme.escape import visible
from tui.theme.line_filters import fit

NAME = 20  # cells of a row's name
WHO = {
    "$MEMORANDA_MODEL": "A variable of the environment, for one start: MEMORANDA_MODEL=llama3.2:1b memoranda",
    "agent.model": "What you chose here, or with memoranda model use NAME. It is in your settings file.",
    "qwen2.5": f"Where nobody chose: {USUAL} if it is there, else the first qwen2.5 that the server has.",
    "any": "Where there is no qwen2.5: the first model of the server that can answer.",
    "rules": BY_RULE,
}
NAMES = {"qwen2.5": "the first qwen2.5", "any": "any other model"}
ANOTHER = "another …"


@dataclass(frozen=True)
class ModelRow:
    """One row: its `key` (None for a heading), sign, name and text; `more` for the preview, and the action of Enter:
    `enter` names it, empty for none."""

    key: str | None
    name: str
    sign: str = ""
    look: str = ""
    words: str = ""
    more: tuple[Line, ...] = ()
    enter: str = ""


class ModelRows(NumberedRows):
    """The rows; each is identified by its key."""

    def __init__(self, rows: list[ModelRow]) -> None:
        self.rows = rows
        self._places = {row.key: index for index, row in enumerate(rows) if row.key is not None}
        self._name = max([NAME, *(len(row.name) for row in rows if row.key is not None)])

    def __len__(self) -> int:
        return len(self.rows)

    def selectable(self, index: int) -> bool:
        return self.rows[index].key is not None

    def key(self, index: int) -> Hashable:
        return self.rows[index].key or f"heading {index}"

    def index_of(self, key: Hashable) -> int | None:
        return self._places.get(key) if isinstance(key, str) else None

    def row(self, key: Hashable) -> ModelRow | None:
        index = self.index_of(key)
        return None if index is None else self.rows[index]

    def lines(self, index: int, width: int) -> list[Pairs]:
        row = self.rows[index]
        if row.key is None:
            return laid_out([(f"{row.name}  ", "heading")], visible(row.words), "dim", [], width)
        cells = min(self._name, max(NAME, width // 2))
        quiet = "dim" if row.look == "dim" else ""
        head = [(f"{row.sign} ", row.look), (fit(visible(row.name), cells) + "  ", quiet)]
        return laid_out(head, visible(row.words), "dim", [], width)


def rows(found: ModelStatus, fared: ModelStats, calls: Sequence[LoggedCall] = (), now: str = "") -> list[ModelRow]:
    """Return all rows, for the model's status, its statistics and its last calls."""
    listed = _order(found)
    if lacking(found):
        return [*_install(), *listed, *_modes(found), *_calls(calls, now)]
    return [*listed, *_models(found, fared), *_modes(found), *_calls(calls, now)]


def start(found: ModelStatus) -> str:
    """Return the key of the row selected first: the current model, else the next step to set one up."""
    if found.model:
        return f"model {found.model}"
    if lacking(found):
        return f"install {installing()[0][0]}"
    return f"pull {USUAL}" if found.look.version and found.look.model(USUAL) is None else "order rules"


def _order(found: ModelStatus) -> list[ModelRow]:
    listed = [ModelRow(None, "WHICH IS ASKED", words="the first of these that can be had")]
    for step in found.steps:
        more: list[Line] = [[(NAMES.get(step.who, step.who), "title")], [(f"{step.reason} {step.next}".strip(), "")]]
        more += [[], [(WHO.get(step.who, ""), "dim")]]
        sign, look = ("✓", "added") if step.taken else ("·", "dim")
        listed.append(
            ModelRow(f"order {step.who}", NAMES.get(step.who, step.who), sign, look, step.reason, tuple(more))
        )
    return listed


def _models(found: ModelStatus, fared: ModelStats) -> list[ModelRow]:
    if found.look.trouble is not None or not (found.look.version or found.look.models):
        return []
    address = found.look.address
    served = "server" if endpoint.openai(address) else "Ollama"
    listed = [ModelRow(None, "MODELS", words=f"that the {served} at {short(address)} has")]
    listed += [_model(found, one, fared) for one in found.look.models]
    if endpoint.openai(address):
        return listed  # it has what it was started with
    if found.look.model(USUAL) is None:
        more: tuple[Line, ...] = (
            [(USUAL, "title")],
            [("The model that Memoranda is made for: 1.9 GB to fetch, and some 3 GB of memory while it works.", "")],
            [("qwen2.5:1.5b takes half of that, and gets more wrong. Ollama fetches it from its library.", "")],
        )
        listed.append(ModelRow(f"pull {USUAL}", USUAL, "↓", "accent", "not there yet: 1.9 GB", more, "pulls it"))
    other: tuple[Line, ...] = (
        [("Another model", "title")],
        [("Any that Ollama's library has, by its name: https://ollama.com/library", "")],
    )
    return [*listed, ModelRow("pull", ANOTHER, "↓", "accent", "fetch one by its name", other, "asks for its name")]


def _model(found: ModelStatus, one: Installed, fared: ModelStats) -> ModelRow:
    more: list[Line] = [[(one.name, "title")], [(about(one), "")]]
    enter = ""
    if not one.can_chat:
        why = "runs on other machines, and no text is sent there" if one.remote else "makes vectors only"
        more.append([(f"It cannot be asked: it {why}.", "warning")])
    elif one.name == found.model:
        reason = f"It is the one that is asked: {found.taken.reason}"
        more += [[(reason, "")], *([[(said, "")]] if (said := fares(fared)) else [])]
        if found.taken.who != "agent.model":
            enter = "keeps it"
    else:
        enter = "takes this one"
    if size(one.size) and enter:
        more.append([("Enter writes it to your settings as agent.model.", "dim")])
    sign, look = ("●", "added") if one.name == found.model else ("○", "dim" if not one.can_chat else "")
    return ModelRow(f"model {one.name}", one.name, sign, look, about(one), tuple(more), enter)


def _modes(found: ModelStatus) -> list[ModelRow]:
    listed = [ModelRow(None, "WHEN", words="the model is asked")]
    for mode, words in MODES.items():
        now = mode == found.mode
        more: tuple[Line, ...] = (
            [(mode, "title")],
            [(f"{words[0].upper()}{words[1:]}. What it proposes waits in the inbox, whichever is set.", "")],
            [("It is in your settings file as agent.mode.", "dim")],
        )
        sign, look, enter = ("●", "added", "") if now else ("○", "", "sets it")
        listed.append(ModelRow(f"mode {mode}", mode, sign, look, words, more, enter))
    return listed


def _calls(calls: Sequence[LoggedCall], now: str) -> list[ModelRow]:
    """Return a row for each of the last calls, if there are any."""
    if not calls:
        return []
    listed = [ModelRow(None, "LAST CALLS", words="of 24 hours; no model is sent any of it")]
    for call in calls:
        (head, *rest) = call_lines(call, now)
        more: tuple[Line, ...] = ([(head, "title")], *([(line, "")] for line in rest))
        sign, look = ("·", "warning") if call.dropped or call.fallback else ("✓", "added")
        words = f"{how_long_ago(now, call.at)}  {seconds(call.seconds)}  {outcome(call)}"
        listed.append(ModelRow(f"call {call.id}", call.task, sign, look, words, more))
    return listed


def _install() -> list[ModelRow]:
    lines = installing()
    words = "installed, and does not run" if len(lines) == 1 else "on this machine; everything works without it"
    listed = [ModelRow(None, "OLLAMA IS NOT THERE" if len(lines) > 1 else "OLLAMA", words=words)]
    for where, line in lines:
        more: tuple[Line, ...] = (
            [(where, "title")],
            [(line, "code")],
            [],
            [("Type it in a shell; enter copies it. Ollama then listens on this machine alone.", "")],
            [(BY_RULE, "dim")],
        )
        listed.append(ModelRow(f"install {where}", where, "$", "accent", line, more, "copies the line"))
    return listed
