"""Status, pulls and trials of the model, each on a thread of its own.

The threads are daemons and never joined: a hanging server blocks neither the interface nor the exit."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from threading import Event, Thread
from time import monotonic

from store.base.errors import Defect, MemorandaError, ModelFailed
from store.base.feature_flags import without
from store.config.configuration import Config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.llm.model_pull import PullResult, RateMeter
    from store.llm.probe import ProbeResult
    from store.llm.status import ModelStatus

OFTEN = 0.1  # minimum seconds between two updates of a pull's progress


class Pull:
    """The state of a model's pull: its progress; `ended` with `trouble`, or without once the model is complete."""

    def __init__(self, name: str, far: PullResult, pace: RateMeter) -> None:
        self.name = name
        self.far = far
        self.pace = pace
        self.ended = False
        self.trouble: ModelFailed | None = None


class Trial:
    """The state of a model's trial: its result, or why there is none."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tried: ProbeResult | None = None
        self.trouble: MemorandaError | None = None

    @property
    def ended(self) -> bool:
        return self.tried is not None or self.trouble is not None


class ModelWorker:
    """Calls `changed` after each change, on any thread."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._closed = Event()
        self._stop_pull, self._stop_trial = Event(), Event()
        self._looking = False
        self._asked: Config | None = None  # to check next, after the current check
        self.status: ModelStatus | None = None
        self.pull: Pull | None = None
        self.trial: Trial | None = None

    def close(self) -> None:
        """End all threads."""
        self._closed.set()
        self._stop_pull.set()
        self._stop_trial.set()

    @property
    def pulling(self) -> bool:
        return self.pull is not None and not self.pull.ended

    @property
    def trying(self) -> bool:
        return self.trial is not None and not self.trial.ended

    # status

    def look(self, config: Config) -> None:
        """Check the server and its models, then call `changed`. If the model is switched off, the status is known at
        once."""
        from store.llm.model_selection import SWITCH
        from store.llm.status import model_status

        if without(SWITCH):
            self.status = model_status(config)
        elif self._looking:
            self._asked = config
        elif not self._closed.is_set():
            self._looking = True
            self._start(self._look, config)

    def _look(self, config: Config) -> None:
        from store.llm.status import model_status

        try:
            self.status = model_status(config)
        finally:
            self._looking = False
        self._tell()
        again, self._asked = self._asked, None
        if again is not None:
            self.look(again)

    # pulls

    def start_pull(self, config: Config, name: str) -> bool:
        """Start pulling a model; return False if a pull is running."""
        if self.pulling:
            return False
        from store.llm.model_pull import PullResult, RateMeter

        self._stop_pull = Event()
        self.pull = Pull(name, PullResult("asking for it"), RateMeter())
        self._start(self._pull, config, self.pull, self._stop_pull)
        return True

    def stop_pull(self) -> bool:
        """Stop the pull, keeping what was downloaded; return False if there is none."""
        self._stop_pull.set()
        return self.pulling

    def _pull(self, config: Config, pull: Pull, stop: Event) -> None:
        from store.llm import endpoint
        from store.llm.model_pull import ModelPuller

        last = 0.0
        try:
            with closing(ModelPuller(endpoint.of(config), stop.is_set)) as fetcher:
                for far in fetcher.pull(pull.name):
                    news = (far.status, far.total) != (pull.far.status, pull.far.total)
                    pull.far = far
                    pull.pace.add(far.done, far.total)
                    if news or monotonic() - last >= OFTEN:
                        last = monotonic()
                        self._tell()
        except ModelFailed as failed:
            pull.trouble = failed
        except Exception as defect:  # otherwise lost in an unjoined thread
            pull.trouble = ModelFailed("broken", Defect(defect).message, Defect(defect).next)
        pull.ended = True
        self._tell()
        self.look(config)

    # trials

    def start_trial(self, config: Config, name: str) -> bool:
        """Start a trial; return False if one is running, or the list of models is not known yet."""
        if self.trying or self.status is None:
            return False
        self._stop_trial = Event()
        self.trial = Trial(name)
        self._start(self._try, config, self.status, self.trial, self._stop_trial)
        return True

    def stop_trial(self) -> bool:
        """Cancel the trial; return False if there is none."""
        self._stop_trial.set()
        return self.trying

    def _try(self, config: Config, status: ModelStatus, trial: Trial, stop: Event) -> None:
        from store.llm.probe import probe

        try:
            trial.tried = probe(config, status, trial.name, stop.is_set)
        except MemorandaError as error:
            trial.trouble = error
        except Exception as defect:
            trial.trouble = Defect(defect)
        self._tell()
        self.look(config)

    def _start(self, work: Callable[..., None], *about: object) -> None:
        Thread(target=work, args=about, name="model", daemon=True).start()

    def _tell(self) -> None:
        if not self._closed.is_set():
            self._changed()
