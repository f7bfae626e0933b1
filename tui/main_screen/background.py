"""Work beside the main screen, a task for each kind: upkeep, embedding, learning, model, team, tour; and when each is
done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import TypeVar

from textual.message_pump import MessagePump
from textual.widgets import Input

from store.base.errors import MemorandaError
from store.base.models import Checkpoint
from store.exchange.backups import backup_status
from store.librarian.structured_output import ModelStats, read_model_stats
from store.sync.sync import SyncReport
from store.text.display import format_count, visible
from store.upkeep.daily_log import write_daily_log
from store.upkeep.maintenance import make_due_backup, offer_recovery, take_due_checkpoint
from tui.demo import TOUR_STOPS, keep_tour, read_tour, tour_stop
from tui.input.key_table import fill_in_keys, key_name
from tui.main_screen.search import SearchingScreen
from tui.screens.base import Application
from tui.screens.start import FirstStartScreen, model_sentence
from tui.theme.line_filters import Piece
from tui.widgets.bars import Split
from tui.workers.engine import Engine
from tui.workers.first_start import Ledger, read_ledger
from tui.workers.model_worker import PullState, model_status_forms

Result = TypeVar("Result")


class BackgroundTask:
    """A background task: started after the first rows, polled twice a second, shown in the top line."""

    def __init__(self, host: SearchingScreen) -> None:
        self.host = host

    def start(self) -> None:
        """Start, after the first rows are shown."""
        self.poll(0)

    def poll(self, count: int) -> None:
        """Do what is due at the `count`-th poll."""

    def pieces(self) -> Sequence[Piece]:
        """Return the pieces for the top line; empty if there is nothing to show."""
        return ()

    def leave(self) -> bool:
        """Stop what Escape can stop; return whether there was something."""
        return False

    # on worker threads

    def say(self, text: str, level: str = "information") -> None:
        self.host.later(self.host.say, text, level)

    def warn(self, text: str) -> None:
        self.say(text, "warning")

    def attempt(self, work: Callable[[Engine], Result], refused: str = "") -> Result | None:
        """Do work on the memory; where it cannot be done, say so, `refused` and why, and return None."""
        try:
            return work(self.host.engine)
        except MemorandaError as error:
            self.warn(f"{refused}{error}")
            return None


# seconds between two polls
POLL_SECONDS = 0.5
# seconds without a key or the mouse after which one poll stands for POLLS_AT_REST, as each wakes the processor; and
# seconds between two looks, meanwhile, whether others wrote. What is done at every so many polls is done at a multiple
# of POLLS_AT_REST, or at a divisor
POLLS_AT_REST, GLANCE_SECONDS = 20, 2.0
# factor of the polls between two of what nobody misses at rest
SELDOM_FACTOR = 10


def polls_at_pace(polls: int, app: Application) -> int:
    """Return the polls between two of what is done every so many, and SELDOM_FACTOR times less often at rest."""
    return polls * SELDOM_FACTOR if app.resting else polls


class Polling:
    """Calls its steps with the number of the poll. `written` returns whether others wrote since the last."""

    def __init__(
        self,
        steps: Sequence[Callable[[int], None]],
        failed: Callable[[BaseException], None],
        written: Callable[[], bool] = lambda: False,
    ) -> None:
        self._steps, self._failed, self._written = steps, failed, written
        self._count = 0
        # the loop's time at the last poll
        self._since = 0.0
        # until the next glance, at rest
        self._sleep: asyncio.TimerHandle | None = None

    def poll(self, polls: int = 1) -> None:
        """Call all steps, as the last of so many polls, at most POLLS_AT_REST: with the number of the one that is a
        multiple of POLLS_AT_REST, if one is. Report a file that cannot be read as an error, and try again at the next
        poll."""
        last = self._count + polls
        self._count = last - last % POLLS_AT_REST if last % POLLS_AT_REST < polls else last
        try:
            for step in self._steps:
                step(self._count)
        except Exception as error:
            if type(error).__module__ != "apsw":
                raise
            self._failed(error)

    def start_polling(self, screen: MessagePump, resting: Callable[[], bool]) -> None:
        """Poll from now on, while the screen is there; POLLS_AT_REST times less often while the application is
        `resting`, until it is `used` or something was written."""
        self._screen, self._resting = screen, resting
        self._wait()

    def wake(self) -> None:
        """Poll at once, if the application rested: somebody is there again."""
        if self._sleep is not None:
            self._sleep.cancel()
            self._wake()

    def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        self._since = loop.time()
        if self._resting():
            self._sleep = loop.call_later(GLANCE_SECONDS, self._glance)
        else:
            loop.call_later(POLL_SECONDS, self._wake)

    def _glance(self) -> None:
        """Poll if it is time to, or something was written."""
        loop = asyncio.get_running_loop()
        try:
            due = loop.time() - self._since > POLLS_AT_REST * POLL_SECONDS - GLANCE_SECONDS / 2 or self._written()
        except Exception:  # the poll meets it too, and reports it
            due = True
        if due:
            self._wake()
        else:
            self._sleep = loop.call_later(GLANCE_SECONDS, self._glance)

    def _wake(self) -> None:
        self._sleep = None
        if self._screen.is_running:
            self._screen.call_later(self._turn)

    def _turn(self) -> None:
        passed = round((asyncio.get_running_loop().time() - self._since) / POLL_SECONDS)
        try:
            self.poll(min(max(passed, 1), POLLS_AT_REST))
        finally:
            if self._screen.is_running:
                self._wait()


# Periodic checkpoints, the offer to resume an interrupted session, and the import of conversations that grew.

# seconds until the offer is tried again
OFFER_SECONDS = 4
# polls between two checks for a due checkpoint
POLLS_BETWEEN_CHECKPOINTS = 60


class CheckpointController(BackgroundTask):
    """Creates due checkpoints and imports new turns of conversations."""

    def start(self) -> None:
        self.host.in_background(self._look_for_offer, "offer")
        self.host.in_background(self._import, "bring")

    def poll(self, count: int) -> None:
        if self.host.offered is not None:
            self._see_if_read(self.host.offered)
        if count % POLLS_BETWEEN_CHECKPOINTS == 0:
            self.host.in_background(self._take_due, "tick")
            self.host.in_background(self._import, "bring")

    def pieces(self) -> Sequence[Piece]:
        offered = self.host.offered
        if offered is None:
            return ()
        # where the key reads the one under the cursor
        if self.host.pane_name == "history":
            return [(f"session broke off at {offered.citation} ", "$text-warning")]
        # beside the hint of the find line
        does = "" if self.host.form == "-narrow" else " recovers it"
        said = f"session broke off: {key_name('checkpoint.restore')}{does} "
        return [(said, "$text-warning", "start('checkpoint.recover')")]

    def _look_for_offer(self) -> None:
        found = self.attempt(lambda engine: engine.upkeep.run(offer_recovery))
        if found is not None:
            self.host.later(self.offer, found)

    def offer(self, found: Checkpoint) -> None:
        """Offer, beside the search, to resume an interrupted session; a message would cover the keys at first sight,
        but it is what a screen reader reads. Not in a past view, since the offer is about now."""
        if self.host.moment is not None:
            self.host.set_timer(OFFER_SECONDS, lambda: self.offer(found))
            return
        self.host.offered = found
        self.host.draw_top()
        if self.host.application.config["plain"]:
            self.host.say(
                f"A session broke off at {found.citation}: {key_name('checkpoint.restore')} recovers it."
            )

    def _see_if_read(self, offered: Checkpoint) -> None:
        found = self.host.engine.present.checkpoints.get_many([offered.id])
        if all(one.recovered_at is not None for one in found):
            self.host.offered = None
            self.host.draw_top()

    def _import(self) -> None:
        refused = "Not all conversations could be brought in: "
        result = self.attempt(lambda engine: engine.bringer.ingest_grown(), refused) or {}
        if trouble := result.get("trouble"):
            self.warn(f"{refused}{trouble}")
        if added := result.get("added"):
            self.say(f"Brought in {format_count(added, 'turn')} of conversations.")

    def _take_due(self) -> None:
        self.attempt(lambda engine: engine.upkeep.run(take_due_checkpoint), "No checkpoint could be taken: ")


# polls between two checks for git changes
GIT_POLLS = 4
# … and between two that open the memory, as its settings may say otherwise by then
SETTINGS_POLLS = 60
# polls between two checks for a due backup
BACKUP_POLLS = 120
# polls between two looks at what facts and decisions rest on
EVIDENCE_POLLS = 60
# commits or documents; from this many on, progress is shown
MANY_READ = 200


class UpkeepController(BackgroundTask):
    """Indexes documents, reads git and creates backups, on worker threads."""

    # or checked
    _git_is_read = True
    _welcomed = False
    # what is wrong with them
    _backups = ""

    def start(self) -> None:
        self.read_documents(first=True)
        self._look_after_backups(make=False)

    def poll(self, count: int) -> None:
        engine, app = self.host.engine, self.host.application
        engine.documents.resting = app.resting
        if count % polls_at_pace(BACKUP_POLLS, app) == 0:
            self._look_after_backups(make=True)
        if count % polls_at_pace(EVIDENCE_POLLS, app) == 0:
            self.host.in_background(self._idle, "evidence")
        if count % GIT_POLLS == 0 and not self._git_is_read:
            self._git_is_read = True
            if count % polls_at_pace(SETTINGS_POLLS, app):
                # not a worker of Textual's, which costs ten times what it looks at
                looked = asyncio.get_running_loop().run_in_executor(None, engine.upkeep.git_moved)
                looked.add_done_callback(self._git_looked_at)
            else:
                self._read_git()
            if engine.documents.is_scan_due(engine.present):
                self.read_documents()

    def pieces(self) -> Sequence[Piece]:
        return [(f"{self._backups} ", "$text-error", "go('health')")] if self._backups else ()

    def leave(self) -> bool:
        if not self.host.engine.upkeep.stop_reading_git():
            return False
        self.host.say("Stopped reading git; what was read stays, and the next start goes on.")
        return True

    def read_git_first(self, engine: Engine) -> None:
        """Read git for the first time, then show the welcome if the memory is new. Runs on the thread that opened the
        memory."""
        self._catch_up()
        self._verify()
        self._git_is_read = False
        if engine.created:
            read = partial(read_ledger, cwd=engine.cwd)
            ledger = self.attempt(lambda engine: engine.upkeep.run(read))
            if ledger is not None:
                self.host.later(self._welcome, engine, ledger)

    def _is_left_to_welcome(self, engine: Engine) -> bool:
        """Tell whether the welcome, which is shown later, reports what was read."""
        return engine.created and not self._welcomed

    def _show_progress(self, reading: str, stops: str, done: int, total: int) -> None:
        """Show how far it is, where much is to be read."""
        if total > MANY_READ:
            status = f"reading {reading} {done:,} of {total:,}{stops}" if done < total else ""
            self.host.later(self.host.set_status, status)

    def read_documents(self, first: bool = False) -> None:
        """Index changed documents; with `first`, also whenever they change from then on."""

        def read(engine: Engine) -> None:
            engine.documents.synced = self._report_sync
            progress = partial(self._show_progress, "documents", "")
            result = engine.documents.scan_documents(progress, self.warn)
            if first:
                engine.documents.watch(self.warn)
            if first and result is not None and result.new and not self._is_left_to_welcome(engine):
                self.say(f"Read {format_count(result.new, 'new document')}.")

        work = partial(self.attempt, read, "The documents could not be read: ")
        self.host.in_background(work, "documents")

    def _report_sync(self, report: SyncReport) -> None:
        """Say what a sync read; that it wrote what the application changed is no news."""
        if report.problem or report.step is not None or report.left:
            self.say(report.describe(), "warning" if report.problem else "information")

    def _look_after_backups(self, make: bool) -> None:
        """Report what is wrong with the backups; with `make`, create a due one first."""

        def look_after(engine: Engine) -> str:
            with engine.upkeep.memory() as memory:
                if make:
                    make_due_backup(memory, engine.upkeep.closing)
                return backup_status(memory.database, memory.now)[2]

        def report() -> None:
            trouble = self.attempt(look_after, "No backup could be made: ")
            self._backups = "no backup" if trouble is None else trouble
            self.host.later(self.host.draw_top)

        self.host.in_background(report, "backups")

    def _catch_up(self, watching: bool = False) -> None:
        """Read the commits that the timeline lacks, on a worker thread; with `watching`, only if git has changed."""

        def read(engine: Engine) -> None:
            # first, so that no change between this check and the read is missed
            changed = engine.upkeep.git_changed(clean=watching)
            if watching and not changed:
                return
            progress = partial(self._show_progress, "git", f", {key_name('screen.leave')} stops")
            new = engine.upkeep.catch_up(progress, self.warn)
            self.host.later(self.host.set_status, "")
            if watching:
                self._verify()
            if new and not self._is_left_to_welcome(engine):
                self.say(f"Read {format_count(new, 'new commit')} from git.")

        self.attempt(read, "The timeline could not catch up with git: ")

    def _idle(self) -> None:
        """Do what is due while nothing else is: look at the evidence, write the daily log."""
        self._verify()
        self.host.engine.upkeep.run(lambda memory: write_daily_log(memory, self.warn))

    def _verify(self) -> None:
        """Look again at files, symbols and commits; say what changed since the last look."""
        doubted = self.attempt(lambda engine: engine.upkeep.verify(), "The evidence could not be looked at: ")
        if doubted:
            many = format_count(doubted, "record")
            self.warn(f"What {many} rests on changed or is gone; :bind --check lists it.")
            self.host.later(self.host.refresh_rows)

    def _git_looked_at(self, looked: asyncio.Future[bool]) -> None:
        if not looked.cancelled() and (looked.exception() or looked.result()):
            self._read_git()
        else:
            self._git_is_read = False

    def _read_git(self) -> None:
        def read() -> None:
            self._catch_up(watching=True)
            self._git_is_read = False

        self.host.in_background(read, "git")

    def _welcome(self, engine: Engine, ledger: Ledger) -> None:
        """Show what the first start found and did, unless the person began already."""
        self._welcomed = True
        begun = len(self.host.record_list.rows or ()) or self.host.pane.record is not None
        if begun or self.host.app.screen is not self.host or isinstance(self.host.focused, Input):
            return
        model = model_sentence(self.host.model_forms())
        screen = FirstStartScreen(engine, ledger, model, self.host.say)
        self.host.app.push_screen(screen, self._leave_welcome)

    def _leave_welcome(self, action: str | None) -> None:
        """Refresh the lists when the welcome is left, and run the action that was chosen there."""
        self.host.refresh_rows()
        if action:
            self.host.app.call_later(self.host.app.run_action, f"screen.{action}")


# Embed new texts, and show the progress in the top line.

# texts: as many are embedded at once, without progress
FEW_TEXTS = 64
# seconds from which on the rate is shown
RATE_SECONDS = 2.0
# cells for the reason why there is no search by meaning
REASON_CELLS = 48


class EmbeddingController(BackgroundTask):
    """Embeds after the first rows, and whenever a text is pending."""

    # (status text, action of a click on it)
    _status = ("", "")
    # the texts embedded before this run, and when that began
    _began = (0, 0.0)

    def start(self) -> None:
        self.embed()

    def poll(self, count: int) -> None:
        engine = self.host.engine
        if count % GIT_POLLS == 0 and engine.embedder.is_embedding_due(engine.screen):
            self.embed()

    def pieces(self) -> Sequence[Piece]:
        text, action = self._status
        if not text:
            return ()
        text = text if len(text) <= REASON_CELLS else f"{text[: REASON_CELLS - 1]}…"
        if self.host.form == "-narrow":
            text = text.partition(":")[0]
        return [(f"{visible(text)} ", "$text-warning", action)]

    def toggle(self) -> None:
        """Stop indexing, or go on."""
        engine = self.host.engine
        if engine.embedder.stop_embedding():
            self._set_status("indexing stopped", "index")
            self.host.say("Stopped indexing; what was indexed stays, and :health --index goes on.")
        elif engine.embedder.is_embedding_due(engine.screen, resumed=True):
            engine.embedder.resume()
            self.embed()
        else:
            self.host.say("Nothing waits to be indexed.")

    def embed(self) -> None:
        """Embed the pending texts."""
        self.host.in_background(self._embed, "embedding")

    def _embed(self) -> None:
        embedder = self.host.engine.embedder
        if embedder.running:
            return

        def progress(done: int, total: int) -> None:
            if total > FEW_TEXTS:
                self.host.later(self._show_progress, done, total)

        def trouble(sentence: str) -> None:
            self.host.later(self._set_status, f"keywords only: {sentence}", "go('health')")

        if embedder.embed_pending(progress, trouble) is not None:
            self.host.later(self._finish)

    def announces(self, step: int) -> bool:
        """Return whether only embeddings can have been added since this step of history: they arrive in batches,
        reported by `vectors_came`."""
        return self.host.engine.embedder.running and self.host.engine.newest_step() == step

    def _show_progress(self, done: int, total: int) -> None:
        """Show how far embedding is, and let the search see the new vectors."""
        embedder = self.host.engine.embedder
        if done < embedder.progress[0] or not self._began[1]:
            self._began = (done, monotonic())
        embedder.progress = (done, total)
        seconds = monotonic() - self._began[1]
        rate = (done - self._began[0]) / seconds if seconds >= RATE_SECONDS else 0.0
        # it ends with a last batch
        if not embedder.stopped:
            self._set_status(f"indexing {done:,} of {total:,}" + (f", {rate:,.0f}/s" if rate else ""), "index")
        self.host.vectors_came(False)

    def _finish(self) -> None:
        """Remove the progress, unless something is wrong, and let the search see all vectors."""
        self._began = (0, 0.0)
        if not self.host.engine.embedder.trouble and not self.host.engine.embedder.stopped:
            self._set_status("", "")
        self.host.vectors_came(True)

    def _set_status(self, text: str, action: str) -> None:
        self._status = (text, action)
        self.host.draw_top()


# Learn facts from conversations: process pending turns by rules, then by the model, and report what was learned.

# polls between two checks for pending turns
LEARN_POLLS = 4


class LearningController(BackgroundTask):
    """Processes pending turns after the first rows, and whenever there are new ones."""

    # whether the rules are running
    _rules_run = False
    _model_runs = False

    def poll(self, count: int) -> None:
        engine = self.host.engine
        if count % LEARN_POLLS:
            return
        if not self._rules_run and engine.learner.is_learning_due(engine.screen):
            self._rules_run = True
            self.host.in_background(self._run_rules, "learning")
        if not self._model_runs and engine.learner.is_model_due(engine.screen):
            self._model_runs = True
            self.host.in_background(self._run_model, "model")

    def _run_rules(self) -> None:
        done = self.attempt(lambda engine: engine.learner.run_rules(), "What was said could not be read: ")
        self._rules_run = False
        if done is None:
            return
        read, duplicates = done
        if duplicates:
            waits = "a question waits" if duplicates == 1 else f"{duplicates:,} questions wait"
            self.say(f"Similar facts are known already: {waits} in the inbox.")
        if text := learned_summary(read.learned.facts, read.learned.proposed):
            self.say(text)

    def _run_model(self) -> None:
        refused = "The model could not read what was said: "
        read = self.attempt(lambda engine: engine.learner.run_model(), refused)
        self._model_runs = False
        if read is not None and (text := learned_summary((), read.asked)):
            self.say(text)


def learned_summary(facts: Sequence[int], proposed: Sequence[int]) -> str:
    """Summarise what was learned in a sentence; empty if nothing was. Facts that were merely confirmed are not
    counted."""
    parts = []
    if facts:
        parts.append(f"Learned {len(facts)} fact{'' if len(facts) == 1 else 's'} from what was said")
    if proposed:
        waits = f"{len(proposed)} question{' waits' if len(proposed) == 1 else 's wait'} in the inbox"
        parts.append(waits if facts else f"From what was said {waits}")
    if not parts:
        return ""
    undo = f" ({key_name('step.undo')} on one undoes all of its conversation)" if facts else ""
    return ", ".join(parts) + undo


# Show the model's status beside the search bar; a separate screen sets the model up.

# polls between two reads of the figures
STATS_POLLS = 4
# polls between two requests to the server: it unloads an idle model by itself
MODEL_POLLS = 60


class ModelStatusController(BackgroundTask):
    """Queries the model server after the first rows, and periodically."""

    def __init__(self, host: SearchingScreen) -> None:
        super().__init__(host)
        self.worker = host.application.modeller
        self._stats = ModelStats()
        # the last pull whose end was reported
        self._reported: PullState | None = None

    def start(self) -> None:
        self._check()
        self.host.draw_top()

    def poll(self, count: int) -> None:
        if count % STATS_POLLS == 0:
            self._read_stats()
        if count % polls_at_pace(MODEL_POLLS, self.host.application) == 0 and not self.worker.pulling:
            self._check()

    def _check(self) -> None:
        self.worker.check_status(self.host.application.config)

    def forms(self) -> Sequence[Sequence[Piece]]:
        """Return the forms of the model's status, longest first."""
        return model_status_forms(self.worker, self._stats)

    def _read_stats(self) -> None:
        """Read the model's recent calls; one that has just answered is loaded."""
        engine = self.host.engine
        before, self._stats = self._stats, read_model_stats(engine.present.database, engine.now)
        if before != self._stats:
            self.host.draw_top()
            if before.working and not self._stats.working:
                self._check()

    def update_status(self) -> None:
        """Show the current status; report the end of a pull unless its own screen does."""
        pull = self.worker.pull
        if pull is not None and pull.ended and pull is not self._reported:
            self._reported = pull
            if self.host.app.screen is not self.host:
                pass
            elif pull.trouble is None:
                self.host.say(f"{pull.name} is there.")
            elif pull.trouble.kind != "stopped":
                self.host.say(f"{pull.name} could not be fetched. {pull.trouble}", "warning")
        self.host.draw_top()


# Exchange with the team every few minutes, and say what arrived.

# polls
MINUTE_POLLS = int(60 / POLL_SECONDS)


class TeamController(BackgroundTask):
    """Exchanges with the team while the application is open."""

    # the trouble that was shown last: the same is not shown every few minutes
    _said = ""

    def poll(self, count: int) -> None:
        minutes = int(self.host.engine.screen.config["team.minutes"])
        if minutes and count % (minutes * MINUTE_POLLS) == 0:
            self.host.in_background(self._exchange, "team")

    def _exchange(self) -> None:
        trouble = ""
        try:
            if lines := self.host.engine.team.exchange():
                self.say(" ".join(lines[:4]))
        except MemorandaError as error:
            trouble = f"The team could not be reached: {error}"
        if trouble and trouble != self._said:
            self.warn(trouble)
        self._said = trouble


# The tour of the demo, two lines above the list; it goes on by itself when a step is done.


class TourController(BackgroundTask):
    """Shows the next step, and notices when it is done."""

    def __init__(self, host: SearchingScreen) -> None:
        super().__init__(host)
        self._number = 0
        self._shown = False
        self._passed: Sequence[int] = ()
        # up to which step of history; -1 before the tour is shown
        self._looked = -1
        # why each step since was made: also what was done before the tour asked for it
        self._done: list[str] = []
        # the pane in which the last step was done
        self._ended = ""
        # the most proposals that waited since the tour was first shown
        self._waiting = 0

    def start(self) -> None:
        found = read_tour(self.host.location.path)
        if found is not None and not found[1]:
            self._go_to(found[0])

    def poll(self, count: int) -> None:
        first = number = self._number
        while self._shown and number < len(TOUR_STOPS) and self._is_done():
            number = self._number = number + 1
        if number > first:
            self._go_to(number, passed=range(first + 1, number))
        elif self._shown and number == len(TOUR_STOPS) and self.host.pane_name != self._ended:
            # its last lines were read
            self._show_lines(False)

    def toggle(self) -> None:
        """Leave the tour, or resume it where it was left."""
        found = read_tour(self.host.location.path)
        if found is None:
            self.host.say("The tour is in the demo: leave the application and type memoranda demo.", "warning")
        elif self._shown:
            self._show_lines(False)
            self.host.say("The tour is left; :tour resumes it.")
        else:
            self._go_to(found[0] if found[0] < len(TOUR_STOPS) else 0)

    def _is_done(self) -> bool:
        engine, wanted = self.host.engine, tour_stop(self._number).done
        waiting = engine.screen.inbox.count_waiting()
        # more may have come since
        self._waiting = max(self._waiting, waiting)
        if wanted == "stale":
            return self.host.chosen("state") == "stale"
        if wanted == "answer":
            return any(one.answer is not None for one in engine.exchanges)
        if wanted == "inbox":
            return waiting < self._waiting
        looked, self._looked = self._looked, engine.newest_step()
        self._done += [engine.screen.history.get(number).reason for number in range(looked + 1, self._looked + 1)]
        return any(reason.startswith(wanted) for reason in self._done)

    def _go_to(self, number: int, passed: Sequence[int] = ()) -> None:
        """Show the step of an index; `passed` are those before it that are not shown, since they were done already."""
        engine = self.host.engine
        self._number, self._passed, self._ended = number, passed, self.host.pane_name
        if self._looked < 0:
            self._looked, self._waiting = engine.newest_step(), engine.screen.inbox.count_waiting()
        self._show_lines(True)

    def _show_lines(self, shown: bool) -> None:
        """Show or hide the lines, and keep what is next."""
        self._shown = shown
        keep_tour(self.host.location.path, self._number, left=not shown)
        if self.host.query_one_optional("#tour-why") is None:
            self.host.mount(Split(id="tour-why"), Split(id="tour-what"), before="#body")
        why, what = self.host.query_one("#tour-why", Split), self.host.query_one("#tour-what", Split)
        why.display = what.display = shown
        stop, last = tour_stop(self._number), self._number == len(TOUR_STOPS)
        place = "" if last else f"{self._number + 1} of {len(TOUR_STOPS)}  "
        passed = ", ".join(str(number + 1) for number in self._passed)
        why.put_both(
            [(f" Tour {place}", "bold $text-accent"), (fill_in_keys(stop.why), "")],
            [(f"{passed} done already ", "$dim")] if passed else [],
        )
        what.put_both([(f" {fill_in_keys(stop.what)}", "bold")], [(":tour leaves ", "$dim", "tour")])
