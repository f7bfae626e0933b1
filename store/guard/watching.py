"""Look whenever a guarded file changes. Only folders are watched, one by one: a whole tree would lead through links."""

import os
import threading
import time
from collections.abc import Iterator

from store.base.errors import Busy
from store.config.configuration import Config
from store.guard import files, looking
from store.guard.looking import LookResult
from store.sources.source import Machine, Trouble
from store.sources.sqlite_copy import PARTS

GATHER_MS = 1_500  # longest time for which changes are collected
QUIET_MS = 250  # … or until nothing changed for this long; stopping takes no longer either
EVERY_SECONDS = 60.0  # a look at all, databases too, which are copied to be read
ENDINGS = (files.SUFFIX, *(f"{name}{part}" for name in files.DATABASES for part in PARTS))


def watched(config: Config, machine: Machine, stop: threading.Event) -> Iterator[LookResult]:
    """Look now and after each change, until `stop` is set or the person interrupts; yield what each look found. Where
    watching does not work that is a trouble of one look, and the next ones are EVERY_SECONDS apart. Raise as a look
    does."""
    while not stop.is_set():
        last = time.monotonic()
        yield _look(config, machine)
        places = files.folders(machine, config["guard.paths"])
        fresh = True  # changes before the watching began cause no notification
        try:
            for changed in _changes(places, config, machine, stop):
                if stop.is_set():
                    return
                due = time.monotonic() - last >= EVERY_SECONDS
                if changed or due or fresh:
                    fresh = False
                    yield _look(config, machine, databases=due)
                    last = time.monotonic() if due else last
                    if files.folders(machine, config["guard.paths"]) != places:
                        break
        except (OSError, RuntimeError, ValueError) as error:  # the system reports refusals as errors of several kinds
            why = f"the files cannot be watched, and are looked at every {EVERY_SECONDS:g} s ({type(error).__name__})"
            yield LookResult(troubles=[Trouble("", 0, why)])
            while not stop.wait(EVERY_SECONDS):
                yield _look(config, machine)


def _changes(places: list[str], config: Config, machine: Machine, stop: threading.Event) -> Iterator[bool]:
    """Yield whether something may have changed, each time that it did or that nothing happened for a while."""
    from watchfiles import watch

    known = {one.path for one in files.guarded(machine, config["guard.paths"])}

    def wanted(_: object, path: str) -> bool:
        name = os.path.basename(path)
        return path in known or name.endswith(ENDINGS) or "." not in name

    for changes in watch(
        *places,
        watch_filter=wanted,
        debounce=GATHER_MS,
        step=QUIET_MS,
        stop_event=stop,
        rust_timeout=2 * QUIET_MS,
        yield_on_timeout=True,
        raise_interrupt=True,
        recursive=False,
        ignore_permission_denied=True,
    ):
        yield bool(changes)


def _look(config: Config, machine: Machine, databases: bool = True) -> LookResult:
    try:
        return looking.look(config, machine, looking.now_ms(), databases)
    except Busy:
        return LookResult()  # another process looks, and the next change or minute is looked at here
