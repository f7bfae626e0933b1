"""Selection of the agent's model on the configured server.

The first that is available of: the model in `MEMORANDA_MODEL`, the configured one, a qwen2.5, any other model. Without
one, rules are used.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from math import inf
from shutil import which
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from store.base.errors import ModelFailed
from store.base.models import select_fields
from store.base.runtime import DISABLED_PARTS_VARIABLE, IsCancelled, is_part_disabled, never_cancelled
from store.config.configuration import Config
from store.librarian.chat import (
    LOCAL_HOSTS,
    ChatClient,
    ChatRequest,
    DeadlineCall,
    OllamaChat,
    OpenAIChat,
    breaker_of,
    failure_of_error,
    failure_of_status,
    get_host_name,
    get_server_address,
    get_written_address,
    is_openai_server,
    make_key_headers,
    make_server_failure,
    name_server,
    parse_figure,
    shorten_address,
    shut_down_socket,
    split_address,
)
from store.text.display import format_bytes, format_count, format_seconds, visible
from store.text.fence import strip_invisible

# State of the model server: version, models, which of them are loaded.
#
# Uses only the standard library, as the status line refreshes twice a minute even when no model is used, and importing
# Ollama's client takes 0.3 s. No proxy is used and no redirect followed, so that only the configured address is
# contacted. Replies are data, and every field is checked.

# for a whole reply, even one that arrives byte by byte
SERVER_REPLY_SECONDS = 2.0
# bytes of a reply
MAX_REPLY_BYTES = 4 << 20
# characters of a model's name, and of each other field
MAX_MODEL_NAME, MAX_MODEL_FIELD = 200, 40
# in the names of models that cannot chat
_NO_CHAT_NAMES = ("embed", "minilm", "bge-", "-e5", "rerank", "whisper")

Value = TypeVar("Value")


def is_cloud_model(name: str) -> bool:
    """Return whether a model of this name runs on Ollama's cloud and not on the server."""
    return name.endswith(("-cloud", ":cloud"))


class InstalledModel(NamedTuple):
    """A model that the server lists. `size` in bytes; `parameters` and `quantization` as Ollama writes them ("3.1B",
    "Q4_K_M"), empty where unknown; `loaded`: it is in memory and answers at once; `remote`: it runs on other
    machines."""

    name: str
    size: int = 0
    parameters: str = ""
    quantization: str = ""
    loaded: bool = False
    remote: bool = False

    @property
    def can_chat(self) -> bool:
        """Whether it can answer questions on this server: not remote, and not for vectors only."""
        return not self.remote and not any(part in self.name.lower() for part in _NO_CHAT_NAMES)

    def describe(self) -> str:
        """Describe it in a few words."""
        words = [format_bytes(self.size) if self.size else "", f"{self.parameters} {self.quantization}".strip()]
        if self.remote:
            words.append("runs on other machines: no text is sent there")
        elif not self.can_chat:
            words.append("for vectors only")
        elif self.loaded:
            words.append("in memory")
        return "  ".join(filter(None, words))


class ServerInfo(NamedTuple):
    """The state of the server; `trouble` is why it could not be read, None where it answered."""

    address: str
    version: str = ""
    models: tuple[InstalledModel, ...] = ()
    trouble: ModelFailed | None = None

    def find_model(self, name: str) -> InstalledModel | None:
        """Return the model of this name, with or without `:latest`; None if the server has none."""
        return _find_installed(self.models, name)

    @property
    def lacks_ollama(self) -> bool:
        """Whether no Ollama was found on this machine, where it was looked for."""
        absent = self.trouble is not None and self.trouble.kind == "absent"
        return absent and get_host_name(self.address) in LOCAL_HOSTS and not is_openai_server(self.address)


def _find_installed(models: Sequence[InstalledModel], name: str) -> InstalledModel | None:
    return next((model for model in models if model.name in (name, f"{name}:latest")), None)


def read_server_info(address: str, seconds: float = SERVER_REPLY_SECONDS) -> ServerInfo:
    """Read the state of the server at `address`; each of its three requests may take so many seconds. Never raises: a
    failure is in the result."""
    call, version = DeadlineCall(never_cancelled), ""
    try:
        found = list_server_models(address, call, seconds)
        loaded = {model.name for model in found}
        if not is_openai_server(address):
            version = _fetch_json_field(address, "/api/version", "version", str, seconds, call)
            loaded = {
                _name_of_entry(entry)
                for entry in _fetch_json_field(address, "/api/ps", "models", list, seconds, call)
            }
    except ModelFailed as error:
        return ServerInfo(address, trouble=error)
    return ServerInfo(
        address, version[:MAX_MODEL_FIELD], tuple(model._replace(loaded=model.name in loaded) for model in found)
    )


def list_server_models(
    address: str, call: DeadlineCall, seconds: float = SERVER_REPLY_SECONDS
) -> list[InstalledModel]:
    """Return the server's models in its order; `loaded` is not set here. Raise ModelFailed."""
    path, part = ("/models", "data") if is_openai_server(address) else ("/api/tags", "models")
    return [
        _parse_entry(entry)
        for entry in _fetch_json_field(address, path, part, list, seconds, call)
        if _name_of_entry(entry)
    ]


def _name_of_entry(entry: object) -> str:
    """Return the model's name in a list entry; empty where it has no valid one."""
    if not isinstance(entry, dict):
        return ""
    name = entry.get("model") or entry.get("name") or entry.get("id")
    return name if isinstance(name, str) and name.isprintable() and len(name) <= MAX_MODEL_NAME else ""


def _parse_entry(entry: dict[str, Any]) -> InstalledModel:
    """Return the model that an entry of the server's list describes."""
    name, details = _name_of_entry(entry), entry.get("details")
    if not isinstance(details, dict):
        details = {}
    parameters, quantization = (
        str(details.get(key) or "")[:MAX_MODEL_FIELD] for key in ("parameter_size", "quantization_level")
    )
    remote = is_cloud_model(name) or bool(entry.get("remote_host") or entry.get("remote_model"))
    return InstalledModel(name, parse_figure(entry.get("size")), parameters, quantization, remote=remote)


def _fetch_json_field(
    address: str, path: str, part: str, kind: type[Value], seconds: float, call: DeadlineCall
) -> Value:
    """Return a part of the JSON object that the server replies, within so many seconds. Raise ModelFailed, also where
    it is not of this kind."""
    parts = split_address(address)
    # with ssl 5 MB, which only a local model needs
    from http.client import HTTPConnection, HTTPSConnection

    protocol = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = protocol(parts.hostname or "", parts.port, timeout=seconds)

    def talk() -> bytes:
        connection.request("GET", parts.path + path, headers=make_key_headers(address))
        answer = connection.getresponse()
        body = answer.read(MAX_REPLY_BYTES)
        if answer.status != 200:
            raise failure_of_status(address, answer.status)
        if answer.length:
            raise make_server_failure("broken_off", address)
        return body

    def abort() -> None:
        if connection.sock is not None:
            shut_down_socket(connection.sock)
        connection.close()

    call.set_deadline(seconds)
    try:
        found = json.loads(call.run_beside(talk, abort)).get(part)
    except Exception as error:
        raise failure_of_error(error, address) from None
    if not isinstance(found, kind):
        raise make_server_failure("unexpected", address)
    return found


MODEL_VARIABLE = "MEMORANDA_MODEL"
USUAL_MODEL = "qwen2.5:3b-instruct"
MODEL_FAMILY = "qwen2.5"
# value in MEMORANDA_WITHOUT
MODEL_SWITCH = "agent"
SELECTION_ORDER = (f"${MODEL_VARIABLE}", "agent.model", MODEL_FAMILY, "any", "rules")
"""Where the name of the model comes from, in order; the first with an available model is taken."""
MODEL_MODES = {
    "fast": "asked after an answer only, and never waited for",
    "smart": "asked before an answer too, for agent.seconds at most",
    "off": "no model: answers come from the records",
}
INSTALL_OLLAMA = (
    ("Linux", "curl -fsSL https://ollama.com/install.sh | sh"),
    ("Docker", "docker run -d -p 127.0.0.1:11434:11434 -v ollama:/root/.ollama ollama/ollama"),
    ("macOS", "brew install ollama && brew services start ollama"),
)
"""How to install Ollama, by platform."""
WORKS_WITHOUT_MODEL = "Everything works without it: search, inbox and contexts need no model."


class SelectionStep(NamedTuple):
    """One step of the selection: `who` names the model (one of SELECTION_ORDER); `taken`, or the `reason` why not and
    what to do (`next`)."""

    who: str
    taken: bool
    reason: str
    next: str = ""

    def __str__(self) -> str:
        return f"{self.reason} {self.next}".strip()


def open_selected_model(
    config: Config,
    *,
    cancelled: IsCancelled = never_cancelled,
    loading: Callable[[], None] | None = lambda: None,
    seconds: float = inf,
) -> ChatClient | None:
    """Return the selected model; None where there is none and rules are used. Fetches the server's list of models,
    within two seconds; the caller closes the chat.

    A question ends within a twentieth of a second once `cancelled` returns True; it is called as often. `loading` is
    called before a cold model is loaded, which may take a minute; with None it is not loaded, and asking it fails. The
    list and all questions end within `seconds` from now.
    """
    where = get_server_address(config)
    breaker = breaker_of(where)
    if why_model_disabled(config) is not None or breaker.why_open() is not None:
        return None
    try:
        return _open_model(config, DeadlineCall(cancelled, seconds), loading)
    except ModelFailed as failed:
        breaker.record_failure(failed)
        return None


def open_named_model(config: Config, name: str = "", cancelled: IsCancelled = never_cancelled) -> ChatClient:
    """Return the model of this name, or the selected one, even if the breaker is open; the caller closes it. A question
    ends soon once `cancelled` returns True. Raise ModelFailed: the server has none, or does not answer."""
    return _open_model(config, DeadlineCall(cancelled), lambda: None, name)


def _open_model(
    config: Config, call: DeadlineCall, loading: Callable[[], None] | None, name: str = ""
) -> ChatClient:
    where = get_server_address(config)
    chosen, steps = choose_model(config, list_server_models(where, call))
    if not (name or chosen):
        raise ModelFailed("missing", steps[-1].reason, steps[-1].next)
    return make_chat_client(where, call, loading, name or chosen)


def make_chat_client(
    where: str, call: DeadlineCall, loading: Callable[[], None] | None, name: str, warm: bool = True
) -> ChatClient:
    """Return the client of a model at an address; with `warm` it loads a cold model before asking. Raise
    ModelFailed."""
    if is_openai_server(where):
        return OpenAIChat(where, call, name)
    return OllamaChat(where, call, loading, name, warm)


def why_no_model(config: Config, *, ends: bool = False) -> str:
    """Return why `open_selected_model` returned None as text for a person, and how long nothing is asked unless
    the process `ends`; empty where no server answers, no model is installed here and nobody ever named a model."""
    disabled = why_model_disabled(config)
    if disabled is not None:
        return str(disabled)
    tripped = breaker_of(get_server_address(config)).why_open(ends=ends)
    if tripped is None or (tripped.kind == "absent" and not _is_model_expected(config)):
        return ""
    return str(tripped)


def _is_model_expected(config: Config) -> bool:
    """Return whether somebody set up a model: named it or its server, or installed Ollama."""
    return bool(any(get_named_models(config).values()) or get_written_address(config) or which("ollama"))


def why_model_disabled(config: Config) -> SelectionStep | None:
    """Return why no model may be asked, whatever the server has; None where one may be."""
    if is_part_disabled(MODEL_SWITCH):
        return SelectionStep("rules", True, f"Switched off by {DISABLED_PARTS_VARIABLE}.")
    if config["agent.mode"] == "off":
        return SelectionStep("rules", True, "Switched off: agent.mode is off.", "memoranda config model fast")
    return None


def choose_model(config: Config, installed: Sequence[InstalledModel]) -> tuple[str, list[SelectionStep]]:
    """Return (the first model of SELECTION_ORDER that the server has, empty if there is none; a step for each of
    SELECTION_ORDER)."""
    taken, steps = "", list[SelectionStep]()
    for name, step in _try_models(config, installed):
        steps.append(SelectionStep(step.who, False, "Not needed.") if taken else step)
        taken = taken or name
    return taken, steps


def _pull_command(config: Config, name: str) -> str:
    """Return how a model gets onto the server; empty for a server that serves what it was started with."""
    return "" if is_openai_server(get_server_address(config)) else f"ollama pull {name}"


def list_untried_steps(config: Config, rules: SelectionStep, otherwise: str) -> list[SelectionStep]:
    """Return a step for each of SELECTION_ORDER where no model is chosen: `rules` says why, `otherwise` is told of the
    others."""
    names = get_named_models(config)
    reasons = {who: f"{name}. {otherwise}" if name else "Not set." for who, name in names.items()}
    return [*(SelectionStep(who, False, reasons.get(who, otherwise)) for who in SELECTION_ORDER[:-1]), rules]


def _try_models(config: Config, installed: Sequence[InstalledModel]) -> Iterator[tuple[str, SelectionStep]]:
    """Yield (the model that the server has, empty for none; the step) for each of SELECTION_ORDER."""
    server, here = (name_server(get_server_address(config), begins) for begins in (True, False))
    pull = _pull_command(config, USUAL_MODEL)
    for who, wanted in get_named_models(config).items():
        one = _find_installed(installed, wanted)
        if not wanted:
            yield "", SelectionStep(who, False, "Not set.")
        elif is_cloud_model(wanted) or (one is not None and one.remote):
            yield "", SelectionStep(who, False, f"{wanted} runs on other machines, and no text is sent there.")
        elif one is None:
            yield (
                "",
                SelectionStep(who, False, f"{server} has no model {wanted}.", _pull_command(config, wanted)),
            )
        else:
            yield one.name, SelectionStep(who, True, f"{one.name}, named by {who}.")
    able = [one.name for one in installed if one.can_chat]
    if ours := sorted(
        (name for name in able if name.startswith(MODEL_FAMILY)), key=lambda name: name != USUAL_MODEL
    ):
        yield ours[0], SelectionStep(MODEL_FAMILY, True, f"{ours[0]}, the first {MODEL_FAMILY} that {here} has.")
    else:
        yield "", SelectionStep(MODEL_FAMILY, False, f"{server} has no {MODEL_FAMILY}.", pull)
    if able:
        yield able[0], SelectionStep("any", True, f"{able[0]}, the first model that {here} has.")
    else:
        yield "", SelectionStep("any", False, f"{server} has no model that can answer.")
    has_none = f"{server} has no model{' that can answer' if installed else ''}"
    yield "", SelectionStep("rules", True, f"{has_none}; answers come from the records.", pull)


def get_named_models(config: Config) -> dict[str, str]:
    """Return the names of models that are set, by who sets them; empty where not set."""
    return {
        SELECTION_ORDER[0]: os.environ.get(MODEL_VARIABLE, ""),
        SELECTION_ORDER[1]: str(config["agent.model"]),
    }


# Status of the model: the server, its models, which model is selected and why.


class ModelStatus(NamedTuple):
    """The selected model (empty: none, rules are used), `mode` fast, smart or off, the selection `steps`, one for each
    of SELECTION_ORDER, and the state of the server (`look`)."""

    model: str
    mode: str
    steps: Sequence[SelectionStep]
    look: ServerInfo

    @property
    def state(self) -> str:
        """`ready` in memory, `cold` when it must be loaded first, `rules` where there is none."""
        if not self.model:
            return "rules"
        installed = self.look.find_model(self.model)
        return "ready" if installed is not None and installed.loaded else "cold"

    @property
    def chosen_step(self) -> SelectionStep:
        """The step that selected it."""
        return next(step for step in self.steps if step.taken)

    @property
    def headline(self) -> str:
        """Which model is used, as a sentence."""
        if not self.model:
            return "No model is asked: answers come from the records."
        ready = self.state == "ready"
        state = "in memory, and answers at once" if ready else "cold: it is loaded when it is asked first"
        return f"{self.model} is asked, {self.mode}; it is {state}."

    @property
    def server(self) -> str:
        """The server, and whether it responds."""
        look = self.look
        if look.trouble is not None:
            return look.trouble.message
        if not (look.version or look.models):
            return self.chosen_step.reason
        return f"{name_server(look.address)} {look.version}".strip() + f" at {shorten_address(look.address)}"

    def describe(self) -> list[str]:
        """Return the choice, the server, and the available models, in lines."""
        lines = [self.headline, self.server, ""]
        width = max(len(step.who) for step in self.steps)
        lines += [f"{'✓' if step.taken else '·'} {step.who:<{width}}  {step}" for step in self.steps]
        if models := self.look.models:
            widest = max(len(one.name) for one in models)
            signs = ["●" if one.name == self.model else "○" for one in models]
            named = zip(signs, models, strict=True)
            lines += ["", *(f"{sign} {one.name:<{widest}}  {one.describe()}" for sign, one in named)]
        if self.look.lacks_ollama:
            lines += ["", *(f"{name:<8}{line}" for name, line in install_steps()), "", WORKS_WITHOUT_MODEL]
        return [visible(line) for line in lines]

    def describe_choice(self, config: Config, setting: str, value: str) -> str:
        """Return the effect of a setting's new value in a sentence."""
        now = config.find_value(setting)
        if now is not None and now.value != value:
            said = now.value or "nothing"
            return f"{setting} is {value or 'empty'} in your file, but {now.path} says {said}, which counts here."
        if setting == "agent.mode":
            return f"The agent's model is {value} now: {MODEL_MODES[value]}."
        if self.model == value or not (value or self.look.trouble):
            return self.headline
        first = self.steps[0] if self.steps[0].taken else self.steps[min(1, len(self.steps) - 1)]
        why = self.look.trouble.message if self.look.trouble is not None else first
        return f"agent.model is {value or 'empty'} now. {why} {self.headline}"

    def as_dict(self) -> dict[str, object]:
        trouble, models = self.look.trouble, self.look.models
        return {
            "model": self.model or None,
            "state": self.state,
            "mode": self.mode,
            "address": self.look.address,
            "version": self.look.version or None,
            "trouble": trouble and select_fields(trouble, "kind", "message", "next"),
            "order": [step._asdict() for step in self.steps],
            "installed": [
                select_fields(one, "name", "size", "parameters", "quantization", "loaded") for one in models
            ],
        }


def install_steps() -> tuple[tuple[str, str], ...]:
    """Return (where to run it, the command) for each step that installs or starts Ollama on this machine."""
    if which("ollama"):
        return (("Start it", "ollama serve"),)
    return INSTALL_OLLAMA[::-1] if sys.platform == "darwin" else INSTALL_OLLAMA


def read_model_status(config: Config, seconds: float = SERVER_REPLY_SECONDS) -> ModelStatus:
    """Read the server's state and select a model. Never raises.

    If the model is switched off (MEMORANDA_WITHOUT=agent) the server is not contacted. A server that was unreachable,
    or had no model, may be asked again at once after this finds it; one that failed otherwise may not, as its list of
    models says nothing about its answers.
    """
    where, mode = get_server_address(config), str(config["agent.mode"])
    look = ServerInfo(where) if is_part_disabled(MODEL_SWITCH) else read_server_info(where, seconds)
    if rules := why_model_disabled(config):
        otherwise = "Not checked." if is_part_disabled(MODEL_SWITCH) else "No model is used."
        return ModelStatus("", mode, list_untried_steps(config, rules, otherwise), look)
    if look.trouble is not None:
        rules = SelectionStep("rules", True, look.trouble.message, look.trouble.next)
        return ModelStatus(
            "", mode, list_untried_steps(config, rules, "The list of models could not be read."), look
        )
    name, steps = choose_model(config, look.models)
    if name:
        breaker_of(where).note_reachable()
    return ModelStatus(name, mode, steps, look)


# Probe of a model: ask one short question and measure the answer.

PROBE_QUESTION = "In one short sentence: what is a memory good for?"
PROBE_TOKENS = 48  # tokens
# seconds of loading from which the model counts as cold
MIN_COLD_SECONDS = 0.3
# timeout in seconds, loading included
PROBE_SECONDS = 120.0


class ProbeResult(NamedTuple):
    """The result: the answer, `seconds` in all, of which `loading` the model took so many, and the number of `tokens`
    written, at `rate` a second (None where the server does not report it)."""

    model: str
    answer: str
    seconds: float
    loading: float
    tokens: int
    rate: float | None

    @property
    def is_cold(self) -> bool:
        """Whether the model had to be loaded first."""
        return self.loading >= MIN_COLD_SECONDS

    def describe(self) -> list[str]:
        """Return its duration, the model's speed, and its answer, in lines."""
        rate = f", {self.rate:.0f} a second" if self.rate else ""
        tokens = format_count(self.tokens, "token")
        lines = [f"{self.model} answers: {tokens} in {format_seconds(self.seconds)}{rate}."]
        if self.is_cold:
            took = f"It was cold, and took {format_seconds(self.loading)} of that to be loaded"
            lines.append(f"{took}; the next answers come at once.")
        return [*lines, f"“{self.answer}”"]

    def as_dict(self) -> dict[str, object]:
        return {
            **select_fields(self, "model", "answer", "tokens"),
            "seconds": round(self.seconds, 3),
            "loading": round(self.loading, 3),
            "cold": self.is_cold,
            "per_second": self.rate and round(self.rate, 1),
        }


def probe_model(
    config: Config, found: ModelStatus, name: str = "", cancelled: Callable[[], bool] = lambda: False
) -> ProbeResult:
    """Probe the selected model, or the one named `name`. Raise ModelFailed: there is none, or it did not answer."""
    if not (name or found.model):
        trouble = found.look.trouble
        raise trouble or ModelFailed(
            "missing", "There is no model to test.", f"memoranda config model pull {USUAL_MODEL}"
        )
    where, started = get_server_address(config), monotonic()
    # a person asked for the probe
    breaker_of(where).reset()
    chat = make_chat_client(where, DeadlineCall(cancelled), lambda: None, name or found.model, warm=False)
    with closing(chat):
        said = chat.send_request(ChatRequest([("user", PROBE_QUESTION)], PROBE_TOKENS, early=True), PROBE_SECONDS)
    text = " ".join(strip_invisible(said).split())
    rate = chat.tokens / chat.writing if chat.tokens and chat.writing else None
    return ProbeResult(chat.name, text, monotonic() - started, chat.loading, chat.tokens, rate)
