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
from store.librarian.librarian import Librarian
from store.librarian.model_selection import (
    MODEL_SWITCH,
    ModelStatus,
    ProbeResult,
    probe_model,
    read_model_status,
    why_no_model,
)
from store.librarian.structured_output import ModelStats
from store.memory import Memory
from tui.commands.search import MODEL_LOADING, reading_progress
from tui.render.lines import format_count
from tui.theme.line_filters import Piece
from tui.workers.background import Worker

# Answer the librarian's questions, each on a thread with its own connection and model client.

KEPT_EXCHANGES = 30  # maximum exchanges of one conversation

ReportProgress = Callable[[str], None]  # the current step, as text
ReportHits = Callable[["tuple[CitedSentence, ...]"], None]


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


def unindexed_words(memory: Memory) -> str:
    """Return that some texts are not indexed yet, as a sentence; empty if all are, or none will be."""
    found = Vectors(memory.database).read_status()
    if not found.left or not (found.serving or found.building):
        return ""
    return f"{found.left:,} of {format_count(found.total, 'text')} are not indexed yet: ask again when they are."


class LibrarianWorker(Worker):
    """Answers questions about one memory."""

    def answer_exchange(
        self, exchange: Exchange, last: LibrarianAnswer | None, progress: ReportProgress, first: ReportHits
    ) -> LibrarianAnswer:
        """Answer a question; call `first` with the search's hits before a model reads them. It ends within
        `agent.patience`. Raises MemorandaError."""
        stopped = exchange.stop.is_set
        with self.memory() as memory:
            exchange.unindexed = unindexed_words(memory)
            limit = float(memory.config["agent.patience"])
            chat = model_selection.open_selected_model(
                memory.config, cancelled=stopped, loading=lambda: progress(MODEL_LOADING), seconds=limit
            )
            try:
                name = chat.name if chat is not None else ""
                return Librarian(memory).ask(
                    exchange.question,
                    chat,
                    last=last,
                    why="" if chat else why_no_model(memory.config),
                    first=first,
                    cancelled=stopped,
                    waiting=lambda done, total: progress(reading_progress(name, done, total)),
                )
            finally:
                if chat is not None:
                    chat.close()


PULL_UPDATE_SECONDS = 0.1  # minimum seconds between two updates of a pull's progress


class PullState:
    """The state of a model's pull: its progress; `ended` with `trouble`, or without once the model is complete."""

    def __init__(self, name: str, far: PullResult, pace: RateMeter) -> None:
        self.name = name
        self.far = far
        self.pace = pace
        self.ended = False
        self.trouble: ModelFailed | None = None


class TrialState:
    """The state of a model's trial: its result, or why there is none."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tried: ProbeResult | None = None
        self.trouble: MemorandaError | None = None

    @property
    def has_ended(self) -> bool:
        return self.tried is not None or self.trouble is not None


class ModelWorker:
    """Calls `changed` after each change, on any thread."""

    latest: ClassVar[ModelWorker | None] = None
    """The one of the application that was started last, for what is read without the application."""

    def __init__(self, changed: Callable[[], None]) -> None:
        ModelWorker.latest = self
        self._changed = changed
        self._closed = Event()
        self._stop_pull, self._stop_trial = Event(), Event()
        self._looking = False
        self._asked: Config | None = None  # to check next, after the current check
        self.status: ModelStatus | None = None
        self.pull: PullState | None = None
        self.trial: TrialState | None = None

    def close(self) -> None:
        """End all threads."""
        if (
            ModelWorker.latest is self
        ):  # it holds the application, whose file must not be closed with the interpreter
            ModelWorker.latest = None
        self._closed.set()
        self._stop_pull.set()
        self._stop_trial.set()

    @property
    def pulling(self) -> bool:
        return self.pull is not None and not self.pull.ended

    @property
    def trying(self) -> bool:
        return self.trial is not None and not self.trial.has_ended

    # status

    def check_status(self, config: Config) -> None:
        """Check the server and its models, then call `changed`. If the model is switched off, the status is known at
        once."""
        if is_part_disabled(MODEL_SWITCH):
            self.status = read_model_status(config)
        elif self._looking:
            self._asked = config
        elif not self._closed.is_set():
            self._looking = True
            self._start(self._check_status, config)

    def _check_status(self, config: Config) -> None:
        try:
            self.status = read_model_status(config)
        finally:
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
        self._stop_pull = Event()
        self.pull = PullState(name, PullResult("asking for it"), RateMeter())
        self._start(self._pull, config, self.pull, self._stop_pull)
        return True

    def stop_pull(self) -> bool:
        """Stop the pull, keeping what was downloaded; return False if there is none."""
        self._stop_pull.set()
        return self.pulling

    def _pull(self, config: Config, pull: PullState, stop: Event) -> None:
        last = 0.0
        try:
            with closing(ModelPuller(get_server_address(config), stop.is_set)) as fetcher:
                for far in fetcher.pull(pull.name):
                    news = (far.status, far.total) != (pull.far.status, pull.far.total)
                    pull.far = far
                    pull.pace.add_report(far.done, far.total)
                    if news or monotonic() - last >= PULL_UPDATE_SECONDS:
                        last = monotonic()
                        self._tell()
        except ModelFailed as failed:
            pull.trouble = failed
        except Exception as defect:  # otherwise lost in an unjoined thread
            pull.trouble = ModelFailed("broken", Defect(defect).message, Defect(defect).next)
        pull.ended = True
        self._tell()
        self.check_status(config)

    # trials

    def start_trial(self, config: Config, name: str = "") -> bool:
        """Start a trial, of the model that is used if none is named; return False if one is running."""
        if self.trying:
            return False
        self._stop_trial = Event()
        self.trial = TrialState(name)
        self._start(self._try, config, self.trial, self._stop_trial)
        return True

    def stop_trial(self) -> bool:
        """Cancel the trial; return False if there is none."""
        self._stop_trial.set()
        return self.trying

    def _try(self, config: Config, trial: TrialState, stop: Event) -> None:
        try:
            status = self.status or read_model_status(config)
            trial.tried = probe_model(config, status, trial.name, stop.is_set)
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
STATUS_NAME_CELLS = 18  # maximum cells of a model's name


def model_status_forms(modeller: ModelWorker, faring: ModelStats) -> list[list[Piece]]:
    """Return the forms of the status, longest first. Empty while it is unknown."""
    pull, found = modeller.pull, modeller.status
    if pull is not None and not pull.ended:
        far = f"{100 * pull.far.done // pull.far.total} %" if pull.far.total else "…"
        return [
            [
                (f"pulling {short_model_name(pull.name)} ", "$text-accent", MODEL_ACTION),
                (far, "bold", MODEL_ACTION),
            ],
            [(f"pulling {far}", "$text-accent", MODEL_ACTION)],
            [(f"↓ {far}", "$text-accent", MODEL_ACTION)],
        ]
    if found is None:
        return []
    if not found.model:
        return [[("no model", "$dim", MODEL_ACTION)]]  # no count of waiting requests: there may never be a model
    name = short_model_name(found.model)
    state = "working" if faring.working or modeller.trying else found.state
    look = {"working": "$text-accent", "ready": "$text-success"}.get(state, "$dim")
    last = f"  {faring.seconds:.1f} s" if faring.seconds is not None else ""
    queue = f"  {faring.queued:,} queued" if faring.queued else ""
    rules = f"  {faring.by_rule:,} of {faring.asked:,} by rule" if faring.by_rule else ""
    said: list[Piece] = [(f"{name} ", "", MODEL_ACTION), (state, look, MODEL_ACTION)]
    return [
        [*said, (last, "", MODEL_ACTION), (f"{queue}{rules}", "$dim", MODEL_ACTION)],
        [*said, (last, "", MODEL_ACTION), (queue, "$dim", MODEL_ACTION)],
        [*said, (last, "", MODEL_ACTION)],
        said,
        [(name, look, MODEL_ACTION)],
        [(name.partition(":")[0], look, MODEL_ACTION)],
    ]


def short_model_name(name: str) -> str:
    """Shorten a model's name by its owner and its training: `qwen2.5:3b-instruct` to `qwen2.5:3b`."""
    name = name.rpartition("/")[2]
    model, colon, size = name.partition(":")
    name = model if size in ("", "latest") else f"{model}{colon}{size.partition('-')[0]}"
    return name if len(name) <= STATUS_NAME_CELLS else f"{name[: STATUS_NAME_CELLS - 1]}…"
