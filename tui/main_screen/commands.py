"""The `:` bar, the line that asks, and the plans that a command shows first.

The `:` bar: run a line as a command on the writer's thread, and show its result in a view of its own if there is
one, else as text.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from shlex import quote

from rich.cells import cell_len

from store.base.citations import parse_citation
from store.base.errors import MemorandaError
from store.base.extensions import require_part
from store.base.models import Step
from store.base.vocabulary import DOMAINS
from store.config.settings import MODEL_WORD
from store.history.restore_plan import AppliedRestore, RestorePlan
from store.librarian.model_selection import USUAL_MODEL
from store.records.facts import FACT_SORTS
from store.upkeep.as_of import PointInTime
from tui.actions.action_table import ACTIONS
from tui.actions.history import take_back_now
from tui.actions.texts import default_export_path, edit_synced_file, show_purge
from tui.commands.agents import SERVE_HINT, UNINSTALL_HINT
from tui.commands.call import Outcome, parse_id
from tui.commands.lists import PAST_KINDS, Narrowing, fact_filters, find_listing
from tui.commands.location import DEMO_HINT, locate_memory
from tui.commands.privacy import select_records
from tui.input.arguments import ParsedArguments, UsageError, Verb, help_text, parse_arguments, settle
from tui.input.completion import complete_line, split_line
from tui.input.key_table import KEYS, key_name
from tui.input.verb_table import command_word, find_loose_words, find_verb, suggest_verb
from tui.lists.fact_groups import TIMELINE_WORDS
from tui.panes.controllers import Host
from tui.render.lines import format_count
from tui.screens.agents import AgentsScreen
from tui.screens.base import HelpScreen
from tui.screens.health import DoctorScreen, EvidenceScreen, PlotsScreen
from tui.screens.menus import MoreScreen, RecentScreen
from tui.screens.plans import PlanScreen
from tui.screens.settings import SettingsScreen
from tui.theme.line_filters import Piece, fit_cells, pieces_width
from tui.widgets.inputs import YES_ANSWERS, AskBar
from tui.workers.engine import ConfirmationNeeded
from tui.workers.queries import PlanTarget

# The interface that commands need of their screen.


HINT_GAP = "   "  # between the parts of a hint
# verbs allowed in a past view: read-only ones, and those that are not about the memory
PAST_VERBS = frozenset("list search show context timeline history diff health open config".split()) | {
    "team replica"
}
PAST_REFUSED = {"health": ("check", "index", "salvage"), "open": ("new",)}  # but not with these options
PRESENT_LISTS = {"list events", "list sessions", "list backups"}  # of now, whenever the view is of

# verbs that need not be given a citation, each with the option that then says what is meant
OPTIONS_INSTEAD = {"bind": "--check", "confirm": "--origin", "forget": "--origin"}


def run_line(screen: Host, text: str, agreed: tuple[str, ...] = ()) -> None:
    """Run a typed line, with or without its `/`."""
    words = _split_words(text)
    if words[0].removeprefix("/") in ("q", "quit", "exit"):
        screen.app.exit()
        return
    if words[0].removeprefix("/") == "help":
        screen.open_screen("help")
        return
    if words[0].removeprefix("/") in ("messages", "tour"):
        screen.app.call_later(screen.app.run_action, f"screen.{words[0].removeprefix('/')}")
        return
    found = find_verb(words)
    if found is None:
        _offer_verb(screen, text, command_word(words))
        return
    verb, rest = found
    names = {verb.name, " ".join([verb.name, *rest[:1]])}
    if (not PAST_VERBS & names or PRESENT_LISTS & names) and screen.refuses():
        return
    rest = [*_marked_citations(screen, verb, rest), *rest]
    try:
        given = parse_arguments(verb.name, verb.arguments, rest)
    except UsageError as error:
        if "--help" in rest:
            screen.pane.read_out(help_text(verb.name, verb.summary, verb.arguments).split("\n"))
        else:
            screen.say(error.message, "warning")
        return
    if any(getattr(given, option) for option in PAST_REFUSED.get(verb.name, ())) and screen.refuses():
        return
    try:
        if verb.part:
            require_part(verb.part)
        done = _run_in_view(screen, verb, given)
    except MemorandaError as error:
        screen.say(str(error), "warning")
        return
    if not done:
        _run_verb(screen, verb, given, text, agreed)


def _marked_citations(screen: Host, verb: Verb, rest: list[str]) -> list[str]:
    """Return the citations of the marked records, or of the record in the preview, for a verb that needs citations
    and got none: `:tag db`, `:forget`."""
    wanted = verb.arguments[0] if verb.arguments else None
    if wanted is None or wanted.name not in ("id", "ids"):
        return []
    instead = OPTIONS_INSTEAD.get(verb.name, "")
    if wanted.form not in ("one", "many") and (not instead or any(word.startswith(instead) for word in rest)):
        return []
    try:
        parse_citation(next((rest[place] for place in find_loose_words(verb, rest)), ""), "fact")
    except MemorandaError:
        pass
    else:
        return []
    if "--help" in rest or screen.pane.record is None:
        return []
    records = [record for record in screen.targets() if not isinstance(record, Step)]
    return [record.citation for record in (records if wanted.form in ("many", "any") else records[:1])]


def _offer_verb(screen: Host, text: str, word: str) -> None:
    """Offer the command that a word which is none probably stands for, with the rest of the line."""
    said = f"There is no command “{word[:40]}”."
    verb = suggest_verb(word.removeprefix("/"))
    if verb is None:
        screen.say(f"{said} {key_name('help.open')} lists them all.", "warning")
        return
    line = f"{verb}{text.partition(word)[2]}"
    screen.ask_first(f"{said} Run “{line[:60]}”?", lambda: run_line(screen, line))


def usage_hint(text: str) -> str:
    """Return the usage of the verb being typed, or its possible completions, for the footer; empty without a known
    verb."""
    found = find_verb(text.split())
    if found is None:
        return ""
    verb = found[0]
    words, current = split_line(text)
    options = [f"--{argument.name}" for argument in verb.arguments if argument.form in ("value", "list")]
    if current.startswith("-") or (words and words[-1] in options):
        candidates = [candidate.text for candidate in complete_line(words, current, everywhere=())]
        if candidates:
            return f" {HINT_GAP.join(candidates)}"
    usage = " ".join(argument.usage for argument in verb.arguments)
    return f" {verb.name} {usage}{HINT_GAP}{verb.summary}"


def _split_words(text: str) -> list[str]:
    """Split a line into words; quoted words stay whole, and an apostrophe without a closing one is an ordinary
    character."""
    try:
        return shlex.split(text) or [text]
    except ValueError:
        return text.split()


def _run_in_view(screen: Host, verb: Verb, given: ParsedArguments) -> bool:
    """Run a verb that has a view of its own; return False for one that has none."""
    if verb.name == "list":
        return _show_list(screen, given)
    if verb.name == "demo":
        screen.say(DEMO_HINT, "warning")
    elif verb.name == "agents" and not (given.agent or given.pause or given.off):
        screen.open_screen("agents")
    elif verb.name == "team" and not given.act:
        screen.open_screen("team")
    elif verb.name == "team" and given.act == "replica":
        screen.open_screen("replica", " ".join(given.words), given.team)
    elif verb.name == "config" and not given.name:
        screen.open_screen("settings")
    elif verb.name == "mcp":
        screen.say(
            "An agent starts that, and speaks to it in JSON. docs/agents.md says how it is set up.", "warning"
        )
    elif verb.name == "files" and given.act == "keep" and given.watch:
        screen.say(
            "That stays until it is ended: run memoranda files keep --watch in a terminal of its own.", "warning"
        )
    elif verb.name == "files" and (
        given.act == "list"
        or (given.act == "keep" and not (given.words or given.once or given.off))
        or (given.act == "scan" and not (given.md or given.check or given.save or screen.moment))
    ):
        _show_tools(screen, given)
    elif verb.name == "bind" and given.check:
        _show_evidence(screen)
    elif verb.name == "uninstall":
        screen.say(UNINSTALL_HINT, "warning")
    elif verb.name == "serve":
        screen.say(SERVE_HINT, "warning")
    elif verb.name == "health" and given.check and not given.head:
        screen.open_screen("doctor", given.quick)
    elif verb.name == "config" and given.name == MODEL_WORD and given.value in (None, "status", "pull", "test"):
        pull = (given.model or USUAL_MODEL) if given.value == "pull" else ""
        screen.show_model(pull, (given.model or "") if given.value == "test" else None)
    elif verb.name == "search":
        screen.search_for(" ".join(given.query))
    elif verb.name == "show" and not given.diff:
        screen.open_citation(given.citation)
    elif verb.name == "history" and given.to and given.since:
        screen.show_since(given.since, given.to)
    elif verb.name == "history" and not (given.record or given.since or given.to or given.changes):
        screen.change_view(actor=given.actor)
        screen.go_to("history")
    elif verb.name == "ask" and not given.no_model:
        screen.ask_librarian(" ".join(given.question))
    elif verb.name == "context":
        screen.change_view(question=" ".join(given.query), session=given.session)
        screen.go_to(verb.name)
    elif verb.name == "health" and given.plot == "-":
        screen.open_screen("plots")
    elif verb.name == "health" and screen.moment is None and not any(vars(given).values()):
        screen.go_to("health")  # in the past the counts are shown as text
    elif verb.name == "today" and given.state in ("", "waiting"):
        screen.change_view(asker=given.origin)
        screen.go_to("inbox")
    elif verb.name == "timeline" and not (given.since or given.before) and len(given.kind) <= 1:
        _show_timeline(screen, given)
    elif verb.name == "restore" and not (given.yes or given.only or given.kind or given.dry_run):
        _show_plan(screen, "checkpoint", given.checkpoint)
    elif verb.name == "undo" and given.all_by and not (given.yes or given.session):
        screen.show_plan("origin", given.all_by)
    elif verb.name == "undo" and given.seq and not (given.overwrite or given.keep or given.dry_run):
        screen.show_plan("step", given.seq)
    elif verb.name == "purge" and not (given.check or given.yes or given.dry_run or given.scrub or given.leave):
        _show_purge(screen, given)
    elif verb.name == "sync" and given.edit:
        edit_synced_file(screen, given.file or "MEMORY.md")
    elif verb.name == "open" and given.place:
        _open_memory(screen, given.place)
    elif verb.name == "open" and not (given.new or given.where):
        screen.open_screen("open_memory")
    else:
        return False
    return True


def _show_purge(screen: Host, given: ParsedArguments) -> None:
    meant = select_records(given.ids, given.query, given.origin, given.before, given.kind, given.yes)
    named = meant.named_records() if meant.ids else ()
    show_purge(screen, named, meant.plan_purge, meant.query or "")


def _show_tools(screen: Host, given: ParsedArguments) -> None:
    """Show the screen of `files keep`, of `files scan`, or of `files list`, searched with the words of the verb."""
    from tui.screens import tools  # of an optional part

    if screen.engine is None:
        return
    location, editor = screen.engine.location, screen.setting("editor")
    if given.act == "keep":
        screen.app.push_screen(tools.GuardScreen(location))
    elif given.act == "list":
        named = (given.tool,) if given.tool else ()
        screen.app.push_screen(tools.GuestsScreen(location, named, " ".join(given.words), editor))
    else:
        clock = screen.engine.screen.database.clock
        screen.app.push_screen(tools.ScanScreen(screen.cwd, given.words, clock, editor))


def _show_evidence(screen: Host) -> None:
    """Show the screen of the evidence."""

    def left(citation: str | None) -> None:
        screen.refresh_records()
        if citation:
            screen.open_citation(citation)

    if screen.engine is not None:
        screen.app.push_screen(EvidenceScreen(screen.engine), left)


def _show_plan(screen: Host, kind: str, text: str) -> None:
    try:
        screen.show_plan(kind, parse_id(text, kind))
    except MemorandaError as error:
        screen.say(str(error), "warning")


def _show_timeline(screen: Host, given: ParsedArguments) -> None:
    kind = given.kind[0] if given.kind else None
    if kind is not None and kind not in TIMELINE_WORDS:
        screen.say(f"Kinds: {', '.join(TIMELINE_WORDS)}.", "warning")
        return
    screen.change_view(kind=kind)
    screen.go_to("timeline")


def _open_memory(screen: Host, text: str) -> None:
    try:
        location, folder = locate_memory(text, screen.cwd)
    except MemorandaError as error:
        screen.say(str(error), "warning")
        return
    screen.app.call_later(screen.app.open, location, folder)  # type: ignore[attr-defined]


def _show_list(screen: Host, given: ParsedArguments) -> bool:
    """Go to the pane of what is listed, narrowed; return False where there is none. Raise UsageError."""
    options = {name: value for name, value in vars(given).items() if name not in ("at", "limit")}
    kind, narrow = find_listing(Narrowing(**options), given.at)
    if given.at is not None:
        screen.look_back(" ".join([given.at, *(word for word in narrow.words if word not in PAST_KINDS)]))
    elif kind == "facts" and not (narrow.status or narrow.tag):
        _show_facts(screen, narrow)
    elif kind in ("tasks", "checkpoints") and not narrow.status:
        screen.change_view(hidden=narrow.all)
        screen.go_to(kind)
    else:
        return False
    return True


def _show_facts(screen: Host, narrow: Narrowing) -> None:
    """Go to the facts, filtered."""
    words, domain = fact_filters(narrow.words, narrow.domain)
    sort = narrow.sort or "need"
    if (domain is not None and domain not in DOMAINS) or sort not in (*FACT_SORTS, "need"):
        screen.say(f"Domains: {', '.join(DOMAINS)}. Orders: {', '.join(FACT_SORTS)}.", "warning")
        return
    screen.change_view(state=None, domain=domain, origin=narrow.origin, words=words, hidden=narrow.all, sort=sort)
    screen.go_to("facts")


def _run_verb(screen: Host, verb: Verb, given: ParsedArguments, text: str, agreed: tuple[str, ...]) -> None:
    engine = screen.engine
    if engine is None:
        return
    if verb.name == "export" and not given.form and given.file in (None, "", "-"):  # nothing is printed here
        given.file = default_export_path(engine.location.display_name)

    def done(result: object, error: MemorandaError | None) -> None:
        screen.later(finish, result, error)

    def finish(result: object, error: MemorandaError | None) -> None:
        if isinstance(error, ConfirmationNeeded):
            if error.lines:
                screen.pane.read_out(error.lines, focus=False)
            shown = (*agreed, error.shown_text)  # anything else that it shows then is asked again
            screen.ask_first(error.message, lambda: run_line(screen, text, shown))
        elif error is not None:
            screen.say(str(error), "error")
        else:
            _show_outcome(screen, verb, given, result)  # type: ignore[arg-type]

    if settle(verb.apart, given):
        screen.say(f"{verb.name} goes on beside everything else; it says when it is done.")
    engine.run_verb(verb, given, agreed, done)


def _show_outcome(screen: Host, verb: Verb, given: ParsedArguments, outcome: Outcome) -> None:
    """Show the outcome of a verb, and refresh what it may have changed."""
    if outcome.message:
        screen.say(outcome.message, alone=True)
    if outcome.lines:
        screen.pane.read_out(outcome.lines)
    if verb.name == "config":
        screen.app.configure_again()  # type: ignore[attr-defined]
    elif not settle(verb.reads, given):
        screen.refresh_records()
    if verb.name == "health" and given.index and screen.engine is not None:
        screen.engine.embedder.resume()
        screen.embed()


# Dispatch keys, palette entries and lines of the `:` bar: actions on records, commands, and screens on top of this
# one.


class CommandController:
    """Runs actions and commands by name."""

    def __init__(self, host: Host) -> None:
        self.host = host

    def action_change(self, name: str) -> None:
        """Run an action of ACTIONS; in a past view, only if it is read-only."""
        if not any(key.looks for key in KEYS if key.action_name == name) and self.host.refuses():
            return
        if self.host.engine is not None:
            ACTIONS[name](self.host)

    action_ask_for = action_change  # actions that prompt for a line of text

    def action_command(self, line: str = "") -> None:
        """Prompt for a command, starting from `line`."""
        self.host.ask(":", line, self.action_run, verbs=True)

    def action_run(self, text: str) -> None:
        """Run a line typed in the `:` bar."""
        if text.strip():
            run_line(self.host, text)

    def open_screen(self, name: str, *arguments: object) -> None:
        """Open one of the screens on top of this one, by the name of its action."""
        getattr(self, f"action_{name}")(*arguments)

    def action_palette(self, name: str) -> None:
        """Run the palette's entry: `key:id`, `verb:name`, to be completed, or `line:` with a whole line."""
        kind, _, word = name.partition(":")
        if kind == "verb":
            self.action_command(f"{word} ")
        elif kind == "line":
            self.action_run(word)
        else:
            key = next(key for key in KEYS if key.id == word)
            self.host.call_later(self.host.run_action, key.action)  # after the palette has closed

    def action_help(self) -> None:
        def chosen(target: str | None) -> None:
            if target is not None:
                self.action_palette(target)

        self.host.app.push_screen(HelpScreen(self.host.app.remapped), chosen)  # type: ignore[attr-defined]

    def action_doctor(self, quick: bool = False) -> None:
        """Show the findings of the doctor; Enter there runs the next step."""
        screen = DoctorScreen(self.host.location, self.host.clock, quick)
        self.host.app.push_screen(screen, lambda line: self.action_run(line or ""))

    def action_agents(self) -> None:
        """Show agents' activity: what they did, read, wrote and were sent, refreshed while they work."""
        screen = AgentsScreen(self.host.location, self.host.clock)
        self.host.app.push_screen(screen, lambda line: self.action_run(line or ""))

    def action_team(self) -> None:
        """Show who shares with this memory, and what."""
        from tui.screens.team import TeamScreen  # of an optional part

        if self.host.engine is not None:
            screen = TeamScreen(self.host.location, self.host.clock, self.host.engine.team)
            self.host.app.push_screen(screen)

    def action_replica(self, query: str = "", team: str = "") -> None:
        """Show what teams shared, in the database of `team.replica`."""
        from tui.screens.team import ReplicaScreen  # of an optional part

        self.host.app.push_screen(ReplicaScreen(self.host.location, self.host.clock, query, team))

    def action_plots(self) -> None:
        """Show how the memory changed over time."""
        self.host.app.push_screen(PlotsScreen(self.host.location, self.host.clock))

    def action_settings(self) -> None:
        """Show the settings, to be changed in place."""
        self.host.app.push_screen(SettingsScreen(self.host.location))

    def action_more(self) -> None:
        """Choose one of the screens that have no pane."""
        self.host.app.push_screen(MoreScreen(), lambda verb: self.action_run(verb or ""))

    def action_open_memory(self) -> None:
        """Choose a recently opened memory, or name another."""

        def chosen(path: str | None) -> None:
            if path == "":
                self.action_command("open ")
            elif path is not None:
                self.action_run(f"open {quote(path)}")

        self.host.app.push_screen(RecentScreen(self.host.location.path), chosen)


# Show what a restore or an undo would change, and the changes between two moments.


class PlanController:
    """Computes a plan on a worker thread, and shows its screen."""

    def __init__(self, host: Host) -> None:
        self.host = host

    def show_plan(self, kind: str, target: int | str) -> None:
        """Show what a restore, an undo or the undo of an origin would change; undo a single record at once."""
        if self.host.engine is not None and not self.host.refuses():
            self._read_plan(kind, target)

    def show_since(self, start: str | PointInTime, end: str = "now") -> None:
        """Show the changes between two moments."""
        if self.host.engine is not None and (not isinstance(start, str) or start.strip()):
            self._read_plan("since", (start, end))

    def _read_plan(self, kind: str, target: PlanTarget) -> None:
        def work() -> None:
            assert self.host.engine is not None
            try:
                found = self.host.engine.plan(kind, target)
            except MemorandaError as error:
                self.host.later(self.host.say, str(error), "warning", 8)
                return
            self.host.later(self._show_plan, kind, *found)

        self.host.in_background(work, "plan", "work out what would change", exclusive=True)

    def _show_plan(self, kind: str, plan: RestorePlan, title: str, note: str) -> None:
        engine = self.host.engine
        if engine is None:
            return
        if not plan.changes:
            unchanged = kind in ("since", "checkpoint")
            self.host.say("Nothing changed since." if unchanged else "Nothing of it is in force any more.")
        elif (
            kind == "step"
            and len(plan.changes) == 1
            and engine.proposed_changes(plan, "replace") == frozenset((0,))
        ):
            take_back_now(self.host, plan, note)
        else:
            undone_by = note.rpartition("; ")[2]
            shown = PlanScreen(engine, plan, title, note, kind, self.host.form)
            self.host.app.push_screen(shown, lambda result: self._report_plan(result, undone_by))

    def _report_plan(self, result: object, undone_by: str) -> None:
        if isinstance(result, str):
            self.host.open_citation(result)
        elif isinstance(result, AppliedRestore):
            self.host.say(applied_words(result, undone_by), alone=True, timeout=6)
            self.host.refresh_records()


def applied_words(applied: AppliedRestore, undone_by: str) -> str:
    """Return the message about what was applied, and how to undo it."""
    before = f"; K#{applied.checkpoint} is how it was" if applied.checkpoint else ""
    return f"{format_count(applied.changed, 'record')} changed{before}; {undone_by}"


# The prompt line at the bottom: for a command, for a text, or for a yes-or-no question.

PROMPT_KEY_STYLE = "$footer-key-foreground bold"


class PromptController:
    """Prompts in the bottom line, and passes the answer on."""

    def __init__(self, host: Host) -> None:
        self.host = host

    @property
    def _bar(self) -> AskBar:
        bar = self.host.ask_bar()
        assert bar is not None
        return bar

    def ask(self, label: str, value: str, answer: Callable[[str], None], **how: bool) -> None:
        """Prompt for a line; `how` is as in `AskBar.ask`. Do nothing before the memory is open."""
        if self.host.engine is None or self.host.ask_bar() is None:
            return
        self._bar.ask(label, value, answer, **how)
        if not how.get("verbs"):
            replaces = ("  typing replaces it", "$dim") if how.get("over") and value else ("", "")
            self.host.footer.hint(
                (" enter", PROMPT_KEY_STYLE, "answer"),
                (" does it ", "", "answer"),
                *_escape_pieces(" leaves"),
                replaces,
            )

    def ask_first(
        self, question: str, agreed: Callable[[], None], changes: Callable[[], None] | None = None
    ) -> None:
        """Ask before overwriting: only `y` continues. The key of the changes shows them instead, by `changes`."""
        key = key_name("pane.history")

        def answer(text: str) -> None:
            if text.strip().lower() in YES_ANSWERS:
                agreed()
            elif changes is not None and text.strip() == key:
                changes()
            else:
                self.host.say("Nothing was changed.")

        self.ask(f"{question} y/n", "", answer, one_key=True)
        shows: list[Piece] = []
        if changes is not None and len(key) == 1 and (bar := self.host.ask_bar()) is not None:
            bar.also_takes(key)
            shows = [
                (f" {key}", PROMPT_KEY_STYLE, f"answer('{key}')"),
                (" shows all changes ", "", f"answer('{key}')"),
            ]
        self.host.footer.hint(
            (" y", PROMPT_KEY_STYLE, "agree"),
            (" yes ", "", "agree"),
            (" n", PROMPT_KEY_STYLE, "leave_bar"),
            (" no, nothing changes ", "", "leave_bar"),
            *shows,
        )

    # actions for clicks

    def action_answer(self, text: str | None = None) -> None:
        self._bar.submit(text)

    def action_complete(self) -> None:
        self._bar.complete()

    def action_leave_bar(self) -> None:
        self._bar.leave()

    def action_agree(self) -> None:
        self._bar.submit("y")

    def close_prompt(self, event: AskBar.Left) -> None:
        """Restore the focus after the prompt was closed, then pass the answer on."""
        bar = self._bar
        if bar.has_class("-asking"):
            bar.hide()
            focused = self.host.focused
            if focused is None or focused.id == "line":  # else a click has moved the focus already
                # now: the answer may open the next prompt
                self.host.set_focus(self.host.list_of(self.host.current_list))
            self.host.draw_footer()
        if event.answer is not None:  # last: it may move the focus
            event.answer()
        self.host.app.release_keys()  # type: ignore[attr-defined]

    def show_usage(self, event: AskBar.Typed) -> None:
        """Show the usage of the command being typed in the footer, as many whole parts of it as it has room for."""
        usage = usage_hint(event.text)
        does, completes, leaves = ("", "", "") if usage else (" does it ", " completes ", " leaves")
        keys: list[Piece] = [
            (" enter", PROMPT_KEY_STYLE, "answer"),
            (does, "", "answer"),
            (" tab", PROMPT_KEY_STYLE, "complete"),
            (completes, "", "complete"),
            *_escape_pieces(leaves),
        ]
        parts, room = usage.split(HINT_GAP), self.host.footer.size.width - pieces_width(keys) - 2
        while len(parts) > 1 and cell_len(HINT_GAP.join(parts)) > room:
            parts.pop()
        said = HINT_GAP.join(parts)
        if cell_len(said) > room:
            whole = said.rfind(" [", 0, room - 1)  # an argument begins there
            said = f"{said[:whole]} …" if whole > 0 else fit_cells(said, room)
        self.host.footer.hint(*keys, (f"  {said}", "$footer-description-foreground"))


def _escape_pieces(word: str) -> tuple[Piece, Piece]:
    """Return the pieces of the key that closes the bar."""
    return (" esc", PROMPT_KEY_STYLE, "leave_bar"), (word, "", "leave_bar")
