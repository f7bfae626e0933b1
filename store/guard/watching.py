"""Look whenever a guarded file changes. Only folders are watched, one by one: a whole tree would lead through links."""

import os
import threading
import time
from collections.abc import Iterator

from store.base.errors import Busy
from store.config.configuration import Config
from store.guard.files import DATABASE_ENDINGS, GUARDED_SUFFIX, list_guarded_files, list_watched_folders
from store.guard.moments import LookResult, current_ms, look_at_files
from store.sources.files import DATABASE_PARTS
from store.sources.source import Machine, ReadTrouble

GATHER_MS = 1_500  # longest time for which changes are collected
WATCH_QUIET_MS = 250  # … or until nothing changed for this long; stopping takes no longer either
LOOK_EVERY_SECONDS = 60.0  # a look at all, databases too, which are copied to be read
WATCHED_ENDINGS = (GUARDED_SUFFIX, *(f"{name}{part}" for name in DATABASE_ENDINGS for part in DATABASE_PARTS))


def watch_guarded_files(config: Config, machine: Machine, stop: threading.Event) -> Iterator[LookResult]:
    """Look now and after each change, until `stop` is set or the person interrupts; yield what each look found. Where
    watching does not work that is a trouble of one look, and the next ones are LOOK_EVERY_SECONDS apart. Raise as a
    look does."""
    while not stop.is_set():
        last = time.monotonic()
        yield _look_unless_busy(config, machine)
        places = list_watched_folders(machine, config["guard.paths"])
        fresh = True  # changes before the watching began cause no notification
        try:
            for changed in _watch_changes(places, config, machine, stop):
                if stop.is_set():
                    return
                due = time.monotonic() - last >= LOOK_EVERY_SECONDS
                if changed or due or fresh:
                    fresh = False
                    yield _look_unless_busy(config, machine, databases=due)
                    last = time.monotonic() if due else last
                    if list_watched_folders(machine, config["guard.paths"]) != places:
                        break
        except (
            OSError,
            RuntimeError,
            ValueError,
        ) as error:  # the system reports refusals as errors of several kinds
            why = (
                "the files cannot be watched, and are looked at every "
                f"{LOOK_EVERY_SECONDS:g} s ({type(error).__name__})"
            )
            yield LookResult(troubles=[ReadTrouble("", 0, why)])
            while not stop.wait(LOOK_EVERY_SECONDS):
                yield _look_unless_busy(config, machine)


def _watch_changes(places: list[str], config: Config, machine: Machine, stop: threading.Event) -> Iterator[bool]:
    """Yield whether something may have changed, each time that it did or that nothing happened for a while."""
    from watchfiles import watch

    known = {one.path for one in list_guarded_files(machine, config["guard.paths"])}

    def wanted(_: object, path: str) -> bool:
        name = os.path.basename(path)
        return path in known or name.endswith(WATCHED_ENDINGS) or "." not in name

    for changes in watch(
        *places,
        watch_filter=wanted,
        debounce=GATHER_MS,
        step=WATCH_QUIET_MS,
        stop_event=stop,
        rust_timeout=2 * WATCH_QUIET_MS,
        yield_on_timeout=True,
        raise_interrupt=True,
        recursive=False,
        ignore_permission_denied=True,
    ):
        yield bool(changes)


def _look_unless_busy(config: Config, machine: Machine, databases: bool = True) -> LookResult:
    """Look at all files; return an empty result if another process is looking."""
    try:
        return look_at_files(config, machine, current_ms(), databases)
    except Busy:
        return LookResult()  # another process looks, and the next change or minute is looked at here
