"""Status, pulls and trials of the model, each on a thread of its own.

The threads are daemons and never joined: a hanging server blocks neither the interface nor the exit."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from threading import Event, Thread
from time import monotonic
from typing import ClassVar

from store.base.errors import Defect, MemorandaError, ModelFailed
from store.base.runtime import is_part_disabled
from store.config.configuration import Config
from store.embedding.vectors import Vectors
from store.librarian import model_selection
from store.librarian.answer import CitedSentence, LibrarianAnswer
from store.librarian.chat import ModelPuller, PullResult, RateMeter, get_server_address
from store.librarian.structured_output import ModelStats
from store.memory import Memory
from store.text.display import format_count
from tui.commands.search import ask_librarian
from tui.theme.line_filters import Piece

# Answer the librarian's questions, each on a thread with a connection and a model client of its own.

# maximum exchanges of one conversation
KEPT_EXCHANGES = 30


@dataclass
class Exchange:
    """A question, `first` the sentences of the search's hits, and its answer; `status` is the current step, `unindexed`
    what was not searched by meaning, `began` the start. Set `stop` to cancel the model."""

    question: str
    first: tuple[CitedSentence, ...] = ()
    status: str = "looking …"
    unindexed: str = ""
    answer: LibrarianAnswer | None = None
    error: str = ""
    stop: Event = field(default_factory=Event)
    began: float = field(default_factory=time.monotonic)

    @property
    def open(self) -> bool:
        """Return whether the answer is incomplete."""
        return self.answer is None and not self.error

    @property
    def seconds(self) -> int:
        """Return the elapsed seconds."""
        return int(time.monotonic() - self.began)


def answer_exchange(
    memory: Memory,
    exchange: Exchange,
    last: LibrarianAnswer | None,
    progress: Callable[[str], None],
    first: Callable[[tuple[CitedSentence, ...], str], None],
) -> LibrarianAnswer:
    """Answer a question; call `progress` with each step, and `first` with the search's hits before a model reads them.
    Raises MemorandaError."""
    status = Vectors(memory.database).read_status()
    # otherwise none will be indexed
    if status.left and (status.serving or status.building):
        some = f"{status.left:,} of {format_count(status.total, 'text')}"
        exchange.unindexed = f"{some} are not indexed yet: ask again when they are."
    stopped = exchange.stop.is_set
    return ask_librarian(memory, exchange.question, cancelled=stopped, progress=progress, first=first, last=last)


# minimum seconds between two updates of a pull's progress
PULL_UPDATE_SECONDS = 0.1


@dataclass(eq=False)
class PullState:
    """The state of a model's pull: its progress; `ended` with `trouble`, or without once the model is complete."""

    name: str
    far: PullResult = field(default_factory=lambda: PullResult("asking for it"))
    pace: RateMeter = field(default_factory=RateMeter)
    stop: Event = field(default_factory=Event)
    ended: bool = False
    trouble: ModelFailed | None = None


@dataclass(eq=False)
class TrialState:
    """The state of a model's trial: its result, or why there is none."""

    stop: Event = field(default_factory=Event)
    tried: model_selection.ProbeResult | None = None
    trouble: MemorandaError | None = None


class ModelWorker:
    """Calls `changed` after each change, on any thread."""

    latest: ClassVar[ModelWorker | None] = None
    """The one of the application that was started last, for what is read without the application."""

    def __init__(self, changed: Callable[[], None]) -> None:
        ModelWorker.latest = self
        self._changed = changed
        self._closed = Event()
        self._looking = False
        # to check next, after the current check
        self._asked: Config | None = None
        self.status: model_selection.ModelStatus | None = None
        self.pull: PullState | None = None
        self.trial: TrialState | None = None

    def close(self) -> None:
        """End all threads."""
        # it holds the application, whose file must not be closed with the interpreter
        if ModelWorker.latest is self:
            ModelWorker.latest = None
        self._closed.set()
        self.stop_pull()
        self.stop_trial()

    @property
    def pulling(self) -> bool:
        return self.pull is not None and not self.pull.ended

    @property
    def trying(self) -> bool:
        return self.trial is not None and not (self.trial.tried or self.trial.trouble)

    # status

    def check_status(self, config: Config) -> None:
        """Check the server and its models, then call `changed`. If the model is switched off, the status is known at
        once."""
        if is_part_disabled(model_selection.MODEL_SWITCH):
            self.status = model_selection.read_model_status(config)
        elif self._looking:
            self._asked = config
        elif not self._closed.is_set():
            self._looking = True
            self._start(self._check_status, config)

    def _check_status(self, config: Config) -> None:
        self.status = model_selection.read_model_status(config)
        self._looking = False
        self._tell()
        again, self._asked = self._asked, None
        if again is not None:
            self.check_status(again)

    # pulls

    def start_pull(self, config: Config, name: str) -> bool:
        """Start pulling a model; return False if a pull is running."""
        if self.pulling:
            return False
        self.pull = PullState(name)
        self._start(self._pull, config, self.pull)
        return True

    def stop_pull(self) -> bool:
        """Stop the pull, keeping what was downloaded; return False if there is none."""
        if self.pull is not None:
            self.pull.stop.set()
        return self.pulling

    def _pull(self, config: Config, pull: PullState) -> None:
        last = 0.0
        try:
            with closing(ModelPuller(get_server_address(config), pull.stop.is_set)) as fetcher:
                for far in fetcher.pull(pull.name):
                    news = (far.status, far.total) != (pull.far.status, pull.far.total)
                    pull.far = far
                    pull.pace.add_report(far.done, far.total)
                    if news or monotonic() - last >= PULL_UPDATE_SECONDS:
                        last = monotonic()
                        self._tell()
        except ModelFailed as failed:
            pull.trouble = failed
        except Exception as error:  # otherwise lost in an unjoined thread
            defect = Defect(error)
            pull.trouble = ModelFailed("broken", defect.message, defect.next)
        pull.ended = True
        self._tell()
        self.check_status(config)

    # trials

    def start_trial(self, config: Config) -> None:
        """Start a trial of the model that is used."""
        self.trial = TrialState()
        self._start(self._try, config, self.trial)

    def stop_trial(self) -> bool:
        """Cancel the trial; return False if there is none."""
        if self.trial is not None:
            self.trial.stop.set()
        return self.trying

    def _try(self, config: Config, trial: TrialState) -> None:
        try:
            status = self.status or model_selection.read_model_status(config)
            trial.tried = model_selection.probe_model(config, status, cancelled=trial.stop.is_set)
        except MemorandaError as error:
            trial.trouble = error
        except Exception as defect:
            trial.trouble = Defect(defect)
        self._tell()
        self.check_status(config)

    def _start(self, work: Callable[..., None], *about: object) -> None:
        Thread(target=work, args=about, name="model", daemon=True).start()

    def _tell(self) -> None:
        if not self._closed.is_set():
            self._changed()


# The model's status beside the search: name, state, duration of the last answer; in fewer words if there is less
# room.

MODEL_ACTION = "go('settings', 'model')"
# maximum cells of a model's name
STATUS_NAME_CELLS = 18


def model_status_forms(modeller: ModelWorker, faring: ModelStats) -> list[list[Piece]]:
    """Return the forms of the status, longest first. Empty while it is unknown."""
    pull, found = modeller.pull, modeller.status
    if pull is not None and not pull.ended:
        far = f"{100 * pull.far.done // pull.far.total} %" if pull.far.total else "…"
        name = short_model_name(pull.name)
        forms = [[(f"pulling {name} ", "$text-accent"), (far, "bold")]]
        forms += [[(f"{sign} {far}", "$text-accent")] for sign in ("pulling", "↓")]
    elif found is None:
        forms = []
    elif not found.model:
        # no count of waiting requests: there may never be a model
        forms = [[("no model", "$dim")]]
    else:
        name = short_model_name(found.model)
        state = "working" if faring.working or modeller.trying else found.state
        look = {"working": "$text-accent", "ready": "$text-success"}.get(state, "$dim")
        last = f"  {faring.seconds:.1f} s" if faring.seconds is not None else ""
        queue = f"  {faring.queued:,} queued" if faring.queued else ""
        rules = f"  {faring.by_rule:,} of {faring.asked:,} by rule" if faring.by_rule else ""
        whole = [(f"{name} ", ""), (state, look), (last, ""), (f"{queue}{rules}", "$dim")]
        forms = [whole, [*whole[:3], (queue, "$dim")], whole[:3], whole[:2]]
        forms += [[(short, look)] for short in (name, name.partition(":")[0])]
    return [[(text, look, MODEL_ACTION) for text, look in form] for form in forms]


def short_model_name(name: str) -> str:
    """Shorten a model's name by its owner and its training: `qwen2.5:3b-instruct` to `qwen2.5:3b`."""
    name = name.rpartition("/")[2]
    model, colon, size = name.partition(":")
    name = model if size in ("", "latest") else f"{model}{colon}{size.partition('-')[0]}"
    return name if len(name) <= STATUS_NAME_CELLS else f"{name[: STATUS_NAME_CELLS - 1]}…"
