"""Status of the model: the server, its models, which model is selected and why."""

from collections.abc import Sequence
from dataclasses import dataclass

from store.base.feature_flags import without
from store.config.configuration import Config
from store.llm import circuit_breaker, endpoint, server_info
from store.llm.model_selection import SWITCH, SelectionStep, choose, untried, why_disabled


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """The selected model (empty: none, rules are used), `mode` fast, smart or off, the selection `steps`, one for each
    of ORDER, and the state of the server (`look`)."""

    model: str
    mode: str
    steps: Sequence[SelectionStep]
    look: server_info.ServerInfo

    @property
    def state(self) -> str:
        """`ready` in memory, `cold` when it must be loaded first, `rules` where there is none."""
        if not self.model:
            return "rules"
        installed = self.look.model(self.model)
        return "ready" if installed is not None and installed.loaded else "cold"

    @property
    def taken(self) -> SelectionStep:
        """The step that selected it."""
        return next(step for step in self.steps if step.taken)


def model_status(config: Config, seconds: float = server_info.LOOK_SECONDS) -> ModelStatus:
    """Read the server's state and select a model. Never raises.

    If the model is switched off (MEMORANDA_WITHOUT=agent) the server is not contacted. A server that was unreachable,
    or had no model, may be asked again at once after this finds it; one that failed otherwise may not, as its list of
    models says nothing about its answers.
    """
    where, mode = endpoint.of(config), str(config["agent.mode"])
    look = server_info.ServerInfo(where) if without(SWITCH) else server_info.look(where, seconds)
    if rules := why_disabled(config):
        otherwise = "Not checked." if without(SWITCH) else "No model is used."
        return ModelStatus("", mode, untried(config, rules, otherwise), look)
    if look.trouble is not None:
        rules = SelectionStep("rules", True, look.trouble.message, look.trouble.next)
        return ModelStatus("", mode, untried(config, rules, "The list of models could not be read."), look)
    name, steps = choose(config, look.models)
    if name:
        circuit_breaker.of(where).note_reachable()
    return ModelStatus(name, mode, steps, look)
